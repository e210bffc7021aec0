//! Calls: which function a name means for these arguments, and its body walked in place.

use std::rc::Rc;
use std::sync::Arc;

use super::arith::Origin;
use super::whole::Demand;
use super::{Argument, DEPTH_LIMIT, Eval, Frame, LaunchSite, Side};
use crate::model::project::DeclId;
use crate::model::types::{Binding, RecordTy, Ty};
use crate::model::{
    Expr, ExprKind, Function, Init, Name, Param, Path, Stmt, StmtKind, TemplateArg, TypeExpr, TypeKind,
};
use crate::source::{FileId, Span};
use crate::symbolic::term::Poly;
use crate::symbolic::value::{Base, Closure, Local, Place, RecordValue, Rest, State, Value};
use crate::warp::facts::Scope;

/// An evaluated argument: where it stands if it stands somewhere, and its value once read.
pub(super) struct Arg<'p> {
    pub place: Option<Place>,
    pub value: Option<Value<'p>>,
    pub span: Span,
    pub origin: Origin<'p>,
}

/// What a call gave back.
pub(super) enum Outcome<'p> {
    Value(Value<'p>),
    /// A reference.
    Place(Place),
}

impl<'p> Eval<'p> {
    pub(super) fn call(&mut self, callee: &'p Expr, args: &'p [Expr], expr: &'p Expr) -> Value<'p> {
        match self.call_outcome(callee, args, expr) {
            Outcome::Value(v) => v,
            Outcome::Place(place) => self.load(&place, expr.span),
        }
    }

    pub(super) fn call_outcome(&mut self, callee: &'p Expr, args: &'p [Expr], expr: &'p Expr) -> Outcome<'p> {
        self.steps += 1;
        self.work += 1;
        match &callee.kind {
            ExprKind::Name(path) => self.call_name(path, args, expr),
            ExprKind::Member { base, arrow, member } => {
                let explicit = member.args.as_deref();
                self.call_method(base, *arrow, &member.name, explicit, args, expr)
            }
            _ => {
                let value = self.eval(callee);
                self.call_value(value, args, expr)
            }
        }
    }

    fn call_name(&mut self, path: &'p Path, args: &'p [Expr], expr: &'p Expr) -> Outcome<'p> {
        if let Some(name) = path.as_simple() {
            if self.is_variable(name)
                && let Some(value) = self.callable_variable(path, expr.span)
            {
                return self.call_value(value, args, expr);
            }
            let bound =
                self.frame().and_then(|f| f.bindings.iter().rev().find(|(n, _)| n == name)).map(|(_, b)| b.clone());
            match bound {
                Some(Binding::Function(f)) => {
                    let ids = self.project.functions_named(&f, self.file());
                    let args = self.arguments(args);
                    return self.call_candidates(&ids, &[], args, None, expr);
                }
                Some(Binding::Type(ty)) => return Outcome::Value(self.construct(&ty, args, expr)),
                _ => {}
            }
        }
        let ids = self.project.functions_named(path.last(), self.file());
        let own_method = self.own_method(path.last(), path.segments.len());
        if let Some((id, this, class)) = own_method {
            let args = self.arguments(args);
            return self.invoke(id, &class.bindings.clone(), args, Some(this), expr);
        }
        let free: Vec<DeclId> = ids
            .into_iter()
            .filter(|id| {
                let f = self.project.function(*id);
                f.class.is_none() || path.segments.len() > 1
            })
            .collect();
        let has_body = free.iter().any(|id| self.project.function(*id).body.is_some());
        if (!has_body || is_reserved(path.last()))
            && let Some(outcome) = self.builtin_call(path, args, expr)
        {
            return outcome;
        }
        if !free.is_empty() {
            let ids = self.in_scope(free, path);
            let explicit: Vec<Binding> = match path.last_args() {
                Some(list) => list.iter().map(|a| self.template_argument(a)).collect(),
                None => Vec::new(),
            };
            let class_bindings = self.owner_bindings(path);
            let args = self.arguments(args);
            return self.call_candidates_with(&ids, &explicit, &class_bindings, args, None, expr);
        }
        if let Some(ty) = self.resolve_path(path) {
            return Outcome::Value(self.construct(&ty, args, expr));
        }
        self.unknown_call(path.last(), args, expr)
    }

    /// Bindings of `Class<args>` in `Class<args>::f(...)`.
    fn owner_bindings(&mut self, path: &'p Path) -> Vec<(Name, Binding)> {
        let Some(owner) = path.segments.len().checked_sub(2).and_then(|i| path.segments.get(i)) else {
            return Vec::new();
        };
        let bound =
            self.frame().and_then(|f| f.bindings.iter().rev().find(|(n, _)| *n == owner.name)).map(|(_, b)| b.clone());
        if let Some(Binding::Type(ty)) = bound {
            return ty.as_record().map(|r| r.bindings.clone()).unwrap_or_default();
        }
        let file = self.file();
        let Some(id) = self.project.records_named(&owner.name, file).into_iter().next() else { return Vec::new() };
        let ty = self.record_type(id, owner.args.as_deref());
        ty.as_record().map(|r| r.bindings.clone()).unwrap_or_default()
    }

    /// Of functions with one name, those whose scope fits the path.
    fn in_scope(&mut self, ids: Vec<DeclId>, path: &Path) -> Vec<DeclId> {
        let Some(owner) = path.segments.len().checked_sub(2).and_then(|i| path.segments.get(i)) else {
            return ids;
        };
        let bound =
            self.frame().and_then(|f| f.bindings.iter().rev().find(|(n, _)| *n == owner.name)).map(|(_, b)| b.clone());
        let owner_name = match bound {
            Some(Binding::Type(ty)) => ty.as_record().map_or(owner.name.clone(), |r| r.name.clone()),
            _ => owner.name.clone(),
        };
        let inside: Vec<DeclId> =
            ids.iter().copied().filter(|id| self.project.function(*id).scope.last() == Some(&owner_name)).collect();
        if inside.is_empty() { ids } else { inside }
    }

    /// A method of the class whose method is being walked.
    fn own_method(&mut self, name: &Name, segments: usize) -> Option<(DeclId, Place, Arc<RecordTy>)> {
        if segments != 1 {
            return None;
        }
        let frame = self.frame()?;
        let (class, this) = (frame.class.clone()?, frame.this.clone()?);
        let id = self.method_of(&class, name, None)?;
        Some((id, this, class))
    }

    fn callable_variable(&mut self, path: &'p Path, span: Span) -> Option<Value<'p>> {
        let value = match self.lookup(path, span)? {
            super::names::Named::Value(v) => v,
            super::names::Named::Place(place) => match place.ty.value_type() {
                Ty::Record(_) => {
                    // Called through its place, so that operator() sees the members.
                    let value = self.quietly(|e| e.load(&place, span));
                    self.pending_this = Some(place);
                    value
                }
                _ => self.quietly(|e| e.load(&place, span)),
            },
        };
        Some(value)
    }

    fn call_value(&mut self, value: Value<'p>, args: &'p [Expr], expr: &'p Expr) -> Outcome<'p> {
        let this = self.pending_this.take();
        let args = self.arguments(args);
        match value {
            Value::Closure(closure) => self.invoke_closure(&closure, args, expr),
            Value::Function(id, bindings) => {
                let ids = vec![id];
                self.call_candidates(&ids, &bindings, args, None, expr)
            }
            Value::Record(record) => {
                let place = match this {
                    Some(p) => p,
                    None => self.materialise(Value::Record(record.clone())),
                };
                match self.method_of(&record.ty, "operator()", Some(args.len())) {
                    Some(id) => {
                        let class = record.ty.bindings.clone();
                        self.call_candidates_with(&[id], &[], &class, args, Some(place), expr)
                    }
                    None => Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane)),
                }
            }
            _ => {
                self.settle(args);
                self.note_unknown(expr.span, "a call through a pointer that is not known");
                Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane))
            }
        }
    }

    /// Evaluates arguments left to right, without reading those that stand somewhere.
    pub(super) fn arguments(&mut self, args: &'p [Expr]) -> Vec<Arg<'p>> {
        let mut out = Vec::with_capacity(args.len());
        for e in args {
            let place = match &e.kind {
                ExprKind::Name(_) | ExprKind::Index { .. } | ExprKind::Member { .. } => self.place(e),
                ExprKind::Unary { op: crate::model::UnaryOp::Deref, .. } => self.place(e),
                _ => None,
            };
            let value = match &place {
                Some(_) => None,
                None => Some(self.eval(e)),
            };
            if let Some(place) = &place {
                self.remember_type(e, &place.ty);
            }
            out.push(Arg { place, value, span: e.span, origin: self.origin(e) });
        }
        out
    }

    fn settle(&mut self, args: Vec<Arg<'p>>) -> Vec<Value<'p>> {
        args.into_iter().map(|a| self.arg_value(&a)).collect()
    }

    pub(super) fn arg_value(&mut self, arg: &Arg<'p>) -> Value<'p> {
        match (&arg.value, &arg.place) {
            (Some(v), _) => v.clone(),
            (None, Some(place)) => self.load(place, arg.span),
            (None, None) => Value::Void,
        }
    }

    fn arg_type(&self, arg: &Arg<'p>) -> Ty {
        match (&arg.place, &arg.value) {
            (Some(place), _) => place.ty.value_type().clone(),
            (None, Some(value)) => value.ty(),
            (None, None) => Ty::Unknown,
        }
    }

    fn call_candidates(
        &mut self,
        ids: &[DeclId],
        explicit: &[Binding],
        args: Vec<Arg<'p>>,
        this: Option<Place>,
        expr: &'p Expr,
    ) -> Outcome<'p> {
        self.call_candidates_with(ids, explicit, &[], args, this, expr)
    }

    pub(super) fn call_candidates_with(
        &mut self,
        ids: &[DeclId],
        explicit: &[Binding],
        class: &[(Name, Binding)],
        args: Vec<Arg<'p>>,
        this: Option<Place>,
        expr: &'p Expr,
    ) -> Outcome<'p> {
        let Some(id) = self.best_overload(ids, explicit, &args) else {
            let values = self.settle(args);
            let scope = values.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid);
            return Outcome::Value(self.undefined_result(ids, scope));
        };
        let function = self.project.function(id);
        let mut bindings = class.to_vec();
        let given = self.deduce(function, explicit, &args);
        bindings.extend(given);
        self.invoke(id, &bindings, args, this, expr)
    }

    fn undefined_result(&mut self, ids: &[DeclId], scope: Scope) -> Value<'p> {
        let ty = ids.first().map_or(Ty::Unknown, |id| self.resolve(&self.project.function(*id).returns));
        self.fresh(&ty, scope.max(Scope::Lane), "the result of a function out of sight")
    }

