//! Global memory: byte addresses of one warp's lanes -> the 32-byte sectors the request moves.

use crate::arch::SECTOR_BYTES;

/// One lane's byte address; `None` for an inactive lane.
pub type LaneAddresses = [Option<u64>; 32];

/// Distinct 32-byte segments that `bytes` (at most 32) per active lane touch; 0 where no lane is active.
pub fn sectors(addresses: &LaneAddresses, bytes: u32) -> u32 {
    let mut touched = [0_u64; 64];
    let mut count = 0;
    for address in addresses.iter().flatten() {
        let first = address / SECTOR_BYTES;
        let last = address.saturating_add(u64::from(bytes.clamp(1, 32)) - 1) / SECTOR_BYTES;
        touched[count] = first;
        count += 1;
        if last != first {
            touched[count] = last;
            count += 1;
        }
    }
    let touched = &mut touched[..count];
    // Most patterns ascend with the lane: then nothing needs sorting.
    if !touched.is_sorted() {
        touched.sort_unstable();
    }
    (touched.chunk_by(|one, other| one == other).count()) as u32
}

/// What Nsight Compute calls ideal: the sectors that `active_lanes` times `bytes` fill, and never more than were moved.
/// Lanes that share an address count each, so a broadcast is ideal.
pub fn ideal_sectors(active_lanes: u32, bytes: u32, moved: u32) -> u32 {
    moved.min(active_lanes.saturating_mul(bytes).div_ceil(SECTOR_BYTES as u32))
}
