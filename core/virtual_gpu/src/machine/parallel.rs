//! The parallel schedule: blocks on several threads of the host, taken in their order, each run by one thread.
//!
//! What comes of it is the same as with one thread, unless the kernel itself can observe the order of its blocks: faults
//! are those of the lowest block that has them, counters are sums. A fault that ends the launch ends it at its block:
//! lower blocks go on, as they had in order, and what higher ones found is dropped.

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

/// Locks for values of 64 bits, which memory holds as two words.
const STRIPES: usize = 64;

/// What the threads of one launch share.
#[derive(Debug)]
pub(super) struct Common {
    /// The next block that nobody has taken.
    next: AtomicU64,
    /// The lowest block with a fault that ends the launch, or the greatest number.
    last: AtomicU64,
    /// Warp instructions of all threads.
    steps: AtomicU64,
    wide: [Mutex<()>; STRIPES],
    /// Blocks that each thread keeps under way.
    pub(super) resident: usize,
}

impl Common {
    pub(super) fn new(resident: usize) -> Self {
        Self {
            next: AtomicU64::new(0),
            last: AtomicU64::new(u64::MAX),
            steps: AtomicU64::new(0),
            wide: std::array::from_fn(|_| Mutex::new(())),
            resident,
        }
    }

    /// A block that nobody has taken.
    pub(super) fn take(&self, total: u64) -> Option<u64> {
        if self.next.load(Relaxed) >= total {
            return None;
        }
        let block = self.next.fetch_add(1, Relaxed);
        (block < total && !self.is_beyond(block)).then_some(block)
    }

    /// The launch ends with this block.
    pub(super) fn end_with(&self, block: u64) {
        self.last.fetch_min(block, Relaxed);
    }

    /// Whether the launch ended with a block before this one.
    pub(super) fn is_beyond(&self, block: u64) -> bool {
        block > self.last.load(Relaxed)
    }

    /// Whether the launch is to end.
    pub(super) fn is_ending(&self) -> bool {
        self.last.load(Relaxed) != u64::MAX
    }

    /// Adds steps; gives those of all threads.
    pub(super) fn count_steps(&self, more: u64) -> u64 {
        self.steps.fetch_add(more, Relaxed) + more
    }

    /// Nobody else accesses this value of 64 bits by an operation that is atomic as long as the guard lives.
    fn hold(&self, region: usize, offset: usize) -> MutexGuard<'_, ()> {
        let stripe = (region ^ (offset / 8)) % STRIPES;
        self.wide[stripe].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Launch<'_> {
    /// Accesses before it are seen by other threads of the host before those behind it.
    pub(super) fn order_memory(&self) {
        if self.common.is_some() {
            fence(SeqCst);
        }
    }

    /// Keeps values of 64 bits whole while a thread changes them.
    pub(super) fn hold(&self, place: RegionPlace) -> Option<MutexGuard<'_, ()>> {
        self.common.map(|common| common.hold(place.region, place.offset))
    }
}

/// What one thread leaves behind.
struct Part {
    faults: Vec<Recorded>,
    counts: Vec<Counts>,
    steps: u64,
}

/// Runs all blocks on several threads; each begins with what `launch` makes, on memory that all share.
pub(super) fn run<'m>(
    launch: impl Fn(&'m mut Memory, Option<&'m Common>) -> Launch<'m> + Sync,
    common: &'m Common,
    memories: &'m mut [Memory],
) -> Outcome {
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let launch = &launch;
        let start = |memory| {
            scope.spawn(move || {
                let mut launch = launch(memory, Some(common));
                launch.run();
                Part { faults: launch.faults, counts: launch.counts, steps: launch.steps }
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

/// What all threads did, as if blocks had run in order.
pub(super) struct Outcome {
    pub(super) faults: Vec<Recorded>,
    pub(super) counts: Vec<Counts>,
    pub(super) steps: u64,
    pub(super) stopped: bool,
}

fn merge(parts: Vec<Part>, common: &Common) -> Outcome {
    let stopped = common.is_ending();
    let mut outcome = Outcome { faults: Vec::new(), counts: Vec::new(), steps: 0, stopped };
    for part in parts {
        outcome.steps += part.steps;
        outcome.faults.extend(part.faults);
        if outcome.counts.is_empty() {
            outcome.counts = part.counts;
        } else {
            outcome.counts.iter_mut().zip(&part.counts).for_each(|(all, part)| all.add(part));
        }
    }
    outcome.faults.retain(|recorded| !common.is_beyond(recorded.block));
    // A block runs on one thread: its faults keep their order.
    outcome.faults.sort_by_key(|recorded| recorded.block);
    let mut seen = BTreeSet::new();
    outcome.faults.retain(|recorded| seen.insert((recorded.fault.kind, recorded.pc)));
    outcome
}

/// Why a program must run on one thread, if it must.
pub(super) fn needs_one_thread(program: &Program) -> Option<&'static str> {
    program.calls.iter().find_map(|call| match call.target {
        Target::Builtin(Builtin::Print) => Some("the kernel prints, in an order that is the same"),
        Target::Builtin(Builtin::Allocate | Builtin::Free) => {
            Some("the kernel allocates, at addresses that are the same")
        }
        Target::Builtin(Builtin::AssertFail | Builtin::Trap)
        | Target::Function(_)
        | Target::Address(_) => None,
    })
}

/// How blocks of a program could see what others do meanwhile, if they could. Plain accesses of several blocks to one place
/// are a race, which is looked for elsewhere.
pub(super) fn has_meeting_blocks(program: &Program) -> Option<&'static str> {
    program.ops.iter().find_map(|op| meeting(&op.code))
}

fn meeting(code: &Code) -> Option<&'static str> {
    if let Code::Atomic { atomic, .. } | Code::AtomicVector { atomic, .. } = code {
        let is_own = atomic.space == Space::Shared;
        return (!is_own)
            .then_some("blocks change memory by atomics, in an order that is the same");
    }
    if let Code::Load { access, .. } | Code::Store { access, .. } = code {
        let is_own = !matches!(access.space, Space::Generic | Space::Global);
        let is_plain = access.ordering == Ordering::Weak;
        return (!is_own && !is_plain).then_some("blocks look at what others write");
    }
    if let Code::Fence(_, scope) = code {
        let is_own = *scope == Scope::Cta;
        return (!is_own).then_some("blocks order their accesses among each other");
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
    asks.then_some("the kernel asks when or where it runs")
}
