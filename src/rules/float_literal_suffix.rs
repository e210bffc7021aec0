//! Flags floating literals without suffix that meet float operands: they are double, and arithmetic may follow them there.

use std::collections::BTreeMap;

use super::sites::{self, Judged, Sighting, Verdict};
use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::finding::{Fix, Level, Safety};
use crate::source::Span;
use crate::warp::facts::{DoubleLiteral, Exactness, LiteralUse};

#[derive(Default)]
pub(super) struct FloatLiteralSuffix;

impl Options for FloatLiteralSuffix {
    fn fields(&mut self, _fields: &mut Fields<'_>) {}
}

impl Rule for FloatLiteralSuffix {
    /// Literals of one expression are one finding, at the first of them that costs, else at the first.
    fn check(&self, view: &View<'_>, sink: &mut Sink<'_>) {
        let mut expressions: BTreeMap<Span, Vec<Judged<'_, DoubleLiteral>>> = BTreeMap::new();
        for (span, sightings) in sites::by_place(view, |kernel| &kernel.float_literals, |literal| Some(literal.span)) {
            if let Some(judged) = judge(span, &sightings) {
                expressions.entry(judged.worst.fact.context).or_default().push(judged);
            }
        }
        for literals in expressions.values() {
            report(view, literals, sink);
        }
    }
}

/// The engine lists literals that meet float operands only, so each sighting is one: the launch does not matter.
fn judge<'a>(span: Span, sightings: &[Sighting<'a, DoubleLiteral>]) -> Option<Judged<'a, DoubleLiteral>> {
    sites::judge(span, sightings, |literal| Verdict::Fires {
        badness: if literal.costs_fp64 { 1.0 } else { 0.0 },
        exactness: Exactness::Exact,
    })
}

fn report(view: &View<'_>, literals: &[Judged<'_, DoubleLiteral>], sink: &mut Sink<'_>) {
    let worst = literals.iter().position(|l| l.worst.fact.costs_fp64).unwrap_or(0);
    let Some(first) = literals.get(worst) else { return };
    let literal = first.worst.fact;
    let text = view.text(literal.span);
    let costs = literal.costs_fp64;
    let message = match (costs, first.span.in_macro) {
        (true, false) => format!("`{text}` is a double: {}", cost(literal.use_)),
        (false, false) => format!("`{text}` is a double in float code; the compiler gets rid of it here"),
        (true, true) => format!("a double literal inside the macro `{text}`: {}", cost(literal.use_)),
        (false, true) => {
            format!("a double literal inside the macro `{text}` in float code; the compiler gets rid of it here")
        }
    };
    let mut draft = Draft::new(first.span, first.confidence, message)
        .kernel(first.kernel())
        .count("literals", literals.len() as i64)
        .notes(sites::instance_note(first));
    for (_, other) in literals.iter().enumerate().filter(|(at, _)| *at != worst) {
        draft = draft.related(other.span, "a double too");
    }
    draft = if costs { draft.label(label(literal.use_)) } else { draft.at_most(Level::Note) };
    if let Some(instance) = literal.instance.as_deref() {
        draft = draft.note(format!("in the instance {instance}"));
    }
    sink.emit(draft.fix(fix(view, literals)));
}

fn cost(use_: LiteralUse) -> &'static str {
    match use_ {
        LiteralUse::NarrowedArithmetic => "the operation runs in FP64 and is narrowed to float after it",
        LiteralUse::DoubleArithmetic => "the arithmetic around it runs in FP64",
        LiteralUse::Comparison => "the comparison runs in FP64",
        LiteralUse::Argument => "it picks the double overload, which runs in FP64",
        LiteralUse::Arm => "the other arm is converted to double and back",
    }
}

fn label(use_: LiteralUse) -> String {
    match use_ {
        LiteralUse::Argument => "float arguments are converted to double for it".to_owned(),
        LiteralUse::Arm => "makes both arms double".to_owned(),
        _ => "float operands are converted to double for it".to_owned(),
    }
}

/// Adds `f` to every literal; never inside a macro.
fn fix(view: &View<'_>, literals: &[Judged<'_, DoubleLiteral>]) -> Option<Fix> {
    let mut edits = Vec::new();
    let mut names = Vec::new();
    let mut safety = Safety::Safe;
    for judged in literals {
        let text = view.raw(judged.span);
        if judged.span.in_macro || !is_plain_literal(text) {
            return None;
        }
        let keeps_results = judged.firing.iter().all(|s| keeps_results(s.fact));
        safety = if keeps_results { safety } else { Safety::Unsafe };
        edits.push((judged.span, format!("{text}f")));
        names.push(format!("{text}f"));
    }
    Some(Fix { safety, title: format!("write {}", names.join(", ")), edits })
}

/// The suffix changes no bit of any result: the value is a float, and one rounding step, a comparison or a choice is all that
/// follows. Whatever else gives other low bits in float, which may be wanted or not.
fn keeps_results(literal: &DoubleLiteral) -> bool {
    let is_exact = f64::from(literal.value as f32).to_bits() == literal.value.to_bits();
    let is_one_step = matches!(literal.use_, LiteralUse::NarrowedArithmetic | LiteralUse::Comparison | LiteralUse::Arm);
    is_exact && is_one_step
}

fn is_plain_literal(text: &str) -> bool {
    let starts_like_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let ends_bare = text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    starts_like_number && ends_bare && (text.contains(['.', 'e', 'E']) || is_hex && text.contains(['p', 'P']))
}
