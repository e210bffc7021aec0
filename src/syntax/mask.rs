//! From CUDA as people write it to CUDA as the grammar knows it, byte for byte of the same length.
//!
//! The grammar turns some everyday spellings into errors, or into wholly different trees without an error. Those spellings are
//! replaced by equal ones or by blanks before parsing; lowering reads all names from the text as written.

use std::borrow::Cow;
use std::ops::Range;

use super::UnrollPragma;

pub(super) struct Masked<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) unrolls: Vec<UnrollPragma>,
}

pub(super) fn mask(text: &str) -> Masked<'_> {
    let mut scan =
        Scan { bytes: text.as_bytes(), at: 0, edits: Vec::new(), unrolls: Vec::new(), last: b'\n', parens: 0 };
    scan.run();
    let Scan { edits, unrolls, .. } = scan;
    if edits.is_empty() {
        return Masked { text: Cow::Borrowed(text), unrolls };
    }
    let mut bytes = text.as_bytes().to_vec();
    for (range, with) in edits {
        let mut with = with.bytes();
        for byte in bytes.get_mut(range).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = with.next().unwrap_or(b' ');
            }
        }
    }
    Masked { text: String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned), unrolls }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What replaces a range; the rest of the range becomes blanks. Ranges begin and end on ASCII bytes.
    edits: Vec<(Range<usize>, &'static str)>,
    unrolls: Vec<UnrollPragma>,
    /// The last byte that was no blank and no comment.
    last: u8,
    parens: u32,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut line_start = true;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => {
                    line_start = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    self.at += 1;
                    continue;
                }
                b'/' if matches!(self.peek(1), Some(b'/' | b'*')) => {
                    self.at = self.after_comment(self.at);
                    continue;
                }
                b'#' if line_start => {
                    self.directive();
                    continue;
                }
                b'"' => self.at = self.after_quoted(self.at, b'"'),
                b'\'' => self.at = self.after_quoted(self.at, b'\''),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.word(),
                b'0'..=b'9' => self.number(),
                _ => self.symbol(byte),
            }
            line_start = false;
            self.last = self.bytes.get(self.at.saturating_sub(1)).copied().unwrap_or(b'\n');
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn after_comment(&self, at: usize) -> usize {
        let line = self.bytes.get(at + 1) == Some(&b'/');
        let mut i = at + 2;
        while let Some(byte) = self.bytes.get(i) {
            if line && *byte == b'\n' && self.bytes.get(i - 1) != Some(&b'\\') {
                return i;
            }
            if !line && *byte == b'*' && self.bytes.get(i + 1) == Some(&b'/') {
                return i + 2;
            }
            i += 1;
        }
        self.bytes.len()
    }

    fn after_quoted(&self, at: usize, quote: u8) -> usize {
        let mut i = at + 1;
        while let Some(byte) = self.bytes.get(i) {
            match *byte {
                b'\\' => i += 2,
                b'\n' => return i,
                b if b == quote => return i + 1,
                _ => i += 1,
            }
        }
        self.bytes.len()
    }

    fn after_raw_string(&self, at: usize) -> usize {
        let open = self.bytes.iter().skip(at + 1).position(|b| *b == b'(').map_or(self.bytes.len(), |p| at + 1 + p);
        let mut close = vec![b')'];
        close.extend_from_slice(self.bytes.get(at + 1..open).unwrap_or_default());
        close.push(b'"');
        let body = self.bytes.get(open..).unwrap_or_default();
        body.windows(close.len()).position(|w| w == close).map_or(self.bytes.len(), |p| open + p + close.len())
    }

    /// Blanks a pragma; other directives (left only in text that was not preprocessed) stay.
    fn directive(&mut self) {
        let start = self.at;
        let mut end = start;
        while let Some(byte) = self.bytes.get(end) {
            if *byte == b'\n' && !matches!(self.bytes.get(end - 1), Some(b'\\')) {
                break;
            }
            end += 1;
        }
        self.at = end;
        let name = self.skip_blanks(start + 1);
        if !self.bytes.get(name..end).is_some_and(|b| b.starts_with(b"pragma")) {
            return;
        }
        self.edits.push((start..end, ""));
        self.unroll(name + 6, end, end);
    }

    /// Records the pragma whose words lie in `from..to` if it is about unrolling.
    fn unroll(&mut self, from: usize, to: usize, end: usize) {
        let start = self.skip_blanks(from);
        let Some(body) = self.bytes.get(start..to) else { return };
        let prefix = if body.starts_with(b"GCC") { self.skip_blanks(start + 3) - start } else { 0 };
        let Some(rest) = body.get(prefix..) else { return };
        if let Some(tail) = rest.strip_prefix(b"unroll").filter(|t| !t.first().is_some_and(|b| is_word(*b))) {
            let comment = tail.windows(2).position(|w| w == b"//" || w == b"/*").unwrap_or(tail.len());
            let argument = start + prefix + 6;
            self.unrolls.push(UnrollPragma { argument: argument..argument + comment, end, disabled: false });
        } else if rest.starts_with(b"nounroll") {
            self.unrolls.push(UnrollPragma { argument: start..start, end, disabled: true });
        }
    }

    fn skip_blanks(&self, mut at: usize) -> usize {
        while matches!(self.bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n' | b'\\')) {
            at += 1;
        }
        at
    }

    fn word_end(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(|b| is_word(*b)) {
            at += 1;
        }
        at
    }

    /// One past the bracket that closes the one at `open`.
    fn after_brackets(&self, open: usize) -> usize {
        let mut depth = 0_u32;
        let mut i = open;
        while let Some(byte) = self.bytes.get(i) {
            match *byte {
                b'(' => depth += 1,
                b')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return i + 1;
                    }
                }
                b';' | b'{' => return open,
                b'"' => {
                    i = self.after_quoted(i, b'"');
                    continue;
                }
                _ => {}
            }
            i += 1;
        }
        open
    }

    fn number(&mut self) {
        while self.peek(0).is_some_and(|b| is_word(b) || b == b'.' || b == b'\'') {
            let exponent = matches!(self.peek(0), Some(b'e' | b'E' | b'p' | b'P'));
            self.at += 1;
            if exponent && matches!(self.peek(0), Some(b'+' | b'-')) {
                self.at += 1;
            }
        }
    }

    fn symbol(&mut self, byte: u8) {
        match byte {
            b'(' => self.parens += 1,
            b')' => self.parens = self.parens.saturating_sub(1),
            // `T x = {}` as a default argument.
            b'{' if self.last == b'=' && self.parens > 0 => {
                let close = self.skip_blanks(self.at + 1);
                let behind = self.skip_blanks(close + 1);
                if self.bytes.get(close) == Some(&b'}') && matches!(self.bytes.get(behind), Some(b',' | b')')) {
                    self.edits.push((self.at..close + 1, "0"));
                    self.at = close;
                }
            }
            b'{' | b'}' => self.parens = 0,
            _ => {}
        }
        self.at += 1;
    }

    fn word(&mut self) {
        let start = self.at;
        let end = self.word_end(start);
        self.at = end;
        match self.bytes.get(start..end).unwrap_or_default() {
            b"__align__" => self.edits.push((start..end, "alignas")),
            b"__restrict" => self.edits.push((start..end, "restrict")),
            b"__cluster_dims__" | b"__maxnreg__" | b"__block_size__" | b"__nv_pure__" => {
                self.blank_with_arguments(start, end);
            }
            b"__host__" | b"__device__" if self.last == b']' => {
                self.edits.push((start..end, ""));
                // The next word still follows the capture list.
                self.at = end;
                self.blank_more_lambda_words();
            }
            b"typename" => self.type_in_expression(start, end),
            b"new" => self.new_of_pointers(end),
            b"_Pragma" => {
                let close = self.after_brackets(self.skip_blanks(end));
                self.blank_with_arguments(start, end);
                let quote = self.bytes.get(end..close).and_then(|b| b.iter().position(|b| *b == b'"'));
                if let Some(quote) = quote {
                    let text = end + quote + 1;
                    let stop = self.after_quoted(end + quote, b'"').saturating_sub(1);
                    self.unroll(text, stop, close);
                }
            }
            word if self.peek(0) == Some(b'"') && word.ends_with(b"R") && word.len() <= 3 => {
                self.at = self.after_raw_string(end);
            }
            _ => {}
        }
    }

    fn blank_with_arguments(&mut self, start: usize, end: usize) {
        let open = self.skip_blanks(end);
        let close = if self.bytes.get(open) == Some(&b'(') { self.after_brackets(open).max(end) } else { end };
        let close = if close == open { end } else { close };
        self.edits.push((start..close, ""));
        self.at = close;
    }

    /// `[=] __host__ __device__ (int i) {...}`.
    fn blank_more_lambda_words(&mut self) {
        loop {
            let start = self.skip_blanks(self.at);
            let end = self.word_end(start);
            if !matches!(self.bytes.get(start..end), Some(b"__host__" | b"__device__" | b"__forceinline__")) {
                return;
            }
            self.edits.push((start..end, ""));
            self.at = end;
        }
    }

    /// `typename T::x{}` and `typename T::x(y)` are values: the word is dropped.
    fn type_in_expression(&mut self, start: usize, end: usize) {
        let mut i = end;
        let mut angles = 0_i32;
        while let Some(byte) = self.bytes.get(i) {
            match *byte {
                b'<' => angles += 1,
                b'>' => angles -= 1,
                b'{' | b'(' if angles == 0 => break,
                b' ' | b'\t' | b'\n' | b'\r' | b':' => {}
                b if is_word(b) => {}
                _ if angles > 0 => {}
                _ => return,
            }
            if angles < 0 || i - end > 400 {
                return;
            }
            i += 1;
        }
        // Two names in a row are a declaration: `typename T::x y(3)`.
        let names = self.bytes.get(end..i).unwrap_or_default();
        if !ends_in_one_name(names) {
            return;
        }
        self.edits.push((start..end, ""));
    }

    /// `new T*[n]`: the grammar reads a product.
    fn new_of_pointers(&mut self, end: usize) {
        let mut i = self.skip_blanks(end);
        while self.bytes.get(i).is_some_and(|b| is_word(*b) || matches!(*b, b' ' | b':' | b'<' | b'>')) {
            i += 1;
        }
        let star = i;
        while matches!(self.bytes.get(i), Some(b'*' | b' ')) {
            i += 1;
        }
        if i > star && self.bytes.get(i) == Some(&b'[') {
            self.edits.push((star..i, ""));
        }
    }
}

