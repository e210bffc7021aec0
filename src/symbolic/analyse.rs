//! From a project to the facts of every kernel: finds the launches, walks each kernel once per instance and block shape,
//! and counts what the walk met.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::eval::{Eval, LaunchConfig, LaunchSite, PaddingTrial, Side, Touch};
use super::host;
use super::lanes::{Block, Mask};
use super::value::Base;
use crate::model::project::{DeclId, Project};
use crate::model::types::Binding;
use crate::model::visit;
use crate::model::{ExprKind, Function, Name};
use crate::source::Span;
use crate::warp::count::{Count, Request, Tally, count};
use crate::warp::facts::{
    Access, Exactness, KernelFacts, Launch, LaunchSource, Operation, Padding, RecordAccess, Scope, SharedArray, Space,
};
use crate::warp::merge::{Fate, fates};

/// Distinct launches of one kernel instance that are looked at.
const LAUNCH_LIMIT: usize = 4;
/// Instances of one kernel template that are looked at.
const INSTANCE_LIMIT: usize = 8;

/// Instructions of one place that are counted one by one.
const COUNT_LIMIT: usize = 32;

/// What the user says about launches that the source does not show.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// For every kernel without a visible launch.
    pub block: Option<[u32; 3]>,
    /// For kernels by name; goes before what is visible.
    pub kernels: Vec<KernelHint>,
}

/// How somebody else launches a kernel.
#[derive(Debug, Clone)]
pub struct KernelHint {
    /// Without scope.
    pub name: Name,
    pub block: [u32; 3],
    pub grid: Option<[u64; 3]>,
    /// Values of parameters, by name.
    pub args: Vec<(Name, i64)>,
}

/// One walk to be done.
struct Job<'p> {
    kernel: DeclId,
    bindings: Vec<Binding>,
    launch: Launch,
    args: Vec<super::eval::Argument<'p>>,
}

/// The facts of every kernel of the project, in file order; kernels for which `wanted` is false are left out. A walk that
/// panics yields its message instead.
pub fn analyse(
    project: &Project,
    hints: &Hints,
    wanted: &(dyn Fn(DeclId) -> bool + Sync),
) -> Vec<Result<KernelFacts, String>> {
    let launches = host::launches(project);
    let mut by_kernel: FxHashMap<DeclId, Vec<LaunchSite<'_>>> = FxHashMap::default();
    for launch in launches {
        by_kernel.entry(launch.kernel).or_default().push(launch);
    }
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (id, function) in project.all_functions() {
        if function.quals.is_global && function.body.is_some() && wanted(id) {
            jobs.extend(jobs_of(id, function, by_kernel.remove(&id).unwrap_or_default(), hints));
        }
    }
    jobs.par_iter().map(|job| guarded(project, job)).collect()
}

fn guarded(project: &Project, job: &Job<'_>) -> Result<KernelFacts, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(project, job))).map_err(|panic| {
        let text =
            panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        format!("kernel {}: {}", project.function(job.kernel).name, text.unwrap_or_else(|| "a panic".into()))
    })
}

/// Kernel launches by instance and block shape; without any, the shapes that hints or plausibility give.
fn jobs_of<'p>(id: DeclId, function: &'p Function, launches: Vec<LaunchSite<'p>>, hints: &Hints) -> Vec<Job<'p>> {
    let fixed = hints.kernels.iter().find(|hint| hint.name == function.name);
    let mut instances: Vec<(Vec<Binding>, Vec<LaunchSite<'p>>)> = Vec::new();
    for launch in launches {
        let bindings = launch.bindings.clone();
        match instances.iter_mut().find(|(b, _)| *b == bindings) {
            Some((_, list)) => list.push(launch),
            None => instances.push((bindings, vec![launch])),
        }
    }
    if instances.is_empty() {
        instances.push((Vec::new(), Vec::new()));
    }
    let mut jobs = Vec::new();
    for (bindings, list) in instances.into_iter().take(INSTANCE_LIMIT) {
        for (launch, args) in shapes(function, list, fixed, hints) {
            jobs.push(Job { kernel: id, bindings: bindings.clone(), launch, args });
        }
    }
    jobs
}

type Shape<'p> = (Launch, Vec<super::eval::Argument<'p>>);

