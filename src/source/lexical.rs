//! The shapes of C++ text that hide other text: comments, literals, numbers, continued lines. Each function takes the offset
//! where a shape starts to the offset where it ends, and never past the end of the text.

/// The byte at `i`, or NUL behind the end.
#[inline]
pub(crate) fn byte(text: &[u8], i: usize) -> u8 {
    text.get(i).copied().unwrap_or(0)
}

const IDENT_START: u8 = 1;
const IDENT: u8 = 2;

/// What each byte may be part of; bytes above ASCII belong to names.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphabetic() || b == b'_' || b == b'$' || b >= 0x80 {
            classes[byte] = IDENT_START | IDENT;
        } else if b.is_ascii_digit() {
            classes[byte] = IDENT;
        }
        byte += 1;
    }
    classes
};

#[inline]
pub(crate) const fn is_ident_start(b: u8) -> bool {
    CLASSES[b as usize] & IDENT_START != 0
}

#[inline]
pub(crate) const fn is_ident(b: u8) -> bool {
    CLASSES[b as usize] & IDENT != 0
}

#[inline]
pub(crate) fn skip_ident(text: &[u8], i: usize) -> usize {
    let rest = text.get(i..).unwrap_or(&[]);
    i + rest.iter().position(|b| !is_ident(*b)).unwrap_or(rest.len())
}

/// A preprocessing number: digits, letters, `.`, digit separators, signed exponents.
pub(crate) fn skip_number(text: &[u8], mut i: usize) -> usize {
    while i < text.len() {
        let b = text[i];
        let sign = matches!(b, b'+' | b'-') && i > 0 && matches!(text[i - 1], b'e' | b'E' | b'p' | b'P');
        let separator = b == b'\'' && byte(text, i + 1).is_ascii_alphanumeric();
        if !(is_ident(b) || b == b'.' || separator || (sign && !is_hex_digit_e(text, i))) {
            break;
        }
        i += 1;
    }
    i
}

/// In `0xE+1` the letter is a digit: the standard takes the sign into the number all the same, every reader of code does not.
fn is_hex_digit_e(text: &[u8], sign: usize) -> bool {
    let mut start = sign;
    while start > 0 && (is_ident(text[start - 1]) || text[start - 1] == b'.') {
        start -= 1;
    }
    matches!(byte(text, start + 1), b'x' | b'X') && matches!(byte(text, sign - 1), b'e' | b'E')
}

/// A comment that starts at `i`, to one past `*/` or to the newline; `None` where no comment starts.
pub(crate) fn skip_comment(text: &[u8], i: usize) -> Option<usize> {
    match byte(text, i + 1) {
        b'*' => {
            let mut at = i + 2;
            while let Some(star) = find(text, at, b'*') {
                if byte(text, star + 1) == b'/' {
                    return Some(star + 2);
                }
                at = star + 1;
            }
            Some(text.len())
        }
        b'/' => {
            let mut at = i + 2;
            while let Some(newline) = find(text, at, b'\n') {
                if !is_continued(text, newline) {
                    return Some(newline);
                }
                at = newline + 1;
            }
            Some(text.len())
        }
        _ => None,
    }
}

#[inline]
fn find(text: &[u8], from: usize, wanted: u8) -> Option<usize> {
    text.get(from..)?.iter().position(|b| *b == wanted).map(|p| from + p)
}

/// Whether the newline at `newline` follows a backslash (and perhaps a carriage return).
pub(crate) fn is_continued(text: &[u8], newline: usize) -> bool {
    let before = if newline > 0 && text[newline - 1] == b'\r' { newline - 1 } else { newline };
    before > 0 && text[before - 1] == b'\\'
}

/// A string or character literal whose quote is at `i`; one without an end stops before the newline.
pub(crate) fn skip_quoted(text: &[u8], i: usize) -> usize {
    let quote = byte(text, i);
    let mut at = i + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += if byte(text, at + 1) == b'\r' { 3 } else { 2 },
            b'\n' => return at,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// A raw string whose quote is at `i` (the byte after `R`).
pub(crate) fn skip_raw_string(text: &[u8], i: usize) -> usize {
    let mut open = i + 1;
    while open < text.len() && open - i <= 17 && text[open] != b'(' {
        open += 1;
    }
    if byte(text, open) != b'(' {
        return skip_quoted(text, i);
    }
    let delimiter = text.get(i + 1..open).unwrap_or(&[]);
    let mut at = open + 1;
    while at < text.len() {
        let closes = text[at] == b')'
            && text.get(at + 1..at + 1 + delimiter.len()) == Some(delimiter)
            && byte(text, at + 1 + delimiter.len()) == b'"';
        if closes {
            return at + 2 + delimiter.len();
        }
        at += 1;
    }
    text.len()
}

/// Whether the quote at `i` opens a raw string: the word before it is `R`, `LR`, `uR`, `UR` or `u8R`.
pub(crate) fn is_raw_quote(text: &[u8], i: usize) -> bool {
    let mut start = i;
    while start > 0 && i - start < 4 && is_ident(text[start - 1]) {
        start -= 1;
    }
    matches!(text.get(start..i), Some(b"R" | b"LR" | b"uR" | b"UR" | b"u8R"))
}

/// Whether the apostrophe at `i` separates digits (`1'000`) rather than opening a character literal.
pub(crate) fn is_digit_separator(text: &[u8], i: usize) -> bool {
    let mut start = i;
    // No number is longer; without a bound a file of apostrophes takes quadratic time.
    while start > 0 && i - start < 64 && (text[start - 1].is_ascii_alphanumeric() || text[start - 1] == b'\'') {
        start -= 1;
    }
    start < i && text[start].is_ascii_digit() && byte(text, i + 1).is_ascii_alphanumeric()
}

/// Past blanks, newlines, continued lines and comments, but not past `end`.
pub(crate) fn skip_space(text: &[u8], mut i: usize, end: usize) -> usize {
    while i < end {
        match text[i] {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => i += 1,
            b'\\' if matches!(byte(text, i + 1), b'\n' | b'\r') => i += 2,
            b'/' => match skip_comment(text, i) {
                Some(after) => i = after,
                None => break,
            },
            _ => break,
        }
    }
    i.min(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_end_where_the_compiler_ends_them() {
        let cases: &[(&str, usize)] =
            &[("\"a\\\"b\" c", 6), ("'x' y", 3), ("\"open\nnext", 5), ("\"a\\\nb\" c", 6), ("'\\'' z", 4)];
        for (text, end) in cases {
            assert_eq!(skip_quoted(text.as_bytes(), 0), *end, "{text}");
        }
    }

    #[test]
    fn raw_strings_end_at_their_delimiter() {
        assert_eq!(skip_raw_string(b"R\"x(a)\" )x\" b", 1), 11);
        assert!(is_raw_quote(b"u8R\"(a)\"", 3));
        assert!(!is_raw_quote(b"FOR\"a\"", 3));
    }

    #[test]
    fn numbers_take_separators_and_exponents() {
        let cases: &[(&str, usize)] = &[("1'000+2", 5), ("1e-5f)", 5), ("0x1F+2", 4), ("0xE+1", 3), (".5f", 3)];
        for (text, end) in cases {
            assert_eq!(skip_number(text.as_bytes(), 0), *end, "{text}");
        }
    }
}
