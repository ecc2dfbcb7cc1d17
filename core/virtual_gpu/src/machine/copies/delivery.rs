//! Asynchronous writes to shared memory of blocks of the cluster: `st.async`, `red.async`, bulk copies from shared
//! memory, and bulk loads with several destinations. PTX ISA, sections "st.async", "red.async" and "cp.async.bulk".
//!
//! Each destination block records a delivery: bytes, and as many transactions of a barrier object of that block. It
//! completes when a thread of the block waits for the phase of the barrier object; until then, an access to the bytes is a missing wait.

use std::sync::Arc;

use super::super::super::isa::atomic::Atomic;
use super::super::super::isa::memory::Space;
use super::super::super::lower::code::{AddressSlot, ClusterSource, Op, Slot};
use super::super::access::{Part, Spot};
use super::super::atomic::bytes as bytes_of_update;
use super::super::fault::{FaultKind, Finding};
use super::super::mbarrier::PhaseTest;
use super::super::run::Worker;
use super::super::shared::Word;
use super::super::warp::{Frame, LANES};
use super::Copies;
use super::bulk::BulkCopy;
use super::origins::LoadedBox;

/// A thread of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Issuer {
    pub(in super::super) rank: u32,
    pub(in super::super) warp: u32,
    pub(in super::super) lane: u32,
}

/// What a delivery changes.
#[derive(Clone, Debug)]
pub(in super::super) enum Payload {
    /// Consecutive words, written by a store of a thread.
    Stored(Vec<Word>),
    /// Consecutive words, written by a bulk copy, and the box that they belong to, if it is recorded.
    Copied(Vec<Word>, Option<Arc<LoadedBox>>),
    /// A read-modify-write.
    Update(Atomic, u64),
}

/// A write to the shared memory of a block that no test of its barrier object has completed.
#[derive(Clone, Debug)]
pub(in super::super) struct Delivery {
    pub(in super::super) issuer: Issuer,
    pub(in super::super) pc: u32,
    /// Offset in shared memory, in bytes.
    pub(in super::super) offset: usize,
    pub(in super::super) payload: Payload,
    /// Offset of the barrier object in shared memory, in bytes.
    pub(in super::super) barrier: usize,
}

impl Delivery {
    pub(super) fn bytes(&self) -> usize {
        match &self.payload {
            Payload::Stored(words) | Payload::Copied(words, _) => 4 * words.len(),
            Payload::Update(atomic, _) => bytes_of_update(atomic.update) as usize,
        }
    }
}

impl Copies {
    fn begin_delivery(&mut self, delivery: Delivery) {
        self.cover(delivery.offset, delivery.bytes());
        if let Payload::Copied(_, Some(loaded)) = &delivery.payload {
            self.origins.record(loaded);
        }
        self.deliveries.push(delivery);
    }
}

/// The destination of one lane's write.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) pc: u32,
    pub(super) lane: usize,
    /// The address of the bytes in shared memory, without a block.
    pub(super) to: u64,
    /// The address of the barrier object in shared memory, without a block.
    pub(super) barrier: u64,
    /// The number of bytes, which is also that of the transactions.
    pub(super) bytes: u32,
    /// One bit for the rank of each destination block.
    pub(super) ranks: u32,
}

