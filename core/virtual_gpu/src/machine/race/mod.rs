//! Data races, by the rules of `docs/races.md`, whose numbers the comments cite.
//!
//! `order` says what is before what, `shadow` remembers who accessed each word, `judge` compares; `hooks` is what the
//! machine calls.

mod clock;
mod element;
mod hooks;
mod judge;
mod location;
mod means;
mod order;
mod page;
mod places;
mod quick;
mod replay;
mod report;
mod row;
mod shadow;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::super::error::Place;
use super::super::isa::atomic::AtomicOrder;
use super::super::isa::barrier::FenceOrder;
use super::super::isa::memory::{Ordering, Scope};
use super::super::lower::Program;
use super::super::lower::code::{Code, Op};
use super::super::module::SourceLine;
use super::launch::{LaunchConfig, LaunchError, Races, Schedule};
use super::run::Recorded;
use judge::MemoryKind;
use means::Means;
use order::{BlockOrder, Reach};
use replay::Replay;
use shadow::Shadow;

/// Something that the CUDA idiom accepts and the memory model does not, or that rule 25 or 26 notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The rule of `docs/races.md` by which it is accepted.
    pub rule: u8,
    /// Where in the PTX.
    pub place: Place,
    /// Where in the source, if the PTX says so.
    pub source_line: Option<SourceLine>,
}

/// What a launch knows of races.
#[derive(Debug)]
pub(super) struct LaunchRaces {
    /// Whether rules 20 to 24 hold.
    lenient: bool,
    /// Whether readers of two blocks do not stand for all others: something in the program may order blocks, or a read
    /// may be an attempt, which only the thread's own atomic shows (rule 23).
    keeps_readers: bool,
    /// What in the program orders the threads of a block, as far as it concerns shared and global memory.
    means: [Means; 2],
    /// Loads through the read-only cache, in the order of the program (rule 25).
    non_coherent: Vec<u32>,
    /// By the number of their region.
    global: Vec<Option<Shadow>>,
    /// Races of plain reads with atomics, until it is known whether they were attempts (rule 23).
    doubts: Vec<Doubt>,
    /// Instructions whose reads were attempts.
    attempts: BTreeSet<u32>,
    /// Instructions of strong reads to which the memory model permits an older value.
    stale_reads: BTreeSet<u32>,
    /// The older values, if reads may return them.
    replay: Option<Replay>,
    /// Rules of the idiom and the instructions that needed them.
    accepted: BTreeSet<(u8, u32)>,
}

#[derive(Debug)]
struct Doubt {
    /// The instruction that read.
    read: u32,
    /// The instruction of the fault.
    pc: u32,
    recorded: Recorded,
}

/// What a block knows of races.
#[derive(Clone, Debug)]
pub(super) struct BlockRaces {
    order: BlockOrder,
    shared: Shadow,
}

pub(super) use element::Role;
pub(super) use hooks::WriteOutcome;
pub(super) use order::Waits;
pub(super) use replay::{replace, stale_lanes};

/// Refuses launches whose races cannot be looked for.
pub(super) fn refuse(config: &LaunchConfig, program: &Program) -> Result<(), LaunchError> {
    if config.checks.races == Races::Ignored {
        return Ok(());
    }
    let blocks: u64 = config.grid.iter().map(|size| u64::from(*size)).product();
    if blocks > clock::MOST_BLOCKS {
        let what = "looking for data races in a grid of more than 4,194,304 blocks";
        return Err(LaunchError::Unavailable(what));
    }
    if program.ops.len() > shadow::MOST_INSTRUCTIONS {
        let what = "looking for data races in a kernel of more than 4,194,304 instructions";
        return Err(LaunchError::Unavailable(what));
    }
    match config.schedule {
        Schedule::Deterministic | Schedule::Adversarial { .. } => Ok(()),
        Schedule::Parallel { .. } | Schedule::Independent { .. } => Err(LaunchError::Unavailable(
            "looking for data races with the parallel schedule, whose order is not repeatable,",
        )),
    }
}

impl LaunchRaces {
    /// Nothing if races are ignored.
    pub(super) fn new(races: Races, program: &Program) -> Option<Box<Self>> {
        let lenient = match races {
            Races::Ignored => return None,
            Races::CudaIdiom | Races::Replayed { .. } => true,
            Races::Strict => false,
        };
        let means =
            [MemoryKind::Shared, MemoryKind::Global].map(|memory| Means::of(program, memory));
        let orders_blocks = program.ops.iter().any(releases_beyond_the_block);
        Some(Box::new(Self {
            lenient,
            keeps_readers: orders_blocks || lenient && means[1] == Means::Atomics,
            means,
            non_coherent: non_coherent_loads(program),
            global: Vec::new(),
            doubts: Vec::new(),
            attempts: BTreeSet::new(),
            stale_reads: BTreeSet::new(),
            replay: match races {
                Races::Replayed { seed } => Some(Replay::new(seed)),
                Races::Ignored | Races::CudaIdiom | Races::Strict => None,
            },
            accepted: BTreeSet::new(),
        }))
    }

    /// A new block.
    pub(super) fn block(&self, linear: u64, threads: u32) -> Box<BlockRaces> {
        let order = BlockOrder::new(linear as u32, threads, self.lenient);
        Box::new(BlockRaces { order, shared: Shadow::default() })
    }
}

impl BlockRaces {
    /// Lanes that waited at a barrier go on.
    pub(super) fn complete(&mut self, barrier: usize) {
        self.order.complete(barrier);
    }
}

/// Who is included in a scope; a launch has no clusters, so that each block is one.
const fn reach(scope: Scope) -> Reach {
    match scope {
        Scope::Cta | Scope::Cluster => Reach::Block,
        Scope::Gpu | Scope::System => Reach::Device,
    }
}

fn releases_beyond_the_block(op: &Op) -> bool {
    let scope = if let Code::Fence(order, scope) = op.code {
        (order != FenceOrder::Acquire).then_some(scope)
    } else if let Code::Atomic { atomic, .. } = op.code {
        releases(atomic.order).then_some(atomic.scope)
    } else if let Code::Store { access, .. } = op.code
        && let Ordering::Release(scope) = access.ordering
    {
        Some(scope)
    } else {
        None
    };
    scope.is_some_and(|scope| reach(scope) == Reach::Device)
}

/// The instructions `ld.global.nc` of a program.
fn non_coherent_loads(program: &Program) -> Vec<u32> {
    let reads = |op: &Op| matches!(op.code, Code::Load { read_only: true, .. });
    let ops = (0..).zip(&program.ops);
    ops.filter(|(_, op)| reads(op)).map(|(pc, _)| pc).collect()
}

const fn releases(order: AtomicOrder) -> bool {
    match order {
        AtomicOrder::Release | AtomicOrder::AcquireRelease => true,
        AtomicOrder::Relaxed | AtomicOrder::Acquire => false,
    }
}

const fn acquires(order: AtomicOrder) -> bool {
    match order {
        AtomicOrder::Acquire | AtomicOrder::AcquireRelease => true,
        AtomicOrder::Relaxed | AtomicOrder::Release => false,
    }
}
