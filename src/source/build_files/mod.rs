//! From the build files of a folder to what they say on every compiler command line: `-D` and `-I` with literal values.
//!
//! Build files are read, never run. What hangs on a tool, on the environment or on a function of the build language is left out.

mod cmake;
mod make;

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::load::{Loaded, load};
use super::paths::clean;
use super::resolve::Location;

const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const CMAKE_FILE: &str = "CMakeLists.txt";
const COMMANDS_FILE: &str = "compile_commands.json";

/// The part of a command line that says what a source means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Flags {
    /// `NAME` or `NAME=VALUE`, each name once.
    pub(crate) defines: Vec<String>,
    /// As written.
    pub(crate) include_dirs: Vec<String>,
}

impl Flags {
    fn is_empty(&self) -> bool {
        self.defines.is_empty() && self.include_dirs.is_empty()
    }

    /// Adds a define unless its name has a value already: of variants the first one is built by default.
    fn define(&mut self, define: &str) {
        let name = name_of(define);
        if is_name(name) && is_literal(define) && !self.defines.iter().any(|d| name_of(d) == name) {
            self.defines.push(define.to_owned());
        }
    }

    fn include(&mut self, dir: &str) {
        if !dir.is_empty() && is_literal(dir) && !self.include_dirs.iter().any(|d| d == dir) {
            self.include_dirs.push(dir.to_owned());
        }
    }

    /// Takes the `-D` and `-I` out of the words of a command line.
    fn take(&mut self, words: &[String]) {
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if let Some(define) = word.strip_prefix("-D") {
                let separate = if define.is_empty() { words.next() } else { None };
                self.define(separate.unwrap_or(define));
            } else if let Some(dir) = word.strip_prefix("-I") {
                let separate = if dir.is_empty() { words.next() } else { None };
                self.include(separate.unwrap_or(dir));
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        other.defines.iter().for_each(|define| self.define(define));
        other.include_dirs.iter().for_each(|dir| self.include(dir));
    }
}

/// `F` of `F(x)=x`.
fn name_of(define: &str) -> &str {
    define.split(['=', '(']).next().unwrap_or(define)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Nothing in it that a shell, make or cmake would replace.
fn is_literal(word: &str) -> bool {
    !word.contains(['$', '`', '@', '\n', '\r', '\0'])
}

/// Words as a shell splits them: quotes and backslashes are taken off.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// What holds for a file: index into [`BuildFiles::all`].
pub(crate) type BuildIndex = u32;

/// A command line with its folders found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Build {
    pub(crate) defines: Vec<String>,
    pub(crate) include_dirs: Vec<Location>,
}

/// The build files met so far, each folder read once.
#[derive(Debug, Default)]
pub(crate) struct BuildFiles {
    /// Folders that the search does not leave, as keys.
    roots: Vec<PathBuf>,
    folders: FxHashMap<PathBuf, Option<Folder>>,
    all: Vec<Build>,
    known: FxHashMap<(PathBuf, Flags), BuildIndex>,
}

#[derive(Debug, Clone)]
struct Folder {
    /// For every file but those below.
    common: Option<BuildIndex>,
    /// By key.
    files: FxHashMap<PathBuf, BuildIndex>,
}

impl BuildFiles {
    /// Build files are looked for from a source up to this folder.
    pub(crate) fn add_root(&mut self, root: PathBuf) {
        if !self.roots.contains(&root) {
            self.roots.push(root);
        }
    }

    pub(crate) fn get(&self, index: BuildIndex) -> Option<&Build> {
        self.all.get(index as usize)
    }

    pub(crate) fn into_defines(self) -> Vec<Vec<String>> {
        self.all.into_iter().map(|build| build.defines).collect()
    }

    /// What holds for a file, by the nearest folder upwards that holds a build file.
    pub(crate) fn find(&mut self, file: &Location) -> Option<BuildIndex> {
        let mut folder = file.parent()?;
        if !self.roots.iter().any(|root| folder.key.starts_with(root)) {
            return None;
        }
        loop {
            if !self.folders.contains_key(&folder.key) {
                let read = self.read(&folder);
                self.folders.insert(folder.key.clone(), read);
            }
            if let Some(Some(found)) = self.folders.get(&folder.key) {
                return found.files.get(&file.key).copied().or(found.common);
            }
            if self.roots.contains(&folder.key) || folder.key.join(".git").exists() {
                return None;
            }
            folder = folder.parent()?;
        }
    }

    fn read(&mut self, folder: &Location) -> Option<Folder> {
        let text = |name: &str| match load(&folder.key.join(name)) {
            Loaded::Text(text) => Some(text),
            _ => None,
        };
        if let Some(text) = text(COMMANDS_FILE) {
            return Some(self.commands(folder, &text));
        }
        let makefile = MAKEFILES.iter().find_map(|name| text(name));
        let cmake = text(CMAKE_FILE);
        if makefile.is_none() && cmake.is_none() {
            return None;
        }
        let mut flags = makefile.map(|text| make::flags(&text)).unwrap_or_default();
        flags.merge(&cmake.map(|text| cmake::flags(&text)).unwrap_or_default());
        Some(Folder { common: self.add(folder, flags), files: FxHashMap::default() })
    }

