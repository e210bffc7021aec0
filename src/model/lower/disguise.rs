//! Expression statements that are declarations: `A<3> x = y;` read as two comparisons, `T (*p)[4] = q;` as an assignment.

use super::types::named;
use super::{Child, Lowering, part};
use crate::model::ast::{Init, PathSegment, TemplateArg, TypeExpr, TypeKind, VarDecl, VarQuals};
use crate::syntax::{Field, Kind};

impl<'t> Lowering<'t> {
    /// The variables that an expression statement declares; `None` where it is an expression.
    pub(super) fn declaration_in_disguise(&mut self, expr: Child<'t>) -> Option<Vec<VarDecl>> {
        let decls = match expr.kind {
            Kind::AssignmentExpression | Kind::SubscriptExpression => {
                vec![self.pointer_to_array(expr)?]
            }
            Kind::BinaryExpression | Kind::CommaExpression => match self.template_variables(expr) {
                Some(decls) => decls,
                None => vec![self.constructed_pointer(expr)?],
            },
            _ => return None,
        };
        for decl in &decls {
            self.names.add_value(&decl.name);
        }
        Some(decls)
    }

    /// `A<3> x = y, *z;`: comparisons whose results nobody takes.
    fn template_variables(&mut self, expr: Child<'t>) -> Option<Vec<VarDecl>> {
        let mut parts = self.comma_parts(expr).into_iter();
        let (head, mut args, mut declarator) = self.template_head(parts.next()?)?;
        while declarator.is_none() {
            // One more argument, or the last with the first declarator behind its `>`.
            let part = parts.next()?;
            let (arg, behind) = self.split_at(part, ">").unwrap_or((part, None));
            args.push(arg);
            declarator = behind;
        }
        let mut path = self.path(head.node, head.kind);
        if path.as_simple().is_some_and(|n| self.names.is_value(n)) {
            return None;
        }
        let args = args.into_iter().map(|a| self.argument_of_template(a)).collect();
        if let Some(PathSegment { args: slot, .. }) = path.segments.last_mut() {
            *slot = Some(args);
        }
        let base = Self::plain_type(self.span_of(head.node), named(path));
        let mut decls = Vec::new();
        for declarator in declarator.into_iter().chain(parts) {
            decls.push(self.expression_as_declarator(declarator, &base)?);
        }
        Some(decls)
    }

    /// `T *p(q);`, `T &r(x);`: read as a product of `T` and a call.
    fn constructed_pointer(&mut self, expr: Child<'t>) -> Option<VarDecl> {
        let (left, right) = match self.split_at(expr, "*") {
            Some(sides) => sides,
            None => self.split_at(expr, "&")?,
        };
        let right = right.filter(|r| r.kind == Kind::CallExpression)?;
        let is_reference = self.split_at(expr, "&").is_some();
        if !matches!(left.kind, Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction) {
            return None;
        }
        let path = self.path(left.node, left.kind);
        if path.as_simple().is_some_and(|n| self.names.is_value(n)) {
            return None;
        }
        let base = Box::new(Self::plain_type(self.span_of(left.node), named(path)));
        let kind = if is_reference { TypeKind::Reference(base) } else { TypeKind::Pointer(base) };
        let ty = Self::plain_type(self.span_of(expr.node), kind);
        self.expression_as_declarator(right, &ty)
    }

    /// `A < x` or `A < x > y`: the name, the first argument, what stands behind `>`.
    #[allow(clippy::type_complexity, reason = "used once")]
    fn template_head(&mut self, first: Child<'t>) -> Option<(Child<'t>, Vec<Child<'t>>, Option<Child<'t>>)> {
        let (compared, declarator) = self.split_at(first, ">").unwrap_or((first, None));
        let (head, arg) = self.split_at(compared, "<")?;
        if !matches!(head.kind, Kind::Identifier | Kind::QualifiedIdentifier) {
            return None;
        }
        Some((head, vec![arg?], declarator))
    }

    /// The two sides of a binary expression with the operator given.
    fn split_at(&mut self, expr: Child<'t>, operator: &str) -> Option<(Child<'t>, Option<Child<'t>>)> {
        if expr.kind != Kind::BinaryExpression {
            return None;
        }
        let children = self.children(expr.node);
        let is_it = part(&children, Field::Operator).is_some_and(|o| self.text_of(o.node) == operator);
        if !is_it {
            return None;
        }
        Some((part(&children, Field::Left)?, part(&children, Field::Right)))
    }

