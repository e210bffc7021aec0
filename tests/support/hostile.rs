//! Input nobody should have to think about: made on the spot, checked beside a good file that must still be read.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use super::checker::{self, Checked};

/// Lane k reads `in[k * 32]`: one finding, on line 4.
const SAMPLE: &str = "\
#include <cuda_runtime.h>
__global__ void gather(const float* __restrict__ in, float* __restrict__ out)
{
    float v = in[threadIdx.x * 32];
    out[threadIdx.x] = v;
}
void start(const float* in, float* out)
{
    gather<<<1, 32>>>(in, out);
}
";

const DEPTH: usize = 10_000;
const HUGE_BYTES: usize = 50 << 20;
/// Far above what any of these takes, debug build included.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn trials(root: &'static Path) -> Vec<Trial> {
    let mut trials = vec![
        beside("empty file", Vec::new),
        beside("file of line ends", || b"\n\r\n\r\n".to_vec()),
        beside("lone byte order mark", || b"\xef\xbb\xbf".to_vec()),
        beside("binary file", || (0..=255_u8).cycle().take(64 << 10).collect()),
        beside("file of NUL bytes", || vec![0; 4096]),
        beside("unclosed comment", || b"__global__ void k() { /* never ends".to_vec()),
        beside("unclosed string", || b"__global__ void k() { const char* s = \"never ends;\n}\n".to_vec()),
        beside("line that goes on at the end of the file", || b"#define A \\".to_vec()),
        beside("macro that names itself", || {
            b"#define A A + B\n#define B A\n__global__ void k(int* p) { *p = A; }\n".to_vec()
        }),
        beside("file that includes itself", || {
            b"#include \"hostile.cu\"\n__global__ void k(int* p) { *p = 1; }\n".to_vec()
        }),
        beside("10,000 nested parentheses", || kernel(&format!("{}p[0]{}", "(".repeat(DEPTH), ")".repeat(DEPTH)))),
        beside("10,000 unclosed parentheses", || kernel(&"(".repeat(DEPTH))),
        beside("10,000 nested subscripts", || kernel(&format!("{}0{}", "p[".repeat(DEPTH), "]".repeat(DEPTH)))),
        beside("10,000 signs", || kernel(&format!("{}p[0]", "- ".repeat(DEPTH)))),
        beside("10,000 terms", || kernel(&format!("p[0]{}", " + 1".repeat(DEPTH)))),
        beside("10,000 conditional expressions", || kernel(&format!("{}0", "p[0] ? 1 : ".repeat(DEPTH)))),
        beside("10,000 nested blocks", || statement(&format!("{}p[0] = 1;{}", "{".repeat(DEPTH), "}".repeat(DEPTH)))),
        beside("10,000 nested branches", || statement(&format!("{}p[0] = 1;", "if (p[0]) ".repeat(DEPTH)))),
        beside("10,000 nested loops", || {
            statement(&format!("{}p[0] = 1;", "for (int i = 0; i < 2; ++i) ".repeat(DEPTH)))
        }),
        beside("10,000 else branches", || {
            statement(&format!("{}p[0] = 1;", "if (p[0] > 1) p[0] = 2; else ".repeat(DEPTH)))
        }),
        beside("10,000 nested conditions of the preprocessor", || {
            format!("{}int x;\n{}", "#if 1\n".repeat(DEPTH), "#endif\n".repeat(DEPTH)).into_bytes()
        }),
        beside("10,000 nested namespaces", || {
            format!("{}{}", "namespace n {".repeat(DEPTH), "}".repeat(DEPTH)).into_bytes()
        }),
        beside("10,000 nested template arguments", || {
            format!("template <class T> struct A {{}};\n{}int{} x;\n", "A<".repeat(DEPTH), ">".repeat(DEPTH))
                .into_bytes()
        }),
        beside("macro that doubles 40 times", doubling_macro),
        beside("chain of 10,000 functions", chain_of_calls),
        beside("50 MB file", huge_table),
        Trial::test("hostile: CRLF line ends", || same_as_sample(SAMPLE.replace('\n', "\r\n").into_bytes())),
        Trial::test("hostile: byte order mark", || same_as_sample([b"\xef\xbb\xbf", SAMPLE.as_bytes()].concat())),
        Trial::test("hostile: bytes that are not UTF-8", || {
            same_as_sample(
                SAMPLE
                    .replace("    float v", "    /*\u{1}*/ float v")
                    .bytes()
                    .map(|b| if b == 1 { 0xe9 } else { b })
                    .collect(),
            )
        }),
        Trial::test("hostile: no newline at the end", || same_as_sample(SAMPLE.trim_end().as_bytes().to_vec())),
        Trial::test("hostile: path that does not exist", move || {
            let output = checker::cudalint(root).args(["check", "no/such/file.cu"]).output()?;
            expect_code(output.status, 2)
        }),
        Trial::test("hostile: closed pipe", move || closed_pipe(root)),
    ];
    #[cfg(unix)]
    trials.extend(unix_trials());
    trials
}

