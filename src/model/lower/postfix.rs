//! What stands behind an operand: calls, launches, subscripts, members, `++`.

use super::types::{named, scalar_of_name};
use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{CastStyle, Expr, ExprKind, PathSegment, TemplateArg, TypeKind};
use crate::syntax::{Field, Kind, Node};

impl<'t> Lowering<'t> {
    pub(super) fn call(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let (Some(function), Some(arguments)) = (part(&children, Field::Function), part(&children, Field::Arguments))
        else {
            return self.unknown(node, "call");
        };
        if let Some(launch) = of_kind(&children, Kind::KernelCallSyntax) {
            let callee = Box::new(self.expr(function.node));
            let config = self.list(launch.node);
            let args = self.list(arguments.node);
            return Expr { span: self.span_of(node), kind: ExprKind::Launch { callee, config, args } };
        }
        if let Some(cast) = self.cast_in_disguise(node, function, arguments) {
            return cast;
        }
        if self.is_comparison(node) {
            return self.binary_chain(node);
        }
        if let Some(kind) = self.conversion_call(function, arguments) {
            return Expr { span: self.span_of(node), kind };
        }
        let callee = self.expr(function.node);
        let args = self.list(arguments.node);
        self.behind(node, function, callee, |callee| ExprKind::Call { callee: Box::new(callee), args })
    }

    /// `(T)(x)`: a call of a name in brackets is a cast, unless the name is known to be a value or a function.
    fn cast_in_disguise(&mut self, node: Node<'t>, function: Child<'t>, arguments: Child<'t>) -> Option<Expr> {
        if function.kind != Kind::ParenthesizedExpression {
            return None;
        }
        let (path, span) = self.parenthesised_path(function.node)?;
        if !self.names.may_be_type(&path) {
            return None;
        }
        let is_certain = self.names.is_type_path(&path);
        let mut args = self.list(arguments.node);
        if args.is_empty() || (args.len() > 1 && !is_certain) {
            return None;
        }
        let operand = match (args.pop(), args.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                args.extend(last);
                Expr { span: self.span_of(arguments.node), kind: ExprKind::Comma(args) }
            }
        };
        let ty = Self::plain_type(span, named(path));
        let kind = ExprKind::Cast { style: CastStyle::C, ty, operand: Box::new(operand) };
        Some(Expr { span: self.span_of(node), kind })
    }

    /// `static_cast<T>(x)`, `int(x)`, `unsigned(x)`.
    fn conversion_call(&mut self, function: Child<'t>, arguments: Child<'t>) -> Option<ExprKind> {
        match function.kind {
            Kind::TemplateFunction => {
                let children = self.children(function.node);
                let style = cast_style(self.text_of(part(&children, Field::Name)?.node))?;
                let ty = match self.template_args(part(&children, Field::Arguments)?.node).into_iter().next()? {
                    TemplateArg::Type(ty) => ty,
                    TemplateArg::Value(value) => Self::plain_type(value.span, TypeKind::Unknown),
                };
                let operand = self.list(arguments.node).into_iter().next()?;
                Some(ExprKind::Cast { style, ty, operand: Box::new(operand) })
            }
            Kind::PrimitiveType | Kind::SizedTypeSpecifier => {
                let kind = self.type_kind(function);
                Some(self.construct(function, kind, arguments))
            }
            Kind::Identifier => {
                let text = self.text_of(function.node);
                let scalar = scalar_of_name(text).filter(|_| self.names.is_type(text))?;
                Some(self.construct(function, TypeKind::Builtin(scalar), arguments))
            }
            Kind::Decltype | Kind::DependentType => {
                let kind = self.type_kind(function);
                Some(self.construct(function, kind, arguments))
            }
            _ => None,
        }
    }

    fn construct(&mut self, at: Child<'t>, kind: TypeKind, arguments: Child<'t>) -> ExprKind {
        let ty = Self::plain_type(self.span_of(at.node), kind);
        ExprKind::Construct { ty, args: self.list(arguments.node) }
    }

    pub(super) fn subscript(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let (Some(argument), Some(indices)) = (part(&children, Field::Argument), part(&children, Field::Indices))
        else {
            return self.unknown(node, "subscript");
        };
        let base = self.expr(argument.node);
        let mut index = self.list(indices.node);
        let index = match (index.pop(), index.is_empty()) {
            (Some(only), true) => only,
            (Some(last), false) => {
                index.push(last);
                Expr { span: self.span_of(indices.node), kind: ExprKind::Comma(index) }
            }
            (None, _) => self.unknown(indices.node, "empty subscript"),
        };
        self.behind(node, argument, base, |base| ExprKind::Index { base: Box::new(base), index: Box::new(index) })
    }

    pub(super) fn field(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let (Some(argument), Some(member), Some(operator)) =
            (part(&children, Field::Argument), part(&children, Field::Field), part(&children, Field::Operator))
        else {
            return self.unknown(node, "member");
        };
        let arrow = match self.text_of(operator.node) {
            "." => false,
            "->" => true,
            _ => return self.unknown(node, "pointer to member"),
        };
        let segment = self
            .segment(member.node, member.kind)
            .unwrap_or_else(|| PathSegment { name: self.name_of(member.node), args: None });
        let base = self.expr(argument.node);
        self.behind(node, argument, base, |base| ExprKind::Member { base: Box::new(base), arrow, member: segment })
    }

    pub(super) fn update(&mut self, node: Node<'t>) -> Expr {
        let children = self.children(node);
        let (Some(argument), Some(operator)) = (part(&children, Field::Argument), part(&children, Field::Operator))
        else {
            return self.unknown(node, "operator");
        };
        let prefix = operator.node.start_byte() < argument.node.start_byte();
        let step = if self.text_of(operator.node) == "++" { 1 } else { -1 };
        let operand = self.expr(argument.node);
        let make = |operand| ExprKind::IncDec { prefix, step, operand: Box::new(operand) };
        if prefix {
            return Expr { span: self.span_of(node), kind: make(operand) };
        }
        self.behind(node, argument, operand, make)
    }

    /// Puts an operator behind its operand. `(T)(p)[i]` casts `(p)[i]`: what binds to a cast in disguise goes inside.
    fn behind(
        &mut self,
        node: Node<'t>,
        argument: Child<'t>,
        operand: Expr,
        make: impl FnOnce(Expr) -> ExprKind,
    ) -> Expr {
        let span = self.span_of(node);
        if argument.kind != Kind::ParenthesizedExpression
            && let ExprKind::Cast { style: CastStyle::C, ty, operand } = operand.kind
        {
            let inner_span = operand.span.to(self.span(argument.node.end_byte()..node.end_byte()));
            let inner = Expr { span: inner_span, kind: make(*operand) };
            return Expr { span, kind: ExprKind::Cast { style: CastStyle::C, ty, operand: Box::new(inner) } };
        }
        Expr { span, kind: make(operand) }
    }
}

fn cast_style(name: &str) -> Option<CastStyle> {
    Some(match name {
        "static_cast" => CastStyle::Static,
        "reinterpret_cast" => CastStyle::Reinterpret,
        "const_cast" => CastStyle::Const,
        "dynamic_cast" => CastStyle::Dynamic,
        _ => return None,
    })
}
