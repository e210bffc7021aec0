//! Literals: the value behind the spelling.

use crate::model::ast::{ExprKind, FloatSuffix};

/// A number as written; `Unknown` where it is none.
pub(super) fn number(text: &str) -> ExprKind {
    let text = text.trim();
    let digits: String = text.chars().filter(|c| *c != '\'').collect();
    if is_float(&digits) { float(&digits) } else { integer(&digits) }
}

/// A number with a user-defined suffix.
pub(super) fn suffixed_number(text: &str) -> ExprKind {
    let end = text.find('_').unwrap_or(text.len());
    match number(text.get(..end).unwrap_or("")) {
        ExprKind::Float { value, .. } => ExprKind::Float { value, suffix: FloatSuffix::Other },
        ExprKind::Int { .. } => ExprKind::Unknown("user-defined literal"),
        other => other,
    }
}

fn is_float(digits: &str) -> bool {
    if digits.starts_with("0x") || digits.starts_with("0X") {
        return digits.contains(['p', 'P']);
    }
    digits.contains(['.', 'e', 'E']) || (digits.ends_with(['f', 'F']) && !digits.starts_with("0b"))
}

fn float(digits: &str) -> ExprKind {
    let is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    let body_end = digits.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |last| last + 1);
    let (body, suffix) = digits.split_at(body_end);
    let suffix = match suffix {
        "" => FloatSuffix::None,
        "f" | "F" => FloatSuffix::F,
        _ => FloatSuffix::Other,
    };
    let value = if is_hex { hex_float(body) } else { body.parse().ok() };
    match value {
        Some(value) => ExprKind::Float { value, suffix },
        None => ExprKind::Unknown("number"),
    }
}

fn hex_float(body: &str) -> Option<f64> {
    let (mantissa, exponent) = body.get(2..)?.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    Some(value * 2.0_f64.powi(exponent.saturating_sub(4 * fraction.len() as i32)))
}

fn integer(digits: &str) -> ExprKind {
    let (radix, body) = match digits.get(..2) {
        Some("0x" | "0X") => (16, digits.get(2..).unwrap_or("")),
        Some("0b" | "0B") => (2, digits.get(2..).unwrap_or("")),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, digits.get(1..).unwrap_or("")),
        _ => (10, digits),
    };
    let end = body.find(|c: char| !c.is_digit(radix)).unwrap_or(body.len());
    let (number, suffix) = body.split_at(end);
    if number.is_empty() && radix == 8 {
        // `0u`
        return integer_suffix(0, suffix, true);
    }
    match u64::from_str_radix(number, radix) {
        Ok(value) => integer_suffix(value, suffix, radix == 10),
        Err(_) => ExprKind::Unknown("number"),
    }
}

fn integer_suffix(value: u64, suffix: &str, is_decimal: bool) -> ExprKind {
    let (mut unsigned, mut long) = (false, false);
    for c in suffix.chars() {
        match c {
            'u' | 'U' => unsigned = true,
            'l' | 'L' | 'z' | 'Z' => long = true,
            _ => return ExprKind::Unknown("user-defined literal"),
        }
    }
    // The type is the first that holds the value; only literals that are not decimal may become unsigned.
    if !unsigned && !is_decimal && !long && value > i32::MAX as u64 && u32::try_from(value).is_ok() {
        unsigned = true;
    }
    let narrow = if unsigned { u64::from(u32::MAX) } else { i32::MAX as u64 };
    long |= value > narrow;
    unsigned |= value > i64::MAX as u64;
    ExprKind::Int { value, unsigned, long }
}

/// The value of a character literal, quotes and prefix included.
pub(super) fn character(text: &str) -> ExprKind {
    let inner = text.split_once('\'').map_or("", |(_, rest)| rest.strip_suffix('\'').unwrap_or(rest));
    let mut chars = unescape(inner).into_iter();
    match (chars.next(), chars.next()) {
        (Some(c), None) => ExprKind::Char(i64::from(c)),
        _ => ExprKind::Unknown("multi-character literal"),
    }
}

/// The text of a string literal: prefix and quotes off, escapes resolved.
pub(super) fn string(text: &str) -> String {
    let inner = text.split_once('"').map_or("", |(_, rest)| rest.strip_suffix('"').unwrap_or(rest));
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    unescape(inner).into_iter().map(|c| char::from_u32(c).unwrap_or('\u{fffd}')).collect()
}

fn unescape(text: &str) -> Vec<u32> {
    let mut out = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c as u32);
            continue;
        }
        let Some(escape) = chars.next() else { break };
        let (radix, longest, mut value) = match escape {
            'x' => (16, 8, 0),
            'u' => (16, 4, 0),
            'U' => (16, 8, 0),
            '0'..='7' => (8, 2, escape.to_digit(8).unwrap_or(0)),
            '\n' => continue,
            _ => {
                out.push(simple_escape(escape) as u32);
                continue;
            }
        };
        for _ in 0..longest {
            let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            chars.next();
        }
        out.push(value);
    }
    out
}

fn simple_escape(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'e' => '\u{1b}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: u64, unsigned: bool, long: bool) -> ExprKind {
        ExprKind::Int { value, unsigned, long }
    }

    #[test]
    fn integers() {
        let table = [
            ("0", int(0, false, false)),
            ("0u", int(0, true, false)),
            ("42", int(42, false, false)),
            ("0x1F", int(31, false, false)),
            ("0xffffffff", int(0xffff_ffff, true, false)),
            ("4294967295", int(4_294_967_295, false, true)),
            ("0b101", int(5, false, false)),
            ("017", int(15, false, false)),
            ("1'000'000", int(1_000_000, false, false)),
            ("1ull", int(1, true, true)),
            ("2L", int(2, false, true)),
            ("0xFFFFFFFFFFFFFFFF", int(u64::MAX, true, true)),
        ];
        for (text, wanted) in table {
            assert_eq!(number(text), wanted, "{text}");
        }
        assert_eq!(number("99999999999999999999999"), ExprKind::Unknown("number"));
    }

    #[test]
    fn floats() {
        let table = [
            ("1.0", 1.0, FloatSuffix::None),
            ("1.f", 1.0, FloatSuffix::F),
            (".5F", 0.5, FloatSuffix::F),
            ("1e-3", 0.001, FloatSuffix::None),
            ("2.5e+2f", 250.0, FloatSuffix::F),
            ("1.0l", 1.0, FloatSuffix::Other),
            ("1f", 1.0, FloatSuffix::F),
            ("0x1p-3f", 0.125, FloatSuffix::F),
            ("0x1.8p1", 3.0, FloatSuffix::None),
        ];
        for (text, value, suffix) in table {
            assert_eq!(number(text), ExprKind::Float { value, suffix }, "{text}");
        }
        assert_eq!(suffixed_number("1.5_h"), ExprKind::Float { value: 1.5, suffix: FloatSuffix::Other });
    }

    #[test]
    fn characters_and_strings() {
        let table = [("'a'", 97), (r"'\n'", 10), (r"'\0'", 0), (r"'\x41'", 65), (r"L'\''", 39), (r"'\101'", 65)];
        for (text, value) in table {
            assert_eq!(character(text), ExprKind::Char(value), "{text}");
        }
        assert_eq!(string(r#"u8"a\tb""#), "a\tb");
    }
}
