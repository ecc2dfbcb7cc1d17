//! Happens-before order within a block: barriers, warp barriers and fences advance the times of threads.
//!
//! One counter gives all times of a block, so that "everything up to now" is one number for a barrier of the block
//! and one for a barrier of the warp. Only order that is established through memory needs vector clocks.

use std::sync::Arc;

use super::super::super::isa::atomic::AtomicOrder;
use super::super::super::isa::barrier::FenceOrder;
use super::super::barrier::BARRIERS;
use super::clock::{Clock, Key, Known, Thread, learn};
use super::cluster::{ClusterMap, Home};
use super::location::Location;
use super::shadow::Record;
use super::{acquires, releases};

const LANES: usize = 32;

/// The threads that a scope includes (rule 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    Block,
    /// The cluster; the block in a launch whose clusters have one block.
    Cluster,
    Device,
}

/// A value for each scope.
#[derive(Clone, Debug, Default)]
pub(super) struct ByReach<T> {
    pub(super) block: T,
    pub(super) cluster: T,
    pub(super) device: T,
}

impl ByReach<Known> {
    pub(super) fn set(&mut self, reach: Reach, clock: &Arc<Clock>) {
        self.block = Some(Arc::clone(clock));
        if reach >= Reach::Cluster {
            self.cluster = Some(Arc::clone(clock));
        }
        if reach == Reach::Device {
            self.device = Some(Arc::clone(clock));
        }
    }

    fn learn(&mut self, other: &Self) {
        learn(&mut self.block, &other.block);
        learn(&mut self.cluster, &other.cluster);
        learn(&mut self.device, &other.device);
    }

    const fn is_empty(&self) -> bool {
        self.block.is_none() && self.cluster.is_none() && self.device.is_none()
    }
}

/// The order of a lane beyond the barriers of its block and warp, and its fences.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneOrder {
    known: Known,
    fences: Option<Box<Fences>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fences {
    /// The clock of the last releasing fence of each scope.
    pub(super) release: ByReach<Known>,
    /// The clock of the last `fence.sc` of each scope, including those of other threads before a barrier (rule 14).
    pub(super) sequential: ByReach<Known>,
    /// Observed clocks that an acquiring fence has yet to join.
    observed: ByReach<Known>,
    observed_sequential: ByReach<Known>,
    /// The scope of a fence after which the thread has not stored (rule 22).
    fresh: Option<Reach>,
}

#[derive(Clone, Debug)]
struct WarpOrder {
    /// Lanes that exist.
    lanes: u32,
    /// The time of its accesses.
    now: u32,
    /// Accesses of all lanes up to this time happen before all lanes.
    synced: u32,
    /// The same for a pair of lanes, where only some lanes arrived at a barrier; the first index is the later lane.
    pairs: Option<Box<[[u32; LANES]; LANES]>>,
    orders: Vec<LaneOrder>,
}

/// Whether a thread that arrives at a barrier waits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Waits {
    Yes,
    No,
}

/// The arrivals at a barrier since it last completed.
#[derive(Clone, Debug, Default)]
struct PendingBarrier {
    arrivals: Vec<BarrierArrival>,
    known: Known,
    sequential: ByReach<Known>,
}

#[derive(Clone, Copy, Debug)]
struct BarrierArrival {
    warp: u32,
    mask: u32,
    time: u32,
    waits: Waits,
}

/// The happens-before order of one block.
#[derive(Clone, Debug)]
pub(super) struct HappensBefore {
    pub(super) block: u32,
    threads: u32,
    time: u32,
    /// Accesses of all threads of the block up to this time happen before all of them.
    pub(super) barrier: u32,
    warps: Vec<WarpOrder>,
    pending_barriers: Vec<PendingBarrier>,
    /// Whether any lane has fences or a clock.
    pub(super) has_lane_orders: bool,
    /// Every observation acquires, and every fence is sequentially consistent (rules 21 and 24).
    lenient: bool,
    /// The clusters of the launch, if they have several blocks.
    pub(super) clusters: Option<ClusterMap>,
}

