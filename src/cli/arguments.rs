//! The arguments that `check` and `accesses` share, and from them to settings and inputs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::config::{Choice, Hint, Overrides, Settings, TARGETS, Target, parse_define};
use crate::error::{Error, nearest};
use crate::finding::Level;
use crate::pipeline::{Inputs, Progress, run};
use crate::report::Report;
use crate::rules;
use crate::source::SourceMap;
use crate::source::load::{Loaded, MAX_BYTES, from_bytes};

/// Deeply nested expressions recurse; the memory is only reserved.
const STACK_BYTES: usize = 64 << 20;

#[derive(Debug, Args)]
pub(super) struct Shared {
    /// Files and folders; `-` is standard input. Without any: the current folder.
    #[arg(value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// Define a name for the preprocessor.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = define)]
    define: Vec<(String, Option<String>)>,
    /// Look for included files here too.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// The block shape of kernels without a launch in sight.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = block)]
    block: Option<[u32; 3]>,
    /// The block shape of one kernel.
    #[arg(long, value_name = "NAME=X[,Y[,Z]]", value_parser = kernel)]
    kernel: Vec<(String, [u32; 3])>,
    /// The compute capability to predict for.
    #[arg(long, value_name = "SM", value_parser = target)]
    target: Option<Target>,
    /// The lint.toml to use for all files.
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Use no lint.toml.
    #[arg(long)]
    no_config: bool,
    /// Read standard input as if it were this file.
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<PathBuf>,
    /// Threads to use; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write to this file instead of standard output.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Which rules run, and how they count.
#[derive(Debug, Clone, Args, Default)]
pub(super) struct RuleChoice {
    /// Run these rules only.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    select: Vec<String>,
    /// Leave these rules out.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Set the level of a rule: off, note, warning or error.
    #[arg(long, value_name = "RULE=LEVEL")]
    level: Vec<String>,
    /// Show too what is only possible: assumed shapes, data-dependent addresses, rules that are off.
    #[arg(long)]
    pedantic: bool,
}

/// A finished run.
pub(super) struct Ran {
    pub sources: SourceMap,
    pub report: Report,
}

impl Shared {
    /// Lints what the arguments say.
    pub(super) fn run(&self, choice: &RuleChoice, progress: &dyn Progress) -> Result<Ran, Vec<Error>> {
        let wants_stdin = self.paths.iter().any(|path| is_dash(path)) || self.stdin_filename.is_some();
        let mut inputs =
            Inputs { paths: self.paths.iter().filter(|path| !is_dash(path)).cloned().collect(), stdin: None };
        if inputs.paths.is_empty() && !wants_stdin {
            inputs.paths.push(PathBuf::from("."));
        }
        let name = self.stdin_filename.clone().unwrap_or_else(|| PathBuf::from("<stdin>"));
        let mut looked_at = inputs.paths.clone();
        looked_at.extend(wants_stdin.then(|| name.clone()));
        let settings = Settings::load(&looked_at, &self.choice(), self.overrides(choice)?)?;
        let mut passed_over = None;
        if wants_stdin {
            match read_stdin().map_err(|error| vec![error])? {
                Ok(text) => inputs.stdin = Some((name, text)),
                Err(why) => passed_over = Some((name, why)),
            }
        }
        let settings = Arc::new(settings);
        let (sources, mut report) = self.in_pool(|| run(&settings, &inputs, progress))?;
        report.passed_over.extend(passed_over);
        Ok(Ran { sources, report })
    }

    fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Vec<Error>> {
        let threads = self.threads.map_or(0, usize::from);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
        Ok(pool.map_err(|_| vec![Error::Threads { threads }])?.install(work))
    }

    fn choice(&self) -> Choice {
        match (&self.config, self.no_config) {
            (Some(path), _) => Choice::This(path.clone()),
            (None, true) => Choice::None,
            (None, false) => Choice::Nearest,
        }
    }

