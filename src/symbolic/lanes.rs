//! Concrete numbers per thread of a block, and sets of threads.
//!
//! A warp's threads are known, so whatever is computed from `threadIdx` is 1 to 1024 concrete integers. Most of them
//! are affine in `(x, y, z)` and stay so until an operation needs the single lanes.

use std::rc::Rc;

/// Lanes of a warp.
pub const WARP: usize = 32;
/// Most threads a block may have.
pub const MAX_THREADS: usize = 1024;

/// The shape of a block. `lane = thread % 32`, `thread = x + y * X + z * X * Y`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub dims: [u32; 3],
}

impl Block {
    /// `dims` with every dimension at least 1 and at most 1024 threads in all; the surplus is cut from z, then y, then x.
    pub fn new(dims: [u32; 3]) -> Self {
        let x = dims[0].clamp(1, MAX_THREADS as u32);
        let y = dims[1].clamp(1, MAX_THREADS as u32 / x);
        let z = dims[2].clamp(1, MAX_THREADS as u32 / (x * y));
        Self { dims: [x, y, z] }
    }

    pub fn threads(self) -> usize {
        self.dims.iter().product::<u32>() as usize
    }

    pub fn warps(self) -> usize {
        self.threads().div_ceil(WARP)
    }

    /// threadIdx of the thread with this linear index.
    pub fn thread_index(self, thread: usize) -> [u32; 3] {
        let t = thread as u32;
        let [x, y, _] = self.dims;
        [t % x, (t / x) % y, t / (x * y)]
    }
}

/// One integer per thread of a block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// `a[0] + a[1] * x + a[2] * y + a[3] * z`.
    Affine([i64; 4]),
    Dense(Rc<[i64]>),
}

impl Lanes {
    pub fn constant(value: i64) -> Self {
        Self::Affine([value, 0, 0, 0])
    }

    /// threadIdx along one axis (0, 1, 2); zero where the block has one thread along it.
    pub fn thread_axis(block: Block, axis: usize) -> Self {
        let mut a = [0; 4];
        if block.dims[axis] > 1 {
            a[axis + 1] = 1;
        }
        Self::Affine(a)
    }

    /// Dense lanes, made constant where all are equal.
    pub fn from_vec(values: Vec<i64>) -> Self {
        match values.first() {
            Some(first) if values.iter().all(|v| v == first) => Self::constant(*first),
            None => Self::constant(0),
            _ => Self::Dense(values.into()),
        }
    }

