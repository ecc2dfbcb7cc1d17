//! Time in which a worker makes no progress for an external reason: a signal stopped it, a debugger holds it, it waits for
//! a disk, or the parent did not run and could not observe it.
//!
//! A suspended machine needs no special case: `Instant` uses `CLOCK_MONOTONIC` on Linux, which does not advance during
//! suspend. The clock does advance while the parent is stopped in its terminal, a container is paused or a virtual machine
//! is halted.

use std::time::{Duration, Instant};

/// The most time that one sample adds. The parent takes a sample every 20 ms. A longer interval shows that the parent did
/// not run: it could not receive a reply in that time, and the worker may have been paused too.
const MAX_SAMPLE: Duration = Duration::from_secs(1);

/// State of a process, with the distinctions that limits need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Running, or in an interruptible wait.
    Working,
    /// Stopped by a signal.
    Stopped,
    /// Stopped by a debugger.
    Traced,
    /// In an uninterruptible wait for a disk or a driver.
    Uninterruptible,
}

/// Pauses of a worker since a request began.
#[derive(Debug)]
pub(super) struct PauseTimes {
    last: Instant,
    stopped: Duration,
    /// Time stopped, held by a debugger or not observed. It does not count against the limit.
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

    /// Reads the state of the process and adds the time since the previous sample.
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

    /// Length of the current uninterrupted stop.
    pub(super) fn stopped(&self) -> Duration {
        self.stopped
    }

    /// Time that does not count against the limit.
    pub(super) fn not_counted(&self) -> Duration {
        self.not_counted
    }

    /// Time in uninterruptible waits.
    pub(super) fn uninterruptible(&self) -> Duration {
        self.uninterruptible
    }
}

/// State of the main thread of a process.
#[cfg(target_os = "linux")]
fn state(process: u32) -> State {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"));
    text.map_or(State::Working, |text| parse(&text))
}

/// Other systems do not report process states this way.
#[cfg(not(target_os = "linux"))]
fn state(_process: u32) -> State {
    State::Working
}

/// Parses the third field. The second field is a name in parentheses that may contain any character.
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
        // The parent did not run for an hour: the worker was not observed.
        pauses.add(State::Stopped, Duration::from_secs(3600));
        assert_eq!(pauses.stopped(), MAX_SAMPLE);
        let before = pauses.not_counted();
        pauses.add(State::Working, Duration::from_secs(3600));
        assert_eq!(pauses.not_counted(), before + Duration::from_secs(3599));
    }
}
