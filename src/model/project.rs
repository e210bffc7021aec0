//! Links the files of one run: who includes whom, and which declaration a name means when it is used in some file.
//!
//! A name is looked for in the file itself, then in its include closure (both ways: a header may use what its includer
//! declared before), then in the same directory. Only a kernel, whose launch may stand anywhere, is looked for in the
//! whole project as well, and bound if its name is unique there. Strangers that happen to share a name never bind.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{Alias, EnumDef, ExprKind, Function, Global, Name, Record, Unit};
use super::visit;
use crate::source::FileId;

/// Index of a declaration: file, position in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeclId {
    pub file: FileId,
    pub index: u32,
}

/// All units of a run with their name tables.
#[derive(Debug, Default)]
pub struct Project {
    units: Vec<Unit>,
    directories: Vec<PathBuf>,
    /// Files each file reaches through includes, itself included.
    closure: Vec<FxHashSet<FileId>>,
    functions: FxHashMap<Name, Vec<DeclId>>,
    records: FxHashMap<Name, Vec<DeclId>>,
    aliases: FxHashMap<Name, Vec<DeclId>>,
    enums: FxHashMap<Name, Vec<DeclId>>,
    globals: FxHashMap<Name, Vec<DeclId>>,
    /// Enumerators: the enum and the position in it.
    enumerators: FxHashMap<Name, Vec<(DeclId, u32)>>,
    /// Functions with a body that launch a kernel, directly or through calls.
    launching: FxHashSet<DeclId>,
}

impl Project {
    /// `units`, `paths` and `includes` are indexed by file; `includes[f]` are the files that f includes directly.
    pub fn link(mut units: Vec<Unit>, paths: &[PathBuf], includes: &[Vec<FileId>]) -> Self {
        for unit in &mut units {
            hoist_nested(unit);
        }
        let mut project = Self {
            directories: paths.iter().map(|p| p.parent().unwrap_or(Path::new("")).to_path_buf()).collect(),
            closure: closures(includes),
            ..Self::default()
        };
        for (file, unit) in units.iter().enumerate() {
            project.index(FileId(file as u32), unit);
        }
        project.units = units;
        project.launching = project.find_launching();
        project
    }

    fn index(&mut self, file: FileId, unit: &Unit) {
        let id = |index: usize| DeclId { file, index: index as u32 };
        for (i, f) in unit.functions.iter().enumerate() {
            self.functions.entry(f.name.clone()).or_default().push(id(i));
        }
        for (i, r) in unit.records.iter().enumerate() {
            self.records.entry(r.name.clone()).or_default().push(id(i));
        }
        for (i, a) in unit.aliases.iter().enumerate() {
            self.aliases.entry(a.name.clone()).or_default().push(id(i));
        }
        for (i, e) in unit.enums.iter().enumerate() {
            self.enums.entry(e.name.clone()).or_default().push(id(i));
            for (k, (name, _)) in e.values.iter().enumerate() {
                self.enumerators.entry(name.clone()).or_default().push((id(i), k as u32));
            }
        }
        for (i, g) in unit.globals.iter().enumerate() {
            self.globals.entry(g.decl.name.clone()).or_default().push(id(i));
        }
    }

    pub fn unit(&self, file: FileId) -> Option<&Unit> {
        self.units.get(file.0 as usize)
    }

    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    pub fn function(&self, id: DeclId) -> &Function {
        &self.units[id.file.0 as usize].functions[id.index as usize]
    }

    pub fn record(&self, id: DeclId) -> &Record {
        &self.units[id.file.0 as usize].records[id.index as usize]
    }

    pub fn alias(&self, id: DeclId) -> &Alias {
        &self.units[id.file.0 as usize].aliases[id.index as usize]
    }

    pub fn enumeration(&self, id: DeclId) -> &EnumDef {
        &self.units[id.file.0 as usize].enums[id.index as usize]
    }

    pub fn global(&self, id: DeclId) -> &Global {
        &self.units[id.file.0 as usize].globals[id.index as usize]
    }

    /// Every function of the run with its id, in file order.
    pub fn all_functions(&self) -> impl Iterator<Item = (DeclId, &Function)> {
        self.units.iter().enumerate().flat_map(|(file, unit)| {
            unit.functions
                .iter()
                .enumerate()
                .map(move |(i, f)| (DeclId { file: FileId(file as u32), index: i as u32 }, f))
        })
    }

    pub fn functions_named(&self, name: &str, from: FileId) -> Vec<DeclId> {
        self.nearest(self.functions.get(name), from, |id| *id)
    }

    /// The kernels a launch in `from` may mean: those with a body that stand nearest, in the end the only one there is.
    pub fn kernels_named(&self, name: &str, from: FileId) -> Vec<DeclId> {
        let Some(all) = self.functions.get(name) else { return Vec::new() };
        let defined: Vec<DeclId> = all
            .iter()
            .copied()
            .filter(|id| self.function(*id).quals.is_global && self.function(*id).body.is_some())
            .collect();
        let near = self.nearest(Some(&defined), from, |id| *id);
        let is_one_file = defined.iter().all(|id| id.file == defined[0].file);
        if near.is_empty() && is_one_file { defined } else { near }
    }

