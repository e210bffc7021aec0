//! Conditions: who goes which way, and what is known once the ways meet again.

use std::rc::Rc;

use super::Eval;
use crate::source::Span;
use crate::symbolic::lanes::Mask;
use crate::symbolic::term::{HIGH, LOW, Poly, Truth};
use crate::symbolic::value::{Base, Guard, GuardKind, Object, Place, Rest, State, Value};
use crate::warp::facts::Scope;

/// A condition as far as it is known.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    /// 0 or 1 per thread.
    pub poly: Poly,
    pub scope: Scope,
    pub truth: Truth,
}

impl<'p> Eval<'p> {
    pub(super) fn condition(&mut self, value: &Value<'p>) -> Condition {
        let poly = match value {
            Value::Int { poly, .. } => self.terms.truth_value(poly),
            Value::Float { constant: Some(c), .. } => Poly::constant(i64::from(*c != 0.0)),
            Value::Pointer(place) if place.base != Base::Nowhere => Poly::constant(1),
            other => {
                let scope = self.value_scope(other);
                self.terms.data(scope, 0, 1, "a condition on data")
            }
        };
        let scope = self.terms.scope(&poly);
        if poly.as_constant().is_none() {
            self.terms.cost += self.block().threads() as u64 / 8;
        }
        let truth = self.terms.truth(&poly);
        Condition { poly, scope, truth }
    }

    /// Threads that are active and may take the `expected` side.
    pub(super) fn takers(&self, condition: &Condition, expected: bool) -> Mask {
        let excluded = if expected { condition.truth.no } else { condition.truth.yes };
        self.state.active.without(&excluded)
    }

    /// Walks both sides of a condition as far as threads may take them, and joins what they leave behind.
    pub(super) fn branch<A, B>(
        &mut self,
        condition: &Condition,
        span: Span,
        then: impl FnOnce(&mut Self) -> A,
        otherwise: impl FnOnce(&mut Self) -> B,
    ) -> (Option<A>, Option<B>) {
        if self.takers(condition, false).is_empty() {
            return (Some(then(self)), None);
        }
        if self.takers(condition, true).is_empty() {
            return (None, Some(otherwise(self)));
        }
        let before = self.state.clone();
        let mark = before.guards.len();
        let region = self.push_region();
        self.enter(condition, true, span, GuardKind::Branch);
        let a = then(self);
        let after_then = std::mem::replace(&mut self.state, before);
        self.region = region.clone();
        self.push_region();
        self.enter(condition, false, span, GuardKind::Branch);
        let b = otherwise(self);
        self.region = region;
        let after_else = std::mem::replace(&mut self.state, after_then);
        self.join_into(after_else, &condition.poly, mark);
        self.straight += 1;
        (Some(a), Some(b))
    }

    /// Narrows the state to one side of a condition.
    pub(super) fn enter(&mut self, condition: &Condition, expected: bool, span: Span, kind: GuardKind) {
        self.straight += 1;
        let before = self.state.active;
        let after = self.takers(condition, expected);
        let missing = before.without(&after);
        let decided = condition.truth.yes.or(&condition.truth.no);
        let is_open = condition.scope >= Scope::Warp && !before.without(&decided).is_empty();
        self.state.active = after;
        if is_open || !missing.is_empty() {
            self.push_guard(Guard {
                span,
                condition: Some((condition.poly.clone(), expected)),
                scope: condition.scope,
                missing,
                kind,
                is_open,
            });
        }
    }

    /// Joins `other` (where `condition` did not hold) into the current state (where it did). Guards from `mark` on were
    /// made on the two sides.
    pub(super) fn join_into(&mut self, other: State<'p>, condition: &Poly, mark: usize) {
        match (self.state.exit, other.exit) {
            (Some(_), Some(_)) => {
                self.state.guards.truncate(mark);
            }
            (Some(kind), None) => {
                self.state = other;
                self.keep_exit_guards(mark, kind);
            }
            (None, Some(kind)) => self.keep_exit_guards(mark, kind),
            (None, None) => {
                let active = self.state.active.or(&other.active);
                self.join_objects(&other, condition);
                self.state.active = active;
                let mut exits: Vec<Guard> = self.state.guards.split_off(mark.min(self.state.guards.len()));
                exits.extend(other.guards.into_iter().skip(mark));
                exits.retain(|g| matches!(g.kind, GuardKind::Returned | GuardKind::Skipped));
                for mut guard in exits {
                    guard.condition = None;
                    self.push_guard(guard);
                }
            }
        }
    }

    /// The other side has left: who took it is missed from here on.
    fn keep_exit_guards(&mut self, mark: usize, kind: GuardKind) {
        let guards = self.state.guards.split_off(mark.min(self.state.guards.len()));
        for mut guard in guards {
            if guard.kind == GuardKind::Branch {
                guard.kind = kind;
            }
            self.push_guard(guard);
        }
    }

