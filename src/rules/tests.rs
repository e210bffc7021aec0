//! What the rules say about hand-made facts.

use super::divergent_barrier::DivergentBarrier;
use super::float_literal_suffix::FloatLiteralSuffix;
use super::int_div_pow2::IntDivPow2;
use super::misaligned_access::MisalignedAccess;
use super::shared_bank_conflict::SharedBankConflict;
use super::testing::*;
use super::unaligned_vector_type::UnalignedVectorType;
use super::uncoalesced_access::UncoalescedAccess;
use super::{Candidate, Options, Rule};
use crate::finding::{Confidence, Evidence, Finding, Level, Safety};
use crate::warp::facts::{
    Access, DivergenceKind, Divisor, Exactness, KernelFacts, LiteralUse, Padding, RecordAccess, Space,
};

const LOADS: &str = "launch;\n__shared__ float tile[32][32];\nx = in[i * n]; y = p[i].x; z = tile[a][b];\n";

fn with_access(mut kernel: KernelFacts, access: Access) -> KernelFacts {
    kernel.accesses.push(access);
    kernel
}

fn global(moved: f64, ideal: f64) -> Access {
    access(span(LOADS, "in[i * n]"), Space::Global, moved, ideal)
}

fn shared(moved: f64, ideal: f64) -> Access {
    access(span(LOADS, "tile[a][b]"), Space::Shared, moved, ideal)
}

fn only<R: Rule + Options>(text: &str, kernels: &[KernelFacts]) -> Finding {
    let mut found = check::<R>(text, kernels);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0).finding
}

fn none<R: Rule + Options>(text: &str, kernels: &[KernelFacts]) {
    let found = check::<R>(text, kernels);
    assert!(found.is_empty(), "{found:#?}");
}

fn count(finding: &Finding, key: &str) -> i64 {
    match finding.evidence.get(key) {
        Some(Evidence::Count(n)) => *n,
        other => panic!("{key} is {other:?}"),
    }
}

#[test]
fn strided_load_says_its_numbers_and_its_launch() {
    let mut load = global(32.0, 4.0);
    load.stride = "n elements".into();
    let finding = only::<UncoalescedAccess>(LOADS, &[with_access(launched(), load)]);
    assert_eq!(finding.message, "32 sectors per request, 4 would do");
    assert_eq!(finding.label.as_deref(), Some("lane k+1 reads n elements after lane k"));
    assert_eq!(finding.notes.first().map(String::as_str), Some("block (32,8) from a.cu:1, proven for every warp"));
    assert_eq!((count(&finding, "sectors"), count(&finding, "ideal")), (32, 4));
    assert_eq!(finding.confidence, Confidence::Proven);
}

#[test]
fn clean_unknown_and_sparse_accesses_are_silent() {
    let mut unknown = global(32.0, 4.0);
    unknown.exactness = Exactness::Unknown;
    let mut sparse = global(2.0, 1.0);
    sparse.active_lanes = 2.0;
    let mut merged = global(32.0, 4.0);
    merged.merged_into = Some(merged.span);
    for quiet in [global(4.0, 4.0), global(1.0, 1.0), unknown, sparse, merged] {
        none::<UncoalescedAccess>(LOADS, &[with_access(launched(), quiet)]);
    }
}

#[test]
fn confidence_follows_the_launches() {
    let bad = || global(32.0, 4.0);
    let bounded = || Access { exactness: Exactness::Bounded, why: Some("unless n < 8".to_owned()), ..bad() };
    let good = || global(4.0, 4.0);
    let small = [128, 1, 1];
    let cases: [(Vec<KernelFacts>, Confidence); 6] = [
        (vec![with_access(launched(), bad())], Confidence::Proven),
        (vec![with_access(launched(), bounded())], Confidence::Likely),
        (vec![with_access(launched(), bad()), with_access(launched(), good())], Confidence::Likely),
        (vec![with_access(assumed(small), bad()), with_access(assumed([32, 8, 1]), bad())], Confidence::Proven),
        (vec![with_access(assumed(small), bounded()), with_access(assumed([32, 8, 1]), bounded())], Confidence::Likely),
        (vec![with_access(assumed(small), good()), with_access(assumed([32, 8, 1]), bad())], Confidence::Possible),
    ];
    for (kernels, confidence) in cases {
        let found = check::<UncoalescedAccess>(LOADS, &kernels);
        let [Candidate { finding, is_pedantic }] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!(finding.confidence, confidence);
        assert_eq!(*is_pedantic, confidence == Confidence::Possible);
    }
}

