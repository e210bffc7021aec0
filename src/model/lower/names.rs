//! What names are known to mean at a point of the file: types, functions, values. Only asked where the grammar is ambiguous.

use rustc_hash::FxHashSet;

use crate::model::ast::{BinaryOp, Name, Path};

#[derive(Debug, Default)]
pub(super) struct Names {
    types: FxHashSet<Name>,
    functions: FxHashSet<Name>,
    namespaces: FxHashSet<Name>,
    /// Globals first, then parameters and locals of the open blocks.
    values: Vec<Name>,
}

impl Names {
    pub(super) fn add_type(&mut self, name: &Name) {
        if !name.is_empty() && !self.types.contains(name) {
            self.types.insert(name.clone());
        }
    }

    pub(super) fn add_function(&mut self, name: &Name) {
        if !self.functions.contains(name) {
            self.functions.insert(name.clone());
        }
    }

    pub(super) fn add_namespace(&mut self, name: &Name) {
        self.namespaces.insert(name.clone());
    }

    pub(super) fn add_value(&mut self, name: &Name) {
        if !name.is_empty() {
            self.values.push(name.clone());
        }
    }

    /// Opens a block; hand the result to [`Names::close`].
    pub(super) fn open(&self) -> usize {
        self.values.len()
    }

    pub(super) fn close(&mut self, mark: usize) {
        self.values.truncate(mark);
    }

    pub(super) fn is_value(&self, name: &str) -> bool {
        self.values.iter().rev().any(|v| v == name)
    }

    pub(super) fn is_namespace(&self, name: &str) -> bool {
        self.namespaces.contains(name) || matches!(name, "std" | "cuda" | "thrust" | "cub" | "cg" | "nvcuda")
    }

    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// Certainly a type here.
    pub(super) fn is_type(&self, name: &str) -> bool {
        !self.is_value(name) && (self.types.contains(name) || is_well_known_type(name))
    }

    /// Whether `(path) op x` is a cast of `op x` and not an operation on two values. Where nothing is known of the name, its
    /// spelling tells: types out of headers are written `Real`, constants `N`, and nobody casts `+x`.
    pub(super) fn is_cast(&self, path: &Path, op: BinaryOp) -> bool {
        if self.is_type_path(path) {
            return true;
        }
        let is_known = match path.as_simple() {
            Some(name) => self.is_value(name) || self.is_function(name),
            None => self.is_function(path.last()),
        };
        let name = path.last();
        let looks_like_type =
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(|c: char| c.is_ascii_lowercase());
        !is_known && op != BinaryOp::Add && looks_like_type
    }

    /// Whether `(path)` in front of brackets or in `sizeof` can be a cast: nothing says that it names a value.
    pub(super) fn may_be_type(&self, path: &Path) -> bool {
        let name = path.last();
        match path.as_simple() {
            Some(name) => {
                self.is_type(name) || !(self.is_value(name) || self.is_function(name) || is_math_function(name))
            }
            None => self.types.contains(name) || !(self.is_function(name) || is_math_function(name)),
        }
    }

    /// Certainly a type, by its last segment.
    pub(super) fn is_type_path(&self, path: &Path) -> bool {
        match path.as_simple() {
            Some(name) => self.is_type(name),
            None => self.types.contains(path.last()) || is_well_known_type(path.last()),
        }
    }
}

/// Types that need no declaration: CUDA's vector types, and the names that the C library's headers reserve for types.
fn is_well_known_type(name: &str) -> bool {
    if name.ends_with("_t") && name.len() > 2 {
        return true;
    }
    if let Some(stem) = name.strip_suffix(['1', '2', '3', '4'])
        && matches!(
            stem,
            "char"
                | "uchar"
                | "short"
                | "ushort"
                | "int"
                | "uint"
                | "long"
                | "ulong"
                | "longlong"
                | "ulonglong"
                | "float"
                | "double"
        )
    {
        return true;
    }
    matches!(
        name,
        "dim3"
            | "uint"
            | "ushort"
            | "uchar"
            | "ulong"
            | "half"
            | "half2"
            | "__half"
            | "__half2"
            | "__nv_bfloat16"
            | "__nv_bfloat162"
            | "nv_bfloat16"
            | "nv_bfloat162"
            | "FILE"
            | "unsigned"
            | "signed"
            | "long"
            | "short"
            | "int"
            | "char"
            | "float"
            | "double"
            | "bool"
            | "void"
            | "clock_t"
    )
}

/// Functions of the C library that are written in brackets to keep macros of that name away.
fn is_math_function(name: &str) -> bool {
    matches!(
        name,
        "abs"
            | "fabs"
            | "fabsf"
            | "sqrt"
            | "sqrtf"
            | "ceil"
            | "floor"
            | "round"
            | "exp"
            | "log"
            | "sin"
            | "cos"
            | "tan"
            | "min"
            | "max"
    )
}
