//! The lines of a file that begin with `#`, found without reading the code between them.

use super::lexical::{
    byte, is_continued, is_digit_separator, is_raw_quote, skip_comment, skip_ident, skip_quoted, skip_raw_string,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectiveKind {
    Define,
    Undef,
    If,
    Ifdef,
    Ifndef,
    Elif,
    Elifdef,
    Elifndef,
    Else,
    Endif,
    Include,
    Pragma,
    /// `#error`, `#line`, a lone `#`, words no compiler knows.
    Other,
}

/// One directive, continued lines included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directive {
    pub kind: DirectiveKind,
    /// Offset of the `#`.
    pub start: u32,
    /// Offset just behind the keyword.
    pub arguments: u32,
    /// One past the last byte; the newline stays outside.
    pub end: u32,
}

/// The name in an `#include`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncludeName<'a> {
    pub name: &'a str,
    /// `"name"` rather than `<name>`.
    pub quoted: bool,
}

/// All directives of a text in order.
pub fn scan(text: &str) -> Vec<Directive> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => {
                line_start = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
            b'/' => {
                let after = skip_comment(bytes, at);
                line_start &= after.is_some();
                at = after.unwrap_or(at + 1);
            }
            b'"' => {
                line_start = false;
                at = if is_raw_quote(bytes, at) { skip_raw_string(bytes, at) } else { skip_quoted(bytes, at) };
            }
            b'\'' => {
                line_start = false;
                at = if is_digit_separator(bytes, at) { at + 1 } else { skip_quoted(bytes, at) };
            }
            b'#' if line_start => {
                let directive = read(bytes, at);
                at = directive.end as usize;
                found.push(directive);
            }
            _ => {
                line_start = false;
                at += 1;
            }
        }
    }
    found
}

fn read(text: &[u8], start: usize) -> Directive {
    let mut word = start + 1;
    loop {
        match byte(text, word) {
            b' ' | b'\t' => word += 1,
            b'/' if byte(text, word + 1) == b'*' => word = skip_comment(text, word).unwrap_or(word + 1),
            _ => break,
        }
    }
    let after = skip_ident(text, word);
    let kind = kind_of(text.get(word..after).unwrap_or(&[]));
    Directive { kind, start: start as u32, arguments: after as u32, end: end_of_line(text, after) as u32 }
}

fn kind_of(word: &[u8]) -> DirectiveKind {
    match word {
        b"define" => DirectiveKind::Define,
        b"undef" => DirectiveKind::Undef,
        b"if" => DirectiveKind::If,
        b"ifdef" => DirectiveKind::Ifdef,
        b"ifndef" => DirectiveKind::Ifndef,
        b"elif" => DirectiveKind::Elif,
        b"elifdef" => DirectiveKind::Elifdef,
        b"elifndef" => DirectiveKind::Elifndef,
        b"else" => DirectiveKind::Else,
        b"endif" => DirectiveKind::Endif,
        b"include" | b"import" | b"include_next" => DirectiveKind::Include,
        b"pragma" => DirectiveKind::Pragma,
        _ => DirectiveKind::Other,
    }
}

/// The newline that ends a directive: not one behind a backslash, nor one inside a block comment.
fn end_of_line(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        match text[at] {
            b'\n' if !is_continued(text, at) => return at,
            b'/' => at = skip_comment(text, at).unwrap_or(at + 1),
            b'"' => at = skip_quoted(text, at).max(at + 1),
            b'\'' if !is_digit_separator(text, at) => at = skip_quoted(text, at).max(at + 1),
            _ => at += 1,
        }
    }
    text.len()
}

/// What an `#include` names; `None` where a macro names it.
pub fn include_name<'a>(text: &'a str, directive: &Directive) -> Option<IncludeName<'a>> {
    let argument = text.get(directive.arguments as usize..directive.end as usize)?.trim_start();
    let (quoted, close) = match argument.as_bytes().first()? {
        b'"' => (true, '"'),
        b'<' => (false, '>'),
        _ => return None,
    };
    let rest = argument.get(1..)?;
    let name = rest.get(..rest.find(close)?)?.trim();
    (!name.is_empty()).then_some(IncludeName { name, quoted })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(DirectiveKind, &str)> {
        scan(text).iter().map(|d| (d.kind, &text[d.start as usize..d.end as usize])).collect()
    }

    #[test]
    fn directives_are_found_outside_comments_and_literals() {
        let text = "/* \n#define A\n*/ # /**/ define B 1 \\\n  2\nconst char* s = \"\\\n#if\"; // \\\n#else\n  #endif\r\nx = 1'000; y # z\n";
        assert_eq!(
            kinds(text),
            vec![(DirectiveKind::Define, "# /**/ define B 1 \\\n  2"), (DirectiveKind::Endif, "#endif\r")]
        );
    }

    #[test]
    fn a_block_comment_keeps_a_directive_open() {
        assert_eq!(kinds("#define A /* x\n y */ 1\nint b;"), vec![(DirectiveKind::Define, "#define A /* x\n y */ 1")]);
        assert_eq!(
            kinds("#error don't\nint b;\n#else"),
            vec![(DirectiveKind::Other, "#error don't"), (DirectiveKind::Else, "#else")]
        );
    }

    #[test]
    fn includes_name_their_file() {
        let text = "#include \"a/b.h\" // c\n#include <x.h>\n#include NAME\n";
        let names: Vec<_> = scan(text).iter().map(|d| include_name(text, d).map(|n| (n.name, n.quoted))).collect();
        assert_eq!(names, vec![Some(("a/b.h", true)), Some(("x.h", false)), None]);
    }
}
