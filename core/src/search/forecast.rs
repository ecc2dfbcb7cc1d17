//! What a search forecasts of a variant before it evaluates it, as the journal stores it.

use serde::{Deserialize, Serialize};

use super::features::Features;
use crate::strategies::forecast::Outlook;
use crate::strategies::gauss::Prediction;

/// Whether a search skips variants that are predicted to be slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastPolicy {
    /// All variants are screened.
    #[default]
    Off,
    /// Only variants that are predicted to be fast, or whose prediction is uncertain, are screened.
    On,
}

impl ForecastPolicy {
    /// Whether it is off, the default.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// Prediction of the time of a variant, and the decision that follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantForecast {
    /// Features of the compiled variant; none if it did not compile.
    pub features: Option<Features>,
    /// The predicted time; none without enough earlier variants.
    pub expected: Option<PredictedTime>,
    /// Whether the variant is screened.
    pub course: ForecastDecision,
}

/// A predicted time, as the natural logarithm of its ratio to the time of the first variant. Predicted by a statistical
/// model, neither measured nor modelled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedTime {
    /// Mean of the prediction.
    pub mean: f64,
    /// Standard deviation of the prediction.
    pub deviation: f64,
    /// Standard deviation of the times from which the model was fitted.
    pub spread: f64,
    /// Least of these times.
    pub best: f64,
    /// Number of these times.
    pub known: usize,
}

/// Whether a variant is screened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastDecision {
    /// It is screened.
    Look {
        /// The reason.
        why: String,
    },
    /// It is predicted to be slow and is screened to check the prediction.
    Check {
        /// Why it is predicted to be slow.
        why: String,
    },
    /// It is skipped.
    Skip {
        /// Why it is predicted to be slow.
        why: String,
    },
}

impl PredictedTime {
    pub(super) fn outlook(&self) -> Outlook {
        let prediction = Prediction { mean: self.mean, deviation: self.deviation };
        Outlook { prediction, spread: self.spread }
    }

    /// Predicted speedup over the first variant.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        (-self.mean).exp()
    }
}

impl VariantForecast {
    /// Whether the prediction advises against a screening.
    #[must_use]
    pub fn advises_skip(&self) -> bool {
        match self.course {
            ForecastDecision::Look { .. } => false,
            ForecastDecision::Check { .. } | ForecastDecision::Skip { .. } => true,
        }
    }
}
