//! Asynchronous accesses of shared memory: reads observe a generic write only behind a proxy fence (rules 29 and 44), and
//! last until a wait completes them (rule 30); writes follow a generic access only behind a proxy fence (rule 39).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::super::super::isa::barrier::Proxy;
use super::super::super::isa::matrix::Matrix;
use super::super::super::isa::memory::Ordering;
use super::super::super::lower::code::Code;
use super::super::access::Part;
use super::super::fault::FaultKind;
use super::super::memory::RegionPlace;
use super::super::run::Worker;
use super::BlockRaces;
use super::clock::{Clock, Thread};
use super::element::{Element, InstructionAccess, Role};
use super::happens_before::{HappensBefore, lanes_of};
use super::hooks::shadow_of;
use super::page::PAGE;
use super::report::{CheckedAccess, ReadDefect};
use super::shadow::{self, EARLIER, Entry, PackedAccess, Record, Strength, WORD};
use super::word_runs::words_of;

/// The rule of `docs/races.md` by which the idiom mode accepts an asynchronous write after a generic access.
const OVERWRITE_RULE: u8 = 39;

/// The rule by which it accepts an asynchronous read of what a `cp.async` of a Triton kernel wrote.
const TRITON_COPY_RULE: u8 = 44;

/// The fences of a thread that are recorded one by one.
const MOST_OF_A_THREAD: usize = 8;

/// The proxy fences of the threads of a block, for shared memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ProxyFences {
    /// By the number of the thread; oldest first.
    of_thread: Vec<Vec<ProxyFence>>,
}

#[derive(Clone, Debug)]
struct ProxyFence {
    time: u32,
    /// Everything that happens before the fence.
    before: Arc<Clock>,
}

impl ProxyFences {
    fn add(&mut self, thread: Thread, fence: ProxyFence) {
        let number = thread.number() as usize;
        if self.of_thread.len() <= number {
            self.of_thread.resize_with(number + 1, Vec::new);
        }
        remember(&mut self.of_thread[number], fence);
    }

    /// Whether a fence lies between a write and the present access of a thread.
    fn separate(&self, order: &HappensBefore, write: &Record, me: Thread) -> bool {
        // The fences of other blocks are not recorded here.
        if write.thread.block() != order.block {
            return true;
        }
        let between = |number: usize, fence: &ProxyFence| {
            let by = Thread::new(order.block, number as u32);
            let record = Record { thread: by, time: fence.time, ..*write };
            fence.before.knows(write.thread, write.time) && order.before(&record, by, me)
        };
        // Usually the reader or the writer executes it.
        let own = [me.number() as usize, write.thread.number() as usize];
        let likely =
            own.into_iter().filter_map(|number| Some((number, self.of_thread.get(number)?)));
        likely
            .chain(self.of_thread.iter().enumerate())
            .any(|(number, fences)| fences.iter().rev().any(|fence| between(number, fence)))
    }
}

fn remember(fences: &mut Vec<ProxyFence>, fence: ProxyFence) {
    fences.push(fence);
    if fences.len() > MOST_OF_A_THREAD {
        // The oldest two become one with the order of both: it can hide a missing fence and never reports one.
        let time = fences.remove(0).time;
        fences[0].time = time;
    }
}

/// The fences between generic accesses and the reads of tensor maps.
#[derive(Debug, Default)]
pub(super) struct MapFences {
    releases: BTreeMap<Thread, Vec<ProxyFence>>,
    /// By the address of the map.
    acquires: BTreeMap<(u64, Thread), Vec<ProxyFence>>,
}