    fn overrides(&self, choice: &RuleChoice) -> Result<Overrides, Vec<Error>> {
        let mut errors = Vec::new();
        let hint = |kernel, block| Hint { kernel, block, grid: None, args: std::collections::BTreeMap::new() };
        let mut hints: Vec<Hint> = self.kernel.iter().map(|(name, block)| hint(Some(name.clone()), *block)).collect();
        hints.extend(self.block.map(|block| hint(None, block)));
        let overrides = Overrides {
            target: self.target.clone(),
            defines: self.define.clone(),
            include_paths: self.include.clone(),
            hints,
            select: known_rules("--select", &choice.select, &mut errors),
            ignore: known_rules("--ignore", &choice.ignore, &mut errors),
            levels: choice.level.iter().filter_map(|text| level(text, &mut errors)).collect(),
            pedantic: choice.pedantic,
        };
        if errors.is_empty() { Ok(overrides) } else { Err(errors) }
    }
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The text, or why it is none.
fn read_stdin() -> Result<Result<String, String>, Error> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(Error::Stdin)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Ok(Err(format!("above the limit of {} MiB", MAX_BYTES >> 20)));
    }
    Ok(match from_bytes(bytes) {
        Loaded::Text(text) => Ok(text),
        Loaded::PassedOver(why) | Loaded::Unreadable(why) => Err(why),
    })
}

/// The error for a rule that does not exist.
pub(super) fn unknown_rule(option: &'static str, name: &str) -> Error {
    let help = nearest(name, rules::ids()).map_or_else(
        || "`cudalint rules` lists them all".to_owned(),
        |near| format!("did you mean `{near}`? `cudalint rules` lists them all"),
    );
    Error::UnknownRule { option, name: crate::visible::plain(name).into_owned(), help }
}

fn known_rules(option: &'static str, names: &[String], errors: &mut Vec<Error>) -> Vec<&'static str> {
    let mut known = Vec::new();
    for name in names {
        match rules::entry(name.trim()) {
            Some(entry) => known.push(entry.id),
            None => errors.push(unknown_rule(option, name)),
        }
    }
    known
}

fn level(text: &str, errors: &mut Vec<Error>) -> Option<(&'static str, Level)> {
    let bad = |why: String, help: String| Error::BadOption { option: "--level", why, help };
    let Some((name, word)) = text.split_once('=') else {
        let why = format!("`{}` is not RULE=LEVEL", crate::visible::plain(text));
        errors.push(bad(why, "as in --level int-div-pow2=off".to_owned()));
        return None;
    };
    let entry = rules::entry(name);
    if entry.is_none() {
        errors.push(unknown_rule("--level", name));
    }
    let words = Level::ALL.map(Level::word);
    let level = Level::parse(word);
    if level.is_none() {
        let near = nearest(word, words)
            .map_or_else(|| format!("levels are {}", words.join(", ")), |n| format!("did you mean `{n}`?"));
        errors.push(bad(format!("`{}` is no level", crate::visible::plain(word)), near));
    }
    Some((entry?.id, level?))
}

fn define(text: &str) -> Result<(String, Option<String>), String> {
    parse_define(text).ok_or_else(|| "NAME is not an identifier".to_owned())
}

fn block(text: &str) -> Result<[u32; 3], String> {
    let mut shape = [1_u32; 3];
    let pieces: Vec<&str> = text.split(',').collect();
    if pieces.len() > 3 {
        return Err("a block has at most three dimensions".to_owned());
    }
    for (slot, piece) in shape.iter_mut().zip(pieces) {
        let number: u32 = piece.trim().parse().map_err(|_| format!("`{piece}` is not a whole number"))?;
        if !(1..=1024).contains(&number) {
            return Err(format!("{number} threads in one dimension; it is 1 to 1024"));
        }
        *slot = number;
    }
    let threads: u32 = shape.iter().product();
    if threads > 1024 {
        return Err(format!("a block holds at most 1024 threads, not {threads}"));
    }
    Ok(shape)
}

fn kernel(text: &str) -> Result<(String, [u32; 3]), String> {
    let (name, shape) = text.split_once('=').ok_or("it reads NAME=X,Y,Z")?;
    if name.is_empty() {
        return Err("the kernel's name is missing".to_owned());
    }
    Ok((name.to_owned(), block(shape)?))
}

fn target(text: &str) -> Result<Target, String> {
    Target::parse(text).ok_or_else(|| format!("known: {}", TARGETS.join(", ")))
}
