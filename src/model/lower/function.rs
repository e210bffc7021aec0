//! Functions: kernels, device and host functions, methods, constructors, conversions; with and without a body.

use super::declarator::Declared;
use super::recover::is_statement;
use super::specifiers::Specifiers;
use super::{Child, Lowering, of_kind, part};
use crate::model::ast::{
    Function, Init, Name, Path, Scalar, Stmt, StmtKind, TemplateArg, TemplateParam, TemplateParamKind, TypeExpr,
    TypeKind,
};
use crate::source::Span;
use crate::syntax::{Field, Kind, Node};

impl<'t> Lowering<'t> {
    /// A function with a body, `= default` or `= delete`.
    pub(super) fn function_definition(&mut self, node: Node<'t>) {
        let start = self.item_start.take().unwrap_or(node.start_byte());
        let children = self.children(node);
        let Some(declarator) = part(&children, Field::Declarator) else { return };
        let body = part(&children, Field::Body).map_or(Body::Absent, Body::Block);
        let span = self.span(start..node.end_byte());
        self.function_parts(&children, declarator, body, span);
    }

    /// A function out of its parts; they need not stand under one node.
    pub(super) fn function_parts(
        &mut self,
        children: &[Child<'t>],
        declarator: Child<'t>,
        body: Body<'_, 't>,
        span: Span,
    ) {
        let heads = std::mem::take(&mut self.heads);
        let mark = self.names.open();
        self.add_template_values(&heads);
        let specifiers = self.specifiers(children);
        let base = specifiers.ty(self, declarator.node);
        let declared = self.declarator(declarator, base);
        let name = declared.name();
        let outer = self.function.replace(name);
        let inits =
            of_kind(children, Kind::FieldInitializerList).map(|l| self.member_inits(l.node)).unwrap_or_default();
        let statements = self.function_body(&declared, body);
        self.function = outer;
        self.names.close(mark);
        self.push_function(heads, &specifiers, declared, span, inits, statements);
    }

    fn function_body(&mut self, declared: &Declared, body: Body<'_, 't>) -> Option<Vec<Stmt>> {
        for param in &declared.params {
            self.names.add_value(&param.name);
        }
        match body {
            Body::Absent => None,
            Body::Block(body) if body.kind == Kind::TryStatement => {
                let mut out = Vec::new();
                self.statement_into(body, &mut out);
                Some(out)
            }
            Body::Block(body) => Some(self.block(body.node)),
            Body::Broken(error, children) => {
                self.gap(error, "syntax error");
                let mut out = vec![Stmt { span: self.span_of(error), kind: StmtKind::Gap("syntax error") }];
                for child in children.iter().filter(|c| is_statement(c.kind)) {
                    self.statement_into(*child, &mut out);
                }
                Some(out)
            }
        }
    }

    fn add_template_values(&mut self, heads: &[Vec<TemplateParam>]) {
        for param in heads.iter().flatten() {
            if matches!(param.kind, TemplateParamKind::Value { .. }) {
                self.names.add_value(&param.name);
            }
        }
    }

    /// A declaration of a function, out of a declaration that may hold several.
    pub(super) fn function_declaration(
        &mut self,
        heads: Vec<Vec<TemplateParam>>,
        specifiers: &Specifiers,
        declared: Declared,
        span: Span,
    ) {
        self.push_function(heads, specifiers, declared, span, Vec::new(), None);
    }

    fn push_function(
        &mut self,
        heads: Vec<Vec<TemplateParam>>,
        specifiers: &Specifiers,
        declared: Declared,
        span: Span,
        member_inits: Vec<(Name, Init)>,
        body: Option<Vec<Stmt>>,
    ) {
        let Declared { path, name_span, ty, params, is_variadic, .. } = declared;
        let Some(path) = path else { return };
        let TypeKind::Function(returns, _) = ty.kind else { return };
        let Owner { scope, class, mut class_template, template } = self.owner(&path, heads, specifiers.is_friend);
        let name = path.last().clone();
        let returns = Self::returns(*returns, specifiers, &name);
        if class.is_none() {
            self.names.add_function(&name);
        }
        let mut quals = specifiers.function;
        quals.is_variadic = is_variadic;
        if self.class.is_some() && !specifiers.is_friend {
            let mut all = self.class_templates.clone();
            all.append(&mut class_template);
            class_template = all;
        }
        self.unit.functions.push(Function {
            name,
            scope,
            class,
            name_span,
            span,
            template,
            specialisation: path.last_args().map(<[TemplateArg]>::to_vec),
            class_template,
            quals,
            launch_bounds: specifiers.launch_bounds.clone(),
            params,
            returns,
            member_inits,
            body,
        });
    }

    /// Constructors and destructors return nothing.
    fn returns(returns: TypeExpr, specifiers: &Specifiers, name: &Name) -> TypeExpr {
        let is_plain = matches!(returns.kind, TypeKind::Unknown);
        if is_plain && specifiers.base.is_none() && !name.starts_with("operator") {
            return Self::plain_type(returns.span, TypeKind::Builtin(Scalar::Void));
        }
        returns
    }

    /// Where a function belongs, and which template head is its own: `template <class T> template <class U> A<T>::f`.
    fn owner(&self, path: &Path, mut heads: Vec<Vec<TemplateParam>>, is_friend: bool) -> Owner {
        let qualifiers = path.segments.len().saturating_sub(1);
        let qualifiers = path.segments.get(..qualifiers).unwrap_or_default();
        let mut scope = self.scope.clone();
        let mut class = self.class.clone();
        let mut class_template = Vec::new();
        if is_friend && class.is_some() {
            scope.pop();
            class = None;
        }
        for segment in qualifiers {
            scope.push(segment.name.clone());
            if segment.args.is_some() && !heads.is_empty() {
                class_template.extend(heads.remove(0));
            }
            let is_class = segment.args.is_some() || !self.names.is_namespace(&segment.name);
            class = is_class.then(|| segment.name.clone());
        }
        let template = heads.pop().unwrap_or_default();
        Owner { scope, class, class_template, template }
    }

    /// `: a(1), b{2}`.
    fn member_inits(&mut self, list: Node<'t>) -> Vec<(Name, Init)> {
        let mut out = Vec::new();
        for child in self.children(list) {
            if child.kind != Kind::FieldInitializer {
                continue;
            }
            let parts = self.children(child.node);
            let Some(name) = parts.first() else { continue };
            let segment = self.path(name.node, name.kind).last().clone();
            let value = parts.iter().find(|p| matches!(p.kind, Kind::ArgumentList | Kind::InitializerList));
            let init = value.map_or(Init::Paren(Vec::new()), |v| self.initializer(*v, false));
            out.push((segment, init));
        }
        out
    }

    /// A function definition inside of a function. With a type it is a real one behind a brace that is missing; without, a macro with a
    /// block behind it.
    pub(super) fn function_in_body(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let children = self.children(node);
        let is_real = children.iter().any(|c| c.field == Field::Type && c.kind != Kind::TypeIdentifier)
            || children.iter().any(|c| c.kind == Kind::Token && self.text_of(c.node).starts_with("__"));
        if is_real {
            self.function_definition(node);
            return;
        }
        let Some(body) = part(&children, Field::Body) else { return };
        let head = self.span(node.start_byte()..body.node.start_byte());
        self.gap(node, "block behind an unknown word");
        out.push(Stmt { span: head, kind: StmtKind::Gap("block behind an unknown word") });
        self.statement_into(body, out);
    }
}

/// What stands behind the header of a function.
pub(super) enum Body<'a, 't> {
    Absent,
    Block(Child<'t>),
    /// An error with some statements left in it.
    Broken(Node<'t>, &'a [Child<'t>]),
}

struct Owner {
    scope: Vec<Name>,
    class: Option<Name>,
    class_template: Vec<TemplateParam>,
    template: Vec<TemplateParam>,
}
