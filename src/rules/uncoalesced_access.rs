//! Flags global accesses of a warp that move far more sectors than the lanes ask for.

use super::traffic::{self, Kind};
use super::{Fields, Options, Rule, Sink, View};

pub(super) struct UncoalescedAccess {
    min_ratio: f64,
}

impl Default for UncoalescedAccess {
    fn default() -> Self {
        Self { min_ratio: 1.5 }
    }
}

impl Options for UncoalescedAccess {
    fn fields(&mut self, fields: &mut Fields<'_>) {
        let doc = "Sectors moved over sectors needed, from which on an access is flagged.";
        fields.number("min-ratio", doc, &mut self.min_ratio, 1.05..=32.0);
    }
}

impl Rule for UncoalescedAccess {
    fn check(&self, view: &View<'_>, sink: &mut Sink<'_>) {
        for judged in traffic::global(view, Kind::Uncoalesced, self.min_ratio) {
            let access = judged.worst.fact;
            let Some(numbers) = access.traffic else { continue };
            let message = traffic::claim(numbers, "sector", "request");
            let draft = traffic::draft(view, &judged, message);
            if judged.firing.iter().all(|s| s.fact.is_data_dependent) {
                sink.emit(draft.pedantic());
            } else {
                sink.emit(draft.note(advice(&view.text(access.span))));
            }
        }
    }
}

/// What would make it coalesced, as far as the text tells.
fn advice(text: &str) -> &'static str {
    let is_field = text.rsplit(']').next().is_some_and(|tail| tail.starts_with('.') || tail.starts_with("->"));
    if is_field {
        "an array per field lets the lanes read side by side; or load whole elements and share them"
    } else {
        "coalesced when neighbouring threadIdx.x touch neighbouring elements; else stage the tile in shared memory"
    }
}
