//! The SOL score: the part of the way from the baseline to the speed of light that a kernel has covered.
//!
//! `S = 1 / (1 + (T_k - T_SOL) / (T_b - T_SOL))`: the baseline has 0.5, the speed of light 1 (SOL-ExecBench,
//! `sol_score.py`). Outside the domain of the formula there is no score; a score is never clamped.

use lightbench_units::{Fraction, Seconds};

/// A score above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f64);

impl Score {
    /// The number.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.0
    }
}

/// Why there is no score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoScore {
    /// The baseline is not slower than the bound: one of the two is wrong.
    #[error("the baseline is not slower than the bound: one of them is wrong")]
    BaselineAtBound,
    /// The time is below the bound.
    #[error("the time lies below the bound")]
    BelowBound,
    /// A time is not a positive, finite number.
    #[error("a time is not a positive, finite number")]
    NotANumber,
}

/// The score of a time, with the baseline's time and the bound.
///
/// # Errors
/// The times are outside the domain of the formula.
pub fn score(time: Seconds, baseline: Seconds, bound: Seconds) -> Result<Score, NoScore> {
    let are_times = [time, baseline, bound].iter().all(|time| time.0 > 0.0 && time.0.is_finite());
    if !are_times {
        return Err(NoScore::NotANumber);
    }
    let gap = baseline - bound;
    let has_gap = gap.0 > 0.0;
    if !has_gap {
        return Err(NoScore::BaselineAtBound);
    }
    if time < bound {
        return Err(NoScore::BelowBound);
    }
    let Fraction(behind) = (time - bound) / gap;
    let score = 1.0 / (1.0 + behind);
    // Rounding of numbers with very different magnitudes can give zero.
    if score > 0.0 { Ok(Score(score)) } else { Err(NoScore::NotANumber) }
}

/// Why there is no aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAggregate {
    /// At least one workload has no value.
    #[error("{without} of {all} workloads have no value, so there is no aggregate")]
    Incomplete {
        /// Workloads without.
        without: usize,
        /// The number of workloads.
        all: usize,
    },
    /// No workload at all.
    #[error("there is no workload")]
    Empty,
    /// Not positive or not finite.
    #[error("a value is not a positive, finite number")]
    NotANumber,
}

/// The geometric mean over all workloads; nothing if a single one failed.
///
/// # Errors
/// There is no workload, one has no value, or a value is not positive and finite.
pub fn aggregate(values: &[Option<f64>]) -> Result<f64, NoAggregate> {
    if values.is_empty() {
        return Err(NoAggregate::Empty);
    }
    let there: Vec<f64> = values.iter().copied().flatten().collect();
    if there.len() < values.len() {
        return Err(NoAggregate::Incomplete {
            without: values.len() - there.len(),
            all: values.len(),
        });
    }
    if !there.iter().all(|value| *value > 0.0 && value.is_finite()) {
        return Err(NoAggregate::NotANumber);
    }
    let logarithms: f64 = there.iter().map(|value| value.ln()).sum();
    Ok((logarithms / there.len() as f64).exp())
}
