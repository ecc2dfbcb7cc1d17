//! A recorded history gone through twice, without forecasts and with them: would they have
//! helped?

use super::{Calibration, Decision, Forecast, Forecasted, LEAST_KNOWN, decide, is_checked};
use crate::gauss::Smoothness;

/// How much slower than the best of the history is near enough, as a logarithm.
const NEAR_ENOUGH: f64 = 0.048_790_164_169_432;

/// A candidate of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What was known of it before it ran.
    pub features: Vec<f64>,
    /// The logarithm of its relative time; not finite where it failed.
    pub log_time: f64,
    /// The earlier candidate that it was made of: what is skipped has no descendants.
    pub parent: Option<usize>,
    /// How many of the history had been measured when it was made; what was made together with it
    /// had not.
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

/// What a history says of the forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Evaluations until something within 5 % of the best was measured, all being measured.
    pub without: usize,
    /// The same when only what the forecast let pass was measured; none where it skipped all
    /// that is so fast.
    pub with: Option<usize>,
    /// Evaluations until the end of the history, all being measured.
    pub all: usize,
    /// The same when only what the forecast let pass, and what was made of it, was measured.
    pub all_with: usize,
    /// The logarithm by which the best that was then measured is slower than the best of the
    /// history; 0 where it was not lost.
    pub lost: f64,
    /// How forecasts compare with measurements, each made from what was measured before it; of
    /// the whole history, those that would have been skipped too. None where there were none.
    pub calibration: Option<Calibration>,
}

impl Trial {
    /// Goes through a history in its order. None where nothing in it was measured.
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

    /// Whether forecasting got there with fewer evaluations than no forecast. A new best that was
    /// skipped shows in the calibration; one in twenty skips or so may be one.
    #[must_use]
    pub fn is_better_than_none(&self) -> bool {
        self.with.is_some_and(|with| with < self.without)
    }
}

/// What is measured as time goes on, and the forecast that follows from it.
#[derive(Default)]
struct Learner {
    features: Vec<Vec<f64>>,
    log_times: Vec<f64>,
    smoothness: Option<Smoothness>,
    /// With how many smoothness was last found; it is again after half as many more.
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

/// The places of what is measured when what is not worth it is skipped, nothing is learnt from that,
/// and nothing is made of it.
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
