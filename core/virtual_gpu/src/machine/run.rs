//! The state of a running launch that all blocks share, the state of a block, and the worker that executes one
//! warp.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;
use std::sync::Arc;

use super::super::cost::{Caches, Counts};
use super::super::isa::warp::Warp as Operation;
use super::super::lower::Program;
use super::super::lower::code::Code;
use super::super::module::Module;
use super::super::semantics::approximate::Approximation;
use super::super::semantics::matrix::Architecture;
use super::block_order::BlockOrder;
use super::cluster::Clusters;
use super::fault::{Fault, FaultKind, Finding, Suspicion};
use super::lanes::{Lanes, Pool};
use super::launch::Report;
use super::limit::Deadline;
use super::memory::Memory;
use super::parallel::ParallelLaunch;
use super::peers::Peers;
use super::race::{Accepted, BlockRaces, LaunchRaces};
use super::selection::SelectedClusters;
use super::shared::{SharedLayout, SharedMemory};
use super::tensor::{OperandPlan, SharedMatrix};
use super::texture_object::BoundTexture;
use super::trace::Tracing;
use super::turn_order::TurnOrder;
use super::unfinished_warps::BeyondResidency;
use super::warp::{Frame, LANES, Warp};
use super::watch::Watch;
use super::{Checks, DeviceShape, OnFault};

/// The state of a running launch that all blocks share.
pub(super) struct Launch<'m> {
    pub(super) module: &'m Module,
    pub(super) program: &'m Program,
    pub(super) kernel: String,
    pub(super) memory: &'m mut Memory,
    pub(super) pool: Pool,
    /// The texture and surface objects among the arguments.
    pub(super) textures: Arc<[BoundTexture]>,
    pub(super) shared: SharedLayout,
    pub(super) shape: DeviceShape,
    pub(super) grid: [u32; 3],
    pub(super) clusters: Clusters,
    /// The other blocks of the cluster whose block has its turn.
    pub(super) peers: Peers,
    pub(super) block: [u32; 3],
    pub(super) dynamic_shared: u32,
    pub(super) checks: Checks,
    pub(super) on_fault: OnFault,
    pub(super) environment: [u32; 32],
    /// The position of approximate results in their interval.
    pub(super) approximation: Approximation,
    /// The architecture of the tensor cores; none if their products are not computed.
    pub(super) tensor_cores: Option<Architecture>,
    /// The oldest architecture that the module names as its target.
    pub(super) target: Architecture,
    /// The places of matrices in shared memory that products of warpgroups read.
    pub(super) operand_plans: HashMap<SharedMatrix, Arc<OperandPlan>>,
    /// Counters of every operation; empty if nothing is counted.
    pub(super) counts: Vec<Counts>,
    /// The state of the caches, if they are modelled.
    pub(super) caches: Option<Caches>,
    /// The clusters that run.
    pub(super) selected: SelectedClusters,
    pub(super) faults: Vec<Recorded>,
    /// The index in `faults` of the fault of each kind at each instruction.
    pub(super) seen: BTreeMap<(FaultKind, u32), usize>,
    /// Warp instructions so far; they are also the clock.
    pub(super) steps: u64,
    /// The part of them that stands for products of tensor cores.
    pub(super) product_steps: u64,
    pub(super) max_steps: u64,
    /// The time limit, if there is one.
    pub(super) deadline: Option<Deadline>,
    /// The order in which blocks start.
    pub(super) block_order: BlockOrder,
    /// The limit on resident blocks, if it is below that of the device.
    pub(super) most_resident: Option<NonZeroU32>,
    /// Set while the launch continues with more blocks than the device holds.
    pub(super) beyond_residency: Option<BeyondResidency>,
    /// The seed of the numbers of multiprocessors and warps; zero for ascending numbers.
    pub(super) numbering: u64,
    /// Behaviour that is accepted although the ISA guarantees less: rules of `docs/races.md`, with the instructions.
    pub(super) accepted: BTreeSet<(u8, u32)>,
    /// What may be wrong without being a fault, by instruction.
    pub(super) suspicions: BTreeMap<u32, String>,
    /// The number of changes that other warps can observe: memory, barriers.
    pub(super) changes: u64,
    pub(super) stopped: bool,
    pub(super) printed: String,
    pub(super) heap_left: u64,
    pub(super) heap: HashMap<u64, usize>,
    /// The recorded accesses of global memory, if races are checked.
    pub(super) races: Option<Box<LaunchRaces>>,
    /// The order of turns.
    pub(super) order: TurnOrder,
    /// The state that the host threads of a parallel launch share.
    pub(super) common: Option<&'m ParallelLaunch>,
    /// Steps that are included in the sum of all host threads.
    pub(super) counted_steps: u64,
    /// The conditions for a pause, if the launch is watched.
    pub(super) watch: Option<Box<Watch>>,
    /// The recorded steps of some blocks, if requested.
    pub(super) trace: Option<Box<Tracing>>,
}

