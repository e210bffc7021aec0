//! `cudalint check`.

use clap::{Args, ValueEnum};

use super::Outcome;
use super::arguments::{Ran, RuleChoice, Shared};
use super::progress::Bar;
use super::terminal::{self, When};
use crate::error::Error;
use crate::output;
use crate::report::Report;

/// Errors about single paths are drawn up to here, then counted.
const ERRORS_DRAWN: usize = 10;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    #[command(flatten)]
    rules: RuleChoice,
    /// How findings are written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// List what stayed unknown, by reason.
    #[arg(long)]
    why: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With source and explanation.
    #[default]
    Full,
    /// One line each: `file:line:column: level[rule] message`.
    Short,
    /// For programs; schema 1.
    Json,
}

pub(super) fn run(arguments: &Arguments, color: When) -> Result<Outcome, Vec<Error>> {
    let bar = Bar::new();
    let ran = arguments.shared.run(&arguments.rules, &bar);
    bar.finish();
    let ran = ran?;
    let written = terminal::write(arguments.shared.output.as_deref(), color, |colour, out| {
        let format = match arguments.format {
            Format::Full => output::Format::Full,
            Format::Short => output::Format::Short,
            Format::Json => output::Format::Json,
        };
        output::findings(format, &ran.report, &ran.sources, colour, out)?;
        if arguments.why && arguments.format != Format::Json {
            output::why(&ran.report, &ran.sources, out)?;
        }
        if arguments.format == Format::Full && arguments.shared.output.is_none() {
            writeln!(out, "{}", output::summary(&ran.report))?;
        }
        Ok(())
    });
    written.map_err(|error| vec![error])?;
    say_the_rest(arguments, &ran);
    Ok(conclude(&ran.report, color))
}

/// What does not belong into the format goes to standard error.
fn say_the_rest(arguments: &Arguments, ran: &Ran) {
    for notice in output::notices(&ran.report) {
        terminal::say(&notice);
    }
    if arguments.why && arguments.format == Format::Json {
        let mut text = Vec::new();
        if output::why(&ran.report, &ran.sources, &mut text).is_ok() {
            terminal::say(String::from_utf8_lossy(&text).trim_end());
        }
    }
    if arguments.format != Format::Full || arguments.shared.output.is_some() {
        terminal::say(&output::summary(&ran.report));
    }
}

/// Draws what went wrong, and says what the run amounts to.
pub(super) fn conclude(report: &Report, color: When) -> Outcome {
    for (path, why) in report.unreadable.iter().take(ERRORS_DRAWN) {
        let is_missing = !path.exists() && !path.is_symlink();
        let error = if is_missing {
            Error::NoSuchPath { path: path.clone() }
        } else {
            Error::Unreadable { path: path.clone(), why: why.clone() }
        };
        terminal::report_error(&error, color);
    }
    if report.unreadable.len() > ERRORS_DRAWN {
        terminal::say(&format!("and {} more paths could not be read", report.unreadable.len() - ERRORS_DRAWN));
    }
    for what in report.internal_errors.iter().take(ERRORS_DRAWN) {
        terminal::report_error(&Error::Internal { what: crate::visible::plain(what).into_owned() }, color);
    }
    if !report.internal_errors.is_empty() {
        Outcome::Internal
    } else if !report.unreadable.is_empty() {
        Outcome::Trouble
    } else if report.failing > 0 {
        Outcome::Findings
    } else {
        Outcome::Clean
    }
}
