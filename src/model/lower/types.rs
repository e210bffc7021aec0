//! Types and qualified names: specifier nodes to `TypeKind`, `a::b<int>` to `Path`.

use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{Name, Path, PathSegment, Scalar, TemplateArg, TypeExpr, TypeKind};
use crate::source::Span;
use crate::syntax::{Field, Kind, Node};

impl<'t> Lowering<'t> {
    pub(super) fn plain_type(span: Span, kind: TypeKind) -> TypeExpr {
        TypeExpr { span, kind, is_const: false, is_volatile: false, is_restrict: false }
    }

    pub(super) fn unknown_type(&self, node: Node<'t>) -> TypeExpr {
        Self::plain_type(self.span_of(node), TypeKind::Unknown)
    }

    /// A type specifier without qualifiers. Records and enums that it defines are registered.
    pub(super) fn type_kind(&mut self, child: Child<'t>) -> TypeKind {
        let node = child.node;
        match child.kind {
            Kind::PrimitiveType => {
                let text = self.text_of(node);
                scalar_of_name(text).map_or_else(|| TypeKind::Named(Path::simple(text)), TypeKind::Builtin)
            }
            Kind::SizedTypeSpecifier => {
                scalar_of_words(self.text_of(node)).map_or(TypeKind::Unknown, TypeKind::Builtin)
            }
            Kind::TypeIdentifier
            | Kind::Identifier
            | Kind::QualifiedIdentifier
            | Kind::TemplateType
            | Kind::TemplateFunction
            | Kind::FieldIdentifier
            | Kind::NamespaceIdentifier => named(self.path(node, child.kind)),
            Kind::DependentType => {
                let inner = self.children(node).into_iter().rev().find(|c| c.kind != Kind::Token);
                inner
                    .map_or(TypeKind::Unknown, |inner| self.deeper(|l| l.type_kind(inner)).unwrap_or(TypeKind::Unknown))
            }
            Kind::Decltype => self.decltype(node),
            Kind::PlaceholderTypeSpecifier => TypeKind::Auto,
            Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier => {
                self.record_specifier(node, child.kind)
            }
            Kind::EnumSpecifier => self.enum_specifier(node),
            _ => TypeKind::Unknown,
        }
    }

    fn decltype(&mut self, node: Node<'t>) -> TypeKind {
        let inner = self.children(node).into_iter().find(|c| c.kind != Kind::Token);
        match inner {
            Some(inner) if self.text_of(inner.node) != "auto" => TypeKind::Decltype(Box::new(self.expr(inner.node))),
            _ => TypeKind::Auto,
        }
    }

    /// `const T*` inside a cast, a template argument list, `sizeof`.
    pub(super) fn type_descriptor(&mut self, node: Node<'t>) -> TypeExpr {
        self.deeper(|l| {
            let children = l.children(node);
            let specifiers = l.specifiers(&children);
            let base = specifiers.ty(l, node);
            match part(&children, Field::Declarator) {
                Some(declarator) => l.declarator(declarator, base).ty,
                None => base,
            }
        })
        .unwrap_or_else(|| self.unknown_type(node))
    }

    /// A name with its qualifiers and template arguments. Never empty.
    pub(super) fn path(&mut self, node: Node<'t>, kind: Kind) -> Path {
        let mut segments = Vec::new();
        let mut next = Some((node, kind));
        while let Some((node, kind)) = next.take() {
            if kind != Kind::QualifiedIdentifier {
                if let Some(segment) = self.segment(node, kind) {
                    segments.push(segment);
                }
                continue;
            }
            for child in self.children(node) {
                match child.field {
                    Field::Scope => segments.extend(self.segment(child.node, child.kind)),
                    Field::Name if child.kind != Kind::Token => next = Some((child.node, child.kind)),
                    _ => {}
                }
            }
        }
        if segments.is_empty() {
            segments.push(PathSegment { name: self.name_of(node), args: None });
        }
        Path { segments }
    }

