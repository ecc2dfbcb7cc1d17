//! The interface of the race detector to the machine: accesses of shared and global memory, fences and barriers.

use std::{iter, slice};

use super::super::super::isa::atomic::{Atomic, AtomicOrder};
use super::super::super::isa::mbarrier::{MbarrierOrder, Synchronisation};
use super::super::super::isa::memory::{Ordering, Scope};
use super::super::access::{Moved, Part, Spaces, Spot};
use super::super::lanes::Doubles;
use super::super::memory::Memory;
use super::super::run::Worker;
use super::block_sync::BlockSync;
use super::clock::Thread;
use super::conflict::{MemoryKind, Rules};
use super::element::{Element, InstructionAccess, Role, access};
use super::fast_words::{ExtraOrdering, WarpTime};
use super::happens_before::{Reach, Waits, lanes_of};
use super::report::CheckedAccess;
use super::shadow::{PackedAccess, Record, Shadow, Strength, WORD};
use super::{BlockRaces, LaunchRaces, reach};

impl LaunchRaces {
    /// Whether an instruction loads through the read-only cache (rule 25).
    pub(super) fn reads_non_coherently(&self, pc: u32) -> bool {
        !self.non_coherent.is_empty() && self.non_coherent.binary_search(&pc).is_ok()
    }

    /// The rules for accesses to a region of global memory, or to shared memory, and its shadow.
    pub(super) fn rules_and_shadow<'r>(
        &'r mut self,
        is_of_triton: bool,
        shared: &'r mut Shadow,
        region: Option<usize>,
    ) -> (Rules<'r>, &'r mut Shadow) {
        let rules = Rules {
            lenient: self.lenient,
            keeps_readers: self.keeps_readers,
            replicates: self.lenient && region.is_none() && is_of_triton,
            non_coherent: &self.non_coherent,
        };
        (rules, shadow_of(&mut self.global, shared, region))
    }

    /// The time of a warp's present access.
    pub(super) fn times(&self, block: &BlockRaces, warp: u32, memory: MemoryKind) -> WarpTime {
        let [shared, global] = self.block_sync;
        let means = match memory {
            MemoryKind::Shared => shared,
            MemoryKind::Global => global,
        };
        WarpTime {
            block: block.order.block,
            barrier: block.order.barrier,
            synced: block.order.synced(warp),
            merges: means != BlockSync::Atomics,
            extra_ordering: match means {
                BlockSync::WholeBlock => ExtraOrdering::Nothing,
                BlockSync::Partial | BlockSync::Atomics if self.keeps_readers => {
                    ExtraOrdering::Blocks
                }
                BlockSync::Partial | BlockSync::Atomics => ExtraOrdering::Warps,
            },
        }
    }
}

impl Worker<'_, '_> {
    /// Checks a load of these lanes, before it is executed.
    pub(in super::super) fn race_load(
        &mut self,
        part: &Part<'_>,
        ordering: Ordering,
        spaces: &Spaces,
    ) {
        self.race_read(
            part,
            InstructionAccess::new(part.pc, ordering, Role::Read, part.count),
            spaces,
        );
        if ordering != Ordering::Weak {
            self.order_phases_by_memory(part.lanes().map(|lane| part.addresses[lane]));
        }
    }

    /// Checks a load of a fragment, which is an access of the warp.
    pub(in super::super) fn race_fragment_load(&mut self, part: &Part<'_>, spaces: &Spaces) {
        let visit = InstructionAccess::new(part.pc, Ordering::Weak, Role::Read, part.count);
        self.race_read(part, InstructionAccess { strength: Strength::Collective, ..visit }, spaces);
    }

    /// Checks a store of these lanes, before it is executed.
    pub(in super::super) fn race_store(
        &mut self,
        part: &Part<'_>,
        ordering: Ordering,
        spaces: &Spaces,
        moved: &Moved,
    ) {
        let visit = InstructionAccess::new(part.pc, ordering, Role::Write, part.count);
        self.race_write(part, visit, spaces, moved);
        if ordering != Ordering::Weak {
            self.order_phases_by_memory(part.lanes().map(|lane| part.addresses[lane]));
        }
    }

    /// Checks a store of a fragment, which is an access of the warp.
    pub(in super::super) fn race_fragment_store(
        &mut self,
        part: &Part<'_>,
        spaces: &Spaces,
        moved: &Moved,
    ) {
        let visit = InstructionAccess::new(part.pc, Ordering::Weak, Role::Write, part.count);
        let visit = InstructionAccess { strength: Strength::Collective, ..visit };
        self.race_write(part, visit, spaces, moved);
    }

