//! What all blocks of a launch share while it runs, and what a block and a warp are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;

use super::super::cost::{BlocksRun, Caches, Counts};
use super::super::isa::warp::Warp as Operation;
use super::super::lower::Program;
use super::super::lower::code::Code;
use super::super::module::Module;
use super::super::semantics::approximate::Approximation;
use super::super::semantics::matrix::Accumulation;
use super::block_order::BlockOrder;
use super::cluster::Clusters;
use super::fault::{Fault, FaultKind, Finding};
use super::lanes::{Lanes, Pool};
use super::limit::Deadline;
use super::memory::Memory;
use super::order::Order;
use super::parallel::Common;
use super::race::{Accepted, BlockRaces, LaunchRaces};
use super::shared::{SharedLayout, SharedMemory};
use super::standing::BeyondResidency;
use super::trace::Tracing;
use super::warp::{Frame, LANES, Warp};
use super::watch::Watch;
use super::{Checks, DeviceShape, OnFault};

/// What all blocks share.
pub(super) struct Launch<'m> {
    pub(super) module: &'m Module,
    pub(super) program: &'m Program,
    pub(super) kernel: String,
    pub(super) memory: &'m mut Memory,
    pub(super) pool: Pool,
    pub(super) shared: SharedLayout,
    pub(super) shape: DeviceShape,
    pub(super) grid: [u32; 3],
    pub(super) clusters: Clusters,
    pub(super) block: [u32; 3],
    pub(super) dynamic_shared: u32,
    pub(super) checks: Checks,
    pub(super) on_fault: OnFault,
    pub(super) environment: [u32; 32],
    /// Where approximate functions lie in their interval.
    pub(super) approximation: Approximation,
    /// How tensor cores add up.
    pub(super) accumulation: Accumulation,
    /// Counts of every operation; empty if nothing is counted.
    pub(super) counts: Vec<Counts>,
    /// What the caches hold, if they are modelled.
    pub(super) caches: Option<Caches>,
    /// Which blocks run.
    pub(super) blocks: BlocksRun,
    pub(super) faults: Vec<Recorded>,
    /// Which of the faults it is, for each rule and instruction.
    pub(super) seen: BTreeMap<(FaultKind, u32), usize>,
    /// Warp instructions so far, which are also the clock.
    pub(super) steps: u64,
    pub(super) max_steps: u64,
    /// When it must be over, if it has a limit of time.
    pub(super) deadline: Option<Deadline>,
    /// In which order its blocks start.
    pub(super) block_order: BlockOrder,
    /// Blocks that run at once, if they are fewer than the device holds.
    pub(super) most_resident: Option<NonZeroU32>,
    /// Whether it goes on with more blocks than the device holds.
    pub(super) beyond_residency: Option<BeyondResidency>,
    /// Which numbers multiprocessors and warps have, zero for their own.
    pub(super) numbering: u64,
    /// What is accepted although the ISA promises less: rules of `docs/races.md`, with their instructions.
    pub(super) accepted: BTreeSet<(u8, u32)>,
    /// How often something changed that any warp can find out, besides its own registers and memory.
    pub(super) changes: u64,
    pub(super) stopped: bool,
    pub(super) printed: String,
    pub(super) heap_left: u64,
    pub(super) heap: HashMap<u64, usize>,
    /// Who accessed global memory, if races are looked for.
    pub(super) races: Option<Box<LaunchRaces>>,
    /// Whose turn it is.
    pub(super) order: Order,
    /// What the threads of a parallel launch share.
    pub(super) common: Option<&'m Common>,
    /// Steps that are counted among those of all threads.
    pub(super) counted_steps: u64,
    /// Where it pauses, if somebody looks.
    pub(super) watch: Option<Box<Watch>>,
    /// What some blocks do, if that is kept.
    pub(super) trace: Option<Box<Tracing>>,
}

/// A fault, and where it happened.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) fault: Fault,
    /// The block's number.
    pub(super) block: u64,
    pub(super) pc: u32,
}

/// More faults than this are not kept: there is one for each rule and instruction.
pub(super) const MOST_FAULTS: usize = 256;

/// A block without its warps.
#[derive(Clone, Debug)]
pub(super) struct BlockState {
    pub(super) index: [u32; 3],
    pub(super) linear: u64,
    pub(super) threads: u32,
    pub(super) shared: SharedMemory,
    pub(super) barriers: Vec<super::barrier::BlockBarrier>,
    /// Threads that have ended.
    pub(super) exited: u32,
    /// Asynchronous copies that nothing waited for yet.
    pub(super) copies: super::copies::Copies,
    /// Where barriers in shared memory are.
    pub(super) mbarriers: BTreeSet<usize>,
    /// The order of its threads, if races are looked for.
    pub(super) races: Option<Box<BlockRaces>>,
}

