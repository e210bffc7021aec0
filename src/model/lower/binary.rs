//! Chains of binary operators, put together anew: the grammar cannot know that `(T) - 1` is a cast and that
//! `a < n && c > (d)` calls no template.
//!
//! A chain is taken apart into operands and operators in the order of the text, repaired, and built up by precedence.

use std::collections::VecDeque;

use super::expression::unary_op;
use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{BinaryOp, CastStyle, Expr, ExprKind, Path, PathSegment, UnaryOp};
use crate::source::Span;
use crate::syntax::{Field, Kind, Node};

/// Longer chains would nest deeper than anybody may recurse.
const MAX_CHAIN: usize = super::MAX_DEPTH as usize;

enum Piece<'t> {
    Operand(Node<'t>),
    /// An operand that needed more than its node.
    Lowered(Expr),
    Operator(BinaryOp, Span),
    /// An operator that C++ has and the model does not.
    Foreign,
}

/// A comparison chain that was read as a template: `head < arguments > tail`.
struct Comparison<'t> {
    head: Expr,
    argument: Node<'t>,
    /// The brackets behind `>`, where there are any.
    tail: Option<Node<'t>>,
}

/// A chain that was read as a cast.
struct Product<'t> {
    left: Expr,
    operator: Piece<'t>,
    right: Piece<'t>,
}

impl<'t> Lowering<'t> {
    /// A binary expression, or a call that is one.
    pub(super) fn binary_chain(&mut self, node: Node<'t>) -> Expr {
        let Some(mut pieces) = self.take_apart(node) else { return self.unknown(node, "nested too deeply") };
        if pieces.iter().any(|p| matches!(p, Piece::Foreign)) {
            return self.unknown(node, "operator");
        }
        let built = self.build(&mut pieces, 0);
        match built {
            Some(mut expr) if pieces.is_empty() => {
                expr.span = self.span_of(node);
                expr
            }
            _ => self.unknown(node, "operator"),
        }
    }