    /// The function with a body that fits best: argument count first, then types.
    fn best_overload(&mut self, ids: &[DeclId], explicit: &[Binding], args: &[Arg<'p>]) -> Option<DeclId> {
        let mut best: Option<(i32, DeclId)> = None;
        for id in ids {
            let f = self.project.function(*id);
            if f.body.is_none()
                || f.template.len() < explicit.len()
                    && !f.template.iter().any(|t| t.is_pack)
                    && f.specialisation.is_none()
            {
                continue;
            }
            let has_pack = f.params.iter().any(|p| p.is_pack) || f.quals.is_variadic;
            let least = f.params.iter().filter(|p| p.default.is_none() && !p.is_pack).count();
            if args.len() < least || (args.len() > f.params.len() && !has_pack) {
                continue;
            }
            let mut score = 0;
            if let Some(special) = &f.specialisation {
                let same = !explicit.is_empty()
                    && special.len() == explicit.len()
                    && special.iter().zip(explicit).all(|(a, b)| self.template_argument(a) == *b);
                if !same && !explicit.is_empty() {
                    continue;
                }
                score += if same { 100 } else { 0 };
            }
            for (param, arg) in f.params.iter().zip(args) {
                score += self.fit(f, param, arg);
            }
            if f.template.is_empty() {
                score += 1;
            }
            if best.is_none_or(|(s, _)| score > s) {
                best = Some((score, *id));
            }
        }
        best.map(|(_, id)| id)
    }

    fn fit(&mut self, function: &'p Function, param: &'p Param, arg: &Arg<'p>) -> i32 {
        if is_template_name(&param.ty, function) {
            return 2;
        }
        let want = self.resolve(&param.ty);
        let have = self.arg_type(arg);
        match (want.value_type(), &have) {
            (a, b) if a == b => 10,
            (Ty::Pointer(a), Ty::Pointer(b) | Ty::Array(b, _)) if a == b => 10,
            (Ty::Pointer(_), Ty::Pointer(_) | Ty::Array(..)) => 2,
            (Ty::Scalar(a), Ty::Scalar(b)) if a.is_float() == b.is_float() => 4,
            (Ty::Scalar(_), Ty::Scalar(_)) => 3,
            (Ty::Record(a), Ty::Record(b)) if a.name == b.name => 9,
            (Ty::Unknown, _) | (_, Ty::Unknown) => 1,
            _ => -20,
        }
    }

    /// Template parameters from explicit arguments, then from the arguments' types, then from defaults.
    pub(super) fn deduce(
        &mut self,
        function: &'p Function,
        explicit: &[Binding],
        args: &[Arg<'p>],
    ) -> Vec<(Name, Binding)> {
        if function.template.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(Name, Binding)> = Vec::new();
        for (param, binding) in function.template.iter().zip(explicit) {
            if param.is_pack {
                break;
            }
            found.push((param.name.clone(), binding.clone()));
        }
        for (param, arg) in function.params.iter().zip(args) {
            if param.is_pack {
                break;
            }
            let mut have = self.arg_type(arg);
            if let Some(value @ (Value::Function(..) | Value::Closure(_))) = &arg.value {
                if let Value::Function(id, _) = value {
                    let name = self.project.function(*id).name.clone();
                    if let TypeKind::Named(path) = &param.ty.kind
                        && let Some(n) = path.as_simple()
                    {
                        found.push((n.clone(), Binding::Function(name)));
                    }
                }
                continue;
            }
            if !matches!(param.ty.kind, TypeKind::Reference(_))
                && let Ty::Array(inner, _) = &have
            {
                have = Ty::Pointer(inner.clone());
            }
            self.unify(&param.ty, &have, function, &mut found);
        }
        let mark = self.bindings_len();
        let given: Vec<Option<Binding>> = function
            .template
            .iter()
            .map(|p| found.iter().find(|(n, _)| *n == p.name).map(|(_, b)| b.clone()))
            .collect();
        for (param, binding) in function.template.iter().zip(given) {
            match binding {
                Some(b) => self.push_bindings(&[(param.name.clone(), b)]),
                None => self.bind_values(std::slice::from_ref(param), &[]),
            }
        }
        let out = self.frame().map(|f| f.bindings[mark..].to_vec()).unwrap_or_default();
        self.unbind(mark);
        out
    }

    fn unify(&mut self, pattern: &'p TypeExpr, ty: &Ty, function: &'p Function, found: &mut Vec<(Name, Binding)>) {
        match (&pattern.kind, ty) {
            (TypeKind::Named(path), _) => {
                if let Some(name) = path.as_simple().filter(|_| path.last_args().is_none()) {
                    let is_parameter = function.template.iter().any(|t| t.name == *name);
                    if is_parameter && *ty != Ty::Unknown && !found.iter().any(|(n, _)| n == name) {
                        found.push((name.clone(), Binding::Type(ty.clone())));
                    }
                } else if let (Some(args), Some(record)) = (path.last_args(), ty.as_record()) {
                    let values: Vec<Binding> = record.bindings.iter().map(|(_, b)| b.clone()).collect();
                    for (arg, binding) in args.iter().zip(values) {
                        unify_argument(arg, binding, function, found);
                    }
                }
            }
            (TypeKind::Pointer(inner), Ty::Pointer(t) | Ty::Array(t, _)) => self.unify(inner, t, function, found),
            (TypeKind::Reference(inner), t) => self.unify(inner, t.value_type(), function, found),
            (TypeKind::Array(inner, length), Ty::Array(t, n)) => {
                if let (Some(e), Some(n)) = (length, n)
                    && let ExprKind::Name(path) = &e.kind
                    && let Some(name) = path.as_simple()
                {
                    found.push((name.clone(), Binding::Value(*n as i64)));
                }
                self.unify(inner, t, function, found);
            }
            (TypeKind::Array(inner, _), Ty::Pointer(t)) => self.unify(inner, t, function, found),
            _ => {}
        }
    }

    /// Walks a function's body with its parameters bound.
    pub(super) fn invoke(
        &mut self,
        id: DeclId,
        bindings: &[(Name, Binding)],
        args: Vec<Arg<'p>>,
        this: Option<Place>,
        expr: &'p Expr,
    ) -> Outcome<'p> {
        let function = self.project.function(id);
        let Some(body) = function.body.as_deref() else {
            self.settle(args);
            return Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane));
        };
        if self.frames.len() >= DEPTH_LIMIT
            || self.is_recursive(function)
            || self.is_exhausted()
            || !self.may_walk(id, function, args.len())
        {
            let values = self.settle(args);
            let why = if self.is_exhausted() { "the budget of this kernel is used up" } else { "recursion" };
            if self.side == Side::Device {
                self.note_unknown(expr.span, why);
            }
            self.clobber(&values);
            let ty = self.resolve(&function.returns);
            let scope = if self.side == Side::Host { Scope::Grid } else { Scope::Lane };
            return Outcome::Value(self.fresh(&ty, scope, &function.name));
        }
        let class = match &this {
            Some(place) => place.ty.as_record().cloned(),
            None => None,
        };
        let locals = Vec::new();
        let mut frame = Frame {
            file: id.file,
            scope: &function.scope,
            function: function.name.clone(),
            locals,
            bindings: bindings.to_vec(),
            this,
            class,
            call_site: Some(expr.span),
            returns: Vec::new(),
            loops: Vec::new(),
            returns_ty: Ty::Unknown,
            launch_known: Vec::new(),
        };
        frame.launch_known = function
            .params
            .iter()
            .zip(&args)
            .filter(|(_, a)| a.origin.is_launch_known)
            .map(|(p, _)| p.name.clone())
            .collect();
        self.frames.push(frame);
        let returns = self.resolve(&function.returns);
        if let Some(f) = self.frames.last_mut() {
            f.returns_ty = returns;
        }
        let first = self.next_object;
        self.bind_params(&function.params, args);
        self.init_members(function);
        let mark = self.state.guards.len();
        self.straight += 0;
        self.exec_all(body);
        self.finish_call(mark, first)
    }

    fn is_recursive(&self, function: &Function) -> bool {
        self.frames.iter().filter(|f| f.function == function.name && f.scope == function.scope.as_slice()).count() >= 3
    }

    /// On the host only functions that launch, or small ones that compute a number, are worth a walk.
    fn may_walk(&self, id: DeclId, function: &Function, _args: usize) -> bool {
        if self.side == Side::Device || self.project.is_launching(id) {
            return true;
        }
        function.body.as_ref().is_some_and(|b| straight_length(b).is_some_and(|n| n <= 12))
    }

    fn bind_params(&mut self, params: &'p [Param], args: Vec<Arg<'p>>) {
        let mut args = args.into_iter();
        for param in params {
            if param.is_pack {
                let values: Vec<Value<'p>> = args.by_ref().map(|a| self.arg_value(&a)).collect();
                self.declare(&param.name, Local::Pack(values));
                break;
            }
            let ty = self.resolve(&param.ty);
            let arg = if let Some(a) = args.next() {
                a
            } else {
                let value = match &param.default {
                    Some(e) => self.eval_into(e, &ty),
                    None => self.fresh(&ty, Scope::Grid, &param.name),
                };
                Arg { place: None, value: Some(value), span: param.span, origin: Origin::default() }
            };
            self.bind_param(param, &ty, &arg);
        }
    }

    fn bind_param(&mut self, param: &'p Param, ty: &Ty, arg: &Arg<'p>) {
        if let TypeKind::Reference(_) = &param.ty.kind
            && let Some(place) = &arg.place
        {
            let inner = ty.value_type().clone();
            let place = if inner == Ty::Unknown { place.clone() } else { Place { ty: inner, ..place.clone() } };
            self.declare(&param.name, Local::Place(place));
            return;
        }
        if let Some(e) = arg.origin.expr {
            self.want(e, Demand::of(ty));
        }
        let value = self.arg_value(arg);
        if matches!(value, Value::Closure(_) | Value::Function(..) | Value::Group(_)) {
            self.declare(&param.name, Local::Value(value));
            return;
        }
        // An array parameter is a pointer.
        let ty = match ty.value_type() {
            Ty::Array(inner, _) if !matches!(param.ty.kind, TypeKind::Reference(_)) => Ty::Pointer(inner.clone()),
            Ty::Unknown => value.ty(),
            other => other.clone(),
        };
        let place = self.new_object(param.name.clone(), ty, Rest::Uninitialised);
        self.declare(&param.name, Local::Place(place.clone()));
        if arg.origin.is_not_negative {
            self.start_sign(&place, &place.ty, None);
        }
        self.store(&place, value, arg.span);
    }

    fn init_members(&mut self, function: &'p Function) {
        let Some(this) = self.frame().and_then(|f| f.this.clone()) else { return };
        for (name, init) in &function.member_inits {
            let Some(place) = self.member(&this, name) else { continue };
            let value = match init {
                Init::Value(e) => self.eval_into(e, &place.ty.clone()),
                Init::Paren(list) | Init::Brace(list) => match (list.as_slice(), &place.ty) {
                    ([e], Ty::Scalar(_) | Ty::Pointer(_)) => self.eval_into(e, &place.ty.clone()),
                    (list, ty) if !list.is_empty() => self.construct_args(&ty.clone(), list),
                    _ => continue,
                },
            };
            self.store(&place, value, function.name_span);
        }
    }

    /// Leaves a function: the ways that returned meet again, and its objects from `first` on are gone.
    fn finish_call(&mut self, mark: usize, first: u32) -> Outcome<'p> {
        let Some(frame) = self.frames.last_mut() else { return Outcome::Value(Value::Void) };
        let returns = std::mem::take(&mut frame.returns);
        let is_reference = matches!(frame.returns_ty, Ty::Reference(_));
        let mut result: Option<Value<'p>> = None;
        for (state, value) in returns.into_iter().rev() {
            result = Some(match result {
                None => value.clone(),
                Some(later) => {
                    let condition = self.way_condition(&state, mark);
                    self.join_value(&condition, &value, &later)
                }
            });
            self.rejoin(state, mark);
        }
        self.drop_skips(mark);
        self.frames.pop();
        if !result.as_ref().is_some_and(|v| refers_to(v, first)) {
            self.state.drop_from(first);
        }
        match result {
            Some(Value::Pointer(place)) if is_reference => Outcome::Place(place),
            Some(value) => Outcome::Value(value),
            None => Outcome::Value(Value::Void),
        }
    }

    /// The condition under which a returned state was taken.
    fn way_condition(&mut self, state: &State<'p>, mark: usize) -> Poly {
        match state.guards.iter().skip(mark).rev().find_map(|g| g.condition.clone()) {
            Some((poly, true)) => poly,
            Some((poly, false)) => self.terms.not(&poly),
            None => {
                let block = self.block();
                let other = self.state.active;
                if self.state.exit.is_none() && state.active.and(&other).is_empty() {
                    let one = crate::symbolic::lanes::Lanes::constant(1);
                    let zero = crate::symbolic::lanes::Lanes::constant(0);
                    return Poly::lanes(one.blend(&zero, &state.active, block));
                }
                self.terms.data(Scope::Block, 0, 1, "which return was taken")
            }
        }
    }

    fn invoke_closure(&mut self, closure: &Rc<Closure<'p>>, args: Vec<Arg<'p>>, expr: &'p Expr) -> Outcome<'p> {
        if self.frames.len() >= DEPTH_LIMIT {
            self.settle(args);
            return Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane));
        }
        let (scope, bindings, class) =
            self.frame().map_or((&[][..], Vec::new(), None), |f| (f.scope, f.bindings.clone(), f.class.clone()));
        self.frames.push(Frame {
            file: closure.file,
            scope,
            function: "lambda".into(),
            locals: closure.names.clone(),
            bindings,
            this: closure.this.clone(),
            class,
            call_site: Some(expr.span),
            returns: Vec::new(),
            loops: Vec::new(),
            returns_ty: Ty::Unknown,
            launch_known: Vec::new(),
        });
        let first = self.next_object;
        self.bind_params(&closure.lambda.params, args);
        let mark = self.state.guards.len();
        self.exec_all(&closure.lambda.body);
        self.finish_call(mark, first)
    }

    fn call_method(
        &mut self,
        base: &'p Expr,
        arrow: bool,
        name: &'p Name,
        explicit: Option<&'p [TemplateArg]>,
        args: &'p [Expr],
        expr: &'p Expr,
    ) -> Outcome<'p> {
        if !arrow && let Some(group) = self.group_of(base) {
            return Outcome::Value(self.group_method(group, name, args, expr));
        }
        let owner = if arrow {
            let value = self.eval(base);
            self.target(&value)
        } else {
            if let Some(place) = self.place(base) {
                place
            } else {
                let value = self.eval(base);
                if let Value::Unknown { .. } = value {
                    self.arguments(args);
                    return Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane));
                }
                self.materialise(value)
            }
        };
        let Some(record) = owner.ty.as_record().cloned() else {
            let args = self.arguments(args);
            let values = self.settle(args);
            self.clobber(&values);
            return Outcome::Value(Value::unknown(Ty::Unknown, Scope::Grid));
        };
        let ids = self.methods(&record, name);
        let explicit: Vec<Binding> = explicit.unwrap_or(&[]).iter().map(|a| self.template_argument(a)).collect();
        let args_now = self.arguments(args);
        if ids.is_empty() {
            if let Some(field) = self.member(&owner, name) {
                let value = self.quietly(|e| e.load(&field, expr.span));
                return match value {
                    Value::Closure(c) => self.invoke_closure(&c, args_now, expr),
                    _ => Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane)),
                };
            }
            let values = self.settle(args_now);
            self.clobber(&values);
            return Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane));
        }
        let class = record.bindings.clone();
        self.call_candidates_with(&ids, &explicit, &class, args_now, Some(owner), expr)
    }

    /// All methods of a class with a name, bases included.
    fn methods(&mut self, record: &RecordTy, name: &str) -> Vec<DeclId> {
        let from = record.declared.map_or(self.file(), |(f, _)| FileId(f));
        let ids: Vec<DeclId> = self
            .project
            .functions_named(name, from)
            .into_iter()
            .filter(|id| self.project.function(*id).class.as_ref() == Some(&record.name))
            .collect();
        if !ids.is_empty() {
            return ids;
        }
        for base in record.fields.iter().filter(|f| f.name.is_empty()) {
            if let Some(r) = base.ty.as_record() {
                let found = self.methods(&r.clone(), name);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
    }

    pub(super) fn method_of(&mut self, record: &RecordTy, name: &str, args: Option<usize>) -> Option<DeclId> {
        let ids = self.methods(record, name);
        let fits = |id: &&DeclId| {
            let f = self.project.function(**id);
            f.body.is_some()
                && args.is_none_or(|n| f.params.len() == n || f.params.iter().any(|p| p.is_pack || p.default.is_some()))
        };
        ids.iter().find(fits).copied()
    }

    /// `record[index]` through the class's operator.
    pub(super) fn subscript_operator(&mut self, place: Place, index: &'p Expr, expr: &'p Expr) -> Option<Place> {
        let record = place.ty.as_record()?.clone();
        let Some(id) = self.method_of(&record, "operator[]", Some(1)) else {
            self.eval(index);
            self.pending_subscript = Some(Value::unknown(Ty::Unknown, Scope::Lane));
            return None;
        };
        let args = self.arguments(std::slice::from_ref(index));
        let class = record.bindings.clone();
        match self.call_candidates_with(&[id], &[], &class, args, Some(place), expr) {
            Outcome::Place(place) => Some(place),
            Outcome::Value(value) => {
                self.pending_subscript = Some(value);
                None
            }
        }
    }

    /// An operator on records: a member or a free function; a value of the same type if none is in sight.
    pub(super) fn operator_call(&mut self, name: &'static str, values: Vec<Value<'p>>, span: Span) -> Value<'p> {
        let scope = values.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid);
        let result = values.iter().find_map(|v| v.ty().as_record().cloned());
        let is_comparison =
            matches!(name, "operator==" | "operator!=" | "operator<" | "operator<=" | "operator>" | "operator>=");
        let record = match result {
            Some(r) => r,
            None => return Value::unknown(Ty::Unknown, scope),
        };
        let args: Vec<Arg<'p>> = values
            .iter()
            .map(|v| Arg { place: None, value: Some(v.clone()), span, origin: Origin::default() })
            .collect();
        let file = self.file();
        let free: Vec<DeclId> = self
            .project
            .functions_named(name, file)
            .into_iter()
            .filter(|id| {
                let f = self.project.function(*id);
                f.class.is_none() && f.params.len() == args.len()
            })
            .collect();
        let id = self.best_overload(&free, &[], &args).filter(|id| {
            let f = self.project.function(*id);
            f.params.iter().zip(&args).all(|(p, a)| self.fit(f, p, a) > -10)
        });
        let outcome = if let Some(id) = id {
            let bindings = self.deduce(self.project.function(id), &[], &args);
            Some(self.invoke_at(id, &bindings, args, None, span))
        } else if let Some(Value::Record(first)) = values.first() {
            let id = self.method_of(&first.ty.clone(), name, Some(values.len() - 1));
            match id {
                Some(id) => {
                    let place = self.materialise(values[0].clone());
                    let class = first.ty.bindings.clone();
                    let rest = args.into_iter().skip(1).collect();
                    Some(self.invoke_at(id, &class, rest, Some(place), span))
                }
                None => None,
            }
        } else {
            None
        };
        match outcome {
            Some(Outcome::Value(v)) => v,
            Some(Outcome::Place(p)) => self.load(&p, span),
            None if is_comparison => Value::truth(self.terms.data(scope, 0, 1, "a comparison of records")),
            None => Value::Record(Rc::new(RecordValue {
                ty: record,
                slots: Vec::new(),
                rest: Rest::Clobbered(scope),
                origin: None,
            })),
        }
    }

    /// Like `invoke`, for calls that are not written as one.
    fn invoke_at(
        &mut self,
        id: DeclId,
        bindings: &[(Name, Binding)],
        args: Vec<Arg<'p>>,
        this: Option<Place>,
        span: Span,
    ) -> Outcome<'p> {
        // The call expression only serves for its span.
        let function = self.project.function(id);
        let Some(body) = function.body.as_deref() else {
            return Outcome::Value(Value::unknown(Ty::Unknown, Scope::Lane));
        };
        if self.frames.len() >= DEPTH_LIMIT || self.is_recursive(function) || self.is_exhausted() {
            self.settle(args);
            let ty = self.resolve(&function.returns);
            return Outcome::Value(self.fresh(&ty, Scope::Lane, &function.name));
        }
        let class = this.as_ref().and_then(|p| p.ty.as_record().cloned());
        self.frames.push(Frame {
            file: id.file,
            scope: &function.scope,
            function: function.name.clone(),
            locals: Vec::new(),
            bindings: bindings.to_vec(),
            this,
            class,
            call_site: Some(span),
            returns: Vec::new(),
            loops: Vec::new(),
            returns_ty: Ty::Unknown,
            launch_known: Vec::new(),
        });
        let returns = self.resolve(&function.returns);
        if let Some(f) = self.frames.last_mut() {
            f.returns_ty = returns;
        }
        let first = self.next_object;
        self.bind_params(&function.params, args);
        self.init_members(function);
        let mark = self.state.guards.len();
        self.exec_all(body);
        self.finish_call(mark, first)
    }

    /// `T(args)` and `T{args}`.
    pub(super) fn construct(&mut self, ty: &Ty, args: &'p [Expr], _expr: &'p Expr) -> Value<'p> {
        match ty.value_type() {
            Ty::Scalar(_) | Ty::Pointer(_) => match args.first() {
                Some(e) => {
                    let value = self.eval_into(e, ty);
                    self.convert(value, ty)
                }
                None => self.zero(ty),
            },
            Ty::Unknown => {
                let values = self.arguments(args);
                let values = self.settle(values);
                let scope = values.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid);
                match values.as_slice() {
                    [one] => one.clone(),
                    _ => Value::unknown(Ty::Unknown, scope),
                }
            }
            other => self.construct_args(&other.clone(), args),
        }
    }

    /// A record from arguments: a constructor if there is one, else field by field.
    pub(super) fn construct_args(&mut self, ty: &Ty, args: &'p [Expr]) -> Value<'p> {
        let Some(record) = ty.as_record().cloned() else {
            return match args.first() {
                Some(e) => self.eval_into(e, ty),
                None => self.zero(ty),
            };
        };
        let place = self.new_object(record.name.clone(), ty.value_type().clone(), Rest::Zero);
        let evaluated = self.arguments(args);
        if let ([one], Some(have)) = (evaluated.as_slice(), evaluated.first().map(|a| self.arg_type(a)))
            && have.as_record().is_some_and(|r| r.name == record.name)
        {
            return self.arg_value(one);
        }
        let span = args.first().map_or(Span::new(self.file(), 0, 0), |e| e.span);
        if record.declared.is_none() || !self.run_constructor_with(&place, &record, &evaluated, span) {
            self.aggregate(&place, &record, args, &evaluated, span);
        }
        self.load(&place, span)
    }

    fn aggregate(&mut self, place: &Place, record: &RecordTy, exprs: &'p [Expr], args: &[Arg<'p>], span: Span) {
        if record.name == "dim3" {
            for (axis, at) in [0u64, 4, 8].into_iter().enumerate() {
                let value = args.get(axis).map_or(Value::int(1, crate::model::Scalar::UInt), |a| self.arg_value(a));
                let offset = self.terms.add_constant(&place.offset, at as i64);
                self.store(&Place { base: place.base, offset, ty: Ty::UINT }, value, span);
            }
            return;
        }
        let fields: Vec<(u64, Ty, Name)> =
            record.fields.iter().map(|f| (f.offset, f.ty.clone(), f.name.clone())).collect();
        for (i, arg) in args.iter().enumerate() {
            let field = match exprs.get(i).map(|e| &e.kind) {
                Some(ExprKind::Designated { field, .. }) => fields.iter().find(|f| f.2 == *field),
                _ => fields.get(i),
            };
            let Some((at, ty, _)) = field else { break };
            if let Some(e) = exprs.get(i) {
                self.want(e, Demand::of(ty));
            }
            let value = match exprs.get(i).map(|e| &e.kind) {
                Some(ExprKind::InitList(inner)) => self.construct_args(ty, inner),
                _ => self.arg_value(arg),
            };
            let offset = self.terms.add_constant(&place.offset, *at as i64);
            self.store(&Place { base: place.base, offset, ty: ty.clone() }, value, span);
        }
    }

    pub(super) fn run_constructor(&mut self, place: &Place, record: &Arc<RecordTy>, args: &[Arg<'p>]) {
        let span = Span::new(self.file(), 0, 0);
        self.run_constructor_with(place, record, args, span);
    }

    /// Runs the constructor that fits; false if the class has none.
    fn run_constructor_with(&mut self, place: &Place, record: &Arc<RecordTy>, args: &[Arg<'p>], span: Span) -> bool {
        let ids = self.methods(record, &record.name.clone());
        let args: Vec<Arg<'p>> = args
            .iter()
            .map(|a| Arg { place: a.place.clone(), value: a.value.clone(), span: a.span, origin: a.origin })
            .collect();
        let Some(id) = self.best_overload(&ids, &[], &args) else { return false };
        let mut bindings = record.bindings.clone();
        bindings.extend(self.deduce(self.project.function(id), &[], &args));
        self.invoke_at(id, &bindings, args, Some(place.clone()), span);
        true
    }

    /// A call to a function that is not in sight: what its arguments point to may have changed.
    pub(super) fn unknown_call(&mut self, name: &Name, args: &'p [Expr], expr: &'p Expr) -> Outcome<'p> {
        let args = self.arguments(args);
        let values = self.settle(args);
        self.clobber(&values);
        let scope = values.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid);
        if self.side == Side::Device {
            self.note_unknown(expr.span, &format!("a call of {name}, which is not in sight"));
        }
        // A float function of the maths library, or something that computes with its arguments.
        let ty = values.iter().find(|v| v.ty().is_float()).map_or(Ty::Unknown, Value::ty);
        Outcome::Value(Value::unknown(ty, scope))
    }

    /// What pointers among the values point to is unknown from here on.
    pub(super) fn clobber(&mut self, values: &[Value<'p>]) {
        for value in values {
            if let Value::Pointer(Place { base: Base::Object(id), .. }) = value {
                let scope = if self.side == Side::Host { Scope::Grid } else { Scope::Lane };
                if let Some(object) = self.state.object_mut(*id) {
                    object.slots.clear();
                    object.rest = Rest::Clobbered(scope);
                }
            }
        }
    }

    /// A kernel launch in host code: noted with its shape and arguments.
    pub(super) fn launch(
        &mut self,
        callee: &'p Expr,
        config: &'p [Expr],
        args: &'p [Expr],
        expr: &'p Expr,
    ) -> Value<'p> {
        let shape: Vec<[Option<i64>; 3]> = config.iter().take(2).map(|e| self.dimensions(e)).collect();
        for e in config.iter().skip(2) {
            self.eval(e);
        }
        let args = self.arguments(args);
        let kernel = self.quietly(|e| e.kernel_named(callee));
        let Some((ids, explicit)) = kernel else {
            self.settle(args);
            return Value::Void;
        };
        self.note_launch(&ids, &explicit, &shape, args, expr.span);
        Value::Void
    }

    pub(super) fn note_launch(
        &mut self,
        ids: &[DeclId],
        explicit: &[Binding],
        shape: &[[Option<i64>; 3]],
        args: Vec<Arg<'p>>,
        span: Span,
    ) {
        let Some(id) = self.best_overload(ids, explicit, &args).or_else(|| ids.first().copied()) else { return };
        let function = self.project.function(id);
        let bindings: Vec<Binding> = self.deduce(function, explicit, &args).into_iter().map(|(_, b)| b).collect();
        let values = self.settle(args);
        let args = values.iter().map(|v| self.portable(v, 0)).collect();
        if self.is_quiet() {
            return;
        }
        let file = self.file();
        self.events.launches.push(LaunchSite {
            kernel: id,
            bindings,
            span,
            grid: shape.first().copied().unwrap_or([None; 3]),
            block: shape.get(1).copied().unwrap_or([None; 3]),
            args,
            file,
        });
    }

    /// The functions a launch's callee may name, with explicit template arguments.
    pub(super) fn kernel_named(&mut self, callee: &'p Expr) -> Option<(Vec<DeclId>, Vec<Binding>)> {
        match &callee.kind {
            ExprKind::Name(path) => {
                let local = path.as_simple().is_some_and(|n| self.is_variable(n));
                if !local {
                    let bound = path
                        .as_simple()
                        .and_then(|n| self.frame().and_then(|f| f.bindings.iter().rev().find(|(b, _)| b == n)))
                        .map(|(_, b)| b.clone());
                    if let Some(Binding::Function(name)) = bound {
                        return Some((self.project.kernels_named(&name, self.file()), Vec::new()));
                    }
                    let ids = self.project.kernels_named(path.last(), self.file());
                    let kernels = self.in_scope(ids, path);
                    if !kernels.is_empty() {
                        let explicit =
                            path.last_args().unwrap_or(&[]).iter().map(|a| self.template_argument(a)).collect();
                        return Some((kernels, explicit));
                    }
                }
                match self.name_value(path, callee.span)? {
                    Value::Function(id, bindings) => Some((vec![id], bindings.to_vec())),
                    _ => None,
                }
            }
            _ => match self.eval(callee) {
                Value::Function(id, bindings) => Some((vec![id], bindings.to_vec())),
                _ => None,
            },
        }
    }

    /// x, y, z of a grid or block given as number, dim3 or list.
    pub(super) fn dimensions(&mut self, expr: &'p Expr) -> [Option<i64>; 3] {
        let value = match &expr.kind {
            ExprKind::InitList(list) => {
                let ty = self.vector_type("dim3");
                self.construct_args(&ty, list)
            }
            _ => self.eval(expr),
        };
        match &value {
            Value::Int { poly, .. } => [poly.as_constant(), Some(1), Some(1)],
            Value::Float { constant, .. } => [constant.map(|c| c as i64), Some(1), Some(1)],
            Value::Record(record) => [0, 4, 8].map(|at| self.record_part(record, at, &Ty::UINT).as_constant()),
            _ => [None; 3],
        }
    }

    /// What of a host value can be carried into the kernel's walk.
    fn portable(&mut self, value: &Value<'p>, depth: u32) -> Argument<'p> {
        match value {
            Value::Int { poly, .. } => poly.as_constant().map_or(Argument::Unknown, Argument::Int),
            Value::Float { constant: Some(c), .. } => Argument::Float(*c),
            Value::Pointer(place) => match (place.base, self.memory(place.base)) {
                (Base::Memory(i), Some(memory)) => Argument::Pointer {
                    allocation: i,
                    offset: place.offset.as_constant(),
                    name: memory.name.clone(),
                    align: memory.align,
                },
                _ => Argument::Unknown,
            },
            Value::Record(record) if depth < 4 && record.ty.size <= 4096 => {
                let mut parts = Vec::new();
                crate::model::types::flatten(0, &Ty::Record(record.ty.clone()), &mut parts);
                let mut out = Vec::new();
                for (at, ty) in parts {
                    let part = self.record_part(record, at, &ty);
                    match self.portable(&part, depth + 1) {
                        Argument::Unknown => {}
                        known => out.push((at, known)),
                    }
                }
                Argument::Record(out)
            }
            Value::Closure(closure) if depth < 2 => {
                let mut captured = Vec::new();
                for (name, local) in closure.names.clone() {
                    let (ty, value) = match local {
                        Local::Place(place) => {
                            let ty = place.ty.clone();
                            (ty, self.quietly(|e| e.load(&place, Span::new(FileId(0), 0, 0))))
                        }
                        Local::Value(value) => (value.ty(), value),
                        _ => continue,
                    };
                    captured.push((name, ty, self.portable(&value, depth + 1)));
                }
                Argument::Closure { lambda: closure.lambda, file: closure.file, captured }
            }
            Value::Function(id, bindings) => Argument::Function(*id, bindings.to_vec()),
            _ => Argument::Unknown,
        }
    }
}

