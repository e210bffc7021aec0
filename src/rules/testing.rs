//! Hand-made facts for the tests of rules.

use crate::source::{FileId, SourceMap, Span};
use crate::warp::facts::{Access, Exactness, KernelFacts, Launch, LaunchSource, Operation, Space, Traffic};

use super::{Candidate, Fields, Options, Rule, Sink, View};
use crate::finding::Level;

/// The span of the first `needle` in `text`, which is file 0.
pub(super) fn span(text: &str, needle: &str) -> Span {
    let start = text.find(needle).unwrap_or_else(|| panic!("no `{needle}`"));
    Span::new(FileId(0), start as u32, (start + needle.len()) as u32)
}

pub(super) fn kernel(source: LaunchSource, block: [u32; 3]) -> KernelFacts {
    KernelFacts {
        kernel: "k".into(),
        kernel_span: Span::new(FileId(0), 0, 1),
        instance: None,
        launch: Launch { block, grid: None, source },
        accesses: Vec::new(),
        barriers: Vec::new(),
        divisions: Vec::new(),
        float_literals: Vec::new(),
        unknowns: Vec::new(),
        shared_arrays: Vec::new(),
    }
}

/// A full-warp load of 4 bytes per lane.
pub(super) fn access(span: Span, space: Space, moved: f64, ideal: f64) -> Access {
    Access {
        span,
        called_from: Vec::new(),
        function: "k".into(),
        space,
        operation: Operation::Load,
        bytes_per_lane: 4,
        active_lanes: 32.0,
        traffic: Some(Traffic {
            per_request: moved,
            ideal_per_request: ideal,
            worst: moved.ceil() as u32,
            worst_ideal: ideal.ceil() as u32,
        }),
        exactness: Exactness::Exact,
        why: None,
        stride: "1 element".into(),
        is_data_dependent: false,
        merged_into: None,
        shared_array: None,
        array: None,
        is_only_misaligned: false,
        record: None,
        by_one_warp: false,
        in_loop: false,
    }
}

/// What a rule with default options says, at `level`.
pub(super) fn check<R: Rule + Options>(text: &str, kernels: &[KernelFacts], level: Level) -> Vec<Candidate> {
    let mut sources = SourceMap::default();
    sources.add("a.cu".into(), text);
    let mut rule = R::default();
    rule.fields(&mut Fields::new(None));
    let view = View::new(kernels, 90, &sources, &|_| true, &|_, _| true);
    let level = |_| Some((level, false));
    let mut sink = Sink::new("rule", &level);
    rule.check(&view, &mut sink);
    sink.into_findings()
}
