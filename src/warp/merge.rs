//! What nvcc does to neighbouring accesses: several become one wide access, and what is in a register is not read again.
//!
//! Measured with nvcc 13 at -O3 (`tests/codegen.rs` holds the variants). Two passes merge. The vectoriser needs an alignment that
//! declarations promise: dynamic shared memory (16 bytes), aligned arrays, elements that are vector types. ptxas knows
//! where plain static shared arrays lie, but stops at any shared store. Both join accesses of one object whose distance is known
//! and whose common start is aligned to the wide access; loads may cover a hole of a quarter, stores may not. Pointers to
//! scalars in global memory never merge: nothing promises their alignment.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::symbolic::eval::Touch;
use crate::symbolic::lanes::{Block, Lanes};
use crate::symbolic::term::Poly;
use crate::symbolic::value::{Base, Memory};
use crate::warp::facts::{Operation, Space};

/// What becomes of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// An instruction of its own: bytes per lane, and how far it starts before or after the access itself.
    Own { bytes: u64, shift: i64 },
    /// Done by another access.
    Into(usize),
}

/// The fate of each access, in the order of the walk.
pub fn fates(touches: &[Touch], memories: &[Memory], block: Block) -> Vec<Fate> {
    let mut fates: Vec<Fate> = touches.iter().map(|t| Fate::Own { bytes: t.bytes, shift: 0 }).collect();
    let starts = static_starts(memories);
    drop_rereads(touches, memories, block, &mut fates);
    merge_neighbours(touches, memories, block, &starts, &mut fates);
    fates
}

/// Where static shared arrays start: in order of declaration, each aligned to its type; `None` for other memory.
fn static_starts(memories: &[Memory]) -> Vec<Option<u64>> {
    let mut at = Some(0u64);
    memories
        .iter()
        .map(|m| {
            if m.space != Space::Shared || m.is_dynamic() {
                return None;
            }
            let start = at?.next_multiple_of(m.align.max(1));
            at = m.ty.size().map(|s| start + s);
            Some(start)
        })
        .collect()
}

fn memory(memories: &[Memory], base: Base) -> Option<&Memory> {
    match base {
        Base::Memory(i) => memories.get(i as usize),
        _ => None,
    }
}

/// An offset without its known constant, and the constant.
fn split(offset: &Poly, block: Block) -> (Poly, i64) {
    let known = offset.known_part();
    let constant = known.get(block, 0);
    let rest = known.add(&Lanes::constant(-constant), block);
    let mut key = Poly::lanes(rest);
    key.terms.extend(offset.terms.iter().filter(|(m, _)| !m.is_empty()).cloned());
    (key, constant)
}

/// An access whose value is in a register.
struct Held {
    index: usize,
    bytes: u64,
    base: Base,
    key: Poly,
    constant: i64,
}

fn drop_rereads(touches: &[Touch], memories: &[Memory], block: Block, fates: &mut [Fate]) {
    let mut held: Vec<Held> = Vec::new();
    let mut order = 0;
    for (i, touch) in touches.iter().enumerate() {
        if touch.order != order {
            order = touch.order;
            held.retain(|h| memory(memories, h.base).is_some_and(|m| m.space == Space::Global && m.is_restrict));
        }
        if touch.is_volatile {
            continue;
        }
        let (key, constant) = split(&touch.offset, block);
        match touch.operation {
            Operation::Atomic => held.retain(|h| space(memories, h.base) != space(memories, touch.base)),
            Operation::Store => {
                held.retain(|h| !may_alias(h, touch, &key, constant, memories));
                push(&mut held, Held { index: i, bytes: touch.bytes, base: touch.base, key, constant });
            }
            Operation::Load => {
                let known = held.iter().rev().find(|h| {
                    h.base == touch.base
                        && h.bytes == touch.bytes
                        && h.constant == constant
                        && h.key == key
                        && dominates(&touches[h.index], touch)
                });
                match known {
                    Some(h) => fates[i] = Fate::Into(h.index),
                    None => push(&mut held, Held { index: i, bytes: touch.bytes, base: touch.base, key, constant }),
                }
            }
        }
    }
    // A chain ends at an access that is done.
    for i in 0..fates.len() {
        while let Fate::Into(j) = fates[i] {
            match fates[j] {
                Fate::Into(k) => fates[i] = Fate::Into(k),
                Fate::Own { .. } => break,
            }
        }
    }
}

fn push(held: &mut Vec<Held>, new: Held) {
    if held.len() >= 96 {
        held.remove(0);
    }
    held.push(new);
}

fn space(memories: &[Memory], base: Base) -> Option<Space> {
    memory(memories, base).map(|m| m.space)
}

fn dominates(a: &Touch, b: &Touch) -> bool {
    b.region.starts_with(&a.region) && b.active.without(&a.active).is_empty()
}

/// Whether a store may change what is held.
fn may_alias(held: &Held, store: &Touch, key: &Poly, constant: i64, memories: &[Memory]) -> bool {
    let (Some(a), Some(b)) = (memory(memories, held.base), memory(memories, store.base)) else { return true };
    if held.base == store.base {
        let distance = (held.constant - constant).unsigned_abs();
        let is_apart = held.key == *key && distance >= held.bytes.max(store.bytes);
        return !is_apart;
    }
    if a.space != b.space {
        return a.space == Space::Unknown || b.space == Space::Unknown;
    }
    match a.space {
        Space::Shared => false,
        _ => !(a.is_restrict || b.is_restrict),
    }
}

