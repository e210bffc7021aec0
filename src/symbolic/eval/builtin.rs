//! Functions of CUDA's own headers: barriers, shuffles, votes, atomics, cached loads, cooperative groups; and of the
//! runtime, as far as a launch depends on them.

use super::arith::Origin;
use super::call::Outcome;
use super::{Eval, RegionKey, Side};
use crate::model::types::{Ty, builtin_vector};
use crate::model::{Asm, Expr, ExprKind, Name, Path, Scalar};
use crate::source::Span;
use crate::symbolic::lanes::{Lanes, WARP};
use crate::symbolic::term::Poly;
use crate::symbolic::value::{Base, Group, GuardKind, Memory, Place, Value};
use crate::warp::facts::{Barrier, Divergence, DivergenceKind, Operation, Scope, Space};

impl<'p> Eval<'p> {
    /// `None` if the name is no builtin.
    pub(super) fn builtin_call(&mut self, path: &'p Path, args: &'p [Expr], expr: &'p Expr) -> Option<Outcome<'p>> {
        let name = path.last().as_str();
        if self.side == Side::Host {
            if let Some(value) = self.host_call(name, args, expr) {
                return Some(Outcome::Value(value));
            }
        } else if let Some(value) = self.device_call(name, path, args, expr) {
            return Some(Outcome::Value(value));
        }
        self.common_call(name, args).map(Outcome::Value)
    }

    fn values(&mut self, args: &'p [Expr]) -> Vec<Value<'p>> {
        args.iter().map(|e| self.eval(e)).collect()
    }

    /// Functions of both sides: `min`, `make_float4`, maths.
    fn common_call(&mut self, name: &str, args: &'p [Expr]) -> Option<Value<'p>> {
        if let Some(vector) = name.strip_prefix("make_")
            && builtin_vector(vector).is_some()
        {
            let ty = self.vector_type(vector);
            return Some(self.construct_args(&ty, args));
        }
        let float = math_function(name);
        match name {
            "min" | "max" | "umin" | "umax" | "fmin" | "fmax" | "fminf" | "fmaxf" | "__min" | "__max" => {
                let values = self.values(args);
                let [a, b] = values.as_slice() else { return None };
                Some(match (a, b) {
                    (Value::Int { poly: x, ty: s }, Value::Int { poly: y, ty: t }) => {
                        let poly = if name.contains("min") { self.terms.min(x, y) } else { self.terms.max(x, y) };
                        Value::Int { poly, ty: s.common(*t) }
                    }
                    _ => self.float_result(name, &values),
                })
            }
            "abs" | "labs" | "llabs" | "__sad" => {
                let values = self.values(args);
                match values.first()? {
                    Value::Int { poly, ty } => {
                        let (poly, ty) = (poly.clone(), *ty);
                        let negated = self.terms.scale(&poly, -1);
                        Some(Value::Int { poly: self.terms.max(&poly, &negated), ty })
                    }
                    other => Some(other.clone()),
                }
            }
            "move"
            | "forward"
            | "ref"
            | "cref"
            | "as_const"
            | "__builtin_expect"
            | "__builtin_assume_aligned"
            | "addressof" => {
                if name == "addressof" {
                    let place = self.place(args.first()?)?;
                    return Some(Value::Pointer(place));
                }
                let values = self.values(args);
                values.into_iter().next()
            }
            "static_assert" | "assert" | "printf" | "fprintf" | "__builtin_assume" | "__trap" | "__nanosleep"
            | "free" | "fflush" => {
                self.values(args);
                Some(Value::Void)
            }
            _ if float => {
                let values = self.values(args);
                Some(self.float_result(name, &values))
            }
            _ => None,
        }
    }

    /// A maths function's result has the widest floating type of its arguments; C names say theirs.
    fn float_result(&mut self, name: &str, values: &[Value<'p>]) -> Value<'p> {
        let scope = values.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid);
        let is_single = is_single_precision(name);
        if let Some(record @ Value::Record(_)) = values.first() {
            return record.clone();
        }
        let mut ty = if is_single { Scalar::Float } else { Scalar::Bool };
        if !is_single {
            for v in values {
                if let Some(s) = v.ty().as_scalar() {
                    ty = ty.common(s);
                }
            }
            if !ty.is_float() {
                ty = Scalar::Double;
            }
        }
        let constants: Vec<f64> = values
            .iter()
            .filter_map(|v| match v {
                Value::Float { constant, .. } => *constant,
                Value::Int { poly, .. } => poly.as_constant().map(|c| c as f64),
                _ => None,
            })
            .collect();
        let constant = if constants.len() == values.len() { fold_math(name, &constants) } else { None };
        Value::Float { ty, scope, constant }
    }

    fn device_call(&mut self, name: &str, path: &'p Path, args: &'p [Expr], expr: &'p Expr) -> Option<Value<'p>> {
        match name {
            "__syncthreads" | "__barrier_sync" | "syncthreads" => {
                self.values(args);
                self.barrier(name, expr.span);
                Some(Value::Void)
            }
            "__syncthreads_count" | "__syncthreads_and" | "__syncthreads_or" => {
                self.values(args);
                self.barrier(name, expr.span);
                Some(self.fresh(&Ty::INT, Scope::Block, "a block-wide vote"))
            }
            "__syncwarp" => {
                self.values(args);
                self.order += 1;
                self.straight += 1;
                Some(Value::Void)
            }
            "__threadfence" | "__threadfence_block" | "__threadfence_system" | "__prof_trigger" => {
                self.order += 1;
                Some(Value::Void)
            }
            "__shfl_sync" | "__shfl_up_sync" | "__shfl_down_sync" | "__shfl_xor_sync" | "__shfl" | "__shfl_up"
            | "__shfl_down" | "__shfl_xor" => Some(self.shuffle(name, args)),
            "__ballot_sync" | "__any_sync" | "__all_sync" | "__ballot" | "__any" | "__all" | "__activemask"
            | "__reduce_add_sync" | "__reduce_min_sync" | "__reduce_max_sync" | "__reduce_or_sync"
            | "__reduce_and_sync" => {
                self.values(args);
                let poly = self.terms.data(Scope::Warp, 0, i64::from(u32::MAX), "a warp vote");
                Some(Value::Int { poly, ty: Scalar::UInt })
            }
            "__match_any_sync" | "__match_all_sync" => {
                self.values(args);
                Some(self.fresh(&Ty::UINT, Scope::Lane, "a warp match"))
            }
            "__ldg" | "__ldcg" | "__ldca" | "__ldcs" | "__ldlu" | "__ldcv" => {
                let pointer = self.eval(args.first()?);
                let place = self.target(&pointer);
                Some(self.load(&place, expr.span))
            }
            "__stwb" | "__stcg" | "__stcs" | "__stwt" => {
                let pointer = self.eval(args.first()?);
                let value = self.eval(args.get(1)?);
                let place = self.target(&pointer);
                self.store(&place, value, expr.span);
                Some(Value::Void)
            }
            _ if name.starts_with("atomic") && !args.is_empty() => Some(self.atomic(args, expr)),
            "__mul24" | "__umul24" | "__mulhi" | "__umulhi" => {
                let values = self.values(args);
                let [Value::Int { poly: x, .. }, Value::Int { poly: y, .. }] = values.as_slice() else { return None };
                if name.ends_with("hi") {
                    let scope = self.terms.scope(x).max(self.terms.scope(y));
                    return Some(self.fresh(&Ty::INT, scope, "a high product"));
                }
                let ty = if name == "__mul24" { Scalar::Int } else { Scalar::UInt };
                Some(Value::Int { poly: self.terms.mul(x, y), ty })
            }
            "__popc" | "__popcll" | "__clz" | "__clzll" | "__ffs" | "__ffsll" | "__brev" | "__brevll"
            | "__byte_perm" | "__float_as_int" | "__float_as_uint" | "__float2int_rn" | "__float2int_rd"
            | "__float2int_rz" | "__float2uint_rn" | "__double2int_rn" | "__bfind" | "__funnelshift_l"
            | "__funnelshift_r" => Some(self.bit_function(name, args)),
            "__cvta_generic_to_shared" => {
                self.values(args);
                Some(self.fresh(&Ty::UINT, Scope::Grid, "a shared address"))
            }
            "__int_as_float" | "__uint_as_float" | "__int2float_rn" | "__uint2float_rn" | "__half2float"
            | "__fdividef" => {
                let values = self.values(args);
                let scope = values.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid);
                Some(Value::Float { ty: Scalar::Float, scope, constant: None })
            }
            "this_thread_block" => Some(Value::Group(Group::Block)),
            "this_grid" | "this_multi_grid" | "this_cluster" => Some(Value::Group(Group::Grid)),
            "coalesced_threads" => Some(Value::Group(Group::Active)),
            "tiled_partition" => {
                let size = match path.last_args().and_then(|a| a.first()) {
                    Some(arg) => match self.template_argument(arg) {
                        crate::model::types::Binding::Value(v) => Some(v),
                        _ => None,
                    },
                    None => args.get(1).and_then(|e| self.eval(e).as_constant()),
                };
                self.quietly(|e| e.values(args));
                Some(Value::Group(size.and_then(|s| u32::try_from(s).ok()).map_or(Group::Active, Group::Tile)))
            }
            "sync" => {
                let group = self.group_of(args.first()?)?;
                self.group_sync(group, expr.span);
                Some(Value::Void)
            }
            "tex1Dfetch" | "tex1D" | "tex2D" | "tex3D" | "tex2DLayered" | "surf2Dread" | "texCubemap" => {
                self.values(args);
                let ty = match path.last_args().and_then(|a| a.first()) {
                    Some(crate::model::TemplateArg::Type(t)) => self.resolve(t),
                    _ => Ty::FLOAT,
                };
                Some(self.fresh(&ty, Scope::Lane, "a texture"))
            }
            "memcpy" | "memset" | "memmove" => {
                let values = self.values(args);
                self.clobber(&values);
                self.note_unknown(expr.span, "memcpy in device code");
                Some(Value::Void)
            }
            "clock" | "clock64" | "malloc" | "curand" | "curand_uniform" => {
                let values = self.values(args);
                self.clobber(&values);
                let ty = match name {
                    "curand_uniform" => Ty::FLOAT,
                    "malloc" => Ty::Scalar(Scalar::Void).pointer_to(),
                    _ => Ty::INT,
                };
                Some(self.fresh(&ty, Scope::Lane, name))
            }
            _ => None,
        }
    }

    fn bit_function(&mut self, name: &str, args: &'p [Expr]) -> Value<'p> {
        let values = self.values(args);
        let scope = values.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid);
        let block = self.block();
        let lanes = match values.first() {
            Some(Value::Int { poly, .. }) => poly.as_lanes(),
            _ => None,
        };
        let f: Option<fn(i64) -> i64> = match name {
            "__popc" => Some(|v| i64::from((v as u32).count_ones())),
            "__clz" => Some(|v| i64::from((v as u32).leading_zeros())),
            "__ffs" => Some(|v| if v as u32 == 0 { 0 } else { i64::from((v as u32).trailing_zeros()) + 1 }),
            "__brev" => Some(|v| i64::from((v as u32).reverse_bits())),
            _ => None,
        };
        if let (Some(lanes), Some(f)) = (lanes, f) {
            return Value::Int { poly: Poly::lanes(lanes.map(block, f)), ty: Scalar::Int };
        }
        let (low, high) = if matches!(name, "__popc" | "__clz" | "__ffs" | "__popcll" | "__clzll" | "__ffsll") {
            (0, 64)
        } else {
            Scalar::Int.range()
        };
        Value::Int { poly: self.terms.data(scope, low, high, "a bit function"), ty: Scalar::Int }
    }

    /// `__shfl*`: known values move between known lanes; a value read from one lane is the same for the warp.
    fn shuffle(&mut self, name: &str, args: &'p [Expr]) -> Value<'p> {
        let values = self.values(args);
        let skip = usize::from(name.ends_with("_sync"));
        let (Some(value), Some(lane)) = (values.get(skip), values.get(skip + 1)) else {
            return Value::unknown(Ty::Unknown, Scope::Lane);
        };
        let width = values.get(skip + 2).and_then(Value::as_constant).unwrap_or(32).clamp(1, 32) as usize;
        let lane_poly = self.as_int(lane);
        let kind = name.trim_end_matches("_sync").trim_start_matches("__shfl");
        let is_from_one_lane = kind.is_empty() && self.terms.scope(&lane_poly) <= Scope::Warp && width == 32;
        let scope = if is_from_one_lane {
            self.value_scope(value).min(Scope::Warp)
        } else {
            self.value_scope(value).max(if kind.is_empty() { self.terms.scope(&lane_poly) } else { Scope::Grid })
        };
        if let (Value::Int { poly, ty }, Some(by)) = (value, lane_poly.as_lanes())
            && poly.atoms().all(|a| self.terms.get(a).scope <= Scope::Block)
        {
            let moved = self.move_lanes(poly, &by, kind, width);
            return Value::Int { poly: moved, ty: *ty };
        }
        self.fresh(&value.ty(), scope, "a shuffled value")
    }

    fn move_lanes(&mut self, poly: &Poly, by: &Lanes, kind: &str, width: usize) -> Poly {
        let block = self.block();
        let threads = block.threads();
        let source = |t: usize| {
            let lane = t % WARP;
            let (group, inside) = (lane / width * width, (lane % width) as i64);
            let b = by.get(block, t);
            let target = match kind {
                "_up" => inside - b,
                "_down" => inside + b,
                "_xor" => inside ^ b,
                _ => b.rem_euclid(width as i64),
            };
            let target = if (0..width as i64).contains(&target) { target } else { inside };
            (t - lane + group + target as usize).min(threads - 1)
        };
        let mut out = Poly::zero();
        for (mono, lanes) in &poly.terms {
            let moved: Vec<i64> = (0..threads).map(|t| lanes.get(block, source(t))).collect();
            let term = Poly { terms: smallvec::smallvec![(mono.clone(), Lanes::from_vec(moved))] };
            out = self.terms.add(&out, &term);
        }
        out
    }

    fn atomic(&mut self, args: &'p [Expr], expr: &'p Expr) -> Value<'p> {
        let pointer = args.first().map(|e| self.eval(e));
        for e in args.iter().skip(1) {
            self.eval(e);
        }
        let Some(pointer) = pointer else { return Value::Void };
        let place = self.target(&pointer);
        if let Base::Object(_) = place.base {
            self.clobber(&[pointer]);
        } else {
            self.touch(&place, expr.span, Operation::Atomic);
            self.forget_loads(place.base);
        }
        let ty = place.ty.value_type().clone();
        self.fresh(&ty, Scope::Lane, "an atomic's old value")
    }

    /// A barrier of the whole block: who may be missing?
    pub(super) fn barrier(&mut self, name: &str, span: Span) {
        self.order += 1;
        self.straight += 1;
        self.forget_shared();
        if self.is_quiet() || self.state.exit.is_some() {
            return;
        }
        let divergence = self.divergence();
        self.events.barriers.push(Barrier {
            span,
            called_from: self.call_path(),
            function: self.function_name(),
            name: name.into(),
            divergence,
        });
    }

    /// After a barrier all that other threads may have written is new.
    fn forget_shared(&mut self) {
        let memories = &self.memories;
        self.loads.retain(|(b, ..), _| match b {
            Base::Memory(i) => memories.get(*i as usize).is_some_and(|m| m.space == Space::Constant),
            _ => false,
        });
    }

    fn divergence(&self) -> Option<Divergence> {
        let block = self.block();
        if block.threads() == 1 {
            return None;
        }
        // Who lives on elsewhere is worse than who has returned.
        let rank = |k: GuardKind| u8::from(k == GuardKind::Returned);
        let splits = |g: &&crate::symbolic::value::Guard| g.scope >= Scope::Warp || !g.missing.is_empty();
        let guard = self.state.guards.iter().filter(splits).min_by_key(|g| rank(g.kind))?;
        let kind = match guard.kind {
            GuardKind::Branch => DivergenceKind::Branch,
            GuardKind::Loop => DivergenceKind::LoopTrips,
            GuardKind::Skipped | GuardKind::Returned => DivergenceKind::EarlyExit,
        };
        let witnesses = match (self.state.active.first(), guard.missing.first()) {
            (Some(here), Some(there)) => Some((block.thread_index(here), block.thread_index(there))),
            _ => None,
        };
        Some(Divergence {
            cause: guard.span,
            kind,
            have_returned: guard.kind == GuardKind::Returned,
            witnesses,
            is_conditional: guard.missing.is_empty(),
        })
    }

    /// The cooperative group an expression names.
    pub(super) fn group_of(&mut self, expr: &'p Expr) -> Option<Group> {
        let is_candidate = match &expr.kind {
            ExprKind::Name(path) => path.as_simple().is_some_and(|n| self.is_variable(n)),
            ExprKind::Call { callee, .. } => matches!(&callee.kind, ExprKind::Name(p)
                if matches!(p.last().as_str(), "this_thread_block" | "this_grid" | "tiled_partition" | "coalesced_threads")),
            _ => false,
        };
        if !is_candidate {
            return None;
        }
        match self.quietly(|e| e.eval(expr)) {
            Value::Group(g) => Some(g),
            _ => None,
        }
    }

    pub(super) fn group_sync(&mut self, group: Group, span: Span) {
        match group {
            Group::Block => self.barrier("block.sync", span),
            Group::Grid => self.barrier("grid.sync", span),
            _ => {
                self.order += 1;
                self.straight += 1;
            }
        }
    }

    pub(super) fn group_method(&mut self, group: Group, name: &str, args: &'p [Expr], expr: &'p Expr) -> Value<'p> {
        let block = self.block();
        let linear = Lanes::from_vec((0..block.threads() as i64).collect());
        let unsigned = |poly: Poly| Value::Int { poly, ty: Scalar::UInt };
        let size = match group {
            Group::Tile(n) => i64::from(n.clamp(1, 1024)),
            _ => block.threads() as i64,
        };
        match name {
            "sync" => {
                self.group_sync(group, expr.span);
                Value::Void
            }
            "thread_rank" => match group {
                Group::Tile(_) => unsigned(Poly::lanes(linear.map(block, |v| v % size))),
                Group::Block => unsigned(Poly::lanes(linear)),
                Group::Grid => {
                    let blocks = self.builtin_axis(1, 0);
                    let count = Poly::constant(block.threads() as i64);
                    let start = self.terms.mul(&blocks, &count);
                    unsigned(self.terms.add(&start, &Poly::lanes(linear)))
                }
                Group::Active => self.fresh(&Ty::UINT, Scope::Lane, "a rank among active threads"),
            },
            "meta_group_rank" => unsigned(Poly::lanes(linear.map(block, |v| v / size))),
            "meta_group_size" => unsigned(Poly::constant((block.threads() as i64 + size - 1) / size)),
            "size" | "num_threads" => match group {
                Group::Grid => {
                    let count = self.builtin_axis(3, 0);
                    unsigned(self.terms.scale(&count, block.threads() as i64))
                }
                Group::Active => self.fresh(&Ty::UINT, Scope::Warp, "the number of active threads"),
                _ => unsigned(Poly::constant(size)),
            },
            "group_index" | "thread_index" | "dim_threads" | "group_dim" => {
                let slot = match name {
                    "group_index" => 1,
                    "thread_index" => 0,
                    _ => 2,
                };
                let ty = self.vector_type("uint3");
                let place = Place { base: Base::Object(self.builtins[slot]), offset: Poly::zero(), ty };
                self.load(&place, expr.span)
            }
            "shfl" | "shfl_up" | "shfl_down" | "shfl_xor" => {
                let values = self.values(args);
                let (Some(value), Some(lane)) = (values.first(), values.get(1)) else { return Value::Void };
                let by = self.as_int(lane);
                let kind = name.trim_start_matches("shfl");
                if let (Value::Int { poly, ty }, Some(by)) = (value, by.as_lanes())
                    && poly.atoms().all(|a| self.terms.get(a).scope <= Scope::Block)
                    && size <= 32
                {
                    return Value::Int { poly: self.move_lanes(poly, &by, kind, size as usize), ty: *ty };
                }
                let is_one = kind.is_empty() && size == 32 && self.terms.scope(&by) <= Scope::Warp;
                let scope = if is_one { Scope::Warp } else { Scope::Lane };
                let scope = self.value_scope(value).min(scope);
                self.fresh(&value.ty(), scope, "a shuffled value")
            }
            "ballot" | "any" | "all" => {
                self.values(args);
                self.fresh(&Ty::UINT, if size >= 32 { Scope::Warp } else { Scope::Lane }, "a vote")
            }
            _ => {
                self.values(args);
                Value::unknown(Ty::Unknown, Scope::Lane)
            }
        }
    }

    fn builtin_axis(&mut self, slot: usize, axis: u64) -> Poly {
        let value = self.state.object(self.builtins[slot]).and_then(|o| o.slot(axis * 4)).cloned();
        match value {
            Some(Value::Int { poly, .. }) => poly,
            _ => Poly::zero(),
        }
    }

    pub(super) fn exec_asm(&mut self, asm: &'p Asm, span: Span) {
        let text = asm.template.as_str();
        let inputs: Vec<Value<'p>> = asm.inputs.iter().map(|(_, e)| self.eval(e)).collect();
        if text.contains("bar.sync") || text.contains("barrier.sync") {
            // `bar.sync a, n` waits for n threads, not for the block.
            let expected = text.split(',').nth(1).and_then(|n| n.trim_matches([' ', ';', '\n']).parse::<u32>().ok());
            if expected != Some(self.state.active.count()) {
                self.barrier("bar.sync", span);
            }
        }
        let scope = if text.contains("%laneid") || inputs.is_empty() { Scope::Lane } else { Scope::Grid };
        let scope = inputs.iter().map(|v| self.value_scope(v)).max().unwrap_or(Scope::Grid).max(scope);
        if text.contains("ld.global") || text.contains("st.global") {
            self.asm_access(text, &inputs, span);
        }
        let lane_id = text.contains("%laneid").then(|| {
            let block = self.block();
            Poly::lanes(Lanes::from_vec((0..block.threads() as i64).map(|t| t % WARP as i64).collect()))
        });
        for (_, e) in &asm.outputs {
            let Some(place) = self.place(e) else { continue };
            let value = if let Some(poly) = &lane_id {
                Value::Int { poly: poly.clone(), ty: Scalar::UInt }
            } else {
                let ty = place.ty.value_type().clone();
                let scope = if text.contains("ld.") { Scope::Lane } else { scope };
                self.fresh(&ty, scope, "an asm result")
            };
            self.store(&place, value, span);
        }
        if text.contains("cp.async") || text.contains("wgmma") || text.contains("mma.") || text.contains("ldmatrix") {
            self.note_unknown(span, "inline assembly that is not understood");
        }
    }

    /// `ld.global.v4.f32` and kin: the width stands in the instruction, the address is the first pointer among the operands.
    fn asm_access(&mut self, text: &str, inputs: &[Value<'p>], span: Span) {
        let Some(Value::Pointer(place)) = inputs.iter().find(|v| matches!(v, Value::Pointer(_))) else { return };
        let element = if text.contains("64") {
            8
        } else if text.contains("32") {
            4
        } else if text.contains("16") {
            2
        } else {
            1
        };
        let count = if text.contains(".v4") {
            4
        } else if text.contains(".v2") {
            2
        } else {
            1
        };
        let operation = if text.contains("st.global") { Operation::Store } else { Operation::Load };
        let place = place.clone();
        self.touch_sized(&place, span, operation, element * count, None, None);
    }

    /// The CUDA runtime and the C library in host code.
    fn host_call(&mut self, name: &str, args: &'p [Expr], expr: &'p Expr) -> Option<Value<'p>> {
        match name {
            "cudaMalloc" | "cudaMallocManaged" | "cudaMallocHost" | "cudaMallocAsync" | "cudaHostAlloc"
            | "cudaMallocPitch" => {
                let first = args.first()?;
                let value = self.eval(first);
                for e in args.iter().skip(1) {
                    self.eval(e);
                }
                if let Value::Pointer(target) = value {
                    self.allocate(&target, expr.span);
                }
                Some(Value::int(0, Scalar::Int))
            }
            "cudaGetSymbolAddress" => {
                let target = self.eval(args.first()?);
                if let Value::Pointer(target) = target {
                    self.allocate(&target, expr.span);
                }
                Some(Value::int(0, Scalar::Int))
            }
            "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" => {
                let kernel = self.quietly(|e| e.kernel_named(strip_casts(args.first()?)));
                let grid = self.dimensions(args.get(1)?);
                let block = self.dimensions(args.get(2)?);
                if let Some((ids, explicit)) = kernel {
                    let list = args.get(3).map(|e| self.argument_array(e, &ids)).unwrap_or_default();
                    self.note_launch(&ids, &explicit, &[grid, block], list, expr.span);
                }
                Some(Value::int(0, Scalar::Int))
            }
            "atoi" | "atol" | "strtol" | "atoll" | "stoi" | "strtoul" => {
                self.values(args);
                let atom = self.size_atom("a command-line value", 0, i64::from(i32::MAX), true);
                Some(Value::Int { poly: Poly::atom(atom), ty: Scalar::Int })
            }
            "atof" | "strtod" => {
                self.values(args);
                Some(Value::Float { ty: Scalar::Double, scope: Scope::Grid, constant: None })
            }
            "exit" | "abort" | "_exit" => {
                self.values(args);
                self.state.exit = Some(GuardKind::Skipped);
                Some(Value::Void)
            }
            _ => None,
        }
    }

    /// `void* args[] = {&a, &b}`: the values behind the pointers.
    fn argument_array(&mut self, expr: &'p Expr, ids: &[crate::model::project::DeclId]) -> Vec<super::call::Arg<'p>> {
        let count = ids.first().map_or(0, |id| self.project.function(*id).params.len());
        let array = self.quietly(|e| e.eval(expr));
        let Value::Pointer(start) = array else { return Vec::new() };
        let mut out = Vec::new();
        for i in 0..count as i64 {
            let offset = self.terms.add_constant(&start.offset, i * 8);
            let slot = Place { base: start.base, offset, ty: Ty::Unknown };
            let pointer = match slot.base {
                Base::Object(id) => {
                    let at = slot.offset.as_constant().and_then(|c| u64::try_from(c).ok());
                    self.state.object(id).and_then(|o| o.slot(at?).cloned())
                }
                _ => None,
            };
            let place = match pointer {
                Some(Value::Pointer(p)) => Some(p),
                _ => None,
            };
            let value = place.is_none().then(|| Value::unknown(Ty::Unknown, Scope::Grid));
            out.push(super::call::Arg { place, value, span: expr.span, origin: Origin::default() });
        }
        out
    }

    /// A fresh allocation in the variable behind a pointer.
    fn allocate(&mut self, target: &Place, span: Span) {
        let Base::Object(id) = target.base else { return };
        let Some(at) = target.offset.as_constant().and_then(|c| u64::try_from(c).ok()) else { return };
        let ty = self.state.object(id).map_or(Ty::Unknown, |o| part_type(&o.ty, at));
        let element = ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let name = self.state.object(id).map(|o| o.name.clone()).unwrap_or_default();
        let key = RegionKey::Behind(target.base, Poly::constant(i64::from(span.start) << 20 | at as i64));
        let base = if let Some(i) = self.region_of.get(&key) {
            Base::Memory(*i)
        } else {
            let base = self.new_memory(allocation(name, element.clone()));
            self.remember_region(key, base);
            base
        };
        if let Some(object) = self.state.object_mut(id) {
            object.set(at, Value::Pointer(Place { base, offset: Poly::zero(), ty: element }));
        }
    }
}

fn allocation(name: Name, ty: Ty) -> Memory {
    Memory {
        space: Space::Global,
        name,
        span: None,
        align: 256,
        scope: Scope::Grid,
        is_restrict: false,
        is_const: false,
        shared: None,
        align_is_assumed: false,
        ty,
        global: None,
    }
}

/// The type of the part at an offset of an object.
fn part_type(ty: &Ty, at: u64) -> Ty {
    match ty {
        Ty::Record(r) => match r.fields.iter().rev().find(|f| f.offset <= at) {
            Some(f) => part_type(&f.ty, at - f.offset),
            None => Ty::Unknown,
        },
        Ty::Array(element, _) => {
            let size = element.size().unwrap_or(1).max(1);
            part_type(element, at % size)
        }
        other => other.clone(),
    }
}

fn strip_casts(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { operand, .. } => strip_casts(operand),
        ExprKind::Unary { op: crate::model::UnaryOp::AddressOf, operand } => strip_casts(operand),
        _ => expr,
    }
}

/// Functions of floats by their name.
pub(super) fn is_single_precision(name: &str) -> bool {
    name.ends_with('f') && !name.ends_with("erf") || name.starts_with("__f")
}

/// Maths functions that exist for `float` and for `double`.
pub(super) fn is_overloaded(name: &str) -> bool {
    let is_choice = matches!(name, "min" | "max" | "fmin" | "fmax" | "abs");
    !is_single_precision(name) && (is_choice || math_function(name))
}

/// Maths functions: the result has their arguments' floating type.
fn math_function(name: &str) -> bool {
    let base = name.strip_prefix("__").unwrap_or(name);
    let base = base
        .strip_suffix("_rn")
        .or_else(|| base.strip_suffix("_rz"))
        .or_else(|| base.strip_suffix("_ru"))
        .or_else(|| base.strip_suffix("_rd"))
        .unwrap_or(base);
    let stem = base.strip_suffix('f').filter(|s| !matches!(*s, "er")).unwrap_or(base);
    matches!(
        stem,
        "sqrt"
            | "rsqrt"
            | "cbrt"
            | "exp"
            | "exp2"
            | "exp10"
            | "expm1"
            | "log"
            | "log2"
            | "log10"
            | "log1p"
            | "sin"
            | "cos"
            | "tan"
            | "asin"
            | "acos"
            | "atan"
            | "atan2"
            | "sinh"
            | "cosh"
            | "tanh"
            | "pow"
            | "fabs"
            | "fabsf"
            | "floor"
            | "ceil"
            | "round"
            | "rint"
            | "trunc"
            | "fma"
            | "fmod"
            | "hypot"
            | "erf"
            | "erfc"
            | "copysign"
            | "nearbyint"
            | "fdim"
            | "ldexp"
            | "tgamma"
            | "lgamma"
            | "saturate"
            | "fadd"
            | "fmul"
            | "fsub"
            | "fdiv"
            | "frcp"
            | "fsqrt"
            | "dadd"
            | "dmul"
            | "rcp"
            | "sinpi"
            | "cospi"
            | "fmaf"
            | "remainder"
            | "norm3d"
            | "isnan"
            | "isinf"
            | "signbit"
            | "erfinv"
            | "normcdf"
    )
}

fn fold_math(name: &str, args: &[f64]) -> Option<f64> {
    let x = *args.first()?;
    match name.trim_end_matches('f') {
        "sqrt" => Some(x.sqrt()),
        "ceil" => Some(x.ceil()),
        "loor" | "floor" => Some(x.floor()),
        "log2" => Some(x.log2()),
        "pow" => Some(x.powf(*args.get(1)?)),
        "exp2" => Some(x.exp2()),
        _ => None,
    }
}
