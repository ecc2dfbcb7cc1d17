//! The steps of the warps of some blocks, recorded during the launch and replayed by [`super::time`].
//!
//! Of a loop, some iterations are recorded and the others are left out. The launch counts how often it executed
//! each instruction, so that the recorded steps can be scaled to all steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lightbench_units::Bytes;

use super::super::isa::cluster::Cluster;
use super::super::isa::matrix::{Matrix, Warpgroup};
use super::super::isa::mbarrier::Mbarrier;
use super::super::isa::memory::Space;
use super::super::lower::code::{Code, Op};
use super::super::lower::{self, Program};
use super::super::module::Module;
use super::{BlocksRun, Counts, Kind, kind};

/// The parameters of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceUse {
    /// The number of recorded blocks, evenly spread over those that run.
    pub blocks: u32,
    /// The share of L1 of one block while others are resident.
    pub l1: Bytes,
    /// The share of L2 of one block.
    pub l2: Bytes,
}

/// The recorded steps of some blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Every instruction of the program.
    pub(crate) ops: Arc<[TracedOp]>,
    pub(crate) blocks: Vec<TracedBlock>,
}

/// The properties of an instruction that affect its time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TracedOp {
    pub(crate) kind: Kind,
    pub(crate) role: Role,
    /// Registers, numbered over all functions.
    pub(crate) reads: Vec<u32>,
    pub(crate) writes: Vec<u32>,
    /// The assembler moves no instruction to before it.
    pub(crate) begins: bool,
    /// The assembler moves no instruction to after it.
    pub(crate) ends: bool,
    /// The mean number of executions of the instruction per block, in warp instructions.
    pub(crate) executed: f64,
}

/// The properties of an instruction that uses more than a pipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Role {
    /// Nothing else.
    Plain,
    Load {
        place: Place,
        read_only: bool,
    },
    Store(Place),
    Atomic {
        place: Place,
        returns: bool,
    },
    /// An asynchronous copy. The end of one with a phase contributes to that phase; a bulk copy without one stores.
    Copy {
        is_bulk: bool,
    },
    CommitCopies,
    /// Waits until at most this number of groups is pending.
    WaitCopies(u32),
    /// A contribution to a phase of an mbarrier object, when the thread's copies so far are complete or at once.
    Arrive {
        after_copies: bool,
    },
    /// Waits for the end of a phase of an mbarrier object.
    WaitPhase,
    /// A contribution to a phase of a barrier of the block, and a wait for its end unless the warp only arrives.
    Barrier {
        waits: bool,
    },
    Branch,
    /// A tensor product, with the counts of one. An asynchronous one only occupies the pipe.
    Product {
        counts: Box<Counts>,
        is_async: bool,
    },
    CommitProducts,
    /// Waits until at most this number of groups of asynchronous products is pending.
    WaitProducts(u32),
}

/// The memory of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Global,
    Shared,
    /// Local memory, which L1 holds.
    Local,
    Constant,
}

/// One block.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TracedBlock {
    pub(crate) warps: Vec<TracedWarp>,
    /// Distinct sectors that the block touched, including the steps that were not recorded.
    pub(crate) distinct_sectors: u64,
    /// For each instruction, the executions by warps that polled an incomplete phase, which are not recorded.
    pub(crate) retried: BTreeMap<u32, u64>,
}

/// One warp: its steps in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TracedWarp {
    pub(crate) steps: Vec<Step>,
    pub(crate) accesses: Vec<TracedAccess>,
}

/// One instruction of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) pc: u32,
    /// The index of its access, counted from one; zero if it has none.
    pub(crate) access: u32,
    /// Whether steps before it were not recorded.
    pub(crate) is_behind_gap: bool,
}

/// The cost of one access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TracedAccess {
    /// Wavefronts through the load/store pipe.
    pub(crate) wavefronts: u32,
    /// Lines of global memory.
    pub(crate) lines: u32,
    /// Sectors that hit in L1.
    pub(crate) near: u32,
    /// Sectors that the block requested before, and that hit in L2.
    pub(crate) l2: u32,
    /// Sectors that the block requests for the first time, or that were evicted.
    pub(crate) far: u32,
    /// The step, counted from one, that loaded the line that hits in L1.
    pub(crate) filled_by: u32,
    /// The largest number of lanes of an atomic at one address, and the number of lanes.
    pub(crate) most_at_one: u32,
    pub(crate) lanes: u32,
    /// The phase to which the step contributes, or whose end it waits for.
    pub(crate) phase: Option<TracedPhase>,
}

