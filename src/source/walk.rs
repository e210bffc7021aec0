//! From the paths of the command line to the files of the run: what was asked for, and what those include.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobSet;
use ignore::WalkBuilder;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::build_files::{BuildFiles, BuildIndex};
use super::directives::{Directive, DirectiveKind, include_name, scan};
use super::load::{Loaded, from_bytes, load, reason};
use super::paths::{clean, has_extension};
use super::resolve::{Location, Resolver};
use super::screen::{self, Screening, holds_cuda, offloads_by_openmp, with_depth};
use super::settle::{Edge, Node, settle};
use super::{FileId, SourceMap};

const CUDA_EXTENSIONS: &[&str] = &["cu", "cuh"];

/// What to do with a file met in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    Take,
    /// Not asked for; still there for what includes it.
    Leave,
    /// Left out on purpose: still context for what includes it, but nothing is reported in it.
    Exclude,
}

/// Decides by path, in place of `include` and `exclude`: for settings that differ between folders.
#[derive(Clone)]
pub struct Selector(pub Arc<dyn Fn(&Path) -> Selection + Send + Sync>);

impl std::fmt::Debug for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Selector")
    }
}

/// What narrows or widens the walk.
#[derive(Debug, Clone, Default)]
pub struct WalkOptions {
    /// Files to take in folders; `None` takes `.cu` and `.cuh`.
    pub include: Option<GlobSet>,
    /// Files to leave out of folders; they still serve as context where something includes them.
    pub exclude: Option<GlobSet>,
    /// Replaces `include` and `exclude` where set.
    pub selector: Option<Selector>,
    /// Where `#include`s are looked for behind the including file's folder.
    pub include_dirs: Vec<PathBuf>,
    /// Texts that stand in for files on disk: standard input under its name, unsaved buffers of an editor.
    /// They count as asked for.
    pub overlay: Vec<(PathBuf, String)>,
}

/// An `#include` that leads to a file of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Include {
    /// Offset of the `#`.
    pub offset: u32,
    pub file: FileId,
}

/// What is known of a file beyond its text.
#[derive(Debug, Clone, Default)]
pub struct FileInfo {
    /// Only there for what it defines: it lies outside the paths asked for, or was excluded. Findings in it are not reported.
    pub is_context: bool,
    /// Taken because something includes it, not because of its own name.
    pub is_pulled_in: bool,
    /// In order of offset; the edges of the include graph.
    pub includes: Vec<Include>,
    pub(crate) directives: Vec<Directive>,
    /// Which of [`Collected::build_defines`] the file is compiled with.
    pub(crate) build: Option<BuildIndex>,
}

/// The files of a run. Ids follow the order of the paths.
#[derive(Debug, Default)]
pub struct Collected {
    pub sources: SourceMap,
    /// By [`FileId`].
    pub info: Vec<FileInfo>,
    /// What build files define on the command line, as `NAME` or `NAME=VALUE`.
    pub(crate) build_defines: Vec<Vec<String>>,
    /// Sorted by path.
    pub passed_over: Vec<(PathBuf, String)>,
    /// Sorted by path.
    pub unreadable: Vec<(PathBuf, String)>,
}

impl Collected {
    pub fn info(&self, file: FileId) -> Option<&FileInfo> {
        self.info.get(file.0 as usize)
    }

    /// The files that a file includes, in order, each once.
    pub fn includes_of(&self, file: FileId) -> Vec<FileId> {
        let mut seen = FxHashSet::default();
        let includes = self.info(file).map_or(&[][..], |info| info.includes.as_slice());
        includes.iter().map(|i| i.file).filter(|f| seen.insert(*f)).collect()
    }

    /// One text on its own, without a file system.
    pub fn of_text(path: PathBuf, text: String) -> Self {
        let mut collected = Self::default();
        let directives = scan(&text);
        collected.sources.add(path, text);
        collected.info.push(FileInfo { directives, ..FileInfo::default() });
        collected
    }
}

/// Walks the paths, reads the files and follows their includes.
pub fn collect(paths: &[PathBuf], options: &WalkOptions) -> Collected {
    let mut collection = Collection::new(options);
    for path in paths {
        collection.add_argument(path);
    }
    for (path, _) in &options.overlay {
        collection.ask_for(overlay_location(path));
    }
    collection.resolver.sort();
    collection.read_all();
    collection.finish()
}

/// An include whose target may not have been read yet.
struct PendingEdge {
    from: usize,
    offset: u32,
    unconditional: bool,
    to: PathBuf,
}

