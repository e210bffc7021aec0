//! Walks a function body with values per thread, and notes what it does to memory, barriers and arithmetic.
//!
//! One walk covers all threads of a block at once: a value is a polynomial with one coefficient per thread. A condition
//! known for every thread narrows the active threads; one that is not known is taken as true on its own path and remembered
//! as a guard. The walk never fails: what it does not understand becomes an unknown value with a reason.

mod arith;
mod builtin;
mod call;
mod decl;
mod entry;
mod expr;
mod flow;
mod literals;
mod loops;
mod memory;
mod names;
mod stmt;
mod types;
mod whole;

pub use types::binding_text;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::lanes::{Block, Lanes, Mask};
use super::term::{AtomId, AtomKind, Poly, Terms};
use super::value::{Base, Guard, Local, Memory, Object, Place, Rest, State, Value};
use crate::model::project::{DeclId, Project};
use crate::model::types::{Binding, RecordTy, Ty};
use crate::model::{Expr, Name};
use crate::source::{FileId, Span};
use crate::warp::facts::{Barrier, Division, DoubleLiteral, Operation, Scope, SharedArray};

/// Statements one walk may execute; what comes after is unknown with that reason.
const STEP_LIMIT: usize = 20_000;
/// Statements one walk may execute in all, dry runs of loops included.
const WORK_LIMIT: usize = 16_000;
/// Term operations one walk may spend.
const COST_LIMIT: u64 = 600_000;
/// Calls inside calls.
const DEPTH_LIMIT: usize = 24;

/// An access as the walk met it, not yet counted.
#[derive(Debug, Clone)]
pub struct Touch {
    pub span: Span,
    pub called_from: Vec<Span>,
    pub function: Name,
    pub base: Base,
    pub offset: Poly,
    /// Bytes per lane.
    pub bytes: u64,
    pub operation: Operation,
    pub ty: Ty,
    pub active: Mask,
    /// Lane-dependent conditions on the path that are not decided, with the outcome on this path.
    pub conditions: Rc<Vec<(Poly, bool)>>,
    /// Accesses with the same number stand in one run of straight code.
    pub straight: u32,
    /// Counts barriers and fences: other threads' writes may be seen behind them.
    pub order: u32,
    /// The branch sides and loop bodies around it, outermost first: an access dominates what its own region is a prefix of.
    pub region: Rc<[u32]>,
    pub in_loop: bool,
    /// The record whose member this is, where the access is part of a whole-record copy or a member access.
    pub record: Option<std::sync::Arc<RecordTy>>,
    /// Why no number can be given, where the construct itself is not modelled.
    pub why: Option<&'static str>,
    pub is_volatile: bool,
    /// The stride is a number only through the launch: the compiler proves no alignment from it.
    pub is_launch_scaled: bool,
}

/// A kernel launch met in host code.
#[derive(Debug, Clone)]
pub struct LaunchSite<'p> {
    pub kernel: DeclId,
    pub bindings: Vec<Binding>,
    pub span: Span,
    pub grid: [Option<i64>; 3],
    pub block: [Option<i64>; 3],
    pub args: Vec<Argument<'p>>,
    /// The expression that names the kernel, for messages.
    pub file: FileId,
}