/// A phase of an mbarrier object or of a barrier of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TracedPhase {
    /// The offset of the object in shared memory, or the number of the barrier behind [`Self::BARRIERS`].
    pub(crate) object: u32,
    /// The number of phases of the object that ended before.
    pub(crate) number: u32,
}

impl TracedBlock {
    /// Removes the steps with copies whose end no recorded step waits for. A warp that only copies has a short loop, or
    /// one that the compiler unrolled, and more of its iterations are recorded than of the loop that uses the data:
    /// memory would be busy with them in the little time that the other steps take.
    fn remove_unawaited_copies(&mut self, ops: &[TracedOp]) {
        let role = |step: &Step| ops.get(step.pc as usize).map(|op| &op.role);
        let phase = |warp: &TracedWarp, step: &Step| warp.access(step.access).phase;
        let waits = self.warps.iter().flat_map(|warp| {
            let waits = warp.steps.iter().filter(|step| role(step) == Some(&Role::WaitPhase));
            waits.filter_map(|step| phase(warp, step))
        });
        let awaited: BTreeSet<TracedPhase> = waits.collect();
        for warp in &mut self.warps {
            let copied = |step: &Step| match role(step) {
                Some(Role::Copy { .. }) => phase(warp, step),
                _ => None,
            };
            let mut is_kept = vec![true; warp.steps.len()];
            let mut after_awaited = None;
            for (index, step) in warp.steps.iter().enumerate() {
                match copied(step) {
                    Some(phase) if awaited.contains(&phase) => after_awaited = Some(index + 1),
                    Some(_) => is_kept[after_awaited.unwrap_or(index)..=index].fill(false),
                    None => {}
                }
            }
            warp.keep_steps(&is_kept);
        }
    }
}

impl TracedPhase {
    /// The first object that is a barrier: beyond every shared memory.
    pub(crate) const BARRIERS: u32 = 1 << 31;
}

impl TracedWarp {
    /// Removes the other steps.
    fn keep_steps(&mut self, is_kept: &[bool]) {
        let Some(first) = is_kept.iter().position(|is_kept| !is_kept) else { return };
        let mut kept = Vec::with_capacity(self.steps.len());
        for (index, (step, is_this_kept)) in self.steps.iter().zip(is_kept).enumerate() {
            if *is_this_kept {
                let is_behind_gap = step.is_behind_gap || index > 0 && !is_kept[index - 1];
                kept.push(Step { is_behind_gap, ..*step });
            }
        }
        self.steps = kept;
        // The numbers of later steps change.
        for access in &mut self.accesses {
            if access.filled_by as usize > first {
                access.filled_by = 0;
            }
        }
    }

    /// The access with a number counted from one; the default for zero.
    pub(crate) fn access(&self, number: u32) -> TracedAccess {
        let index = number.checked_sub(1);
        index.and_then(|index| self.accesses.get(index as usize)).copied().unwrap_or_default()
    }
}

/// The longest forward branch that becomes a predicate in machine code, in instructions.
const SHORT: u32 = 12;

impl Trace {
    /// The mean number of bytes of distinct sectors of a block.
    pub(crate) fn distinct_bytes(&self) -> f64 {
        let sectors: u64 = self.blocks.iter().map(|block| block.distinct_sectors).sum();
        32.0 * sectors as f64 / self.blocks.len().max(1) as f64
    }

    /// Combines recorded blocks with the properties of their instructions.
    pub(crate) fn new(
        (module, program): (&Module, &Program),
        counts: &[Counts],
        blocks: BlocksRun,
        mut traced: Vec<TracedBlock>,
    ) -> Self {
        let recorded = traced.len().max(1) as f64;
        let mut ops = ops(module, program, counts, blocks);
        traced.iter_mut().for_each(|block| block.remove_unawaited_copies(&ops));
        for (pc, times) in traced.iter().flat_map(|block| &block.retried) {
            if let Some(op) = ops.get_mut(*pc as usize) {
                op.executed = (op.executed - *times as f64 / recorded).max(0.0);
            }
        }
        Self { ops: ops.into(), blocks: traced }
    }
}

