//! From paths to a report: front end, engine, rules, suppression, order. The result does not depend on the number of threads, and a
//! panic in one file, kernel or rule costs that one alone.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::config::{Profile, Settings};
use crate::finding::suppress::{self, Suppressions};
use crate::finding::{Finding, Level};
use crate::model::project::{DeclId, Project};
use crate::model::{self, Gap, Unit};
use crate::preprocess::{self, Expanded, ExpansionGap, PreprocessOptions};
use crate::report::Report;
use crate::rules::{self, Candidate, Rule, Sink, View};
use crate::source::{Collected, FileId, Selection, Selector, SourceMap, Span, WalkOptions, display_path};
use crate::symbolic::analyse::{Hints, KernelHint, analyse};
use crate::warp::facts::KernelFacts;

/// What to lint.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Files and folders. A file given by name is linted whatever `include` and `exclude` say.
    pub paths: Vec<PathBuf>,
    /// Standard input and the name it goes by.
    pub stdin: Option<(PathBuf, String)>,
}

/// Told how far a run is; shared by threads.
pub trait Progress: Sync {
    /// A stage of `steps` begins.
    fn stage(&self, name: &'static str, steps: usize);
    fn step(&self);
}

/// Says nothing to nobody.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _name: &'static str, _steps: usize) {}
    fn step(&self) {}
}

/// What the front end makes of the inputs.
#[derive(Debug, Default)]
struct Front {
    /// The files of the run with their includes.
    files: Collected,
    /// By file.
    units: Vec<Unit>,
    /// Where the preprocessor left comments addressed to cudalint: elsewhere they stand in branches not taken.
    addresses: BTreeSet<(FileId, u32)>,
    /// Macro uses that were left as written.
    unexpanded: Vec<Gap>,
    internal_errors: Vec<String>,
}

/// Lints `inputs`. Runs on rayon's current pool.
pub fn run(settings: &Arc<Settings>, inputs: &Inputs, progress: &dyn Progress) -> (SourceMap, Report) {
    let front = frontend(settings, inputs, progress);
    let mut report = Report { target: target(settings, inputs), ..Report::default() };
    report.gaps = gaps(&front);
    report.files = front.files.info.iter().filter(|info| !info.is_context).count();
    count_kernels(&front, &mut report);
    let Front { files, units, addresses, internal_errors, .. } = front;
    report.internal_errors = internal_errors;
    let (kernels, errors) = engine(settings, &files, units, progress);
    report.kernels = kernels;
    report.internal_errors.extend(errors);
    let comments = suppressions(&files, &addresses);
    judge(settings, inputs, &files, comments, &mut report);
    let Collected { sources, passed_over, unreadable, .. } = files;
    report.passed_over = passed_over;
    report.unreadable = unreadable;
    (sources, report)
}

/// The target of the first path.
fn target(settings: &Settings, inputs: &Inputs) -> String {
    let stdin = inputs.stdin.iter().map(|(path, _)| path);
    let first = inputs.paths.iter().map(|path| path.join("x")).chain(stdin.cloned()).next();
    first.map_or(settings.default_profile(), |path| settings.profile(&path)).target.name.clone()
}

// --- Front end ------------------------------------------------------------------------------------------------------------------

/// Reads the inputs and what they include, expands macros, parses and lowers.
fn frontend(settings: &Arc<Settings>, inputs: &Inputs, progress: &dyn Progress) -> Front {
    progress.stage("reading", 0);
    let files = crate::source::collect(&inputs.paths, &walk_options(settings, inputs));
    let expanded = expand(settings, &files);
    progress.stage("parsing", expanded.len());
    let lowered: Vec<Result<Unit, String>> = expanded
        .par_iter()
        .enumerate()
        .map(|(index, text)| {
            let file = FileId(index as u32);
            let unit = guarded(|| display_path(files.sources.path(file)), || model::lower(file, text));
            progress.step();
            unit
        })
        .collect();
    let mut front = Front { files, ..Front::default() };
    for (index, (text, unit)) in expanded.iter().zip(lowered).enumerate() {
        let file = FileId(index as u32);
        let gap = |gap: &ExpansionGap| Gap {
            span: Some(gap.span),
            file: gap.span.file,
            function: None,
            why: gap.why.to_owned(),
        };
        front.unexpanded.extend(text.gaps.iter().map(gap));
        let found = text.text.match_indices(suppress::ADDRESS);
        let place = |(at, found): (usize, &str)| text.map.span(file, at..at + found.len());
        front.addresses.extend(found.map(place).map(|span| (file, span.start)));
        front.units.push(unit.unwrap_or_else(|error| {
            front.internal_errors.push(error);
            Unit::default()
        }));
    }
    front
}

