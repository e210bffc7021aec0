//! Names of macros as numbers: every word of the code is asked for here, and nearly all of them are no macro.

use rustc_hash::FxHashMap;

use crate::source::lexical::is_ident;

/// Index of a macro name.
pub(crate) type Symbol = u32;
/// The symbol of a word that no `#define` of the project names.
pub(crate) const NO_SYMBOL: Symbol = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Names {
    symbols: FxHashMap<String, Symbol>,
    /// One bit per hash value: clear for most words, which then cost no look-up.
    filter: Vec<u64>,
    shift: u32,
}

impl Names {
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut symbols: FxHashMap<String, Symbol> = FxHashMap::default();
        for name in names {
            if !symbols.contains_key(name) {
                symbols.insert(name.to_owned(), symbols.len() as Symbol);
            }
        }
        let bits = (symbols.len() * 32).next_power_of_two().max(1 << 12);
        let shift = 64 - bits.trailing_zeros();
        let mut filter = vec![0u64; bits / 64];
        #[expect(clippy::iter_over_hash_type, reason = "setting bits does not depend on the order")]
        for name in symbols.keys() {
            let hash = hash(name.as_bytes()) >> shift;
            filter[(hash >> 6) as usize] |= 1 << (hash & 63);
        }
        Self { symbols, filter, shift }
    }

    pub(crate) fn len(&self) -> usize {
        self.symbols.len()
    }

    pub(crate) fn get(&self, name: &str) -> Symbol {
        if self.may_hold(hash(name.as_bytes())) {
            self.symbols.get(name).copied().unwrap_or(NO_SYMBOL)
        } else {
            NO_SYMBOL
        }
    }

    /// False only for the [`hash`] of words that are no macro name.
    #[inline]
    pub(crate) fn may_hold(&self, hash: u64) -> bool {
        let hash = hash >> self.shift;
        self.filter.get((hash >> 6) as usize).is_some_and(|bits| bits & (1 << (hash & 63)) != 0)
    }
}

#[inline]
fn hash(word: &[u8]) -> u64 {
    finish(word.iter().fold(0, |state, byte| mix(state, *byte)))
}

/// End and hash of the word that starts at `at`.
#[inline]
pub(crate) fn hashed_word(text: &[u8], at: usize) -> (usize, u64) {
    let mut state = 0;
    let mut end = at;
    for byte in text.get(at..).unwrap_or(&[]) {
        if !is_ident(*byte) {
            break;
        }
        state = mix(state, *byte);
        end += 1;
    }
    (end, finish(state))
}

#[inline]
fn mix(state: u64, byte: u8) -> u64 {
    state.rotate_left(5) ^ u64::from(byte)
}

#[inline]
fn finish(state: u64) -> u64 {
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_others_are_not() {
        let words: Vec<String> = (0..5000).map(|i| format!("MACRO_{i}")).collect();
        let names = Names::new(words.iter().map(String::as_str));
        assert_eq!(names.len(), 5000);
        assert!(words.iter().enumerate().all(|(i, w)| names.get(w) == i as Symbol));
        assert_eq!(names.get("MACRO_5000"), NO_SYMBOL);
        let passed = (0..10_000).filter(|i| names.may_hold(hash(format!("word{i}").as_bytes()))).count();
        assert!(passed < 1000, "{passed} of 10000 words pass the filter");
    }
}
