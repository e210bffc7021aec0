//! Takes pragmas out of a text before parsing, byte for byte of the same length.
//!
//! The grammar holds a pragma only between statements; `if (x)` with an unroll pragma and a loop behind it would be an error.

use std::borrow::Cow;
use std::ops::Range;

use super::UnrollPragma;

pub(super) struct Masked<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) unrolls: Vec<UnrollPragma>,
}

pub(super) fn mask(text: &str) -> Masked<'_> {
    let mut masked = Masked { text: Cow::Borrowed(text), unrolls: Vec::new() };
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| *b == b'#')).map(|i| at + i) {
        let end = line_end(bytes, start);
        at = start + 1;
        let name = skip_blanks(bytes, start + 1);
        let is_pragma = bytes.get(name..end).is_some_and(|b| b.starts_with(b"pragma")) && opens_its_line(bytes, start);
        if !is_pragma {
            continue;
        }
        masked.unrolls.extend(unroll(bytes, name + b"pragma".len(), end));
        blank(&mut masked.text, start..end);
        at = end;
    }
    masked
}

/// Whether only blanks stand in front of an offset in its line.
fn opens_its_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    before.iter().rev().find(|b| !matches!(b, b' ' | b'\t')).is_none_or(|b| *b == b'\n')
}

/// The end of the line, or of the lines that a backslash joins.
fn line_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while let Some(byte) = bytes.get(end) {
        let is_joined = matches!(bytes.get(end.wrapping_sub(1)), Some(b'\\'))
            || (bytes.get(end.wrapping_sub(1)) == Some(&b'\r') && bytes.get(end.wrapping_sub(2)) == Some(&b'\\'));
        if *byte == b'\n' && !is_joined {
            break;
        }
        end += 1;
    }
    end
}

fn blank(text: &mut Cow<'_, str>, range: Range<usize>) {
    let blanks: String = text
        .get(range.clone())
        .unwrap_or("")
        .bytes()
        .map(|b| if matches!(b, b'\n' | b'\r') { b as char } else { ' ' })
        .collect();
    // Both ends stand at ASCII bytes, so the range falls on character boundaries.
    if text.is_char_boundary(range.start) && text.is_char_boundary(range.end) {
        text.to_mut().replace_range(range, &blanks);
    }
}

/// The unroll pragma whose words lie in `from..end`.
fn unroll(bytes: &[u8], from: usize, end: usize) -> Option<UnrollPragma> {
    let mut start = skip_blanks(bytes, from);
    if bytes.get(start..end)?.starts_with(b"GCC") {
        start = skip_blanks(bytes, start + 3);
    }
    let words = bytes.get(start..end)?;
    if words.starts_with(b"nounroll") {
        return Some(UnrollPragma { argument: start..start, end, disabled: true });
    }
    let argument = words.strip_prefix(b"unroll").filter(|rest| !rest.first().is_some_and(|b| is_word(*b)))?;
    let length = argument.windows(2).position(|w| w == b"//" || w == b"/*").unwrap_or(argument.len());
    let start = end - argument.len();
    Some(UnrollPragma { argument: start..start + length, end, disabled: false })
}

fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\\' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Vec<String> {
        let masked = mask(text);
        assert_eq!(masked.text.len(), text.len());
        assert!(!masked.text.contains("#pragma"), "{}", masked.text);
        masked.unrolls.iter().map(|u| text.get(u.argument.clone()).unwrap_or("?").trim().to_owned()).collect()
    }

    #[test]
    fn pragmas_leave_and_unrolls_are_noted() {
        let text =
            "if (x)\n#pragma unroll 4 // four\nfor (;;) {}\n  # pragma unroll\nfor (;;) {}\n#pragma omp parallel\n";
        assert_eq!(arguments(text), ["4", ""]);
        assert_eq!(arguments("#pragma unroll(N)\r\n#pragma GCC unroll 2\n#pragma unroll_and_jam 4\n"), ["(N)", "2"]);
        assert_eq!(arguments("#pragma unroll \\\n 8\nx"), ["\\\n 8"]);
        assert!(mask("#pragma nounroll\n").unrolls.iter().all(|u| u.disabled));
    }

    #[test]
    fn other_lines_stay() {
        for text in ["s = \"#pragma unroll\";\n", "#define X 1\n", "a # b\n"] {
            assert_eq!(mask(text).text, text);
        }
    }
}
