//! Barrier objects in shared memory. PTX ISA 9.7.13.15 "mbarrier".
//!
//! The format of the object is implementation-defined in PTX. Here it holds the pending arrivals of the phase, the
//! expected arrivals of each phase, the transaction count in bytes, and the low bits of the phase number. An arrival
//! returns the object as it was before.

use super::super::isa::barrier::FenceOrder;
use super::super::isa::mbarrier::{
    Arrival, Mbarrier, Participation, Patience, Phase, Synchronisation, TransactionChange,
};
use super::super::isa::memory::Scope;
use super::super::lower::code::{BaseKind, Op};
use super::access::Part;
use super::fault::{FaultKind, Finding};
use super::launch::Races;
use super::run::{BlockState, Worker};
use super::warp::{Frame, LANES};

/// The size of a barrier object. PTX ISA, "mbarrier".
const BYTES: usize = 8;
const COUNT_BITS: u32 = 20;
/// The largest number of arrivals that a barrier object can expect. PTX ISA 9.7.13.15.9 "mbarrier.init".
const MOST: u32 = (1 << COUNT_BITS) - 1;
/// The bits of the transaction count, which is signed.
const TRANSACTION_BITS: u32 = 21;
/// The largest transaction count. PTX ISA, "mbarrier", "Tracking asynchronous operations".
const MOST_TRANSACTIONS: i32 = (1 << 20) - 1;
/// The bits of the number of a phase.
pub(super) const PHASE_MASK: u32 = (1 << 3) - 1;

/// The content of a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pending: u32,
    expected: u32,
    transactions: i32,
    /// The low bits of the number of phases that have ended.
    pub(super) phase: u32,
}

impl State {
    fn from_word(word: u64) -> Self {
        Self {
            pending: word as u32 & MOST,
            expected: (word >> COUNT_BITS) as u32 & MOST,
            transactions: (((word >> (2 * COUNT_BITS)) as u32) << (32 - TRANSACTION_BITS)) as i32
                >> (32 - TRANSACTION_BITS),
            phase: (word >> (2 * COUNT_BITS + TRANSACTION_BITS)) as u32 & PHASE_MASK,
        }
    }

    fn word(self) -> u64 {
        u64::from(self.pending)
            | u64::from(self.expected) << COUNT_BITS
            | u64::from(self.transactions as u32 & ((1 << TRANSACTION_BITS) - 1))
                << (2 * COUNT_BITS)
            | u64::from(self.phase) << (2 * COUNT_BITS + TRANSACTION_BITS)
    }

    /// The state after `count` arrivals; none if the phase expects fewer.
    fn arrived(self, count: u32) -> Option<Self> {
        let pending = self.pending.checked_sub(count)?;
        Some(Self { pending, ..self }.settled())
    }

    /// The state after a change of the transaction count; none if the count is out of range.
    fn transferred(self, bytes: i64) -> Option<Self> {
        let transactions = i32::try_from(i64::from(self.transactions) + bytes).ok()?;
        let is_valid = transactions.abs() <= MOST_TRANSACTIONS;
        is_valid.then(|| Self { transactions, ..self }.settled())
    }

    /// Whether nothing has happened in the phase.
    const fn is_idle(self) -> bool {
        self.pending == self.expected && self.transactions == 0
    }

    /// The next phase, if neither arrivals nor transactions are pending.
    fn settled(self) -> Self {
        if self.pending > 0 || self.transactions != 0 {
            return self;
        }
        Self { pending: self.expected, phase: self.phase.wrapping_add(1) & PHASE_MASK, ..self }
    }
}

/// A test of a barrier object.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseTest {
    phase: Phase,
    /// The parity, or the word of the state.
    wanted: u64,
}

impl PhaseTest {
    /// Whether the phase is complete.
    fn passes(self, state: State) -> bool {
        match self.phase {
            // Only the current phase and the one before it may be tested (PTX ISA, "mbarrier.test_wait"). Of an older
            // one an H200, too, compares only the parity.
            Phase::State => (State::from_word(self.wanted).phase ^ state.phase) & 1 == 1,
            Phase::Parity => self.wanted & 1 != u64::from(state.phase & 1),
        }
    }
}

