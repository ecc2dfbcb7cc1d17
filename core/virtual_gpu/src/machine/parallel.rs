//! The parallel schedule: several host threads take clusters in ascending order; one host thread runs one cluster. In a
//! launch without clusters, each block is a cluster.
//!
//! The result is the same as with one host thread, unless the kernel itself can observe the order of its blocks:
//! faults are those of the lowest block that has them, counters are sums. If a fault ends the launch, it ends at
//! the cluster of the fault: lower clusters run to their end, as they would have in order, and the findings of higher
//! clusters are dropped.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::cost::Counts;
use super::super::isa::memory::{Ordering, Scope, Space};
use super::super::isa::special_register::{Single, SpecialRegister};
use super::super::lower::Program;
use super::super::lower::code::{Builtin, Code, Target};
use super::memory::{Memory, RegionPlace};
use super::run::{Launch, Recorded};

/// The number of locks for values of 64 bits, which memory stores as two words.
const STRIPES: usize = 64;

/// The state that the host threads of one launch share.
#[derive(Debug)]
pub(super) struct ParallelLaunch {
    /// The next cluster to take.
    next: AtomicU64,
    /// The lowest cluster with a fault that ends the launch, or `u64::MAX`.
    last: AtomicU64,
    /// Warp instructions of all host threads.
    steps: AtomicU64,
    wide: [Mutex<()>; STRIPES],
    /// The number of resident clusters of each host thread.
    pub(super) resident: usize,
}

impl ParallelLaunch {
    pub(super) fn new(resident: usize) -> Self {
        Self {
            next: AtomicU64::new(0),
            last: AtomicU64::new(u64::MAX),
            steps: AtomicU64::new(0),
            wide: std::array::from_fn(|_| Mutex::new(())),
            resident,
        }
    }

    /// Takes the next cluster.
    pub(super) fn take(&self, total: u64) -> Option<u64> {
        if self.next.load(Relaxed) >= total {
            return None;
        }
        let cluster = self.next.fetch_add(1, Relaxed);
        (cluster < total && !self.is_beyond(cluster)).then_some(cluster)
    }

    /// Ends the launch with this cluster.
    pub(super) fn end_with(&self, cluster: u64) {
        self.last.fetch_min(cluster, Relaxed);
    }

    /// Whether the launch ended with a cluster before this one.
    pub(super) fn is_beyond(&self, cluster: u64) -> bool {
        cluster > self.last.load(Relaxed)
    }

    /// Whether the launch is ending.
    pub(super) fn is_ending(&self) -> bool {
        self.last.load(Relaxed) != u64::MAX
    }

    /// Adds steps; returns the steps of all host threads.
    pub(super) fn count_steps(&self, more: u64) -> u64 {
        self.steps.fetch_add(more, Relaxed) + more
    }

    /// Locks a value of 64 bits against atomic operations of other host threads while the guard lives.
    fn hold(&self, region: usize, offset: usize) -> MutexGuard<'_, ()> {
        let stripe = (region ^ (offset / 8)) % STRIPES;
        self.wide[stripe].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Launch<'_> {
    /// A fence of the host: other host threads observe earlier accesses before later ones.
    pub(super) fn order_memory(&self) {
        if self.common.is_some() {
            fence(SeqCst);
        }
    }

    /// Locks a value of 64 bits while a host thread updates it.
    pub(super) fn hold(&self, place: RegionPlace) -> Option<MutexGuard<'_, ()>> {
        self.common.map(|common| common.hold(place.region, place.offset))
    }
}

/// The result of one host thread.
struct Part {
    faults: Vec<Recorded>,
    counts: Vec<Counts>,
    steps: u64,
    product_steps: u64,
}

