//! From lint.toml files and the command line to the settings of each file: nothing optional is left, and all mistakes are reported
//! at once. What the command line says goes before an `[[override]]`, that before the file's own tables, these before the defaults.

mod discover;
mod read;
mod template;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use globset::GlobSet;

pub use discover::{Choice, FILE_NAME};
pub use read::parse_define;
pub use template::template;

use crate::error::Error;
use crate::finding::Level;
use crate::rules::{self, Fields, Rule};

/// Compute capabilities a target can name.
pub const TARGETS: &[&str] = &[
    "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87",
    "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_101", "sm_101a", "sm_103", "sm_103a", "sm_110",
    "sm_110a", "sm_120", "sm_120a", "sm_121", "sm_121a",
];

/// The compute capability predicted for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As written: `sm_90`.
    pub name: String,
    /// Major times ten plus minor: 90.
    pub sm: u32,
}

impl Default for Target {
    fn default() -> Self {
        Self { name: "sm_90".to_owned(), sm: 90 }
    }
}

impl Target {
    /// `None` for a name that is not in [`TARGETS`].
    pub fn parse(name: &str) -> Option<Self> {
        let known = TARGETS.iter().find(|known| **known == name)?;
        let digits: String = known.chars().filter(char::is_ascii_digit).collect();
        Some(Self { name: name.to_owned(), sm: digits.parse().ok()? })
    }
}

/// A block shape for kernels without a launch in sight.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// The kernel's name without scope; `None` holds for every kernel that no other hint names.
    pub kernel: Option<String>,
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Blocks in x, y, z.
    pub grid: Option<[u64; 3]>,
    /// Values of kernel parameters, by name.
    pub args: BTreeMap<String, i64>,
}

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub target: Option<Target>,
    pub defines: Vec<(String, Option<String>)>,
    pub include_paths: Vec<PathBuf>,
    pub hints: Vec<Hint>,
    /// Later ones win.
    pub levels: Vec<(&'static str, Level)>,
    /// Empty: all rules.
    pub select: Vec<&'static str>,
    pub ignore: Vec<&'static str>,
    pub pedantic: bool,
}