/// A trial with `bytes` in a file beside the sample.
fn beside(name: &str, bytes: fn() -> Vec<u8>) -> Trial {
    Trial::test(format!("hostile: {name}"), move || {
        let scratch = tempfile::tempdir()?;
        fs::write(scratch.path().join("hostile.cu"), bytes())?;
        sample_is_still_read(scratch.path()).map(|_| ())
    })
}

/// Adds the sample to `folder`, checks the whole folder and looks for the sample's finding.
fn sample_is_still_read(folder: &Path) -> Result<Checked, Failed> {
    fs::write(folder.join("sample.cu"), SAMPLE)?;
    let mut command = checker::cudalint(folder);
    command.args(["check", "--format", "json", "."]).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A file that cannot be read makes it 2; whatever else is there is linted all the same.
    let checked = checker::checked(within(command.spawn()?, PATIENCE)?, &[1, 2])?;
    let is_sample = |file: &Path| file.file_name().is_some_and(|n| n == "sample.cu");
    let found =
        checked.report.findings.iter().any(|f| f.rule == "uncoalesced-access" && f.line == 4 && is_sample(&f.file));
    if !found {
        return Err(format!("sample.cu was not read\n{}", checked.stderr).into());
    }
    if checked.stderr.contains("panicked") {
        return Err(checked.stderr.into());
    }
    Ok(checked)
}

/// The sample in another coat has the sample's finding at the same place.
fn same_as_sample(bytes: Vec<u8>) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let name = Path::new("sample.cu");
    fs::write(scratch.path().join(name), SAMPLE)?;
    let plain = checker::check(scratch.path(), &[name], &[], 1)?;
    fs::write(scratch.path().join(name), bytes)?;
    let coated = checker::check(scratch.path(), &[name], &[], 1)?;
    let places = |c: &Checked| c.report.findings.iter().map(|f| (f.rule.clone(), f.line)).collect::<Vec<_>>();
    match (places(&plain), places(&coated)) {
        (plain, _) if plain.is_empty() => Err("the sample itself shows nothing".into()),
        (plain, coated) if plain == coated => Ok(()),
        (plain, coated) => Err(format!("findings are {coated:?}, expected {plain:?}").into()),
    }
}

/// Waits for the end of a child; one that takes too long is stopped.
fn within(child: std::process::Child, patience: Duration) -> Result<std::process::Output, Failed> {
    let id = child.id();
    let (done, wait) = std::sync::mpsc::channel();
    let handle = std::thread::spawn(move || done.send(child.wait_with_output()));
    let started = Instant::now();
    if let Ok(output) = wait.recv_timeout(patience) {
        let _ = handle.join();
        return Ok(output?);
    }
    let _ = std::process::Command::new("kill").arg(id.to_string()).status();
    Err(format!("still running after {} s", started.elapsed().as_secs()).into())
}

