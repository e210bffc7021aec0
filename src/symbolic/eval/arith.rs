//! Integer divisions with what a compiler can know of their operands: where a divisor's value comes from, and which
//! dividends it sees to be not negative.

use super::{Eval, Side};
use crate::model::types::Ty;
use crate::model::{BinaryOp, Expr, ExprKind, Path, Scalar, UnaryOp};
use crate::symbolic::term::{AtomKind, Op, Poly};
use crate::symbolic::value::{Base, Place, Value};
use crate::warp::facts::{Division, Divisor};

/// Where an argument comes from.
#[derive(Clone, Copy, Default)]
pub(super) struct Origin<'p> {
    pub expr: Option<&'p Expr>,
    /// Known through the launch only.
    pub is_launch_known: bool,
    /// The compiler sees that it is not negative.
    pub is_not_negative: bool,
}

impl<'p> Eval<'p> {
    pub(super) fn note_division(
        &mut self,
        op: BinaryOp,
        left: &'p Expr,
        right: &'p Expr,
        a: &Value<'p>,
        b: &Value<'p>,
        expr: &Expr,
    ) {
        if self.is_quiet() || self.side == Side::Host || self.state.exit.is_some() {
            return;
        }
        let (Value::Int { poly: x, ty: s }, Value::Int { poly: y, ty: t }) = (a, b) else { return };
        let ty = s.common(*t);
        let divisor = self.divisor(right, y);
        let is_folded =
            x.as_constant().is_some() && !self.is_launch_known(left) && matches!(divisor, Divisor::Constant(_));
        let dividend_not_negative = self.terms.is_proven_not_negative(x) && self.terms.is_proven_not_negative(y);
        let is_widened = ty.is_signed() && !s.is_signed() && ty.size() > s.size();
        let needs_no_fix_up = is_widened || self.is_plainly_not_negative(left) || self.is_guarded_not_negative(x);
        let division = Division {
            span: expr.span,
            function: self.function_name(),
            left: left.span,
            right: right.span,
            is_remainder: op == BinaryOp::Rem,
            is_signed: ty.is_signed(),
            bits: ty.size() as u32 * 8,
            divisor,
            dividend_not_negative,
            needs_no_fix_up,
            in_loop: self.loop_depth > 0,
            is_folded,
        };
        self.hold_division(expr, division);
    }

    fn divisor(&self, right: &Expr, value: &Poly) -> Divisor {
        let Some(value) = value.as_constant() else { return Divisor::Runtime };
        if self.is_launch_known(right) {
            let mut is_warp_size = true;
            names_in(right, &mut |path| is_warp_size &= path.as_simple().is_some_and(|n| n == "warpSize"));
            if is_warp_size { Divisor::WarpSize(value) } else { Divisor::AtLaunch(value) }
        } else {
            Divisor::Constant(value)
        }
    }

    /// Whether an expression's value is known only when the kernel runs, though the launch tells it: it names blockDim, gridDim,
    /// warpSize or a kernel parameter.
    pub(super) fn is_launch_known(&self, expr: &Expr) -> bool {
        let mut found = false;
        names_in(expr, &mut |path| {
            if let Some(name) = path.as_simple() {
                let is_tainted = self.frame().is_some_and(|f| f.launch_known.contains(name));
                found |= is_tainted || matches!(name.as_str(), "blockDim" | "gridDim" | "warpSize");
            }
        });
        found
    }

    /// A variable that takes a value known through the launch is known through it too.
    pub(super) fn taint(&mut self, target: &'p Expr, value: &'p Expr) {
        if let ExprKind::Name(path) = &target.kind
            && let Some(name) = path.as_simple()
        {
            self.taint_name(name, value);
        }
    }

    pub(super) fn taint_name(&mut self, name: &crate::model::Name, value: &Expr) {
        if self.is_launch_known(value)
            && let Some(frame) = self.frames.last_mut().filter(|f| !f.launch_known.contains(name))
        {
            frame.launch_known.push(name.clone());
        }
    }

