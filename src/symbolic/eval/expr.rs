//! Expressions to values, and the places that expressions name.

use std::rc::Rc;

use super::Eval;
use super::whole::Demand;
use crate::model::types::Ty;
use crate::model::{BinaryOp, CastStyle, Expr, ExprKind, FloatSuffix, Scalar, TypeExpr, UnaryOp};
use crate::source::Span;
use crate::symbolic::term::{Op, Poly};
use crate::symbolic::value::{Base, Closure, Place, RecordValue, Rest, Value};
use crate::warp::facts::Scope;

/// Expressions inside expressions, through calls too.
const EVAL_DEPTH: u32 = 1200;

impl<'p> Eval<'p> {
    pub(super) fn eval(&mut self, expr: &'p Expr) -> Value<'p> {
        if self.nesting > EVAL_DEPTH {
            return Value::unknown(Ty::Unknown, Scope::Lane);
        }
        self.nesting += 1;
        let is_whole = self.open_whole();
        let value = self.eval_kind(expr);
        self.remember(expr, &value);
        if is_whole {
            self.close_whole(expr, Demand::Kept);
        }
        self.nesting -= 1;
        value
    }

    fn eval_kind(&mut self, expr: &'p Expr) -> Value<'p> {
        match &expr.kind {
            ExprKind::Int { value, unsigned, long } => {
                let fits = *value <= if *unsigned { u64::from(u32::MAX) } else { i32::MAX as u64 };
                let ty = match (unsigned, *long || !fits) {
                    (false, false) => Scalar::Int,
                    (true, false) => Scalar::UInt,
                    (false, true) if u32::try_from(*value).is_ok() && !*long => Scalar::UInt,
                    (false, true) => Scalar::Long,
                    (true, true) => Scalar::ULong,
                };
                Value::int(*value as i64, ty)
            }
            ExprKind::Float { value, suffix } => {
                let ty = if *suffix == FloatSuffix::F { Scalar::Float } else { Scalar::Double };
                Value::Float { ty, scope: Scope::Grid, constant: Some(*value) }
            }
            ExprKind::Bool(b) => Value::int(i64::from(*b), Scalar::Bool),
            ExprKind::Char(c) => Value::int(*c, Scalar::Char),
            ExprKind::Nullptr => Value::Pointer(Place { base: Base::Nowhere, offset: Poly::zero(), ty: Ty::Unknown }),
            ExprKind::This => match self.frame().and_then(|f| f.this.clone()) {
                Some(place) => Value::Pointer(place),
                None => Value::unknown(Ty::Unknown, Scope::Grid),
            },
            ExprKind::Name(path) => self.eval_name(path, expr.span),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, expr.span),
            ExprKind::IncDec { prefix, step, operand } => self.inc_dec(*prefix, *step, operand, expr.span),
            ExprKind::Binary { op, left, right } => self.binary_expr(*op, left, right, expr),
            ExprKind::Assign { op, target, value } => self.assign(*op, target, value, expr),
            ExprKind::Conditional { condition, then, otherwise } => {
                let value = self.eval(condition);
                let condition = self.condition(&value);
                let (a, b) = self.branch(&condition, expr.span, |e| e.eval(then), |e| e.eval(otherwise));
                match (a, b) {
                    (Some(a), Some(b)) => {
                        let (a, b) = self.same_type(a, b);
                        self.join_value(&condition.poly, &a, &b)
                    }
                    (Some(v), None) | (None, Some(v)) => v,
                    (None, None) => Value::Void,
                }
            }
            ExprKind::Index { .. } | ExprKind::Member { .. } => match self.place(expr) {
                Some(place) => self.load(&place, expr.span),
                None => self.not_a_place(expr),
            },
            ExprKind::Call { callee, args } => self.call(callee, args, expr),
            ExprKind::Launch { callee, config, args } => self.launch(callee, config, args, expr),
            ExprKind::Cast { style, ty, operand } => self.cast(*style, ty, operand),
            ExprKind::Construct { ty, args } => {
                let ty = self.resolve(ty);
                self.construct(&ty, args, expr)
            }
            ExprKind::InitList(list) => {
                let values: Vec<Value<'p>> = list.iter().map(|e| self.eval(e)).collect();
                values.into_iter().next().unwrap_or_else(|| Value::unknown(Ty::Unknown, Scope::Grid))
            }
            ExprKind::SizeofType(ty) => {
                let ty = self.resolve_or_value(ty);
                self.size_value(&ty)
            }
            ExprKind::SizeofExpr(operand) => {
                let ty = self.expr_as_type(operand).unwrap_or_else(|| self.quiet_type(operand));
                self.size_value(&ty)
            }
            ExprKind::Alignof(ty) => {
                let ty = self.resolve(ty);
                Value::int(ty.align() as i64, Scalar::ULong)
            }
            ExprKind::Lambda(lambda) => {
                let frame = self.frame();
                Value::Closure(Rc::new(Closure {
                    lambda,
                    names: frame.map(|f| f.locals.clone()).unwrap_or_default(),
                    file: self.file(),
                    this: frame.and_then(|f| f.this.clone()),
                }))
            }
            ExprKind::Comma(list) => {
                let mut last = Value::Void;
                for e in list {
                    last = self.eval(e);
                }
                last
            }
            ExprKind::New { ty, count } => {
                if let Some(c) = count {
                    self.eval(c);
                }
                let ty = self.resolve(ty);
                self.fresh(&ty.pointer_to(), Scope::Grid, "new")
            }
            ExprKind::Delete(e) => {
                self.eval(e);
                Value::Void
            }
            ExprKind::Designated { value, .. } => self.eval(value),
            ExprKind::Str(_) => Value::unknown(Ty::Scalar(Scalar::Char).pointer_to(), Scope::Grid),
            ExprKind::Unknown(why) => {
                self.note_unknown(expr.span, why);
                Value::unknown(Ty::Unknown, Scope::Lane)
            }
        }
    }

    fn eval_name(&mut self, path: &'p crate::model::Path, span: Span) -> Value<'p> {
        if let Some(value) = self.name_value(path, span) {
            return value;
        }
        let file = self.file();
        if let Some(id) = self.project.functions_named(path.last(), file).into_iter().next() {
            let bindings: Vec<_> = path.last_args().unwrap_or(&[]).iter().map(|a| self.template_argument(a)).collect();
            return Value::Function(id, bindings.into());
        }
        // An unknown name in device code is most likely a constant from a header out of sight.
        let atom = self.size_atom(path.last(), 0, i64::from(i32::MAX), true);
        Value::Int { poly: Poly::atom(atom), ty: Scalar::Int }
    }

    /// A type that may turn out to be a variable (`sizeof(x)`).
    fn resolve_or_value(&mut self, ty: &'p TypeExpr) -> Ty {
        if let crate::model::TypeKind::Named(path) = &ty.kind
            && (path.as_simple().is_some_and(|n| self.is_variable(n)) || self.resolve_path(path).is_none())
            && let Some(super::names::Named::Place(place)) = self.lookup(path, ty.span)
        {
            return place.ty;
        }
        self.resolve(ty)
    }

    fn quiet_type(&mut self, expr: &'p Expr) -> Ty {
        self.quiet += 1;
        let place = self.place(expr);
        let ty = match place {
            Some(place) => place.ty,
            None => self.eval(expr).ty(),
        };
        self.quiet -= 1;
        ty
    }

    fn size_value(&mut self, ty: &Ty) -> Value<'p> {
        match ty.value_type().size() {
            Some(size) => Value::int(size as i64, Scalar::ULong),
            None => Value::Int { poly: self.unknown_int(Scope::Grid, "sizeof"), ty: Scalar::ULong },
        }
    }

    /// The place an expression names, `None` if it is a value.
    pub(super) fn place(&mut self, expr: &'p Expr) -> Option<Place> {
        match &expr.kind {
            ExprKind::Name(path) => match self.lookup(path, expr.span)? {
                super::names::Named::Place(place) => Some(self.through_reference(place, expr.span)),
                super::names::Named::Value(_) => None,
            },
            ExprKind::Index { base, index } => self.index_place(base, index, expr),
            ExprKind::Member { base, arrow, member } => {
                let owner = if *arrow {
                    let value = self.eval(base);
                    if let Value::Record(_) = value {
                        // operator->: not followed.
                        return None;
                    }
                    self.target(&value)
                } else {
                    if let Some(place) = self.place(base) {
                        place
                    } else {
                        let value = self.eval(base);
                        self.materialise(value)
                    }
                };
                let place = self.member(&owner, &member.name)?;
                Some(self.through_reference(place, expr.span))
            }
            ExprKind::Unary { op: UnaryOp::Deref, operand } => {
                let value = self.eval(operand);
                match value {
                    Value::Record(_) => None,
                    other => Some(self.target(&other)),
                }
            }
            ExprKind::Assign { target, .. } => {
                self.eval(expr);
                self.quietly(|e| e.place(target))
            }
            ExprKind::IncDec { prefix: true, operand, .. } => {
                self.eval(expr);
                self.quietly(|e| e.place(operand))
            }
            ExprKind::Cast { style, ty, operand } => {
                // A cast to a reference names the same memory as another type.
                let resolved = self.resolve(ty);
                if let Ty::Reference(inner) = resolved {
                    let place = self.place(operand)?;
                    return Some(Place { ty: (*inner).clone(), ..place });
                }
                let _ = style;
                None
            }
            ExprKind::Comma(list) => {
                let (last, before) = list.split_last()?;
                for e in before {
                    self.eval(e);
                }
                self.place(last)
            }
            ExprKind::Call { callee, args } => match self.call_outcome(callee, args, expr) {
                super::call::Outcome::Place(place) => Some(place),
                super::call::Outcome::Value(value) => Some(self.materialise(value)),
            },
            _ => None,
        }
    }

    pub(super) fn quietly<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let out = f(self);
        self.quiet -= 1;
        out
    }

