//! What the machine calls: every access of shared and global memory, every fence and barrier.

use super::super::super::isa::atomic::Atomic;
use super::super::super::isa::barrier::FenceOrder;
use super::super::super::isa::memory::{Ordering, Scope};
use super::super::super::lower::code::Op;
use super::super::access::{Part, Spaces, Spot};
use super::super::memory::{Access as Rights, RegionKind};
use super::super::run::Worker;
use super::super::warp::Frame;
use super::clock::Thread;
use super::element::{Element, Role, Rules, Visit, access};
use super::order::{Waits, lanes_of};
use super::quick::Times;
use super::report::Judged;
use super::shadow::{Record, Shadow, Strength, WORD, What};
use super::{BlockRaces, LaunchRaces, reach};

impl Worker<'_, '_> {
    /// A load of these lanes, before it is done.
    pub(in super::super) fn race_load(
        &mut self,
        part: &Part<'_>,
        ordering: Ordering,
        spaces: &Spaces,
    ) {
        let visit = Visit::new(part.pc, ordering, Role::Read, part.count);
        self.with_races(|worker, races, block| {
            worker.visit(races, block, (part, spaces), visit, &|_, _, _| false);
        });
    }

    /// A store of these lanes, before it is done.
    pub(in super::super) fn race_store(
        &mut self,
        part: &Part<'_>,
        ordering: Ordering,
        spaces: &Spaces,
        (op, frame): (&Op, Frame),
    ) {
        let visit = Visit::new(part.pc, ordering, Role::Write, part.count);
        self.with_races(|worker, races, block| {
            let same = |worker: &mut Self, element: &Element, index: usize| {
                worker.stores_the_same(part, element, index, (op, frame))
            };
            worker.visit(races, block, (part, spaces), visit, &same);
        });
    }

    /// A read-modify-write of one lane; `wrote` is false of a comparison that failed.
    pub(in super::super) fn race_atomic(
        &mut self,
        part: &Part<'_>,
        lane: usize,
        spot: &Spot,
        atomic: Atomic,
        wrote: WriteOutcome,
    ) {
        let (region, offset) = match *spot {
            Spot::Region(place) => (Some(place.region), place.offset),
            Spot::Shared(offset) => (None, offset),
        };
        let role = match wrote {
            WriteOutcome::Wrote => Role::Update,
            WriteOutcome::Read => Role::Read,
        };
        let strength = Strength::Atomic(reach(atomic.scope));
        let visit = Visit { pc: part.pc, strength, role, order: atomic.order, count: 1 };
        let (lane_number, address) = (lane as u32, part.addresses[lane]);
        let element = Element { lane: lane_number, address, bytes: part.element, region, offset };
        self.with_races(|worker, races, block| {
            worker.judge(races, block, visit, &element, &|_| false);
        });
    }

    /// A fence of these lanes.
    pub(in super::super) fn race_fence(&mut self, mask: u32, order: FenceOrder, scope: Scope) {
        if let Some(block) = &mut self.block.races {
            block.order.fence(self.warp.index, mask, order, reach(scope));
        }
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

    fn with_races(&mut self, act: impl FnOnce(&mut Self, &mut LaunchRaces, &mut BlockRaces)) {
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
        is_same: &dyn Fn(&mut Self, &Element, usize) -> bool,
    ) {
        let times = Times {
            block: block.order.block,
            barrier: block.order.barrier,
            synced: block.order.synced(self.warp.index),
            merges: !races.has_atomics,
        };
        let base = Thread::new(block.order.block, self.warp.index * 32);
        let time = block.order.now(self.warp.index);
        // A store that may be the first behind a fence needs looking at (rule 22).
        let quick = visit.strength == Strength::Weak
            && part.element >= 4
            && !(visit.role.writes() && races.lenient && block.order.learned);
        let wide = (part.element / 4).max(1).trailing_zeros();
        let what = What::new(visit.pc, WORD, Strength::Weak, wide);
        for lane in lanes_of(part.mask & (spaces.global | spaces.shared)) {
            let address = part.addresses[lane as usize];
            let in_shared = spaces.shared >> lane & 1 == 1;
            let Some((region, offset)) = self.placed(address, part.bytes(), in_shared) else {
                continue;
            };
            let record = Record { thread: base.with_lane(lane), time, what };
            for index in 0..part.count {
                let bytes = part.element;
                let distance = index * bytes as usize;
                let offset = offset + distance;
                let words = offset / 4..(offset + bytes as usize) / 4;
                if quick {
                    let shadow = shadow_of(&mut races.global, &mut block.shared, region);
                    if times.all(shadow, words, &record, visit.role) {
                        continue;
                    }
                }
                let address = address + distance as u64;
                let element = Element { lane, address, bytes, region, offset };
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
        is_same: &dyn Fn(&mut Self) -> bool,
    ) {
        let me = Thread::new(block.order.block, self.warp.index * 32 + element.lane);
        let BlockRaces { order, shared } = block;
        let rules = Rules { lenient: races.lenient, orders_blocks: races.orders_blocks };
        let shadow = shadow_of(&mut races.global, shared, element.region);
        let outcome = access(order, shadow, rules, visit, (me, element), || is_same(self));
        races.accepted.extend(outcome.accepted.iter().map(|rule| (*rule, visit.pc)));
        for (entry, verdict) in outcome.verdicts {
            let judged = Judged { pc: visit.pc, element: *element, entry };
            self.report_race(races, &judged, &verdict);
        }
    }

    /// Where an access is, if it is possible and others may write there.
    fn placed(&self, address: u64, bytes: u32, in_shared: bool) -> Option<(Option<usize>, usize)> {
        if !address.is_multiple_of(u64::from(bytes)) {
            return None;
        }
        if in_shared {
            return self.launch.shared.place(address, bytes).map(|offset| (None, offset));
        }
        let place = self.launch.memory.place(address, u64::from(bytes))?;
        let region = &self.launch.memory.regions[place.region];
        let writable = match region.kind {
            RegionKind::Buffer | RegionKind::Global | RegionKind::Heap => {
                region.access == Rights::ReadWrite
            }
            RegionKind::Constant | RegionKind::Parameters | RegionKind::Freed => false,
        };
        writable.then_some((Some(place.region), place.offset))
    }

    /// Whether a lane stores what is there, or what a lane before it stores with the same instruction.
    fn stores_the_same(
        &mut self,
        part: &Part<'_>,
        element: &Element,
        index: usize,
        (op, frame): (&Op, Frame),
    ) -> bool {
        let size = part.element as usize;
        if size > 8 {
            return false;
        }
        let slot = self.launch.program.lists[op.list.0 as usize + index];
        let (values, _) = self.lanes(frame, part.mask).any(slot, op.b.index() == 1);
        let mask = u64::MAX >> (64 - 8 * part.element);
        let lane = element.lane as usize;
        let address = part.addresses[lane];
        let before = (0..lane)
            .rev()
            .find(|other| part.mask >> other & 1 == 1 && part.addresses[*other] == address);
        let there = match (before, element.region) {
            (Some(other), _) => values[other] & mask,
            (None, Some(region)) => {
                self.launch.memory.regions[region].content.read(element.offset, size)
            }
            (None, None) => self.block.shared.read(element.offset, size),
        };
        values[lane] & mask == there
    }
}

fn shadow_of<'s>(
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
