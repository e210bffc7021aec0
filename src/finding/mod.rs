//! Findings: what a rule says about a place in the source.

mod fingerprint;
mod lexer;
pub mod suppress;

use std::collections::BTreeMap;

use crate::source::Span;

pub use fingerprint::fingerprints;

/// How a finding counts. The words are the same in lint.toml, JSON and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Off,
    Note,
    Warning,
    Error,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::Off, Self::Note, Self::Warning, Self::Error];

    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}

/// What the numbers rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Shown on request only: holds under a named assumption about the launch.
    Possible,
    /// Holds for the visible launch or hint.
    Likely,
    /// Holds for all launches the model admits.
    Proven,
}

impl Confidence {
    pub const ALL: [Self; 3] = [Self::Possible, Self::Likely, Self::Proven];

    pub fn word(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Proven => "proven",
        }
    }
}

/// One thing a rule found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Kebab-case id of the rule.
    pub rule: &'static str,
    pub level: Level,
    pub confidence: Confidence,
    pub span: Span,
    /// One line, with the numbers; no full stop.
    pub message: String,
    /// Text under the primary span, such as `lane k reads tile[k][y]: 32 words apart`.
    pub label: Option<String>,
    /// Declaration, launch, other side of a race.
    pub related: Vec<(Span, String)>,
    /// Further lines below the source: launch, advice.
    pub notes: Vec<String>,
    pub kernel: Option<String>,
    /// Numbers behind the claim. Keys name the unit: `sectors`, `ideal`, `wavefronts`, `ways`, `lanes`.
    pub evidence: BTreeMap<&'static str, Evidence>,
    pub fix: Option<Fix>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    Count(i64),
    Mean(f64),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safety {
    /// Never changes results.
    Safe,
    /// May change results or resource use; needs `--unsafe-fixes`.
    Unsafe,
}

impl Safety {
    pub fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

/// Edits of original text that cure a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    pub safety: Safety,
    /// What it does and what that gains: `tile[32][33] gives 1 wavefront at all 3 accesses of tile`.
    pub title: String,
    /// Replacements; spans do not overlap and are never `in_macro`.
    pub edits: Vec<(Span, String)>,
}
