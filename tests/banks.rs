//! Holds the shared-memory model against every measured wavefront count, and the sector count against its definition.

use std::collections::BTreeSet;

use cudalint::warp::banks::{Direction, LaneOffsets, ideal_wavefronts, wavefronts};
use cudalint::warp::sectors::{LaneAddresses, ideal_sectors, sectors};
use proptest::prelude::*;

const PATTERNS: &str = include_str!("data/shared_patterns.csv");

struct Pattern<'a> {
    name: &'a str,
    bytes: u32,
    offsets: LaneOffsets,
    /// Wavefronts taken and ideal.
    load: [u32; 2],
    store: [u32; 2],
}

fn patterns() -> Vec<Pattern<'static>> {
    PATTERNS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| parse(line).unwrap_or_else(|| panic!("{line}")))
        .collect()
}

fn parse(line: &'static str) -> Option<Pattern<'static>> {
    let mut fields = line.split(',');
    let name = fields.next()?;
    let mut number = || fields.next()?.parse::<u32>().ok();
    let bytes = number()?;
    let load = [number()?, number()?];
    let store = [number()?, number()?];
    let mut offsets = [None; 32];
    for (offset, element) in offsets.iter_mut().zip(fields.next()?.split(' ')) {
        *offset = element.parse::<u32>().ok().map(|element| element * bytes);
    }
    Some(Pattern { name, bytes, offsets, load, store })
}

#[test]
fn every_measured_pattern_takes_the_wavefronts_the_hardware_took() {
    let patterns = patterns();
    assert_eq!(patterns.len(), 777);
    let mut wrong = Vec::new();
    for pattern in &patterns {
        let active = pattern.offsets.iter().flatten().count() as u32;
        for (direction, [taken, ideal]) in [(Direction::Load, pattern.load), (Direction::Store, pattern.store)] {
            let predicted = wavefronts(&pattern.offsets, pattern.bytes, direction);
            if predicted != taken {
                wrong.push(format!(
                    "{} {} bytes {direction:?}: {taken} measured, {predicted} predicted",
                    pattern.name, pattern.bytes
                ));
            }
            assert_eq!(
                ideal_wavefronts(active, pattern.bytes, taken),
                ideal,
                "{} {} bytes",
                pattern.name,
                pattern.bytes
            );
        }
    }
    assert!(wrong.is_empty(), "{} of 1554 wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_active_lane_takes_no_wavefront() {
    for bytes in [1, 2, 4, 8, 16] {
        assert_eq!(wavefronts(&[None; 32], bytes, Direction::Load), 0);
        assert_eq!(wavefronts(&[None; 32], bytes, Direction::Store), 0);
    }
    assert_eq!(sectors(&[None; 32], 4), 0);
}

#[test]
fn wide_requests_are_ideal_where_they_fill_every_sector() {
    let unit = |bytes: u64| -> LaneAddresses { std::array::from_fn(|lane| Some(4096 + lane as u64 * bytes)) };
    assert_eq!([4, 8, 16].map(|bytes| sectors(&unit(bytes), bytes as u32)), [4, 8, 16]);
    assert_eq!(sectors(&std::array::from_fn(|lane| Some(4100 + lane as u64 * 4)), 4), 5);
    assert_eq!(sectors(&[Some(4096); 32], 4), 1);
    assert_eq!(ideal_sectors(32, 4, 1), 1);
    assert_eq!(ideal_sectors(32, 4, 32), 4);
    assert_eq!(ideal_sectors(3, 4, 3), 1);
}

fn lanes(limit: u32, bytes: u32) -> impl Strategy<Value = LaneOffsets> {
    prop::array::uniform32(prop::option::weighted(0.8, (0..limit).prop_map(move |element| element * bytes)))
}

proptest! {
    #[test]
    fn sectors_are_distinct_segments(offsets in lanes(4096, 1), bytes in 1_u32..=16) {
        let addresses = offsets.map(|offset| offset.map(u64::from));
        let expected: BTreeSet<u64> = addresses.iter().flatten().flat_map(|first| first / 32..=(first + u64::from(bytes) - 1) / 32).collect();
        prop_assert_eq!(sectors(&addresses, bytes), expected.len() as u32);
    }

    #[test]
    fn narrow_requests_queue_on_their_fullest_bank(offsets in lanes(2048, 4)) {
        let mut words = [const { BTreeSet::new() }; 32];
        for offset in offsets.iter().flatten() {
            words[(offset / 4 % 32) as usize].insert(offset / 4);
        }
        let expected = words.iter().map(BTreeSet::len).max().unwrap_or(0) as u32;
        prop_assert_eq!(wavefronts(&offsets, 4, Direction::Load), expected);
        prop_assert_eq!(wavefronts(&offsets, 4, Direction::Store), expected);
    }

    /// Pairing only ever saves passes, and never more than half of them.
    #[test]
    fn loads_take_at_most_what_stores_take(offsets in lanes(64, 16), wide in 0..2_u32) {
        let bytes = 8 << wide;
        let load = wavefronts(&offsets, bytes, Direction::Load);
        let store = wavefronts(&offsets, bytes, Direction::Store);
        prop_assert!(load <= store && store <= 4 * load);
    }
}
