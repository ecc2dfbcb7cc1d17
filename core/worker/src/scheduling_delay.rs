//! How long a process waited for a processor that others had: on a busy machine that is not its own time.

use std::time::Duration;

/// A limit is extended to at most this many times itself.
const MAX_EXTENSION_FACTOR: u32 = 8;

/// How long a process that is ready to run has waited for a processor since it began: the main thread's share, which does
/// the work of our processes. Zero where the system does not say.
#[cfg(target_os = "linux")]
pub(super) fn run_queue_wait(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat"));
    text.ok().and_then(|text| parse(&text)).unwrap_or_default()
}

/// No other system counts it.
#[cfg(not(target_os = "linux"))]
pub(super) fn run_queue_wait(_process: u32) -> Duration {
    Duration::ZERO
}

/// Nanoseconds on a processor, nanoseconds that it waited for one, turns.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst, `/proc/<pid>/schedstat`.
#[cfg(target_os = "linux")]
fn parse(schedstat: &str) -> Option<Duration> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// What is left of a limit after so much time, of which so much was spent waiting for others.
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
    fn waiting_for_others_is_nobodys_own_time() {
        let check = |limit, elapsed, run_queue_wait, expected| {
            let [limit, elapsed, run_queue_wait, expected] =
                [limit, elapsed, run_queue_wait, expected].map(Duration::from_secs);
            assert_eq!(remaining_time(limit, elapsed, run_queue_wait), expected);
        };
        check(10, 4, 0, 6);
        check(10, 10, 0, 0);
        check(10, 10, 3, 3);
        check(10, 14, 3, 0);
        // However busy a machine is, there is an end.
        check(10, 79, 1000, 1);
        check(10, 81, 1000, 0);
        check(u64::MAX / 8, 5, 5, u64::MAX / 8);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_says_how_long_we_waited() {
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