/// The barrier objects that a message names.
const MOST_NAMED: usize = 8;

/// The last test of a barrier object by a warp, if it found the phase incomplete.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedTest {
    /// Offset of the barrier object in shared memory, in bytes.
    offset: usize,
}

impl BlockState {
    /// The arrivals and bytes that phases of barrier objects wait for, and the warps that wait for the phases, as an
    /// addition to a message; empty if no phase has begun and no warp waits.
    pub(super) fn outstanding_barriers(&self) -> String {
        let states = self.mbarriers.iter().map(|offset| {
            let word = self.shared.read(*offset, 8);
            (*offset, State::from_word(word))
        });
        let named = states.filter(|(offset, state)| {
            !state.is_idle() || state.phase != 0 || self.first_waiting_warp(*offset).is_some()
        });
        let texts = named.take(MOST_NAMED).map(|(offset, state)| {
            let State { pending, expected, transactions, phase } = state;
            let parity = phase % 2;
            let waiting = self.first_waiting_warp(offset).map_or_else(String::new, |warp| {
                let cause = if state.is_idle() {
                    ": no thread has arrived in this phase, so the arrival is missing or the parity of the wait is wrong"
                } else {
                    ""
                };
                format!(", and warp {warp} waits for the end of this phase{cause}")
            });
            format!(
                "; the mbarrier object at offset {offset} of shared memory, in a phase of parity {parity}, waits for \
                 {pending} of {expected} arrivals and {transactions} bytes{waiting}"
            )
        });
        texts.collect()
    }

    /// Whether a barrier object lies in any of these bytes of shared memory.
    #[inline]
    pub(super) fn has_mbarrier(&self, start: usize, end: usize) -> bool {
        !self.mbarriers.is_empty() && self.first_mbarrier(start, end).is_some()
    }

    fn first_mbarrier(&self, start: usize, end: usize) -> Option<usize> {
        self.mbarriers.range((start + 1).saturating_sub(BYTES)..end).next().copied()
    }

    fn first_waiting_warp(&self, offset: usize) -> Option<u32> {
        let mut tests = self.failed_tests.iter();
        tests.find(|(_, test)| test.offset == offset).map(|(warp, _)| *warp)
    }
}

impl Worker<'_, '_> {
    pub(super) fn mbarrier(
        &mut self,
        op: &Op,
        (what, base): (Mbarrier, BaseKind),
        pc: u32,
        (frame, active): (Frame, u32),
    ) {
        let space = match what {
            Mbarrier::Initialise(space)
            | Mbarrier::Invalidate(space)
            | Mbarrier::Arrive(space, ..)
            | Mbarrier::Transactions(space, _)
            | Mbarrier::Wait(space, ..) => space,
            Mbarrier::PendingCount => {
                let mut lanes = self.lanes(frame, active);
                let (states, undefined) = (lanes.double(op.b), lanes.double_undefined(op.b));
                let counts = states.map(|state| State::from_word(state).pending);
                lanes.set_word(op.d, &counts, undefined);
                return;
            }
        };
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        let remote = self.take_remote(space, &mut addresses, mask);
        let mask = mask & !remote.mask;
        Self::spaces(space, base, &mut addresses, mask);
        let part = Part { pc, addresses: &addresses, mask, element: 8, count: 1 };
        for (rank, lanes) in remote.by_rank() {
            self.mbarrier_of_peer(op, what, rank, &Part { mask: lanes, ..part }, frame);
        }
        match what {
            Mbarrier::Initialise(_) => {
                let counts = self.barrier_counts(pc, op, frame, mask);
                for lane in part.lanes() {
                    let Some(offset) = self.place_shared(&part, lane) else { continue };
                    self.initialise(pc, lane as u32, offset, counts[lane]);
                }
            }
            Mbarrier::Invalidate(_) => {
                for lane in part.lanes() {
                    let Some(offset) = self.place_shared(&part, lane) else { continue };
                    if self.barrier_at(pc, lane as u32, offset).is_some() {
                        self.launch.changes += 1;
                        self.block.mbarriers.remove(&offset);
                        self.block.shared.mark_uninitialised(offset, 8);
                    }
                }
            }
            Mbarrier::Arrive(_, participation, arrival, how) => {
                self.arrive(op, &part, (participation, arrival, how), frame);
            }
            Mbarrier::Transactions(_, change) => self.change_transactions(op, &part, change, frame),
            Mbarrier::Wait(_, patience, phase, how) => {
                self.wait(op, &part, (patience, phase, how), (frame, active));
            }
            Mbarrier::PendingCount => {}
        }
    }

