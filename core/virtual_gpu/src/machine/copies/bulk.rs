//! Bulk copies between global and shared memory. PTX ISA, section "Data Movement and Conversion Instructions: Bulk
//! copy".
//!
//! A load reads its source when it is issued. It writes to shared memory, and completes transactions of its barrier
//! object, when a thread waits for the phase of that object. Stores are in `stores`.

use std::slice;

use super::super::super::isa::memory::Ordering;
use super::super::super::lower::code::{AddressSlot, BulkSite, Op, StoreEffect};
use super::super::Races;
use super::super::access::{Part, Spaces};
use super::super::fault::{FaultKind, Finding};
use super::super::mbarrier::PhaseTest;
use super::super::race::{IssueClock, Source};
use super::super::run::Worker;
use super::super::shared::Word;
use super::super::warp::{Frame, LANES};
use super::Thread;

/// Sizes and addresses are multiples of this number of bytes.
pub(super) const UNIT: u32 = 16;
/// Words of a unit.
pub(super) const WORDS: usize = 4;

/// A load that no test of its barrier object has completed.
#[derive(Clone, Debug)]
pub(super) struct PendingLoad {
    pub(super) thread: Thread,
    pub(super) pc: u32,
    /// Offset in shared memory, in bytes.
    pub(super) offset: usize,
    pub(super) words: Vec<Word>,
    /// Offset of the barrier object in shared memory, in bytes.
    pub(super) barrier: usize,
    /// Memory that the load reads until it completes, if the kernel can write there.
    pub(super) sources: Option<(Vec<Source>, IssueClock)>,
}

impl PendingLoad {
    pub(super) fn bytes(&self) -> usize {
        4 * self.words.len()
    }
}

/// One lane's copy.
#[derive(Clone, Copy)]
pub(super) struct BulkCopy {
    pub(super) pc: u32,
    pub(super) lane: usize,
    pub(super) global: u64,
    pub(super) shared: u64,
    pub(super) bytes: u32,
}

