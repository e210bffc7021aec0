//! From the text of one lint.toml to a profile, or to all its mistakes with the place of each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use miette::NamedSource;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Hint, Override, Overrides, Profile, TARGETS, Target};
use crate::error::{Error, Problem, nearest};
use crate::finding::Level;
use crate::rules::{self, Fields};
use crate::visible::{plain, plain_source};

/// What is linted where lint.toml does not say.
pub(super) const DEFAULT_INCLUDE: &[&str] = &["**/*.cu", "**/*.cuh"];

const KEYS: &[&str] =
    &["target", "include", "exclude", "include-paths", "defines", "fail-on", "sm-count", "rules", "hint", "override"];

/// Reads a lint.toml; what the command line says goes before what it says.
pub(super) fn profile(path: &Path, overrides: &Overrides) -> Result<Profile, Error> {
    let text = std::fs::read_to_string(path).map_err(|why| Error::ConfigUnreadable { path: path.to_owned(), why })?;
    let mut reader = Reader { problems: Vec::new(), profile: Profile::with(overrides) };
    reader.profile.path = Some(path.to_owned());
    let (document, syntax) = DeTable::parse_recoverable(&text);
    // What follows the first error of syntax is mostly its echo.
    if let Some(error) = syntax.first() {
        let at = error.span().unwrap_or(0..0);
        reader.problems.push(Problem::Syntax { what: error.message().to_owned(), at: at.into() });
    }
    if syntax.is_empty() {
        reader.document(document.get_ref(), overrides);
    }
    let Reader { mut problems, profile } = reader;
    if problems.is_empty() {
        return Ok(profile);
    }
    problems.sort_by_key(Problem::offset);
    let name = crate::source::display_path(path);
    Err(Error::Config {
        text: NamedSource::new(plain(&name), plain_source(&text).into()).with_language("toml"),
        problems,
    })
}

/// A set of globs in which `*` does not cross a `/`.
pub(super) fn glob_set<S: AsRef<str>>(globs: &[S]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(GlobBuilder::new(glob.as_ref()).literal_separator(true).build()?);
    }
    set.build()
}

type Value<'a> = Spanned<DeValue<'a>>;

struct Reader {
    problems: Vec<Problem>,
    profile: Profile,
}

impl Reader {
    fn document(&mut self, table: &DeTable<'_>, overrides: &Overrides) {
        self.refuse_unknown(table, KEYS);
        if let Some(value) = table.get("target") {
            self.target(value, overrides);
        }
        if let Some(level) = table.get("fail-on").and_then(|value| self.level(value)) {
            self.profile.fail_on = level;
        }
        if let Some(value) = table.get("sm-count") {
            self.profile.sm_count = self.whole(value, 1..=1024).map(|n| n as u32);
        }
        if let Some(set) = table.get("include").and_then(|value| self.globs(value)) {
            self.profile.include = set;
        }
        if let Some(set) = table.get("exclude").and_then(|value| self.globs(value)) {
            self.profile.exclude = set;
        }
        if let Some(value) = table.get("include-paths") {
            let root = self.profile.path.as_deref().and_then(Path::parent).map(Path::to_owned).unwrap_or_default();
            let own = self.strings(value).into_iter().map(|(dir, _)| root.join(dir));
            self.profile.include_paths.extend(own);
        }
        if let Some(value) = table.get("defines") {
            self.defines(value);
        }
        if let Some(value) = table.get("rules") {
            self.rules(value);
        }
        for hint in self.tables(table.get("hint"), "hint") {
            self.hint(hint);
        }
        for one in self.tables(table.get("override"), "override") {
            self.override_(one);
        }
    }

    fn target(&mut self, value: &Value<'_>, overrides: &Overrides) {
        let Some(name) = self.string(value) else { return };
        match Target::parse(&name) {
            Some(target) if overrides.target.is_none() => self.profile.target = target,
            Some(_) => {}
            None => {
                let help = format!("known: {}", TARGETS.join(", "));
                self.problems.push(Problem::bad_value(format!("unknown target `{name}`"), value.span(), help));
            }
        }
    }

    /// `NAME` or `NAME=VALUE`, as with `-D`; a name that the command line defines keeps that text.
    fn defines(&mut self, value: &Value<'_>) {
        for (text, at) in self.strings(value) {
            match parse_define(&text) {
                Some((name, _)) if self.profile.defines.iter().any(|(known, _)| *known == name) => {}
                Some(define) => self.profile.defines.push(define),
                None => self.problems.push(Problem::bad_value(
                    format!("`{text}` is not NAME or NAME=VALUE"),
                    at,
                    "a define reads like the argument of -D, as in \"BLOCK=256\"",
                )),
            }
        }
    }

