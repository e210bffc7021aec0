//! Uniform terms: what is known of an integer as a polynomial over things that are not known.
//!
//! A value is `sum over monomials m of lanes_m * m`: a monomial is a product of atoms, an atom is an unknown. An atom is
//! either a leaf (a parameter, `blockIdx.x`, a loop counter, something loaded) or derived from other values by an operation
//! that is not linear (`/`, `%`, `&`, `min`, a comparison, a selection). Derived atoms remember their operands, so that a
//! value can be computed for every thread once the leaves are given numbers; that is how accesses are counted.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::lanes::{Block, Lanes, Mask};
use crate::warp::facts::Scope;

/// Index into [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtomId(pub u32);

/// A product of atoms, sorted; empty for the constant 1.
pub type Mono = SmallVec<[AtomId; 2]>;

/// A polynomial with lane vectors as coefficients; sorted by monomial, no zero coefficients. Empty is zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Poly {
    pub terms: SmallVec<[(Mono, Lanes); 2]>,
}

/// How a leaf is given numbers when accesses are counted.
#[derive(Debug, Clone, PartialEq)]
pub enum AtomKind {
    /// A run-time size: taken as large and as a multiple of 32.
    Size,
    /// Walks its range: blockIdx, a loop counter.
    Index,
    /// Takes these values in turn: a geometric loop.
    Listed(Rc<[i64]>),
    /// Loaded or otherwise unknown; the same for all threads of its scope.
    Data,
    Derived(Op, Poly, Poly, Poly),
}

/// Operations that are not linear. Division truncates, as in C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Min,
    Max,
    Lt,
    Le,
    Eq,
    /// Logical, operands 0 or not 0.
    LogicalAnd,
    LogicalOr,
    /// First operand != 0 ? second : third.
    Select,
    /// A product too large to keep as monomials.
    Mul,
    /// The value of lane `second` of the warp (third: width), as `__shfl_sync` reads it.
    Shuffle,
}

#[derive(Debug, Clone)]
pub struct Atom {
    pub kind: AtomKind,
    pub scope: Scope,
    /// Inclusive range; saturated at `i64::MIN / 4` and `i64::MAX / 4`.
    pub low: i64,
    pub high: i64,
    /// For people: `n`, `blockIdx.x`, `in[i]`.
    pub name: Rc<str>,
    /// All leaves below are the same for all threads, so every thread's value follows from theirs.
    pub is_evaluable: bool,
    /// Some leaf below is a run-time size.
    pub uses_size: bool,
    /// Some leaf below was loaded.
    pub uses_data: bool,
    /// `low` is what such values usually are (a size, an element count), not what the type promises.
    pub low_is_assumed: bool,
}

pub const LOW: i64 = i64::MIN / 4;
pub const HIGH: i64 = i64::MAX / 4;
const MAX_TERMS: usize = 32;
const MAX_DATA_TERMS: usize = 6;
const MAX_DEGREE: usize = 6;

/// Owns the atoms of one kernel walk and does the arithmetic.
#[derive(Debug)]
pub struct Terms {
    pub block: Block,
    atoms: Vec<Atom>,
    derived: FxHashMap<(Op, Poly, Poly, Poly), AtomId>,
    /// Work done so far, in term operations; the same for the same source on every machine.
    pub cost: u64,
}

/// What is known of a condition: the threads for which it certainly holds and those for which it certainly does not.
#[derive(Debug, Clone, Copy)]
pub struct Truth {
    pub yes: Mask,
    pub no: Mask,
}

impl Poly {
    pub fn zero() -> Self {
        Self::default()
    }

    pub fn constant(value: i64) -> Self {
        Self::lanes(Lanes::constant(value))
    }

    pub fn lanes(lanes: Lanes) -> Self {
        if lanes.is_zero() { Self::zero() } else { Self { terms: smallvec![(Mono::new(), lanes)] } }
    }

    pub fn atom(atom: AtomId) -> Self {
        Self { terms: smallvec![(smallvec![atom], Lanes::constant(1))] }
    }

