//! What a search forecasts of a variant before it evaluates it, as the journal stores it.

use serde::{Deserialize, Serialize};

use super::features::Features;
use crate::strategies::forecast::Outlook;
use crate::strategies::gauss::Prediction;

/// Whether a search forecasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forecasting {
    /// Everything is looked at.
    #[default]
    Off,
    /// Only what is promising or uncertain is.
    On,
}

impl Forecasting {
    /// Whether everything is looked at, as it is where nothing is said.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// What was foreseen of a variant, and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Foresight {
    /// What was known of it; none where it could not be built.
    pub features: Option<Features>,
    /// The forecast, where there was one.
    pub expected: Option<Expected>,
    /// What follows.
    pub course: Course,
}

/// A forecast. Times are logarithms of parts of the first variant's time: predicted, neither measured nor modelled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// What is expected.
    pub mean: f64,
    /// By how much it may be off: one standard deviation.
    pub deviation: f64,
    /// The standard deviation of what was known.
    pub spread: f64,
    /// The best that was known.
    pub best: f64,
    /// How many were known.
    pub known: usize,
}

/// Whether a variant is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Course {
    /// It is.
    Look {
        /// Why.
        why: String,
    },
    /// It would not be worth while, and is looked at to see whether the forecast is right.
    Check {
        /// Why it would not.
        why: String,
    },
    /// It is not.
    Skip {
        /// Why not.
        why: String,
    },
}

impl Expected {
    pub(super) fn outlook(&self) -> Outlook {
        let prediction = Prediction { mean: self.mean, deviation: self.deviation };
        Outlook { prediction, spread: self.spread }
    }

    /// How many times as fast as the first variant.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        (-self.mean).exp()
    }
}

impl Foresight {
    /// Whether it says that a look is not worth while.
    #[must_use]
    pub fn doubts(&self) -> bool {
        match self.course {
            Course::Look { .. } => false,
            Course::Check { .. } | Course::Skip { .. } => true,
        }
    }
}