fn shapes<'p>(
    function: &'p Function,
    list: Vec<LaunchSite<'p>>,
    fixed: Option<&KernelHint>,
    hints: &Hints,
) -> Vec<Shape<'p>> {
    if let Some(hint) = fixed {
        let seen = list.into_iter().reduce(|mut a, b| {
            Eval::widen(&mut a, &b);
            a
        });
        let (grid, mut args) = seen.map_or((None, Vec::new()), |l| (known_grid(l.grid), l.args));
        set_hinted(function, hint, &mut args);
        let launch = Launch { block: hint.block, grid: hint.grid.or(grid), source: LaunchSource::Hint };
        return vec![(launch, args)];
    }
    let mut known: Vec<([u32; 3], LaunchSite<'p>)> = Vec::new();
    let mut open: Option<LaunchSite<'p>> = None;
    for launch in list {
        match known_block(&launch) {
            Some(block) => match known.iter_mut().find(|(b, _)| *b == block) {
                Some((_, first)) => Eval::widen(first, &launch),
                None => known.push((block, launch)),
            },
            None => match &mut open {
                Some(first) => Eval::widen(first, &launch),
                None => open = Some(launch),
            },
        }
    }
    if !known.is_empty() {
        return known
            .into_iter()
            .take(LAUNCH_LIMIT)
            .map(|(block, l)| {
                (Launch { block, grid: known_grid(l.grid), source: LaunchSource::Visible(l.span) }, l.args)
            })
            .collect();
    }
    let args = open.as_ref().map(|l| l.args.clone()).unwrap_or_default();
    let grid = open.as_ref().and_then(|l| known_grid(l.grid));
    if let Some(block) = hints.block {
        return vec![(Launch { block, grid, source: LaunchSource::Hint }, args)];
    }
    if let Some(threads) = launch_bounds(function) {
        let block = if uses_axis(function, "y") { square(threads) } else { [threads, 1, 1] };
        return vec![(Launch { block, grid, source: LaunchSource::LaunchBounds }, args)];
    }
    plausible(function, open.as_ref())
        .into_iter()
        .map(|block| (Launch { block, grid, source: LaunchSource::Assumed }, args.clone()))
        .collect()
}

/// Parameters that the hint names have its values.
fn set_hinted(function: &Function, hint: &KernelHint, args: &mut Vec<super::eval::Argument<'_>>) {
    for (index, param) in function.params.iter().enumerate() {
        let Some((_, value)) = hint.args.iter().find(|(name, _)| *name == param.name) else { continue };
        if args.len() <= index {
            args.resize_with(index + 1, || super::eval::Argument::Unknown);
        }
        if let Some(slot) = args.get_mut(index) {
            *slot = super::eval::Argument::Int(*value);
        }
    }
}

fn known_grid(grid: [Option<i64>; 3]) -> Option<[u64; 3]> {
    let [Some(x), Some(y), Some(z)] = grid else { return None };
    (x > 0 && y > 0 && z > 0).then_some([x as u64, y as u64, z as u64])
}

fn known_block(launch: &LaunchSite<'_>) -> Option<[u32; 3]> {
    let [Some(x), Some(y), Some(z)] = launch.block else { return None };
    let fits = x >= 1 && y >= 1 && z >= 1 && x.saturating_mul(y).saturating_mul(z) <= 1024;
    fits.then_some([x as u32, y as u32, z as u32])
}

fn launch_bounds(function: &Function) -> Option<u32> {
    match function.launch_bounds.first().map(|e| &e.kind) {
        Some(ExprKind::Int { value, .. }) if (1..=1024).contains(value) => Some(*value as u32),
        _ => None,
    }
}

fn square(threads: u32) -> [u32; 3] {
    let x = if threads >= 512 { 32 } else { 16 }.min(threads);
    [x, (threads / x).max(1), 1]
}

/// Whether the kernel's own body speaks of `threadIdx.y` (or z).
fn uses_axis(function: &Function, axis: &str) -> bool {
    let Some(body) = &function.body else { return false };
    let mut found = false;
    visit::expressions(body, &mut |e| {
        if let ExprKind::Member { base, member, .. } = &e.kind
            && let ExprKind::Name(path) = &base.kind
        {
            found |= matches!(path.last().as_str(), "threadIdx" | "blockDim") && member.name == axis;
        }
    });
    found
}

