//! Compares the times of two runs: faster, slower, no measurable difference, or not comparable.
//!
//! Runs of a history did not run side by side: temperature, clocks or the driver may have changed between them. Two times
//! therefore differ only if their intervals do not overlap and the difference is at least 2 %.

use std::fmt;

use lightbench_measure::comparison::{Comparison, Conclusion};
use lightbench_measure::timing::{Clock, Timing};
use lightbench_units::{Fraction, Seconds};

/// The smallest relative difference between runs that did not run side by side: on an H200, medians of one kernel in four
/// processes differed by up to 1.1 % (docs/measurement.md).
const SMALLEST_DIFFERENCE: f64 = 0.02;

/// Modelled times that differ by less are shown as equal within this fraction.
const SAME_MODELLED: Fraction = Fraction(0.005);

/// The variation of CUDA event times between processes in either direction, with any subtracted offset: on an H200, one
/// kernel took 2.22 to 3.25 µs in five processes (docs/measurement.md).
const EVENTS_VARIATION: f64 = 0.5e-6;

/// Widens an interval of CUDA event times for a comparison with another process.
#[must_use]
pub fn widened_for_events((median, (low, high)): Interval) -> Interval {
    // The lower end stays positive.
    let low = (low.0 - EVENTS_VARIATION).max(0.1 * low.0);
    (median, (Seconds(low), Seconds(high.0 + EVENTS_VARIATION)))
}

/// The range of a measured time for comparisons with other processes: times with overlapping ranges do not differ
/// measurably.
#[must_use]
pub fn comparison_range((median, (low, high)): Interval) -> (Seconds, Seconds) {
    let half = SMALLEST_DIFFERENCE / 2.0;
    (Seconds(low.0.min(median.0 * (1.0 - half))), Seconds(high.0.max(median.0 * (1.0 + half))))
}

/// The comparison of a run's time with another run's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeComparison {
    /// Both times were measured by the same kind of clock.
    Measured {
        /// The time of this run divided by the other time.
        ratio: Fraction,
        /// The conclusion.
        conclusion: Conclusion,
    },
    /// Both times come from the same model. A model gives a ratio and no conclusion.
    Modelled {
        /// The time of this run divided by the other time.
        ratio: Fraction,
    },
    /// The two times are not comparable.
    NotComparable(Incomparable),
}

/// The reason why two times are not comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Incomparable {
    /// One run has no time for this workload and cache state.
    NoTime,
    /// The definitions of the task differ.
    Definition,
    /// The devices differ.
    Device,
    /// The clocks differ.
    Clock,
    /// One time is unreliable; its taints state why.
    Tainted,
    /// One time has no interval.
    NoInterval,
    /// One run is recorded from another machine.
    Recorded,
}

/// A time and its 95 % interval.
pub type Interval = (Seconds, (Seconds, Seconds));

impl TimeComparison {
    /// Compares a time with another time of the same task, workload and device from a separate run.
    #[must_use]
    pub fn new(now: &Timing, before: &Timing) -> Self {
        if now.mode != before.mode {
            return Self::NotComparable(Incomparable::NoTime);
        }
        if !now.taint.is_empty() || !before.taint.is_empty() {
            return Self::NotComparable(Incomparable::Tainted);
        }
        let interval = |timing: &Timing| (timing.summary.median, timing.summary.interval);
        if !now.clock.is_comparable_with(&before.clock) {
            return Self::NotComparable(Incomparable::Clock);
        }
        match now.clock {
            Clock::Events { .. } => Self::from_separate_runs(
                widened_for_events(interval(now)),
                widened_for_events(interval(before)),
            ),
            Clock::Cupti { .. } => Self::from_separate_runs(interval(now), interval(before)),
            Clock::Modelled => Self::Modelled { ratio: now.summary.median / before.summary.median },
        }
    }

