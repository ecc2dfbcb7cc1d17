//! Data races, by the rules of `docs/races.md`, whose numbers the comments cite.
//!
//! `happens_before` maintains the order of accesses, `shadow` records the accesses of each word, `conflict`
//! compares them; `hooks` is the interface to the machine.

mod block_sync;
mod clock;
mod cluster;
mod conflict;
mod element;
mod fast_rows;
mod fast_words;
mod happens_before;
mod hooks;
mod location;
mod page;
mod phases;
mod proxy;
mod replay;
mod report;
mod shadow;
#[cfg(test)]
mod tests;
mod visits;
mod warp_accesses;
mod word_runs;

use std::collections::BTreeSet;

use super::super::error::PtxLocation;
use super::super::isa::atomic::AtomicOrder;
use super::super::isa::barrier::FenceOrder;
use super::super::isa::memory::{Ordering, Scope};
use super::super::lower::Program;
use super::super::lower::code::{Code, Op};
use super::super::module::SourceLine;
use super::cluster::Clusters;
use super::launch::{LaunchConfig, LaunchError, Races, Schedule};
use super::run::Recorded;
use block_sync::BlockSync;
use conflict::MemoryKind;
use happens_before::{HappensBefore, Reach};
use phases::Phases;
use proxy::{MapFences, ProxyFences};
use replay::Replay;
use shadow::Shadow;
use visits::Visits;

/// An access that the CUDA idiom mode accepts and the memory model does not, or a note of rule 25 or 26.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The rule of `docs/races.md` by which it is accepted.
    pub rule: u8,
    /// Location in the PTX.
    pub place: PtxLocation,
    /// Location in the source, if the PTX has line information.
    pub source_line: Option<SourceLine>,
}

/// The race detection of a launch.
#[derive(Debug)]
pub(super) struct LaunchRaces {
    /// Whether rules 20 to 24 apply.
    lenient: bool,
    /// Whether all readers must be recorded; otherwise readers of two blocks stand for all. They must if the program
    /// may order blocks, or if a read may be an attempt, which only the thread's own atomic shows (rule 23).
    keeps_readers: bool,
    /// The clusters, if they have several blocks.
    clusters: Option<ClusterMap>,
    /// The synchronisation of the threads of a block, for shared and global memory.
    block_sync: [BlockSync; 2],
    /// Whether the phases of barriers are checked (rule 45).
    has_phases: bool,
    /// Loads through the read-only cache, in the order of the program (rule 25).
    non_coherent: Vec<u32>,
    map_fences: MapFences,
    /// By region.
    global: Vec<Option<Shadow>>,
    /// Races of plain reads with atomics that are reported unless the reads turn out to be attempts (rule 23).
    pending_races: Vec<PendingRace>,
    /// Instructions whose reads were attempts.
    attempts: BTreeSet<u32>,
    /// Instructions of strong reads for which the memory model permits an older value.
    stale_reads: BTreeSet<u32>,
    /// Older values, if reads may return them.
    replay: Option<Replay>,
    /// Rules of the idiom mode, with the instructions that they accepted.
    accepted: BTreeSet<(u8, u32)>,
}

#[derive(Debug)]
struct PendingRace {
    /// The instruction of the read.
    read: u32,
    /// The instruction of the fault.
    pc: u32,
    recorded: Recorded,
}

/// The race detection of a block.
#[derive(Clone, Debug)]
pub(super) struct BlockRaces {
    order: HappensBefore,
    shared: Shadow,
    proxy_fences: ProxyFences,
    /// What happens before the arrivals at the barrier of the cluster since it last completed.
    arrivals: ClusterOrder,
    /// What happens before the last completion of the barrier of the cluster.
    released: ClusterOrder,
    /// The accesses of other blocks to the shared memory, and the exits of its threads.
    visits: Visits,
    /// The phases of its barriers, if they are checked.
    phases: Option<Box<Phases>>,
}

pub(super) use cluster::{ClusterMap, ClusterOrder};
pub(super) use element::Role;
pub(super) use happens_before::Waits;
pub(super) use hooks::WriteOutcome;
pub(super) use proxy::{IssueClock, Source};
pub(super) use replay::{replace, stale_lanes};

