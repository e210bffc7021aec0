//! Counts what a warp does: gives numbers to the unknowns of an address, and counts sectors and wavefronts lane by lane.
//!
//! Unknowns that walk a range (blockIdx, loop counters) are walked and averaged over; run-time sizes are taken as large
//! multiples of 32, which keeps lanes with different multiples of them in different sectors and rows aligned. Only unknowns that can
//! change the count are given more than one number.

use rustc_hash::FxHashMap;

use super::banks::{self, Direction, LaneOffsets};
use super::sectors;
use crate::arch::SECTOR_BYTES;
use crate::symbolic::lanes::{Block, Mask, WARP};
use crate::symbolic::term::{AtomId, AtomKind, Op, Poly, Terms};
use crate::warp::facts::{Exactness, Operation, Scope, Space, Traffic};

/// Most assignments of numbers to unknowns that one access is counted under.
const SAMPLES: usize = 32;
/// Added to every address so that none is negative; a multiple of every alignment.
const BASE: i64 = 1 << 40;
const SECTOR: i64 = SECTOR_BYTES as i64;

/// A table up to this size is one whose indices are taken as evenly spread.
const TABLE_BYTES: i64 = 4096;
/// Rows at least this far apart are never in one sector.
const ROW_BYTES: i64 = 1024;

/// What is counted: one machine instruction of the walk.
pub struct Request<'a> {
    pub space: Space,
    pub operation: Operation,
    pub offset: &'a Poly,
    pub bytes: u64,
    pub active: &'a Mask,
    pub conditions: &'a [(Poly, bool)],
    /// The base address differs between lanes.
    pub base_scope: Scope,
}

/// Sums over executed warps (and assignments), so that several walks of one access can be added up.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub requests: f64,
    pub moved: f64,
    pub ideal: f64,
    pub lanes: f64,
    /// Moved if every warp's lowest address were aligned to a sector.
    pub aligned: f64,
    pub worst: u32,
    pub worst_ideal: u32,
    /// Most warps of the block that executed it under one assignment.
    pub warps: usize,
}

/// The result for one access.
#[derive(Debug, Clone)]
pub struct Count {
    pub tally: Tally,
    pub exactness: Exactness,
    pub why: Option<String>,
    pub is_data_dependent: bool,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.moved += other.moved;
        self.ideal += other.ideal;
        self.lanes += other.lanes;
        self.aligned += other.aligned;
        if other.worst > self.worst || other.worst == self.worst && other.worst_ideal < self.worst_ideal {
            self.worst = other.worst;
            self.worst_ideal = other.worst_ideal;
        }
        self.warps = self.warps.max(other.warps);
    }

    pub fn traffic(&self) -> Option<Traffic> {
        (self.requests > 0.0).then(|| Traffic {
            per_request: self.moved / self.requests,
            ideal_per_request: self.ideal / self.requests,
            worst: self.worst,
            worst_ideal: self.worst_ideal,
        })
    }
}

/// Counts one request.
pub fn count(terms: &Terms, request: &Request<'_>) -> Count {
    let mut notes = Notes::default();
    let mut sampler = Sampler { terms, block: terms.block, derived: FxHashMap::default() };
    if request.base_scope == Scope::Lane {
        return unknown("the pointer was loaded by each lane for itself", true);
    }
    if let Some(known) = sampler.gather(request) {
        return known;
    }
    if let Some(why) = sampler.unknowable(request, &mut notes) {
        return why;
    }
    let conditions: Vec<&(Poly, bool)> = request.conditions.iter().filter(|(c, _)| sampler.is_knowable(c)).collect();
    if conditions.len() < request.conditions.len() {
        notes.say("a condition that depends on data is taken as true for all lanes");
    }
    let relevant = sampler.relevant(request, &conditions);
    let mut tally = sampler.run(request, &conditions, &relevant);
    if tally.requests == 0.0 && !conditions.is_empty() {
        tally = sampler.run_at_start(request, &conditions, &relevant);
        if tally.requests == 0.0 {
            notes.say("a condition that holds for no sampled block is taken as true for all lanes");
            tally = sampler.run(request, &[], &relevant);
        }
    }
    if tally.requests == 0.0 {
        return unknown("no thread gets here", false);
    }
    let exactness = if notes.why.is_some() { Exactness::Bounded } else { Exactness::Exact };
    Count { tally, exactness, why: notes.why, is_data_dependent: false }
}

fn unknown(why: &str, is_data_dependent: bool) -> Count {
    Count { tally: Tally::default(), exactness: Exactness::Unknown, why: Some(why.to_owned()), is_data_dependent }
}