    /// Compares measured times of separate runs: they differ only if their intervals do not overlap and the difference is
    /// at least 2 %.
    #[must_use]
    pub fn from_separate_runs((now, mine): Interval, (before, other): Interval) -> Self {
        let ratio = now / before;
        let are_sound = [(now, mine), (before, other)].iter().all(|(median, (low, high))| {
            low.0 > 0.0 && low <= median && median <= high && high.0.is_finite()
        });
        if !are_sound {
            return Self::NotComparable(Incomparable::NoInterval);
        }
        let conclusion = if mine.1 < other.0 && ratio.0 <= 1.0 - SMALLEST_DIFFERENCE {
            Conclusion::Faster
        } else if mine.0 > other.1 && ratio.0 >= 1.0 + SMALLEST_DIFFERENCE {
            Conclusion::Slower
        } else {
            Conclusion::NoMeasurableDifference
        };
        Self::Measured { ratio, conclusion }
    }

    /// `1.80 % faster than the previous run`.
    #[must_use]
    pub fn words(self, other: &str) -> String {
        match self {
            Self::Measured { ratio: Fraction(ratio), conclusion } => match conclusion {
                Conclusion::Faster if ratio <= 0.5 => {
                    format!("{:.1} times as fast as {other}", 1.0 / ratio)
                }
                Conclusion::Faster => format!("{} faster than {other}", Fraction(1.0 - ratio)),
                Conclusion::Slower if ratio >= 2.0 => {
                    format!("{ratio:.1} times as slow as {other}")
                }
                Conclusion::Slower => format!("{} slower than {other}", Fraction(ratio - 1.0)),
                Conclusion::NoMeasurableDifference => {
                    format!("no measurable difference from {other}")
                }
            },
            Self::Modelled { ratio } if ratio.0 == 1.0 => format!("modelled the same as {other}"),
            Self::Modelled { ratio } if (ratio.0 - 1.0).abs() < SAME_MODELLED.0 => {
                format!("modelled within {SAME_MODELLED} of {other}")
            }
            Self::Modelled { ratio } => format!("modelled at {ratio} of the time of {other}"),
            Self::NotComparable(unlike) => format!("not comparable with {other} ({unlike})"),
        }
    }
}

/// The comparison without the name of the other run: `12.0 % faster`, `3.0 times as fast`, `no difference`.
impl fmt::Display for TimeComparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ratio, conclusion) = match *self {
            Self::Measured { ratio, conclusion } => (ratio.0, conclusion),
            Self::Modelled { ratio } if (ratio.0 - 1.0).abs() < SAME_MODELLED.0 => {
                (ratio.0, Conclusion::NoMeasurableDifference)
            }
            Self::Modelled { ratio } if ratio.0 < 1.0 => (ratio.0, Conclusion::Faster),
            Self::Modelled { ratio } => (ratio.0, Conclusion::Slower),
            Self::NotComparable(_) => return formatter.pad("not comparable"),
        };
        match conclusion {
            Conclusion::Faster if ratio <= 0.5 => {
                write!(formatter, "{:.1} times as fast", 1.0 / ratio)
            }
            Conclusion::Faster => write!(formatter, "{} faster", Fraction(1.0 - ratio)),
            Conclusion::Slower if ratio >= 2.0 => write!(formatter, "{ratio:.1} times as slow"),
            Conclusion::Slower => write!(formatter, "{} slower", Fraction(ratio - 1.0)),
            Conclusion::NoMeasurableDifference => formatter.pad("no difference"),
        }
    }
}

impl From<&Comparison> for TimeComparison {
    /// The comparison of two kernels that ran side by side; this run is B.
    fn from(comparison: &Comparison) -> Self {
        let Comparison { ratio, conclusion, .. } = *comparison;
        Self::Measured { ratio, conclusion }
    }
}

impl fmt::Display for Incomparable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::NoTime => "the other run has no such time",
            Self::Definition => "the task definition differs",
            Self::Device => "on another device",
            Self::Clock => "measured by another clock",
            Self::Tainted => "one of the two times is unreliable",
            Self::NoInterval => "one of the two times has no interval",
            Self::Recorded => "recorded on another machine",
        })
    }
}

#[cfg(test)]
mod tests {
    use lightbench_measure::Stopped;
    use lightbench_measure::timing::{Mode, TimingDefect};

    use super::*;