    /// An operation on barrier objects of another block: arrivals and transactions only.
    fn mbarrier_of_peer(
        &mut self,
        op: &Op,
        what: Mbarrier,
        rank: u32,
        part: &Part<'_>,
        frame: Frame,
    ) {
        match what {
            Mbarrier::Arrive(_, participation, arrival, how) => {
                self.in_peer(rank, part, |worker| {
                    worker.check_published(part);
                    worker.arrive(op, part, (participation, arrival, how), frame);
                });
            }
            Mbarrier::Transactions(_, change) => {
                self.in_peer(rank, part, |worker| {
                    worker.check_published(part);
                    worker.change_transactions(op, part, change, frame);
                });
            }
            Mbarrier::Initialise(_)
            | Mbarrier::Invalidate(_)
            | Mbarrier::Wait(..)
            | Mbarrier::PendingCount => {
                let text = "an mbarrier object of another block, which this instruction does not support: only \
                            arrivals and transactions do";
                let lane = part.mask.trailing_zeros();
                self.report(part.pc, Finding::new(FaultKind::OutOfBounds, lane, text));
            }
        }
    }

    /// Checks that barrier objects of another block are visible to the cluster (rule 33).
    pub(super) fn check_published(&mut self, part: &Part<'_>) {
        if self.launch.checks.races == Races::Ignored {
            return;
        }
        for lane in part.lanes() {
            let place = self.launch.shared.place(part.addresses[lane], part.bytes());
            let is_unpublished =
                place.is_some_and(|offset| self.block.unpublished_mbarriers.contains_key(&offset));
            if !is_unpublished {
                continue;
            }
            if self.launch.checks.races != Races::Strict {
                self.launch.accepted.insert((33, part.pc));
                continue;
            }
            let text = format!(
                "an mbarrier object{} that no fence makes visible to the cluster; execute \
                 `fence.mbarrier_init.release.cluster` in the thread that initialises it, before the cluster barrier",
                self.launch.peers.owner_text()
            );
            self.report(part.pc, Finding::new(FaultKind::DataRace, lane as u32, text));
        }
    }

    /// These lanes make the barrier objects that they have initialised visible to the cluster.
    pub(super) fn publish_mbarriers(&mut self, mask: u32) {
        if !self.has_peers() {
            return;
        }
        let warp = self.warp.index;
        self.block
            .unpublished_mbarriers
            .retain(|_, (by, lane)| *by != warp || mask >> *lane & 1 == 0);
        // A later relaxed arrival at the cluster barrier publishes it (rule 32).
        self.race_fence(mask, FenceOrder::Release, Scope::Cluster);
    }

    fn change_transactions(
        &mut self,
        op: &Op,
        part: &Part<'_>,
        change: TransactionChange,
        frame: Frame,
    ) {
        let bytes = self.barrier_counts(part.pc, op, frame, part.mask);
        for lane in part.lanes() {
            let Some(offset) = self.place_shared(part, lane) else { continue };
            self.trace_contribution(offset);
            self.take_part_in_phase(lane as u32, part.pc, offset);
            let bytes = i64::from(bytes[lane]);
            let bytes = match change {
                TransactionChange::Expect => bytes,
                TransactionChange::Complete => -bytes,
            };
            self.transfer(part.pc, lane as u32, offset, bytes);
        }
    }

    fn barrier_counts(&mut self, pc: u32, op: &Op, frame: Frame, mask: u32) -> [u32; LANES] {
        if op.b.is_none() {
            return [1; LANES];
        }
        let lanes = self.lanes(frame, mask);
        let (counts, undefined) = (lanes.word(op.b), lanes.word_undefined(op.b) & mask);
        if undefined != 0 {
            self.report_undefined(pc, undefined, "the arrival count of an mbarrier object");
        }
        counts
    }

