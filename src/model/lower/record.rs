//! Structs, classes, unions and enums.

use super::declaration::Entity;
use super::specifiers::Specifiers;
use super::types::named;
use super::{Child, Definitions, Lowering, of_kind, part};
use crate::model::ast::{EnumDef, Expr, Field as DataField, Init, Name, Path, Record, TypeExpr, TypeKind};
use crate::syntax::{Field, Kind, Node};

impl<'t> Lowering<'t> {
    /// `struct A`, with or without a body. A body defines the record in the place being read.
    pub(super) fn record_specifier(&mut self, node: Node<'t>, kind: Kind) -> TypeKind {
        let children = self.children(node);
        let name = part(&children, Field::Name);
        let path = name.map(|n| self.path(n.node, n.kind));
        let Some(body) = part(&children, Field::Body) else {
            if let Some(name) = path.as_ref().and_then(Path::as_simple) {
                self.names.add_type(name);
            }
            return path.map_or(TypeKind::Unknown, named);
        };
        let alias = self.typedef_name.take();
        let tag = path.as_ref().map(|p| p.last().clone());
        let name = alias.clone().or_else(|| tag.clone());
        let name = name.unwrap_or_else(|| Name::from(format!("<anon@{}>", node.start_byte())));
        self.names.add_type(&name);
        if let Some(tag) = tag.filter(|tag| *tag != name) {
            self.names.add_type(&tag);
            let target = Self::plain_type(self.span_of(node), TypeKind::Named(Path::simple(name.clone())));
            let alias = self.alias(tag, target);
            self.defs.aliases.push(alias);
        }
        let template = self.heads.pop().unwrap_or_default();
        self.heads.clear();
        let mut scope = self.scope.clone();
        if let Some(path) = &path {
            let outer = path.segments.len().saturating_sub(1);
            scope.extend(path.segments.iter().take(outer).map(|s| s.name.clone()));
        }
        let mut record = Record {
            name: name.clone(),
            scope,
            span: self.span_of(node),
            is_union: kind == Kind::UnionSpecifier,
            template,
            specialisation: path.and_then(|p| p.last_args().map(<[_]>::to_vec)),
            bases: self.bases(&children),
            fields: Vec::new(),
            align: None,
            is_packed: false,
            aliases: Vec::new(),
            records: Vec::new(),
            enums: Vec::new(),
            statics: Vec::new(),
        };
        for child in &children {
            if matches!(child.kind, Kind::AlignasQualifier | Kind::AttributeSpecifier | Kind::MsDeclspecModifier) {
                record.is_packed |= self.text_of(child.node).contains("packed");
                record.align = record.align.take().or_else(|| self.alignment(child.node, child.kind));
            }
        }
        let members = self.children(body.node);
        if self.deeper_by(20, |l| l.record_body(&mut record, &members)).is_none() {
            self.gap(node, "nested too deeply");
        }
        let result = TypeKind::Named(Path::simple(name));
        self.defs.records.push(record);
        result
    }

