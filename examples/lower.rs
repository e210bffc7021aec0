//! From files and folders to counts of what lowering made of them; `--dump FILE` prints one unit.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cudalint::model::{Unit, dump, lower, lower_parsed};
use cudalint::preprocess::Expanded;
use cudalint::source::FileId;
use cudalint::syntax;

#[derive(Default)]
struct Counts {
    files: usize,
    bytes: usize,
    functions: usize,
    kernels: usize,
    launches: usize,
    gaps: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
    parse: Duration,
    lower: Duration,
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == "--dump") {
        let text = args.get(1).and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        print!("{}", dump(&unit_of(&String::from_utf8_lossy(&text))));
        return;
    }
    let list_gaps = args.first().is_some_and(|a| a == "--gaps");
    if list_gaps {
        args.remove(0);
    }
    let mut counts = Counts::default();
    for root in args {
        for path in sources(Path::new(&root)) {
            count(&path, list_gaps, &mut counts);
        }
    }
    report(&counts);
}

fn unit_of(text: &str) -> Unit {
    lower(FileId(0), &Expanded { text: text.to_owned(), ..Expanded::default() })
}

fn sources(root: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(root).sort_by_file_name();
    let files =
        walk.into_iter().filter_map(Result::ok).filter(|e| e.file_type().is_file()).map(walkdir::DirEntry::into_path);
    files
        .filter(|p| {
            p.extension().and_then(|e| e.to_str()).is_some_and(|e| matches!(e, "cu" | "cuh" | "h" | "hpp" | "inl"))
        })
        .collect()
}

fn count(path: &Path, list_gaps: bool, counts: &mut Counts) {
    let Ok(bytes) = std::fs::read(path) else { return };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let expanded = Expanded { text, ..Expanded::default() };
    let begin = Instant::now();
    let parsed = syntax::parse(&expanded.text);
    counts.parse += begin.elapsed();
    let begin = Instant::now();
    let unit = lower_parsed(FileId(0), &expanded, &parsed);
    counts.lower += begin.elapsed();
    let text = expanded.text;
    counts.files += 1;
    counts.bytes += text.len();
    counts.functions += unit.functions.len();
    counts.kernels += unit.functions.iter().filter(|f| f.quals.is_global && f.body.is_some()).count();
    for gap in &unit.gaps {
        let place = if gap.function.is_some() { "in a function" } else { "in the file" };
        *counts.gaps.entry(format!("{}, {place}", gap.why)).or_default() += 1;
        if list_gaps {
            let span = gap.span.map(|s| s.range()).unwrap_or_default();
            let line = text.get(..span.start).map_or(0, |t| t.matches('\n').count() + 1);
            let excerpt: String = text.get(span).unwrap_or("").chars().take(100).collect();
            println!("{}:{line}: {} {:?} {excerpt:?}", path.display(), gap.why, gap.function);
        }
    }
    let dumped = dump(&unit);
    counts.launches += dumped.matches("<<<").count();
    for part in dumped.split("unknown<").skip(1) {
        let why = part.split('>').next().unwrap_or("");
        *counts.unknown.entry(why.to_owned()).or_default() += 1;
    }
}

fn report(counts: &Counts) {
    let speed = |time: Duration| counts.bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    println!("files {} ({:.1} MB)", counts.files, counts.bytes as f64 / 1e6);
    println!("functions {}, kernels with body {}, launches {}", counts.functions, counts.kernels, counts.launches);
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
