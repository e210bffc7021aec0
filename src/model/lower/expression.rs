//! Expressions, all but binary chains and what stands behind an operand.

use super::literal;
use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{
    CastStyle, Expr, ExprKind, FunctionQuals, Init, Lambda, Name, Path, TypeExpr, TypeKind, UnaryOp,
};
use crate::syntax::{Field, Kind, Node};

impl<'t> Lowering<'t> {
    /// Any expression. Parentheses leave no trace.
    pub(super) fn expr(&mut self, node: Node<'t>) -> Expr {
        let kind = node.kind();
        if let Some(expr) = self.leaf(node, kind) {
            return expr;
        }
        let levels = if kind == Kind::BinaryExpression { 4 } else { 2 };
        self.deeper_by(levels, |l| l.compound_expr(node, kind))
            .unwrap_or_else(|| self.unknown(node, "nested too deeply"))
    }

    pub(super) fn unknown(&self, node: Node<'t>, why: &'static str) -> Expr {
        Expr { span: self.span_of(node), kind: ExprKind::Unknown(why) }
    }

    fn leaf(&mut self, node: Node<'t>, kind: Kind) -> Option<Expr> {
        let text = self.text_of(node);
        let kind = match kind {
            Kind::Identifier
            | Kind::FieldIdentifier
            | Kind::NamespaceIdentifier
            | Kind::TypeIdentifier
            | Kind::PrimitiveType => word(text),
            Kind::NumberLiteral => return Some(self.number(node)),
            Kind::CharLiteral => literal::character(text),
            Kind::StringLiteral => ExprKind::Str(literal::string(text).into()),
            Kind::RawStringLiteral => ExprKind::Str(raw_string(text).into()),
            Kind::True => ExprKind::Bool(true),
            Kind::False => ExprKind::Bool(false),
            Kind::Null => ExprKind::Nullptr,
            Kind::This => ExprKind::This,
            Kind::UserDefinedLiteral => user_literal(text),
            _ => return None,
        };
        Some(Expr { span: self.span_of(node), kind })
    }

    /// The grammar reads the sign of `(unsigned)-1` as part of the number.
    fn number(&self, node: Node<'t>) -> Expr {
        let text = self.text_of(node);
        let span = self.span_of(node);
        if text.strip_prefix(['-', '+']) == None { Expr { span, kind: literal::number(text) } } else {
            let op = if text.starts_with('-') { UnaryOp::Minus } else { UnaryOp::Plus };
            let operand = Box::new(self.unsigned_number(node));
            Expr { span, kind: ExprKind::Unary { op, operand } }
        }
    }

    /// A number without its sign.
    pub(super) fn unsigned_number(&self, node: Node<'t>) -> Expr {
        let digits = self.text_of(node).trim_start_matches(['-', '+']);
        let span = self.span(node.end_byte() - digits.len()..node.end_byte());
        Expr { span, kind: literal::number(digits) }
    }

