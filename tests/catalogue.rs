//! The catalogue, the pages, the modules and the fixtures name the same rules, and the pages hold what they must.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cudalint::rules::{self, Family, FixAvailability};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|stem| !stem.starts_with('_'))
        .collect()
}

fn ids() -> BTreeSet<String> {
    rules::ids().map(str::to_owned).collect()
}

#[test]
fn every_page_can_be_read() {
    for entry in rules::CATALOGUE {
        if let Err(why) = entry.meta() {
            panic!("rules/{}.md: {why}", entry.id);
        }
    }
    assert_eq!(rules::metas().len(), rules::CATALOGUE.len());
}

#[test]
fn pages_are_the_catalogue() {
    assert_eq!(stems("rules", "md"), ids());
}

#[test]
fn modules_are_the_catalogue() {
    let machinery = ["meta", "mod", "options", "sink", "sites", "testing", "tests", "traffic", "view"];
    let mut modules: BTreeSet<String> = stems("src/rules", "rs").iter().map(|stem| stem.replace('_', "-")).collect();
    for name in machinery {
        modules.remove(name);
    }
    assert_eq!(modules, ids());
}

#[test]
fn every_rule_has_fixtures() {
    for id in rules::ids() {
        for file in ["bad.cu", "good.cu"] {
            assert!(root().join("fixtures").join(id).join(file).is_file(), "fixtures/{id}/{file}");
        }
    }
}

#[test]
fn ids_are_in_order_and_kebab_case() {
    let ids: Vec<&str> = rules::ids().collect();
    assert!(ids.is_sorted(), "{ids:?}");
    for id in ids {
        assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{id}");
    }
}

#[test]
fn pages_have_their_parts_in_order() {
    let parts = ["What it flags", "Why it costs", "Bad", "Good", "Fix", "Verify", "Limits", "Options"];
    for meta in rules::metas() {
        let headings: Vec<&str> =
            meta.body.lines().filter_map(|line| line.strip_prefix("## ")).map(str::trim).collect();
        assert_eq!(headings, parts, "rules/{}.md", meta.id);
    }
}

#[test]
fn metadata_makes_sense() {
    for meta in rules::metas() {
        assert!(!meta.summary.ends_with('.') && !meta.summary.is_empty(), "{}: a summary is a fragment", meta.id);
        assert!(!meta.sources.is_empty(), "{}: a rule has a source", meta.id);
        let is_measured = meta.verify.is_some() || meta.family == Family::Suppression;
        assert!(is_measured, "{}: a rule says how it is verified", meta.id);
        assert_eq!(meta.fix == FixAvailability::Never, meta.fix_safety.is_none(), "{}", meta.id);
        assert_eq!(meta.since.split('.').count(), 3, "{}", meta.id);
    }
}

#[test]
fn pages_name_their_options() {
    for entry in rules::CATALOGUE {
        let mut fields = rules::Fields::new(None);
        entry.bind(&mut fields);
        let (options, _) = fields.finish();
        let body = entry.meta().unwrap().body;
        let section = body.split("## Options").nth(1).unwrap_or("");
        for option in options {
            assert!(section.contains(&format!("`{}`", option.key)), "rules/{}.md lacks `{}`", entry.id, option.key);
        }
    }
}

#[test]
fn own_lint_toml_is_what_init_writes() {
    let own = fs::read_to_string(Path::new(&root()).join("lint.toml")).unwrap();
    assert!(own == cudalint::config::template(), "lint.toml differs: remove it and run `cudalint init`");
}