    /// One segment of a path.
    pub(super) fn segment(&mut self, node: Node<'t>, kind: Kind) -> Option<PathSegment> {
        match kind {
            Kind::TemplateType | Kind::TemplateFunction | Kind::TemplateMethod => {
                let children = self.children(node);
                let name = part(&children, Field::Name).map(|n| self.segment_name(n.node, n.kind))?;
                let args = part(&children, Field::Arguments).map(|a| self.template_args(a.node));
                Some(PathSegment { name, args })
            }
            Kind::DependentName | Kind::DependentType => {
                let inner = self.children(node).into_iter().rev().find(|c| c.kind != Kind::Token)?;
                self.deeper(|l| l.segment(inner.node, inner.kind)).flatten()
            }
            Kind::QualifiedIdentifier => {
                let path = self.deeper(|l| l.path(node, kind))?;
                path.segments.into_iter().next_back()
            }
            _ => Some(PathSegment { name: self.segment_name(node, kind), args: None }),
        }
    }

    fn segment_name(&mut self, node: Node<'t>, kind: Kind) -> Name {
        match kind {
            Kind::OperatorName | Kind::DestructorName => {
                self.text_of(node).split_whitespace().collect::<String>().into()
            }
            Kind::OperatorCast => {
                let children = self.children(node);
                let mut name = String::from("operator ");
                if let Some(ty) = part(&children, Field::Type) {
                    name.push_str(self.text_of(ty.node));
                }
                let stars = part(&children, Field::Declarator).map_or("", |d| self.text_of(d.node));
                name.extend(stars.chars().take_while(|c| *c != '(').filter(|c| matches!(c, '*' | '&')));
                name.into()
            }
            _ => self.name_of(node),
        }
    }

    pub(super) fn template_args(&mut self, list: Node<'t>) -> Vec<TemplateArg> {
        self.deeper(|l| l.template_arg_list(list)).unwrap_or_default()
    }

    fn template_arg_list(&mut self, list: Node<'t>) -> Vec<TemplateArg> {
        let children = self.children(list);
        let mut args = Vec::with_capacity(children.len());
        for child in children {
            match child.kind {
                Kind::Token => {}
                Kind::TypeDescriptor => args.push(TemplateArg::Type(self.type_descriptor(child.node))),
                Kind::Error => args.push(TemplateArg::Type(self.unknown_type(child.node))),
                Kind::ParameterPackExpansion => args.extend(self.pack_arg(child.node)),
                _ => args.push(self.value_arg(child)),
            }
        }
        args
    }

    /// `Ts...`: the pattern; that its name is a pack is known where it is declared.
    fn pack_arg(&mut self, node: Node<'t>) -> Option<TemplateArg> {
        let pattern = self.child(node, Field::Pattern)?;
        Some(match pattern.kind {
            Kind::TypeDescriptor => TemplateArg::Type(self.type_descriptor(pattern.node)),
            _ => self.value_arg(pattern),
        })
    }

    fn value_arg(&mut self, child: Child<'t>) -> TemplateArg {
        match child.kind {
            Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction => {
                let path = self.path(child.node, child.kind);
                TemplateArg::Type(Self::plain_type(self.span_of(child.node), named(path)))
            }
            _ => TemplateArg::Value(Box::new(self.expr(child.node))),
        }
    }

    /// A parenthesised name and nothing else: what a cast to a named type looks like to the grammar.
    pub(super) fn parenthesised_path(&mut self, node: Node<'t>) -> Option<(Path, Span)> {
        let children = self.children(node);
        match children.as_slice() {
            [one] if matches!(one.kind, Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction) => {
                Some((self.path(one.node, one.kind), self.span_of(one.node)))
            }
            _ => None,
        }
    }