    /// A variable of reference type stands for what it refers to.
    fn through_reference(&mut self, place: Place, span: Span) -> Place {
        let Ty::Reference(inner) = &place.ty else { return place };
        let inner = (**inner).clone();
        let holder = Place { ty: inner.clone().pointer_to(), ..place };
        let value = self.quietly(|e| e.load(&holder, span));
        let mut target = self.target(&value);
        if target.ty == Ty::Unknown || inner != Ty::Unknown {
            target.ty = inner;
        }
        target
    }

    /// Whether a factor of the index is a number that the compiler does not know, however well the launch tells it.
    fn is_scaled_by_launch(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Binary { op: BinaryOp::Mul, left, right } => {
                let is_number = |e: &Expr| matches!(e.kind, ExprKind::Int { .. });
                let is_open =
                    |e: &Expr| matches!(e.kind, ExprKind::Name(_) | ExprKind::Member { .. }) && self.is_launch_known(e);
                !is_number(left) && !is_number(right) && (is_open(left) || is_open(right))
                    || self.is_scaled_by_launch(left)
                    || self.is_scaled_by_launch(right)
            }
            ExprKind::Binary { left, right, .. } => self.is_scaled_by_launch(left) || self.is_scaled_by_launch(right),
            ExprKind::Cast { operand, .. } | ExprKind::Unary { operand, .. } => self.is_scaled_by_launch(operand),
            _ => false,
        }
    }

    fn index_place(&mut self, base: &'p Expr, index: &'p Expr, expr: &'p Expr) -> Option<Place> {
        if self.is_scaled_by_launch(index) {
            self.launch_spans.insert(expr.span);
        }
        let array = self.place(base);
        let start = match &array {
            Some(place) if matches!(place.ty.value_type(), Ty::Array(..)) => {
                let element = place.ty.pointee().cloned().unwrap_or(Ty::Unknown);
                Place { ty: element, ..place.clone() }
            }
            Some(place) if place.ty.as_record().is_some() => {
                return self.subscript_operator(place.clone(), index, expr);
            }
            Some(place) => {
                let value = self.load(place, base.span);
                match value {
                    Value::Int { .. } => {
                        // `2[p]` and other reversals.
                        let pointer = self.eval(index);
                        let Value::Int { poly, .. } = value else { return None };
                        let target = self.target(&pointer);
                        return Some(self.advance(&target, &poly));
                    }
                    other => self.target(&other),
                }
            }
            None => {
                let value = self.eval(base);
                if let Value::Record(_) = value {
                    let place = self.materialise(value);
                    return self.subscript_operator(place, index, expr);
                }
                self.target(&value)
            }
        };
        let value = self.eval(index);
        let poly = self.as_int(&value);
        Some(self.advance(&start, &poly))
    }

    /// A value that is needed as a place gets an object of its own.
    pub(super) fn materialise(&mut self, value: Value<'p>) -> Place {
        let ty = value.ty();
        let place = self.new_object("temporary".into(), ty, Rest::Uninitialised);
        let span = Span::new(self.file(), 0, 0);
        self.store(&place, value, span);
        place
    }

    fn not_a_place(&mut self, expr: &'p Expr) -> Value<'p> {
        if let Some(value) = self.pending_subscript.take() {
            return value;
        }
        match &expr.kind {
            ExprKind::Index { base, index } => {
                let owner = self.eval(base);
                self.eval(index);
                let scope = self.value_scope(&owner).max(Scope::Lane);
                Value::unknown(Ty::Unknown, scope)
            }
            ExprKind::Member { base, member, .. } => {
                let owner = self.quietly(|e| e.eval(base));
                let scope = self.value_scope(&owner);
                let _ = member;
                Value::unknown(Ty::Unknown, scope)
            }
            _ => Value::unknown(Ty::Unknown, Scope::Lane),
        }
    }

    /// The integer behind a value; an unknown one of the same scope for anything else.
    pub(super) fn as_int(&mut self, value: &Value<'p>) -> Poly {
        match value {
            Value::Int { poly, .. } => poly.clone(),
            Value::Float { constant: Some(c), .. } => Poly::constant(*c as i64),
            other => {
                let scope = self.value_scope(other);
                self.unknown_int(scope, "a value that is not an integer")
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &'p Expr, span: Span) -> Value<'p> {
        match op {
            UnaryOp::Deref => {
                let value = self.eval(operand);
                if let Value::Record(_) = &value {
                    return self.operator_call("operator*", vec![value], span);
                }
                if let Value::Closure(_) | Value::Function(..) = value {
                    return value;
                }
                let place = self.target(&value);
                self.load(&place, span)
            }
            UnaryOp::AddressOf => {
                if let Some(place) = self.place(operand) {
                    return Value::Pointer(place);
                }
                match self.eval(operand) {
                    f @ (Value::Function(..) | Value::Closure(_)) => f,
                    other => {
                        let place = self.materialise(other);
                        Value::Pointer(place)
                    }
                }
            }
            UnaryOp::Plus => self.eval(operand),
            UnaryOp::Minus => match self.eval(operand) {
                Value::Int { poly, ty } => Value::Int { poly: self.terms.scale(&poly, -1), ty: ty.promoted() },
                Value::Float { ty, scope, constant } => Value::Float { ty, scope, constant: constant.map(|c| -c) },
                record @ Value::Record(_) => self.operator_call("operator-", vec![record], span),
                other => other,
            },
            UnaryOp::Not => {
                let value = self.eval(operand);
                let condition = self.condition(&value);
                Value::truth(self.terms.not(&condition.poly))
            }
            UnaryOp::BitNot => match self.eval(operand) {
                // ~x == -x - 1
                Value::Int { poly, ty } => {
                    let negated = self.terms.scale(&poly, -1);
                    Value::Int { poly: self.terms.add_constant(&negated, -1), ty: ty.promoted() }
                }
                other => other,
            },
        }
    }

    fn inc_dec(&mut self, prefix: bool, step: i8, operand: &'p Expr, span: Span) -> Value<'p> {
        let Some(place) = self.place(operand) else { return self.eval(operand) };
        let old = self.load(&place, operand.span);
        self.change_sign(&place, step > 0);
        let one = Value::int(i64::from(step), Scalar::Int);
        let new = self.arithmetic(BinaryOp::Add, old.clone(), one, span);
        self.store(&place, new.clone(), operand.span);
        if prefix { new } else { old }
    }

    fn assign(&mut self, op: Option<BinaryOp>, target: &'p Expr, value: &'p Expr, expr: &'p Expr) -> Value<'p> {
        let Some(op) = op else {
            // The right side is read before the left side is written.
            let new = match &value.kind {
                ExprKind::InitList(list) => {
                    let ty = self.quiet_type(target);
                    self.construct(&ty, list, value)
                }
                _ => self.eval(value),
            };
            match self.place(target) {
                Some(place) => {
                    if let (Ty::Record(_), Value::Record(_)) = (place.ty.value_type(), &new) {
                        // A user-defined operator= copies, as far as memory is concerned.
                    }
                    self.taint(target, value);
                    self.remember_type(target, &place.ty);
                    self.change_sign(&place, self.keeps_sign(None, value));
                    self.store(&place, new.clone(), target.span);
                }
                None => {
                    self.eval(target);
                }
            }
            return new;
        };
        let Some(place) = self.place(target) else {
            self.eval(target);
            return self.eval(value);
        };
        let operand = self.eval(value);
        self.remember_type(target, &place.ty);
        let old = self.load(&place, target.span);
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            self.note_division(op, target, value, &old, &operand, expr);
        }
        self.change_sign(&place, self.keeps_sign(Some(op), value));
        let new = self.arithmetic(op, old, operand, expr.span);
        self.store(&place, new.clone(), target.span);
        new
    }

    fn binary_expr(&mut self, op: BinaryOp, left: &'p Expr, right: &'p Expr, expr: &'p Expr) -> Value<'p> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.logical(op, left, right, expr.span);
        }
        let a = self.eval(left);
        let b = self.eval(right);
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            self.note_division(op, left, right, &a, &b, expr);
        }
        self.arithmetic(op, a, b, expr.span)
    }

    fn logical(&mut self, op: BinaryOp, left: &'p Expr, right: &'p Expr, span: Span) -> Value<'p> {
        let a = self.eval(left);
        let a = self.condition(&a);
        let expected = op == BinaryOp::And;
        let takers = self.takers(&a, expected);
        if takers.is_empty() {
            return Value::int(i64::from(!expected), Scalar::Bool);
        }
        let b = if takers == self.state.active && !has_effects(right) {
            self.eval(right)
        } else {
            let evaluate = |e: &mut Self| e.eval(right);
            let (x, y) = if expected {
                let (x, _) = self.branch(&a, span, evaluate, |_| ());
                (x, None)
            } else {
                let (_, y) = self.branch(&a, span, |_| (), evaluate);
                (None, y)
            };
            x.or(y).unwrap_or(Value::Void)
        };
        let b = self.condition(&b);
        let op = if expected { Op::LogicalAnd } else { Op::LogicalOr };
        Value::truth(self.terms.logical(op, &a.poly, &b.poly))
    }

    /// An arithmetic, bit or comparison operator on two values.
    pub(super) fn arithmetic(&mut self, op: BinaryOp, a: Value<'p>, b: Value<'p>, span: Span) -> Value<'p> {
        match (&a, &b) {
            (Value::Record(_), _) | (_, Value::Record(_)) => {
                return self.operator_call(operator_name(op), vec![a, b], span);
            }
            (Value::Pointer(p), Value::Pointer(q)) => return self.pointer_pair(op, p, q),
            (Value::Pointer(p), Value::Int { poly, .. }) => return self.pointer_step(op, p, poly),
            (Value::Int { poly, .. }, Value::Pointer(q)) if op == BinaryOp::Add => {
                return self.pointer_step(op, q, poly);
            }
            _ => {}
        }
        if let (Value::Int { poly: x, ty: s }, Value::Int { poly: y, ty: t }) = (&a, &b) {
            return self.integer(op, x, *s, y, *t);
        }
        let scope = self.value_scope(&a).max(self.value_scope(&b));
        if is_comparison(op) || matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.float_comparison(op, &a, &b, scope);
        }
        match (a.ty().as_scalar(), b.ty().as_scalar()) {
            (Some(s), Some(t)) => {
                let ty = s.common(t);
                let constant = match (float_constant(&a), float_constant(&b)) {
                    (Some(x), Some(y)) => float_fold(op, x, y),
                    _ => None,
                };
                if ty.is_float() {
                    Value::Float { ty, scope, constant }
                } else {
                    self.fresh(&Ty::Scalar(ty), scope, "a value")
                }
            }
            (Some(s), None) if s.is_float() => a,
            (None, Some(t)) if t.is_float() => b,
            _ => {
                let ty = if a.ty() == Ty::Unknown { b.ty() } else { a.ty() };
                Value::unknown(ty, scope)
            }
        }
    }

    fn float_comparison(&mut self, op: BinaryOp, a: &Value<'p>, b: &Value<'p>, scope: Scope) -> Value<'p> {
        if let (Some(x), Some(y)) = (float_constant(a), float_constant(b)) {
            let result = match op {
                BinaryOp::Lt => x < y,
                BinaryOp::Le => x <= y,
                BinaryOp::Gt => x > y,
                BinaryOp::Ge => x >= y,
                BinaryOp::Eq => (x - y) == 0.0,
                _ => (x - y) != 0.0,
            };
            return Value::int(i64::from(result), Scalar::Bool);
        }
        Value::truth(self.terms.data(scope, 0, 1, "a comparison of data"))
    }

    fn integer(&mut self, op: BinaryOp, x: &Poly, s: Scalar, y: &Poly, t: Scalar) -> Value<'p> {
        let ty = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { s.promoted() } else { s.common(t) };
        let poly = match op {
            BinaryOp::Add => self.terms.add(x, y),
            BinaryOp::Sub => self.terms.sub(x, y),
            BinaryOp::Mul => self.terms.mul(x, y),
            BinaryOp::Div => self.terms.div(x, y),
            BinaryOp::Rem => self.terms.rem(x, y),
            BinaryOp::Shl => self.terms.shl(x, y),
            BinaryOp::Shr => self.terms.shr(x, y),
            BinaryOp::BitAnd => self.terms.and(x, y),
            BinaryOp::BitOr => self.terms.or(x, y),
            BinaryOp::BitXor => self.terms.xor(x, y),
            BinaryOp::And => self.terms.logical(Op::LogicalAnd, x, y),
            BinaryOp::Or => self.terms.logical(Op::LogicalOr, x, y),
            BinaryOp::Lt => return Value::truth(self.terms.compare(Op::Lt, x, y)),
            BinaryOp::Gt => return Value::truth(self.terms.compare(Op::Lt, y, x)),
            BinaryOp::Le => return Value::truth(self.terms.compare(Op::Le, x, y)),
            BinaryOp::Ge => return Value::truth(self.terms.compare(Op::Le, y, x)),
            BinaryOp::Eq => return Value::truth(self.terms.compare(Op::Eq, x, y)),
            BinaryOp::Ne => {
                let equal = self.terms.compare(Op::Eq, x, y);
                return Value::truth(self.terms.not(&equal));
            }
        };
        Value::Int { poly: self.wrapped(poly, ty, op), ty }
    }

    /// Unsigned 32-bit products and shifts of known numbers wrap; sums do not, so that an index below zero stays one.
    fn wrapped(&mut self, poly: Poly, ty: Scalar, op: BinaryOp) -> Poly {
        if ty != Scalar::UInt || !matches!(op, BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Add) {
            return poly;
        }
        match poly.as_lanes() {
            Some(lanes) if lanes.bounds(self.block()).1 > i64::from(u32::MAX) => {
                Poly::lanes(lanes.map(self.block(), |v| v & 0xffff_ffff))
            }
            _ => poly,
        }
    }

    fn pointer_step(&mut self, op: BinaryOp, place: &Place, count: &Poly) -> Value<'p> {
        match op {
            BinaryOp::Add => Value::Pointer(self.advance(place, count)),
            BinaryOp::Sub => {
                let back = self.terms.scale(count, -1);
                Value::Pointer(self.advance(place, &back))
            }
            _ => {
                let scope = self.terms.scope(&place.offset);
                Value::truth(self.terms.data(scope, 0, 1, "a comparison of pointers"))
            }
        }
    }

    fn pointer_pair(&mut self, op: BinaryOp, p: &Place, q: &Place) -> Value<'p> {
        let scope = self.terms.scope(&p.offset).max(self.terms.scope(&q.offset));
        if p.base != q.base || p.base == Base::Nowhere {
            return match op {
                BinaryOp::Sub => {
                    Value::Int { poly: self.unknown_int(scope, "a distance of pointers"), ty: Scalar::Long }
                }
                _ => Value::truth(self.terms.data(scope, 0, 1, "a comparison of pointers")),
            };
        }
        if op == BinaryOp::Sub {
            let bytes = self.terms.sub(&p.offset, &q.offset);
            let size = p.ty.size().unwrap_or(1).max(1) as i64;
            let poly = self.terms.div(&bytes, &Poly::constant(size));
            return Value::Int { poly, ty: Scalar::Long };
        }
        self.integer(op, &p.offset, Scalar::Long, &q.offset, Scalar::Long)
    }

    fn same_type(&mut self, a: Value<'p>, b: Value<'p>) -> (Value<'p>, Value<'p>) {
        match (a.ty().as_scalar(), b.ty().as_scalar()) {
            (Some(s), Some(t)) if s != t => {
                let ty = Ty::Scalar(s.common(t));
                (self.convert(a, &ty), self.convert(b, &ty))
            }
            _ => (a, b),
        }
    }

    fn cast(&mut self, style: CastStyle, ty: &'p TypeExpr, operand: &'p Expr) -> Value<'p> {
        let ty = self.resolve(ty);
        let value = match &operand.kind {
            ExprKind::InitList(list) => return self.construct(&ty, list, operand),
            _ => self.eval(operand),
        };
        let _ = style;
        self.convert(value, &ty)
    }

    /// The value as another type.
    pub(super) fn convert(&mut self, value: Value<'p>, ty: &Ty) -> Value<'p> {
        match (ty.value_type(), value) {
            (Ty::Scalar(Scalar::Bool), value @ (Value::Int { .. } | Value::Float { .. } | Value::Pointer(_))) => {
                Value::truth(self.condition(&value).poly)
            }
            (Ty::Scalar(t), Value::Int { poly, ty: from }) if t.is_float() => {
                let constant = poly.as_constant().map(|c| c as f64);
                let _ = from;
                Value::Float { ty: *t, scope: self.terms.scope(&poly), constant }
            }
            (Ty::Scalar(t), Value::Int { poly, .. }) => Value::Int { poly: self.narrow(poly, *t), ty: *t },
            (Ty::Scalar(t), Value::Float { scope, constant, .. }) if t.is_float() => {
                Value::Float { ty: *t, scope, constant }
            }
            (Ty::Scalar(t), Value::Float { scope, constant, .. }) => match constant {
                Some(c) => Value::int(c as i64, *t),
                None => self.fresh(&Ty::Scalar(*t), scope, "a converted float"),
            },
            (Ty::Pointer(inner), Value::Pointer(place)) => {
                let ty = if **inner == Ty::Unknown { place.ty } else { (**inner).clone() };
                Value::Pointer(Place { base: place.base, offset: place.offset, ty })
            }
            (Ty::Pointer(inner), Value::Int { .. }) => {
                Value::Pointer(Place { base: Base::Nowhere, offset: Poly::zero(), ty: (**inner).clone() })
            }
            (Ty::Scalar(t), Value::Pointer(place)) => {
                let scope = self.value_scope(&Value::Pointer(place));
                self.fresh(&Ty::Scalar(*t), scope, "an address")
            }
            (Ty::Record(record), Value::Record(old)) if record.size == old.ty.size => {
                Value::Record(Rc::new(RecordValue { ty: record.clone(), ..(*old).clone() }))
            }
            (Ty::Record(record), value @ (Value::Int { .. } | Value::Float { .. })) => {
                let scope = self.value_scope(&value);
                Value::Record(Rc::new(RecordValue {
                    ty: record.clone(),
                    slots: Vec::new(),
                    rest: Rest::Clobbered(scope),
                    origin: None,
                }))
            }
            (Ty::Scalar(t), other @ (Value::Record(_) | Value::Unknown { .. })) if *t != Scalar::Void => {
                let scope = self.value_scope(&other);
                self.fresh(&Ty::Scalar(*t), scope, "a converted value")
            }
            (ty @ (Ty::Pointer(_) | Ty::Record(_)), Value::Unknown { scope, .. }) => {
                let ty = ty.clone();
                self.fresh(&ty, scope, "a converted value")
            }
            (_, value) => value,
        }
    }

    /// Keeps the value where it fits; cuts known numbers to the type's width otherwise.
    fn narrow(&mut self, poly: Poly, ty: Scalar) -> Poly {
        let (low, high) = ty.range();
        let (l, h) = self.terms.bounds(&poly);
        if l >= low && h <= high {
            return poly;
        }
        if let Some(lanes) = poly.as_lanes() {
            // An unsigned index below zero is a halo, not four billion; a constant is what C++ makes of it.
            if ty == Scalar::UInt && l < 0 && lanes.as_constant().is_none() {
                return poly;
            }
            let bits = ty.size() * 8;
            if bits >= 64 {
                return poly;
            }
            return Poly::lanes(lanes.map(self.block(), |v| {
                let cut = v & ((1 << bits) - 1);
                if ty.is_signed() && cut >> (bits - 1) & 1 == 1 { cut - (1 << bits) } else { cut }
            }));
        }
        if ty.size() < 4 {
            let scope = self.terms.scope(&poly);
            if ty.is_signed() || self.terms.bounds(&poly).0 < 0 {
                return self.terms.data(scope, low, high, "a narrowed value");
            }
            return self.terms.rem(&poly, &Poly::constant(high + 1));
        }
        poly
    }
}

pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne)
}

fn operator_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "operator+",
        BinaryOp::Sub => "operator-",
        BinaryOp::Mul => "operator*",
        BinaryOp::Div => "operator/",
        BinaryOp::Rem => "operator%",
        BinaryOp::Shl => "operator<<",
        BinaryOp::Shr => "operator>>",
        BinaryOp::BitAnd => "operator&",
        BinaryOp::BitOr => "operator|",
        BinaryOp::BitXor => "operator^",
        BinaryOp::And => "operator&&",
        BinaryOp::Or => "operator||",
        BinaryOp::Eq => "operator==",
        BinaryOp::Ne => "operator!=",
        BinaryOp::Lt => "operator<",
        BinaryOp::Le => "operator<=",
        BinaryOp::Gt => "operator>",
        BinaryOp::Ge => "operator>=",
    }
}

fn float_constant(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Float { constant, .. } => *constant,
        Value::Int { poly, .. } => poly.as_constant().map(|c| c as f64),
        _ => None,
    }
}

pub(super) fn float_fold(op: BinaryOp, x: f64, y: f64) -> Option<f64> {
    match op {
        BinaryOp::Add => Some(x + y),
        BinaryOp::Sub => Some(x - y),
        BinaryOp::Mul => Some(x * y),
        BinaryOp::Div => Some(x / y),
        _ => None,
    }
}

/// Whether evaluating the expression touches memory or changes something.
fn has_effects(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Bool(_) | ExprKind::Char(_) | ExprKind::Name(_) => {
            false
        }
        ExprKind::Unary { op, operand } => *op == UnaryOp::Deref || has_effects(operand),
        ExprKind::Binary { left, right, .. } => has_effects(left) || has_effects(right),
        ExprKind::Cast { operand, .. } => has_effects(operand),
        ExprKind::Member { base, arrow: false, .. } => has_effects(base),
        _ => true,
    }
}