    fn compound_expr(&mut self, node: Node<'t>, kind: Kind) -> Expr {
        let lowered = match kind {
            Kind::ParenthesizedExpression => return self.parenthesized(node),
            Kind::BinaryExpression => return self.binary_chain(node),
            Kind::CallExpression => return self.call(node),
            Kind::SubscriptExpression => return self.subscript(node),
            Kind::FieldExpression => return self.field(node),
            Kind::UpdateExpression => return self.update(node),
            Kind::CommaExpression => self.comma(node),
            Kind::QualifiedIdentifier
            | Kind::TemplateFunction
            | Kind::TemplateType
            | Kind::DependentName
            | Kind::TemplateMethod => ExprKind::Name(self.path(node, kind)),
            Kind::OperatorName => ExprKind::Name(self.path(node, kind)),
            Kind::UnaryExpression | Kind::PointerExpression => self.unary(node),
            Kind::AssignmentExpression => self.assignment(node),
            Kind::ConditionalExpression => self.conditional(node),
            Kind::CastExpression if self.is_product_in_cast(node) => return self.binary_chain(node),
            Kind::CastExpression => self.cast(node),
            Kind::CompoundLiteralExpression => self.compound_literal(node),
            Kind::InitializerList => ExprKind::InitList(self.list(node)),
            Kind::InitializerPair => self.designated(node),
            Kind::SizeofExpression => self.sizeof(node),
            Kind::AlignofExpression => match self.child(node, Field::Type) {
                Some(ty) => ExprKind::Alignof(self.type_descriptor(ty.node)),
                None => ExprKind::Unknown("alignof"),
            },
            Kind::ConcatenatedString => ExprKind::Str(self.concatenated(node).into()),
            Kind::LambdaExpression => self.lambda(node),
            Kind::NewExpression => self.new_expr(node),
            Kind::DeleteExpression => match self.children(node).into_iter().rfind(|c| c.kind != Kind::Token) {
                Some(operand) => ExprKind::Delete(Box::new(self.expr(operand.node))),
                None => ExprKind::Unknown("delete"),
            },
            Kind::ExtensionExpression => {
                let inner = self.children(node).into_iter().rfind(|c| c.kind != Kind::Token);
                match inner {
                    Some(inner) => return self.expr(inner.node),
                    None => ExprKind::Unknown("extension"),
                }
            }
            Kind::ArgumentList => return self.argument_list_as_operand(node),
            Kind::ParameterPackExpansion => ExprKind::Unknown("parameter pack"),
            Kind::FoldExpression => ExprKind::Unknown("fold expression"),
            Kind::RequiresExpression | Kind::RequiresClause => ExprKind::Unknown("requires expression"),
            Kind::OffsetofExpression => ExprKind::Unknown("offsetof"),
            Kind::GnuAsmExpression => ExprKind::Unknown("asm in an expression"),
            Kind::CompoundStatement => ExprKind::Unknown("statement expression"),
            Kind::CoAwaitExpression => ExprKind::Unknown("coroutine"),
            Kind::GenericExpression => ExprKind::Unknown("_Generic"),
            Kind::TypeDescriptor => {
                let ty = self.type_descriptor(node);
                type_as_expr(ty)
            }
            Kind::Error => ExprKind::Unknown("syntax error"),
            _ => ExprKind::Unknown("expression"),
        };
        Expr { span: self.span_of(node), kind: lowered }
    }

    fn parenthesized(&mut self, node: Node<'t>) -> Expr {
        // Many levels of brackets are one: only real nesting counts.
        let mut at = node;
        loop {
            let children = self.children(at);
            match children.iter().find(|c| c.kind != Kind::Error) {
                Some(inner) if inner.kind == Kind::ParenthesizedExpression => at = inner.node,
                Some(inner) => return self.expr(inner.node),
                None => return self.unknown(node, "syntax error"),
            }
        }
    }

    /// The arguments of what turned out to be no call: `(a, b)` behind an operand.
    fn argument_list_as_operand(&mut self, node: Node<'t>) -> Expr {
        let mut values = self.list(node);
        match (values.pop(), values.is_empty()) {
            (Some(only), true) => only,
            (Some(last), false) => {
                values.push(last);
                Expr { span: self.span_of(node), kind: ExprKind::Comma(values) }
            }
            (None, _) => self.unknown(node, "empty brackets"),
        }
    }

    /// All expressions in an argument or initialiser list.
    pub(super) fn list(&mut self, node: Node<'t>) -> Vec<Expr> {
        let children = self.children(node);
        let mut out = Vec::with_capacity(children.len());
        for child in children {
            if child.kind != Kind::Token {
                out.push(self.expr(child.node));
            }
        }
        out
    }

    fn comma(&mut self, node: Node<'t>) -> ExprKind {
        let mut values = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at.take() {
            for child in self.children(node) {
                match child.kind {
                    Kind::CommaExpression if child.field == Field::Right => at = Some(child.node),
                    Kind::Token => {}
                    _ => values.push(self.expr(child.node)),
                }
            }
        }
        ExprKind::Comma(values)
    }

