//! The C preprocessor as far as CUDA sources need it: one file in, the text a compiler would parse out, with a map back.
//!
//! Comments stay, `#include`s are not pasted in: the macros of an included project file are known, its declarations are linked
//! later. Directives and branches not taken become blanks, so most of the text keeps its very bytes.

mod map;

pub use map::{OffsetMap, Segment};

/// A file as the parser sees it.
#[derive(Debug, Clone, Default)]
pub struct Expanded {
    pub text: String,
    pub map: OffsetMap,
}
