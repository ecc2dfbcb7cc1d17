//! What L2 keeps of writes, from times: only what it has no room for goes to memory while a kernel runs.
//!
//! Of two large amounts the second takes longer by what lies between them at the rate of memory. At that rate the first one
//! should take longer than it does: what is missing was still in L2 when the kernel ended.

use crate::measure::timing::Timing;
use crate::speed_of_light::calibration::Measured;
use crate::units::Bytes;

/// How, in a few words.
const METHOD: &str =
    "writes of 16 KiB, 256 and 512 MiB: what the second lacks of the rate between the last two";

/// How much was written, and the times that it took: lowest, median and highest of its interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) bytes: f64,
    pub(super) seconds: [f64; 3],
}

impl Written {
    pub(super) fn of(bytes: f64, timing: &Timing) -> Self {
        let (low, high) = timing.summary.interval;
        Self { bytes, seconds: [low.0, timing.summary.median.0, high.0] }
    }
}

/// What stays of hardly any, of much and of twice as much, in a cache of that size.
///
/// # Errors
/// A sentence: the times show no such thing.
pub(super) fn retained(
    [hardly, half, whole]: [Written; 3],
    cache: Bytes,
    samples: u32,
) -> Result<Measured<Bytes>, String> {
    let of = |hardly_any: f64, of_half: f64, of_whole: f64| {
        let rate = (whole.bytes - half.bytes) / (of_whole - of_half);
        half.bytes - rate * (of_half - hardly_any)
    };
    let median = of(hardly.seconds[1], half.seconds[1], whole.seconds[1]);
    let mut ends = Vec::new();
    for corner in 0..8 {
        let end = |bit: u32, written: &Written| {
            written.seconds[if corner >> bit & 1 == 0 { 0 } else { 2 }]
        };
        ends.push(of(end(0, &hardly), end(1, &half), end(2, &whole)));
    }
    let low = ends.iter().copied().fold(median, f64::min);
    let high = ends.iter().copied().fold(median, f64::max);
    let Bytes(most) = cache;
    let is_sound = half.seconds[1] < whole.seconds[1]
        && low.is_finite()
        && high.is_finite()
        && high >= 0.0
        && median <= most as f64;
    if !is_sound {
        return Err(format!(
            "the times of large writes do not tell: {median:.0} bytes, from {low:.0} to {high:.0}, of an L2 of {most}"
        ));
    }
    // No less than nothing stays there, and no more than there is room for.
    let bytes = |value: f64| Bytes((value.max(0.0) as u64).min(most));
    Ok(Measured {
        median: bytes(median),
        low: bytes(low),
        high: bytes(high),
        samples,
        method: METHOD.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// Times of a memory of 4 TB/s behind a cache that keeps so much, with intervals so wide.
    fn times(keeps: f64, width: f64) -> [Written; 3] {
        [16.0 / 1024.0, 256.0, 512.0].map(|mebibytes| {
            let bytes = mebibytes * MIB;
            let seconds = 2e-6 + (bytes - keeps).max(0.0) / 4e12;
            let seconds = [seconds * (1.0 - width), seconds, seconds * (1.0 + width)];
            Written { bytes, seconds }
        })
    }

    #[test]
    fn what_stays_is_what_no_time_shows() {
        let l2 = Bytes(50 << 20);
        for keeps in [0.0, 10.0, 40.0] {
            let found = retained(times(keeps * MIB, 0.002), l2, 9).unwrap();
            let near = |bytes: Bytes| (bytes.0 as f64 / MIB - keeps).abs();
            // The smallest amount is within this.
            assert!(near(found.median) < 0.02, "{keeps}: {found:?}");
            assert!(found.low <= found.median && found.median <= found.high, "{found:?}");
            assert!(near(found.low) < 3.0 && near(found.high) < 3.0, "{found:?}");
        }
    }

    #[test]
    fn times_that_do_not_tell_are_refused() {
        let check = |written: [Written; 3]| {
            let reason = retained(written, Bytes(50 << 20), 9).unwrap_err();
            assert!(reason.starts_with("the times of large writes do not tell"), "{reason}");
        };
        // More than there is.
        check(times(80.0 * MIB, 0.001));
        let [hardly, half, _] = times(10.0 * MIB, 0.001);
        check([hardly, half, half]);
        let slow = Written { seconds: half.seconds.map(|time| 3.0 * time), ..half };
        let [_, _, whole] = times(10.0 * MIB, 0.001);
        check([hardly, slow, whole]);
    }
}
