//! Every memory access with its predicted numbers: as JSON for machines (schema 1), as a table per kernel for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::report::Report;
use crate::source::{SourceMap, display_path};
use crate::visible::{plain, plain_path};
use crate::warp::facts::{Access, Exactness, KernelFacts, LaunchSource, Operation, Space};

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    target: &'a str,
    accesses: Vec<JsonAccess>,
}

#[derive(Serialize)]
struct JsonAccess {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    expression: String,
    kernel: String,
    function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged_into: Option<u32>,
    called_from: Vec<JsonCall>,
    launch: JsonLaunch,
    space: &'static str,
    operation: &'static str,
    bytes_per_lane: u32,
    active_lanes: f64,
    #[serde(skip_serializing_if = "Numbers::is_absent")]
    #[serde(flatten)]
    numbers: Numbers,
    stride: String,
    confidence: &'static str,
    why: Option<String>,
}

#[derive(Serialize)]
struct JsonCall {
    file: String,
    line: u32,
}

#[derive(Serialize)]
struct JsonLaunch {
    block: [u32; 3],
    grid: Option<[u64; 3]>,
    source: String,
}

/// Keys by space; the values are null where unknown.
#[derive(Serialize)]
#[serde(untagged)]
enum Numbers {
    Global { sectors_per_request: Option<f64>, ideal_sectors_per_request: Option<f64> },
    Shared { wavefronts_per_request: Option<f64>, ideal_wavefronts_per_request: Option<f64> },
    Absent {},
}

impl Numbers {
    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent {})
    }
}

pub(super) fn write_json(report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    let accesses = report
        .kernels
        .iter()
        .flat_map(|kernel| kernel.accesses.iter().map(move |access| json_access(kernel, access, sources)))
        .collect();
    let document = Document { schema: 1, target: &report.target, accesses };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn json_access(kernel: &KernelFacts, access: &Access, sources: &SourceMap) -> JsonAccess {
    let file = sources.get(access.span.file);
    let start = file.line_column(access.span.start);
    JsonAccess {
        file: display_path(&file.path),
        line: start.line,
        column: start.column,
        end_line: file.line(access.span.end.saturating_sub(1).max(access.span.start)),
        expression: expression(access, sources, usize::MAX),
        kernel: kernel.kernel.to_string(),
        function: access.function.to_string(),
        instance: kernel.instance.clone(),
        merged_into: access.merged_into.map(|span| {
            let file = sources.get(span.file);
            file.line(span.end.saturating_sub(1).max(span.start))
        }),
        called_from: access.called_from.iter().map(|span| call(*span, sources)).collect(),
        launch: JsonLaunch {
            block: kernel.launch.block,
            grid: kernel.launch.grid,
            source: launch_source(kernel, sources),
        },
        space: space(access.space),
        operation: operation(access.operation),
        bytes_per_lane: access.bytes_per_lane,
        active_lanes: access.active_lanes,
        numbers: numbers(access),
        stride: access.stride.clone(),
        confidence: match access.exactness {
            Exactness::Exact => "exact",
            Exactness::Bounded => "bounded",
            Exactness::Unknown => "unknown",
        },
        why: access.why.clone(),
    }
}

fn call(span: crate::source::Span, sources: &SourceMap) -> JsonCall {
    let file = sources.get(span.file);
    JsonCall { file: display_path(&file.path), line: file.line(span.start) }
}

fn numbers(access: &Access) -> Numbers {
    let traffic = access.traffic.filter(|_| access.exactness != Exactness::Unknown);
    let (moved, ideal) = (traffic.map(|t| t.per_request), traffic.map(|t| t.ideal_per_request));
    match access.space {
        Space::Global => Numbers::Global { sectors_per_request: moved, ideal_sectors_per_request: ideal },
        Space::Shared => Numbers::Shared { wavefronts_per_request: moved, ideal_wavefronts_per_request: ideal },
        Space::Local | Space::Constant | Space::Unknown => Numbers::Absent {},
    }
}

fn expression(access: &Access, sources: &SourceMap, most: usize) -> String {
    let text = sources.get(access.span.file).slice(access.span).split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

fn launch_source(kernel: &KernelFacts, sources: &SourceMap) -> String {
    match &kernel.launch.source {
        LaunchSource::Visible(span) => sources.place(*span),
        LaunchSource::Hint => "lint.toml".to_owned(),
        LaunchSource::LaunchBounds => "launch_bounds".to_owned(),
        LaunchSource::Assumed => "assumed".to_owned(),
    }
}

fn space(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Constant => "constant",
        Space::Unknown => "unknown",
    }
}

fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Load => "load",
        Operation::Store => "store",
        Operation::Atomic => "atomic",
    }
}

