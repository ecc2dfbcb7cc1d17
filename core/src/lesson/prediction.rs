//! A prediction: a number that a student enters before the run, and its distance from the result.

use super::goal::{Source, known, of_workload, time_source};
use super::written::QuantityFile as Quantity;
use crate::evaluate::Run;
use crate::speed_of_light::minimal_work::MinimalWork;
use crate::units::Seconds;

/// The quantity to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The question.
    pub question: String,
    /// Which number.
    pub quantity: Quantity,
    /// The unit.
    pub unit: String,
    /// The range of the input.
    pub range: (f64, f64),
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
}

/// The result for a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionResult {
    /// The number, in the unit of the prediction.
    pub value: f64,
    /// The source of the number.
    pub source: Source,
}

/// The distance of a prediction from the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// Within a tenth.
    Close,
    /// Within a factor of two.
    RightSize,
    /// Too large by this factor.
    TooMuch(f64),
    /// Too small by this factor.
    TooLittle(f64),
}

/// A prediction within this fraction of the result is close.
const CLOSE: f64 = 0.1;
/// A guess within this factor has the right size.
const RIGHT_SIZE: f64 = 2.0;

impl Prediction {
    /// The conversion factor from the unit to the base unit: seconds, bytes per second, or the fact itself. `None` if the
    /// unit does not fit the quantity.
    #[must_use]
    pub fn scale(quantity: Quantity, unit: &str) -> Option<f64> {
        match quantity {
            Quantity::Time => match unit {
                "ms" => Some(1e-3),
                "µs" | "us" => Some(1e-6),
                _other => None,
            },
            Quantity::Bandwidth => match unit {
                "GB/s" => Some(1e9),
                "TB/s" => Some(1e12),
                _other => None,
            },
            Quantity::Fact(_) => Some(if unit == "%" { 0.01 } else { 1.0 }),
        }
    }

    /// The units of a quantity, for display.
    #[must_use]
    pub const fn units(quantity: Quantity) -> &'static str {
        match quantity {
            Quantity::Time => "`ms` or `us`",
            Quantity::Bandwidth => "`GB/s` or `TB/s`",
            Quantity::Fact(_) => "the unit of the fact",
        }
    }

    /// The result of a run; `None` if the run has no such number.
    #[must_use]
    pub fn answer(&self, run: &Run, work: &MinimalWork) -> Option<PredictionResult> {
        let timing = of_workload(run.verdict.as_ref().ok()?, &self.workload)?;
        let (value, source) = match self.quantity {
            Quantity::Time => (time(timing)?.0, time_source(timing)?),
            Quantity::Bandwidth => ((work.moved() / time(timing)?).0, time_source(timing)?),
            Quantity::Fact(fact) => known(fact, timing)?,
        };
        let value = value / Self::scale(self.quantity, &self.unit)?;
        value.is_finite().then_some(PredictionResult { value, source })
    }

    /// The time that corresponds to a prediction, for its point in a roofline; `None` for other quantities.
    #[must_use]
    pub fn time(&self, guess: f64, work: &MinimalWork) -> Option<Seconds> {
        let value = guess * Self::scale(self.quantity, &self.unit)?;
        let seconds = match self.quantity {
            Quantity::Time => value,
            Quantity::Bandwidth => work.moved().0 as f64 / value,
            Quantity::Fact(_) => return None,
        };
        (seconds.is_finite() && seconds > 0.0).then_some(Seconds(seconds))
    }
}

/// The time that the roofline shows; for a model, the middle of its range.
fn time(timing: &crate::verify::verdict::WorkloadTiming) -> Option<Seconds> {
    timing.cold().map(|cold| cold.summary.median)
}

impl Nearness {
    /// The distance of a prediction from a result.
    #[must_use]
    pub fn from_guess(guess: f64, result: f64) -> Self {
        let off = (guess - result).abs();
        if off <= CLOSE * result.abs() || off == 0.0 {
            return Self::Close;
        }
        // Compared with zero, every other prediction is infinitely too large.
        let factor = if result == 0.0 { f64::INFINITY } else { (guess / result).abs() };
        if (1.0 / RIGHT_SIZE..=RIGHT_SIZE).contains(&factor) {
            Self::RightSize
        } else if factor > 1.0 {
            Self::TooMuch(factor)
        } else {
            Self::TooLittle(1.0 / factor)
        }
    }

    /// The text for the student.
    #[must_use]
    pub fn words(self) -> String {
        let times = |factor: f64| match factor.is_finite() {
            true if factor < 10.0 => format!("{factor:.1} times "),
            true => format!("{factor:.0} times "),
            false => String::new(),
        };
        match self {
            Self::Close => "close".to_owned(),
            Self::RightSize => "the right size".to_owned(),
            Self::TooMuch(factor) => format!("{}too much", times(factor)),
            Self::TooLittle(factor) => format!("{}too little", times(factor)),
        }
    }
}
