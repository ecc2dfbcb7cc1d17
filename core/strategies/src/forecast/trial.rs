//! Replays a recorded history with and without forecasts, to find out whether forecasts would have helped.

use super::{Calibration, Decision, Forecast, Forecasted, LEAST_KNOWN, decide, is_checked};
use crate::gauss::Smoothness;

/// A candidate at most this much slower than the best of the history counts as found; a logarithm.
const NEAR_ENOUGH: f64 = 0.048_790_164_169_432;

/// A candidate of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Features known before it ran.
    pub features: Vec<f64>,
    /// The logarithm of its relative time; not finite if it failed.
    pub log_time: f64,
    /// The earlier candidate that it was derived from: a skipped candidate has no descendants.
    pub parent: Option<usize>,
    /// Number of candidates measured when it was created; candidates created together with it are not counted.
    pub known: usize,
    /// Whether it is forecast.
    pub scope: Scope,
}

/// Whether a candidate is forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// It is, and may be skipped.
    Forecast,
    /// It is measured in any case: it was, in another way.
    Exempt,
}

/// The effect of the forecast on a recorded history.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Evaluations until something within 5 % of the best was measured, all being measured.
    pub without: usize,
    /// The same if only the candidates that passed the forecast were measured; `None` if it skipped all candidates of
    /// this speed.
    pub with: Option<usize>,
    /// Evaluations until the end of the history, all being measured.
    pub all: usize,
    /// The same for all candidates that passed the forecast and whose ancestors did.
    pub all_with: usize,
    /// The logarithm of the ratio of the best time measured with forecasts to the best time of the history; 0 if that
    /// one was measured.
    pub lost: f64,
    /// Forecasts against measurements, each forecast made from the earlier measurements, over the whole history
    /// including candidates that would have been skipped. `None` if no forecast was possible.
    pub calibration: Option<Calibration>,
}

impl Trial {
    /// Replays a history in order. `None` if it contains no measurement.
    #[must_use]
    pub fn from_history(history: &[Measured]) -> Option<Self> {
        let times = history.iter().map(|one| one.log_time).filter(|time| time.is_finite());
        let best = times.min_by(f64::total_cmp)?;
        let near = best + NEAR_ENOUGH;
        let without = history.iter().position(|one| one.log_time <= near)? + 1;
        let measured = measured_with(history);
        let reached = |place: &usize| history[*place].log_time <= near;
        let with = measured.iter().position(reached).map(|place| place + 1);
        let best_with =
            measured.iter().map(|place| history[*place].log_time).fold(f64::INFINITY, f64::min);
        Some(Self {
            without,
            with,
            all: history.len(),
            all_with: measured.len(),
            lost: best_with - best,
            calibration: Calibration::from_forecasts(&forecast_all(history)),
        })
    }

    /// Whether forecasts reduced the number of evaluations. A skipped new best is visible in the calibration; about one
    /// in twenty skips may be one.
    #[must_use]
    pub fn is_better_than_none(&self) -> bool {
        self.with.is_some_and(|with| with < self.without)
    }
}

/// The measurements so far, and the forecast learnt from them.
#[derive(Default)]
struct Learner {
    features: Vec<Vec<f64>>,
    log_times: Vec<f64>,
    smoothness: Option<Smoothness>,
    /// Number of measurements when the smoothness was last fitted; it is fitted again after half as many more.
    found_with: usize,
}

impl Learner {
    fn best(&self) -> f64 {
        self.log_times.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn learn(&mut self, measured: &Measured) {
        let usable = measured.log_time.is_finite()
            && measured.features.iter().all(|feature| feature.is_finite());
        if usable {
            self.features.push(measured.features.clone());
            self.log_times.push(measured.log_time);
        }
    }

    fn forecast(&mut self) -> Option<Forecast> {
        let count = self.log_times.len();
        if count < LEAST_KNOWN {
            return None;
        }
        let stale = 2 * count >= 3 * self.found_with;
        let known = self.smoothness.clone().filter(|_| !stale);
        let forecast = Forecast::learn(&self.features, &self.log_times, known)?;
        if stale {
            self.smoothness = Some(forecast.smoothness().clone());
            self.found_with = count;
        }
        Some(forecast)
    }
}

/// A forecast of every candidate from all that was measured before it was made.
fn forecast_all(history: &[Measured]) -> Vec<Forecasted> {
    let mut learner = Learner::default();
    let mut learnt = 0;
    let mut forecasted = Vec::new();
    for one in history {
        for before in history.iter().take(one.known).skip(learnt) {
            learner.learn(before);
        }
        learnt = learnt.max(one.known);
        let compares = one.scope == Scope::Forecast && one.log_time.is_finite();
        let forecast = learner.forecast().filter(|_| compares);
        forecasted.extend(forecast.map(|forecast| Forecasted {
            outlook: forecast.predict(&one.features),
            measured: one.log_time,
            best_before: learner.best(),
        }));
    }
    forecasted
}

/// Indices of the candidates that are measured if skipped candidates teach nothing and have no descendants.
fn measured_with(history: &[Measured]) -> Vec<usize> {
    let mut learner = Learner::default();
    let mut is_measured: Vec<bool> = Vec::new();
    let (mut learnt, mut skips) = (0, 0);
    for one in history {
        for place in learnt..one.known.min(is_measured.len()) {
            if is_measured[place] {
                learner.learn(&history[place]);
            }
        }
        learnt = learnt.max(one.known.min(is_measured.len()));
        let is_made = one.parent.is_none_or(|parent| is_measured.get(parent) == Some(&true));
        let is_promising = is_made
            && match one.scope {
                Scope::Exempt => true,
                Scope::Forecast => learner.forecast().is_none_or(|forecast| {
                    decide(learner.best(), forecast.predict(&one.features)) == Decision::Measure
                }),
            };
        let is_skipped = is_made && !is_promising;
        is_measured.push(is_promising || (is_skipped && is_checked(skips)));
        skips += usize::from(is_skipped);
    }
    (0..history.len()).filter(|place| is_measured[*place]).collect()
}