/// The lanes of a mask.
pub(super) fn lanes_of(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

impl HappensBefore {
    pub(super) fn new(block: u32, threads: u32, lenient: bool) -> Self {
        let warp = |index: u32| WarpOrder {
            lanes: u32::MAX >> (32 - (threads - index * 32).min(32)),
            now: 1,
            synced: 0,
            pairs: None,
            orders: vec![LaneOrder::default(); LANES],
        };
        Self {
            block,
            threads,
            time: 1,
            barrier: 0,
            warps: (0..threads.div_ceil(32)).map(warp).collect(),
            pending_barriers: vec![PendingBarrier::default(); BARRIERS],
            has_lane_orders: false,
            lenient,
            clusters: None,
        }
    }

    /// The order of a block in a cluster of several blocks: time 1 is its start, and its accesses come after it.
    pub(super) fn in_clusters(mut self, clusters: ClusterMap) -> Self {
        self.clusters = Some(clusters);
        self.time += 1;
        self.warps.iter_mut().for_each(|warp| warp.now = self.time);
        self
    }

    /// A block with its cluster.
    pub(super) fn home(&self, block: u32) -> Home {
        Home { block, cluster: self.clusters.map(|clusters| clusters.cluster(block)) }
    }

    /// Whether a scope of a thread in one block includes the threads of another.
    pub(super) fn is_within(&self, reach: Reach, one: u32, other: u32) -> bool {
        match reach {
            Reach::Block => one == other,
            Reach::Cluster => {
                one == other
                    || self.clusters.is_some_and(|map| map.cluster(one) == map.cluster(other))
            }
            Reach::Device => true,
        }
    }

    /// The time of a warp's accesses.
    pub(super) fn now(&self, warp: u32) -> u32 {
        self.warps[warp as usize].now
    }

    /// The time up to which accesses of all lanes happen before all lanes of the warp.
    pub(super) fn synced(&self, warp: u32) -> u32 {
        self.warps[warp as usize].synced
    }

    /// Whether an access of a thread happens before the present access of another.
    pub(super) fn before(&self, record: &Record, thread: Thread, me: Thread) -> bool {
        let time = record.time;
        let warp = &self.warps[me.warp() as usize];
        let lane = me.lane() as usize;
        if thread.block() == self.block
            && (thread == me
                || time <= self.barrier
                || thread.same_warp(me)
                    && (time <= warp.synced
                        || warp
                            .pairs
                            .as_ref()
                            .is_some_and(|pairs| time <= pairs[lane][thread.lane() as usize])))
        {
            return true;
        }
        warp.orders[lane].known.as_ref().is_some_and(|known| known.knows(thread, time))
    }

    pub(super) fn advance(&mut self, warp: u32) {
        self.time = self.time.saturating_add(1);
        self.warps[warp as usize].now = self.time;
    }

    /// A clock of everything that happens before a thread's present access, including its own accesses.
    pub(super) fn snapshot(&self, me: Thread) -> Arc<Clock> {
        let warp = &self.warps[me.warp() as usize];
        let lane = me.lane() as usize;
        let mut clock =
            warp.orders[lane].known.as_ref().map_or_else(Clock::default, |known| (**known).clone());
        clock.raise(Key::block(self.block), self.barrier);
        clock.raise(Key::warp(me), warp.synced);
        if let Some(pairs) = &warp.pairs {
            for other in 0..32 {
                clock.raise(Key::thread(me.with_lane(other)), pairs[lane][other as usize]);
            }
        }
        clock.raise(Key::thread(me), warp.now);
        Arc::new(clock)
    }

    /// A clock of everything that happens before an instruction of a whole warp, including the accesses of all of its
    /// lanes; later accesses of the warp are not in it.
    pub(super) fn snapshot_of_warp(&mut self, index: u32) -> Arc<Clock> {
        let first = Thread::new(self.block, index * 32);
        let mut all = Some(self.snapshot(first));
        for order in &self.warps[index as usize].orders {
            learn(&mut all, &order.known);
        }
        let mut all = all.unwrap_or_default();
        Arc::make_mut(&mut all).raise(Key::warp(first), self.warps[index as usize].now);
        self.advance(index);
        all
    }

    /// The same for some lanes of a warp.
    pub(super) fn snapshot_of_lanes(&mut self, index: u32, mask: u32) -> Known {
        if self.warps[index as usize].lanes & !mask == 0 {
            return Some(self.snapshot_of_warp(index));
        }
        let mut all = None;
        for lane in lanes_of(mask) {
            learn(&mut all, &Some(self.snapshot(Thread::new(self.block, index * 32 + lane))));
        }
        self.advance(index);
        all
    }

    /// What happens before the last releasing fences of these lanes, of cluster scope or wider.
    pub(super) fn released_by_fences(&self, index: u32, mask: u32) -> Known {
        let mut all = None;
        for lane in lanes_of(mask) {
            if let Some(fences) = &self.warps[index as usize].orders[lane as usize].fences {
                learn(&mut all, &fences.release.cluster);
            }
        }
        all
    }

    /// Joins a clock for several lanes of a warp.
    pub(super) fn learn_together(&mut self, index: u32, mask: u32, all: &Known) {
        let is_same = |one: &Known, other: &Known| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.has_lane_orders = true;
        let mut last: Option<(Known, Known)> = None;
        for lane in lanes_of(mask) {
            let known = &mut self.warps[index as usize].orders[lane as usize].known;
            match &last {
                Some((before, after)) if is_same(before, known) => known.clone_from(after),
                Some(_) | None => {
                    let before = known.clone();
                    learn(known, all);
                    last = Some((before, known.clone()));
                }
            }
        }
    }

    fn lane(&mut self, me: Thread) -> &mut LaneOrder {
        &mut self.warps[me.warp() as usize].orders[me.lane() as usize]
    }

    /// A fence (rules 11 and 12).
    pub(super) fn fence(&mut self, warp: u32, mask: u32, order: FenceOrder, reach: Reach) {
        let (acquires, releases) = match order {
            FenceOrder::SequentiallyConsistent | FenceOrder::AcquireRelease => (true, true),
            FenceOrder::Acquire => (true, false),
            FenceOrder::Release => (false, true),
        };
        let sequential = self.lenient || order == FenceOrder::SequentiallyConsistent;
        self.has_lane_orders = true;
        for lane in lanes_of(mask) {
            let me = Thread::new(self.block, warp * 32 + lane);
            let LaneOrder { known, fences } = self.lane(me);
            let fences = fences.get_or_insert_default();
            fences.fresh = Some(reach);
            if acquires {
                learn_within(known, &fences.observed, reach);
                if sequential {
                    learn_within(known, &fences.observed_sequential, reach);
                }
            }
            if releases {
                let clock = self.snapshot(me);
                let fences = self.lane(me).fences.get_or_insert_default();
                fences.release.set(reach, &clock);
                if sequential {
                    fences.sequential.set(reach, &clock);
                }
            }
        }
        self.advance(warp);
    }

    /// Takes the scope of a fence after which the thread has not stored; called by its first store.
    pub(super) fn take_fresh_fence(&mut self, me: Thread) -> Option<Reach> {
        self.lane(me).fences.as_mut()?.fresh.take()
    }

    /// Whether the thread has not stored since its last fence, which has device scope.
    pub(super) fn has_fresh_fence(&self, me: Thread) -> bool {
        let order = &self.warps[me.warp() as usize].orders[me.lane() as usize];
        order.fences.as_ref().is_some_and(|fences| fences.fresh == Some(Reach::Device))
    }

    /// The clock of a thread beyond the barriers of its block and warp.
    pub(super) fn known(&self, me: Thread) -> &Known {
        &self.warps[me.warp() as usize].orders[me.lane() as usize].known
    }

    /// Adds everything that happens before a thread's present access, and its own accesses.
    pub(super) fn tell(&self, me: Thread, all: &mut Known) {
        learn(all, &Some(self.snapshot(me)));
    }

    /// Joins a clock: its accesses happen before everything that the thread does from now on.
    pub(super) fn learn(&mut self, me: Thread, all: &Known) {
        self.has_lane_orders = true;
        learn(&mut self.lane(me).known, all);
    }

    /// A strong read observes a location (rules 12, 13 and 21); returns whether it acquired without an acquire
    /// pattern.
    pub(super) fn observe(
        &mut self,
        me: Thread,
        location: &Location,
        reach: Reach,
        order: AtomicOrder,
    ) -> bool {
        if location.is_empty() {
            return false;
        }
        let (lenient, acquires) = (self.lenient, acquires(order));
        let home = self.home(me.block());
        let released = location.released.visible(home, reach);
        let sequential = location.sequential.visible(home, reach);
        self.has_lane_orders = true;
        let LaneOrder { known, fences } = self.lane(me);
        let fences = fences.get_or_insert_default();
        if acquires || lenient {
            learn_within(known, &released, reach);
        }
        if lenient {
            learn_within(known, &sequential, reach);
        }
        fences.observed.learn(&released);
        fences.observed_sequential.learn(&sequential);
        lenient && !acquires && !(released.is_empty() && sequential.is_empty())
    }

    /// A strong write publishes the clocks that fences released; a releasing one publishes everything that happens
    /// before it (rule 11).
    pub(super) fn publish(
        &mut self,
        me: Thread,
        location: &mut Location,
        reach: Reach,
        order: AtomicOrder,
    ) {
        let home = self.home(me.block());
        location.repeat(me, home, reach);
        if let Some(fences) = &self.lane(me).fences {
            location.released.add(home, reach, &fences.release);
            location.sequential.add(home, reach, &fences.sequential);
        }
        if releases(order) {
            let clock = self.snapshot(me);
            let mut all = ByReach::default();
            all.set(reach, &clock);
            location.released.add(home, reach, &all);
            location.sequential.add(home, reach, &all);
            location.remember(me, reach, clock);
            self.advance(me.warp());
        }
    }

    /// Lanes pass a barrier of the warp (rule 10).
    pub(super) fn warp_barrier(&mut self, index: u32, mask: u32) {
        if self.has_lane_orders {
            self.share(index, mask);
        }
        let warp = &mut self.warps[index as usize];
        if warp.lanes & !mask == 0 {
            warp.synced = warp.now;
            warp.pairs = None;
        } else {
            let synced = warp.synced;
            let pairs = warp.pairs.get_or_insert_with(|| Box::new([[synced; LANES]; LANES]));
            let mut together = [0; LANES];
            for lane in lanes_of(mask) {
                for (all, one) in together.iter_mut().zip(pairs[lane as usize]) {
                    *all = one.max(*all);
                }
            }
            for lane in lanes_of(mask) {
                together[lane as usize] = warp.now;
            }
            for lane in lanes_of(mask) {
                pairs[lane as usize] = together;
            }
        }
        self.advance(index);
    }

    /// Shares the clocks of these lanes among all of them.
    fn share(&mut self, index: u32, mask: u32) {
        let (known, sequential) = self.record_arrival(index, mask);
        for lane in lanes_of(mask) {
            self.give(Thread::new(self.block, index * 32 + lane), &known, &sequential);
        }
    }

    fn record_arrival(&self, index: u32, mask: u32) -> (Known, ByReach<Known>) {
        let mut known = None;
        let mut sequential = ByReach::default();
        for lane in lanes_of(mask) {
            let order = &self.warps[index as usize].orders[lane as usize];
            learn(&mut known, &order.known);
            if let Some(fences) = &order.fences {
                sequential.learn(&fences.sequential);
            }
        }
        (known, sequential)
    }

    fn give(&mut self, thread: Thread, known: &Known, sequential: &ByReach<Known>) {
        let order = self.lane(thread);
        learn(&mut order.known, known);
        if !sequential.is_empty() {
            order.fences.get_or_insert_default().sequential.learn(sequential);
        }
    }

    /// Lanes arrive at a barrier of the block.
    pub(super) fn arrive(&mut self, index: usize, warp: u32, mask: u32, waits: Waits) {
        let time = self.now(warp);
        if self.has_lane_orders {
            let (known, sequential) = self.record_arrival(warp, mask);
            let Some(gathering) = self.pending_barriers.get_mut(index) else { return };
            learn(&mut gathering.known, &known);
            gathering.sequential.learn(&sequential);
        }
        let Some(gathering) = self.pending_barriers.get_mut(index) else { return };
        gathering.arrivals.push(BarrierArrival { warp, mask, time, waits });
        if waits == Waits::No {
            self.advance(warp);
        }
    }

    /// The barrier completes (rules 8 and 9).
    pub(super) fn complete(&mut self, index: usize) {
        let Some(gathering) = self.pending_barriers.get_mut(index) else { return };
        let gathering = std::mem::take(gathering);
        let threads: u32 = gathering.arrivals.iter().map(|came| came.mask.count_ones()).sum();
        if threads == self.threads && gathering.arrivals.iter().all(|came| came.waits == Waits::Yes)
        {
            self.complete_block(gathering);
        } else {
            self.complete_some(&gathering);
        }
    }

    fn complete_block(&mut self, gathering: PendingBarrier) {
        self.barrier = self.time;
        self.time = self.time.saturating_add(1);
        for warp in &mut self.warps {
            warp.now = self.time;
            warp.pairs = None;
        }
        if !self.has_lane_orders {
            return;
        }
        let mut known = gathering.known;
        if let Some(clock) = &mut known {
            Arc::make_mut(clock).forget_block(self.block);
        }
        let known = known.filter(|clock| !clock.is_empty());
        for order in self.warps.iter_mut().flat_map(|warp| &mut warp.orders) {
            order.known.clone_from(&known);
            if !gathering.sequential.is_empty() {
                order.fences.get_or_insert_default().sequential.learn(&gathering.sequential);
            }
        }
    }

    fn complete_some(&mut self, gathering: &PendingBarrier) {
        self.has_lane_orders = true;
        let mut clock =
            gathering.known.as_ref().map_or_else(Clock::default, |known| (**known).clone());
        for came in &gathering.arrivals {
            let warp = &self.warps[came.warp as usize];
            let first = Thread::new(self.block, came.warp * 32);
            if warp.lanes & !came.mask == 0 {
                clock.raise(Key::warp(first), came.time);
                continue;
            }
            clock.raise(Key::warp(first), warp.synced);
            for lane in lanes_of(came.mask) {
                clock.raise(Key::thread(first.with_lane(lane)), came.time);
                let Some(pairs) = &warp.pairs else { continue };
                for other in 0..32 {
                    let time = pairs[lane as usize][other as usize];
                    clock.raise(Key::thread(first.with_lane(other)), time);
                }
            }
        }
        let known = Some(Arc::new(clock));
        for came in gathering.arrivals.iter().filter(|came| came.waits == Waits::Yes) {
            for lane in lanes_of(came.mask) {
                let thread = Thread::new(self.block, came.warp * 32 + lane);
                self.give(thread, &known, &gathering.sequential);
            }
            self.advance(came.warp);
        }
    }
}

fn learn_within(known: &mut Known, from: &ByReach<Known>, reach: Reach) {
    learn(known, &from.block);
    if reach >= Reach::Cluster {
        learn(known, &from.cluster);
    }
    if reach == Reach::Device {
        learn(known, &from.device);
    }
}