impl MapFences {
    /// Whether a write of a map is released, and the map acquired after that, before the present access of a thread.
    fn order(&self, address: u64, order: &HappensBefore, write: &Record, me: Thread) -> bool {
        let released_before = |acquire: &ProxyFence| {
            // Usually the writer releases the map, and the reader acquires it.
            let own = self.releases.get_key_value(&write.thread);
            own.into_iter().chain(&self.releases).any(|(thread, fences)| {
                fences.iter().any(|release| {
                    release.before.knows(write.thread, write.time)
                        && acquire.before.knows(*thread, release.time)
                })
            })
        };
        let of_map = (address, Thread::default())..(address + 1, Thread::default());
        let own = self.acquires.get_key_value(&(address, me));
        own.into_iter().chain(self.acquires.range(of_map)).any(|((_, by), fences)| {
            fences.iter().any(|acquire| {
                let record = Record { thread: *by, time: acquire.time, ..*write };
                order.before(&record, *by, me) && released_before(acquire)
            })
        })
    }
}

/// The last accesses of a word, each with whether it writes.
type RecordedAccesses = [(Record, bool); 3];

fn recorded_accesses(cell: &shadow::Cell) -> RecordedAccesses {
    let earlier = if cell.flags & EARLIER == 0 { Record::default() } else { cell.earlier };
    [(cell.read, false), (earlier, false), (cell.write, true)]
}

/// Everything that happens before the issue of an asynchronous operation.
#[derive(Clone, Debug)]
pub(in super::super) struct IssueClock(Arc<Clock>);

const fn asynchronous(wrote: &'static str) -> ReadDefect {
    ReadDefect { read: "an asynchronous read", wrote }
}

const WITHOUT_FENCE: ReadDefect = asynchronous(
    "without a proxy fence: execute `fence.proxy.async` after the write, before or after the barrier that orders the \
     two",
);
const CHANGED_MAP: ReadDefect = asynchronous(
    "in this launch: a tensor map is read through a proxy of its own, and no `fence.proxy.tensormap` acquired the \
     change",
);
const OVERWRITES: &str = "without a proxy fence: execute `fence.proxy.async` after the access, before or after the \
                          barrier that orders the two";
const TEXEL: ReadDefect = ReadDefect {
    read: "a texture fetch or surface load",
    wrote: "in this launch: both may return an older value, also to the thread that wrote",
};
const OVERWRITTEN: ReadDefect =
    asynchronous("before a wait completed the operation: wait for it first");

/// Bytes of global memory that a load reads.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Source {
    /// The address of the first byte.
    pub(in super::super) start: u64,
    pub(in super::super) bytes: u32,
}

impl Worker<'_, '_> {
    /// These lanes execute a proxy fence.
    pub(in super::super) fn race_proxy_fence(&mut self, mask: u32, proxy: Proxy) {
        match proxy {
            Proxy::Asynchronous | Proxy::AsynchronousShared => {}
            Proxy::Alias | Proxy::AsynchronousGlobal => return,
        }
        let warp = self.warp.index;
        let Some(BlockRaces { order, proxy_fences, .. }) = self.block.races.as_deref_mut() else {
            return;
        };
        for lane in lanes_of(mask) {
            let me = Thread::new(order.block, warp * 32 + lane);
            let fence = ProxyFence { time: order.now(warp), before: order.snapshot(me) };
            proxy_fences.add(me, fence);
        }
        order.advance(warp);
    }

    /// Checks reads of these bytes of shared memory by an asynchronous operation that a lane of this warp issues.
    pub(in super::super) fn race_asynchronous_read(
        &mut self,
        lane: u32,
        pc: u32,
        ranges: &[Range<usize>],
    ) {
        let read = InstructionAccess::new(pc, Ordering::Weak, Role::Read, 1);
        self.race_words((self.warp.index, lane), read, ranges);
        let is_lenient = self.launch.races.as_ref().is_some_and(|races| races.lenient);
        let accepts_copies = is_lenient && self.launch.shared.is_of_triton;
        let ops = &self.launch.program.ops;
        let is_copy = |write: &Record| {
            let op = ops.get(write.access.pc() as usize);
            op.is_some_and(|op| matches!(op.code, Code::CopyAsync(_)))
        };
        let accepted = Cell::new(false);
        self.check_last_writes((lane, pc), ranges, |write, block, me| {
            let BlockRaces { order, proxy_fences, .. } = block;
            let is_generic = write.access.strength() != Strength::Bulk;
            let is_ordered = order.before(write, write.thread, me);
            if !is_generic || !is_ordered || proxy_fences.separate(order, write, me) {
                return None;
            }
            let accepts = accepts_copies && is_copy(write);
            accepted.set(accepted.get() | accepts);
            (!accepts).then_some(WITHOUT_FENCE)
        });
        if accepted.get() {
            self.launch.accept(TRITON_COPY_RULE, pc);
        }
    }

