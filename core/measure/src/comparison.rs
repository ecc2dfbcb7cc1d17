//! Compares two candidates: a confidence interval of the ratio of their times, from rounds in which both ran.
//!
//! Both candidates run in every round, in shuffled order, so that slow changes of the device affect both alike. Each
//! round yields one ratio; the rounds are the independent observations.

use lightbench_units::{Fraction, Seconds};
use serde::{Deserialize, Serialize};

use super::statistics::{bootstrap, median};

/// Confidence of the interval. At 95 %, one comparison in twenty of a candidate with itself would report a difference;
/// one in fifty is accepted.
const CONFIDENCE: f64 = 0.99;

/// Rounds below which no comparison is made: the bootstrap interval of fewer rounds is too narrow.
pub const LEAST_ROUNDS: usize = 12;

/// Differences below this fraction of the time are reported as equal: they have no practical value.
const SMALLEST: f64 = 0.002;

/// The times of B relative to those of A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Time of B as a part of the time of A: below 1, B is faster.
    pub ratio: Fraction,
    /// The 99 % confidence interval of the ratio.
    pub interval: (Fraction, Fraction),
    pub conclusion: Conclusion,
    /// Rounds in which both ran.
    pub rounds: usize,
}

/// Which of two is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    Faster,
    Slower,
    /// The difference is within the noise.
    NoMeasurableDifference,
}

impl Comparison {
    /// Compares the rounds of B with the rounds of A that ran in the same rounds.
    ///
    /// `None` with fewer than [`LEAST_ROUNDS`] rounds, or if a sample is not a finite positive time.
    #[must_use]
    pub fn from_rounds(a: &[Vec<Seconds>], b: &[Vec<Seconds>]) -> Option<Self> {
        let logarithms: Vec<f64> = a
            .iter()
            .zip(b)
            .map(|(a, b)| Some((middle(b)? / middle(a)?).ln()))
            .collect::<Option<_>>()?;
        if logarithms.len() < LEAST_ROUNDS || !logarithms.iter().all(|each| each.is_finite()) {
            return None;
        }
        let ratio = median(&mut logarithms.clone())?.exp();
        let (low, high) = bootstrap(logarithms.len(), CONFIDENCE, |drawn| {
            let mut values: Vec<f64> = drawn.iter().map(|round| logarithms[*round]).collect();
            median(&mut values)
        })?;
        let (low, high) = (low.exp(), high.exp());
        let conclusion = if high < 1.0 && ratio <= 1.0 - SMALLEST {
            Conclusion::Faster
        } else if low > 1.0 && ratio >= 1.0 + SMALLEST {
            Conclusion::Slower
        } else {
            Conclusion::NoMeasurableDifference
        };
        let interval = (Fraction(low), Fraction(high));
        Some(Self { ratio: Fraction(ratio), interval, conclusion, rounds: logarithms.len() })
    }

    /// Whether B replaces A as the best candidate: it is faster by at least 1 %.
    #[must_use]
    pub fn is_new_best(&self) -> bool {
        self.conclusion == Conclusion::Faster && self.ratio.0 <= 0.99
    }
}

fn middle(round: &[Seconds]) -> Option<f64> {
    let mut values: Vec<f64> = round.iter().map(|sample| sample.0).collect();
    median(&mut values)
}

#[cfg(test)]
pub(super) mod simulated {
    //! Noise similar to that of a GPU: clock resolution, slow drift, a skewed tail and rare outliers.

    use lightbench_primitives::random::Stream;
    use lightbench_units::Seconds;

    /// One round's noise.
    #[derive(Clone, Copy)]
    pub(crate) struct Noise {
        round: u64,
        jitter: f64,
        drift: f64,
        outliers: f64,
    }

    impl Noise {
        pub(crate) fn quiet(round: u64) -> Self {
            Self { round, jitter: 0.002, drift: 0.0, outliers: 0.01 }
        }

        pub(crate) fn wild(round: u64) -> Self {
            Self { round, jitter: 0.02, drift: 0.02, outliers: 0.1 }
        }

        /// Samples around a time.
        pub(crate) fn round(self, time: f64, count: usize) -> Vec<Seconds> {
            self.beside(time, count, 0)
        }

