//! Schedules: the order in which the blocks, warps and lanes of a launch run, and the number of host threads.

use std::num::NonZeroUsize;

use super::super::lower::Program;
use super::block_order::BlockOrder;
use super::launch::{LaunchConfig, Report};
use super::parallel;
use super::turn_order::{Random, TurnOrder};

/// The limit of host threads of a launch.
const MOST_HOST_THREADS: NonZeroUsize = match NonZeroUsize::new(256) {
    Some(threads) => threads,
    None => NonZeroUsize::MIN,
};

/// The order of blocks, warps and diverged lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Fixed: blocks in ascending order.
    #[default]
    Deterministic,
    /// Blocks on several host threads; results are the same unless the kernel can observe the order.
    Parallel {
        /// The number of host threads.
        threads: std::num::NonZeroUsize,
    },
    /// As `Parallel` if no cluster can observe another one, so that no result depends on their order; otherwise
    /// deterministic.
    Independent {
        /// The number of host threads.
        threads: std::num::NonZeroUsize,
    },
    /// A random order, to reveal defects that another order hides.
    Adversarial { seed: u64 },
}

/// The order of turns of the schedule.
pub(super) fn order(schedule: Schedule) -> TurnOrder {
    match schedule {
        Schedule::Deterministic | Schedule::Parallel { .. } | Schedule::Independent { .. } => {
            TurnOrder::Fixed
        }
        Schedule::Adversarial { seed } => TurnOrder::Seeded(Random::new(seed)),
    }
}

/// The seed of the numbers of multiprocessors and warps: ascending if blocks start in ascending order.
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

/// The number of host threads of a parallel launch. If the schedule cannot be parallel, the report states why.
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
            (threads, note.or_else(|| parallel::has_meeting_clusters(program)))
        }
    };
    report.schedule_note = note;
    if report.schedule_note.is_some() {
        report.schedule = Schedule::Deterministic;
        return None;
    }
    Some(threads.min(MOST_HOST_THREADS))
}
