//! Bulk stores and reductions, from shared to global memory. PTX ISA, sections "cp.async.bulk",
//! "cp.async.bulk.commit_group" and "cp.async.bulk.wait_group".
//!
//! A store reads its source when it is issued. Until the first wait for its group, with or without `.read`, its source
//! counts as read. It writes to global memory as late as PTX permits: at the first wait for its group without `.read`,
//! or at the exit of its thread.

use std::slice;

use super::super::super::isa::bulk_copy::Awaited;
use super::super::super::isa::memory::Ordering;
use super::super::super::lower::code::StoreEffect;
use super::super::access::{Moved, Part, Spaces};
use super::super::fault::{FaultKind, Finding};
use super::super::race::IssueClock;
use super::super::run::Worker;
use super::super::shared::Word;
use super::super::warp::LANES;
use super::bulk::{BulkCopy, UNIT, WORDS};

/// A store that has not written.
#[derive(Clone, Debug)]
struct PendingStore {
    lane: u32,
    pc: u32,
    group: u32,
    /// Addresses in global and shared memory.
    to: u64,
    from: u64,
    words: Vec<Word>,
    /// The bytes that are written: all, or those of a box that are inside its tensor.
    kept: u32,
    effect: StoreEffect,
    issue: Option<IssueClock>,
}

/// The bulk stores of a warp.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct PendingStores {
    /// Stores whose source may still be read.
    stores: Vec<PendingStore>,
    /// Stores that have read their source.
    unwritten: Vec<PendingStore>,
    /// The number of committed groups of each lane.
    groups: [u32; LANES],
}

impl PendingStore {
    fn copy(&self) -> BulkCopy {
        let bytes = 4 * self.words.len() as u32;
        let (lane, global, shared) = (self.lane as usize, self.to, self.from);
        BulkCopy { pc: self.pc, lane, global, shared, bytes }
    }
}

impl PendingStores {
    /// Removes and returns the selected stores whose source may still be read.
    fn end_reads(&mut self, is_due: impl Fn(&PendingStore) -> bool) -> Vec<PendingStore> {
        let stores = std::mem::take(&mut self.stores);
        let (due, rest): (Vec<_>, Vec<_>) = stores.into_iter().partition(is_due);
        self.stores = rest;
        due
    }

    /// Removes and returns the selected stores that have read their source.
    fn end_writes(&mut self, is_due: impl Fn(&PendingStore) -> bool) -> Vec<PendingStore> {
        let stores = std::mem::take(&mut self.unwritten);
        let (due, rest): (Vec<_>, Vec<_>) = stores.into_iter().partition(is_due);
        self.unwritten = rest;
        due
    }
}

impl Worker<'_, '_> {
    /// The bulk stores of the warp.
    fn bulk_stores(&mut self) -> &mut PendingStores {
        let (all, index) = (&mut self.block.bulk_stores, self.warp.index as usize);
        if all.len() <= index {
            all.resize_with(index + 1, PendingStores::default);
        }
        &mut all[index]
    }

    /// Begins a store of the first `kept` of these bytes.
    pub(super) fn begin_store(&mut self, copy: BulkCopy, kept: u32, effect: StoreEffect) {
        let BulkCopy { pc, lane, global: to, shared: from, .. } = copy;
        let Some(words) = self.read_shared_words(copy) else { return };
        let issue = self.race_issue();
        let group = self.bulk_stores().groups[lane];
        let store =
            PendingStore { lane: lane as u32, pc, group, to, from, words, kept, effect, issue };
        self.bulk_stores().stores.push(store);
    }

