//! `cudalint accesses`.

use clap::{Args, ValueEnum};

use super::arguments::{RuleChoice, Shared};
use super::progress::Bar;
use super::terminal::{self, When};
use super::{Outcome, check};
use crate::error::Error;
use crate::source::Span;
use crate::warp::facts::KernelFacts;
use crate::output::{self, AccessFormat};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// How accesses are written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Which instances of a kernel template are listed.
    #[arg(long, value_enum, default_value_t)]
    instances: Instances,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Instances {
    /// The one that the host code launches first, as a profiler that looks at one launch of each kernel shows it.
    #[default]
    First,
    /// Every instance that is launched.
    All,
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
    let mut ran = ran?;
    if arguments.instances == Instances::First {
        keep_first_instances(&mut ran.report.kernels);
    }
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

/// Kernels stand together, their instances in the order of the launches.
fn keep_first_instances(kernels: &mut Vec<KernelFacts>) {
    let mut first: Option<(Span, Option<String>)> = None;
    kernels.retain(|facts| match &first {
        Some((span, instance)) if *span == facts.kernel_span => *instance == facts.instance,
        _ => {
            first = Some((facts.kernel_span, facts.instance.clone()));
            true
        }
    });
}