    /// The pieces of a chain in the order of the text; `None` where there are too many.
    fn take_apart(&mut self, node: Node<'t>) -> Option<VecDeque<Piece<'t>>> {
        let mut pieces = VecDeque::new();
        let mut open = vec![Piece::Operand(node)];
        while let Some(piece) = open.pop() {
            if pieces.len() + open.len() > 2 * MAX_CHAIN {
                return None;
            }
            let Piece::Operand(node) = piece else {
                pieces.push_back(piece);
                continue;
            };
            let kind = node.kind();
            if kind == Kind::BinaryExpression {
                let children = self.children(node);
                let (left, right) = (part(&children, Field::Left)?, part(&children, Field::Right)?);
                open.push(Piece::Operand(right.node));
                open.push(self.operator(&children));
                open.push(Piece::Operand(left.node));
            } else if let Some(product) = self.product_in_cast(node, kind) {
                open.push(product.right);
                pieces.push_back(Piece::Lowered(product.left));
                pieces.push_back(product.operator);
            } else if let Some(comparison) = self.comparison(node, kind) {
                if let Some(tail) = comparison.tail {
                    open.push(Piece::Operand(tail));
                }
                let span = self.span_of(comparison.argument);
                open.push(Piece::Operator(BinaryOp::Gt, span));
                open.push(Piece::Operand(comparison.argument));
                pieces.push_back(Piece::Lowered(comparison.head));
                pieces.push_back(Piece::Operator(BinaryOp::Lt, span));
            } else {
                pieces.push_back(Piece::Operand(node));
            }
        }
        Some(pieces)
    }

    fn operator(&self, children: &[Child<'t>]) -> Piece<'t> {
        let Some(operator) = part(children, Field::Operator) else { return Piece::Foreign };
        match binary_op(self.text_of(operator.node)) {
            Some(op) => Piece::Operator(op, self.span_of(operator.node)),
            None => Piece::Foreign,
        }
    }

    /// Builds operators that bind at least as strongly as `weakest`.
    fn build(&mut self, pieces: &mut VecDeque<Piece<'t>>, weakest: u8) -> Option<Expr> {
        Some(self.build_within(pieces, weakest)?.0)
    }

    /// As [`Self::build`], with the text of all pieces, brackets around the first and last operand included.
    fn build_within(&mut self, pieces: &mut VecDeque<Piece<'t>>, weakest: u8) -> Option<(Expr, Span)> {
        let (mut left, mut within) = self.bracketed_operand(pieces)?;
        while let Some(Piece::Operator(op, _)) = pieces.front() {
            let (op, strength) = (*op, precedence(*op));
            if strength < weakest {
                break;
            }
            pieces.pop_front();
            let (right, end) = self.build_within(pieces, strength + 1)?;
            within = within.to(end);
            left = Expr { span: within, kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) } };
        }
        Some((left, within))
    }

    fn bracketed_operand(&mut self, pieces: &mut VecDeque<Piece<'t>>) -> Option<(Expr, Span)> {
        let within = match pieces.front() {
            Some(Piece::Operand(node)) if node.kind() == Kind::ParenthesizedExpression => Some(self.span_of(*node)),
            _ => None,
        };
        let operand = self.operand(pieces)?;
        let within = within.map_or(operand.span, |w| w.to(operand.span));
        Some((operand, within))
    }

    /// One operand with the casts in front of it.
    fn operand(&mut self, pieces: &mut VecDeque<Piece<'t>>) -> Option<Expr> {
        let node = match pieces.pop_front()? {
            Piece::Operand(node) => node,
            Piece::Lowered(expr) => return Some(expr),
            // Behind the `>` of a comparison a sign is a sign: `a < n && c > -d`.
            Piece::Operator(op, span) => {
                let op = as_unary(op)?;
                let operand = self.deeper(|l| l.operand(pieces)).flatten()?;
                let span = span.to(operand.span);
                return Some(Expr { span, kind: ExprKind::Unary { op, operand: Box::new(operand) } });
            }
            Piece::Foreign => return None,
        };
        if node.kind() == Kind::ParenthesizedExpression
            && let Some(Piece::Operator(binary, operator_span)) = pieces.front()
            && let Some(op) = as_unary(*binary)
        {
            let (binary, operator_span) = (*binary, *operator_span);
            if let Some((path, span)) = self.parenthesised_path(node)
                && self.names.is_cast(&path, binary)
            {
                pieces.pop_front();
                let operand = self.deeper(|l| l.operand(pieces)).flatten()?;
                let signed_span = operator_span.to(operand.span);
                let signed = Expr { span: signed_span, kind: ExprKind::Unary { op, operand: Box::new(operand) } };
                let ty = Self::plain_type(span, super::types::named(path));
                let span = self.span_of(node).to(signed.span);
                return Some(Expr {
                    span,
                    kind: ExprKind::Cast { style: CastStyle::C, ty, operand: Box::new(signed) },
                });
            }
        }
        Some(self.expr(node))
    }

    /// Whether a cast is a chain in disguise, to be read by [`Self::binary_chain`].
    pub(super) fn is_product_in_cast(&mut self, node: Node<'t>) -> bool {
        self.product_in_cast(node, Kind::CastExpression).is_some()
    }

    /// `(n) + x`, `(n) * x`, `(n) - 1`, read as casts of `+x`, `*x` and `-1` to a type that `n` is not.
    fn product_in_cast(&mut self, node: Node<'t>, kind: Kind) -> Option<Product<'t>> {
        if kind != Kind::CastExpression {
            return None;
        }
        let children = self.children(node);
        let (ty, value) = (part(&children, Field::Type)?, part(&children, Field::Value)?);
        let (operator, argument) = match value.kind {
            Kind::UnaryExpression | Kind::PointerExpression => {
                let parts = self.children(value.node);
                let operator = part(&parts, Field::Operator)?;
                (self.text_of(operator.node), Some(part(&parts, Field::Argument)?))
            }
            Kind::NumberLiteral => (self.text_of(value.node).get(..1)?, None),
            _ => return None,
        };
        let op = binary_op(operator).filter(|op| as_unary(*op).is_some())?;
        let [name] = self.children(ty.node).as_slice().try_into().ok()?;
        let name: Child<'t> = name;
        if !matches!(name.kind, Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType) {
            return None;
        }
        let path = self.path(name.node, name.kind);
        if self.names.is_cast(&path, op) {
            return None;
        }
        let left = Expr { span: self.span_of(name.node), kind: ExprKind::Name(path) };
        let start = value.node.start_byte();
        let right = match argument {
            Some(argument) => Piece::Operand(argument.node),
            None => Piece::Lowered(self.unsigned_number(value.node)),
        };
        Some(Product { left, operator: Piece::Operator(op, self.span(start..start + 1)), right })
    }

    /// Whether a call is a comparison chain in disguise, to be read by [`Self::binary_chain`].
    pub(super) fn is_comparison(&mut self, node: Node<'t>) -> bool {
        self.comparison(node, Kind::CallExpression).is_some()
    }

    /// Takes `a < b && c > (d)`, read as a call of `a<b && c>`, apart.
    fn comparison(&mut self, node: Node<'t>, kind: Kind) -> Option<Comparison<'t>> {
        // Cheap, and true of hardly any operand.
        if !matches!(
            kind,
            Kind::CallExpression | Kind::TemplateFunction | Kind::UnaryExpression | Kind::PointerExpression
        ) || !self.text_of(node).contains('>')
        {
            return None;
        }
        match kind {
            Kind::CallExpression => {
                let children = self.children(node);
                let function = part(&children, Field::Function)?;
                if !matches!(
                    function.kind,
                    Kind::TemplateFunction | Kind::FieldExpression | Kind::QualifiedIdentifier | Kind::TemplateMethod
                ) || of_kind(&children, Kind::KernelCallSyntax).is_some()
                {
                    return None;
                }
                let tail = part(&children, Field::Arguments).map(|a| a.node);
                let (head, argument) = self.comparison_head(function)?;
                Some(Comparison { head, argument, tail })
            }
            Kind::TemplateFunction => {
                let (head, argument) = self.comparison_head(Child { node, kind, field: Field::None })?;
                Some(Comparison { head, argument, tail: None })
            }
            // `-a < b && c > (d)`: the sign belongs to the head.
            Kind::UnaryExpression | Kind::PointerExpression => {
                let children = self.children(node);
                let argument = part(&children, Field::Argument)?;
                if !matches!(argument.kind, Kind::CallExpression | Kind::TemplateFunction) {
                    return None;
                }
                let op = part(&children, Field::Operator).and_then(|o| unary_op(self.text_of(o.node)))?;
                let inner = self.deeper(|l| l.comparison(argument.node, argument.kind)).flatten()?;
                let span = self.span(node.start_byte()..node.start_byte() + 1).to(inner.head.span);
                let head = Expr { span, kind: ExprKind::Unary { op, operand: Box::new(inner.head) } };
                Some(Comparison { head, ..inner })
            }
            _ => None,
        }
    }

    /// The operand in front of `<` and what stands between the angle brackets, if they are none.
    fn comparison_head(&mut self, function: Child<'t>) -> Option<(Expr, Node<'t>)> {
        let children = self.children(function.node);
        match function.kind {
            Kind::TemplateFunction | Kind::TemplateMethod => {
                let name = part(&children, Field::Name)?;
                let argument = self.comparison_argument(part(&children, Field::Arguments)?.node)?;
                let is_chain = self.is_logical(argument) || self.names.is_value(self.text_of(name.node));
                is_chain.then(|| (self.expr(name.node), argument.node))
            }
            Kind::FieldExpression => {
                let (base, member) = (part(&children, Field::Argument)?, part(&children, Field::Field)?);
                if member.kind != Kind::TemplateMethod {
                    return None;
                }
                let inner = self.children(member.node);
                let name = part(&inner, Field::Name)?;
                let argument = self.comparison_argument(part(&inner, Field::Arguments)?.node)?;
                if !self.is_logical(argument) {
                    return None;
                }
                let arrow = part(&children, Field::Operator).is_some_and(|o| self.text_of(o.node) == "->");
                let base = Box::new(self.expr(base.node));
                let span = self.span(function.node.start_byte()..name.node.end_byte());
                let member = PathSegment { name: self.name_of(name.node), args: None };
                Some((Expr { span, kind: ExprKind::Member { base, arrow, member } }, argument.node))
            }
            Kind::QualifiedIdentifier => {
                let last = children.iter().copied().rfind(|c| c.field == Field::Name)?;
                if last.kind != Kind::TemplateFunction {
                    return None;
                }
                let inner = self.children(last.node);
                let argument = self.comparison_argument(part(&inner, Field::Arguments)?.node)?;
                if !self.is_logical(argument) {
                    return None;
                }
                let mut path: Path = self.path(function.node, function.kind);
                if let Some(segment) = path.segments.last_mut() {
                    segment.args = None;
                }
                let span = self.span(function.node.start_byte()..argument.node.start_byte().saturating_sub(1));
                Some((Expr { span, kind: ExprKind::Name(path) }, argument.node))
            }
            _ => None,
        }
    }

    /// The only argument between angle brackets, if it can be part of a comparison.
    fn comparison_argument(&mut self, list: Node<'t>) -> Option<Child<'t>> {
        let children = self.children(list);
        let mut arguments = children.into_iter().filter(|c| c.kind != Kind::Token);
        let only = arguments.next()?;
        match (arguments.next(), only.kind) {
            (Some(_), _) | (None, Kind::TypeDescriptor | Kind::Error) => None,
            (None, _) => Some(only),
        }
    }

    /// `a && b` and `a || b` without brackets: hardly ever a template argument.
    fn is_logical(&mut self, argument: Child<'t>) -> bool {
        argument.kind == Kind::BinaryExpression
            && self
                .child(argument.node, Field::Operator)
                .is_some_and(|o| matches!(self.text_of(o.node), "&&" | "||" | "and" | "or"))
    }
}

fn as_unary(op: BinaryOp) -> Option<UnaryOp> {
    Some(match op {
        BinaryOp::Add => UnaryOp::Plus,
        BinaryOp::Sub => UnaryOp::Minus,
        BinaryOp::Mul => UnaryOp::Deref,
        BinaryOp::BitAnd => UnaryOp::AddressOf,
        _ => return None,
    })
}

pub(super) fn binary_op(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" | "bitand" => BinaryOp::BitAnd,
        "|" | "bitor" => BinaryOp::BitOr,
        "^" | "xor" => BinaryOp::BitXor,
        "&&" | "and" => BinaryOp::And,
        "||" | "or" => BinaryOp::Or,
        "==" => BinaryOp::Eq,
        "!=" | "not_eq" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        _ => return None,
    })
}

fn precedence(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 0,
        BinaryOp::And => 1,
        BinaryOp::BitOr => 2,
        BinaryOp::BitXor => 3,
        BinaryOp::BitAnd => 4,
        BinaryOp::Eq | BinaryOp::Ne => 5,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 6,
        BinaryOp::Shl | BinaryOp::Shr => 7,
        BinaryOp::Add | BinaryOp::Sub => 8,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 9,
    }
}