    pub fn as_constant(&self) -> Option<i64> {
        match self {
            Self::Affine([c, 0, 0, 0]) => Some(*c),
            _ => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        self.as_constant() == Some(0)
    }

    pub fn get(&self, block: Block, thread: usize) -> i64 {
        match self {
            Self::Affine([c, 0, 0, 0]) => *c,
            Self::Affine([c, x, y, z]) => {
                let [tx, ty, tz] = block.thread_index(thread);
                c.wrapping_add(x.wrapping_mul(i64::from(tx)))
                    .wrapping_add(y.wrapping_mul(i64::from(ty)))
                    .wrapping_add(z.wrapping_mul(i64::from(tz)))
            }
            Self::Dense(values) => values.get(thread).copied().unwrap_or(0),
        }
    }

    /// All values in thread order.
    pub fn expand(&self, block: Block) -> Vec<i64> {
        match self {
            Self::Dense(values) => values.to_vec(),
            Self::Affine([c, 0, 0, 0]) => vec![*c; block.threads()],
            Self::Affine([c, ax, ay, az]) => {
                let mut out = Vec::with_capacity(block.threads());
                for z in 0..i64::from(block.dims[2]) {
                    for y in 0..i64::from(block.dims[1]) {
                        let row = c.wrapping_add(ay.wrapping_mul(y)).wrapping_add(az.wrapping_mul(z));
                        for x in 0..i64::from(block.dims[0]) {
                            out.push(row.wrapping_add(ax.wrapping_mul(x)));
                        }
                    }
                }
                out
            }
        }
    }

    /// Applies `f` thread by thread.
    pub fn map(&self, block: Block, f: impl Fn(i64) -> i64) -> Self {
        if let Some(c) = self.as_constant() {
            return Self::constant(f(c));
        }
        let mut values = self.expand(block);
        for v in &mut values {
            *v = f(*v);
        }
        Self::from_vec(values)
    }

    pub fn zip(&self, other: &Self, block: Block, f: impl Fn(i64, i64) -> i64) -> Self {
        if let (Some(a), Some(b)) = (self.as_constant(), other.as_constant()) {
            return Self::constant(f(a, b));
        }
        let mut values = self.expand(block);
        for (thread, v) in values.iter_mut().enumerate() {
            *v = f(*v, other.get(block, thread));
        }
        Self::from_vec(values)
    }

    pub fn add(&self, other: &Self, block: Block) -> Self {
        match (self, other) {
            (Self::Affine(a), Self::Affine(b)) => Self::Affine([0, 1, 2, 3].map(|i| a[i].wrapping_add(b[i]))),
            _ => self.zip(other, block, i64::wrapping_add),
        }
    }

    pub fn scale(&self, factor: i64) -> Self {
        match self {
            Self::Affine(a) => Self::Affine(a.map(|v| v.wrapping_mul(factor))),
            Self::Dense(values) => Self::from_vec(values.iter().map(|v| v.wrapping_mul(factor)).collect()),
        }
    }

    pub fn mul(&self, other: &Self, block: Block) -> Self {
        if let Some(c) = self.as_constant() {
            return other.scale(c);
        }
        if let Some(c) = other.as_constant() {
            return self.scale(c);
        }
        self.zip(other, block, i64::wrapping_mul)
    }

    /// `self` where the mask is set, `other` elsewhere.
    pub fn blend(&self, other: &Self, mask: &Mask, block: Block) -> Self {
        if self == other {
            return self.clone();
        }
        let mut values = other.expand(block);
        for (thread, v) in values.iter_mut().enumerate() {
            if mask.get(thread) {
                *v = self.get(block, thread);
            }
        }
        Self::from_vec(values)
    }

    /// Whether all values are multiples of `n` (n > 0).
    pub fn is_multiple_of(&self, n: i64) -> bool {
        match self {
            Self::Affine(a) => a.iter().all(|v| v % n == 0),
            Self::Dense(values) => values.iter().all(|v| v % n == 0),
        }
    }

    /// Smallest and largest value.
    pub fn bounds(&self, block: Block) -> (i64, i64) {
        match self {
            Self::Affine(a) => {
                let (mut low, mut high) = (a[0], a[0]);
                for axis in 0..3 {
                    let span = a[axis + 1].saturating_mul(i64::from(block.dims[axis]) - 1);
                    low = low.saturating_add(span.min(0));
                    high = high.saturating_add(span.max(0));
                }
                (low, high)
            }
            Self::Dense(values) => {
                (values.iter().copied().min().unwrap_or(0), values.iter().copied().max().unwrap_or(0))
            }
        }
    }

    /// Whether all lanes of each warp hold one value.
    pub fn is_warp_uniform(&self, block: Block) -> bool {
        match self {
            Self::Affine([_, 0, 0, 0]) => true,
            Self::Affine([_, x, y, z]) => {
                // A warp spans several values of an axis unless the axes below it fill whole warps.
                let plane = block.dims[0] as usize;
                let volume = plane * block.dims[1] as usize;
                (*x == 0 || block.dims[0] == 1)
                    && (*y == 0 || plane.is_multiple_of(WARP) || block.dims[1] == 1)
                    && (*z == 0 || volume.is_multiple_of(WARP) || block.dims[2] == 1)
            }
            Self::Dense(values) => values.chunks(WARP).all(|w| w.iter().all(|v| Some(v) == w.first())),
        }
    }
}

/// A set of threads of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mask([u64; MAX_THREADS / 64]);

impl Mask {
    pub const NONE: Self = Self([0; MAX_THREADS / 64]);

    pub fn full(block: Block) -> Self {
        let mut mask = Self::NONE;
        let threads = block.threads();
        for (word, bits) in mask.0.iter_mut().enumerate() {
            let left = threads.saturating_sub(word * 64);
            *bits = if left >= 64 { u64::MAX } else { (1u64 << left) - 1 };
        }
        mask
    }

    pub fn from_fn(block: Block, f: impl Fn(usize) -> bool) -> Self {
        let mut mask = Self::NONE;
        for thread in 0..block.threads() {
            if f(thread) {
                mask.set(thread);
            }
        }
        mask
    }

    pub fn set(&mut self, thread: usize) {
        if let Some(word) = self.0.get_mut(thread / 64) {
            *word |= 1 << (thread % 64);
        }
    }

    pub fn get(&self, thread: usize) -> bool {
        self.0.get(thread / 64).is_some_and(|w| w >> (thread % 64) & 1 == 1)
    }

    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// The threads of `self` that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut out = *self;
        for (a, b) in out.0.iter_mut().zip(other.0) {
            *a = f(*a, b);
        }
        out
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }

    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    pub fn first(&self) -> Option<usize> {
        self.0.iter().position(|w| *w != 0).map(|i| i * 64 + self.0[i].trailing_zeros() as usize)
    }

    /// The 32 lanes of one warp, lane 0 in the lowest bit.
    pub fn warp(&self, warp: usize) -> u32 {
        self.0.get(warp / 2).map_or(0, |w| (w >> (warp % 2 * 32)) as u32)
    }

    /// Whether no warp is split: each is in the set as a whole (of the threads it has) or not at all.
    pub fn is_warp_aligned(&self, block: Block) -> bool {
        let full = Self::full(block);
        (0..block.warps()).all(|w| self.warp(w) == 0 || self.warp(w) == full.warp(w))
    }
}