#[test]
fn the_worst_launch_in_sight_speaks() {
    let kernels = [
        with_access(assumed([8, 8, 1]), global(32.0, 4.0)),
        with_access(launched(), global(8.0, 4.0)),
        with_access(launched(), global(16.0, 4.0)),
    ];
    let finding = only::<UncoalescedAccess>(LOADS, &kernels);
    assert_eq!(count(&finding, "sectors"), 16);
}

#[test]
fn data_dependent_accesses_are_for_the_pedantic() {
    let scattered = Access { is_data_dependent: true, exactness: Exactness::Bounded, ..global(32.0, 4.0) };
    let found = check::<UncoalescedAccess>(LOADS, &[with_access(launched(), scattered)]);
    assert!(matches!(found.as_slice(), [Candidate { is_pedantic: true, .. }]));
}

#[test]
fn one_access_gets_one_finding() {
    let record = || Some(RecordAccess { name: "float3".into(), size_bytes: 12, align_bytes: 4 });
    let shifted = Access { is_only_misaligned: true, ..global(5.0, 4.0) };
    let dense = Access { record: record(), ..global(12.0, 4.0) };
    let strided = Access { record: record(), ..global(32.0, 4.0) };
    let says = |access: &Access| {
        let kernels = [with_access(launched(), access.clone())];
        [
            check::<UncoalescedAccess>(LOADS, &kernels).len(),
            check::<MisalignedAccess>(LOADS, &kernels).len(),
            check::<UnalignedVectorType>(LOADS, &kernels).len(),
        ]
    };
    assert_eq!(says(&shifted), [0, 1, 0]);
    assert_eq!(says(&dense), [0, 0, 1]);
    assert_eq!(says(&strided), [1, 0, 0]);
}

#[test]
fn halo_loads_of_a_tile_are_named_once() {
    let mut kernel = launched();
    for text in ["in[i * n]", "p[i].x"] {
        let place = span(LOADS, text);
        kernel.accesses.push(Access { is_only_misaligned: true, ..access(place, Space::Global, 5.0, 4.0) });
    }
    assert_eq!(check::<MisalignedAccess>(LOADS, std::slice::from_ref(&kernel)).len(), 2);
    kernel.shared_arrays.push(array(span(LOADS, "tile[32][32]"), &[32, 32]));
    let finding = only::<MisalignedAccess>(LOADS, &[kernel]);
    assert!(finding.related.iter().any(|(_, text)| text == "this one too"));
}

#[test]
fn a_record_that_fits_is_told_its_alignment() {
    let record = RecordAccess { name: "Pair".into(), size_bytes: 8, align_bytes: 4 };
    let load = Access { record: Some(record), ..global(8.0, 4.0) };
    let finding = only::<UnalignedVectorType>(LOADS, &[with_access(launched(), load)]);
    assert!(finding.notes.iter().any(|n| n.contains("__align__(8)")), "{finding:#?}");
}

#[test]
fn bank_conflict_is_padded_where_that_frees_all_accesses() {
    let mut kernel = launched();
    let mut tile = array(span(LOADS, "tile[32][32]"), &[32, 32]);
    let inner = span(LOADS, "[32][32]");
    let inner = crate::source::Span { start: inner.start + 5, end: inner.end - 1, ..inner };
    tile.padding =
        Some(Padding { elements: 1, worst_before: 32, worst_after: 1, accesses: 3, dimension_span: Some(inner) });
    kernel.shared_arrays.push(tile);
    kernel.accesses.push(Access { shared_array: Some(0), stride: "32 elements".into(), ..shared(32.0, 1.0) });
    let finding = only::<SharedBankConflict>(LOADS, &[kernel]);
    assert_eq!(finding.message, "32 wavefronts per load, 1 would do (32-way bank conflict)");
    assert_eq!(finding.label.as_deref(), Some("lane k+1 reads 32 elements after lane k, all in one bank"));
    assert_eq!(count(&finding, "ways"), 32);
    let fix = finding.fix.unwrap();
    assert_eq!(fix.title, "tile[32][33] gives 1 wavefront at all 3 accesses of tile");
    assert_eq!((fix.safety, fix.edits), (Safety::Unsafe, vec![(inner, "33".to_owned())]));
}

