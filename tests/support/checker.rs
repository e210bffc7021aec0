//! The binary as a black box: arguments in, the JSON of `check` and the exit code out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;
use serde_json::Value;

/// One finding as `check --format json` prints it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Finding {
    pub rule: String,
    pub level: String,
    pub confidence: String,
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    pub message: String,
    #[serde(default)]
    pub evidence: BTreeMap<String, Value>,
    #[serde(default)]
    pub related: Vec<Value>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Gap {
    pub file: PathBuf,
    #[serde(default)]
    pub function: Option<String>,
    #[serde(default)]
    pub why: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CheckReport {
    pub findings: Vec<Finding>,
    #[serde(default)]
    pub gaps: Vec<Gap>,
}

/// What `check` said about some paths.
#[derive(Debug)]
pub(crate) struct Checked {
    pub report: CheckReport,
    /// The bytes on standard output.
    pub bytes: Vec<u8>,
    pub code: i32,
    pub stderr: String,
}

/// One row of `cudalint rules --format json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RuleRow {
    pub id: String,
    #[serde(default)]
    pub level: Option<String>,
    #[serde(default)]
    pub confidence: Vec<String>,
}

/// The binary with a clean environment, to be run in `folder`.
pub(crate) fn cudalint(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.current_dir(folder).stdin(Stdio::null()).env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
    command
}

/// Runs `check --format json` in `folder` on paths relative to it.
pub(crate) fn check(folder: &Path, paths: &[&Path], arguments: &[String], threads: u32) -> Result<Checked, String> {
    let mut command = cudalint(folder);
    command.args(["check", "--format", "json", "--threads", &threads.to_string()]).args(arguments).args(paths);
    let output = command.output().map_err(|e| format!("cannot start the binary: {e}"))?;
    checked(output, &[0, 1])
}

/// Reads the output of a finished `check --format json` that ended with one of `codes`.
pub(crate) fn checked(output: Output, codes: &[i32]) -> Result<Checked, String> {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().ok_or_else(|| format!("ended by a signal: {:?}\n{stderr}", output.status))?;
    if !codes.contains(&code) {
        return Err(format!("exit code {code}\n{stderr}"));
    }
    let report =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("output is not the agreed JSON: {e}\n{stderr}"))?;
    Ok(Checked { report, bytes: output.stdout, code, stderr })
}

/// The rules the binary knows. Accepts a bare list or one under `rules`.
pub(crate) fn rules(folder: &Path) -> Result<Vec<RuleRow>, String> {
    let output = cudalint(folder).args(["rules", "--format", "json"]).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let value: Value = serde_json::from_str(&text)
        .map_err(|e| format!("`cudalint rules --format json`: {e}\n{}", String::from_utf8_lossy(&output.stderr)))?;
    let list = value.get("rules").cloned().unwrap_or(value);
    serde_json::from_value(list).map_err(|e| format!("`cudalint rules --format json`: {e}"))
}

impl Finding {
    /// The evidence under `key` as a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        let value = self.evidence.get(key)?;
        value.as_f64().or_else(|| value.get("value")?.as_f64())
    }

    /// The lines of this file that the related places name.
    pub(crate) fn related_lines(&self) -> Vec<u32> {
        let here = |place: &&Value| place.get("file").is_none_or(|f| f.as_str().map(Path::new) == Some(&*self.file));
        self.related.iter().filter(here).filter_map(|p| p.get("line")?.as_u64()).map(|l| l as u32).collect()
    }

    /// The text the span covers in `source`, or what is wrong with the span.
    pub(crate) fn text<'s>(&self, source: &'s str) -> Result<&'s str, String> {
        let start = offset(source, self.line, self.column)?;
        let end = offset(source, self.end_line, self.end_column)?;
        match source.get(start..end) {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(format!("span {}:{} to {}:{} is empty", self.line, self.column, self.end_line, self.end_column)),
        }
    }
}

/// Byte offset of a line and column, both counted from 1, the column in code points.
fn offset(source: &str, line: u32, column: u32) -> Result<usize, String> {
    let outside = || format!("{line}:{column} lies outside the file");
    let before: usize = source.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let text =
        source.split_inclusive('\n').nth(line.checked_sub(1).ok_or_else(outside)? as usize).ok_or_else(outside)?;
    let column = column.checked_sub(1).ok_or_else(outside)? as usize;
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().nth(column).map(|at| before + at).ok_or_else(outside)
}
