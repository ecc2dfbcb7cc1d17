//! Decisions about variants: a screening drops most of them; the others are evaluated with every check and compared with
//! the best by alternating launches.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Explorer, FinishedRun};
use crate::evaluate::compare::{ComparedWorkload, Outcome};
use crate::measure::{Comparison, Conclusion};
use crate::project::Kernel;
use crate::search::candidate_runner::{CandidateRunner, Interrupted};
use crate::search::cost::{cost, ratios, times};
use crate::search::entry::{
    Basis, Decision, Entry, FailureRecord, ScreeningResult, Verdict, WorkloadTime,
};
use crate::search::state::SearchState;
use crate::speed_of_light::playbook::relief;
use crate::strategies::archive::Attempt;
use crate::suggest::knowledge::bottleneck_name;
use crate::units::Seconds;
use crate::verify::not_judged::NotPassed;
use crate::verify::verdict::{Passed, WorkloadTiming};

/// Largest ratio of the time of a new best to that of the old one.
const LEAST_GAIN: f64 = 0.99;

/// Largest ratio of two times of different calls that shows by itself which is faster.
const CLEARLY: f64 = 0.8;

/// Largest ratio, on any workload, of the time of a new best to that of the first kernel. Against other variants of the search
/// there is no such limit: a gain on one workload may cost time on another.
const MOST_LOSS: f64 = 1.02;

/// A workload is not timed further when its first execution takes this many times as long as with the best.
const ABANDON: f64 = 3.0;

