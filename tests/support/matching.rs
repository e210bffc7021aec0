//! Findings against expectations, both ways: whatever is found is expected, whatever is expected is found.

use std::path::Path;

use super::checker::{Finding, Gap};
use super::expectations::{Expectation, Kind};

/// How strictly one file is held to its expectations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mode {
    /// One expectation may stand for several findings of its rule on its line.
    pub one_stands_for_many: bool,
}

/// Everything that does not agree; empty where both sides match. `source` gives the text of a file of the run.
pub(crate) fn problems(
    findings: &[Finding],
    gaps: &[Gap],
    expected: &[Expectation],
    mode: Mode,
    source: &dyn Fn(&Path) -> Option<String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    let mut taken = vec![false; findings.len()];
    let mut wanted: Vec<&Expectation> =
        expected.iter().filter(|e| matches!(e.kind, Kind::Finding | Kind::Either)).collect();
    // The most specific first, so that a bare expectation does not take a finding that another one describes.
    wanted.sort_by_key(|e| std::cmp::Reverse((e.kind == Kind::Finding, weight(e))));
    for expectation in wanted {
        let fits = |(index, finding): &(usize, &Finding)| {
            (!taken[*index] || mode.one_stands_for_many) && stands_at(expectation, finding)
        };
        let candidates: Vec<(usize, &Finding)> = findings.iter().enumerate().filter(fits).collect();
        let matching: Vec<usize> =
            candidates.iter().filter(|(_, f)| differences(expectation, f, source).is_empty()).map(|c| c.0).collect();
        match matching.first() {
            Some(_) if mode.one_stands_for_many => matching.iter().for_each(|index| taken[*index] = true),
            Some(first) => taken[*first] = true,
            None => problems.push(unmet(expectation, &candidates, source)),
        }
    }
    let surplus = findings.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(finding, _)| finding);
    for finding in surplus {
        let known = expected.iter().find(|e| {
            matches!(e.kind, Kind::Nothing | Kind::Missed) && e.rule == finding.rule && stands_at(e, finding)
        });
        problems.push(match known {
            Some(e) if e.kind == Kind::Missed => format!("{}: found at last, make it an `expect`", describe(finding)),
            Some(e) => format!("{}: must not be found: {}", describe(finding), e.text.as_deref().unwrap_or("")),
            None => format!("{}: not expected", describe(finding)),
        });
    }
    problems.extend(gap_problems(gaps, expected));
    problems
}

fn gap_problems(gaps: &[Gap], expected: &[Expectation]) -> Vec<String> {
    let named = |gap: &Gap, e: &Expectation| {
        e.kind == Kind::Gap && gap.file == e.file && gap.function.as_deref().unwrap_or("-") == e.rule
    };
    let surplus = gaps.iter().filter(|gap| !expected.iter().any(|e| named(gap, e))).map(|gap| {
        let why = gap.why.as_deref().unwrap_or("no reason given");
        format!("{}: gap in {}: {why}", gap.file.display(), gap.function.as_deref().unwrap_or("the file"))
    });
    let unmet = expected
        .iter()
        .filter(|e| e.kind == Kind::Gap && !gaps.iter().any(|gap| named(gap, e)))
        .map(|e| format!("{}:{}: no gap in {}", e.file.display(), e.line, e.rule));
    surplus.chain(unmet).collect()
}

fn weight(e: &Expectation) -> usize {
    e.evidence.len()
        + usize::from(e.on.is_some()) * 4
        + usize::from(e.text.is_some())
        + usize::from(e.confidence.is_some())
}

fn stands_at(e: &Expectation, finding: &Finding) -> bool {
    let on_line = finding.line == e.line || (e.kind == Kind::Either && finding.related_lines().contains(&e.line));
    finding.rule == e.rule && finding.file == e.file && on_line
}

/// What keeps `finding` from being the one that `e` means.
fn differences(e: &Expectation, finding: &Finding, source: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(level) = &e.level
        && *level != finding.level
    {
        found.push(format!("level is {}, expected {level}", finding.level));
    }
    if let Some(confidence) = &e.confidence
        && *confidence != finding.confidence
    {
        found.push(format!("confidence is {}, expected {confidence}", finding.confidence));
    }
    if let Some(part) = &e.text
        && !finding.message.contains(part.as_str())
    {
        found.push(format!("message is \"{}\", expected a part \"{part}\"", finding.message));
    }
    for (key, value) in &e.evidence {
        match finding.number(key) {
            Some(number) if (number - value).abs() <= 0.01 => {}
            Some(number) => found.push(format!("{key} is {number}, expected {value}")),
            None => found.push(format!("no evidence `{key}`, expected {value}")),
        }
    }
    if let Some(on) = &e.on {
        let text = source(&finding.file).unwrap_or_default();
        match finding.text(&text) {
            Ok(slice) if slice == on => {}
            Ok(slice) => found.push(format!("span is `{slice}`, expected `{on}`")),
            Err(mistake) => found.push(mistake),
        }
    }
    found
}

fn unmet(e: &Expectation, candidates: &[(usize, &Finding)], source: &dyn Fn(&Path) -> Option<String>) -> String {
    let place = format!("{}:{}: {}", e.file.display(), e.line, e.rule);
    let nearest = candidates.iter().map(|(_, f)| differences(e, f, source)).min_by_key(Vec::len);
    match nearest {
        Some(differences) => format!("{place}: {}", differences.join("; ")),
        None => format!("{place}: not found"),
    }
}

/// `file:line:column: rule: message` of a finding.
pub(crate) fn describe(f: &Finding) -> String {
    format!("{}:{}:{}: {} ({}): {}", f.file.display(), f.line, f.column, f.rule, f.confidence, f.message)
}
