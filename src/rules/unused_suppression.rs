//! Flags suppressions that silence nothing.

use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::finding::suppress::{NamedRule, Suppression};
use crate::finding::{Confidence, Fix, Safety};
use crate::source::Span;

#[derive(Default)]
pub(super) struct UnusedSuppression;

impl Options for UnusedSuppression {
    fn fields(&mut self, _fields: &mut Fields<'_>) {}
}

impl Rule for UnusedSuppression {
    /// A rule that did not run cannot have been silenced, so its name is not judged.
    fn check_suppressions(&self, comments: &[Suppression], view: &View<'_>, sink: &mut Sink<'_>) {
        for comment in comments.iter().filter(|c| view.holds(c.comment.file)) {
            let file = comment.comment.file;
            let is_unused =
                |named: &NamedRule| !named.is_used && is_about_code(&named.name) && view.is_enabled(file, &named.name);
            let is_whole = comment.rules.iter().all(is_unused);
            for named in comment.rules.iter().filter(|named| is_unused(named)) {
                let message = format!("`{}` finds nothing here to be silenced", named.name);
                let fix = if is_whole { whole_fix(comment) } else { name_fix(view, comment, named) };
                sink.emit(Draft::new(named.span, Confidence::Proven, message).fix(Some(fix)));
            }
        }
    }
}

/// Known, and not one of the rules about suppressions, whose verdict is only now being reached.
fn is_about_code(name: &str) -> bool {
    super::meta(name).is_some_and(|meta| meta.family != super::Family::Suppression)
}

fn whole_fix(comment: &Suppression) -> Fix {
    Fix { safety: Safety::Safe, title: "remove the comment".to_owned(), edits: vec![(comment.removal, String::new())] }
}

/// The name with one comma beside it.
fn name_fix(view: &View<'_>, comment: &Suppression, named: &NamedRule) -> Fix {
    let position = comment.rules.iter().position(|other| other.span == named.span).unwrap_or(0);
    let next = comment.rules.get(position + 1).map(|next| Span { end: next.span.start, ..named.span });
    let before = position.checked_sub(1).and_then(|i| comment.rules.get(i));
    let previous = before.map(|before| Span { start: before.span.end, ..named.span });
    let span = next.or(previous).filter(|span| !view.raw(*span).is_empty()).unwrap_or(named.span);
    Fix {
        safety: Safety::Safe,
        title: format!("remove `{}` from the comment", named.name),
        edits: vec![(span, String::new())],
    }
}
