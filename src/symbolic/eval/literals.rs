//! Floating literals without suffix that meet float operands, and whether machine code computes in double for them.
//!
//! The compiler goes back to single precision in one form only: one `+ - * /` of a float with a literal that a float holds
//! exactly, its result narrowed at once, or a comparison of the two. A literal that is chosen, converted or stored is free.

use super::whole::{Demand, Walk};
use super::{Eval, Side};
use crate::model::{BinaryOp, Expr, ExprKind, FloatSuffix, Scalar, UnaryOp};
use crate::source::Span;
use crate::warp::facts::{DoubleLiteral, LiteralUse};

/// Arithmetic in double from where its value is used down to its operands.
#[derive(Default)]
struct Chain {
    literals: Vec<(Span, f64, LiteralUse, bool)>,
    has_float: bool,
    has_integer: bool,
    /// A variable, cast or function that is double by itself takes part.
    is_on_purpose: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Float,
    Integer,
    /// Literals and signs only.
    Constant {
        is_exact: bool,
    },
    /// Evaluated by the compiler, though not a literal.
    Folded {
        is_exact: bool,
    },
    Double,
    /// Not evaluated here.
    Absent,
}

impl Walk<'_, '_> {
    /// Whether a part is arithmetic in double, as opposed to something that merely is a double.
    pub(super) fn is_double_chain(&self, expr: &Expr) -> bool {
        if self.whole.ty(expr) != Some(Scalar::Double) {
            return false;
        }
        match &expr.kind {
            ExprKind::Binary { op, .. } => is_arithmetic(*op),
            ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => self.is_double_chain(operand),
            ExprKind::Conditional { .. } => true,
            ExprKind::Call { .. } => self.is_maths(expr),
            _ => false,
        }
    }

    pub(super) fn chain(&mut self, expr: &Expr, demand: Demand) {
        let mut chain = Chain::default();
        self.node(expr, demand, &mut chain);
        self.finish(chain, demand);
    }

    /// A comparison is done in the type of its wider operand.
    pub(super) fn comparison(&mut self, left: &Expr, right: &Expr) {
        let (a, b) = (self.operand(left), self.operand(right));
        if !self.whole.has_literal || ![a, b].iter().any(|o| o.is_double()) {
            self.inspect(left, Demand::Kept);
            self.inspect(right, Demand::Kept);
            return;
        }
        let mut chain = Chain::default();
        let (use_, costs) = match (a, b) {
            (Operand::Float, c) | (c, Operand::Float) if c.is_constant() => (LiteralUse::Comparison, !c.is_exact()),
            _ => (LiteralUse::DoubleArithmetic, true),
        };
        for (part, operand) in [(left, a), (right, b)] {
            self.operand_of(part, operand, use_, costs, &mut chain);
        }
        self.finish(chain, Demand::Kept);
    }

    /// The right side of `x += ...`: one operation whose other operand is the target.
    pub(super) fn compound(&mut self, target: &Expr, value: &Expr) {
        let (a, b) = (self.operand(target), self.operand(value));
        if !self.whole.has_literal || !b.is_double() {
            self.inspect(value, Demand::Kept);
            return;
        }
        let demand = if a == Operand::Float { Demand::Float } else { Demand::Kept };
        let mut chain = Chain { is_on_purpose: a == Operand::Double, ..Chain::default() };
        let (use_, costs) = one_operation(a, b, demand);
        chain.has_float |= a == Operand::Float;
        self.operand_of(value, b, use_, costs, &mut chain);
        self.finish(chain, demand);
    }

