//! Accesses of one thread to many words of shared memory, as asynchronous copies and products of a warpgroup make them.
//!
//! Most words of such an operation have the same recorded accesses, which change in the same way. The change of a word is
//! repeated for the words after it that are in the same state.

use std::ops::Range;

use super::super::run::Worker;
use super::BlockRaces;
use super::clock::Thread;
use super::conflict::{ConflictCheck, ConflictResult, MemoryKind};
use super::element::{Element, InstructionAccess, Role};
use super::fast_words::WarpTime;
use super::report::CheckedAccess;
use super::shadow::{Entry, PackedAccess, Record, Shadow, Strength, WORD};

/// The words of ranges of bytes.
pub(super) fn words_of(ranges: &[Range<usize>]) -> impl Iterator<Item = usize> {
    ranges.iter().flat_map(|range| range.start / 4..range.end / 4)
}

/// Checks and records an access to each of these words; returns the words with findings. With `times`, accesses that
/// barriers order need no list.
pub(super) fn check_words(
    check: &ConflictCheck<'_>,
    shadow: &mut Shadow,
    times: Option<&WarpTime>,
    entry: Entry,
    words: impl Iterator<Item = usize>,
) -> Vec<(usize, ConflictResult)> {
    let role = if entry.writes { Role::Write } else { Role::Read };
    let mut found = Vec::new();
    let mut change = None;
    for word in words {
        if change.as_ref().is_some_and(|(old, new)| shadow.replace(word, old, new)) {
            continue;
        }
        let old = shadow.state(word);
        change = None;
        let is_recorded = times
            .is_some_and(|times| times.update_words(shadow, word..word + 1, &entry.record, role));
        if !is_recorded {
            let result = check.access(shadow, word, entry, || false);
            if result.has_findings() {
                found.push((word, result));
                continue;
            }
        }
        change = Some((old, shadow.state(word)));
    }
    found
}

impl Worker<'_, '_> {
    /// Checks weak accesses of a thread (warp and lane) to the words of these ranges of bytes of shared memory.
    pub(super) fn race_words(
        &mut self,
        (warp, lane): (u32, u32),
        visit: InstructionAccess,
        ranges: &[Range<usize>],
    ) {
        self.with_races(|worker, races, block| {
            let times = races.times(block, warp, MemoryKind::Shared);
            let BlockRaces { order, shared, .. } = block;
            let me = Thread::new(order.block, warp * 32 + lane);
            let writes = visit.role.writes();
            let is_quick = visit.strength != Strength::Bulk
                && !(writes && races.lenient && order.has_lane_orders);
            if writes && races.lenient {
                order.take_fresh_fence(me);
            }
            let access = PackedAccess::new(visit.pc, WORD, visit.strength, 0);
            let record = Record { thread: me, time: order.now(warp), access };
            let entry = Entry { record, lanes: 1 << lane, writes, sees: !writes };
            let is_of_triton = worker.launch.shared.is_of_triton;
            let (rules, shadow) = races.rules_and_shadow(is_of_triton, shared, None);
            let check = ConflictCheck { order, rules, memory: MemoryKind::Shared };
            let times = is_quick.then_some(&times);
            let found = check_words(&check, shadow, times, entry, words_of(ranges));
            if writes {
                ranges.iter().for_each(|range| shadow.forget_locations(range.start, range.len()));
            }
            for (word, result) in found {
                let offset = word * 4;
                let address = worker.launch.shared.address(offset);
                let element = Element { thread: me, address, bytes: 4, region: None, offset };
                let checked = CheckedAccess { pc: visit.pc, element, entry };
                worker.report_race(races, &checked, &result);
            }
        });
    }
}
