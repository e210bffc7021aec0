//! From original text to what suppressions need of it: comments, and code characters outside of strings, comments and directives.

use std::ops::Range;

/// A comment without its delimiters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comment {
    /// With delimiters.
    pub range: Range<usize>,
    /// Text between the delimiters.
    pub text: Range<usize>,
    /// Code or a directive stands before it on its line.
    pub is_trailing: bool,
}

/// One significant character of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Open,
    Close,
    BraceOpen,
    BraceClose,
    Semicolon,
    /// Anything else; runs of it are one mark.
    Other,
    /// A whole preprocessor directive.
    Directive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub mark: Mark,
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub comments: Vec<Comment>,
    /// In order of position.
    pub tokens: Vec<Token>,
}

/// Reads all of `text`; unterminated strings end with their line, unterminated comments with the file.
pub(super) fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, has_code: false, out: Lexed::default() };
    while lexer.step() {}
    lexer.out
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Code stands before `at` on its line.
    has_code: bool,
    out: Lexed,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else { return false };
        match (byte, self.peek(1)) {
            (b'\n', _) => {
                self.has_code = false;
                self.at += 1;
            }
            (b'/', b'/') => self.line_comment(),
            (b'/', b'*') => self.block_comment(),
            (b'#', _) if !self.has_code => self.directive(),
            (b'"', _) if self.is_raw_string() => self.raw_string(),
            (b'"', _) => self.quoted(b'"'),
            (b'\'', _) if !self.is_digit_separator() => self.quoted(b'\''),
            (b' ' | b'\t' | b'\r', _) => self.at += 1,
            _ => {
                let mark = match byte {
                    b'(' | b'[' => Mark::Open,
                    b')' | b']' => Mark::Close,
                    b'{' => Mark::BraceOpen,
                    b'}' => Mark::BraceClose,
                    b';' => Mark::Semicolon,
                    _ => Mark::Other,
                };
                self.push(mark, self.at, self.at + 1);
                self.at += 1;
            }
        }
        true
    }

    fn push(&mut self, mark: Mark, start: usize, end: usize) {
        self.has_code = true;
        if let Some(last) = self.out.tokens.last_mut()
            && mark == Mark::Other
            && last.mark == Mark::Other
            && last.end == start
        {
            last.end = end;
            return;
        }
        self.out.tokens.push(Token { mark, start, end });
    }

    /// One past the last byte of the line, backslash-newlines included in it.
    fn logical_line_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(&byte) = self.bytes.get(at) {
            if byte == b'\n' {
                let before = self.bytes.get(..at).unwrap_or(&[]);
                let before = before.strip_suffix(b"\r").unwrap_or(before);
                if !before.ends_with(b"\\") {
                    return at;
                }
            }
            at += 1;
        }
        at
    }

    fn line_comment(&mut self) {
        let end = self.logical_line_end(self.at);
        let range = self.at..end;
        self.out.comments.push(Comment { text: self.at + 2..end, range, is_trailing: self.has_code });
        self.at = end;
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let body = start + 2;
        let close = self.find(body, b"*/");
        let (text_end, end) = close.map_or((self.bytes.len(), self.bytes.len()), |at| (at, at + 2));
        self.out.comments.push(Comment { range: start..end, text: body..text_end, is_trailing: self.has_code });
        self.at = end;
    }

    /// A directive up to a comment in it or the end of its logical line.
    fn directive(&mut self) {
        let end = self.logical_line_end(self.at);
        let text = self.bytes.get(self.at..end).unwrap_or(&[]);
        let comment = text.windows(2).position(|pair| pair == b"//" || pair == b"/*");
        let stop = comment.map_or(end, |at| self.at + at);
        self.push(Mark::Directive, self.at, stop.max(self.at + 1));
        self.at = stop.max(self.at + 1);
    }

    /// `R"`, `u8R"`, `LR"` in front of the quote at `at`.
    fn is_raw_string(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        let word = before.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let prefix = before.get(before.len() - word..).unwrap_or(&[]);
        matches!(prefix, b"R" | b"LR" | b"uR" | b"UR" | b"u8R")
    }

    fn raw_string(&mut self) {
        let start = self.at;
        let open = self.find(start, b"(").unwrap_or(self.bytes.len());
        let mut close = vec![b')'];
        close.extend_from_slice(self.bytes.get(start + 1..open).unwrap_or(&[]));
        close.push(b'"');
        let end = self.find(open, &close).map_or(self.bytes.len(), |at| at + close.len());
        self.push(Mark::Other, start, end);
        self.at = end;
    }

    /// `1'000`: the quote stands between digits of a number.
    fn is_digit_separator(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|i| self.bytes.get(i)).copied().unwrap_or(0);
        before.is_ascii_hexdigit() && self.peek(1).is_ascii_hexdigit() && self.peek(2) != b'\''
    }

    fn quoted(&mut self, quote: u8) {
        let start = self.at;
        let mut at = start + 1;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\n' => break,
                _ if byte == quote => {
                    at += 1;
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        let end = at.min(self.bytes.len());
        self.push(Mark::Other, start, end);
        self.at = end;
    }

    fn find(&self, from: usize, needle: &[u8]) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        rest.windows(needle.len()).position(|w| w == needle).map(|at| from + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Vec<&str> {
        lex(text).comments.into_iter().map(|c| &text[c.text]).collect()
    }

    #[test]
    fn strings_hold_no_comments() {
        assert_eq!(comments("f(\"// no\", '\"', R\"x(/* no */)x\"); // yes\n/* and */ 1'000"), [" yes", " and "]);
    }

    #[test]
    fn an_open_string_ends_with_its_line() {
        assert_eq!(comments("char c = \"abc\n// yes"), [" yes"]);
    }

    #[test]
    fn a_comment_behind_a_directive_is_trailing() {
        let lexed = lex("#define X 1 // why\n  // alone\n");
        let trailing: Vec<bool> = lexed.comments.iter().map(|c| c.is_trailing).collect();
        assert_eq!(trailing, [true, false]);
    }
}
