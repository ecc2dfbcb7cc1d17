//! The phases of barriers in every order of the warps (rule 45).
//!
//! A test of a barrier object sees only the parity of a phase, and an arrival counts in whatever phase is current. In a
//! correct protocol, the order that barriers themselves establish decides the phase of each of them. This check derives
//! that order from one run: each operation of a warp on a barrier knows the operations and the ends of phases that precede
//! it in every execution. If it knows enough, no order of the warps lets an operation meet another phase, so that all
//! executions have the order of this one. Otherwise an execution exists in which a wait ends too early or never, or an
//! arrival completes the wrong phase. A search of all interleavings would find the same, at a cost that grows
//! exponentially with warps and stages.
//!
//! The operations of a warp count as one sequence: the order of its lanes is left to the schedules.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::super::super::isa::mbarrier::Mbarrier;
use super::super::super::isa::memory::Ordering;
use super::super::super::lower::Program;
use super::super::super::lower::code::{Code, Op};
use super::super::barrier::BARRIERS;
use super::super::fault::{FaultKind, Finding};
use super::super::run::Worker;
use super::super::tensor::WARPS_OF_GROUP;
use super::clock::{Key, Known, Thread, learn};
use super::happens_before::Waits;

/// The groups of addresses through which strong accesses order warps. Two addresses of one group can only hide a defect.
const ADDRESS_GROUPS: usize = 64;

/// The end of a phase.
#[derive(Clone, Debug, Default)]
struct PhaseEnd {
    /// The operations that took part in the phase, with everything that precedes them.
    operations: Known,
    /// Whether asynchronous operations took part, whose completion only the end of the phase shows.
    is_asynchronous: bool,
}

/// A test of a barrier object that passed.
#[derive(Clone, Copy, Debug)]
struct PassedTest {
    thread: Thread,
    pc: u32,
    /// The number of the operation among those of its warp.
    number: u32,
}

/// An asynchronous operation that has not yet taken part in a phase.
#[derive(Clone, Debug)]
struct IssuedOperation {
    thread: Thread,
    pc: u32,
    before: Known,
}

/// A barrier object in shared memory, or one of the barriers of the block.
#[derive(Clone, Debug)]
struct PhasedBarrier {
    key: Key,
    /// The number of phases that have ended.
    ended: u32,
    /// The present phase.
    present: PhaseEnd,
    last: PhaseEnd,
    before_last: PhaseEnd,
    /// The last test of each warp that passed since the last phase ended.
    passed: Vec<PassedTest>,
    issued: Vec<IssuedOperation>,
    /// Warps that wait at a barrier of the block.
    waiting: Vec<u32>,
}

/// The operations on barriers by the threads of a block and on its barrier objects.
#[derive(Clone, Debug)]
pub(super) struct Phases {
    block: u32,
    /// By warp: the operations and the ends of phases that precede its next operation.
    warps: Vec<Known>,
    /// By offset in shared memory.
    objects: BTreeMap<usize, PhasedBarrier>,
    block_barriers: Vec<PhasedBarrier>,
    /// By group of addresses: what precedes strong accesses.
    memory: Vec<Known>,
    /// What precedes the arrivals at the barrier of the cluster since it last completed.
    cluster_arrivals: Known,
    warpgroups: Vec<Commits>,
}

/// The groups of products that the warps of a warpgroup have committed. A wait for a group ends when all of them have
/// (rule 31).
#[derive(Clone, Debug, Default)]
struct Commits {
    /// The number of the first group in `before`.
    first: u64,
    /// By group: what precedes the commits of the warps.
    before: VecDeque<Known>,
    /// The number of groups for whose end each warp has waited.
    complete: [u64; WARPS_OF_GROUP],
}

impl Commits {
    fn commit(&mut self, group: u64, before: &Known) {
        let index = group.saturating_sub(self.first) as usize;
        if self.before.len() <= index {
            self.before.resize(index + 1, None);
        }
        learn(&mut self.before[index], before);
    }

