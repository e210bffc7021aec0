//! The one driver of all fixtures: runs the binary over every case and holds what it says against the comments there.
//!
//! A case is a file below `fixtures/`, a small project in `fixtures/_projects/`, or a code block of a rule page.
//! Nothing here knows how cudalint works inside: the binary is a black box with the JSON of `check`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use support::cases::{self, Case, Promise};
use support::checker::{self, Checked, Finding, RuleRow};
use support::expectations::{self, Expectation, Expectations, Kind};
use support::{hostile, matching, nvcc};

/// Rules about the comments themselves: such a comment cannot be silenced by another one.
const ABOUT_COMMENTS: [&str; 3] = ["unused-suppression", "unknown-suppression", "missing-suppression-reason"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (catalogue, trouble) = match checker::rules(root) {
        Ok(rules) => (Arc::new(rules), None),
        Err(trouble) => (Arc::default(), Some(trouble)),
    };
    let mut trials = vec![Trial::test("rules are listed as JSON", move || trouble.map_or(Ok(()), |t| Err(t.into())))];
    let cases = cases::all(root);
    for case in &cases {
        let (case, catalogue) = (case.clone(), catalogue.clone());
        trials.push(Trial::test(case.name.clone(), move || run(root, &case, &catalogue)));
    }
    let rules = catalogue.clone();
    let all = cases.clone();
    trials.push(Trial::test("every declared confidence is reached", move || confidences(root, &all, &rules)));
    trials.extend(compile_trials(root, &cases));
    trials.extend(hostile::trials(root));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A case on disk, ready to be checked.
struct Stage {
    /// Where `check` runs; paths of the case are relative to it.
    folder: PathBuf,
    expected: Expectations,
    /// Switches off-by-default rules on where the case names them.
    arguments: Vec<String>,
    /// Holds the file of a code block.
    _scratch: Option<tempfile::TempDir>,
}

fn run(root: &Path, case: &Case, catalogue: &[RuleRow]) -> Result<(), Failed> {
    let stage = prepare(root, case, catalogue)?;
    let once = checker::check(&stage.folder, &[&case.path], &stage.arguments, 1)?;
    let mut problems = stage.expected.mistakes.clone();
    problems.extend(judge(case, &stage, &once));
    problems.extend(span_problems(&stage.folder, &once));
    let eight = checker::check(&stage.folder, &[&case.path], &stage.arguments, 8)?;
    if once.bytes != eight.bytes {
        problems.push("output differs between --threads 1 and --threads 8".to_owned());
    }
    let is_about_comments = case.rule.as_deref().is_some_and(|rule| ABOUT_COMMENTS.contains(&rule));
    if problems.is_empty() && case.files.len() == 1 && !is_about_comments {
        problems.extend(suppression_problems(case, &stage, &once)?);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn prepare(root: &Path, case: &Case, catalogue: &[RuleRow]) -> Result<Stage, Failed> {
    let scratch = match &case.block {
        Some(text) => {
            let scratch = tempfile::tempdir()?;
            fs::write(scratch.path().join(&case.path), text)?;
            Some(scratch)
        }
        None => None,
    };
    let folder = scratch.as_ref().map_or_else(|| root.to_owned(), |s| s.path().to_owned());
    let mut expected = Expectations::default();
    for file in &case.files {
        let of_file = expectations::read(file, &fs::read_to_string(folder.join(file))?);
        expected.items.extend(of_file.items);
        expected.mistakes.extend(of_file.mistakes);
        expected.arguments.extend(of_file.arguments);
    }
    let known = |id: &str| catalogue.iter().find(|rule| rule.id == id);
    if case.is_report {
        expected.items.retain(|e| e.kind == Kind::Gap || known(&e.rule).is_some());
    }
    let mut named: Vec<&str> = expected
        .items
        .iter()
        .filter(|e| e.kind != Kind::Gap)
        .map(|e| e.rule.as_str())
        .chain(case.rule.as_deref())
        .collect();
    named.sort_unstable();
    named.dedup();
    let mut arguments = expected.arguments.clone();
    for id in named {
        match known(id) {
            None => expected.mistakes.push(format!("no rule is called `{id}`")),
            Some(rule) if rule.level.as_deref() == Some("off") => arguments.push(format!("--level={id}=note")),
            Some(_) => {}
        }
    }
    Ok(Stage { folder, expected, arguments, _scratch: scratch })
}

/// What the findings, gaps and exit code of a run have against the case.
fn judge(case: &Case, stage: &Stage, checked: &Checked) -> Vec<String> {
    let report = &checked.report;
    let mut problems = match case.promise {
        Promise::FiresOnly => fires_only(case.rule.as_deref().unwrap_or_default(), &report.findings),
        Promise::Clean | Promise::AsExpected => {
            let mode = matching::Mode { one_stands_for_many: case.is_report };
            let source = |file: &Path| fs::read_to_string(stage.folder.join(file)).ok();
            matching::problems(&report.findings, &report.gaps, &stage.expected.items, mode, &source)
        }
    };
    if case.promise == Promise::Clean {
        let is_finding = |e: &&Expectation| matches!(e.kind, Kind::Finding | Kind::Either);
        problems.extend(
            stage.expected.items.iter().filter(is_finding).map(|e| format!("line {}: not in good code", e.line)),
        );
    }
    let fails = report.findings.iter().any(|f| f.level == "warning" || f.level == "error");
    if checked.code != i32::from(fails) {
        problems.push(format!("exit code {}, expected {}", checked.code, i32::from(fails)));
    }
    if checked.stderr.contains("panicked") {
        problems.push(checked.stderr.clone());
    }
    problems
}

fn fires_only(rule: &str, findings: &[Finding]) -> Vec<String> {
    let mut problems: Vec<String> = findings
        .iter()
        .filter(|f| f.rule != rule)
        .map(|f| format!("{}: not expected", matching::describe(f)))
        .collect();
    if !findings.iter().any(|f| f.rule == rule) {
        problems.push(format!("the block shows no {rule}"));
    }
    problems
}

fn span_problems(folder: &Path, checked: &Checked) -> Vec<String> {
    let of = |finding: &Finding| {
        let source = fs::read_to_string(folder.join(&finding.file)).map_err(|e| e.to_string())?;
        finding.text(&source).map(|_| ())
    };
    let findings = checked.report.findings.iter();
    findings.filter_map(|f| of(f).err().map(|e| format!("{}: {e}", matching::describe(f)))).collect()
}

/// An `allow` behind a finding's line must silence that rule on that line and nothing else; above the statement it must
/// silence at least that.
fn suppression_problems(case: &Case, stage: &Stage, once: &Checked) -> Result<Vec<String>, Failed> {
    let source = fs::read_to_string(stage.folder.join(&case.path))?;
    let lines: Vec<&str> = source.lines().collect();
    let places = |c: &Checked| c.report.findings.iter().map(|f| (f.line, f.rule.clone())).collect::<Vec<_>>();
    let before = places(once);
    let mut targets: Vec<(u32, String)> = before.clone();
    targets.retain(|(line, rule)| !ABOUT_COMMENTS.contains(&rule.as_str()) && !continues(&lines, *line));
    targets.sort();
    targets.dedup();
    let mut problems = Vec::new();
    for (line, rule) in targets {
        let scratch = tempfile::tempdir()?;
        let name = Path::new("case.cu");
        let index = line as usize - 1;
        let comment = format!("// cudalint: allow({rule}) -- test");
        let check = |changed: &[String]| -> Result<Vec<(u32, String)>, Failed> {
            fs::write(scratch.path().join(name), changed.join("\n") + "\n")?;
            Ok(places(&checker::check(scratch.path(), &[name], &stage.arguments, 1)?))
        };
        let mut behind: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        let code = lines[index].split("//").next().unwrap_or_default();
        behind[index] = format!("{code} {comment}");
        let wanted: Vec<_> = before.iter().filter(|place| **place != (line, rule.clone())).cloned().collect();
        let got = check(&behind)?;
        if got != wanted {
            problems.push(format!("allow({rule}) behind line {line}: findings are {got:?}, expected {wanted:?}"));
        }
        let mut above: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        above.insert(index, comment);
        let got = check(&above)?;
        let is_missing = |place: &&(u32, String)| {
            place.1 != rule && !got.contains(&(place.0 + u32::from(place.0 >= line), place.1.clone()))
        };
        if got.contains(&(line + 1, rule.clone())) || before.iter().any(|place| is_missing(&place)) {
            problems.push(format!("allow({rule}) above line {line}: findings are {got:?}"));
        }
        let about = |places: &[(u32, String)]| places.iter().filter(|p| ABOUT_COMMENTS.contains(&p.1.as_str())).count();
        if about(&got) > about(&before) {
            problems.push(format!("allow({rule}) above line {line} is not taken as used"));
        }
    }
    Ok(problems)
}

/// Whether the line above continues on this one, so that no comment fits between.
fn continues(lines: &[&str], line: u32) -> bool {
    (line as usize).checked_sub(2).and_then(|above| lines.get(above)).is_some_and(|l| l.trim_end().ends_with('\\'))
}

/// What a rule's page declares must be shown by a fixture.
fn confidences(root: &Path, cases: &[Case], catalogue: &[RuleRow]) -> Result<(), Failed> {
    let mut reached = Vec::new();
    for case in cases.iter().filter(|case| case.block.is_none()) {
        let stage = prepare(root, case, catalogue)?;
        let checked = checker::check(root, &[&case.path], &stage.arguments, 2)?;
        reached.extend(checked.report.findings.into_iter().map(|f| (f.rule, f.confidence)));
    }
    let is_missing =
        |rule: &RuleRow, word: &String| word != "possible" && !reached.contains(&(rule.id.clone(), word.clone()));
    let missing: Vec<String> = catalogue
        .iter()
        .flat_map(|rule| rule.confidence.iter().filter(|w| is_missing(rule, w)).map(|w| format!("{}: {w}", rule.id)))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no fixture reaches {}", missing.join(", ")).into()) }
}

fn compile_trials(root: &'static Path, cases: &[Case]) -> Vec<Trial> {
    let Some(nvcc) = nvcc::find(root) else {
        return vec![Trial::test("fixtures compile with nvcc", || {
            println!("skipped: nvcc not found (scripts/setup-nvcc.sh installs it)");
            Ok(())
        })];
    };
    let nvcc = Arc::new(nvcc);
    let mut trials = Vec::new();
    for case in cases {
        let units = case.files.iter().filter(|f| f.extension().is_some_and(|e| e == "cu"));
        for file in units {
            let (nvcc, file, block) = (nvcc.clone(), file.clone(), case.block.clone());
            let of = if block.is_some() { case.name.clone() } else { file.to_string_lossy().into_owned() };
            trials.push(Trial::test(format!("nvcc: {of}"), move || compile(root, &nvcc, &file, block.as_deref())));
        }
    }
    trials
}

fn compile(root: &Path, nvcc: &nvcc::Nvcc, file: &Path, block: Option<&str>) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let path = match block {
        Some(text) => {
            let path = scratch.path().join(file);
            fs::write(&path, text)?;
            path
        }
        None => root.join(file),
    };
    let text = fs::read_to_string(&path)?;
    let expected = expectations::read(file, &text);
    Ok(nvcc.compile(&path, &expected.nvcc)?)
}
