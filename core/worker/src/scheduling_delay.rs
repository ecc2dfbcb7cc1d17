//! Time that a worker waits for a processor. On a busy machine this time extends the limit of a request.

use std::time::Duration;

/// An extended limit is at most this many times the original limit.
const MAX_EXTENSION_FACTOR: u32 = 8;

/// Time that the main thread of a process has waited in the run queue since the process started. Workers do their work on
/// the main thread. Zero if the file is missing or has another format.
#[cfg(target_os = "linux")]
pub(super) fn run_queue_wait(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat"));
    text.ok().and_then(|text| parse(&text)).unwrap_or_default()
}

/// Other systems do not report the wait time.
#[cfg(not(target_os = "linux"))]
pub(super) fn run_queue_wait(_process: u32) -> Duration {
    Duration::ZERO
}

/// The second of three fields: time on a processor and time in the run queue, both in nanoseconds, and the number of time
/// slices.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`.
#[cfg(target_os = "linux")]
fn parse(schedstat: &str) -> Option<Duration> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// The rest of a limit after `elapsed`. Time in the run queue extends the limit.
pub(super) fn remaining_time(
    limit: Duration,
    elapsed: Duration,
    run_queue_wait: Duration,
) -> Duration {
    let extension = run_queue_wait.min(limit.saturating_mul(MAX_EXTENSION_FACTOR - 1));
    limit.saturating_add(extension).saturating_sub(elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_the_run_queue_extends_the_limit() {
        let check = |limit, elapsed, run_queue_wait, expected| {
            let [limit, elapsed, run_queue_wait, expected] =
                [limit, elapsed, run_queue_wait, expected].map(Duration::from_secs);
            assert_eq!(remaining_time(limit, elapsed, run_queue_wait), expected);
        };
        check(10, 4, 0, 6);
        check(10, 10, 0, 0);
        check(10, 10, 3, 3);
        check(10, 14, 3, 0);
        // The extension is bounded.
        check(10, 79, 1000, 1);
        check(10, 81, 1000, 0);
        check(u64::MAX / 8, 5, 5, u64::MAX / 8);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn schedstat_has_the_time_in_the_run_queue() {
        let text = std::fs::read_to_string("/proc/self/schedstat");
        match text {
            Ok(text) => assert!(parse(&text).is_some(), "{text}"),
            Err(error) => eprintln!("skipped: {error}"),
        }
        assert_eq!(parse("12 3400 7\n"), Some(Duration::from_nanos(3400)));
        assert_eq!(parse("12"), None);
        assert_eq!(run_queue_wait(u32::MAX), Duration::ZERO);
    }
}
