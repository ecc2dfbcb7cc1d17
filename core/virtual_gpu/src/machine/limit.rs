//! The limits of a launch: steps, which are the same on every machine, and time on the host's clock, which ends a launch
//! that somebody waits for.

use std::time::{Duration, Instant};

use super::run::Launch;

/// Steps between two looks at the clock: tens of milliseconds, so that looking costs nothing.
const STEPS_BETWEEN_LOOKS: u64 = 1 << 16;

/// Which limit a launch reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Warp instructions.
    Steps,
    /// Time on the host.
    Time,
}

/// When a launch must be over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) limit: Duration,
    begin: Instant,
    next_look: u64,
}

impl Deadline {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, begin: Instant::now(), next_look: STEPS_BETWEEN_LOOKS }
    }

    fn is_over(&mut self, steps: u64) -> bool {
        if steps < self.next_look {
            return false;
        }
        self.next_look = steps + STEPS_BETWEEN_LOOKS;
        self.begin.elapsed() >= self.limit
    }
}

impl Launch<'_> {
    /// The limit that the launch has reached, with the steps of all its threads.
    pub(super) fn reached_limit(&mut self) -> Option<Limit> {
        let steps = match self.common {
            None => self.steps,
            Some(common) => {
                let more = self.steps - self.counted_steps;
                self.counted_steps = self.steps;
                common.count_steps(more)
            }
        };
        if steps >= self.max_steps {
            return Some(Limit::Steps);
        }
        let own = self.steps;
        self.deadline.as_mut()?.is_over(own).then_some(Limit::Time)
    }
}
