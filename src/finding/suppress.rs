//! From comments to the findings they silence.
//!
//! - `// cudalint: allow(rule, rule) -- reason` behind code speaks for its line.
//! - Alone on a line it speaks for the statement that begins below it: up to its `;`, or up to the closing brace where the
//!   statement opens a block (a function, a loop, a branch, a struct).
//! - `// cudalint: allow-file(rule) -- reason` speaks for the file, wherever it stands.
//!
//! Whether the named rules exist is for the rules about suppressions to say; here names stay names.

use std::ops::{Range, RangeInclusive};

use rustc_hash::FxHashMap;

use super::Finding;
use super::lexer::{self, Comment, Lexed, Mark, Token};
use crate::source::{FileId, SourceFile, SourceMap, Span};

/// A comment that begins with `cudalint:`.
#[derive(Debug, Clone)]
pub struct Suppression {
    /// The comment with its delimiters.
    pub comment: Span,
    /// What deleting the comment should delete: with its line where it stands alone, with the blanks before it otherwise.
    pub removal: Span,
    pub rules: Vec<NamedRule>,
    pub has_reason: bool,
    /// The comment begins like a suppression and cannot be read as one: says what is wrong.
    pub problem: Option<String>,
    /// Lines it speaks for, counted from 1; `None` speaks for the file.
    lines: Option<RangeInclusive<u32>>,
}

/// A rule's name inside `allow(...)`.
#[derive(Debug, Clone)]
pub struct NamedRule {
    pub name: String,
    pub span: Span,
    /// It silenced a finding.
    pub is_used: bool,
}

/// All suppressions of a run, found by line.
#[derive(Debug, Default)]
pub struct Suppressions {
    all: Vec<Suppression>,
    /// Positions in `all` of those that speak for one line.
    by_line: FxHashMap<(FileId, u32), Vec<usize>>,
    /// Positions of the others: blocks and whole files, of which there are few.
    wide: FxHashMap<FileId, Vec<usize>>,
}

impl Suppressions {
    pub fn new(all: Vec<Suppression>) -> Self {
        let mut found = Self { all, ..Self::default() };
        for (index, suppression) in found.all.iter().enumerate() {
            let file = suppression.comment.file;
            match &suppression.lines {
                Some(lines) if lines.start() == lines.end() => {
                    found.by_line.entry((file, *lines.start())).or_default().push(index);
                }
                _ => found.wide.entry(file).or_default().push(index),
            }
        }
        found
    }

    /// In the order they were given.
    pub fn all(&self) -> &[Suppression] {
        &self.all
    }

    /// Marks the names that silence `finding` as used; says whether there was one.
    pub fn silence(&mut self, finding: &Finding, sources: &SourceMap) -> bool {
        let file = sources.get(finding.span.file);
        let last = finding.span.end.saturating_sub(1).max(finding.span.start);
        let lines = file.line(finding.span.start)..=file.line(last);
        let single = lines.clone().filter_map(|line| self.by_line.get(&(file.id, line))).flatten();
        let wide = self.wide.get(&file.id).into_iter().flatten();
        let mut is_silenced = false;
        for index in single.chain(wide) {
            let Some(suppression) = self.all.get_mut(*index).filter(|s| s.covers(&lines)) else { continue };
            for named in suppression.rules.iter_mut().filter(|named| named.name == finding.rule) {
                named.is_used = true;
                is_silenced = true;
            }
        }
        is_silenced
    }
}

impl Suppression {
    fn covers(&self, lines: &RangeInclusive<u32>) -> bool {
        self.lines.as_ref().is_none_or(|own| own.start() <= lines.end() && lines.start() <= own.end())
    }
}

/// What a comment addressed to cudalint begins with.
pub const ADDRESS: &str = "cudalint:";

/// The suppressions of a file, in order; only those in whose comment `is_compiled` finds a byte that the preprocessor left.
pub fn read(file: &SourceFile, is_compiled: impl Fn(Span) -> bool) -> Vec<Suppression> {
    if !file.text.contains(ADDRESS) {
        return Vec::new();
    }
    let lexed = lexer::lex(&file.text);
    lexed
        .comments
        .iter()
        .filter_map(|comment| suppression(file, &lexed, comment))
        .filter(|s| is_compiled(s.comment))
        .collect()
}

