//! The limits of a launch: steps, which are the same on every machine, and time on the host's clock, which ends a launch
//! that somebody waits for.

use std::time::{Duration, Instant};

use super::run::Launch;

/// Steps between two looks at the clock: tens of milliseconds, so that looking costs nothing.
const STEPS_BETWEEN_LOOKS: u64 = 1 << 16;

/// The most that one look at the clock adds to the time that a launch took. Looks that are further apart show that the process
/// did not run: it was stopped, or its machine was paused, and that is no time of the kernel's.
const MOST_BETWEEN_LOOKS: Duration = Duration::from_secs(1);

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

    /// Whether the limit is reached so much time after the last look.
    fn add(&mut self, passed: Duration) -> bool {
        self.taken = self.taken.saturating_add(passed.min(MOST_BETWEEN_LOOKS));
        self.taken >= self.limit
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
