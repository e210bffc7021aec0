//! The streams of the process: where text goes, whether it has colours, and that a closed pipe is no error.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;

use clap::ValueEnum;
use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::error::Error;
use crate::output::Colour;
use crate::visible::plain_path;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl When {
    fn colour(self, is_terminal: bool) -> Colour {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Self::Always => Colour::Always,
            Self::Auto if is_terminal && !is_set("NO_COLOR") && !is_dumb => Colour::Always,
            Self::Auto | Self::Never => Colour::Never,
        }
    }
}

/// Runs `work` with standard output, or with the file at `path`. A reader that has gone away ends it quietly.
pub(super) fn write(
    path: Option<&Path>,
    color: When,
    work: impl FnOnce(Colour, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let (name, result) = match path {
        None => {
            let stdout = io::stdout();
            let colour = color.colour(stdout.is_terminal());
            let mut out = BufWriter::new(stdout.lock());
            ("standard output".to_owned(), work(colour, &mut out).and_then(|()| out.flush()))
        }
        Some(path) => {
            let result = File::create(path).map(BufWriter::new).and_then(|mut out| {
                work(color.colour(false), &mut out)?;
                out.flush()
            });
            (plain_path(path), result)
        }
    };
    match result {
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(why) => Err(Error::Unwritable { to: name, why }),
        Ok(()) => Ok(()),
    }
}

/// One line, or several, on standard error. Nobody listening is no error.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Draws an error on standard error.
pub(super) fn report_error(error: &Error, color: When) {
    let theme = match color.colour(io::stderr().is_terminal()) {
        Colour::Always => GraphicalTheme::unicode(),
        Colour::Never => GraphicalTheme::unicode_nocolor(),
    };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
    if handler.render_report(&mut text, error).is_err() {
        text = error.to_string();
    }
    say(text.trim_end());
}
