//! The shadow of a word is the same after one update of all lanes and after one update per lane.

use proptest::prelude::*;

use super::super::super::lane_offsets::{HalfWarpPattern, LaneOffsets};
use super::super::clock::Thread;
use super::super::conflict::Rules;
use super::super::element::{Element, InstructionAccess, Role, access};
use super::super::fast_words::{ExtraOrdering, WarpTime};
use super::super::happens_before::{HappensBefore, Waits, lanes_of};
use super::super::page::PAGE;
use super::super::shadow::{Cell, PackedAccess, Shadow, Strength, WORD};
use super::super::warp_accesses::{WarpAccesses, remember};

const WORDS: usize = 2 * PAGE;
const WARPS: u32 = 3;

/// Where the lanes of a warp are, with the lanes that are there and the bytes of each.
fn places(shape: u8, start: usize) -> (LaneOffsets, u32, u32) {
    let row = |lane: usize, bytes: usize| (4 * start + lane * bytes) as u32;
    let (bytes, mask) = match shape % 8 {
        5 => (8, u32::MAX),
        6 => (16, u32::MAX),
        7 => (4, 0x00ff_fff0),
        _ => (4, u32::MAX),
    };
    let (offsets, halves): ([u32; 32], _) = match shape % 8 {
        0 => (std::array::from_fn(|lane| row(lane, 4)), [HalfWarpPattern::Contiguous; 2]),
        1 => (std::array::from_fn(|lane| row(lane % 16, 4)), [HalfWarpPattern::Contiguous; 2]),
        2 => ([row(0, 4); 32], [HalfWarpPattern::Uniform; 2]),
        3 => (std::array::from_fn(|lane| row(lane / 16, 4)), [HalfWarpPattern::Uniform; 2]),
        4 => (std::array::from_fn(|lane| row(lane * 3 % 32, 4)), [HalfWarpPattern::Scattered; 2]),
        7 => (std::array::from_fn(|lane| row(lane, 4)), [HalfWarpPattern::Scattered; 2]),
        _ => (
            std::array::from_fn(|lane| row(lane, bytes as usize)),
            [HalfWarpPattern::Contiguous; 2],
        ),
    };
    let start = offsets.iter().copied().min().unwrap_or(0) as usize;
    let end = offsets.iter().copied().max().unwrap_or(0) as usize + bytes as usize;
    (LaneOffsets { offsets, halves, start, end }, mask, bytes)
}

/// Judges all lanes, as the machine does where one of them must be judged.
fn judge(
    order: &mut HappensBefore,
    shadow: &mut Shadow,
    keeps_readers: bool,
    accesses: &WarpAccesses<'_>,
) {
    for lane in lanes_of(accesses.mask) {
        let thread = accesses.base.with_lane(lane);
        for index in 0..accesses.words {
            let offset = accesses.places.offsets[lane as usize] as usize + 4 * index;
            let (role, count) = (accesses.role, accesses.words);
            let visit =
                InstructionAccess::new(accesses.what.pc(), super::Ordering::Weak, role, count);
            let element = Element { thread, address: 0, bytes: 4, region: Some(0), offset };
            let rules =
                Rules { lenient: false, keeps_readers, replicates: false, non_coherent: &[] };
            access(order, shadow, rules, visit, &element, || false);
        }
    }
}

fn cells(shadow: &mut Shadow) -> Vec<Cell> {
    (0..WORDS).map(|word| shadow.page(word).cell(word % PAGE)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn lanes_together_are_remembered_as_one_by_one(
        events in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..60),
        extra_ordering in prop::sample::select(vec![ExtraOrdering::Nothing, ExtraOrdering::Warps, ExtraOrdering::Blocks]),
        merges in any::<bool>(),
    ) {
        let mut orders = [0, 1].map(|block| HappensBefore::new(block, 32 * WARPS, false));
        let (mut together, mut single) = (Shadow::default(), Shadow::default());
        for (kind, who, at, shape) in events {
            let (block, warp) = (u32::from(who & 1), u32::from(who >> 1) % WARPS);
            let order = &mut orders[block as usize];
            match kind % 16 {
                0 => {
                    (0..WARPS).for_each(|warp| order.arrive(0, warp, u32::MAX, Waits::Yes));
                    order.complete(0);
                    continue;
                }
                1 => {
                    order.warp_barrier(warp, u32::MAX);
                    continue;
                }
                _ => {}
            }
            // Most rows begin at a multiple of the row size; some continue in the next page.
            let start = [0, 0, 16, 24, PAGE - 8][usize::from(at % 5)];
            let (places, mask, bytes) = places(shape, start);
            let role = if kind & 3 == 3 { Role::Write } else { Role::Read };
            let accesses = WarpAccesses {
                places: &places,
                mask,
                words: bytes as usize / 4,
                base: Thread::new(block, warp * 32),
                time: order.now(warp),
                what: PackedAccess::new(u32::from(kind >> 6), WORD, Strength::Weak, 0),
                role,
            };
            let (barrier, synced) = (order.barrier, order.synced(warp));
            let times = WarpTime { block, barrier, synced, merges, extra_ordering };
            let quick = remember(&times, &mut together, &accesses);
            prop_assert_eq!(quick, accesses.each(&times, &mut single, mask));
            if !quick {
                let keeps_readers = extra_ordering == ExtraOrdering::Blocks;
                let mut again = order.clone();
                judge(order, &mut together, keeps_readers, &accesses);
                judge(&mut again, &mut single, keeps_readers, &accesses);
            }
            prop_assert_eq!(cells(&mut together), cells(&mut single));
        }
    }
}
