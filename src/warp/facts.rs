//! The facts of one kernel under one launch. Numbers carry their unit in the name; averages are over warps and walked iterations.

use crate::model::Name;
use crate::source::Span;

/// Everything the engine found out about one kernel, template instance and launch.
#[derive(Debug, Clone)]
pub struct KernelFacts {
    /// The kernel's name without scope.
    pub kernel: Name,
    pub kernel_span: Span,
    /// `name<args>` where the kernel is a template.
    pub instance: Option<String>,
    pub launch: Launch,
    pub accesses: Vec<Access>,
    pub barriers: Vec<Barrier>,
    pub divisions: Vec<Division>,
    pub float_literals: Vec<DoubleLiteral>,
    /// What the engine gave up on inside this kernel, with the reason.
    pub unknowns: Vec<(Span, String)>,
    /// Static shared arrays of the kernel and the functions it calls.
    pub shared_arrays: Vec<SharedArray>,
}

/// The block shape facts hold for, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Launch {
    /// Threads per block in x, y, z; each at least 1, at most 1024 in all.
    pub block: [u32; 3],
    /// Blocks in x, y, z where known.
    pub grid: Option<[u64; 3]>,
    pub source: LaunchSource,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchSource {
    /// A launch seen in the source: its span.
    Visible(Span),
    /// `--block`, `--kernel` or a hint in lint.toml.
    Hint,
    /// The first argument of `__launch_bounds__`.
    LaunchBounds,
    /// A plausible shape, nothing in sight.
    Assumed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    Global,
    Shared,
    Local,
    Constant,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    Load,
    Store,
    Atomic,
}

/// How sure a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exactness {
    /// Follows from the source and the launch alone.
    Exact,
    /// Holds under the assumption that `why` names.
    Bounded,
    /// No number; `why` says what is missing.
    Unknown,
}

/// One memory access of a kernel, as one machine instruction does it.
#[derive(Debug, Clone)]
pub struct Access {
    /// The subscript or dereference itself.
    pub span: Span,
    /// Calls on the way from the kernel, outermost first; empty for an access in the kernel's own body.
    pub called_from: Vec<Span>,
    /// The function whose body holds the access.
    pub function: Name,
    pub space: Space,
    pub operation: Operation,
    /// Bytes per lane of the (possibly merged) access: 1 to 16.
    pub bytes_per_lane: u32,
    /// Mean over executed warps.
    pub active_lanes: f64,
    /// Sectors (global) or wavefronts (shared); `None` for other spaces and for unknown.
    pub traffic: Option<Traffic>,
    pub exactness: Exactness,
    /// The assumption of a bounded number, the reason of an unknown one.
    pub why: Option<String>,
    /// Distance between neighbouring lanes for people: "1 element", "n elements", "data-dependent".
    pub stride: String,
    /// The address differs between the lanes of a warp because of data that was loaded.
    pub is_data_dependent: bool,
    /// Stands in the record of the access with this span, which does its work.
    pub merged_into: Option<Span>,
    /// Index into [`KernelFacts::shared_arrays`].
    pub shared_array: Option<usize>,
    /// The declared variable or parameter behind the address.
    pub array: Option<(Name, Span)>,
    /// All lanes of every warp are served well once the start of each run of lanes is aligned to 32 bytes: the
    /// excess is one of alignment, not of stride.
    pub is_only_misaligned: bool,
    /// The element type is a record read or written member by member: its name, size and alignment in bytes.
    pub record: Option<RecordAccess>,
    /// Executed by one warp of the block at most.
    pub by_one_warp: bool,
    /// Inside a loop whose iterations the kernel repeats.
    pub in_loop: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecordAccess {
    pub name: Name,
    pub size_bytes: u64,
    pub align_bytes: u64,
}

/// Mean and worst traffic of one request (one executed warp instruction).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    pub per_request: f64,
    pub ideal_per_request: f64,
    /// The warp (and iteration) with the highest number.
    pub worst: u32,
    pub worst_ideal: u32,
}

