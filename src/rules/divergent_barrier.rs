//! Flags block-wide barriers that some threads of the block do not reach.

use std::collections::BTreeMap;

use super::sites::{self, Judged, Sighting, Verdict};
use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::finding::{Confidence, Evidence, Level};
use crate::source::Span;
use crate::warp::facts::{Barrier, Divergence, DivergenceKind, Exactness};

#[derive(Default)]
pub(super) struct DivergentBarrier;

impl Options for DivergentBarrier {
    fn fields(&mut self, _fields: &mut Fields<'_>) {}
}

impl Rule for DivergentBarrier {
    fn check(&self, view: &View<'_>, sink: &mut Sink<'_>) {
        let barriers = sites::by_place(view, |kernel| &kernel.barriers, |barrier| Some(place(barrier)));
        for (span, sightings) in barriers {
            if let Some(judged) = sites::judge(span, &paths(&sightings), verdict) {
                report(view, &judged, sink);
            }
        }
    }
}

/// Where to speak of it: the statement in the function that splits the block, which is a call when the barrier is deeper.
fn place(barrier: &Barrier) -> Span {
    let Some(divergence) = &barrier.divergence else { return barrier.span };
    let cause = divergence.cause;
    let candidates = || barrier.called_from.iter().copied().chain([barrier.span]);
    let behind = candidates().filter(|s| s.file == cause.file && s.start >= cause.start).min_by_key(|s| s.start);
    behind.or_else(|| candidates().find(|s| s.file == cause.file)).unwrap_or(barrier.span)
}

/// Of one launch, the same barrier reached by other calls is another matter: only paths that diverge count where some do.
fn paths<'a>(sightings: &[Sighting<'a, Barrier>]) -> Vec<Sighting<'a, Barrier>> {
    let is_divergent = |s: &Sighting<'a, Barrier>| s.fact.divergence.is_some();
    let called: BTreeMap<&[Span], bool> = sightings.iter().fold(BTreeMap::new(), |mut paths, s| {
        *paths.entry(s.fact.called_from.as_slice()).or_insert(false) |= is_divergent(s);
        paths
    });
    sightings.iter().filter(|s| called.get(s.fact.called_from.as_slice()).copied().unwrap_or(false)).copied().collect()
}

fn verdict(barrier: &Barrier) -> Verdict {
    match &barrier.divergence {
        // Live threads that pass by are worse than missing ones that have returned.
        Some(divergence) => Verdict::Fires {
            badness: if divergence.have_returned { 1.0 } else { 2.0 },
            exactness: if divergence.is_conditional { Exactness::Bounded } else { Exactness::Exact },
        },
        None => Verdict::Silent,
    }
}

fn report(view: &View<'_>, judged: &Judged<'_, Barrier>, sink: &mut Sink<'_>) {
    let barrier = judged.worst.fact;
    let Some(divergence) = &barrier.divergence else { return };
    let name = barrier.name.as_str();
    let mut draft = Draft::new(judged.span, judged.confidence, message(view, name, divergence))
        .label(label(divergence))
        .kernel(judged.kernel())
        .related(divergence.cause, cause_text(divergence))
        .evidence("missing_threads", Evidence::Text(missing(divergence).to_owned()));
    if barrier.span != judged.span {
        draft = draft.related(barrier.span, format!("the `{name}` inside"));
    }
    for call in barrier.called_from.iter().filter(|call| **call != judged.span) {
        draft = draft.related(*call, "reached through this call");
    }
    if let Some((arrives, misses)) = divergence.witnesses {
        let (arrives, misses) = (thread(arrives), thread(misses));
        draft = draft
            .note(format!("thread {arrives} waits here, thread {misses} never comes"))
            .evidence("arriving_thread", Evidence::Text(arrives))
            .evidence("missing_thread", Evidence::Text(misses));
    }
    draft = draft.notes(judged.launch_notes(view)).notes(sites::instance_note(judged));
    if divergence.have_returned {
        draft = draft
            .at_most(Level::Warning)
            .note("from sm_70 the hardware goes on without threads that have exited; the language does not promise it");
    }
    if judged.confidence != Confidence::Proven && divergence.is_conditional {
        draft = draft.note("whether a block is split depends on data or on a bound unknown here");
    }
    sink.emit(draft);
}

fn message(view: &View<'_>, name: &str, divergence: &Divergence) -> String {
    let condition = view.text(divergence.cause);
    match (divergence.kind, divergence.have_returned) {
        (DivergenceKind::Branch, _) => {
            format!("not all threads of the block reach this `{name}`: `{condition}` splits them")
        }
        (DivergenceKind::LoopTrips, _) => {
            format!(
                "threads of the block reach this `{name}` a different number of times: `{condition}` differs between them"
            )
        }
        (DivergenceKind::EarlyExit, true) => {
            format!("threads that returned at `{condition}` do not reach this `{name}`")
        }
        (DivergenceKind::EarlyExit, false) => {
            format!("threads that left at `{condition}` pass by this `{name}`")
        }
    }
}

fn label(divergence: &Divergence) -> String {
    match divergence.kind {
        DivergenceKind::LoopTrips => "some threads wait here once more than others".to_owned(),
        _ if divergence.have_returned => "the remaining threads wait here".to_owned(),
        _ => "the others wait here for threads that go on elsewhere".to_owned(),
    }
}

fn cause_text(divergence: &Divergence) -> &'static str {
    match divergence.kind {
        DivergenceKind::Branch => "differs between threads of one block",
        DivergenceKind::LoopTrips => "the number of trips differs between threads of one block",
        DivergenceKind::EarlyExit => "some threads of a block leave here",
    }
}

fn missing(divergence: &Divergence) -> &'static str {
    if divergence.have_returned { "returned" } else { "live" }
}

fn thread([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}