    fn bases(&mut self, children: &[Child<'t>]) -> Vec<TypeExpr> {
        let Some(clause) = of_kind(children, Kind::BaseClassClause) else { return Vec::new() };
        let mut out = Vec::new();
        for child in self.children(clause.node) {
            if matches!(
                child.kind,
                Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType | Kind::DependentType
            ) {
                let kind = self.type_kind(child);
                out.push(Self::plain_type(self.span_of(child.node), kind));
            }
        }
        out
    }

    fn record_body(&mut self, record: &mut Record, members: &[Child<'t>]) {
        let outer_defs = std::mem::take(&mut self.defs);
        let outer_class = self.class.replace(record.name.clone());
        let outer_scope = std::mem::replace(&mut self.scope, record.scope.clone());
        let outer_templates = self.class_templates.len();
        self.scope.push(record.name.clone());
        self.class_templates.extend(record.template.iter().cloned());
        for member in members {
            self.member(record, *member);
        }
        self.class_templates.truncate(outer_templates);
        self.scope = outer_scope;
        self.class = outer_class;
        let Definitions { records, enums, aliases } = std::mem::replace(&mut self.defs, outer_defs);
        record.records = records;
        record.enums = enums;
        record.aliases = aliases;
    }

    fn member(&mut self, record: &mut Record, member: Child<'t>) {
        let node = member.node;
        match member.kind {
            Kind::FieldDeclaration | Kind::Declaration => self.member_declaration(record, node),
            Kind::FunctionDefinition => self.function_definition(node),
            Kind::TemplateDeclaration => self.template_declaration(node),
            Kind::FriendDeclaration => self.friend(node),
            Kind::AliasDeclaration => {
                let alias = self.alias_declaration(node);
                self.defs.aliases.extend(alias);
            }
            Kind::TypeDefinition => {
                let aliases = self.type_definition(node);
                self.defs.aliases.extend(aliases);
            }
            Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier | Kind::EnumSpecifier => {
                self.type_kind(member);
            }
            Kind::PreprocIf | Kind::PreprocIfdef | Kind::PreprocElse | Kind::PreprocElif | Kind::PreprocElifdef => {
                for inner in self.branch(node, member.kind) {
                    let _ = self.deeper(|l| l.member(record, inner));
                }
            }
            Kind::Error => self.error_member(record, node),
            _ => {}
        }
    }

    fn error_member(&mut self, record: &mut Record, node: Node<'t>) {
        if self.is_harmless(node) {
            return;
        }
        self.gap(node, "syntax error");
        for inner in self.children(node) {
            if !matches!(inner.kind, Kind::Token) {
                let _ = self.deeper(|l| l.member(record, inner));
            }
        }
    }

    /// `friend` in front of a function or a class: a function belongs to the namespace around.
    fn friend(&mut self, node: Node<'t>) {
        for child in self.children(node) {
            if !matches!(child.kind, Kind::FunctionDefinition | Kind::Declaration) {
                continue;
            }
            let class = self.class.take();
            let name = self.scope.pop();
            self.item(child);
            self.scope.extend(name);
            self.class = class;
        }
    }

    /// Data members, methods without body, static members.
    fn member_declaration(&mut self, record: &mut Record, node: Node<'t>) {
        let heads = std::mem::take(&mut self.heads);
        let children = self.children(node);
        if self.is_damaged(node) {
            self.gap(node, "syntax error");
        }
        let specifiers = self.specifiers(&children);
        if !children.iter().any(|c| c.field == Field::Declarator) {
            self.unnamed_member(record, &children, &specifiers, node);
            return;
        }
        if specifiers.variable.is_static {
            for entity in self.declarators(node, &children, &specifiers, false) {
                match entity {
                    Entity::Variable(decl) => record.statics.push(decl),
                    Entity::Function(declared) => {
                        let span = self.span_of(node);
                        self.function_declaration(heads.clone(), &specifiers, declared, span);
                    }
                }
            }
            return;
        }
        self.fields(record, node, &children, &specifiers, &heads);
    }

    fn fields(
        &mut self,
        record: &mut Record,
        node: Node<'t>,
        children: &[Child<'t>],
        specifiers: &Specifiers,
        heads: &[Vec<crate::model::ast::TemplateParam>],
    ) {
        let base = specifiers.ty(self, node);
        let mut current = None;
        for child in children {
            match child.field {
                Field::Declarator => {
                    let (declarator, init) = self.split_init(*child);
                    let declared = self.declarator(declarator, base.clone());
                    if declared.is_function() {
                        let span = self.span_of(node);
                        self.function_declaration(heads.to_vec(), specifiers, declared, span);
                        current = None;
                        continue;
                    }
                    let align = declared.align.clone().or_else(|| specifiers.align.clone());
                    current = Some(record.fields.len());
                    record.fields.push(DataField {
                        name: declared.name(),
                        ty: declared.ty,
                        bit_width: None,
                        align,
                        init,
                    });
                }
                Field::DefaultValue => {
                    let has_equals = child.kind != Kind::InitializerList || self.follows_equals(child.node);
                    let init = self.initializer(*child, has_equals);
                    if let Some(field) = current.and_then(|i| record.fields.get_mut(i)) {
                        field.init = Some(init);
                    }
                }
                _ if child.kind == Kind::BitfieldClause => {
                    let width = self.bit_width(child.node);
                    if let Some(field) = current.and_then(|i| record.fields.get_mut(i)) {
                        field.bit_width = width;
                    }
                }
                _ if child.kind == Kind::AttributeSpecifier => {
                    let align = self.alignment(child.node, child.kind);
                    if let Some(field) = current.and_then(|i| record.fields.get_mut(i)) {
                        field.align = field.align.take().or(align);
                    }
                }
                _ => {}
            }
        }
        self.learn_type(&base);
    }

    fn split_init(&mut self, child: Child<'t>) -> (Child<'t>, Option<Init>) {
        if child.kind != Kind::InitDeclarator {
            return (child, None);
        }
        let inner = self.children(child.node);
        let has_equals = inner.iter().any(|c| c.kind == Kind::Token);
        let init = part(&inner, Field::Value).map(|v| self.initializer(v, has_equals));
        (part(&inner, Field::Declarator).unwrap_or(child), init)
    }

    fn follows_equals(&self, node: Node<'t>) -> bool {
        self.text.get(..node.start_byte()).is_some_and(|before| before.trim_end().ends_with('='))
    }

    fn bit_width(&mut self, clause: Node<'t>) -> Option<Box<Expr>> {
        let width = self.children(clause).into_iter().find(|c| c.kind != Kind::Token)?;
        Some(Box::new(self.expr(width.node)))
    }

    /// `struct { int x; };` is a member without a name; `struct B;` and `int : 3;` declare none or padding.
    fn unnamed_member(&mut self, record: &mut Record, children: &[Child<'t>], specifiers: &Specifiers, node: Node<'t>) {
        let width = of_kind(children, Kind::BitfieldClause);
        let is_anonymous = part(children, Field::Type)
            .is_some_and(|ty| matches!(ty.kind, Kind::StructSpecifier | Kind::UnionSpecifier | Kind::ClassSpecifier))
            && matches!(&specifiers.base, Some((TypeKind::Named(path), _)) if path.last().starts_with("<anon@"));
        if width.is_none() && !is_anonymous {
            return;
        }
        let bit_width = width.and_then(|w| self.bit_width(w.node));
        let ty = specifiers.ty(self, node);
        record.fields.push(DataField {
            name: Name::default(),
            ty,
            bit_width,
            align: specifiers.align.clone(),
            init: None,
        });
    }

    pub(super) fn enum_specifier(&mut self, node: Node<'t>) -> TypeKind {
        let children = self.children(node);
        let path = part(&children, Field::Name).map(|n| self.path(n.node, n.kind));
        let Some(body) = part(&children, Field::Body) else {
            return path.map_or(TypeKind::Unknown, named);
        };
        let name = path.as_ref().map(|p| p.last().clone()).or_else(|| self.typedef_name.take()).unwrap_or_default();
        self.names.add_type(&name);
        let is_class =
            children.iter().any(|c| c.kind == Kind::Token && matches!(self.text_of(c.node), "class" | "struct"));
        let underlying = part(&children, Field::Base).map(|b| {
            let kind = self.type_kind(b);
            Self::plain_type(self.span_of(b.node), kind)
        });
        let mut values = Vec::new();
        self.enumerators(body.node, &mut values);
        let scope = self.scope.clone();
        self.defs.enums.push(EnumDef { name: name.clone(), scope, is_class, underlying, values });
        if name.is_empty() {
            TypeKind::Builtin(crate::model::ast::Scalar::Int)
        } else {
            TypeKind::Named(Path::simple(name))
        }
    }

    fn enumerators(&mut self, list: Node<'t>, values: &mut Vec<(Name, Option<Expr>)>) {
        for child in self.children(list) {
            match child.kind {
                Kind::Enumerator => {
                    let parts = self.children(child.node);
                    let Some(name) = part(&parts, Field::Name) else { continue };
                    let name = self.name_of(name.node);
                    let value = part(&parts, Field::Value).map(|v| self.expr(v.node));
                    self.names.add_value(&name);
                    values.push((name, value));
                }
                Kind::PreprocIf | Kind::PreprocIfdef => {
                    let _ = self.deeper(|l| l.enumerators(child.node, values));
                }
                _ => {}
            }
        }
    }

    /// A variable of namespace scope or a static data member defined outside of its class.
    pub(super) fn global(&mut self, path: Option<&Path>, mut decl: crate::model::ast::VarDecl) {
        let mut scope = self.scope.clone();
        if let Some(path) = path {
            let outer = path.segments.len().saturating_sub(1);
            scope.extend(path.segments.iter().take(outer).map(|s| s.name.clone()));
            decl.name = path.last().clone();
        }
        self.names.add_value(&decl.name);
        self.unit.globals.push(crate::model::ast::Global { scope, decl });
    }
}
