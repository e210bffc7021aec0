//! Loops: walked trip by trip where every trip is known and few, else once with what changes made a term of the trip number.

use std::rc::Rc;

use super::{Eval, LoopFrame, Side};
use crate::model::types::Ty;
use crate::model::{Expr, ExprKind, Stmt};
use crate::symbolic::lanes::Mask;
use crate::symbolic::term::{AtomId, AtomKind, HIGH, LOW, Op, Poly};
use crate::symbolic::value::{Base, Guard, GuardKind, Place, State, Value};
use crate::warp::facts::Scope;

/// Most trips walked one by one.
const TRIP_LIMIT: usize = 130;
/// Most statements one loop may use when walked trip by trip, inner loops included.
const LOOP_STEPS: usize = 1500;

#[derive(Clone, Copy)]
pub(super) struct Loop<'p> {
    pub condition: Option<&'p Expr>,
    pub step: Option<&'p Expr>,
    pub body: &'p Stmt,
    pub is_post_tested: bool,
}

/// A part of an object that a trip changes.
struct Changed<'p> {
    object: u32,
    offset: u64,
    before: Option<Value<'p>>,
    /// The probe that stands for its value at the start of a trip.
    probe: Option<AtomId>,
    scope: Scope,
    progress: Progress,
}

#[derive(Debug, Clone)]
enum Progress {
    /// `start + trip * step`.
    Linear(Poly),
    /// Multiplied or divided by a constant on each trip.
    Geometric {
        grows: bool,
        factor: i64,
    },
    Unknown,
}

/// Lengths of the event lists and what else a failed walk must take back.
struct Checkpoint<'p> {
    state: State<'p>,
    touches: usize,
    barriers: usize,
    divisions: usize,
    literals: usize,
    unknowns: usize,
    launches: usize,
    step_cap: usize,
    straight: u32,
}

impl<'p> Eval<'p> {
    pub(super) fn run_loop(&mut self, l: Loop<'p>) {
        if self.walk_trips(l) {
            return;
        }
        self.walk_symbolically(l);
    }

