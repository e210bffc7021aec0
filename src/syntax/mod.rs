//! From text to a syntax tree: tree-sitter with the CUDA grammar, then one walk that copies what lowering looks at.

mod kinds;
mod mask;
mod tree;

use std::cell::RefCell;
use std::ops::Range;

use tree_sitter::Parser;

pub use kinds::{Field, Kind, language};
pub use tree::{Node, Tree};

/// What the parser makes of a text. All offsets are those of the text handed to [`parse`].
#[derive(Debug)]
pub struct Parsed {
    /// Without nodes only where the parser itself gave up.
    pub tree: Tree,
    /// Unroll pragmas in order; they are no nodes of the tree, because the grammar cannot hold one between `if (x)` and its loop.
    pub unrolls: Vec<UnrollPragma>,
}

/// `#pragma unroll 4` or `_Pragma("unroll")`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrollPragma {
    /// The text behind `unroll`.
    pub argument: Range<usize>,
    /// One past the last byte of the pragma.
    pub end: usize,
    /// `#pragma nounroll`.
    pub disabled: bool,
}

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(new_parser());
}

fn new_parser() -> Parser {
    let mut parser = Parser::new();
    // Cannot fail: the grammar's ABI is the one this parser was built for; if it did, `parse` says `None`.
    let _ = parser.set_language(&language());
    parser
}

/// Parses a text. Never fails: what the grammar cannot place becomes ERROR nodes.
pub fn parse(text: &str) -> Parsed {
    let masked = mask::mask(text);
    let tree = PARSER.with_borrow_mut(|parser| parser.parse(masked.text.as_ref(), None));
    let tree = tree.as_ref().map(Tree::of).unwrap_or_default();
    Parsed { tree, unrolls: masked.unrolls }
}
