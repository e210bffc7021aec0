//! The result of a run: the one input of every output format.

use std::path::PathBuf;

use crate::finding::{Finding, Level};
use crate::model::Gap;
use crate::warp::facts::KernelFacts;

/// Findings, gaps, facts and counters of a run, in an order that does not depend on threads.
#[derive(Debug, Default)]
pub struct Report {
    /// The compute capability predicted for, as `sm_90`.
    pub target: String,
    /// Sorted by path, start, rule.
    pub findings: Vec<Finding>,
    pub gaps: Vec<Gap>,
    /// Facts of every kernel, instance and launch, by file and position.
    pub kernels: Vec<KernelFacts>,
    pub files: usize,
    /// Kernels defined in the files of the run, whether launched or not.
    pub kernel_count: usize,
    /// Kernels that hold a gap.
    pub kernels_with_gap: usize,
    /// Files passed over, with the reason ("HIP source", "binary").
    pub passed_over: Vec<(PathBuf, String)>,
    /// Files and folders that could not be read.
    pub unreadable: Vec<(PathBuf, String)>,
    /// A panic was caught: the function or file and the message.
    pub internal_errors: Vec<String>,
    /// Findings at or above the `fail-on` level of their file.
    pub failing: usize,
    /// Findings that a comment silenced.
    pub silenced: usize,
    /// Findings that `--pedantic` would show.
    pub held_back: usize,
}

impl Report {
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|f| f.level == level).count()
    }
}