/// A fault with its location.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) fault: Fault,
    /// The linear index of the cluster.
    pub(super) cluster: u64,
    pub(super) pc: u32,
}

/// The limit of recorded faults; at most one is recorded for each kind and instruction.
pub(super) const MOST_FAULTS: usize = 256;

/// A block without its warps.
#[derive(Clone, Debug)]
pub(super) struct BlockState {
    pub(super) index: [u32; 3],
    pub(super) linear: u64,
    /// The linear index of its cluster among the clusters of the grid.
    pub(super) cluster: u64,
    pub(super) threads: u32,
    pub(super) shared: SharedMemory,
    pub(super) barriers: Vec<super::barrier::BlockBarrier>,
    /// The arrivals of its threads at the barrier of the cluster.
    pub(super) cluster_arrivals: super::cluster_barrier::ClusterArrivals,
    /// The number of threads that have exited.
    pub(super) exited: u32,
    /// Warps whose threads have all exited, one bit each.
    pub(super) exited_warps: u32,
    /// Pending asynchronous copies.
    pub(super) copies: super::copies::Copies,
    /// Offsets of the barrier objects in shared memory.
    pub(super) mbarriers: BTreeSet<usize>,
    /// For each warp whose last test of a barrier object found the phase incomplete, that test.
    pub(super) failed_tests: BTreeMap<u32, super::mbarrier::FailedTest>,
    /// The barrier objects that no fence of the initialising thread (its warp and lane) makes visible to the cluster;
    /// empty in a launch whose clusters have one block.
    pub(super) unpublished_mbarriers: BTreeMap<usize, (u32, u32)>,
    /// The registers of its warps, if the kernel has a bound on them.
    pub(super) registers: Option<super::register_pool::RegisterPool>,
    /// The products that the warps of each warpgroup have issued.
    pub(super) warpgroups: Vec<super::tensor::IssuedProducts>,
    /// For each warp, the products that no wait has completed; empty until a warp uses them.
    pub(super) products: Vec<super::tensor::PendingProducts>,
    /// For each warp, the bulk stores that no wait has completed; empty until a warp uses them.
    pub(super) bulk_stores: Vec<super::copies::PendingStores>,
    /// The happens-before order of its threads, if races are checked.
    pub(super) races: Option<Box<BlockRaces>>,
}

/// The executor of one warp.
pub(super) struct Worker<'w, 'm> {
    pub(super) launch: &'w mut Launch<'m>,
    pub(super) block: &'w mut BlockState,
    pub(super) warp: &'w mut Warp,
    /// Whether warp-wide operations proceed with the lanes that have arrived.
    pub(super) forced: bool,
    /// Steps left in the turn of the warp; a poll takes many.
    pub(super) budget: i64,
    /// Steps that are executed one at a time, in watched launches and traced blocks; otherwise zero.
    pub(super) withheld: i64,
    /// Whether the warp polled memory in this turn.
    pub(super) polled: bool,
}