    fn initialise(&mut self, pc: u32, lane: u32, offset: usize, count: u32) {
        if count == 0 || count > MOST {
            let text = format!(
                "an mbarrier object with {count} expected arrivals; the range is 1 to {MOST}"
            );
            self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
            return;
        }
        self.race_initialisation((self.warp.index, lane), pc, offset);
        if self.block.mbarriers.contains(&offset) {
            let text = format!(
                "the mbarrier object at offset {offset} of shared memory is initialised a second time; let one thread \
                 initialise it, and execute `mbarrier.inval` before the memory holds another one"
            );
            self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
            return;
        }
        self.block.mbarriers.insert(offset);
        if self.has_peers() {
            self.block.unpublished_mbarriers.insert(offset, (self.warp.index, lane));
        }
        self.block.shared.mark_initialised(offset, 8);
        self.set_barrier(
            offset,
            State { pending: count, expected: count, transactions: 0, phase: 0 },
        );
        self.begin_phases(offset);
    }

    fn set_barrier(&mut self, offset: usize, state: State) {
        self.launch.changes += 1;
        self.block.shared.write(offset, 8, state.word());
    }

    fn change_barrier(&mut self, pc: u32, offset: usize, (before, after): (State, State)) {
        self.set_barrier(offset, after);
        if before.phase != after.phase {
            self.end_phase(pc, offset);
        }
    }

    /// The barrier object at an offset; reports a fault where no barrier is initialised.
    pub(super) fn barrier_at(&mut self, pc: u32, lane: u32, offset: usize) -> Option<State> {
        if self.block.mbarriers.contains(&offset) {
            return Some(self.mbarrier_state(offset));
        }
        let text = format!("no mbarrier object is initialised at offset {offset} of shared memory");
        self.report(pc, Finding::new(FaultKind::UninitializedRead, lane, text));
        None
    }

    /// Reports a write, other than by `mbarrier` instructions, to bytes of a barrier object.
    pub(super) fn check_mbarrier_overwritten(
        &mut self,
        pc: u32,
        lane: u32,
        (offset, bytes): (usize, usize),
    ) {
        let Some(object) = self.block.first_mbarrier(offset, offset + bytes) else { return };
        let text = format!(
            "a write to the mbarrier object at offset {object} of shared memory; execute `mbarrier.inval` before the \
             memory is used for other values"
        );
        self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
    }

    /// The bits at an offset, as the content of a barrier object.
    pub(super) fn mbarrier_state(&self, offset: usize) -> State {
        State::from_word(self.block.shared.read(offset, 8))
    }

    /// Whether a test of the barrier object at an offset passes now.
    pub(super) fn passes(&self, offset: usize, test: PhaseTest) -> bool {
        self.block.mbarriers.contains(&offset) && test.passes(self.mbarrier_state(offset))
    }

    fn arrive(
        &mut self,
        op: &Op,
        part: &Part<'_>,
        (participation, arrival, how): (Participation, Arrival, Synchronisation),
        frame: Frame,
    ) {
        let operands = self.barrier_counts(part.pc, op, frame, part.mask);
        let (counts, bytes) = match arrival {
            Arrival::Count | Arrival::CountWithoutCompletion => (operands, None),
            Arrival::Expect => ([1; LANES], Some(operands)),
        };
        let mut states = [0; LANES];
        for lane in part.lanes() {
            let Some(offset) = self.place_shared(part, lane) else { continue };
            let Some(before) = self.barrier_at(part.pc, lane as u32, offset) else { continue };
            states[lane] = before.word();
            self.trace_contribution(offset);
            self.take_part_in_phase(lane as u32, part.pc, offset);
            if let Some(bytes) = bytes {
                self.transfer(part.pc, lane as u32, offset, i64::from(bytes[lane]));
            }
            let Some(state) = self.barrier_at(part.pc, lane as u32, offset) else { continue };
            if participation == Participation::Leave {
                let expected = state.expected.saturating_sub(counts[lane]);
                self.set_barrier(offset, State { expected, ..state });
            }
            let excludes = arrival == Arrival::CountWithoutCompletion;
            if excludes && state.pending <= counts[lane] {
                let text = "an arrival with `.noComplete` completes the phase";
                let finding = Finding::new(FaultKind::BarrierDivergence, lane as u32, text);
                self.report(part.pc, finding);
            }
            self.race_arrival_with((self.warp.index, lane as u32), part.pc, offset, how);
            self.arrive_at(part.pc, lane as u32, offset, counts[lane]);
        }
        if !op.d.is_none() {
            self.lanes(frame, part.mask).set_double(op.d, &states, 0);
        }
    }