/// Shapes a kernel without a visible launch may have.
fn plausible(function: &Function, open: Option<&LaunchSite<'_>>) -> Vec<[u32; 3]> {
    let [x, y, z] = open.map_or([None; 3], |l| l.block);
    let fit = |v: Option<i64>| v.filter(|v| (1..=1024).contains(v)).map(|v| v as u32);
    match (fit(x), fit(y), fit(z)) {
        (Some(x), None, _) => return vec![[x, (256 / x).max(1), 1]],
        (None, Some(y), _) if y > 1 => return vec![[(256 / y).max(1), y, 1]],
        (Some(x), Some(y), None) => return vec![[x, y, (256 / (x * y)).clamp(1, 64)]],
        _ => {}
    }
    if uses_axis(function, "z") {
        return vec![[32, 4, 2], [8, 8, 4]];
    }
    if uses_axis(function, "y") {
        return vec![[32, 8, 1], [16, 16, 1], [32, 32, 1], [8, 8, 1]];
    }
    vec![[256, 1, 1], [128, 1, 1]]
}

fn eval_job<'p>(project: &'p Project, job: &Job<'p>, padding: Option<PaddingTrial>) -> Eval<'p> {
    let block = Block::new(job.launch.block);
    let grid = job.launch.grid.map_or([None; 3], |g| g.map(|v| i64::try_from(v).ok()));
    let mut eval = Eval::new(project, Side::Device, block, LaunchConfig { grid });
    eval.padding = padding;
    eval.run_kernel(job.kernel, &job.bindings, &job.args);
    eval
}

fn run(project: &Project, job: &Job<'_>) -> KernelFacts {
    let function = project.function(job.kernel);
    let eval = eval_job(project, job, None);
    let accesses = accesses(&eval);
    let mut shared_arrays = eval.shared_arrays.clone();
    find_paddings(project, job, &accesses, &mut shared_arrays);
    let instance = (!job.bindings.is_empty()).then(|| {
        let args: Vec<String> = job.bindings.iter().map(super::eval::binding_text).collect();
        format!("{}<{}>", function.name, args.join(", "))
    });
    KernelFacts {
        kernel: function.name.clone(),
        kernel_span: function.name_span,
        instance,
        launch: job.launch.clone(),
        accesses,
        barriers: eval.events.barriers,
        divisions: eval.events.divisions,
        float_literals: eval.events.literals,
        unknowns: eval.events.unknowns,
        shared_arrays,
    }
}

/// Where an access stands: its source place, the calls to it, what it does and to what.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Place {
    span: Span,
    called_from: Vec<Span>,
    operation: Operation,
    space: Space,
    base: Base,
}

struct Group<'t> {
    first: &'t Touch,
    counted: Vec<(Count, u64)>,
    merged: Option<Span>,
    is_in_loop: bool,
    /// Instructions of this place met so far.
    met: usize,
}

/// Accesses of the walk, merged as the compiler merges them, counted, and put together by place.
fn accesses(eval: &Eval<'_>) -> Vec<Access> {
    let touches = &eval.events.touches;
    let fates = fates(touches, &eval.memories, eval.terms.block);
    let mut order: Vec<Place> = Vec::new();
    let mut groups: FxHashMap<Place, Group<'_>> = FxHashMap::default();
    let mut cache: FxHashMap<(Base, super::term::Poly, u64, Mask, usize), Count> = FxHashMap::default();
    for (touch, fate) in touches.iter().zip(&fates) {
        let space = space_of(eval, touch);
        let place = Place {
            span: touch.span,
            called_from: touch.called_from.clone(),
            operation: touch.operation,
            space,
            base: touch.base,
        };
        let group = groups.entry(place.clone()).or_insert_with(|| {
            order.push(place);
            Group { first: touch, counted: Vec::new(), merged: None, is_in_loop: false, met: 0 }
        });
        group.is_in_loop |= touch.in_loop;
        match fate {
            Fate::Into(other) => group.merged = group.merged.or(Some(touches[*other].span)),
            Fate::Own { bytes, shift } => {
                group.met += 1;
                // A long walk of one access is counted at some of its trips; an odd step meets every residue.
                if group.counted.len() >= COUNT_LIMIT && !group.met.is_multiple_of(7)
                    || group.counted.len() >= 2 * COUNT_LIMIT
                {
                    continue;
                }
                let offset = shifted(eval, touch, *shift);
                let key =
                    (touch.base, offset.clone(), *bytes, touch.active, std::rc::Rc::as_ptr(&touch.conditions) as usize);
                let counted =
                    cache.entry(key).or_insert_with(|| count_touch(eval, touch, space, &offset, *bytes)).clone();
                group.counted.push((counted, *bytes));
            }
        }
    }
    order.iter().filter_map(|p| groups.get(p).map(|g| access(eval, p, g))).collect()
}

