//! Shared memory: byte offsets of one warp's lanes -> the wavefronts (passes over the banks) the request takes.
//!
//! Pinned by the 1,554 counts of `tests/data/shared_patterns.csv`. How the hardware gets there:
//!
//! - A wavefront reads one word from each of the 32 banks, 128 bytes in all. Lanes that want the same word share it;
//!   different words of one bank queue up.
//! - Wide requests are served in groups of lanes whose data fill those 128 bytes, one group after the other: half-warps for
//!   8 bytes per lane, quarter-warps for 16.
//! - A load may serve two neighbouring groups (the half-warps; the two quarters of a half) at once when lanes go in pairs that
//!   one delivery serves, and the union of both groups is free of conflicts. Pairs are lane ^ 1, where one of the two may be
//!   inactive, or lane ^ 2, both active: in each pair both read the same address.
//! - A load of 16 bytes at one single address by at most half of the lanes, in whichever groups, is one broadcast.
//! - A store is never paired: its data differ per lane even where the address does not.

use std::ops::Range;

use crate::arch;

/// One lane's byte offset in shared memory; `None` for an inactive lane.
pub type LaneOffsets = [Option<u32>; 32];

/// Whether a request reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Load,
    Store,
}

/// Wavefronts of one request of `bytes` (1, 2, 4, 8 or 16) per lane; 0 where no lane is active.
///
/// Offsets are multiples of `bytes`, as the hardware demands.
pub fn wavefronts(offsets: &LaneOffsets, bytes: u32, direction: Direction) -> u32 {
    let request = Request::new(offsets, bytes);
    let groups = request.unit_words;
    match direction {
        Direction::Store => request.one_by_one(groups),
        Direction::Load if groups == 1 => request.passes(0..LANES),
        Direction::Load if groups == 4 && request.is_half_broadcast() => 1,
        Direction::Load => (0..groups / 2).map(|pair| request.paired(pair, LANES / groups)).sum(),
    }
}

/// What Nsight Compute calls ideal: the wavefronts that `active_lanes` times `bytes` fill, and never more than were taken.
pub fn ideal_wavefronts(active_lanes: u32, bytes: u32, taken: u32) -> u32 {
    taken.min(active_lanes.saturating_mul(bytes).div_ceil(arch::WAVEFRONT_BYTES))
}

const LANES: usize = arch::WARP_LANES as usize;
const BANKS: usize = arch::SHARED_BANKS as usize;

/// A request in units of what one lane reads, at least a word: units of one width either coincide or share no word, so a
/// bank conflict is two different units in the same column of the bank array.
struct Request {
    units: [Option<u32>; LANES],
    /// Words per unit: 1, 2 or 4; also the number of groups of lanes that are served one after the other.
    unit_words: usize,
}

impl Request {
    fn new(offsets: &LaneOffsets, bytes: u32) -> Self {
        let unit_words: u32 = match bytes {
            0..=4 => 1,
            5..=8 => 2,
            _ => 4,
        };
        let unit_bytes = unit_words * arch::SHARED_BANK_BYTES;
        Self { units: offsets.map(|offset| offset.map(|bytes| bytes / unit_bytes)), unit_words: unit_words as usize }
    }

    /// Passes that the given lanes need when served together: the most different units in one column.
    fn passes(&self, lanes: Range<usize>) -> u32 {
        const NONE: u8 = u8::MAX;
        // A power of two.
        let column_mask = BANKS / self.unit_words - 1;
        // The different units of a column form a chain through the lanes that first asked for them.
        let mut first = [NONE; BANKS];
        let mut next = [NONE; LANES];
        let mut depth = [0_u8; BANKS];
        let mut most = 0;
        for lane in lanes {
            let Some(unit) = self.units[lane] else { continue };
            let column = unit as usize & column_mask;
            let mut at = first[column];
            while at != NONE && self.units[at as usize] != Some(unit) {
                at = next[at as usize];
            }
            if at == NONE {
                next[lane] = first[column];
                first[column] = lane as u8;
                depth[column] += 1;
                most = most.max(depth[column]);
            }
        }
        u32::from(most)
    }

    fn one_by_one(&self, groups: usize) -> u32 {
        let size = LANES / groups;
        (0..groups).map(|group| self.passes(group * size..(group + 1) * size)).sum()
    }

    /// Passes of the two neighbouring groups `2 * pair` and `2 * pair + 1` of `size` lanes each.
    fn paired(&self, pair: usize, size: usize) -> u32 {
        let start = 2 * pair * size;
        let both = start..start + 2 * size;
        if self.goes_in_pairs(both.clone()) && self.passes(both) <= 1 {
            u32::from(self.units[start..start + 2 * size].iter().any(Option::is_some))
        } else {
            self.passes(start..start + size) + self.passes(start + size..start + 2 * size)
        }
    }

    /// Neighbours may have a lane missing; second neighbours are recognised in full pairs only.
    fn goes_in_pairs(&self, lanes: Range<usize>) -> bool {
        let active = || lanes.clone().filter_map(|lane| self.units[lane].map(|unit| (lane, unit)));
        active().all(|(lane, unit)| self.units[lane ^ 1].is_none_or(|other| other == unit))
            || active().all(|(lane, unit)| self.units[lane ^ 2] == Some(unit))
    }

    /// At most half of the lanes are active and all of them read one address.
    fn is_half_broadcast(&self) -> bool {
        let mut active = self.units.iter().flatten();
        let Some(unit) = active.next() else { return false };
        active.clone().count() < LANES / 2 && active.all(|other| other == unit)
    }
}