fn suppression(file: &SourceFile, lexed: &Lexed, comment: &Comment) -> Option<Suppression> {
    let text = file.text.get(comment.text.clone())?;
    let body = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '!' | '/' | '<'));
    let rest = body.strip_prefix(ADDRESS)?;
    let body_start = comment.text.end - rest.len();
    let mut found = Suppression {
        comment: span(file, comment.range.clone()),
        removal: removal(file, comment),
        rules: Vec::new(),
        has_reason: false,
        problem: None,
        lines: None,
    };
    let parsed = parse_allow(rest);
    match parsed {
        Ok(allow) => {
            found.rules = names(file, body_start, rest, &allow.names);
            found.has_reason = allow.has_reason;
            if found.rules.is_empty() {
                found.problem = Some("names no rule".to_owned());
            }
            if !allow.is_for_file {
                found.lines = Some(lines(file, lexed, comment));
            }
        }
        Err(why) => found.problem = Some(why),
    }
    Some(found)
}

struct Allow {
    is_for_file: bool,
    /// Inside the parentheses, as a range of the parsed text.
    names: Range<usize>,
    has_reason: bool,
}

fn parse_allow(text: &str) -> Result<Allow, String> {
    let word = text.trim_start();
    let (is_for_file, after) = if let Some(after) = word.strip_prefix("allow-file") {
        (true, after)
    } else if let Some(after) = word.strip_prefix("allow") {
        (false, after)
    } else {
        let first: String = word.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect();
        return Err(format!("knows `allow` and `allow-file`, not `{first}`"));
    };
    let Some(inside) = after.trim_start().strip_prefix('(') else {
        return Err("lacks the `(` after `allow`".to_owned());
    };
    let Some(close) = inside.find(')') else {
        return Err("lacks the `)` after the rules".to_owned());
    };
    let start = text.len() - inside.len();
    let tail = inside.get(close + 1..).unwrap_or("").trim_start();
    let reason = tail.strip_prefix("--").map(|r| r.trim_matches(|c: char| c.is_whitespace() || c == '-'));
    Ok(Allow { is_for_file, names: start..start + close, has_reason: reason.is_some_and(|r| !r.is_empty()) })
}

fn names(file: &SourceFile, base: usize, text: &str, inside: &Range<usize>) -> Vec<NamedRule> {
    let mut at = inside.start;
    let mut rules = Vec::new();
    for piece in text.get(inside.clone()).unwrap_or("").split(',') {
        let name = piece.trim();
        if !name.is_empty() {
            let start = base + at + (piece.len() - piece.trim_start().len());
            rules.push(NamedRule {
                name: name.to_owned(),
                span: span(file, start..start + name.len()),
                is_used: false,
            });
        }
        at += piece.len() + 1;
    }
    rules
}

fn span(file: &SourceFile, range: Range<usize>) -> Span {
    Span::new(file.id, range.start as u32, range.end as u32)
}

fn removal(file: &SourceFile, comment: &Comment) -> Span {
    let before = file.text.get(..comment.range.start).unwrap_or("");
    let start = before.trim_end_matches([' ', '\t']).len();
    let after = file.text.get(comment.range.end..).unwrap_or("");
    let rest = after.trim_start_matches([' ', '\t', '\r']);
    let is_alone = start == 0 || before.get(..start).is_some_and(|b| b.ends_with('\n'));
    if is_alone && (rest.starts_with('\n') || rest.is_empty()) {
        let line_end = comment.range.end + (after.len() - rest.len()) + usize::from(rest.starts_with('\n'));
        return span(file, start..line_end);
    }
    let start = if rest.starts_with('\n') || rest.is_empty() { start } else { comment.range.start };
    span(file, start..comment.range.end)
}

fn lines(file: &SourceFile, lexed: &Lexed, comment: &Comment) -> RangeInclusive<u32> {
    let own = file.line(comment.range.start as u32);
    let next = lexed.tokens.partition_point(|t| t.start < comment.range.end);
    let shares_line_with_code =
        lexed.tokens.get(next).is_some_and(|t| file.line(t.start as u32) == file.line(comment.range.end as u32));
    if comment.is_trailing || shares_line_with_code {
        return own..=file.line(comment.range.end.saturating_sub(1) as u32);
    }
    let Some(statement) = statement(file, lexed.tokens.get(next..).unwrap_or(&[])) else { return own..=own };
    file.line(statement.start as u32)..=file.line(statement.end.saturating_sub(1) as u32)
}