    pub(in super::super) fn commit_bulk(&mut self, mask: u32) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            self.bulk_stores().groups[lane] += 1;
        }
    }

    /// Completes all but the last groups of these lanes. A wait for the reads alone leaves the writes pending: they may
    /// be executed at any time before the kernel ends.
    pub(in super::super) fn wait_for_bulk(&mut self, mask: u32, pending: u32, awaited: Awaited) {
        let groups = self.bulk_stores().groups;
        let is_due = |store: &PendingStore| {
            mask >> store.lane & 1 == 1
                && store.group.saturating_add(pending) < groups[store.lane as usize]
        };
        for store in self.bulk_stores().end_reads(is_due) {
            self.complete_reads(&store);
            self.bulk_stores().unwritten.push(store);
        }
        if awaited == Awaited::Writes {
            let due = self.bulk_stores().end_writes(is_due);
            due.into_iter().for_each(|store| self.complete_writes(store));
        }
    }

    /// Reports stores of lanes that exit before shared memory was read, and completes all stores of these lanes.
    pub(in super::super) fn end_bulk_stores(&mut self, mask: u32) {
        if self.block.bulk_stores.is_empty() {
            return;
        }
        let is_due = |store: &PendingStore| mask >> store.lane & 1 == 1;
        let written = self.bulk_stores().end_writes(is_due);
        written.into_iter().for_each(|store| self.complete_writes(store));
        for store in self.bulk_stores().end_reads(is_due) {
            let text = "the thread exits while a bulk store may read shared memory; commit its group and wait for it \
                        with `cp.async.bulk.wait_group.read`";
            self.report(store.pc, Finding::new(FaultKind::MissingWait, store.lane, text));
            self.complete_reads(&store);
            self.complete_writes(store);
        }
    }

    fn complete_reads(&mut self, store: &PendingStore) {
        self.launch.changes += 1;
        if let Some(issue) = &store.issue {
            let bytes = store.copy().bytes;
            if let Some(offset) = self.launch.shared.place(store.from, bytes) {
                let bytes = offset..offset + bytes as usize;
                self.race_completion(store.lane, store.pc, slice::from_ref(&bytes), issue);
            }
        }
    }

    fn complete_writes(&mut self, store: PendingStore) {
        self.launch.changes += 1;
        let copy = store.copy();
        let PendingStore { to, words, kept, effect, .. } = store;
        match effect {
            StoreEffect::Write => self.write_words(copy, to, &words, kept),
            StoreEffect::Reduce(update) => {
                self.reduce_words(BulkCopy { bytes: kept, ..copy }, to, &words, update);
            }
        }
    }

    /// Writes the first `kept` bytes of these words.
    fn write_words(&mut self, copy: BulkCopy, to: u64, words: &[Word], kept: u32) {
        let copy = BulkCopy { bytes: kept / UNIT * UNIT, ..copy };
        let mut units = words.chunks_exact(WORDS);
        self.each_unit(copy, to, |worker, part| {
            let mut moved = Moved::nothing();
            for (index, word) in units.next().unwrap_or_default().iter().enumerate() {
                moved.values[index] = [u64::from(word.value); LANES];
                moved.undefined[index] = if word.is_undefined { part.mask } else { 0 };
            }
            let spaces = Spaces { global: part.mask, shared: 0, local: 0 };
            worker.race_store(part, Ordering::Weak, &spaces, &moved);
        });
        let mut units = words.chunks_exact(WORDS);
        self.each_row(copy, to, |worker, part| {
            let mut moved = Moved::nothing();
            for lane in part.lanes() {
                for (index, word) in units.next().unwrap_or_default().iter().enumerate() {
                    moved.values[index][lane] = u64::from(word.value);
                    moved.undefined[index] |= u32::from(word.is_undefined) << lane;
                }
            }
            worker.store_global(part, &moved);
        });
        self.store_tail(copy, to, &words[copy.bytes as usize / 4..], kept - copy.bytes);
    }

    /// Stores the bytes after the last whole unit.
    fn store_tail(&mut self, copy: BulkCopy, to: u64, words: &[Word], bytes: u32) {
        for byte in 0..bytes {
            let addresses = [to + u64::from(copy.bytes + byte); LANES];
            let mask = 1 << copy.lane;
            let part = Part { pc: copy.pc, addresses: &addresses, mask, element: 1, count: 1 };
            let word = words[byte as usize / 4];
            let mut moved = Moved::nothing();
            moved.values[0] = [u64::from(word.value.to_le_bytes()[byte as usize % 4]); LANES];
            moved.undefined[0] = if word.is_undefined { mask } else { 0 };
            let spaces = Spaces { global: mask, shared: 0, local: 0 };
            self.race_store(&part, Ordering::Weak, &spaces, &moved);
            self.store_global(&part, &moved);
        }
    }
}