fn expect_code(status: std::process::ExitStatus, code: i32) -> Result<(), Failed> {
    if status.code() == Some(code) { Ok(()) } else { Err(format!("{status}, expected exit code {code}").into()) }
}

/// A reader that goes away, as `head` does, ends the run without a word.
fn closed_pipe(root: &Path) -> Result<(), Failed> {
    let mut command = checker::cudalint(root);
    let mut child = command.args(["check", "fixtures"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop(child.stdout.take());
    let output = within(child, PATIENCE)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("panicked") || stderr.contains("roken pipe") || output.status.code() == Some(3) {
        return Err(format!("{}\n{stderr}", output.status).into());
    }
    Ok(())
}

fn kernel(value: &str) -> Vec<u8> {
    statement(&format!("p[threadIdx.x] = {value};"))
}

fn statement(text: &str) -> Vec<u8> {
    format!("__global__ void deep(int* p)\n{{\n    {text}\n}}\n").into_bytes()
}

fn doubling_macro() -> Vec<u8> {
    let mut lines = vec!["#define X0 p[threadIdx.x] +".to_owned()];
    lines.extend((1..=40).map(|level| format!("#define X{level} X{0} X{0}", level - 1)));
    lines.push("__global__ void k(int* p) { p[0] = X40 1; }\n".to_owned());
    lines.join("\n").into_bytes()
}

/// Each function calls the one above it twice: 2^9,999 paths.
fn chain_of_calls() -> Vec<u8> {
    let mut lines = vec!["__device__ int f0(int* p) { return p[threadIdx.x]; }".to_owned()];
    let body = |level: usize| format!("__device__ int f{level}(int* p) {{ return f{0}(p) + f{0}(p); }}", level - 1);
    lines.extend((1..DEPTH).map(body));
    lines.push(format!("__global__ void k(int* p) {{ p[0] = f{}(p); }}\n", DEPTH - 1));
    lines.join("\n").into_bytes()
}

fn huge_table() -> Vec<u8> {
    let mut text = String::with_capacity(HUGE_BYTES + 256);
    text += "__global__ void first(float* p) { p[threadIdx.x] = 1.0f; }\nconst float table[] = {\n";
    while text.len() < HUGE_BYTES {
        text +=
            "0.125f, 0.25f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f, 1.0f, 1.125f, 1.25f, 1.375f, 1.5f, 1.625f, 1.75f,\n";
    }
    text += "};\n";
    text.into_bytes()
}

#[cfg(unix)]
fn unix_trials() -> Vec<Trial> {
    use std::os::unix::fs::{PermissionsExt, symlink};

    vec![
        Trial::test("hostile: symlink loop", || {
            let scratch = tempfile::tempdir()?;
            symlink(scratch.path(), scratch.path().join("loop"))?;
            symlink("b.cu", scratch.path().join("a.cu"))?;
            symlink("a.cu", scratch.path().join("b.cu"))?;
            sample_is_still_read(scratch.path()).map(|_| ())
        }),
        Trial::test("hostile: link that leads nowhere", || {
            let scratch = tempfile::tempdir()?;
            symlink("nowhere.cu", scratch.path().join("link.cu"))?;
            sample_is_still_read(scratch.path()).map(|_| ())
        }),
        Trial::test("hostile: folder called x.cu", || {
            let scratch = tempfile::tempdir()?;
            fs::create_dir(scratch.path().join("x.cu"))?;
            sample_is_still_read(scratch.path()).map(|_| ())
        }),
        Trial::test("hostile: unreadable file", || {
            let scratch = tempfile::tempdir()?;
            let file = scratch.path().join("locked.cu");
            fs::write(&file, SAMPLE)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o000))?;
            if fs::read(&file).is_ok() {
                println!("skipped: unreadable file (this user may read everything)");
                return Ok(());
            }
            sample_is_still_read(scratch.path()).map(|_| ())
        }),
    ]
}
