//! CUDA, GNU and project words that the grammar cannot read, spelled so that it can: rewrites of the same length in the expanded
//! text, so that the map stays true.
//!
//! The tables of words stand here; what a rule does to the text around its word stands in `rewrite` and `undefined`.

mod text;
mod rewrite;
mod undefined;

use text::{Shape, Token, next_token};

/// What to do about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Write this instead, padded.
    Spell(&'static str),
    /// Remove it.
    Blank,
    /// Remove it with the parentheses behind it.
    BlankCall,
    /// `__align__(n)`: `alignas(n)` where the grammar takes it.
    Align,
    /// `__attribute__((...))`, `__declspec(...)`: alignment stays, the rest goes.
    Attributes,
    /// Two arguments stay.
    LaunchBounds,
    /// Only directly behind `*`.
    Restrict,
    /// `_Pragma("...")`, `__pragma(...)`: a line of its own, or nothing.
    Pragma,
    /// `typename` before a constructed value.
    Typename,
    /// Everything but `friend class X;`.
    Friend,
    /// `new T*[n]`.
    New,
    /// `va_arg(list, type)`.
    VaArg,
    /// `typeid(int)`.
    TypeId,
    /// `__device__` and its kin: between `[...]` and the rest of a lambda.
    Space,
    /// `template class X<int>;`
    Template,
    /// `operator++();`, `operator()(x);`: calls of an operator by its name.
    Operator,
    /// `unsigned(x)`: a conversion the grammar does not know.
    Unsigned,
    /// `enum : int {`
    Enum,
    /// `decltype(x){}` as a value.
    Decltype,
    /// `void*` as the default of a template parameter.
    Void,
    /// `conditional_t<A >= B, ...>`: the `>` closes nothing.
    Comparison,
    /// A parameter `... ::type* = nullptr`.
    TypePointer,
}

/// The words of compilers. What the grammar reads as it stands (`__global__`, `__restrict__`, `__forceinline__`, `asm volatile`)
/// is not here.
fn rule(word: &[u8]) -> Option<Rule> {
    Some(match word {
        b"__align__" => Rule::Align,
        b"__attribute__" | b"__attribute" | b"__declspec" => Rule::Attributes,
        b"__launch_bounds__" => Rule::LaunchBounds,
        b"__cluster_dims__" | b"__maxnreg__" | b"__block_size__" | b"__annotate__" | b"__no_sanitize__" => {
            Rule::BlankCall
        }
        b"__nv_pure__" | b"__extension__" | b"__cdecl" | b"__stdcall" | b"__fastcall" | b"__vectorcall"
        | b"__thread" => Rule::Blank,
        b"__tile_global__" | b"__nothrow__" | b"__unused__" | b"_Noreturn" | b"__host_device__" => Rule::Blank,
        b"CUDARTAPI" | b"CUDART_CB" | b"CUDAAPI" | b"CUDA_CB" | b"CUDACB" | b"CUDNNWINAPI" | b"CUBLASWINAPI"
        | b"CURANDAPI" => Rule::Blank,
        b"WINAPI" | b"CALLBACK" | b"APIENTRY" | b"APIENTRYP" | b"GLAPIENTRY" | b"VKAPI_ATTR" | b"VKAPI_CALL"
        | b"VKAPI_PTR" => Rule::Blank,
        b"__restrict" | b"__restrict__" | b"restrict" => Rule::Restrict,
        b"__const__" | b"__const" => Rule::Spell("const"),
        b"__volatile" => Rule::Spell("volatile"),
        b"__signed__" | b"__signed" => Rule::Spell("signed"),
        b"__inline" | b"__forceinline" => Rule::Spell("inline"),
        b"__typeof__" | b"__typeof" | b"__decltype" => Rule::Spell("decltype"),
        b"_Pragma" | b"__pragma" => Rule::Pragma,
        b"typename" => Rule::Typename,
        b"friend" => Rule::Friend,
        b"new" => Rule::New,
        b"va_arg" => Rule::VaArg,
        b"typeid" => Rule::TypeId,
        b"__device__" | b"__host__" | b"__global__" => Rule::Space,
        b"template" => Rule::Template,
        b"operator" => Rule::Operator,
        b"type" => Rule::TypePointer,
        b"unsigned" => Rule::Unsigned,
        b"enum" => Rule::Enum,
        b"decltype" => Rule::Decltype,
        b"void" => Rule::Void,
        b"conditional" | b"conditional_t" | b"enable_if" | b"enable_if_t" | b"bool_constant" => Rule::Comparison,
        _ => return None,
    })
}

