//! Full expressions: the types their parts turned out to have, and what becomes of each part's value.
//!
//! What a compiler makes of a division or of a double literal depends on what stands around it, so both are judged once the
//! full expression has been evaluated.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Eval, Side};
use crate::model::types::Ty;
use crate::model::{BinaryOp, Expr, ExprKind, Init, Path, Scalar, UnaryOp};
use crate::source::Span;
use crate::symbolic::value::Value;
use crate::warp::facts::Division;

/// What becomes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// Narrowed to `float` at once.
    Float,
    /// Kept as `double` because the source says so.
    Double,
    /// Compared with zero.
    Condition,
    /// Goes on as what it is, or becomes an integer.
    Kept,
    Unknown,
}

impl Demand {
    pub(super) fn of(ty: &Ty) -> Self {
        match ty.value_type() {
            Ty::Scalar(scalar) => Self::of_scalar(*scalar),
            Ty::Unknown => Self::Unknown,
            _ => Self::Kept,
        }
    }

    fn of_scalar(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Float => Self::Float,
            Scalar::Double => Self::Double,
            Scalar::Bool => Self::Condition,
            _ => Self::Kept,
        }
    }
}

/// What the walk saw of one part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub ty: Scalar,
    /// The value, where it is one known number.
    pub constant: Option<f64>,
}

/// One full expression while it is being evaluated. Parts are told apart by their address in the model.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// Frames on the stack when it was opened: deeper ones evaluate expressions of their own.
    frames: usize,
    seen: FxHashMap<usize, Seen>,
    /// What a part is converted to by an initialiser or a parameter.
    wanted: FxHashMap<usize, Demand>,
    /// Divisions inside, not yet judged.
    divisions: Vec<(usize, Division)>,
    /// Divisions whose sign does not matter to the compiler.
    signless: FxHashSet<usize>,
    pub(super) has_literal: bool,
    is_noted: bool,
}

/// Where a part stands in memory stands for the part.
pub(super) fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

/// The expressions of an initialiser.
pub(super) fn initialisers(init: &Init) -> &[Expr] {
    match init {
        Init::Value(e) => std::slice::from_ref(e),
        Init::Paren(list) | Init::Brace(list) => list,
    }
}

impl Whole {
    pub(super) fn seen(&self, expr: &Expr) -> Option<Seen> {
        self.seen.get(&address(expr)).copied()
    }

    /// Whether a function of the project or an initialiser takes the part.
    pub(super) fn is_wanted(&self, expr: &Expr) -> bool {
        self.wanted.contains_key(&address(expr))
    }

    pub(super) fn ty(&self, expr: &Expr) -> Option<Scalar> {
        self.seen(expr).map(|s| s.ty)
    }
}

