//! Declarations of variables, and the statements that look like something else but are declarations.

use super::specifiers::Specifiers;
use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{Alias, BinaryOp, Expr, ExprKind, Init, Name, Stmt, StmtKind, TypeExpr, TypeKind, VarDecl};
use crate::syntax::{Field, Kind, Node};

/// One declarator of a declaration.
pub(super) enum Entity {
    Variable(VarDecl),
    Function(super::declarator::Declared),
}

impl<'t> Lowering<'t> {
    /// A declaration inside a function, with the types it defines in front.
    pub(super) fn declaration_statement(&mut self, child: Child<'t>, out: &mut Vec<Stmt>) {
        let node = child.node;
        let span = self.span_of(node);
        let outer = std::mem::take(&mut self.defs);
        let mut aliases = Vec::new();
        let mut decls = Vec::new();
        let mut product = None;
        match child.kind {
            Kind::TypeDefinition => aliases = self.type_definition(node),
            Kind::AliasDeclaration => aliases.extend(self.alias_declaration(node)),
            Kind::Declaration => {
                let children = self.children(node);
                product = self.product_in_disguise(&children);
                if product.is_none() {
                    decls = self.variables(node, &children);
                }
            }
            Kind::TemplateDeclaration => self.template_declaration(node),
            _ => {
                self.type_kind(child);
            }
        }
        let inner = std::mem::replace(&mut self.defs, outer);
        out.extend(inner.records.into_iter().map(|r| Stmt { span: r.span, kind: StmtKind::Record(Box::new(r)) }));
        out.extend(inner.enums.into_iter().map(|e| Stmt { span, kind: StmtKind::Enum(e) }));
        aliases.splice(0..0, inner.aliases);
        out.extend(aliases.into_iter().map(|a| Stmt { span, kind: StmtKind::Alias(a) }));
        if let Some(product) = product {
            out.push(Stmt { span, kind: StmtKind::Expr(product) });
        }
        if !decls.is_empty() {
            out.push(Stmt { span, kind: StmtKind::Decl(decls) });
        }
    }

