//! The selective surrogate: forecasts the speed of a candidate from features that are known without running it, and
//! decides whether to measure it.
//!
//! The method is that of GPU Forecasters: measure only promising or uncertain candidates. An uncalibrated forecast does
//! harm, so this module reports its [calibration](Calibration), and [whether it would have helped](Trial) on a recorded
//! history; do not enable it before it does.

use crate::gauss::{self, Prediction, Process, Smoothness};

mod calibration;
#[cfg(test)]
mod tests;
mod trial;

pub use calibration::{Calibration, Forecasted};
pub use trial::{Measured, Scope, Trial};

/// A candidate is skipped when it is less likely than this to be the new best.
pub const LEAST_CHANCE: f64 = 0.05;
/// A forecast whose uncertainty exceeds this fraction of the spread of the known times skips no candidate.
pub const MOST_DOUBT: f64 = 0.5;
/// Minimum number of known candidates for a forecast.
pub const LEAST_KNOWN: usize = 8;
/// One in this many candidates that would be skipped is measured anyway: a forecast that only sees the candidates it
/// rated well would never detect its errors.
const CHECKED: usize = 5;
/// Number of most recent known candidates used for learning.
const MOST_KNOWN: usize = 200;

/// Whether to measure a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is promising or uncertain.
    Measure,
    /// It is clearly slower than the best.
    Skip {
        /// Why, in one sentence for the record.
        why: String,
    },
}

/// The forecast of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The logarithm of the relative time that will be measured.
    pub prediction: Prediction,
    /// The standard deviation of the known times: the error of a forecast that always predicts their mean.
    pub spread: f64,
}

/// Learns the logarithm of relative time from features.
#[derive(Clone, Debug)]
pub struct Forecast {
    scaling: Scaling,
    process: Process,
    spread: f64,
}

impl Outlook {
    /// The probability that the candidate is faster than the best.
    #[must_use]
    pub fn chance(&self, best: f64) -> f64 {
        let Prediction { mean, deviation } = self.prediction;
        if deviation > 0.0 {
            return gauss::below((best - mean) / deviation);
        }
        if mean > best { 0.0 } else { 1.0 }
    }

    /// Whether the forecast is more precise than the mean of all known times.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.prediction.deviation <= MOST_DOUBT * self.spread
    }
}

impl Forecast {
    /// Learns from candidates with known features and known logarithm of relative time. `None` with fewer than
    /// [`LEAST_KNOWN`], or if a number is not finite.
    #[must_use]
    pub fn fit(features: &[Vec<f64>], log_times: &[f64]) -> Option<Self> {
        Self::learn(features, log_times, None)
    }

    /// The same with a known smoothness, which saves most of the work.
    pub(crate) fn learn(
        features: &[Vec<f64>],
        log_times: &[f64],
        smoothness: Option<Smoothness>,
    ) -> Option<Self> {
        if features.len() != log_times.len() || features.len() < LEAST_KNOWN {
            return None;
        }
        let from = features.len().saturating_sub(MOST_KNOWN);
        let (features, log_times) = (&features[from..], &log_times[from..]);
        let scaling = Scaling::from_features(features);
        let points: Vec<Vec<f64>> = features.iter().map(|one| scaling.apply(one)).collect();
        let smoothness = match smoothness {
            Some(known) if known.scales.len() == scaling.columns.len() => known,
            Some(_) | None => gauss::most_likely(&points, log_times)?,
        };
        let process = Process::condition(&points, log_times, smoothness)?;
        let spread = deviation(log_times);
        Some(Self { scaling, process, spread })
    }

    /// The logarithm of the relative time that will be measured, with its uncertainty.
    #[must_use]
    pub fn predict(&self, features: &[f64]) -> Outlook {
        let prediction = self.process.predict_seen(&self.scaling.apply(features));
        Outlook { prediction, spread: self.spread }
    }

    pub(crate) fn smoothness(&self) -> &Smoothness {
        self.process.smoothness()
    }
}

/// Decides whether to measure a candidate, given the logarithm of the best relative time so far. A candidate is skipped
/// if it is unlikely to be better and the forecast is precise enough; a forecast about as uncertain as the mean of all
/// times never skips one, however rare a new best has become.
#[must_use]
pub fn decide(best: f64, outlook: Outlook) -> Decision {
    let chance = outlook.chance(best);
    if !outlook.is_ready() || chance >= LEAST_CHANCE || chance.is_nan() {
        return Decision::Measure;
    }
    let slower = 100.0 * pxfm::f_exp(outlook.prediction.mean - best) - 100.0;
    let why = format!(
        "It is forecast to be {slower:.0} % slower than the best, and has a chance of {:.1} % to be faster",
        100.0 * chance
    );
    Decision::Skip { why }
}

/// Whether a candidate that would be skipped is measured anyway to check the forecast; `skips_before` is the number of
/// earlier skipped candidates.
#[must_use]
pub const fn is_checked(skips_before: usize) -> bool {
    skips_before % CHECKED == CHECKED - 1
}

/// Converts features to coordinates by their mean and spread among known candidates, so that these span about one
/// length scale.
#[derive(Clone, Debug)]
struct Scaling {
    columns: Vec<(f64, f64)>,
}

/// Two standard deviations on either side make one range.
const DEVIATIONS_IN_RANGE: f64 = 4.0;

impl Scaling {
    fn from_features(features: &[Vec<f64>]) -> Self {
        let width = features.iter().map(Vec::len).max().unwrap_or(0);
        let count = features.len() as f64;
        let column = |place: usize| {
            let values = features.iter().map(|one| one.get(place).copied().unwrap_or(0.0));
            let values: Vec<f64> = values.collect();
            let mean = values.iter().sum::<f64>() / count;
            let range = DEVIATIONS_IN_RANGE * deviation(&values);
            // A constant feature carries no information yet, but may once it varies.
            (mean, if range > 0.0 { range } else { 1.0 })
        };
        Self { columns: (0..width).map(column).collect() }
    }

    /// Missing features count as 0, as they did when learning.
    fn apply(&self, features: &[f64]) -> Vec<f64> {
        let place = |(place, (mean, range)): (usize, &(f64, f64))| {
            (features.get(place).copied().unwrap_or(0.0) - mean) / range
        };
        self.columns.iter().enumerate().map(place).collect()
    }
}

/// The standard deviation of some values.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / count).sqrt()
}