impl Traffic {
    /// At least 1 by the definition of ideal.
    pub fn ratio(&self) -> f64 {
        if self.ideal_per_request > 0.0 { self.per_request / self.ideal_per_request } else { 1.0 }
    }
}

/// A `__shared__` array.
#[derive(Debug, Clone)]
pub struct SharedArray {
    pub name: Name,
    /// The declarator, where padding would be written.
    pub decl_span: Span,
    /// Elements per dimension, outermost first; empty for a scalar, `None` where unknown.
    pub dims: Option<Vec<u64>>,
    pub element_bytes: u64,
    /// Set where a fix exists: the least padding of the innermost dimension (in elements) with which every
    /// access of the array reaches its ideal.
    pub padding: Option<Padding>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Padding {
    /// Elements added to the innermost dimension.
    pub elements: u64,
    /// Highest wavefronts per request before and after, over all accesses of the array.
    pub worst_before: u32,
    pub worst_after: u32,
    /// Accesses of the array that were evaluated.
    pub accesses: usize,
    /// The text of the innermost dimension, to be replaced by the padded form.
    pub dimension_span: Option<Span>,
}

/// How far a value or a decision is the same for all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Known at compile time or the same for the whole grid.
    Grid,
    /// The same for all threads of a block.
    Block,
    /// The same for all lanes of a warp.
    Warp,
    /// Differs between lanes.
    Lane,
}

/// A block-wide barrier as reached on one path.
#[derive(Debug, Clone)]
pub struct Barrier {
    pub span: Span,
    pub called_from: Vec<Span>,
    pub function: Name,
    /// `__syncthreads`, `block.sync()`, ...
    pub name: Name,
    pub divergence: Option<Divergence>,
}

/// Why not all threads of the block reach a barrier.
#[derive(Debug, Clone)]
pub struct Divergence {
    /// The condition (or loop head) that splits the block.
    pub cause: Span,
    pub kind: DivergenceKind,
    /// The missing threads have left the kernel (true) or go on elsewhere (false).
    pub have_returned: bool,
    /// One thread that arrives and one that does not, as threadIdx; absent where data decides.
    pub witnesses: Option<([u32; 3], [u32; 3])>,
    /// The split depends on data or a bound that is not known, such as `i < n`.
    pub is_conditional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DivergenceKind {
    Branch,
    LoopTrips,
    EarlyExit,
}

/// An integer `/` or `%`.
#[derive(Debug, Clone)]
pub struct Division {
    pub span: Span,
    pub function: Name,
    pub left: Span,
    pub right: Span,
    pub is_remainder: bool,
    /// The type the division is done in.
    pub is_signed: bool,
    pub bits: u32,
    pub divisor: Divisor,
    /// The engine proved the dividend (and divisor) not negative.
    pub dividend_not_negative: bool,
    /// The compiler sees that the dividend is not negative, or that the sign of the result does not matter.
    pub needs_no_fix_up: bool,
    pub in_loop: bool,
    /// Both operands are compile-time constants, or the code is dead.
    pub is_folded: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Divisor {
    /// A literal, constexpr or template constant.
    Constant(i64),
    /// Known only from the launch: `blockDim.x`, a parameter bound at every launch.
    AtLaunch(i64),
    /// A multiple of `warpSize`: the same on every device, yet no constant to the compiler.
    WarpSize(i64),
    Runtime,
}

/// An unsuffixed floating literal that meets float operands.
#[derive(Debug, Clone)]
pub struct DoubleLiteral {
    pub span: Span,
    pub function: Name,
    pub instance: Option<String>,
    pub value: f64,
    pub use_: LiteralUse,
    /// Machine code gets FP64 instructions for it.
    pub costs_fp64: bool,
    /// The expression around it, for the message.
    pub context: Span,
}

/// What the literal does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiteralUse {
    /// One operand of arithmetic whose result is narrowed to float at once.
    NarrowedArithmetic,
    /// Arithmetic that goes on in double.
    DoubleArithmetic,
    Comparison,
    /// Picks the double overload of a function.
    Argument,
    /// One arm of `?:`.
    Arm,
}
