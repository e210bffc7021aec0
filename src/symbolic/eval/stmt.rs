//! Statements.

use super::loops::Loop;
use super::{COST_LIMIT, Eval, LoopFrame, Side, WORK_LIMIT};
use crate::model::{Expr, ExprKind, Stmt, StmtKind, SwitchCase};
use crate::source::Span;
use crate::symbolic::term::{Op, Poly};
use crate::symbolic::value::{GuardKind, Local, Rest, State, Value};
use crate::warp::facts::Scope;

impl<'p> Eval<'p> {
    pub(super) fn exec_all(&mut self, body: &'p [Stmt]) {
        for stmt in body {
            if self.state.exit.is_some() {
                return;
            }
            self.exec(stmt);
        }
    }

    /// A block: names declared inside end with it.
    pub(super) fn exec_block(&mut self, body: &'p [Stmt]) {
        let mark = self.frame().map_or(0, |f| f.locals.len());
        let first = self.next_object;
        self.exec_all(body);
        self.state.drop_from(first);
        if let Some(frame) = self.frames.last_mut() {
            frame.locals.truncate(mark);
        }
    }

    /// Whether the walk has used up what it may use here.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps > self.step_cap || self.work > WORK_LIMIT || self.terms.cost > COST_LIMIT
    }

    pub(super) fn exec(&mut self, stmt: &'p Stmt) {
        self.steps += 1;
        self.work += 1;
        if self.is_exhausted() || self.state.exit.is_some() {
            return;
        }
        match &stmt.kind {
            StmtKind::Expr(e) => {
                let first = self.next_object;
                self.eval(e);
                self.state.drop_from(first);
            }
            StmtKind::Decl(decls) => decls.iter().for_each(|d| self.declare_variable(d)),
            StmtKind::Block(body) => self.exec_block(body),
            StmtKind::If { is_constexpr, init, condition, then, otherwise } => {
                self.exec_if(*is_constexpr, init.as_deref(), condition, then, otherwise.as_deref());
            }
            StmtKind::While { condition, body } => {
                self.run_loop(Loop {
                    condition: Some(condition),
                    step: None,
                    body,
                    is_post_tested: false,
                    span: condition.span,
                    unroll: None,
                });
            }
            StmtKind::DoWhile { body, condition } => {
                self.run_loop(Loop {
                    condition: Some(condition),
                    step: None,
                    body,
                    is_post_tested: true,
                    span: condition.span,
                    unroll: None,
                });
            }
            StmtKind::For { init, condition, step, body, unroll } => {
                let mark = self.frame().map_or(0, |f| f.locals.len());
                if let Some(init) = init {
                    self.exec(init);
                }
                let span = condition.as_ref().map_or(stmt.span, |c| c.span);
                self.run_loop(Loop {
                    condition: condition.as_ref(),
                    step: step.as_ref(),
                    body,
                    is_post_tested: false,
                    span,
                    unroll: unroll.as_ref(),
                });
                if let Some(frame) = self.frames.last_mut() {
                    frame.locals.truncate(mark);
                }
            }
            StmtKind::RangeFor { variable, range, body } => self.exec_range_for(variable, range, body),
            StmtKind::Switch { condition, cases } => self.exec_switch(condition, cases, stmt.span),
            StmtKind::Return(value) => self.exec_return(value.as_ref()),
            StmtKind::Break => self.leave(true),
            StmtKind::Continue => self.leave(false),
            StmtKind::Asm(asm) => self.exec_asm(asm, stmt.span),
            StmtKind::Alias(alias) => {
                let ty = self.resolve(&alias.target);
                self.declare(&alias.name, Local::Type(ty));
            }
            StmtKind::Record(record) => {
                let ty = self.local_record(record);
                self.declare(&record.name, Local::Type(ty));
            }
            StmtKind::Enum(definition) => {
                for (position, (name, _)) in definition.values.iter().enumerate() {
                    if let Some(v) = self.enumerator(definition, position) {
                        self.declare(name, Local::Value(Value::int(v, crate::model::Scalar::Int)));
                    }
                }
            }
            StmtKind::Gap(why) => self.note_unknown(stmt.span, why),
            StmtKind::Goto(_) => self.note_unknown(stmt.span, "goto"),
            StmtKind::Label(_) | StmtKind::Empty => {}
        }
    }

    fn exec_if(
        &mut self,
        is_constexpr: bool,
        init: Option<&'p Stmt>,
        condition: &'p Expr,
        then: &'p Stmt,
        otherwise: Option<&'p Stmt>,
    ) {
        let mark = self.frame().map_or(0, |f| f.locals.len());
        if let Some(init) = init {
            self.exec(init);
        }
        let value = self.eval(condition);
        let known = self.condition(&value);
        if is_constexpr && known.poly.as_constant().is_none() {
            // A dependent condition: both sides are looked at, as for any other uniform condition.
            self.note_unknown(condition.span, "a condition on template parameters that are not known");
        }
        self.branch(
            &known,
            condition.span,
            |e| e.exec_scoped(then),
            |e| {
                if let Some(s) = otherwise {
                    e.exec_scoped(s);
                }
            },
        );
        if let Some(frame) = self.frames.last_mut() {
            frame.locals.truncate(mark);
        }
    }

    pub(super) fn exec_scoped(&mut self, stmt: &'p Stmt) {
        let mark = self.frame().map_or(0, |f| f.locals.len());
        self.exec(stmt);
        if let Some(frame) = self.frames.last_mut() {
            frame.locals.truncate(mark);
        }
    }

    fn exec_range_for(&mut self, variable: &'p crate::model::VarDecl, range: &'p Expr, body: &'p Stmt) {
        let value = self.eval(range);
        let mark = self.frame().map_or(0, |f| f.locals.len());
        let declared = self.resolve(&variable.ty);
        let ty = match (declared.value_type(), value.ty().pointee()) {
            (crate::model::types::Ty::Unknown, Some(t)) => t.clone(),
            (t, _) => t.clone(),
        };
        let scope = self.value_scope(&value).max(Scope::Block);
        let place = self.new_object(variable.name.clone(), ty.clone(), Rest::Clobbered(scope));
        self.declare(&variable.name, Local::Place(place));
        self.run_loop(Loop {
            condition: None,
            step: None,
            body,
            is_post_tested: false,
            span: range.span,
            unroll: None,
        });
        if let Some(frame) = self.frames.last_mut() {
            frame.locals.truncate(mark);
        }
    }

    fn exec_switch(&mut self, condition: &'p Expr, cases: &'p [SwitchCase], span: Span) {
        let value = self.eval(condition);
        let poly = self.as_int(&value);
        if let Some(c) = poly.as_constant() {
            let at = cases
                .iter()
                .position(|case| case.labels.iter().any(|l| self.constant(l) == Some(c)))
                .or_else(|| cases.iter().position(|case| case.is_default));
            if let Some(at) = at {
                self.run_cases(&cases[at..]);
            }
            return;
        }
        let order: Vec<usize> = (0..cases.len()).filter(|i| !cases[*i].is_default).collect();
        self.switch_from(&poly, cases, &order, span);
    }

    /// Tries the cases one after another, the default last.
    fn switch_from(&mut self, poly: &Poly, cases: &'p [SwitchCase], order: &[usize], span: Span) {
        let Some((first, rest)) = order.split_first() else {
            if let Some(at) = cases.iter().position(|c| c.is_default) {
                self.run_cases(&cases[at..]);
            }
            return;
        };
        let mut any = Poly::zero();
        for label in &cases[*first].labels {
            let label = self.eval(label);
            let label = self.as_int(&label);
            let equal = self.terms.compare(Op::Eq, poly, &label);
            any = self.terms.logical(Op::LogicalOr, &any, &equal);
        }
        let known = self.condition(&Value::truth(any));
        self.branch(&known, span, |e| e.run_cases(&cases[*first..]), |e| e.switch_from(poly, cases, rest, span));
    }

    /// Runs statements from one case on until a break.
    fn run_cases(&mut self, cases: &'p [SwitchCase]) {
        let mark = self.state.guards.len();
        let Some(frame) = self.frames.last_mut() else { return };
        frame.loops.push(LoopFrame { breaks: Vec::new(), continues: Vec::new(), is_switch: true });
        let names = frame.locals.len();
        for case in cases {
            self.exec_all(&case.body);
        }
        let Some(frame) = self.frames.last_mut() else { return };
        frame.locals.truncate(names);
        let breaks = frame.loops.pop().map(|l| l.breaks).unwrap_or_default();
        for state in breaks {
            self.rejoin(state, mark);
        }
        self.drop_skips(mark);
    }

    fn exec_return(&mut self, value: Option<&'p Expr>) {
        let ty = self.frame().map(|f| f.returns_ty.clone()).unwrap_or(crate::model::types::Ty::Unknown);
        let value = match value {
            Some(e) if matches!(ty, crate::model::types::Ty::Reference(_)) => match self.place(e) {
                Some(place) => Value::Pointer(place),
                None => {
                    let value = self.eval(e);
                    Value::Pointer(self.materialise(value))
                }
            },
            Some(e) => {
                let value = self.eval_into(e, &ty);
                if ty == crate::model::types::Ty::Unknown { value } else { self.convert(value, &ty) }
            }
            None => Value::Void,
        };
        let is_kernel = self.frames.len() == 1;
        let mut state = self.state.clone();
        state.exit = None;
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.push((state, value));
        }
        self.state.exit =
            Some(if is_kernel && self.side == Side::Device { GuardKind::Returned } else { GuardKind::Skipped });
    }

    fn leave(&mut self, is_break: bool) {
        let mut state = self.state.clone();
        state.exit = None;
        if let Some(frame) = self.frames.last_mut() {
            let target = frame.loops.iter_mut().rev().find(|l| is_break || !l.is_switch);
            if let Some(target) = target {
                if is_break { target.breaks.push(state) } else { target.continues.push(state) }
            }
        }
        self.state.exit = Some(GuardKind::Skipped);
    }

    /// Threads that went another way come back: joins their state into the current one. Guards from `mark` on belong to
    /// the ways.
    pub(super) fn rejoin(&mut self, other: State<'p>, mark: usize) {
        if self.state.exit.is_some() {
            self.state = other;
            return;
        }
        let disjoint = self.state.active.and(&other.active).is_empty();
        let condition = if disjoint {
            let mine = self.state.active;
            let block = self.block();
            Poly::lanes(crate::symbolic::lanes::Lanes::constant(1).blend(
                &crate::symbolic::lanes::Lanes::constant(0),
                &mine,
                block,
            ))
        } else {
            match other.guards.iter().skip(mark).rev().find_map(|g| g.condition.clone()) {
                Some((poly, true)) => self.terms.not(&poly),
                Some((poly, false)) => poly,
                None => self.terms.data(Scope::Block, 0, 1, "which way was taken"),
            }
        };
        let other = State { exit: None, ..other };
        self.join_into(other, &condition, mark);
    }

    /// After the ways have met, who skipped something inside is no longer missing; who left the kernel is.
    pub(super) fn drop_skips(&mut self, mark: usize) {
        let mark = mark.min(self.state.guards.len());
        let tail = self.state.guards.split_off(mark);
        for guard in tail {
            if guard.kind == GuardKind::Returned {
                self.push_guard(guard);
            }
        }
    }

    pub(super) fn is_simple_name(expr: &Expr) -> Option<&crate::model::Name> {
        match &expr.kind {
            ExprKind::Name(path) => path.as_simple(),
            _ => None,
        }
    }
}
