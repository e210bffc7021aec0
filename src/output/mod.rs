//! From a report to text: one module per format, none knows another. Nothing here decides what is found.

mod accesses;
mod full;
mod json;
mod rule_list;
mod page;
mod short;
mod summary;
mod why;

use std::io::{self, Write};

pub use page::page;
pub use rule_list::rule_list;
pub use summary::{notices, summary};
pub use why::why;

use crate::report::Report;
use crate::source::SourceMap;

/// Whether text may carry colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Never,
    Always,
}

/// The formats of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Full,
    Short,
    Json,
}

/// Writes the findings of a run.
pub fn findings(
    format: Format,
    report: &Report,
    sources: &SourceMap,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Full => full::write(report, sources, colour, out),
        Format::Short => short::write(report, sources, out),
        Format::Json => json::write(report, sources, out),
    }
}

/// The formats of `accesses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessFormat {
    Text,
    Json,
}

/// Writes every memory access of a run.
pub fn accesses(format: AccessFormat, report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    match format {
        AccessFormat::Text => accesses::write_text(report, sources, out),
        AccessFormat::Json => accesses::write_json(report, sources, out),
    }
}

/// The formats of `rules`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    Text,
    Json,
    Markdown,
}
