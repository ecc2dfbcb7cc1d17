//! The check of two conflicting accesses, and the accesses that a word must record.

use super::clock::Thread;
use super::happens_before::{HappensBefore, Reach, lanes_of};
use super::shadow::{Entry, INCOMPLETE, Record, SETTLED, Shadow, Strength, WARPS};

/// The rules that apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// Whether rules 20 to 24 apply.
    pub(super) lenient: bool,
    /// Whether all readers must be recorded, because something may order blocks, or a read may be an attempt;
    /// otherwise readers of two blocks stand for all.
    pub(super) keeps_readers: bool,
    /// Whether lanes of one store instruction may write different values to one word (rule 43).
    pub(super) replicates: bool,
    /// Loads through the read-only cache, in the order of the program (rule 25).
    pub(super) non_coherent: &'a [u32],
}

/// The context of a check: the block, the rules and the memory.
pub(super) struct ConflictCheck<'a> {
    pub(super) order: &'a HappensBefore,
    pub(super) rules: Rules<'a>,
    pub(super) memory: MemoryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryKind {
    Shared,
    Global,
}

/// The result of the check of an access.
#[derive(Clone, Debug, Default)]
pub(super) struct ConflictResult {
    /// The other side of a race: the access, and the thread.
    pub(super) race: Option<(Entry, Thread)>,
    /// A race, unless the read turns out to be an attempt (rule 23).
    pub(super) pending_race: Option<(Entry, Thread)>,
    /// A write of the same launch that happens before a read through the read-only cache (rule 25).
    pub(super) behind_write: Option<(Entry, Thread)>,
    /// Reads through the read-only cache that happen before this write (rule 25).
    pub(super) read_before: Vec<u32>,
    /// The rules by which the idiom mode accepts a second write (20 and 43).
    pub(super) accepted: Vec<u8>,
    /// Both this access and an earlier one are strong.
    pub(super) strong_together: bool,
    /// A strong read of an unordered strong write that no earlier read has observed.
    pub(super) may_be_stale: bool,
    /// Reads that are followed by an atomic of the same thread (rule 23).
    pub(super) attempts: Vec<u32>,
}

impl ConflictResult {
    /// Whether there is anything to report.
    pub(super) const fn has_findings(&self) -> bool {
        self.race.is_some()
            || self.pending_race.is_some()
            || self.behind_write.is_some()
            || !self.accepted.is_empty()
            || !self.attempts.is_empty()
            || !self.read_before.is_empty()
    }
}

/// Whether both are stores of one instruction that lanes of one warp execute together.
pub(super) fn in_one_store(one: &Entry, other: &Entry) -> bool {
    one.record.access.pc() == other.record.access.pc()
        && one.writes
        && other.writes
        && one.record.thread.same_warp(other.record.thread)
        && one.record.time == other.record.time
}

