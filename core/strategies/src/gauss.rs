//! Gaussian process regression: predictions with uncertainty, from few known points.
//!
//! The kernel is Matérn 5/2 with a length scale for each dimension; length scales and noise are the point of a small
//! grid with the largest likelihood of the known values (Rasmussen and Williams, "Gaussian Processes for Machine
//! Learning", 2006, chapters 2, 4 and 5). The variance of the process needs no grid: its most likely value follows from
//! the other parameters.

mod cholesky;
#[cfg(test)]
mod tests;

use cholesky::Cholesky;

/// Length scales that are tried, in units of a dimension's whole range.
const SCALES: [f64; 6] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Tried noise, as a fraction of the variance of the process.
const MIDDLE_NOISE: f64 = 1e-3;
const OTHER_NOISES: [f64; 2] = [1e-6, 1e-1];
/// Maximum number of points used to choose length scales; more points cost time without benefit.
const MOST_FOR_SCALES: usize = 64;
/// The variance of values that are all alike.
const LEAST_VARIANCE: f64 = 1e-18;

/// The predicted distribution at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The expected value.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

/// Hyperparameters of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothness {
    /// The length scale of each dimension.
    pub scales: Vec<f64>,
    /// The variance of the noise as a fraction of the variance of the process.
    pub noise: f64,
}

/// A process conditioned on known values.
#[derive(Clone, Debug)]
pub struct Process {
    points: Vec<Vec<f64>>,
    smoothness: Smoothness,
    factor: Cholesky,
    /// The covariance's inverse times the values.
    weights: Vec<f64>,
    mean: f64,
    variance: f64,
    log_likelihood: f64,
}

impl Process {
    /// The most likely process of the grid: first one length scale for all dimensions, then the noise, then the length
    /// scale of each dimension in turn. `None` without data.
    #[must_use]
    pub fn fit(points: &[Vec<f64>], values: &[f64]) -> Option<Self> {
        let smoothness = most_likely(points, values)?;
        Self::condition(points, values, smoothness)
    }

    /// The process of this smoothness conditioned on these values. `None` without values, if one is not finite, or if
    /// points and values differ in number.
    #[must_use]
    pub fn condition(points: &[Vec<f64>], values: &[f64], smoothness: Smoothness) -> Option<Self> {
        let count = values.len();
        let usable = values.iter().chain(points.iter().flatten()).all(|value| value.is_finite());
        if count == 0 || points.len() != count || !usable {
            return None;
        }
        let covariance = |row: usize, column: usize| {
            let noise = if row == column { smoothness.noise } else { 0.0 };
            matern(&points[row], &points[column], &smoothness.scales) + noise
        };
        let factor = Cholesky::new(count, covariance)?;
        let mean = values.iter().sum::<f64>() / count as f64;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let weights = factor.solve(&centred);
        let fit: f64 = weights.iter().zip(&centred).map(|(weight, value)| weight * value).sum();
        let variance = (fit / count as f64).max(LEAST_VARIANCE);
        let per_point = pxfm::f_log(variance) + 1.0 + pxfm::f_log(std::f64::consts::TAU);
        let log_likelihood = -0.5 * (count as f64 * per_point + factor.log_determinant());
        let points = points.to_vec();
        Some(Self { points, smoothness, factor, weights, mean, variance, log_likelihood })
    }

    /// The predicted value at a point, without measurement noise.
    #[must_use]
    pub fn predict(&self, point: &[f64]) -> Prediction {
        let alike: Vec<f64> =
            self.points.iter().map(|known| matern(known, point, &self.smoothness.scales)).collect();
        let offset: f64 = alike.iter().zip(&self.weights).map(|(one, weight)| one * weight).sum();
        let explained: f64 = self.factor.solve_lower(&alike).iter().map(|part| part * part).sum();
        // Rounding may explain a little more than everything.
        let left = (1.0 - explained).max(0.0);
        Prediction { mean: self.mean + offset, deviation: (self.variance * left).sqrt() }
    }

    /// The predicted measurement at a point, with noise.
    #[must_use]
    pub fn predict_seen(&self, point: &[f64]) -> Prediction {
        let Prediction { mean, deviation } = self.predict(point);
        let noise = self.variance * self.smoothness.noise;
        Prediction { mean, deviation: (deviation * deviation + noise).sqrt() }
    }

    /// The hyperparameters of the process.
    #[must_use]
    pub fn smoothness(&self) -> &Smoothness {
        &self.smoothness
    }

    /// The logarithm of the marginal likelihood of the known values, at the most likely variance.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }
}

/// The smoothness of the grid with the largest likelihood of the values.
pub(crate) fn most_likely(points: &[Vec<f64>], values: &[f64]) -> Option<Smoothness> {
    let from = values.len().saturating_sub(MOST_FOR_SCALES);
    let (points, values) = (points.get(from..)?, values.get(from..)?);
    let dimensions = points.first()?.len();
    let likelihood = |smoothness: &Smoothness| {
        let process = Process::condition(points, values, smoothness.clone());
        process.map_or(f64::NEG_INFINITY, |process| process.log_likelihood)
    };
    let mut best = Smoothness { scales: vec![1.0; dimensions], noise: MIDDLE_NOISE };
    let mut highest = f64::NEG_INFINITY;
    let mut consider = |candidate: Smoothness, best: &mut Smoothness| {
        let reached = likelihood(&candidate);
        if reached > highest {
            highest = reached;
            *best = candidate;
        }
    };
    for scale in SCALES {
        let scales = vec![scale; dimensions];
        consider(Smoothness { scales, noise: MIDDLE_NOISE }, &mut best);
    }
    for noise in OTHER_NOISES {
        consider(Smoothness { noise, ..best.clone() }, &mut best);
    }
    for dimension in (0..dimensions).filter(|_| dimensions > 1) {
        for scale in SCALES {
            let mut candidate = best.clone();
            candidate.scales[dimension] = scale;
            if candidate != best {
                consider(candidate, &mut best);
            }
        }
    }
    Some(best)
}

/// The correlation of the values at two points: 1 for equal points, approaching 0 with distance.
fn matern(left: &[f64], right: &[f64], scales: &[f64]) -> f64 {
    let squares = left.iter().zip(right).zip(scales).map(|((left, right), scale)| {
        let apart = (left - right) / scale;
        apart * apart
    });
    let squared = 5.0 * squares.sum::<f64>();
    let distance = squared.sqrt();
    (1.0 + distance + squared / 3.0) * pxfm::f_exp(-distance)
}

/// The probability that a standard normal number is smaller.
pub(crate) fn below(z: f64) -> f64 {
    0.5 * pxfm::f_erfc(-z / std::f64::consts::SQRT_2)
}
