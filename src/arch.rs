//! The hardware's numbers: a `target` such as `sm_90` -> the limits that hold for it. Each number stands here alone, with its source.
//!
//! Sources: CUDA C++ Programming Guide, "Compute Capabilities" (technical specifications per compute capability), which agree with the
//! `arch_traits` of NVIDIA's CUDA Core Compute Libraries 3.3 (the CUDA 13.5 toolkit).

/// Lanes of a warp, on every NVIDIA GPU so far.
pub const WARP_LANES: u32 = 32;
/// The unit in which global memory moves between L2 and an SM (Nsight Compute's "sector").
pub const SECTOR_BYTES: u64 = 32;
/// Banks of shared memory since compute capability 2.0; bank = word address modulo 32.
pub const SHARED_BANKS: u32 = 32;
/// Width of one bank since compute capability 5.0.
pub const SHARED_BANK_BYTES: u32 = 4;
/// What one pass over all banks can deliver.
pub const WAVEFRONT_BYTES: u32 = SHARED_BANKS * SHARED_BANK_BYTES;
/// Threads per block in all.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
/// Threads per block in x, y and z.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Blocks per grid in x, y and z.
pub const MAX_GRID: [u64; 3] = [(1 << 31) - 1, 65_535, 65_535];
/// Shared memory a block may use without opting in to more: the limit of static arrays on every target.
pub const MAX_STATIC_SHARED_BYTES: u64 = 48 * KIB;
/// Constant memory of one module.
pub const CONSTANT_BYTES: u64 = 64 * KIB;
/// Registers (32 bits) of one SM; on the targets here a block may use them all.
pub const REGISTERS_PER_SM: u32 = 64 * 1024;
/// Registers of one thread.
pub const MAX_REGISTERS_PER_THREAD: u32 = 255;
/// The alignment of what cudaMalloc returns (CUDA C++ Programming Guide, "Device Memory Accesses": at least 256 bytes).
pub const ALLOCATION_ALIGN_BYTES: u64 = 256;
/// The widest access of one lane: LD/ST of 128 bits.
pub const MAX_ACCESS_BYTES: u32 = 16;

const KIB: u64 = 1024;

/// What differs between compute capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Compute capability times ten: 90 for 9.0.
    pub capability: u32,
    /// Shared memory of one SM.
    pub shared_bytes_per_sm: u64,
    /// Of it, kept by the system for each resident block.
    pub reserved_shared_bytes_per_block: u64,
    pub max_threads_per_sm: u32,
    pub max_blocks_per_sm: u32,
}

impl Target {
    /// The target of lint.toml where none is given.
    pub const DEFAULT: Self = target(90, 228, 2048, 32);

    /// Reads `sm_90`, `sm_90a`, `sm_100f`, `compute_90` or `90`; `None` for a target not known here.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).unwrap_or(text);
        let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
        let capability: u32 = digits.parse().ok()?;
        TARGETS.iter().copied().find(|target| target.capability == capability)
    }

    /// The name as nvcc's `-arch` takes it.
    pub fn name(&self) -> String {
        format!("sm_{}", self.capability)
    }

    /// Dynamic and static shared memory that one block may use once its kernel has opted in.
    pub const fn max_shared_bytes_per_block(&self) -> u64 {
        self.shared_bytes_per_sm - self.reserved_shared_bytes_per_block
    }

    pub const fn max_warps_per_sm(&self) -> u32 {
        self.max_threads_per_sm / WARP_LANES
    }

    /// 32-byte loads and stores of one lane exist (global memory only; PTX ISA, `ld.global.v8.b32`).
    pub const fn has_32_byte_accesses(&self) -> bool {
        self.capability >= 100
    }

    /// `cp.async` copies from global to shared memory past the registers.
    pub const fn has_async_copies(&self) -> bool {
        self.capability >= 80
    }
}

/// Every target cudalint knows, oldest first.
pub const TARGETS: [Target; 14] = [
    target(70, 96, 2048, 32),
    target(72, 96, 2048, 32),
    target(75, 64, 1024, 16),
    target(80, 164, 2048, 32),
    target(86, 100, 1536, 16),
    target(87, 164, 1536, 16),
    target(88, 100, 1536, 16),
    target(89, 100, 1536, 24),
    Target::DEFAULT,
    target(100, 228, 2048, 32),
    target(103, 228, 2048, 32),
    target(110, 228, 1536, 24),
    target(120, 100, 1536, 24),
    target(121, 100, 1536, 24),
];

const fn target(capability: u32, shared_kib_per_sm: u64, max_threads_per_sm: u32, max_blocks_per_sm: u32) -> Target {
    Target {
        capability,
        shared_bytes_per_sm: shared_kib_per_sm * KIB,
        reserved_shared_bytes_per_block: if capability >= 80 { KIB } else { 0 },
        max_threads_per_sm,
        max_blocks_per_sm,
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn targets_are_read_in_every_spelling() {
        for text in ["sm_90", "sm_90a", "compute_90", "90"] {
            assert_eq!(Target::parse(text), Some(Target::DEFAULT), "{text}");
        }
        assert_eq!(Target::parse("sm_120f").map(|target| target.name()).as_deref(), Some("sm_120"));
        assert_eq!(Target::parse("sm_42"), None);
        assert_eq!(Target::parse("hopper"), None);
    }

    #[test]
    fn opting_in_leaves_what_the_guide_says() {
        let per_block = |text| Target::parse(text).map(|target| target.max_shared_bytes_per_block() / 1024);
        assert_eq!(per_block("sm_70"), Some(96));
        assert_eq!(per_block("sm_80"), Some(163));
        assert_eq!(per_block("sm_86"), Some(99));
        assert_eq!(per_block("sm_90"), Some(227));
        assert_eq!(per_block("sm_120"), Some(99));
    }
}
