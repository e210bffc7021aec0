//! Words in capitals that are no macro in sight: attributes, calling conventions and statements by the place where they stand.

use super::text::{Shape, Token, closing, is_other_keyword, is_specifier, is_type_keyword, next_token, qualified_name};
use super::{Holds, Rewriter, rule_of_undefined};
use crate::source::lexical::byte;

impl Rewriter<'_> {
    /// False where the word is gone.
    pub(super) fn undefined(&mut self, token: Token) -> bool {
        let next = self.after(token);
        if self.slice(self.before(0)) == b"::" || matches!(self.slice(self.before(0)), b"." | b"#") {
            return true;
        }
        if next.shape == Shape::Literal || (self.before(0).shape == Shape::Literal && !self.is_operand_end(next)) {
            return self.between_literals(token, next);
        }
        if byte(self.text, next.start) == b'(' && next.shape == Shape::Punct {
            return self.undefined_call(token, next);
        }
        if next.shape != Shape::Word {
            return true;
        }
        if let Some(rule) = rule_of_undefined(self.slice(token)) {
            return self.apply(rule, token);
        }
        if self.is_attribute(next) || self.is_convention(next) || self.is_class_attribute(next) {
            self.blank(token.start, token.end);
            return false;
        }
        if next.new_line && self.at_statement() && self.in_block() {
            self.end_statement(token.end);
        }
        true
    }

    /// A macro for a string among strings: `"%" PRIu64 "\n"`.
    fn between_literals(&mut self, token: Token, next: Token) -> bool {
        let touches = next.shape == Shape::Literal && next.start == token.end;
        if touches {
            return true;
        }
        self.blank(token.start, token.end);
        false
    }

    fn is_operand_end(&self, next: Token) -> bool {
        !matches!(byte(self.text, next.start), b',' | b')' | b';')
    }

    fn in_block(&self) -> bool {
        self.open.last() == Some(&Holds::Statements)
    }

    /// `WORD type name`, `WORD static ...`: no name can stand before a type. `REAL __device__ f()` is a type before a specifier.
    fn is_attribute(&self, next: Token) -> bool {
        if !self.at_declaration() {
            return false;
        }
        let mut after = next;
        while is_specifier(self.slice(after)) {
            after = self.after(after);
        }
        if after != next {
            let name = self.after(after);
            return is_type_keyword(self.slice(after))
                || name.shape == Shape::Word
                || byte(self.text, name.start) != b'(';
        }
        if is_type_keyword(self.slice(next)) {
            return true;
        }
        if is_other_keyword(self.slice(next)) {
            return false;
        }
        let Some((end, _)) = qualified_name(self.text, next) else { return false };
        let mut name = next_token(self.text, end);
        while matches!(byte(self.text, name.start), b'*' | b'&') && name.shape == Shape::Punct {
            name = self.after(name);
        }
        name.shape == Shape::Word && !is_other_keyword(self.slice(name))
    }

    fn at_declaration(&self) -> bool {
        self.at_statement() || self.slice(self.before(0)) == b">" || is_specifier(self.slice(self.before(0)))
    }

    /// `void WORD name(`
    fn is_convention(&self, next: Token) -> bool {
        let last = self.slice(self.before(0));
        let behind_type = is_type_keyword(last)
            || (self.before(0).shape == Shape::Word && !is_other_keyword(last))
            || (matches!(last, b"*" | b"&") && self.before(1).shape == Shape::Word);
        behind_type && !is_other_keyword(self.slice(next)) && byte(self.text, self.after(next).start) == b'('
    }

    /// `class WORD Name {`
    fn is_class_attribute(&self, next: Token) -> bool {
        matches!(self.slice(self.before(0)), b"class" | b"struct" | b"union")
            && matches!(byte(self.text, self.after(next).start), b'{' | b':')
    }

    /// `WORD(...)` that is no expression: an attribute before a name or a type, a statement without its `;`.
    fn undefined_call(&mut self, token: Token, open: Token) -> bool {
        let word = self.slice(token);
        let bounds = word.windows(13).any(|w| w == b"LAUNCH_BOUNDS");
        let Some(end) = closing(self.text, open.start) else { return true };
        let next = next_token(self.text, end);
        if bounds && next.shape == Shape::Word {
            return self.apply(super::Rule::LaunchBounds, token);
        }
        if next.shape != Shape::Word && byte(self.text, next.start) != b'}' {
            return true;
        }
        let last = self.slice(self.before(0));
        let names_function = next.shape == Shape::Word && byte(self.text, self.after(next).start) == b'(';
        let before_type = is_type_keyword(self.slice(next)) || is_specifier(self.slice(next));
        let is_attribute = (is_type_keyword(last) && names_function)
            || (last != b"typedef" && (is_specifier(last) || last == b">") && before_type);
        if is_attribute {
            self.blank(token.start, end);
            return false;
        }
        if self.at_statement() && (next.new_line || is_type_keyword(self.slice(next)) || is_specifier(self.slice(next)))
        {
            self.end_statement(end);
        }
        true
    }

    /// Puts a `;` on the white space at `end`, if there is some.
    fn end_statement(&mut self, end: usize) {
        if let Some(byte) = self.text.get_mut(end).filter(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
            *byte = b';';
        }
    }
}
