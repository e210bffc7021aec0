//! Text out of files made fit for a terminal: no control character reaches it, whatever a source or a file name holds.

use std::borrow::Cow;
use std::path::Path;

/// One line of visible text: line ends become spaces, other control characters `?`.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unfit) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { mask(c) }).collect())
}

/// A path as one line of visible text.
pub fn plain_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    plain(text.strip_prefix("./").unwrap_or(&text)).into_owned()
}

/// Source text of the same byte length and the same lines.
pub fn plain_source(text: &str) -> Cow<'_, str> {
    let is_fit = |c: char| matches!(c, '\n' | '\t') || !is_unfit(c);
    if text.chars().all(is_fit) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_fit(c) => out.push(c),
            '\r' => out.push(' '),
            c => out.extend(std::iter::repeat_n('?', c.len_utf8())),
        }
    }
    Cow::Owned(out)
}

fn mask(c: char) -> char {
    if is_unfit(c) { '?' } else { c }
}

/// Control characters, and those that reorder the text around them.
fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_made_visible() {
        assert_eq!(plain("a\u{1b}[31m\nb"), "a?[31m b");
    }

    #[test]
    fn source_keeps_its_length_and_lines() {
        let text = "a\u{1b}\t\u{202e}\r\n\u{85}\n";
        let out = plain_source(text);
        assert_eq!(out, "a?\t??? \n??\n");
        assert_eq!(out.len(), text.len());
    }
}
