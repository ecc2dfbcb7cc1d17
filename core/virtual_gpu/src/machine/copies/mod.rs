//! Asynchronous copies. The source is read when the copy is issued, and the destination is written when a wait
//! completes the copy, so that a missing wait is detected. PTX ISA, section "Data Movement and Conversion
//! Instructions: Asynchronous copy".
//!
//! The block records each pending copy: its bytes, the issuing thread and its group. Waits, arrivals and the exit
//! of a thread complete it.

mod bulk;
mod delivery;
mod map_changes;
mod origins;
mod reduction;
mod stores;
mod tensor;
mod tensor_box;

pub(super) use origins::{LoadedBox, LoadedChunk, MOST_DIMENSIONS};
pub(super) use stores::PendingStores;
pub(super) use tensor::refuse_tensor_maps;

use super::super::isa::async_copy::Pending;
use super::super::isa::memory::{Ordering, Space};
use super::super::lower::code::{BaseKind, CopyLength, CopySite, Op};
use super::access::{Moved, Part, Spaces};
use super::fault::{ConflictingAccess, FaultKind, Finding};
use super::lanes::Doubles;
use super::mbarrier::PhaseTest;
use super::region_bytes::mask_words;
use super::run::Worker;
use super::warp::{Frame, LANES};
use bulk::PendingLoad;
use delivery::Delivery;
use origins::Origins;

/// A thread of a block: its warp and lane.
pub(super) type Thread = (u32, u32);

/// One lane's copy.
#[derive(Clone, Copy, Debug)]
struct PendingCopy {
    thread: Thread,
    pc: u32,
    /// The copy group of the thread, counted from zero.
    group: u32,
    /// The index among all copies and arrivals of the block.
    sequence: u64,
    /// Offset in shared memory, in bytes.
    offset: usize,
    bytes: [u8; 16],
    size: u8,
    /// A bit for each uninitialised word of the source.
    undefined: u8,
}

/// An arrival at a barrier object that waits for the earlier copies of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingArrival {
    thread: Thread,
    pub(super) pc: u32,
    sequence: u64,
    /// Offset of the barrier object in shared memory, in bytes.
    pub(super) barrier: usize,
}

/// The pending operations of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    pending: Vec<PendingCopy>,
    arrivals: Vec<PendingArrival>,
    sequence: u64,
    /// The group of the next copy of each thread.
    groups: Vec<u32>,
    /// Bulk copies to shared memory.
    loads: Vec<PendingLoad>,
    /// Writes by threads of the cluster to shared memory.
    deliveries: Vec<Delivery>,
    /// A bit for each word of shared memory that a pending copy will write; empty if none is pending.
    covered: Vec<u64>,
    /// What tensor copies wrote, if races are checked.
    pub(super) origins: Origins,
}

