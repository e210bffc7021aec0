//! Macro expansion on tokens, as the C++ standard words it and GNU extends it.

use super::macros::{Body, Item, Macro, Parameters};
use super::names::{NO_SYMBOL, Symbol};
use super::tables::Tables;
use super::token::{Kind, Text, Token};

/// Arguments within arguments, each expanded on its own.
const MAX_ARGUMENT_DEPTH: usize = 64;
/// Tokens that one use may make; they are held in memory at once.
const MAX_TOKENS_PER_USE: u64 = 2 << 20;
/// Expansions open at once.
const MAX_OPEN: usize = 512;

/// What stops an expansion; its text is then left as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    TooDeep,
    TooLong,
    /// The file ended inside the arguments.
    Unclosed,
}

impl Stop {
    pub(crate) fn why(self) -> &'static str {
        match self {
            Self::TooDeep => "macro expansion nested too deeply",
            Self::TooLong => "macro expansion grows too large",
            Self::Unclosed => "macro call without a closing parenthesis",
        }
    }
}

/// Where the text behind a macro's name comes from.
pub(crate) trait Source<'a> {
    /// Whether the next token is `(`.
    fn opens(&mut self) -> bool;
    fn next(&mut self, engine: &mut Engine<'_, 'a>) -> Option<Token<'a>>;
    /// Line of the use, counted from 1.
    fn line(&self, engine: &Engine<'_, 'a>) -> u32;
    fn path(&self, engine: &Engine<'_, 'a>) -> String;
}

/// The macros in force, and how much may still be expanded.
pub(crate) struct Engine<'t, 'a> {
    pub(crate) tables: &'t Tables<'a>,
    /// By symbol: 1 + the index of the macro, 0 where none is defined.
    pub(crate) environment: Vec<u32>,
    pub(crate) counter: u32,
    /// Tokens that may still be made for the file at hand.
    pub(crate) fuel: u64,
    /// Macros whose expansion is being read, innermost last.
    open: Vec<Symbol>,
    depth: usize,
}

struct Context<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
}

/// The contexts of one run over tokens; those of macros stand in step with `Engine::open`.
struct Run<'s, 'a> {
    contexts: Vec<Context<'a>>,
    /// The next token does not touch the one before.
    fresh: bool,
    source: Option<&'s mut dyn Source<'a>>,
    /// Length of `Engine::open` below this run.
    floor: usize,
}

impl Run<'_, '_> {
    /// Whether `(` comes next, looking out of contexts that are at their end.
    fn opens(&mut self) -> bool {
        for context in self.contexts.iter().rev() {
            if let Some(token) = context.tokens.get(context.next) {
                return token.is("(");
            }
        }
        self.source.as_mut().is_some_and(|source| source.opens())
    }
}

impl<'t, 'a> Engine<'t, 'a> {
    pub(crate) fn new(tables: &'t Tables<'a>, environment: Vec<u32>) -> Self {
        Self { tables, environment, counter: 0, fuel: 0, open: Vec::new(), depth: 0 }
    }

    pub(crate) fn definition(&self, symbol: Symbol) -> Option<&'t Macro<'a>> {
        let index = self.environment.get(symbol as usize)?.checked_sub(1)?;
        self.tables.macros.get(index as usize)
    }

    pub(crate) fn is_defined(&self, symbol: Symbol) -> bool {
        self.environment.get(symbol as usize).is_some_and(|d| *d != 0)
    }

    pub(crate) fn define(&mut self, symbol: Symbol, index: Option<u32>) {
        if let Some(slot) = self.environment.get_mut(symbol as usize) {
            *slot = index.map_or(0, |i| i + 1);
        }
    }