    /// An argument's origin; it has been evaluated.
    pub(super) fn origin(&self, expr: &'p Expr) -> Origin<'p> {
        Origin {
            expr: Some(expr),
            is_launch_known: self.is_launch_known(expr),
            is_not_negative: self.is_plainly_not_negative(expr),
        }
    }

    /// A variable starts with a value: does the compiler see that it is not negative?
    pub(super) fn start_sign(&mut self, place: &Place, ty: &Ty, value: Option<&Expr>) {
        let (Some(scalar), Base::Object(id)) = (ty.as_scalar(), place.base) else { return };
        if scalar.is_float() || self.side == Side::Host {
            return;
        }
        if value.is_none_or(|e| self.is_not_negative_as(e, scalar)) {
            self.not_negative.insert(id);
        }
    }

    /// A variable takes another value.
    pub(super) fn change_sign(&mut self, place: &Place, keeps: bool) {
        if let (Base::Object(id), false) = (place.base, keeps) {
            self.not_negative.remove(&id);
        }
    }

    /// Whether `target op= value` leaves a target alone that was not negative.
    pub(super) fn keeps_sign(&self, op: Option<BinaryOp>, value: &Expr) -> bool {
        match op {
            None | Some(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Div | BinaryOp::BitOr | BinaryOp::BitXor) => {
                self.is_plainly_not_negative(value)
            }
            Some(BinaryOp::Rem | BinaryOp::Shr | BinaryOp::BitAnd) => true,
            Some(_) => false,
        }
    }

    /// As a value of another type; wider types keep what is unsigned.
    fn is_not_negative_as(&self, expr: &Expr, ty: Scalar) -> bool {
        let own = self.seen_type(expr);
        own.is_some_and(|s| !s.is_signed() && !s.is_float() && s.size() < ty.size())
            || self.is_plainly_not_negative(expr)
    }

    fn seen_type(&self, expr: &Expr) -> Option<Scalar> {
        self.wholes.last()?.ty(expr)
    }

    /// Whether the source alone shows that the top bit of a value is clear, as nvcc (measured) sees it: masks, shifts and divisions of
    /// unsigned values, bytes, counters from zero up. `threadIdx.x` in an `int` is not among them.
    fn is_plainly_not_negative(&self, expr: &Expr) -> bool {
        let ty = self.seen_type(expr);
        if matches!(ty, Some(Scalar::Bool | Scalar::UChar | Scalar::UShort)) {
            return true;
        }
        match &expr.kind {
            ExprKind::Int { .. } | ExprKind::Bool(_) | ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => true,
            ExprKind::Char(c) => *c >= 0,
            ExprKind::Name(path) => self.is_plain_name(path, expr),
            ExprKind::IncDec { operand, .. } => self.is_plainly_not_negative(operand),
            ExprKind::Unary { op: UnaryOp::Plus, operand } => self.is_plainly_not_negative(operand),
            ExprKind::Unary { op: UnaryOp::Not, .. } => true,
            ExprKind::Binary { op, left, right } => self.is_plain_operation(*op, left, right),
            ExprKind::Conditional { then, otherwise, .. } => {
                self.is_plainly_not_negative(then) && self.is_plainly_not_negative(otherwise)
            }
            ExprKind::Assign { op: None, value, .. } => self.is_plainly_not_negative(value),
            ExprKind::Cast { operand, .. } => match ty {
                Some(to) => self.is_not_negative_as(operand, to),
                None => false,
            },
            ExprKind::Comma(list) => list.last().is_some_and(|e| self.is_plainly_not_negative(e)),
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Name(path) => self.is_plain_call(path, args),
                _ => false,
            },
            _ => false,
        }
    }

    fn is_plain_operation(&self, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let [a, b] = [left, right].map(|e| self.is_plainly_not_negative(e));
        let is_unsigned = self.seen_type(left).is_some_and(|s| !s.promoted().is_signed());
        // Other than the launch's, a constant is one for the compiler too.
        let constant = self.constant_of(right);
        match op {
            BinaryOp::BitAnd => a || b,
            BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Add | BinaryOp::Mul => a && b,
            BinaryOp::Sub => self.constant_of(left).is_some_and(|c| c >= 0.0) && self.is_masked(right),
            BinaryOp::Shr => a || is_unsigned && constant.is_some_and(|c| c >= 1.0),
            BinaryOp::Div => a && b || is_unsigned && constant.is_some_and(|c| c >= 2.0),
            BinaryOp::Rem => a || is_unsigned && constant.is_some_and(|c| c >= 1.0),
            BinaryOp::Shl => self.constant_of(left).is_some() && constant.is_some(),
            _ => true,
        }
    }

