//! The specifiers in front of declarators: base type, qualifiers, storage, CUDA attributes, alignment, launch bounds.

use super::{Child, Lowering};
use crate::model::ast::{Expr, FunctionQuals, TypeExpr, TypeKind, VarQuals};
use crate::source::Span;
use crate::syntax::{Field, Kind, Node};

/// What stands in front of the declarators of one declaration.
#[derive(Debug, Default)]
pub(super) struct Specifiers {
    /// The base type with its place; absent for constructors and conversions.
    pub(super) base: Option<(TypeKind, Span)>,
    pub(super) is_const: bool,
    pub(super) is_volatile: bool,
    pub(super) is_typedef: bool,
    pub(super) is_friend: bool,
    pub(super) function: FunctionQuals,
    pub(super) variable: VarQuals,
    pub(super) align: Option<Box<Expr>>,
    pub(super) launch_bounds: Vec<Expr>,
}

impl Specifiers {
    /// The base type with its qualifiers.
    pub(super) fn ty(&self, lowering: &Lowering<'_>, node: Node<'_>) -> TypeExpr {
        let (kind, span) = match &self.base {
            Some((kind, span)) => (kind.clone(), *span),
            None => (TypeKind::Unknown, lowering.span_of(node)),
        };
        TypeExpr { span, kind, is_const: self.is_const, is_volatile: self.is_volatile, is_restrict: false }
    }

    /// Takes one word; false where it is no specifier.
    pub(super) fn word(&mut self, word: &str) -> bool {
        match word {
            "const" => self.is_const = true,
            "constexpr" | "constinit" => {
                self.function.is_constexpr = true;
                self.variable.is_constexpr = true;
                self.is_const = true;
            }
            "consteval" => self.function.is_constexpr = true,
            "volatile" => self.is_volatile = true,
            "static" => {
                self.function.is_static = true;
                self.variable.is_static = true;
            }
            "extern" => self.variable.is_extern = true,
            "inline" | "__inline__" | "__inline" => self.function.is_inline = true,
            "__forceinline__" | "__forceinline" => self.function.is_forceinline = true,
            "__noinline__" => self.function.is_noinline = true,
            "__global__" => self.function.is_global = true,
            "__host__" => self.function.is_host = true,
            "__device__" => {
                self.function.is_device = true;
                self.variable.is_device = true;
            }
            "__shared__" => self.variable.is_shared = true,
            "__constant__" => self.variable.is_constant = true,
            "__managed__" => self.variable.is_managed = true,
            "typedef" => self.is_typedef = true,
            "friend" => self.is_friend = true,
            "register" | "mutable" | "thread_local" | "virtual" | "explicit" | "__grid_constant__" | "__local__"
            | "restrict" | "__restrict__" | "typename" | "__extension__" | "auto" => {}
            _ => return false,
        }
        true
    }
}

impl<'t> Lowering<'t> {
    /// Reads the specifiers out of the children of a declaration.
    pub(super) fn specifiers(&mut self, children: &[Child<'t>]) -> Specifiers {
        let mut out = Specifiers::default();
        for child in children {
            self.specifier(&mut out, *child);
        }
        out
    }

    fn specifier(&mut self, out: &mut Specifiers, child: Child<'t>) {
        if child.field == Field::Type {
            if out.base.is_none() {
                self.embedded_qualifiers(out, child);
                out.base = Some((self.type_kind(child), self.span_of(child.node)));
            }
            return;
        }
        match child.kind {
            Kind::Token | Kind::StorageClassSpecifier => {
                out.word(self.text_of(child.node));
            }
            Kind::TypeQualifier if !out.word(self.text_of(child.node)) && out.align.is_none() => {
                out.align = self.alignment(child.node, child.kind);
            }
            Kind::AlignasQualifier | Kind::AttributeSpecifier | Kind::MsDeclspecModifier if out.align.is_none() => {
                out.align = self.alignment(child.node, child.kind);
            }
            Kind::AttributeDeclaration => self.attribute_words(out, child.node),
            Kind::LaunchBounds => out.launch_bounds = self.launch_bounds(child.node),
            Kind::Error => self.error_specifier(out, child.node),
            _ => {}
        }
    }

    /// `unsigned const char`: the grammar puts the qualifier inside of the sized type.
    fn embedded_qualifiers(&mut self, out: &mut Specifiers, child: Child<'t>) {
        if child.kind == Kind::SizedTypeSpecifier {
            let text = self.text_of(child.node);
            out.is_const |= text.split_whitespace().any(|w| w == "const");
            out.is_volatile |= text.split_whitespace().any(|w| w == "volatile");
        }
    }

    /// `[[gnu::always_inline]]` and kin carry nothing for the analysis but `host_device`-like vendor words.
    fn attribute_words(&mut self, out: &mut Specifiers, node: Node<'t>) {
        if self.text_of(node).contains("always_inline") {
            out.function.is_forceinline = true;
        }
    }

    /// All values inside, those in ERROR nodes too: the grammar knows at most two.
    fn launch_bounds(&mut self, node: Node<'t>) -> Vec<Expr> {
        let mut bounds = Vec::new();
        for child in self.children(node) {
            match child.kind {
                Kind::Token => {}
                Kind::Error => {
                    for inner in self.children(child.node) {
                        if inner.kind != Kind::Token {
                            bounds.push(self.expr(inner.node));
                        }
                    }
                }
                _ => bounds.push(self.expr(child.node)),
            }
        }
        bounds
    }

    /// Attribute words that the grammar did not expect where they stand.
    fn error_specifier(&mut self, out: &mut Specifiers, node: Node<'t>) {
        for word in self.text_of(node).split_whitespace() {
            out.word(word);
        }
    }
}
