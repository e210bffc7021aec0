//! From the tokens behind `#if` to true or false, in the 64-bit integers of the preprocessor.

use super::names::{NO_SYMBOL, Names, Symbol};
use super::token::{Kind, Text, Token, tokens};

/// Deeper parentheses make a condition false.
const MAX_DEPTH: usize = 128;

/// A condition, decided as far as the text alone decides it.
#[derive(Debug, Clone)]
pub(crate) enum Condition<'a> {
    Known(bool),
    Defined(Symbol),
    Undefined(Symbol),
    Tokens(Vec<Token<'a>>),
}

/// What a word of a condition stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// No macro: counts as 0.
    Undefined,
    /// A macro for one number.
    Number(i64),
    /// A macro that must be expanded first.
    Macro,
}

/// The condition needs its macros expanded before it can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NeedsExpansion;

impl Condition<'_> {
    /// Decides the condition where all its words are fixed; by symbol, `Word::Macro` is one that may change.
    pub(crate) fn fold(&mut self, fixed: &[Word]) {
        let word = |symbol: Symbol| match symbol {
            NO_SYMBOL => Word::Undefined,
            symbol => fixed.get(symbol as usize).copied().unwrap_or(Word::Macro),
        };
        let known = match self {
            Self::Known(_) => None,
            Self::Defined(symbol) => (word(*symbol) != Word::Macro).then_some(true),
            Self::Undefined(symbol) => (word(*symbol) != Word::Macro).then_some(false),
            Self::Tokens(tokens) if tokens.iter().all(|t| word(t.symbol) != Word::Macro) => {
                evaluate(tokens, &|t| word(t.symbol)).ok()
            }
            Self::Tokens(_) => None,
        };
        if let Some(known) = known {
            *self = Self::Known(known);
        }
    }
}

/// `#ifdef` and `#ifndef`.
pub(crate) fn defined(name: Option<&str>, names: &Names, wanted: bool) -> Condition<'static> {
    match name.map_or(NO_SYMBOL, |n| names.get(n)) {
        NO_SYMBOL => Condition::Known(!wanted),
        symbol if wanted => Condition::Defined(symbol),
        symbol => Condition::Undefined(symbol),
    }
}

/// `#if`: `has_include` answers for a header by name and whether it stands in quotes.
pub(crate) fn compile<'a>(
    text: &'a str,
    range: std::ops::Range<usize>,
    names: &Names,
    has_include: &dyn Fn(&str, bool) -> bool,
) -> Condition<'a> {
    let tokens = answer_queries(tokens(text, range, names), has_include);
    if let Some(condition) = lone_defined(&tokens) {
        return condition;
    }
    if tokens.iter().all(|t| t.symbol == NO_SYMBOL) {
        return Condition::Known(evaluate(&tokens, &|_| Word::Undefined).unwrap_or(false));
    }
    Condition::Tokens(tokens)
}

/// `defined X`, `!defined(X)`: the usual guard.
fn lone_defined(tokens: &[Token]) -> Option<Condition<'static>> {
    let (negated, rest) = match tokens {
        [not, rest @ ..] if not.is("!") => (true, rest),
        rest => (false, rest),
    };
    let name = match rest {
        [defined, name] if defined.as_str() == "defined" && name.kind == Kind::Ident => name,
        [defined, open, name, close] if defined.as_str() == "defined" && open.is("(") && close.is(")") => name,
        _ => return None,
    };
    Some(match name.symbol {
        NO_SYMBOL => Condition::Known(negated),
        symbol if negated => Condition::Undefined(symbol),
        symbol => Condition::Defined(symbol),
    })
}

/// Replaces `__has_include(...)` and its kin by numbers.
fn answer_queries<'a>(tokens: Vec<Token<'a>>, has_include: &dyn Fn(&str, bool) -> bool) -> Vec<Token<'a>> {
    if !tokens.iter().any(|t| t.kind == Kind::Ident && t.as_str().starts_with("__has_")) {
        return tokens;
    }
    let mut answered = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let opens = tokens.get(at).is_some_and(|t| t.is("("));
        if !(opens && token.kind == Kind::Ident && token.as_str().starts_with("__has_")) {
            answered.push(token.clone());
            continue;
        }
        let close = tokens.iter().skip(at).position(|t| t.is(")")).map_or(tokens.len(), |p| at + p);
        let argument: String = tokens.get(at + 1..close).unwrap_or(&[]).iter().map(Token::as_str).collect();
        let yes = match token.as_str() {
            "__has_include" | "__has_include_next" => {
                has_include(argument.trim_matches(['"', '<', '>']), argument.starts_with('"'))
            }
            "__has_cpp_attribute" | "__has_attribute" | "__has_builtin" => !argument.starts_with("clang"),
            _ => false,
        };
        answered.push(Token::made(if yes { "1" } else { "0" }, Kind::Number));
        at = close + 1;
    }
    answered
}

