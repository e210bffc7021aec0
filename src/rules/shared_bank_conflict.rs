//! Flags shared-memory accesses that one warp cannot serve in as few wavefronts as their bytes need.

use super::sites::{self, Judged, Verdict};
use super::traffic;
use super::{Draft, Fields, Options, Rule, Sink, View};
use crate::finding::{Evidence, Fix, Level, Safety};
use crate::warp::facts::{Access, Padding, SharedArray, Space, Traffic};

pub(super) struct SharedBankConflict {
    min_ratio: f64,
}

impl Default for SharedBankConflict {
    fn default() -> Self {
        Self { min_ratio: 2.0 }
    }
}

impl Options for SharedBankConflict {
    fn fields(&mut self, fields: &mut Fields<'_>) {
        let doc = "Wavefronts taken over wavefronts needed, from which on an access is flagged.";
        fields.number("min-ratio", doc, &mut self.min_ratio, 1.05..=32.0);
    }
}

impl Rule for SharedBankConflict {
    fn check(&self, view: &View<'_>, sink: &mut Sink<'_>) {
        let key =
            |access: &Access| (access.space == Space::Shared && access.merged_into.is_none()).then_some(access.span);
        for (span, sightings) in sites::by_place(view, |kernel| &kernel.accesses, key) {
            if let Some(judged) = sites::judge(span, &sightings, |access| self.verdict(access)) {
                report(view, &judged, sink);
            }
        }
    }
}

impl SharedBankConflict {
    fn verdict(&self, access: &Access) -> Verdict {
        let Some(traffic) = traffic::known(access) else { return Verdict::Unknown };
        // 8- and 16-byte accesses are served in two and four phases: few active lanes spread over them are no conflict.
        let phases = f64::from(access.bytes_per_lane.div_ceil(4));
        let is_sparse = access.active_lanes < 31.99 && access.bytes_per_lane > 4 && traffic.per_request <= phases;
        if is_sparse || traffic.ratio() + 1e-9 < self.min_ratio {
            return Verdict::Silent;
        }
        // Among equal ratios the higher worst case decides; it is far below 1024.
        Verdict::Fires { badness: traffic.ratio() + f64::from(traffic.worst) / 1024.0, exactness: access.exactness }
    }
}

fn report(view: &View<'_>, judged: &Judged<'_, Access>, sink: &mut Sink<'_>) {
    let access = judged.worst.fact;
    let Some(numbers) = access.traffic else { return };
    let ways = ways(numbers);
    let operation = match access.operation {
        crate::warp::facts::Operation::Load => "load",
        crate::warp::facts::Operation::Store => "store",
        crate::warp::facts::Operation::Atomic => "atomic",
    };
    let message = format!("{} ({ways}-way bank conflict)", traffic::claim(numbers, "wavefront", operation));
    let mut draft = Draft::new(judged.span, judged.confidence, message)
        .label(label(access, ways))
        .kernel(judged.kernel())
        .count("wavefronts", numbers.worst)
        .count("ideal", numbers.worst_ideal)
        .count("ways", ways)
        .count("bytes_per_lane", access.bytes_per_lane)
        .evidence("mean_wavefronts", Evidence::Mean(numbers.per_request))
        .evidence("active_lanes", Evidence::Mean(access.active_lanes));
    for call in &access.called_from {
        draft = draft.related(*call, "reached through this call");
    }
    let array = access.shared_array.and_then(|index| judged.worst.kernel.shared_arrays.get(index));
    draft = match array {
        Some(array) => with_declaration(draft, array),
        None => traffic::with_array(draft, access, judged.span),
    };
    draft = draft
        .notes(traffic::mean_note(numbers, "wavefront", operation))
        .notes(judged.launch_notes(view))
        .notes(traffic::assumption(access))
        .notes(sites::instance_note(judged))
        .note(advice(view, array));
    if judged.firing.iter().all(|s| s.fact.by_one_warp && !s.fact.in_loop) {
        draft = draft.at_most(Level::Note).note("one warp of the block runs this once, so little is lost");
    }
    sink.emit(draft.fix(array.and_then(|array| padding_fix(view, array))));
}

/// The most distinct words wanted from one bank by the lanes served together.
fn ways(traffic: Traffic) -> u32 {
    traffic.worst.div_ceil(traffic.worst_ideal.max(1))
}