impl ConflictCheck<'_> {
    /// Checks an access of one lane to a word, and records it.
    ///
    /// `is_same` returns whether a write stores the present value.
    pub(super) fn access(
        &self,
        shadow: &mut Shadow,
        word: usize,
        new: Entry,
        mut is_same: impl FnMut() -> bool,
    ) -> ConflictResult {
        let me = new.record.thread;
        let mut verdict = ConflictResult::default();
        let forgetful = shadow.flags(word) & INCOMPLETE;
        let mut entries = shadow.take(word);
        if !self.rules.non_coherent.is_empty() {
            self.check_non_coherent(&entries, &new, &mut verdict);
        }
        for entry in &entries {
            let Some(other) = self.unordered(entry, &new) else { continue };
            if self.strong_together(entry, other, &new) {
                verdict.strong_together = true;
                verdict.may_be_stale |= self.permits_older(&entries, entry, &new);
                continue;
            }
            // An observer may be among the accesses that were dropped.
            let strong = entry.record.access.strength().reach().is_some();
            if self.was_observed(&entries, entry, me) || forgetful != 0 && strong {
                continue;
            }
            let plain = |entry: &Entry| {
                let strength = entry.record.access.strength();
                strength == Strength::Flag || strength.reach().is_none()
            };
            if self.rules.lenient && entry.writes && new.writes && plain(&new) && is_same() {
                verdict.accepted.push(20);
                continue;
            }
            if self.rules.replicates && plain(&new) && in_one_store(entry, &new) {
                verdict.accepted.push(43);
                continue;
            }
            let atomic = |entry: &Entry| entry.record.access.strength().is_atomic();
            let attempt = |read: &Entry, write: &Entry| {
                plain(read) && !read.writes && atomic(write) && same_bytes(read, write)
            };
            if self.rules.lenient && (attempt(entry, &new) || attempt(&new, entry)) {
                // The thread's own read may be among the accesses that were dropped, so that an attempt cannot be
                // recognised.
                if forgetful == 0 {
                    verdict.pending_race.get_or_insert((*entry, other));
                }
            } else {
                verdict.race.get_or_insert((*entry, other));
            }
        }
        if self.rules.lenient && new.record.access.strength().is_atomic() {
            follow_attempts(&mut entries, &new, &mut verdict.attempts);
        }
        let settled = !self.rules.keeps_readers && !new.writes && self.readers_settle(&entries);
        let observed: Vec<bool> =
            entries.iter().map(|entry| self.was_observed(&entries, entry, me)).collect();
        // A read that is not recorded replaces no other read.
        let needs = |entry: &Entry| settled || is_first_witness(&entries, entry);
        let needed: Vec<bool> = entries.iter().map(|entry| !new.writes && needs(entry)).collect();
        let mut index = 0;
        entries.retain_mut(|entry| {
            index += 1;
            if needed[index - 1] || !self.covers(&new, entry) {
                return true;
            }
            if observed[index - 1] || self.follows(&new, entry) {
                return false;
            }
            // Of a read by several lanes, a write replaces those that happen before it.
            if new.writes && !entry.writes {
                let read = entry.record;
                entry.retain_lanes(|thread| !self.order.before(&read, thread, me));
            }
            entry.lanes != 0
        });
        if new.writes {
            entries.iter_mut().for_each(|entry| entry.sees = false);
        }
        if !settled {
            remember(&mut entries, new);
        }
        let settled = if settled { SETTLED } else { 0 };
        let warps = if new.writes || !self.two_warps_read(&entries, me) { 0 } else { WARPS };
        shadow.put(word, entries, forgetful | settled | warps);
        verdict
    }

    /// Whether a strong read may return the value before an unordered strong write: the write is the last one, and
    /// neither the thread nor anything before the read has observed it.
    fn permits_older(&self, entries: &[Entry], write: &Entry, read: &Entry) -> bool {
        let last = entries.iter().rfind(|entry| entry.writes);
        self.memory == MemoryKind::Global
            && read.sees
            && !read.record.access.strength().is_atomic()
            && last.is_some_and(|last| last.record == write.record)
            && !self.was_observed(entries, write, read.record.thread)
    }

    /// Rule 25.
    fn check_non_coherent(&self, entries: &[Entry], new: &Entry, verdict: &mut ConflictResult) {
        let through_cache = |read: &Entry| {
            !read.writes && self.rules.non_coherent.binary_search(&read.record.access.pc()).is_ok()
        };
        let overlaps = |entry: &Entry| entry.record.access.bytes() & new.record.access.bytes() != 0;
        let mut others = entries.iter().filter(|entry| overlaps(entry));
        if through_cache(new) {
            let write = others.rfind(|entry| entry.writes);
            verdict.behind_write = write.map(|write| (*write, write.record.thread));
        } else if new.writes {
            let before = others.filter(|read| through_cache(read));
            verdict.read_before.extend(before.map(|read| read.record.access.pc()));
        }
    }

    /// A thread whose conflicting access does not happen before this one (rules 1, 2).
    fn unordered(&self, entry: &Entry, new: &Entry) -> Option<Thread> {
        let (old, now) = (&entry.record, &new.record);
        if !(entry.writes || new.writes) || old.access.bytes() & now.access.bytes() == 0 {
            return None;
        }
        let collective = |record: &Record| record.access.strength() == Strength::Collective;
        if collective(old) && collective(now) && old.thread.same_warp(now.thread) {
            return None;
        }
        self.not_before(entry, now.thread)
    }

    fn not_before(&self, entry: &Entry, me: Thread) -> Option<Thread> {
        let old = &entry.record;
        if !self.order.before(old, old.thread, me) {
            return Some(old.thread);
        }
        if entry.lanes == 1 << old.thread.lane() {
            return None;
        }
        let lanes = lanes_of(entry.lanes).map(|lane| old.thread.with_lane(lane));
        lanes.into_iter().find(|thread| !self.order.before(old, *thread, me))
    }

    /// Rules 3 and 5.
    fn strong_together(&self, entry: &Entry, other: Thread, new: &Entry) -> bool {
        let me = new.record.thread;
        let (a, b) = (entry.record.access.strength(), new.record.access.strength());
        // A store that is not an atomic may be lost between the read and the write of an atomic.
        let lost = a == Strength::Flag && b.is_atomic() || a.is_atomic() && b == Strength::Flag;
        // Two plain stores stay plain for each other: rule 22 applies to readers of the flag.
        let stores = a == Strength::Flag && b == Strength::Flag;
        let (Some(a_reach), Some(b_reach)) = (a.reach(), b.reach()) else { return false };
        let reaches = self.order.is_within(a_reach.min(b_reach), other.block(), me.block());
        let by_lockstep = self.memory == MemoryKind::Shared
            && a == Strength::Volatile
            && b == Strength::Volatile
            && other.same_warp(me);
        reaches && !by_lockstep && !lost && !stores && same_bytes(entry, new)
    }

    /// Rule 16.
    fn was_observed(&self, entries: &[Entry], write: &Entry, me: Thread) -> bool {
        let last = entries.iter().rfind(|entry| entry.writes);
        let is_last = last.is_some_and(|last| last.record == write.record);
        is_last
            && write.record.access.strength().reach().is_some()
            && entries.iter().any(|read| {
                let seen = read.sees && !read.writes && same_bytes(read, write);
                seen && read.record.access.strength().reach().is_some()
                    && lanes_of(read.lanes).any(|lane| {
                        let thread = read.record.thread.with_lane(lane);
                        self.strong_together(write, write.record.thread, read)
                            && self.order.before(&read.record, thread, me)
                    })
            })
    }

    /// Whether every access that races with the old access, and happens after neither, races with the new one.
    fn covers(&self, new: &Entry, old: &Entry) -> bool {
        let (o, n) = (old.record.access, new.record.access);
        (new.writes || !old.writes)
            && o.bytes() & !n.bytes() == 0
            && n.strength().rank(self.memory) <= o.strength().rank(self.memory)
            && self.same_relations(old, new)
            && (n.is_weak() || o.wide() == n.wide() && o.bytes() == n.bytes())
    }

    /// Whether every access after the new access is after the old one.
    fn follows(&self, new: &Entry, old: &Entry) -> bool {
        let chain = old.writes && new.record.access.strength().is_atomic();
        chain && self.strong_together(old, old.record.thread, new)
            || self.not_before(old, new.record.thread).is_none()
    }

    /// Whether every access that is morally strong with the new access is so with the old one.
    fn same_relations(&self, old: &Entry, new: &Entry) -> bool {
        let (old, new) = (&old.record, &new.record);
        match (new.access.strength(), self.memory) {
            (Strength::Weak | Strength::Copy | Strength::Bulk, _) => true,
            (Strength::Collective, _) => {
                old.access.strength() == Strength::Collective && old.thread.same_warp(new.thread)
            }
            (Strength::Volatile, MemoryKind::Shared) => old.thread.same_warp(new.thread),
            (strength, _) if strength.reach().is_some_and(|reach| reach < Reach::Device) => {
                let reach = strength.reach().unwrap_or(Reach::Device);
                self.order.is_within(reach, old.thread.block(), new.thread.block())
            }
            (
                Strength::Volatile | Strength::Relaxed(_) | Strength::Atomic(_) | Strength::Flag,
                _,
            ) => true,
        }
    }

    /// If nothing orders blocks, readers of two blocks race with every writer.
    fn readers_settle(&self, entries: &[Entry]) -> bool {
        let mut weak = entries.iter().filter(|entry| {
            !entry.writes
                && entry.record.access.is_weak()
                && entry.record.access.bytes() == super::shadow::WORD
        });
        let Some(first) = weak.next() else { return false };
        weak.any(|entry| entry.record.thread.block() != first.record.thread.block())
    }

    /// Whether two warps of this block have read the whole word since its last barrier.
    fn two_warps_read(&self, entries: &[Entry], me: Thread) -> bool {
        let mut reads = entries.iter().filter(|entry| {
            !entry.writes
                && entry.record.access.is_weak()
                && entry.record.access.bytes() == super::shadow::WORD
                && entry.record.thread.block() == me.block()
                && entry.record.time > self.order.barrier
        });
        let Some(first) = reads.next() else { return false };
        reads.any(|entry| !entry.record.thread.same_warp(first.record.thread))
    }
}

