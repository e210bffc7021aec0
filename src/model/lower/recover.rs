//! What the parser could not place: which of it matters, and what can still be read inside.

use super::{Child, Lowering};
use crate::model::ast::{Stmt, StmtKind};
use crate::syntax::{Kind, Node};

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

    /// An ERROR at file scope: items inside of it are read; a header in it goes with the block behind it.
    pub(super) fn error_item(&mut self, node: Node<'t>, next: Option<&Child<'t>>) {
        if self.is_harmless(node) {
            return;
        }
        self.gap(node, "syntax error");
        let children = self.children(node);
        if let Some(body) = next.filter(|n| n.kind == Kind::CompoundStatement)
            && let Some(declarator) = children.iter().rfind(|c| c.kind == Kind::FunctionDeclarator)
        {
            let span = self.span(node.start_byte()..body.node.end_byte());
            self.function_parts(&children, *declarator, Some(*body), span);
        }
        self.item_list(&children);
    }
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

fn is_statement(kind: Kind) -> bool {
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