#[test]
fn ways_count_the_lanes_served_together() {
    let wide = Access { bytes_per_lane: 8, ..shared(4.0, 2.0) };
    let finding = only::<SharedBankConflict>(LOADS, &[with_access(launched(), wide)]);
    assert_eq!((count(&finding, "wavefronts"), count(&finding, "ways")), (4, 2));
}

#[test]
fn natural_phases_and_a_lone_epilogue_are_no_warnings() {
    let spread = Access { bytes_per_lane: 8, active_lanes: 16.0, ..shared(2.0, 1.0) };
    none::<SharedBankConflict>(LOADS, &[with_access(launched(), spread)]);
    none::<SharedBankConflict>(LOADS, &[with_access(launched(), shared(1.5, 1.0))]);
    let once = Access { by_one_warp: true, ..shared(32.0, 1.0) };
    assert_eq!(only::<SharedBankConflict>(LOADS, &[with_access(launched(), once)]).level, Level::Note);
    let often = Access { by_one_warp: true, in_loop: true, ..shared(32.0, 1.0) };
    assert_eq!(only::<SharedBankConflict>(LOADS, &[with_access(launched(), often)]).level, Level::Error);
}

const BARRIERS: &str = "helper { a; sync_in_helper; } kernel { helper_one; if (t < 64) { helper_two; sync_here; } }";

#[test]
fn barrier_in_a_helper_is_reported_at_the_divergent_call() {
    let mut kernel = launched();
    let inside = span(BARRIERS, "sync_in_helper");
    let mut fine = barrier(inside, None);
    fine.called_from = vec![span(BARRIERS, "helper_one")];
    let mut split = barrier(inside, Some(span(BARRIERS, "t < 64")));
    split.called_from = vec![span(BARRIERS, "helper_two")];
    kernel.barriers = vec![fine, split];
    let finding = only::<DivergentBarrier>(BARRIERS, &[kernel]);
    assert_eq!(finding.span, span(BARRIERS, "helper_two"));
    assert_eq!(finding.level, Level::Error);
    assert_eq!(finding.message, "not all threads of the block reach this `__syncthreads`: `t < 64` splits them");
    assert!(finding.notes.iter().any(|n| n == "thread (0,0,0) waits here, thread (64,0,0) never comes"));
}

#[test]
fn threads_that_have_returned_make_it_a_warning() {
    let mut kernel = launched();
    let mut split = barrier(span(BARRIERS, "sync_here"), Some(span(BARRIERS, "t < 64")));
    if let Some(divergence) = &mut split.divergence {
        divergence.have_returned = true;
        divergence.kind = DivergenceKind::EarlyExit;
        divergence.is_conditional = true;
    }
    kernel.barriers = vec![split];
    let finding = only::<DivergentBarrier>(BARRIERS, &[kernel]);
    assert_eq!((finding.level, finding.confidence), (Level::Warning, Confidence::Likely));
}

#[test]
fn barrier_reached_by_all_is_silent() {
    let mut kernel = launched();
    kernel.barriers = vec![barrier(span(BARRIERS, "sync_here"), None)];
    none::<DivergentBarrier>(BARRIERS, &[kernel]);
}

const DIVISIONS: &str = "i / 64; i % 64; a * b / w; u / 32u;";

fn with_division(divisor: Divisor, whole: &str) -> KernelFacts {
    let mut kernel = launched();
    kernel.divisions.push(division(DIVISIONS, whole, divisor));
    kernel
}

#[test]
fn signed_constant_is_a_note_with_a_fix_only_where_proved() {
    let mut kernel = with_division(Divisor::Constant(64), "i / 64");
    let finding = only::<IntDivPow2>(DIVISIONS, std::slice::from_ref(&kernel));
    assert_eq!((finding.level, finding.fix.is_some()), (Level::Note, false));
    kernel.divisions[0].dividend_not_negative = true;
    let fix = only::<IntDivPow2>(DIVISIONS, &[kernel]).fix.unwrap();
    assert_eq!(fix.safety, Safety::Safe);
    assert_eq!(fix.edits, [(span(DIVISIONS, "i / 64"), "(i >> 6)".to_owned())]);
}

