//! What the three rules about global traffic share: which of them an access belongs to, and how its numbers are said.

use super::sites::{self, Judged, Sighting, Verdict};
use super::{Draft, View};
use crate::finding::Evidence;
use crate::source::Span;
use crate::warp::facts::{Access, Exactness, Operation, Space, Traffic};

/// The one rule that speaks about a global access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A shift of the base would cure it.
    Misaligned,
    /// Whole records, one after the other, member by member.
    Record,
    /// All else.
    Uncoalesced,
}

/// `None`: whole records that size and alignment let a lane move in one access, whatever the pieces say.
fn kind(access: &Access, sm: u32) -> Option<Kind> {
    if access.is_only_misaligned {
        return Some(Kind::Misaligned);
    }
    let (Some(record), Some(traffic)) = (&access.record, access.traffic) else { return Some(Kind::Uncoalesced) };
    // Records side by side: a warp's span of memory, and one sector more for where it starts.
    let dense = (record.size_bytes as f64 * access.active_lanes / 32.0).ceil() + 1.0;
    if traffic.per_request > dense {
        return Some(Kind::Uncoalesced);
    }
    let widest = if sm >= 100 { 32 } else { 16 };
    let size = record.size_bytes;
    let fits = size.is_power_of_two() && size <= widest && record.align_bytes >= size;
    (!fits).then_some(Kind::Record)
}

/// The places where a global access of this kind moves at least `min_ratio` times its ideal.
pub(super) fn global<'a>(view: &View<'a>, wanted: Kind, min_ratio: f64) -> Vec<Judged<'a, Access>> {
    let key = |access: &Access| (access.space == Space::Global && access.merged_into.is_none()).then_some(access.span);
    sites::by_place(view, |kernel| &kernel.accesses, key)
        .iter()
        .filter(|(_, sightings)| strongest(sightings, view.sm).is_some_and(|kind| kind == wanted))
        .filter_map(|(span, sightings)| sites::judge(*span, sightings, |access| verdict(access, min_ratio)))
        .collect()
}

/// One access gets one finding: the kind of the sighting with the highest ratio speaks for all.
fn strongest(sightings: &[Sighting<'_, Access>], sm: u32) -> Option<Kind> {
    let mut best: Option<(f64, Option<Kind>)> = None;
    for sighting in sightings {
        let Some(traffic) = known(sighting.fact) else { continue };
        if best.is_none_or(|(ratio, _)| traffic.ratio() > ratio) {
            best = Some((traffic.ratio(), kind(sighting.fact, sm)));
        }
    }
    best.and_then(|(_, kind)| kind)
}

/// The numbers, unless nothing certain is known.
pub(super) fn known(access: &Access) -> Option<Traffic> {
    access.traffic.filter(|_| access.exactness != Exactness::Unknown)
}

fn verdict(access: &Access, min_ratio: f64) -> Verdict {
    let Some(traffic) = known(access) else { return Verdict::Unknown };
    if is_sparse(access, traffic) || traffic.ratio() + 1e-9 < min_ratio {
        return Verdict::Silent;
    }
    // Among equal ratios the higher worst case decides; it is far below 1024.
    Verdict::Fires { badness: traffic.ratio() + f64::from(traffic.worst) / 1024.0, exactness: access.exactness }
}

/// Some lanes are idle, and no more moves than for one full coalesced request: the mask is to blame, not the pattern.
fn is_sparse(access: &Access, traffic: Traffic) -> bool {
    access.active_lanes < 31.99 && traffic.per_request <= f64::from(access.bytes_per_lane)
}

/// The parts of a finding about global traffic that do not depend on the rule.
pub(super) fn draft(view: &View<'_>, judged: &Judged<'_, Access>, message: String) -> Draft {
    let access = judged.worst.fact;
    let mut draft = Draft::new(judged.span, judged.confidence, message)
        .label(stride_label(access))
        .kernel(judged.kernel())
        .count("bytes_per_lane", access.bytes_per_lane)
        .evidence("active_lanes", Evidence::Mean(access.active_lanes));
    if let Some(traffic) = access.traffic {
        draft = draft
            .count("sectors", traffic.worst)
            .count("ideal", traffic.worst_ideal)
            .evidence("mean_sectors", Evidence::Mean(traffic.per_request));
    }
    for call in &access.called_from {
        draft = draft.related(*call, "reached through this call");
    }
    with_array(draft, access, judged.span)
        .notes(judged.launch_notes(view))
        .notes(assumption(access))
        .notes(sites::instance_note(judged))
}

/// Points at the declaration behind the address.
pub(super) fn with_array(draft: Draft, access: &Access, span: Span) -> Draft {
    match &access.array {
        Some((name, declared)) if *declared != span => draft.related(*declared, format!("`{name}` is declared here")),
        _ => draft,
    }
}

/// The assumption of a bounded number as a note.
pub(super) fn assumption(access: &Access) -> Option<String> {
    let why = access.why.as_ref().filter(|_| access.exactness == Exactness::Bounded)?;
    Some(format!("holds under an assumption: {why}"))
}

/// "lane k+1 reads 32 elements after lane k".
pub(super) fn stride_label(access: &Access) -> Option<String> {
    let verb = verb(access.operation);
    let stride = access.stride.trim();
    if access.is_data_dependent || stride == "data-dependent" {
        return Some(format!("which address a lane {verb} depends on loaded data"));
    }
    let distance =
        stride.rsplit_once(' ').filter(|(_, unit)| matches!(*unit, "element" | "elements" | "byte" | "bytes"));
    match distance {
        // A distance that takes words to describe describes nothing at a glance.
        Some((number, _)) if !number.contains(' ') => Some(format!("lane k+1 {verb} {stride} after lane k")),
        _ => None,
    }
}

pub(super) fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Load => "reads",
        Operation::Store => "writes",
        Operation::Atomic => "updates",
    }
}

/// "32 sectors per request, 4 would do"; "up to" where not all warps and iterations are that bad.
pub(super) fn claim(traffic: Traffic, unit: &str, per: &str) -> String {
    let up_to = if is_worst_only(traffic) { "up to " } else { "" };
    let worst = crate::error::count(traffic.worst as usize, unit);
    format!("{up_to}{worst} per {per}, {} would do", traffic.worst_ideal)
}

/// The mean behind a worst case that stands out from it.
pub(super) fn mean_note(traffic: Traffic, unit: &str, per: &str) -> Option<String> {
    let mean = traffic.per_request;
    is_worst_only(traffic).then(|| {
        format!(
            "{mean:.1} {unit}s per {per} on average over warps and iterations, {:.1} would do",
            traffic.ideal_per_request
        )
    })
}

fn is_worst_only(traffic: Traffic) -> bool {
    f64::from(traffic.worst) > traffic.per_request * 1.05
}
