//! `cudalint init`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::Outcome;
use super::terminal;
use crate::config::{FILE_NAME, template};
use crate::error::Error;
use crate::visible::plain_path;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder to write lint.toml into.
    #[arg(default_value = ".")]
    folder: PathBuf,
}

/// Never overwrites.
pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Vec<Error>> {
    let path = arguments.folder.join(FILE_NAME);
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let written = created.and_then(|mut file| file.write_all(template().as_bytes()));
    match written {
        Ok(()) => {
            terminal::say(&format!("wrote {}", plain_path(&path)));
            Ok(Outcome::Clean)
        }
        Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => Err(vec![Error::ConfigExists { path }]),
        Err(why) => Err(vec![Error::Unwritable { to: plain_path(&path), why }]),
    }
}
