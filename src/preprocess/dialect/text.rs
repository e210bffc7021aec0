//! Tokens of the expanded text, read forwards from anywhere.

use crate::source::lexical::{
    byte, is_digit_separator, is_ident_start, is_raw_quote, skip_comment, skip_ident, skip_number, skip_quoted,
    skip_raw_string,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Shape {
    Word,
    Number,
    Literal,
    /// One character.
    Punct,
    /// A whole `#` line.
    Pragma,
    /// Behind the last token, and before the first.
    #[default]
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Token {
    pub(super) shape: Shape,
    pub(super) start: usize,
    pub(super) end: usize,
    /// A newline stood before it.
    pub(super) new_line: bool,
}

/// How far a rule looks for the end of what it reads.
const MAX_LOOKAHEAD_BYTES: usize = 8 << 10;

/// The first token at or behind `at`.
pub(super) fn next_token(text: &[u8], mut at: usize) -> Token {
    let mut new_line = at == 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\n' => {
                new_line = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
            b'\\' if matches!(self::byte(text, at + 1), b'\n' | b'\r') => at += 1,
            b'/' => match skip_comment(text, at) {
                Some(after) => {
                    let is_block = self::byte(text, at + 1) == b'*';
                    new_line |= is_block && text.get(at..after).is_some_and(|c| c.contains(&b'\n'));
                    at = after;
                }
                None => break,
            },
            _ => break,
        }
    }
    if at >= text.len() {
        return Token { shape: Shape::End, start: text.len(), end: text.len(), new_line };
    }
    let (shape, end) = shape(text, at, new_line);
    Token { shape, start: at, end: end.min(text.len()), new_line }
}

fn shape(text: &[u8], at: usize, new_line: bool) -> (Shape, usize) {
    let first = byte(text, at);
    if is_ident_start(first) {
        let end = skip_ident(text, at);
        let quote = byte(text, end);
        let is_prefix = matches!(quote, b'"' | b'\'') && matches!(text.get(at..end), Some(b"L" | b"u" | b"U" | b"u8"));
        return match quote {
            b'"' if is_raw_quote(text, end) => (Shape::Literal, skip_raw_string(text, end)),
            _ if is_prefix => (Shape::Literal, skip_quoted(text, end)),
            _ => (Shape::Word, end),
        };
    }
    match first {
        b'0'..=b'9' => (Shape::Number, skip_number(text, at)),
        b'.' if byte(text, at + 1).is_ascii_digit() => (Shape::Number, skip_number(text, at)),
        b'"' => (Shape::Literal, skip_quoted(text, at)),
        b'\'' if !is_digit_separator(text, at) => (Shape::Literal, skip_quoted(text, at)),
        b'#' if new_line => {
            let rest = text.get(at..).unwrap_or(&[]);
            (Shape::Pragma, at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()))
        }
        _ => (Shape::Punct, at + 1),
    }
}

/// One past the bracket that closes the one at `open`, all kinds nested.
pub(super) fn closing(text: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    while at - open < MAX_LOOKAHEAD_BYTES {
        let token = next_token(text, at);
        match byte(text, token.start) {
            _ if token.shape == Shape::End => return None,
            b'(' | b'[' | b'{' if token.shape == Shape::Punct => depth += 1,
            b')' | b']' | b'}' if token.shape == Shape::Punct => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(token.end);
                }
            }
            _ => {}
        }
        at = token.end;
    }
    None
}

/// One past the `>` that closes the `<` at `open`.
pub(super) fn closing_angle(text: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    while at - open < MAX_LOOKAHEAD_BYTES {
        let token = next_token(text, at);
        at = token.end;
        if token.shape == Shape::End {
            return None;
        }
        if token.shape != Shape::Punct {
            continue;
        }
        match byte(text, token.start) {
            b'<' => depth += 1,
            b'>' => {
                depth -= 1;
                if depth == 0 {
                    return Some(token.end);
                }
            }
            b'(' | b'[' | b'{' => at = closing(text, token.start)?,
            b';' | b')' | b']' | b'}' => return None,
            _ => {}
        }
    }
    None
}

/// A name that may be qualified and have template arguments, from the token that starts it: `a::b<c>::template d<e>`.
/// Gives its end and whether it holds a `::`.
pub(super) fn qualified_name(text: &[u8], mut token: Token) -> Option<(usize, bool)> {
    let mut qualified = false;
    let start = token.start;
    while token.start - start < MAX_LOOKAHEAD_BYTES {
        if byte(text, token.start) == b':' && byte(text, token.end) == b':' && token.shape == Shape::Punct {
            token = next_token(text, token.end + 1);
            qualified = true;
        }
        if token.shape != Shape::Word {
            return None;
        }
        let word = text.get(token.start..token.end)?;
        if word == b"template" || word == b"typename" {
            token = next_token(text, token.end);
            continue;
        }
        let mut end = token.end;
        let mut next = next_token(text, end);
        if word == b"decltype" && byte(text, next.start) == b'(' {
            end = closing(text, next.start)?;
            next = next_token(text, end);
        }
        if next.shape == Shape::Punct
            && byte(text, next.start) == b'<'
            && byte(text, next.end) != b'<'
            && let Some(after) = closing_angle(text, next.start)
        {
            end = after;
            next = next_token(text, end);
        }
        let continues = next.shape == Shape::Punct && byte(text, next.start) == b':' && byte(text, next.end) == b':';
        if !continues {
            return Some((end, qualified));
        }
        token = next;
    }
    None
}

/// Three or more letters, digits and `_`, none of them lower case, at least one a letter.
pub(super) fn is_upper_word(word: &[u8]) -> bool {
    word.len() >= 3
        && word.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
        && word.iter().any(u8::is_ascii_uppercase)
}

/// A keyword that names a type by itself.
pub(super) fn is_type_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"void"
            | b"bool"
            | b"char"
            | b"short"
            | b"int"
            | b"long"
            | b"float"
            | b"double"
            | b"signed"
            | b"unsigned"
            | b"auto"
            | b"wchar_t"
            | b"size_t"
            | b"half"
            | b"float2"
            | b"float3"
            | b"float4"
            | b"int2"
            | b"int3"
            | b"int4"
            | b"double2"
    )
}

/// A keyword that may stand before the type of a declaration.
pub(super) fn is_specifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"static"
            | b"inline"
            | b"extern"
            | b"constexpr"
            | b"explicit"
            | b"virtual"
            | b"__device__"
            | b"__host__"
            | b"__global__"
            | b"__forceinline__"
            | b"__noinline__"
            | b"__inline__"
            | b"__launch_bounds__"
            | b"template"
            | b"typedef"
            | b"struct"
            | b"class"
            | b"union"
            | b"enum"
            | b"namespace"
            | b"using"
            | b"__shared__"
            | b"__constant__"
            | b"__managed__"
    )
}

/// A keyword that neither names a thing nor a type.
pub(super) fn is_other_keyword(word: &[u8]) -> bool {
    is_specifier(word)
        || matches!(
            word,
            b"const"
                | b"volatile"
                | b"return"
                | b"else"
                | b"case"
                | b"do"
                | b"new"
                | b"delete"
                | b"throw"
                | b"goto"
                | b"operator"
                | b"typename"
                | b"friend"
                | b"public"
                | b"private"
                | b"protected"
                | b"default"
                | b"register"
                | b"mutable"
                | b"sizeof"
                | b"if"
                | b"for"
                | b"while"
                | b"switch"
                | b"and"
                | b"or"
                | b"not"
                | b"co_return"
                | b"__restrict__"
                | b"requires"
                | b"alignas"
        )
}
