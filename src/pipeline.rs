//! From paths to a report: front end, engine, rules, suppression, order. The result does not depend on the number of threads, and a
//! panic in one file, kernel or rule costs that one alone.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::config::Settings;
use crate::finding::suppress::{self, Suppression};
use crate::finding::{Finding, Level};
use crate::model::{Gap, Unit};
use crate::report::Report;
use crate::rules::{self, Candidate, Rule, Sink, View};
use crate::source::{Collected, FileId, Selection, Selector, SourceMap, WalkOptions, display_path};
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
    units: Vec<Unit>,
    internal_errors: Vec<String>,
}

/// Lints `inputs`. Runs on rayon's current pool. The settings must stay for the whole run.
pub fn run(settings: &Arc<Settings>, inputs: &Inputs, progress: &dyn Progress) -> (SourceMap, Report) {
    let front = frontend(settings, inputs, progress);
    let (kernels, engine_errors) = engine(settings, &front, progress);
    let Front { files, units, mut internal_errors } = front;
    internal_errors.extend(engine_errors);
    let mut report = Report {
        target: settings.default_profile().target.name.clone(),
        gaps: gaps(&units, &files),
        kernels,
        files: files.info.iter().filter(|info| !info.is_context).count(),
        internal_errors,
        ..Report::default()
    };
    count_kernels(&units, &files, &mut report);
    judge(settings, inputs, &files, &mut report);
    let Collected { sources, passed_over, unreadable, .. } = files;
    report.passed_over = passed_over;
    report.unreadable = unreadable;
    (sources, report)
}

// --- Seam: front end ------------------------------------------------------------------------------------------------------------
// Reads the inputs and what they include, expands macros, parses and lowers. `units` may stand in any order that does not depend on
// threads. `settings.profile(path)` has the defines of a file.

fn frontend(settings: &Arc<Settings>, inputs: &Inputs, progress: &dyn Progress) -> Front {
    progress.stage("reading", 0);
    let mut include_dirs: Vec<PathBuf> = Vec::new();
    for profile in settings.profiles() {
        include_dirs.extend(
            profile.include_paths.iter().filter(|dir| !include_dirs.contains(dir)).cloned().collect::<Vec<_>>(),
        );
    }
    let choose = Arc::clone(settings);
    let selector = Selector(Arc::new(move |path: &Path| {
        let profile = choose.profile(path);
        match (profile.excludes(path), profile.includes(path)) {
            (true, _) => Selection::Exclude,
            (false, true) => Selection::Take,
            (false, false) => Selection::Leave,
        }
    }));
    let options = WalkOptions {
        selector: Some(selector),
        include_dirs,
        overlay: inputs.stdin.iter().cloned().collect(),
        ..WalkOptions::default()
    };
    let files = crate::source::collect(&inputs.paths, &options);
    Front { files, ..Front::default() }
}

// --- Seam: engine ---------------------------------------------------------------------------------------------------------------
// Links units, binds launches and hints (`settings.profile(path).hints`), and analyses each kernel for `profile.target`; one guarded
// task per kernel. Facts by file and position of the kernel, then instance, then launch.

fn engine(_settings: &Settings, _front: &Front, progress: &dyn Progress) -> (Vec<KernelFacts>, Vec<String>) {
    progress.stage("analysing", 0);
    (Vec::new(), Vec::new())
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

fn gaps(units: &[Unit], files: &Collected) -> Vec<Gap> {
    let sources = &files.sources;
    let own = units.iter().flat_map(|unit| &unit.gaps).filter(|gap| !is_context(files, gap.file));
    let mut gaps: Vec<Gap> = own.cloned().collect();
    gaps.sort_by(|a, b| {
        let key = |gap: &Gap| (gap.span.map(|s| (s.start, s.end)), gap.function.clone(), gap.why.clone());
        sources.path(a.file).cmp(sources.path(b.file)).then_with(|| key(a).cmp(&key(b)))
    });
    gaps.dedup();
    gaps
}

fn is_context(files: &Collected, file: FileId) -> bool {
    files.info(file).is_some_and(|info| info.is_context)
}

fn count_kernels(units: &[Unit], files: &Collected, report: &mut Report) {
    let functions = units.iter().flat_map(|unit| &unit.functions);
    let kernels: BTreeSet<_> = functions
        .filter(|function| {
            function.quals.is_global && function.body.is_some() && !is_context(files, function.span.file)
        })
        .map(|function| (function.span.file, function.name.clone(), function.span.start))
        .collect();
    let broken: BTreeSet<_> = report.gaps.iter().filter_map(|gap| Some((gap.file, gap.function.clone()?))).collect();
    report.kernel_count = kernels.len();
    report.kernels_with_gap = kernels.iter().filter(|(file, name, _)| broken.contains(&(*file, name.clone()))).count();
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

/// Facts to findings: rules, then comments, then what the settings hold back, then order.
fn judge(settings: &Settings, inputs: &Inputs, files: &Collected, report: &mut Report) {
    let sources = &files.sources;
    let scope = Scope::new(settings, files, inputs);
    let mut comments: Vec<Suppression> = sources.files().par_iter().flat_map_iter(suppress::read).collect();

    let (found, errors) = scope.ask(&report.kernels, |rule, view, sink| rule.check(view, sink));
    report.internal_errors.extend(errors);
    let mut kept: Vec<Candidate> = Vec::new();
    let mut silence = |candidates: Vec<Candidate>, comments: &mut Vec<Suppression>| {
        for candidate in candidates {
            if !suppress::silences(comments, &candidate.finding, sources) {
                kept.push(candidate);
            } else if settings.overrides.pedantic || !candidate.is_pedantic {
                report.silenced += 1;
            }
        }
    };
    silence(found, &mut comments);

    let read = comments.clone();
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
