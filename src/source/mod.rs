//! Source text: files of a run, held once, and where things stand in them.

mod span;
pub(crate) mod lexical;
pub mod directives;
pub mod load;
mod paths;
mod build_files;
mod screen;
mod resolve;
mod settle;
pub mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

pub use span::{FileId, Span};
pub use walk::{Collected, FileInfo, Include, Selection, Selector, WalkOptions, collect};

/// One file of the run.
#[derive(Debug, Clone)]
pub struct SourceFile {
    pub id: FileId,
    /// As reached from the command line: relative where the argument was relative. `<stdin>` or `--stdin-filename` for standard input.
    pub path: PathBuf,
    /// Valid UTF-8 of the same length as the bytes on disk: a byte that is not UTF-8 became `?`, a BOM became spaces.
    pub text: Arc<str>,
    /// Byte offset of the first byte of each line.
    line_starts: Arc<[u32]>,
}

/// All files of a run, indexed by [`FileId`].
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

/// A position for people: both count from 1; the column counts code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    pub line: u32,
    pub column: u32,
}

impl SourceFile {
    pub fn new(id: FileId, path: PathBuf, text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(i, _)| i as u32 + 1));
        Self { id, path, text, line_starts: starts.into() }
    }

    /// Line and column of a byte offset; the last position of the file where the offset lies behind it.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|s| *s <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column =
            self.text.get(start as usize..offset as usize).map_or(offset - start, |s| s.chars().count() as u32);
        LineColumn { line: line as u32, column: column + 1 }
    }

    /// The line of a byte offset, counted from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|s| *s <= offset).max(1) as u32
    }

    /// The text of a line counted from 1, without its line end.
    pub fn line_text(&self, line: u32) -> &str {
        let index = (line.max(1) - 1) as usize;
        let start = self.line_starts.get(index).map_or(self.text.len(), |s| *s as usize);
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |s| *s as usize);
        self.text.get(start..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    /// The byte range of a line counted from 1, its line end included; `None` behind the last line.
    pub fn line_range(&self, line: u32) -> Option<std::ops::Range<usize>> {
        let index = line.checked_sub(1)? as usize;
        let start = *self.line_starts.get(index)? as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |s| *s as usize);
        Some(start..end)
    }

    /// The text of a span; empty where it does not fall on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

impl SourceMap {
    /// Adds a file and returns its id.
    pub fn add(&mut self, path: PathBuf, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile::new(id, path, text));
        id
    }

    /// Many files at once; ids follow the order given.
    pub fn from_texts(texts: Vec<(PathBuf, String)>) -> Self {
        let numbered = texts.into_par_iter().enumerate();
        let files = numbered.map(|(index, (path, text))| SourceFile::new(FileId(index as u32), path, text)).collect();
        Self { files }
    }

    pub fn get(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn path(&self, id: FileId) -> &Path {
        &self.get(id).path
    }

    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// `path:line` of the start of a span, with forward slashes.
    pub fn place(&self, span: Span) -> String {
        let file = self.get(span.file);
        format!("{}:{}", display_path(&file.path), file.line(span.start))
    }
}

/// A path for people and machines: forward slashes, no leading `./`.
pub fn display_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    text.strip_prefix("./").map_or_else(|| text.clone(), str::to_owned)
}