#[test]
fn remainder_becomes_a_mask() {
    let mut kernel = with_division(Divisor::Constant(64), "i % 64");
    kernel.divisions[0].dividend_not_negative = true;
    let finding = only::<IntDivPow2>(DIVISIONS, &[kernel]);
    assert_eq!(count(&finding, "extra_instructions"), 3);
    assert_eq!(finding.fix.unwrap().edits[0].1, "(i & 63)");
}

#[test]
fn divisor_of_every_launch_is_a_warning() {
    let at = |n| with_division(Divisor::AtLaunch(n), "b / w");
    let finding = only::<IntDivPow2>(DIVISIONS, &[at(64), at(32)]);
    assert!(finding.message.ends_with("powers of two at every launch seen: 32, 64"), "{}", finding.message);
    assert_eq!(finding.level, Level::Error);
    none::<IntDivPow2>(DIVISIONS, &[at(64), at(48)]);
    none::<IntDivPow2>(DIVISIONS, &[at(64), with_division(Divisor::Runtime, "b / w")]);
    let mut unseen = at(64);
    unseen.launch = assumed([64, 1, 1]).launch;
    none::<IntDivPow2>(DIVISIONS, &[unseen]);
}

#[test]
fn cheap_divisions_are_silent() {
    none::<IntDivPow2>(DIVISIONS, &[with_division(Divisor::Constant(3), "i / 64")]);
    none::<IntDivPow2>(DIVISIONS, &[with_division(Divisor::Constant(1), "i / 64")]);
    none::<IntDivPow2>(DIVISIONS, &[with_division(Divisor::Constant(-4), "i / 64")]);
    let mut folded = with_division(Divisor::Constant(64), "i / 64");
    folded.divisions[0].is_folded = true;
    none::<IntDivPow2>(DIVISIONS, &[folded]);
    let mut unsigned = with_division(Divisor::Constant(64), "i / 64");
    unsigned.divisions[0].is_signed = false;
    assert!(matches!(check::<IntDivPow2>(DIVISIONS, &[unsigned]).as_slice(), [Candidate { is_pedantic: true, .. }]));
}

const LITERALS: &str = "0.5 * r + 0.7152 * g; M;";

#[test]
fn literals_of_one_expression_are_one_finding() {
    let mut kernel = launched();
    let context = span(LITERALS, "0.5 * r + 0.7152 * g");
    for (text, value) in [("0.5", 0.5), ("0.7152", 0.7152)] {
        kernel.float_literals.push(literal(span(LITERALS, text), context, value, LiteralUse::DoubleArithmetic));
    }
    let finding = only::<FloatLiteralSuffix>(LITERALS, &[kernel]);
    assert_eq!(count(&finding, "literals"), 2);
    let fix = finding.fix.unwrap();
    assert_eq!(fix.title, "write 0.5f, 0.7152f");
    assert_eq!((fix.safety, fix.edits.len()), (Safety::Unsafe, 2));
}

#[test]
fn suffix_is_safe_where_no_bit_changes() {
    let place = span(LITERALS, "0.5");
    let safety = |value, use_| {
        let mut kernel = launched();
        kernel.float_literals.push(literal(place, place, value, use_));
        only::<FloatLiteralSuffix>(LITERALS, &[kernel]).fix.unwrap().safety
    };
    assert_eq!(safety(0.5, LiteralUse::NarrowedArithmetic), Safety::Safe);
    assert_eq!(safety(0.5, LiteralUse::Comparison), Safety::Safe);
    assert_eq!(safety(0.1, LiteralUse::Comparison), Safety::Unsafe);
    assert_eq!(safety(0.5, LiteralUse::Argument), Safety::Unsafe);
}

#[test]
fn literal_that_costs_nothing_is_a_note_and_a_macro_is_not_edited() {
    let mut kernel = launched();
    let place = crate::source::Span { in_macro: true, ..span(LITERALS, "M") };
    let cheap = crate::warp::facts::DoubleLiteral {
        costs_fp64: false,
        ..literal(place, place, 2.0, LiteralUse::NarrowedArithmetic)
    };
    kernel.float_literals.push(cheap);
    let finding = only::<FloatLiteralSuffix>(LITERALS, &[kernel]);
    assert_eq!((finding.level, finding.fix), (Level::Note, None));
}
