//! What the machine calls: every access of shared and global memory, every fence and barrier.

use super::super::super::isa::atomic::{Atomic, AtomicOrder};
use super::super::super::isa::memory::Ordering;
use super::super::access::{Moved, Part, Spaces, Spot};
use super::super::lanes::Doubles;
use super::super::memory::Memory;
use super::super::run::Worker;
use super::clock::Thread;
use super::element::{Element, Role, Rules, Visit, access};
use super::judge::MemoryKind;
use super::means::Means;
use super::order::{Reach, Waits, lanes_of};
use super::quick::{Beyond, Times};
use super::report::Judged;
use super::shadow::{Record, Shadow, Strength, WORD, What};
use super::{BlockRaces, LaunchRaces, reach};

impl LaunchRaces {
    /// Whether an instruction loads through the read-only cache (rule 25).
    pub(super) fn reads_non_coherently(&self, pc: u32) -> bool {
        !self.non_coherent.is_empty() && self.non_coherent.binary_search(&pc).is_ok()
    }

    /// When a warp accesses memory now.
    pub(super) fn times(&self, block: &BlockRaces, warp: u32, memory: MemoryKind) -> Times {
        let [shared, global] = self.means;
        let means = match memory {
            MemoryKind::Shared => shared,
            MemoryKind::Global => global,
        };
        Times {
            block: block.order.block,
            barrier: block.order.barrier,
            synced: block.order.synced(warp),
            merges: means != Means::Atomics,
            beyond: match means {
                Means::WholeBlock => Beyond::Nothing,
                Means::Partial | Means::Atomics if self.keeps_readers => Beyond::Blocks,
                Means::Partial | Means::Atomics => Beyond::Warps,
            },
        }
    }
}

impl Worker<'_, '_> {
    /// A load of these lanes, before it is done.
    pub(in super::super) fn race_load(
        &mut self,
        part: &Part<'_>,
        ordering: Ordering,
        spaces: &Spaces,
    ) {
        self.race_read(part, Visit::new(part.pc, ordering, Role::Read, part.count), spaces);
    }

    /// A load of a fragment, which is the warp's.
    pub(in super::super) fn race_fragment_load(&mut self, part: &Part<'_>, spaces: &Spaces) {
        let visit = Visit::new(part.pc, Ordering::Weak, Role::Read, part.count);
        self.race_read(part, Visit { strength: Strength::Collective, ..visit }, spaces);
    }

    /// A store of these lanes, before it is done.
    pub(in super::super) fn race_store(
        &mut self,
        part: &Part<'_>,
        ordering: Ordering,
        spaces: &Spaces,
        moved: &Moved,
    ) {
        let visit = Visit::new(part.pc, ordering, Role::Write, part.count);
        self.race_write(part, visit, spaces, moved);
    }

    /// A store of a fragment, which is the warp's.
    pub(in super::super) fn race_fragment_store(
        &mut self,
        part: &Part<'_>,
        spaces: &Spaces,
        moved: &Moved,
    ) {
        let visit = Visit::new(part.pc, Ordering::Weak, Role::Write, part.count);
        let visit = Visit { strength: Strength::Collective, ..visit };
        self.race_write(part, visit, spaces, moved);
    }

    fn race_read(&mut self, part: &Part<'_>, visit: Visit, spaces: &Spaces) {
        self.with_races(|worker, races, block| {
            worker.visit(races, block, (part, spaces), visit, &|_, _, _| false);
        });
    }

    fn race_write(&mut self, part: &Part<'_>, visit: Visit, spaces: &Spaces, moved: &Moved) {
        self.with_races(|worker, races, block| {
            let same = |worker: &Self, element: &Element, index: usize| {
                worker.stores_the_same(part, element, &moved.values[index])
            };
            worker.visit(races, block, (part, spaces), visit, &same);
        });
    }

    /// A read-modify-write of one lane and so many bytes, which found an old value.
    pub(in super::super) fn race_atomic(
        &mut self,
        pc: u32,
        (lane, bytes): (usize, u32),
        spot: &Spot,
        atomic: Atomic,
        (outcome, old): (WriteOutcome, u64),
    ) {
        let (region, offset) = match *spot {
            Spot::Region(place) => (Some(place.region), place.offset),
            Spot::Shared(offset) => (None, offset),
        };
        let role = match outcome {
            WriteOutcome::Wrote => Role::Update,
            WriteOutcome::Read => Role::Read,
        };
        if let Some(region) = region
            && self.launch.races.as_ref().is_some_and(|races| races.replay.is_some())
        {
            let wrote = role.writes().then_some(old);
            self.replay_atomic((self.warp.index, lane as u32), (region, offset), bytes, wrote);
        }
        let strength = Strength::Atomic(reach(atomic.scope));
        let visit = Visit { pc, strength, role, order: atomic.order, count: 1 };
        self.race_one((self.warp.index, lane as u32), visit, (region, offset), bytes);
    }

