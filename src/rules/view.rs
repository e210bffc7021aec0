//! All that a rule can see: facts, and the words of the source they stand on.

use crate::source::{FileId, SourceMap, Span};
use crate::warp::facts::{KernelFacts, Launch, LaunchSource};

/// The facts of a run, limited to places in files that share their options.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Every kernel, instance and launch of the run.
    pub kernels: &'a [KernelFacts],
    /// Compute capability as in `sm_90`.
    pub sm: u32,
    sources: &'a SourceMap,
    holds: &'a (dyn Fn(FileId) -> bool + Sync),
    is_enabled: &'a (dyn Fn(FileId, &str) -> bool + Sync),
}

impl<'a> View<'a> {
    pub fn new(
        kernels: &'a [KernelFacts],
        sm: u32,
        sources: &'a SourceMap,
        holds: &'a (dyn Fn(FileId) -> bool + Sync),
        is_enabled: &'a (dyn Fn(FileId, &str) -> bool + Sync),
    ) -> Self {
        Self { kernels, sm, sources, holds, is_enabled }
    }

    /// Places in this file are this view's to judge.
    pub fn holds(&self, file: FileId) -> bool {
        (self.holds)(file)
    }

    /// The rule `id` runs on this file.
    pub fn is_enabled(&self, file: FileId, id: &str) -> bool {
        (self.is_enabled)(file, id)
    }

    /// The text of a span as one line of at most 60 characters.
    pub fn text(&self, span: Span) -> String {
        let words: Vec<&str> = self.raw(span).split_whitespace().collect();
        let line = words.join(" ");
        if line.chars().count() <= 60 {
            return line;
        }
        line.chars().take(57).chain("...".chars()).collect()
    }

    /// The text of a span as it stands in the file.
    pub fn raw(&self, span: Span) -> &'a str {
        self.sources.get(span.file).slice(span)
    }

    /// `path:line`.
    pub fn place(&self, span: Span) -> String {
        self.sources.place(span)
    }

    /// "block (32,8) from main.cu:41", "assumed block (256)".
    pub fn launch(&self, launch: &Launch) -> String {
        let block = block(launch.block);
        match &launch.source {
            LaunchSource::Visible(span) => format!("block {block} from {}", self.place(*span)),
            LaunchSource::Hint => format!("block {block} from a hint"),
            LaunchSource::LaunchBounds => format!("block {block} from __launch_bounds__"),
            LaunchSource::Assumed => format!("assumed block {block}"),
        }
    }
}

/// `(256)`, `(32,8)`, `(8,8,4)`.
pub(super) fn block(shape: [u32; 3]) -> String {
    match shape {
        [x, 1, 1] => format!("({x})"),
        [x, y, 1] => format!("({x},{y})"),
        [x, y, z] => format!("({x},{y},{z})"),
    }
}