    /// Checks an asynchronous write that a thread issues, against the earlier generic accesses to the bytes (rule 39).
    pub(in super::super) fn race_asynchronous_write(
        &mut self,
        (warp, lane): (u32, u32),
        pc: u32,
        (offset, bytes): (usize, usize),
    ) {
        self.with_races(|worker, races, block| {
            let me = Thread::new(block.order.block, warp * 32 + lane);
            // Most words have the same accesses.
            let mut last = None;
            for word in offset / 4..(offset + bytes).div_ceil(4) {
                let cell = block.shared.page(word).cell(word % PAGE);
                let accesses = recorded_accesses(&cell);
                if last.replace(accesses) == Some(accesses) {
                    continue;
                }
                if races.accepted.contains(&(OVERWRITE_RULE, pc))
                    || worker.launch.seen.contains_key(&(FaultKind::DataRace, pc))
                {
                    return;
                }
                let Some(other) = worker.access_before_overwrite(block, accesses, me) else {
                    continue;
                };
                if races.lenient {
                    races.accepted.insert((OVERWRITE_RULE, pc));
                    return;
                }
                let access = PackedAccess::new(pc, WORD, Strength::Bulk, 0);
                let record = Record { thread: me, time: block.order.now(warp), access };
                let entry = Entry { record, lanes: 1 << lane, writes: true, sees: false };
                let address = worker.launch.shared.address(word * 4);
                let element =
                    Element { thread: me, address, bytes: 4, region: None, offset: word * 4 };
                let judged = CheckedAccess { pc, element, entry };
                worker.report_asynchronous_write(&judged, &other, OVERWRITES);
            }
        });
    }

    /// A generic access that happens before an asynchronous write of a thread, without a proxy fence between.
    fn access_before_overwrite(
        &self,
        block: &BlockRaces,
        accesses: RecordedAccesses,
        me: Thread,
    ) -> Option<Entry> {
        let BlockRaces { order, proxy_fences, .. } = block;
        accesses.into_iter().find_map(|(record, writes)| {
            let is_defect = record.time != 0
                && self.is_generic(&record)
                && order.before(&record, record.thread, me)
                && !proxy_fences.separate(order, &record, me);
            let lanes = 1 << record.thread.lane();
            is_defect.then_some(Entry { record, lanes, writes, sees: false })
        })
    }

    /// Whether an access is one of the generic proxy: not by a bulk copy or a product of a warpgroup.
    fn is_generic(&self, record: &Record) -> bool {
        let op = self.launch.program.ops.get(record.access.pc() as usize);
        let is_product = |code: Code| {
            matches!(code, Code::Matrix { matrix: Matrix::Warpgroup(_), .. } | Code::CopyBulk(_))
        };
        record.access.strength() != Strength::Bulk && !op.is_some_and(|op| is_product(op.code))
    }

    /// A clock of everything before an asynchronous operation that this warp issues.
    pub(in super::super) fn race_issue(&mut self) -> Option<IssueClock> {
        let block = self.block.races.as_deref_mut()?;
        Some(IssueClock(block.order.snapshot_of_warp(self.warp.index)))
    }