/// A kernel argument as far as it can be carried from the host walk to the kernel walk.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument<'p> {
    Int(i64),
    Float(f64),
    /// A pointer: known distance from an allocation in bytes, `None` if unknown, and an allocation number for aliasing.
    Pointer {
        allocation: u32,
        offset: Option<i64>,
        name: Name,
        align: u64,
    },
    Record(Vec<(u64, Argument<'p>)>),
    /// A lambda with what it saw, each with its type.
    Closure {
        lambda: &'p crate::model::Lambda,
        file: FileId,
        captured: Vec<(Name, Ty, Argument<'p>)>,
    },
    Function(DeclId, Vec<Binding>),
    Unknown,
}

/// Names and context of one function being walked.
pub(super) struct Frame<'p> {
    pub file: FileId,
    pub scope: &'p [Name],
    pub function: Name,
    pub locals: Vec<(Name, Local<'p>)>,
    pub bindings: Vec<(Name, Binding)>,
    pub this: Option<Place>,
    pub class: Option<std::sync::Arc<RecordTy>>,
    pub call_site: Option<Span>,
    /// States and values at the `return`s met so far.
    pub returns: Vec<(State<'p>, Value<'p>)>,
    pub loops: Vec<LoopFrame<'p>>,
    pub returns_ty: Ty,
    /// Locals whose value is a constant only through the launch (blockDim, kernel arguments).
    pub launch_known: Vec<Name>,
}

/// Where the threads went that left the innermost loop or switch early.
pub(super) struct LoopFrame<'p> {
    pub breaks: Vec<State<'p>>,
    pub continues: Vec<State<'p>>,
    pub is_switch: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Device,
    Host,
}

/// Everything a walk notes.
#[derive(Debug, Default)]
pub struct Events<'p> {
    pub touches: Vec<Touch>,
    pub barriers: Vec<Barrier>,
    pub divisions: Vec<Division>,
    pub literals: Vec<DoubleLiteral>,
    pub unknowns: Vec<(Span, String)>,
    pub launches: Vec<LaunchSite<'p>>,
}

/// Extra elements in the innermost dimension of one shared array, to try a padding.
#[derive(Debug, Clone, Copy)]
pub struct PaddingTrial {
    pub array: usize,
    pub elements: u64,
}

/// A class's layout, `None` while it is being laid out.
type OpenRecord = Option<std::sync::Arc<RecordTy>>;

pub struct Eval<'p> {
    pub project: &'p Project,
    pub side: Side,
    pub terms: Terms,
    pub memories: Vec<Memory>,
    pub events: Events<'p>,
    pub shared_arrays: Vec<SharedArray>,
    pub padding: Option<PaddingTrial>,
    pub(super) state: State<'p>,
    pub(super) frames: Vec<Frame<'p>>,
    pub(super) next_object: u32,
    /// Number of enclosing dry runs: nothing is noted.
    pub(super) quiet: u32,
    pub(super) steps: usize,
    pub(super) work: usize,
    /// Steps at which the innermost loop walk gives up.
    pub(super) step_cap: usize,
    pub(super) straight: u32,
    pub(super) order: u32,
    pub(super) region: Rc<[u32]>,
    next_region: u32,
    /// Loads of one address with no store in between give one value.
    pub(super) loads: FxHashMap<(Base, Poly, TypeTag), Value<'p>>,
    pub(super) parts: FxHashMap<(u32, u64), Value<'p>>,
    pub(super) region_of: FxHashMap<RegionKey, u32>,
    pub(super) loop_depth: u32,
    pub(super) builtins: [u32; 4],
    pub(super) global_values: FxHashMap<DeclId, Option<Value<'p>>>,
    pub(super) open_globals: Vec<DeclId>,
    pub(super) record_depth: u32,
    constant_depth: u32,
    pub(super) nesting: u32,
    /// Layouts by declaration and instance; `None` while one is being laid out.
    pub(super) record_types: FxHashMap<(DeclId, Name), OpenRecord>,
    pub(super) launch_config: LaunchConfig,
    /// Subscripts whose stride the compiler does not know.
    pub(super) launch_spans: FxHashSet<Span>,
    /// The value of a subscript operator that returned no reference.
    pub(super) pending_subscript: Option<Value<'p>>,
    /// The object whose call operator is about to run.
    pub(super) pending_this: Option<Place>,
    /// Full expressions being evaluated, one per function on the stack that is inside of one.
    wholes: Vec<whole::Whole>,
    spare_wholes: Vec<whole::Whole>,
    /// Local variables of integer type that the compiler sees to be not negative.
    not_negative: FxHashSet<u32>,
    pub(super) conditions_cache: Option<Rc<Vec<(Poly, bool)>>>,
}

