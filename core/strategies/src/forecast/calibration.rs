//! Calibration: how well forecasts and their uncertainties match the measurements.

use super::{Decision, Outlook, decide};
use crate::gauss::Prediction;

/// A forecast with the later measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecasted {
    pub outlook: Outlook,
    /// The measured logarithm of relative time.
    pub measured: f64,
    /// The best before it was measured.
    pub best_before: f64,
}

/// Statistics of forecasts against measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Number of compared forecasts.
    pub forecasts: usize,
    /// Which share of the measurements lay inside the interval that should hold half of them.
    pub inside_50: f64,
    /// The same for the interval that should hold 80 %.
    pub inside_80: f64,
    /// The same for the interval that should hold 95 %.
    pub inside_95: f64,
    /// Spearman's rank correlation of forecasts and measurements: 1 if their order is the same. `None` if all forecasts
    /// or all measurements are equal.
    pub rank_correlation: Option<f64>,
    /// Number of candidates that would have been skipped.
    pub skipped: usize,
    /// Number of these that were a new best.
    pub skipped_wrongly: usize,
}

/// Half the width, in standard deviations, of the intervals that hold 50, 80 and 95 %.
const HALF_WIDTHS: [f64; 3] = [0.674_489_750_196_082, 1.281_551_565_544_6, 1.959_963_984_540_054];

impl Calibration {
    /// Compares forecasts with measurements; `None` if there are none.
    #[must_use]
    pub fn from_forecasts(forecasted: &[Forecasted]) -> Option<Self> {
        if forecasted.is_empty() {
            return None;
        }
        let [inside_50, inside_80, inside_95] = HALF_WIDTHS.map(|half_width| {
            let inside = |one: &&Forecasted| {
                let Prediction { mean, deviation } = one.outlook.prediction;
                (one.measured - mean).abs() <= half_width * deviation
            };
            forecasted.iter().filter(inside).count() as f64 / forecasted.len() as f64
        });
        let expected: Vec<f64> = forecasted.iter().map(|one| one.outlook.prediction.mean).collect();
        let measured: Vec<f64> = forecasted.iter().map(|one| one.measured).collect();
        let skipped: Vec<&Forecasted> = forecasted
            .iter()
            .filter(|one| decide(one.best_before, one.outlook) != Decision::Measure)
            .collect();
        let wrongly = skipped.iter().filter(|one| one.measured < one.best_before).count();
        Some(Self {
            forecasts: forecasted.len(),
            inside_50,
            inside_80,
            inside_95,
            rank_correlation: correlation(&ranks(&expected), &ranks(&measured)),
            skipped: skipped.len(),
            skipped_wrongly: wrongly,
        })
    }
}

/// The place of every value in ascending order; equal ones share the mean of their places.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut ranks = vec![0.0; values.len()];
    let mut begin = 0;
    for alike in order.chunk_by(|left, right| values[*left].total_cmp(&values[*right]).is_eq()) {
        let end = begin + alike.len();
        for &place in alike {
            ranks[place] = (begin + end - 1) as f64 / 2.0;
        }
        begin = end;
    }
    ranks
}

/// Pearson's correlation; of ranks it is Spearman's.
fn correlation(left: &[f64], right: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (left_mean, right_mean) = (mean(left), mean(right));
    let (mut both, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (left - left_mean, right - right_mean);
        both += left * right;
        left_square += left * left;
        right_square += right * right;
    }
    let spread = (left_square * right_square).sqrt();
    (spread > 0.0).then(|| both / spread)
}
