//! Older values that strong reads of global memory may return (`docs/races.md`, "Replay").
//!
//! The machine executes accesses one after the other, so that a read returns the newest write. The memory model
//! permits more: any write that is not overwritten from the reader's point of view (PTX ISA 8.10.5 and 8.10.6). A
//! replay keeps the last values of each location and returns one of them. The clocks of [`HappensBefore`] decide
//! which values are permitted.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::super::super::isa::barrier::FenceOrder;
use super::super::super::isa::memory::{Ordering, Scope};
use super::super::access::{Moved, Part, Spaces};
use super::super::run::Worker;
use super::super::turn_order::Random;
use super::clock::{Known, Thread, learn};
use super::cluster::Home;
use super::element::{Element, InstructionAccess, Role};
use super::happens_before::{HappensBefore, Reach, lanes_of};
use super::location::Location;
use super::reach;
use super::shadow::{Record, Strength};

/// The number of recorded values of a location, including the newest.
const VERSIONS: usize = 4;
/// The number of consecutive stale reads of a location by a thread; the next read returns the newest value.
const MOST_STALE: u32 = 3;
/// The limit of recorded readers of a version. Beyond it, the version counts as observed by every thread, which
/// permits less.
const MOST_READERS: usize = 64;
/// The limit of threads in the clock of the fences. Beyond it, every thread counts as ordered after all versions.
const MOST_FENCED: usize = 1024;
/// The largest element that is replayed, in bytes.
const LARGEST: u32 = 8;

/// The state of a replay.
#[derive(Debug)]
pub(super) struct Replay {
    policy: Policy,
    /// By region and offset.
    histories: BTreeMap<(usize, usize), History>,
    /// The clocks of the fences so far, of a block, a cluster and the device (PTX ISA 8.9.3, "Fence-SC").
    fences: BTreeMap<FenceGroup, Known>,
}

/// The selection among the permitted values of a read.
#[derive(Debug)]
enum Policy {
    Oldest,
    Any(Random),
}

#[derive(Debug)]
struct History {
    bytes: u32,
    /// Oldest first; memory holds the value of the last one.
    versions: VecDeque<Version>,
    /// The last version that each thread read or wrote.
    seen: HashMap<Thread, Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    number: u64,
    stale: u32,
}

#[derive(Debug)]
struct Version {
    number: u64,
    /// None for the value before the first strong write.
    writer: Option<Record>,
    /// The first reads.
    readers: Vec<Record>,
    /// Whether every thread counts as ordered after it.
    is_common: bool,
    value: Value,
    /// The clocks that an observer acquires.
    published: Location,
}

/// A value in memory before a write.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    bits: u64,
    is_initialised: bool,
}

/// A value of an element that a lane reads instead of the newest one.
pub(in super::super) struct Stale {
    index: usize,
    lane: usize,
    value: Value,
}

impl Replay {
    pub(super) fn new(seed: u64) -> Self {
        let policy = if seed == 0 { Policy::Oldest } else { Policy::Any(Random::new(seed)) };
        Self { policy, histories: BTreeMap::new(), fences: BTreeMap::new() }
    }

    /// Records a strong write that replaced `before`.
    fn wrote(
        &mut self,
        (region, offset): (usize, usize),
        bytes: u32,
        by: Record,
        before: (Value, Location),
    ) {
        self.forget((region, offset), bytes, Overlap::Others);
        let history = self.histories.entry((region, offset)).or_insert_with(|| History {
            bytes,
            versions: VecDeque::from([Version::new(0, None)]),
            seen: HashMap::new(),
        });
        let Some(last) = history.versions.back_mut() else { return };
        (last.value, last.published) = before;
        let number = last.number + 1;
        history.versions.push_back(Version::new(number, Some(by)));
        if history.versions.len() > VERSIONS {
            history.versions.pop_front();
        }
        history.seen.insert(by.thread, Seen { number, stale: 0 });
    }

