//! What the rules do to the text around the words of compilers.

use super::text::{Shape, Token, closing, is_type_keyword, next_token, qualified_name};
use super::{Holds, Rewriter, Rule};
use crate::source::lexical::byte;

impl Rewriter<'_> {
    /// False where the word is gone.
    pub(super) fn apply(&mut self, rule: Rule, token: Token) -> bool {
        match rule {
            Rule::Spell(spelling) => self.spell(token.start, token.end, spelling),
            Rule::Blank => self.gone(token.start, token.end),
            Rule::BlankCall => self.blank_call(token),
            Rule::Align => self.align(token, None),
            Rule::Attributes => self.attributes(token),
            Rule::LaunchBounds => self.launch_bounds(token),
            Rule::Restrict => self.restrict(token),
            Rule::Pragma => self.pragma_call(token),
            Rule::Typename => self.typename(token),
            Rule::Friend => self.friend(token),
            Rule::New => self.new_array(token),
            Rule::VaArg => self.va_arg(token),
            Rule::TypeId => self.type_id(token),
            Rule::Space => self.execution_space(token),
            Rule::Template => self.explicit_instance(token),
            Rule::Operator => self.operator_call(token),
            Rule::TypePointer => self.type_pointer(token),
            Rule::Unsigned => self.unsigned_conversion(token),
            Rule::Enum => self.unnamed_enum(token),
            Rule::Decltype => self.decltype_value(token),
            Rule::Void => self.void_default(token),
            Rule::Comparison => self.comparison(token),
        }
    }

    fn gone(&mut self, start: usize, end: usize) -> bool {
        self.blank(start, end);
        false
    }

    /// The parentheses behind a token: their first byte and one past their last.
    fn parentheses(&self, token: Token) -> Option<(usize, usize)> {
        let open = self.after(token);
        let opens = open.shape == Shape::Punct && byte(self.text, open.start) == b'(';
        opens.then(|| closing(self.text, open.start).map(|end| (open.start, end))).flatten()
    }

    fn blank_call(&mut self, token: Token) -> bool {
        let end = self.parentheses(token).map_or(token.end, |(_, end)| end);
        self.gone(token.start, end)
    }

    /// Writes `alignas` over the start of an alignment whose number stands in the parentheses at `range`.
    fn align(&mut self, token: Token, range: Option<(usize, usize)>) -> bool {
        let Some((open, close)) = range.or_else(|| self.parentheses(token)) else { return true };
        let end = self.attribute_end(token, close);
        if self.is_behind_declarator(end) {
            return self.gone(token.start, end);
        }
        let number = self.text.get(open..close).unwrap_or(&[]).to_vec();
        self.blank(token.start, end);
        let spelled = [b"alignas", number.as_slice()].concat();
        if let Some(room) = self.text.get_mut(token.start..token.start + spelled.len()) {
            room.copy_from_slice(&spelled);
        }
        true
    }

    /// The end of the whole attribute that `token` starts; `inner` ends the part of it that was read.
    fn attribute_end(&self, token: Token, inner: usize) -> usize {
        self.parentheses(token).map_or(inner, |(_, end)| end.max(inner))
    }

    /// Whether an attribute that ends at `end` closes a declarator: `s[4] __align__(8);`
    fn is_behind_declarator(&self, end: usize) -> bool {
        let follows = byte(self.text, next_token(self.text, end).start);
        let last = self.slice(self.before(0));
        let name = self.before(0).shape == Shape::Word
            && !is_type_keyword(last)
            && !matches!(last, b"struct" | b"union" | b"class");
        matches!(follows, b';' | b',' | b'=' | b')') && (last == b"]" || last == b")" || name)
    }

    /// `__attribute__((aligned(16)))` is an alignment, `packed` stays, all else says nothing here.
    fn attributes(&mut self, token: Token) -> bool {
        let Some((open, end)) = self.parentheses(token) else { return true };
        let mut at = open;
        while at < end {
            let word = next_token(self.text, at);
            at = word.end;
            match self.slice(word) {
                b"aligned" | b"__aligned__" | b"align" => {
                    if let Some(range) = self.parentheses(word) {
                        return self.align(token, Some(range));
                    }
                }
                b"packed" | b"__packed__" if !self.is_behind_declarator(end) => return true,
                _ => {}
            }
        }
        self.gone(token.start, end)
    }

    fn launch_bounds(&mut self, token: Token) -> bool {
        let Some((open, end)) = self.parentheses(token) else { return self.gone(token.start, token.end) };
        self.spell(token.start, token.end, "__launch_bounds__");
        let mut commas = 0;
        let mut at = open + 1;
        while at < end - 1 {
            let part = next_token(self.text, at);
            at = part.end;
            match byte(self.text, part.start) {
                b'(' | b'[' | b'{' => at = closing(self.text, part.start).unwrap_or(end),
                b',' => {
                    commas += 1;
                    if commas == 2 {
                        self.blank(part.start, end - 1);
                        break;
                    }
                }
                _ => {}
            }
        }
        true
    }

    /// The grammar takes `* __restrict__` and, for the other spellings, nothing between the star and the word.
    fn restrict(&mut self, token: Token) -> bool {
        let last = self.before(0);
        match self.slice(last) {
            b"*" => true,
            b"const" if self.slice(self.before(1)) == b"*" => {
                let exchanged = [self.slice(token), b" ", b"const"].concat();
                let room = token.end - last.start;
                if exchanged.len() > room {
                    return true;
                }
                self.blank(last.start, token.end);
                if let Some(target) = self.text.get_mut(last.start..last.start + exchanged.len()) {
                    target.copy_from_slice(&exchanged);
                }
                true
            }
            _ => self.gone(token.start, token.end),
        }
    }

    /// `_Pragma("unroll 4")` on a line of its own, as the lowering reads pragmas.
    fn pragma_call(&mut self, token: Token) -> bool {
        let Some((open, end)) = self.parentheses(token) else { return true };
        let inner = self.text.get(open + 1..end - 1).unwrap_or(&[]);
        let words: String = String::from_utf8_lossy(inner).trim().trim_matches('"').replace("\\\"", "\"");
        self.blank(token.start, end);
        let line = format!("\n#pragma {words}\n");
        let unrolls = words.starts_with("unroll") || words.starts_with("nounroll");
        if unrolls
            && self.at_statement()
            && line.len() <= end - token.start
            && let Some(room) = self.text.get_mut(token.start..token.start + line.len())
        {
            room.copy_from_slice(line.as_bytes());
        }
        false
    }

    /// A pragma between `if (...)` and its statement hides the statement.
    pub(super) fn pragma_line(&mut self, token: Token) -> bool {
        if !self.at_statement() {
            self.blank(token.start, token.end);
        }
        false
    }

    pub(super) fn at_statement(&self) -> bool {
        self.before(0).shape == Shape::End || matches!(self.slice(self.before(0)), b";" | b"{" | b"}" | b":")
    }

    fn typename(&mut self, token: Token) -> bool {
        if self.slice(self.before(0)) == b"using" {
            return self.gone(token.start, token.end);
        }
        let start = self.after(token);
        let Some((end, true)) = qualified_name(self.text, start) else { return true };
        let next = next_token(self.text, end);
        let constructs = next.shape == Shape::Punct && matches!(byte(self.text, next.start), b'{' | b'(');
        if constructs { self.gone(token.start, token.end) } else { true }
    }

    fn friend(&mut self, token: Token) -> bool {
        let next = self.after(token);
        if matches!(self.slice(next), b"class" | b"struct" | b"union") {
            return true;
        }
        let names_only =
            qualified_name(self.text, next).map(|(end, _)| byte(self.text, next_token(self.text, end).start));
        if names_only == Some(b';') { true } else { self.gone(token.start, token.end) }
    }

    /// An array of pointers is as good an array of values: what matters is that there is one.
    fn new_array(&mut self, token: Token) -> bool {
        let mut next = self.after(token);
        if self.slice(next) == b"const" {
            let constant = next;
            next = self.after(constant);
            self.blank(constant.start, constant.end);
        }
        let mut end = match self.slice(next) {
            b"struct" | b"unsigned" | b"signed" | b"long" => next.end,
            _ => qualified_name(self.text, next).map_or(next.end, |(end, _)| end),
        };
        let mut stars = Vec::new();
        loop {
            let part = next_token(self.text, end);
            match byte(self.text, part.start) {
                b'*' => stars.push(part),
                b'[' if !stars.is_empty() => break,
                _ if part.shape == Shape::Word && stars.is_empty() && part.end - next.start < 64 => {}
                _ => return true,
            }
            end = part.end;
        }
        for star in stars {
            self.blank(star.start, star.end);
        }
        true
    }

    fn va_arg(&mut self, token: Token) -> bool {
        let Some((open, end)) = self.parentheses(token) else { return true };
        let inner = self.text.get(open..end - 1).unwrap_or(&[]);
        if let Some(comma) = inner.iter().rposition(|b| *b == b',') {
            self.blank(open + comma, end - 1);
        }
        true
    }

    fn type_id(&mut self, token: Token) -> bool {
        let Some((open, end)) = self.parentheses(token) else { return true };
        let first = next_token(self.text, open + 1);
        if is_type_keyword(self.slice(first)) {
            self.blank(open + 1, end - 1);
        }
        true
    }

    /// `[=] __host__ __device__ (int i) { ... }`
    fn execution_space(&mut self, token: Token) -> bool {
        if self.slice(self.before(0)) != b"]" {
            return true;
        }
        let mut next = self.after(token);
        // Both words at most, and perhaps a third by mistake.
        for _ in 0..3 {
            match self.slice(next) {
                b"__host__" | b"__device__" | b"__global__" => next = self.after(next),
                b"(" | b"{" | b"mutable" => return self.gone(token.start, token.end),
                _ => return true,
            }
        }
        true
    }

    /// `template class X<int>;` makes code, but says nothing new. Instances of kernels stay.
    fn explicit_instance(&mut self, token: Token) -> bool {
        let word = self.after(token);
        if !matches!(self.slice(word), b"class" | b"struct" | b"union") {
            return true;
        }
        let name = self.after(word);
        let Some((end, _)) = qualified_name(self.text, name) else { return true };
        if byte(self.text, next_token(self.text, end).start) != b';' {
            return true;
        }
        self.gone(token.start, end)
    }

    /// `operator++();` and `operator()(x);` as statements are calls on the object itself.
    fn operator_call(&mut self, token: Token) -> bool {
        let first = self.after(token);
        let second = self.after(first);
        let spelling = match (self.slice(first), self.slice(second)) {
            (b"+", b"+") => "++(*this)",
            (b"-", b"-") => "--(*this)",
            (b"(", b")") => "(*this)",
            _ => return true,
        };
        let is_statement = self.at_statement() || matches!(self.slice(self.before(0)), b"else" | b")" | b"return");
        let Some((open, end)) = self.parentheses(second) else { return true };
        if !is_statement || byte(self.text, next_token(self.text, end).start) != b';' {
            return true;
        }
        if spelling == "(*this)" {
            self.spell(token.start, second.end, spelling);
        } else if end - open == 2 {
            self.spell(token.start, end, spelling);
        }
        true
    }

    fn unsigned_conversion(&mut self, token: Token) -> bool {
        let converts = self.parentheses(token).is_some() && self.before(0).shape != Shape::Word;
        if converts && let Some(word) = self.text.get_mut(token.start..token.end) {
            word.copy_from_slice(b"uint32_t");
        }
        true
    }

    fn unnamed_enum(&mut self, token: Token) -> bool {
        let colon = self.after(token);
        if self.slice(colon) == b":"
            && let Some((end, _)) = qualified_name(self.text, self.after(colon))
            && byte(self.text, next_token(self.text, end).start) == b'{'
        {
            self.blank(colon.start, end);
        }
        true
    }

    /// `decltype(x){}` is a value like `x`.
    fn decltype_value(&mut self, token: Token) -> bool {
        let Some((_, end)) = self.parentheses(token) else { return true };
        let open = next_token(self.text, end);
        let close = self.after(open);
        if self.slice(open) != b"{" || self.slice(close) != b"}" {
            return true;
        }
        self.blank(open.start, close.end);
        self.gone(token.start, token.end)
    }

    fn void_default(&mut self, token: Token) -> bool {
        let star = self.after(token);
        let next = self.after(star);
        let is_default =
            self.slice(self.before(0)) == b"=" && self.slice(star) == b"*" && matches!(self.slice(next), b"," | b">");
        if is_default {
            self.blank(star.start, star.end);
        }
        true
    }

    /// `<A >= B` as the first argument becomes `<(A>=B)`, which takes the room of the two blanks.
    fn comparison(&mut self, token: Token) -> bool {
        let open = self.after(token);
        if self.slice(open) != b"<" {
            return true;
        }
        let left = self.after(open);
        let Some((left_end, _)) = qualified_name(self.text, left) else { return true };
        let greater = next_token(self.text, left_end);
        let equals = self.after(greater);
        if self.slice(greater) != b">" || self.slice(equals) != b"=" || equals.start != greater.end {
            return true;
        }
        let right = self.after(equals);
        let right_end = match right.shape {
            Shape::Number => right.end,
            _ => qualified_name(self.text, right).map_or(right.end, |(end, _)| end),
        };
        let part = |range: std::ops::Range<usize>| self.text.get(range).unwrap_or(&[]);
        let spelled = [b"(", part(left.start..left_end), b">=", part(right.start..right_end), b")"].concat();
        if spelled.len() <= right_end - left.start {
            self.blank(left.start, right_end);
            if let Some(room) = self.text.get_mut(left.start..left.start + spelled.len()) {
                room.copy_from_slice(&spelled);
            }
        }
        true
    }

    /// `f(T) = delete;` declares a function that nobody calls.
    pub(super) fn deleted(&mut self, token: Token) -> bool {
        let word = self.after(token);
        if self.slice(word) == b"delete" && self.slice(self.after(word)) == b";" {
            return self.gone(token.start, word.end);
        }
        true
    }

    /// `typename enable_if<...>::type* = nullptr` as a template parameter.
    fn type_pointer(&mut self, token: Token) -> bool {
        let star = self.after(token);
        let equals = self.after(star);
        let value = self.after(equals);
        let matches =
            self.slice(star) == b"*" && self.slice(equals) == b"=" && matches!(self.slice(value), b"nullptr" | b"0");
        if matches && self.slice(self.before(0)) == b":" {
            self.blank(star.start, star.end);
        }
        true
    }

    /// A default argument in braces, the only one whose type is not written beside it.
    pub(super) fn default_braces(&mut self, token: Token) -> bool {
        let equals = self.before(0);
        let is_list = self.open.len() >= 2 && self.open.get(self.open.len() - 2) == Some(&Holds::List);
        let names = self.before(1).shape == Shape::Word;
        if self.slice(equals) != b"=" || !names {
            return true;
        }
        let Some(end) = closing(self.text, token.start) else { return true };
        let follows = byte(self.text, next_token(self.text, end).start);
        if !(is_list && matches!(follows, b',' | b')')) {
            return true;
        }
        self.blank(equals.start, end);
        self.open.pop();
        self.forget();
        false
    }

    /// `int : 4;` pads a struct of bit-fields.
    pub(super) fn unnamed_bit_field(&mut self, token: Token) -> bool {
        let kind = self.before(0);
        let starts = matches!(self.slice(self.before(1)), b";" | b"{" | b"}");
        let width = self.after(token);
        if starts
            && is_type_keyword(self.slice(kind))
            && width.shape == Shape::Number
            && self.slice(self.after(width)) == b";"
        {
            self.blank(kind.start, width.end);
            self.forget();
            return false;
        }
        true
    }

    /// `128x64_8` only makes sense pasted into a name: `_28x64_8` is one.
    pub(super) fn number(&mut self, token: Token) -> bool {
        let digits = self.slice(token);
        let is_based = digits.len() > 2 && digits[0] == b'0' && matches!(digits[1], b'x' | b'X' | b'b' | b'B');
        let after = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
        let names = !is_based
            && digits.get(after).is_some_and(|b| b.is_ascii_alphabetic() && !b"eEfFuUlLzZhsmnidyp".contains(b));
        if names && let Some(first) = self.text.get_mut(token.start) {
            *first = b'_';
        }
        true
    }
}