    fn rules(&mut self, value: &Value<'_>) {
        let Some(table) = value.get_ref().as_table() else {
            self.refuse(value, "`rules` is a table, as in `[rules]`");
            return;
        };
        for (key, value) in table {
            let name: &str = key.get_ref();
            let Some(entry) = rules::entry(name) else {
                self.problems.push(Problem::unknown_rule(name, key.span(), rules::ids()));
                continue;
            };
            match value.get_ref() {
                DeValue::Table(options) => self.rule_table(entry, options),
                DeValue::String(_) => {
                    if let Some(level) = self.level(value) {
                        self.profile.levels.insert(entry.id, level);
                    }
                }
                _ => self.refuse(value, "a rule is set to a level, or to a table with `level` and its options"),
            }
        }
    }

    fn rule_table(&mut self, entry: &rules::Entry, options: &DeTable<'_>) {
        if let Some(level) = options.get("level").and_then(|value| self.level(value)) {
            self.profile.levels.insert(entry.id, level);
        }
        let mut fields = Fields::new(Some(options));
        let rule = entry.bind(&mut fields);
        let (_, problems) = fields.finish();
        self.problems.extend(problems);
        if let Some(slot) = self.profile.rules.iter_mut().find(|(id, _)| *id == entry.id) {
            slot.1 = rule;
        }
    }

    fn hint(&mut self, table: &Value<'_>) {
        let Some(keys) = table.get_ref().as_table() else { return };
        self.refuse_unknown(keys, &["kernel", "block", "grid", "args"]);
        let kernel = keys.get("kernel").and_then(|value| self.string(value));
        let block = keys.get("block").and_then(|value| self.shape(value, 1024));
        for (key, what) in [("kernel", "the kernel it is about"), ("block", "the block shape, as in `block = [32, 8]`")]
        {
            if !keys.contains_key(key) {
                self.problems.push(Problem::MissingKey {
                    what: format!("a hint lacks `{key}`"),
                    at: table.span().into(),
                    help: Some(format!("`{key}` is {what}")),
                });
            }
        }
        let grid = keys.get("grid").and_then(|value| self.shape(value, i64::from(i32::MAX)));
        let args = keys.get("args").map(|value| self.arguments(value)).unwrap_or_default();
        let (Some(kernel), Some(block)) = (kernel, block) else { return };
        let block = block.map(|n| n as u32);
        if block.iter().product::<u32>() > 1024 {
            if let Some(value) = keys.get("block") {
                let what = format!("a block holds at most 1024 threads, not {}", block.iter().product::<u32>());
                self.problems.push(Problem::bad_value(what, value.span(), "x times y times z counts"));
            }
            return;
        }
        if !self.profile.hints.iter().any(|hint| hint.kernel.as_ref() == Some(&kernel)) {
            self.profile.hints.push(Hint { kernel: Some(kernel), block, grid, args });
        }
    }

    fn arguments(&mut self, value: &Value<'_>) -> BTreeMap<String, i64> {
        let mut args = BTreeMap::new();
        let Some(table) = value.get_ref().as_table() else {
            self.refuse(value, "`args` is a table of parameters and whole numbers, as in `{ n = 1024 }`");
            return args;
        };
        for (key, value) in table {
            if let Some(number) = self.whole(value, i64::MIN..=i64::MAX) {
                args.insert(key.get_ref().to_string(), number);
            }
        }
        args
    }

    fn override_(&mut self, table: &Value<'_>) {
        let Some(keys) = table.get_ref().as_table() else { return };
        self.refuse_unknown(keys, &["paths", "rules"]);
        let paths = keys.get("paths").and_then(|value| self.globs(value));
        let mut levels = BTreeMap::new();
        match keys.get("rules").map(|value| (value, value.get_ref())) {
            Some((_, DeValue::Table(rules))) => {
                for (key, value) in rules {
                    let name: &str = key.get_ref();
                    match rules::entry(name) {
                        Some(entry) => {
                            if let Some(level) = self.level(value) {
                                levels.insert(entry.id, level);
                            }
                        }
                        None => self.problems.push(Problem::unknown_rule(name, key.span(), rules::ids())),
                    }
                }
            }
            Some((value, _)) => self.refuse(value, "`rules` in an override is a table of rules and levels"),
            None => {}
        }
        if let Some(paths) = paths {
            self.profile.overrides.push(Override { paths, levels });
        } else if !keys.contains_key("paths") {
            self.problems.push(Problem::MissingKey {
                what: "an override lacks `paths`".to_owned(),
                at: table.span().into(),
                help: Some("`paths` are globs from the folder of lint.toml, as in `paths = [\"tests/**\"]`".to_owned()),
            });
        }
    }

