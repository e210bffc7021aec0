//! The binary as people and scripts meet it: exit codes, settings, standard input, colours, a closed pipe.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A source with one finding that needs no engine: a warning of `unknown-suppression`.
const BAD: &str = "int a; // cudalint: allow(no-such-rule) -- to have a finding\n";
const GOOD: &str = "__global__ void k(int* p) { p[threadIdx.x] = 0; }\n";

struct Project {
    folder: TempDir,
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Project {
    /// Files and their texts; a `.git` at the root keeps the search for lint.toml inside.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        let project = Self { folder };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.args(args).current_dir(self.path()).env_clear().stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        ran(&self.command(args).output().unwrap())
    }

    fn run_with_stdin(&self, args: &[&str], text: &[u8]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        ran(&child.wait_with_output().unwrap())
    }
}

fn ran(output: &Output) -> Ran {
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout.clone()).unwrap(),
        err: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

// --- Exit codes

#[test]
fn clean_sources_exit_with_0() {
    let ran = Project::new(&[("a.cu", GOOD)]).run(&["check"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn findings_exit_with_1_in_every_format() {
    let project = Project::new(&[("a.cu", BAD)]);
    for format in ["full", "short", "json"] {
        let ran = project.run(&["check", "--format", format]);
        assert_eq!(ran.code, 1, "{format}: {}", ran.err);
        assert!(ran.out.contains("unknown-suppression"), "{}", ran.out);
    }
}

#[test]
fn findings_below_fail_on_exit_with_0() {
    let project = Project::new(&[("a.cu", BAD)]);
    assert_eq!(project.run(&["check", "--level", "unknown-suppression=note"]).code, 0);
    project.write("lint.toml", "fail-on = \"error\"\n");
    assert_eq!(project.run(&["check"]).code, 0);
    assert_eq!(project.run(&["check", "--level", "unknown-suppression=error"]).code, 1);
    project.write("lint.toml", "fail-on = \"off\"\n");
    assert_eq!(project.run(&["check", "--level", "unknown-suppression=error"]).code, 0);
}

#[test]
fn a_missing_path_exits_with_2_and_the_others_are_linted() {
    let ran = Project::new(&[("a.cu", BAD)]).run(&["check", "gone.cu", "a.cu"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no such file or folder: gone.cu"), "{}", ran.err);
    assert!(ran.err.contains("cudalint::io::no-such-path"), "{}", ran.err);
    assert!(ran.out.contains("unknown-suppression"), "{}", ran.out);
}

#[test]
fn wrong_usage_exits_with_2() {
    let project = Project::new(&[]);
    for args in
        [&["check", "--fromat", "json"][..], &["lint"], &["check", "--threads", "0"], &["check", "--block", "2000"]]
    {
        assert_eq!(project.run(args).code, 2, "{args:?}");
    }
}

#[test]
fn help_and_version_exit_with_0() {
    let project = Project::new(&[]);
    for args in [&["--help"][..], &["--version"], &["check", "--help"]] {
        let ran = project.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    }
}

// --- Paths

#[test]
fn without_paths_the_current_folder_is_linted() {
    let ran = Project::new(&[("deep/down/a.cu", BAD), ("b.cpp", BAD)]).run(&["check", "--format", "short"]);
    assert_eq!(ran.out, "deep/down/a.cu:1:27: warning[unknown-suppression] there is no rule `no-such-rule`\n");
}

#[test]
fn exclude_keeps_files_out_unless_they_are_named() {
    let project = Project::new(&[("lint.toml", "exclude = [\"gen\"]\n"), ("gen/a.cu", BAD), ("src/gen/b.cu", BAD)]);
    let ran = project.run(&["check", "--format", "short"]);
    assert!(ran.out.starts_with("src/gen/b.cu:1:27") && !ran.out.contains("gen/a.cu"), "{}", ran.out);
    let ran = project.run(&["check", "--format", "short", "gen/a.cu"]);
    assert!(ran.out.starts_with("gen/a.cu:1:27"), "{}", ran.out);
}

#[test]
fn include_widens_what_is_linted() {
    let kernel = format!("{GOOD}{BAD}");
    let project = Project::new(&[("lint.toml", "include = [\"**/*.h\"]\n"), ("a.h", &kernel), ("b.cu", &kernel)]);
    let ran = project.run(&["check", "--format", "short"]);
    assert!(ran.out.starts_with("a.h:2:27") && !ran.out.contains("b.cu"), "{}", ran.out);
}

// --- Standard input

#[test]
fn a_dash_reads_standard_input() {
    let ran = Project::new(&[]).run_with_stdin(&["check", "--format", "short", "-"], BAD.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("<stdin>:1:27: warning[unknown-suppression]"), "{}", ran.out);
}

#[test]
fn standard_input_takes_name_and_settings_of_its_file() {
    let project = Project::new(&[("src/lint.toml", "[rules]\nunknown-suppression = \"error\"\n"), ("src/a.cu", GOOD)]);
    let args = ["check", "--format", "short", "--stdin-filename", "src/a.cu"];
    let ran = project.run_with_stdin(&args, BAD.as_bytes());
    assert!(ran.out.starts_with("src/a.cu:1:27: error[unknown-suppression]"), "{}{}", ran.out, ran.err);
}

#[test]
fn binary_standard_input_is_passed_over() {
    let ran = Project::new(&[]).run_with_stdin(&["check", "-"], b"\x7fELF\0\0");
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("passed over: <stdin> (binary file)"), "{}", ran.err);
}

// --- lint.toml

#[test]
fn all_mistakes_of_a_lint_toml_are_shown_at_once() {
    let project = Project::new(&[("a.cu", GOOD)]);
    project.write(
        "lint.toml",
        "targit = \"sm_90\"\nfail-on = \"eror\"\n[rules]\nint-div-pow = \"off\"\n\
         [rules.shared-bank-conflict]\nmin-ration = 3\n[[hint]]\nkernel = \"k\"\n[[override]]\npaths = [\"a[\"]\n",
    );
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 2);
    for part in [
        "lint.toml has 6 mistakes",
        "lint.toml:1:1",
        "unknown key `targit`",
        "did you mean `target`?",
        "unknown level `eror`",
        "did you mean `error`?",
        "unknown rule `int-div-pow`",
        "did you mean `int-div-pow2`?",
        "did you mean `min-ratio`?",
        "a hint lacks `block`",
        "`a[` is no glob",
    ] {
        assert!(ran.err.contains(part), "`{part}` is not in:\n{}", ran.err);
    }
    assert_eq!(ran.out, "");
}

#[test]
fn what_is_not_toml_is_shown_in_its_place() {
    let ran = Project::new(&[("lint.toml", "target = \n")]).run(&["check"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cudalint::config::syntax") && ran.err.contains("lint.toml:1"), "{}", ran.err);
}

#[test]
fn the_nearest_lint_toml_speaks_and_the_search_stops_at_the_repository() {
    let project = Project::new(&[
        ("lint.toml", "[rules]\nunknown-suppression = \"off\"\n"),
        ("a.cu", BAD),
        ("near/lint.toml", "[rules]\nunknown-suppression = \"error\"\n"),
        ("near/b.cu", BAD),
        ("other/.git/HEAD", ""),
        ("other/c.cu", BAD),
    ]);
    let ran = project.run(&["check", "--format", "short"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        matches!(lines.as_slice(), [b, c] if b.starts_with("near/b.cu:1:27: error") && c.starts_with("other/c.cu:1:27: warning")),
        "{lines:?}"
    );
}

#[test]
fn command_line_goes_before_override_before_file_before_default() {
    let project = Project::new(&[
        (
            "lint.toml",
            "[rules]\nunknown-suppression = \"note\"\n[[override]]\npaths = [\"tests\"]\nrules = { unknown-suppression = \"error\" }\n",
        ),
        ("a.cu", BAD),
        ("tests/b.cu", BAD),
    ]);
    let levels = |args: &[&str]| {
        let ran = project.run(&[&["check", "--format", "short"], args].concat());
        ran.out.lines().map(|line| line.split([' ', '[']).nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(levels(&[]), ["note", "error"]);
    assert_eq!(levels(&["--level", "unknown-suppression=warning"]), ["warning", "warning"]);
    assert_eq!(levels(&["--no-config"]), ["warning", "warning"]);
    assert_eq!(levels(&["--ignore", "unknown-suppression"]), [""; 0]);
    assert_eq!(levels(&["--select", "unused-suppression"]), [""; 0]);
}

#[test]
fn config_names_the_file_for_all() {
    let project = Project::new(&[("a.cu", BAD), ("ci/strict.toml", "[rules]\nunknown-suppression = \"error\"\n")]);
    let ran = project.run(&["check", "--format", "short", "--config", "ci/strict.toml"]);
    assert!(ran.out.contains("error[unknown-suppression]"), "{}{}", ran.out, ran.err);
    let ran = project.run(&["check", "--config", "gone.toml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot read gone.toml"), "{}", ran.err);
}

#[test]
fn init_writes_a_lint_toml_that_changes_nothing_and_keeps_an_old_one() {
    let project = Project::new(&[("a.cu", BAD)]);
    let before = project.run(&["check"]);
    assert_eq!(project.run(&["init"]).code, 0);
    let after = project.run(&["check"]);
    assert_eq!((before.code, before.out), (after.code, after.out));
    let again = project.run(&["init"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("there is already a lint.toml"), "{}", again.err);
}

// --- Rules by name

#[test]
fn a_wrong_rule_name_is_told_the_right_one() {
    let project = Project::new(&[("a.cu", GOOD)]);
    for args in [
        &["explain", "shared-bank-conflit"][..],
        &["check", "--select", "shared-bank-conflit"],
        &["check", "--ignore", "shared-bank-conflit"],
        &["check", "--level", "shared-bank-conflit=off"],
    ] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains("did you mean `shared-bank-conflict`?"), "{}", ran.err);
    }
}

#[test]
fn explain_shows_the_page() {
    let ran = Project::new(&[]).run(&["explain", "divergent-barrier"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("What it flags") && !ran.out.contains("+++") && !ran.out.contains("## "), "{}", ran.out);
}

#[test]
fn rules_are_listed_in_every_format() {
    let project = Project::new(&[]);
    let text = project.run(&["rules"]).out;
    let json: serde_json::Value = serde_json::from_str(&project.run(&["rules", "--format", "json"]).out).unwrap();
    let rules = json["rules"].as_array().unwrap();
    assert_eq!(text.lines().count(), rules.len());
    assert!(project.run(&["rules", "--format", "md"]).out.starts_with("| rule |"));
}

// --- Suppression

#[test]
fn a_file_can_silence_the_rules_about_comments() {
    let text = format!("// cudalint: allow-file(unknown-suppression) -- another tool's rules\n{BAD}");
    let ran = Project::new(&[("a.cu", &text)]).run(&["check"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("1 finding silenced by comments"), "{}", ran.out);
}

#[test]
fn suppressions_without_reason_or_use_are_findings() {
    let text = "int a; // cudalint: allow(int-div-pow2)\n";
    let ran = Project::new(&[("a.cu", text)]).run(&["check", "--format", "short"]);
    let rules: Vec<&str> = ran.out.lines().filter_map(|line| line.split(['[', ']']).nth(1)).collect();
    assert_eq!(rules, ["missing-suppression-reason", "unused-suppression"]);
    let ran = Project::new(&[("a.cu", text)]).run(&["check", "--ignore", "int-div-pow2", "--format", "short"]);
    assert!(!ran.out.contains("unused-suppression"), "a rule that does not run is not judged: {}", ran.out);
}

// --- Streams

#[test]
fn colours_follow_the_switch() {
    let project = Project::new(&[("a.cu", BAD)]);
    assert!(!project.run(&["check"]).out.contains('\u{1b}'));
    assert!(project.run(&["check", "--color", "always"]).out.contains('\u{1b}'));
    assert!(!project.run(&["check", "--color", "never"]).out.contains('\u{1b}'));
}

#[test]
fn output_goes_to_a_file() {
    let project = Project::new(&[("a.cu", BAD)]);
    let ran = project.run(&["check", "--format", "json", "--output", "out.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(project.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(json["summary"]["warning"], 1);
    let ran = project.run(&["check", "--output", "no/such/folder/out"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot write no/such/folder/out"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_silent() {
    let project = Project::new(&[("a.cu", &BAD.repeat(5000))]);
    let mut command = project.command(&["check"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let files: Vec<(String, String)> =
        (0..40).map(|i| (format!("d{}/f{i}.cu", i % 5), format!("{GOOD}{BAD}"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let project = Project::new(&files);
    let json = |threads: &str| project.run(&["check", "--format", "json", "--threads", threads]).out;
    assert_eq!(json("1"), json("8"));
}