/// The number of statements of a body without loops; `None` if it loops.
fn straight_length(body: &[Stmt]) -> Option<usize> {
    body.iter().try_fold(0, |sum, stmt| {
        let inner = match &stmt.kind {
            StmtKind::Block(list) => straight_length(list)?,
            StmtKind::If { then, otherwise, .. } => {
                let other = otherwise.as_deref().map_or(Some(0), |s| straight_length(std::slice::from_ref(s)))?;
                straight_length(std::slice::from_ref(then))? + other
            }
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::RangeFor { .. } => {
                return None;
            }
            _ => 0,
        };
        Some(sum + 1 + inner)
    })
}

/// Whether a value points at an object numbered from `first` on.
fn refers_to(value: &Value<'_>, first: u32) -> bool {
    match value {
        Value::Pointer(Place { base: Base::Object(id), .. }) => *id >= first,
        Value::Closure(_) => true,
        Value::Record(r) => r.origin.is_some_and(|(id, _)| id >= first && matches!(r.rest, Rest::Parameter(_))),
        _ => false,
    }
}

fn unify_argument(arg: &TemplateArg, binding: Binding, function: &Function, found: &mut Vec<(Name, Binding)>) {
    let path = match arg {
        TemplateArg::Type(TypeExpr { kind: TypeKind::Named(path), .. }) => path,
        TemplateArg::Value(e) => match &e.kind {
            ExprKind::Name(path) => path,
            _ => return,
        },
        TemplateArg::Type(_) => return,
    };
    if let Some(name) = path.as_simple()
        && function.template.iter().any(|t| t.name == *name)
        && !found.iter().any(|(n, _)| n == name)
    {
        found.push((name.clone(), binding));
    }
}

fn is_template_name(ty: &TypeExpr, function: &Function) -> bool {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.iter().any(|s| {
            function.template.iter().any(|t| t.name == s.name) || s.args.as_ref().is_some_and(|a| !a.is_empty())
        }),
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) | TypeKind::Array(inner, _) => {
            is_template_name(inner, function)
        }
        _ => false,
    }
}

/// Names that mean CUDA's own function whatever the project defines.
fn is_reserved(name: &str) -> bool {
    name.starts_with("__") || name.starts_with("cuda") && name.len() > 8
}