    /// Each file its own command; what all commands agree on holds for headers and files without one.
    fn commands(&mut self, folder: &Location, text: &str) -> Folder {
        let mut found = Folder { common: None, files: FxHashMap::default() };
        let mut common: Option<Flags> = None;
        for (file, flags) in commands(&folder.key, text) {
            match &mut common {
                Some(common) => {
                    common.defines.retain(|d| flags.defines.contains(d));
                    common.include_dirs.retain(|d| flags.include_dirs.contains(d));
                }
                None => common = Some(flags.clone()),
            }
            if let Some(index) = self.add(folder, flags) {
                // A file that is compiled twice counts as compiled the first time.
                found.files.entry(file).or_insert(index);
            }
        }
        found.common = common.and_then(|flags| self.add(folder, flags));
        found
    }

    fn add(&mut self, folder: &Location, flags: Flags) -> Option<BuildIndex> {
        if flags.is_empty() {
            return None;
        }
        let key = (folder.key.clone(), flags);
        if let Some(index) = self.known.get(&key) {
            return Some(*index);
        }
        let index = self.all.len() as BuildIndex;
        let include_dirs = key.1.include_dirs.iter().filter_map(|dir| self.include_dir(folder, dir)).collect();
        self.all.push(Build { defines: key.1.defines.clone(), include_dirs });
        self.known.insert(key, index);
        Some(index)
    }

    /// A folder of the project: what lies outside of the roots and beside no build file is the system's.
    fn include_dir(&self, folder: &Location, dir: &str) -> Option<Location> {
        let (key, display) = if Path::new(dir).is_absolute() {
            let below = Path::new(dir).strip_prefix(&folder.key).ok()?;
            (clean(Path::new(dir)), clean(&folder.display.join(below)))
        } else {
            (clean(&folder.key.join(dir)), clean(&folder.display.join(dir)))
        };
        Some(Location { key: std::fs::canonicalize(&key).ok().filter(|key| key.is_dir())?, display })
    }
}

/// The files of a compilation database with their flags, in order.
fn commands(folder: &Path, text: &str) -> Vec<(PathBuf, Flags)> {
    let Ok(serde_json::Value::Array(entries)) = serde_json::from_str(text) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in &entries {
        let field = |name: &str| entry.get(name).and_then(serde_json::Value::as_str);
        let Some(file) = field("file") else { continue };
        let directory = folder.join(field("directory").unwrap_or(""));
        let arguments = match (entry.get("arguments").and_then(serde_json::Value::as_array), field("command")) {
            (Some(list), _) => list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
            (None, Some(command)) => words(command),
            (None, None) => continue,
        };
        let mut flags = Flags::default();
        flags.take(&arguments);
        for dir in &mut flags.include_dirs {
            *dir = clean(&directory.join(&dir)).to_string_lossy().into_owned();
        }
        let file = clean(&directory.join(file));
        found.push((std::fs::canonicalize(&file).unwrap_or(file), flags));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let text = r#"nvcc -DA=\"x\" '-DB="y z"' -D"C = 1"  -I "my dir""#;
        assert_eq!(words(text), ["nvcc", "-DA=\"x\"", "-DB=\"y z\"", "-DC = 1", "-I", "my dir"]);
    }

    #[test]
    fn a_database_gives_each_file_its_own_flags() {
        let text = r#"[
            {"directory": "/p/build", "file": "../a.cu", "command": "nvcc -DN=16 -DX -I../include -c ../a.cu"},
            {"directory": "/p/build", "file": "/p/b.cu", "arguments": ["nvcc", "-D", "N=32", "-I/p/include", "-DX"]},
            {"file": 3}
        ]"#;
        let found = commands(Path::new("/p"), text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].0, PathBuf::from("/p/a.cu"));
        assert_eq!(found[0].1.defines, ["N=16", "X"]);
        assert_eq!(found[0].1.include_dirs, ["/p/include"]);
        assert_eq!(found[1].1.defines, ["N=32", "X"]);
        assert!(commands(Path::new("/p"), "[{").is_empty());
    }

    #[test]
    fn the_nearest_folder_counts_and_the_root_ends_the_search() -> std::io::Result<()> {
        let temp = tempfile::tempdir()?;
        let root = std::fs::canonicalize(temp.path())?;
        std::fs::create_dir_all(root.join("a/src/deep"))?;
        std::fs::create_dir_all(root.join("b"))?;
        std::fs::write(root.join("Makefile"), "F = -DOUTER=1\n")?;
        std::fs::write(root.join("a/CMakeLists.txt"), "add_definitions(-DN=4)\ninclude_directories(src)\n")?;
        let at = |path: &str| Location { key: root.join(path), display: path.into() };
        let find = |stop: &str, path: &str| {
            let mut files = BuildFiles::default();
            files.add_root(root.join(stop));
            let found = files.find(&at(path)).and_then(|index| files.get(index).cloned());
            found.map(|build| (build.defines, build.include_dirs.iter().map(|d| d.display.clone()).collect()))
        };
        let inner = Some((vec!["N=4".to_owned()], vec![PathBuf::from("a/src")]));
        assert_eq!(find("", "a/src/deep/k.cu"), inner);
        assert_eq!(find("a", "a/k.cu"), inner);
        assert_eq!(find("a/src", "a/src/k.cu"), None);
        assert_eq!(find("", "b/k.cu"), Some((vec!["OUTER=1".to_owned()], vec![])));
        std::fs::create_dir(root.join("b/.git"))?;
        assert_eq!(find("", "b/k.cu"), None);
        Ok(())
    }
}