impl Copies {
    /// Whether no copy is pending.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.covered.is_empty()
    }

    /// Whether a pending copy will write to any of these bytes.
    #[inline]
    pub(super) fn covers(&self, offset: usize, bytes: usize) -> bool {
        if self.covered.is_empty() {
            return false;
        }
        mask_words(offset / 4, (offset + bytes.max(1)).div_ceil(4))
            .any(|(index, mask)| self.covered.get(index).is_some_and(|bits| bits & mask != 0))
    }

    /// Whether any of these accesses may overlap a pending copy.
    #[inline(always)]
    pub(super) fn covers_any(&self, offsets: &[u32; LANES], bytes: usize) -> bool {
        !self.covered.is_empty()
            && offsets.iter().any(|offset| self.covers(*offset as usize, bytes))
    }

    /// The thread and the instruction of a pending copy that will write to any of these bytes.
    fn touching(&self, offset: usize, bytes: usize) -> Option<(Thread, u32)> {
        let touches = |start: usize, size: usize| start < offset + bytes && offset < start + size;
        let copy = self.pending.iter().find(|copy| touches(copy.offset, usize::from(copy.size)));
        copy.map(|copy| (copy.thread, copy.pc)).or_else(|| {
            let load = self.loads.iter().find(|load| touches(load.offset, load.bytes()));
            load.map(|load| (load.thread, load.pc)).or_else(|| {
                let covers = |delivery: &&Delivery| touches(delivery.offset, delivery.bytes());
                let delivery = self.deliveries.iter().find(covers);
                delivery.map(|delivery| ((delivery.issuer.warp, delivery.issuer.lane), delivery.pc))
            })
        })
    }

    fn begin_load(&mut self, load: PendingLoad) {
        self.cover(load.offset, load.bytes());
        self.loads.push(load);
    }

    fn group(&mut self, (warp, lane): Thread) -> &mut u32 {
        let thread = warp as usize * LANES + lane as usize;
        if self.groups.len() <= thread {
            self.groups.resize(thread + 1, 0);
        }
        &mut self.groups[thread]
    }

    fn cover(&mut self, offset: usize, size: usize) {
        for (index, mask) in mask_words(offset / 4, (offset + size).div_ceil(4)) {
            if self.covered.len() <= index {
                self.covered.resize(index + 1, 0);
            }
            self.covered[index] |= mask;
        }
    }

    fn uncover(&mut self, offset: usize, size: usize) {
        for (index, mask) in mask_words(offset / 4, (offset + size).div_ceil(4)) {
            if let Some(bits) = self.covered.get_mut(index) {
                *bits &= !mask;
            }
        }
        if self.pending.is_empty() && self.loads.is_empty() && self.deliveries.is_empty() {
            self.covered.clear();
        }
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Removes and returns the arrivals whose copies are complete.
    fn due(&mut self) -> Vec<PendingArrival> {
        let pending = &self.pending;
        let waits = |arrival: &PendingArrival| {
            pending
                .iter()
                .any(|copy| copy.thread == arrival.thread && copy.sequence < arrival.sequence)
        };
        let due = self.arrivals.iter().filter(|arrival| !waits(arrival)).copied().collect();
        self.arrivals.retain(waits);
        due
    }
}

impl Worker<'_, '_> {
    /// Issues copies: bounds, write permission and counters are those of loads and stores.
    pub(super) fn copy_async(&mut self, op: &Op, site: u32, pc: u32, frame: Frame, active: u32) {
        let Some(site) = self.launch.program.copies.get(site as usize).copied() else { return };
        let to = Op { a: site.to.slot, immediate: site.to.offset, ..*op };
        let from = Op { a: site.from.slot, immediate: site.from.offset, ..*op };
        let (to, mask) = self.addresses(pc, &to, site.to.base, frame, active);
        let (lengths, mask) = self.copy_lengths(pc, &site, frame, mask);
        let reads = super::lanes::bits(|lane| lengths[lane] != 0) & mask;
        let (from, reading) = self.addresses(pc, &from, site.from.base, frame, reads);
        let mask = mask & !reads | reading;
        let (moved, mask) = self.copy_sources(pc, &site, &from, &lengths, mask);
        let words = usize::from(site.bytes) / 4;
        let target = Part { pc, addresses: &to, mask, element: 4, count: words };
        if mask != 0 {
            self.count_shared(&target);
        }
        for lane in target.lanes() {
            let Some(offset) = self.place_shared(&target, lane) else { continue };
            let mut bytes = [0; 16];
            let mut undefined = 0;
            for word in 0..words {
                let value = moved.values[word][lane] as u32;
                bytes[4 * word..4 * word + 4].copy_from_slice(&value.to_le_bytes());
                undefined |= ((moved.undefined[word] >> lane & 1) as u8) << word;
            }
            let thread = (self.warp.index, lane as u32);
            let copies = &mut self.block.copies;
            let (group, sequence) = (*copies.group(thread), copies.next_sequence());
            copies.cover(offset, usize::from(site.bytes));
            let size = site.bytes;
            copies.pending.push(PendingCopy {
                thread,
                pc,
                group,
                sequence,
                offset,
                bytes,
                size,
                undefined,
            });
        }
    }

