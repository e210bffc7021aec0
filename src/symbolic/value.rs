//! Values, the memory they live in, and the state of a walk.
//!
//! Local variables, parameters and temporaries are objects whose contents are known piece by piece. Everything behind a
//! pointer into global, shared or constant memory is a memory region: its contents are not known, every access counts.

use std::rc::Rc;

use super::lanes::Mask;
use super::term::Poly;
use crate::model::project::DeclId;
use crate::model::types::{Binding, RecordTy, Ty};
use crate::model::{Lambda, Name, Scalar};
use crate::source::Span;
use crate::warp::facts::{Scope, Space};

/// A value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'p> {
    Int {
        poly: Poly,
        ty: Scalar,
    },
    Float {
        ty: Scalar,
        scope: Scope,
        constant: Option<f64>,
    },
    /// The address of a place; the place's type is the pointee.
    Pointer(Place),
    Record(Rc<RecordValue<'p>>),
    Closure(Rc<Closure<'p>>),
    Function(DeclId, Rc<[Binding]>),
    /// A cooperative group.
    Group(Group),
    /// Not known; nothing can be computed with it.
    Unknown {
        ty: Ty,
        scope: Scope,
    },
    Void,
}

/// A record held by value: what is known of its parts, by byte offset.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordValue<'p> {
    pub ty: std::sync::Arc<RecordTy>,
    pub slots: Vec<(u64, Value<'p>)>,
    pub rest: Rest,
    /// The object it was read from and the offset there, so that parts not touched yet stay the same unknowns.
    pub origin: Option<(u32, u64)>,
}

/// The threads a cooperative group holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Grid,
    Block,
    /// `tiled_partition<N>`: N consecutive threads.
    Tile(u32),
    /// `coalesced_threads()`.
    Active,
}

/// A lambda with the variables in sight where it was written.
#[derive(Debug, Clone)]
pub struct Closure<'p> {
    pub lambda: &'p Lambda,
    pub names: Vec<(Name, Local<'p>)>,
    pub file: crate::source::FileId,
    pub this: Option<Place>,
}

impl PartialEq for Closure<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.lambda, other.lambda)
    }
}

/// What a local name stands for.
#[derive(Debug, Clone)]
pub enum Local<'p> {
    Place(Place),
    Type(Ty),
    Value(Value<'p>),
    Pack(Vec<Value<'p>>),
}

/// Where something is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub base: Base,
    /// Bytes from the start of the base.
    pub offset: Poly,
    pub ty: Ty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// Index of an object of the walk.
    Object(u32),
    /// Index of a memory region.
    Memory(u32),
    /// Nothing is known of the pointer.
    Nowhere,
}

/// A region of memory that accesses are counted in.
#[derive(Debug, Clone)]
pub struct Memory {
    pub space: Space,
    pub name: Name,
    pub span: Option<Span>,
    /// The base address is a multiple of this many bytes.
    pub align: u64,
    /// How far the base address is the same for all threads.
    pub scope: Scope,
    pub is_restrict: bool,
    pub is_const: bool,
    /// Set for shared arrays: index into the arrays of the kernel.
    pub shared: Option<usize>,
    /// The alignment is what allocations have, not what the type or the declaration promises.
    pub align_is_assumed: bool,
    /// What the elements are where the declaration says so.
    pub ty: Ty,
    /// A global variable with a known initialiser.
    pub global: Option<DeclId>,
}

impl Memory {
    /// Sized at the launch: `extern __shared__`.
    pub fn is_dynamic(&self) -> bool {
        self.space == Space::Shared && matches!(self.ty, Ty::Array(_, None))
    }
}

/// What the parts of an object that were never written hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Rest {
    Uninitialised,
    Zero,
    /// A kernel parameter: unknown, the same for the grid.
    Parameter(Name),
    /// Written at an address that is not known.
    Clobbered(Scope),
}

/// A local variable, parameter or temporary.
#[derive(Debug, Clone, PartialEq)]
pub struct Object<'p> {
    pub name: Name,
    pub ty: Ty,
    /// Known parts by byte offset, in order.
    pub slots: Vec<(u64, Value<'p>)>,
    pub rest: Rest,
}