    /// The value where it is one known number.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(mono, lanes)] if mono.is_empty() => lanes.as_constant(),
            _ => None,
        }
    }

    /// The lanes where nothing is unknown.
    pub fn as_lanes(&self) -> Option<Lanes> {
        match self.terms.as_slice() {
            [] => Some(Lanes::constant(0)),
            [(mono, lanes)] if mono.is_empty() => Some(lanes.clone()),
            _ => None,
        }
    }

    /// The known part: the coefficient of 1.
    pub fn known_part(&self) -> Lanes {
        match self.terms.first() {
            Some((mono, lanes)) if mono.is_empty() => lanes.clone(),
            _ => Lanes::constant(0),
        }
    }

    pub fn atoms(&self) -> impl Iterator<Item = AtomId> + '_ {
        self.terms.iter().flat_map(|(mono, _)| mono.iter().copied())
    }

    /// The atom where the value is exactly one atom.
    pub fn as_atom(&self) -> Option<AtomId> {
        match self.terms.as_slice() {
            [(mono, lanes)] if mono.len() == 1 && lanes.as_constant() == Some(1) => mono.first().copied(),
            _ => None,
        }
    }
}

impl Terms {
    pub fn new(block: Block) -> Self {
        Self { block, atoms: Vec::new(), derived: FxHashMap::default(), cost: 0 }
    }

    pub fn get(&self, atom: AtomId) -> &Atom {
        &self.atoms[atom.0 as usize]
    }

