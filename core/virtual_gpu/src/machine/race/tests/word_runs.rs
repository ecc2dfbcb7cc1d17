//! The check of a run of words has the result of the check of each word.

use proptest::prelude::*;

use super::super::clock::Thread;
use super::super::conflict::{ConflictCheck, MemoryKind, Rules};
use super::super::happens_before::{HappensBefore, Waits};
use super::super::page::PAGE;
use super::super::shadow::{Entry, PackedAccess, Record, Shadow, Strength, WORD};
use super::super::word_runs::check_words;

const WORDS: usize = PAGE + 32;
const WARPS: u32 = 4;

/// What happens between accesses.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Lanes of a warp access words: the warp, the lane, the first word, their number, whether they write.
    Access(u32, u32, usize, usize, bool),
    WarpBarrier(u32),
    BlockBarrier,
    /// A warp learns what another one did, as from a barrier object.
    Learn(u32, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let access = (0..WARPS, 0..3_u32, 0..WORDS, 1..64_usize, any::<bool>());
    prop_oneof![
        4 => access.prop_map(|(warp, lane, first, count, writes)| {
            Step::Access(warp, lane, first, count.min(WORDS - first), writes)
        }),
        1 => (0..WARPS).prop_map(Step::WarpBarrier),
        1 => Just(Step::BlockBarrier),
        2 => (0..WARPS, 0..WARPS).prop_map(|(from, to)| Step::Learn(from, to)),
    ]
}

proptest! {
    #[test]
    fn a_run_of_words_is_checked_like_each_word(steps in proptest::collection::vec(step(), 1..60)) {
        let mut order = HappensBefore::new(0, WARPS * 32, true);
        let (mut together, mut single) = (Shadow::default(), Shadow::default());
        for (pc, step) in (0..).zip(steps) {
            match step {
                Step::Access(warp, lane, first, count, writes) => {
                    let thread = Thread::new(0, warp * 32 + lane);
                    let access = PackedAccess::new(pc, WORD, Strength::Bulk, 0);
                    let record = Record { thread, time: order.now(warp), access };
                    let entry = Entry { record, lanes: 1 << lane, writes, sees: !writes };
                    let rules = Rules {
                        lenient: true,
                        keeps_readers: true,
                        replicates: false,
                        non_coherent: &[],
                    };
                    let check = ConflictCheck { order: &order, rules, memory: MemoryKind::Shared };
                    let words = first..first + count;
                    let found = check_words(&check, &mut together, None, entry, words.clone());
                    let found: Vec<usize> = found.into_iter().map(|(word, _)| word).collect();
                    let each = words.filter(|word| {
                        check.access(&mut single, *word, entry, || false).has_findings()
                    });
                    prop_assert_eq!(found, each.collect::<Vec<_>>());
                    order.advance(warp);
                }
                Step::WarpBarrier(warp) => order.warp_barrier(warp, u32::MAX),
                Step::BlockBarrier => {
                    for warp in 0..WARPS {
                        order.arrive(0, warp, u32::MAX, Waits::Yes);
                    }
                    order.complete(0);
                }
                Step::Learn(from, to) => {
                    let clock = order.snapshot_of_warp(from);
                    order.learn_together(to, u32::MAX, &Some(clock));
                }
            }
            for word in 0..WORDS {
                prop_assert_eq!(together.state(word), single.state(word), "word {}", word);
            }
        }
    }
}