    /// What happens before an asynchronous operation happens before the present accesses of this warp: the operation is
    /// complete.
    pub(in super::super) fn race_learn(&mut self, issue: &IssueClock) {
        if let Some(block) = self.block.races.as_deref_mut() {
            block.order.learn_together(self.warp.index, u32::MAX, &Some(Arc::clone(&issue.0)));
        }
    }

    /// Checks that no write followed the issue of an asynchronous read of shared memory, which is complete now.
    pub(in super::super) fn race_completion(
        &mut self,
        lane: u32,
        pc: u32,
        ranges: &[Range<usize>],
        issue: &IssueClock,
    ) {
        let read = InstructionAccess::new(pc, Ordering::Weak, Role::Read, 1);
        self.race_words((self.warp.index, lane), read, ranges);
        let wrote_later = |write: &Record, _: &BlockRaces, _: Thread| {
            (!issue.0.knows(write.thread, write.time)).then_some(OVERWRITTEN)
        };
        self.check_last_writes((lane, pc), ranges, wrote_later);
    }

    /// Reports loads of texels that the launch wrote, by whichever thread (rule 46).
    pub(in super::super) fn race_texels(&mut self, part: &Part<'_>) {
        for lane in part.lanes() {
            let (start, bytes) = (part.addresses[lane], part.bytes() as usize);
            let Some(place) = self.launch.memory.place(start, bytes as u64) else { continue };
            if !self.is_shared_by_writers(place.region) {
                continue;
            }
            self.with_races(|worker, races, block| {
                let me = Thread::new(block.order.block, worker.warp.index * 32 + lane as u32);
                let region = Some(place.region);
                for word in place.offset / 4..(place.offset + bytes).div_ceil(4) {
                    let shadow = shadow_of(&mut races.global, &mut block.shared, region);
                    let write = shadow.page(word).cell(word % PAGE).write;
                    if write.time != 0 {
                        let offset = word * 4;
                        let address = start - place.offset as u64 + offset as u64;
                        let element = Element { thread: me, address, bytes: 4, region, offset };
                        worker.report_written(block, part.pc, &element, write, TEXEL);
                        return;
                    }
                }
            });
        }
    }

    /// Reports the words whose last write has a defect, which the function describes.
    fn check_last_writes(
        &mut self,
        (lane, pc): (u32, u32),
        ranges: &[Range<usize>],
        defect: impl Fn(&Record, &BlockRaces, Thread) -> Option<ReadDefect>,
    ) {
        self.with_races(|worker, _, block| {
            let me = Thread::new(block.order.block, worker.warp.index * 32 + lane);
            // Most words have the same last write.
            let mut last = Record::default();
            for word in words_of(ranges) {
                let write = block.shared.page(word).cell(word % PAGE).write;
                if write.time == 0 || std::mem::replace(&mut last, write) == write {
                    continue;
                }
                let Some(defect) = defect(&write, block, me) else { continue };
                let offset = word * 4;
                let address = worker.launch.shared.address(offset);
                let element = Element { thread: me, address, bytes: 4, region: None, offset };
                worker.report_written(block, pc, &element, write, defect);
            }
        });
    }

    /// A clock for the check of sources in global memory that a load reads until it completes; none if the kernel cannot
    /// write there.
    pub(in super::super) fn race_source_issue(&mut self, sources: &[Source]) -> Option<IssueClock> {
        let is_writable = sources.iter().any(|source| {
            let place = self.launch.memory.place(source.start, u64::from(source.bytes));
            place.is_some_and(|place| self.is_shared_by_writers(place.region))
        });
        if is_writable { self.race_issue() } else { None }
    }

