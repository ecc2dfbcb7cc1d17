//! One run against another: faster, slower, or what stands between them.
//!
//! Runs of a history did not run side by side: what changed between them, the room's heat or the driver, changed one of both
//! alone. So only what both intervals leave no doubt about is a difference, and nothing below two parts in a hundred is.

use std::fmt;

use lightbench_measure::comparison::{Comparison, Conclusion};
use lightbench_measure::timing::{Clock, Timing};
use lightbench_units::{Fraction, Seconds};

/// Differences below this part of the time are none, between runs that did not run side by side: on an H200, medians of one
/// kernel in four processes were up to 1.1 % apart (docs/measurement.md).
const SMALLEST_DIFFERENCE: f64 = 0.02;

/// Modelled times that lie closer together than this read as if they were the same.
const SAME_MODELLED: Fraction = Fraction(0.005);

/// By as much either way times by CUDA events move from process to process, whatever offset is subtracted: on an H200, one
/// kernel took 2.22 to 3.25 µs in five of them (docs/measurement.md).
const EVENTS_VARIATION: f64 = 0.5e-6;

/// What an interval of samples becomes where it is held against one of another process, by CUDA events.
#[must_use]
pub fn widened_for_events((median, (low, high)): Interval) -> Interval {
    // It stays a time, however short.
    let low = (low.0 - EVENTS_VARIATION).max(0.1 * low.0);
    (median, (Seconds(low), Seconds(high.0 + EVENTS_VARIATION)))
}

/// How far a measured time reaches where it is held against those of other processes: two that overlap cannot be told apart.
#[must_use]
pub fn comparison_range((median, (low, high)): Interval) -> (Seconds, Seconds) {
    let half = SMALLEST_DIFFERENCE / 2.0;
    (Seconds(low.0.min(median.0 * (1.0 - half))), Seconds(high.0.max(median.0 * (1.0 + half))))
}

/// One run against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeComparison {
    /// Both were measured alike.
    Measured {
        /// The time of this run as a part of the other's.
        ratio: Fraction,
        /// What follows.
        conclusion: Conclusion,
    },
    /// Both were modelled alike: a model tells numbers, and not which is faster.
    Modelled {
        /// The time of this run as a part of the other's.
        ratio: Fraction,
    },
    /// The two times are not of one kind.
    NotComparable(Incomparable),
}

/// What keeps two times from being compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Incomparable {
    /// One has no time of this kind on this workload.
    NoTime,
    /// The projects asked for different things.
    Definition,
    /// They ran on different devices.
    Device,
    /// Different clocks said so.
    Clock,
    /// One is not to be trusted, for a reason that stands beside it.
    Tainted,
    /// One is known without its interval.
    NoInterval,
    /// This machine did not run one of them.
    Recorded,
}

/// A time and its 95 % interval.
pub type Interval = (Seconds, (Seconds, Seconds));

impl TimeComparison {
    /// A time against another of the same task, workload and device, which did not run beside it.
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

    /// A measured run against one that did not run beside it: a difference only where the intervals are apart, and of two
    /// parts in a hundred at least.
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

impl From<&Comparison> for TimeComparison {
    /// Of two that ran side by side, in which this one is B.
    fn from(comparison: &Comparison) -> Self {
        let Comparison { ratio, conclusion, .. } = *comparison;
        Self::Measured { ratio, conclusion }
    }
}

impl fmt::Display for Incomparable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::NoTime => "it has no such time",
            Self::Definition => "the task was another",
            Self::Device => "on another device",
            Self::Clock => "by another clock",
            Self::Tainted => "one of both times is not to be trusted",
            Self::NoInterval => "one of both has no interval",
            Self::Recorded => "it ran elsewhere",
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
        // They touch, or lie in each other.
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
        check(&measured, &modelled, "not comparable with it (by another clock)");
        check(&modelled, &measured, "not comparable with it (by another clock)");
        let warm = Timing { mode: Mode::Warm, ..measured.clone() };
        check(&warm, &measured, "not comparable with it (it has no such time)");
        let hot = Timing { taint: vec![TimingDefect::Thermal], ..measured.clone() };
        check(&hot, &measured, "not comparable with it (one of both times is not to be trusted)");
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
