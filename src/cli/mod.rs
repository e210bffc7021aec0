//! From the command line to an exit code: 0 clean, 1 findings at or above `fail-on`, 2 usage, settings or files, 3 a fault of
//! cudalint itself. One thin module per subcommand.

mod accesses;
mod arguments;
mod check;
mod explain;
mod init;
mod progress;
mod rules;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::pipeline;

/// Predicts from CUDA C++ source what each warp will do, and says where that costs.
#[derive(Debug, Parser)]
#[command(name = "cudalint", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 clean, 1 findings at or above fail-on, 2 usage, settings or unreadable files, 3 internal error."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Colours: `auto` has them on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: terminal::When,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lint files and folders.
    Check(check::Arguments),
    /// List every memory access with its predicted numbers.
    Accesses(accesses::Arguments),
    /// Show the page of a rule.
    Explain(explain::Arguments),
    /// List all rules.
    Rules(rules::Arguments),
    /// Write a lint.toml with every key at its default.
    Init(init::Arguments),
}

/// What a run amounts to, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Clean = 0,
    Findings = 1,
    /// Usage, settings or files.
    Trouble = 2,
    Internal = 3,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    pipeline::quieten_panics();
    let outcome = match Cli::try_parse() {
        Ok(cli) => {
            let color = cli.color;
            let ran = pipeline::guarded(|| "run".to_owned(), || run(cli));
            ran.unwrap_or_else(|what| {
                terminal::report_error(&Error::Internal { what }, color);
                Outcome::Internal
            })
        }
        Err(error) => {
            // Help and version come this way too; a closed pipe is nobody's error.
            let _ = error.print();
            if error.use_stderr() { Outcome::Trouble } else { Outcome::Clean }
        }
    };
    ExitCode::from(outcome as u8)
}

fn run(cli: Cli) -> Outcome {
    let color = cli.color;
    let result = match cli.command {
        Command::Check(arguments) => check::run(&arguments, color),
        Command::Accesses(arguments) => accesses::run(&arguments, color),
        Command::Explain(arguments) => explain::run(&arguments, color),
        Command::Rules(arguments) => rules::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
    };
    result.unwrap_or_else(|errors| {
        for error in &errors {
            terminal::report_error(error, color);
        }
        Outcome::Trouble
    })
}