    /// The argument of the first `alignas(...)`, `aligned(...)` or `align(...)` under an attribute node.
    pub(super) fn alignment(&mut self, node: Node<'t>, kind: Kind) -> Option<Box<crate::model::ast::Expr>> {
        let children = self.children(node);
        match kind {
            Kind::AlignasQualifier => {
                let argument = children.iter().find(|c| c.kind != Kind::Token)?;
                Some(Box::new(match argument.kind {
                    Kind::TypeDescriptor => {
                        let ty = self.type_descriptor(argument.node);
                        crate::model::ast::Expr { span: ty.span, kind: crate::model::ast::ExprKind::Alignof(ty) }
                    }
                    _ => self.expr(argument.node),
                }))
            }
            Kind::CallExpression => {
                let callee = part(&children, Field::Function)?;
                if !matches!(self.text_of(callee.node), "aligned" | "__aligned__" | "align") {
                    return None;
                }
                let arguments = part(&children, Field::Arguments)?;
                let first = self.children(arguments.node).into_iter().next()?;
                Some(Box::new(self.expr(first.node)))
            }
            _ => {
                if let Some(qualifier) = of_kind(&children, Kind::AlignasQualifier) {
                    return self.alignment(qualifier.node, qualifier.kind);
                }
                let inner = children
                    .iter()
                    .find(|c| matches!(c.kind, Kind::ArgumentList | Kind::CallExpression | Kind::AlignasQualifier))?;
                self.deeper(|l| l.alignment(inner.node, inner.kind)).flatten()
            }
        }
    }
}

/// A path as a type: standard integer names are what they stand for.
pub(super) fn named(path: Path) -> TypeKind {
    let is_plain = match path.segments.as_slice() {
        [one] => one.args.is_none(),
        [first, last] => first.name == "std" && last.args.is_none(),
        _ => false,
    };
    match scalar_of_name(path.last()) {
        Some(scalar) if is_plain => TypeKind::Builtin(scalar),
        _ => TypeKind::Named(path),
    }
}

/// Builtin and standard names of one word.
pub(super) fn scalar_of_name(name: &str) -> Option<Scalar> {
    Some(match name {
        "void" => Scalar::Void,
        "bool" | "_Bool" => Scalar::Bool,
        "char" => Scalar::Char,
        "int8_t" => Scalar::SChar,
        "uint8_t" | "char8_t" => Scalar::UChar,
        "short" | "int16_t" => Scalar::Short,
        "ushort" | "uint16_t" | "char16_t" => Scalar::UShort,
        "int" | "int32_t" | "signed" | "wchar_t" => Scalar::Int,
        "unsigned" | "uint" | "uint32_t" | "char32_t" => Scalar::UInt,
        "long" | "int64_t" | "ssize_t" | "ptrdiff_t" | "intptr_t" | "intmax_t" => Scalar::Long,
        "ulong" | "uint64_t" | "size_t" | "uintptr_t" | "uintmax_t" => Scalar::ULong,
        "float" => Scalar::Float,
        "double" => Scalar::Double,
        _ => return None,
    })
}

/// `unsigned long long int` in any order.
pub(super) fn scalar_of_words(text: &str) -> Option<Scalar> {
    let (mut unsigned, mut signed, mut long, mut short, mut core) = (false, false, 0, false, None);
    for word in text.split_whitespace() {
        match word {
            "unsigned" => unsigned = true,
            "signed" | "__signed__" => signed = true,
            "long" => long += 1,
            "short" => short = true,
            "int" | "const" | "volatile" => {}
            "char" | "double" | "float" | "bool" => core = Some(word),
            "__int64" => long = 2,
            _ => return None,
        }
    }
    Some(match (core, unsigned, long) {
        (Some("char"), true, _) => Scalar::UChar,
        (Some("char"), false, _) => {
            if signed {
                Scalar::SChar
            } else {
                Scalar::Char
            }
        }
        (Some("float"), ..) => Scalar::Float,
        (Some("double"), ..) => Scalar::Double,
        (Some(_), ..) => Scalar::Bool,
        (None, true, _) if short => Scalar::UShort,
        (None, false, _) if short => Scalar::Short,
        (None, true, 0) => Scalar::UInt,
        (None, false, 0) => Scalar::Int,
        (None, true, 1) => Scalar::ULong,
        (None, false, 1) => Scalar::Long,
        (None, true, _) => Scalar::ULongLong,
        (None, false, _) => Scalar::LongLong,
    })
}
