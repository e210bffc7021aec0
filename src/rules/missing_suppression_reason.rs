//! Flags suppressions that do not say why.

use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::finding::Confidence;
use crate::finding::suppress::Suppression;

#[derive(Default)]
pub(super) struct MissingSuppressionReason;

impl Options for MissingSuppressionReason {
    fn fields(&mut self, _fields: &mut Fields<'_>) {}
}

impl Rule for MissingSuppressionReason {
    fn check_suppressions(&self, comments: &[Suppression], view: &View<'_>, sink: &mut Sink<'_>) {
        let lacking = |c: &&Suppression| !c.has_reason && c.problem.is_none() && view.holds(c.comment.file);
        for comment in comments.iter().filter(lacking) {
            let draft = Draft::new(comment.comment, Confidence::Proven, "this suppression does not say why")
                .note("add ` -- ` and a reason behind the `)`");
            sink.emit(draft);
        }
    }
}
