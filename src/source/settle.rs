//! From the files read to the files of the run: other dialects leave, the rest gets its numbers in the order of the paths.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::build_files::BuildIndex;
use super::directives::Directive;
use super::resolve::Location;
use super::screen::{Dialect, Screening, calls_cuda, is_hip_path};
use super::walk::{Collected, FileInfo, Include};
use super::{FileId, SourceMap};

/// A file that was read.
pub(crate) struct Node {
    pub(crate) location: Location,
    pub(crate) text: String,
    pub(crate) directives: Vec<Directive>,
    pub(crate) screening: Screening,
    pub(crate) includes: Vec<Edge>,
    pub(crate) is_asked: bool,
    pub(crate) is_context: bool,
    pub(crate) build: Option<BuildIndex>,
}

pub(crate) struct Edge {
    pub(crate) offset: u32,
    pub(crate) node: usize,
    /// Outside all conditionals: holds in every build.
    pub(crate) unconditional: bool,
}

impl Node {
    pub(crate) fn new(location: Location, text: String, directives: Vec<Directive>, screening: Screening) -> Self {
        Self {
            location,
            text,
            directives,
            screening,
            includes: Vec::new(),
            is_asked: false,
            is_context: false,
            build: None,
        }
    }

    fn is_neutral(&self) -> bool {
        self.screening.dialect.is_none() && !self.screening.names_cuda && !calls_cuda(&self.text)
    }
}

/// Numbers what stays.
pub(crate) fn settle(
    nodes: Vec<Node>,
    mut passed_over: Vec<(PathBuf, String)>,
    mut unreadable: Vec<(PathBuf, String)>,
) -> Collected {
    let foreign = foreign(&nodes);
    let kept = reached(&nodes, &foreign);
    let mut order: Vec<usize> = (0..nodes.len()).filter(|i| kept[*i]).collect();
    order.sort_by(|a, b| nodes[*a].location.display.cmp(&nodes[*b].location.display));
    let mut ids: Vec<Option<FileId>> = vec![None; nodes.len()];
    for (id, index) in order.iter().enumerate() {
        ids[*index] = Some(FileId(id as u32));
    }
    for (node, dialect) in nodes.iter().zip(&foreign) {
        if let Some(dialect) = dialect
            && node.is_asked
        {
            passed_over.push((node.location.display.clone(), dialect.reason().to_owned()));
        }
    }
    passed_over.sort();
    passed_over.dedup();
    unreadable.sort();
    unreadable.dedup();

    let mut collected = Collected { passed_over, unreadable, ..Collected::default() };
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let mut texts = Vec::with_capacity(order.len());
    for index in order {
        let Some(node) = nodes[index].take() else { continue };
        let includes =
            node.includes.iter().filter_map(|e| Some(Include { offset: e.offset, file: ids[e.node]? })).collect();
        texts.push((node.location.display, node.text));
        collected.info.push(FileInfo {
            is_context: node.is_context,
            is_pulled_in: !node.is_asked,
            includes,
            directives: node.directives,
            build: node.build,
        });
    }
    collected.sources = SourceMap::from_texts(texts);
    collected
}

/// Files of another dialect: by their own words, by what they always include, by who includes them, by their folder.
fn foreign(nodes: &[Node]) -> Vec<Option<Dialect>> {
    let mut foreign: Vec<Option<Dialect>> = nodes.iter().map(|n| n.screening.dialect).collect();
    let mut includers: Vec<Vec<(usize, bool)>> = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for edge in &node.includes {
            includers[edge.node].push((index, edge.unconditional));
        }
    }
    let mut pending: Vec<usize> = (0..nodes.len()).filter(|i| foreign[*i].is_some()).collect();
    while let Some(index) = pending.pop() {
        for (includer, unconditional) in &includers[index] {
            if *unconditional && foreign[*includer].is_none() && !nodes[*includer].screening.names_cuda {
                foreign[*includer] = foreign[index];
                pending.push(*includer);
            }
        }
    }
    by_folder(nodes, &mut foreign);
    foreign
}

/// In a folder whose sources with a word on the matter are all HIP, the silent ones are HIP too.
fn by_folder(nodes: &[Node], foreign: &mut [Option<Dialect>]) {
    #[derive(Default)]
    struct Folder {
        dialect: Option<Dialect>,
        holds_cuda: bool,
    }
    let folder_of = |node: &Node| node.location.key.parent().unwrap_or(Path::new("")).to_owned();
    let mut folders: FxHashMap<PathBuf, Folder> = FxHashMap::default();
    for (node, dialect) in nodes.iter().zip(foreign.iter()) {
        if dialect.is_some() {
            folders.entry(folder_of(node)).or_default().dialect = *dialect;
        }
    }
    for (node, dialect) in nodes.iter().zip(foreign.iter()) {
        if dialect.is_none()
            && let Some(folder) = folders.get_mut(&folder_of(node))
        {
            folder.holds_cuda |= !node.is_neutral();
        }
    }
    for (node, dialect) in nodes.iter().zip(foreign.iter_mut()) {
        if dialect.is_none()
            && node.is_asked
            && let Some(folder) = folders.get(&folder_of(node))
            && !folder.holds_cuda
        {
            *dialect = folder.dialect;
        }
        if dialect.is_none() && node.is_asked && is_hip_path(&node.location.display) && node.is_neutral() {
            *dialect = Some(Dialect::Hip);
        }
    }
}

/// Files asked for that are CUDA, and what they include.
fn reached(nodes: &[Node], foreign: &[Option<Dialect>]) -> Vec<bool> {
    let mut kept: Vec<bool> = nodes.iter().zip(foreign).map(|(n, f)| n.is_asked && f.is_none()).collect();
    let mut pending: Vec<usize> = (0..nodes.len()).filter(|i| kept[*i]).collect();
    while let Some(index) = pending.pop() {
        for edge in &nodes[index].includes {
            if !kept[edge.node] {
                kept[edge.node] = true;
                pending.push(edge.node);
            }
        }
    }
    kept
}
