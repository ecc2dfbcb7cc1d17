//! Predicts the times of variants before their screening, decides which are skipped, and compares predictions with
//! screened times.
//!
//! A prediction uses an earlier variant only if an evaluation ran between the two proposals. The journal stores that order,
//! so that a resumed search predicts the same times.

use super::cost::{cost, ratios};
use super::entry::ScreeningResult;
use super::features::Features;
use super::forecast::{ForecastDecision, PredictedTime, VariantForecast};
use super::state::{SearchState, Variant};
use crate::history::record::Origin;
use crate::strategies::forecast::{
    self, Calibration, Decision, Forecast, Forecasted, LEAST_KNOWN, Measured, Outlook, Scope, Trial,
};
use crate::strategies::gauss::Prediction;

/// A statistical model fitted to earlier variants; the same for all variants that were proposed together.
pub(super) struct Forecaster {
    forecast: Option<Forecast>,
    known: usize,
    best: f64,
}

impl Forecaster {
    /// Fits the model to the variants before this one.
    pub(super) fn from_state(story: &SearchState, variant: usize) -> Self {
        let after = story.variants[variant].after;
        let before = |number: &usize| story.variants[*number].after < after;
        let (mut features, mut times, mut best) = (Vec::new(), Vec::new(), f64::INFINITY);
        for number in (0..variant).filter(before) {
            let known = &story.variants[number];
            let Some(time) = log_time_ratio(story, number) else { continue };
            if known.is_accepted() {
                best = best.min(time);
            }
            if let Some(numbers) = features_of(known) {
                features.push(numbers);
                times.push(time);
            }
        }
        let known = times.len();
        let forecast = Forecast::fit(&features, &times).filter(|_| best.is_finite());
        Self { forecast, known, best }
    }

    /// Predicts the time of a variant with these features.
    pub(super) fn forecast_variant(
        &self,
        story: &SearchState,
        variant: usize,
        features: Option<Features>,
    ) -> VariantForecast {
        let of_tuner = is_of_tuner(&story.variants[variant]);
        let forecast = self.forecast.as_ref().filter(|_| !of_tuner);
        let expected = forecast.zip(features.as_ref()).map(|(forecast, features)| {
            let Outlook { prediction, spread } = forecast.predict(&features.numbers());
            let Prediction { mean, deviation } = prediction;
            PredictedTime { mean, deviation, spread, best: self.best, known: self.known }
        });
        let course = match (of_tuner, &features, expected) {
            (true, _, _) => look("tuning has screened it"),
            (false, None, _) => look("it does not compile; the screening reports why"),
            (false, Some(_), None) => look(format!(
                "a prediction needs {LEAST_KNOWN} variants with times, there are {}",
                self.known
            )),
            (false, Some(_), Some(expected)) => course(story, variant, &expected),
        };
        VariantForecast { features, expected, course }
    }
}

/// Whether tuning proposed it, which has screened it as a configuration.
fn is_of_tuner(variant: &Variant) -> bool {
    match variant.proposal.origin {
        Origin::Tuner => true,
        Origin::Person
        | Origin::Import { .. }
        | Origin::Rule { .. }
        | Origin::Model { .. }
        | Origin::Agent { .. } => false,
    }
}

fn look(why: impl Into<String>) -> ForecastDecision {
    ForecastDecision::Look { why: why.into() }
}

fn course(story: &SearchState, variant: usize, expected: &PredictedTime) -> ForecastDecision {
    let outlook = expected.outlook();
    match forecast::decide(expected.best, outlook) {
        Decision::Measure if outlook.is_ready() => {
            let chance = 100.0 * outlook.chance(expected.best);
            look(format!("the chance to be faster than the best is {chance:.0} %"))
        }
        Decision::Measure => look(format!(
            "the prediction is uncertain by a factor of {:.2}",
            expected.deviation.exp()
        )),
        Decision::Skip { why } => {
            let earlier = story.variants[..variant].iter();
            let skips = earlier
                .filter(|one| one.foreseen.as_ref().is_some_and(VariantForecast::advises_skip));
            match forecast::is_checked(skips.count()) {
                true => ForecastDecision::Check { why },
                false => ForecastDecision::Skip { why },
            }
        }
    }
}

/// Natural logarithm of the screened time divided by that of the first variant, as a mean over workloads; a lower bound if
/// the variant was dropped as slow. None if it failed or has no time.
#[must_use]
pub fn log_time_ratio(story: &SearchState, variant: usize) -> Option<f64> {
    let first = story.variants.first()?.look.as_ref()?.times();
    let counting = &story.header.workloads;
    let times = match story.variants.get(variant)?.look.as_ref()? {
        ScreeningResult::Right { times } if cost(times, counting).is_some() => times,
        ScreeningResult::Slow { times } => times,
        ScreeningResult::Right { .. }
        | ScreeningResult::Failed(_)
        | ScreeningResult::NotJudged(_) => return None,
    };
    let counts = |(name, _): &(&str, f64)| counting.iter().any(|known| known == name);
    let each: Vec<f64> = ratios(times, first).filter(counts).map(|(_, ratio)| ratio.ln()).collect();
    let mean = each.iter().sum::<f64>() / each.len() as f64;
    mean.is_finite().then_some(mean)
}

