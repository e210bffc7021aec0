//! From facts about one place under many launches, instances and call paths to one judgement with its confidence.

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use crate::finding::Confidence;
use crate::source::Span;
use crate::warp::facts::{Exactness, KernelFacts, LaunchSource};

/// A fact, and the kernel under the launch for which it holds.
#[derive(Debug)]
pub(super) struct Sighting<'a, T> {
    pub kernel: &'a KernelFacts,
    pub fact: &'a T,
    /// Position of the kernel in the run: facts with the same one hold for one launch together.
    record: usize,
}

impl<T> Clone for Sighting<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sighting<'_, T> {}

/// What one sighting says about the rule's question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// The defect is there, this bad (higher is worse).
    Fires {
        badness: f64,
        exactness: Exactness,
    },
    /// The defect is not there.
    Silent,
    Unknown,
}

/// A place where the defect is there, for at least one launch.
pub(super) struct Judged<'a, T> {
    pub span: Span,
    pub confidence: Confidence,
    /// The sighting with the highest badness, launches in sight before assumed ones.
    pub worst: Sighting<'a, T>,
    /// All that fire, in the order of the run.
    pub firing: Vec<Sighting<'a, T>>,
    /// Kernel records where the defect is not there or not known.
    others: Vec<&'a KernelFacts>,
}

/// Groups facts by `key`, in order of the key.
pub(super) fn by_place<'a, T>(
    view: &View<'a>,
    facts: impl Fn(&'a KernelFacts) -> &'a [T],
    key: impl Fn(&T) -> Option<Span>,
) -> BTreeMap<Span, Vec<Sighting<'a, T>>> {
    let mut sites: BTreeMap<Span, Vec<Sighting<'a, T>>> = BTreeMap::new();
    for (record, kernel) in view.kernels.iter().enumerate() {
        for fact in facts(kernel) {
            if let Some(span) = key(fact).filter(|span| view.holds(span.file)) {
                sites.entry(span).or_default().push(Sighting { kernel, fact, record });
            }
        }
    }
    sites
}

/// Judges one place; `None` where no sighting fires.
///
/// proven: every launch (of those in sight, else every assumed shape) shows the defect, with exact numbers.
/// likely: a launch in sight shows it, or all show it under an assumption. possible: some assumed shapes show it.
pub(super) fn judge<'a, T>(
    span: Span,
    sightings: &[Sighting<'a, T>],
    verdict: impl Fn(&T) -> Verdict,
) -> Option<Judged<'a, T>> {
    let verdicts: Vec<(Sighting<'a, T>, Verdict)> = sightings.iter().map(|s| (*s, verdict(s.fact))).collect();
    let has_visible = verdicts.iter().any(|(s, v)| !is_assumed(s.kernel) && fires(*v));
    let mut worst: Option<(f64, Sighting<'a, T>)> = None;
    let mut firing = Vec::new();
    let mut records: BTreeMap<usize, (bool, &'a KernelFacts)> = BTreeMap::new();
    let mut is_exact = true;
    for (sighting, verdict) in verdicts {
        let record = records.entry(sighting.record).or_insert((false, sighting.kernel));
        let Verdict::Fires { badness, exactness } = verdict else { continue };
        record.0 = true;
        if has_visible && is_assumed(sighting.kernel) {
            continue;
        }
        is_exact &= exactness == Exactness::Exact;
        firing.push(sighting);
        if worst.as_ref().is_none_or(|(highest, _)| badness > *highest) {
            worst = Some((badness, sighting));
        }
    }
    let (_, worst) = worst?;
    let others: Vec<&KernelFacts> = records.values().filter(|(fired, _)| !fired).map(|(_, kernel)| *kernel).collect();
    let confidence = match (others.is_empty(), is_exact, has_visible) {
        (true, true, _) => Confidence::Proven,
        (true, false, _) | (false, _, true) => Confidence::Likely,
        (false, _, false) => Confidence::Possible,
    };
    Some(Judged { span, confidence, worst, firing, others })
}

fn fires(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Fires { .. })
}

fn is_assumed(kernel: &KernelFacts) -> bool {
    kernel.launch.source == LaunchSource::Assumed
}

impl<T> Judged<'_, T> {
    /// The kernel to name: the one of the worst sighting, with its template arguments.
    pub(super) fn kernel(&self) -> String {
        let kernel = self.worst.kernel;
        kernel.instance.clone().unwrap_or_else(|| kernel.kernel.to_string())
    }

    /// For which launches the claim holds, for which not; in at most two lines.
    pub(super) fn launch_notes(&self, view: &View<'_>) -> Vec<String> {
        let launch = &self.worst.kernel.launch;
        let word = self.confidence.word();
        let shapes: BTreeSet<_> = self.firing.iter().map(|s| &s.kernel.launch).collect();
        let mut notes = Vec::new();
        if launch.source == LaunchSource::Assumed {
            let blocks: BTreeSet<[u32; 3]> = self.firing.iter().map(|s| s.kernel.launch.block).collect();
            let list: Vec<String> = blocks.into_iter().map(super::view::block).collect();
            notes.push(format!("no launch in sight: {word}, holds for blocks of {}", list.join(", ")));
        } else {
            let more = match shapes.len().saturating_sub(1) {
                0 => String::new(),
                1 => " and 1 more launch".to_owned(),
                n => format!(" and {n} more launches"),
            };
            let every = if self.confidence == Confidence::Proven { " for every warp" } else { "" };
            notes.push(format!("{}{more}, {word}{every}", view.launch(launch)));
        }
        let spared: BTreeSet<String> = self.others.iter().map(|k| view.launch(&k.launch)).collect();
        if let Some(first) = spared.first() {
            let more = if spared.len() > 1 { format!(" and {} more", spared.len() - 1) } else { String::new() };
            notes.push(format!("not shown for {first}{more}"));
        }
        notes
    }
}

/// The fact that the launch notes speak of is the same for all template instances; otherwise says for which it holds.
pub(super) fn instance_note<T>(judged: &Judged<'_, T>) -> Option<String> {
    let names: BTreeSet<&str> = judged.firing.iter().filter_map(|s| s.kernel.instance.as_deref()).collect();
    let spared: BTreeSet<&str> =
        judged.others.iter().filter_map(|k| k.instance.as_deref()).filter(|name| !names.contains(name)).collect();
    if names.is_empty() || spared.is_empty() {
        return None;
    }
    let list = |set: BTreeSet<&str>| set.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!("in {}; not in {}", list(names), list(spared)))
}