    /// Adds to the transaction count of a barrier object.
    fn transfer(&mut self, pc: u32, lane: u32, offset: usize, bytes: i64) {
        let Some(state) = self.barrier_at(pc, lane, offset) else { return };
        match state.transferred(bytes) {
            Some(next) => self.change_barrier(pc, offset, (state, next)),
            None => {
                let count = i64::from(state.transactions) + bytes;
                let text = format!(
                    "a transaction count of {count} bytes at an mbarrier object; it lies within ±{MOST_TRANSACTIONS}"
                );
                self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
            }
        }
    }

    /// Bytes of asynchronous operations have arrived.
    pub(super) fn complete_transactions(&mut self, pc: u32, lane: u32, offset: usize, bytes: u32) {
        self.transfer(pc, lane, offset, -i64::from(bytes));
    }

    /// Counts arrivals at a barrier object.
    pub(super) fn arrive_at(&mut self, pc: u32, lane: u32, offset: usize, count: u32) {
        let Some(state) = self.barrier_at(pc, lane, offset) else { return };
        match state.arrived(count) {
            Some(next) => self.change_barrier(pc, offset, (state, next)),
            None => {
                let pending = state.pending;
                let text = format!(
                    "{count} arrivals at an mbarrier object whose phase expects {pending} more"
                );
                self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
            }
        }
    }

    /// Increments the pending arrivals of the phase; returns whether there is a barrier object.
    pub(super) fn expect_one_more(&mut self, pc: u32, lane: u32, offset: usize) -> bool {
        let Some(state) = self.barrier_at(pc, lane, offset) else { return false };
        let pending = (state.pending + 1).min(MOST);
        self.set_barrier(offset, State { pending, ..state });
        true
    }

    fn wait(
        &mut self,
        op: &Op,
        part: &Part<'_>,
        (patience, phase, how): (Patience, Phase, Synchronisation),
        (frame, active): (Frame, u32),
    ) {
        match patience {
            // A thread that may be suspended may also return at once.
            Patience::None | Patience::Bounded => self.poll(part.pc),
        }
        let lanes = self.lanes(frame, part.mask);
        let (wanted, undefined) = match phase {
            Phase::State => (lanes.double(op.b), lanes.double_undefined(op.b)),
            Phase::Parity => (lanes.word(op.b).map(u64::from), lanes.word_undefined(op.b)),
        };
        let undefined = undefined & part.mask;
        if undefined != 0 {
            self.report_undefined(part.pc, undefined, "the phase of an mbarrier wait");
        }
        // Without a barrier object no thread should wait for ever.
        let mut complete = u32::MAX;
        let mut failed = None;
        for lane in part.lanes() {
            let Some(offset) = self.place_shared(part, lane) else { continue };
            let test = PhaseTest { phase, wanted: wanted[lane] };
            self.settle(offset, test);
            let Some(state) = self.barrier_at(part.pc, lane as u32, offset) else { continue };
            if test.passes(state) {
                self.race_passing((self.warp.index, lane as u32), part.pc, offset, how);
                self.pass_phase(lane as u32, part.pc, offset);
                self.trace_passed_wait(offset, state);
            } else {
                complete &= !(1 << lane);
                failed = Some(FailedTest { offset });
            }
        }
        if failed.is_some() {
            self.trace_failed_wait(part.pc);
            // Other warps must run before another attempt can pass.
            self.end_turn();
        }
        match failed {
            Some(test) => self.block.failed_tests.insert(self.warp.index, test),
            None => self.block.failed_tests.remove(&self.warp.index),
        };
        self.lanes(frame, active).set_predicate(op.d, complete, 0);
    }
}