    /// Removes the locations that share bytes with an access.
    fn forget(&mut self, (region, offset): (usize, usize), bytes: u32, which: Overlap) {
        let first = offset.saturating_sub(LARGEST as usize - 1);
        let near = self.histories.range((region, first)..(region, offset + bytes as usize));
        let shares = |at: &usize, history: &History| at + history.bytes as usize > offset;
        let same = |at: &usize, history: &History| {
            which == Overlap::Others && *at == offset && history.bytes == bytes
        };
        let found: Vec<(usize, usize)> = near
            .filter(|((_, at), history)| shares(at, history) && !same(at, history))
            .map(|(place, _)| *place)
            .collect();
        for place in found {
            self.histories.remove(&place);
        }
    }

    /// Records a read-modify-write that did not write and read the newest value.
    fn read_newest(&mut self, place: (usize, usize), by: Record) {
        if let Some(history) = self.histories.get_mut(&place) {
            let newest = history.versions.len() - 1;
            history.read(newest, by);
        }
    }

    /// A strong read of the elements of one lane: returns the index of the version, unless it is the newest.
    ///
    /// The elements of a vector come from one write, as CUB's look-back relies on: PTX does not specify their order
    /// (8.2.2), and GPUs access an aligned vector at once.
    fn read(
        &mut self,
        order: &HappensBefore,
        places: &[(usize, usize)],
        bytes: u32,
        by: Record,
    ) -> Option<usize> {
        let Some((newest, oldest, stale)) = self.permitted(order, places, bytes, by.thread) else {
            places.iter().for_each(|place| self.read_newest(*place, by));
            return None;
        };
        let chosen = match &mut self.policy {
            _ if oldest == newest || stale >= MOST_STALE => newest,
            Policy::Oldest => oldest,
            Policy::Any(random) => oldest + random.below((newest - oldest + 1) as u64) as usize,
        };
        for place in places {
            if let Some(history) = self.histories.get_mut(place) {
                history.read(chosen, by);
            }
        }
        (chosen != newest).then_some(chosen)
    }

    /// The newest and the oldest version that a thread may read for all these elements, and the number of its
    /// consecutive stale reads; none if the elements were not written together.
    fn permitted(
        &self,
        order: &HappensBefore,
        places: &[(usize, usize)],
        bytes: u32,
        me: Thread,
    ) -> Option<(usize, usize, u32)> {
        let first = self.histories.get(places.first()?)?;
        let (mut oldest, mut stale) = (0, 0);
        for place in places {
            let history = self.histories.get(place)?;
            if history.bytes != bytes || !history.has_same_writer(first) {
                return None;
            }
            oldest = oldest.max(history.oldest_permitted(order, me));
            stale = stale.max(history.seen.get(&me).map_or(0, |seen| seen.stale));
        }
        Some((first.versions.len() - 1, oldest, stale))
    }

    fn version(&self, place: (usize, usize), index: usize) -> Option<&Version> {
        self.histories.get(&place)?.versions.get(index)
    }

    /// Everything before a fence happens before the accesses after any later fence whose scope includes it.
    fn before_fence(&mut self, order: &mut HappensBefore, warp: u32, mask: u32, reach: Reach) {
        for key in keys(order, reach) {
            let all = self.fences.entry(key).or_default();
            for lane in lanes_of(mask) {
                order.tell(Thread::new(order.block, warp * 32 + lane), all);
            }
            for lane in lanes_of(mask) {
                order.learn(Thread::new(order.block, warp * 32 + lane), all);
            }
        }
    }

