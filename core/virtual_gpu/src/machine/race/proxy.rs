//! Asynchronous reads of shared memory: they observe a generic write only behind a proxy fence (rule 29), and last
//! until a wait completes them (rule 30).

use std::sync::Arc;

use super::super::super::isa::barrier::Proxy;
use super::super::super::isa::memory::Ordering;
use super::super::access::{Part, Spaces};
use super::super::fault::FaultKind;
use super::super::run::Worker;
use super::BlockRaces;
use super::clock::{Clock, Thread};
use super::element::Element;
use super::happens_before::{HappensBefore, lanes_of};
use super::page::PAGE;
use super::report::CheckedAccess;
use super::shadow::{Entry, PackedAccess, Record, Strength, WORD};

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
        let fences = &mut self.of_thread[number];
        fences.push(fence);
        if fences.len() > MOST_OF_A_THREAD {
            // The oldest two become one with the order of both: it can hide a missing fence and never reports one.
            let time = fences.remove(0).time;
            fences[0].time = time;
        }
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

/// Everything that happens before the issue of an asynchronous operation.
#[derive(Clone, Debug)]
pub(in super::super) struct IssueClock(Arc<Clock>);

const WITHOUT_FENCE: &str = "without a proxy fence: execute `fence.proxy.async` after the write, before or after the \
                             barrier that orders the two";
const OVERWRITTEN: &str = "before a wait completed the operation: wait for it first";

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

    /// Checks reads of shared memory by an asynchronous operation of these lanes.
    pub(in super::super) fn race_asynchronous_read(&mut self, part: &Part<'_>) {
        let spaces = Spaces { global: 0, shared: part.mask, local: 0 };
        self.race_load(part, Ordering::Weak, &spaces);
        self.check_last_writes(part, |write, block, me| {
            let BlockRaces { order, proxy_fences, .. } = block;
            let is_generic = write.access.strength() != Strength::Bulk;
            let is_ordered = order.before(write, write.thread, me);
            (is_generic && is_ordered && !proxy_fences.separate(order, write, me))
                .then_some(WITHOUT_FENCE)
        });
    }

    /// A clock of everything before an asynchronous operation that this warp issues.
    pub(in super::super) fn race_issue(&mut self) -> Option<IssueClock> {
        let block = self.block.races.as_deref_mut()?;
        Some(IssueClock(block.order.snapshot_of_warp(self.warp.index)))
    }

    /// Checks that no write followed the issue of an asynchronous read of shared memory, which is complete now.
    pub(in super::super) fn race_completion(&mut self, part: &Part<'_>, issue: &IssueClock) {
        let spaces = Spaces { global: 0, shared: part.mask, local: 0 };
        self.race_load(part, Ordering::Weak, &spaces);
        let wrote_later = |write: &Record, _: &BlockRaces, _: Thread| {
            (!issue.0.knows(write.thread, write.time)).then_some(OVERWRITTEN)
        };
        self.check_last_writes(part, wrote_later);
    }

    /// Reports the words whose last write has a defect, which the function describes.
    fn check_last_writes(
        &mut self,
        part: &Part<'_>,
        defect: impl Fn(&Record, &BlockRaces, Thread) -> Option<&'static str>,
    ) {
        self.with_races(|worker, _, block| {
            for lane in part.lanes() {
                let address = part.addresses[lane];
                let Some(offset) = worker.launch.shared.place(address, part.bytes()) else {
                    continue;
                };
                let me = Thread::new(block.order.block, worker.warp.index * 32 + lane as u32);
                for word in offset / 4..(offset + part.bytes() as usize) / 4 {
                    let write = block.shared.page(word).cell(word % PAGE).write;
                    if write.time == 0 {
                        continue;
                    }
                    let Some(text) = defect(&write, block, me) else { continue };
                    if worker.launch.seen.contains_key(&(FaultKind::DataRace, part.pc)) {
                        return;
                    }
                    let access = PackedAccess::new(part.pc, WORD, Strength::Weak, 0);
                    let record = Record { thread: me, time: block.order.now(me.warp()), access };
                    let entry = Entry { record, lanes: 1 << lane, writes: false, sees: true };
                    let offset = word * 4;
                    let element = Element { thread: me, address, bytes: 4, region: None, offset };
                    let judged = CheckedAccess { pc: part.pc, element, entry };
                    let lanes = 1 << write.thread.lane();
                    let other = Entry { record: write, lanes, writes: true, sees: false };
                    worker.report_asynchronous_read(&judged, &other, text);
                }
            }
        });
    }
}