/// A decision that not all threads took the same way, on the path to here.
#[derive(Debug, Clone)]
pub struct Guard {
    pub span: Span,
    /// The condition and the outcome on this path; `None` where it cannot be told any more.
    pub condition: Option<(Poly, bool)>,
    pub scope: Scope,
    /// Threads that certainly went the other way here.
    pub missing: Mask,
    pub kind: GuardKind,
    /// Nothing decides it for each thread: some may be missing.
    pub is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardKind {
    /// Inside a branch; the others go on elsewhere and come back.
    Branch,
    /// Inside a loop that some have left already.
    Loop,
    /// Others left by `continue` or `break`, or a device function by `return`; they come back later.
    Skipped,
    /// Others have left the kernel.
    Returned,
}

/// The state of a walk at one point.
#[derive(Debug, Clone)]
pub struct State<'p> {
    /// Live objects by number, in order.
    pub objects: Vec<(u32, Rc<Object<'p>>)>,
    /// Threads that are certainly not elsewhere.
    pub active: Mask,
    pub guards: Vec<Guard>,
    /// No thread gets here: behind a return, break or continue. Says how the threads will be missed.
    pub exit: Option<GuardKind>,
}

impl Value<'_> {
    pub fn int(value: i64, ty: Scalar) -> Self {
        Self::Int { poly: Poly::constant(value), ty }
    }

    pub fn truth(poly: Poly) -> Self {
        Self::Int { poly, ty: Scalar::Bool }
    }

    pub fn unknown(ty: Ty, scope: Scope) -> Self {
        match ty.as_scalar() {
            Some(s) if s.is_float() => Self::Float { ty: s, scope, constant: None },
            _ => Self::Unknown { ty, scope },
        }
    }

    pub fn ty(&self) -> Ty {
        match self {
            Self::Int { ty, .. } | Self::Float { ty, .. } => Ty::Scalar(*ty),
            Self::Pointer(place) => place.ty.clone().pointer_to(),
            Self::Record(r) => Ty::Record(r.ty.clone()),
            Self::Closure(_) | Self::Function(..) | Self::Group(_) => Ty::Function,
            Self::Unknown { ty, .. } => ty.clone(),
            Self::Void => Ty::Scalar(Scalar::Void),
        }
    }

    pub fn as_constant(&self) -> Option<i64> {
        match self {
            Self::Int { poly, .. } => poly.as_constant(),
            _ => None,
        }
    }
}

impl<'p> Object<'p> {
    pub fn slot(&self, offset: u64) -> Option<&Value<'p>> {
        self.slots.binary_search_by_key(&offset, |s| s.0).ok().map(|i| &self.slots[i].1)
    }

    pub fn set(&mut self, offset: u64, value: Value<'p>) {
        match self.slots.binary_search_by_key(&offset, |s| s.0) {
            Ok(i) => self.slots[i].1 = value,
            Err(i) => self.slots.insert(i, (offset, value)),
        }
    }
}

impl<'p> State<'p> {
    fn position(&self, id: u32) -> Result<usize, usize> {
        self.objects.binary_search_by_key(&id, |o| o.0)
    }

    pub fn object(&self, id: u32) -> Option<&Rc<Object<'p>>> {
        self.position(id).ok().map(|i| &self.objects[i].1)
    }

    pub fn object_mut(&mut self, id: u32) -> Option<&mut Object<'p>> {
        let at = self.position(id).ok()?;
        Some(Rc::make_mut(&mut self.objects[at].1))
    }

    pub fn insert(&mut self, id: u32, object: Object<'p>) {
        match self.position(id) {
            Ok(i) => self.objects[i].1 = Rc::new(object),
            Err(i) => self.objects.insert(i, (id, Rc::new(object))),
        }
    }

    /// Forgets the objects numbered from `id` on: their scope has ended.
    pub fn drop_from(&mut self, id: u32) {
        let at = self.objects.partition_point(|o| o.0 < id);
        self.objects.truncate(at);
    }
}
