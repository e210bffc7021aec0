//! From the files of a run to what their directives say, with every macro name a number and every condition compiled.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::condition::{self, Condition, Word};
use super::macros::{Body, Item, Macro, defined_name, parse};
use super::names::{NO_SYMBOL, Names, Symbol};
use super::prelude::is_system_header;
use crate::source::directives::{Directive, DirectiveKind, IncludeName, include_name, scan};
use crate::source::lexical::skip_space;
use crate::source::{Collected, FileId};

/// One directive, ready to run.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) action: Action<'a>,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Of a conditional: the step of the next branch or the `#endif`. Else the step behind.
    pub(crate) next: u32,
}

#[derive(Debug)]
pub(crate) enum Action<'a> {
    Define {
        symbol: Symbol,
        index: u32,
    },
    Undef(Symbol),
    If(Condition<'a>),
    Elif(Condition<'a>),
    Else,
    Endif,
    Include(FileId),
    Once,
    /// A pragma that the stages below read.
    Visible,
    Nothing,
}

/// The directives of one file.
#[derive(Debug, Default)]
pub(crate) struct Unit<'a> {
    pub(crate) steps: Vec<Step<'a>>,
    /// The macro whose `#ifndef` encloses all of the file's directives.
    pub(crate) guard: Option<Symbol>,
}

/// The directives of all files.
#[derive(Debug)]
pub(crate) struct Tables<'a> {
    pub(crate) collected: &'a Collected,
    pub(crate) names: Names,
    pub(crate) macros: Vec<Macro<'a>>,
    /// By macro: the number it stands for, where it is one literal.
    pub(crate) values: Vec<Option<i64>>,
    /// By [`FileId`].
    pub(crate) units: Vec<Unit<'a>>,
    /// What is defined before the first line of a file.
    environment: Vec<u32>,
    /// By build: what its command line adds, as symbol and 1 + the index of the macro.
    builds: Vec<Vec<(Symbol, u32)>>,
}

/// A file's unit and macros before the macros of all files stand in one list.
struct Part<'a> {
    unit: Unit<'a>,
    macros: Vec<Macro<'a>>,
}

impl<'a> Tables<'a> {
    /// `prelude` is a text of `#define` lines that precedes every file, `builds` are such texts for the files of one build each.
    pub(crate) fn new(collected: &'a Collected, prelude: &'a str, builds: &'a [String]) -> Self {
        let preludes: Vec<(&str, Vec<Directive>)> =
            builds.iter().map(String::as_str).chain([prelude]).map(|text| (text, scan(text))).collect();
        let files = collected.sources.files();
        let per_file = files.par_iter().zip(&collected.info).map(|(f, info)| defined_names(&f.text, &info.directives));
        let per_file: Vec<Vec<&str>> = per_file.collect();
        let builtins = ["__LINE__", "__FILE__", "__COUNTER__"];
        let in_preludes = preludes.iter().flat_map(|(text, directives)| defined_names(text, directives));
        let names = builtins.into_iter().chain(in_preludes).chain(per_file.into_iter().flatten());
        let names = Names::new(names);

        let parts = files.par_iter().zip(&collected.info).map(|(file, info)| {
            let targets = info.includes.iter().map(|i| (i.offset, i.file)).collect();
            part(&file.text, &info.directives, &targets, &names)
        });
        let mut parts: Vec<Part<'a>> = parts.collect();
        let no_targets = FxHashMap::default();
        parts.extend(preludes.iter().map(|(text, directives)| part(text, directives, &no_targets, &names)));

        let mut tables = Self {
            collected,
            environment: vec![0; names.len()],
            names,
            macros: Vec::new(),
            values: Vec::new(),
            units: Vec::with_capacity(parts.len()),
            builds: Vec::with_capacity(builds.len()),
        };
        tables.add_builtins(builtins);
        for part in parts {
            tables.add(part);
        }
        tables.values = tables.macros.iter().map(value).collect();
        tables.run_preludes(builds.len());
        tables.fold();
        tables
    }

