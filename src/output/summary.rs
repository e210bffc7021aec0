//! The last line of a run, and the lines about files that were not read.

use std::fmt::Write as _;

use crate::error::count;
use crate::finding::Level;
use crate::report::Report;
use crate::visible::{plain, plain_path};

/// "2 errors, 1 warning in 3 kernels of 2 files; 1 gap; 4 files passed over".
pub fn summary(report: &Report) -> String {
    let levels = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
    let found: Vec<String> = levels
        .iter()
        .map(|(level, word)| (report.count(*level), word))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| count(n, word))
        .collect();
    let mut line = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    let _ = write!(line, " in {} of {}", count(report.kernel_count, "kernel"), count(report.files, "file"));
    if !report.gaps.is_empty() {
        let _ = write!(line, "; {}", count(report.gaps.len(), "gap"));
        if report.kernels_with_gap > 0 {
            let _ = write!(line, " (in {})", count(report.kernels_with_gap, "kernel"));
        }
    }
    let extras = [
        (report.passed_over.len(), "file", "passed over"),
        (report.unreadable.len(), "path", "unreadable"),
        (report.silenced, "finding", "silenced by comments"),
        (report.held_back, "finding", "more with --pedantic"),
        (report.internal_errors.len(), "internal error", ""),
    ];
    for (n, noun, what) in extras.into_iter().filter(|(n, ..)| *n > 0) {
        let _ = write!(line, "; {} {what}", count(n, noun));
    }
    line.truncate(line.trim_end().len());
    line
}

/// Why files were passed over, by reason: one line each, at most a few names.
pub fn notices(report: &Report) -> Vec<String> {
    let mut reasons: std::collections::BTreeMap<&str, Vec<String>> = std::collections::BTreeMap::new();
    for (path, why) in &report.passed_over {
        reasons.entry(why).or_default().push(plain_path(path));
    }
    reasons
        .into_iter()
        .map(|(why, names)| {
            let shown = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
            format!("passed over: {shown}{more} ({})", plain(why))
        })
        .collect()
}