impl Worker<'_, '_> {
    pub(in super::super) fn copy_bulk(
        &mut self,
        op: &Op,
        site: u32,
        pc: u32,
        frame: Frame,
        active: u32,
    ) {
        let Some(site) = self.launch.program.bulk_copies.get(site as usize).copied() else {
            return;
        };
        let BulkSite { to, from, bytes, barrier, effect } = site;
        let lanes = self.lanes(frame, active);
        let (sizes, undefined) = (lanes.word(bytes), lanes.word_undefined(bytes) & active);
        if undefined != 0 {
            self.report_undefined(pc, undefined, "the size of a bulk copy");
        }
        let (to, mask) = self.slot_addresses(op, &to, pc, frame, active & !undefined);
        let (from, mask) = self.slot_addresses(op, &from, pc, frame, mask);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let copy = |global, shared| BulkCopy { pc, lane, global, shared, bytes: sizes[lane] };
            match barrier {
                Some(barrier) => {
                    let copy = copy(from[lane], to[lane]);
                    self.load_bulk(op, copy, &barrier, frame);
                }
                None => self.store_bulk(copy(to[lane], from[lane]), effect),
            }
        }
    }

    fn load_bulk(&mut self, op: &Op, copy: BulkCopy, barrier: &AddressSlot, frame: Frame) {
        let BulkCopy { pc, lane, shared, bytes, .. } = copy;
        let Some(barrier) = self.bulk_barrier(op, barrier, (pc, lane), frame) else { return };
        if !self.is_valid_bulk(copy) {
            return;
        }
        let Some(offset) = self.launch.shared.place(shared, bytes) else { return };
        let mut words = vec![Word::default(); bytes as usize / 4];
        self.read_global_words(copy, &mut words);
        let thread = (self.warp.index, lane as u32);
        self.race_asynchronous_write(thread, pc, (offset, bytes as usize));
        self.check_pending_operands(pc, lane as u32, (offset, bytes as usize));
        self.check_mbarrier_overwritten(pc, lane as u32, (offset, bytes as usize));
        let sources = self.begin_reads(vec![Source { start: copy.global, bytes }]);
        self.block.copies.begin_load(PendingLoad { thread, pc, offset, words, barrier, sources });
    }

    /// The sources of a load with the clock of its issue, if the kernel can write there.
    pub(super) fn begin_reads(
        &mut self,
        sources: Vec<Source>,
    ) -> Option<(Vec<Source>, IssueClock)> {
        let issue = self.race_source_issue(&sources)?;
        Some((sources, issue))
    }

    /// Reports loads that no test has completed when the last thread of the block exits.
    pub(in super::super) fn end_loads(&mut self) {
        for load in std::mem::take(&mut self.block.copies.loads) {
            let text = "the block exits while a bulk load may write to its shared memory; wait for the phase of its \
                        mbarrier object first";
            self.report(load.pc, Finding::new(FaultKind::MissingWait, load.thread.1, text));
        }
    }

    /// The offset of a load's barrier object in shared memory; reports a fault if none is initialised there.
    pub(super) fn bulk_barrier(
        &mut self,
        op: &Op,
        barrier: &AddressSlot,
        (pc, lane): (u32, usize),
        frame: Frame,
    ) -> Option<usize> {
        let (barriers, valid) = self.slot_addresses(op, barrier, pc, frame, 1 << lane);
        let part = Part { pc, addresses: &barriers, mask: valid, element: 8, count: 1 };
        let lane = part.lanes().next()?;
        let offset = self.place_shared(&part, lane)?;
        self.barrier_at(pc, lane as u32, offset)?;
        self.trace_contribution(offset);
        self.issue_for_phase(lane as u32, pc, offset);
        Some(offset)
    }

    fn store_bulk(&mut self, copy: BulkCopy, effect: StoreEffect) {
        if self.is_valid_bulk(copy) {
            self.begin_store(copy, copy.bytes, effect);
        }
    }

    /// The words of a source in shared memory, which the asynchronous proxy reads; none outside of its variables.
    pub(super) fn read_shared_words(&mut self, copy: BulkCopy) -> Option<Vec<Word>> {
        self.each_unit(copy, copy.shared, |worker, part| {
            part.lanes().for_each(|lane| {
                worker.place_shared(part, lane);
            });
        });
        let offset = self.launch.shared.place(copy.shared, copy.bytes)?;
        let bytes = offset..offset + copy.bytes as usize;
        self.race_asynchronous_read(copy.lane as u32, copy.pc, slice::from_ref(&bytes));
        let shared = &self.block.shared;
        let word = |offset| Word {
            value: shared.read(offset, 4) as u32,
            is_undefined: !shared.is_any_initialised(offset, 4),
        };
        Some((offset..offset + copy.bytes as usize).step_by(4).map(word).collect())
    }

    /// Checks size, alignment and bounds.
    pub(super) fn is_valid_bulk(&mut self, copy: BulkCopy) -> bool {
        let BulkCopy { pc, lane, global, shared, bytes } = copy;
        let finding = |kind, address, buffer, details| Finding {
            kind,
            lane: lane as u32,
            address,
            buffer,
            other: None,
            details,
        };
        if !bytes.is_multiple_of(UNIT) {
            let text = format!("a bulk copy of {bytes} bytes; the size must be a multiple of 16");
            self.report(pc, finding(FaultKind::Misaligned, None, None, text));
            return false;
        }
        for address in [global, shared] {
            if !address.is_multiple_of(u64::from(UNIT)) {
                let text = format!("{address:#x} is not a multiple of 16, as bulk copies require");
                self.report(pc, finding(FaultKind::Misaligned, Some(address), None, text));
                return false;
            }
        }
        if bytes == 0 {
            return false;
        }
        let outside = if self.launch.memory.place(global, u64::from(bytes)).is_none() {
            Some((global, self.launch.memory.describe(global, u64::from(bytes))))
        } else if self.launch.shared.place(shared, bytes).is_none() {
            Some((shared, self.launch.shared.describe(shared, bytes)))
        } else {
            None
        };
        let Some((address, (buffer, text))) = outside else { return true };
        self.report(pc, finding(FaultKind::OutOfBounds, Some(address), buffer, text));
        false
    }

    /// Reads a source in global memory, whose bounds and alignment were checked. The counters see accesses of a whole
    /// warp, the race check those of the lane.
    pub(super) fn read_global_words(&mut self, copy: BulkCopy, words: &mut [Word]) {
        let place = self.launch.memory.place(copy.global, u64::from(copy.bytes));
        let Some(place) = place.filter(|_| copy.bytes > 0) else { return };
        let bytes = place.offset..place.offset + copy.bytes as usize;
        if self.launch.caches.is_some() {
            self.each_row(copy, copy.global, |worker, part| worker.count_global(part, true));
        } else if !self.launch.counts.is_empty() {
            for start in bytes.clone().step_by(UNIT as usize * LANES) {
                let end = bytes.end.min(start + UNIT as usize * LANES);
                self.count_global_range(copy.pc, place.region, start..end);
            }
        }
        if self.launch.checks.races != Races::Ignored && self.is_shared_by_writers(place.region) {
            self.each_unit(copy, copy.global, |worker, part| {
                let spaces = Spaces { global: part.mask, shared: 0, local: 0 };
                worker.race_load(part, Ordering::Weak, &spaces);
            });
        }
        let content = &self.launch.memory.regions[place.region].content;
        let is_defined = content.is_range_initialised(bytes.start, bytes.end);
        for (offset, unit) in bytes.step_by(UNIT as usize).zip(words.as_chunks_mut::<WORDS>().0) {
            let values = content.load_row::<WORDS>(offset / 4);
            *unit = values.map(|value| Word { value, is_undefined: false });
            if !is_defined {
                for (index, word) in unit.iter_mut().enumerate() {
                    word.is_undefined = !content.is_any_initialised(offset + 4 * index, 4);
                }
            }
        }
    }

    /// Visits 16 bytes at a time, as accesses of the lane.
    pub(super) fn each_unit(
        &mut self,
        copy: BulkCopy,
        start: u64,
        mut visit: impl FnMut(&mut Self, &Part<'_>),
    ) {
        for offset in (0..u64::from(copy.bytes)).step_by(UNIT as usize) {
            let addresses = [start + offset; LANES];
            let mask = 1 << copy.lane;
            let part = Part { pc: copy.pc, addresses: &addresses, mask, element: 4, count: WORDS };
            visit(self, &part);
        }
    }

    /// Visits up to 512 bytes at a time, as accesses of all lanes.
    pub(super) fn each_row(
        &mut self,
        copy: BulkCopy,
        start: u64,
        mut visit: impl FnMut(&mut Self, &Part<'_>),
    ) {
        let units: Vec<u64> = (0..u64::from(copy.bytes / UNIT)).collect();
        for units in units.chunks(LANES) {
            let mut addresses = [start; LANES];
            for (address, unit) in addresses.iter_mut().zip(units) {
                *address += unit * u64::from(UNIT);
            }
            let mask = u32::MAX >> (LANES - units.len());
            let part = Part { pc: copy.pc, addresses: &addresses, mask, element: 4, count: WORDS };
            visit(self, &part);
        }
    }

    /// Completes loads, the oldest first, until a test of their barrier object passes.
    pub(super) fn settle_loads(&mut self, barrier: usize, test: PhaseTest) {
        while !self.passes(barrier, test) {
            let loads = &mut self.block.copies.loads;
            let Some(oldest) = loads.iter().position(|load| load.barrier == barrier) else {
                return;
            };
            let load = loads.remove(oldest);
            self.launch.changes += 1;
            if let Some((sources, issue)) = &load.sources {
                for source in sources {
                    self.race_source(load.thread, load.pc, *source, issue);
                }
            }
            self.race_bulk_load(load.thread, load.pc, (load.offset, load.bytes()));
            self.block.shared.write_words(load.offset, &load.words);
            self.race_arrival(load.thread, load.pc, barrier);
            self.complete_in_phase(load.thread, load.pc, barrier);
            self.complete_transactions(load.pc, load.thread.1, barrier, load.bytes() as u32);
            self.block.copies.uncover(load.offset, load.bytes());
        }
    }
}
