//! Pins what nvcc makes of memory accesses: every line of `tests/codegen/*.cu` that says `// sass:` must have become just those
//! machine instructions. The rule that follows from them stands in `tests/codegen/README.md`; the engine merges by it.
//!
//! A source is a series of variants, each under a `//# what it shows` line; one test each. `// sass: LDS.64 STG` names the memory
//! instructions of its line in any order, with the width in bits where it is not 32; `4xLDS` is four of them, `none` is none.
//! Kernel parameters do not count. `// fp64: 3` counts double-precision instructions; `none`, and `some` where a library's code counts in. Without nvcc every test is shown as ignored.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Arguments, Failed, Trial};

#[path = "support/codegen.rs"]
mod codegen;

use codegen::{Instr, Place, Toolchain};

/// The target the hardware counters were taken on.
const TARGET: &str = "sm_90";

type Lines = BTreeMap<Place, Vec<Instr>>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            say(&error);
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>, String> {
    let toolchain = Toolchain::find();
    if toolchain.is_none() {
        say("nvcc is missing: what it does to memory accesses goes unchecked (scripts/setup-nvcc.sh sets it up)");
    }
    let mut trials = Vec::new();
    for path in sources()? {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = Arc::new(Source { path, compiled: OnceLock::new() });
        for variant in variants(&text)? {
            let source = Arc::clone(&source);
            let toolchain = toolchain.clone();
            let is_missing = toolchain.is_none();
            let check = move || toolchain.map_or(Ok(()), |toolchain| source.check(&toolchain, &variant.marks));
            trials.push(Trial::test(format!("{stem}: {}", variant.title), check).with_ignored_flag(is_missing));
        }
    }
    Ok(trials)
}

/// Past the test harness, which shows nothing of an ignored test but its name.
#[expect(clippy::print_stderr)]
fn say(text: &str) {
    eprintln!("{text}");
}

fn sources() -> Result<Vec<PathBuf>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codegen");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    paths.sort();
    Ok(paths)
}

/// A line and what it must have become.
struct Mark {
    line: u32,
    expected: Expectation,
}

enum Expectation {
    /// Just these memory instructions: their sorted names.
    Accesses(Vec<String>),
    /// So many double-precision instructions.
    Fp64(usize),
    AnyFp64,
}

struct Variant {
    title: String,
    marks: Vec<Mark>,
}

fn variants(text: &str) -> Result<Vec<Variant>, String> {
    let mut variants: Vec<Variant> = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        if let Some(title) = line.strip_prefix("//# ") {
            variants.push(Variant { title: title.to_owned(), marks: Vec::new() });
        } else if let Some((mark, words)) = line.rsplit_once("// ").and_then(|(_, mark)| mark.split_once(": ")) {
            let Some(expected) = expectation(mark, words) else { continue };
            let variant = variants.last_mut().ok_or_else(|| format!("line {number}: a mark above the first title"))?;
            let expected = expected.ok_or_else(|| format!("line {number}: cannot read \"{words}\""))?;
            variant.marks.push(Mark { line: number, expected });
        }
    }
    match variants.iter().find(|variant| variant.marks.is_empty()) {
        Some(variant) => Err(format!("\"{}\" marks no line", variant.title)),
        None => Ok(variants),
    }
}

/// `None` for a comment that is no mark, `Some(None)` for a mark that cannot be read.
#[expect(clippy::option_option)]
fn expectation(mark: &str, words: &str) -> Option<Option<Expectation>> {
    match mark {
        "sass" => Some(names(words).map(Expectation::Accesses)),
        "fp64" => Some(match words {
            "none" => Some(Expectation::Fp64(0)),
            "some" => Some(Expectation::AnyFp64),
            count => count.parse().ok().map(Expectation::Fp64),
        }),
        _ => None,
    }
}

/// `2xLDS STG` -> LDS, LDS, STG.
fn names(words: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for word in words.split_whitespace().filter(|word| *word != "none") {
        let (count, name) = match word.split_once('x') {
            Some((count, name)) => (count.parse().ok()?, name),
            None => (1, word),
        };
        names.extend(std::iter::repeat_n(name.to_owned(), count));
    }
    names.sort();
    Some(names)
}

struct Source {
    path: PathBuf,
    compiled: OnceLock<Result<Lines, String>>,
}

impl Source {
    fn check(&self, toolchain: &Toolchain, marks: &[Mark]) -> Result<(), Failed> {
        let lines = self.compiled.get_or_init(|| self.compile(toolchain)).as_ref()?;
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let mut wrong = Vec::new();
        for mark in marks {
            let place = Place { file: file.to_string(), line: mark.line };
            let instructions = lines.get(&place).map(Vec::as_slice).unwrap_or_default();
            if let Some(difference) = mark.expected.difference(instructions) {
                wrong.push(format!("line {}: {difference}", mark.line));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
    }

    fn compile(&self, toolchain: &Toolchain) -> Result<Lines, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let cubin = folder.path().join("variants.cubin");
        toolchain.cubin(&self.path, TARGET, &cubin)?;
        toolchain.instructions_by_line(&cubin)
    }
}

impl Expectation {
    /// What is wrong about the instructions of the line.
    fn difference(&self, instructions: &[Instr]) -> Option<String> {
        let fp64 = instructions.iter().filter(|instr| instr.is_fp64()).count();
        match self {
            Self::Accesses(expected) => {
                let found = accesses(instructions);
                (found != *expected).then(|| format!("{} expected, {} found", list(expected), list(&found)))
            }
            Self::Fp64(expected) => (fp64 != *expected).then(|| format!("{expected} in fp64 expected, {fp64} found")),
            Self::AnyFp64 => (fp64 == 0).then(|| "fp64 expected, none found".to_owned()),
        }
    }
}

fn accesses(instructions: &[Instr]) -> Vec<String> {
    let accesses = instructions.iter().filter(|instr| instr.access().is_some());
    let mut names: Vec<String> = accesses.map(Instr::short_name).collect();
    names.sort();
    names
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(" ") }
}