/// The settings of all files below one lint.toml.
pub struct Profile {
    /// The lint.toml; `None` for the defaults.
    pub path: Option<PathBuf>,
    pub target: Target,
    /// Names defined before the first line of each file, with their text.
    pub defines: Vec<(String, Option<String>)>,
    pub include_paths: Vec<PathBuf>,
    pub hints: Vec<Hint>,
    pub fail_on: Level,
    /// Multiprocessors of the GPU meant, where told.
    pub sm_count: Option<u32>,
    include: GlobSet,
    exclude: GlobSet,
    levels: BTreeMap<&'static str, Level>,
    overrides: Vec<Override>,
    rules: Vec<(&'static str, Box<dyn Rule>)>,
}

struct Override {
    paths: GlobSet,
    levels: BTreeMap<&'static str, Level>,
}

/// The settings of a run: one profile per lint.toml, and which folder has which.
pub struct Settings {
    pub overrides: Overrides,
    /// The first holds the defaults.
    profiles: Vec<Profile>,
    /// Index of a profile by absolute folder; it holds for all below, up to the next one.
    folders: BTreeMap<PathBuf, usize>,
    /// The profile of everything else: of the current folder.
    fallback: usize,
}

impl Settings {
    /// Finds and reads the lint.toml files that speak for what lies at and below `paths`.
    pub fn load(paths: &[PathBuf], choice: &Choice, overrides: Overrides) -> Result<Self, Vec<Error>> {
        let mut profiles = vec![Profile::with(&overrides)];
        let mut errors = Vec::new();
        let mut by_file: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let mut folders = BTreeMap::new();
        for (folder, file) in discover::folders(paths, choice) {
            let index = match file {
                None => 0,
                Some(file) => *by_file.entry(file).or_insert_with_key(|file| {
                    match read::profile(&discover::relative(file, Some(Path::new("."))), &overrides) {
                        Ok(profile) => profiles.push(profile),
                        Err(error) => {
                            errors.push(error);
                            profiles.push(Profile::with(&overrides));
                        }
                    }
                    profiles.len() - 1
                }),
            };
            folders.insert(folder, index);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let fallback = folders.get(&discover::absolute(Path::new("."))).copied().unwrap_or(0);
        Ok(Self { overrides, profiles, folders, fallback })
    }

    /// All profiles, the defaults first.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Index into [`Settings::profiles`] of a file's settings.
    pub fn profile_index(&self, path: &Path) -> usize {
        let path = discover::absolute(path);
        path.ancestors().skip(1).find_map(|folder| self.folders.get(folder)).copied().unwrap_or(self.fallback)
    }

    pub fn profile(&self, path: &Path) -> &Profile {
        self.profiles.get(self.profile_index(path)).unwrap_or_else(|| self.default_profile())
    }

    /// The settings of the current folder.
    pub fn default_profile(&self) -> &Profile {
        // `load` begins with the default profile, so there is one to fall back on.
        self.profiles.get(self.fallback).unwrap_or(&self.profiles[0])
    }

    /// The level of a rule for a file, and whether it was set rather than left at its default; `None`: the rule does not run.
    pub fn level(&self, rule: &'static str, path: &Path) -> Option<(Level, bool)> {
        let selected = self.overrides.select.contains(&rule);
        if self.overrides.ignore.contains(&rule) || (!self.overrides.select.is_empty() && !selected) {
            return None;
        }
        let profile = self.profile(path);
        let set = self
            .overrides
            .levels
            .iter()
            .rev()
            .find(|(id, _)| *id == rule)
            .map(|(_, level)| *level)
            .or_else(|| profile.override_level(rule, path))
            .or_else(|| profile.levels.get(rule).copied());
        let level = set.unwrap_or_else(|| rules::meta(rule).map_or(Level::Warning, |meta| meta.level));
        match level {
            // Asked for by name or by --pedantic, an off rule speaks in notes.
            Level::Off if selected || (set.is_none() && self.overrides.pedantic) => Some((Level::Note, true)),
            Level::Off => None,
            level => Some((level, set.is_some())),
        }
    }

    /// The walk from a path given by name may enter this file: it is included and not excluded.
    pub fn includes(&self, path: &Path) -> bool {
        self.profile(path).includes(path)
    }
}

impl Profile {
    /// The defaults under what the command line says.
    fn with(overrides: &Overrides) -> Self {
        Self {
            path: None,
            target: overrides.target.clone().unwrap_or_default(),
            defines: overrides.defines.clone(),
            include_paths: overrides.include_paths.clone(),
            hints: overrides.hints.clone(),
            fail_on: Level::Warning,
            sm_count: None,
            include: read::glob_set(read::DEFAULT_INCLUDE).unwrap_or_default(),
            exclude: GlobSet::empty(),
            levels: BTreeMap::new(),
            overrides: Vec::new(),
            rules: rules::CATALOGUE.iter().map(|entry| (entry.id, entry.bind(&mut Fields::new(None)))).collect(),
        }
    }

    /// The rules with their options, in the order of the catalogue.
    pub fn rules(&self) -> impl Iterator<Item = (&'static str, &dyn Rule)> {
        self.rules.iter().map(|(id, rule)| (*id, rule.as_ref()))
    }

    pub fn includes(&self, path: &Path) -> bool {
        let relative = self.relative(path);
        self.include.is_match(&relative) && !self.exclude.is_match(&relative)
    }

    /// `exclude` names this file.
    pub fn excludes(&self, path: &Path) -> bool {
        self.exclude.is_match(self.relative(path))
    }

    fn override_level(&self, rule: &str, path: &Path) -> Option<Level> {
        if self.overrides.is_empty() {
            return None;
        }
        let relative = self.relative(path);
        let mut matching = self.overrides.iter().rev().filter(|o| o.paths.is_match(&relative));
        matching.find_map(|o| o.levels.get(rule)).copied()
    }

    /// The path as seen from the folder of lint.toml, which is where its globs start.
    fn relative(&self, path: &Path) -> PathBuf {
        let root = self.path.as_deref().and_then(Path::parent);
        discover::relative(path, root)
    }
}