/// What a project's own word means when its definition is out of sight, told by its end.
fn rule_of_undefined(word: &[u8]) -> Option<Rule> {
    const ENDS: &[(&str, Rule)] = &[
        ("LAUNCH_BOUNDS", Rule::LaunchBounds),
        ("HOST_DEVICE", Rule::Spell("__device__")),
        ("DEVICE_INLINE", Rule::Spell("__device__")),
        ("DEVICE_FORCEINLINE", Rule::Spell("__device__")),
        ("INLINE_DEVICE", Rule::Spell("__device__")),
        ("DEVICE_FUNC", Rule::Spell("__device__")),
        ("DEVICE_FUNCTION", Rule::Spell("__device__")),
        ("_DEVICE", Rule::Spell("__device__")),
        ("_GLOBAL", Rule::Spell("__global__")),
        ("_UNROLL", Rule::Blank),
        ("_INLINE", Rule::Blank),
        ("_FORCEINLINE", Rule::Blank),
        ("_FORCE_INLINE", Rule::Blank),
        ("_NOINLINE", Rule::Blank),
        ("_NODISCARD", Rule::Blank),
        ("_EXPORT", Rule::Blank),
        ("_RESTRICT", Rule::Blank),
        ("_VISIBLE", Rule::Blank),
    ];
    let ends = |end: &str| word.len() > end.len() && word.ends_with(end.as_bytes()) || word == end.as_bytes();
    ENDS.iter().find(|(end, _)| ends(end)).map(|(_, rule)| *rule)
}

/// Rewrites in place; no byte moves.
pub(super) fn rewrite(text: &mut [u8]) {
    let mut rewriter = Rewriter { text, seen: [Token::default(); 4], newest: 0, open: Vec::new() };
    rewriter.run();
}

struct Rewriter<'t> {
    text: &'t mut [u8],
    /// The tokens before the one at hand, a ring; what was removed does not count.
    seen: [Token; 4],
    newest: usize,
    /// What each open bracket holds, innermost last.
    open: Vec<Holds>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Statements,
    /// Arguments or parameters in parentheses.
    List,
    /// Declarations, enumerators, values.
    Other,
}

impl Rewriter<'_> {
    fn run(&mut self) {
        let mut at = 0;
        loop {
            let token = next_token(self.text, at);
            if token.shape == Shape::End {
                return;
            }
            at = token.end;
            let kept = match token.shape {
                Shape::Word => self.word(token),
                Shape::Number => self.number(token),
                Shape::Pragma => self.pragma_line(token),
                Shape::Punct => self.punct(token),
                Shape::Literal | Shape::End => true,
            };
            if kept {
                self.remember(token);
            }
        }
    }

    /// Applies the rule of a word; false where nothing of it is left.
    fn word(&mut self, token: Token) -> bool {
        let word = self.text.get(token.start..token.end).unwrap_or(&[]);
        if !matches!(word.first(), Some(b'_' | b'A'..=b'Z' | b'b'..=b'f' | b'n' | b'o' | b'r' | b't'..=b'v')) {
            return true;
        }
        if let Some(rule) = rule(word) {
            return self.apply(rule, token);
        }
        // `PRIu64` and its kin are the only words for strings that are not all capitals.
        if text::is_upper_word(word) || word.starts_with(b"PRI") || word.starts_with(b"SCN") {
            return self.undefined(token);
        }
        true
    }

    fn punct(&mut self, token: Token) -> bool {
        match self.text.get(token.start) {
            Some(b'{') => {
                let holds = if self.opens_statements() { Holds::Statements } else { Holds::Other };
                self.open.push(holds);
                self.default_braces(token)
            }
            Some(b'(') => {
                self.open.push(Holds::List);
                true
            }
            Some(b'}' | b')') => {
                self.open.pop();
                true
            }
            Some(b'=') => self.deleted(token),
            Some(b':') => self.unnamed_bit_field(token),
            _ => true,
        }
    }

    /// Whether a brace behind the tokens before it opens statements rather than declarations or values.
    fn opens_statements(&self) -> bool {
        let before = self.slice(self.before(0));
        self.open.last() == Some(&Holds::Statements)
            || matches!(
                before,
                b")" | b"]" | b"const" | b"noexcept" | b"override" | b"final" | b"else" | b"do" | b"try" | b"mutable"
            )
    }

    /// The token `back` places before the nearest one before the token at hand.
    fn before(&self, back: usize) -> Token {
        self.seen[(self.newest + 4 - back) % 4]
    }

    fn remember(&mut self, token: Token) {
        self.newest = (self.newest + 1) % 4;
        self.seen[self.newest] = token;
    }

    /// Takes the nearest token back.
    fn forget(&mut self) {
        self.seen[self.newest] = Token::default();
        self.newest = (self.newest + 3) % 4;
    }

    fn slice(&self, token: Token) -> &[u8] {
        self.text.get(token.start..token.end).unwrap_or(&[])
    }

    fn after(&self, token: Token) -> Token {
        next_token(self.text, token.end)
    }

    fn blank(&mut self, start: usize, end: usize) {
        for byte in self.text.get_mut(start..end).unwrap_or(&mut []) {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    /// Writes `spelling` over a range that has room for it; else blanks the range.
    fn spell(&mut self, start: usize, end: usize, spelling: &str) -> bool {
        self.blank(start, end);
        let fits = spelling.len() <= end - start;
        if fits && let Some(room) = self.text.get_mut(start..start + spelling.len()) {
            room.copy_from_slice(spelling.as_bytes());
        }
        fits
    }
}

#[cfg(test)]
mod tests;
