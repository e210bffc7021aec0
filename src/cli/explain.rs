//! `cudalint explain RULE`.

use clap::Args;

use super::Outcome;
use super::arguments::unknown_rule;
use super::terminal::{self, When};
use crate::error::Error;
use crate::{output, rules};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The rule's id, as in `shared-bank-conflict`.
    rule: String,
}

pub(super) fn run(arguments: &Arguments, color: When) -> Result<Outcome, Vec<Error>> {
    let meta = rules::meta(&arguments.rule).ok_or_else(|| vec![unknown_rule("explain", &arguments.rule)])?;
    terminal::write(None, color, |colour, out| output::page(meta, colour, out)).map_err(|error| vec![error])?;
    Ok(Outcome::Clean)
}