impl Launch<'_> {
    /// Accepts a mask that names exited threads: PTX waits for the threads that have not exited (rule 26 of
    /// `docs/races.md`).
    pub(super) fn accept_exited(&mut self, pc: u32) {
        self.accept(26, pc);
    }

    /// Accepts an instruction by a rule of `docs/races.md`.
    pub(super) fn accept(&mut self, rule: u8, pc: u32) {
        self.accepted.insert((rule, pc));
    }

    /// Reports how the launch ended, and what the checks of the whole launch found.
    pub(super) fn finish(&mut self, report: &mut Report) {
        (report.steps, report.stopped) = (self.steps, self.stopped);
        report.printed = std::mem::take(&mut self.printed);
        (report.accepted, report.stale_reads) = self.finish_races();
        report.accepted.extend(self.accepted.iter().map(|(rule, pc)| {
            let (place, source_line) = self.program.place(self.module, *pc);
            Accepted { rule: *rule, place, source_line }
        }));
        report.suspicions.extend(self.suspicions.iter().map(|(pc, text)| {
            let (place, source_line) = self.program.place(self.module, *pc);
            Suspicion { place, source_line, text: text.clone() }
        }));
    }

    pub(super) fn count(&mut self, pc: u32) -> Option<&mut Counts> {
        self.counts.get_mut(pc as usize)
    }
}

impl Worker<'_, '_> {
    pub(super) fn lanes(&mut self, frame: Frame, mask: u32) -> Lanes<'_> {
        Lanes { registers: &mut self.warp.registers, pool: &self.launch.pool, frame, mask }
    }

    /// Counts a write to memory that other threads may read.
    #[inline(always)]
    pub(super) fn changed(&mut self) {
        self.launch.changes += 1;
    }

    /// The index of a thread of this warp within its block.
    pub(super) fn thread(&self, lane: u32) -> [u32; 3] {
        let linear = self.warp.index * LANES as u32 + lane;
        let [x, y, _] = self.launch.block;
        [linear % x, linear / x % y, linear / (x * y)]
    }

    /// Reports a fault, once for each kind and instruction.
    pub(super) fn report(&mut self, pc: u32, finding: Finding) {
        self.report_of(pc, self.thread(finding.lane), finding);
    }

    /// Reports a fault of any thread of the block.
    pub(super) fn report_of(&mut self, pc: u32, thread: [u32; 3], finding: Finding) {
        let kind = finding.kind;
        if kind.is_fatal() || self.launch.on_fault == OnFault::Stop {
            self.launch.stopped = true;
        }
        let cluster = self.block.cluster;
        let known = self.launch.seen.get(&(kind, pc)).copied();
        // Of clusters that run at once, the lowest one is reported, in any order of execution.
        let counts = match known {
            Some(index) => {
                self.launch.common.is_some() && cluster < self.launch.faults[index].cluster
            }
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

    /// A finding with its location.
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
        Recorded { fault, cluster: self.block.cluster, pc }
    }

    /// Reports the use of an uninitialised value, with the load that returned it.
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
                    "{what} is uninitialised; the thread obtained the value at PTX {place}{line}"
                )
            }
            None => format!("{what} is uninitialised"),
        };
        self.report(pc, Finding::new(FaultKind::UninitializedRead, lane, details));
    }

    /// Reports the use of a value from a lane that did not take part in a shuffle.
    fn report_absent_source(&mut self, pc: u32, lane: u32) {
        let op = self.launch.program.ops.get(pc as usize);
        if op.is_some_and(|op| matches!(op.code, Code::Warp(Operation::Shuffle(_)))) {
            let text = "the kernel uses a value that a shuffle took from an inactive lane";
            self.report(pc, Finding::new(FaultKind::WarpSync, lane, text));
        }
    }
}