/// One warp at work.
pub(super) struct Worker<'w, 'm> {
    pub(super) launch: &'w mut Launch<'m>,
    pub(super) block: &'w mut BlockState,
    pub(super) warp: &'w mut Warp,
    /// Whether warp-wide operations go on with the lanes that are there.
    pub(super) forced: bool,
    /// Steps until another warp has its turn; waiting for others costs many.
    pub(super) budget: i64,
    /// Steps that a watched launch, and a block that is traced, are given one by one; zero in all others.
    pub(super) withheld: i64,
    /// Whether this turn waited for others.
    pub(super) polled: bool,
}

impl Launch<'_> {
    /// Threads that have exited do not take part in what the others do together: PTX waits for the threads that have not
    /// exited (rule 26 of `docs/races.md`).
    pub(super) fn accept_exited(&mut self, pc: u32) {
        self.accepted.insert((26, pc));
    }

    /// What was accepted besides races, with its places.
    pub(super) fn accepted_places(&self) -> Vec<Accepted> {
        let accepted = self.accepted.iter().map(|(rule, pc)| {
            let (place, source_line) = self.program.place(self.module, *pc);
            Accepted { rule: *rule, place, source_line }
        });
        accepted.collect()
    }

    pub(super) fn count(&mut self, pc: u32) -> Option<&mut Counts> {
        self.counts.get_mut(pc as usize)
    }
}

impl Worker<'_, '_> {
    pub(super) fn lanes(&mut self, frame: Frame, mask: u32) -> Lanes<'_> {
        Lanes { registers: &mut self.warp.registers, pool: &self.launch.pool, frame, mask }
    }

    /// Memory that others read was written.
    #[inline(always)]
    pub(super) fn changed(&mut self) {
        self.warp.idle_polls = 0;
        self.launch.changes += 1;
    }

    /// The coordinates of a thread of this warp.
    pub(super) fn thread(&self, lane: u32) -> [u32; 3] {
        let linear = self.warp.index * LANES as u32 + lane;
        let [x, y, _] = self.launch.block;
        [linear % x, linear / x % y, linear / (x * y)]
    }

    /// Reports a fault, once for each rule and instruction.
    pub(super) fn report(&mut self, pc: u32, finding: Finding) {
        self.report_of(pc, self.thread(finding.lane), finding);
    }

    /// The same of any thread of the block.
    pub(super) fn report_of(&mut self, pc: u32, thread: [u32; 3], finding: Finding) {
        let kind = finding.kind;
        if kind.is_fatal() || self.launch.on_fault == OnFault::Stop {
            self.launch.stopped = true;
        }
        let block = self.block.linear;
        let known = self.launch.seen.get(&(kind, pc)).copied();
        // Of blocks that run at once the lowest counts, whichever was first.
        let counts = match known {
            Some(index) => self.launch.common.is_some() && block < self.launch.faults[index].block,
            None => self.launch.faults.len() < MOST_FAULTS,
        };
        if !counts {
            return;
        }
        let recorded = self.recorded(pc, thread, finding);
        match known {
            Some(index) => self.launch.faults[index] = recorded,
            None => {
                self.launch.seen.insert((kind, pc), self.launch.faults.len());
                self.launch.faults.push(recorded);
            }
        }
    }

    /// A finding with where it happened.
    pub(super) fn recorded(&self, pc: u32, thread: [u32; 3], finding: Finding) -> Recorded {
        let (place, source_line) = self.launch.program.place(self.launch.module, pc);
        let fault = Fault {
            kind: finding.kind,
            kernel: self.launch.kernel.clone(),
            block: self.block.index,
            thread,
            place,
            source_line,
            address: finding.address,
            buffer: finding.buffer,
            other: finding.other,
            details: finding.details,
        };
        Recorded { fault, block: self.block.linear, pc }
    }

    /// Reports the use of a value that nothing wrote, with the load that brought it.
    pub(super) fn report_undefined(&mut self, pc: u32, lanes: u32, what: &str) {
        if !self.launch.checks.uninitialized {
            return;
        }
        let lane = lanes.trailing_zeros().min(31);
        let details = match self.warp.undefined_load[lane as usize] {
            Some(load) => {
                self.report_absent_source(load, lane);
                let (place, line) = self.launch.program.place(self.launch.module, load);
                let line = line.map(|line| format!(" ({line})")).unwrap_or_default();
                format!(
                    "{what} is a value that nothing wrote; the thread got one at PTX {place}{line}"
                )
            }
            None => format!("{what} is a value that nothing wrote"),
        };
        self.report(pc, Finding::new(FaultKind::UninitializedRead, lane, details));
    }

    /// The value came from a lane that did not take part in a shuffle.
    fn report_absent_source(&mut self, pc: u32, lane: u32) {
        let op = self.launch.program.ops.get(pc as usize);
        if op.is_some_and(|op| matches!(op.code, Code::Warp(Operation::Shuffle(_)))) {
            let text = "a value that is used comes from a lane that is not here";
            self.report(pc, Finding::new(FaultKind::WarpSync, lane, text));
        }
    }
}
