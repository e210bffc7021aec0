//! Template heads: `template <typename T, int N = 4, class... Ts>` to parameters.

use super::{Lowering, of_kind, part};
use crate::model::ast::{Name, TemplateParam, TemplateParamKind};
use crate::syntax::{Field, Kind, Node};

impl<'t> Lowering<'t> {
    pub(super) fn template_params(&mut self, list: Node<'t>) -> Vec<TemplateParam> {
        let children = self.children(list);
        let mut params = Vec::with_capacity(children.len());
        for child in children {
            let param = match child.kind {
                Kind::TypeParameterDeclaration => self.type_param(child.node, false),
                Kind::OptionalTypeParameterDeclaration => self.type_param(child.node, false),
                Kind::VariadicTypeParameterDeclaration => self.type_param(child.node, true),
                Kind::TemplateTemplateParameterDeclaration => self.template_template_param(child.node),
                Kind::ParameterDeclaration
                | Kind::OptionalParameterDeclaration
                | Kind::VariadicParameterDeclaration => self.value_param(child.node, child.kind),
                _ => continue,
            };
            if !matches!(param.kind, TemplateParamKind::Value { .. }) {
                self.names.add_type(&param.name);
            }
            params.push(param);
        }
        params
    }

    fn type_param(&mut self, node: Node<'t>, is_pack: bool) -> TemplateParam {
        let children = self.children(node);
        let default = part(&children, Field::DefaultType).map(|ty| {
            let kind = self.type_kind(ty);
            Self::plain_type(self.span_of(ty.node), kind)
        });
        let name = part(&children, Field::Name).or_else(|| {
            children.iter().copied().find(|c| c.kind == Kind::TypeIdentifier && c.field != Field::DefaultType)
        });
        let name = name.map(|n| self.name_of(n.node)).unwrap_or_default();
        TemplateParam { name, kind: TemplateParamKind::Type { default }, is_pack }
    }

    fn value_param(&mut self, node: Node<'t>, kind: Kind) -> TemplateParam {
        let children = self.children(node);
        let specifiers = self.specifiers(&children);
        let base = specifiers.ty(self, node);
        let default = part(&children, Field::DefaultValue).map(|d| self.expr(d.node));
        let is_pack = kind == Kind::VariadicParameterDeclaration;
        let (name, ty, is_pack) = match part(&children, Field::Declarator) {
            Some(declarator) => {
                let declared = self.declarator(declarator, base);
                (declared.name(), declared.ty, is_pack || declared.is_pack)
            }
            None => (Name::default(), base, is_pack),
        };
        TemplateParam { name, kind: TemplateParamKind::Value { ty, default }, is_pack }
    }

    fn template_template_param(&mut self, node: Node<'t>) -> TemplateParam {
        let children = self.children(node);
        let inner = children.iter().find(|c| c.field != Field::Parameters && c.kind != Kind::Token);
        let is_pack = inner.is_some_and(|i| i.kind == Kind::VariadicTypeParameterDeclaration);
        let name = match inner {
            Some(inner) => of_kind(&self.children(inner.node), Kind::TypeIdentifier).map(|n| self.name_of(n.node)),
            None => None,
        };
        TemplateParam { name: name.unwrap_or_default(), kind: TemplateParamKind::Template, is_pack }
    }
}