fn shifted(eval: &Eval<'_>, touch: &Touch, shift: i64) -> super::term::Poly {
    if shift == 0 {
        return touch.offset.clone();
    }
    let known = touch.offset.known_part().add(&super::lanes::Lanes::constant(shift), eval.terms.block);
    let mut out = super::term::Poly::lanes(known);
    out.terms.extend(touch.offset.terms.iter().filter(|(m, _)| !m.is_empty()).cloned());
    out
}

fn space_of(eval: &Eval<'_>, touch: &Touch) -> Space {
    match touch.base {
        Base::Memory(i) => eval.memories.get(i as usize).map_or(Space::Unknown, |m| m.space),
        Base::Object(_) => Space::Local,
        Base::Nowhere => Space::Unknown,
    }
}

fn count_touch(eval: &Eval<'_>, touch: &Touch, space: Space, offset: &super::term::Poly, bytes: u64) -> Count {
    let unknown = |why: &str| Count {
        tally: Tally::default(),
        exactness: Exactness::Unknown,
        why: Some(why.to_owned()),
        is_data_dependent: false,
    };
    if let Some(why) = touch.why {
        return unknown(why);
    }
    match space {
        Space::Global | Space::Shared => {}
        Space::Unknown => return unknown("it is not known what the pointer points to"),
        Space::Local | Space::Constant => return unknown("no sectors are predicted for this address space"),
    }
    if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
        return unknown("the width of the access is not known");
    }
    let base_scope = match touch.base {
        Base::Memory(i) => eval.memories.get(i as usize).map_or(Scope::Lane, |m| m.scope),
        _ => Scope::Lane,
    };
    let request = Request {
        space,
        operation: touch.operation,
        offset,
        bytes,
        active: &touch.active,
        conditions: &touch.conditions,
        base_scope,
    };
    count(&eval.terms, &request)
}

fn access(eval: &Eval<'_>, place: &Place, group: &Group<'_>) -> Access {
    let mut tally = Tally::default();
    let mut exactness = Exactness::Exact;
    let mut why = None;
    let mut is_data_dependent = false;
    let known = group.counted.iter().filter(|(c, _)| c.exactness != Exactness::Unknown).count();
    for (counted, _) in &group.counted {
        if counted.exactness == Exactness::Unknown && known > 0 {
            exactness = exactness.max(Exactness::Bounded);
            continue;
        }
        tally.add(&counted.tally);
        exactness = exactness.max(counted.exactness);
        if why.is_none() {
            why.clone_from(&counted.why);
        }
        is_data_dependent |= counted.is_data_dependent;
    }
    let memory = match place.base {
        Base::Memory(i) => eval.memories.get(i as usize),
        _ => None,
    };
    let bytes = group.counted.iter().map(|(_, b)| *b).max().unwrap_or(group.first.bytes);
    let is_merged = group.counted.is_empty();
    let traffic = if is_merged { None } else { tally.traffic() };
    let aligned_ratio = if tally.ideal > 0.0 { tally.aligned / tally.ideal } else { 1.0 };
    Access {
        span: place.span,
        called_from: place.called_from.clone(),
        function: group.first.function.clone(),
        space: place.space,
        operation: place.operation,
        bytes_per_lane: bytes as u32,
        active_lanes: if tally.requests > 0.0 {
            tally.lanes / tally.requests
        } else {
            f64::from(group.first.active.count().min(32))
        },
        traffic,
        exactness: if is_merged { Exactness::Exact } else { exactness },
        why,
        stride: stride(eval, group.first, is_data_dependent),
        is_data_dependent,
        merged_into: if is_merged { group.merged } else { None },
        shared_array: memory.and_then(|m| m.shared),
        array: memory.map(|m| (m.name.clone(), m.span.unwrap_or(place.span))),
        is_only_misaligned: traffic.is_some_and(|t| t.ratio() > 1.05) && aligned_ratio <= 1.05,
        record: group.first.record.as_ref().map(|r| RecordAccess {
            name: r.instance.clone(),
            size_bytes: r.size,
            align_bytes: r.align,
        }),
        by_one_warp: tally.warps <= 1 && eval.terms.block.warps() > 1,
        in_loop: group.is_in_loop,
    }
}

