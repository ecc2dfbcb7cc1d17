//! Whether two accesses race, and which accesses a word must go on remembering.

use super::clock::Thread;
use super::order::{BlockOrder, Reach, lanes_of};
use super::shadow::{Entry, FORGETFUL, Record, SETTLED, Shadow, Strength, WARPS};

/// What is judged: an access, in its block, in one memory.
pub(super) struct Judge<'a> {
    pub(super) order: &'a BlockOrder,
    /// Whether rules 20 and 23 hold.
    pub(super) lenient: bool,
    pub(super) memory: MemoryKind,
    /// Whether readers of two blocks do not stand for all: something may order blocks, or a read may be an attempt.
    pub(super) keeps_readers: bool,
    /// Loads through the read-only cache, in the order of the program (rule 25).
    pub(super) non_coherent: &'a [u32],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryKind {
    Shared,
    Global,
}

/// What came of an access.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// The other side of a race: the access, and the thread.
    pub(super) race: Option<(Entry, Thread)>,
    /// The same, if the read turns out to be no attempt (rule 23).
    pub(super) doubt: Option<(Entry, Thread)>,
    /// A write of the same launch that is before a read through the read-only cache (rule 25).
    pub(super) behind_write: Option<(Entry, Thread)>,
    /// Reads through the read-only cache that this write is behind (rule 25).
    pub(super) read_before: Vec<u32>,
    /// A write of the same value (rule 20).
    pub(super) same_value: bool,
    /// It met a strong access, as a strong one.
    pub(super) strong_together: bool,
    /// A strong read of what an unordered strong write left, which no read before it has observed.
    pub(super) may_be_stale: bool,
    /// Reads that an atomic of the same thread follows (rule 23).
    pub(super) attempts: Vec<u32>,
}

impl Verdict {
    /// Whether there is anything to report.
    pub(super) const fn matters(&self) -> bool {
        self.race.is_some()
            || self.doubt.is_some()
            || self.behind_write.is_some()
            || self.same_value
            || !self.attempts.is_empty()
            || !self.read_before.is_empty()
    }
}

