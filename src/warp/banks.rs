//! Shared memory: the wavefronts one request takes.

/// One lane's byte offset in shared memory; `None` for an inactive lane.
pub type LaneOffsets = [Option<u32>; 32];

/// Whether a request reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Load,
    Store,
}

/// Wavefronts of one request of `bytes` (1, 2, 4, 8 or 16) per lane; 0 where no lane is active.
pub fn wavefronts(_offsets: &LaneOffsets, _bytes: u32, _direction: Direction) -> u32 {
    0
}
