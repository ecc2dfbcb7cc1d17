//! Happens-before as a graph over all events of a trace, by the definitions of rules 7 to 16, without clocks.

use super::super::clock::Thread;
use super::super::happens_before::{Reach, Waits};
use super::super::{acquires, releases};
use super::{Event, Place, Step};
use crate::isa::barrier::FenceOrder;

/// Events that are before an event: a bit each.
type Past = u128;

struct Graph<'e> {
    events: &'e [Event],
    /// Everything that happens before each event, and the part from program order and barriers alone.
    past: Vec<Past>,
    by_barriers: Vec<Past>,
}

/// For each event, whether it is an access that races with an earlier one.
pub(super) fn racing(events: &[Event]) -> Vec<bool> {
    let none = vec![0; events.len()];
    let mut graph = Graph { events, past: none.clone(), by_barriers: none };
    for index in 0..events.len() {
        graph.connect(index);
    }
    (0..events.len()).map(|index| (0..index).any(|other| graph.race(other, index))).collect()
}

impl Graph<'_> {
    fn step(&self, index: usize) -> Option<&Step> {
        match &self.events[index] {
            Event::Access(step) => Some(step),
            Event::Fence(..) | Event::WarpBarrier(..) | Event::Barrier(..) => None,
        }
    }

    /// Whether a thread takes part in an event, and continues after it.
    fn takes_part(&self, index: usize, thread: Thread) -> (bool, bool) {
        match &self.events[index] {
            Event::Access(step) => (step.thread == thread, step.thread == thread),
            Event::Fence(by, ..) => (*by == thread, *by == thread),
            Event::WarpBarrier(by, mask) => {
                let comes = by.same_warp(thread) && mask >> thread.lane() & 1 == 1;
                (comes, comes)
            }
            Event::Barrier(block, parts) => {
                let part = parts.iter().find(|(warp, mask, _)| {
                    *block == thread.block()
                        && *warp == thread.warp()
                        && mask >> thread.lane() & 1 == 1
                });
                (part.is_some(), part.is_some_and(|part| part.2 == Waits::Yes))
            }
        }
    }

    fn connect(&mut self, index: usize) {
        let threads: Vec<Thread> = (0..8).map(super::thread).collect();
        for thread in threads {
            if !self.takes_part(index, thread).0 {
                continue;
            }
            for before in 0..index {
                let (comes, goes_on) = self.takes_part(before, thread);
                if goes_on {
                    self.past[index] |= self.past[before] | 1 << before;
                    self.by_barriers[index] |= self.by_barriers[before] | 1 << before;
                } else if comes {
                    // It only arrived: its earlier events are before, the barrier is not.
                    continue;
                }
            }
        }
        for first in self.synchronised(index) {
            self.past[index] |= self.past[first] | 1 << first;
        }
    }

    /// Beginnings of release patterns that an acquire pattern which ends here observes.
    fn synchronised(&self, index: usize) -> Vec<usize> {
        let mut all = Vec::new();
        match &self.events[index] {
            Event::Access(step) if step.strength.reach().is_some() && acquires(step.order) => {
                let reach = step.strength.reach().unwrap();
                self.releases_seen(index, reach, false, &mut all);
            }
            Event::Fence(thread, order, reach) if *order != FenceOrder::Release => {
                for read in 0..index {
                    let Some(step) = self.step(read) else { continue };
                    let Some(of_read) = step.strength.reach() else { continue };
                    if step.thread == *thread {
                        let sequential = *order == FenceOrder::SequentiallyConsistent;
                        self.releases_seen(read, of_read.min(*reach), sequential, &mut all);
                    }
                }
            }
            Event::Access(_) | Event::Fence(..) | Event::WarpBarrier(..) | Event::Barrier(..) => {}
        }
        all
    }

    fn releases_seen(&self, read: usize, reach: Reach, sequential: bool, all: &mut Vec<usize>) {
        let reader = *self.step(read).unwrap();
        for (write, _) in self.observed(read) {
            let writer = *self.step(write).unwrap();
            let same_block = writer.thread.block() == reader.thread.block();
            let of_write = writer.strength.reach().unwrap();
            let mut add = |first: usize, of_first: Reach| {
                if same_block || reach.min(of_write).min(of_first) == Reach::Device {
                    all.push(first);
                }
            };
            for first in 0..=write {
                match &self.events[first] {
                    Event::Access(step) => {
                        let same = step.thread == writer.thread
                            && (step.shared, step.offset) == (writer.shared, writer.offset);
                        if same && releases(step.order) && step.strength.reach().is_some() {
                            add(first, step.strength.reach().unwrap());
                        }
                    }
                    Event::Fence(thread, order, of_fence) => {
                        let own = *thread == writer.thread && *order != FenceOrder::Acquire;
                        let shared = sequential
                            && *order == FenceOrder::SequentiallyConsistent
                            && self.by_barriers[write] >> first & 1 == 1;
                        if own || shared {
                            add(first, *of_fence);
                        }
                    }
                    Event::WarpBarrier(..) | Event::Barrier(..) => {}
                }
            }
        }
    }

    /// The strong writes that a strong read observes, and whether all between are strong together.
    fn observed(&self, read: usize) -> Vec<(usize, bool)> {
        let reader = *self.step(read).unwrap();
        let mut chain = Vec::new();
        let (mut last, mut together) = (reader, true);
        for index in (0..read).rev() {
            let Some(step) = self.step(index) else { continue };
            if !step.role.writes() || !overlap(step, &reader) {
                continue;
            }
            if step.strength.reach().is_none() {
                break;
            }
            together &= strong_together(step, &last);
            chain.push((index, together));
            last = *step;
            if step.role == super::Role::Write {
                break;
            }
        }
        chain
    }

    fn race(&self, other: usize, index: usize) -> bool {
        let (Some(a), Some(b)) = (self.step(other), self.step(index)) else { return false };
        a.thread != b.thread
            && overlap(a, b)
            && (a.role.writes() || b.role.writes())
            && self.past[index] >> other & 1 == 0
            && !strong_together(a, b)
            && !self.was_observed(other, index)
    }

    fn same_place(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.step(a).unwrap(), self.step(b).unwrap());
        (a.offset, a.bytes) == (b.offset, b.bytes) && overlap(a, b)
    }

    /// Whether a strong access, or a strong write to the same place behind it, was observed (rule 16).
    fn was_observed(&self, write: usize, index: usize) -> bool {
        self.step(write).unwrap().strength.reach().is_some()
            && (write..index).any(|read| {
                let Some(step) = self.step(read) else { return false };
                step.strength.reach().is_some()
                    && step.role != super::Role::Write
                    && self.past[index] >> read & 1 == 1
                    && self.observed(read).iter().any(|(seen, together)| {
                        let behind = *seen == write || self.past[*seen] >> write & 1 == 1;
                        *together && behind && self.same_place(write, *seen)
                    })
            })
    }
}

fn overlap(a: &Step, b: &Step) -> bool {
    let same_memory =
        a.shared == b.shared && (a.shared == Place::Global || a.thread.block() == b.thread.block());
    same_memory && a.offset < b.offset + b.bytes as usize && b.offset < a.offset + a.bytes as usize
}

fn strong_together(a: &Step, b: &Step) -> bool {
    let (Some(x), Some(y)) = (a.strength.reach(), b.strength.reach()) else { return false };
    (a.offset, a.bytes) == (b.offset, b.bytes)
        && (a.thread.block() == b.thread.block() || x.min(y) == Reach::Device)
}