    fn unary(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let (Some(operator), Some(argument)) = (part(&children, Field::Operator), part(&children, Field::Argument))
        else {
            return ExprKind::Unknown("operator");
        };
        let operand = self.expr(argument.node);
        match unary_op(self.text_of(operator.node)) {
            Some(op) => ExprKind::Unary { op, operand: Box::new(operand) },
            None => ExprKind::Unknown("operator"),
        }
    }

    fn assignment(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let (Some(left), Some(operator), Some(right)) =
            (part(&children, Field::Left), part(&children, Field::Operator), part(&children, Field::Right))
        else {
            return ExprKind::Unknown("assignment");
        };
        let text = self.text_of(operator.node);
        let op = match text {
            "=" => None,
            "and_eq" => Some(crate::model::ast::BinaryOp::BitAnd),
            "or_eq" => Some(crate::model::ast::BinaryOp::BitOr),
            "xor_eq" => Some(crate::model::ast::BinaryOp::BitXor),
            _ => match text.strip_suffix('=').and_then(super::binary::binary_op) {
                Some(op) => Some(op),
                None => return ExprKind::Unknown("assignment"),
            },
        };
        let target = Box::new(self.expr(left.node));
        let value = Box::new(self.expr(right.node));
        ExprKind::Assign { op, target, value }
    }

    fn conditional(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let (Some(condition), Some(alternative)) =
            (part(&children, Field::Condition), part(&children, Field::Alternative))
        else {
            return ExprKind::Unknown("conditional");
        };
        let condition = Box::new(self.expr(condition.node));
        // `a ?: b` yields a.
        let then = match part(&children, Field::Consequence) {
            Some(then) => Box::new(self.expr(then.node)),
            None => condition.clone(),
        };
        let otherwise = Box::new(self.expr(alternative.node));
        ExprKind::Conditional { condition, then, otherwise }
    }

    fn cast(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let (Some(ty), Some(value)) = (part(&children, Field::Type), part(&children, Field::Value)) else {
            return ExprKind::Unknown("cast");
        };
        let ty = self.type_descriptor(ty.node);
        ExprKind::Cast { style: CastStyle::C, ty, operand: Box::new(self.expr(value.node)) }
    }

    fn compound_literal(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let args = part(&children, Field::Value).map(|v| self.list(v.node)).unwrap_or_default();
        let ty = match part(&children, Field::Type) {
            Some(ty) if ty.kind == Kind::TypeDescriptor => self.type_descriptor(ty.node),
            Some(ty) => {
                let kind = self.type_kind(ty);
                Self::plain_type(self.span_of(ty.node), kind)
            }
            None => self.unknown_type(node),
        };
        ExprKind::Construct { ty, args }
    }

    fn designated(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let Some(value) = part(&children, Field::Value) else { return ExprKind::Unknown("initialiser") };
        let designators: Vec<_> = children.iter().filter(|c| c.field == Field::Designator).collect();
        let field = match designators.as_slice() {
            [one] if one.kind == Kind::FieldDesignator => {
                of_kind(&self.children(one.node), Kind::FieldIdentifier).map(|f| self.name_of(f.node))
            }
            [one] if one.kind == Kind::FieldIdentifier => Some(self.name_of(one.node)),
            _ => None,
        };
        match field {
            Some(field) => ExprKind::Designated { field, value: Box::new(self.expr(value.node)) },
            None => ExprKind::Unknown("array designator"),
        }
    }

    fn sizeof(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        if let Some(ty) = part(&children, Field::Type) {
            return ExprKind::SizeofType(self.type_descriptor(ty.node));
        }
        let Some(value) = part(&children, Field::Value) else { return ExprKind::Unknown("sizeof") };
        // `sizeof(T)` and `sizeof(x)` look the same; a name that is no known value is taken for a type.
        if value.kind == Kind::ParenthesizedExpression
            && let Some((path, span)) = self.parenthesised_path(value.node)
            && self.names.may_be_type(&path)
        {
            return ExprKind::SizeofType(Self::plain_type(span, super::types::named(path)));
        }
        ExprKind::SizeofExpr(Box::new(self.expr(value.node)))
    }