/// A hashable tag for the type of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeTag(u8, u64);

impl TypeTag {
    pub(super) fn of(ty: &Ty) -> Self {
        let kind = match ty.value_type() {
            Ty::Scalar(s) if s.is_float() => 1,
            Ty::Scalar(_) => 2,
            Ty::Pointer(_) => 3,
            Ty::Record(_) => 4,
            _ => 5,
        };
        Self(kind, ty.value_type().size().unwrap_or(0))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RegionKey {
    Declared(Span),
    Global(DeclId),
    /// Behind the pointer that an atom-like value stands for.
    Behind(Base, Poly),
    Allocation(u32),
    Either(Base, Base),
}

#[derive(Debug, Clone, Copy, Default)]
pub struct LaunchConfig {
    pub grid: [Option<i64>; 3],
}

impl<'p> Eval<'p> {
    pub fn new(project: &'p Project, side: Side, block: Block, launch: LaunchConfig) -> Self {
        let mut eval = Self {
            project,
            side,
            terms: Terms::new(block),
            memories: Vec::new(),
            events: Events::default(),
            shared_arrays: Vec::new(),
            padding: None,
            state: State { objects: Vec::new(), active: Mask::full(block), guards: Vec::new(), exit: None },
            frames: Vec::new(),
            next_object: 0,
            quiet: 0,
            steps: 0,
            work: 0,
            step_cap: if side == Side::Host { STEP_LIMIT * 3 } else { STEP_LIMIT },
            straight: 0,
            order: 0,
            region: Rc::from([]),
            next_region: 0,
            loads: FxHashMap::default(),
            parts: FxHashMap::default(),
            region_of: FxHashMap::default(),
            loop_depth: 0,
            builtins: [0; 4],
            global_values: FxHashMap::default(),
            open_globals: Vec::new(),
            record_depth: 0,
            constant_depth: 0,
            nesting: 0,
            record_types: FxHashMap::default(),
            launch_config: launch,
            launch_spans: FxHashSet::default(),
            pending_subscript: None,
            pending_this: None,
            wholes: Vec::new(),
            spare_wholes: Vec::new(),
            not_negative: FxHashSet::default(),
            conditions_cache: None,
        };
        eval.define_builtins();
        eval
    }

    pub(super) fn block(&self) -> Block {
        self.terms.block
    }

    pub(super) fn frame(&self) -> Option<&Frame<'p>> {
        self.frames.last()
    }

    pub(super) fn file(&self) -> FileId {
        self.frame().map_or(FileId(0), |f| f.file)
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.quiet > 0
    }

    /// A new object and its place.
    pub(super) fn new_object(&mut self, name: Name, ty: Ty, rest: Rest) -> Place {
        let id = self.next_object;
        self.next_object += 1;
        self.state.insert(id, Object { name, ty: ty.clone(), slots: Vec::new(), rest });
        Place { base: Base::Object(id), offset: Poly::zero(), ty }
    }

    pub(super) fn new_memory(&mut self, memory: Memory) -> Base {
        self.memories.push(memory);
        Base::Memory(self.memories.len() as u32 - 1)
    }

    pub(super) fn memory(&self, base: Base) -> Option<&Memory> {
        match base {
            Base::Memory(i) => self.memories.get(i as usize),
            _ => None,
        }
    }

    pub(super) fn declare(&mut self, name: &Name, local: Local<'p>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.locals.push((name.clone(), local));
        }
    }

    /// A fresh leaf the same for the grid: something that comes from the launch.
    pub(super) fn size_atom(&mut self, name: &str, low: i64, high: i64, is_assumed: bool) -> AtomId {
        if is_assumed {
            self.terms.assumed_size(low, high, name)
        } else {
            self.terms.leaf(AtomKind::Size, Scope::Grid, low, high, name)
        }
    }

