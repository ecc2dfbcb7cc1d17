//! Limits of a launch: a number of steps, which does not depend on the host, and a time on the host's clock.

use std::time::{Duration, Instant};

use super::run::Launch;

/// Steps between two readings of the clock: tens of milliseconds, so that the readings cost nothing.
const STEPS_BETWEEN_LOOKS: u64 = 1 << 16;

/// The most that one reading of the clock adds to the time of a launch. Readings that are further apart show that the
/// process did not run, because it was stopped or its machine was paused; that is not time of the kernel.
const MOST_BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// The kind of limit that a launch reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    /// Warp instructions.
    Steps,
    /// Time on the host's clock.
    Time,
}

/// The time limit of a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) limit: Duration,
    taken: Duration,
    last_look: Instant,
    next_look: u64,
}

impl Deadline {
    pub(super) fn new(limit: Duration) -> Self {
        let (taken, last_look) = (Duration::ZERO, Instant::now());
        Self { limit, taken, last_look, next_look: STEPS_BETWEEN_LOOKS }
    }

    fn is_over(&mut self, steps: u64) -> bool {
        if steps < self.next_look {
            return false;
        }
        self.next_look = steps + STEPS_BETWEEN_LOOKS;
        let now = Instant::now();
        let passed = now.duration_since(self.last_look);
        self.last_look = now;
        self.add(passed)
    }

    /// Adds the time since the last reading; returns whether the limit is reached.
    fn add(&mut self, passed: Duration) -> bool {
        self.taken = self.taken.saturating_add(passed.min(MOST_BETWEEN_LOOKS));
        self.taken >= self.limit
    }
}

impl Launch<'_> {
    /// The limit that the launch has reached, with the steps of all its host threads.
    pub(super) fn reached_limit(&mut self) -> Option<LimitKind> {
        let steps = match self.common {
            None => self.steps,
            Some(common) => {
                let more = self.steps - self.counted_steps;
                self.counted_steps = self.steps;
                common.count_steps(more)
            }
        };
        if steps >= self.max_steps {
            return Some(LimitKind::Steps);
        }
        let own = self.steps;
        self.deadline.as_mut()?.is_over(own).then_some(LimitKind::Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_the_process_is_no_time_of_the_launch() {
        let mut deadline = Deadline::new(Duration::from_secs(3));
        for passed in [100, 3_600_000, 900] {
            assert!(!deadline.add(Duration::from_millis(passed)), "{deadline:?}");
        }
        assert!(deadline.add(Duration::from_secs(1)), "{deadline:?}");
        let mut short = Deadline::new(Duration::from_millis(20));
        assert!(!short.add(Duration::from_millis(19)) && short.add(Duration::from_millis(1)));
    }
}