impl Judge<'_> {
    /// Judges an access of one lane to a word, and remembers it.
    ///
    /// `is_same` says whether a write stores what is there.
    pub(super) fn access(
        &self,
        shadow: &mut Shadow,
        word: usize,
        new: Entry,
        mut is_same: impl FnMut() -> bool,
    ) -> Verdict {
        let me = new.record.thread;
        let mut verdict = Verdict::default();
        let forgetful = shadow.flags(word) & FORGETFUL;
        let mut entries = shadow.take(word);
        if !self.non_coherent.is_empty() {
            self.judge_non_coherent(&entries, &new, &mut verdict);
        }
        for entry in &entries {
            let Some(other) = self.unordered(entry, &new) else { continue };
            if self.strong_together(entry, other, &new) {
                verdict.strong_together = true;
                verdict.may_be_stale |= self.permits_older(&entries, entry, &new);
                continue;
            }
            // Who observed it may be among what was forgotten.
            let strong = entry.record.what.strength().reach().is_some();
            if self.was_observed(&entries, entry, me) || forgetful != 0 && strong {
                continue;
            }
            let plain = |entry: &Entry| {
                let strength = entry.record.what.strength();
                strength == Strength::Flag || strength.reach().is_none()
            };
            if self.lenient && entry.writes && new.writes && plain(&new) && is_same() {
                verdict.same_value = true;
                continue;
            }
            let atomic = |entry: &Entry| entry.record.what.strength().is_atomic();
            let attempt = |read: &Entry, write: &Entry| {
                plain(read) && !read.writes && atomic(write) && same_bytes(read, write)
            };
            if self.lenient && (attempt(entry, &new) || attempt(&new, entry)) {
                // The thread's own read may be among the forgotten accesses: nothing is known of its attempt.
                if forgetful == 0 {
                    verdict.doubt.get_or_insert((*entry, other));
                }
            } else {
                verdict.race.get_or_insert((*entry, other));
            }
        }
        if self.lenient && new.record.what.strength().is_atomic() {
            follow_attempts(&mut entries, &new, &mut verdict.attempts);
        }
        let settled = !self.keeps_readers && !new.writes && self.readers_settle(&entries);
        let observed: Vec<bool> =
            entries.iter().map(|entry| self.was_observed(&entries, entry, me)).collect();
        let mut index = 0;
        // Where a read is not remembered, it takes no other's place.
        let needs = |entry: &Entry| settled || is_first_witness(&entries, entry);
        let needed: Vec<bool> = entries.iter().map(|entry| !new.writes && needs(entry)).collect();
        entries.retain(|entry| {
            index += 1;
            needed[index - 1]
                || !self.covers(&new, entry)
                || !observed[index - 1] && !self.follows(&new, entry)
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

    /// Whether a strong read that an unordered strong write precedes may return the value before that: the write is the
    /// last one, and neither the thread nor anything before the read has observed it.
    fn permits_older(&self, entries: &[Entry], write: &Entry, read: &Entry) -> bool {
        let last = entries.iter().rfind(|entry| entry.writes);
        self.memory == MemoryKind::Global
            && read.sees
            && !read.record.what.strength().is_atomic()
            && last.is_some_and(|last| last.record == write.record)
            && !self.was_observed(entries, write, read.record.thread)
    }

    /// Rule 25.
    fn judge_non_coherent(&self, entries: &[Entry], new: &Entry, verdict: &mut Verdict) {
        let through_cache = |read: &Entry| {
            !read.writes && self.non_coherent.binary_search(&read.record.what.pc()).is_ok()
        };
        let overlaps = |entry: &Entry| entry.record.what.bytes() & new.record.what.bytes() != 0;
        let mut others = entries.iter().filter(|entry| overlaps(entry));
        if through_cache(new) {
            let write = others.rfind(|entry| entry.writes);
            verdict.behind_write = write.map(|write| (*write, write.record.thread));
        } else if new.writes {
            let before = others.filter(|read| through_cache(read));
            verdict.read_before.extend(before.map(|read| read.record.what.pc()));
        }
    }

    /// A thread whose conflicting access is not before this one (rules 1, 2).
    fn unordered(&self, entry: &Entry, new: &Entry) -> Option<Thread> {
        let (old, now) = (&entry.record, &new.record);
        if !(entry.writes || new.writes) || old.what.bytes() & now.what.bytes() == 0 {
            return None;
        }
        let collective = |record: &Record| record.what.strength() == Strength::Collective;
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
        let (a, b) = (entry.record.what.strength(), new.record.what.strength());
        // A store that is none of the atomics may be lost between their read and their write.
        let lost = a == Strength::Flag && b.is_atomic() || a.is_atomic() && b == Strength::Flag;
        // Two plain stores stay plain for each other: rule 22 is for those who load the flag.
        let stores = a == Strength::Flag && b == Strength::Flag;
        let (Some(a_reach), Some(b_reach)) = (a.reach(), b.reach()) else { return false };
        let reaches = match self.memory {
            MemoryKind::Shared => true,
            MemoryKind::Global => {
                other.block() == me.block() || a_reach.min(b_reach) == Reach::Device
            }
        };
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
            && write.record.what.strength().reach().is_some()
            && entries.iter().any(|read| {
                let seen = read.sees && !read.writes && same_bytes(read, write);
                seen && read.record.what.strength().reach().is_some()
                    && lanes_of(read.lanes).any(|lane| {
                        let thread = read.record.thread.with_lane(lane);
                        self.strong_together(write, write.record.thread, read)
                            && self.order.before(&read.record, thread, me)
                    })
            })
    }

    /// Whether all that races with the old access, and is behind neither, races with the new one.
    fn covers(&self, new: &Entry, old: &Entry) -> bool {
        let (o, n) = (old.record.what, new.record.what);
        (new.writes || !old.writes)
            && o.bytes() & !n.bytes() == 0
            && n.strength().rank(self.memory) <= o.strength().rank(self.memory)
            && self.same_relations(old, new)
            && (n.is_weak() || o.wide() == n.wide() && o.bytes() == n.bytes())
    }

    /// Whether what is behind the new access is behind the old one.
    fn follows(&self, new: &Entry, old: &Entry) -> bool {
        let chain = old.writes && new.record.what.strength().is_atomic();
        chain && self.strong_together(old, old.record.thread, new)
            || self.not_before(old, new.record.thread).is_none()
    }

    /// Whether all that are strong together with the new access are so with the old one.
    fn same_relations(&self, old: &Entry, new: &Entry) -> bool {
        let (old, new) = (&old.record, &new.record);
        match (new.what.strength(), self.memory) {
            (Strength::Weak | Strength::Copy, _) => true,
            (Strength::Collective, _) => {
                old.what.strength() == Strength::Collective && old.thread.same_warp(new.thread)
            }
            (Strength::Volatile, MemoryKind::Shared) => old.thread.same_warp(new.thread),
            (strength, MemoryKind::Global) if strength.reach() == Some(Reach::Block) => {
                old.thread.block() == new.thread.block()
            }
            (
                Strength::Volatile | Strength::Relaxed(_) | Strength::Atomic(_) | Strength::Flag,
                _,
            ) => true,
        }
    }

    /// Where nothing orders blocks, readers of two blocks race with every writer.
    fn readers_settle(&self, entries: &[Entry]) -> bool {
        let mut weak = entries.iter().filter(|entry| {
            !entry.writes
                && entry.record.what.is_weak()
                && entry.record.what.bytes() == super::shadow::WORD
        });
        let Some(first) = weak.next() else { return false };
        weak.any(|entry| entry.record.thread.block() != first.record.thread.block())
    }

    /// Whether two warps of this block have read the whole word since its last barrier.
    fn two_warps_read(&self, entries: &[Entry], me: Thread) -> bool {
        let mut reads = entries.iter().filter(|entry| {
            !entry.writes
                && entry.record.what.is_weak()
                && entry.record.what.bytes() == super::shadow::WORD
                && entry.record.thread.block() == me.block()
                && entry.record.time > self.order.barrier
        });
        let Some(first) = reads.next() else { return false };
        reads.any(|entry| !entry.record.thread.same_warp(first.record.thread))
    }
}

fn same_bytes(a: &Entry, b: &Entry) -> bool {
    let (a, b) = (a.record.what, b.record.what);
    a.bytes() == b.bytes() && a.wide() == b.wide()
}

/// Whether a read is the first of its thread that observed the last strong write (rule 16): what is behind it may be
/// before a later read.
fn is_first_witness(entries: &[Entry], read: &Entry) -> bool {
    let witness = |entry: &Entry| {
        !entry.writes && entry.sees && entry.record.what.strength().reach().is_some()
    };
    let earlier = |entry: &Entry| {
        witness(entry)
            && same_bytes(entry, read)
            && entry.record.thread == read.record.thread
            && entry.record.time < read.record.time
    };
    witness(read) && !entries.iter().any(earlier)
}

/// The thread's own plain reads were attempts: its atomic decides.
fn follow_attempts(entries: &mut Vec<Entry>, atomic: &Entry, attempts: &mut Vec<u32>) {
    let me = atomic.record.thread;
    let bit = 1 << me.lane();
    for entry in entries.iter_mut() {
        let own = entry.record.thread.same_warp(me) && entry.lanes & bit != 0;
        if !own || entry.writes || !entry.record.what.is_weak() || !same_bytes(entry, atomic) {
            continue;
        }
        attempts.push(entry.record.what.pc());
        entry.lanes &= !bit;
        if entry.lanes != 0 && entry.record.thread == me {
            entry.record.thread = me.with_lane(entry.lanes.trailing_zeros());
        }
    }
    entries.retain(|entry| entry.lanes != 0);
}

/// Lanes of a warp that read at the same time are one entry.
fn remember(entries: &mut Vec<Entry>, new: Entry) {
    let same = entries.iter_mut().find(|entry| {
        !entry.writes
            && !new.writes
            && entry.record.thread.same_warp(new.record.thread)
            && (entry.record.time, entry.record.what) == (new.record.time, new.record.what)
            && entry.sees == new.sees
    });
    match same {
        Some(entry) => entry.lanes |= new.lanes,
        None => entries.push(new),
    }
}