fn same_bytes(a: &Entry, b: &Entry) -> bool {
    let (a, b) = (a.record.access, b.record.access);
    a.bytes() == b.bytes() && a.wide() == b.wide()
}

/// Whether a read is, for one of its lanes, the first that observed the last strong write (rule 16): an access after
/// it may happen before a later read.
fn is_first_witness(entries: &[Entry], read: &Entry) -> bool {
    let witness = |entry: &Entry| {
        !entry.writes && entry.sees && entry.record.access.strength().reach().is_some()
    };
    let earlier = |entry: &&Entry| {
        witness(entry)
            && same_bytes(entry, read)
            && entry.record.thread.same_warp(read.record.thread)
            && entry.record.time < read.record.time
    };
    let seen = entries.iter().filter(earlier).fold(0, |lanes, entry| lanes | entry.lanes);
    witness(read) && read.lanes & !seen != 0
}

/// Marks the thread's own plain reads as attempts, after its atomic.
fn follow_attempts(entries: &mut Vec<Entry>, atomic: &Entry, attempts: &mut Vec<u32>) {
    let me = atomic.record.thread;
    let bit = 1 << me.lane();
    for entry in entries.iter_mut() {
        let own = entry.record.thread.same_warp(me) && entry.lanes & bit != 0;
        if !own || entry.writes || !entry.record.access.is_weak() || !same_bytes(entry, atomic) {
            continue;
        }
        attempts.push(entry.record.access.pc());
        entry.retain_lanes(|thread| thread != me);
    }
    entries.retain(|entry| entry.lanes != 0);
}

/// Records an access; reads by lanes of a warp at the same time are one entry.
fn remember(entries: &mut Vec<Entry>, new: Entry) {
    let same = entries.iter_mut().find(|entry| {
        !entry.writes
            && !new.writes
            && entry.record.thread.same_warp(new.record.thread)
            && (entry.record.time, entry.record.access) == (new.record.time, new.record.access)
            && entry.sees == new.sees
    });
    match same {
        Some(entry) => entry.lanes |= new.lanes,
        None => entries.push(new),
    }
}
