//! Statements of a function body.

use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{Asm, Expr, ExprKind, Init, Name, Stmt, StmtKind, SwitchCase, UnaryOp, Unroll};
use crate::preprocess::{Expanded, OffsetMap, Segment};
use crate::syntax::{Field, Kind, Node};

/// The longest chain of `else if` that is read.
const MAX_ELSE_IFS: usize = 200;

impl<'t> Lowering<'t> {
    /// The statements of a block in a scope of their own.
    pub(super) fn block(&mut self, node: Node<'t>) -> Vec<Stmt> {
        let children = self.children(node);
        self.statements(&children)
    }

    pub(super) fn statements(&mut self, children: &[Child<'t>]) -> Vec<Stmt> {
        let mark = self.names.open();
        let mut out = Vec::with_capacity(children.len());
        for child in children {
            self.statement_into(*child, &mut out);
        }
        self.names.close(mark);
        out
    }

    /// One statement; a block where it lowers to none or several.
    pub(super) fn statement(&mut self, child: Child<'t>) -> Stmt {
        let mut out = Vec::new();
        self.statement_into(child, &mut out);
        match (out.pop(), out.is_empty()) {
            (Some(only), true) => only,
            (Some(last), false) => {
                out.push(last);
                Stmt { span: self.span_of(child.node), kind: StmtKind::Block(out) }
            }
            (None, _) => Stmt { span: self.span_of(child.node), kind: StmtKind::Empty },
        }
    }

    pub(super) fn statement_into(&mut self, child: Child<'t>, out: &mut Vec<Stmt>) {
        let read = self.deeper_by(4, |l| l.statement_kind(child, out));
        if read.is_none() {
            self.gap(child.node, "nested too deeply");
            out.push(Stmt { span: self.span_of(child.node), kind: StmtKind::Gap("nested too deeply") });
        }
    }

    fn statement_kind(&mut self, child: Child<'t>, out: &mut Vec<Stmt>) {
        let node = child.node;
        let kind = match child.kind {
            Kind::CompoundStatement => StmtKind::Block(self.block(node)),
            Kind::IfStatement => self.if_statement(node),
            Kind::ForStatement => self.for_statement(node),
            Kind::WhileStatement => self.while_statement(node),
            Kind::DoStatement => self.do_statement(node),
            Kind::ForRangeLoop => self.range_for(node),
            Kind::SwitchStatement => self.switch(node),
            Kind::LabeledStatement => return self.labeled(node, out),
            Kind::AttributedStatement | Kind::InitStatement | Kind::ElseClause | Kind::TryStatement => {
                return self.inner_statement(node, out);
            }
            Kind::PreprocIf | Kind::PreprocIfdef | Kind::PreprocElse | Kind::PreprocElif | Kind::PreprocElifdef => {
                for inner in self.branch(node, child.kind) {
                    self.statement_into(inner, out);
                }
                return;
            }
            Kind::Error => return self.error_statement(node, out),
            Kind::Token | Kind::Comment | Kind::PreprocCall | Kind::CatchClause | Kind::Other => return,
            Kind::StaticAssertDeclaration | Kind::UsingDeclaration | Kind::ConceptDefinition => return,
            Kind::CaseStatement => {
                self.gap(node, "case label outside of its switch");
                StmtKind::Gap("case label outside of its switch")
            }
            _ if self.is_damaged(node) => return self.damaged_statement(child, out),
            Kind::ExpressionStatement => return self.expression_statement(node, out),
            Kind::Declaration
            | Kind::TypeDefinition
            | Kind::AliasDeclaration
            | Kind::StructSpecifier
            | Kind::ClassSpecifier
            | Kind::UnionSpecifier
            | Kind::EnumSpecifier
            | Kind::TemplateDeclaration => return self.declaration_statement(child, out),
            Kind::FunctionDefinition => return self.function_in_body(node, out),
            Kind::ReturnStatement => {
                let value = self.children(node).into_iter().find(|c| c.kind != Kind::Token);
                StmtKind::Return(value.map(|v| self.expr(v.node)))
            }
            Kind::BreakStatement => StmtKind::Break,
            Kind::ContinueStatement => StmtKind::Continue,
            Kind::GotoStatement => StmtKind::Goto(self.label(node)),
            Kind::ThrowStatement => StmtKind::Expr(self.unknown(node, "throw")),
            Kind::CoReturnStatement | Kind::CoYieldStatement => StmtKind::Expr(self.unknown(node, "coroutine")),
            _ => {
                self.gap(node, "statement not understood");
                StmtKind::Gap("statement not understood")
            }
        };
        out.push(Stmt { span: self.span_of(node), kind });
    }

    fn label(&mut self, node: Node<'t>) -> Name {
        self.child(node, Field::Label).map(|l| self.name_of(l.node)).unwrap_or_default()
    }

    fn labeled(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let children = self.children(node);
        if let Some(label) = part(&children, Field::Label) {
            let kind = StmtKind::Label(self.name_of(label.node));
            out.push(Stmt { span: self.span_of(label.node), kind });
        }
        for child in children {
            if child.field != Field::Label && child.kind != Kind::Token {
                self.statement_into(child, out);
            }
        }
    }

    /// A statement wrapped in attributes, `else` or `try`.
    fn inner_statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        for child in self.children(node) {
            if !matches!(
                child.kind,
                Kind::Token | Kind::AttributeDeclaration | Kind::CatchClause | Kind::FieldInitializerList
            ) {
                self.statement_into(child, out);
            }
        }
    }