fn features_of(variant: &Variant) -> Option<Vec<f64>> {
    Some(variant.foreseen.as_ref()?.features.as_ref()?.numbers())
}

/// Predictions of a search against its screened times; none without a screened variant that has a prediction.
#[must_use]
pub fn calibration(story: &SearchState) -> Option<Calibration> {
    let compared = |(number, variant): (usize, &Variant)| {
        let expected = variant.foreseen.as_ref()?.expected?;
        // A variant that was dropped as slow has no time to compare with.
        let Some(ScreeningResult::Right { .. }) = variant.look else { return None };
        let (measured, best_before) = (log_time_ratio(story, number)?, expected.best);
        Some(Forecasted { outlook: expected.outlook(), measured, best_before })
    };
    let compared: Vec<Forecasted> =
        story.variants.iter().enumerate().filter_map(compared).collect();
    Calibration::from_forecasts(&compared)
}

/// Number of skipped variants and accuracy of the predictions, in a sentence; none for a search without predictions.
#[must_use]
pub fn summary(story: &SearchState) -> Option<String> {
    if story.header.forecast.is_off() {
        return None;
    }
    let courses =
        story.variants.iter().filter_map(|variant| Some(&variant.foreseen.as_ref()?.course));
    let skipped = courses.filter(|course| matches!(course, ForecastDecision::Skip { .. })).count();
    let told = calibration(story).map_or_else(
        || "no variant with a prediction was evaluated".to_owned(),
        |calibration| calibration_text(&calibration),
    );
    Some(format!(
        "skipped as predicted slow: {skipped} of {} variants; {told}",
        story.variants.len()
    ))
}

/// A calibration in a sentence.
#[must_use]
pub fn calibration_text(calibration: &Calibration) -> String {
    let Calibration { forecasts, inside_80, rank_correlation, skipped, skipped_wrongly, .. } =
        *calibration;
    let order = match rank_correlation {
        Some(rank) => format!("the rank correlation is {rank:.2}"),
        None => "there is no rank correlation".to_owned(),
    };
    let share = 100.0 * inside_80;
    format!(
        "of {forecasts} predictions {share:.0} % contained the time in their 80 % interval, {order}, \
         and {skipped_wrongly} of {skipped} variants predicted to be slow were faster than the best"
    )
}

/// The screened variants of a search, on which predictions can be replayed.
#[must_use]
pub fn history(story: &SearchState, features: &[Option<Features>]) -> Vec<Measured> {
    let all = story.variants.iter().zip(features).enumerate();
    let looked_at: Vec<(usize, &Variant, Option<&Features>)> = all
        .filter(|(_, (variant, _))| variant.look.is_some())
        .map(|(number, (variant, features))| (number, variant, features.as_ref()))
        .collect();
    let place = |number: usize| looked_at.iter().position(|(own, _, _)| *own == number);
    let measured = |(number, variant, features): &(usize, &Variant, Option<&Features>)| Measured {
        features: features.map(Features::numbers).unwrap_or_default(),
        log_time: features.and_then(|_| log_time_ratio(story, *number)).unwrap_or(f64::INFINITY),
        parent: variant.proposal.parent.and_then(place),
        scope: if is_of_tuner(variant) { Scope::Exempt } else { Scope::Forecast },
        known: looked_at.iter().filter(|(_, other, _)| other.after < variant.after).count(),
    };
    looked_at.iter().map(measured).collect()
}

/// The features of a variant with the time of its parent.
#[must_use]
pub fn with_parent(features: Features, story: &SearchState, variant: usize) -> Features {
    let parent = story.variants[variant].proposal.parent;
    let time = parent.map_or(Some(0.0), |parent| log_time_ratio(story, parent));
    match time {
        Some(time) => features.with(super::features::PARENT, time),
        None => features,
    }
}

/// Whether a search would have needed fewer evaluations with predictions, in a sentence.
#[must_use]
pub fn trial_text(trial: &Trial) -> String {
    let Trial { without, with, all, all_with, lost, .. } = trial;
    let reached = match with {
        Some(with) => {
            format!("{with} instead of {without} evaluations until within 5 % of its best")
        }
        None => {
            format!("never within 5 % of its best, which took {without} evaluations without it")
        }
    };
    let best = match *lost > 0.0 {
        true => format!(
            "the best variant is skipped: the best of the others is {:.1} % slower",
            100.0 * lost.exp_m1()
        ),
        false => "the best variant is not skipped".to_owned(),
    };
    let better = match (trial.is_better_than_none(), *lost > 0.0, all_with < all) {
        (true, false, _) => "better than no prediction",
        (false, false, true) => {
            "fewer evaluations in all than without prediction, but no fewer until its best"
        }
        (true | false, _, _) => "no better than no prediction",
    };
    format!("{better}: {reached}, {all_with} instead of {all} until its end, and {best}")
}