    /// What precedes the end of the groups before this one.
    fn wait(&mut self, warp: u32, complete: u64) -> Known {
        self.complete[warp as usize % WARPS_OF_GROUP] = complete;
        let last = complete.checked_sub(self.first + 1);
        let known = last.and_then(|index| self.before.get(index as usize)).cloned().flatten();
        let by_all = self.complete.into_iter().min().unwrap_or(0).saturating_sub(1);
        while self.first < by_all && self.before.pop_front().is_some() {
            self.first += 1;
        }
        known
    }
}

impl PhasedBarrier {
    fn new(key: Key) -> Self {
        Self {
            key,
            ended: 0,
            present: PhaseEnd::default(),
            last: PhaseEnd::default(),
            before_last: PhaseEnd::default(),
            passed: Vec::new(),
            issued: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Whether a phase has ended before an event in every execution. Phases are counted from one.
    fn ends_before(&self, phase: u32, end: &PhaseEnd, event: &Known) -> bool {
        let Some(event) = event else { return phase == 0 };
        let is_complete =
            || end.operations.as_ref().is_none_or(|operations| event.covers(operations));
        phase == 0 || event.time(self.key) >= phase || !end.is_asynchronous && is_complete()
    }

    /// An operation takes part in the present phase; returns whether it can take part in the phase before.
    fn take_part(&mut self, before: &Known) -> bool {
        learn(&mut self.present.operations, before);
        !self.ends_before(self.ended, &self.last, before)
    }

    /// The present phase ends; returns the tests of the phase before it that may come later.
    fn end(&mut self) -> Vec<PassedTest> {
        let operations = self.present.operations.as_deref();
        let comes_later = |test: &PassedTest| {
            operations.is_none_or(|known| known.time(Key::warp(test.thread)) < test.number)
        };
        let late = std::mem::take(&mut self.passed).into_iter().filter(comes_later).collect();
        self.ended += 1;
        self.before_last = std::mem::replace(&mut self.last, std::mem::take(&mut self.present));
        late
    }

    /// Everything that precedes a test that passes now.
    fn released(&self) -> Known {
        let mut clock = self.last.operations.as_deref().cloned().unwrap_or_default();
        clock.raise(self.key, self.ended);
        Some(Arc::new(clock))
    }
}

impl Phases {
    /// Whether a program has barriers whose phases can be mistaken: others than those of the whole block.
    pub(super) fn matter_in(program: &Program, has_clusters: bool) -> bool {
        // Blocks of a cluster may also order themselves by polling, which this check does not follow between blocks.
        let polls = |op: &Op| matches!(op.code, Code::Load { access, .. } if access.ordering != Ordering::Weak);
        program.ops.iter().any(has_phases) && !(has_clusters && program.ops.iter().any(polls))
    }

    pub(super) fn new(block: u32, threads: u32) -> Self {
        let barrier = |index| PhasedBarrier::new(Key::block_barrier(block, index));
        Self {
            block,
            warps: vec![None; threads.div_ceil(32) as usize],
            objects: BTreeMap::new(),
            block_barriers: (0..BARRIERS as u32).map(barrier).collect(),
            memory: vec![None; ADDRESS_GROUPS],
            cluster_arrivals: None,
            warpgroups: vec![Commits::default(); threads.div_ceil(128) as usize],
        }
    }

    /// Exchanges what belongs to the shared memory of two blocks.
    pub(super) fn exchange_memory(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.objects, &mut other.objects);
    }

    /// Exchanges what belongs to the threads of two blocks.
    pub(super) fn exchange_order(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.block, &mut other.block);
        std::mem::swap(&mut self.warps, &mut other.warps);
    }

    /// The next operation of a warp: its number, and what precedes it together with itself.
    fn next_operation(&mut self, warp: u32) -> (u32, Known) {
        let key = Key::warp(Thread::new(self.block, warp * 32));
        let known = self.warps[warp as usize].get_or_insert_default();
        let number = known.time(key) + 1;
        Arc::make_mut(known).raise(key, number);
        (number, self.warps[warp as usize].clone())
    }

    /// A warp arrives at a barrier of the block; returns whether the arrival can count in the phase before.
    pub(super) fn arrive(&mut self, index: usize, warp: u32, waits: Waits) -> bool {
        let (_, before) = self.next_operation(warp);
        let barrier = &mut self.block_barriers[index];
        if waits == Waits::Yes {
            barrier.waiting.push(warp);
        }
        barrier.take_part(&before)
    }

