//! Preprocessing tokens: what macros are made of and what they are given.

use smol_str::SmolStr;

use super::names::{NO_SYMBOL, Names, Symbol};
use crate::source::lexical::{
    byte, is_digit_separator, is_ident_start, skip_ident, skip_number, skip_quoted, skip_raw_string, skip_space,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    Number,
    /// A string or character literal with its prefix.
    Literal,
    /// One character of punctuation, `##` or `...`; longer operators are neighbours that are `joined`.
    Punct,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Text<'a> {
    Slice(&'a str),
    Made(SmolStr),
}

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) kind: Kind,
    /// Set for identifiers that are the name of a macro somewhere in the project.
    pub(crate) symbol: Symbol,
    /// White space stood before it.
    pub(crate) space: bool,
    /// It stood directly behind the token before it in the source, so writing them together makes nothing new.
    pub(crate) joined: bool,
    /// The name of a macro met inside its own expansion: never expanded again.
    pub(crate) painted: bool,
}

impl<'a> Token<'a> {
    pub(crate) fn new(text: Text<'a>, kind: Kind) -> Self {
        Self { text, kind, symbol: NO_SYMBOL, space: false, joined: false, painted: false }
    }

    pub(crate) fn made(text: impl Into<SmolStr>, kind: Kind) -> Self {
        Self::new(Text::Made(text.into()), kind)
    }

    pub(crate) fn as_str(&self) -> &str {
        match &self.text {
            Text::Slice(s) => s,
            Text::Made(s) => s,
        }
    }

    pub(crate) fn is(&self, punct: &str) -> bool {
        self.kind == Kind::Punct && self.as_str() == punct
    }
}

/// The token at or behind `*at` and before `end`; white space and comments before it are skipped. `*at` moves behind it.
pub(crate) fn next_token<'a>(text: &'a str, at: &mut usize, end: usize, names: &Names) -> Option<Token<'a>> {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, *at, end);
    let space = start > *at;
    if start >= end {
        *at = end;
        return None;
    }
    let (kind, after) = shape(bytes, start);
    let after = char_end(text, after.min(end).max(start + 1));
    *at = after;
    let slice = text.get(start..after)?;
    let mut token = Token::new(Text::Slice(slice), kind);
    if kind == Kind::Ident {
        token.symbol = names.get(slice);
    }
    token.space = space;
    token.joined = !space;
    Some(token)
}

/// All tokens of a range.
pub(crate) fn tokens<'a>(text: &'a str, range: std::ops::Range<usize>, names: &Names) -> Vec<Token<'a>> {
    let mut at = range.start;
    let mut found = Vec::new();
    while let Some(token) = next_token(text, &mut at, range.end, names) {
        found.push(token);
    }
    found
}

/// Kind and end of the token at `start`.
fn shape(bytes: &[u8], start: usize) -> (Kind, usize) {
    let first = byte(bytes, start);
    if is_ident_start(first) {
        let end = skip_ident(bytes, start);
        let prefix = bytes.get(start..end).unwrap_or(&[]);
        return match byte(bytes, end) {
            b'"' if matches!(prefix, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") => {
                (Kind::Literal, skip_raw_string(bytes, end))
            }
            b'"' | b'\'' if matches!(prefix, b"L" | b"u" | b"U" | b"u8") => (Kind::Literal, skip_quoted(bytes, end)),
            _ => (Kind::Ident, end),
        };
    }
    match first {
        b'0'..=b'9' => (Kind::Number, skip_number(bytes, start)),
        b'.' if byte(bytes, start + 1).is_ascii_digit() => (Kind::Number, skip_number(bytes, start)),
        b'.' if byte(bytes, start + 1) == b'.' && byte(bytes, start + 2) == b'.' => (Kind::Punct, start + 3),
        b'"' => (Kind::Literal, skip_quoted(bytes, start)),
        b'\'' if !is_digit_separator(bytes, start) => (Kind::Literal, skip_quoted(bytes, start)),
        b'#' if byte(bytes, start + 1) == b'#' => (Kind::Punct, start + 2),
        _ => (Kind::Punct, start + 1),
    }
}

/// The first character boundary at or behind `at`.
fn char_end(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Whether writing these two bytes side by side could make a token that neither side meant.
pub(crate) fn would_merge(before: u8, after: u8) -> bool {
    let word = |b: u8| is_ident_start(b) || b.is_ascii_digit();
    let operator = |b: u8| b"+-*/%<>=!&|^#:.~".contains(&b);
    (word(before) && (word(after) || matches!(after, b'"' | b'\'' | b'.')))
        || (before == b'.' && after.is_ascii_digit())
        || (operator(before) && operator(after))
}
