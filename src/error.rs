//! What can stop a run or part of it: said by code, with the next step, and drawn by miette. Findings are no errors.

use std::ops::Range;
use std::path::PathBuf;

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

use crate::visible::plain_path;

/// About the run, never about the CUDA it reads.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    #[error("lint.toml has {}", count(problems.len(), "mistake"))]
    #[diagnostic(code("cudalint::config::invalid"))]
    Config {
        #[source_code]
        text: NamedSource<std::sync::Arc<str>>,
        #[related]
        problems: Vec<Problem>,
    },

    #[error("cannot read {}", plain_path(path))]
    #[diagnostic(
        code("cudalint::config::unreadable"),
        help("--config names the file to read, --no-config reads none; `cudalint init` writes one")
    )]
    ConfigUnreadable {
        path: PathBuf,
        #[source]
        why: std::io::Error,
    },

    #[error("there is already a {}", plain_path(path))]
    #[diagnostic(code("cudalint::init::exists"), help("remove it first, or run `cudalint init` in another folder"))]
    ConfigExists { path: PathBuf },

    #[error("{option} names no rule: `{name}`")]
    #[diagnostic(code("cudalint::cli::unknown-rule"))]
    UnknownRule {
        option: &'static str,
        name: String,
        #[help]
        help: String,
    },

    #[error("{option} has an unusable value: {why}")]
    #[diagnostic(code("cudalint::cli::bad-value"))]
    BadOption {
        option: &'static str,
        why: String,
        #[help]
        help: String,
    },

    #[error("no such file or folder: {}", plain_path(path))]
    #[diagnostic(
        code("cudalint::io::no-such-path"),
        help("paths are relative to the current folder; the others were checked")
    )]
    NoSuchPath { path: PathBuf },

    #[error("cannot read {}: {why}", plain_path(path))]
    #[diagnostic(
        code("cudalint::io::unreadable"),
        help("check its permissions, or list it under `exclude` in lint.toml; the other files were checked")
    )]
    Unreadable { path: PathBuf, why: String },

    #[error("cannot read standard input")]
    #[diagnostic(code("cudalint::io::stdin"), help("pipe the file in, as in `cudalint check - < kernel.cu`"))]
    Stdin(#[source] std::io::Error),

    #[error("cannot write {}", to)]
    #[diagnostic(code("cudalint::io::unwritable"), help("check the folder, its permissions and the space left"))]
    Unwritable {
        to: String,
        #[source]
        why: std::io::Error,
    },

    #[error("cannot start {threads} threads")]
    #[diagnostic(code("cudalint::run::threads"), help("try a smaller --threads"))]
    Threads { threads: usize },

    #[error("cudalint failed inside: {what}")]
    #[diagnostic(
        code("cudalint::internal"),
        help(
            "this is a fault of cudalint, not of the source; the rest was checked. Please report it with the file named here"
        )
    )]
    Internal { what: String },
}

/// One mistake in a lint.toml.
#[derive(Debug, Clone, Error, Diagnostic)]
pub enum Problem {
    #[error("unknown rule `{name}`")]
    #[diagnostic(code("cudalint::config::unknown-rule"))]
    UnknownRule {
        name: String,
        #[label("no rule has this name")]
        at: SourceSpan,
        #[help]
        help: Option<String>,
    },

    #[error("unknown key `{name}`")]
    #[diagnostic(code("cudalint::config::unknown-key"))]
    UnknownKey {
        name: String,
        #[label("not known here")]
        at: SourceSpan,
        #[help]
        help: Option<String>,
    },

    #[error("{what}")]
    #[diagnostic(code("cudalint::config::bad-value"))]
    BadValue {
        what: String,
        #[label("this value")]
        at: SourceSpan,
        #[help]
        help: Option<String>,
    },

    #[error("{what}")]
    #[diagnostic(code("cudalint::config::missing-key"))]
    MissingKey {
        what: String,
        #[label("in this table")]
        at: SourceSpan,
        #[help]
        help: Option<String>,
    },

    #[error("not TOML: {what}")]
    #[diagnostic(code("cudalint::config::syntax"))]
    Syntax {
        what: String,
        #[label("here")]
        at: SourceSpan,
    },
}

impl Problem {
    /// `name` is not among `known`; the nearest one is suggested, else all are listed.
    pub fn unknown_key<'k>(name: &str, at: Range<usize>, known: impl IntoIterator<Item = &'k str>) -> Self {
        Self::UnknownKey { name: name.to_owned(), at: at.into(), help: suggestion(name, known) }
    }

    pub fn unknown_rule<'k>(name: &str, at: Range<usize>, known: impl IntoIterator<Item = &'k str>) -> Self {
        let help = nearest(name, known).map_or_else(
            || "`cudalint rules` lists them all".to_owned(),
            |near| format!("did you mean `{near}`? `cudalint rules` lists them all"),
        );
        Self::UnknownRule { name: name.to_owned(), at: at.into(), help: Some(help) }
    }

    pub fn bad_value(what: impl Into<String>, at: Range<usize>, help: impl Into<String>) -> Self {
        Self::BadValue { what: what.into(), at: at.into(), help: Some(help.into()) }
    }

    /// Byte offset of the mistake, to report them in the order of the file.
    pub fn offset(&self) -> usize {
        match self {
            Self::UnknownRule { at, .. }
            | Self::UnknownKey { at, .. }
            | Self::BadValue { at, .. }
            | Self::MissingKey { at, .. }
            | Self::Syntax { at, .. } => at.offset(),
        }
    }
}

/// "did you mean `x`?", or the list of all that would do.
pub fn suggestion<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(near) = nearest(name, known.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    (!known.is_empty()).then(|| format!("known here: {}", known.join(", ")))
}

/// The known name closest to `name`, if it is close at all.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let wanted = name.to_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&wanted, candidate), candidate))
        .filter(|(score, _)| *score > 0.78)
        .max_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| y.cmp(x)))
        .map(|(_, candidate)| candidate)
}

/// "1 mistake", "2 mistakes".
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
