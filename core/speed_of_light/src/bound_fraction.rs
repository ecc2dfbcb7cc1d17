//! The fraction of the bound: bound divided by time.

use lightbench_measure::timing::{Basis, Timing};
use lightbench_units::{Fraction, Seconds};

/// The bound divided by a time. 1 is the speed of light; values are never clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundFraction {
    /// The fraction for the displayed time: the median of samples, or the middle of the modelled range.
    pub middle: Fraction,
    /// The fractions for both ends of the time's interval, smaller fraction first.
    pub interval: (Fraction, Fraction),
}

/// A time that is compared with bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparableTime {
    /// The displayed time.
    pub time: Seconds,
    /// The interval of the time, see [`lightbench_measure::statistics::Summary::interval`].
    pub interval: (Seconds, Seconds),
    /// The least time that the source claims: for a model its own bound, which is below the modelled range.
    pub least: Seconds,
    /// The relative error of the least time.
    pub error: f64,
}

/// The error of counts of a sample that are scaled to the grid: blocks of a persistent kernel that execute 15 or 16 tiles
/// differ by a fifteenth.
const SAMPLING_ERROR: f64 = 0.05;

impl BoundFraction {
    /// The fraction for a time with this interval.
    #[must_use]
    pub fn new(bound: Seconds, time: Seconds, (low, high): (Seconds, Seconds)) -> Self {
        Self { middle: bound / time, interval: (bound / high, bound / low) }
    }

    /// `34.7 % to 72.2 %`.
    #[must_use]
    pub fn range(&self) -> String {
        let (low, high) = self.interval;
        format!("{low} to {high}")
    }
}

impl ComparableTime {
    /// The fraction of this time that a bound is.
    #[must_use]
    pub fn bound_fraction(&self, bound: Seconds) -> BoundFraction {
        BoundFraction::new(bound, self.time, self.interval)
    }

    /// Whether the least time is below a bound by more than its error.
    #[must_use]
    pub fn is_below(&self, bound: Seconds) -> bool {
        self.least.0 * (1.0 + self.error) < bound.0
    }

    /// The earliest expected time: a measured time, or the low end of the modelled range.
    #[must_use]
    pub fn earliest(&self) -> Seconds {
        if self.least == self.time { self.time } else { self.interval.0 }
    }
}

impl From<&Timing> for ComparableTime {
    fn from(timing: &Timing) -> Self {
        let (time, interval) = (timing.summary.median, timing.summary.interval);
        let (least, error) = match &timing.basis {
            Basis::Samples { .. } => (time, 0.0),
            Basis::Model { bound, .. } => (*bound, SAMPLING_ERROR),
        };
        Self { time, interval, least, error }
    }
}

/// A time without an interval.
impl From<Seconds> for ComparableTime {
    fn from(time: Seconds) -> Self {
        Self { time, interval: (time, time), least: time, error: 0.0 }
    }
}