/// One table per kernel, instance and launch; in each the worst ratio first, the unknown last.
pub(super) fn write_text(report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    for kernel in &report.kernels {
        write_kernel(kernel, sources, out)?;
    }
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    let counted = report.kernels.iter().flat_map(|kernel| &kernel.accesses).filter(|a| a.merged_into.is_none());
    for access in counted {
        let word = match access.exactness {
            Exactness::Exact => "exact",
            Exactness::Bounded => "bounded",
            Exactness::Unknown => "unknown",
        };
        *totals.entry(word).or_default() += 1;
    }
    let list: Vec<String> = totals.into_iter().map(|(word, n)| format!("{n} {word}")).collect();
    let list = if list.is_empty() { "no accesses".to_owned() } else { list.join(", ") };
    writeln!(
        out,
        "{list} in {}",
        crate::error::count(report.kernels.len(), "kernel launch").replace("launchs", "launches")
    )
}

fn write_kernel(kernel: &KernelFacts, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    let [x, y, z] = kernel.launch.block;
    let name = kernel.instance.clone().unwrap_or_else(|| kernel.kernel.to_string());
    let place = plain(&sources.place(kernel.kernel_span)).into_owned();
    let source = plain(&launch_source(kernel, sources)).into_owned();
    writeln!(out, "{} ({place}), block ({x},{y},{z}) from {source}", plain(&name))?;
    let mut rows: Vec<&Access> = kernel.accesses.iter().collect();
    rows.sort_by(|a, b| {
        badness(b).total_cmp(&badness(a)).then_with(|| (a.span, a.operation).cmp(&(b.span, b.operation)))
    });
    for access in rows {
        writeln!(out, "  {}", row(access, sources))?;
    }
    writeln!(out)
}

fn badness(access: &Access) -> f64 {
    match access.traffic {
        _ if access.exactness == Exactness::Unknown => -1.0,
        Some(traffic) if access.merged_into.is_none() => traffic.ratio(),
        _ => 0.0,
    }
}

fn row(access: &Access, sources: &SourceMap) -> String {
    let unit = match access.space {
        Space::Global => "sectors",
        Space::Shared => "wavefronts",
        _ => "",
    };
    let traffic = access.traffic.filter(|_| access.exactness != Exactness::Unknown);
    let numbers = match (traffic, access.merged_into) {
        (_, Some(span)) => format!("in line {}", sources.get(span.file).line(span.start)),
        (Some(t), None) => format!("{:>6.2} of {:<5.2} {unit}", t.per_request, t.ideal_per_request),
        (None, None) => "unknown".to_owned(),
    };
    let file = sources.get(access.span.file);
    let place = format!("{}:{}", plain_path(&file.path), file.line(access.span.start));
    let bounded = if access.exactness == Exactness::Bounded { " if " } else { " " };
    let why = access.why.as_deref().map(|why| format!("{bounded}{}", plain(why))).unwrap_or_default();
    format!(
        "{numbers:<27} {:<8} {:<6} {:>2} B x {:<5.1} {:<16} {:<32} {place}{why}",
        space(access.space),
        operation(access.operation),
        access.bytes_per_lane,
        access.active_lanes,
        plain(if access.stride.starts_with("0 ") { "one address" } else { &access.stride }),
        plain(&expression(access, sources, 32)),
    )
}
