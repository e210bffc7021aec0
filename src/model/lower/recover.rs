//! What the parser could not place: which of it matters, and what can still be read inside.

use std::ops::Range;

use super::function::Body;
use super::{Child, Lowering};
use crate::model::ast::{Stmt, StmtKind};
use crate::syntax::{self, Kind, Node};

impl<'t> Lowering<'t> {
    /// Whether an error below the node changes what the code says.
    pub(super) fn is_damaged(&mut self, node: Node<'t>) -> bool {
        if !node.has_error() {
            return false;
        }
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if node.is_error() {
                if !self.is_harmless(node) {
                    return true;
                }
                continue;
            }
            // The grammar knows at most two bounds; all are read.
            if node.kind() == Kind::LaunchBounds {
                continue;
            }
            if node.is_missing() {
                return true;
            }
            if !node.has_error() {
                continue;
            }
            // A lambda's statements answer for themselves.
            let damaged =
                |child: &Node<'t>| (child.has_error() || child.is_missing()) && child.kind() != Kind::CompoundStatement;
            open.extend(node.children().filter(damaged));
        }
        false
    }

    /// An error that covers nothing but attribute words.
    pub(super) fn is_harmless(&self, node: Node<'t>) -> bool {
        self.text_of(node).split_whitespace().all(is_attribute_word)
    }

    pub(super) fn damaged_statement(&mut self, child: Child<'t>, out: &mut Vec<Stmt>) {
        self.gap(child.node, "syntax error");
        out.push(Stmt { span: self.span_of(child.node), kind: StmtKind::Gap("syntax error") });
    }

    /// An ERROR between statements: statements inside of it are read, the rest is a gap.
    pub(super) fn error_statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        if self.is_harmless(node) {
            return;
        }
        self.gap(node, "syntax error");
        out.push(Stmt { span: self.span_of(node), kind: StmtKind::Gap("syntax error") });
        for child in self.children(node) {
            if is_statement(child.kind) {
                self.statement_into(child, out);
            }
        }
    }

    /// All items of a file, the parts that the parser lost included.
    pub(super) fn file_items(&mut self, root: Node<'t>) {
        if root.is_error() {
            self.error_item(root, None);
        } else {
            self.items(root);
        }
    }

    /// An ERROR at file scope. Where it holds several items, each is read on its own: one of them threw the parser off.
    /// Otherwise the items inside of it are read, and a header in it goes with the block behind it.
    pub(super) fn error_item(&mut self, node: Node<'t>, next: Option<&Child<'t>>) {
        if self.is_harmless(node) {
            return;
        }
        let chunks = if self.base == 0 { chunks(self.text, node.byte_range()) } else { Vec::new() };
        if chunks.len() > 1 {
            for chunk in chunks {
                self.read_again(chunk);
            }
            return;
        }
        let children = self.children(node);
        let declarator = children.iter().rposition(|c| c.kind == Kind::FunctionDeclarator);
        let Some((index, declarator)) = declarator.and_then(|i| Some((i, *children.get(i)?))) else {
            self.gap(node, "syntax error");
            self.item_list(&children);
            return;
        };
        let header = children.get(..index).unwrap_or_default();
        let behind = children.get(index + 1..).unwrap_or_default();
        if let Some(body) = next.filter(|n| n.kind == Kind::CompoundStatement) {
            self.gap(node, "syntax error");
            let span = self.span(node.start_byte()..body.node.end_byte());
            self.item_list(header);
            self.function_parts(header, declarator, Body::Block(*body), span);
        } else if self.text.get(declarator.node.end_byte()..).is_some_and(|t| t.trim_start().starts_with('{')) {
            self.item_list(header);
            let span = self.span_of(node);
            self.function_parts(header, declarator, Body::Broken(node, behind), span);
        } else {
            self.gap(node, "syntax error");
            self.item_list(&children);
        }
    }

    /// Reads a part of the text as if it were a file, in the scope at hand.
    fn read_again(&mut self, range: Range<usize>) {
        let Some(text) = self.text.get(range.clone()) else { return };
        let parsed = syntax::parse(text);
        let Some(root) = parsed.tree.root() else { return };
        let mut part = Lowering::new(self.file, text, self.map, &parsed.unrolls);
        part.base = range.start;
        part.scope.clone_from(&self.scope);
        part.depth = self.depth;
        std::mem::swap(&mut part.names, &mut self.names);
        part.file_items(root);
        std::mem::swap(&mut part.names, &mut self.names);
        let Lowering { unit, defs, .. } = part;
        self.unit.functions.extend(unit.functions);
        self.unit.globals.extend(unit.globals);
        self.unit.using_namespaces.extend(unit.using_namespaces);
        self.unit.gaps.extend(unit.gaps);
        self.defs.records.extend(defs.records);
        self.defs.enums.extend(defs.enums);
        self.defs.aliases.extend(defs.aliases);
    }
}

/// Cuts a range at the lines that begin an item: a word in the first column, behind a line that ended something.
fn chunks(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = range.start;
    let mut last = b';';
    let mut at_line_start = false;
    for (at, byte) in text.bytes().enumerate().take(range.end).skip(range.start) {
        let begins_word = byte == b'_' || byte.is_ascii_alphabetic();
        if at_line_start && begins_word && matches!(last, b'}' | b';') && at > start {
            out.push(start..at);
            start = at;
        }
        at_line_start = byte == b'\n';
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    out.push(start..range.end);
    out
}

fn is_attribute_word(word: &str) -> bool {
    let mut chars = word.chars();
    let first = chars.next().unwrap_or(' ');
    if !(first == '_' || first.is_ascii_uppercase()) {
        return matches!(word, "inline" | "static" | "constexpr" | "extern" | "volatile");
    }
    word.starts_with("__") && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
        || word.len() >= 3 && word.chars().all(|c| c == '_' || c.is_ascii_uppercase() || c.is_ascii_digit())
}

pub(super) fn is_statement(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::CompoundStatement
            | Kind::IfStatement
            | Kind::ForStatement
            | Kind::WhileStatement
            | Kind::DoStatement
            | Kind::ForRangeLoop
            | Kind::SwitchStatement
            | Kind::LabeledStatement
            | Kind::ExpressionStatement
            | Kind::Declaration
            | Kind::TypeDefinition
            | Kind::AliasDeclaration
            | Kind::ReturnStatement
            | Kind::BreakStatement
            | Kind::ContinueStatement
    )
}
