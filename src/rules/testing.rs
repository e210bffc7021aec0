//! Hand-made facts for the tests of rules.

use super::{Candidate, Fields, Options, Rule, Sink, View};
use crate::finding::Level;
use crate::source::{FileId, SourceMap, Span};
use crate::warp::facts::{
    Access, Barrier, Divergence, DivergenceKind, Division, Divisor, DoubleLiteral, Exactness, KernelFacts, Launch,
    LaunchSource, LiteralUse, Operation, SharedArray, Space, Traffic,
};

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

/// A kernel launched in line 1.
pub(super) fn launched() -> KernelFacts {
    kernel(LaunchSource::Visible(Span::new(FileId(0), 0, 1)), [32, 8, 1])
}

pub(super) fn assumed(block: [u32; 3]) -> KernelFacts {
    kernel(LaunchSource::Assumed, block)
}

/// A full-warp load of 4 bytes per lane.
pub(super) fn access(span: Span, space: Space, moved: f64, ideal: f64) -> Access {
    let traffic = Traffic {
        per_request: moved,
        ideal_per_request: ideal,
        worst: moved.ceil() as u32,
        worst_ideal: ideal.ceil() as u32,
    };
    Access {
        span,
        called_from: Vec::new(),
        function: "k".into(),
        space,
        operation: Operation::Load,
        bytes_per_lane: 4,
        active_lanes: 32.0,
        traffic: Some(traffic),
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

/// A `float` array of rows.
pub(super) fn array(decl_span: Span, dims: &[u64]) -> SharedArray {
    SharedArray { name: "tile".into(), decl_span, dims: Some(dims.to_vec()), element_bytes: 4, padding: None }
}

/// A barrier that some threads do not reach because of a branch.
pub(super) fn barrier(span: Span, cause: Option<Span>) -> Barrier {
    let divergence = cause.map(|cause| Divergence {
        cause,
        kind: DivergenceKind::Branch,
        have_returned: false,
        witnesses: Some(([0, 0, 0], [64, 0, 0])),
        is_conditional: false,
    });
    Barrier { span, called_from: Vec::new(), function: "k".into(), name: "__syncthreads".into(), divergence }
}

/// `left / right`, signed, 32 bits.
pub(super) fn division(text: &str, whole: &str, divisor: Divisor) -> Division {
    let (left, right) = whole.split_once([' ']).unwrap_or((whole, ""));
    let right = right.trim_start_matches(['/', '%', ' ']);
    Division {
        span: span(text, whole),
        function: "k".into(),
        left: span(text, left),
        right: span(text, right),
        is_remainder: whole.contains('%'),
        is_signed: true,
        bits: 32,
        divisor,
        dividend_not_negative: false,
        needs_no_fix_up: false,
        in_loop: false,
        is_folded: false,
    }
}

pub(super) fn literal(span: Span, context: Span, value: f64, use_: LiteralUse) -> DoubleLiteral {
    DoubleLiteral { span, function: "k".into(), instance: None, value, use_, costs_fp64: true, context }
}

/// What a rule with default options says.
pub(super) fn check<R: Rule + Options>(text: &str, kernels: &[KernelFacts]) -> Vec<Candidate> {
    let mut sources = SourceMap::default();
    sources.add("a.cu".into(), text);
    let mut rule = R::default();
    rule.fields(&mut Fields::new(None));
    let view = View::new(kernels, 90, &sources, &|_| true, &|_, _| true);
    let level = |_| Some((Level::Error, false));
    let mut sink = Sink::new("rule", &level);
    rule.check(&view, &mut sink);
    sink.into_findings()
}