/// The distance between neighbouring lanes, for people.
fn stride(eval: &Eval<'_>, touch: &Touch, is_data_dependent: bool) -> String {
    if is_data_dependent {
        return "data-dependent".into();
    }
    let block = eval.terms.block;
    let size = touch.ty.value_type().size().unwrap_or(touch.bytes).max(1) as i64;
    let (mut first, mut second) = (0, 0);
    if let Some(t) = (0..block.threads()).find(|t| touch.active.get(*t) && touch.active.get(*t + 1)) {
        first = t;
        second = t + 1;
    }
    let mut parts = Vec::new();
    for (mono, lanes) in &touch.offset.terms {
        let difference = lanes.get(block, second).wrapping_sub(lanes.get(block, first));
        if mono.is_empty() {
            if difference != 0 {
                parts.push(elements(difference, size));
            }
            continue;
        }
        let names: Vec<&str> = mono.iter().map(|a| &*eval.terms.get(*a).name).collect();
        let is_varying = mono.iter().any(|a| eval.terms.get(*a).scope == Scope::Lane);
        if is_varying {
            parts.push(format!("by {}", names.join("*")));
        } else if difference != 0 {
            let count = difference / size;
            let factor = if count == 1 { String::new() } else { format!("{count}*") };
            parts.push(format!("{factor}{} elements", names.join("*")));
        }
    }
    if parts.is_empty() { "0 (the same address)".into() } else { parts.join(" + ") }
}

fn elements(bytes: i64, size: i64) -> String {
    if bytes % size != 0 {
        return format!("{bytes} bytes");
    }
    match bytes / size {
        1 => "1 element".into(),
        n => format!("{n} elements"),
    }
}

/// For each shared array with a conflict: the least padding of its innermost dimension that frees all its accesses.
fn find_paddings(project: &Project, job: &Job<'_>, accesses: &[Access], arrays: &mut [SharedArray]) {
    for (index, array) in arrays.iter_mut().enumerate() {
        let is_matrix = array.dims.as_ref().is_some_and(|d| d.len() >= 2);
        let before = worst_of(accesses, index);
        if !is_matrix || before.is_none_or(|(w, ideal)| w < ideal * 2) {
            continue;
        }
        let worst_before = before.map_or(0, |(w, _)| w);
        for elements in 1..=16 {
            let eval = eval_job(project, job, Some(PaddingTrial { array: index, elements }));
            let tried = self::accesses(&eval);
            let of_array = || tried.iter().filter(|a| a.shared_array == Some(index) && a.merged_into.is_none());
            let is_free = of_array().all(|a| a.traffic.is_some_and(|t| t.ratio() <= 1.05));
            if is_free {
                array.padding = Some(Padding {
                    elements,
                    worst_before,
                    worst_after: of_array().filter_map(|a| a.traffic).map(|t| t.worst).max().unwrap_or(1),
                    accesses: of_array().count(),
                    dimension_span: None,
                });
                break;
            }
        }
    }
}

/// The highest wavefronts of an array's accesses, with the ideal there.
fn worst_of(accesses: &[Access], array: usize) -> Option<(u32, u32)> {
    accesses
        .iter()
        .filter(|a| a.shared_array == Some(array))
        .filter_map(|a| a.traffic)
        .max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
        .map(|t| (t.worst, t.worst_ideal.max(1)))
}