    /// The number of atoms made so far; atoms made later have higher ids.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    pub fn leaf(&mut self, kind: AtomKind, scope: Scope, low: i64, high: i64, name: &str) -> AtomId {
        let uses_size = kind == AtomKind::Size;
        let uses_data = kind == AtomKind::Data;
        let is_evaluable = scope < Scope::Warp;
        let name = name.into();
        self.push(Atom { kind, scope, low, high, name, is_evaluable, uses_size, uses_data, low_is_assumed: false })
    }

    /// A run-time size whose type admits negative numbers, although sizes are not negative.
    pub fn assumed_size(&mut self, low: i64, high: i64, name: &str) -> AtomId {
        let id = self.leaf(AtomKind::Size, Scope::Grid, low, high, name);
        self.atoms[id.0 as usize].low_is_assumed = true;
        id
    }

    fn push(&mut self, atom: Atom) -> AtomId {
        let id = AtomId(self.atoms.len() as u32);
        self.atoms.push(atom);
        id
    }

    /// Lowers the upper end of a leaf's range.
    pub fn limit(&mut self, atom: AtomId, high: i64) {
        if let Some(atom) = self.atoms.get_mut(atom.0 as usize) {
            atom.high = atom.high.min(high);
        }
    }

    /// A leaf of kind data, as a value.
    pub fn data(&mut self, scope: Scope, low: i64, high: i64, name: &str) -> Poly {
        Poly::atom(self.leaf(AtomKind::Data, scope, low, high, name))
    }

    pub fn add(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.combine(a, b, 1)
    }

    pub fn sub(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.combine(a, b, -1)
    }

    fn combine(&mut self, a: &Poly, b: &Poly, sign: i64) -> Poly {
        self.cost += 1 + self.weight(a) + self.weight(b);
        let mut terms = SmallVec::new();
        let (mut i, mut j) = (0, 0);
        while i < a.terms.len() || j < b.terms.len() {
            let order = match (a.terms.get(i), b.terms.get(j)) {
                (Some(x), Some(y)) => x.0.cmp(&y.0),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            match order {
                std::cmp::Ordering::Less => {
                    terms.push(a.terms[i].clone());
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    let (mono, lanes) = &b.terms[j];
                    terms.push((mono.clone(), lanes.scale(sign)));
                    j += 1;
                }
                std::cmp::Ordering::Equal => {
                    let lanes = a.terms[i].1.add(&b.terms[j].1.scale(sign), self.block);
                    if !lanes.is_zero() {
                        terms.push((a.terms[i].0.clone(), lanes));
                    }
                    i += 1;
                    j += 1;
                }
            }
        }
        self.bounded(Poly { terms })
    }

    pub fn add_constant(&mut self, a: &Poly, value: i64) -> Poly {
        self.add(a, &Poly::constant(value))
    }

    pub fn scale(&self, a: &Poly, factor: i64) -> Poly {
        if factor == 0 {
            return Poly::zero();
        }
        Poly { terms: a.terms.iter().map(|(mono, lanes)| (mono.clone(), lanes.scale(factor))).collect() }
    }

    pub fn mul(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let Some(c) = a.as_constant() {
            return self.scale(b, c);
        }
        if let Some(c) = b.as_constant() {
            return self.scale(a, c);
        }
        // A uniform sum as a factor becomes one term: index macros multiply such sums again and again.
        if a.terms.len() * b.terms.len() > 4 {
            if let Some(named) = self.named_factor(a) {
                return self.mul(&named, b);
            }
            if let Some(named) = self.named_factor(b) {
                return self.mul(a, &named);
            }
        }
        let degree = |p: &Poly| p.terms.iter().map(|(m, _)| m.len()).max().unwrap_or(0);
        if degree(a) + degree(b) > MAX_DEGREE || a.terms.len() * b.terms.len() > MAX_TERMS {
            return self.derive(Op::Mul, a, b, &Poly::zero());
        }
        let mut sum = Poly::zero();
        for (m, x) in &a.terms {
            for (n, y) in &b.terms {
                let mut mono = m.clone();
                mono.extend(n.iter().copied());
                mono.sort_unstable();
                let lanes = x.mul(y, self.block);
                if !lanes.is_zero() {
                    let term = Poly { terms: smallvec![(mono, lanes)] };
                    sum = self.add(&sum, &term);
                }
            }
        }
        sum
    }

    /// One atom that stands for a sum which is the same for all threads; `None` for anything else.
    fn named_factor(&mut self, poly: &Poly) -> Option<Poly> {
        let is_uniform = poly.terms.len() > 1 && poly.terms.iter().all(|(_, l)| l.as_constant().is_some());
        (is_uniform && self.scope(poly) <= Scope::Block)
            .then(|| self.derive(Op::Mul, poly, &Poly::constant(1), &Poly::zero()))
    }

    fn weight(&self, poly: &Poly) -> u64 {
        let dense = (self.block.threads() / 8) as u64;
        poly.terms.iter().map(|(_, l)| if matches!(l, Lanes::Dense(_)) { dense } else { 1 }).sum()
    }

    /// A polynomial with too many terms becomes one unknown, so that cost stays linear; one of loaded data sooner, since
    /// nothing is counted from it.
    fn bounded(&mut self, poly: Poly) -> Poly {
        let limit =
            if poly.terms.len() > MAX_DATA_TERMS && !self.is_evaluable(&poly) { MAX_DATA_TERMS } else { MAX_TERMS };
        if poly.terms.len() <= limit {
            return poly;
        }
        let scope = self.scope(&poly);
        let (low, high) = self.bounds(&poly);
        self.data(scope, low, high, "an expression with too many terms")
    }

    /// `a / b` with C's truncation.
    pub fn div(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let Some(c) = b.as_constant().filter(|c| *c > 0) {
            if c == 1 {
                return a.clone();
            }
            if let Some(lanes) = a.as_lanes() {
                return Poly::lanes(lanes.map(self.block, |v| v / c));
            }
            let (whole, rest) = self.split_multiples(a, c);
            if !whole.terms.is_empty() && self.bounds(a).0 >= 0 && self.bounds(&rest).0 >= 0 {
                let quotient = Poly {
                    terms: whole.terms.iter().map(|(m, l)| (m.clone(), l.map(self.block, |v| v / c))).collect(),
                };
                let tail = self.div(&rest, b);
                return self.add(&quotient, &tail);
            }
            let (low, high) = self.bounds(a);
            if low >= 0 && high < c {
                return Poly::zero();
            }
        }
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| if w == 0 { 0 } else { v.wrapping_div(w) }));
        }
        if a == b {
            return Poly::constant(1);
        }
        if let Some(quotient) = self.divide_exactly(a, b) {
            return quotient;
        }
        self.derive(Op::Div, a, b, &Poly::zero())
    }

    pub fn rem(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let Some(c) = b.as_constant().filter(|c| *c > 0) {
            if let Some(lanes) = a.as_lanes() {
                return Poly::lanes(lanes.map(self.block, |v| v % c));
            }
            let (low, high) = self.bounds(a);
            if low >= 0 && high < c {
                return a.clone();
            }
            let (whole, rest) = self.split_multiples(a, c);
            if !whole.terms.is_empty() && low >= 0 && self.bounds(&rest).0 >= 0 {
                return self.rem(&rest, b);
            }
        }
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| if w == 0 { 0 } else { v.wrapping_rem(w) }));
        }
        if a == b {
            return Poly::zero();
        }
        self.derive(Op::Rem, a, b, &Poly::zero())
    }

    /// `a = whole + rest` where every coefficient of `whole` is a multiple of `c`; known numbers are split lane by lane,
    /// so that the known part of `rest` lies in `0..c`.
    fn split_multiples(&self, a: &Poly, c: i64) -> (Poly, Poly) {
        let (mut whole, mut rest) = (Poly::zero(), Poly::zero());
        for (mono, lanes) in &a.terms {
            if lanes.is_multiple_of(c) {
                whole.terms.push((mono.clone(), lanes.clone()));
            } else if mono.is_empty() {
                let low = lanes.map(self.block, |v| v.rem_euclid(c));
                let high = lanes.map(self.block, |v| v - v.rem_euclid(c));
                if !high.is_zero() {
                    whole.terms.push((mono.clone(), high));
                }
                rest.terms.push((mono.clone(), low));
            } else {
                rest.terms.push((mono.clone(), lanes.clone()));
            }
        }
        (whole, rest)
    }

    /// `a / b` where b is one monomial that divides every term of a.
    fn divide_exactly(&self, a: &Poly, b: &Poly) -> Option<Poly> {
        let [(mono, lanes)] = b.terms.as_slice() else { return None };
        let factor = lanes.as_constant().filter(|f| *f != 0)?;
        if mono.is_empty() {
            return None;
        }
        let mut out = Poly::zero();
        for (m, l) in &a.terms {
            if !l.is_multiple_of(factor) {
                return None;
            }
            let mut left = m.clone();
            for atom in mono {
                let at = left.iter().position(|x| x == atom)?;
                left.remove(at);
            }
            out.terms.push((left, l.map(self.block, |v| v / factor)));
        }
        out.terms.sort_by(|x, y| x.0.cmp(&y.0));
        Some(out)
    }

    pub fn shl(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let Some(c) = b.as_constant().filter(|c| (0..62).contains(c)) {
            return self.scale(a, 1 << c);
        }
        if let Some(lanes) = b.as_lanes()
            && lanes.bounds(self.block).0 >= 0
            && lanes.bounds(self.block).1 < 62
        {
            let factor = Poly::lanes(lanes.map(self.block, |v| 1 << v));
            return self.mul(a, &factor);
        }
        self.derive(Op::Shl, a, b, &Poly::zero())
    }

    /// Arithmetic shift to the right.
    pub fn shr(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| v >> w.clamp(0, 63)));
        }
        if let Some(c) = b.as_constant().filter(|c| (0..62).contains(c))
            && self.bounds(a).0 >= 0
        {
            return self.div(a, &Poly::constant(1 << c));
        }
        self.derive(Op::Shr, a, b, &Poly::zero())
    }

    pub fn and(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| v & w));
        }
        let (a, b) = if a.as_constant().is_some() { (b, a) } else { (a, b) };
        if let Some(c) = b.as_constant() {
            let mask = c as u64 & 0xffff_ffff;
            // Low bits: a remainder. High bits (as `~31`): what is left without the remainder.
            if c >= 0 && (c + 1) & c == 0 && self.bounds(a).0 >= 0 {
                return self.rem(a, &Poly::constant(c + 1));
            }
            let low_zeros = mask.trailing_zeros();
            if low_zeros < 31 && mask == (0xffff_ffff_u64 >> low_zeros << low_zeros) && self.bounds(a).0 >= 0 {
                let steps = self.div(a, &Poly::constant(1 << low_zeros));
                return self.scale(&steps, 1 << low_zeros);
            }
        }
        if a == b {
            return a.clone();
        }
        self.derive(Op::And, a, b, &Poly::zero())
    }

    pub fn or(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| v | w));
        }
        if self.bits_are_disjoint(a, b) || self.bits_are_disjoint(b, a) {
            return self.add(a, b);
        }
        self.derive(Op::Or, a, b, &Poly::zero())
    }

    pub fn xor(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| v ^ w));
        }
        if self.bits_are_disjoint(a, b) || self.bits_are_disjoint(b, a) {
            return self.add(a, b);
        }
        // Bits above the other operand's range are not touched by it.
        for (x, y) in [(a, b), (b, a)] {
            let (low, high) = self.bounds(y);
            if low >= 0 && high < 1 << 40 && self.bounds(x).0 >= 0 {
                let power = ((high + 1) as u64).next_power_of_two() as i64;
                let (whole, rest) = self.split_multiples(x, power);
                if !whole.terms.is_empty() && self.bounds(&rest).0 >= 0 {
                    let inner = self.xor_small(&rest, y);
                    return self.add(&whole, &inner);
                }
            }
        }
        self.derive(Op::Xor, a, b, &Poly::zero())
    }

    fn xor_small(&mut self, a: &Poly, b: &Poly) -> Poly {
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| v ^ w));
        }
        self.derive(Op::Xor, a, b, &Poly::zero())
    }

    /// `a` is a multiple of a power of two that `b` stays below.
    fn bits_are_disjoint(&self, a: &Poly, b: &Poly) -> bool {
        let (low, high) = self.bounds(b);
        if low < 0 || high >= 1 << 40 {
            return false;
        }
        let power = ((high + 1) as u64).next_power_of_two() as i64;
        a.terms.iter().all(|(_, lanes)| lanes.is_multiple_of(power)) && self.bounds(a).0 >= 0
    }

    pub fn min(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.extreme(Op::Min, a, b)
    }

    pub fn max(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.extreme(Op::Max, a, b)
    }

    fn extreme(&mut self, op: Op, a: &Poly, b: &Poly) -> Poly {
        if a == b {
            return a.clone();
        }
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| if op == Op::Min { v.min(w) } else { v.max(w) }));
        }
        let difference = self.sub(a, b);
        let (low, high) = self.bounds(&difference);
        match op {
            Op::Min if high <= 0 => a.clone(),
            Op::Min if low >= 0 => b.clone(),
            Op::Max if low >= 0 => a.clone(),
            Op::Max if high <= 0 => b.clone(),
            _ => self.derive(op, a, b, &Poly::zero()),
        }
    }

    /// `a < b`, `a <= b` or `a == b` as 0 or 1.
    pub fn compare(&mut self, op: Op, a: &Poly, b: &Poly) -> Poly {
        let difference = self.sub(a, b);
        let test = |v: i64| match op {
            Op::Lt => v < 0,
            Op::Le => v <= 0,
            _ => v == 0,
        };
        if let Some(lanes) = difference.as_lanes() {
            return Poly::lanes(lanes.map(self.block, |v| i64::from(test(v))));
        }
        match op {
            Op::Lt => {
                let reduced = self.whole_steps(&difference).unwrap_or(difference);
                self.derive(op, &reduced, &Poly::zero(), &Poly::zero())
            }
            Op::Le => {
                // a <= b is not (b < a).
                let reversed = self.scale(&difference, -1);
                match self.whole_steps(&reversed) {
                    Some(reduced) => {
                        let less = self.derive(Op::Lt, &reduced, &Poly::zero(), &Poly::zero());
                        self.not(&less)
                    }
                    None => self.derive(op, &difference, &Poly::zero(), &Poly::zero()),
                }
            }
            _ => self.derive(op, &difference, &Poly::zero(), &Poly::zero()),
        }
    }

    /// For `difference < 0` where the unknown part goes in steps of `g` and the known part stays within one step: the lanes do not
    /// matter, so the same comparison without them. A loop to a bound rounded up to the block is uniform that way.
    fn whole_steps(&self, difference: &Poly) -> Option<Poly> {
        let known = difference.known_part();
        if known.as_constant().is_some() {
            return None;
        }
        let mut step = 0i64;
        for (mono, lanes) in difference.terms.iter().filter(|(m, _)| !m.is_empty()) {
            if mono.iter().any(|a| self.get(*a).scope > Scope::Block) {
                return None;
            }
            step = gcd(step, lanes.as_constant()?);
        }
        let (low, high) = known.bounds(self.block);
        if step < 2 || low.div_euclid(step) != high.div_euclid(step) {
            return None;
        }
        let mut out = Poly::constant(low.div_euclid(step) * step);
        out.terms.extend(difference.terms.iter().filter(|(m, _)| !m.is_empty()).cloned());
        Some(out)
    }

    pub fn not(&mut self, a: &Poly) -> Poly {
        self.compare(Op::Eq, a, &Poly::zero())
    }

    pub fn logical(&mut self, op: Op, a: &Poly, b: &Poly) -> Poly {
        if let (Some(x), Some(y)) = (a.as_lanes(), b.as_lanes()) {
            return Poly::lanes(x.zip(&y, self.block, |v, w| {
                i64::from(if op == Op::LogicalAnd { v != 0 && w != 0 } else { v != 0 || w != 0 })
            }));
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some(c) = x.as_constant() {
                return match (op, c != 0) {
                    (Op::LogicalAnd, true) | (Op::LogicalOr, false) => self.truth_value(y),
                    (Op::LogicalAnd, false) => Poly::zero(),
                    _ => Poly::constant(1),
                };
            }
        }
        self.derive(op, a, b, &Poly::zero())
    }

    /// 0 or 1 for an integer used as a condition.
    pub fn truth_value(&mut self, a: &Poly) -> Poly {
        if let Some(lanes) = a.as_lanes() {
            return Poly::lanes(lanes.map(self.block, |v| i64::from(v != 0)));
        }
        if let Some(atom) = a.as_atom() {
            let atom = self.get(atom);
            if atom.low >= 0 && atom.high <= 1 {
                return a.clone();
            }
        }
        let negated = self.not(a);
        self.not(&negated)
    }

    pub fn select(&mut self, condition: &Poly, a: &Poly, b: &Poly) -> Poly {
        if a == b {
            return a.clone();
        }
        let truth = self.truth(condition);
        let decided = truth.yes.or(&truth.no);
        if decided == Mask::full(self.block) {
            return self.blend(a, b, &truth.yes);
        }
        self.derive(Op::Select, condition, a, b)
    }

    /// `a` for the threads in `mask`, `b` for the others.
    pub fn blend(&mut self, a: &Poly, b: &Poly, mask: &Mask) -> Poly {
        let full = Mask::full(self.block);
        if mask.and(&full) == full || a == b {
            return a.clone();
        }
        if mask.and(&full).is_empty() {
            return b.clone();
        }
        let keep = Poly::lanes(Lanes::constant(1).blend(&Lanes::constant(0), mask, self.block));
        let other = Poly::lanes(Lanes::constant(0).blend(&Lanes::constant(1), mask, self.block));
        let left = self.mul(a, &keep);
        let right = self.mul(b, &other);
        self.add(&left, &right)
    }

    pub fn derive(&mut self, op: Op, a: &Poly, b: &Poly, c: &Poly) -> Poly {
        self.cost += 4 + 2 * (self.weight(a) + self.weight(b) + self.weight(c));
        let key = (op, a.clone(), b.clone(), c.clone());
        if let Some(id) = self.derived.get(&key) {
            return Poly::atom(*id);
        }
        let (low, high) = self.derived_bounds(op, a, b, c);
        let mut scope = self.scope(a).max(self.scope(b)).max(self.scope(c));
        if op == Op::Shuffle {
            scope = scope.max(Scope::Warp);
        }
        let all = || a.atoms().chain(b.atoms()).chain(c.atoms());
        // Which way a run-time flag goes is not ours to guess.
        let is_flag = op == Op::Select
            && self.scope(a) <= Scope::Block
            && a.atoms().any(|x| self.get(x).uses_size || self.get(x).uses_data);
        let is_evaluable = !is_flag && all().all(|x| self.get(x).is_evaluable);
        let uses_size = all().any(|x| self.get(x).uses_size);
        let uses_data = all().any(|x| self.get(x).uses_data);
        let low_is_assumed = all().any(|x| self.get(x).low_is_assumed);
        let name = if is_evaluable { self.derived_name(op, a, b).into() } else { "a value computed from data".into() };
        let kind = AtomKind::Derived(op, a.clone(), b.clone(), c.clone());
        let id = self.push(Atom { kind, scope, low, high, name, is_evaluable, uses_size, uses_data, low_is_assumed });
        self.derived.insert(key, id);
        Poly::atom(id)
    }

    fn derived_bounds(&self, op: Op, a: &Poly, b: &Poly, c: &Poly) -> (i64, i64) {
        let (al, ah) = self.bounds(a);
        let (bl, bh) = self.bounds(b);
        match op {
            Op::Lt | Op::Le | Op::Eq | Op::LogicalAnd | Op::LogicalOr => (0, 1),
            Op::Div if bl > 0 => {
                (if al >= 0 { al / bh.max(1) } else { al / bl.max(1) }, if ah >= 0 { ah / bl.max(1) } else { 0 })
            }
            Op::Rem if bl > 0 && al >= 0 => (0, (bh - 1).min(ah)),
            Op::Rem if bl > 0 => (-(bh - 1), bh - 1),
            Op::And if al >= 0 && bl >= 0 => (0, ah.min(bh)),
            Op::And if bl >= 0 => (0, bh),
            Op::And if al >= 0 => (0, ah),
            Op::Or | Op::Xor if al >= 0 && bl >= 0 => {
                (0, ((ah.max(bh).min(HIGH / 2) + 1) as u64).next_power_of_two() as i64 - 1)
            }
            Op::Min => (al.min(bl), ah.min(bh)),
            Op::Max => (al.max(bl), ah.max(bh)),
            Op::Select => {
                let (cl, ch) = self.bounds(c);
                (bl.min(cl), bh.max(ch))
            }
            Op::Shr if al >= 0 && bl >= 0 => (0, ah >> bl.min(62)),
            Op::Shl if al >= 0 && bl >= 0 && bh < 32 && ah < 1 << 28 => (al, ah << bh),
            Op::Shl if al >= 0 => (0, HIGH),
            Op::Mul if al >= 0 && bl >= 0 => (al.saturating_mul(bl).min(HIGH), ah.saturating_mul(bh).min(HIGH)),
            Op::Shuffle => (al, ah),
            _ => (LOW, HIGH),
        }
    }

    fn derived_name(&self, op: Op, a: &Poly, b: &Poly) -> String {
        let sign = match op {
            Op::Div => "/",
            Op::Rem => "%",
            Op::Shl => "<<",
            Op::Shr => ">>",
            Op::And => "&",
            Op::Or => "|",
            Op::Xor => "^",
            Op::Mul if b.as_constant() == Some(1) => return format!("({})", self.text(a)),
            Op::Mul => "*",
            Op::Min => return "min(...)".into(),
            Op::Max => return "max(...)".into(),
            Op::Shuffle => return "a shuffled value".into(),
            _ => return "a condition".into(),
        };
        format!("({} {sign} {})", self.text(a), self.text(b))
    }

    /// A short text of a value for messages.
    pub fn text(&self, poly: &Poly) -> String {
        if let Some(c) = poly.as_constant() {
            return c.to_string();
        }
        let mut parts = Vec::new();
        for (mono, lanes) in poly.terms.iter().rev().take(4) {
            let mut factors: Vec<String> = mono.iter().map(|a| self.get(*a).name.to_string()).collect();
            match lanes {
                Lanes::Affine([1, 0, 0, 0]) if !factors.is_empty() => {}
                Lanes::Affine([c, 0, 0, 0]) => factors.insert(0, c.to_string()),
                Lanes::Affine([0, 1, 0, 0]) => factors.insert(0, "tx".into()),
                Lanes::Affine([0, 0, 1, 0]) => factors.insert(0, "ty".into()),
                _ => factors.insert(0, "lane".into()),
            }
            parts.push(factors.join("*"));
        }
        let text = parts.join(" + ");
        if text.len() > 60 { "...".into() } else { text }
    }

    /// How far the value is the same for all threads.
    pub fn scope(&self, poly: &Poly) -> Scope {
        let mut scope = Scope::Grid;
        for (mono, lanes) in &poly.terms {
            let own = if lanes.as_constant().is_some() {
                Scope::Grid
            } else if lanes.is_warp_uniform(self.block) {
                Scope::Warp
            } else {
                return Scope::Lane;
            };
            scope = mono.iter().map(|a| self.get(*a).scope).max().unwrap_or(Scope::Grid).max(own).max(scope);
        }
        // One warp is the whole block: what is uniform in it is uniform in the block.
        if scope == Scope::Warp && self.block.warps() == 1 { Scope::Block } else { scope }
    }

    /// Every thread's value follows from leaves that are the same for all threads.
    pub fn is_evaluable(&self, poly: &Poly) -> bool {
        poly.atoms().all(|a| self.get(a).is_evaluable)
    }

    pub fn uses_size(&self, poly: &Poly) -> bool {
        poly.atoms().any(|a| self.get(a).uses_size)
    }

    pub fn uses_data(&self, poly: &Poly) -> bool {
        poly.atoms().any(|a| self.get(a).uses_data)
    }

    /// Certainly not negative, without assuming what sizes usually are.
    pub fn is_proven_not_negative(&self, poly: &Poly) -> bool {
        self.bounds(poly).0 >= 0 && !poly.atoms().any(|a| self.get(a).low_is_assumed)
    }

    /// Inclusive range over all threads and all values of the atoms.
    pub fn bounds(&self, poly: &Poly) -> (i64, i64) {
        let (mut low, mut high) = (0i64, 0i64);
        for (mono, lanes) in &poly.terms {
            let (l, h) = interval_mul(lanes.bounds(self.block), self.mono_bounds(mono));
            low = low.saturating_add(l).clamp(LOW, HIGH);
            high = high.saturating_add(h).clamp(LOW, HIGH);
        }
        (low, high)
    }

    fn mono_bounds(&self, mono: &Mono) -> (i64, i64) {
        mono.iter().fold((1, 1), |acc, a| {
            let atom = self.get(*a);
            interval_mul(acc, (atom.low, atom.high))
        })
    }

    /// For which threads a condition certainly holds, and for which it certainly does not.
    pub fn truth(&self, condition: &Poly) -> Truth {
        let full = Mask::full(self.block);
        if let Some(lanes) = condition.as_lanes() {
            if let Some(c) = lanes.as_constant() {
                return if c != 0 { Truth { yes: full, no: Mask::NONE } } else { Truth { yes: Mask::NONE, no: full } };
            }
            let values = lanes.expand(self.block);
            let yes = Mask::from_fn(self.block, |t| values[t] != 0);
            return Truth { yes, no: full.without(&yes) };
        }
        if let Some(AtomKind::Derived(op, a, b, _)) = condition.as_atom().map(|a| &self.get(a).kind) {
            match op {
                Op::Lt | Op::Le | Op::Eq => return self.compare_truth(*op, a),
                Op::LogicalAnd => {
                    let (x, y) = (self.truth(a), self.truth(b));
                    return Truth { yes: x.yes.and(&y.yes), no: x.no.or(&y.no) };
                }
                Op::LogicalOr => {
                    let (x, y) = (self.truth(a), self.truth(b));
                    return Truth { yes: x.yes.or(&y.yes), no: x.no.and(&y.no) };
                }
                _ => {}
            }
        }
        let (low, high) = self.bounds(condition);
        if low > 0 || high < 0 {
            Truth { yes: full, no: Mask::NONE }
        } else {
            Truth { yes: Mask::NONE, no: Mask::NONE }
        }
    }

    /// `difference op 0` thread by thread through ranges.
    fn compare_truth(&self, op: Op, difference: &Poly) -> Truth {
        if op == Op::Eq {
            // `(a == b) == 0` is how negation is written: look through it.
            if let Some(AtomKind::Derived(inner, ..)) = difference.as_atom().map(|a| &self.get(a).kind)
                && matches!(inner, Op::Lt | Op::Le | Op::Eq | Op::LogicalAnd | Op::LogicalOr)
            {
                let truth = self.truth(difference);
                return Truth { yes: truth.no, no: truth.yes };
            }
        }
        let mut low = vec![0i64; self.block.threads()];
        let mut high = low.clone();
        for (mono, lanes) in &difference.terms {
            let range = self.mono_bounds(mono);
            let values = lanes.expand(self.block);
            for (t, v) in values.into_iter().enumerate() {
                let (l, h) = interval_mul((v, v), range);
                low[t] = low[t].saturating_add(l).clamp(LOW, HIGH);
                high[t] = high[t].saturating_add(h).clamp(LOW, HIGH);
            }
        }
        let yes = Mask::from_fn(self.block, |t| match op {
            Op::Lt => high[t] < 0,
            Op::Le => high[t] <= 0,
            _ => low[t] == 0 && high[t] == 0,
        });
        let no = Mask::from_fn(self.block, |t| match op {
            Op::Lt => low[t] >= 0,
            Op::Le => low[t] > 0,
            _ => low[t] > 0 || high[t] < 0,
        });
        Truth { yes, no }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

fn interval_mul(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    let products = [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
    let low = products.iter().copied().min().unwrap_or(LOW);
    let high = products.iter().copied().max().unwrap_or(HIGH);
    (low.clamp(LOW, HIGH), high.clamp(LOW, HIGH))
}
