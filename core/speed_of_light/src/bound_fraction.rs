//! How near a time is to the speed of light: the bound by the time, wherever it is shown.

use lightbench_measure::timing::{Basis, Timing};
use lightbench_units::{Fraction, Seconds};

/// The bound as a part of a time. 1 is the speed of light; nothing is clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundFraction {
    /// Of the time that is shown: the median of samples, or the middle of what a model expects.
    pub middle: Fraction,
    /// Of both ends of its interval, the smaller share first: it is known no better than the time is.
    pub interval: (Fraction, Fraction),
}

/// A time as it is held against bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparableTime {
    /// What is shown as the time.
    pub time: Seconds,
    /// Where it lies, see [`lightbench_measure::statistics::Summary::interval`].
    pub interval: (Seconds, Seconds),
    /// What is claimed that the kernel may take: of a model its own bound, which is below every time that it expects.
    pub least: Seconds,
}

impl BoundFraction {
    /// The share of a time that lies in this interval.
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
    /// The share of it that a bound is.
    #[must_use]
    pub fn bound_fraction(&self, bound: Seconds) -> BoundFraction {
        BoundFraction::new(bound, self.time, self.interval)
    }

    /// What is expected at least: a measured time, and the low end of what a model expects.
    #[must_use]
    pub fn earliest(&self) -> Seconds {
        if self.least == self.time { self.time } else { self.interval.0 }
    }
}

impl From<&Timing> for ComparableTime {
    fn from(timing: &Timing) -> Self {
        let (time, interval) = (timing.summary.median, timing.summary.interval);
        let least = match &timing.basis {
            Basis::Samples { .. } => time,
            Basis::Model { bound, .. } => *bound,
        };
        Self { time, interval, least }
    }
}

/// A time of which nothing else is known.
impl From<Seconds> for ComparableTime {
    fn from(time: Seconds) -> Self {
        Self { time, interval: (time, time), least: time }
    }
}