/// The first assumption made.
#[derive(Default)]
struct Notes {
    why: Option<String>,
}

impl Notes {
    fn say(&mut self, why: &str) {
        if self.why.is_none() {
            self.why = Some(why.to_owned());
        }
    }
}

struct Sampler<'t> {
    terms: &'t Terms,
    block: Block,
    /// Values of derived atoms per thread under the current assignment.
    derived: FxHashMap<AtomId, Vec<i64>>,
}

/// An unknown that is walked, with the numbers it takes.
struct Walked {
    atom: AtomId,
    values: Vec<i64>,
}

impl Sampler<'_> {
    /// Whether a value follows, for the lanes of one warp, from unknowns that are the same for the warp.
    fn is_knowable(&self, poly: &Poly) -> bool {
        poly.atoms().all(|a| self.is_knowable_atom(a))
    }

    fn is_knowable_atom(&self, atom: AtomId) -> bool {
        let a = self.terms.get(atom);
        match &a.kind {
            AtomKind::Derived(op, x, y, z) => {
                *op != Op::Shuffle
                    && (a.scope <= Scope::Warp || self.is_knowable(x) && self.is_knowable(y) && self.is_knowable(z))
            }
            _ => a.scope <= Scope::Warp,
        }
    }

    /// A derived value that cannot be computed but is the same for the warp: one more unknown.
    fn is_opaque(&self, atom: AtomId) -> bool {
        match &self.terms.get(atom).kind {
            AtomKind::Derived(Op::Select, ..) => !self.terms.get(atom).is_evaluable,
            AtomKind::Derived(op, x, y, z) => *op == Op::Shuffle || ![x, y, z].into_iter().all(|p| self.is_knowable(p)),
            _ => true,
        }
    }

    /// A global access at an index that was loaded by each lane, as far as its size or its rows tell what it moves: a look-up in a
    /// small table, whole records at unknown indices, or a row of its own for each lane with the unknown inside the row.
    fn gather(&mut self, request: &Request<'_>) -> Option<Count> {
        let (mut data, mut rest) = (Poly::zero(), Poly::zero());
        for term in &request.offset.terms {
            let is_data = !term.0.iter().all(|a| self.is_knowable_atom(*a));
            if is_data { data.terms.push(term.clone()) } else { rest.terms.push(term.clone()) }
        }
        if data.terms.is_empty() || request.space != Space::Global {
            return None;
        }
        if rest.terms.iter().all(|(_, l)| l.is_warp_uniform(self.block)) {
            let (places, why) = self.places(&data, request.bytes)?;
            return Some(self.expected(request, places, why));
        }
        self.own_rows(request, &data, &rest)
    }

    /// How many sectors the unknown index may fall into: few for a table, unlimited for records of at least a sector.
    fn places(&self, data: &Poly, bytes: u64) -> Option<(Option<f64>, &'static str)> {
        let (low, high) = self.terms.bounds(data);
        let span = high.saturating_sub(low).saturating_add(bytes as i64);
        if span <= TABLE_BYTES {
            return Some((Some((span as f64 / SECTOR as f64).ceil()), "the indices are taken as evenly spread over the table"));
        }
        let [(mono, lanes)] = data.terms.as_slice() else { return None };
        let is_record = mono.len() == 1 && lanes.as_constant().is_some_and(|c| c.abs() >= SECTOR);
        is_record.then_some((None, "each lane is taken to pick a record of its own"))
    }

    fn expected(&self, request: &Request<'_>, places: Option<f64>, why: &str) -> Count {
        let mut tally = Tally::default();
        for warp in 0..self.block.warps() {
            let lanes = f64::from(request.active.warp(warp).count_ones());
            if lanes == 0.0 {
                continue;
            }
            let moved = places.map_or(lanes, |n| n * (1.0 - (1.0 - 1.0 / n).powf(lanes)));
            let ideal = (lanes * request.bytes as f64 / SECTOR as f64).ceil().min(moved);
            tally.requests += 1.0;
            tally.moved += moved;
            tally.aligned += moved;
            tally.ideal += ideal;
            tally.lanes += lanes;
            tally.worst = tally.worst.max(moved.round() as u32);
            tally.worst_ideal = ideal.round() as u32;
            tally.warps += 1;
        }
        Count { tally, exactness: Exactness::Bounded, why: Some(why.to_owned()), is_data_dependent: true }
    }

    /// `row[lane * pitch + unknown]`: with a large pitch the lanes are apart whatever the unknown is.
    fn own_rows(&mut self, request: &Request<'_>, data: &Poly, rest: &Poly) -> Option<Count> {
        let is_small = data.terms.iter().all(|(_, l)| l.as_constant().is_some_and(|c| c.abs() <= request.bytes as i64));
        if !is_small || !self.terms.uses_size(rest) {
            return None;
        }
        let offsets = self.evaluate(rest, &FxHashMap::default());
        let mut tally = Tally::default();
        for warp in 0..self.block.warps() {
            let lanes = request.active.warp(warp);
            let mut rows: Vec<i64> = (0..WARP)
                .filter(|l| lanes >> l & 1 == 1)
                .filter_map(|l| offsets.get(warp * WARP + l).copied())
                .collect();
            rows.sort_unstable();
            if rows.windows(2).any(|w| w[1] - w[0] < ROW_BYTES) {
                return None;
            }
            if !rows.is_empty() {
                let spread: Vec<i64> = (0..WARP as i64).map(|l| l * ROW_BYTES).collect();
                count_warp(request, &spread, lanes, &mut tally);
            }
        }
        let why = "the loaded index is taken to stay within the lane's own row".to_owned();
        (tally.requests > 0.0).then_some(Count { tally, exactness: Exactness::Bounded, why: Some(why), is_data_dependent: false })
    }

    /// Why no number can be given, if none can.
    fn unknowable(&self, request: &Request<'_>, notes: &mut Notes) -> Option<Count> {
        for (mono, lanes) in &request.offset.terms {
            for atom in mono {
                if !self.is_knowable_atom(*atom) {
                    let name = &self.terms.get(*atom).name;
                    return Some(unknown(&format!("the address depends on data: {name}"), true));
                }
            }
            let varies = !lanes.is_warp_uniform(self.block);
            for atom in mono {
                let a = self.terms.get(*atom);
                let is_lane_derived = a.scope == Scope::Lane;
                let (size, data) = self.address_uses(*atom);
                if request.space == Space::Shared && (varies || is_lane_derived) && (size || data) {
                    return Some(unknown(
                        &format!("the stride {} is not known, and banks repeat every 32 words", a.name),
                        false,
                    ));
                }
                if (varies || is_lane_derived) && (size || data) {
                    notes.say(&format!("{} is taken as large", a.name));
                } else if size || data {
                    notes.say("the start of a row is taken as aligned to 32 bytes");
                }
            }
        }
        None
    }

    /// Whether a run-time size or loaded data takes part in the value itself (not only in what decides between values).
    fn address_uses(&self, atom: AtomId) -> (bool, bool) {
        let a = self.terms.get(atom);
        let of =
            |p: &Poly| p.atoms().map(|x| self.address_uses(x)).fold((false, false), |s, t| (s.0 || t.0, s.1 || t.1));
        match &a.kind {
            AtomKind::Derived(Op::Select, _, y, z) if a.is_evaluable => {
                let (s, t) = (of(y), of(z));
                (s.0 || t.0, s.1 || t.1)
            }
            AtomKind::Derived(Op::Lt | Op::Le | Op::Eq, ..) => (false, false),
            AtomKind::Derived(Op::Min | Op::Max, x, y, _) => {
                // The large one does not matter to a minimum.
                let (s, t) = (of(x), of(y));
                (s.0 && t.0, s.1 && t.1)
            }
            _ => (a.uses_size, a.uses_data),
        }
    }

    /// The unknowns whose number can change the count.
    fn relevant(&self, request: &Request<'_>, conditions: &[&(Poly, bool)]) -> Vec<Walked> {
        let period = if request.space == Space::Shared { request.bytes.clamp(4, 16) as i64 } else { SECTOR };
        let mut atoms: Vec<AtomId> = Vec::new();
        for (mono, lanes) in &request.offset.terms {
            let shifts_only = lanes.is_warp_uniform(self.block) && lanes.is_multiple_of(period);
            for atom in mono {
                let is_derived = matches!(self.terms.get(*atom).kind, AtomKind::Derived(..)) && !self.is_opaque(*atom);
                if is_derived && (self.terms.get(*atom).scope == Scope::Lane || !shifts_only) {
                    self.leaves(*atom, &mut atoms);
                } else if !shifts_only {
                    atoms.push(*atom);
                }
            }
        }
        for (condition, _) in conditions {
            for atom in condition.atoms() {
                self.leaves(atom, &mut atoms);
            }
        }
        atoms.sort_unstable();
        atoms.dedup();
        let mut walked: Vec<Walked> = atoms
            .into_iter()
            .filter_map(|atom| {
                let values = self.walk_values(atom)?;
                Some(Walked { atom, values })
            })
            .collect();
        self.thin(&mut walked);
        walked
    }

    fn leaves(&self, atom: AtomId, out: &mut Vec<AtomId>) {
        match &self.terms.get(atom).kind {
            AtomKind::Derived(_, x, y, z) if !self.is_opaque(atom) => {
                for p in [x, y, z] {
                    p.atoms().for_each(|a| self.leaves(a, out));
                }
            }
            _ => out.push(atom),
        }
    }

    /// The numbers an unknown walks through; `None` for one that is given a single number.
    fn walk_values(&self, atom: AtomId) -> Option<Vec<i64>> {
        let a = self.terms.get(atom);
        match &a.kind {
            AtomKind::Listed(values) => Some(values.to_vec()),
            AtomKind::Index => {
                let span = a.high.saturating_sub(a.low).saturating_add(1);
                if span <= 64 {
                    return Some((a.low..=a.high).collect());
                }
                // Inside the range, where no edge case holds; 16 in a row cover all residues of elements in a sector.
                let start = a.low + if span > 64 { 16 } else { 0 };
                Some((start..start + 16).collect())
            }
            _ => None,
        }
    }

    /// Keeps the product of the numbers within the limit: longer walks are cut evenly.
    fn thin(&self, walked: &mut [Walked]) {
        while walked.iter().map(|w| w.values.len()).product::<usize>() > SAMPLES {
            let Some(longest) = walked.iter_mut().max_by_key(|w| w.values.len()) else { return };
            let n = longest.values.len();
            if n <= 2 {
                return;
            }
            // A prefix keeps neighbouring residues together; an even cut would lose the odd ones.
            longest.values.truncate(n.div_ceil(2));
        }
    }

    fn run(&mut self, request: &Request<'_>, conditions: &[&(Poly, bool)], walked: &[Walked]) -> Tally {
        let mut tally = Tally::default();
        let total = walked.iter().map(|w| w.values.len()).product::<usize>().clamp(1, SAMPLES * 4);
        for sample in 0..total {
            let mut at = sample;
            let mut numbers = FxHashMap::default();
            for w in walked {
                numbers.insert(w.atom, w.values[at % w.values.len()]);
                at /= w.values.len();
            }
            self.one(request, conditions, &numbers, &mut tally);
        }
        tally
    }

    /// Every walked unknown at the start of its range: for what only the first block or trip does.
    fn run_at_start(&mut self, request: &Request<'_>, conditions: &[&(Poly, bool)], walked: &[Walked]) -> Tally {
        let mut tally = Tally::default();
        let numbers = walked.iter().map(|w| (w.atom, self.terms.get(w.atom).low)).collect();
        self.one(request, conditions, &numbers, &mut tally);
        tally
    }

    /// Counts all warps under one assignment.
    fn one(
        &mut self,
        request: &Request<'_>,
        conditions: &[&(Poly, bool)],
        numbers: &FxHashMap<AtomId, i64>,
        tally: &mut Tally,
    ) {
        self.derived.clear();
        let mut active = *request.active;
        for (condition, expected) in conditions {
            let values = self.evaluate(condition, numbers);
            let holds = Mask::from_fn(self.block, |t| (values[t] != 0) == *expected);
            active = active.and(&holds);
        }
        if active.is_empty() {
            return;
        }
        let offsets = self.evaluate(request.offset, numbers);
        let mut warps = 0;
        for warp in 0..self.block.warps() {
            let lanes = active.warp(warp);
            if lanes == 0 {
                continue;
            }
            warps += 1;
            let start = warp * WARP;
            let end = (start + WARP).min(offsets.len());
            count_warp(request, &offsets[start..end], lanes, tally);
        }
        tally.warps = tally.warps.max(warps);
    }

    /// The value of every thread under an assignment.
    fn evaluate(&mut self, poly: &Poly, numbers: &FxHashMap<AtomId, i64>) -> Vec<i64> {
        let mut sum = vec![0i64; self.block.threads()];
        for (mono, lanes) in &poly.terms {
            let mut term = lanes.expand(self.block);
            for atom in mono {
                self.multiply(&mut term, *atom, numbers);
            }
            for (s, t) in sum.iter_mut().zip(term) {
                *s = s.wrapping_add(t);
            }
        }
        sum
    }

    fn multiply(&mut self, term: &mut [i64], atom: AtomId, numbers: &FxHashMap<AtomId, i64>) {
        let is_leaf = !matches!(self.terms.get(atom).kind, AtomKind::Derived(..)) || self.is_opaque(atom);
        if is_leaf {
            let v = numbers.get(&atom).copied().unwrap_or_else(|| self.single_value(atom));
            term.iter_mut().for_each(|t| *t = t.wrapping_mul(v));
            return;
        }
        self.compute(atom, numbers);
        if let Some(values) = self.derived.get(&atom) {
            term.iter_mut().zip(values).for_each(|(t, v)| *t = t.wrapping_mul(*v));
        }
    }

    /// A number for an unknown that is not walked: large, a multiple of 32, different for each.
    fn single_value(&self, atom: AtomId) -> i64 {
        const FACTORS: [i64; 12] = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
        let a = self.terms.get(atom);
        match &a.kind {
            AtomKind::Index => (a.low + 16).min(a.high),
            AtomKind::Listed(values) => values.first().copied().unwrap_or(1),
            _ => {
                let large = 1024 * FACTORS[atom.0 as usize % FACTORS.len()];
                if a.high < large {
                    // A small range: the largest multiple of 32 in it, if there is one.
                    let aligned = a.high / 32 * 32;
                    return if aligned > a.low { aligned } else { a.high.max(a.low) };
                }
                large.max(a.low)
            }
        }
    }

    fn compute(&mut self, atom: AtomId, numbers: &FxHashMap<AtomId, i64>) {
        if self.derived.contains_key(&atom) {
            return;
        }
        let AtomKind::Derived(op, x, y, z) = self.terms.get(atom).kind.clone() else { return };
        let a = self.evaluate(&x, numbers);
        let b = self.evaluate(&y, numbers);
        let c = if op == Op::Select { self.evaluate(&z, numbers) } else { Vec::new() };
        let values = (0..a.len())
            .map(|i| match op {
                Op::Select => {
                    if a[i] != 0 {
                        b[i]
                    } else {
                        c[i]
                    }
                }
                _ => apply(op, a[i], b[i]),
            })
            .collect();
        self.derived.insert(atom, values);
    }
}

