//! `cudalint accesses`.

use clap::{Args, ValueEnum};

use super::arguments::{RuleChoice, Shared};
use super::progress::Bar;
use super::terminal::{self, When};
use super::{Outcome, check};
use crate::error::Error;
use crate::output::{self, AccessFormat};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// How accesses are written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// A table per kernel and launch, the worst first.
    #[default]
    Text,
    /// For programs; schema 1.
    Json,
}

/// Findings do not count here: listing accesses succeeds when the files could be read.
pub(super) fn run(arguments: &Arguments, color: When) -> Result<Outcome, Vec<Error>> {
    let bar = Bar::new();
    let ran = arguments.shared.run(&RuleChoice::default(), &bar);
    bar.finish();
    let ran = ran?;
    let format = match arguments.format {
        Format::Text => AccessFormat::Text,
        Format::Json => AccessFormat::Json,
    };
    terminal::write(arguments.shared.output.as_deref(), color, |_, out| {
        output::accesses(format, &ran.report, &ran.sources, out)
    })
    .map_err(|error| vec![error])?;
    Ok(match check::conclude(&ran.report, color) {
        Outcome::Findings => Outcome::Clean,
        outcome => outcome,
    })
}
