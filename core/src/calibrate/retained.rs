//! Measures how many written bytes L2 retains after a kernel ends; L2 writes them to memory only when other data replaces
//! them.
//!
//! One benchmark writes, another reads other memory. Run one after the other, they take longer than the sum of their single
//! times, by the time in which memory receives the bytes that were still in L2 when the writes ended. Launch overhead is in
//! all four times and cancels.

use crate::measure::timing::Timing;
use crate::speed_of_light::calibration::Measured;
use crate::units::{Bytes, BytesPerSecond};

/// How, in a few words.
const METHOD: &str =
    "256 MiB written, then 256 MiB read: what both take beyond each, at the rate of writes";

/// The lowest, median and highest of an interval, in seconds.
type Interval = [f64; 3];

/// Times of four workloads: minimal writes and reads, large writes, large reads, and both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) neither: Interval,
    pub(super) writes: Interval,
    pub(super) reads: Interval,
    pub(super) both: Interval,
}

impl Times {
    /// In the order of the benchmark's workloads.
    pub(super) fn from_timings(timings: &[&Timing]) -> Option<Self> {
        let [neither, writes, reads, both] = timings else { return None };
        let interval = |timing: &Timing| {
            let (low, high) = timing.summary.interval;
            [low.0, timing.summary.median.0, high.0]
        };
        let (neither, writes) = (interval(neither), interval(writes));
        Some(Self { neither, writes, reads: interval(reads), both: interval(both) })
    }

    /// The time of both beyond the sum of each, for the given ends of the intervals.
    fn beyond(&self, [of_sums, of_parts]: [usize; 2]) -> f64 {
        self.both[of_sums] + self.neither[of_sums] - self.writes[of_parts] - self.reads[of_parts]
    }
}

/// The written bytes retained in a cache of that size, for a memory with that write rate.
///
/// # Errors
/// A sentence: the times give no usable value.
pub(super) fn retained(
    times: Times,
    rate: &Measured<BytesPerSecond>,
    cache: Bytes,
    samples: u32,
) -> Result<Measured<Bytes>, String> {
    let median = times.beyond([1, 1]) * rate.median.0;
    let low = (times.beyond([0, 2]) * rate.low.0).min(median);
    let high = (times.beyond([2, 0]) * rate.high.0).max(median);
    let Bytes(most) = cache;
    let is_sound = low.is_finite() && high.is_finite() && high >= 0.0 && median <= most as f64;
    if !is_sound {
        return Err(format!(
            "the times give no usable value: {median:.0} bytes, interval {low:.0} to {high:.0}, in an L2 of {most}"
        ));
    }
    // No less than nothing stays there, and no more than there is room for.
    let bytes = |value: f64| Bytes((value.max(0.0) as u64).min(most));
    let (median, low, high) = (bytes(median), bytes(low), bytes(high));
    Ok(Measured { median, low, high, samples, method: METHOD.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 4e12;
    const L2: Bytes = Bytes(50 << 20);

    fn rate() -> Measured<BytesPerSecond> {
        let rate = BytesPerSecond(RATE);
        Measured { median: rate, low: rate, high: rate, samples: 9, method: String::new() }
    }

    /// Times of a cache that keeps so many bytes, with intervals so wide; large kernels take a while to begin and to end.
    fn times(keeps: f64, width: f64) -> Times {
        let interval = |seconds: f64| [seconds * (1.0 - width), seconds, seconds * (1.0 + width)];
        let (launches, slow, much) = (4e-6, 3e-6, 268e6);
        let writes = launches + slow + (much - keeps) / RATE;
        let reads = launches + slow + much / RATE;
        let both = writes + reads - launches + keeps / RATE;
        Times {
            neither: interval(launches),
            writes: interval(writes),
            reads: interval(reads),
            both: interval(both),
        }
    }

    #[test]
    fn what_stays_is_what_both_take_beyond_each() {
        for keeps in [0.0, 10e6, 40e6] {
            let found = retained(times(keeps, 0.001), &rate(), L2, 9).unwrap();
            let off = |bytes: Bytes| (bytes.0 as f64 - keeps).abs();
            assert!(off(found.median) < 2.0, "{keeps}: {found:?}");
            assert!(found.low <= found.median && found.median <= found.high, "{found:?}");
            assert!(off(found.low) < 2e6 && off(found.high) < 2e6, "{found:?}");
        }
    }

    #[test]
    fn times_that_do_not_tell_are_refused() {
        let check = |times: Times| {
            let reason = retained(times, &rate(), L2, 9).unwrap_err();
            assert!(reason.starts_with("the times give no usable value"), "{reason}");
        };
        // More than there is.
        check(times(80e6, 0.001));
        // The combined time is shorter than the single times.
        let odd = times(10e6, 0.001);
        check(Times { both: odd.neither, ..odd });
        check(Times { both: [f64::NAN; 3], ..odd });
    }
}
