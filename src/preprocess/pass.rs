//! One translation unit, as a compiler would read it: directives run in order, includes are entered, and the text of the files that
//! this unit stands for is written out on the way.

use rustc_hash::FxHashSet;

use super::condition::{self, Condition, Word};
use super::engine::Engine;
use super::names::NO_SYMBOL;
use super::tables::{Action, Step, Tables, Unit};
use super::token::{Kind, Token};
use super::{Expanded, emit};
use crate::source::FileId;

const MAX_INCLUDE_DEPTH: usize = 64;
/// A file without a guard may be entered again, but not without end.
const MAX_SELF_INCLUDES: usize = 2;
/// Directives run in one unit; includes that double at each level stop here.
const MAX_STEPS: u64 = 4_000_000;

/// The nesting of conditionals in one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Branches {
    open: Vec<Branch>,
}

#[derive(Debug, Clone, Copy)]
struct Branch {
    /// The text around the conditional is taken.
    parent: bool,
    /// One of its branches was taken already.
    taken: bool,
    active: bool,
}

impl Branches {
    pub(crate) fn active(&self) -> bool {
        self.open.last().is_none_or(|b| b.active)
    }
}

/// Reading one unit.
pub(crate) struct Pass<'t, 'a> {
    pub(crate) engine: Engine<'t, 'a>,
    /// The unit that each file is written out in, by file.
    owner: &'t [FileId],
    root: FileId,
    once: FxHashSet<FileId>,
    /// Files being read, outermost first.
    open: Vec<FileId>,
    written: FxHashSet<FileId>,
    pub(crate) done: Vec<(FileId, Expanded)>,
    steps_left: u64,
}

impl<'t, 'a> Pass<'t, 'a> {
    pub(crate) fn new(tables: &'t Tables<'a>, owner: &'t [FileId], root: FileId) -> Self {
        Self {
            engine: Engine::new(tables, tables.environment_of(root)),
            owner,
            root,
            once: FxHashSet::default(),
            open: Vec::new(),
            written: FxHashSet::default(),
            done: Vec::new(),
            steps_left: MAX_STEPS,
        }
    }

    pub(crate) fn tables(&self) -> &'t Tables<'a> {
        self.engine.tables
    }

    /// Reads a file from where it is included, or the unit's own file.
    pub(crate) fn enter(&mut self, file: FileId) {
        let Some(unit) = self.tables().units.get(file.0 as usize) else { return };
        let owned = self.owner.get(file.0 as usize) == Some(&self.root);
        // Behind what looks like a guard, such as a default for a -D name, there may be code: a file is always written once.
        let is_new = owned && !self.written.contains(&file);
        let guarded = unit.guard.is_some_and(|g| self.engine.is_defined(g)) && !is_new || self.once.contains(&file);
        let repeated = self.open.iter().filter(|f| **f == file).count() >= MAX_SELF_INCLUDES;
        if guarded || repeated || self.open.len() >= MAX_INCLUDE_DEPTH {
            return;
        }
        self.open.push(file);
        if owned && self.written.insert(file) {
            let expanded = emit::write(self, unit, file);
            self.done.push((file, expanded));
        } else {
            self.replay(unit, file);
        }
        self.open.pop();
    }

    /// Runs the directives of a file for what they define.
    fn replay(&mut self, unit: &'t Unit<'a>, file: FileId) {
        let mut branches = Branches::default();
        let mut at = 0;
        while let Some(step) = unit.steps.get(at) {
            self.run(step, &mut branches, file);
            at = if branches.active() { at + 1 } else { (step.next as usize).max(at + 1) };
        }
    }

    /// Runs one directive.
    pub(crate) fn run(&mut self, step: &Step<'a>, branches: &mut Branches, file: FileId) {
        self.steps_left = self.steps_left.saturating_sub(1);
        branches.run(&mut self.engine, step);
        match step.action {
            _ if !branches.active() => {}
            Action::Once => {
                self.once.insert(file);
            }
            Action::Include(target) if self.steps_left > 0 => self.enter(target),
            _ => {}
        }
    }
}

impl Branches {
    /// Runs what a directive says about this file alone: conditionals and definitions.
    pub(crate) fn run<'a>(&mut self, engine: &mut Engine<'_, 'a>, step: &Step<'a>) {
        match &step.action {
            Action::If(condition) => {
                let parent = self.active();
                let active = parent && holds(engine, condition);
                self.open.push(Branch { parent, taken: active, active });
            }
            Action::Elif(condition) => {
                if let Some(branch) = self.open.last_mut() {
                    branch.active = branch.parent && !branch.taken && holds(engine, condition);
                    branch.taken |= branch.active;
                }
            }
            Action::Else => {
                if let Some(branch) = self.open.last_mut() {
                    branch.active = branch.parent && !branch.taken;
                    branch.taken = true;
                }
            }
            Action::Endif => {
                self.open.pop();
            }
            Action::Define { symbol, index } if self.active() => engine.define(*symbol, Some(*index)),
            Action::Undef(symbol) if self.active() => engine.define(*symbol, None),
            _ => {}
        }
    }
}

fn holds<'a>(engine: &mut Engine<'_, 'a>, condition: &Condition<'a>) -> bool {
    match condition {
        Condition::Known(yes) => *yes,
        Condition::Defined(symbol) => engine.is_defined(*symbol),
        Condition::Undefined(symbol) => !engine.is_defined(*symbol),
        Condition::Tokens(tokens) => {
            let word = |token: &Token| word(engine, token);
            condition::evaluate(tokens, &word).unwrap_or_else(|_| holds_expanded(engine, tokens))
        }
    }
}

fn word(engine: &Engine, token: &Token) -> Word {
    let index = match engine.environment.get(token.symbol as usize) {
        Some(index) if *index > 0 => *index as usize - 1,
        _ => return Word::Undefined,
    };
    engine.tables.values.get(index).copied().flatten().map_or(Word::Macro, Word::Number)
}

/// The slow road: answers `defined`, expands the rest, reads the result.
fn holds_expanded<'a>(engine: &mut Engine<'_, 'a>, tokens: &[Token<'a>]) -> bool {
    let mut asked = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Ident && condition::is_operand_of_defined(tokens, index) {
            let yes = token.symbol != NO_SYMBOL && engine.is_defined(token.symbol);
            // `defined 1` and `defined(0)` are read below as what was found here.
            asked.push(condition::truth_token(yes));
        } else {
            asked.push(token.clone());
        }
    }
    let fuel = std::mem::replace(&mut engine.fuel, 1 << 16);
    let expanded = engine.expand_tokens(asked);
    engine.fuel = fuel;
    expanded.is_ok_and(|tokens| condition::evaluate(&tokens, &|_| Word::Undefined).unwrap_or(false))
}