/// The value of a condition; what is no expression is false, as is division by zero.
pub(crate) fn evaluate(tokens: &[Token], word: &dyn Fn(&Token) -> Word) -> Result<bool, NeedsExpansion> {
    let mut reader = Reader { tokens, at: 0, depth: 0, word, needs_expansion: false };
    let value = reader.ternary();
    if reader.needs_expansion {
        return Err(NeedsExpansion);
    }
    Ok(value.is_some_and(|v| v.bits != 0))
}

#[derive(Debug, Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Self {
        Self { bits, unsigned: false }
    }

    fn truth(yes: bool) -> Self {
        Self::signed(i64::from(yes))
    }
}

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    depth: usize,
    word: &'t dyn Fn(&Token) -> Word,
    needs_expansion: bool,
}

impl<'a> Reader<'_, 'a> {
    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at)
    }

    /// The operator at hand, two characters long where they stand together.
    fn operator(&self) -> &'static str {
        const TWO: &[&str] = &["||", "&&", "==", "!=", "<=", ">=", "<<", ">>"];
        const ONE: &[&str] = &["|", "^", "&", "<", ">", "+", "-", "*", "/", "%", "?", ":"];
        let Some(first) = self.peek() else { return "" };
        match first.as_str() {
            "and" => return "&&",
            "or" => return "||",
            _ => {}
        }
        if first.kind != Kind::Punct {
            return "";
        }
        let first = first.as_str();
        if let Some(second) = self.tokens.get(self.at + 1).filter(|t| t.joined && t.kind == Kind::Punct) {
            let fits =
                |op: &&&str| op.as_bytes().first() == first.as_bytes().first() && op.get(1..) == Some(second.as_str());
            if let Some(operator) = TWO.iter().find(fits) {
                return operator;
            }
        }
        ONE.iter().find(|op| **op == first).copied().unwrap_or("")
    }

    fn skip(&mut self, operator: &str) {
        let is_word = self.peek().is_some_and(|t| t.kind == Kind::Ident);
        self.at += if is_word { 1 } else { operator.len() };
    }

    fn ternary(&mut self) -> Option<Value> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let condition = self.binary(0)?;
        if self.operator() != "?" {
            self.depth -= 1;
            return Some(condition);
        }
        self.at += 1;
        let yes = self.ternary()?;
        if self.operator() != ":" {
            return None;
        }
        self.at += 1;
        let no = self.ternary()?;
        self.depth -= 1;
        Some(if condition.bits != 0 { yes } else { no })
    }

    fn binary(&mut self, least: u8) -> Option<Value> {
        let mut left = self.unary()?;
        loop {
            let operator = self.operator();
            let Some(level) = level(operator).filter(|l| *l >= least) else { return Some(left) };
            self.skip(operator);
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right);
        }
    }

    fn unary(&mut self) -> Option<Value> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let token = self.peek()?.clone();
        self.at += 1;
        self.depth += 1;
        let value = match (token.kind, token.as_str()) {
            (Kind::Punct, "!") | (Kind::Ident, "not") => Value::truth(self.unary()?.bits == 0),
            (Kind::Punct, "-") => self.unary().map(|v| Value { bits: v.bits.wrapping_neg(), ..v })?,
            (Kind::Punct, "+") => self.unary()?,
            (Kind::Punct, "~") => self.unary().map(|v| Value { bits: !v.bits, ..v })?,
            (Kind::Punct, "(") => {
                let value = self.ternary()?;
                if !self.peek()?.is(")") {
                    return None;
                }
                self.at += 1;
                value
            }
            (Kind::Number, text) => number(text)?,
            (Kind::Literal, text) => Value::signed(character(text)?),
            (Kind::Ident, "defined") => self.defined()?,
            (Kind::Ident, "true") => Value::truth(true),
            (Kind::Ident, _) => match (self.word)(&token) {
                Word::Undefined => {
                    self.skip_arguments();
                    Value::signed(0)
                }
                Word::Number(number) => Value::signed(number),
                Word::Macro => {
                    self.needs_expansion = true;
                    Value::signed(0)
                }
            },
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }

    fn defined(&mut self) -> Option<Value> {
        let open = self.peek()?.is("(");
        self.at += usize::from(open);
        let name = self.peek()?;
        let yes = match name.kind {
            // Answered before expansion.
            Kind::Number => name.as_str() == "1",
            _ => is_always_defined(name.as_str()) || (self.word)(name) != Word::Undefined,
        };
        self.at += 1;
        if open {
            if !self.peek()?.is(")") {
                return None;
            }
            self.at += 1;
        }
        Some(Value::truth(yes))
    }

    /// `UNKNOWN(1, 2)` is an error to a compiler whose headers were read; here the macro is merely out of sight.
    fn skip_arguments(&mut self) {
        if !self.peek().is_some_and(|t| t.is("(")) {
            return;
        }
        let mut depth = 0usize;
        while let Some(token) = self.peek() {
            let (opens, closes) = (token.is("("), token.is(")"));
            self.at += 1;
            depth += usize::from(opens);
            depth -= usize::from(closes && depth > 0);
            if depth == 0 {
                return;
            }
        }
    }
}