fn apply(op: Op, a: i64, b: i64) -> i64 {
    match op {
        Op::Div => a.checked_div(b).unwrap_or(0),
        Op::Rem => a.checked_rem(b).unwrap_or(0),
        Op::Shl => a.checked_shl(b.clamp(0, 63) as u32).unwrap_or(0),
        Op::Shr => a >> b.clamp(0, 63),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Lt => i64::from(a < b),
        Op::Le => i64::from(a <= b),
        Op::Eq => i64::from(a == b),
        Op::LogicalAnd => i64::from(a != 0 && b != 0),
        Op::LogicalOr => i64::from(a != 0 || b != 0),
        Op::Mul => a.wrapping_mul(b),
        Op::Select | Op::Shuffle => a,
    }
}

fn count_warp(request: &Request<'_>, offsets: &[i64], lanes: u32, tally: &mut Tally) {
    let active = lanes.count_ones();
    let is_active = |l: usize| lanes >> l & 1 == 1;
    let (moved, ideal, aligned) = if request.space == Space::Shared {
        let mut slots: LaneOffsets = [None; WARP];
        for (l, offset) in offsets.iter().enumerate().filter(|(l, _)| is_active(*l)) {
            slots[l] = Some((BASE.wrapping_add(*offset) & 0x0fff_ffff) as u32);
        }
        let direction = if request.operation == Operation::Load { Direction::Load } else { Direction::Store };
        let moved = banks::wavefronts(&slots, request.bytes as u32, direction);
        (moved, banks::ideal_wavefronts(active, request.bytes as u32, moved), moved)
    } else {
        let low = offsets.iter().enumerate().filter(|(l, _)| is_active(*l)).map(|(_, o)| *o).min().unwrap_or(0);
        let shift = low.rem_euclid(SECTOR);
        let mut slots = [None; WARP];
        let mut shifted = [None; WARP];
        for (l, offset) in offsets.iter().enumerate().filter(|(l, _)| is_active(*l)) {
            slots[l] = Some(BASE.wrapping_add(*offset) as u64);
            shifted[l] = Some(BASE.wrapping_add(offset.wrapping_sub(shift)) as u64);
        }
        let bytes = request.bytes as u32;
        let moved = sectors::sectors(&slots, bytes);
        let aligned = if shift == 0 { moved } else { sectors::sectors(&shifted, bytes) };
        (moved, sectors::ideal_sectors(active, bytes, moved), aligned)
    };
    tally.requests += 1.0;
    tally.moved += f64::from(moved);
    tally.ideal += f64::from(ideal);
    tally.aligned += f64::from(aligned);
    tally.lanes += f64::from(active);
    if moved > tally.worst || moved == tally.worst && ideal < tally.worst_ideal {
        tally.worst = moved;
        tally.worst_ideal = ideal;
    }
}