    /// The variables of a declaration inside a function.
    pub(super) fn variables(&mut self, node: Node<'t>, children: &[Child<'t>]) -> Vec<VarDecl> {
        let specifiers = self.specifiers(children);
        let mut out = Vec::new();
        for entity in self.declarators(node, children, &specifiers, true) {
            if let Entity::Variable(decl) = entity {
                self.names.add_value(&decl.name);
                out.push(decl);
            }
        }
        out
    }

    /// All declarators of a declaration. In a function `T x(a);` is a variable, elsewhere it is one only where names say so.
    pub(super) fn declarators(
        &mut self,
        node: Node<'t>,
        children: &[Child<'t>],
        specifiers: &Specifiers,
        in_function: bool,
    ) -> Vec<Entity> {
        let mut out = Vec::new();
        let base = specifiers.ty(self, node);
        let mut expects_value = false;
        for child in children {
            match child.field {
                Field::Declarator => {
                    expects_value = child.kind != Kind::InitDeclarator;
                    self.declarator_entity(*child, &base, specifiers, in_function, &mut out);
                }
                // `int x = f()` in a condition has no init_declarator.
                Field::Value | Field::DefaultValue if expects_value => {
                    let init = self.initializer(*child, true);
                    if let Some(Entity::Variable(decl)) = out.last_mut() {
                        decl.init = Some(init);
                    }
                }
                _ if matches!(child.kind, Kind::AttributeSpecifier) => {
                    let align = self.alignment(child.node, child.kind);
                    if let Some(Entity::Variable(decl)) = out.last_mut() {
                        decl.align = decl.align.take().or(align);
                    }
                }
                _ => {}
            }
        }
        if matches!(out.first(), Some(Entity::Variable(_))) {
            self.learn_type(&base);
        }
        out
    }

    fn declarator_entity(
        &mut self,
        child: Child<'t>,
        base: &TypeExpr,
        specifiers: &Specifiers,
        in_function: bool,
        out: &mut Vec<Entity>,
    ) {
        let (declarator, init) = if child.kind == Kind::InitDeclarator {
            let inner = self.children(child.node);
            let has_equals = inner.iter().any(|c| c.kind == Kind::Token && self.text_of(c.node) == "=");
            let Some(declarator) = part(&inner, Field::Declarator) else { return };
            let init = part(&inner, Field::Value).map(|v| self.initializer(v, has_equals));
            (declarator, init)
        } else {
            (child, None)
        };
        if init.is_none()
            && let Some((name, args)) = self.constructed(declarator, base, specifiers, in_function)
        {
            out.push(Entity::Variable(VarDecl {
                name: self.name_of(name.node),
                name_span: self.span_of(name.node),
                span: self.span_of(child.node),
                ty: base.clone(),
                quals: specifiers.variable,
                init: Some(Init::Paren(args)),
                align: specifiers.align.clone(),
            }));
            return;
        }
        let declared = self.declarator(declarator, base.clone());
        if declared.is_function() {
            out.push(Entity::Function(declared));
            return;
        }
        let span = self.span_of(child.node);
        let quals = specifiers.variable;
        let align = declared.align.clone().or_else(|| specifiers.align.clone());
        if declared.bindings.is_empty() {
            out.push(Entity::Variable(VarDecl {
                name: declared.name(),
                name_span: declared.name_span,
                span,
                ty: declared.ty,
                quals,
                init,
                align,
            }));
            return;
        }
        for (name, name_span) in &declared.bindings {
            let init = Expr { span, kind: ExprKind::Unknown("structured binding") };
            let ty = Self::plain_type(*name_span, TypeKind::Auto);
            let init = Some(Init::Value(init));
            out.push(Entity::Variable(VarDecl {
                name: name.clone(),
                name_span: *name_span,
                span,
                ty,
                quals,
                init,
                align: None,
            }));
        }
    }

    /// `T x(a, b)` read as a function: the name and the arguments, if it is a variable.
    fn constructed(
        &mut self,
        declarator: Child<'t>,
        base: &TypeExpr,
        specifiers: &Specifiers,
        in_function: bool,
    ) -> Option<(Child<'t>, Vec<Expr>)> {
        if declarator.kind != Kind::FunctionDeclarator
            || matches!(base.kind, TypeKind::Builtin(crate::model::ast::Scalar::Void))
        {
            return None;
        }
        let children = self.children(declarator.node);
        let name = part(&children, Field::Declarator).filter(|n| n.kind == Kind::Identifier)?;
        if children.len() > 2 || (specifiers.variable.is_extern && !specifiers.variable.is_shared) {
            return None;
        }
        let params = self.children(part(&children, Field::Parameters)?.node);
        if params.is_empty() {
            return None;
        }
        let mut args = Vec::with_capacity(params.len());
        for param in &params {
            args.push(self.parameter_as_argument(*param)?);
        }
        let is_variable = in_function
            || matches!(&base.kind, TypeKind::Named(path) if path.last() == "dim3")
            || args.iter().all(|a| self.is_known_value(a));
        is_variable.then_some((name, args))
    }

    fn is_known_value(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(path) => path.as_simple().is_some_and(|n| self.names.is_value(n)),
            ExprKind::Binary { left, right, .. } => self.is_known_value(left) && self.is_known_value(right),
            ExprKind::Index { base, .. } => self.is_known_value(base),
            _ => false,
        }
    }

    /// A parameter declaration as the expression it could be as well; `None` where it can only declare.
    fn parameter_as_argument(&mut self, param: Child<'t>) -> Option<Expr> {
        if param.kind != Kind::ParameterDeclaration {
            return None;
        }
        let children = self.children(param.node);
        if children.iter().any(|c| !matches!(c.field, Field::Type | Field::Declarator)) {
            return None;
        }
        let ty = part(&children, Field::Type)?;
        if !matches!(ty.kind, Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType) {
            return None;
        }
        let path = self.path(ty.node, ty.kind);
        let head = Expr { span: self.span_of(ty.node), kind: ExprKind::Name(path) };
        match part(&children, Field::Declarator) {
            None => Some(head),
            Some(declarator) => self.declarator_as_operator(head, declarator),
        }
    }

    /// `a * b`, `a & b`, `a[i]`, `a(b)`: the type was the left operand, the declarator holds the rest.
    fn declarator_as_operator(&mut self, left: Expr, declarator: Child<'t>) -> Option<Expr> {
        let children = self.children(declarator.node);
        let span = left.span.to(self.span_of(declarator.node));
        let kind = match declarator.kind {
            Kind::PointerDeclarator | Kind::ReferenceDeclarator => {
                let text = self.text_of(declarator.node);
                let op = match text.get(..2) {
                    Some("&&") => BinaryOp::And,
                    _ if text.starts_with('&') => BinaryOp::BitAnd,
                    _ => BinaryOp::Mul,
                };
                let inner = children.into_iter().find(|c| super::declarator::is_declarator(c.kind))?;
                let right = self.declarator_as_operand(inner)?;
                ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }
            }
            Kind::AbstractArrayDeclarator => {
                let left = match part(&children, Field::Declarator) {
                    Some(inner) => self.deeper(|l| l.declarator_as_operator(left, inner)).flatten()?,
                    None => left,
                };
                let index = part(&children, Field::Size)?;
                ExprKind::Index { base: Box::new(left), index: Box::new(self.expr(index.node)) }
            }
            Kind::AbstractFunctionDeclarator => {
                let list = self.children(part(&children, Field::Parameters)?.node);
                if part(&children, Field::Declarator).is_some() {
                    return None;
                }
                let mut args = Vec::with_capacity(list.len());
                for param in list {
                    args.push(self.deeper(|l| l.parameter_as_argument(param)).flatten()?);
                }
                ExprKind::Call { callee: Box::new(left), args }
            }
            _ => return None,
        };
        Some(Expr { span, kind })
    }

    /// The right operand behind `a *`: a name, an element, another factor.
    fn declarator_as_operand(&mut self, declarator: Child<'t>) -> Option<Expr> {
        let children = self.children(declarator.node);
        let span = self.span_of(declarator.node);
        match declarator.kind {
            Kind::Identifier => Some(self.expr(declarator.node)),
            Kind::ParenthesizedDeclarator => {
                let inner = children.into_iter().find(|c| super::declarator::is_declarator(c.kind))?;
                self.deeper(|l| l.declarator_as_operand(inner)).flatten()
            }
            Kind::ArrayDeclarator => {
                let (base, index) = (part(&children, Field::Declarator)?, part(&children, Field::Size)?);
                let base = Box::new(self.deeper(|l| l.declarator_as_operand(base)).flatten()?);
                let index = Box::new(self.expr(index.node));
                Some(Expr { span, kind: ExprKind::Index { base, index } })
            }
            Kind::PointerDeclarator => {
                let inner = children.into_iter().find(|c| super::declarator::is_declarator(c.kind))?;
                let operand = Box::new(self.deeper(|l| l.declarator_as_operand(inner)).flatten()?);
                Some(Expr { span, kind: ExprKind::Unary { op: crate::model::ast::UnaryOp::Deref, operand } })
            }
            _ => None,
        }
    }

    /// `a * b;` where `a` is a value.
    fn product_in_disguise(&mut self, children: &[Child<'t>]) -> Option<Expr> {
        let [ty, declarator] = children else { return None };
        if ty.kind != Kind::TypeIdentifier
            || !matches!(declarator.kind, Kind::PointerDeclarator | Kind::ReferenceDeclarator)
        {
            return None;
        }
        if !self.names.is_value(self.text_of(ty.node)) {
            return None;
        }
        let left = Expr { span: self.span_of(ty.node), kind: ExprKind::Name(self.path(ty.node, ty.kind)) };
        self.declarator_as_operator(left, *declarator)
    }

    /// `typedef T a, *b;`. A record without a name gets the first plain one.
    pub(super) fn type_definition(&mut self, node: Node<'t>) -> Vec<Alias> {
        let children = self.children(node);
        let plain = children.iter().find(|c| c.field == Field::Declarator && c.kind == Kind::TypeIdentifier);
        let plain = plain.map(|p| self.name_of(p.node));
        self.typedef_name.clone_from(&plain);
        let specifiers = self.specifiers(&children);
        self.typedef_name = None;
        let base = specifiers.ty(self, node);
        let mut out = Vec::new();
        for child in children.iter().filter(|c| c.field == Field::Declarator) {
            let declared = self.declarator(*child, base.clone());
            let name = declared.name();
            self.names.add_type(&name);
            let is_itself = matches!(&declared.ty.kind, TypeKind::Named(path) if path.as_simple() == Some(&name));
            if !is_itself && !name.is_empty() {
                out.push(self.alias(name, declared.ty));
            }
        }
        out
    }

    pub(super) fn alias(&mut self, name: Name, target: TypeExpr) -> Alias {
        Alias { name, scope: self.scope.clone(), template: Vec::new(), target }
    }

    /// `using name = T;`, with the template head in front of it.
    pub(super) fn alias_declaration(&mut self, node: Node<'t>) -> Option<Alias> {
        let template = self.heads.pop().unwrap_or_default();
        self.heads.clear();
        let children = self.children(node);
        let name = self.name_of(part(&children, Field::Name)?.node);
        let target = match of_kind(&children, Kind::TypeDescriptor) {
            Some(ty) => self.type_descriptor(ty.node),
            None => self.unknown_type(node),
        };
        self.names.add_type(&name);
        let mut alias = self.alias(name, target);
        alias.template = template;
        Some(alias)
    }
}