        /// Samples of one of several contenders of the same round: they share the drift.
        pub(crate) fn beside(self, time: f64, count: usize, contender: u32) -> Vec<Seconds> {
            let common = Stream::new(self.round, 1);
            let own = Stream::new(self.round, 10 + contender);
            // A walk would do; a sine and a jump show the same.
            let phase = self.round as f64 / 37.0;
            let drift = 1.0 + self.drift * (phase.sin() + 0.5 * common.normal(0));
            (0..count as u64)
                .map(|index| {
                    let tail = own.normal(2 * index).abs() * self.jitter;
                    let spike = own.unit(2 * index + 1) < self.outliers;
                    let factor = drift * (1.0 + tail) * if spike { 1.3 } else { 1.0 };
                    let ticks = (time * factor / 32e-9).round();
                    Seconds(ticks * 32e-9)
                })
                .collect()
        }

        /// The median of very many samples.
        pub(crate) fn true_median(self, time: f64) -> f64 {
            let mut all: Vec<f64> = (0..4000)
                .flat_map(|round| Self { round: 77_000_000 + round, ..self }.round(time, 5))
                .map(|sample| sample.0)
                .collect();
            super::median(&mut all).unwrap()
        }
    }
}

#[cfg(test)]
mod recorded;

#[cfg(test)]
mod tests {
    use super::simulated::Noise;
    use super::*;

    fn conclusion(trial: u64, ratio: f64, noise: impl Fn(u64) -> Noise) -> Conclusion {
        let rounds = 40;
        let round = |contender: u32, time: f64| -> Vec<Vec<Seconds>> {
            (0..rounds).map(|each| noise(trial * 100 + each).beside(time, 5, contender)).collect()
        };
        Comparison::from_rounds(&round(0, 1e-4), &round(1, 1e-4 * ratio)).unwrap().conclusion
    }

    fn share(ratio: f64, noise: impl Fn(u64) -> Noise, wanted: Conclusion) -> f64 {
        let trials = 1000;
        let found = (0..trials).filter(|trial| conclusion(*trial, ratio, &noise) == wanted);
        found.count() as f64 / f64::from(trials as u32)
    }

    #[test]
    fn a_candidate_differs_from_itself_in_one_trial_of_fifty_at_most() {
        for noise in [Noise::quiet, Noise::wild] {
            let same = share(1.0, noise, Conclusion::NoMeasurableDifference);
            assert!(same >= 0.98, "{same}");
        }
    }

    #[test]
    fn a_fiftieth_more_time_is_found_in_nine_trials_of_ten() {
        for noise in [Noise::quiet, Noise::wild] {
            let found = share(1.02, noise, Conclusion::Slower);
            assert!(found >= 0.9, "{found}");
        }
        assert!(share(0.98, Noise::quiet, Conclusion::Faster) >= 0.9);
    }

    #[test]
    fn too_little_says_nothing() {
        let times = |value, rounds| vec![vec![Seconds(value); 3]; rounds];
        assert_eq!(Comparison::from_rounds(&times(1.0, 11), &times(2.0, 11)), None);
        assert_eq!(Comparison::from_rounds(&times(1.0, 40), &times(f64::NAN, 40)), None);
        assert_eq!(Comparison::from_rounds(&times(0.0, 40), &times(1.0, 40)), None);
        assert_eq!(Comparison::from_rounds(&[], &[]), None);
        let slower = Comparison::from_rounds(&times(1.0, 12), &times(2.0, 12)).unwrap();
        assert_eq!((slower.conclusion, slower.ratio), (Conclusion::Slower, Fraction(2.0)));
    }

    #[test]
    fn a_new_best_is_a_hundredth_faster() {
        let times = |value| vec![vec![Seconds(value); 3]; 20];
        let check = |b, expected| {
            let comparison = Comparison::from_rounds(&times(1.0), &times(b)).unwrap();
            assert_eq!(comparison.is_new_best(), expected, "{b}");
        };
        check(0.98, true);
        check(0.995, false);
        check(1.0, false);
        check(1.1, false);
    }
}
