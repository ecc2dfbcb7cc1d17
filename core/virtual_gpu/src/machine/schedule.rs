//! Schedules: in which order the blocks, warps and lanes of a launch run, and on how many threads of the host.

use std::num::NonZeroUsize;

use super::super::lower::Program;
use super::block_order::BlockOrder;
use super::launch::{LaunchConfig, Report};
use super::order::{Order, Random};
use super::parallel;

/// Threads of the host that a launch starts at most, whatever it asks for.
const MOST_HOST_THREADS: NonZeroUsize = match NonZeroUsize::new(256) {
    Some(threads) => threads,
    None => NonZeroUsize::MIN,
};

/// In which order blocks, warps and diverged lanes go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Always the same: blocks in their order.
    #[default]
    Deterministic,
    /// Blocks on several threads of the host; results are the same unless the kernel can observe the order.
    Parallel {
        /// How many.
        threads: std::num::NonZeroUsize,
    },
    /// The same where no block can see what another one does, so that nothing can depend on their order; else the
    /// deterministic one.
    Independent {
        /// How many.
        threads: std::num::NonZeroUsize,
    },
    /// An order that a seed decides, to bring out what another order hides.
    Adversarial {
        /// Any number.
        seed: u64,
    },
}

/// Whose turn it is, by the schedule.
pub(super) fn order(schedule: Schedule) -> Order {
    match schedule {
        Schedule::Deterministic | Schedule::Parallel { .. } | Schedule::Independent { .. } => {
            Order::Fixed
        }
        Schedule::Adversarial { seed } => Order::Seeded(Random::new(seed)),
    }
}

/// Which numbers multiprocessors and warps have: their own where blocks start in their usual order.
pub(super) const fn numbering(config: &LaunchConfig) -> u64 {
    match (config.schedule, config.block_order) {
        (Schedule::Adversarial { seed }, _) | (_, BlockOrder::Random { seed }) => {
            seed.wrapping_mul(2).wrapping_add(1)
        }
        (_, BlockOrder::Descending) => 1,
        (_, BlockOrder::Ascending) => 0,
    }
}

pub(super) fn is_parallel(schedule: Schedule) -> bool {
    match schedule {
        Schedule::Parallel { .. } | Schedule::Independent { .. } => true,
        Schedule::Deterministic | Schedule::Adversarial { .. } => false,
    }
}

/// Threads of a launch that runs on several; where that is asked for and cannot be, the report says so.
pub(super) fn threads(
    schedule: Schedule,
    program: &Program,
    report: &mut Report,
) -> Option<NonZeroUsize> {
    let (threads, note) = match schedule {
        Schedule::Deterministic | Schedule::Adversarial { .. } => return None,
        Schedule::Parallel { threads } => (threads, parallel::needs_one_thread(program)),
        Schedule::Independent { threads } => {
            let note = parallel::needs_one_thread(program);
            (threads, note.or_else(|| parallel::has_meeting_blocks(program)))
        }
    };
    report.schedule_note = note;
    if report.schedule_note.is_some() {
        report.schedule = Schedule::Deterministic;
        return None;
    }
    Some(threads.min(MOST_HOST_THREADS))
}
