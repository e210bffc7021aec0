//! Flags comments addressed to cudalint that name no rule or cannot be read.

use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::error::nearest;
use crate::finding::Confidence;
use crate::finding::suppress::Suppression;

#[derive(Default)]
pub(super) struct UnknownSuppression;

impl Options for UnknownSuppression {
    fn fields(&mut self, _fields: &mut Fields<'_>) {}
}

impl Rule for UnknownSuppression {
    fn check_suppressions(&self, comments: &[Suppression], view: &View<'_>, sink: &mut Sink<'_>) {
        for comment in comments.iter().filter(|c| view.holds(c.comment.file)) {
            if let Some(problem) = &comment.problem {
                let message = format!("this comment silences nothing: it {problem}");
                let draft = Draft::new(comment.comment, Confidence::Proven, message)
                    .note("write `// cudalint: allow(rule) -- reason`, or `allow-file(rule)` for the whole file");
                sink.emit(draft);
            }
            for named in comment.rules.iter().filter(|named| super::entry(&named.name).is_none()) {
                let message = format!("there is no rule `{}`", named.name);
                let hint = nearest(&named.name, super::ids()).map_or_else(
                    || "`cudalint rules` lists them all".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                sink.emit(Draft::new(named.span, Confidence::Proven, message).note(hint));
            }
        }
    }
}