    /// `x & mask`, `x % n`: bounded, so that a constant less it may be seen not to be negative.
    fn is_masked(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Binary { op: BinaryOp::BitAnd, .. } => true,
            ExprKind::Binary { op: BinaryOp::Rem, .. } => self.is_plainly_not_negative(expr),
            _ => false,
        }
    }

    fn is_plain_name(&self, path: &Path, expr: &Expr) -> bool {
        let Some(name) = path.as_simple() else { return self.constant_of(expr).is_some_and(|c| c >= 0.0) };
        if name == "warpSize" {
            return true;
        }
        match self.local_object(name) {
            Some(id) => self.not_negative.contains(&id),
            None => self.constant_of(expr).is_some_and(|c| c >= 0.0),
        }
    }

    fn is_plain_call(&self, path: &Path, args: &[Expr]) -> bool {
        match path.last().as_str() {
            "max" | "umax" | "__max" => args.iter().any(|a| self.is_plainly_not_negative(a)),
            "min" | "umin" | "__min" => args.iter().all(|a| self.is_plainly_not_negative(a)),
            "__popc" | "__popcll" | "__clz" | "__clzll" => true,
            _ => false,
        }
    }

    /// A value that the compiler knows too.
    fn constant_of(&self, expr: &Expr) -> Option<f64> {
        let mut is_built_in = false;
        names_in(expr, &mut |path| {
            is_built_in |= path.as_simple().is_some_and(|n| matches!(n.as_str(), "threadIdx" | "blockIdx"));
        });
        let seen = self.wholes.last()?.seen(expr)?.constant?;
        (!is_built_in && !self.is_launch_known(expr)).then_some(seen)
    }

    /// Whether a condition on the way here says that a value is not negative: `if (v < 0) return;`.
    fn is_guarded_not_negative(&mut self, value: &Poly) -> bool {
        let guards: Vec<(Poly, bool)> = self.state.guards.iter().filter_map(|g| g.condition.clone()).collect();
        guards.iter().any(|(condition, outcome)| self.implies_not_negative(condition, *outcome, value, 0))
    }

    fn implies_not_negative(&mut self, condition: &Poly, outcome: bool, value: &Poly, depth: u32) -> bool {
        let Some(atom) = condition.as_atom().filter(|_| depth < 16) else { return false };
        let AtomKind::Derived(op, a, b, _) = self.terms.get(atom).kind.clone() else { return false };
        // `c - v <= k` or `v - c >= k`: what the constant must be.
        let mut least = |sign: i64| {
            let signed = self.terms.scale(value, sign);
            self.terms.sub(&a, &signed).as_constant()
        };
        match (op, outcome) {
            (Op::Lt, true) => least(-1).is_some_and(|c| c >= -1),
            (Op::Le, true) => least(-1).is_some_and(|c| c >= 0),
            (Op::Lt, false) => least(1).is_some_and(|c| c <= 0),
            (Op::Le, false) => least(1).is_some_and(|c| c <= 1),
            (Op::Eq, _) => self.implies_not_negative(&a, !outcome, value, depth + 1),
            (Op::LogicalAnd, true) | (Op::LogicalOr, false) => {
                self.implies_not_negative(&a, outcome, value, depth + 1)
                    || self.implies_not_negative(&b, outcome, value, depth + 1)
            }
            _ => false,
        }
    }

    /// The object behind a local variable's name.
    fn local_object(&self, name: &crate::model::Name) -> Option<u32> {
        let local = self.frame()?.locals.iter().rev().find(|(n, _)| n == name)?;
        match &local.1 {
            crate::symbolic::value::Local::Place(Place { base: Base::Object(id), .. }) => Some(*id),
            // Something else of that name: an object that is never marked.
            _ => Some(u32::MAX),
        }
    }
}

pub(super) fn names_in(expr: &Expr, f: &mut dyn FnMut(&Path)) {
    match &expr.kind {
        ExprKind::Name(path) => f(path),
        ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } | ExprKind::IncDec { operand, .. } => {
            names_in(operand, f);
        }
        ExprKind::Member { base, .. } => names_in(base, f),
        ExprKind::Binary { left, right, .. } => {
            names_in(left, f);
            names_in(right, f);
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|e| names_in(e, f));
        }
        ExprKind::Call { args, .. } | ExprKind::Construct { args, .. } => args.iter().for_each(|e| names_in(e, f)),
        _ => {}
    }
}
