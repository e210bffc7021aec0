//! Findings as JSON, schema 1. The types here are the format; nothing else is serialised.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::finding::{Evidence, Finding, Fix, Level, fingerprints};
use crate::model::Gap;
use crate::report::Report;
use crate::source::{SourceMap, Span, display_path};

#[derive(Serialize)]
struct Document {
    schema: u32,
    target: String,
    findings: Vec<JsonFinding>,
    gaps: Vec<JsonGap>,
    passed_over: Vec<JsonPath>,
    unreadable: Vec<JsonPath>,
    internal_errors: Vec<String>,
    summary: JsonSummary,
}

#[derive(Serialize)]
struct JsonFinding {
    rule: &'static str,
    level: &'static str,
    confidence: &'static str,
    #[serde(flatten)]
    place: JsonPlace,
    message: String,
    label: Option<String>,
    notes: Vec<String>,
    kernel: Option<String>,
    evidence: BTreeMap<&'static str, JsonNumber>,
    fix: Option<JsonFix>,
    related: Vec<JsonRelated>,
    fingerprint: String,
}

/// Lines and columns count from 1, columns in code points; the end is one past the last character.
#[derive(Serialize)]
struct JsonPlace {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonNumber {
    Count(i64),
    Mean(f64),
    Text(String),
}

#[derive(Serialize)]
struct JsonFix {
    safety: &'static str,
    title: String,
    edits: Vec<JsonEdit>,
}

#[derive(Serialize)]
struct JsonEdit {
    #[serde(flatten)]
    place: JsonPlace,
    /// Byte offsets into the file.
    start_byte: u32,
    end_byte: u32,
    text: String,
}

#[derive(Serialize)]
struct JsonRelated {
    #[serde(flatten)]
    place: JsonPlace,
    message: String,
}

#[derive(Serialize)]
struct JsonGap {
    file: String,
    line: Option<u32>,
    function: Option<String>,
    why: String,
}

#[derive(Serialize)]
struct JsonPath {
    file: String,
    why: String,
}

#[derive(Serialize)]
struct JsonSummary {
    files: usize,
    kernels: usize,
    kernels_with_gap: usize,
    gaps: usize,
    passed_over: usize,
    unreadable: usize,
    error: usize,
    warning: usize,
    note: usize,
    failing: usize,
    silenced: usize,
    held_back: usize,
}

pub(super) fn write(report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    let prints = fingerprints(&report.findings, sources);
    let paths = |list: &[(std::path::PathBuf, String)]| {
        list.iter().map(|(path, why)| JsonPath { file: display_path(path), why: why.clone() }).collect::<Vec<_>>()
    };
    let document = Document {
        schema: 1,
        target: report.target.clone(),
        findings: report.findings.iter().zip(prints).map(|(f, print)| finding(f, print, sources)).collect(),
        gaps: report.gaps.iter().map(|gap| json_gap(gap, sources)).collect(),
        passed_over: paths(&report.passed_over),
        unreadable: paths(&report.unreadable),
        internal_errors: report.internal_errors.clone(),
        summary: JsonSummary {
            files: report.files,
            kernels: report.kernel_count,
            kernels_with_gap: report.kernels_with_gap,
            gaps: report.gaps.len(),
            passed_over: report.passed_over.len(),
            unreadable: report.unreadable.len(),
            error: report.count(Level::Error),
            warning: report.count(Level::Warning),
            note: report.count(Level::Note),
            failing: report.failing,
            silenced: report.silenced,
            held_back: report.held_back,
        },
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn finding(finding: &Finding, fingerprint: String, sources: &SourceMap) -> JsonFinding {
    let number = |value: &Evidence| match value {
        Evidence::Count(count) => JsonNumber::Count(*count),
        Evidence::Mean(mean) => JsonNumber::Mean(*mean),
        Evidence::Text(text) => JsonNumber::Text(text.clone()),
    };
    let related =
        |(span, message): &(Span, String)| JsonRelated { place: place(*span, sources), message: message.clone() };
    JsonFinding {
        rule: finding.rule,
        level: finding.level.word(),
        confidence: finding.confidence.word(),
        place: place(finding.span, sources),
        message: finding.message.clone(),
        label: finding.label.clone(),
        notes: finding.notes.clone(),
        kernel: finding.kernel.clone(),
        evidence: finding.evidence.iter().map(|(key, value)| (*key, number(value))).collect(),
        fix: finding.fix.as_ref().map(|fix| json_fix(fix, sources)),
        related: finding.related.iter().map(related).collect(),
        fingerprint,
    }
}

fn json_fix(fix: &Fix, sources: &SourceMap) -> JsonFix {
    let edit = |(span, text): &(Span, String)| JsonEdit {
        place: place(*span, sources),
        start_byte: span.start,
        end_byte: span.end,
        text: text.clone(),
    };
    JsonFix { safety: fix.safety.word(), title: fix.title.clone(), edits: fix.edits.iter().map(edit).collect() }
}

fn json_gap(gap: &Gap, sources: &SourceMap) -> JsonGap {
    let file = sources.get(gap.file);
    JsonGap {
        file: display_path(&file.path),
        line: gap.span.map(|span| file.line(span.start)),
        function: gap.function.as_ref().map(ToString::to_string),
        why: gap.why.clone(),
    }
}

fn place(span: Span, sources: &SourceMap) -> JsonPlace {
    let file = sources.get(span.file);
    let (start, end) = (file.line_column(span.start), file.line_column(span.end));
    JsonPlace {
        file: display_path(&file.path),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