fn walk_options(settings: &Arc<Settings>, inputs: &Inputs) -> WalkOptions {
    let mut include_dirs: Vec<PathBuf> = Vec::new();
    for dir in settings.profiles().iter().flat_map(|profile| &profile.include_paths) {
        if !include_dirs.contains(dir) {
            include_dirs.push(dir.clone());
        }
    }
    let settings = Arc::clone(settings);
    let selector = Selector(Arc::new(move |path: &Path| {
        let profile = settings.profile(path);
        match (profile.excludes(path), profile.includes(path)) {
            (true, _) => Selection::Exclude,
            (false, true) => Selection::Take,
            (false, false) => Selection::Leave,
        }
    }));
    let overlay = inputs.stdin.iter().cloned().collect();
    WalkOptions { selector: Some(selector), include_dirs, overlay, ..WalkOptions::default() }
}

/// Each file expanded under the target and defines of its own lint.toml.
fn expand(settings: &Settings, files: &Collected) -> Vec<Expanded> {
    let options = |path: &Path| {
        let profile = settings.profile(path);
        let defines = profile.defines.iter().map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        });
        PreprocessOptions { sm: profile.target.sm, defines: defines.collect() }
    };
    let mut groups: Vec<(PreprocessOptions, Vec<Expanded>)> = Vec::new();
    let mut choice = Vec::new();
    for file in files.sources.files() {
        let wanted = options(&file.path);
        let known = groups.iter().position(|(options, _)| *options == wanted);
        choice.push(known.unwrap_or(groups.len()));
        if known.is_none() {
            let expanded = preprocess::expand_all(files, &wanted);
            groups.push((wanted, expanded));
        }
    }
    let mut take = |(index, group): (usize, &usize)| {
        let expanded = groups.get_mut(*group).and_then(|(_, all)| all.get_mut(index));
        expanded.map(std::mem::take).unwrap_or_default()
    };
    choice.iter().enumerate().map(&mut take).collect()
}

// --- Engine ---------------------------------------------------------------------------------------------------------------------

/// Links the units and analyses each kernel under its launches and the hints of its lint.toml; by file and position.
fn engine(
    settings: &Settings,
    files: &Collected,
    units: Vec<Unit>,
    progress: &dyn Progress,
) -> (Vec<KernelFacts>, Vec<String>) {
    progress.stage("analysing", 0);
    let all = files.sources.files();
    let paths: Vec<PathBuf> = all.iter().map(|file| file.path.clone()).collect();
    let includes: Vec<Vec<FileId>> = all.iter().map(|file| files.includes_of(file.id)).collect();
    let project = Project::link(units, &paths, &includes);
    let profiles: Vec<Option<usize>> =
        all.iter().map(|file| (!is_context(files, file.id)).then(|| settings.profile_index(&file.path))).collect();
    let (mut kernels, mut errors) = (Vec::new(), Vec::new());
    for index in profiles.iter().filter_map(|index| *index).collect::<BTreeSet<usize>>() {
        let hints = settings.profiles().get(index).map(hints).unwrap_or_default();
        let wanted = |id: DeclId| profiles.get(id.file.0 as usize).copied().flatten() == Some(index);
        match guarded(|| "linking".to_owned(), || analyse(&project, &hints, &wanted)) {
            Ok(results) => results.into_iter().for_each(|result| match result {
                Ok(facts) => kernels.push(facts),
                Err(error) => errors.push(error),
            }),
            Err(error) => errors.push(error),
        }
    }
    // Within a kernel the engine's own order of instances and launches stays.
    kernels.sort_by_key(|facts| facts.kernel_span);
    (kernels, errors)
}