/// Whether a qualified name ends in a name that no blank divides: `T::x` and not `T::x y`.
fn ends_in_one_name(text: &[u8]) -> bool {
    let mut angles = 0_i32;
    let mut previous_word_ended = false;
    let mut after_colons = true;
    for byte in text {
        match *byte {
            b'<' => angles += 1,
            b'>' => angles -= 1,
            _ if angles > 0 => {}
            b':' => {
                after_colons = true;
                previous_word_ended = false;
            }
            b if is_word(b) => {
                if previous_word_ended && !after_colons {
                    return false;
                }
                after_colons = false;
            }
            _ => previous_word_ended = !after_colons,
        }
    }
    true
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_keep_the_length() {
        let table = [
            ("struct __align__(16) S {};", "struct alignas  (16) S {};"),
            ("float *const __restrict p;", "float *const restrict   p;"),
            (
                "auto f = [=] __host__ __device__ (int i) { return i; };",
                "auto f = [=]                     (int i) { return i; };",
            ),
            ("__global__ void __maxnreg__(32) k();", "__global__ void                 k();"),
            ("x = typename T::U{};", "x =          T::U{};"),
            ("typename T::U x{3};", "typename T::U x{3};"),
            ("p = new float*[n];", "p = new float [n];"),
            ("void f(P p = {}, int n = 2);", "void f(P p = 0 , int n = 2);"),
            ("s = \"__align__\"; // __restrict", "s = \"__align__\"; // __restrict"),
            ("s = R\"x(\" __align__ )x\";", "s = R\"x(\" __align__ )x\";"),
        ];
        for (text, wanted) in table {
            assert_eq!(mask(text).text, wanted);
        }
    }

    #[test]
    fn unroll_pragmas_are_taken_out() {
        let text =
            "if (x)\n#pragma unroll 4 // four\nfor (;;) { _Pragma(\"unroll\") for (;;) ; }\n#pragma omp parallel\n";
        let masked = mask(text);
        assert!(!masked.text.contains("ragma"));
        let arguments: Vec<&str> = masked.unrolls.iter().map(|u| text.get(u.argument.clone()).unwrap_or("?")).collect();
        assert_eq!(arguments, [" 4 ", ""]);
    }
}
