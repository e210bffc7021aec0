//! `cudalint rules`.

use clap::{Args, ValueEnum};

use super::Outcome;
use super::terminal::{self, When};
use crate::error::Error;
use crate::output::{self, ListFormat};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How the list is written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Md,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Vec<Error>> {
    let format = match arguments.format {
        Format::Text => ListFormat::Text,
        Format::Json => ListFormat::Json,
        Format::Md => ListFormat::Markdown,
    };
    terminal::write(None, When::Never, |_, out| output::rule_list(format, out)).map_err(|error| vec![error])?;
    Ok(Outcome::Clean)
}