    /// Expands the use of a macro whose name was just read from the source.
    pub(crate) fn expand_use(&mut self, name: Token<'a>, source: &mut dyn Source<'a>) -> Result<Vec<Token<'a>>, Stop> {
        self.open.clear();
        self.depth = 0;
        let mut out = Vec::new();
        let contexts = vec![Context { tokens: vec![name], next: 0 }];
        // One use that explodes must not take what the other uses of the file need.
        let share = (self.fuel / 4).min(MAX_TOKENS_PER_USE);
        let kept = self.fuel - share;
        self.fuel = share;
        let result = self.run(Run { contexts, fresh: true, source: Some(source), floor: 0 }, &mut out);
        self.fuel += kept;
        result.map(|()| out)
    }

    /// Expands tokens on their own: an argument, or the words of an `#if`.
    pub(crate) fn expand_tokens(&mut self, tokens: Vec<Token<'a>>) -> Result<Vec<Token<'a>>, Stop> {
        if self.depth >= MAX_ARGUMENT_DEPTH {
            return Err(Stop::TooDeep);
        }
        self.depth += 1;
        let mut out = Vec::with_capacity(tokens.len());
        let floor = self.open.len();
        let contexts = vec![Context { tokens, next: 0 }];
        let result = self.run(Run { contexts, fresh: false, source: None, floor }, &mut out);
        self.open.truncate(floor);
        self.depth -= 1;
        result.map(|()| out)
    }

    fn run(&mut self, mut run: Run<'_, 'a>, out: &mut Vec<Token<'a>>) -> Result<(), Stop> {
        while let Some(token) = self.next_in(&mut run)? {
            if token.symbol == NO_SYMBOL || token.painted {
                out.push(token);
                continue;
            }
            let Some(definition) = self.definition(token.symbol) else {
                out.push(token);
                continue;
            };
            let replaced = match definition.parameters {
                None => Some(self.replace_object(definition, &run)?),
                Some(parameters) if run.opens() => {
                    let arguments = self.collect(&mut run, parameters)?;
                    match fit(arguments, parameters) {
                        Ok(arguments) => Some(self.replace_call(definition, arguments)?),
                        Err(written) => {
                            out.push(Token { painted: true, ..token.clone() });
                            out.extend(written);
                            None
                        }
                    }
                }
                Some(_) => {
                    out.push(token.clone());
                    None
                }
            };
            if let Some(mut tokens) = replaced {
                if let Some(first) = tokens.first_mut() {
                    first.space |= token.space;
                }
                if self.open.len() >= MAX_OPEN {
                    return Err(Stop::TooDeep);
                }
                self.open.push(token.symbol);
                run.contexts.push(Context { tokens, next: 0 });
                run.fresh = true;
            }
        }
        Ok(())
    }

    /// The next token of the contexts; those read to their end are closed on the way.
    fn next_in(&mut self, run: &mut Run<'_, 'a>) -> Result<Option<Token<'a>>, Stop> {
        while let Some(context) = run.contexts.last_mut() {
            let Some(token) = context.tokens.get(context.next) else {
                run.contexts.pop();
                if self.open.len() > run.floor {
                    self.open.pop();
                }
                run.fresh = true;
                continue;
            };
            let mut token = token.clone();
            context.next += 1;
            token.joined &= !run.fresh;
            run.fresh = false;
            if token.symbol != NO_SYMBOL && self.open.contains(&token.symbol) {
                token.painted = true;
            }
            self.burn(1)?;
            return Ok(Some(token));
        }
        Ok(None)
    }

    fn burn(&mut self, tokens: usize) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(tokens as u64).ok_or(Stop::TooLong)?;
        Ok(())
    }

    /// The arguments of a call whose `(` comes next.
    fn collect(&mut self, run: &mut Run<'_, 'a>, parameters: Parameters) -> Result<Vec<Vec<Token<'a>>>, Stop> {
        let mut arguments: Vec<Vec<Token<'a>>> = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let token = match self.next_in(run)? {
                Some(token) => token,
                None => match &mut run.source {
                    Some(source) => {
                        self.burn(1)?;
                        let token = source.next(self).ok_or(Stop::Unclosed)?;
                        let painted = token.symbol != NO_SYMBOL && self.open.contains(&token.symbol);
                        Token { painted, ..token }
                    }
                    // An argument or a condition that ends early: what was read stays as written.
                    None => return Ok(arguments),
                },
            };
            if token.is("(") {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            } else if token.is(")") {
                depth -= 1;
                if depth == 0 {
                    return Ok(arguments);
                }
            } else if depth == 1 && token.is(",") && !(parameters.variadic && arguments.len() >= parameters.count) {
                arguments.push(Vec::new());
                continue;
            }
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
    }

    fn replace_object(&mut self, definition: &Macro<'a>, run: &Run<'_, 'a>) -> Result<Vec<Token<'a>>, Stop> {
        let made = match &definition.body {
            Body::Items(items) => {
                let mut out = Vec::with_capacity(items.len());
                self.substitute(items, &mut Arguments::default(), &mut out)?;
                return Ok(out);
            }
            Body::Line => Token::made(run.source.as_ref().map_or(0, |s| s.line(self)).to_string(), Kind::Number),
            Body::File => {
                let path = run.source.as_ref().map_or_else(String::new, |s| s.path(self));
                Token::made(quoted(&path), Kind::Literal)
            }
            Body::Counter => {
                self.counter += 1;
                Token::made((self.counter - 1).to_string(), Kind::Number)
            }
        };
        Ok(vec![made])
    }

    fn replace_call(&mut self, definition: &Macro<'a>, raw: Vec<Vec<Token<'a>>>) -> Result<Vec<Token<'a>>, Stop> {
        let Body::Items(items) = &definition.body else { return Ok(Vec::new()) };
        let variadic = definition.parameters.filter(|p| p.variadic).map(|p| p.count - 1);
        let mut arguments = Arguments { expanded: vec![None; raw.len()], raw, variadic };
        let mut out = Vec::with_capacity(items.len());
        self.substitute(items, &mut arguments, &mut out)?;
        Ok(out)
    }

    /// Puts arguments in the place of parameters, and pastes.
    fn substitute(
        &mut self,
        items: &[Item<'a>],
        arguments: &mut Arguments<'a>,
        out: &mut Vec<Token<'a>>,
    ) -> Result<(), Stop> {
        let mut join = Join::default();
        for (index, item) in items.iter().enumerate() {
            let before_paste = matches!(items.get(index + 1), Some(Item::Paste));
            match item {
                Item::Paste => join.pending = true,
                Item::Token(token) => {
                    self.burn(1)?;
                    self.append(std::slice::from_ref(token), token.space, token.joined, &mut join, out)?;
                }
                Item::Stringize { index, space } => {
                    let text = stringize(arguments.raw.get(*index).map_or(&[][..], Vec::as_slice));
                    // Quotes within quotes double; the length counts, not the one token.
                    self.burn(text.len())?;
                    self.append(&[Token::made(text, Kind::Literal)], *space, false, &mut join, out)?;
                }
                Item::Parameter { index: parameter, space } => {
                    let is_rest = arguments.variadic == Some(*parameter);
                    if is_rest && join.pending && out.last().is_some_and(|t| t.is(",")) && !join.left_empty {
                        // GNU: `, ## __VA_ARGS__` drops the comma where nothing follows, and pastes nothing.
                        join.pending = false;
                        if arguments.raw.get(*parameter).is_none_or(Vec::is_empty) {
                            out.pop();
                            join.left_empty = true;
                            continue;
                        }
                    }
                    let pasted = join.pending || before_paste;
                    let tokens = if pasted { arguments.raw(*parameter) } else { self.expanded(arguments, *parameter)? };
                    self.burn(tokens.len())?;
                    self.append(&tokens, *space, false, &mut join, out)?;
                }
                Item::VaOpt { items, space } => {
                    let mut inner = Vec::new();
                    if let Some(rest) = arguments.variadic
                        && !self.expanded(arguments, rest)?.is_empty()
                    {
                        self.substitute(items, arguments, &mut inner)?;
                    }
                    self.append(&inner, *space, false, &mut join, out)?;
                }
            }
        }
        Ok(())
    }

    fn expanded(&mut self, arguments: &mut Arguments<'a>, index: usize) -> Result<Vec<Token<'a>>, Stop> {
        if let Some(Some(done)) = arguments.expanded.get(index) {
            return Ok(done.clone());
        }
        let raw = arguments.raw(index);
        let done = if raw.iter().all(|t| t.symbol == NO_SYMBOL) { raw } else { self.expand_tokens(raw)? };
        if let Some(slot) = arguments.expanded.get_mut(index) {
            *slot = Some(done.clone());
        }
        Ok(done)
    }

    /// Adds the tokens of one item; its first is pasted to the last one where `##` stood between.
    fn append(
        &mut self,
        tokens: &[Token<'a>],
        space: bool,
        joined: bool,
        join: &mut Join,
        out: &mut Vec<Token<'a>>,
    ) -> Result<(), Stop> {
        let pasted = std::mem::take(&mut join.pending);
        let Some((first, rest)) = tokens.split_first() else {
            join.left_empty |= !pasted;
            return Ok(());
        };
        let left = if pasted && !join.left_empty { out.pop() } else { None };
        out.push(match left {
            Some(left) => {
                // Names that paste themselves double at each level.
                self.burn(left.as_str().len() + first.as_str().len())?;
                self.paste(&left, first)
            }
            None => Token { space, joined, ..first.clone() },
        });
        out.extend_from_slice(rest);
        join.left_empty = false;
        Ok(())
    }

    fn paste(&self, left: &Token<'a>, right: &Token<'a>) -> Token<'a> {
        let text = format!("{}{}", left.as_str(), right.as_str());
        let kind = match text.as_bytes() {
            bytes if bytes.contains(&b'"') || bytes.contains(&b'\'') => Kind::Literal,
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => Kind::Number,
            [b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.., ..] => Kind::Ident,
            _ => Kind::Punct,
        };
        let symbol = if kind == Kind::Ident { self.tables.names.get(&text) } else { NO_SYMBOL };
        Token { text: Text::Made(text.into()), kind, symbol, space: left.space, joined: left.joined, painted: false }
    }
}

/// The state of `##` between two items.
#[derive(Default)]
struct Join {
    /// `##` was just read.
    pending: bool,
    /// The last item made no token.
    left_empty: bool,
}

#[derive(Default)]
struct Arguments<'a> {
    raw: Vec<Vec<Token<'a>>>,
    expanded: Vec<Option<Vec<Token<'a>>>>,
    /// Which parameter takes the rest.
    variadic: Option<usize>,
}

