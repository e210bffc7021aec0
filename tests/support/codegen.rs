//! Machine code by source line: a CUDA source -> a cubin (nvcc) -> the instructions behind each line (nvdisasm).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler with its disassembler beside it.
#[derive(Debug, Clone)]
pub(crate) struct Toolchain {
    nvcc: PathBuf,
    nvdisasm: PathBuf,
}

/// A source line as the compiler's line table names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// File name without folders.
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// One machine instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instr {
    /// Mangled name of the kernel or device function it belongs to.
    pub(crate) function: String,
    /// The mnemonic with all its modifiers: `LDG.E.64.CONSTANT`.
    pub(crate) opcode: String,
    pub(crate) operands: String,
    /// Executed by some lanes only (`@P0`).
    pub(crate) is_predicated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Shared,
    Local,
    /// `__constant__` variables.
    Constant,
    /// Decided at run time.
    Generic,
}

/// The constant bank of `__constant__` variables; 0 holds the parameters, 4 the addresses of global variables.
const USER_CONSTANTS: &str = "c[0x3]";

/// What a memory instruction moves per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) is_load: bool,
    pub(crate) is_store: bool,
    pub(crate) bytes: u32,
}

impl Instr {
    /// The mnemonic's first word.
    pub(crate) fn mnemonic(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// What the instruction moves; `None` for arithmetic and for reads of kernel parameters.
    pub(crate) fn access(&self) -> Option<Access> {
        use Space::{Constant, Generic, Global, Local, Shared};
        let (space, is_load, is_store) = match self.mnemonic() {
            "LDG" => (Global, true, false),
            "STG" => (Global, false, true),
            "ATOMG" | "RED" | "REDG" => (Global, true, true),
            "LDS" | "LDSM" => (Shared, true, false),
            "STS" | "STSM" => (Shared, false, true),
            "ATOMS" => (Shared, true, true),
            "LDL" => (Local, true, false),
            "STL" => (Local, false, true),
            "LDC" | "ULDC" if self.operands.contains(USER_CONSTANTS) => (Constant, true, false),
            "LD" => (Generic, true, false),
            "ST" => (Generic, false, true),
            "ATOM" => (Generic, true, true),
            _ => return None,
        };
        Some(Access { space, is_load, is_store, bytes: self.bytes() })
    }

    /// Double precision arithmetic, conversions from and to it included.
    pub(crate) fn is_fp64(&self) -> bool {
        matches!(self.mnemonic(), "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" | "DMMA")
            || self.opcode.split('.').any(|word| word == "F64" || word == "RCP64H" || word == "RSQ64H")
    }

    /// `LDS`, `LDS.64`, `STG.8`: the mnemonic and the width in bits where it is not 32.
    pub(crate) fn short_name(&self) -> String {
        match self.bytes() {
            4 => self.mnemonic().to_owned(),
            bytes => format!("{}.{}", self.mnemonic(), bytes * 8),
        }
    }

    fn bytes(&self) -> u32 {
        let width = |word: &str| match word {
            "U8" | "S8" => Some(1),
            "U16" | "S16" => Some(2),
            "64" => Some(8),
            "128" => Some(16),
            "256" => Some(32),
            _ => None,
        };
        self.opcode.split('.').find_map(width).unwrap_or(4)
    }
}

impl Toolchain {
    /// `$CUDALINT_NVCC`, else the venv of `scripts/setup-nvcc.sh`, else the `nvcc` on the path.
    pub(crate) fn find() -> Option<Self> {
        let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv-nvcc/bin/nvcc");
        let named = std::env::var_os("CUDALINT_NVCC").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|folder| folder.join("nvcc"));
        named.into_iter().chain([venv]).chain(on_path).find_map(Self::beside)
    }

    fn beside(nvcc: PathBuf) -> Option<Self> {
        let nvdisasm = nvcc.with_file_name("nvdisasm");
        (nvcc.is_file() && nvdisasm.is_file()).then_some(Self { nvcc, nvdisasm })
    }

    /// Compiles as the measured programs were: optimised, with line tables, for one target such as `sm_90`.
    pub(crate) fn cubin(&self, source: &Path, target: &str, out: &Path) -> Result<(), String> {
        let arch = format!("-arch={target}");
        let flags = ["-O3", &arch, "-lineinfo", "-cubin", "-w", "-o"].map(OsStr::new);
        run(Command::new(&self.nvcc).args(flags).arg(out).arg(source)).map(drop)
    }

    /// Every instruction of a cubin under the line it was compiled from, in the order of the machine code.
    pub(crate) fn instructions_by_line(&self, cubin: &Path) -> Result<BTreeMap<Place, Vec<Instr>>, String> {
        run(Command::new(&self.nvdisasm).args(["--print-code", "--print-line-info"]).arg(cubin))
            .map(|text| by_line(&text))
    }
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

fn by_line(disassembly: &str) -> BTreeMap<Place, Vec<Instr>> {
    let mut lines: BTreeMap<Place, Vec<Instr>> = BTreeMap::new();
    let mut function = String::new();
    let mut place = None;
    for text in disassembly.lines() {
        if let Some(name) = text.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            name.clone_into(&mut function);
            place = None;
        } else if let Some(new) = place_of(text) {
            place = Some(new);
        } else if let (Some(place), Some(instr)) = (&place, instr_of(text, &function)) {
            lines.entry(place.clone()).or_default().push(instr);
        }
    }
    lines
}

/// `//## File "/folder/k.cu", line 12` and what may follow.
fn place_of(text: &str) -> Option<Place> {
    let (path, rest) = text.trim_start().strip_prefix("//## File \"")?.split_once("\", line ")?;
    let line = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let file = Path::new(path).file_name()?.to_string_lossy().into_owned();
    Some(Place { file, line })
}

/// `/*0040*/  @!P0 LDS.64 R6, [R4] ;`
fn instr_of(text: &str, function: &str) -> Option<Instr> {
    let (_, code) = text.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let code = code.trim().split(';').next()?.trim_end();
    let (is_predicated, code) = match code.strip_prefix('@') {
        Some(guarded) => (true, guarded.split_once(' ')?.1.trim_start()),
        None => (false, code),
    };
    let (opcode, operands) = code.split_once(' ').unwrap_or((code, ""));
    let is_mnemonic = opcode.starts_with(|c: char| c.is_ascii_uppercase());
    is_mnemonic.then(|| Instr {
        function: function.to_owned(),
        opcode: opcode.to_owned(),
        operands: operands.trim().to_owned(),
        is_predicated,
    })
}
