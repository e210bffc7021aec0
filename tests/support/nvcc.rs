//! nvcc as a witness: every fixture compiles for sm_90, or is refused with the text it names.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::expectations::Compiles;

/// A compiler that answered, and the version text it gave.
#[derive(Debug, Clone)]
pub(crate) struct Nvcc {
    program: PathBuf,
    version: String,
}

/// `$CUDALINT_NVCC`, `$NVCC`, nvcc on the path, or the one `scripts/setup-nvcc.sh` installs below `root`.
pub(crate) fn find(root: &Path) -> Option<Nvcc> {
    let named = ["CUDALINT_NVCC", "NVCC"].map(|name| std::env::var_os(name).map(PathBuf::from));
    let usual = [Some(PathBuf::from("nvcc")), Some(root.join(".venv-nvcc/bin/nvcc"))];
    let candidates = named.into_iter().chain(usual);
    candidates.flatten().find_map(|program| {
        let output = Command::new(&program).arg("--version").output().ok().filter(|o| o.status.success())?;
        Some(Nvcc { program, version: String::from_utf8_lossy(&output.stdout).into_owned() })
    })
}

impl Nvcc {
    /// Compiles `file` to machine code for sm_90 and holds the outcome against what is expected.
    /// What compiled once with the same text, headers and compiler is not compiled again.
    pub(crate) fn compile(&self, file: &Path, expected: &Compiles) -> Result<(), String> {
        let marks = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
        let mark = marks.join(format!("{:016x}", self.fingerprint(file)?));
        if mark.exists() {
            return Ok(());
        }
        let object = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
        let mut command = Command::new(&self.program);
        command.args(["-arch=sm_90", "-std=c++17", "-cubin", "-o"]).arg(object.path()).arg(file);
        if matches!(expected, Compiles::Cleanly) {
            command.args(["-Werror", "all-warnings"]);
        }
        let output = command.output().map_err(|e| format!("cannot start nvcc: {e}"))?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        match (expected, output.status.success()) {
            (Compiles::Refused(text), true) => return Err(format!("nvcc accepts it, expected \"{text}\"")),
            (Compiles::Cleanly | Compiles::WithWarning(_), false) => return Err(format!("nvcc refuses it:\n{said}")),
            (Compiles::Refused(text) | Compiles::WithWarning(text), _) if !said.contains(text.as_str()) => {
                return Err(format!("nvcc does not say \"{text}\":\n{said}"));
            }
            _ => {}
        }
        fs::create_dir_all(&marks).and_then(|()| fs::write(&mark, "")).map_err(|e| e.to_string())
    }

    /// Changes with the compiler, the file and every file beside it that it may include.
    fn fingerprint(&self, file: &Path) -> Result<u64, String> {
        let mut hasher = DefaultHasher::new();
        self.version.hash(&mut hasher);
        fs::read(file).map_err(|e| e.to_string())?.hash(&mut hasher);
        let beside = file.parent().map(walkdir::WalkDir::new).into_iter().flatten().filter_map(Result::ok);
        let mut headers: Vec<PathBuf> = beside.map(walkdir::DirEntry::into_path).filter(|p| is_header(p)).collect();
        headers.sort();
        for header in headers {
            fs::read(&header).map_err(|e| e.to_string())?.hash(&mut hasher);
        }
        Ok(hasher.finish())
    }
}

fn is_header(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["cuh", "h", "hpp", "inl"].iter().any(|known| e == *known))
}