struct Collection<'o> {
    options: &'o WalkOptions,
    overlay: FxHashMap<PathBuf, &'o str>,
    resolver: Resolver,
    build_files: BuildFiles,
    /// Files to start from, by display path; the value says whether the file was named itself.
    asked: BTreeMap<Location, bool>,
    asked_keys: FxHashSet<PathBuf>,
    excluded: FxHashSet<PathBuf>,
    nodes: Vec<Node>,
    /// Position in `nodes`; `None` for what could not be read.
    by_key: FxHashMap<PathBuf, Option<usize>>,
    edges: Vec<PendingEdge>,
    passed_over: Vec<(PathBuf, String)>,
    unreadable: Vec<(PathBuf, String)>,
}

impl<'o> Collection<'o> {
    fn new(options: &'o WalkOptions) -> Self {
        Self {
            options,
            overlay: options.overlay.iter().map(|(path, text)| (overlay_location(path).key, text.as_str())).collect(),
            resolver: Resolver::new(&options.include_dirs),
            build_files: BuildFiles::default(),
            asked: BTreeMap::new(),
            asked_keys: FxHashSet::default(),
            excluded: FxHashSet::default(),
            nodes: Vec::new(),
            by_key: FxHashMap::default(),
            edges: Vec::new(),
            passed_over: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    fn add_argument(&mut self, path: &Path) {
        match std::fs::canonicalize(path) {
            Ok(key) if key.is_dir() => {
                self.walk(path, &key);
                self.build_files.add_root(key);
            }
            Ok(key) => self.ask_for(Location { key, display: clean(path) }),
            Err(error) => self.unreadable.push((path.to_owned(), reason(&error))),
        }
    }

    /// Takes a file that was named itself.
    fn ask_for(&mut self, location: Location) {
        self.build_files.add_root(root_of(&location));
        self.resolver.add(location.clone());
        self.asked.insert(location, true);
    }

    fn walk(&mut self, root: &Path, root_key: &Path) {
        let walker = WalkBuilder::new(root).require_git(false).git_global(false).build();
        for entry in walker {
            match entry {
                Ok(entry) => {
                    let is_dir = entry.file_type().is_some_and(|t| t.is_dir());
                    if !is_dir && let Some(location) = located(root, root_key, entry.path()) {
                        self.add_walked(root, location);
                    }
                }
                Err(error) => self.unreadable.push(walk_error(&error, root)),
            }
        }
    }

    fn add_walked(&mut self, root: &Path, location: Location) {
        let display = &location.display;
        let below = display.strip_prefix(clean(root)).unwrap_or(display);
        let matches = |set: &GlobSet| set.is_match(display) || set.is_match(below);
        let selection = self.options.selector.as_ref().map(|selector| (selector.0)(display));
        let excluded =
            selection.map_or_else(|| self.options.exclude.as_ref().is_some_and(matches), |s| s == Selection::Exclude);
        let wanted = match (selection, &self.options.include) {
            (Some(selection), _) => selection == Selection::Take,
            (None, Some(set)) => matches(set),
            (None, None) => has_extension(display, CUDA_EXTENSIONS),
        };
        if excluded {
            self.excluded.insert(location.key.clone());
        } else if wanted {
            self.asked.entry(location.clone()).or_insert(false);
        }
        self.resolver.add(location);
    }

    /// Rounds: read what is new, resolve what it includes, until nothing is new.
    fn read_all(&mut self) {
        let mut round: Vec<Location> = self.asked.keys().cloned().collect();
        round.dedup_by(|a, b| a.key == b.key);
        self.by_key.extend(round.iter().map(|l| (l.key.clone(), None)));
        self.asked_keys.extend(round.iter().map(|l| l.key.clone()));
        while !round.is_empty() {
            let read: Vec<(Loaded, Vec<Directive>, Screening)> = round.par_iter().map(|l| self.read(l)).collect();
            let first = self.nodes.len();
            for (location, (loaded, directives, screening)) in round.drain(..).zip(read) {
                match loaded {
                    Loaded::Text(text) => {
                        self.by_key.insert(location.key.clone(), Some(self.nodes.len()));
                        let build = self.build_files.find(&location);
                        self.nodes.push(Node { build, ..Node::new(location, text, directives, screening) });
                    }
                    Loaded::PassedOver(reason) => self.passed_over.push((location.display, reason)),
                    Loaded::Unreadable(reason) => self.unreadable.push((location.display, reason)),
                }
            }
            round = self.follow(first);
        }
    }

    fn read(&self, location: &Location) -> (Loaded, Vec<Directive>, Screening) {
        let loaded = match self.overlay.get(&location.key) {
            Some(text) => from_bytes(text.as_bytes().to_vec()),
            None => load(&location.display),
        };
        let Loaded::Text(text) = loaded else { return (loaded, Vec::new(), Screening::default()) };
        let directives = scan(&text);
        let screening = screen::screen(&text, &directives);
        let named = self.asked.get(location).copied();
        if named == Some(false) && !has_extension(&location.display, CUDA_EXTENSIONS) && !holds_cuda(&text) {
            let reason = if offloads_by_openmp(&text) { "OpenMP source" } else { "no CUDA code" };
            return (Loaded::PassedOver(reason.to_owned()), Vec::new(), screening);
        }
        (Loaded::Text(text), directives, screening)
    }

    /// Resolves the includes of all nodes from `first` on; returns the files met for the first time.
    fn follow(&mut self, first: usize) -> Vec<Location> {
        let fresh_nodes = self.nodes.get(first..).unwrap_or(&[]);
        let targets: Vec<Vec<(u32, bool, Location)>> = fresh_nodes.par_iter().map(|n| self.targets(n)).collect();
        let mut fresh = Vec::new();
        for (index, targets) in targets.into_iter().enumerate() {
            for (offset, unconditional, location) in targets {
                let from = first + index;
                self.edges.push(PendingEdge { from, offset, unconditional, to: location.key.clone() });
                if !self.by_key.contains_key(&location.key) {
                    self.by_key.insert(location.key.clone(), None);
                    fresh.push(location);
                }
            }
        }
        fresh
    }

    fn targets(&self, node: &Node) -> Vec<(u32, bool, Location)> {
        // What is passed over in the end needs no includes.
        if node.screening.dialect.is_some() {
            return Vec::new();
        }
        let build = node.build.and_then(|index| self.build_files.get(index));
        let build_dirs = build.map_or(&[][..], |build| build.include_dirs.as_slice());
        with_depth(&node.text, &node.directives)
            .filter(|(d, _)| d.kind == DirectiveKind::Include)
            .filter_map(|(d, unconditional)| {
                let location = self.resolver.resolve(&node.location, include_name(&node.text, &d)?, build_dirs)?;
                Some((d.start, unconditional, location))
            })
            .collect()
    }

    fn finish(mut self) -> Collected {
        for edge in std::mem::take(&mut self.edges) {
            if let Some(Some(node)) = self.by_key.get(&edge.to).copied() {
                let unconditional = edge.unconditional;
                self.nodes[edge.from].includes.push(Edge { offset: edge.offset, node, unconditional });
            }
        }
        for node in &mut self.nodes {
            let key = &node.location.key;
            node.is_asked = self.asked_keys.contains(key);
            node.is_context = !node.is_asked && (!self.resolver.is_known(key) || self.excluded.contains(key));
        }
        let build_defines = self.build_files.into_defines();
        Collected { build_defines, ..settle(self.nodes, self.passed_over, self.unreadable) }
    }
}

/// The location of `path` where it is reached through the folder `root` without following links to folders.
fn located(root: &Path, root_key: &Path, path: &Path) -> Option<Location> {
    let display = clean(path);
    if path.is_symlink() {
        let key = std::fs::canonicalize(path).ok()?;
        return key.is_file().then_some(Location { key, display });
    }
    Some(Location { key: root_key.join(path.strip_prefix(root).ok()?), display })
}

/// Where the search for build files ends for a file that was named itself: at the working directory where the file lies below it.
fn root_of(file: &Location) -> PathBuf {
    let parent = file.key.parent().unwrap_or(&file.key);
    let current = std::env::current_dir().and_then(std::fs::canonicalize);
    current.ok().filter(|dir| parent.starts_with(dir)).unwrap_or_else(|| parent.to_owned())
}

/// Where an overlay stands; the file need not exist.
fn overlay_location(path: &Path) -> Location {
    let key = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path).map(|p| clean(&p)));
    Location { key: key.unwrap_or_else(|_| path.to_owned()), display: clean(path) }
}

/// The path an error of the walk is about, and the system's reason.
fn walk_error(error: &ignore::Error, root: &Path) -> (PathBuf, String) {
    match error {
        ignore::Error::WithPath { path, err } => (path.clone(), walk_error(err, root).1),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => walk_error(err, root),
        ignore::Error::Io(io) => (root.to_owned(), reason(io)),
        other => (root.to_owned(), other.to_string()),
    }
}