    fn node(&mut self, expr: &Expr, demand: Demand, chain: &mut Chain) {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if is_arithmetic(*op) => {
                let (a, b) = (self.operand(left), self.operand(right));
                let (use_, costs) = one_operation(a, b, demand);
                self.operand_of(left, a, use_, costs, chain);
                self.operand_of(right, b, use_, costs, chain);
            }
            ExprKind::Unary { operand, .. } => self.node(operand, demand, chain),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.inspect(condition, Demand::Condition);
                let is_free = matches!(demand, Demand::Float | Demand::Unknown);
                let use_ = if is_free { LiteralUse::Arm } else { LiteralUse::DoubleArithmetic };
                for arm in [then, otherwise] {
                    match self.operand(arm) {
                        Operand::Double => self.node(arm, demand, chain),
                        operand => self.operand_of(arm, operand, use_, !is_free, chain),
                    }
                }
            }
            ExprKind::Call { args, .. } if self.is_maths(expr) => {
                for arg in args {
                    let operand = self.operand(arg);
                    self.operand_of(arg, operand, LiteralUse::Argument, true, chain);
                }
            }
            _ => {
                chain.is_on_purpose = true;
                self.descend(expr);
            }
        }
    }

    /// One operand of an operation; its own operations go on in double.
    fn operand_of(&mut self, expr: &Expr, operand: Operand, use_: LiteralUse, costs: bool, chain: &mut Chain) {
        match operand {
            Operand::Constant { .. } => literals_in(expr, &mut |span, value| {
                chain.literals.push((span, value, use_, costs));
            }),
            Operand::Double => self.node(expr, Demand::Kept, chain),
            Operand::Float | Operand::Integer => {
                chain.has_float |= operand == Operand::Float;
                chain.has_integer |= operand == Operand::Integer;
                self.inspect(expr, Demand::Kept);
            }
            Operand::Folded { .. } | Operand::Absent => {}
        }
    }

    fn operand(&self, expr: &Expr) -> Operand {
        if let Some(value) = literal_value(expr) {
            return Operand::Constant { is_exact: is_exact(value) };
        }
        let Some(seen) = self.whole.seen(expr) else { return Operand::Absent };
        match (seen.ty, seen.constant) {
            (Scalar::Float, _) => Operand::Float,
            (Scalar::Double, Some(value)) if self.is_double_chain(expr) => {
                Operand::Folded { is_exact: is_exact(value) }
            }
            (Scalar::Double, _) if is_maths_constant(expr) => Operand::Folded { is_exact: false },
            (Scalar::Double, _) => Operand::Double,
            (_, Some(value)) => Operand::Folded { is_exact: is_exact(value) },
            _ => Operand::Integer,
        }
    }

    /// A call of a maths function for double, overloaded or not.
    fn is_maths(&self, expr: &Expr) -> bool {
        let ExprKind::Call { callee, args } = &expr.kind else { return false };
        let ExprKind::Name(path) = &callee.kind else { return false };
        // Parameters with types are those of a function of the project.
        let is_ours = args.iter().any(|a| self.whole.is_wanted(a));
        !is_ours && super::builtin::is_overloaded(path.last())
    }

    fn finish(&mut self, chain: Chain, demand: Demand) {
        let is_float_code = chain.has_float || chain.has_integer && demand == Demand::Float;
        if chain.is_on_purpose || demand == Demand::Double || !is_float_code {
            return;
        }
        for (span, value, use_, costs_fp64) in chain.literals {
            let use_ = match use_ {
                // An integer loses digits in float.
                LiteralUse::NarrowedArithmetic if !chain.has_float => LiteralUse::DoubleArithmetic,
                other => other,
            };
            self.eval.note_literal(span, value, use_, costs_fp64, self.context);
        }
    }
}

impl Operand {
    fn is_constant(self) -> bool {
        matches!(self, Self::Constant { .. } | Self::Folded { .. })
    }

    fn is_exact(self) -> bool {
        matches!(self, Self::Constant { is_exact: true } | Self::Folded { is_exact: true })
    }

    fn is_double(self) -> bool {
        self.is_constant() || self == Self::Double
    }
}

/// What one operation does with a literal among its operands, and whether that costs.
fn one_operation(a: Operand, b: Operand, demand: Demand) -> (LiteralUse, bool) {
    let is_narrowed = matches!(demand, Demand::Float | Demand::Unknown);
    match (a, b) {
        (Operand::Float, c) | (c, Operand::Float) if c.is_constant() && is_narrowed => {
            (LiteralUse::NarrowedArithmetic, !c.is_exact())
        }
        _ => (LiteralUse::DoubleArithmetic, true),
    }
}

impl Eval<'_> {
    fn note_literal(&mut self, span: Span, value: f64, use_: LiteralUse, costs_fp64: bool, context: Span) {
        if self.side == Side::Host {
            return;
        }
        let instance = self.instance_text();
        let function = self.function_name();
        self.events.literals.push(DoubleLiteral { span, function, instance, value, use_, costs_fp64, context });
    }

    fn instance_text(&self) -> Option<String> {
        let bindings = &self.frame()?.bindings;
        if bindings.is_empty() {
            return None;
        }
        let list: Vec<String> = bindings.iter().map(|(_, b)| super::types::binding_text(b)).collect();
        Some(list.join(", "))
    }
}

fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
}

/// Unsuffixed literals of an expression of nothing but literals.
fn literals_in(expr: &Expr, f: &mut dyn FnMut(Span, f64)) {
    match &expr.kind {
        ExprKind::Float { value, suffix: FloatSuffix::None } => f(expr.span, *value),
        ExprKind::Unary { operand, .. } => literals_in(operand, f),
        ExprKind::Binary { left, right, .. } => {
            literals_in(left, f);
            literals_in(right, f);
        }
        _ => {}
    }
}

/// The value of an expression of nothing but literals, one of which is a double.
fn literal_value(expr: &Expr) -> Option<f64> {
    let mut has_double = false;
    literals_in(expr, &mut |_, _| has_double = true);
    if has_double { number(expr) } else { None }
}

fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Float { value, .. } => Some(*value),
        ExprKind::Int { value, .. } => Some(*value as f64),
        ExprKind::Unary { op: UnaryOp::Minus, operand } => Some(-number(operand)?),
        ExprKind::Unary { op: UnaryOp::Plus, operand } => number(operand),
        ExprKind::Binary { op, left, right } => super::expr::float_fold(*op, number(left)?, number(right)?),
        _ => None,
    }
}

/// The value is the same in single precision.
fn is_exact(value: f64) -> bool {
    f64::from(value as f32).to_bits() == value.to_bits()
}

/// `M_PI` and its kin.
fn is_maths_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(path) => path.as_simple().is_some_and(|n| n.starts_with("M_")),
        _ => false,
    }
}
