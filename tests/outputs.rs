//! One report through every format: what a person reads, and that the machine formats mean what they say.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use cudalint::finding::{Confidence, Evidence, Finding, Fix, Level, Safety};
use cudalint::model::Gap;
use cudalint::output::{self, AccessFormat, Colour, Format};
use cudalint::report::Report;
use cudalint::source::{SourceMap, Span};
use cudalint::warp::facts::{Access, Exactness, KernelFacts, Launch, LaunchSource, Operation, Space, Traffic};
use serde_json::Value;

const SOURCE: &str = "\
__global__ void turn(float* out)
{
    __shared__ float tile[32][32];
    out[0] = tile[threadIdx.x][threadIdx.y];
}
void go() { turn<<<1, dim3(32, 8)>>>(out); }
";

fn span(sources: &SourceMap, needle: &str) -> Span {
    let file = &sources.files()[0];
    let start = file.text.find(needle).unwrap();
    Span::new(file.id, start as u32, (start + needle.len()) as u32)
}

fn conflict(sources: &SourceMap) -> Finding {
    let inner = span(sources, "][32]");
    let inner = Span { start: inner.start + 2, end: inner.end - 1, ..inner };
    Finding {
        rule: "shared-bank-conflict",
        level: Level::Warning,
        confidence: Confidence::Proven,
        span: span(sources, "tile[threadIdx.x][threadIdx.y]"),
        message: "32 wavefronts per load, 1 would do (32-way bank conflict)".to_owned(),
        label: Some("lane k+1 reads 32 elements after lane k, all in one bank".to_owned()),
        related: vec![(span(sources, "tile[32][32]"), "a row is 32 words, as many as there are banks".to_owned())],
        notes: vec![
            "block (32,8) from turn.cu:6, proven for every warp".to_owned(),
            "fix: tile[32][33] gives 1 wavefront at all 2 accesses of tile (--unsafe-fixes)".to_owned(),
        ],
        kernel: Some("turn".to_owned()),
        evidence: BTreeMap::from([("wavefronts", Evidence::Count(32)), ("mean_wavefronts", Evidence::Mean(32.0))]),
        fix: Some(Fix {
            safety: Safety::Unsafe,
            title: "tile[32][33] gives 1 wavefront at all 2 accesses of tile".to_owned(),
            edits: vec![(inner, "33".to_owned())],
        }),
    }
}

fn kernel(sources: &SourceMap) -> KernelFacts {
    let access = Access {
        span: span(sources, "tile[threadIdx.x][threadIdx.y]"),
        called_from: Vec::new(),
        function: "turn".into(),
        space: Space::Shared,
        operation: Operation::Load,
        bytes_per_lane: 4,
        active_lanes: 32.0,
        traffic: Some(Traffic { per_request: 32.0, ideal_per_request: 1.0, worst: 32, worst_ideal: 1 }),
        exactness: Exactness::Exact,
        why: None,
        stride: "32 elements".into(),
        is_data_dependent: false,
        merged_into: None,
        shared_array: None,
        array: None,
        is_only_misaligned: false,
        record: None,
        by_one_warp: false,
        in_loop: false,
    };
    let unknown = Access {
        span: span(sources, "out[0]"),
        space: Space::Global,
        operation: Operation::Store,
        exactness: Exactness::Unknown,
        why: Some("a pointer loaded from memory".to_owned()),
        ..access.clone()
    };
    KernelFacts {
        kernel: "turn".into(),
        kernel_span: span(sources, "turn"),
        instance: None,
        launch: Launch { block: [32, 8, 1], grid: None, source: LaunchSource::Visible(span(sources, "turn<<<")) },
        accesses: vec![unknown, access],
        barriers: Vec::new(),
        divisions: Vec::new(),
        float_literals: Vec::new(),
        unknowns: Vec::new(),
        shared_arrays: Vec::new(),
    }
}

fn report() -> (SourceMap, Report) {
    let mut sources = SourceMap::default();
    let file = sources.add(PathBuf::from("./turn.cu"), SOURCE);
    let report = Report {
        target: "sm_90".to_owned(),
        findings: vec![conflict(&sources)],
        gaps: vec![Gap { span: None, file, function: Some("turn".into()), why: "syntax error".to_owned() }],
        kernels: vec![kernel(&sources)],
        files: 1,
        kernel_count: 1,
        kernels_with_gap: 1,
        passed_over: vec![(PathBuf::from("a.hip"), "HIP source".to_owned())],
        ..Report::default()
    };
    (sources, report)
}

