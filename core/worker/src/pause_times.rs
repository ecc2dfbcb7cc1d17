//! Time in which a worker could not work although nothing is wrong with it: stopped, held by a debugger, or waiting for a
//! disk; and time in which its parent did not run, so that it could not see the worker.
//!
//! A machine that is suspended needs no care: `Instant` is `CLOCK_MONOTONIC` on Linux, which stands still meanwhile. It goes
//! on while the parent is stopped in its terminal, while a container is paused and while a virtual machine is halted.

use std::time::{Duration, Instant};

/// The most that one look adds. The parent looks every 20 ms: between looks that are further apart it did not run, it could
/// not take the reply that may have come meanwhile, and the worker may have been paused with it.
const MAX_SAMPLE: Duration = Duration::from_secs(1);

/// What a process does, as far as it matters to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It runs, or waits for something that ends by itself.
    Working,
    /// Stopped by a signal.
    Stopped,
    /// Stopped by a debugger.
    Traced,
    /// It waits for a disk, or for a driver.
    Uninterruptible,
}

/// What was seen of a worker since a request began.
#[derive(Debug)]
pub(super) struct PauseTimes {
    last: Instant,
    stopped: Duration,
    /// Stopped, held by a debugger, or not seen: no time of the worker's.
    not_counted: Duration,
    uninterruptible: Duration,
}

impl PauseTimes {
    pub(super) fn new() -> Self {
        let nothing = Duration::ZERO;
        Self {
            last: Instant::now(),
            stopped: nothing,
            not_counted: nothing,
            uninterruptible: nothing,
        }
    }

    /// Looks at the process.
    pub(super) fn sample(&mut self, process: u32) {
        let now = Instant::now();
        self.add(state(process), now.duration_since(self.last));
        self.last = now;
    }

    fn add(&mut self, state: State, passed: Duration) {
        let seen = passed.min(MAX_SAMPLE);
        self.not_counted += passed.saturating_sub(seen);
        let passed = seen;
        match state {
            State::Working => self.stopped = Duration::ZERO,
            State::Stopped => {
                self.stopped += passed;
                self.not_counted += passed;
            }
            State::Traced => {
                self.stopped = Duration::ZERO;
                self.not_counted += passed;
            }
            State::Uninterruptible => {
                self.stopped = Duration::ZERO;
                self.uninterruptible += passed;
            }
        }
    }

    /// How long it has been stopped without a break.
    pub(super) fn stopped(&self) -> Duration {
        self.stopped
    }

    /// How much of the time is not the worker's.
    pub(super) fn not_counted(&self) -> Duration {
        self.not_counted
    }

    /// How long it waited for a disk.
    pub(super) fn uninterruptible(&self) -> Duration {
        self.uninterruptible
    }
}

/// What the main thread of a process does.
#[cfg(target_os = "linux")]
fn state(process: u32) -> State {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"));
    text.map_or(State::Working, |text| parse(&text))
}

/// No other system is asked.
#[cfg(not(target_os = "linux"))]
fn state(_process: u32) -> State {
    State::Working
}

/// The third field; the second is a name in parentheses, which may hold anything.
///
/// Source: Linux, Documentation/filesystems/proc.rst, table 1-4.
#[cfg(target_os = "linux")]
fn parse(stat: &str) -> State {
    let behind_name = stat.rsplit_once(") ").map(|(_, rest)| rest);
    match behind_name.and_then(|rest| rest.chars().next()) {
        Some('T') => State::Stopped,
        Some('t') => State::Traced,
        Some('D') => State::Uninterruptible,
        Some(_) | None => State::Working,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_behind_any_name() {
        let check = |stat, expected| assert_eq!(parse(stat), expected, "{stat}");
        check("12 (lightbench) T 1 2", State::Stopped);
        check("12 (a) R (b) t 1 2", State::Traced);
        check("12 (lightbench) D 1", State::Uninterruptible);
        check("12 (T) S 1", State::Working);
        check("", State::Working);
    }

    #[test]
    fn only_an_unbroken_stop_adds_up() {
        let mut pauses = PauseTimes::new();
        let part = Duration::from_millis(400);
        for state in [State::Stopped, State::Stopped, State::Working, State::Stopped] {
            pauses.add(state, part);
        }
        pauses.add(State::Uninterruptible, part);
        pauses.add(State::Traced, part);
        assert_eq!(pauses.stopped(), Duration::ZERO);
        assert_eq!(pauses.not_counted(), 4 * part);
        assert_eq!(pauses.uninterruptible(), part);
        // The parent was away for an hour: what the worker did then is not known.
        pauses.add(State::Stopped, Duration::from_secs(3600));
        assert_eq!(pauses.stopped(), MAX_SAMPLE);
        let before = pauses.not_counted();
        pauses.add(State::Working, Duration::from_secs(3600));
        assert_eq!(pauses.not_counted(), before + Duration::from_secs(3599));
    }
}