fn ops(module: &Module, program: &Program, counts: &[Counts], blocks: BlocksRun) -> Vec<TracedOp> {
    let (begins, ends) = stretches(program);
    let mut numbers = Vec::new();
    let mut next = 0;
    for function in &module.functions {
        numbers.push(next);
        next += function.body.as_ref().map_or(0, |body| body.registers.len() as u32);
    }
    let op = |pc: usize| {
        let op = &program.ops[pc];
        let (reads, writes) = registers(module, program, &numbers, pc);
        let counts = counts.get(pc).copied().unwrap_or_default();
        TracedOp {
            kind: kind(op.code),
            role: role(op, &counts),
            reads,
            writes,
            begins: begins[pc],
            ends: ends[pc],
            executed: counts.warp_instructions as f64 / blocks.run.max(1) as f64,
        }
    };
    (0..program.ops.len()).map(op).collect()
}

/// The registers that the instruction of an operation reads and writes; none for operations that prepare it.
fn registers(
    module: &Module,
    program: &Program,
    numbers: &[u32],
    pc: usize,
) -> (Vec<u32>, Vec<u32>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let origin = program.origins.get(pc);
    let is_last = origin.zip(program.origins.get(pc + 1)).is_none_or(|(own, next)| {
        (own.function, own.instruction) != (next.function, next.instruction)
    });
    let Some(origin) = origin.filter(|_| is_last) else { return (reads, writes) };
    let function = origin.function.0 as usize;
    let body = module.functions.get(function).and_then(|function| function.body.as_ref());
    let instruction = body.and_then(|body| body.instructions.get(origin.instruction as usize));
    if let (Some(instruction), Some(first)) = (instruction, numbers.get(function)) {
        lower::reads(instruction, |register| reads.push(first + register.0));
        lower::writes(instruction, |register| writes.push(first + register.0));
    }
    (reads, writes)
}

/// The boundaries over which the assembler moves no instruction: loops, calls, barriers and long branches.
fn stretches(program: &Program) -> (Vec<bool>, Vec<bool>) {
    let count = program.ops.len();
    let (mut begins, mut ends) = (vec![false; count], vec![false; count]);
    let mut begin = |pc: u32| {
        if let Some(begins) = begins.get_mut(pc as usize) {
            *begins = true;
        }
    };
    for (pc, op) in program.ops.iter().enumerate() {
        let at = pc as u32;
        if let Code::Branch { target } = op.code {
            let is_short = target > at && target - at <= SHORT;
            if !is_short {
                begin(target);
                ends[pc] = true;
            }
        } else if op.code == Code::BranchIndexed {
            let (start, entries) = (op.immediate as usize, op.b.index());
            let targets = program.targets.get(start..start + entries).unwrap_or_default();
            targets.iter().for_each(|target| begin(*target));
            ends[pc] = true;
        } else {
            ends[pc] = stays_in_place(op.code);
        }
    }
    program.functions.values().filter_map(|function| function.entry).for_each(begin);
    (begins, ends)
}

/// Whether the assembler moves no instruction over an operation.
const fn stays_in_place(code: Code) -> bool {
    matches!(
        code,
        Code::Call(_)
            | Code::Return
            | Code::Exit
            | Code::Trap
            | Code::Synchronise(_)
            | Code::Arrive(_)
            | Code::Reduce(..)
            | Code::Fence(..)
            | Code::ProxyFence(_)
            | Code::Cluster(Cluster::Arrive(..) | Cluster::Wait(_) | Cluster::InitialisationFence,)
            | Code::WaitCopies(_)
            | Code::WaitBulk { .. }
            | Code::WaitAllCopies
            | Code::ArriveAfterCopies { .. }
            | Code::Mbarrier { .. }
            | Code::Matrix {
                matrix: Matrix::Warpgroup(
                    Warpgroup::Fence | Warpgroup::CommitGroup | Warpgroup::WaitGroup
                ),
                ..
            }
            | Code::Sleep
    )
}