    /// A thread (warp and lane) arrives at a barrier that is a word of shared memory, which releases (rule 18).
    pub(in super::super) fn race_arrival(&mut self, thread: (u32, u32), pc: u32, offset: usize) {
        let strength = Strength::Atomic(Reach::Block);
        let (role, order) = (Role::Update, AtomicOrder::Release);
        let visit = Visit { pc, strength, role, order, count: 1 };
        self.race_one(thread, visit, (None, offset), 8);
    }

    /// A thread sees that a phase of such a barrier is complete, which acquires.
    pub(in super::super) fn race_passing(&mut self, thread: (u32, u32), pc: u32, offset: usize) {
        let strength = Strength::Atomic(Reach::Block);
        let (role, order) = (Role::Read, AtomicOrder::Acquire);
        let visit = Visit { pc, strength, role, order, count: 1 };
        self.race_one(thread, visit, (None, offset), 8);
    }

    /// A thread makes such a barrier.
    pub(in super::super) fn race_initialisation(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        offset: usize,
    ) {
        let visit = Visit::new(pc, Ordering::Weak, Role::Write, 2);
        self.race_one(thread, visit, (None, offset), 8);
    }

    /// An asynchronous copy writes for its thread (rule 18).
    pub(in super::super) fn race_copy(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        (offset, bytes): (usize, usize),
    ) {
        let visit =
            Visit { strength: Strength::Copy, ..Visit::new(pc, Ordering::Weak, Role::Write, 2) };
        for word in 0..bytes / 4 {
            if !self.is_quick_copy(thread, pc, offset / 4 + word) {
                self.race_one(thread, visit, (None, offset + 4 * word), 4);
            }
        }
    }

    /// Whether a copy's write of a word of shared memory is remembered and nothing is to be judged.
    fn is_quick_copy(&mut self, (warp, lane): (u32, u32), pc: u32, word: usize) -> bool {
        let (Some(races), Some(block)) = (&self.launch.races, &mut self.block.races) else {
            return true;
        };
        if races.lenient && block.order.learned {
            return false;
        }
        let times = races.times(block, warp, MemoryKind::Shared);
        let thread = Thread::new(block.order.block, warp * 32 + lane);
        let what = What::new(pc, WORD, Strength::Copy, 0);
        let record = Record { thread, time: block.order.now(warp), what };
        times.all(&mut block.shared, word..word + 1, &record, Role::Write)
    }

    fn race_one(
        &mut self,
        (warp, lane): (u32, u32),
        visit: Visit,
        (region, offset): (Option<usize>, usize),
        bytes: u32,
    ) {
        let address = match region {
            Some(region) => Memory::address(region) + offset as u64,
            None => self.launch.shared.address(offset),
        };
        self.with_races(|worker, races, block| {
            let thread = Thread::new(block.order.block, warp * 32 + lane);
            let element = Element { thread, address, bytes, region, offset };
            worker.judge(races, block, visit, &element, &|_| false);
        });
    }

    /// These lanes pass a barrier of the warp.
    pub(in super::super) fn race_warp_barrier(&mut self, mask: u32) {
        if let Some(block) = &mut self.block.races {
            block.order.warp_barrier(self.warp.index, mask);
        }
    }

    /// These lanes come to a barrier of the block; if they wait, they go on when it completes.
    pub(in super::super) fn race_arrive(&mut self, barrier: usize, mask: u32, waits: Waits) {
        if let Some(block) = &mut self.block.races {
            block.order.arrive(barrier, self.warp.index, mask, waits);
        }
    }

    pub(super) fn with_races(
        &mut self,
        act: impl FnOnce(&mut Self, &mut LaunchRaces, &mut BlockRaces),
    ) {
        let Some(mut block) = self.block.races.take() else { return };
        if let Some(mut races) = self.launch.races.take() {
            act(self, &mut races, &mut block);
            self.launch.races = Some(races);
        }
        self.block.races = Some(block);
    }

