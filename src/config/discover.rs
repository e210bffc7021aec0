//! From the paths to check to the lint.toml files that speak for them: the nearest one upwards from each file, not beyond a
//! repository's root.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

pub const FILE_NAME: &str = "lint.toml";

/// Which lint.toml to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Choice {
    /// The nearest one upwards from each file.
    #[default]
    Nearest,
    /// `--config FILE`, for all files.
    This(PathBuf),
    /// `--no-config`.
    None,
}

/// Folders, absolute, and the lint.toml that holds from there on down: for the folders of all paths, for the current one, and for
/// each folder below the paths where another one begins to hold.
pub(super) fn folders(paths: &[PathBuf], choice: &Choice) -> BTreeMap<PathBuf, Option<PathBuf>> {
    let mut found = BTreeMap::new();
    let root = absolute(Path::new(""));
    match choice {
        Choice::None => {
            found.insert(root, None);
        }
        Choice::This(path) => {
            found.insert(root, Some(path.clone()));
        }
        Choice::Nearest => {
            for path in paths {
                let path = absolute(path);
                if path.is_dir() {
                    below(&path, &mut found);
                }
                upwards(if path.is_dir() { Some(&path) } else { path.parent() }, &mut found);
            }
            upwards(Some(&root), &mut found);
        }
    }
    found
}

/// Records for `folder` what the nearest lint.toml is.
fn upwards(folder: Option<&Path>, found: &mut BTreeMap<PathBuf, Option<PathBuf>>) {
    let Some(folder) = folder.filter(|folder| !found.contains_key(*folder)) else { return };
    let mut nearest = None;
    for above in folder.ancestors() {
        let file = above.join(FILE_NAME);
        if file.is_file() {
            // What lies below the same file but beside `folder` has it too.
            found.insert(above.to_owned(), Some(file.clone()));
            nearest = Some(file);
            break;
        }
        if above.join(".git").exists() {
            break;
        }
    }
    found.insert(folder.to_owned(), nearest);
}

/// Records the folders below `root` with a lint.toml of their own or that are repositories of their own.
fn below(root: &Path, found: &mut BTreeMap<PathBuf, Option<PathBuf>>) {
    let walker = WalkBuilder::new(root).require_git(false).git_global(false).build();
    for entry in walker.filter_map(Result::ok) {
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) || entry.depth() == 0 {
            continue;
        }
        let file = entry.path().join(FILE_NAME);
        if file.is_file() {
            found.insert(entry.path().to_owned(), Some(file));
        } else if entry.path().join(".git").exists() {
            found.insert(entry.path().to_owned(), None);
        }
    }
}

/// `path` as seen from `root`, or without `.` where it does not lie below.
pub(super) fn relative(path: &Path, root: Option<&Path>) -> PathBuf {
    if let Some(root) = root
        && let Ok(below) = absolute(path).strip_prefix(absolute(root))
    {
        return below.to_owned();
    }
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Absolute without looking at the disk beyond the current folder: `.` and `..` are taken out by name.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let here = || std::env::current_dir().unwrap_or_default();
    let full = if path.is_absolute() { path.to_owned() } else { here().join(path) };
    let mut out = PathBuf::new();
    for part in full.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
