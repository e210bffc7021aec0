//! What there is to run: fixture files, small projects, reports and the code blocks of the rule pages.

use std::fs;
use std::path::{Path, PathBuf};

/// What a case promises as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Only the expectations count.
    AsExpected,
    /// Nothing may be found.
    Clean,
    /// A block of a page without expectations: at least one finding of the rule, none of another.
    FiresOnly,
}

/// One unit of the driver.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub name: String,
    /// Given to `check`, relative to the root of the project.
    pub path: PathBuf,
    /// The sources whose expectations count, relative to the root.
    pub files: Vec<PathBuf>,
    /// The rule the case belongs to.
    pub rule: Option<String>,
    pub promise: Promise,
    /// A report from the field: its rules may not exist yet, and one mark may stand for several findings.
    pub is_report: bool,
    /// The text of a code block; `None` for what lies on disk.
    pub block: Option<String>,
}

/// Every case below `fixtures/` and `rules/` of `root`, in order of their names.
pub(crate) fn all(root: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for folder in entries(&root.join("fixtures")).iter().filter(|p| p.is_dir()) {
        match name_of(folder).as_str() {
            "_projects" => cases.extend(entries(folder).iter().filter(|p| p.is_dir()).map(|p| project(root, p))),
            name => cases.extend(sources(folder).iter().map(|file| single(root, file, name))),
        }
    }
    for page in entries(&root.join("rules")).iter().filter(|p| p.extension().is_some_and(|e| e == "md")) {
        cases.extend(blocks(page));
    }
    cases
}

fn single(root: &Path, file: &Path, folder: &str) -> Case {
    let path = file.strip_prefix(root).unwrap_or(file).to_owned();
    let rule = (!folder.starts_with('_') && folder != "reports").then(|| folder.to_owned());
    let is_good = rule.is_some() && name_of(file).starts_with("good");
    Case {
        name: shown(&path),
        files: vec![path.clone()],
        path,
        rule,
        promise: if is_good { Promise::Clean } else { Promise::AsExpected },
        is_report: folder == "reports",
        block: None,
    }
}

fn project(root: &Path, folder: &Path) -> Case {
    let path = folder.strip_prefix(root).unwrap_or(folder).to_owned();
    let files = sources(folder).iter().map(|f| f.strip_prefix(root).unwrap_or(f).to_owned()).collect();
    Case { name: shown(&path), path, files, rule: None, promise: Promise::AsExpected, is_report: false, block: None }
}

/// The fenced blocks of a page that are marked `cuda bad` or `cuda good`. Each keeps its line numbers.
fn blocks(page: &Path) -> Vec<Case> {
    let Ok(text) = fs::read_to_string(page) else { return Vec::new() };
    let rule = page.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if rule.starts_with('_') {
        return Vec::new();
    }
    let mut cases = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.trim_end()) {
            (None, "```cuda bad" | "```cuda good") => {
                open = Some((line.trim_end().ends_with("good"), "\n".repeat(index + 1)));
            }
            (Some((is_good, block)), "```") => {
                let has_expectations = block.contains("// expect");
                let promise = match (*is_good, has_expectations) {
                    (true, _) => Promise::Clean,
                    (false, true) => Promise::AsExpected,
                    (false, false) => Promise::FiresOnly,
                };
                let number = cases.len() + 1;
                let path = PathBuf::from(format!("{rule}-{number}.cu"));
                cases.push(Case {
                    name: format!("rules/{rule}.md: block {number}"),
                    files: vec![path.clone()],
                    path,
                    rule: Some(rule.clone()),
                    promise,
                    is_report: false,
                    block: Some(std::mem::take(block)),
                });
                open = None;
            }
            (Some((_, block)), _) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    cases
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().filter_map(|e| e.ok().map(|e| e.path())).collect();
    found.sort();
    found
}

/// CUDA sources and headers below a folder, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let is_source = |p: &Path| p.extension().is_some_and(|e| ["cu", "cuh", "h", "hpp"].iter().any(|known| e == *known));
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    walk.map(walkdir::DirEntry::into_path).filter(|p| p.is_file() && is_source(p)).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