    pub fn records_named(&self, name: &str, from: FileId) -> Vec<DeclId> {
        self.nearest(self.records.get(name), from, |id| *id)
    }

    pub fn aliases_named(&self, name: &str, from: FileId) -> Vec<DeclId> {
        self.nearest(self.aliases.get(name), from, |id| *id)
    }

    pub fn enums_named(&self, name: &str, from: FileId) -> Vec<DeclId> {
        self.nearest(self.enums.get(name), from, |id| *id)
    }

    pub fn globals_named(&self, name: &str, from: FileId) -> Vec<DeclId> {
        self.nearest(self.globals.get(name), from, |id| *id)
    }

    pub fn enumerators_named(&self, name: &str, from: FileId) -> Vec<(DeclId, u32)> {
        self.nearest(self.enumerators.get(name), from, |(id, _)| *id)
    }

    /// The candidates that stand nearest to a file: same file, include closure, directory.
    fn nearest<T: Copy>(&self, all: Option<&Vec<T>>, from: FileId, file: impl Fn(&T) -> DeclId) -> Vec<T> {
        let Some(all) = all else { return Vec::new() };
        let mut best = u8::MAX;
        let mut out = Vec::new();
        for item in all {
            let rank = self.distance(from, file(item).file);
            if rank < best && rank < 3 {
                best = rank;
                out.clear();
            }
            if rank == best {
                out.push(*item);
            }
        }
        out
    }

    /// 0 same file, 1 include closure, 2 same directory, 3 elsewhere.
    fn distance(&self, from: FileId, to: FileId) -> u8 {
        let reaches = |a: FileId, b: FileId| self.closure.get(a.0 as usize).is_some_and(|c| c.contains(&b));
        if from == to {
            0
        } else if reaches(from, to) || reaches(to, from) {
            1
        } else if self.directories.get(from.0 as usize) == self.directories.get(to.0 as usize) {
            2
        } else {
            3
        }
    }

    /// Whether a function launches a kernel, directly or through what it calls.
    pub fn is_launching(&self, id: DeclId) -> bool {
        self.launching.contains(&id)
    }

    fn find_launching(&self) -> FxHashSet<DeclId> {
        let mut callers: FxHashMap<Name, Vec<DeclId>> = FxHashMap::default();
        let mut work = Vec::new();
        for (id, function) in self.all_functions() {
            let Some(body) = &function.body else { continue };
            let mut launches = false;
            visit::expressions(body, &mut |e| match &e.kind {
                ExprKind::Launch { .. } => launches = true,
                ExprKind::Call { callee, .. } => {
                    let name = match &callee.kind {
                        ExprKind::Name(path) => path.last().clone(),
                        ExprKind::Member { member, .. } => member.name.clone(),
                        _ => return,
                    };
                    launches |= matches!(
                        name.as_str(),
                        "cudaLaunchKernel"
                            | "cudaLaunchKernelEx"
                            | "cudaLaunchCooperativeKernel"
                            | "cudaLaunchKernelExC"
                    );
                    callers.entry(name).or_default().push(id);
                }
                _ => {}
            });
            if launches {
                work.push(id);
            }
        }
        let mut found: FxHashSet<DeclId> = work.iter().copied().collect();
        while let Some(id) = work.pop() {
            for caller in callers.get(&self.function(id).name).into_iter().flatten() {
                if self.distance(caller.file, id.file) < 3 && found.insert(*caller) {
                    work.push(*caller);
                }
            }
        }
        found
    }
}

/// Nested records, enums and aliases become records of the file with the class in their scope.
fn hoist_nested(unit: &mut Unit) {
    let mut at = 0;
    while at < unit.records.len() {
        let mut scope = unit.records[at].scope.clone();
        scope.push(unit.records[at].name.clone());
        for mut record in std::mem::take(&mut unit.records[at].records) {
            record.scope.clone_from(&scope);
            unit.records.push(record);
        }
        for mut e in std::mem::take(&mut unit.records[at].enums) {
            e.scope.clone_from(&scope);
            unit.enums.push(e);
        }
        for mut alias in unit.records[at].aliases.clone() {
            alias.scope.clone_from(&scope);
            unit.aliases.push(alias);
        }
        for decl in unit.records[at].statics.clone() {
            unit.globals.push(Global { scope: scope.clone(), decl });
        }
        at += 1;
    }
}

fn closures(includes: &[Vec<FileId>]) -> Vec<FxHashSet<FileId>> {
    (0..includes.len())
        .map(|start| {
            let mut seen = FxHashSet::default();
            let mut work = vec![FileId(start as u32)];
            while let Some(file) = work.pop() {
                if seen.insert(file) {
                    work.extend(includes.get(file.0 as usize).into_iter().flatten().copied());
                }
            }
            seen
        })
        .collect()
}