impl<L: CandidateRunner> Explorer<'_, L> {
    /// Screens variants and decides about each.
    pub(super) fn settle(
        &mut self,
        variants: &[(usize, Option<Attempt>)],
    ) -> Result<(), Interrupted> {
        let mut kernels = Vec::new();
        for (variant, attempt) in variants {
            match self.kernel_of(*variant) {
                Ok(kernel) => kernels.push((*variant, *attempt, kernel)),
                Err(why) => {
                    self.decided(*variant, Decision::Rejected { why })?;
                    self.grow(*variant, *attempt);
                }
            }
        }
        if kernels.is_empty() {
            return Ok(());
        }
        let abandon = self.abandon();
        let each: Vec<_> = kernels.iter().map(|(_, _, kernel)| Arc::clone(kernel)).collect();
        let screenings = self.laboratory.screen(&each, &abandon)?;
        for ((variant, _, kernel), screening) in kernels.iter().zip(&screenings) {
            self.looked(*variant, screening)?;
            self.kernels[*variant] = Some(Arc::clone(kernel));
        }
        let again = self.second_screening(&kernels)?;
        for (variant, attempt, kernel) in kernels.iter().take(screenings.len()) {
            self.decide(*variant, kernel, again.get(variant).copied())?;
            self.learn(*variant);
            self.grow(*variant, *attempt);
        }
        Ok(())
    }

    /// Screens the variants that seem a little faster than the best once more, in one call with the best: a verdict and a
    /// comparison take ten times as long, and most small differences between calls are those of the device's state. Returns
    /// the ratio of each to the best.
    fn second_screening(
        &mut self,
        kernels: &[(usize, Option<Attempt>, Arc<Kernel>)],
    ) -> Result<BTreeMap<usize, f64>, Interrupted> {
        let story = &self.scribe.story;
        let kernel_of_best = story.best.and_then(|best| Some((best, self.kernels[best].clone()?)));
        let Some((best, kernel_of_best)) = kernel_of_best else { return Ok(BTreeMap::new()) };
        let is_measured = |variant: usize| {
            let look = story.variants[variant].look.as_ref();
            look.is_some_and(|look| look.times().iter().all(|time| time.basis == Basis::Measured))
        };
        let is_near = |variant: usize| {
            let ratio = self.screened_ratio(variant, best);
            ratio.is_some_and(|ratio| (CLEARLY..=LEAST_GAIN).contains(&ratio))
        };
        let near =
            kernels.iter().filter(|(variant, ..)| is_near(*variant) && is_measured(*variant));
        let near: Vec<(usize, Arc<Kernel>)> =
            near.map(|(variant, _, kernel)| (*variant, Arc::clone(kernel))).collect();
        if near.is_empty() {
            return Ok(BTreeMap::new());
        }
        let each = near.iter().map(|(_, kernel)| Arc::clone(kernel));
        let each: Vec<_> = [kernel_of_best].into_iter().chain(each).collect();
        let screenings = self.laboratory.screen(&each, &BTreeMap::new())?;
        let counted = self.scribe.story.counted();
        let costs = screenings.iter().map(|screening| {
            cost(ScreeningResult::from_verdict(&screening.verdict).times(), &counted)
        });
        let costs: Vec<Option<f64>> = costs.collect();
        let Some((Some(of_best), others)) = costs.split_first() else { return Ok(BTreeMap::new()) };
        let ratios = near.iter().zip(others);
        Ok(ratios.filter_map(|((variant, _), own)| Some((*variant, (*own)? / of_best))).collect())
    }

    /// The time of a screened variant divided by that of the best, both screened or both modelled.
    fn screened_ratio(&self, variant: usize, best: usize) -> Option<f64> {
        let story = &self.scribe.story;
        let seen =
            |number: usize| cost(story.variants[number].look.as_ref()?.times(), &story.counted());
        Some(seen(variant)? / seen(best).or_else(|| story.cost(best))?)
    }

    /// Decides about a screened variant, after an evaluation if it is promising. `again` is its ratio to the best in a second
    /// screening.
    pub(super) fn decide(
        &mut self,
        variant: usize,
        kernel: &Arc<Kernel>,
        again: Option<f64>,
    ) -> Result<(), Interrupted> {
        let story = &self.scribe.story;
        let decision = match (&story.variants[variant].look, story.best) {
            (Some(ScreeningResult::Failed(failed)), _) => {
                Some(Decision::Rejected { why: failed.sentence.clone() })
            }
            (Some(ScreeningResult::NotJudged(reason)), _) => {
                Some(Decision::NotJudged { why: reason.sentence.clone() })
            }
            (_, None) => None,
            (_, Some(best)) => self.not_promising(variant, best, again),
        };
        match decision {
            Some(decision) => self.decided(variant, decision),
            None => self.judge(variant, kernel),
        }
    }

    /// The decision about a variant whose screening shows that it is not faster than the best; none if it may be.
    fn not_promising(&self, variant: usize, best: usize, again: Option<f64>) -> Option<Decision> {
        let Some(ratio) = self.screened_ratio(variant, best) else {
            let why = "it has no time on some workload".to_owned();
            return Some(Decision::Kept { why });
        };
        let ratio = again.map_or(ratio, |again| ratio.max(again));
        let is_promising = ratio <= LEAST_GAIN;
        (!is_promising).then(|| {
            let why = match ratio <= 1.0 / LEAST_GAIN {
                true => format!("about as fast as variant {best}"),
                false => format!("takes {:.1} % of the time of variant {best}", 100.0 * ratio),
            };
            Decision::Kept { why }
        })
    }

    /// Evaluates a variant with every check and, if it passes, compares it with the best.
    fn judge(&mut self, variant: usize, kernel: &Arc<Kernel>) -> Result<(), Interrupted> {
        let run = self.laboratory.evaluate(kernel)?;
        let parent = self.scribe.story.variants[variant].proposal.parent;
        let parent = parent.and_then(|parent| self.candidates[parent].clone());
        self.candidates[variant] = run.candidate.map(|hash| format!("{hash:#}"));
        let origin = self.scribe.story.variants[variant].proposal.origin.clone();
        let verdict = match &run.verdict {
            Ok(passed) => recorded(passed),
            Err(reason @ NotPassed::Failed(_)) => {
                Verdict::Failed(FailureRecord::from_reason(reason))
            }
            Err(reason @ NotPassed::NotJudged(_)) => {
                Verdict::NotJudged(FailureRecord::from_reason(reason))
            }
        };
        // After a kill between the two calls the variant is evaluated again, and no run is lost.
        (self.keeper)(FinishedRun { kernel: Arc::clone(kernel), run, origin, parent });
        self.scribe.record(&Entry::Judged { variant, verdict: verdict.clone() })?;
        let decision = match (&verdict, self.scribe.story.best) {
            (Verdict::Failed(failed), _) => Decision::Rejected { why: failed.sentence.clone() },
            (Verdict::NotJudged(reason), _) => Decision::NotJudged { why: reason.sentence.clone() },
            (Verdict::Passed { .. }, None) => {
                Decision::Accepted { why: "first variant that passes".to_owned() }
            }
            (Verdict::Passed { times, not_checked, .. }, Some(best)) => {
                match self.newly_unchecked(not_checked) {
                    Some(workload) => Decision::Kept {
                        why: format!(
                            "its results on `{workload}` were not checked at the timed size"
                        ),
                    },
                    None => self.against(best, kernel, times)?,
                }
            }
        };
        self.decided(variant, decision)
    }

    /// A workload whose results were not checked for this variant but were for the first kernel. There the variant may be fast
    /// because it is wrong.
    fn newly_unchecked<'n>(&self, not_checked: &'n [String]) -> Option<&'n String> {
        let first = &self.scribe.story.variants[0].verdict;
        let known: &[String] = match first {
            Some(Verdict::Passed { not_checked, .. }) => not_checked,
            Some(Verdict::Failed(_) | Verdict::NotJudged(_)) | None => &[],
        };
        not_checked.iter().find(|workload| !known.contains(workload))
    }

    /// Decides whether a variant that passed is the new best.
    fn against(
        &mut self,
        best: usize,
        kernel: &Arc<Kernel>,
        new: &[WorkloadTime],
    ) -> Result<Decision, Interrupted> {
        let is_modelled = new.iter().any(|time| time.basis == Basis::Modelled);
        if is_modelled {
            let story = &self.scribe.story;
            return Ok(modelled(best, new, story, &story.counted()));
        }
        if let Some(ratio) = self.clearly_faster(best, new) {
            let why = format!("takes {:.1} % of the time of variant {best}", 100.0 * ratio);
            return Ok(Decision::Accepted { why });
        }
        let Some(old) = self.kernels[best].clone() else {
            return Ok(Decision::Kept {
                why:
                    "the best variant does not compile any more, so that no comparison is possible"
                        .to_owned(),
            });
        };
        let compared = self.laboratory.compare(&old, kernel)?;
        let counting = self.scribe.story.counted();
        Ok(measured(best, &compared, (new, self.scribe.story.times(0)), &counting))
    }

    /// The ratio of the times of two verdicts, if it is so small that no comparison in alternating launches is needed: on no
    /// workload is the time near that of the first kernel.
    fn clearly_faster(&self, best: usize, new: &[WorkloadTime]) -> Option<f64> {
        let story = &self.scribe.story;
        let counted = story.counted();
        let ratio = cost(new, &counted)? / cost(story.times(best), &counted)?;
        let no_loss = ratios(new, story.times(0)).all(|(_, ratio)| ratio <= CLEARLY);
        (ratio <= CLEARLY && no_loss).then_some(ratio)
    }

    fn abandon(&self) -> BTreeMap<String, Seconds> {
        let Some(best) = self.scribe.story.best else { return BTreeMap::new() };
        let times = self.scribe.story.times(best).iter();
        let measured = times.filter(|time| time.basis == Basis::Measured);
        measured.map(|time| (time.workload.clone(), time.seconds * ABANDON)).collect()
    }

    /// Adds the gain of the technique that made a variant to the knowledge base.
    pub(super) fn learn(&mut self, variant: usize) {
        if let Some((technique, bottleneck, gain)) = self.lesson(variant) {
            self.learnt.learn(&technique, bottleneck.as_deref(), gain);
            self.order.knowledge.learn(&technique, bottleneck.as_deref(), gain);
        }
    }

    /// As [`Self::learn`], for a variant before a restart, whose gain the search has reported already.
    pub(super) fn recall(&mut self, variant: usize) {
        if let Some((technique, bottleneck, gain)) = self.lesson(variant) {
            self.order.knowledge.learn(&technique, bottleneck.as_deref(), gain);
        }
    }

    /// The technique, the bottleneck of the parent and the speedup; no speedup if the variant failed.
    fn lesson(&self, variant: usize) -> Option<(String, Option<String>, Option<f64>)> {
        let story = &self.scribe.story;
        let proposal = &story.variants[variant].proposal;
        let (technique, parent) = (proposal.technique.clone()?, proposal.parent?);
        if let Some(Decision::NotJudged { .. }) = &story.variants[variant].decision {
            // Its time is unknown.
            return None;
        }
        let gain = match &story.variants[variant].look {
            Some(ScreeningResult::Right { .. } | ScreeningResult::Slow { .. }) => {
                Some(story.cost(parent)? / story.cost(variant)?)
            }
            Some(ScreeningResult::NotJudged(_)) => return None,
            Some(ScreeningResult::Failed(_)) | None => None,
        };
        Some((technique, self.held_back(parent).0, gain))
    }
}