fn hints(profile: &Profile) -> Hints {
    let named = profile.hints.iter().filter_map(|hint| {
        Some(KernelHint {
            name: hint.kernel.as_deref()?.into(),
            block: hint.block,
            grid: hint.grid,
            args: hint.args.iter().map(|(name, value)| (name.as_str().into(), *value)).collect(),
        })
    });
    Hints {
        block: profile.hints.iter().find(|hint| hint.kernel.is_none()).map(|hint| hint.block),
        kernels: named.collect(),
    }
}

// --- Facts to report ------------------------------------------------------------------------------------------------------------

thread_local! {
    /// Where the last panic of this thread happened.
    static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics from printing; [`guarded`] says what they were.
pub fn quieten_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
        PANICKED_AT.with(|slot| *slot.borrow_mut() = place);
    }));
}

/// Runs `work`; a panic becomes a line that says where.
pub fn guarded<T>(what: impl Fn() -> String, work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let place = PANICKED_AT.with(|slot| slot.borrow_mut().take()).map(|p| format!(" ({p})")).unwrap_or_default();
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic without a message".to_owned());
        format!("{}: {text}{place}", what())
    })
}

/// What was not understood in the files of the run, by path and position.
fn gaps(front: &Front) -> Vec<Gap> {
    let sources = &front.files.sources;
    let all = front.units.iter().flat_map(|unit| &unit.gaps).chain(&front.unexpanded);
    let mut gaps: Vec<Gap> = all.filter(|gap| !is_context(&front.files, gap.file)).cloned().collect();
    gaps.sort_by(|a, b| {
        let key = |gap: &Gap| (gap.span.map(|s| (s.start, s.end)), gap.function.clone(), gap.why.clone());
        sources.path(a.file).cmp(sources.path(b.file)).then_with(|| key(a).cmp(&key(b)))
    });
    gaps.dedup();
    gaps
}

fn is_context(files: &Collected, file: FileId) -> bool {
    files.info(file).is_none_or(|info| info.is_context)
}

/// A kernel has a gap when one lies inside it.
fn count_kernels(front: &Front, report: &mut Report) {
    let mut gaps: BTreeMap<FileId, Vec<u32>> = BTreeMap::new();
    for gap in &report.gaps {
        gaps.entry(gap.file).or_default().extend(gap.span.map(|span| span.start));
    }
    for starts in gaps.values_mut() {
        starts.sort_unstable();
    }
    let functions = front.units.iter().flat_map(|unit| &unit.functions);
    let kernels: BTreeSet<Span> = functions
        .filter(|function| function.quals.is_global && function.body.is_some())
        .map(|function| function.span)
        .filter(|span| !is_context(&front.files, span.file))
        .collect();
    let has_gap = |span: &&Span| {
        let starts = gaps.get(&span.file).map_or(&[][..], Vec::as_slice);
        starts.get(starts.partition_point(|start| *start < span.start)).is_some_and(|start| *start < span.end)
    };
    report.kernels_with_gap = kernels.iter().filter(has_gap).count();
    report.kernel_count = kernels.len();
}

/// Which settings hold for which file of the source map.
struct Scope<'a> {
    settings: &'a Settings,
    sources: &'a SourceMap,
    /// Index of the profile per file; `None` where nothing is reported.
    profiles: Vec<Option<usize>>,
}

impl<'a> Scope<'a> {
    fn new(settings: &'a Settings, files: &'a Collected, inputs: &Inputs) -> Self {
        let named: BTreeSet<PathBuf> = inputs.paths.iter().map(|path| display_path(path).into()).collect();
        let profiles = files
            .sources
            .files()
            .iter()
            .map(|file| {
                let is_context = is_context(files, file.id);
                let is_kept = named.contains(&file.path) || !settings.profile(&file.path).excludes(&file.path);
                (!is_context && is_kept).then(|| settings.profile_index(&file.path))
            })
            .collect();
        Self { settings, sources: &files.sources, profiles }
    }

    fn profile(&self, file: FileId) -> Option<usize> {
        self.profiles.get(file.0 as usize).copied().flatten()
    }

    fn level(&self, rule: &'static str, file: FileId) -> Option<(Level, bool)> {
        self.profile(file)?;
        self.settings.level(rule, self.sources.path(file))
    }

