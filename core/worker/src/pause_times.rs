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

    /// Reads the state of the process and adds the time since the previous sample. Returns the number of the threads of
    /// the process, if the system reports it.
    pub(super) fn sample(&mut self, process: u32) -> Option<u32> {
        let now = Instant::now();
        let Sample { state, threads } = observe(process);
        self.add(state, now.duration_since(self.last));
        self.last = now;
        threads
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

/// One observation of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    /// State of its main thread.
    state: State,
    /// Number of its threads.
    threads: Option<u32>,
}

#[cfg(target_os = "linux")]
fn observe(process: u32) -> Sample {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"));
    parse(&text.unwrap_or_default())
}

/// Other systems do not report process states this way.
#[cfg(not(target_os = "linux"))]
fn observe(_process: u32) -> Sample {
    Sample { state: State::Working, threads: None }
}

/// Parses fields 3 (state) and 20 (number of threads). The second field is a name in parentheses that may contain any
/// character.
///
/// Source: Linux, Documentation/filesystems/proc.rst, table 1-4.
#[cfg(target_os = "linux")]
fn parse(stat: &str) -> Sample {
    let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let mut fields = behind_name.split_ascii_whitespace();
    let state = match fields.next() {
        Some("T") => State::Stopped,
        Some("t") => State::Traced,
        Some("D") => State::Uninterruptible,
        Some(_) | None => State::Working,
    };
    Sample { state, threads: fields.nth(16).and_then(|count| count.parse().ok()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_behind_any_name() {
        let check = |stat, expected| assert_eq!(parse(stat).state, expected, "{stat}");
        check("12 (lightbench) T 1 2", State::Stopped);
        check("12 (a) R (b) t 1 2", State::Traced);
        check("12 (lightbench) D 1", State::Uninterruptible);
        check("12 (T) S 1", State::Working);
        check("", State::Working);
    }

    #[test]
    fn threads_are_the_twentieth_field() {
        let stat = "7 (a b) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 33 0 44";
        assert_eq!(parse(stat).threads, Some(33));
        assert_eq!(parse("7 (a) S 1").threads, None);
        let own = observe(std::process::id()).threads;
        assert!(own.is_some_and(|count| count >= 2), "the test has a thread of its own: {own:?}");
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