/// The stored verdict of a candidate that passed.
fn recorded(passed: &Passed) -> Verdict {
    let slowest = |timing: &&WorkloadTiming| {
        let time = timing.cold().map(|time| time.summary.median.0);
        time.or_else(|| timing.profile.as_ref().ok()?.between.map(|between| between.1.0))
    };
    let costliest = passed.timings.iter().max_by(|a, b| {
        let (a, b) = (slowest(a).unwrap_or(0.0), slowest(b).unwrap_or(0.0));
        a.total_cmp(&b)
    });
    let standing = costliest.and_then(|timing| timing.standing.as_ref());
    let bottleneck =
        standing.and_then(|standing| relief(standing.limiter.bottleneck)).map(bottleneck_name);
    let advised = standing.into_iter().flat_map(|standing| standing.advice.all());
    let advised = advised.map(|suggestion| {
        let gain = &suggestion.gain;
        (suggestion.technique.id.clone(), gain.from.map_or(gain.to, |from| (from * gain.to).sqrt()))
    });
    let line = |timing: &WorkloadTiming| {
        let line = timing.standing.as_ref().map(|standing| standing.line.as_str());
        format!("{}: {}", timing.workload, line.unwrap_or("no time"))
    };
    Verdict::Passed {
        times: times(passed),
        lines: passed.timings.iter().map(line).collect(),
        bottleneck: bottleneck.map(str::to_owned),
        advised: advised.collect(),
        not_checked: passed.not_checked_sizes().map(|(workload, _)| workload.to_owned()).collect(),
    }
}