/// Accesses that may become one.
#[derive(PartialEq, Eq, Hash, Clone)]
struct GroupKey {
    base: Base,
    key: Poly,
    straight: u32,
    is_store: bool,
    bytes: u64,
    region: Rc<[u32]>,
}

struct Group {
    key: GroupKey,
    /// Constant offset and index of the access.
    members: Vec<(i64, usize)>,
    /// The wide access may be as wide as this.
    align: u64,
    by_ptxas: bool,
}

fn merge_neighbours(touches: &[Touch], memories: &[Memory], block: Block, starts: &[Option<u64>], fates: &mut [Fate]) {
    let mut open: FxHashMap<GroupKey, Group> = FxHashMap::default();
    let mut done: Vec<Group> = Vec::new();
    let mut order = 0;
    for (i, touch) in touches.iter().enumerate() {
        if touch.order != order {
            order = touch.order;
            close(&mut open, &mut done, |_| true);
        }
        if touch.operation == Operation::Atomic || touch.is_volatile || touch.is_launch_scaled {
            continue;
        }
        let Some(m) = memory(memories, touch.base) else { continue };
        let is_store = touch.operation == Operation::Store;
        if m.space == Space::Shared {
            // ptxas gives up at a shared store; between two stores at a shared load.
            close(&mut open, &mut done, |g| g.by_ptxas && g.key.is_store != is_store && (is_store || g.key.is_store));
        }
        if fates[i] != (Fate::Own { bytes: touch.bytes, shift: 0 }) || !matches!(touch.bytes, 1 | 2 | 4 | 8) {
            continue;
        }
        let (key, constant) = split(&touch.offset, block);
        close(&mut open, &mut done, |g| {
            g.key.base == touch.base && (is_store || g.key.is_store) && g.key.key != key && g.key.is_store != is_store
        });
        let Some((align, by_ptxas)) = alignment(m, touch.base, starts, &key, touch.bytes) else { continue };
        if align < touch.bytes * 2 || by_ptxas && touch.bytes < 4 {
            continue;
        }
        let group_key = GroupKey {
            base: touch.base,
            key,
            straight: touch.straight,
            is_store,
            bytes: touch.bytes,
            region: touch.region.clone(),
        };
        open.entry(group_key.clone())
            .or_insert_with(|| Group { key: group_key, members: Vec::new(), align, by_ptxas })
            .members
            .push((constant, i));
    }
    close(&mut open, &mut done, |_| true);
    for group in &done {
        join(group, fates);
    }
}

fn close(open: &mut FxHashMap<GroupKey, Group>, done: &mut Vec<Group>, which: impl Fn(&Group) -> bool) {
    done.extend(open.extract_if(|_, g| which(g)).map(|(_, g)| g));
}

/// The alignment that is provable for an offset of a region (at most 16), and whether only ptxas knows it. Where the
/// declaration promises enough for a pair of `bytes`, the vectoriser has done it already.
fn alignment(m: &Memory, base: Base, starts: &[Option<u64>], key: &Poly, bytes: u64) -> Option<(u64, bool)> {
    let declared = match m.space {
        Space::Shared => m.align,
        // The pointer's type promises no more than its element's alignment.
        Space::Global => m.ty.align(),
        _ => return None,
    };
    let start = match base {
        Base::Memory(i) => starts.get(i as usize).copied().flatten(),
        _ => None,
    };
    let (base_align, by_ptxas) = match start {
        _ if declared >= bytes * 2 => (declared.min(16), false),
        Some(0) => (16, true),
        Some(start) => ((1u64 << start.trailing_zeros().min(4)), true),
        None => return None,
    };
    let mut align = base_align;
    for (_, lanes) in &key.terms {
        while align > 1 && !lanes.is_multiple_of(align as i64) {
            align /= 2;
        }
    }
    Some((align, by_ptxas))
}

fn join(group: &Group, fates: &mut [Fate]) {
    let size = group.key.bytes;
    let mut left: Vec<(i64, usize)> = group.members.clone();
    let mut width = group.align.min(16);
    while width >= size * 2 && left.len() > 1 {
        let mut buckets: BTreeMap<i64, Vec<(i64, usize)>> = BTreeMap::new();
        for (c, i) in &left {
            buckets.entry(c.div_euclid(width as i64)).or_default().push((*c, *i));
        }
        for (bucket, members) in buckets {
            let mut offsets: Vec<i64> = members.iter().map(|m| m.0).collect();
            offsets.sort_unstable();
            offsets.dedup();
            let covered = offsets.len() as u64 * size;
            let is_enough = if group.key.is_store { covered == width } else { covered * 4 >= width * 3 };
            if offsets.len() < 2 || !is_enough {
                continue;
            }
            let lead = if group.key.is_store {
                members.iter().max_by_key(|m| m.1)
            } else {
                members.iter().min_by_key(|m| m.1)
            };
            let Some((lead_offset, lead)) = lead.copied() else { continue };
            fates[lead] = Fate::Own { bytes: width, shift: bucket * width as i64 - lead_offset };
            for (_, i) in &members {
                if *i != lead {
                    fates[*i] = Fate::Into(lead);
                }
            }
            left.retain(|m| !members.contains(m));
        }
        width /= 2;
    }
}