    fn race_read(&mut self, part: &Part<'_>, visit: InstructionAccess, spaces: &Spaces) {
        self.with_races(|worker, races, block| {
            worker.visit(races, block, (part, spaces), visit, &|_, _, _| false);
        });
    }

    fn race_write(
        &mut self,
        part: &Part<'_>,
        visit: InstructionAccess,
        spaces: &Spaces,
        moved: &Moved,
    ) {
        self.with_races(|worker, races, block| {
            let same = |worker: &Self, element: &Element, index: usize| {
                worker.stores_the_same(part, element, &moved.values[index])
            };
            worker.visit(races, block, (part, spaces), visit, &same);
        });
    }

    /// Checks a read-modify-write of one lane, with its old value.
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
        let visit = InstructionAccess { pc, strength, role, order: atomic.order, count: 1 };
        self.race_one((self.warp.index, lane as u32), visit, (region, offset), bytes);
        self.order_phases_by_memory(iter::once(self.address_of(region, offset)));
    }

    /// A thread (warp and lane) arrives at a barrier object in shared memory, and releases to the cluster (rule 18), as
    /// the completion of an asynchronous operation does.
    pub(in super::super) fn race_arrival(&mut self, thread: (u32, u32), pc: u32, offset: usize) {
        let how = Synchronisation { order: MbarrierOrder::Release, scope: Scope::Cluster };
        self.race_arrival_with(thread, pc, offset, how);
    }

    /// The same with an order and a scope.
    pub(in super::super) fn race_arrival_with(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        offset: usize,
        how: Synchronisation,
    ) {
        let strength = Strength::Atomic(self.mbarrier_reach(how.scope));
        let (role, order) = (Role::Arrival, mbarrier_order(how.order));
        let visit = InstructionAccess { pc, strength, role, order, count: 1 };
        self.race_one(thread, visit, (None, offset), 8);
    }

    /// The threads that the scope of an operation on a barrier object includes. The idiom mode extends the block to its
    /// cluster, because CUTLASS arrives at barrier objects of other blocks without a scope, which is `.cta` (rule 33).
    fn mbarrier_reach(&self, scope: Scope) -> Reach {
        let is_lenient = self.launch.races.as_ref().is_some_and(|races| races.lenient);
        if is_lenient { reach(scope).max(Reach::Cluster) } else { reach(scope) }
    }

    /// A thread observes that a phase of a barrier object is complete.
    pub(in super::super) fn race_passing(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        offset: usize,
        how: Synchronisation,
    ) {
        let strength = Strength::Atomic(self.mbarrier_reach(how.scope));
        let (role, order) = (Role::Read, mbarrier_order(how.order));
        let visit = InstructionAccess { pc, strength, role, order, count: 1 };
        self.race_one(thread, visit, (None, offset), 8);
    }

    /// A thread initialises a barrier object.
    pub(in super::super) fn race_initialisation(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        offset: usize,
    ) {
        let visit = InstructionAccess::new(pc, Ordering::Weak, Role::Write, 2);
        self.race_one(thread, visit, (None, offset), 8);
    }

    /// An asynchronous read-modify-write of shared memory for its thread.
    pub(in super::super) fn race_update(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        (offset, bytes): (usize, usize),
        atomic: Atomic,
    ) {
        let strength = Strength::Atomic(reach(atomic.scope));
        let (role, order) = (Role::Arrival, atomic.order);
        let visit = InstructionAccess { pc, strength, role, order, count: 1 };
        self.race_one(thread, visit, (None, offset), bytes as u32);
    }

    /// An asynchronous copy writes for its thread (rule 18).
    pub(in super::super) fn race_copy(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        range: (usize, usize),
    ) {
        self.race_copied(thread, pc, range, Strength::Copy);
    }

    /// A bulk copy writes for its thread, through the asynchronous proxy.
    pub(in super::super) fn race_bulk_load(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        range: (usize, usize),
    ) {
        self.race_copied(thread, pc, range, Strength::Bulk);
    }

    fn race_copied(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        (offset, bytes): (usize, usize),
        strength: Strength,
    ) {
        let visit = InstructionAccess {
            strength,
            ..InstructionAccess::new(pc, Ordering::Weak, Role::Write, 2)
        };
        self.race_words(thread, visit, slice::from_ref(&(offset..offset + bytes)));
    }

    fn address_of(&self, region: Option<usize>, offset: usize) -> u64 {
        match region {
            Some(region) => Memory::address(region) + offset as u64,
            None => self.launch.shared.address(offset),
        }
    }

    fn race_one(
        &mut self,
        (warp, lane): (u32, u32),
        visit: InstructionAccess,
        (region, offset): (Option<usize>, usize),
        bytes: u32,
    ) {
        let address = self.address_of(region, offset);
        self.with_races(|worker, races, block| {
            let thread = Thread::new(block.order.block, warp * 32 + lane);
            let element = Element { thread, address, bytes, region, offset };
            worker.check_access(races, block, visit, &element, &|_| false);
        });
    }

    /// These lanes pass a barrier of the warp.
    pub(in super::super) fn race_warp_barrier(&mut self, mask: u32) {
        if let Some(block) = &mut self.block.races {
            block.order.warp_barrier(self.warp.index, mask);
        }
    }

    /// These lanes arrive at a barrier of the block; lanes that wait continue when it completes.
    pub(in super::super) fn race_arrive(
        &mut self,
        pc: u32,
        barrier: usize,
        mask: u32,
        waits: Waits,
    ) {
        if let Some(block) = &mut self.block.races {
            block.order.arrive(barrier, self.warp.index, mask, waits);
            self.arrive_in_phase(barrier, mask.trailing_zeros(), pc, waits);
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
        visit: InstructionAccess,
        is_same: &dyn Fn(&Self, &Element, usize) -> bool,
    ) {
        let times = |memory| races.times(block, self.warp.index, memory);
        let (in_shared, in_global) = (times(MemoryKind::Shared), times(MemoryKind::Global));
        let base = Thread::new(block.order.block, self.warp.index * 32);
        let time = block.order.now(self.warp.index);
        // The first store after a fence must be checked (rule 22).
        let quick = visit.strength == Strength::Weak
            && races.replay.is_none()
            && part.element >= 4
            && !(visit.role.writes() && races.lenient && block.order.has_lane_orders);
        let wide = (part.element / 4).max(1).trailing_zeros();
        let what = PackedAccess::new(visit.pc, WORD, Strength::Weak, wide);
        let through_cache = races.reads_non_coherently(visit.pc);
        for lane in lanes_of(part.mask & (spaces.global | spaces.shared)) {
            let address = part.addresses[lane as usize];
            let is_shared = spaces.shared >> lane & 1 == 1;
            let times = if is_shared { in_shared } else { in_global };
            let Some((region, offset)) = self.placed(address, part.bytes(), is_shared) else {
                continue;
            };
            let record = Record { thread: base.with_lane(lane), time, access: what };
            for index in 0..part.count {
                let bytes = part.element;
                let distance = index * bytes as usize;
                let offset = offset + distance;
                let words = offset / 4..(offset + bytes as usize) / 4;
                let shadow = shadow_of(&mut races.global, &mut block.shared, region);
                shadow.read_non_coherently |= through_cache;
                let cached = through_cache || visit.role.writes() && shadow.read_non_coherently;
                if quick && !cached && times.update_words(shadow, words, &record, visit.role) {
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
                self.check_access(races, block, visit, &element, &|worker| {
                    is_same(worker, &element, index)
                });
            }
        }
    }

    /// Checks an access of one element, and updates the happens-before order.
    fn check_access(
        &mut self,
        races: &mut LaunchRaces,
        block: &mut BlockRaces,
        visit: InstructionAccess,
        element: &Element,
        is_same: &dyn Fn(&Self) -> bool,
    ) {
        let BlockRaces { order, shared, .. } = block;
        let is_of_triton = self.launch.shared.is_of_triton;
        let (rules, shadow) = races.rules_and_shadow(is_of_triton, shared, element.region);
        let outcome = access(order, shadow, rules, visit, element, || is_same(self));
        races.accepted.extend(outcome.accepted.iter().map(|rule| (*rule, visit.pc)));
        if outcome.may_be_stale {
            races.stale_reads.insert(visit.pc);
        }
        for (entry, verdict) in outcome.conflicts {
            let judged = CheckedAccess { pc: visit.pc, element: *element, entry };
            self.report_race(races, &judged, &verdict);
        }
    }

    /// The location of an access, if it is valid and other threads may write there.
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

    /// Whether a lane stores the present value, or the value that an earlier lane stores with the same instruction.
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

/// The shadow of a region of global memory, or of the block's shared memory.
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

const fn mbarrier_order(order: MbarrierOrder) -> AtomicOrder {
    match order {
        MbarrierOrder::Acquire => AtomicOrder::Acquire,
        MbarrierOrder::Release => AtomicOrder::Release,
        MbarrierOrder::Relaxed => AtomicOrder::Relaxed,
    }
}

/// Whether a read-modify-write wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum WriteOutcome {
    Wrote,
    /// A compare-and-swap that found another value.
    Read,
}
