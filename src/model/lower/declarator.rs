//! Declarators: from `(*p)[4]` around a name to the name with its type.

use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{Expr, Name, Param, Path, Scalar, TypeExpr, TypeKind};
use crate::source::Span;
use crate::syntax::{Field, Kind, Node};

/// What one declarator declares.
#[derive(Debug)]
pub(super) struct Declared {
    /// The name as written, with its qualifiers; `None` for an abstract declarator.
    pub(super) path: Option<Path>,
    pub(super) name_span: Span,
    pub(super) ty: TypeExpr,
    /// Parameters of the function declarator next to the name.
    pub(super) params: Vec<Param>,
    pub(super) is_variadic: bool,
    pub(super) is_pack: bool,
    /// `auto [a, b]`.
    pub(super) bindings: Vec<(Name, Span)>,
    pub(super) align: Option<Box<Expr>>,
}

impl Declared {
    pub(super) fn name(&self) -> Name {
        self.path.as_ref().map(|p| p.last().clone()).unwrap_or_default()
    }

    /// Whether the name itself is a function (and not, say, a pointer to one).
    pub(super) fn is_function(&self) -> bool {
        matches!(self.ty.kind, TypeKind::Function(..))
    }
}

impl<'t> Lowering<'t> {
    /// Walks a declarator from the outside to the name; what stands outside wraps the base type first.
    pub(super) fn declarator(&mut self, declarator: Child<'t>, base: TypeExpr) -> Declared {
        let mut out = Declared {
            path: None,
            name_span: self.span_of(declarator.node),
            ty: base,
            params: Vec::new(),
            is_variadic: false,
            is_pack: false,
            bindings: Vec::new(),
            align: None,
        };
        let mut next = Some(declarator);
        let mut levels = 0;
        while let Some(at) = next.take() {
            levels += 1;
            if levels > super::MAX_DEPTH {
                out.ty.kind = TypeKind::Unknown;
                break;
            }
            next = self.declarator_level(at, &mut out);
        }
        out
    }