    fn visit(
        &mut self,
        races: &mut LaunchRaces,
        block: &mut BlockRaces,
        (part, spaces): (&Part<'_>, &Spaces),
        visit: Visit,
        is_same: &dyn Fn(&Self, &Element, usize) -> bool,
    ) {
        let times = |memory| races.times(block, self.warp.index, memory);
        let (in_shared, in_global) = (times(MemoryKind::Shared), times(MemoryKind::Global));
        let base = Thread::new(block.order.block, self.warp.index * 32);
        let time = block.order.now(self.warp.index);
        // A store that may be the first behind a fence needs looking at (rule 22).
        let quick = visit.strength == Strength::Weak
            && races.replay.is_none()
            && part.element >= 4
            && !(visit.role.writes() && races.lenient && block.order.learned);
        let wide = (part.element / 4).max(1).trailing_zeros();
        let what = What::new(visit.pc, WORD, Strength::Weak, wide);
        let through_cache = races.reads_non_coherently(visit.pc);
        for lane in lanes_of(part.mask & (spaces.global | spaces.shared)) {
            let address = part.addresses[lane as usize];
            let is_shared = spaces.shared >> lane & 1 == 1;
            let times = if is_shared { in_shared } else { in_global };
            let Some((region, offset)) = self.placed(address, part.bytes(), is_shared) else {
                continue;
            };
            let record = Record { thread: base.with_lane(lane), time, what };
            for index in 0..part.count {
                let bytes = part.element;
                let distance = index * bytes as usize;
                let offset = offset + distance;
                let words = offset / 4..(offset + bytes as usize) / 4;
                let shadow = shadow_of(&mut races.global, &mut block.shared, region);
                shadow.read_non_coherently |= through_cache;
                let cached = through_cache || visit.role.writes() && shadow.read_non_coherently;
                if quick && !cached && times.all(shadow, words, &record, visit.role) {
                    continue;
                }
                let address = address + distance as u64;
                let element = Element { thread: record.thread, address, bytes, region, offset };
                if visit.role.writes()
                    && let Some(replay) = &mut races.replay
                {
                    let shadow = shadow_of(&mut races.global, &mut block.shared, region);
                    let published = shadow.locations.get(&offset);
                    self.replay_store((replay, &block.order), visit, &element, published);
                }
                self.judge(races, block, visit, &element, &|worker| {
                    is_same(worker, &element, index)
                });
            }
        }
    }

    /// Judges an access of one element, and what it does to the order of threads.
    fn judge(
        &mut self,
        races: &mut LaunchRaces,
        block: &mut BlockRaces,
        visit: Visit,
        element: &Element,
        is_same: &dyn Fn(&Self) -> bool,
    ) {
        let BlockRaces { order, shared } = block;
        let rules = Rules {
            lenient: races.lenient,
            keeps_readers: races.keeps_readers,
            non_coherent: &races.non_coherent,
        };
        let shadow = shadow_of(&mut races.global, shared, element.region);
        let outcome = access(order, shadow, rules, visit, element, || is_same(self));
        races.accepted.extend(outcome.accepted.iter().map(|rule| (*rule, visit.pc)));
        if outcome.may_be_stale {
            races.stale_reads.insert(visit.pc);
        }
        for (entry, verdict) in outcome.verdicts {
            let judged = Judged { pc: visit.pc, element: *element, entry };
            self.report_race(races, &judged, &verdict);
        }
    }

    /// Where an access is, if it is possible and others may write there.
    pub(super) fn placed(
        &self,
        address: u64,
        bytes: u32,
        in_shared: bool,
    ) -> Option<(Option<usize>, usize)> {
        if !address.is_multiple_of(u64::from(bytes)) {
            return None;
        }
        if in_shared {
            return self.launch.shared.place(address, bytes).map(|offset| (None, offset));
        }
        let place = self.launch.memory.place(address, u64::from(bytes))?;
        self.is_shared_by_writers(place.region).then_some((Some(place.region), place.offset))
    }

    /// Whether a lane stores what is there, or what a lane before it stores with the same instruction.
    fn stores_the_same(&self, part: &Part<'_>, element: &Element, values: &Doubles) -> bool {
        let size = part.element as usize;
        if size > 8 {
            return false;
        }
        let lane = element.thread.lane() as usize;
        let address = part.addresses[lane];
        let before = (0..lane)
            .rev()
            .find(|other| part.mask >> other & 1 == 1 && part.addresses[*other] == address);
        let there = match (before, element.region) {
            (Some(other), _) => values[other],
            (None, Some(region)) => {
                self.launch.memory.regions[region].content.read(element.offset, size)
            }
            (None, None) => self.block.shared.read(element.offset, size),
        };
        values[lane] == there
    }
}

/// What is remembered of a region of global memory, or of the block's own.
pub(super) fn shadow_of<'s>(
    global: &'s mut Vec<Option<Shadow>>,
    shared: &'s mut Shadow,
    region: Option<usize>,
) -> &'s mut Shadow {
    let Some(region) = region else { return shared };
    if region >= global.len() {
        global.resize_with(region + 1, || None);
    }
    global[region].get_or_insert_default()
}

/// Whether a read-modify-write wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum WriteOutcome {
    Wrote,
    /// It compared, and found another value.
    Read,
}