impl<'p> Eval<'p> {
    /// Evaluates a condition.
    pub(super) fn eval_condition(&mut self, expr: &'p Expr) -> Value<'p> {
        self.eval_wanted(expr, Demand::Condition)
    }

    /// Evaluates an initialiser for something of a type.
    pub(super) fn eval_into(&mut self, expr: &'p Expr, ty: &Ty) -> Value<'p> {
        if let ExprKind::InitList(list) = &expr.kind {
            return self.construct(ty, list, expr);
        }
        self.eval_wanted(expr, Demand::of(ty))
    }

    fn eval_wanted(&mut self, expr: &'p Expr, demand: Demand) -> Value<'p> {
        let is_whole = self.open_whole();
        let value = self.eval(expr);
        if is_whole {
            self.close_whole(expr, demand);
        } else {
            self.want(expr, demand);
        }
        value
    }

    /// Starts a full expression, unless one is open in this function already.
    pub(super) fn open_whole(&mut self) -> bool {
        let frames = self.frames.len();
        if self.side == Side::Host || self.wholes.last().is_some_and(|w| w.frames >= frames) {
            return false;
        }
        let mut whole = self.spare_wholes.pop().unwrap_or_default();
        whole.frames = frames;
        whole.is_noted = !self.is_quiet() && self.state.exit.is_none();
        self.wholes.push(whole);
        true
    }

    /// Judges what stands in a full expression.
    pub(super) fn close_whole(&mut self, expr: &'p Expr, demand: Demand) {
        self.close(expr.span, |walk| walk.inspect(expr, demand));
    }

    /// Judges the initialisers of one variable together.
    pub(super) fn close_initialisers(&mut self, list: &'p [Expr]) {
        let context = list.first().map_or(Span::new(self.file(), 0, 0), |e| e.span);
        self.close(context, |walk| list.iter().for_each(|e| walk.inspect_argument(e, Demand::Unknown)));
    }

    fn close(&mut self, context: Span, inspect: impl FnOnce(&mut Walk<'_, 'p>)) {
        let Some(mut whole) = self.wholes.pop() else { return };
        if whole.is_noted && (whole.has_literal || !whole.divisions.is_empty()) {
            inspect(&mut Walk { eval: self, whole: &mut whole, context });
            for (at, mut division) in whole.divisions.drain(..) {
                division.needs_no_fix_up |= whole.signless.contains(&at);
                self.events.divisions.push(division);
            }
        }
        whole.seen.clear();
        whole.wanted.clear();
        whole.divisions.clear();
        whole.signless.clear();
        whole.has_literal = false;
        self.spare_wholes.push(whole);
    }

    /// Remembers what a part turned out to be.
    pub(super) fn remember(&mut self, expr: &Expr, value: &Value<'p>) {
        let Some(whole) = self.wholes.last_mut() else { return };
        let (ty, constant) = match value {
            Value::Int { poly, ty } => (*ty, poly.as_constant().map(|c| c as f64)),
            Value::Float { ty, constant, .. } => (*ty, *constant),
            _ => return,
        };
        whole.has_literal |= matches!(expr.kind, ExprKind::Float { .. }) && ty == Scalar::Double;
        whole.seen.insert(address(expr), Seen { ty, constant });
    }

    /// Remembers the type of a part that is a place and not read by name.
    pub(super) fn remember_type(&mut self, expr: &Expr, ty: &Ty) {
        if let (Some(whole), Some(ty)) = (self.wholes.last_mut(), ty.as_scalar()) {
            whole.seen.insert(address(expr), Seen { ty, constant: None });
        }
    }

    /// A part is converted to this.
    pub(super) fn want(&mut self, expr: &Expr, demand: Demand) {
        if let Some(whole) = self.wholes.last_mut() {
            whole.wanted.insert(address(expr), demand);
        }
    }

    /// Keeps a division until what stands around it is known.
    pub(super) fn hold_division(&mut self, expr: &Expr, division: Division) {
        if let Some(whole) = self.wholes.last_mut() {
            whole.divisions.push((address(expr), division));
        }
    }
}

/// The second walk over a full expression, outer parts before inner ones.
pub(super) struct Walk<'a, 'p> {
    pub eval: &'a mut Eval<'p>,
    pub whole: &'a mut Whole,
    /// Literals with one context are reported together.
    pub context: Span,
}

impl Walk<'_, '_> {
    /// Looks at a part whose value becomes what `demand` says.
    pub(super) fn inspect(&mut self, expr: &Expr, demand: Demand) {
        if self.whole.has_literal && self.is_double_chain(expr) {
            self.chain(expr, demand);
            return;
        }
        if demand == Demand::Condition {
            self.sign_is_lost(expr, true);
        }
        self.descend(expr);
    }

    /// A division only compared with a constant needs no right sign; a remainder only where it is compared with zero.
    fn sign_is_lost(&mut self, expr: &Expr, with_zero: bool) {
        if let ExprKind::Binary { op, .. } = &expr.kind
            && (*op == BinaryOp::Div || *op == BinaryOp::Rem && with_zero)
        {
            self.whole.signless.insert(address(expr));
        }
    }

    fn compared(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        for (part, other) in [(left, right), (right, left)] {
            if let Some(constant) = self.whole.seen(other).and_then(|s| s.constant) {
                let is_equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
                self.sign_is_lost(part, is_equality && constant == 0.0);
            }
        }
    }

    /// Looks at the parts of something that is no chain of double arithmetic itself.
    pub(super) fn descend(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.inspect(operand, Demand::Condition),
            ExprKind::Unary { operand, .. } | ExprKind::IncDec { operand, .. } | ExprKind::Delete(operand) => {
                self.inspect(operand, Demand::Kept);
            }
            ExprKind::Member { base, .. } => self.inspect(base, Demand::Kept),
            ExprKind::Designated { value, .. } => self.inspect_argument(value, Demand::Unknown),
            ExprKind::Binary { op, left, right } => self.descend_binary(*op, left, right),
            ExprKind::Assign { op, target, value } => {
                self.inspect(target, Demand::Kept);
                match op {
                    None => {
                        let demand = self.whole.ty(target).map_or(Demand::Unknown, Demand::of_scalar);
                        self.inspect(value, demand);
                    }
                    Some(_) => self.compound(target, value),
                }
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.inspect(condition, Demand::Condition);
                self.inspect(then, Demand::Kept);
                self.inspect(otherwise, Demand::Kept);
            }
            ExprKind::Index { base, index } => {
                self.inspect(base, Demand::Kept);
                self.inspect(index, Demand::Kept);
            }
            ExprKind::Call { callee, args } => {
                self.inspect(callee, Demand::Kept);
                let demand = match &callee.kind {
                    ExprKind::Name(path) => parameter(path, self.whole.ty(expr)),
                    _ => Demand::Unknown,
                };
                args.iter().for_each(|a| self.inspect_argument(a, demand));
            }
            ExprKind::Cast { operand, .. } => {
                let demand = self.whole.ty(expr).map_or(Demand::Unknown, Demand::of_scalar);
                self.inspect(operand, demand);
            }
            ExprKind::Construct { args, .. } | ExprKind::InitList(args) => {
                args.iter().for_each(|a| self.inspect_argument(a, Demand::Unknown));
            }
            ExprKind::Comma(list) => list.iter().for_each(|e| self.inspect(e, Demand::Kept)),
            ExprKind::Launch { args, .. } => args.iter().for_each(|e| self.inspect(e, Demand::Unknown)),
            _ => {}
        }
    }

    fn descend_binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.inspect(left, Demand::Condition);
                self.inspect(right, Demand::Condition);
            }
            _ if super::expr::is_comparison(op) => {
                self.compared(op, left, right);
                self.comparison(left, right);
            }
            _ => {
                self.inspect(left, Demand::Kept);
                self.inspect(right, Demand::Kept);
            }
        }
    }

    pub(super) fn inspect_argument(&mut self, arg: &Expr, otherwise: Demand) {
        let demand = self.whole.wanted.get(&address(arg)).copied().unwrap_or(otherwise);
        self.inspect(arg, demand);
    }
}

/// What a function of CUDA's headers makes of an argument.
fn parameter(name: &Path, result: Option<Scalar>) -> Demand {
    let name = name.last().as_str();
    let is_single = super::builtin::is_single_precision(name) || name.starts_with("__float");
    if matches!(name, "printf" | "assert" | "__double2int_rn" | "__double2float_rn") {
        return Demand::Double;
    }
    if is_single {
        return Demand::Float;
    }
    // What is added to a float is a float.
    if name.starts_with("atomic") {
        return result.map_or(Demand::Unknown, Demand::of_scalar);
    }
    Demand::Unknown
}