    fn expression_statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let span = self.span_of(node);
        let Some(inner) = self.children(node).into_iter().find(|c| c.kind != Kind::Token) else {
            out.push(Stmt { span, kind: StmtKind::Empty });
            return;
        };
        let kind = if inner.kind == Kind::GnuAsmExpression {
            StmtKind::Asm(self.asm(inner.node))
        } else if let Some(decls) = self.declaration_in_disguise(inner) {
            StmtKind::Decl(decls)
        } else {
            StmtKind::Expr(self.expr(inner.node))
        };
        out.push(Stmt { span, kind });
    }

    /// A condition whose text is broken is an unknown one; the statements it guards are still read.
    fn checked_expr(&mut self, node: Node<'t>) -> Expr {
        if self.is_damaged(node) {
            self.gap(node, "syntax error");
            return self.unknown(node, "syntax error");
        }
        self.expr(node)
    }

    /// Condition of `if`, `while` and `switch`: what is declared in it, and its value.
    fn condition(&mut self, children: &[Child<'t>], node: Node<'t>) -> (Vec<Stmt>, Expr) {
        let mut init = Vec::new();
        let Some(clause) = part(children, Field::Condition) else {
            self.gap(node, "syntax error");
            return (init, self.unknown(node, "syntax error"));
        };
        if clause.kind != Kind::ConditionClause {
            return (init, self.checked_expr(clause.node));
        }
        let inner = self.children(clause.node);
        if let Some(before) = part(&inner, Field::Initializer) {
            self.statement_into(before, &mut init);
        }
        let value = match part(&inner, Field::Value) {
            Some(value) if value.kind == Kind::Declaration => self.condition_declaration(value, &mut init),
            Some(value) if of_kind(&inner, Kind::Error).is_some_and(|e| !self.is_harmless(e.node)) => {
                self.gap(clause.node, "syntax error");
                self.unknown(value.node, "syntax error")
            }
            Some(value) => self.checked_expr(value.node),
            None => {
                self.gap(clause.node, "syntax error");
                self.unknown(clause.node, "syntax error")
            }
        };
        (init, value)
    }

    fn condition_declaration(&mut self, declaration: Child<'t>, init: &mut Vec<Stmt>) -> Expr {
        let children = self.children(declaration.node);
        let decls = self.variables(declaration.node, &children);
        let span = self.span_of(declaration.node);
        let Some(first) = decls.first() else { return self.unknown(declaration.node, "syntax error") };
        let kind = ExprKind::Name(crate::model::ast::Path::simple(first.name.clone()));
        let value = Expr { span: first.name_span, kind };
        init.push(Stmt { span, kind: StmtKind::Decl(decls) });
        value
    }

    fn as_one(&self, node: Node<'t>, mut stmts: Vec<Stmt>) -> Option<Box<Stmt>> {
        match (stmts.pop(), stmts.is_empty()) {
            (None, _) => None,
            (Some(only), true) => Some(Box::new(only)),
            (Some(last), false) => {
                stmts.push(last);
                Some(Box::new(Stmt { span: self.span_of(node), kind: StmtKind::Block(stmts) }))
            }
        }
    }

    /// A chain of `else if` is read in a loop: it may be long without being nested for the reader.
    fn if_statement(&mut self, node: Node<'t>) -> StmtKind {
        let mark = self.names.open();
        let mut chain = Vec::new();
        let mut next = Some(node);
        let mut otherwise = None;
        while let Some(node) = next.take() {
            let children = self.children(node);
            let is_constexpr = children.iter().any(|c| c.kind == Kind::Token && self.text_of(c.node) == "constexpr");
            let (init, condition) = self.condition(&children, node);
            let init = self.as_one(node, init);
            let then = match part(&children, Field::Consequence) {
                Some(then) => Box::new(self.statement(then)),
                None => Box::new(Stmt { span: self.span_of(node), kind: StmtKind::Empty }),
            };
            chain.push((self.span_of(node), StmtKind::If { is_constexpr, init, condition, then, otherwise: None }));
            let Some(alternative) = part(&children, Field::Alternative) else { break };
            let inner = self.children(alternative.node).into_iter().find(|c| c.kind != Kind::Token);
            match inner {
                Some(inner) if inner.kind == Kind::IfStatement && chain.len() < MAX_ELSE_IFS => next = Some(inner.node),
                Some(inner) if inner.kind == Kind::IfStatement => {
                    self.gap(inner.node, "nested too deeply");
                    let kind = StmtKind::Gap("nested too deeply");
                    otherwise = Some(Box::new(Stmt { span: self.span_of(inner.node), kind }));
                }
                _ => otherwise = Some(Box::new(self.statement(alternative))),
            }
        }
        self.names.close(mark);
        let mut result = StmtKind::Empty;
        while let Some((span, mut kind)) = chain.pop() {
            if let StmtKind::If { otherwise: slot, .. } = &mut kind {
                *slot = otherwise.take();
            }
            if chain.is_empty() {
                result = kind;
            } else {
                otherwise = Some(Box::new(Stmt { span, kind }));
            }
        }
        result
    }

    fn body(&mut self, children: &[Child<'t>], node: Node<'t>) -> Box<Stmt> {
        Box::new(match part(children, Field::Body) {
            Some(body) => self.statement(body),
            None => Stmt { span: self.span_of(node), kind: StmtKind::Empty },
        })
    }

    fn while_statement(&mut self, node: Node<'t>) -> StmtKind {
        let children = self.children(node);
        let mark = self.names.open();
        let (mut before, condition) = self.condition(&children, node);
        let body = self.body(&children, node);
        self.names.close(mark);
        if before.is_empty() {
            return StmtKind::While { condition, body };
        }
        // `while (T x = f()) body` declares anew in each round.
        let span = condition.span;
        let not = ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(condition) };
        let leave = StmtKind::If {
            is_constexpr: false,
            init: None,
            condition: Expr { span, kind: not },
            then: Box::new(Stmt { span, kind: StmtKind::Break }),
            otherwise: None,
        };
        before.push(Stmt { span, kind: leave });
        before.push(*body);
        let body = Box::new(Stmt { span: self.span_of(node), kind: StmtKind::Block(before) });
        StmtKind::While { condition: Expr { span, kind: ExprKind::Bool(true) }, body }
    }

    fn do_statement(&mut self, node: Node<'t>) -> StmtKind {
        let children = self.children(node);
        let body = self.body(&children, node);
        let condition = match part(&children, Field::Condition) {
            Some(condition) => self.checked_expr(condition.node),
            None => self.unknown(node, "syntax error"),
        };
        StmtKind::DoWhile { body, condition }
    }

    fn for_statement(&mut self, node: Node<'t>) -> StmtKind {
        let children = self.children(node);
        let unroll = self.unroll_before(node.start_byte());
        let mark = self.names.open();
        if of_kind(&children, Kind::Error).is_some_and(|e| !self.is_harmless(e.node)) {
            self.gap(node, "syntax error");
            let condition = Some(self.unknown(node, "syntax error"));
            let body = self.body(&children, node);
            return StmtKind::For { init: None, condition, step: None, body, unroll };
        }
        let init = part(&children, Field::Initializer).map(|init| {
            let mut stmts = Vec::new();
            if init.kind == Kind::Declaration {
                self.statement_into(init, &mut stmts);
            } else {
                let kind = StmtKind::Expr(self.checked_expr(init.node));
                stmts.push(Stmt { span: self.span_of(init.node), kind });
            }
            stmts
        });
        let init = init.and_then(|stmts| self.as_one(node, stmts));
        let condition = part(&children, Field::Condition).map(|c| self.checked_expr(c.node));
        let step = part(&children, Field::Update).map(|u| self.checked_expr(u.node));
        let body = self.body(&children, node);
        self.names.close(mark);
        StmtKind::For { init, condition, step, body, unroll }
    }

    fn range_for(&mut self, node: Node<'t>) -> StmtKind {
        let children = self.children(node);
        let mark = self.names.open();
        let mut before = Vec::new();
        if let Some(init) = part(&children, Field::Initializer) {
            self.statement_into(init, &mut before);
        }
        let range = match part(&children, Field::Right) {
            Some(right) => self.checked_expr(right.node),
            None => self.unknown(node, "syntax error"),
        };
        let variable = self.variables(node, &children).into_iter().next();
        let body = self.body(&children, node);
        self.names.close(mark);
        let Some(variable) = variable else {
            self.gap(node, "syntax error");
            return StmtKind::Gap("syntax error");
        };
        let kind = StmtKind::RangeFor { variable, range, body };
        if before.is_empty() {
            return kind;
        }
        before.push(Stmt { span: self.span_of(node), kind });
        StmtKind::Block(before)
    }

    fn switch(&mut self, node: Node<'t>) -> StmtKind {
        let children = self.children(node);
        let mark = self.names.open();
        let (mut before, condition) = self.condition(&children, node);
        let mut cases: Vec<SwitchCase> = Vec::new();
        let body = part(&children, Field::Body).map(|b| self.children(b.node)).unwrap_or_default();
        for child in body {
            self.case_into(child, &mut cases);
        }
        self.names.close(mark);
        let kind = StmtKind::Switch { condition, cases };
        if before.is_empty() {
            return kind;
        }
        before.push(Stmt { span: self.span_of(node), kind });
        StmtKind::Block(before)
    }

    fn case_into(&mut self, child: Child<'t>, cases: &mut Vec<SwitchCase>) {
        if child.kind != Kind::CaseStatement {
            // Behind a case that ended early for the grammar; in front of all cases it cannot be reached.
            let mut stray = Vec::new();
            self.statement_into(child, &mut stray);
            if let Some(last) = cases.last_mut() {
                last.body.append(&mut stray);
            }
            return;
        }
        let children = self.children(child.node);
        let is_default = children.first().is_some_and(|c| self.text_of(c.node) == "default");
        let label = part(&children, Field::Value).map(|v| match v.kind {
            Kind::ParameterPackExpansion => self.unknown(v.node, "case range"),
            _ => self.expr(v.node),
        });
        if !cases.last().is_some_and(|c| c.body.is_empty()) {
            cases.push(SwitchCase { labels: Vec::new(), is_default: false, body: Vec::new() });
        }
        let mut body = Vec::new();
        let mut nested = Vec::new();
        for inner in children {
            match inner.kind {
                Kind::Token => {}
                Kind::CaseStatement => nested.push(inner),
                Kind::Error if inner.node.start_byte() < child.node.start_byte() + 4 => {}
                _ if inner.field == Field::Value => {}
                _ => self.statement_into(inner, &mut body),
            }
        }
        if let Some(last) = cases.last_mut() {
            last.labels.extend(label);
            last.is_default |= is_default;
            last.body.append(&mut body);
        }
        for inner in nested {
            let _ = self.deeper(|l| l.case_into(inner, cases));
        }
    }

    fn asm(&mut self, node: Node<'t>) -> Asm {
        let children = self.children(node);
        let template = match part(&children, Field::AssemblyCode) {
            Some(code) if code.kind == Kind::ConcatenatedString => self.concatenated(code.node),
            Some(code) => match self.expr(code.node).kind {
                ExprKind::Str(text) => text.to_string(),
                _ => String::new(),
            },
            None => String::new(),
        };
        let outputs = part(&children, Field::OutputOperands).map(|o| self.asm_operands(o.node)).unwrap_or_default();
        let inputs = part(&children, Field::InputOperands).map(|o| self.asm_operands(o.node)).unwrap_or_default();
        Asm { template, outputs, inputs }
    }

    fn asm_operands(&mut self, list: Node<'t>) -> Vec<(Name, Expr)> {
        let mut out = Vec::new();
        for operand in self.children(list) {
            if !matches!(operand.kind, Kind::GnuAsmInputOperand | Kind::GnuAsmOutputOperand) {
                continue;
            }
            let children = self.children(operand.node);
            let (Some(constraint), Some(value)) = (part(&children, Field::Constraint), part(&children, Field::Value))
            else {
                continue;
            };
            let constraint = super::literal::string(self.text_of(constraint.node));
            out.push((constraint.into(), self.expr(value.node)));
        }
        out
    }

    /// The unroll pragma right in front of an offset.
    fn unroll_before(&mut self, at: usize) -> Option<Unroll> {
        let index = self.unrolls.partition_point(|u| u.end <= at);
        let pragma = index.checked_sub(1).and_then(|i| self.unrolls.get(i))?;
        if !is_blank(self.text.get(pragma.end..at)?) {
            return None;
        }
        let span = self.span(pragma.argument.clone());
        if pragma.disabled {
            let one = ExprKind::Int { value: 1, unsigned: false, long: false };
            return Some(Unroll::Count(Box::new(Expr { span, kind: one })));
        }
        let text = self.text.get(pragma.argument.clone())?.trim();
        if text.is_empty() {
            return Some(Unroll::Full);
        }
        let kind = self.expr_of_text(text, span);
        Some(Unroll::Count(Box::new(Expr { span, kind })))
    }

    /// An expression that is no part of the tree.
    fn expr_of_text(&self, text: &str, span: crate::source::Span) -> ExprKind {
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return super::literal::number(text);
        }
        let segment = Segment { expanded: 0, original: span.start, macro_end: Some(span.end) };
        let map = OffsetMap { segments: vec![segment] };
        let expanded = Expanded { text: format!("auto x = {text};"), map, ..Expanded::default() };
        let unit = super::lower(self.file, &expanded);
        match unit.globals.into_iter().next().and_then(|g| g.decl.init) {
            Some(Init::Value(expr)) => expr.kind,
            _ => ExprKind::Unknown("unroll count"),
        }
    }
}

/// Whether a text holds nothing but blanks, comments and closed directives.
fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = match rest.get(..2) {
            Some("//") => rest.find('\n'),
            Some("/*") => rest.find("*/").map(|i| i + 2),
            _ if rest.starts_with("#pragma") => rest.find('\n'),
            _ => return false,
        };
        rest = rest.get(end.unwrap_or(rest.len())..).unwrap_or("").trim_start();
    }
    true
}