    /// Applies one level and returns the declarator inside of it.
    fn declarator_level(&mut self, at: Child<'t>, out: &mut Declared) -> Option<Child<'t>> {
        match at.kind {
            Kind::PointerDeclarator | Kind::AbstractPointerDeclarator | Kind::PointerTypeDeclarator => {
                let children = self.children(at.node);
                self.wrap(out, at.node, |inner| TypeKind::Pointer(Box::new(inner)));
                self.level_qualifiers(&children, &mut out.ty);
                inner_declarator(&children)
            }
            Kind::ReferenceDeclarator | Kind::AbstractReferenceDeclarator => {
                let children = self.children(at.node);
                self.wrap(out, at.node, |inner| TypeKind::Reference(Box::new(inner)));
                self.level_qualifiers(&children, &mut out.ty);
                inner_declarator(&children)
            }
            Kind::ArrayDeclarator | Kind::AbstractArrayDeclarator => {
                let children = self.children(at.node);
                let size = part(&children, Field::Size).map(|s| Box::new(self.expr(s.node)));
                self.wrap(out, at.node, |inner| TypeKind::Array(Box::new(inner), size));
                part(&children, Field::Declarator)
            }
            Kind::FunctionDeclarator | Kind::AbstractFunctionDeclarator => self.function_level(at, out),
            Kind::ParenthesizedDeclarator | Kind::AbstractParenthesizedDeclarator | Kind::AttributedDeclarator => {
                let children = self.children(at.node);
                for child in &children {
                    if matches!(child.kind, Kind::AttributeDeclaration | Kind::AttributeSpecifier) {
                        out.align = out.align.take().or_else(|| self.alignment(child.node, child.kind));
                    }
                }
                children.into_iter().find(|c| is_declarator(c.kind))
            }
            Kind::VariadicDeclarator => {
                out.is_pack = true;
                of_kind(&self.children(at.node), Kind::Identifier)
            }
            Kind::StructuredBindingDeclarator => {
                for child in self.children(at.node) {
                    if child.kind == Kind::Identifier {
                        out.bindings.push((self.name_of(child.node), self.span_of(child.node)));
                    }
                }
                None
            }
            Kind::OperatorCast => {
                self.name_level(at, out);
                self.conversion(at.node, out)
            }
            Kind::QualifiedIdentifier => {
                self.name_level(at, out);
                self.conversion_inside(at.node, out)
            }
            _ if is_name(at.kind) => {
                self.name_level(at, out);
                None
            }
            _ => None,
        }
    }

    fn name_level(&mut self, at: Child<'t>, out: &mut Declared) {
        if out.path.is_none() {
            out.path = Some(self.path(at.node, at.kind));
            out.name_span = self.span_of(at.node);
        }
    }

    /// The function part of `A::operator float() const`.
    fn conversion_inside(&mut self, node: Node<'t>, out: &mut Declared) -> Option<Child<'t>> {
        let mut at = node;
        for _ in 0..super::MAX_DEPTH {
            let name = self.children(at).into_iter().rfind(|c| c.field == Field::Name)?;
            match name.kind {
                Kind::QualifiedIdentifier => at = name.node,
                Kind::OperatorCast => return self.conversion(name.node, out),
                _ => return None,
            }
        }
        None
    }

    /// `operator T() const`: what it returns is part of its name.
    fn conversion(&mut self, node: Node<'t>, out: &mut Declared) -> Option<Child<'t>> {
        let children = self.children(node);
        let specifiers = self.specifiers(&children);
        out.ty = specifiers.ty(self, node);
        part(&children, Field::Declarator)
    }

    fn wrap(&self, out: &mut Declared, node: Node<'t>, kind: impl FnOnce(TypeExpr) -> TypeKind) {
        let placeholder = Self::plain_type(out.ty.span, TypeKind::Unknown);
        let inner = std::mem::replace(&mut out.ty, placeholder);
        let span = inner.span.to(self.span(node.start_byte()..node.start_byte() + 1));
        out.ty = Self::plain_type(span, kind(inner));
    }

    fn level_qualifiers(&self, children: &[Child<'t>], ty: &mut TypeExpr) {
        for child in children {
            let words = match child.kind {
                Kind::TypeQualifier | Kind::MsPointerModifier | Kind::Error => self.text_of(child.node),
                _ => continue,
            };
            for word in words.split_whitespace() {
                match word {
                    "const" => ty.is_const = true,
                    "volatile" => ty.is_volatile = true,
                    "__restrict__" | "__restrict" | "restrict" | "RESTRICT" => ty.is_restrict = true,
                    _ => {}
                }
            }
        }
    }

    fn function_level(&mut self, at: Child<'t>, out: &mut Declared) -> Option<Child<'t>> {
        let children = self.children(at.node);
        if let Some(trailing) = of_kind(&children, Kind::TrailingReturnType)
            && let Some(ty) = of_kind(&self.children(trailing.node), Kind::TypeDescriptor)
        {
            out.ty = self.type_descriptor(ty.node);
        }
        let (params, is_variadic) = match part(&children, Field::Parameters) {
            Some(list) => self.deeper(|l| l.parameters(list.node)).unwrap_or_default(),
            None => Default::default(),
        };
        let types = params.iter().map(|p| p.ty.clone()).collect();
        self.wrap(out, at.node, |returns| TypeKind::Function(Box::new(returns), types));
        out.params = params;
        out.is_variadic = is_variadic;
        part(&children, Field::Declarator)
    }

    /// A parameter list, and whether it ends in `...`.
    pub(super) fn parameters(&mut self, list: Node<'t>) -> (Vec<Param>, bool) {
        let mut params = Vec::new();
        let mut is_variadic = false;
        for child in self.children(list) {
            match child.kind {
                Kind::ParameterDeclaration
                | Kind::OptionalParameterDeclaration
                | Kind::VariadicParameterDeclaration => {
                    params.push(self.parameter(child.node, child.kind));
                }
                Kind::Token if self.text_of(child.node) == "..." => is_variadic = true,
                _ => {}
            }
        }
        if let [only] = params.as_slice()
            && only.name.is_empty()
            && matches!(only.ty.kind, TypeKind::Builtin(Scalar::Void))
        {
            params.clear();
        }
        (params, is_variadic)
    }

    fn parameter(&mut self, node: Node<'t>, kind: Kind) -> Param {
        let children = self.children(node);
        let specifiers = self.specifiers(&children);
        let base = specifiers.ty(self, node);
        self.learn_type(&base);
        let default = part(&children, Field::DefaultValue).map(|d| self.expr(d.node));
        let mut param = Param {
            name: Name::default(),
            span: self.span_of(node),
            ty: base.clone(),
            default,
            is_pack: kind == Kind::VariadicParameterDeclaration,
        };
        if let Some(declarator) = part(&children, Field::Declarator) {
            let declared = self.declarator(declarator, base);
            param.name = declared.name();
            param.is_pack |= declared.is_pack;
            param.ty = declared.ty;
        }
        param.ty = adjusted(param.ty);
        param
    }

    /// A named type in a place that the grammar cannot have misread is a type from here on.
    pub(super) fn learn_type(&mut self, ty: &TypeExpr) {
        if let TypeKind::Named(path) = &ty.kind
            && let Some(name) = path.as_simple()
        {
            self.names.add_type(name);
        }
    }
}

/// The type a parameter really has: arrays and functions are pointers.
fn adjusted(ty: TypeExpr) -> TypeExpr {
    let kind = match ty.kind {
        TypeKind::Array(element, _) => TypeKind::Pointer(element),
        function @ TypeKind::Function(..) => TypeKind::Pointer(Box::new(Lowering::plain_type(ty.span, function))),
        kind => kind,
    };
    TypeExpr { kind, ..ty }
}

fn inner_declarator<'t>(children: &[Child<'t>]) -> Option<Child<'t>> {
    part(children, Field::Declarator).or_else(|| children.iter().copied().find(|c| is_declarator(c.kind)))
}

fn is_name(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Identifier
            | Kind::FieldIdentifier
            | Kind::TypeIdentifier
            | Kind::OperatorName
            | Kind::DestructorName
            | Kind::TemplateFunction
            | Kind::TemplateMethod
            | Kind::TemplateType
            | Kind::PrimitiveType
    )
}

pub(super) fn is_declarator(kind: Kind) -> bool {
    is_name(kind)
        || matches!(
            kind,
            Kind::PointerDeclarator
                | Kind::AbstractPointerDeclarator
                | Kind::PointerTypeDeclarator
                | Kind::ReferenceDeclarator
                | Kind::AbstractReferenceDeclarator
                | Kind::ArrayDeclarator
                | Kind::AbstractArrayDeclarator
                | Kind::FunctionDeclarator
                | Kind::AbstractFunctionDeclarator
                | Kind::ParenthesizedDeclarator
                | Kind::AbstractParenthesizedDeclarator
                | Kind::AttributedDeclarator
                | Kind::VariadicDeclarator
                | Kind::StructuredBindingDeclarator
                | Kind::QualifiedIdentifier
                | Kind::OperatorCast
        )
}