fn label(access: &Access, ways: u32) -> Option<String> {
    let stride = traffic::stride_label(access);
    let all_in_one = (ways >= 32).then(|| "all in one bank".to_owned());
    match (stride, all_in_one) {
        (Some(stride), Some(all)) => Some(format!("{stride}, {all}")),
        (stride, all) => stride.or(all),
    }
}

fn with_declaration(draft: Draft, array: &SharedArray) -> Draft {
    let row = array.dims.as_ref().filter(|dims| dims.len() > 1).and_then(|dims| dims.last().copied());
    let text = match row.map(|row| row * array.element_bytes) {
        Some(128) => "a row is 32 words, as many as there are banks".to_owned(),
        Some(bytes) if bytes % 4 == 0 => format!("a row is {}", crate::error::count(bytes as usize / 4, "word")),
        Some(bytes) => format!("a row is {}", crate::error::count(bytes as usize, "byte")),
        None => format!("`{}` is declared here", array.name),
    };
    draft.related(array.decl_span, text)
}

fn advice(view: &View<'_>, array: Option<&SharedArray>) -> String {
    let Some(array) = array else {
        return "free of conflicts when the lanes' word indices differ modulo 32: pad the pitch, or swizzle with ^"
            .to_owned();
    };
    match &array.padding {
        Some(padding) => format!("fix: {} (--unsafe-fixes)", padding_title(view, array, padding)),
        None if array.dims.as_ref().is_some_and(|dims| dims.len() > 1) => {
            format!("no padding frees all accesses of `{}`: swizzle the column, as in `{0}[y][x ^ y]`", array.name)
        }
        None => "free of conflicts when the lanes' word indices differ modulo 32: use an odd stride, or swizzle with ^"
            .to_owned(),
    }
}

/// `tile[32][33] gives 1 wavefront at all 3 accesses of tile`.
fn padding_title(view: &View<'_>, array: &SharedArray, padding: &Padding) -> String {
    let inner = padding.dimension_span.map(|span| padded(view.raw(span).trim(), padding.elements));
    let shape = match (&array.dims, inner) {
        (Some(dims), inner) => {
            let last = dims.len().saturating_sub(1);
            let piece = |(i, n): (usize, &u64)| match (i == last, &inner) {
                (true, Some(text)) => format!("[{text}]"),
                (true, None) => format!("[{}]", n + padding.elements),
                (false, _) => format!("[{n}]"),
            };
            dims.iter().enumerate().map(piece).collect::<String>()
        }
        (None, Some(text)) => format!("[...][{text}]"),
        (None, None) => format!(" padded by {}", padding.elements),
    };
    let accesses = match padding.accesses {
        1 => "the access".to_owned(),
        n => format!("all {n} accesses"),
    };
    let after = crate::error::count(padding.worst_after as usize, "wavefront");
    format!("{}{shape} gives {after} at {accesses} of {0}", array.name)
}

fn padding_fix(view: &View<'_>, array: &SharedArray) -> Option<Fix> {
    let padding = array.padding.as_ref()?;
    let span = padding.dimension_span.filter(|span| !span.in_macro && !array.decl_span.in_macro)?;
    let text = view.raw(span);
    let edit = padded(text.trim(), padding.elements);
    (!text.trim().is_empty()).then(|| Fix {
        safety: Safety::Unsafe,
        title: padding_title(view, array, padding),
        edits: vec![(span, edit)],
    })
}

/// `32` becomes `33`, `TILE` becomes `TILE + 1`, `a ? b : c` becomes `(a ? b : c) + 1`.
fn padded(text: &str, elements: u64) -> String {
    if let Ok(number) = text.parse::<u64>() {
        return (number + elements).to_string();
    }
    let is_sum = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '*' | '+' | ' ' | '.'));
    if is_sum { format!("{text} + {elements}") } else { format!("({text}) + {elements}") }
}

#[cfg(test)]
mod tests {
    use super::padded;

    #[test]
    fn padding_is_written_in_the_way_of_the_dimension() {
        assert_eq!(padded("32", 1), "33");
        assert_eq!(padded("TILE", 1), "TILE + 1");
        assert_eq!(padded("2 * N", 4), "2 * N + 4");
        assert_eq!(padded("A ? 1 : 2", 1), "(A ? 1 : 2) + 1");
    }
}
