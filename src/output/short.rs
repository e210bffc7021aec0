//! One line per finding, as editors and grep read them: `file:line:column: level[rule] message`.

use std::io::{self, Write};

use crate::finding::Finding;
use crate::report::Report;
use crate::source::{SourceMap, Span};
use crate::visible::{plain, plain_path};

pub(super) fn write(report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    report.findings.iter().try_for_each(|finding| writeln!(out, "{}", line(finding, sources)))
}

pub(super) fn line(finding: &Finding, sources: &SourceMap) -> String {
    let place = place(sources, finding.span);
    format!("{place}: {}[{}] {}", finding.level.word(), finding.rule, plain(&finding.message))
}

/// `file:line:column`.
pub(super) fn place(sources: &SourceMap, span: Span) -> String {
    let file = sources.get(span.file);
    let at = file.line_column(span.start);
    format!("{}:{}:{}", plain_path(&file.path), at.line, at.column)
}