    /// Checks that no write followed the issue of a load that reads these bytes of global memory, and is complete now.
    pub(in super::super) fn race_source(
        &mut self,
        (warp, lane): (u32, u32),
        pc: u32,
        source: Source,
        issue: &IssueClock,
    ) {
        let Some(place) = self.launch.memory.place(source.start, u64::from(source.bytes)) else {
            return;
        };
        if !self.is_shared_by_writers(place.region) {
            return;
        }
        self.with_races(|worker, races, block| {
            let me = Thread::new(block.order.block, warp * 32 + lane);
            let region = Some(place.region);
            for word in place.offset / 4..(place.offset + source.bytes as usize).div_ceil(4) {
                let shadow = shadow_of(&mut races.global, &mut block.shared, region);
                let write = shadow.page(word).cell(word % PAGE).write;
                if write.time != 0 && !issue.0.knows(write.thread, write.time) {
                    let offset = word * 4;
                    let address = source.start + (offset - place.offset) as u64;
                    let element = Element { thread: me, address, bytes: 4, region, offset };
                    worker.report_written(block, pc, &element, write, OVERWRITTEN);
                    return;
                }
            }
        });
    }

    /// These lanes release their generic writes of tensor maps.
    pub(in super::super) fn race_map_release(&mut self, mask: u32) {
        self.with_races(|worker, races, block| {
            for lane in lanes_of(mask) {
                let me = Thread::new(block.order.block, worker.warp.index * 32 + lane);
                let fence = worker.map_fence(block, me);
                remember(races.map_fences.releases.entry(me).or_default(), fence);
            }
            block.order.advance(worker.warp.index);
        });
    }

    /// A lane acquires the tensor map at an address.
    pub(in super::super) fn race_map_acquire(&mut self, lane: u32, address: u64) {
        self.with_races(|worker, races, block| {
            let me = Thread::new(block.order.block, worker.warp.index * 32 + lane);
            let fence = worker.map_fence(block, me);
            remember(races.map_fences.acquires.entry((address, me)).or_default(), fence);
            block.order.advance(worker.warp.index);
        });
    }

    fn map_fence(&self, block: &BlockRaces, me: Thread) -> ProxyFence {
        ProxyFence { time: block.order.now(self.warp.index), before: block.order.snapshot(me) }
    }

    /// Checks the read of a tensor map in global memory: fences must order it with a write of this launch (rule 42).
    pub(in super::super) fn race_map_read(
        &mut self,
        pc: u32,
        lane: usize,
        (address, place): (u64, RegionPlace),
        bytes: usize,
    ) {
        if !self.is_shared_by_writers(place.region) {
            return;
        }
        self.with_races(|worker, races, block| {
            let me = Thread::new(block.order.block, worker.warp.index * 32 + lane as u32);
            let region = Some(place.region);
            // Most words have the same last write.
            let mut last = Record::default();
            for word in place.offset / 4..(place.offset + bytes) / 4 {
                let shadow = shadow_of(&mut races.global, &mut block.shared, region);
                let write = shadow.page(word).cell(word % PAGE).write;
                if write.time == 0 || std::mem::replace(&mut last, write) == write {
                    continue;
                }
                if !races.map_fences.order(address, &block.order, &write, me) {
                    let offset = word * 4;
                    let element = Element { thread: me, address, bytes: 4, region, offset };
                    worker.report_written(block, pc, &element, write, CHANGED_MAP);
                    return;
                }
            }
        });
    }

    /// Reports an asynchronous read of a word, with its last write, once for an instruction.
    fn report_written(
        &mut self,
        block: &BlockRaces,
        pc: u32,
        element: &Element,
        write: Record,
        defect: ReadDefect,
    ) {
        if self.launch.seen.contains_key(&(FaultKind::DataRace, pc)) {
            return;
        }
        let me = element.thread;
        let access = PackedAccess::new(pc, WORD, Strength::Weak, 0);
        let record = Record { thread: me, time: block.order.now(me.warp()), access };
        let entry = Entry { record, lanes: 1 << me.lane(), writes: false, sees: true };
        let judged = CheckedAccess { pc, element: *element, entry };
        let lanes = 1 << write.thread.lane();
        let other = Entry { record: write, lanes, writes: true, sees: false };
        self.report_stale_read(&judged, &other, defect);
    }
}