fn written(format: Format, sources: &SourceMap, report: &Report) -> String {
    let mut out = Vec::new();
    output::findings(format, report, sources, Colour::Never, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn full_shows_the_source_and_what_it_rests_on() {
    let (sources, report) = report();
    insta::assert_snapshot!(written(Format::Full, &sources, &report), @r"
    warning[shared-bank-conflict]: 32 wavefronts per load, 1 would do (32-way bank conflict)
      +- turn.cu:4:14
      |
    3 |     __shared__ float tile[32][32];
      |                      ------------ a row is 32 words, as many as there are banks
    4 |     out[0] = tile[threadIdx.x][threadIdx.y];
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ lane k+1 reads 32 elements after lane k, all in one bank
      |
      = block (32,8) from turn.cu:6, proven for every warp
      = fix: tile[32][33] gives 1 wavefront at all 2 accesses of tile (--unsafe-fixes)
    ");
}

#[test]
fn short_is_one_line() {
    let (sources, report) = report();
    assert_eq!(
        written(Format::Short, &sources, &report),
        "turn.cu:4:14: warning[shared-bank-conflict] 32 wavefronts per load, 1 would do (32-way bank conflict)\n"
    );
}

/// The text that JSON lines and columns mean, cut from the file by them alone.
fn cut(place: &Value) -> String {
    let lines: Vec<&str> = SOURCE.lines().collect();
    let number = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
    assert_eq!(place["line"], place["end_line"]);
    let line: Vec<char> = lines[number("line") - 1].chars().collect();
    line[number("column") - 1..number("end_column") - 1].iter().collect()
}

#[test]
fn json_places_cut_the_text_they_mean() {
    let (sources, report) = report();
    let json: Value = serde_json::from_str(&written(Format::Json, &sources, &report)).unwrap();
    assert_eq!(json["schema"], 1);
    let finding = &json["findings"][0];
    assert_eq!(finding["file"], "turn.cu");
    assert_eq!(cut(finding), "tile[threadIdx.x][threadIdx.y]");
    assert_eq!(cut(&finding["related"][0]), "tile[32][32]");
    assert_eq!(finding["evidence"]["wavefronts"], 32);
    let edit = &finding["fix"]["edits"][0];
    assert_eq!((cut(edit).as_str(), edit["text"].as_str()), ("32", Some("33")));
    let bytes = edit["start_byte"].as_u64().unwrap() as usize..edit["end_byte"].as_u64().unwrap() as usize;
    assert_eq!(&SOURCE[bytes], "32");
    assert_eq!(json["gaps"][0]["function"], "turn");
    assert_eq!((&json["summary"]["warning"], &json["summary"]["kernels"]), (&Value::from(1), &Value::from(1)));
}

#[test]
fn colours_come_on_request_only() {
    let (sources, report) = report();
    let mut out = Vec::new();
    output::findings(Format::Full, &report, &sources, Colour::Always, &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("\u{1b}["));
    assert!(!written(Format::Full, &sources, &report).contains('\u{1b}'));
}

#[test]
fn control_characters_reach_no_terminal() {
    let mut sources = SourceMap::default();
    let text = "a \u{1b}]0;x\u{7} b \u{202e}c\r\nnext\n";
    let file = sources.add(PathBuf::from("e\u{1b}[31m.cu"), text);
    let (_, mut report) = report();
    report.kernels.clear();
    report.gaps.clear();
    for finding in &mut report.findings {
        finding.span = Span::new(file, 0, text.len() as u32);
        finding.message = "bad \u{1b}[2J message".to_owned();
        finding.related = vec![(Span::new(file, 0, 1), "x\u{9b}y".to_owned())];
        finding.fix = None;
    }
    for format in [Format::Full, Format::Short] {
        let out = written(format, &sources, &report);
        let unfit: Vec<char> = out.chars().filter(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}').collect();
        assert!(unfit.is_empty(), "{unfit:?} in {out}");
    }
}

#[test]
fn lines_too_long_to_draw_are_pointed_at() {
    let mut sources = SourceMap::default();
    let file = sources.add(PathBuf::from("long.cu"), "x".repeat(100_000));
    let (_, mut report) = report();
    report.findings[0].span = Span::new(file, 5, 9);
    report.findings[0].related.clear();
    let out = written(Format::Full, &sources, &report);
    assert!(out.len() < 1000 && out.contains("long.cu:1:6"), "{out}");
}

fn accesses(format: AccessFormat) -> String {
    let (sources, report) = report();
    let mut out = Vec::new();
    output::accesses(format, &report, &sources, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn accesses_are_listed_worst_first() {
    insta::assert_snapshot!(accesses(AccessFormat::Text), @r"
    turn (turn.cu:1), block (32,8,1) from turn.cu:6
       32.00 of 1.00  wavefronts  shared   load    4 B x 32.0  32 elements      tile[threadIdx.x][threadIdx.y]   turn.cu:4
      unknown                     global   store   4 B x 32.0  32 elements      out[0]                           turn.cu:4 a pointer loaded from memory

    1 exact, 1 unknown in 1 kernel launch
    ");
}

#[test]
fn accesses_as_json_keep_the_fixed_keys() {
    let json: Value = serde_json::from_str(&accesses(AccessFormat::Json)).unwrap();
    let [unknown, shared] = json["accesses"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&json["schema"], &json["target"]), (&Value::from(1), &Value::from("sm_90")));
    assert_eq!(shared["wavefronts_per_request"], 32.0);
    assert_eq!(shared["ideal_wavefronts_per_request"], 1.0);
    assert_eq!(shared["launch"]["block"], serde_json::json!([32, 8, 1]));
    assert_eq!(shared["launch"]["source"], "turn.cu:6");
    assert_eq!((&shared["line"], &shared["column"], &shared["end_line"]), (&4.into(), &14.into(), &4.into()));
    assert_eq!(shared["expression"], "tile[threadIdx.x][threadIdx.y]");
    assert_eq!(shared["called_from"], serde_json::json!([]));
    assert!(shared.get("instance").is_none() && shared.get("merged_into").is_none());
    assert_eq!((&unknown["confidence"], &unknown["sectors_per_request"]), (&Value::from("unknown"), &Value::Null));
    assert_eq!(unknown["why"], "a pointer loaded from memory");
}

#[test]
fn why_counts_the_reasons() {
    let (sources, report) = report();
    let mut out = Vec::new();
    output::why(&report, &sources, &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
    what stayed unknown:
         1  a pointer loaded from memory: turn.cu:4
         1  gap: syntax error: turn.cu
    ");
}

#[test]
fn summary_counts_what_was_and_was_not_read() {
    let (_, report) = report();
    assert_eq!(output::summary(&report), "1 warning in 1 kernel of 1 file; 1 gap (in 1 kernel); 1 file passed over");
    assert_eq!(output::notices(&report), ["passed over: a.hip (HIP source)"]);
}