    pub(super) fn note_unknown(&mut self, span: Span, why: &str) {
        if !self.is_quiet() && self.events.unknowns.len() < 200 {
            self.events.unknowns.push((span, why.to_owned()));
        }
    }

    pub(super) fn call_path(&self) -> Vec<Span> {
        self.frames.iter().filter_map(|f| f.call_site).collect()
    }

    pub(super) fn function_name(&self) -> Name {
        self.frame().map(|f| f.function.clone()).unwrap_or_default()
    }

    fn define_builtins(&mut self) {
        let block = self.block();
        let grid = self.launch_config.grid;
        let index = (0..3).map(|a| Poly::lanes(Lanes::thread_axis(block, a))).collect::<Vec<_>>();
        let dims = block.dims.iter().map(|d| Poly::constant(i64::from(*d))).collect::<Vec<_>>();
        let (mut blocks, mut counts) = (Vec::new(), Vec::new());
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let limit = if axis == 0 { i64::from(i32::MAX) } else { 65_535 };
            let count = grid[axis].filter(|g| *g > 0);
            blocks.push(if let Some(1) = count {
                Poly::zero()
            } else {
                let high = count.unwrap_or(limit) - 1;
                Poly::atom(self.terms.leaf(AtomKind::Index, Scope::Block, 0, high, &format!("blockIdx.{letter}")))
            });
            counts.push(match count {
                Some(c) => Poly::constant(c),
                None => {
                    Poly::atom(self.terms.leaf(AtomKind::Size, Scope::Grid, 1, limit, &format!("gridDim.{letter}")))
                }
            });
        }
        for (slot, (name, parts)) in
            [("threadIdx", index), ("blockIdx", blocks), ("blockDim", dims), ("gridDim", counts)]
                .into_iter()
                .enumerate()
        {
            let ty = self.vector_type(if slot < 2 { "uint3" } else { "dim3" });
            let place = self.new_object(name.into(), ty, Rest::Uninitialised);
            if let Base::Object(id) = place.base {
                self.builtins[slot] = id;
                if let Some(object) = self.state.object_mut(id) {
                    for (axis, poly) in parts.into_iter().enumerate() {
                        object.set(axis as u64 * 4, Value::Int { poly, ty: crate::model::Scalar::UInt });
                    }
                }
            }
        }
    }

    /// Evaluates an expression that should be a compile-time integer; notes nothing.
    pub(super) fn constant(&mut self, expr: &'p Expr) -> Option<i64> {
        // A constant may be defined through itself, where a name is not what C++ would make of it.
        if self.constant_depth > 40 {
            return None;
        }
        self.constant_depth += 1;
        let value = self.quietly(|e| e.eval(expr));
        self.constant_depth -= 1;
        value.as_constant()
    }

    /// The lane-dependent open conditions of the path, shared between the accesses that have the same.
    pub(super) fn open_conditions(&mut self) -> Rc<Vec<(Poly, bool)>> {
        let list: Vec<(Poly, bool)> =
            self.state.guards.iter().filter(|g| g.is_open).filter_map(|g| g.condition.clone()).collect();
        match &self.conditions_cache {
            Some(cached) if **cached == list => cached.clone(),
            _ => {
                let list = Rc::new(list);
                self.conditions_cache = Some(list.clone());
                list
            }
        }
    }

    /// Enters a branch side or loop body; returns the region to come back to.
    pub(super) fn push_region(&mut self) -> Rc<[u32]> {
        self.next_region += 1;
        let mut path = self.region.to_vec();
        path.push(self.next_region);
        std::mem::replace(&mut self.region, path.into())
    }

    pub(super) fn push_guard(&mut self, guard: Guard) {
        if self.state.guards.len() < 64 {
            self.state.guards.push(guard);
        }
    }
}
