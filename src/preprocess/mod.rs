//! The C preprocessor as far as CUDA sources need it: one file in, the text a compiler would parse out, with a map back.
//!
//! Comments stay, `#include`s are not pasted in: the macros of an included project file are known, its declarations are linked
//! later. Directives and branches not taken become blanks, so most of the text keeps its very bytes.
//!
//! ```text
//! directives -> tables (names are numbers, conditions compiled) -> pass (one translation unit) -> emit (the text of a file)
//! ```
//!
//! A header is written out once, where the first translation unit that it belongs to includes it, so it sees what that unit
//! defined before.

mod map;
mod token;
mod names;
mod macros;
mod condition;
mod prelude;
mod tables;
mod engine;
mod pass;
mod emit;
mod units;
mod dialect;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use rayon::prelude::*;

use crate::source::{Collected, FileId, Span};
pub use map::{OffsetMap, Segment};
use pass::Pass;
use tables::Tables;

/// A file as the parser sees it.
#[derive(Debug, Clone, Default)]
pub struct Expanded {
    pub text: String,
    pub map: OffsetMap,
    /// Macro uses that were left as written.
    pub gaps: Vec<ExpansionGap>,
}

/// A macro use that could not be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpansionGap {
    /// The name of the macro where it is used.
    pub span: Span,
    pub why: &'static str,
}

/// What the compiler's command line would say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreprocessOptions {
    /// The target as in `sm_90`.
    pub sm: u32,
    /// `NAME` or `NAME=VALUE`, as behind `-D`.
    pub defines: Vec<String>,
}

impl Default for PreprocessOptions {
    fn default() -> Self {
        Self { sm: 90, defines: Vec::new() }
    }
}

/// Expands every file of a run; the result is indexed by [`FileId`] and does not depend on threads.
pub fn expand_all(collected: &Collected, options: &PreprocessOptions) -> Vec<Expanded> {
    let prelude = prelude::text(options);
    let builds: Vec<String> = collected.build_defines.iter().map(|defines| prelude::lines(defines)).collect();
    let tables = Tables::new(collected, &prelude, &builds);
    let owner = units::owners(collected);
    let mut expanded: Vec<Option<Expanded>> = vec![None; tables.units.len()];
    place(&mut expanded, read_units(&tables, &owner, &units::roots(&owner)));
    // A header that its unit left out after all (an include in a branch not taken) is read on its own.
    let missing: Vec<FileId> =
        (0..expanded.len() as u32).map(FileId).filter(|f| expanded[f.0 as usize].is_none()).collect();
    let alone: Vec<FileId> = (0..expanded.len() as u32).map(FileId).collect();
    place(&mut expanded, read_units(&tables, &alone, &missing));
    expanded.into_iter().map(Option::unwrap_or_default).collect()
}

/// Expands one text that includes nothing.
pub fn expand_one(path: PathBuf, text: String, options: &PreprocessOptions) -> Expanded {
    let collected = Collected::of_text(path, text);
    expand_all(&collected, options).pop().unwrap_or_default()
}

fn read_units(tables: &Tables, owner: &[FileId], roots: &[FileId]) -> Vec<(FileId, Expanded)> {
    let read = roots.par_iter().flat_map_iter(|root| {
        let mut pass = Pass::new(tables, owner, *root);
        pass.enter(*root);
        pass.done
    });
    read.collect()
}

fn place(expanded: &mut [Option<Expanded>], done: Vec<(FileId, Expanded)>) {
    for (file, text) in done {
        if let Some(slot) = expanded.get_mut(file.0 as usize) {
            *slot = Some(text);
        }
    }
}
