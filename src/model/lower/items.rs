//! Items of a file, a namespace, or an `extern "C"` block.

use super::declaration::Entity;
use super::{Child, Lowering, of_kind, part};
use crate::model::ast::Name;
use crate::syntax::{Field, Kind, Node};

impl<'t> Lowering<'t> {
    /// All items below a node.
    pub(super) fn items(&mut self, node: Node<'t>) {
        let children = self.children(node);
        self.item_list(&children);
    }

    pub(super) fn item_list(&mut self, children: &[Child<'t>]) {
        for (index, child) in children.iter().enumerate() {
            match child.kind {
                Kind::Error => self.error_item(child.node, children.get(index + 1)),
                _ => self.item(*child),
            }
        }
    }

    pub(super) fn item(&mut self, child: Child<'t>) {
        if self.deeper(|l| l.item_kind(child)).is_none() {
            self.gap(child.node, "nested too deeply");
        }
    }

    fn item_kind(&mut self, child: Child<'t>) {
        let node = child.node;
        match child.kind {
            Kind::FunctionDefinition => self.function_definition(node),
            Kind::Declaration => self.global_declaration(node),
            Kind::TemplateDeclaration => self.template_declaration(node),
            Kind::TemplateInstantiation => self.instantiation(node),
            Kind::NamespaceDefinition => self.namespace(node),
            Kind::LinkageSpecification | Kind::ExportDeclaration => self.linkage(node),
            Kind::UsingDeclaration => self.using(node),
            Kind::AliasDeclaration => {
                let alias = self.alias_declaration(node);
                self.defs.aliases.extend(alias);
            }
            Kind::TypeDefinition => {
                let aliases = self.type_definition(node);
                self.defs.aliases.extend(aliases);
            }
            Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier | Kind::EnumSpecifier => {
                self.type_kind(child);
            }
            Kind::DeclarationList => self.items(node),
            Kind::PreprocIf | Kind::PreprocIfdef | Kind::PreprocElse | Kind::PreprocElif | Kind::PreprocElifdef => {
                let branch = self.branch(node, child.kind);
                self.item_list(&branch);
            }
            Kind::ExpressionStatement => {
                let inner = self.children(node).into_iter().find(|c| c.kind != Kind::Token);
                for decl in inner.and_then(|i| self.declaration_in_disguise(i)).unwrap_or_default() {
                    self.global(None, decl);
                }
            }
            Kind::Error => self.error_item(node, None),
            _ => {}
        }
    }

    /// The part of a conditional left in the text that is read: the first, unless its condition is `0`.
    pub(super) fn branch(&mut self, node: Node<'t>, kind: Kind) -> Vec<Child<'t>> {
        let children = self.children(node);
        let is_off = kind == Kind::PreprocIf
            && part(&children, Field::Condition).is_some_and(|c| self.text_of(c.node).trim() == "0");
        if is_off {
            return part(&children, Field::Alternative).into_iter().collect();
        }
        children
            .into_iter()
            .filter(|c| {
                !matches!(c.field, Field::Condition | Field::Name | Field::Alternative) && c.kind != Kind::Token
            })
            .collect()
    }

    fn namespace(&mut self, node: Node<'t>) {
        let children = self.children(node);
        let mut names: Vec<Name> = Vec::new();
        match part(&children, Field::Name) {
            Some(name) => {
                for segment in self.text_of(name.node).split("::") {
                    let segment = segment.trim().trim_start_matches("inline").trim();
                    names.push(Name::new(segment));
                }
            }
            None => names.push(Name::default()),
        }
        let depth = self.scope.len();
        for name in &names {
            self.names.add_namespace(name);
        }
        self.scope.extend(names);
        if let Some(body) = part(&children, Field::Body) {
            self.items(body.node);
        }
        self.scope.truncate(depth);
    }

    fn linkage(&mut self, node: Node<'t>) {
        for child in self.children(node) {
            if !matches!(child.kind, Kind::Token | Kind::StringLiteral) {
                self.item(child);
            }
        }
    }

    fn using(&mut self, node: Node<'t>) {
        let children = self.children(node);
        let is_directive = children.iter().any(|c| c.kind == Kind::Token && self.text_of(c.node) == "namespace");
        let target = children.iter().find(|c| matches!(c.kind, Kind::Identifier | Kind::QualifiedIdentifier));
        if let Some(target) = target.filter(|_| is_directive) {
            let path = self.path(target.node, target.kind);
            self.unit.using_namespaces.push(path);
        }
    }

    /// `template <...>` in front of a function, a record, an alias or another template.
    pub(super) fn template_declaration(&mut self, node: Node<'t>) {
        let outer = self.heads.len();
        let start = self.item_start.take().unwrap_or(node.start_byte());
        let children = self.children(node);
        if let Some(list) = part(&children, Field::Parameters) {
            let params = self.template_params(list.node);
            self.heads.push(params);
        }
        for child in children {
            if matches!(child.kind, Kind::Token | Kind::TemplateParameterList | Kind::RequiresClause) {
                continue;
            }
            self.item_start = Some(start);
            match child.kind {
                Kind::FriendDeclaration => {}
                _ => self.item(child),
            }
        }
        self.item_start = None;
        self.heads.truncate(outer);
    }

    /// `template void f<int>(int);`: a declaration with arguments.
    fn instantiation(&mut self, node: Node<'t>) {
        let children = self.children(node);
        let specifiers = self.specifiers(&children);
        let Some(declarator) = part(&children, Field::Declarator) else { return };
        let base = specifiers.ty(self, node);
        let declared = self.declarator(declarator, base);
        if declared.is_function() {
            let span = self.span_of(node);
            self.function_declaration(Vec::new(), &specifiers, declared, span);
        }
    }

    /// Variables and function declarations.
    fn global_declaration(&mut self, node: Node<'t>) {
        let heads = std::mem::take(&mut self.heads);
        let start = self.item_start.take().unwrap_or(node.start_byte());
        let children = self.children(node);
        if self.is_damaged(node) {
            self.gap(node, "syntax error");
        }
        let specifiers = self.specifiers(&children);
        let paths = self.qualified_names(&children);
        let mut paths = paths.into_iter();
        for entity in self.declarators(node, &children, &specifiers, false) {
            let path = paths.next().flatten();
            match entity {
                Entity::Function(declared) => {
                    let span = self.span(start..node.end_byte());
                    self.function_declaration(heads.clone(), &specifiers, declared, span);
                }
                Entity::Variable(decl) => self.global(path.as_ref(), decl),
            }
        }
    }

    /// The qualified name of each declarator that has one: `int A::count = 0;`.
    fn qualified_names(&mut self, children: &[Child<'t>]) -> Vec<Option<crate::model::ast::Path>> {
        let mut out = Vec::new();
        for child in children.iter().filter(|c| c.field == Field::Declarator) {
            let declarator = match child.kind {
                Kind::InitDeclarator => part(&self.children(child.node), Field::Declarator),
                _ => Some(*child),
            };
            out.push(declarator.and_then(|d| self.qualified_name(d)));
        }
        out
    }

    fn qualified_name(&mut self, declarator: Child<'t>) -> Option<crate::model::ast::Path> {
        let mut at = declarator;
        for _ in 0..super::MAX_DEPTH {
            match at.kind {
                Kind::QualifiedIdentifier => return Some(self.path(at.node, at.kind)),
                Kind::ArrayDeclarator | Kind::PointerDeclarator | Kind::ReferenceDeclarator => {
                    let children = self.children(at.node);
                    at =
                        part(&children, Field::Declarator).or_else(|| of_kind(&children, Kind::QualifiedIdentifier))?;
                }
                _ => return None,
            }
        }
        None
    }
}
