//! Measures the way from paths to parsed texts: MB/s of each step, and how many files and functions hold a syntax error before and
//! after preprocessing. `--errors` lists what remains, `--text FILE` prints one expanded file.

#![allow(clippy::print_stdout, reason = "a measuring program")]

use std::path::PathBuf;
use std::time::Instant;

use cudalint::preprocess::{Expanded, PreprocessOptions, expand_all};
use cudalint::source::{Collected, FileId, WalkOptions, collect, display_path};
use rayon::prelude::*;
use tree_sitter::{Node, Parser};

#[derive(Default, Clone, Copy)]
struct Damage {
    files: usize,
    files_with_error: usize,
    functions: usize,
    functions_with_error: usize,
    kernels: usize,
    kernels_with_error: usize,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = take_flag(&mut arguments, "--errors");
    let headers = take_flag(&mut arguments, "--headers");
    let text = take_flag(&mut arguments, "--text");
    let paths: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();

    let start = Instant::now();
    let collected = collect(&paths, &WalkOptions::default());
    let reading = start.elapsed().as_secs_f64();
    let bytes: usize = collected.sources.files().iter().map(|f| f.text.len()).sum();
    let start = Instant::now();
    let expanded = expand_all(&collected, &PreprocessOptions::default());
    let preprocessing = start.elapsed().as_secs_f64();
    if text {
        for (file, expanded) in collected.sources.files().iter().zip(&expanded) {
            if paths.contains(&file.path) {
                println!("{}", expanded.text);
            }
        }
        return;
    }
    let megabytes = bytes as f64 / 1e6;
    let count = |f: &dyn Fn(usize) -> bool| (0..collected.info.len()).filter(|i| f(*i)).count();
    println!(
        "{} files, {megabytes:.2} MB ({} pulled in, {} context), {} passed over, {} unreadable",
        collected.info.len(),
        count(&|i| collected.info[i].is_pulled_in),
        count(&|i| collected.info[i].is_context),
        collected.passed_over.len(),
        collected.unreadable.len()
    );
    println!("reading {reading:.3} s, {:.0} MB/s", megabytes / reading);
    println!("preprocessing {preprocessing:.3} s, {:.0} MB/s", megabytes / preprocessing);
    let out: usize = expanded.iter().map(|e| e.text.len()).sum();
    let gaps: usize = expanded.iter().map(|e| e.gaps.len()).sum();
    println!("expanded to {:.2} MB, {gaps} gaps", out as f64 / 1e6);
    for gap in expanded.iter().flat_map(|e| &e.gaps).take(20) {
        println!("  gap {} {}", collected.sources.place(gap.span), gap.why);
    }
    for asked_only in [true, false] {
        let chosen: Vec<usize> =
            (0..expanded.len()).filter(|i| collected.info[*i].is_pulled_in != asked_only).collect();
        let start = Instant::now();
        let raw: Vec<&str> = chosen.iter().map(|i| &*collected.sources.files()[*i].text).collect();
        let before = sum(raw.par_iter().map(|t| damage(t)));
        let parsing = start.elapsed().as_secs_f64();
        let after = sum(chosen.par_iter().map(|i| damage(&expanded[*i].text)));
        println!("{} (raw parse {parsing:.2} s)", if asked_only { "asked for" } else { "pulled in" });
        show("  before", before);
        show("  after ", after);
        if list && asked_only != headers {
            for index in chosen {
                list_errors(&collected, FileId(index as u32), &expanded[index]);
            }
        }
    }
}

fn take_flag(arguments: &mut Vec<String>, flag: &str) -> bool {
    let before = arguments.len();
    arguments.retain(|a| a != flag);
    arguments.len() < before
}

fn sum(parts: impl ParallelIterator<Item = Damage>) -> Damage {
    parts.reduce(Damage::default, |a, b| Damage {
        files: a.files + b.files,
        files_with_error: a.files_with_error + b.files_with_error,
        functions: a.functions + b.functions,
        functions_with_error: a.functions_with_error + b.functions_with_error,
        kernels: a.kernels + b.kernels,
        kernels_with_error: a.kernels_with_error + b.kernels_with_error,
    })
}

fn show(title: &str, d: Damage) {
    println!(
        "{title}: files {} with error {} ({:.1} %), functions {} with error {} ({:.2} %), kernels {} with error {}",
        d.files,
        d.files_with_error,
        100.0 * d.files_with_error as f64 / d.files.max(1) as f64,
        d.functions,
        d.functions_with_error,
        100.0 * d.functions_with_error as f64 / d.functions.max(1) as f64,
        d.kernels,
        d.kernels_with_error
    );
}

fn parse(text: &str) -> Option<tree_sitter::Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

fn damage(text: &str) -> Damage {
    let Some(tree) = parse(text) else { return Damage::default() };
    let mut damage =
        Damage { files: 1, files_with_error: usize::from(tree.root_node().has_error()), ..Damage::default() };
    walk(tree.root_node(), &mut |node| {
        if node.kind() == "function_definition" {
            let head = node.child_by_field_name("body").map_or(node.end_byte(), |b| b.start_byte());
            let is_kernel = text.get(node.start_byte()..head).is_some_and(|h| h.contains("__global__"));
            damage.functions += 1;
            damage.functions_with_error += usize::from(node.has_error());
            damage.kernels += usize::from(is_kernel);
            damage.kernels_with_error += usize::from(is_kernel && node.has_error());
        }
        true
    });
    damage
}

fn walk<'t>(root: Node<'t>, visit: &mut impl FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// One line for each outermost error: place, and the text of its line with the error marked.
fn list_errors(collected: &Collected, id: FileId, expanded: &Expanded) {
    let Some(tree) = parse(&expanded.text) else { return };
    if !tree.root_node().has_error() {
        return;
    }
    walk(tree.root_node(), &mut |node| {
        if node.is_error() || node.is_missing() {
            let text = &expanded.text;
            let line_start = text[..node.start_byte()].rfind('\n').map_or(0, |i| i + 1);
            let cut = |from: usize, to: usize| text.get(from..to).unwrap_or("?").replace('\n', "\\n");
            let limit = |mut at: usize| {
                at = at.min(text.len());
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let before = cut(limit(line_start.max(node.start_byte().saturating_sub(90))), node.start_byte());
            let inside = cut(node.start_byte(), limit(node.end_byte().min(node.start_byte() + 60)));
            let after = cut(node.end_byte(), limit(node.end_byte() + 60));
            let span = expanded.map.span(id, node.start_byte()..node.end_byte());
            let kind = if node.is_missing() { node.kind() } else { "" };
            let place =
                format!("{}:{}", display_path(collected.sources.path(id)), collected.sources.get(id).line(span.start));
            println!("{place}: {}\u{ab}{kind}{}\u{bb}{}", before.trim_start(), inside, after.trim_end());
            return false;
        }
        node.has_error()
    });
}
