//! The only way for a rule to say something: from drafts to findings with the rule's id and level.

use std::collections::BTreeMap;

use crate::finding::{Confidence, Evidence, Finding, Fix, Level};
use crate::source::{FileId, Span};

/// A finding before its level is settled.
#[derive(Debug, Clone)]
pub struct Draft {
    finding: Finding,
    at_most: Level,
    is_pedantic: bool,
}

/// A finding, and whether it is shown without `--pedantic`.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub finding: Finding,
    pub is_pedantic: bool,
}

/// Collects what one rule finds.
pub struct Sink<'a> {
    rule: &'static str,
    /// The level of the rule in a file, and whether the user has set it; `None` where the rule does not run.
    level: &'a dyn Fn(FileId) -> Option<(Level, bool)>,
    found: Vec<Candidate>,
}

impl Draft {
    /// `message`: one line with the numbers, no full stop.
    pub fn new(span: Span, confidence: Confidence, message: impl Into<String>) -> Self {
        let finding = Finding {
            rule: "",
            level: Level::Error,
            confidence,
            span,
            message: message.into(),
            label: None,
            related: Vec::new(),
            notes: Vec::new(),
            kernel: None,
            evidence: BTreeMap::new(),
            fix: None,
        };
        Self { finding, at_most: Level::Error, is_pedantic: confidence == Confidence::Possible }
    }

    /// The text under the span.
    #[must_use]
    pub fn label(mut self, text: impl Into<Option<String>>) -> Self {
        self.finding.label = text.into();
        self
    }

    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.finding.related.push((span, text.into()));
        self
    }

    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.finding.notes.push(text.into());
        self
    }

    #[must_use]
    pub fn notes(mut self, texts: impl IntoIterator<Item = String>) -> Self {
        self.finding.notes.extend(texts);
        self
    }

    #[must_use]
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.finding.kernel = Some(name.into());
        self
    }

    /// The key names the unit.
    #[must_use]
    pub fn evidence(mut self, key: &'static str, value: Evidence) -> Self {
        self.finding.evidence.insert(key, value);
        self
    }

    #[must_use]
    pub fn count(self, key: &'static str, value: impl Into<i64>) -> Self {
        self.evidence(key, Evidence::Count(value.into()))
    }

    #[must_use]
    pub fn fix(mut self, fix: Option<Fix>) -> Self {
        self.finding.fix = fix;
        self
    }

    /// A weaker form of the defect: below the rule's level unless the user has set one.
    #[must_use]
    pub fn at_most(mut self, level: Level) -> Self {
        self.at_most = self.at_most.min(level);
        self
    }

    /// Shown under `--pedantic` only.
    #[must_use]
    pub fn pedantic(mut self) -> Self {
        self.is_pedantic = true;
        self
    }
}

impl<'a> Sink<'a> {
    pub fn new(rule: &'static str, level: &'a dyn Fn(FileId) -> Option<(Level, bool)>) -> Self {
        Self { rule, level, found: Vec::new() }
    }

    pub fn emit(&mut self, draft: Draft) {
        let Draft { mut finding, at_most, is_pedantic } = draft;
        let Some((level, is_set)) = (self.level)(finding.span.file) else { return };
        finding.rule = self.rule;
        finding.level = if is_set { level } else { level.min(at_most) };
        self.found.push(Candidate { finding, is_pedantic });
    }

    pub fn into_findings(self) -> Vec<Candidate> {
        self.found
    }
}