    /// The number of bytes that each lane reads, and the lanes for which it is initialised.
    fn copy_lengths(
        &mut self,
        pc: u32,
        site: &CopySite,
        frame: Frame,
        mask: u32,
    ) -> ([u32; LANES], u32) {
        let whole = u32::from(site.bytes);
        let lanes = self.lanes(frame, mask);
        let (mut lengths, undefined) = match site.length {
            CopyLength::Whole => ([whole; LANES], 0),
            CopyLength::Bytes(slot) => (lanes.word(slot), lanes.word_undefined(slot)),
            CopyLength::Unless(slot) => {
                let none = lanes.predicate(slot);
                let length = |lane| if none >> lane & 1 == 1 { 0 } else { whole };
                (std::array::from_fn(length), lanes.predicate_undefined(slot))
            }
        };
        let undefined = undefined & mask;
        if undefined != 0 {
            self.report_undefined(pc, undefined, "the source size of an asynchronous copy");
        }
        let too_many = super::lanes::bits(|lane| lengths[lane] > whole) & mask & !undefined;
        if too_many != 0 {
            let lane = too_many.trailing_zeros();
            let length = lengths[lane as usize];
            let text = format!("an asynchronous copy of {whole} bytes reads {length} bytes");
            self.report(pc, Finding::new(FaultKind::OutOfBounds, lane, text));
        }
        lengths.iter_mut().for_each(|length| *length = (*length).min(whole));
        (lengths, mask & !undefined & !too_many)
    }

    /// The source bytes of each lane, padded with zeros. Lanes whose source is invalid are removed from the mask.
    fn copy_sources(
        &mut self,
        pc: u32,
        site: &CopySite,
        from: &Doubles,
        lengths: &[u32; LANES],
        mask: u32,
    ) -> (Moved, u32) {
        let whole = u32::from(site.bytes);
        let mut moved = Moved::nothing();
        let words = whole / 4;
        let all = super::lanes::bits(|lane| lengths[lane] == whole) & mask;
        let part = Part { pc, addresses: from, mask: all, element: 4, count: words as usize };
        let mut failed = 0;
        if all != 0 {
            for lane in part.lanes() {
                let bad = self.place_global(&part, lane).is_none();
                failed |= u32::from(bad) << lane;
            }
            let part = Part { mask: all & !failed, ..part };
            let spaces = Spaces { global: part.mask, shared: 0, local: 0 };
            self.race_load(&part, Ordering::Weak, &spaces);
            self.load_global(&part, &mut moved);
        }
        let some = super::lanes::bits(|lane| (1..whole).contains(&lengths[lane])) & mask;
        for lane in (0..LANES).filter(|lane| some >> lane & 1 == 1) {
            for byte in 0..lengths[lane] {
                let addresses = from.map(|address| address.wrapping_add(u64::from(byte)));
                let part =
                    Part { pc, addresses: &addresses, mask: 1 << lane, element: 1, count: 1 };
                if self.place_global(&part, lane).is_none() {
                    failed |= 1 << lane;
                    break;
                }
                let mut one = Moved::nothing();
                let spaces = Spaces { global: part.mask, shared: 0, local: 0 };
                self.race_load(&part, Ordering::Weak, &spaces);
                self.load_global(&part, &mut one);
                let (word, shift) = ((byte / 4) as usize, 8 * (byte % 4));
                moved.values[word][lane] |= one.values[0][lane] << shift;
                moved.undefined[word] |= one.undefined[0];
            }
        }
        (moved, mask & !failed)
    }

    /// Commits the copies since the last group as one group, for each lane.
    pub(super) fn commit_copies(&mut self, mask: u32) {
        for lane in (0..LANES as u32).filter(|lane| mask >> lane & 1 == 1) {
            let group = self.block.copies.group((self.warp.index, lane));
            *group = group.wrapping_add(1);
        }
    }

    /// Completes all but the last groups of these lanes.
    pub(super) fn wait_for_groups(&mut self, mask: u32, pending: u32) {
        let groups = std::mem::take(&mut self.block.copies.groups);
        let warp = self.warp.index;
        self.complete(|copy| {
            let (of, lane) = copy.thread;
            let thread = of as usize * LANES + lane as usize;
            let open = groups.get(thread).copied().unwrap_or(0);
            of == warp && mask >> lane & 1 == 1 && copy.group.saturating_add(pending) < open
        });
        self.block.copies.groups = groups;
        self.arrive_after_copies();
    }

    /// Completes all copies of these lanes, whether committed or not.
    pub(super) fn wait_for_all_copies(&mut self, mask: u32) {
        let warp = self.warp.index;
        self.complete(|copy| copy.thread.0 == warp && mask >> copy.thread.1 & 1 == 1);
        self.arrive_after_copies();
    }

    /// Drops the copies of lanes that exit; no wait can complete them any more.
    pub(super) fn end_copies(&mut self, mask: u32) {
        if !self.block.copies.pending.is_empty() {
            self.wait_for_all_copies(mask);
        }
    }

