//! Which translation unit writes out which header: of the units that reach it a `.cu` file before others, one of its own folder
//! before others, the first by path.

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::source::{Collected, FileId};

/// The unit of each file, by [`FileId`]. A file that nothing includes is its own unit.
pub(crate) fn owners(collected: &Collected) -> Vec<FileId> {
    let count = collected.info.len();
    let edges: Vec<Vec<FileId>> = (0..count as u32).map(|f| collected.includes_of(FileId(f))).collect();
    let mut best: Vec<Option<Rank>> = vec![None; count];
    let mut search = Search { collected, folder: folders(collected), edges: &edges, seen: vec![u32::MAX; count] };
    let mut is_included = vec![false; count];
    for (from, targets) in edges.iter().enumerate() {
        for target in targets.iter().filter(|t| t.0 as usize != from) {
            if let Some(flag) = is_included.get_mut(target.0 as usize) {
                *flag = true;
            }
        }
    }
    for file in (0..count as u32).map(FileId).filter(|f| !is_included[f.0 as usize]) {
        search.claim(file, &mut best);
    }
    // Files that include each other and that no other file includes.
    for file in (0..count as u32).map(FileId) {
        if best[file.0 as usize].is_none() {
            search.claim(file, &mut best);
        }
    }
    best.into_iter().enumerate().map(|(index, rank)| rank.map_or(FileId(index as u32), |r| r.root)).collect()
}

fn folders(collected: &Collected) -> Vec<usize> {
    let mut numbers: FxHashMap<Option<&Path>, usize> = FxHashMap::default();
    let mut by_file = Vec::new();
    for file in collected.sources.files() {
        let next = numbers.len();
        by_file.push(*numbers.entry(file.path.parent()).or_insert(next));
    }
    by_file
}

/// The files that own a file, in order.
pub(crate) fn roots(owner: &[FileId]) -> Vec<FileId> {
    let mut roots = owner.to_vec();
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// Lower is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    not_cuda: bool,
    other_folder: bool,
    root: FileId,
}

struct Search<'c> {
    collected: &'c Collected,
    /// By file a number for its folder.
    folder: Vec<usize>,
    edges: &'c [Vec<FileId>],
    /// The root that reached each file last.
    seen: Vec<u32>,
}

impl Search<'_> {
    /// Offers `root` as the unit of all files that it reaches.
    fn claim(&mut self, root: FileId, best: &mut [Option<Rank>]) {
        let not_cuda = self.collected.sources.path(root).extension().is_none_or(|e| e != "cu");
        let mut pending = vec![root];
        while let Some(file) = pending.pop() {
            let index = file.0 as usize;
            if self.seen.get(index).is_none_or(|s| *s == root.0) {
                continue;
            }
            self.seen[index] = root.0;
            let other_folder = self.folder[index] != self.folder[root.0 as usize];
            let rank = Rank { not_cuda, other_folder, root };
            if best[index].is_none_or(|b| rank < b) {
                best[index] = Some(rank);
            }
            pending.extend_from_slice(&self.edges[index]);
        }
    }
}