/// The statement that the first of `tokens` begins.
fn statement(file: &SourceFile, tokens: &[Token]) -> Option<Range<usize>> {
    let mut tokens = tokens.iter().skip_while(|t| t.mark == Mark::BraceClose);
    let first = tokens.next()?;
    let mut end = first.end;
    if first.mark == Mark::Directive && !is_pragma(file, *first) {
        return Some(first.start..end);
    }
    let (mut depth, mut braces) = (0_usize, 0_usize);
    for token in std::iter::once(first).chain(tokens) {
        match token.mark {
            Mark::Open => depth += 1,
            Mark::Close => depth = depth.saturating_sub(1),
            Mark::BraceOpen if depth == 0 => braces += 1,
            Mark::BraceClose if depth == 0 => {
                if braces == 0 {
                    break;
                }
                braces -= 1;
                if braces == 0 {
                    return Some(first.start..token.end);
                }
            }
            Mark::Semicolon if depth == 0 && braces == 0 => return Some(first.start..token.end),
            _ => {}
        }
        end = token.end;
    }
    Some(first.start..end)
}

fn is_pragma(file: &SourceFile, token: Token) -> bool {
    let text = file.text.get(token.start..token.end).unwrap_or("");
    text.trim_start_matches('#').trim_start().starts_with("pragma")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile::new(FileId(0), "a.cu".into(), text)
    }

    fn only(text: &str) -> (Suppression, Option<RangeInclusive<u32>>) {
        let mut all = read(&file(text), |_| true);
        assert_eq!(all.len(), 1, "{all:?}");
        let one = all.remove(0);
        let lines = one.lines.clone();
        (one, lines)
    }

    #[test]
    fn behind_code_it_speaks_for_its_line() {
        let (s, lines) = only("a;\nb; // cudalint: allow(x, y-z) -- known\nc;\n");
        assert_eq!(lines, Some(2..=2));
        assert!(s.has_reason);
        assert_eq!(s.rules.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["x", "y-z"]);
    }

    #[test]
    fn alone_it_speaks_for_the_statement_below() {
        let (_, lines) = only("// cudalint: allow(x) -- r\n\n// more\nf(a,\n  b);\nc;\n");
        assert_eq!(lines, Some(4..=5));
    }

    #[test]
    fn above_a_block_it_speaks_for_the_block() {
        let (_, lines) =
            only("/* cudalint: allow(x) -- r */\n#pragma unroll\nfor (int i = 0; i < 3; ++i) {\n  { a; }\n}\nc;\n");
        assert_eq!(lines, Some(2..=5));
    }

    #[test]
    fn a_brace_inside_parentheses_does_not_open_the_block() {
        let (_, lines) = only("// cudalint: allow(x) -- r\nrun([=] { a;\n });\nb;\n");
        assert_eq!(lines, Some(2..=3));
    }

    #[test]
    fn allow_file_speaks_for_all_of_it() {
        let (s, lines) = only("int a;\n// cudalint: allow-file(x)\n");
        assert_eq!(lines, None);
        assert!(!s.has_reason);
    }

    #[test]
    fn what_is_no_allow_is_a_problem() {
        for text in ["// cudalint: alow(x)", "// cudalint: allow x", "// cudalint: allow(x", "// cudalint: allow()"] {
            assert!(only(text).0.problem.is_some(), "{text}");
        }
    }

    #[test]
    fn strings_hold_no_suppressions() {
        assert!(read(&file("const char* s = \"// cudalint: allow(x)\";\n"), |_| true).is_empty());
    }

    #[test]
    fn a_comment_alone_is_removed_with_its_line() {
        let text = "a;\n  // cudalint: allow(x) -- r\nb; // cudalint: allow(x) -- r\nc;\n";
        let removed: Vec<_> = read(&file(text), |_| true).iter().map(|s| text[s.removal.range()].to_owned()).collect();
        assert_eq!(removed, ["  // cudalint: allow(x) -- r\n", " // cudalint: allow(x) -- r"]);
    }
}