/// Rejects launches for which races cannot be checked.
pub(super) fn refuse(config: &LaunchConfig, program: &Program) -> Result<(), LaunchError> {
    if config.checks.races == Races::Ignored {
        return Ok(());
    }
    let blocks: u64 = config.grid.iter().map(|size| u64::from(*size)).product();
    if blocks > clock::MOST_BLOCKS {
        let what = "the race check for a grid of more than 4,194,304 blocks";
        return Err(LaunchError::Unavailable(what));
    }
    if program.ops.len() > shadow::MOST_INSTRUCTIONS {
        let what = "the race check for a kernel of more than 4,194,304 instructions";
        return Err(LaunchError::Unavailable(what));
    }
    match config.schedule {
        Schedule::Deterministic | Schedule::Adversarial { .. } => Ok(()),
        Schedule::Parallel { .. } | Schedule::Independent { .. } => Err(LaunchError::Unavailable(
            "the race check with a parallel schedule, whose order is not repeatable,",
        )),
    }
}

impl LaunchRaces {
    /// None if races are not checked.
    /// The checks of a launch whose blocks run in these clusters.
    pub(super) fn from_config(
        config: &LaunchConfig,
        program: &Program,
        clusters: Clusters,
    ) -> Option<Box<Self>> {
        let has_peers = clusters.blocks() > 1;
        let clusters = has_peers.then_some(ClusterMap { clusters, grid: config.grid });
        Self::new(config.checks.races, program, clusters)
    }

    pub(super) fn new(
        races: Races,
        program: &Program,
        clusters: Option<ClusterMap>,
    ) -> Option<Box<Self>> {
        let lenient = match races {
            Races::Ignored => return None,
            Races::CudaIdiom | Races::Replayed { .. } => true,
            Races::Strict => false,
        };
        // Blocks of a cluster access the same shared memory, in an order that its barrier establishes.
        let means = [MemoryKind::Shared, MemoryKind::Global].map(|memory| match clusters {
            Some(_) => BlockSync::Atomics,
            None => BlockSync::from_program(program, memory),
        });
        let orders_blocks = program.ops.iter().any(releases_beyond_the_block);
        Some(Box::new(Self {
            lenient,
            clusters,
            keeps_readers: orders_blocks
                || clusters.is_some()
                || lenient && means[1] == BlockSync::Atomics,
            block_sync: means,
            has_phases: Phases::matter_in(program, clusters.is_some()),
            non_coherent: non_coherent_loads(program),
            map_fences: MapFences::default(),
            global: Vec::new(),
            pending_races: Vec::new(),
            attempts: BTreeSet::new(),
            stale_reads: BTreeSet::new(),
            replay: match races {
                Races::Replayed { seed } => Some(Replay::new(seed)),
                Races::Ignored | Races::CudaIdiom | Races::Strict => None,
            },
            accepted: BTreeSet::new(),
        }))
    }

    /// Creates the state of a block.
    pub(super) fn block(&self, linear: u64, threads: u32) -> Box<BlockRaces> {
        let order = HappensBefore::new(linear as u32, threads, self.lenient);
        let order = match self.clusters {
            Some(clusters) => order.in_clusters(clusters),
            None => order,
        };
        let phases = self.has_phases.then(|| Box::new(Phases::new(linear as u32, threads)));
        Box::new(BlockRaces {
            order,
            phases,
            shared: Shadow::default(),
            proxy_fences: ProxyFences::default(),
            arrivals: ClusterOrder::default(),
            released: ClusterOrder::default(),
            visits: Visits::default(),
        })
    }
}

impl BlockRaces {
    /// Lanes that waited at a barrier continue.
    pub(super) fn complete(&mut self, barrier: usize) {
        self.order.complete(barrier);
        if let Some(phases) = &mut self.phases {
            phases.complete(barrier);
        }
    }
}

/// The threads that a scope includes.
const fn reach(scope: Scope) -> Reach {
    match scope {
        Scope::Cta => Reach::Block,
        Scope::Cluster => Reach::Cluster,
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

/// The `ld.global.nc` instructions of a program.
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