    /// Runs every rule of every profile that some file has, in parallel, and collects in the order of profiles and catalogue.
    fn ask(
        &self,
        kernels: &[KernelFacts],
        question: impl Fn(&dyn Rule, &View<'_>, &mut Sink<'_>) + Sync,
    ) -> (Vec<Candidate>, Vec<String>) {
        let used: BTreeSet<usize> = self.profiles.iter().filter_map(|index| *index).collect();
        let tasks: Vec<_> = used
            .iter()
            .filter_map(|index| Some((*index, self.settings.profiles().get(*index)?)))
            .flat_map(|(index, profile)| profile.rules().map(move |(id, rule)| (index, profile.target.sm, id, rule)))
            .collect();
        let answers: Vec<_> = tasks
            .into_par_iter()
            .map(|(index, sm, id, rule)| {
                guarded(
                    || format!("rule {id}"),
                    || {
                        let holds = |file| self.profile(file) == Some(index);
                        let is_enabled =
                            |file, id: &str| rules::entry(id).is_some_and(|entry| self.level(entry.id, file).is_some());
                        let view = View::new(kernels, sm, self.sources, &holds, &is_enabled);
                        let level = |file| self.level(id, file);
                        let mut sink = Sink::new(id, &level);
                        question(rule, &view, &mut sink);
                        sink.into_findings()
                    },
                )
            })
            .collect();
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Ok(candidates) => found.extend(candidates),
                Err(error) => errors.push(error),
            }
        }
        (found, errors)
    }
}

/// The comments addressed to cudalint in code that is compiled, by file and position.
fn suppressions(files: &Collected, addresses: &BTreeSet<(FileId, u32)>) -> Suppressions {
    let is_compiled = |comment: Span| {
        let mut inside = addresses.range((comment.file, comment.start)..(comment.file, comment.end));
        inside.next().is_some()
    };
    let all = files.sources.files().par_iter().flat_map_iter(|file| suppress::read(file, is_compiled)).collect();
    Suppressions::new(all)
}

/// Facts to findings: rules, then comments, then what the settings hold back, then order.
fn judge(settings: &Settings, inputs: &Inputs, files: &Collected, mut comments: Suppressions, report: &mut Report) {
    let sources = &files.sources;
    let scope = Scope::new(settings, files, inputs);
    let (found, errors) = scope.ask(&report.kernels, |rule, view, sink| rule.check(view, sink));
    report.internal_errors.extend(errors);
    let mut kept: Vec<Candidate> = Vec::new();
    let mut silence = |candidates: Vec<Candidate>, comments: &mut Suppressions| {
        for candidate in candidates {
            if !comments.silence(&candidate.finding, sources) {
                kept.push(candidate);
            } else if settings.overrides.pedantic || !candidate.is_pedantic {
                report.silenced += 1;
            }
        }
    };
    silence(found, &mut comments);

    let read = comments.all().to_vec();
    let (found, errors) = scope.ask(&report.kernels, |rule, view, sink| rule.check_suppressions(&read, view, sink));
    report.internal_errors.extend(errors);
    silence(found, &mut comments);

    let (shown, held_back): (Vec<_>, Vec<_>) =
        kept.into_iter().partition(|candidate| settings.overrides.pedantic || !candidate.is_pedantic);
    report.held_back = held_back.len();
    report.findings = in_order(shown.into_iter().map(|candidate| candidate.finding).collect(), sources);
    report.failing = report
        .findings
        .iter()
        .filter(|finding| {
            let fail_on = settings.profile(sources.path(finding.span.file)).fail_on;
            fail_on != Level::Off && finding.level >= fail_on
        })
        .count();
}

/// By path, start, rule; one finding per rule and span.
fn in_order(mut findings: Vec<Finding>, sources: &SourceMap) -> Vec<Finding> {
    findings.sort_by(|a, b| {
        let path = |finding: &Finding| sources.path(finding.span.file);
        let place = |finding: &Finding| (finding.span.start, finding.rule, finding.span.end);
        path(a).cmp(path(b)).then_with(|| place(a).cmp(&place(b)))
    });
    findings.dedup_by(|a, b| a.rule == b.rule && a.span == b.span);
    findings
}