fn is_always_defined(name: &str) -> bool {
    matches!(name, "__has_include" | "__has_cpp_attribute" | "__has_attribute" | "__has_builtin")
}

fn level(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | "<=" | ">" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

fn apply(operator: &str, left: Value, right: Value) -> Value {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (ua, ub) = (a as u64, b as u64);
    let order = if unsigned { ua.cmp(&ub) } else { a.cmp(&b) };
    let bits = match operator {
        "||" => return Value::truth(a != 0 || b != 0),
        "&&" => return Value::truth(a != 0 && b != 0),
        "==" => return Value::truth(a == b),
        "!=" => return Value::truth(a != b),
        "<" => return Value::truth(order.is_lt()),
        "<=" => return Value::truth(order.is_le()),
        ">" => return Value::truth(order.is_gt()),
        ">=" => return Value::truth(order.is_ge()),
        "<<" => return Value { bits: a.wrapping_shl(b as u32), ..left },
        ">>" if left.unsigned => return Value { bits: ua.wrapping_shr(b as u32) as i64, ..left },
        ">>" => return Value { bits: a.wrapping_shr(b as u32), ..left },
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if unsigned => ua.checked_div(ub).unwrap_or(0) as i64,
        "%" if unsigned => ua.checked_rem(ub).unwrap_or(0) as i64,
        "/" => a.checked_div(b).unwrap_or(0),
        _ => a.checked_rem(b).unwrap_or(0),
    };
    Value { bits, unsigned }
}

/// An integer literal with its suffix.
fn number(text: &str) -> Option<Value> {
    let digits: String = text.chars().filter(|c| *c != '\'').collect::<String>().to_ascii_lowercase();
    let unsigned = digits.contains('u');
    let digits = digits.trim_end_matches(['u', 'l', 'z']);
    let bits = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()?
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(Value { bits: bits as i64, unsigned: unsigned || bits > i64::MAX as u64 })
}

/// The number that a macro with this one token stands for.
pub(crate) fn literal_value(token: &Token) -> Option<i64> {
    match token.kind {
        Kind::Number => number(token.as_str()).filter(|v| !v.unsigned).map(|v| v.bits),
        _ => None,
    }
}

fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = inner.chars();
    let value = match chars.next()? {
        '\\' => match chars.next()? {
            'n' => '\n',
            't' => '\t',
            '0' => '\0',
            other => other,
        },
        plain => plain,
    };
    Some(i64::from(u32::from(value)))
}

/// Whether this token is a word that `defined` asks about, which must not be expanded.
pub(crate) fn is_operand_of_defined(tokens: &[Token], index: usize) -> bool {
    let before = |n: usize| index.checked_sub(n).and_then(|i| tokens.get(i));
    before(1).is_some_and(|t| t.as_str() == "defined")
        || (before(1).is_some_and(|t| t.is("(")) && before(2).is_some_and(|t| t.as_str() == "defined"))
}

/// `1` or `0` as a token, for what was decided before expansion.
pub(crate) fn truth_token<'a>(yes: bool) -> Token<'a> {
    Token::new(Text::Slice(if yes { "1" } else { "0" }), Kind::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_evaluated_as_in_c() {
        let names = Names::new(["N", "F"].into_iter());
        let cases = [
            ("1 + 2 * 3 == 7", true),
            ("(1 ? 0 : 1) || 0", false),
            ("-1 > 0u", true),
            ("-1 > 0", false),
            ("1 << 3 >> 2 == 2", true),
            ("!defined(UNKNOWN) && defined N", true),
            ("N >= 900 && N < 0x400", true),
            ("UNKNOWN(3) + 1", true),
            ("UNKNOWN > 0", false),
            ("'a' == 97", true),
            ("10 / 0", false),
            ("017 == 15 && 0b11 == 3 && 1'000 == 1000", true),
            ("1 +", false),
            ("not 0 and 1", true),
            ("~0 == -1", true),
            ("2 - 1 - 1", false),
            ("201703L >= 201402L", true),
        ];
        for (text, expected) in cases {
            let word = |t: &Token| if t.as_str() == "N" { Word::Number(900) } else { Word::Undefined };
            let tokens = tokens(text, 0..text.len(), &names);
            assert_eq!(evaluate(&tokens, &word), Ok(expected), "{text}");
        }
    }

    #[test]
    fn guards_and_constants_are_decided_early() {
        let names = Names::new(["A"].into_iter());
        let compiled = |text: &'static str| compile(text, 0..text.len(), &names, &|name, _| name == "a/b.h");
        assert!(matches!(compiled("!defined(A)"), Condition::Undefined(0)));
        assert!(matches!(compiled("defined B"), Condition::Known(false)));
        assert!(matches!(compiled("0 && B"), Condition::Known(false)));
        assert!(matches!(compiled("__has_include(<a/b.h>) && !__has_include(\"c.h\")"), Condition::Known(true)));
        assert!(matches!(compiled("A > 1"), Condition::Tokens(_)));
    }
}