    /// A barrier of the block completes.
    pub(super) fn complete(&mut self, index: usize) {
        let barrier = &mut self.block_barriers[index];
        barrier.end();
        let released = barrier.released();
        for warp in std::mem::take(&mut barrier.waiting) {
            learn(&mut self.warps[warp as usize], &released);
        }
    }

    pub(super) fn arrive_at_cluster(&mut self, warp: u32) {
        let (_, before) = self.next_operation(warp);
        learn(&mut self.cluster_arrivals, &before);
    }

    /// Takes what precedes the completion of the barrier of the cluster.
    pub(super) fn take_cluster_arrivals(&mut self) -> Known {
        self.cluster_arrivals.take()
    }

    pub(super) fn pass_cluster(&mut self, warp: u32, released: &Known) {
        learn(&mut self.warps[warp as usize], released);
    }

    /// A strong access: it may observe each earlier one of the same address.
    fn order_by_memory(&mut self, warp: u32, address: u64) {
        let group = &mut self.memory[(address / 4) as usize % ADDRESS_GROUPS];
        learn(&mut self.warps[warp as usize], group);
        learn(group, &self.warps[warp as usize]);
    }
}

/// Whether an operation uses barriers whose phases can be mistaken.
fn has_phases(op: &Op) -> bool {
    let counts_threads =
        matches!(op.code, Code::Synchronise(_) | Code::Reduce(..)) && !op.b.is_none();
    let waits = matches!(op.code, Code::Mbarrier { mbarrier: Mbarrier::Wait(..), .. });
    counts_threads || waits || matches!(op.code, Code::Arrive(_))
}

const EARLY_ARRIVAL: &str = "that can count in the phase before: nothing orders it after the end of that phase, so that in \
                             another order of the warps the phase ends without one of its own arrivals";
const EARLY_TEST: &str = "that can pass too early: nothing orders it after the end of the phase before, so that in another \
                          order of the warps it comes two phases earlier, which have the same parity";
const LATE_TEST: &str = "that can fail for ever: nothing orders it before the end of the next phase, so that in another order \
                         of the warps that phase has ended, too, and the test waits for the phase after it";

impl Worker<'_, '_> {
    /// The phases of the barriers of the block, and a thread of it.
    fn phases(&mut self, (warp, lane): (u32, u32)) -> Option<(&mut Phases, Thread)> {
        let phases = self.block.races.as_deref_mut()?.phases.as_deref_mut()?;
        let thread = Thread::new(phases.block, warp * 32 + lane);
        Some((phases, thread))
    }

    /// A barrier object begins its first phase.
    pub(in super::super) fn begin_phases(&mut self, offset: usize) {
        if let Some((phases, thread)) = self.phases((0, 0)) {
            let key = Key::barrier_object(thread.block(), offset);
            phases.objects.insert(offset, PhasedBarrier::new(key));
        }
    }

    /// A thread issues an asynchronous operation that will take part in a phase of a barrier object.
    pub(in super::super) fn issue_for_phase(&mut self, lane: u32, pc: u32, offset: usize) {
        let Some((phases, thread)) = self.phases((self.warp.index, lane)) else { return };
        let (_, before) = phases.next_operation(thread.warp());
        if let Some(barrier) = phases.objects.get_mut(&offset) {
            barrier.issued.push(IssuedOperation { thread, pc, before });
        }
    }

    /// An asynchronous operation of a thread takes part in the present phase of a barrier object.
    pub(in super::super) fn complete_in_phase(
        &mut self,
        thread: (u32, u32),
        pc: u32,
        offset: usize,
    ) {
        let Some((phases, thread)) = self.phases(thread) else { return };
        let Some(barrier) = phases.objects.get_mut(&offset) else { return };
        let of_thread = |issued: &IssuedOperation| issued.thread == thread && issued.pc == pc;
        let Some(index) = barrier.issued.iter().position(of_thread) else { return };
        let issued = barrier.issued.remove(index);
        barrier.present.is_asynchronous = true;
        if barrier.take_part(&issued.before) {
            self.report_phase(
                thread,
                pc,
                &format!("an operation on {} {EARLY_ARRIVAL}", name(offset)),
            );
        }
    }

