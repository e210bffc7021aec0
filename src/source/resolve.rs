//! From the name in an `#include` to a file: below the including file, in the include folders, or the one file of the project
//! whose path ends in that name.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::directives::IncludeName;
use super::paths::{clean, has_extension, shared_components};

/// A file as the file system knows it and as people see it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Location {
    /// Absolute, without symlinks: the identity of the file.
    pub(crate) key: PathBuf,
    /// As reached from the command line.
    pub(crate) display: PathBuf,
}

/// Where includes are looked for.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    /// Files of the walk: key to display path.
    known: FxHashMap<PathBuf, PathBuf>,
    /// The same by file name, for matches on the end of the path.
    by_name: FxHashMap<String, Vec<Location>>,
    include_dirs: Vec<Location>,
}

impl Resolver {
    pub(crate) fn new(include_dirs: &[PathBuf]) -> Self {
        let include_dirs = include_dirs
            .iter()
            .filter_map(|dir| Some(Location { key: std::fs::canonicalize(dir).ok()?, display: clean(dir) }))
            .collect();
        Self { include_dirs, ..Self::default() }
    }

    /// Makes a file of the walk known.
    pub(crate) fn add(&mut self, location: Location) {
        if let Some(name) = location.key.file_name().and_then(|n| n.to_str()) {
            self.by_name.entry(name.to_owned()).or_default().push(location.clone());
        }
        self.known.insert(location.key, location.display);
    }

    /// Candidates of one name in the order of their paths, so that nothing depends on the order of the walk.
    pub(crate) fn sort(&mut self) {
        #[expect(clippy::iter_over_hash_type, reason = "each list is sorted on its own")]
        for candidates in self.by_name.values_mut() {
            candidates.sort();
        }
    }

    pub(crate) fn is_known(&self, key: &Path) -> bool {
        self.known.contains_key(key)
    }

    /// `build_dirs` are searched behind the include folders of the run.
    pub(crate) fn resolve(
        &self,
        includer: &Location,
        include: IncludeName,
        build_dirs: &[Location],
    ) -> Option<Location> {
        let name = Path::new(include.name);
        if !holds_code(name) {
            return None;
        }
        if name.is_absolute() {
            return self.file_at(name.to_owned(), name.to_owned());
        }
        let beside = include.quoted.then(|| includer.parent()).flatten();
        let found = beside
            .iter()
            .chain(&self.include_dirs)
            .chain(build_dirs)
            .find_map(|dir| self.file_at(clean(&dir.key.join(name)), clean(&dir.display.join(name))));
        found.or_else(|| self.by_path_end(includer, include))
    }

    fn file_at(&self, path: PathBuf, display: PathBuf) -> Option<Location> {
        if let Some(known) = self.known.get(&path) {
            return Some(Location { key: path, display: known.clone() });
        }
        if !path.is_file() {
            return None;
        }
        let key = std::fs::canonicalize(&path).ok()?;
        let display = self.known.get(&key).cloned().unwrap_or(display);
        Some(Location { key, display })
    }

    /// The nearest file of the walk whose path ends in the name, where one is nearer than all others.
    /// A bare `<name.h>` is the compiler's; only `<folder/name.h>` is searched.
    fn by_path_end(&self, includer: &Location, include: IncludeName) -> Option<Location> {
        if !include.quoted && !include.name.contains('/') {
            return None;
        }
        let cleaned = clean(Path::new(include.name.trim_start_matches("../")));
        let candidates = self.by_name.get(cleaned.file_name()?.to_str()?)?;
        let matching = || candidates.iter().filter(|c| c.key.ends_with(&cleaned) && c.key != includer.key);
        let nearness = |c: &Location| shared_components(&c.key, &includer.key);
        let best = matching().map(nearness).max()?;
        let mut nearest = matching().filter(|c| nearness(c) == best);
        match (nearest.next(), nearest.next()) {
            (Some(one), None) => Some(one.clone()),
            _ => None,
        }
    }
}

/// Tables of numbers are included too; they define nothing.
fn holds_code(name: &Path) -> bool {
    const DATA: &[&str] = &["txt", "dat", "data", "csv", "tab", "json", "ptx", "cubin", "fatbin", "bin", "tsv"];
    !has_extension(name, DATA)
}

impl Location {
    pub(crate) fn parent(&self) -> Option<Self> {
        let display = self.display.parent().unwrap_or(Path::new(""));
        Some(Self { key: self.key.parent()?.to_owned(), display: display.to_owned() })
    }
}
