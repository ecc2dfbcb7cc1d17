//! A number that a student commits to before it is known, and how near it came.

use super::goal::{Source, known, of_workload, time_source};
use super::written::QuantityFile as Quantity;
use crate::evaluate::Run;
use crate::speed_of_light::minimal_work::MinimalWork;
use crate::units::Seconds;

/// What is to be guessed.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The question.
    pub question: String,
    /// Which number.
    pub quantity: Quantity,
    /// In what it is counted.
    pub unit: String,
    /// From, to.
    pub range: (f64, f64),
    /// Of which kernel.
    pub kernel: String,
    /// On which workload.
    pub workload: String,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionResult {
    /// The number, in the unit of the guess.
    pub value: f64,
    /// Who says so.
    pub source: Source,
}

/// How near a guess came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// Within a tenth.
    Close,
    /// Within a factor of two.
    RightSize,
    /// So many times too much.
    TooMuch(f64),
    /// So many times too little.
    TooLittle(f64),
}

/// A guess within this part of the result is close.
const CLOSE: f64 = 0.1;
/// A guess within this factor has the right size.
const RIGHT_SIZE: f64 = 2.0;

impl Prediction {
    /// How many of the base unit one of its units is: seconds, bytes a second, or the fact itself. None where the unit
    /// does not go with the quantity.
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

    /// The units that go with a quantity, for people.
    #[must_use]
    pub const fn units(quantity: Quantity) -> &'static str {
        match quantity {
            Quantity::Time => "`ms` or `us`",
            Quantity::Bandwidth => "`GB/s` or `TB/s`",
            Quantity::Fact(_) => "what the fact is counted in",
        }
    }

    /// What a run says; none where it did not get that far.
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

    /// The time that a guess stands for, where it is about one: its place in a roofline.
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

/// The time that the roofline shows: of a model, the middle of its band.
fn time(timing: &crate::verify::verdict::WorkloadTiming) -> Option<Seconds> {
    timing.cold().map(|cold| cold.summary.median)
}

impl Nearness {
    /// How near a guess came to what it was about.
    #[must_use]
    pub fn from_guess(guess: f64, result: f64) -> Self {
        let off = (guess - result).abs();
        if off <= CLOSE * result.abs() || off == 0.0 {
            return Self::Close;
        }
        // Of nothing, everything is infinitely many times too much.
        let factor = if result == 0.0 { f64::INFINITY } else { (guess / result).abs() };
        if (1.0 / RIGHT_SIZE..=RIGHT_SIZE).contains(&factor) {
            Self::RightSize
        } else if factor > 1.0 {
            Self::TooMuch(factor)
        } else {
            Self::TooLittle(1.0 / factor)
        }
    }

    /// In words.
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