    /// A thread takes part in the present phase of a barrier object.
    pub(in super::super) fn take_part_in_phase(&mut self, lane: u32, pc: u32, offset: usize) {
        let Some((phases, thread)) = self.phases((self.warp.index, lane)) else { return };
        let (_, before) = phases.next_operation(thread.warp());
        let Some(barrier) = phases.objects.get_mut(&offset) else { return };
        if barrier.take_part(&before) {
            self.report_phase(
                thread,
                pc,
                &format!("an arrival at {} {EARLY_ARRIVAL}", name(offset)),
            );
        }
    }

    /// The present phase of a barrier object ends by an operation of a thread.
    pub(in super::super) fn end_phase(&mut self, pc: u32, offset: usize) {
        let Some((phases, _)) = self.phases((0, 0)) else { return };
        let Some(barrier) = phases.objects.get_mut(&offset) else { return };
        for test in barrier.end() {
            let (place, _) = self.launch.program.place(self.launch.module, pc);
            let text = format!("a test of {} {LATE_TEST}; it ended at PTX {place}", name(offset));
            self.report_phase(test.thread, test.pc, &text);
        }
    }

    /// A test of a barrier object passes.
    pub(in super::super) fn pass_phase(&mut self, lane: u32, pc: u32, offset: usize) {
        let Some((phases, thread)) = self.phases((self.warp.index, lane)) else { return };
        let (number, before) = phases.next_operation(thread.warp());
        let Some(barrier) = phases.objects.get_mut(&offset) else { return };
        let earlier = barrier.ended.saturating_sub(1);
        let is_early = !barrier.ends_before(earlier, &barrier.before_last, &before);
        barrier.passed.retain(|test| !test.thread.same_warp(thread));
        barrier.passed.push(PassedTest { thread, pc, number });
        let released = barrier.released();
        learn(&mut phases.warps[thread.warp() as usize], &released);
        if is_early {
            self.report_phase(thread, pc, &format!("a test of {} {EARLY_TEST}", name(offset)));
        }
    }

    /// Lanes arrive at a barrier of the block.
    pub(super) fn arrive_in_phase(&mut self, barrier: usize, lane: u32, pc: u32, waits: Waits) {
        let Some((phases, thread)) = self.phases((self.warp.index, lane)) else { return };
        if phases.arrive(barrier, thread.warp(), waits) {
            let text = format!("an arrival at barrier {barrier} {EARLY_ARRIVAL}");
            self.report_phase(thread, pc, &text);
        }
    }

    /// The warp commits a group of products.
    pub(in super::super) fn commit_in_phase(&mut self, group: u64) {
        let Some((phases, thread)) = self.phases((self.warp.index, 0)) else { return };
        let (_, before) = phases.next_operation(thread.warp());
        phases.warpgroups[thread.warp() as usize / WARPS_OF_GROUP].commit(group, &before);
    }

    /// The warp waits for all groups before this one.
    pub(in super::super) fn learn_commits(&mut self, complete: u64) {
        let Some((phases, thread)) = self.phases((self.warp.index, 0)) else { return };
        let warp = thread.warp();
        let known = phases.warpgroups[warp as usize / WARPS_OF_GROUP].wait(warp, complete);
        learn(&mut phases.warps[warp as usize], &known);
    }

    /// Strong accesses of the warp may observe earlier ones.
    pub(super) fn order_phases_by_memory(&mut self, addresses: impl Iterator<Item = u64>) {
        let Some((phases, thread)) = self.phases((self.warp.index, 0)) else { return };
        for address in addresses {
            phases.order_by_memory(thread.warp(), address);
        }
    }

    fn report_phase(&mut self, thread: Thread, pc: u32, text: &str) {
        let (block, number) = self.launch.coordinates(thread);
        let finding = Finding::new(FaultKind::BarrierPhase, thread.lane(), text);
        let own = std::mem::replace(&mut self.block.index, block);
        self.report_of(pc, number, finding);
        self.block.index = own;
    }
}

fn name(offset: usize) -> String {
    format!("the mbarrier object at offset {offset} of shared memory")
}