    /// Decides the conditions that only ask for what the compiler defines and no file of the project touches.
    fn fold(&mut self) {
        let mut fixed: Vec<Word> = self.environment.iter().map(|index| self.fixed_word(*index)).collect();
        for step in self.units.iter().flat_map(|u| &u.steps) {
            let (Action::Define { symbol, .. } | Action::Undef(symbol)) = step.action else { continue };
            if let Some(word) = fixed.get_mut(symbol as usize) {
                *word = Word::Macro;
            }
        }
        self.units.par_iter_mut().flat_map_iter(|u| &mut u.steps).for_each(|step| {
            if let Action::If(condition) | Action::Elif(condition) = &mut step.action {
                condition.fold(&fixed);
            }
        });
    }

    /// What a symbol stands for before the first line of a file.
    fn fixed_word(&self, index: u32) -> Word {
        match index.checked_sub(1) {
            None => Word::Macro,
            Some(index) => self.values.get(index as usize).copied().flatten().map_or(Word::Macro, Word::Number),
        }
    }

    fn add_builtins(&mut self, builtins: [&str; 3]) {
        for (name, body) in builtins.into_iter().zip([Body::Line, Body::File, Body::Counter]) {
            let symbol = self.names.get(name);
            self.macros.push(Macro { symbol, parameters: None, body });
            if let Some(slot) = self.environment.get_mut(symbol as usize) {
                *slot = self.macros.len() as u32;
            }
        }
    }

    fn add(&mut self, part: Part<'a>) {
        let base = self.macros.len() as u32;
        let mut unit = part.unit;
        for step in &mut unit.steps {
            if let Action::Define { index, .. } = &mut step.action {
                *index += base;
            }
        }
        self.macros.extend(part.macros);
        self.units.push(unit);
    }

    /// The last units are those of the builds and the prelude's; they hold definitions only.
    fn run_preludes(&mut self, builds: usize) {
        let mut defined: Vec<Vec<(Symbol, u32)>> =
            self.units.split_off(self.units.len().saturating_sub(builds + 1)).iter().map(definitions).collect();
        for (symbol, definition) in defined.pop().unwrap_or_default() {
            if let Some(slot) = self.environment.get_mut(symbol as usize) {
                *slot = definition;
            }
        }
        self.builds = defined;
    }

    /// What is defined before the first line of a file: what the user says counts before what its build files say.
    pub(crate) fn environment_of(&self, file: FileId) -> Vec<u32> {
        let mut environment = self.environment.clone();
        let build = self.collected.info(file).and_then(|info| self.builds.get(info.build? as usize));
        for (symbol, definition) in build.into_iter().flatten() {
            if let Some(slot) = environment.get_mut(*symbol as usize).filter(|slot| **slot == 0) {
                *slot = *definition;
            }
        }
        environment
    }

    pub(crate) fn text(&self, file: FileId) -> &'a str {
        let files: &'a [_] = self.collected.sources.files();
        files.get(file.0 as usize).map_or("", |f| &f.text)
    }
}

fn definitions(unit: &Unit) -> Vec<(Symbol, u32)> {
    let defines = unit.steps.iter().filter_map(|step| match step.action {
        Action::Define { symbol, index } => Some((symbol, index + 1)),
        _ => None,
    });
    defines.collect()
}

fn defined_names<'t>(text: &'t str, directives: &[Directive]) -> Vec<&'t str> {
    let defines = directives.iter().filter(|d| d.kind == DirectiveKind::Define);
    defines.filter_map(|d| defined_name(text, d.arguments as usize, d.end as usize)).map(|(name, _)| name).collect()
}

/// The number behind a macro of one literal; 0 is also what an empty macro counts as nowhere, so that stays a macro.
fn value(definition: &Macro) -> Option<i64> {
    match (&definition.parameters, &definition.body) {
        (None, Body::Items(items)) => match items.as_slice() {
            [Item::Token(token)] => condition::literal_value(token),
            _ => None,
        },
        _ => None,
    }
}

