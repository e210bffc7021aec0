//! From files and folders to counts of what lowering made of them. `--dump` prints the units of the files named, `--gaps` lists what
//! was not understood, `--raw` leaves the preprocessor out.
#![allow(clippy::print_stdout, reason = "a measuring program")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cudalint::model::{dump, lower, lower_parsed};
use cudalint::preprocess::{Expanded, PreprocessOptions, expand_all};
use cudalint::source::{SourceFile, Span, WalkOptions, collect, display_path};
use cudalint::syntax;

#[derive(Default)]
struct Counts {
    files: usize,
    bytes: usize,
    functions: usize,
    kernels: usize,
    kernels_with_gap: usize,
    /// Kernels that a scan for brackets finds: what lowering should find.
    kernels_in_text: usize,
    launches: usize,
    gaps: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
    parse: Duration,
    lower: Duration,
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let dump_units = take_flag(&mut args, "--dump");
    let list_gaps = take_flag(&mut args, "--gaps");
    let raw = take_flag(&mut args, "--raw");
    let paths: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    let collected = collect(&paths, &WalkOptions::default());
    let mut expanded = expand_all(&collected, &PreprocessOptions::default());
    let mut counts = Counts::default();
    for (file, expanded) in collected.sources.files().iter().zip(&mut expanded) {
        if raw {
            *expanded = Expanded { text: file.text.to_string(), ..Expanded::default() };
        }
        if dump_units {
            if paths.contains(&file.path) {
                print!("{}", dump(&lower(file.id, expanded)));
            }
            continue;
        }
        count(file, expanded, list_gaps, &mut counts);
    }
    if !dump_units {
        report(&counts);
    }
}

fn take_flag(args: &mut Vec<String>, flag: &str) -> bool {
    let before = args.len();
    args.retain(|a| a != flag);
    args.len() < before
}

fn count(file: &SourceFile, expanded: &Expanded, list_gaps: bool, counts: &mut Counts) {
    let begin = Instant::now();
    let parsed = syntax::parse(&expanded.text);
    counts.parse += begin.elapsed();
    let begin = Instant::now();
    let unit = lower_parsed(file.id, expanded, &parsed);
    counts.lower += begin.elapsed();
    counts.files += 1;
    counts.bytes += expanded.text.len();
    counts.functions += unit.functions.len();
    let in_text = kernels_in_text(&expanded.text);
    let found = unit.functions.iter().filter(|f| f.quals.is_global && f.body.is_some()).count();
    counts.kernels_in_text += in_text;
    if list_gaps && in_text != found {
        println!("{}: {found} kernels of {in_text}", display_path(&file.path));
    }
    let kernels = unit.functions.iter().filter(|f| f.quals.is_global && f.body.is_some());
    for kernel in kernels {
        counts.kernels += 1;
        let has_gap =
            unit.gaps.iter().any(|g| g.span.is_some_and(|s| s.start >= kernel.span.start && s.end <= kernel.span.end));
        counts.kernels_with_gap += usize::from(has_gap);
    }
    for gap in &unit.gaps {
        let place = if gap.function.is_some() { "in a function" } else { "in the file" };
        *counts.gaps.entry(format!("{}, {place}", gap.why)).or_default() += 1;
        if list_gaps {
            let span = gap.span.unwrap_or(Span::new(file.id, 0, 0));
            let excerpt: String = file.slice(span).chars().take(100).collect();
            let place = format!("{}:{}", display_path(&file.path), file.line(span.start));
            println!("{place}: {} {:?} {excerpt:?}", gap.why, gap.function);
        }
    }
    let dumped = dump(&unit);
    counts.launches += dumped.matches("<<<").count();
    for part in dumped.split("unknown<").skip(1) {
        let why = part.split('>').next().unwrap_or("");
        *counts.unknown.entry(why.to_owned()).or_default() += 1;
    }
}

fn kernels_in_text(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut count = 0;
    let mut pending = false;
    let mut parens = 0_i32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at + 2..].find("*/").map_or(text.len() - at, |i| i + 3)
            }
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'_' if bytes[at..].starts_with(b"__global__") => {
                pending = true;
                parens = 0;
            }
            b'(' => parens += 1,
            b')' => parens -= 1,
            b';' if parens <= 0 => pending = false,
            b'{' if parens <= 0 && pending => {
                count += 1;
                pending = false;
            }
            _ => {}
        }
        at += 1;
    }
    count
}

fn report(counts: &Counts) {
    let speed = |time: Duration| counts.bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    println!("files {} ({:.1} MB)", counts.files, counts.bytes as f64 / 1e6);
    println!(
        "functions {}, kernels with body {} of {} in the text ({} with a gap), launches {}",
        counts.functions, counts.kernels, counts.kernels_in_text, counts.kernels_with_gap, counts.launches
    );
    println!(
        "parse {:.2?} ({:.1} MB/s), lower {:.2?} ({:.1} MB/s)",
        counts.parse,
        speed(counts.parse),
        counts.lower,
        speed(counts.lower)
    );
    for (title, table) in [("gaps", &counts.gaps), ("unknown", &counts.unknown)] {
        println!("{title}: {}", table.values().sum::<usize>());
        for (why, n) in table {
            println!("  {n:6} {why}");
        }
    }
}
