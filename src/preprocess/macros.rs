//! From a `#define` line to a macro: parameters told from other words, `#` and `##` and `__VA_OPT__` from punctuation.

use super::names::{Names, Symbol};
use super::token::{Kind, Token, next_token, tokens};
use crate::source::lexical::{byte, skip_ident, skip_space};

#[derive(Debug, Clone)]
pub(crate) struct Macro<'a> {
    pub(crate) symbol: Symbol,
    /// `None`: object-like.
    pub(crate) parameters: Option<Parameters>,
    pub(crate) body: Body<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// The variadic one included, which is the last.
    pub(crate) count: usize,
    pub(crate) variadic: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Body<'a> {
    Items(Vec<Item<'a>>),
    Line,
    File,
    Counter,
}

#[derive(Debug, Clone)]
pub(crate) enum Item<'a> {
    Token(Token<'a>),
    Parameter { index: usize, space: bool },
    Stringize { index: usize, space: bool },
    Paste,
    VaOpt { items: Vec<Item<'a>>, space: bool },
}

/// The name that a `#define` or `#undef` speaks of: the identifier behind `at`.
pub(crate) fn defined_name(text: &str, at: usize, end: usize) -> Option<(&str, usize)> {
    let start = skip_space(text.as_bytes(), at, end);
    let after = skip_ident(text.as_bytes(), start).min(end);
    let name = text.get(start..after)?;
    let is_name = name.as_bytes().first().is_some_and(|b| !b.is_ascii_digit());
    is_name.then_some((name, after))
}

/// Reads the arguments of a `#define`; `None` where a compiler would refuse it.
pub(crate) fn parse<'a>(text: &'a str, at: usize, end: usize, names: &Names) -> Option<Macro<'a>> {
    let (name, mut at) = defined_name(text, at, end)?;
    let symbol = names.get(name);
    if byte(text.as_bytes(), at) != b'(' {
        let items = tokens(text, at..end, names).into_iter();
        let items = items.map(|t| if t.is("##") { Item::Paste } else { Item::Token(t) }).collect();
        return Some(Macro { symbol, parameters: None, body: Body::Items(items) });
    }
    at += 1;
    let mut parameters: Vec<&str> = Vec::new();
    let mut variadic = false;
    loop {
        let token = next_token(text, &mut at, end, names)?;
        if token.is(")") {
            break;
        } else if token.is("...") {
            // GNU `args...` names the rest; the plain form is called __VA_ARGS__.
            if !ends_in_named_rest(text, at) {
                parameters.push("__VA_ARGS__");
            }
            variadic = true;
        } else if token.kind == Kind::Ident {
            let start = at - token.as_str().len();
            parameters.push(text.get(start..at)?);
        } else if !token.is(",") {
            return None;
        }
    }
    let tokens = tokens(text, at..end, names);
    let body = Body::Items(items(&tokens, &parameters, true));
    Some(Macro { symbol, parameters: Some(Parameters { count: parameters.len(), variadic }), body })
}

/// Whether the `...` that ends at `at` follows a parameter name without a comma.
fn ends_in_named_rest(text: &str, at: usize) -> bool {
    let before = text.get(..at.saturating_sub(3)).unwrap_or("").trim_end();
    !before.ends_with([',', '('])
}

/// `outermost`: `__VA_OPT__` does not nest.
fn items<'a>(tokens: &[Token<'a>], parameters: &[&str], outermost: bool) -> Vec<Item<'a>> {
    let parameter = |t: &Token| match t.kind {
        Kind::Ident => parameters.iter().position(|p| *p == t.as_str()),
        _ => None,
    };
    let mut items = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.is("##") {
            items.push(Item::Paste);
        } else if token.is("#")
            && let Some(index) = tokens.get(at).and_then(parameter)
        {
            items.push(Item::Stringize { index, space: token.space });
            at += 1;
        } else if let Some(index) = parameter(token) {
            items.push(Item::Parameter { index, space: token.space });
        } else if outermost
            && token.as_str() == "__VA_OPT__"
            && let Some(close) = closing(tokens, at)
        {
            let inner = self::items(tokens.get(at + 1..close).unwrap_or(&[]), parameters, false);
            items.push(Item::VaOpt { items: inner, space: token.space });
            at = close + 1;
        } else {
            let mut token = token.clone();
            token.joined &= matches!(items.last(), Some(Item::Token(_)));
            items.push(Item::Token(token));
        }
    }
    items
}

/// The `)` that closes the `(` at `open`.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    if !tokens.get(open)?.is("(") {
        return None;
    }
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}