fn part<'a>(text: &'a str, directives: &[Directive], targets: &FxHashMap<u32, FileId>, names: &Names) -> Part<'a> {
    let resolved: Vec<&str> = directives
        .iter()
        .filter(|d| d.kind == DirectiveKind::Include && targets.contains_key(&d.start))
        .filter_map(|d| include_name(text, d))
        .map(|i| i.name)
        .collect();
    let has_include =
        |name: &str, quoted: bool| resolved.contains(&name) || is_system_header(IncludeName { name, quoted });
    let mut macros = Vec::new();
    let mut steps = Vec::with_capacity(directives.len());
    for directive in directives {
        let (at, end) = (directive.arguments as usize, directive.end as usize);
        let name = || defined_name(text, at, end).map(|(name, _)| name);
        let action = match directive.kind {
            DirectiveKind::Define => match parse(text, at, end, names) {
                Some(definition) => {
                    let symbol = definition.symbol;
                    macros.push(definition);
                    Action::Define { symbol, index: macros.len() as u32 - 1 }
                }
                None => Action::Nothing,
            },
            DirectiveKind::Undef => Action::Undef(name().map_or(NO_SYMBOL, |n| names.get(n))),
            DirectiveKind::If => Action::If(condition::compile(text, at..end, names, &has_include)),
            DirectiveKind::Ifdef => Action::If(condition::defined(name(), names, true)),
            DirectiveKind::Ifndef => Action::If(condition::defined(name(), names, false)),
            DirectiveKind::Elif => Action::Elif(condition::compile(text, at..end, names, &has_include)),
            DirectiveKind::Elifdef => Action::Elif(condition::defined(name(), names, true)),
            DirectiveKind::Elifndef => Action::Elif(condition::defined(name(), names, false)),
            DirectiveKind::Else => Action::Else,
            DirectiveKind::Endif => Action::Endif,
            DirectiveKind::Include => targets.get(&directive.start).map_or(Action::Nothing, |f| Action::Include(*f)),
            DirectiveKind::Pragma => pragma(text.get(at..end).unwrap_or("").trim()),
            DirectiveKind::Other => Action::Nothing,
        };
        steps.push(Step { action, start: directive.start, end: directive.end, next: 0 });
    }
    link_branches(&mut steps);
    let guard = guard(&steps, text);
    Part { unit: Unit { steps, guard }, macros }
}

fn pragma(words: &str) -> Action<'static> {
    match words.split(|c: char| !c.is_alphanumeric()).next() {
        Some("once") => Action::Once,
        Some("unroll" | "nounroll") => Action::Visible,
        _ => Action::Nothing,
    }
}

/// Sets `next` of each conditional to its next branch.
fn link_branches(steps: &mut [Step]) {
    let mut open: Vec<usize> = Vec::new();
    let count = steps.len();
    for index in 0..count {
        let (closes, opens) = match steps[index].action {
            Action::If(_) => (false, true),
            Action::Elif(_) | Action::Else => (true, true),
            Action::Endif => (true, false),
            _ => (false, false),
        };
        steps[index].next = index as u32 + 1;
        if closes && let Some(before) = open.pop() {
            steps[before].next = index as u32;
        }
        if opens {
            open.push(index);
        }
    }
    for index in open {
        steps[index].next = count as u32;
    }
}

/// `#ifndef G`, `#define G`, the `#endif` of the first is the last directive, and all code stands between.
fn guard(steps: &[Step], text: &str) -> Option<Symbol> {
    let first = steps.iter().position(|s| !matches!(s.action, Action::Once | Action::Nothing))?;
    let behind = steps.last()?.end as usize;
    let mut before = 0;
    let opens_the_file = steps.get(..=first)?.iter().all(|step| {
        let is_blank = is_blank(text, before, step.start as usize);
        before = step.end as usize;
        is_blank
    });
    if !opens_the_file || !is_blank(text, behind, text.len()) {
        return None;
    }
    let (Action::If(Condition::Undefined(guard)), Action::Define { symbol, .. }) =
        (&steps.get(first)?.action, &steps.get(first + 1)?.action)
    else {
        return None;
    };
    (guard == symbol && steps.get(first)?.next as usize + 1 == steps.len()).then_some(*symbol)
}

/// Whether only white space and comments stand in a range.
fn is_blank(text: &str, start: usize, end: usize) -> bool {
    skip_space(text.as_bytes(), start, end) >= end
}