    fn tables<'a, 'b>(&mut self, value: Option<&'b Value<'a>>, name: &str) -> Vec<&'b Value<'a>> {
        let Some(value) = value else { return Vec::new() };
        let items: Vec<_> = value.get_ref().as_array().map(|array| array.iter().collect()).unwrap_or_default();
        if value.get_ref().as_array().is_none() || items.iter().any(|item| !item.get_ref().is_table()) {
            self.refuse(value, &format!("`{name}` is a list of tables, as in `[[{name}]]`"));
            return Vec::new();
        }
        items
    }

    fn refuse_unknown(&mut self, table: &DeTable<'_>, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            self.problems.push(Problem::unknown_key(key.get_ref(), key.span(), known.iter().copied()));
        }
    }

    fn refuse(&mut self, value: &Value<'_>, help: &str) {
        let what = format!("a {} does not belong here", value.get_ref().type_str());
        self.problems.push(Problem::bad_value(what, value.span(), help));
    }

    fn string(&mut self, value: &Value<'_>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.refuse(value, "it takes a string in quotes");
        }
        text
    }

    fn strings(&mut self, value: &Value<'_>) -> Vec<(String, Range<usize>)> {
        let Some(array) = value.get_ref().as_array() else {
            self.refuse(value, "it takes a list of strings, as in [\"a\", \"b\"]");
            return Vec::new();
        };
        array.iter().filter_map(|item| Some((self.string(item)?, item.span()))).collect()
    }

    fn globs(&mut self, value: &Value<'_>) -> Option<GlobSet> {
        let mut globs = Vec::new();
        for (text, at) in self.strings(value) {
            match GlobBuilder::new(&text).literal_separator(true).build() {
                // A folder's name stands for all below it.
                Ok(_) => {
                    let folder = text.trim_end_matches('/');
                    globs.extend([folder.to_owned(), format!("{folder}/**")]);
                }
                Err(error) => self.problems.push(Problem::bad_value(
                    format!("`{text}` is no glob: {}", error.kind()),
                    at,
                    "`*` matches within a folder, `**` across folders, as in \"third_party/**\"",
                )),
            }
        }
        glob_set(&globs).ok()
    }

    fn level(&mut self, value: &Value<'_>) -> Option<Level> {
        let word = self.string(value)?;
        let level = Level::parse(&word);
        if level.is_none() {
            let words = Level::ALL.map(Level::word);
            let help = nearest(&word, words)
                .map_or_else(|| format!("levels are {}", words.join(", ")), |near| format!("did you mean `{near}`?"));
            self.problems.push(Problem::bad_value(format!("unknown level `{word}`"), value.span(), help));
        }
        level
    }

    fn whole(&mut self, value: &Value<'_>, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let number = value.get_ref().as_integer().and_then(|i| i64::from_str_radix(i.as_str(), i.radix()).ok());
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let what = "not a whole number that fits".to_owned();
            self.problems.push(Problem::bad_value(
                what,
                value.span(),
                format!("from {} to {}", range.start(), range.end()),
            ));
        }
        number
    }

    /// One to three whole numbers; missing ones are 1.
    fn shape(&mut self, value: &Value<'_>, most: i64) -> Option<[u64; 3]> {
        let items: Vec<&Value<'_>> = value.get_ref().as_array().map(|array| array.iter().collect()).unwrap_or_default();
        if items.is_empty() || items.len() > 3 {
            self.refuse(value, "a shape has one to three numbers, as in [32, 8, 1]");
            return None;
        }
        let mut shape = [1_u64; 3];
        for (slot, item) in shape.iter_mut().zip(items) {
            *slot = self.whole(item, 1..=most)? as u64;
        }
        Some(shape)
    }
}

/// `NAME` or `NAME=VALUE`; `None` where NAME is no identifier.
pub fn parse_define(text: &str) -> Option<(String, Option<String>)> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let name = name.trim();
    let mut chars = name.chars();
    let starts_well = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    (starts_well && chars.all(|c| c.is_alphanumeric() || c == '_')).then(|| (name.to_owned(), value))
}

/// Only a path: tests of the template read it back.
#[cfg(test)]
pub(super) fn read_text(text: &str) -> Result<Profile, Vec<Problem>> {
    let mut reader = Reader { problems: Vec::new(), profile: Profile::with(&Overrides::default()) };
    reader.profile.path = Some("lint.toml".into());
    let (document, syntax) = DeTable::parse_recoverable(text);
    assert!(syntax.is_empty(), "{syntax:?}");
    reader.document(document.get_ref(), &Overrides::default());
    if reader.problems.is_empty() { Ok(reader.profile) } else { Err(reader.problems) }
}
