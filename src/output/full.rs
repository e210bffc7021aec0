//! Findings as a person reads them: the source, what is wrong under it, what it rests on. The only user of codespan.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic, Label, Severity};
use codespan_reporting::files::{Error as FilesError, Files};
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{self, Chars, Config};

use super::Colour;
use crate::finding::{Finding, Level};
use crate::report::Report;
use crate::source::{FileId, SourceMap, Span};
use crate::visible::{plain, plain_path, plain_source};

/// Longer lines are not drawn, they are pointed at.
const LONGEST_LINE_BYTES: usize = 400;

pub(super) fn write(report: &Report, sources: &SourceMap, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    match colour {
        Colour::Always => draw(report, sources, &mut Ansi::new(out)),
        Colour::Never => draw(report, sources, &mut NoColor::new(out)),
    }
}

fn draw(report: &Report, sources: &SourceMap, out: &mut dyn WriteColor) -> io::Result<()> {
    let chars = Chars { snippet_start: "+-".to_owned(), ..Chars::ascii() };
    let config = Config { chars, ..Config::default() };
    let drawn = Drawn::new(report, sources);
    for finding in &report.findings {
        let diagnostic = diagnostic(finding, sources);
        match term::emit_to_write_style(out, &config, &drawn, &diagnostic) {
            Ok(()) => {}
            Err(FilesError::Io(error)) => return Err(error),
            // A span that does not fit its file is still worth its message.
            Err(_) => writeln!(out, "{}", super::short::line(finding, sources))?,
        }
    }
    Ok(())
}

fn diagnostic(finding: &Finding, sources: &SourceMap) -> Diagnostic<FileId> {
    let severity = match finding.level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note | Level::Off => Severity::Note,
    };
    let mut notes: Vec<String> = finding.notes.iter().map(|note| plain(note).into_owned()).collect();
    let mut labels = Vec::new();
    if is_drawable(sources, finding.span) {
        let text = finding.label.as_deref().unwrap_or("");
        labels.push(Label::primary(finding.span.file, range(sources, finding.span)).with_message(plain(text)));
    } else {
        notes.insert(0, format!("at {}", super::short::place(sources, finding.span)));
    }
    for (span, text) in &finding.related {
        if is_drawable(sources, *span) {
            labels.push(Label::secondary(span.file, range(sources, *span)).with_message(plain(text)));
        } else {
            notes.push(format!("{}: {}", super::short::place(sources, *span), plain(text)));
        }
    }
    if let Some(fix) = &finding.fix
        && !finding.notes.iter().any(|note| note.contains(&fix.title))
    {
        let flag = if fix.safety == crate::finding::Safety::Unsafe { " (--unsafe-fixes)" } else { "" };
        notes.push(format!("fix: {}{flag}", plain(&fix.title)));
    }
    Diagnostic::new(severity)
        .with_code(finding.rule)
        .with_message(plain(&finding.message))
        .with_labels(labels)
        .with_notes(notes)
}

/// The first line of a span that covers several, so that a snippet stays one line.
fn range(sources: &SourceMap, span: Span) -> Range<usize> {
    let text = &sources.get(span.file).text;
    let start = (span.start as usize).min(text.len());
    let end = (span.end as usize).clamp(start, text.len());
    let first_line = text.get(start..end).and_then(|part| part.split('\n').next()).unwrap_or("");
    start..start + first_line.trim_end().len().max(usize::from(end > start))
}

fn is_drawable(sources: &SourceMap, span: Span) -> bool {
    let file = sources.get(span.file);
    file.line_text(file.line(span.start)).len() <= LONGEST_LINE_BYTES
}

/// The files of the findings, fit for a terminal.
struct Drawn<'a> {
    sources: &'a SourceMap,
    names: BTreeMap<FileId, String>,
    texts: BTreeMap<FileId, String>,
}

impl<'a> Drawn<'a> {
    fn new(report: &Report, sources: &'a SourceMap) -> Self {
        let mut drawn = Self { sources, names: BTreeMap::new(), texts: BTreeMap::new() };
        let spans = report.findings.iter().flat_map(|f| std::iter::once(f.span).chain(f.related.iter().map(|r| r.0)));
        for file in spans.map(|span| span.file).collect::<BTreeSet<_>>() {
            drawn.names.insert(file, plain_path(sources.path(file)));
            if let Cow::Owned(text) = plain_source(&sources.get(file).text) {
                drawn.texts.insert(file, text);
            }
        }
        drawn
    }
}

impl<'f> Files<'f> for Drawn<'_> {
    type FileId = FileId;
    type Name = &'f str;
    type Source = &'f str;

    fn name(&'f self, id: FileId) -> Result<&'f str, FilesError> {
        self.names.get(&id).map(String::as_str).ok_or(FilesError::FileMissing)
    }

    fn source(&'f self, id: FileId) -> Result<&'f str, FilesError> {
        Ok(self.texts.get(&id).map_or_else(|| &*self.sources.get(id).text, String::as_str))
    }

    fn line_index(&'f self, id: FileId, byte_index: usize) -> Result<usize, FilesError> {
        Ok(self.sources.get(id).line(byte_index as u32) as usize - 1)
    }

    fn line_range(&'f self, id: FileId, line_index: usize) -> Result<Range<usize>, FilesError> {
        self.sources
            .get(id)
            .line_range(line_index as u32 + 1)
            .ok_or(FilesError::LineTooLarge { given: line_index, max: 0 })
    }
}