impl<'a> Arguments<'a> {
    fn raw(&self, index: usize) -> Vec<Token<'a>> {
        self.raw.get(index).cloned().unwrap_or_default()
    }
}

/// As many arguments as parameters, or the call as it was written.
fn fit(mut arguments: Vec<Vec<Token<'_>>>, parameters: Parameters) -> Result<Vec<Vec<Token<'_>>>, Vec<Token<'_>>> {
    let none = arguments.len() == 1 && arguments.first().is_some_and(Vec::is_empty);
    if parameters.count == 0 && none {
        arguments.clear();
    }
    if parameters.variadic && arguments.len() + 1 == parameters.count {
        arguments.push(Vec::new());
    }
    if arguments.len() == parameters.count {
        return Ok(arguments);
    }
    let mut written = vec![Token::made("(", Kind::Punct)];
    for (index, argument) in arguments.into_iter().enumerate() {
        if index > 0 {
            written.push(Token::made(",", Kind::Punct));
        }
        written.extend(argument);
    }
    written.push(Token::made(")", Kind::Punct));
    Err(written)
}

fn stringize(tokens: &[Token]) -> String {
    let mut text = String::from("\"");
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && token.space {
            text.push(' ');
        }
        if token.kind == Kind::Literal {
            text.extend(token.as_str().chars().flat_map(|c| {
                let escape = matches!(c, '"' | '\\').then_some('\\');
                escape.into_iter().chain([c])
            }));
        } else {
            text.push_str(token.as_str());
        }
    }
    text.push('"');
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