    /// The text of adjacent string literals; macros between them are left out.
    pub(super) fn concatenated(&mut self, node: Node<'t>) -> String {
        let mut out = String::new();
        for child in self.children(node) {
            match child.kind {
                Kind::StringLiteral => out.push_str(&literal::string(self.text_of(child.node))),
                Kind::RawStringLiteral => out.push_str(&raw_string(self.text_of(child.node))),
                _ => {}
            }
        }
        out
    }

    fn lambda(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let captures = part(&children, Field::Captures).map_or("", |c| self.text_of(c.node));
        let captures_by_reference = captures.contains('&');
        let mut quals = FunctionQuals::default();
        let mark = self.names.open();
        let mut params = Vec::new();
        let head_end = part(&children, Field::Body).map_or(node.end_byte(), |b| b.node.start_byte());
        if let Some(declarator) = part(&children, Field::Declarator)
            && let Some(list) = part(&self.children(declarator.node), Field::Parameters)
        {
            (params, quals.is_variadic) = self.parameters(list.node);
        }
        // The grammar has no place for attribute words here.
        let head = self.text.get(node.start_byte()..head_end).unwrap_or("");
        quals.is_device = head.contains("__device__");
        quals.is_host = head.contains("__host__");
        for param in &params {
            self.names.add_value(&param.name);
        }
        let body = part(&children, Field::Body).map(|b| self.block(b.node)).unwrap_or_default();
        self.names.close(mark);
        ExprKind::Lambda(Box::new(Lambda { captures_by_reference, params, body, quals }))
    }

    fn new_expr(&mut self, node: Node<'t>) -> ExprKind {
        let children = self.children(node);
        let Some(ty) = part(&children, Field::Type) else { return ExprKind::Unknown("new") };
        let kind = self.type_kind(ty);
        let ty = Self::plain_type(self.span_of(ty.node), kind);
        let length = match part(&children, Field::Declarator) {
            Some(declarator) => self.child(declarator.node, Field::Length),
            None => None,
        };
        let count = length.map(|l| Box::new(self.expr(l.node)));
        ExprKind::New { ty, count }
    }

    /// What stands behind a declared name: `= e`, `(a, b)`, `{a, b}`.
    pub(super) fn initializer(&mut self, value: Child<'t>, has_equals: bool) -> Init {
        match value.kind {
            Kind::ArgumentList => Init::Paren(self.list(value.node)),
            Kind::InitializerList if !has_equals => Init::Brace(self.list(value.node)),
            _ => Init::Value(self.expr(value.node)),
        }
    }
}

/// An identifier, or a keyword the grammar takes for one.
fn word(text: &str) -> ExprKind {
    match text {
        "nullptr" | "NULL" => ExprKind::Nullptr,
        "true" => ExprKind::Bool(true),
        "false" => ExprKind::Bool(false),
        "this" => ExprKind::This,
        _ => ExprKind::Name(Path::simple(Name::new(text))),
    }
}

fn raw_string(text: &str) -> String {
    let open = text.find('(').map_or(text.len(), |i| i + 1);
    let close = text.rfind(')').unwrap_or(text.len());
    text.get(open..close).unwrap_or("").to_owned()
}

fn user_literal(text: &str) -> ExprKind {
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'.') => literal::suffixed_number(text),
        _ => ExprKind::Unknown("user-defined literal"),
    }
}

pub(super) fn unary_op(text: &str) -> Option<UnaryOp> {
    Some(match text {
        "+" => UnaryOp::Plus,
        "-" => UnaryOp::Minus,
        "!" | "not" => UnaryOp::Not,
        "~" | "compl" => UnaryOp::BitNot,
        "*" => UnaryOp::Deref,
        "&" => UnaryOp::AddressOf,
        _ => return None,
    })
}

/// A type where a value was expected: a bare name is a name.
fn type_as_expr(ty: TypeExpr) -> ExprKind {
    match ty.kind {
        TypeKind::Named(path) => ExprKind::Name(path),
        _ => ExprKind::Unknown("type in an expression"),
    }
}
