//! From the front matter of a rule's page to its metadata.

use serde::Deserialize;

use crate::finding::{Confidence, Level, Safety};

/// What is known about a rule before it runs. The page is its only home.
#[derive(Debug, Clone)]
pub struct Meta {
    pub id: &'static str,
    pub summary: String,
    pub family: Family,
    /// The strongest level a finding has unless lint.toml or the command line says otherwise.
    pub level: Level,
    /// The confidences its findings can have.
    pub confidence: Vec<Confidence>,
    pub fix: FixAvailability,
    pub fix_safety: Option<Safety>,
    /// Facts without which the rule stays silent, such as `block-shape`.
    pub needs: Vec<String>,
    /// The version that brought the rule.
    pub since: String,
    pub sources: Vec<SourceRef>,
    /// How a claim is held against hardware; `None`: not measurable.
    pub verify: Option<Verify>,
    /// The page below the front matter.
    pub body: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    Memory,
    Sync,
    Launch,
    Divergence,
    Types,
    Arithmetic,
    Host,
    /// About the comments addressed to cudalint.
    Suppression,
}

impl Family {
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sync => "sync",
            Self::Launch => "launch",
            Self::Divergence => "divergence",
            Self::Types => "types",
            Self::Arithmetic => "arithmetic",
            Self::Host => "host",
            Self::Suppression => "suppression",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixAvailability {
    Never,
    Sometimes,
    Always,
}

impl FixAvailability {
    pub fn word(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Sometimes => "sometimes",
            Self::Always => "always",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceRef {
    pub title: String,
    #[serde(rename = "where")]
    pub place: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    pub tool: String,
    pub metric: String,
    pub unit: String,
    #[serde(default)]
    pub tolerance: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FrontMatter {
    summary: String,
    family: Family,
    level: String,
    confidence: Vec<String>,
    fix: FixAvailability,
    fix_safety: Option<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "accepted in pages; the engine's targets all lie above every rule's minimum")]
    min_sm: Option<u32>,
    verify: Option<Verify>,
    since: String,
    sources: Vec<SourceRef>,
}

impl Meta {
    /// Reads a page: `+++`, TOML, `+++`, Markdown.
    pub fn parse(id: &'static str, page: &'static str) -> Result<Self, String> {
        let page = page.strip_prefix("+++").ok_or("the page does not begin with `+++`")?;
        let (front, body) = page.split_once("\n+++").ok_or("the front matter is not closed by `+++`")?;
        let front: FrontMatter = toml::from_str(front).map_err(|e| e.to_string())?;
        let level = Level::parse(&front.level).ok_or_else(|| format!("`{}` is no level", front.level))?;
        let confidence = front.confidence.iter().map(|word| parse_confidence(word)).collect::<Result<Vec<_>, _>>()?;
        let fix_safety = front.fix_safety.as_deref().map(parse_safety).transpose()?;
        if fix_safety.is_none() != (front.fix == FixAvailability::Never) {
            return Err("`fix-safety` stands exactly where there is a fix".to_owned());
        }
        if confidence.is_empty() {
            return Err("`confidence` names at least one".to_owned());
        }
        Ok(Self {
            id,
            summary: front.summary,
            family: front.family,
            level,
            confidence,
            fix: front.fix,
            fix_safety,
            needs: front.needs,
            since: front.since,
            sources: front.sources,
            verify: front.verify,
            body: body.trim_start(),
        })
    }
}

fn parse_confidence(word: &str) -> Result<Confidence, String> {
    Confidence::ALL.into_iter().find(|c| c.word() == word).ok_or_else(|| format!("`{word}` is no confidence"))
}

fn parse_safety(word: &str) -> Result<Safety, String> {
    [Safety::Safe, Safety::Unsafe]
        .into_iter()
        .find(|s| s.word() == word)
        .ok_or_else(|| format!("`{word}` is neither safe nor unsafe"))
}