/// Decision from modelled times.
fn modelled(
    best: usize,
    new: &[WorkloadTime],
    story: &SearchState,
    counting: &[String],
) -> Decision {
    let each = counted(new, story.times(best), counting);
    let since_first = counted(new, story.times(0), counting);
    if each.is_empty() {
        return Decision::Kept { why: "no workload has a time for both variants".to_owned() };
    }
    let mean = each.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / each.len() as f64;
    let (mean, worst) = (mean.exp(), worst(&since_first));
    let told = format!("modelled at {:.1} % of the time of variant {best}", 100.0 * mean);
    decision(mean <= LEAST_GAIN, worst, told)
}

/// For each workload in `counting`, the time in `new` divided by the time in `old`.
fn counted<'a>(
    new: &'a [WorkloadTime],
    old: &'a [WorkloadTime],
    counting: &[String],
) -> Vec<(&'a str, f64)> {
    let counts = |(name, _): &(&str, f64)| counting.iter().any(|known| known == name);
    ratios(new, old).filter(counts).collect()
}

fn worst<'a>(each: &[(&'a str, f64)]) -> Option<(&'a str, f64)> {
    let worst = each.iter().max_by(|a, b| a.1.total_cmp(&b.1)).copied();
    worst.filter(|(_, ratio)| *ratio > MOST_LOSS)
}

fn decision(is_better: bool, worst: Option<(&str, f64)>, told: String) -> Decision {
    match (is_better, worst) {
        (_, Some((workload, ratio))) => Decision::Kept {
            why: format!(
                "{told}, but on `{workload}` it takes {:.1} % of the time of the first",
                100.0 * ratio
            ),
        },
        (true, None) => Decision::Accepted { why: told },
        (false, None) => Decision::Kept { why: format!("{told}: no measurable difference") },
    }
}

/// Decision from alternating launches.
fn measured(
    best: usize,
    compared: &[ComparedWorkload],
    (new, first): (&[WorkloadTime], &[WorkloadTime]),
    counting: &[String],
) -> Decision {
    let mut each: Vec<(&str, &Comparison)> = Vec::new();
    for workload in compared {
        let counts = counting.contains(&workload.workload);
        match &workload.outcome {
            Outcome::Measured { comparison, .. } if counts => {
                each.push((&workload.workload, comparison));
            }
            Outcome::Measured { .. } => {}
            Outcome::Modelled { .. } | Outcome::Withheld(_) if !counts => {}
            Outcome::Modelled { .. } => return not_beside(best, &workload.workload, "modelled"),
            Outcome::Withheld(reason) => return not_beside(best, &workload.workload, reason),
        }
    }
    if each.is_empty() {
        return Decision::Kept {
            why: "no workload was compared by alternating launches".to_owned(),
        };
    }
    let lost: Vec<(&str, f64)> = if best == 0 {
        let slower = each.iter().filter(|(_, pair)| pair.conclusion == Conclusion::Slower);
        slower.map(|(workload, comparison)| (*workload, comparison.ratio.0)).collect()
    } else {
        // These times are not from alternating launches; without this check, small losses would add up over several bests.
        counted(new, first, counting)
    };
    let mean =
        each.iter().map(|(_, comparison)| comparison.ratio.0.ln()).sum::<f64>() / each.len() as f64;
    let any_faster = each.iter().any(|(_, comparison)| comparison.conclusion == Conclusion::Faster);
    let told = format!(
        "in alternating launches it takes {:.2} % of the time of variant {best}",
        100.0 * mean.exp()
    );
    decision(any_faster && mean.exp() <= LEAST_GAIN, worst(&lost), told)
}

fn not_beside(best: usize, workload: &str, reason: &str) -> Decision {
    let why = format!("no comparison with variant {best} on `{workload}`: {reason}");
    Decision::Kept { why }
}