    fn join_objects(&mut self, other: &State<'p>, condition: &Poly) {
        let mine = std::mem::take(&mut self.state.objects);
        let mut out = Vec::with_capacity(mine.len().max(other.objects.len()));
        let (mut a, mut b) = (mine.into_iter().peekable(), other.objects.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some((i, _)), Some((j, _))) if i == j => {
                    let (Some((id, x)), Some((_, y))) = (a.next(), b.next()) else { break };
                    if Rc::ptr_eq(&x, y) {
                        out.push((id, x));
                    } else {
                        let joined = self.join_object(&x, y, condition);
                        out.push((id, Rc::new(joined)));
                    }
                }
                (Some((i, _)), Some((j, _))) if i < j => out.extend(a.next()),
                (Some(_), None) => out.extend(a.next()),
                (_, Some(_)) => out.extend(b.next().cloned()),
                (None, None) => break,
            }
        }
        self.state.objects = out;
    }

    fn join_object(&mut self, a: &Object<'p>, b: &Object<'p>, condition: &Poly) -> Object<'p> {
        let scope = self.terms.scope(condition);
        let mut offsets: Vec<u64> = a.slots.iter().chain(&b.slots).map(|s| s.0).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let rest = if a.rest == b.rest { a.rest.clone() } else { Rest::Clobbered(scope) };
        let mut slots = Vec::with_capacity(offsets.len());
        for at in offsets {
            let value = match (a.slot(at), b.slot(at)) {
                (Some(x), Some(y)) => self.join_value(condition, x, y),
                (Some(x), None) => self.join_missing(x, &b.rest, scope),
                (None, Some(y)) => self.join_missing(y, &a.rest, scope),
                (None, None) => continue,
            };
            slots.push((at, value));
        }
        Object { name: a.name.clone(), ty: a.ty.clone(), slots, rest }
    }

    /// Known on one side only: a variable first set there keeps its value, anything else becomes unknown.
    fn join_missing(&mut self, known: &Value<'p>, rest: &Rest, scope: Scope) -> Value<'p> {
        if *rest == Rest::Uninitialised {
            return known.clone();
        }
        let scope = scope.max(self.value_scope(known));
        self.fresh(&known.ty(), scope, "a value set on one side of a branch")
    }

    /// `condition ? a : b`.
    pub(super) fn join_value(&mut self, condition: &Poly, a: &Value<'p>, b: &Value<'p>) -> Value<'p> {
        if a == b {
            return a.clone();
        }
        let scope = self.terms.scope(condition);
        match (a, b) {
            (Value::Int { poly: x, ty: s }, Value::Int { poly: y, ty: t }) => {
                let ty = if s == t { *s } else { s.common(*t) };
                Value::Int { poly: self.terms.select(condition, x, y), ty }
            }
            (Value::Float { ty: s, scope: p, constant: c }, Value::Float { ty: t, scope: q, constant: d }) => {
                let constant = if c == d { *c } else { None };
                Value::Float { ty: s.common(*t), scope: scope.max(*p).max(*q), constant }
            }
            (Value::Pointer(p), Value::Pointer(q)) if p.base == q.base => {
                let offset = self.terms.select(condition, &p.offset, &q.offset);
                Value::Pointer(Place { base: p.base, offset, ty: p.ty.clone() })
            }
            (Value::Pointer(p), Value::Pointer(q)) => {
                // A null pointer is never followed.
                if p.base == Base::Nowhere {
                    return b.clone();
                }
                if q.base == Base::Nowhere {
                    return a.clone();
                }
                Value::Pointer(self.either_pointer(p, q, scope))
            }
            (Value::Pointer(_), other) if other.as_constant() == Some(0) => a.clone(),
            (other, Value::Pointer(_)) if other.as_constant() == Some(0) => b.clone(),
            (Value::Record(p), Value::Record(q)) if p.ty.size == q.ty.size => {
                let mut record = (**p).clone();
                for (at, value) in &mut record.slots {
                    let other = self.record_part(q, *at, &value.ty());
                    *value = self.join_value(condition, &value.clone(), &other);
                }
                if record.rest != q.rest {
                    let scope = scope.max(self.value_scope(a)).max(self.value_scope(b));
                    record.rest = Rest::Clobbered(scope);
                }
                Value::Record(Rc::new(record))
            }
            _ => {
                let scope = scope.max(self.value_scope(a)).max(self.value_scope(b));
                self.fresh(&a.ty(), scope, "one of two values")
            }
        }
    }

    /// An integer of which only range and scope are known.
    pub(super) fn unknown_int(&mut self, scope: Scope, name: &str) -> Poly {
        self.terms.data(scope, LOW, HIGH, name)
    }
}