    fn checkpoint(&self) -> Checkpoint<'p> {
        Checkpoint {
            state: self.state.clone(),
            touches: self.events.touches.len(),
            barriers: self.events.barriers.len(),
            divisions: self.events.divisions.len(),
            literals: self.events.literals.len(),
            unknowns: self.events.unknowns.len(),
            launches: self.events.launches.len(),
            step_cap: self.step_cap,
            straight: self.straight,
        }
    }

    fn roll_back(&mut self, c: Checkpoint<'p>) {
        self.state = c.state;
        self.events.touches.truncate(c.touches);
        self.events.barriers.truncate(c.barriers);
        self.events.divisions.truncate(c.divisions);
        self.events.literals.truncate(c.literals);
        self.events.unknowns.truncate(c.unknowns);
        self.events.launches.truncate(c.launches);
        self.step_cap = c.step_cap;
        self.straight = c.straight;
        self.loads.clear();
    }

    /// Walks the loop trip by trip; false (and nothing has happened) if a trip is not decided or there are too many.
    fn walk_trips(&mut self, l: Loop<'p>) -> bool {
        let Some(condition) = l.condition else { return false };
        if !l.is_post_tested && !self.is_decided_quietly(condition) {
            return false;
        }
        let checkpoint = self.checkpoint();
        let budget = match self.side {
            Side::Device => LOOP_STEPS,
            // Host loops matter for the launches inside; the others only fill arrays.
            Side::Host if self.launches_inside(l.body) => LOOP_STEPS * 4,
            Side::Host => LOOP_STEPS / 10,
        };
        self.step_cap = self.step_cap.min(self.steps + budget);
        let spent = self.steps;
        let mark = self.state.guards.len();
        let mut exits: Vec<State<'p>> = Vec::new();
        // The compiler unrolls only what it can count: accesses of different trips are neighbours then.
        let is_unrolled = !self.is_launch_known(condition);
        self.loop_depth += 1;
        let mut trips = 0;
        let done = loop {
            if trips > 0 || !l.is_post_tested {
                match self.test_trip(condition, &mut exits) {
                    None => break false,
                    Some(false) => break true,
                    Some(true) => {}
                }
            }
            trips += 1;
            if !is_unrolled {
                self.straight += 1;
            }
            if trips > TRIP_LIMIT || self.is_exhausted() {
                break false;
            }
            exits.extend(self.run_trip(l, mark));
            if self.state.exit.is_some() {
                break true;
            }
        };
        self.loop_depth -= 1;
        if !done || self.is_exhausted() {
            let (used, cap) = (self.steps - spent, checkpoint.step_cap);
            self.roll_back(checkpoint);
            // A failed try costs, but must not starve what follows.
            self.steps = spent + used / 8;
            self.step_cap = cap;
            return false;
        }
        self.step_cap = checkpoint.step_cap;
        for state in exits {
            self.rejoin(state, mark);
        }
        self.drop_skips(mark);
        self.straight += 1;
        true
    }

    /// Whether the body launches a kernel, directly or through a call.
    fn launches_inside(&self, body: &'p Stmt) -> bool {
        let mut found = false;
        crate::model::visit::expressions(std::slice::from_ref(body), &mut |e| {
            found |= match &e.kind {
                ExprKind::Launch { .. } => true,
                ExprKind::Call { callee, .. } => match &callee.kind {
                    ExprKind::Name(path) => self
                        .project
                        .functions_named(path.last(), self.file())
                        .iter()
                        .any(|id| self.project.is_launching(*id)),
                    ExprKind::Member { member, .. } => self
                        .project
                        .functions_named(&member.name, self.file())
                        .iter()
                        .any(|id| self.project.is_launching(*id)),
                    _ => false,
                },
                _ => false,
            };
        });
        found
    }

    fn is_decided_quietly(&mut self, condition: &'p Expr) -> bool {
        // The condition may have effects (`n--`): what it changes is taken back.
        let state = self.state.clone();
        let value = self.quietly(|e| e.eval(condition));
        let c = self.condition(&value);
        self.state = state;
        self.is_decided(&c)
    }

    fn is_decided(&self, c: &super::flow::Condition) -> bool {
        self.state.active.without(&c.truth.yes.or(&c.truth.no)).is_empty()
    }

    /// Tests the condition before a trip: `None` undecided, `Some(false)` nobody goes on.
    fn test_trip(&mut self, condition: &'p Expr, exits: &mut Vec<State<'p>>) -> Option<bool> {
        let value = self.eval_condition(condition);
        let c = self.condition(&value);
        if !self.is_decided(&c) {
            return None;
        }
        let stay = self.takers(&c, true);
        let leave = self.state.active.without(&stay);
        if stay.is_empty() {
            return Some(false);
        }
        if !leave.is_empty() {
            let mut state = self.state.clone();
            state.active = leave;
            exits.push(state);
            self.state.active = stay;
            self.push_guard(Guard {
                span: condition.span,
                condition: None,
                scope: c.scope,
                missing: leave,
                kind: GuardKind::Loop,
                is_open: false,
            });
        }
        Some(true)
    }

    /// One trip: body and step. Returns the states at the breaks.
    fn run_trip(&mut self, l: Loop<'p>, mark: usize) -> Vec<State<'p>> {
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.push(LoopFrame { breaks: Vec::new(), continues: Vec::new(), is_switch: false });
        }
        let inner = self.state.guards.len();
        self.exec_scoped(l.body);
        let frame = self.frames.last_mut().and_then(|f| f.loops.pop());
        let (breaks, continues) = frame.map_or((Vec::new(), Vec::new()), |f| (f.breaks, f.continues));
        for state in continues {
            self.rejoin(state, inner);
        }
        if breaks.is_empty() {
            self.drop_skips(inner);
        }
        let _ = mark;
        if self.state.exit.is_none()
            && let Some(step) = l.step
        {
            self.eval(step);
        }
        breaks
    }

    /// Walks the body once for all trips.
    fn walk_symbolically(&mut self, l: Loop<'p>) {
        let before = self.state.clone();
        let mark = before.guards.len();
        let mut changed = self.probe(l, &before);
        if self.side == Side::Host && !self.launches_inside(l.body) {
            self.state = before.clone();
            self.after_loop(before, &changed, Scope::Grid, mark);
            return;
        }
        self.state = before.clone();
        if self.is_quiet() {
            // Only what is left behind matters.
            let scope = changed.iter().map(|c| c.scope).max().unwrap_or(Scope::Grid).max(Scope::Block);
            let scope = if self.is_lane_dependent_exit(l) { Scope::Lane } else { scope };
            self.after_loop(before, &changed, scope, mark);
            return;
        }
        let trip = self.terms.leaf(AtomKind::Index, Scope::Grid, 0, i64::from(i32::MAX), "k");
        self.set_for_trip(&mut changed, trip);
        if let Some(trips) = l.condition.and_then(|c| self.trip_count(c, trip)) {
            self.terms.limit(trip, trips.max(1) - 1);
        }
        self.loads.clear();
        self.loop_depth += 1;
        self.straight += 1;
        let region = self.push_region();
        let mut scope = Scope::Grid;
        if let (Some(condition), false) = (l.condition, l.is_post_tested) {
            let value = self.eval_condition(condition);
            let c = self.condition(&value);
            scope = c.scope;
            self.enter(&c, true, condition.span, GuardKind::Loop);
        }
        if self.state.active.is_empty() {
            self.state.active = before.active;
        }
        let breaks = self.run_trip(l, mark);
        if let (Some(condition), true, None) = (l.condition, l.is_post_tested, self.state.exit) {
            let value = self.eval_condition(condition);
            scope = self.condition(&value).scope;
        }
        self.loop_depth -= 1;
        self.straight += 1;
        self.region = region;
        for state in &breaks {
            for guard in state.guards.iter().skip(mark) {
                scope = scope.max(guard.scope);
            }
        }
        self.after_loop(before, &changed, scope, mark);
    }

    /// The state behind the loop: what trips change has gone an unknown number of steps.
    fn after_loop(&mut self, before: State<'p>, changed: &[Changed<'p>], scope: Scope, mark: usize) {
        let mut returned: Vec<Guard> =
            self.state.guards.iter().skip(mark).filter(|g| g.kind == GuardKind::Returned).cloned().collect();
        let gone = returned.iter().filter(|g| !g.is_open).fold(Mask::NONE, |m, g| m.or(&g.missing));
        self.state.exit = None;
        self.state.active = before.active.without(&gone);
        if self.state.active.is_empty() {
            self.state.active = before.active;
        }
        self.state.guards = before.guards;
        for guard in returned.drain(..) {
            self.push_guard(guard);
        }
        let end = self.terms.leaf(AtomKind::Index, scope, 0, i64::from(i32::MAX), "k");
        for c in changed {
            let value = match (&c.progress, &c.before) {
                (Progress::Linear(step), Some(start)) => self.at_trip(start, step, end),
                (_, start) => {
                    let own = start.as_ref().map_or(Scope::Grid, |v| self.value_scope(v));
                    let ty = self.slot_type(c);
                    self.fresh(&ty, c.scope.max(scope).max(own), "a value after a loop")
                }
            };
            if let Some(object) = self.state.object_mut(c.object) {
                object.set(c.offset, value);
            }
        }
        self.loads.clear();
    }

    /// Whether lanes may leave the loop at different trips, as far as its condition tells.
    fn is_lane_dependent_exit(&mut self, l: Loop<'p>) -> bool {
        let Some(condition) = l.condition else { return false };
        let value = self.eval_condition(condition);
        self.condition(&value).scope >= Scope::Warp
    }

    fn slot_type(&self, c: &Changed<'p>) -> Ty {
        let now = self.state.object(c.object).and_then(|o| o.slot(c.offset)).map(Value::ty);
        now.or_else(|| c.before.as_ref().map(Value::ty)).unwrap_or(Ty::Unknown)
    }

    /// Runs the body twice without noting anything, to learn what a trip changes and how.
    fn probe(&mut self, l: Loop<'p>, before: &State<'p>) -> Vec<Changed<'p>> {
        self.quiet += 1;
        let steps = self.steps;
        self.dry_trip(l);
        let after = std::mem::replace(&mut self.state, before.clone());
        let mut changed = self.difference(before, &after);
        let first = self.terms.len() as u32;
        for c in &mut changed {
            self.set_probe(c);
        }
        self.dry_trip(l);
        for c in &mut changed {
            self.classify(c, first);
        }
        // Something may depend on what turned out to vary more than thought: once more with the scopes found.
        let deepest = changed.iter().map(|c| c.scope).max().unwrap_or(Scope::Grid);
        if deepest > Scope::Grid && changed.len() > 1 && self.quiet == 1 {
            self.state = before.clone();
            let first = self.terms.len() as u32;
            for c in &mut changed {
                self.set_probe(c);
            }
            self.dry_trip(l);
            for c in &mut changed {
                self.classify(c, first);
            }
        }
        self.quiet -= 1;
        self.steps = steps + (self.steps - steps) / 3;
        changed
    }

    fn dry_trip(&mut self, l: Loop<'p>) {
        let mark = self.state.guards.len();
        self.loads.clear();
        if let (Some(condition), false) = (l.condition, l.is_post_tested) {
            let value = self.eval_condition(condition);
            let c = self.condition(&value);
            if !self.takers(&c, true).is_empty() {
                self.enter(&c, true, condition.span, GuardKind::Loop);
            }
        }
        let breaks = self.run_trip(l, mark);
        if self.state.exit.is_some()
            && let Some(state) = breaks.into_iter().next()
        {
            self.state = state;
        }
        self.state.exit = None;
    }

    /// The parts of objects alive before the loop that a trip has changed.
    fn difference(&mut self, before: &State<'p>, after: &State<'p>) -> Vec<Changed<'p>> {
        let mut out = Vec::new();
        for (id, a) in &before.objects {
            let id = *id;
            let Some(b) = after.object(id) else { continue };
            if Rc::ptr_eq(a, b) {
                continue;
            }
            if b.rest != a.rest {
                // Written at an unknown place: unknown as a whole, in the loop and after it.
                let (rest, ty) = (b.rest.clone(), a.ty.clone());
                if let Some(object) = self.state.object_mut(id) {
                    object.slots.clear();
                    object.rest = rest;
                    object.ty = ty;
                }
                continue;
            }
            for (offset, value) in &b.slots {
                let old = a.slot(*offset);
                if old != Some(value) {
                    let scope = self.value_scope(value).max(old.map_or(Scope::Grid, |v| self.value_scope(v)));
                    let before = old.cloned().or_else(|| Some(self.unset(value)));
                    out.push(Changed {
                        object: id,
                        offset: *offset,
                        before,
                        probe: None,
                        scope,
                        progress: Progress::Unknown,
                    });
                }
            }
        }
        out
    }

    /// A start value for what was not set before the loop.
    fn unset(&mut self, like: &Value<'p>) -> Value<'p> {
        let scope = self.value_scope(like);
        self.fresh(&like.ty(), scope, "a variable set in a loop")
    }

    fn set_probe(&mut self, c: &mut Changed<'p>) {
        let (low, high) = match &c.before {
            Some(Value::Int { ty, .. }) => ty.range(),
            _ => (LOW, HIGH),
        };
        let atom = self.terms.leaf(AtomKind::Data, c.scope, low, high, "a loop value");
        let value = match &c.before {
            Some(Value::Int { ty, .. }) => Value::Int { poly: Poly::atom(atom), ty: *ty },
            Some(Value::Pointer(place)) => {
                Value::Pointer(Place { base: place.base, offset: Poly::atom(atom), ty: place.ty.clone() })
            }
            Some(Value::Float { ty, .. }) => Value::Float { ty: *ty, scope: c.scope, constant: None },
            Some(other) => {
                let ty = other.ty();
                let scope = c.scope;
                self.fresh(&ty, scope, "a loop value")
            }
            None => return,
        };
        c.probe = Some(atom);
        if let Some(object) = self.state.object_mut(c.object) {
            object.set(c.offset, value);
        }
    }

    /// How the value at the end of the dry trip follows from the probe at its start.
    fn classify(&mut self, c: &mut Changed<'p>, first: u32) {
        let now = self.state.object(c.object).and_then(|o| o.slot(c.offset)).cloned();
        let (Some(now), Some(probe)) = (now, c.probe) else {
            c.progress = Progress::Unknown;
            c.scope = Scope::Lane;
            return;
        };
        c.scope = c.scope.max(self.value_scope(&now));
        let poly = match (&now, &c.before) {
            (Value::Int { poly, .. }, Some(Value::Int { .. })) => poly.clone(),
            (Value::Pointer(place), Some(Value::Pointer(old)))
                if place.base == old.base && place.base != Base::Nowhere =>
            {
                place.offset.clone()
            }
            _ => {
                c.progress = Progress::Unknown;
                return;
            }
        };
        let step = self.terms.sub(&poly, &Poly::atom(probe));
        if step.atoms().all(|a| a.0 < first) {
            c.progress = Progress::Linear(step);
            return;
        }
        c.progress = self.geometric(&poly, probe).unwrap_or(Progress::Unknown);
    }

    fn geometric(&self, poly: &Poly, probe: AtomId) -> Option<Progress> {
        if let [(mono, lanes)] = poly.terms.as_slice()
            && mono.as_slice() == [probe]
        {
            let factor = lanes.as_constant().filter(|f| *f > 1)?;
            return Some(Progress::Geometric { grows: true, factor });
        }
        let atom = poly.as_atom()?;
        match &self.terms.get(atom).kind {
            AtomKind::Derived(Op::Div, a, b, _) if a.as_atom() == Some(probe) => {
                let factor = b.as_constant().filter(|f| *f > 1)?;
                Some(Progress::Geometric { grows: false, factor })
            }
            AtomKind::Derived(Op::Shr, a, b, _) if a.as_atom() == Some(probe) => {
                let bits = b.as_constant().filter(|f| (1..8).contains(f))?;
                Some(Progress::Geometric { grows: false, factor: 1 << bits })
            }
            _ => None,
        }
    }

    /// Gives every changed part its value in trip number `trip`.
    fn set_for_trip(&mut self, changed: &mut [Changed<'p>], trip: AtomId) {
        for c in changed.iter() {
            let value = match (&c.progress, &c.before) {
                (Progress::Linear(step), Some(start)) => self.at_trip(start, step, trip),
                (Progress::Geometric { grows, factor }, Some(Value::Int { poly, ty })) => {
                    let (poly, ty) = (poly.clone(), *ty);
                    let values = self.geometric_values(&poly, *grows, *factor);
                    let (low, high) = (*values.iter().min().unwrap_or(&1), *values.iter().max().unwrap_or(&1));
                    let kind = AtomKind::Listed(values.into());
                    let atom =
                        self.terms.leaf(kind, c.scope.min(Scope::Block), low, high, "a step that doubles or halves");
                    Value::Int { poly: Poly::atom(atom), ty }
                }
                (_, Some(start)) => {
                    let ty = start.ty();
                    self.fresh(&ty, c.scope, "a value that a loop changes")
                }
                (_, None) => continue,
            };
            if let Some(object) = self.state.object_mut(c.object) {
                object.set(c.offset, value);
            }
        }
    }

    /// The trips a geometric loop of unknown length has: down from half the block, or up to it.
    fn geometric_values(&self, start: &Poly, grows: bool, factor: i64) -> Vec<i64> {
        let top = (self.block().threads() as i64 / 2).max(1);
        let mut values = Vec::new();
        let mut v = match start.as_constant() {
            Some(c) if c > 0 => c,
            _ if grows => 1,
            _ => top,
        };
        while v >= 1 && values.len() < 16 && (!grows || v <= top) {
            values.push(v);
            v = if grows { v * factor } else { v / factor };
        }
        if values.is_empty() {
            values.push(1);
        }
        values
    }

    /// `start + trip * step`.
    fn at_trip(&mut self, start: &Value<'p>, step: &Poly, trip: AtomId) -> Value<'p> {
        let gone = self.terms.mul(step, &Poly::atom(trip));
        match start {
            Value::Int { poly, ty } => Value::Int { poly: self.terms.add(poly, &gone), ty: *ty },
            Value::Pointer(place) => {
                let offset = self.terms.add(&place.offset, &gone);
                Value::Pointer(Place { base: place.base, offset, ty: place.ty.clone() })
            }
            other => other.clone(),
        }
    }

    /// The largest number of trips any thread makes, where the condition tells: `start + k * step < end` with known numbers.
    fn trip_count(&mut self, condition: &'p Expr, trip: AtomId) -> Option<i64> {
        let value = self.quietly(|e| e.eval(condition));
        let Value::Int { poly, .. } = value else { return None };
        self.trips_of(&poly, trip)
    }

    fn trips_of(&self, condition: &Poly, trip: AtomId) -> Option<i64> {
        let AtomKind::Derived(op, difference, other, _) = &self.terms.get(condition.as_atom()?).kind else {
            return None;
        };
        let extra = match op {
            Op::Lt => 0,
            Op::Le => 1,
            Op::LogicalAnd => {
                let (a, b) = (self.trips_of(difference, trip), self.trips_of(other, trip));
                return match (a, b) {
                    (Some(x), Some(y)) => Some(x.min(y)),
                    (x, y) => x.or(y),
                };
            }
            _ => return None,
        };
        let mut step = 0;
        let mut rest = Poly::zero();
        for (mono, lanes) in &difference.terms {
            if mono.contains(&trip) {
                if mono.len() != 1 || step != 0 {
                    return None;
                }
                step = lanes.as_constant()?;
            } else {
                rest.terms.push((mono.clone(), lanes.clone()));
            }
        }
        if step <= 0 {
            return None;
        }
        // The lowest start makes the most trips.
        let low = self.terms.bounds(&rest).0;
        if low <= LOW / 2 || rest.atoms().any(|a| self.terms.get(a).high >= i64::from(i32::MAX)) {
            return None;
        }
        Some((-low + extra + step - 1).div_euclid(step))
    }
}