    fn comma_parts(&mut self, expr: Child<'t>) -> Vec<Child<'t>> {
        let mut out = Vec::new();
        let mut at = Some(expr);
        while let Some(expr) = at.take() {
            if expr.kind != Kind::CommaExpression {
                out.push(expr);
                continue;
            }
            for child in self.children(expr.node) {
                match child.field {
                    Field::Right => at = Some(child),
                    Field::Left => out.push(child),
                    _ => {}
                }
            }
        }
        out
    }

    fn argument_of_template(&mut self, arg: Child<'t>) -> TemplateArg {
        match arg.kind {
            Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction => {
                let path = self.path(arg.node, arg.kind);
                TemplateArg::Type(Self::plain_type(self.span_of(arg.node), named(path)))
            }
            _ => TemplateArg::Value(Box::new(self.expr(arg.node))),
        }
    }

    /// `x`, `x = e`, `*x`, `x(a)`, `x[n]` as declarators.
    fn expression_as_declarator(&mut self, expr: Child<'t>, base: &TypeExpr) -> Option<VarDecl> {
        let children = self.children(expr.node);
        let span = self.span_of(expr.node);
        match expr.kind {
            Kind::Identifier => Some(VarDecl {
                name: self.name_of(expr.node),
                name_span: span,
                span,
                ty: base.clone(),
                quals: VarQuals::default(),
                init: None,
                align: None,
            }),
            Kind::AssignmentExpression => {
                let target = part(&children, Field::Left)?;
                let mut decl = self.deeper(|l| l.expression_as_declarator(target, base)).flatten()?;
                let value = part(&children, Field::Right)?;
                decl.init = Some(self.initializer(value, true));
                decl.span = span;
                Some(decl)
            }
            Kind::CallExpression => {
                let name = part(&children, Field::Function).filter(|f| f.kind == Kind::Identifier)?;
                let arguments = part(&children, Field::Arguments)?;
                let mut decl = self.deeper(|l| l.expression_as_declarator(name, base)).flatten()?;
                decl.init = Some(Init::Paren(self.list(arguments.node)));
                decl.span = span;
                Some(decl)
            }
            Kind::PointerExpression => {
                let inner = part(&children, Field::Argument)?;
                let is_reference = part(&children, Field::Operator).is_some_and(|o| self.text_of(o.node) == "&");
                let inner_type = Box::new(base.clone());
                let kind = if is_reference { TypeKind::Reference(inner_type) } else { TypeKind::Pointer(inner_type) };
                let pointer = Self::plain_type(span, kind);
                let mut decl = self.deeper(|l| l.expression_as_declarator(inner, &pointer)).flatten()?;
                decl.span = span;
                Some(decl)
            }
            Kind::SubscriptExpression => {
                let indices = part(&children, Field::Indices)?;
                let length = self.list(indices.node).into_iter().next().map(Box::new);
                let array = Self::plain_type(span, TypeKind::Array(Box::new(base.clone()), length));
                let inner = part(&children, Field::Argument)?;
                let mut decl = self.deeper(|l| l.expression_as_declarator(inner, &array)).flatten()?;
                decl.span = span;
                Some(decl)
            }
            _ => None,
        }
    }

    /// `T (*p)[4] = q;`, `T (&r)[4] = q;`: read as an assignment to an element of what `T` returns.
    fn pointer_to_array(&mut self, expr: Child<'t>) -> Option<VarDecl> {
        let (target, value) = match expr.kind {
            Kind::AssignmentExpression => {
                let children = self.children(expr.node);
                (part(&children, Field::Left)?, Some(part(&children, Field::Right)?))
            }
            _ => (expr, None),
        };
        let mut lengths = Vec::new();
        let mut at = target;
        while at.kind == Kind::SubscriptExpression {
            let children = self.children(at.node);
            let indices = part(&children, Field::Indices)?;
            let [length] = self.children(indices.node).as_slice().try_into().ok()?;
            lengths.push(length);
            at = part(&children, Field::Argument)?;
        }
        if at.kind != Kind::CallExpression || lengths.is_empty() {
            return None;
        }
        let call = self.children(at.node);
        let (function, arguments) = (part(&call, Field::Function)?, part(&call, Field::Arguments)?);
        let [argument]: [Child<'t>; 1] = self.children(arguments.node).as_slice().try_into().ok()?;
        if argument.kind != Kind::PointerExpression {
            return None;
        }
        let mut base = Self::plain_type(self.span_of(function.node), self.element_type(function)?);
        for length in lengths {
            let length = Some(Box::new(self.expr(length.node)));
            base = Self::plain_type(base.span, TypeKind::Array(Box::new(base), length));
        }
        let mut decl = self.expression_as_declarator(argument, &base)?;
        decl.init = value.map(|v| self.initializer(v, true));
        decl.span = self.span_of(expr.node);
        Some(decl)
    }

    fn element_type(&mut self, function: Child<'t>) -> Option<TypeKind> {
        match function.kind {
            Kind::PrimitiveType | Kind::SizedTypeSpecifier => Some(self.type_kind(function)),
            Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction => {
                let path = self.path(function.node, function.kind);
                self.names.may_be_type(&path).then(|| named(path))
            }
            _ => None,
        }
    }
}