/// Runs all blocks on several host threads; each begins with a launch from `launch`, on shared memory.
pub(super) fn run<'m>(
    launch: impl Fn(&'m mut Memory, Option<&'m ParallelLaunch>) -> Launch<'m> + Sync,
    common: &'m ParallelLaunch,
    memories: &'m mut [Memory],
) -> Outcome {
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let launch = &launch;
        let start = |memory| {
            scope.spawn(move || {
                let mut launch = launch(memory, Some(common));
                launch.run();
                let Launch { faults, counts, steps, product_steps, .. } = launch;
                Part { faults, counts, steps, product_steps }
            })
        };
        let threads: Vec<_> = memories.iter_mut().map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Part>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    merge(parts, common)
}

/// The result of all host threads, as if blocks had run in order.
pub(super) struct Outcome {
    pub(super) faults: Vec<Recorded>,
    pub(super) counts: Vec<Counts>,
    pub(super) steps: u64,
    pub(super) product_steps: u64,
    pub(super) stopped: bool,
}

fn merge(parts: Vec<Part>, common: &ParallelLaunch) -> Outcome {
    let stopped = common.is_ending();
    let (faults, counts) = (Vec::new(), Vec::new());
    let mut outcome = Outcome { faults, counts, steps: 0, product_steps: 0, stopped };
    for part in parts {
        outcome.steps += part.steps;
        outcome.product_steps += part.product_steps;
        outcome.faults.extend(part.faults);
        if outcome.counts.is_empty() {
            outcome.counts = part.counts;
        } else {
            outcome.counts.iter_mut().zip(&part.counts).for_each(|(all, part)| all.add(part));
        }
    }
    outcome.faults.retain(|recorded| !common.is_beyond(recorded.cluster));
    // A cluster runs on one host thread, so that its faults keep their order.
    outcome.faults.sort_by_key(|recorded| recorded.cluster);
    let mut seen = BTreeSet::new();
    outcome.faults.retain(|recorded| seen.insert((recorded.fault.kind, recorded.pc)));
    outcome
}

/// The reason why a program must run on one host thread, if there is one.
pub(super) fn needs_one_thread(program: &Program) -> Option<&'static str> {
    program.calls.iter().find_map(|call| match call.target {
        Target::Builtin(Builtin::Print) => Some("the kernel prints, in a deterministic order"),
        Target::Builtin(Builtin::Allocate | Builtin::Free) => {
            Some("the kernel allocates memory, at deterministic addresses")
        }
        Target::Builtin(Builtin::AssertFail | Builtin::Trap)
        | Target::Function(_)
        | Target::Address(_) => None,
    })
}

/// The reason why clusters of a program can observe each other during the launch, if there is one. Plain accesses of
/// several blocks to one address are a race, which other code checks.
pub(super) fn has_meeting_clusters(program: &Program) -> Option<&'static str> {
    program.ops.iter().find_map(|op| meeting(&op.code))
}

fn meeting(code: &Code) -> Option<&'static str> {
    if let Code::Atomic { atomic, .. } | Code::AtomicVector { atomic, .. } = code {
        let is_own = atomic.space.is_shared();
        return (!is_own).then_some("blocks execute atomics, in a deterministic order");
    }
    if let Code::Load { access, .. } | Code::Store { access, .. } = code {
        let is_own = !matches!(access.space, Space::Generic | Space::Global);
        let is_plain = access.ordering == Ordering::Weak;
        return (!is_own && !is_plain).then_some("blocks read memory that other blocks write");
    }
    if let Code::Fence(_, scope) = code {
        let is_own = matches!(scope, Scope::Cta | Scope::Cluster);
        return (!is_own).then_some("blocks synchronise with each other");
    }
    let asks = matches!(
        code,
        Code::Special(SpecialRegister::Value(
            Single::Clock
                | Single::ClockHigh
                | Single::Clock64
                | Single::GlobalTimer
                | Single::GlobalTimerLow
                | Single::GlobalTimerHigh
                | Single::Multiprocessor
        ))
    );
    asks.then_some("the kernel reads a clock or its multiprocessor")
}
