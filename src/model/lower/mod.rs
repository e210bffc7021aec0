//! From a syntax tree to the lowered form of the file. Total: what cannot be read becomes a gap in the smallest statement.
//!
//! The grammar knows no names, so it reads some everyday C++ wrongly without an error. Lowering repairs what names and
//! context decide: declarations read as calls or functions, casts read as products, comparisons read as template calls.

mod binary;
mod declaration;
mod declarator;
mod disguise;
mod expression;
mod function;
mod items;
mod literal;
mod names;
mod postfix;
mod record;
mod recover;
mod specifiers;
mod statement;
mod template;
mod types;

#[cfg(test)]
mod tests;

use std::ops::Range;

use self::names::Names;
use super::ast::{Alias, EnumDef, Gap, Name, Record, TemplateParam, Unit};
use crate::preprocess::{Expanded, OffsetMap};
use crate::source::{FileId, Span};
use crate::syntax::{self, Field, Kind, Node, UnrollPragma};

/// Nesting beyond this is not read: everything behind this stage may recurse without looking at the stack. An operand counts 2, a
/// statement 4, so that an unoptimised build stays within the 2 MB that a thread has.
const MAX_DEPTH: u32 = 400;

/// The lowered form of a preprocessed file.
pub fn lower(file: FileId, expanded: &Expanded) -> Unit {
    let parsed = syntax::parse(&expanded.text);
    lower_parsed(file, expanded, &parsed)
}

/// The same for a text parsed before: `parsed` must come from `expanded.text`.
pub fn lower_parsed(file: FileId, expanded: &Expanded, parsed: &syntax::Parsed) -> Unit {
    let Some(root) = parsed.tree.root() else {
        let gap = Gap { span: None, file, function: None, why: "the parser gave up".into() };
        return Unit { gaps: vec![gap], ..Unit::default() };
    };
    let mut lowering = Lowering::new(file, &expanded.text, &expanded.map, &parsed.unrolls);
    lowering.file_items(root);
    let Lowering { mut unit, defs, .. } = lowering;
    unit.records = defs.records;
    unit.enums = defs.enums;
    unit.aliases = defs.aliases;
    // A method of a class inside a function is read before the function ends.
    unit.functions.sort_by_key(|f| f.span.start);
    unit
}

/// A node with its kind and the part it plays in its parent.
#[derive(Clone, Copy)]
struct Child<'t> {
    node: Node<'t>,
    kind: Kind,
    field: Field,
}

/// Types defined in one place.
#[derive(Debug, Default)]
struct Definitions {
    records: Vec<Record>,
    enums: Vec<EnumDef>,
    aliases: Vec<Alias>,
}

/// The state of one lowering: where it stands, and what it has seen.
struct Lowering<'t> {
    text: &'t str,
    /// Where `text` begins in the expanded file: a part that the parser lost is read again on its own.
    base: usize,
    map: &'t OffsetMap,
    file: FileId,
    unrolls: &'t [UnrollPragma],
    unit: Unit,
    /// Enclosing namespaces and classes.
    scope: Vec<Name>,
    /// The class whose members are being read.
    class: Option<Name>,
    /// Template parameters of the enclosing class templates.
    class_templates: Vec<TemplateParam>,
    /// Template heads in front of what is read next.
    heads: Vec<Vec<TemplateParam>>,
    /// Where the item being read begins, its template heads included.
    item_start: Option<usize>,
    /// The name that a `typedef` gives to the record it defines.
    typedef_name: Option<Name>,
    /// Where types defined on the way go: the file, a record or a function body.
    defs: Definitions,
    names: Names,
    /// The function being read, for gaps.
    function: Option<Name>,
    depth: u32,
}

impl<'t> Lowering<'t> {
    fn new(file: FileId, text: &'t str, map: &'t OffsetMap, unrolls: &'t [UnrollPragma]) -> Self {
        Self {
            text,
            base: 0,
            map,
            file,
            unrolls,
            unit: Unit::default(),
            scope: Vec::new(),
            class: None,
            class_templates: Vec::new(),
            heads: Vec::new(),
            item_start: None,
            typedef_name: None,
            defs: Definitions::default(),
            names: Names::default(),
            function: None,
            depth: 0,
        }
    }

    /// All children but made-up tokens.
    #[allow(clippy::unused_self, reason = "reads like the other questions to a node")]
    fn children(&self, node: Node<'t>) -> Vec<Child<'t>> {
        let children = node.children().map(|node| Child { node, kind: node.kind(), field: node.field() });
        children.filter(|c| c.kind != Kind::Punctuation).collect()
    }

    /// The first child that plays the part.
    #[allow(clippy::unused_self, reason = "reads like the other questions to a node")]
    fn child(&self, node: Node<'t>, field: Field) -> Option<Child<'t>> {
        let child = node.children().find(|c| c.field() == field)?;
        Some(Child { node: child, kind: child.kind(), field })
    }

    /// The text of a node as written.
    fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn name_of(&self, node: Node<'_>) -> Name {
        Name::new(self.text_of(node))
    }

    fn span_of(&self, node: Node<'_>) -> Span {
        self.span(node.byte_range())
    }

    fn span(&self, range: Range<usize>) -> Span {
        self.map.span(self.file, self.base + range.start..self.base + range.end)
    }

    fn gap(&mut self, node: Node<'_>, why: &str) {
        let span = Some(self.span_of(node));
        self.unit.gaps.push(Gap { span, file: self.file, function: self.function.clone(), why: why.into() });
    }

    /// Runs `read` one level deeper, or not at all where the nesting is too deep.
    fn deeper<R>(&mut self, read: impl FnOnce(&mut Self) -> R) -> Option<R> {
        self.deeper_by(1, read)
    }

    /// The same for constructs whose level takes more stack than an operand's.
    fn deeper_by<R>(&mut self, levels: u32, read: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth + levels > MAX_DEPTH {
            return None;
        }
        self.depth += levels;
        let result = read(self);
        self.depth -= levels;
        Some(result)
    }
}

/// The first child that plays the part, out of a list read before.
fn part<'t>(children: &[Child<'t>], field: Field) -> Option<Child<'t>> {
    children.iter().copied().find(|c| c.field == field)
}

/// The first child of a kind.
fn of_kind<'t>(children: &[Child<'t>], kind: Kind) -> Option<Child<'t>> {
    children.iter().copied().find(|c| c.kind == kind)
}
