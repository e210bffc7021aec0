//! The lint.toml that `cudalint init` writes: every key at its default, each with what it does.

use std::fmt::Write as _;

use super::read::DEFAULT_INCLUDE;
use crate::rules::{self, Fields};

/// The text of a lint.toml that changes nothing.
pub fn template() -> String {
    let include = DEFAULT_INCLUDE.iter().map(|glob| format!("\"{glob}\"")).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "# Settings of cudalint for this folder and all below it. Every key is at its default: deleting it changes nothing.\n\
         \n\
         # The compute capability to predict for.\n\
         target = \"sm_90\"\n\
         \n\
         # What is linted, as globs from this folder; files that these include are read too.\n\
         include = [{include}]\n\
         exclude = []\n\
         \n\
         # Where quoted includes are looked for after the including file's own folder.\n\
         include-paths = []\n\
         \n\
         # Names defined on the compiler's command line: \"NAME\" or \"NAME=VALUE\".\n\
         defines = []\n\
         \n\
         # The lowest level that makes `check` exit with 1: note, warning or error; off never does.\n\
         fail-on = \"warning\"\n\
         \n\
         # Multiprocessors of the GPU meant; a target alone does not fix it.\n\
         # sm-count = 132\n\
         \n\
         # A level per rule: off, note, warning or error. A level set here holds for all findings of the rule; without one, weaker\n\
         # forms of a defect count less than the rule's level.\n\
         [rules]\n"
    );
    let mut tables = String::new();
    for meta in rules::metas() {
        let Some(entry) = rules::entry(meta.id) else { continue };
        let mut fields = Fields::new(None);
        entry.bind(&mut fields);
        let (docs, _) = fields.finish();
        // Levels stand in comments: one that is set, even to its default, would hold for the weaker forms too.
        let level = meta.level.word();
        if docs.is_empty() {
            let _ = writeln!(text, "# {} = \"{level}\"  # {}", meta.id, meta.summary);
            continue;
        }
        let _ = writeln!(tables, "\n# {}\n[rules.{}]\n# level = \"{level}\"", meta.summary, meta.id);
        for option in docs {
            let _ = writeln!(tables, "# {}\n{} = {}", option.doc, option.key, option.default);
        }
    }
    text.push_str(&tables);
    text.push_str(
        "\n# The launch of a kernel that no source shows. `args` gives values of its parameters.\n\
         # [[hint]]\n\
         # kernel = \"transpose\"\n\
         # block = [32, 8, 1]\n\
         # grid = [64, 64, 1]\n\
         # args = { n = 2048 }\n\
         \n\
         # Other levels for some paths; the last one that matches counts.\n\
         # [[override]]\n\
         # paths = [\"tests/**\"]\n\
         # rules = { float-literal-suffix = \"off\" }\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::read::read_text;
    use crate::config::{Overrides, Profile};

    fn uncommented(text: &str) -> String {
        let is_key = |line: &str| line.contains(" = ") || line.starts_with("[[");
        text.lines()
            .map(|line| line.strip_prefix("# ").filter(|rest| is_key(rest)).unwrap_or(line))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn every_key_at_its_default_is_the_same_as_no_file() {
        let read = read_text(&template()).map_err(|p| format!("{p:?}")).unwrap();
        let absent = Profile::with(&Overrides::default());
        assert_eq!(read.target, absent.target);
        assert_eq!(read.fail_on, absent.fail_on);
        assert_eq!(read.defines, absent.defines);
        assert_eq!(read.include_paths, absent.include_paths);
        assert_eq!(read.hints, absent.hints);
        assert_eq!(read.sm_count, absent.sm_count);
        assert!(read.levels.is_empty() && read.overrides.is_empty());
        for path in ["a.cu", "src/b.cuh", "c.h", "d/e.cpp"] {
            assert_eq!(read.includes(Path::new(path)), absent.includes(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_is_commented_out_can_be_used() {
        let text = uncommented(&template());
        let read = read_text(&text).map_err(|p| format!("{p:?}\n{text}")).unwrap();
        assert_eq!((read.hints.len(), read.overrides.len(), read.sm_count), (1, 1, Some(132)));
    }
}
