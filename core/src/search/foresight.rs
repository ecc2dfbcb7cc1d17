//! What is foreseen of variants before they are looked at: the forecast of their time, whether a look is worth while, and
//! how forecasts compared with what was seen.
//!
//! A forecast knows of a variant's forerunners only: those that were proposed before the evaluations that came before it.
//! That is what the journal says too, so that a search that is resumed foresees the same.

use super::cost::{cost, ratios};
use super::entry::Look;
use super::features::Features;
use super::forecast::{Course, Expected, Foresight};
use super::story::{Story, Variant};
use crate::history::record::Origin;
use crate::strategies::forecast::{
    self, Calibration, Decision, Forecast, Forecasted, LEAST_KNOWN, Measured, Outlook, Scope, Trial,
};
use crate::strategies::gauss::Prediction;

/// What a forecast of some variants is made from: the same for all that were proposed together.
pub(super) struct Forerunners {
    forecast: Option<Forecast>,
    known: usize,
    best: f64,
}

impl Forerunners {
    /// Those of a variant.
    pub(super) fn of(story: &Story, variant: usize) -> Self {
        let after = story.variants[variant].after;
        let before = |number: &usize| story.variants[*number].after < after;
        let (mut features, mut times, mut best) = (Vec::new(), Vec::new(), f64::INFINITY);
        for number in (0..variant).filter(before) {
            let known = &story.variants[number];
            let Some(time) = seen(story, number) else { continue };
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

    /// What is foreseen of a variant with these features.
    pub(super) fn foresee(
        &self,
        story: &Story,
        variant: usize,
        features: Option<Features>,
    ) -> Foresight {
        let of_tuner = is_of_tuner(&story.variants[variant]);
        let forecast = self.forecast.as_ref().filter(|_| !of_tuner);
        let expected = forecast.zip(features.as_ref()).map(|(forecast, features)| {
            let Outlook { prediction, spread } = forecast.predict(&features.numbers());
            let Prediction { mean, deviation } = prediction;
            Expected { mean, deviation, spread, best: self.best, known: self.known }
        });
        let course = match (of_tuner, &features, expected) {
            (true, _, _) => look("tuning looked at it already"),
            (false, None, _) => look("it cannot be built, and the look says why"),
            (false, Some(_), None) => {
                look(format!("{} are known, and a forecast takes {LEAST_KNOWN}", self.known))
            }
            (false, Some(_), Some(expected)) => course(story, variant, &expected),
        };
        Foresight { features, expected, course }
    }
}

/// Whether tuning proposed it, which looked at it as a configuration already.
fn is_of_tuner(variant: &Variant) -> bool {
    match variant.proposal.origin {
        Origin::Tuner => true,
        Origin::Person | Origin::Import { .. } | Origin::Rule { .. } | Origin::Model { .. } => {
            false
        }
    }
}

fn look(why: impl Into<String>) -> Course {
    Course::Look { why: why.into() }
}

fn course(story: &Story, variant: usize, expected: &Expected) -> Course {
    let outlook = expected.outlook();
    match forecast::decide(expected.best, outlook) {
        Decision::Measure if outlook.is_ready() => {
            let chance = 100.0 * outlook.chance(expected.best);
            look(format!("it has a chance of {chance:.0} % to be faster than the best"))
        }
        Decision::Measure => look(format!(
            "the forecast is off by a factor of {:.2} or so",
            expected.deviation.exp()
        )),
        Decision::Skip { why } => {
            let earlier = story.variants[..variant].iter();
            let skips = earlier.filter(|one| one.foreseen.as_ref().is_some_and(Foresight::doubts));
            match forecast::is_checked(skips.count()) {
                true => Course::Check { why },
                false => Course::Skip { why },
            }
        }
    }
}

/// What a quick look saw, as the logarithm of a part of the first variant's time; of what was too slow to wait for, at
/// least that. None where it is wrong, or has no time.
#[must_use]
pub fn seen(story: &Story, variant: usize) -> Option<f64> {
    let first = story.variants.first()?.look.as_ref()?.times();
    let counting = &story.header.workloads;
    let times = match story.variants.get(variant)?.look.as_ref()? {
        Look::Right { times } if cost(times, counting).is_some() => times,
        Look::Slow { times } => times,
        Look::Right { .. } | Look::Failed(_) | Look::NotJudged(_) => return None,
    };
    let counts = |(name, _): &(&str, f64)| counting.iter().any(|known| known == name);
    let each: Vec<f64> = ratios(times, first).filter(counts).map(|(_, ratio)| ratio.ln()).collect();
    let mean = each.iter().sum::<f64>() / each.len() as f64;
    mean.is_finite().then_some(mean)
}

fn features_of(variant: &Variant) -> Option<Vec<f64>> {
    Some(variant.foreseen.as_ref()?.features.as_ref()?.numbers())
}

/// How the forecasts of a search compared with what was seen; none where it made none of what was looked at.
#[must_use]
pub fn calibration(story: &Story) -> Option<Calibration> {
    let compared = |(number, variant): (usize, &Variant)| {
        let expected = variant.foreseen.as_ref()?.expected?;
        // Of what was too slow to wait for there is no time to compare with.
        let Some(Look::Right { .. }) = variant.look else { return None };
        let (measured, best_before) = (seen(story, number)?, expected.best);
        Some(Forecasted { outlook: expected.outlook(), measured, best_before })
    };
    let compared: Vec<Forecasted> =
        story.variants.iter().enumerate().filter_map(compared).collect();
    Calibration::from_forecasts(&compared)
}

/// How many variants were not looked at, and how far the forecasts could be trusted, in a sentence; none of a search that
/// forecast nothing.
#[must_use]
pub fn summary(story: &Story) -> Option<String> {
    if story.header.forecast.is_off() {
        return None;
    }
    let courses =
        story.variants.iter().filter_map(|variant| Some(&variant.foreseen.as_ref()?.course));
    let skipped = courses.filter(|course| matches!(course, Course::Skip { .. })).count();
    let told = calibration(story).map_or_else(
        || "nothing was seen of a variant that had a forecast".to_owned(),
        |calibration| told(&calibration),
    );
    Some(format!("the forecast skipped {skipped} of {} variants; {told}", story.variants.len()))
}

/// A calibration in words.
#[must_use]
pub fn told(calibration: &Calibration) -> String {
    let Calibration { forecasts, inside_80, rank_correlation, skipped, skipped_wrongly, .. } =
        *calibration;
    let order = match rank_correlation {
        Some(rank) => format!("the rank correlation is {rank:.2}"),
        None => "their order says nothing".to_owned(),
    };
    let share = 100.0 * inside_80;
    format!(
        "of {forecasts} forecasts that were looked at {share:.0} % held within their interval of 80 %, {order}, \
         and {skipped_wrongly} of {skipped} that it called slow were faster than the best"
    )
}

/// A search as a history to try forecasts on, with what is known of each variant; what was skipped is left out.
#[must_use]
pub fn history(story: &Story, features: &[Option<Features>]) -> Vec<Measured> {
    let all = story.variants.iter().zip(features).enumerate();
    let looked_at: Vec<(usize, &Variant, Option<&Features>)> = all
        .filter(|(_, (variant, _))| variant.look.is_some())
        .map(|(number, (variant, features))| (number, variant, features.as_ref()))
        .collect();
    let place = |number: usize| looked_at.iter().position(|(own, _, _)| *own == number);
    let measured = |(number, variant, features): &(usize, &Variant, Option<&Features>)| Measured {
        features: features.map(Features::numbers).unwrap_or_default(),
        log_time: features.and_then(|_| seen(story, *number)).unwrap_or(f64::INFINITY),
        parent: variant.proposal.parent.and_then(place),
        scope: if is_of_tuner(variant) { Scope::Exempt } else { Scope::Forecast },
        known: looked_at.iter().filter(|(_, other, _)| other.after < variant.after).count(),
    };
    looked_at.iter().map(measured).collect()
}

/// What is known of a built variant: its own features, and the time of what it was made of.
#[must_use]
pub fn with_parent(features: Features, story: &Story, variant: usize) -> Features {
    let parent = story.variants[variant].proposal.parent;
    let time = parent.map_or(Some(0.0), |parent| seen(story, parent));
    match time {
        Some(time) => features.with(super::features::PARENT, time),
        None => features,
    }
}

/// Whether a search would have been better off with forecasts.
#[must_use]
pub fn verdict(trial: &Trial) -> String {
    let Trial { without, with, all, all_with, lost, .. } = trial;
    let reached = match with {
        Some(with) => format!("{with} of {without} looks until within 5 % of its best"),
        None => format!("never within 5 % of its best, where {without} looks came without it"),
    };
    let best = match *lost > 0.0 {
        true => format!("the best is lost: what is left is {:.1} % slower", 100.0 * lost.exp_m1()),
        false => "the best is not lost".to_owned(),
    };
    let better = match (trial.is_better_than_none(), *lost > 0.0, all_with < all) {
        (true, false, _) => "better than no forecast",
        (false, false, true) => "cheaper at its end than no forecast, and no sooner at its best",
        (true | false, _, _) => "no better than no forecast",
    };
    format!("{better}: {reached}, {all_with} of {all} until its end, and {best}")
}