    /// Records an arrival at a barrier object when the copies so far complete.
    pub(super) fn arrive_after(
        &mut self,
        op: &Op,
        (space, pending, base): (Space, Pending, BaseKind),
        pc: u32,
        (frame, active): (Frame, u32),
    ) {
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        Self::spaces(space, base, &mut addresses, mask);
        let part = Part { pc, addresses: &addresses, mask, element: 8, count: 1 };
        for lane in part.lanes() {
            let Some(barrier) = self.place_shared(&part, lane) else { continue };
            if pending == Pending::Increment && !self.expect_one_more(pc, lane as u32, barrier) {
                continue;
            }
            self.trace_contribution(barrier);
            self.issue_for_phase(lane as u32, pc, barrier);
            let thread = (self.warp.index, lane as u32);
            let sequence = self.block.copies.next_sequence();
            self.block.copies.arrivals.push(PendingArrival { thread, pc, sequence, barrier });
        }
        self.arrive_after_copies();
    }

    /// Completes asynchronous operations that a thread waits for at a barrier object, until its test passes: PTX does not
    /// order them, so that the others may complete at any later time.
    pub(super) fn settle(&mut self, barrier: usize, test: PhaseTest) {
        self.settle_loads(barrier, test);
        self.settle_deliveries(barrier, test);
        if self.block.copies.arrivals.is_empty() || self.passes(barrier, test) {
            return;
        }
        let copies = &self.block.copies;
        let arrivals: Vec<PendingArrival> =
            copies.arrivals.iter().filter(|arrival| arrival.barrier == barrier).copied().collect();
        self.complete(|copy| {
            arrivals
                .iter()
                .any(|arrival| arrival.thread == copy.thread && copy.sequence < arrival.sequence)
        });
        self.arrive_after_copies();
    }

    fn arrive_after_copies(&mut self) {
        if self.block.copies.arrivals.is_empty() {
            return;
        }
        for arrival in self.block.copies.due() {
            self.race_arrival(arrival.thread, arrival.pc, arrival.barrier);
            self.complete_in_phase(arrival.thread, arrival.pc, arrival.barrier);
            self.arrive_at(arrival.pc, arrival.thread.1, arrival.barrier, 1);
        }
    }

    /// Completes the selected copies: each becomes a store of its thread.
    fn complete(&mut self, is_due: impl Fn(&PendingCopy) -> bool) {
        if self.block.copies.pending.is_empty() {
            return;
        }
        let (due, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.block.copies.pending).into_iter().partition(is_due);
        self.block.copies.pending = rest;
        if !due.is_empty() {
            self.launch.changes += 1;
        }
        for copy in due {
            let size = usize::from(copy.size);
            self.race_copy(copy.thread, copy.pc, (copy.offset, size));
            let shared = &mut self.block.shared;
            for (word, bytes) in copy.bytes[..size].as_chunks::<4>().0.iter().enumerate() {
                let is_undefined = copy.undefined >> word & 1 == 1;
                shared.write_word(copy.offset + 4 * word, u32::from_le_bytes(*bytes), is_undefined);
            }
            self.block.copies.uncover(copy.offset, size);
        }
    }

    /// Reports an access to bytes that a pending copy will write.
    pub(super) fn check_pending(&mut self, part: &Part<'_>, lane: usize, offset: usize) {
        let bytes = part.bytes() as usize;
        if !self.block.copies.covers(offset, bytes) {
            return;
        }
        let Some((copier, pc)) = self.block.copies.touching(offset, bytes) else { return };
        let (place, source_line) = self.launch.program.place(self.launch.module, pc);
        let [x, y, _] = self.launch.block;
        let linear = copier.0 * LANES as u32 + copier.1;
        let thread = [linear % x, linear / x % y, linear / (x * y)];
        let (buffer, _) = self.launch.shared.describe(part.addresses[lane], part.bytes());
        let name = buffer.as_deref().unwrap_or("shared memory");
        let details = format!(
            "bytes of `{name}` that a pending asynchronous copy at PTX {place} will write; no wait completed it"
        );
        let access = "asynchronous copy";
        let block = self.launch.peers.owner().unwrap_or(self.block.index);
        let finding = Finding {
            kind: FaultKind::MissingWait,
            lane: lane as u32,
            address: Some(part.addresses[lane]),
            buffer,
            other: Some(ConflictingAccess { block, thread, place, source_line, access }),
            details,
        };
        self.report(part.pc, finding);
    }
}