    fn interval(low: f64, median: f64, high: f64) -> Interval {
        (Seconds(median), (Seconds(low), Seconds(high)))
    }

    #[test]
    fn only_intervals_that_are_apart_differ() {
        let check = |now: Interval, before: Interval, expected: &str| {
            assert_eq!(
                TimeComparison::from_separate_runs(now, before).words("it"),
                expected,
                "{now:?} {before:?}"
            );
        };
        let before = interval(99.0, 100.0, 101.0);
        check(interval(95.0, 96.0, 97.0), before, "4.00 % faster than it");
        check(interval(103.0, 104.0, 105.0), before, "4.00 % slower than it");
        check(interval(24.0, 25.0, 26.0), before, "4.0 times as fast as it");
        check(interval(290.0, 300.0, 310.0), before, "3.0 times as slow as it");
        // Touching and nested intervals.
        check(interval(95.0, 97.0, 99.0), before, "no measurable difference from it");
        check(interval(101.0, 103.0, 105.0), before, "no measurable difference from it");
        check(interval(90.0, 95.0, 110.0), before, "no measurable difference from it");
        check(before, before, "no measurable difference from it");
        // Apart, and too little to be a difference between two days.
        let narrow = interval(99.99, 100.0, 100.01);
        check(interval(99.48, 99.5, 99.52), narrow, "no measurable difference from it");
        check(interval(100.48, 100.5, 100.52), narrow, "no measurable difference from it");
        check(interval(98.9, 98.95, 99.0), narrow, "no measurable difference from it");
        check(interval(97.9, 97.95, 98.0), narrow, "2.05 % faster than it");
    }

    #[test]
    fn what_is_no_interval_is_not_compared() {
        let sound = interval(99.0, 100.0, 101.0);
        for bad in [
            interval(f64::NAN, 1.0, 2.0),
            interval(1.0, f64::NAN, 2.0),
            interval(1.0, 2.0, f64::INFINITY),
            interval(2.0, 1.0, 3.0),
            interval(0.0, 0.0, 0.0),
        ] {
            let unlike = TimeComparison::NotComparable(Incomparable::NoInterval);
            assert_eq!(TimeComparison::from_separate_runs(bad, sound), unlike, "{bad:?}");
            assert_eq!(TimeComparison::from_separate_runs(sound, bad), unlike, "{bad:?}");
        }
    }

    #[test]
    fn times_of_two_kinds_are_not_compared() {
        let modelled = Timing::modelled(Seconds(1e-4), (1.2, 2.5), "DRAM".to_owned(), Vec::new());
        let clock = Clock::Events { offset: Seconds(1e-6), floor: Seconds(1e-6), without: None };
        let rounds = vec![vec![Seconds(1e-4); 5]; 10];
        let stopped = (1, Stopped::Budget);
        let measured = Timing::measured(clock, Mode::Cold, rounds, stopped, &[]).unwrap();
        let check = |now: &Timing, before: &Timing, expected: &str| {
            assert_eq!(TimeComparison::new(now, before).words("it"), expected);
        };
        check(&modelled, &modelled, "modelled the same as it");
        check(&measured, &measured, "no measurable difference from it");
        check(&measured, &modelled, "not comparable with it (measured by another clock)");
        check(&modelled, &measured, "not comparable with it (measured by another clock)");
        let warm = Timing { mode: Mode::Warm, ..measured.clone() };
        check(&warm, &measured, "not comparable with it (the other run has no such time)");
        let hot = Timing { taint: vec![TimingDefect::Thermal], ..measured.clone() };
        check(&hot, &measured, "not comparable with it (one of the two times is unreliable)");
    }

    #[test]
    fn a_model_is_never_faster() {
        let modelled = |ratio| TimeComparison::Modelled { ratio: Fraction(ratio) };
        assert_eq!(modelled(0.5).words("it"), "modelled at 50.0 % of the time of it");
        assert_eq!(modelled(1.0).words("it"), "modelled the same as it");
        assert_eq!(modelled(1.004).words("it"), "modelled within 0.50 % of it");
        assert_eq!(modelled(0.99).words("it"), "modelled at 99.0 % of the time of it");
    }
}