fn role(op: &Op, counts: &Counts) -> Role {
    let code = op.code;
    match code {
        Code::Load { access, read_only, .. } => {
            place(access.space).map_or(Role::Plain, |place| Role::Load { place, read_only })
        }
        Code::Store { access, .. } => place(access.space).map_or(Role::Plain, Role::Store),
        Code::Atomic { atomic, .. } | Code::AtomicVector { atomic, .. } => {
            let place = if atomic.space.is_shared() { Place::Shared } else { Place::Global };
            Role::Atomic { place, returns: true }
        }
        Code::Texture { is_store: false, .. } => {
            Role::Load { place: Place::Global, read_only: true }
        }
        Code::Texture { is_store: true, .. } => Role::Store(Place::Global),
        Code::CopyAsync(_) => Role::Copy { is_bulk: false },
        Code::CopyBulk(_) | Code::CopyTensor(_) | Code::WriteToCluster(_) => {
            Role::Copy { is_bulk: true }
        }
        Code::CommitCopies | Code::CommitBulk => Role::CommitCopies,
        Code::WaitCopies(pending) | Code::WaitBulk { pending, .. } => Role::WaitCopies(pending),
        Code::WaitAllCopies => Role::WaitCopies(0),
        Code::ArriveAfterCopies { .. } => Role::Arrive { after_copies: true },
        Code::Mbarrier { mbarrier: Mbarrier::Arrive(..) | Mbarrier::Transactions(..), .. } => {
            Role::Arrive { after_copies: false }
        }
        Code::Mbarrier { mbarrier: Mbarrier::Wait(..), .. } => Role::WaitPhase,
        Code::Synchronise(_) | Code::Reduce(..) => Role::Barrier { waits: true },
        Code::Arrive(_) => Role::Barrier { waits: false },
        Code::Branch { .. } | Code::BranchIndexed | Code::Call(_) | Code::Return => Role::Branch,
        Code::Matrix { matrix: Matrix::Warpgroup(Warpgroup::CommitGroup), .. } => {
            Role::CommitProducts
        }
        Code::Matrix { matrix: Matrix::Warpgroup(Warpgroup::WaitGroup), .. } => {
            Role::WaitProducts(u32::try_from(op.immediate).unwrap_or(u32::MAX))
        }
        Code::Matrix { matrix, .. } if counts.tensor_multiply_adds() > 0 => {
            let is_async = matches!(matrix, Matrix::Warpgroup(_));
            Role::Product { counts: Box::new(*counts), is_async }
        }
        Code::Matrix { .. } if kind(code) == Kind::Shared => {
            Role::Load { place: Place::Shared, read_only: false }
        }
        Code::Matrix { .. } if kind(code) == Kind::Global => {
            Role::Load { place: Place::Global, read_only: false }
        }
        Code::Integer(_)
        | Code::Extended(_)
        | Code::Float(_)
        | Code::Half(_)
        | Code::Approximate(_)
        | Code::Compare(_)
        | Code::Logic(_)
        | Code::Convert { .. }
        | Code::Copy32
        | Code::Copy64
        | Code::CopyPredicate
        | Code::Pack { .. }
        | Code::Unpack { .. }
        | Code::Special(_)
        | Code::FrameAddress
        | Code::ToGeneric(_)
        | Code::FromGeneric(_)
        | Code::IsInSpace(_)
        | Code::Matrix { .. }
        | Code::Mbarrier { .. }
        | Code::Exit
        | Code::Trap
        | Code::SynchroniseWarp
        | Code::Warp(_)
        | Code::Fence(..)
        | Code::ProxyFence(_)
        | Code::Cluster(_)
        | Code::Sleep
        | Code::TrackRegisters
        | Code::Registers(_)
        | Code::TensorMap(_)
        | Code::Hint => Role::Plain,
    }
}

/// The memory of a state space; none if the access is a register move on a GPU.
const fn place(space: Space) -> Option<Place> {
    match space {
        Space::Generic | Space::Global => Some(Place::Global),
        Space::Shared | Space::SharedCluster => Some(Place::Shared),
        Space::Local => Some(Place::Local),
        Space::Const => Some(Place::Constant),
        Space::Param => None,
    }
}