    /// The clocks that the fence has acquired happen before the accesses after later fences too.
    fn after_fence(&mut self, order: &HappensBefore, warp: u32, mask: u32, reach: Reach) {
        for key in keys(order, reach) {
            let all = self.fences.entry(key).or_default();
            for lane in lanes_of(mask) {
                learn(all, order.known(Thread::new(order.block, warp * 32 + lane)));
            }
            if all.as_ref().is_some_and(|clock| clock.len() > MOST_FENCED) {
                *all = None;
                let versions =
                    self.histories.values_mut().flat_map(|history| &mut history.versions);
                versions.for_each(|version| version.is_common = true);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Overlap {
    All,
    /// All locations except the one with the same bytes.
    Others,
}

/// Fences of which each is ordered with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FenceGroup {
    Block(u32),
    Cluster(u32),
    Device,
}

/// The orders of fences in which a fence takes part.
fn keys(order: &HappensBefore, reach: Reach) -> impl Iterator<Item = FenceGroup> + use<> {
    let Home { block, cluster } = order.home(order.block);
    let cluster = cluster.filter(|_| reach >= Reach::Cluster).map(FenceGroup::Cluster);
    let device = (reach == Reach::Device).then_some(FenceGroup::Device);
    [FenceGroup::Block(block)].into_iter().chain(cluster).chain(device)
}

impl Version {
    fn new(number: u64, writer: Option<Record>) -> Self {
        Self {
            number,
            is_common: writer.is_none(),
            writer,
            readers: Vec::new(),
            value: Value::default(),
            published: Location::default(),
        }
    }

    /// Whether a thread's next read follows the write, or a read of its value (PTX ISA 8.9.5, "Causality order").
    fn is_before(&self, order: &HappensBefore, me: Thread) -> bool {
        let before =
            |record: &Record| record.thread == me || order.before(record, record.thread, me);
        self.is_common || self.writer.iter().chain(&self.readers).any(before)
    }
}

impl History {
    /// The oldest version that a thread may read: not older than the last version that is ordered before it or that
    /// it has read.
    fn oldest_permitted(&self, order: &HappensBefore, me: Thread) -> usize {
        let seen = self.seen.get(&me).map_or(0, |seen| seen.number);
        let hides = |version: &Version| version.number <= seen || version.is_before(order, me);
        self.versions.iter().rposition(hides).unwrap_or(0)
    }

    /// Whether the same access wrote both versions.
    fn has_same_writer(&self, other: &Self) -> bool {
        let writers = |history: &Self| {
            let versions = history.versions.iter();
            versions.map(|version| (version.number, version.writer)).collect::<Vec<_>>()
        };
        writers(self) == writers(other)
    }

    fn read(&mut self, index: usize, by: Record) {
        let is_newest = index + 1 == self.versions.len();
        let Some(version) = self.versions.get_mut(index) else { return };
        let seen = self.seen.entry(by.thread).or_default();
        let is_first = seen.number != version.number;
        let stale = if is_newest { 0 } else { seen.stale + 1 };
        *seen = Seen { number: version.number, stale };
        if !is_first || version.is_common {
            return;
        }
        version.readers.push(by);
        version.is_common = version.readers.len() > MOST_READERS;
    }
}

impl Worker<'_, '_> {
    /// The values that a strong load reads instead of the newest ones, in a replay.
    pub(in super::super) fn stale_values(
        &mut self,
        part: &Part<'_>,
        ordering: Ordering,
        spaces: &Spaces,
    ) -> Vec<Stale> {
        let mut found = Vec::new();
        if self.launch.races.as_ref().is_none_or(|races| races.replay.is_none()) {
            return found;
        }
        let visit = InstructionAccess::new(part.pc, ordering, Role::Read, part.count);
        let Some(reach) = visit.strength.reach() else { return found };
        self.with_races(|worker, races, block| {
            let Some(replay) = &mut races.replay else { return };
            for lane in lanes_of(part.mask & spaces.global) {
                let address = part.addresses[lane as usize];
                let Some((Some(region), offset)) = worker.placed(address, part.bytes(), false)
                else {
                    continue;
                };
                let warp = worker.warp.index;
                let thread = Thread::new(block.order.block, warp * 32 + lane);
                let time = block.order.now(warp);
                let elements = (0..part.count).map(|index| offset + index * part.element as usize);
                let places: Vec<(usize, usize)> = elements.map(|at| (region, at)).collect();
                let record = Record { thread, time, ..Record::default() };
                let read = replay.read(&block.order, &places, part.element, record);
                let Some(chosen) = read else { continue };
                for (index, place) in places.iter().enumerate() {
                    let Some(version) = replay.version(*place, chosen) else { continue };
                    // The read acquires the clocks that this write published, and none of later writes.
                    block.order.observe(thread, &version.published, reach, visit.order);
                    found.push(Stale { index, lane: lane as usize, value: version.value });
                }
            }
        });
        if !found.is_empty() {
            // A loop that polls will read another value later.
            self.launch.changes += 1;
        }
        found
    }

    /// Records the value that a store of an element replaces, in a replay.
    pub(super) fn replay_store(
        &self,
        (replay, order): (&mut Replay, &HappensBefore),
        visit: InstructionAccess,
        element: &Element,
        published: Option<&Location>,
    ) {
        let Some(region) = element.region else { return };
        let flag = visit.strength == Strength::Weak && order.has_fresh_fence(element.thread);
        let place = (region, element.offset);
        if visit.strength.reach().is_none() && !flag || element.bytes > LARGEST {
            replay.forget(place, element.bytes, Overlap::All);
            return;
        }
        let content = &self.launch.memory.regions[region].content;
        let value = Value {
            bits: content.read(element.offset, element.bytes as usize),
            is_initialised: content.is_any_initialised(element.offset, element.bytes as usize),
        };
        let time = order.now(element.thread.warp());
        let record = Record { thread: element.thread, time, ..Record::default() };
        replay.wrote(place, element.bytes, record, (value, published.cloned().unwrap_or_default()));
    }

    /// Records the value that a read-modify-write replaced or read, in a replay.
    pub(super) fn replay_atomic(
        &mut self,
        (warp, lane): (u32, u32),
        (region, offset): (usize, usize),
        bytes: u32,
        wrote: Option<u64>,
    ) {
        self.with_races(|_, races, block| {
            let Some(replay) = &mut races.replay else { return };
            let thread = Thread::new(block.order.block, warp * 32 + lane);
            let time = block.order.now(warp);
            let record = Record { thread, time, ..Record::default() };
            match wrote {
                None => replay.read_newest((region, offset), record),
                Some(_) if bytes > LARGEST => replay.forget((region, offset), bytes, Overlap::All),
                Some(bits) => {
                    let shadow = races.global.get(region).and_then(Option::as_ref);
                    let published = shadow.and_then(|shadow| shadow.locations.get(&offset));
                    // The value that an atomic reads is initialised, or its use is reported elsewhere.
                    let value = Value { bits, is_initialised: true };
                    let before = (value, published.cloned().unwrap_or_default());
                    replay.wrote((region, offset), bytes, record, before);
                }
            }
        });
    }

    /// A fence of these lanes.
    pub(in super::super) fn race_fence(&mut self, mask: u32, order: FenceOrder, scope: Scope) {
        let Some(block) = &mut self.block.races else { return };
        let (warp, reach) = (self.warp.index, reach(scope));
        let races = self.launch.races.as_mut();
        match races.and_then(|races| races.replay.as_mut()) {
            None => block.order.fence(warp, mask, order, reach),
            Some(replay) => {
                replay.before_fence(&mut block.order, warp, mask, reach);
                block.order.fence(warp, mask, order, reach);
                replay.after_fence(&block.order, warp, mask, reach);
            }
        }
    }
}

/// Replaces the newest values by those that a replay selected.
pub(in super::super) fn replace(moved: &mut Moved, stale: &[Stale]) {
    for Stale { index, lane, value } in stale {
        moved.values[*index][*lane] = value.bits;
        if !value.is_initialised {
            moved.lacks_all(*index, *lane);
        }
    }
}

/// The lanes that read a value other than the newest one.
pub(in super::super) fn stale_lanes(stale: &[Stale]) -> u32 {
    stale.iter().fold(0, |all, stale| all | 1 << stale.lane)
}