impl Worker<'_, '_> {
    pub(in super::super) fn write_to_cluster(
        &mut self,
        op: &Op,
        site: u32,
        pc: u32,
        (frame, active): (Frame, u32),
    ) {
        let Some(site) = self.launch.program.cluster_writes.get(site as usize).copied() else {
            return;
        };
        let (to, mask) = self.window_addresses(op, &site.to, pc, frame, active);
        let (barriers, mask) = self.window_addresses(op, &site.barrier, pc, frame, mask);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let ((rank, to), (barrier_rank, barrier)) = (to[lane], barriers[lane]);
            if rank != barrier_rank {
                let text = "the destination and the mbarrier object lie in different blocks";
                self.report(pc, Finding::new(FaultKind::OutOfBounds, lane as u32, text));
                continue;
            }
            let target = Target { pc, lane, to, barrier, bytes: 0, ranks: 1 << rank };
            self.write_of_lane(op, site.source, target, frame);
        }
    }

    /// The rank of the block, and the address without a block, of addresses of `shared::cluster`.
    fn window_addresses(
        &mut self,
        op: &Op,
        address: &AddressSlot,
        pc: u32,
        frame: Frame,
        mask: u32,
    ) -> ([(u32, u64); LANES], u32) {
        let (mut addresses, mask) = self.slot_addresses(op, address, pc, frame, mask);
        let remote = self.take_remote(Space::SharedCluster, &mut addresses, mask);
        let own = self.launch.peers.own_rank();
        let of = |lane| (remote.rank(lane).unwrap_or(own), addresses[lane]);
        (std::array::from_fn(of), mask)
    }

    fn write_of_lane(&mut self, op: &Op, source: ClusterSource, target: Target, frame: Frame) {
        let Target { pc, lane, to, .. } = target;
        match source {
            ClusterSource::Registers { list: (start, count), is_wide } => {
                let slots = &self.launch.program.lists[start as usize..][..usize::from(count)];
                let words = self.register_words(slots, is_wide, lane, frame);
                let target = Target { bytes: 4 * words.len() as u32, ..target };
                if self.is_valid_target(target, target.bytes) {
                    self.deliver(target, &Payload::Stored(words));
                }
            }
            ClusterSource::Update { atomic, value } => {
                let bytes = bytes_of_update(atomic.update);
                let lanes = self.lanes(frame, 1 << lane);
                let (values, undefined) = lanes.any(value, bytes == 8);
                if undefined >> lane & 1 == 1 {
                    self.report_undefined(pc, 1 << lane, "the operand of an atomic operation");
                }
                let target = Target { bytes, ..target };
                if self.is_valid_target(target, bytes) {
                    self.deliver(target, &Payload::Update(atomic, values[lane]));
                }
            }
            ClusterSource::Global { from, bytes, ranks } => {
                let Some((from, bytes)) = self.bulk_source(op, &from, bytes, target, frame) else {
                    return;
                };
                let Some(ranks) = self.destination_ranks((pc, lane), ranks, frame) else { return };
                let copy = BulkCopy { pc, lane, global: from, shared: to, bytes };
                if !self.is_valid_bulk(copy) {
                    return;
                }
                let mut words = vec![Word::default(); bytes as usize / 4];
                self.read_global_words(copy, &mut words);
                self.deliver(Target { bytes, ranks, ..target }, &Payload::Copied(words, None));
            }
            ClusterSource::Shared { from, bytes } => {
                let Some((from, bytes)) = self.bulk_source(op, &from, bytes, target, frame) else {
                    return;
                };
                let target = Target { bytes, ..target };
                let copy = BulkCopy { pc, lane, global: 0, shared: from, bytes };
                if self.is_valid_target(target, 16)
                    && self.is_valid_target(Target { to: from, ..target }, 16)
                    && let Some(words) = self.read_shared_words(copy)
                {
                    self.deliver(target, &Payload::Copied(words, None));
                }
            }
        }
    }

    fn register_words(
        &mut self,
        slots: &[Slot],
        is_wide: bool,
        lane: usize,
        frame: Frame,
    ) -> Vec<Word> {
        let lanes = self.lanes(frame, 1 << lane);
        let mut words = Vec::with_capacity(4);
        for slot in slots {
            let (values, undefined) = lanes.any(*slot, is_wide);
            let is_undefined = undefined >> lane & 1 == 1;
            words.push(Word { value: values[lane] as u32, is_undefined });
            if is_wide {
                words.push(Word { value: (values[lane] >> 32) as u32, is_undefined });
            }
        }
        words
    }

    /// The source address and the size of a bulk copy.
    fn bulk_source(
        &mut self,
        op: &Op,
        from: &AddressSlot,
        bytes: Slot,
        Target { pc, lane, .. }: Target,
        frame: Frame,
    ) -> Option<(u64, u32)> {
        let lanes = self.lanes(frame, 1 << lane);
        let (sizes, undefined) = (lanes.word(bytes), lanes.word_undefined(bytes));
        if undefined >> lane & 1 == 1 {
            self.report_undefined(pc, 1 << lane, "the size of a bulk copy");
            return None;
        }
        let (addresses, mask) = self.slot_addresses(op, from, pc, frame, 1 << lane);
        (mask != 0).then_some((addresses[lane], sizes[lane]))
    }

    /// The mask of destination blocks of a lane, one bit for each rank; none if it is uninitialised.
    pub(super) fn destination_ranks(
        &mut self,
        (pc, lane): (u32, usize),
        ranks: Slot,
        frame: Frame,
    ) -> Option<u32> {
        let lanes = self.lanes(frame, 1 << lane);
        let (masks, undefined) = (lanes.word(ranks), lanes.word_undefined(ranks));
        if undefined >> lane & 1 == 1 {
            self.report_undefined(pc, 1 << lane, "the mask of destination blocks");
            return None;
        }
        Some(masks[lane] & 0xffff)
    }

    /// Checks the alignment and the bounds of a destination.
    fn is_valid_target(&mut self, target: Target, alignment: u32) -> bool {
        let Target { pc, lane, to, bytes, .. } = target;
        let is_aligned = to.is_multiple_of(u64::from(alignment)) && bytes.is_multiple_of(alignment);
        if is_aligned && self.launch.shared.place(to, bytes).is_some() {
            return bytes > 0;
        }
        let (kind, (buffer, details)) = if is_aligned {
            (FaultKind::OutOfBounds, self.launch.shared.describe(to, bytes))
        } else {
            let text = format!("{bytes} bytes at {to:#x}; both must be multiples of {alignment}");
            (FaultKind::Misaligned, (None, text))
        };
        let finding = Finding::new(kind, lane as u32, details);
        self.report(pc, Finding { address: Some(to), buffer, ..finding });
        false
    }

    /// Delivers bytes to each destination block, at the same offset, with transactions of the barrier object at the same
    /// offset.
    pub(super) fn deliver(&mut self, target: Target, payload: &Payload) {
        let Target { pc, lane, to, barrier, bytes, ranks } = target;
        let own = self.launch.peers.own_rank();
        let issuer = Issuer { rank: own, warp: self.warp.index, lane: lane as u32 };
        let (barriers, mask) = ([barrier; LANES], 1 << lane);
        let part = Part { pc, addresses: &barriers, mask, element: 8, count: 1 };
        for rank in (0..u32::BITS).filter(|rank| ranks >> rank & 1 == 1) {
            if rank >= self.launch.peers.ranks() {
                let count = self.launch.peers.ranks();
                let text =
                    format!("a write to the block of rank {rank} in a cluster of {count} blocks");
                self.report(pc, Finding::new(FaultKind::OutOfBounds, lane as u32, text));
                continue;
            }
            let begin = |worker: &mut Self| {
                let Some(barrier) = worker.place_shared(&part, lane) else { return };
                let Some(offset) = worker.launch.shared.place(to, bytes) else { return };
                let range = (offset, bytes as usize);
                worker.check_pending_operands(pc, lane as u32, range);
                worker.check_mbarrier_overwritten(pc, lane as u32, range);
                if worker.barrier_at(pc, lane as u32, barrier).is_some() {
                    worker.trace_contribution(barrier);
                    worker.issue_for_phase(lane as u32, pc, barrier);
                    let payload = payload.clone();
                    let delivery = Delivery { issuer, pc, offset, payload, barrier };
                    worker.block.copies.begin_delivery(delivery);
                    worker.launch.changes += 1;
                }
            };
            if rank == own {
                begin(self);
            } else {
                self.in_peer(rank, &part, |worker| {
                    worker.check_published(&part);
                    begin(worker);
                });
            }
        }
    }

    /// Completes deliveries, the oldest first, until a test of their barrier object passes.
    pub(super) fn settle_deliveries(&mut self, barrier: usize, test: PhaseTest) {
        while !self.passes(barrier, test) {
            let deliveries = &mut self.block.copies.deliveries;
            let of_barrier = |delivery: &Delivery| delivery.barrier == barrier;
            let Some(oldest) = deliveries.iter().position(of_barrier) else { return };
            let delivery = deliveries.remove(oldest);
            self.launch.changes += 1;
            let Delivery { issuer, pc, offset, payload, .. } = &delivery;
            let bytes = delivery.bytes();
            let thread = (issuer.warp, issuer.lane);
            self.as_block(issuer.rank, |worker| match payload {
                Payload::Stored(_) => worker.race_copy(thread, *pc, (*offset, bytes)),
                Payload::Copied(..) => worker.race_bulk_load(thread, *pc, (*offset, bytes)),
                Payload::Update(atomic, _) => {
                    worker.race_update(thread, *pc, (*offset, bytes), *atomic);
                }
            });
            match payload {
                Payload::Stored(words) | Payload::Copied(words, _) => {
                    self.block.shared.write_words(*offset, words);
                }
                Payload::Update(atomic, value) => {
                    let (_, known) = self.swap(&Spot::Shared(*offset), *atomic, *value, 0, bytes);
                    if !known {
                        let text = "the memory that an asynchronous atomic operation updates is uninitialised";
                        let finding = Finding::new(FaultKind::UninitializedRead, issuer.lane, text);
                        self.as_block(issuer.rank, |worker| worker.report(*pc, finding));
                    }
                }
            }
            self.as_block(issuer.rank, |worker| {
                worker.race_arrival(thread, *pc, barrier);
                worker.complete_in_phase(thread, *pc, barrier);
            });
            self.complete_transactions(*pc, issuer.lane, barrier, bytes as u32);
            self.block.copies.uncover(*offset, bytes);
        }
    }
}
