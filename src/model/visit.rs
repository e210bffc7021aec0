//! Walks over statements and expressions in source order.

use super::ast::{Expr, ExprKind, Init, Stmt, StmtKind};

/// Calls `f` on every expression below the statements, outer before inner; lambda bodies included.
pub fn expressions<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Expr)) {
    for stmt in body {
        statement(stmt, f);
    }
}

fn statement<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Expr(e) => expression(e, f),
        StmtKind::Decl(decls) => {
            for decl in decls {
                if let Some(i) = &decl.init {
                    init(i, f);
                }
            }
        }
        StmtKind::Block(body) => expressions(body, f),
        StmtKind::If { init, condition, then, otherwise, .. } => {
            if let Some(s) = init {
                statement(s, f);
            }
            expression(condition, f);
            statement(then, f);
            if let Some(s) = otherwise {
                statement(s, f);
            }
        }
        StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
            expression(condition, f);
            statement(body, f);
        }
        StmtKind::For { init, condition, step, body, .. } => {
            if let Some(s) = init {
                statement(s, f);
            }
            condition.iter().chain(step).for_each(|e| expression(e, f));
            statement(body, f);
        }
        StmtKind::RangeFor { range, body, .. } => {
            expression(range, f);
            statement(body, f);
        }
        StmtKind::Switch { condition, cases } => {
            expression(condition, f);
            for case in cases {
                expressions(&case.body, f);
            }
        }
        StmtKind::Return(Some(e)) => expression(e, f),
        StmtKind::Asm(asm) => asm.outputs.iter().chain(&asm.inputs).for_each(|(_, e)| expression(e, f)),
        _ => {}
    }
}

fn init<'a>(init: &'a Init, f: &mut dyn FnMut(&'a Expr)) {
    match init {
        Init::Value(e) => expression(e, f),
        Init::Paren(list) | Init::Brace(list) => list.iter().for_each(|e| expression(e, f)),
    }
}

fn expression<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(expr);
    match &expr.kind {
        ExprKind::Unary { operand, .. }
        | ExprKind::IncDec { operand, .. }
        | ExprKind::Cast { operand, .. }
        | ExprKind::SizeofExpr(operand)
        | ExprKind::Delete(operand)
        | ExprKind::Designated { value: operand, .. }
        | ExprKind::Member { base: operand, .. } => expression(operand, f),
        ExprKind::Binary { left, right, .. } => {
            expression(left, f);
            expression(right, f);
        }
        ExprKind::Assign { target, value, .. } => {
            expression(target, f);
            expression(value, f);
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|e| expression(e, f));
        }
        ExprKind::Index { base, index } => {
            expression(base, f);
            expression(index, f);
        }
        ExprKind::Call { callee, args } => {
            expression(callee, f);
            args.iter().for_each(|e| expression(e, f));
        }
        ExprKind::Launch { callee, config, args } => {
            expression(callee, f);
            config.iter().chain(args).for_each(|e| expression(e, f));
        }
        ExprKind::Construct { args, .. } | ExprKind::InitList(args) | ExprKind::Comma(args) => {
            args.iter().for_each(|e| expression(e, f));
        }
        ExprKind::Lambda(lambda) => expressions(&lambda.body, f),
        ExprKind::New { count: Some(e), .. } => expression(e, f),
        _ => {}
    }
}
