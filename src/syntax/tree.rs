//! The tree as lowering walks it: nodes in the order of the text, each with the size of what it holds.
//!
//! One walk of the parser's cursor copies what lowering looks at; brackets, separators and comments are left out, and so are the
//! insides of literals and words, which are read from the text.

use std::ops::Range;

use super::kinds::{Field, Kind};

#[derive(Debug, Clone, Copy)]
struct Raw {
    kind: Kind,
    field: Field,
    /// An error stands below this node, or it is one.
    has_error: bool,
    /// The parser made the token up.
    is_missing: bool,
    start: u32,
    end: u32,
    /// Index of the first node behind the subtree.
    next: u32,
}

/// A syntax tree; the root is its first node.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<Raw>,
}

/// One node of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    index: u32,
}

impl Tree {
    pub(super) fn of(tree: &tree_sitter::Tree) -> Self {
        let mut nodes: Vec<Raw> = Vec::new();
        // Open nodes with the number of children still to come: asking the cursor for a sibling that is not there is dear.
        let mut open: Vec<(usize, u32)> = Vec::new();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            let kind = Kind::of(node);
            let is_missing = node.is_missing() && node.kind() != ";";
            if !matches!(kind, Kind::Punctuation | Kind::Comment) || is_missing {
                let index = nodes.len();
                nodes.push(Raw {
                    kind,
                    field: Field::of(cursor.field_id()),
                    has_error: node.has_error(),
                    is_missing,
                    start: node.start_byte() as u32,
                    end: node.end_byte() as u32,
                    next: index as u32 + 1,
                });
                let inside = if holds_more(kind) { node.child_count() } else { 0 };
                if inside > 0 && cursor.goto_first_child() {
                    open.push((index, inside));
                    continue;
                }
            }
            loop {
                let Some((parent, left)) = open.last_mut() else { return Self { nodes } };
                *left = left.saturating_sub(1);
                if *left > 0 && cursor.goto_next_sibling() {
                    break;
                }
                let next = nodes.len() as u32;
                if let Some(parent) = nodes.get_mut(*parent) {
                    parent.next = next;
                }
                open.pop();
                if !cursor.goto_parent() {
                    return Self { nodes };
                }
            }
        }
    }

    /// The whole file; `None` for a tree without nodes.
    pub fn root(&self) -> Option<Node<'_>> {
        (!self.nodes.is_empty()).then_some(Node { tree: self, index: 0 })
    }
}

/// Whether lowering looks inside of a node of this kind.
fn holds_more(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::StringLiteral
            | Kind::RawStringLiteral
            | Kind::CharLiteral
            | Kind::UserDefinedLiteral
            | Kind::StorageClassSpecifier
            | Kind::SizedTypeSpecifier
            | Kind::PlaceholderTypeSpecifier
            | Kind::LambdaCaptureSpecifier
            | Kind::OperatorName
            | Kind::DestructorName
            | Kind::PreprocCall
    )
}

impl<'t> Node<'t> {
    fn raw(self) -> Raw {
        let nothing = Raw {
            kind: Kind::Other,
            field: Field::None,
            has_error: false,
            is_missing: false,
            start: 0,
            end: 0,
            next: 0,
        };
        self.tree.nodes.get(self.index as usize).copied().unwrap_or(nothing)
    }

    pub fn kind(self) -> Kind {
        self.raw().kind
    }

    /// The part it plays in its parent.
    pub fn field(self) -> Field {
        self.raw().field
    }

    pub fn start_byte(self) -> usize {
        self.raw().start as usize
    }

    pub fn end_byte(self) -> usize {
        self.raw().end as usize
    }

    pub fn byte_range(self) -> Range<usize> {
        let raw = self.raw();
        raw.start as usize..raw.end as usize
    }

    pub fn has_error(self) -> bool {
        self.raw().has_error
    }

    pub fn is_error(self) -> bool {
        self.raw().kind == Kind::Error
    }

    /// A token that is not in the text, other than a semicolon.
    pub fn is_missing(self) -> bool {
        self.raw().is_missing
    }

    /// The nodes right below this one.
    pub fn children(self) -> impl Iterator<Item = Node<'t>> {
        let end = self.raw().next;
        let tree = self.tree;
        let mut at = self.index + 1;
        std::iter::from_fn(move || {
            let node = Node { tree, index: at };
            if at >= end {
                return None;
            }
            at = node.raw().next.max(at + 1);
            Some(node)
        })
    }
}
