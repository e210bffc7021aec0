//! Expectation comments of a fixture, turned into records: what must be found where, and what must not.
//!
//! ```text
//! // expect: ID[(words)] ["message part"] [key=value ...] [on `text of the primary span`]
//! // expect-next: ...          the same for the next line that is more than an expectation
//! // expect-either: ...        the finding or one of its related places stands on this line
//! // expect-none: ID "why"     looks wrong and is not
//! // expect-missed: ID "lack"  known miss; fails as soon as it is found
//! // expect-gap: FUNCTION      the file holds a gap in that function
//! // nvcc: fails "text"        the compiler must refuse the file with that text
//! // nvcc: warns "text"        the compiler must warn with that text
//! // fixture-args: ...         more arguments for `cudalint check`
//! ```
//!
//! The words are a level, a confidence or both: `(note, likely)`. Several expectations may follow one another on one line.

use std::path::{Path, PathBuf};

/// What an expectation says about its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A finding of the rule starts on the line.
    Finding,
    /// A finding of the rule starts on the line, or names the line among its related places.
    Either,
    /// No finding of the rule, for a reason that is written down.
    Nothing,
    /// No finding of the rule yet; the engine lacks something.
    Missed,
    /// The analysis gave up inside the named function, which is held in `rule`.
    Gap,
}

#[derive(Debug, Clone)]
pub(crate) struct Expectation {
    pub kind: Kind,
    /// As in the JSON of `check`.
    pub file: PathBuf,
    /// Counted from 1.
    pub line: u32,
    pub rule: String,
    pub level: Option<String>,
    pub confidence: Option<String>,
    /// A part of the message; the reason for `Nothing` and `Missed`.
    pub text: Option<String>,
    pub evidence: Vec<(String, f64)>,
    /// The exact text of the primary span.
    pub on: Option<String>,
}

/// What the compiler must make of a file.
#[derive(Debug, Clone, Default)]
pub(crate) enum Compiles {
    #[default]
    Cleanly,
    WithWarning(String),
    /// Not at all, with this text.
    Refused(String),
}

/// All that the comments of one file say.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    pub items: Vec<Expectation>,
    pub nvcc: Compiles,
    pub arguments: Vec<String>,
    /// Comments that do not follow the grammar.
    pub mistakes: Vec<String>,
}

const KINDS: [(&str, Kind, bool); 6] = [
    ("// expect: ", Kind::Finding, false),
    ("// expect-next: ", Kind::Finding, true),
    ("// expect-either: ", Kind::Either, false),
    ("// expect-none: ", Kind::Nothing, false),
    ("// expect-missed: ", Kind::Missed, false),
    ("// expect-gap: ", Kind::Gap, false),
];

/// Reads the expectations of `text`, which stands in `file`.
pub(crate) fn read(file: &Path, text: &str) -> Expectations {
    let mut all = Expectations::default();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        if let Some(rest) = line.trim_start().strip_prefix("// nvcc: ") {
            let (verb, text) = rest.split_once(' ').unwrap_or((rest, ""));
            match (verb, quoted(text)) {
                ("fails", Some((part, _))) => all.nvcc = Compiles::Refused(part.to_owned()),
                ("warns", Some((part, _))) => all.nvcc = Compiles::WithWarning(part.to_owned()),
                _ => all.mistakes.push(format!("{}:{}: `{line}` is not understood", file.display(), index + 1)),
            }
        }
        if let Some(rest) = line.trim_start().strip_prefix("// fixture-args: ") {
            all.arguments = rest.split_whitespace().map(str::to_owned).collect();
        }
        for (kind, is_next, body) in comments(line) {
            let target = if is_next { next_code_line(&lines, index) } else { index };
            match parse(kind, file, target as u32 + 1, body) {
                Ok(item) => all.items.push(item),
                Err(mistake) => all.mistakes.push(format!("{}:{}: {mistake}", file.display(), index + 1)),
            }
        }
        if line.contains("// expect") && comments(line).is_empty() {
            all.mistakes.push(format!("{}:{}: expectation of unknown kind", file.display(), index + 1));
        }
    }
    all
}

/// The expectation comments of a line: kind, whether the next line is meant, body.
fn comments(line: &str) -> Vec<(Kind, bool, &str)> {
    let mut starts: Vec<(usize, usize, Kind, bool)> = KINDS
        .iter()
        .flat_map(|(marker, kind, next)| line.match_indices(marker).map(|(at, m)| (at, at + m.len(), *kind, *next)))
        .collect();
    starts.sort_by_key(|s| s.0);
    let ends = starts.iter().skip(1).map(|s| s.0).chain([line.len()]).collect::<Vec<_>>();
    starts.iter().zip(ends).map(|((_, body, kind, next), end)| (*kind, *next, line[*body..end].trim())).collect()
}

/// Index of the first line below `index` that is more than an expectation; the last line where there is none.
fn next_code_line(lines: &[&str], index: usize) -> usize {
    let below = lines.iter().enumerate().skip(index + 1);
    below.clone().find(|(_, line)| !line.trim_start().starts_with("// expect")).map_or(index, |(at, _)| at)
}

fn parse(kind: Kind, file: &Path, line: u32, body: &str) -> Result<Expectation, String> {
    let end = body.find([' ', '(']).unwrap_or(body.len());
    let (rule, mut rest) = body.split_at(end);
    if rule.is_empty() {
        return Err("expectation without a name".to_owned());
    }
    let mut item = Expectation {
        kind,
        file: file.to_owned(),
        line,
        rule: rule.to_owned(),
        level: None,
        confidence: None,
        text: None,
        evidence: Vec::new(),
        on: None,
    };
    if let Some(words) = rest.strip_prefix('(') {
        let (words, after) = words.split_once(')').ok_or("unclosed parenthesis")?;
        rest = after;
        for word in words.split(',').map(str::trim) {
            match word {
                "note" | "warning" | "error" => item.level = Some(word.to_owned()),
                "proven" | "likely" | "possible" => item.confidence = Some(word.to_owned()),
                _ => return Err(format!("`{word}` is neither a level nor a confidence")),
            }
        }
    }
    rest = rest.trim();
    while !rest.is_empty() {
        rest = term(&mut item, rest)?.trim_start();
    }
    if matches!(kind, Kind::Nothing | Kind::Missed) && item.text.is_none() {
        return Err(format!("`{rule}` needs a reason in quotes"));
    }
    Ok(item)
}

/// Reads one term behind the rule's name and returns what follows it.
fn term<'a>(item: &mut Expectation, rest: &'a str) -> Result<&'a str, String> {
    if rest.starts_with('"') {
        let (part, after) = quoted(rest).ok_or("unclosed quote")?;
        item.text = Some(part.to_owned());
        return Ok(after);
    }
    if let Some(span) = rest.strip_prefix("on `") {
        let (text, after) = span.split_once('`').ok_or("unclosed backquote")?;
        item.on = Some(text.to_owned());
        return Ok(after);
    }
    let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is no term of an expectation"))?;
    let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
    item.evidence.push((key.to_owned(), value));
    Ok(after)
}

/// The text between the quotes at the start of `rest`, and what follows it.
fn quoted(rest: &str) -> Option<(&str, &str)> {
    rest.strip_prefix('"')?.split_once('"')
}
