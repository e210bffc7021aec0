//! Flags contiguous global accesses that straddle a sector more than needed because of where they start.

use std::collections::BTreeMap;

use super::sites::Judged;
use super::traffic::{self, Kind};
use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::source::Span;
use crate::warp::facts::Access;

pub(super) struct MisalignedAccess {
    min_ratio: f64,
}

impl Default for MisalignedAccess {
    fn default() -> Self {
        Self { min_ratio: 1.1 }
    }
}

impl Options for MisalignedAccess {
    fn fields(&mut self, fields: &mut Fields<'_>) {
        let doc = "Sectors moved over sectors needed, from which on an access is flagged.";
        fields.number("min-ratio", doc, &mut self.min_ratio, 1.01..=32.0);
    }
}

impl Rule for MisalignedAccess {
    /// A kernel that stages data in shared memory has its halo loads named once, in one finding.
    fn check(&self, view: &View<'_>, sink: &mut Sink<'_>) {
        let mut halos: BTreeMap<Span, Draft> = BTreeMap::new();
        for judged in traffic::global(view, Kind::Misaligned, self.min_ratio) {
            let kernel = judged.worst.kernel;
            if kernel.shared_arrays.is_empty() {
                sink.emit(draft(view, &judged));
            } else if let Some(first) = halos.remove(&kernel.kernel_span) {
                halos.insert(kernel.kernel_span, first.related(judged.span, "this one too"));
            } else {
                halos.insert(kernel.kernel_span, draft(view, &judged));
            }
        }
        for draft in halos.into_values() {
            sink.emit(draft);
        }
    }
}

fn draft(view: &View<'_>, judged: &Judged<'_, Access>) -> Draft {
    let claim = judged.worst.fact.traffic.map(|t| traffic::claim(t, "sector", "request")).unwrap_or_default();
    let message = format!("{claim}: the lanes are contiguous but start inside a sector");
    traffic::draft(view, judged, message).note(
        "start each row at a multiple of 32 bytes: pad the pitch (cudaMallocPitch) or shift the payload behind its header",
    )
}
