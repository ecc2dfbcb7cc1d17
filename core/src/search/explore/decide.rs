//! What becomes of variants: a quick look drops most, every check and a comparison side by side decide about the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Explorer, Kept};
use crate::evaluate::compare::{ComparedWorkload, Outcome};
use crate::measure::{Comparison, Conclusion};
use crate::project::Kernel;
use crate::search::cost::{ratios, times};
use crate::search::entry::{Basis, Decision, Entry, Failed, Look, Verdict, WorkloadTime};
use crate::search::laboratory::{Interrupted, Laboratory};
use crate::search::story::Story;
use crate::speed_of_light::playbook::relief;
use crate::strategies::archive::Attempt;
use crate::suggest::knowledge::word;
use crate::units::Seconds;
use crate::verify::not_judged::NotPassed;
use crate::verify::verdict::{Passed, WorkloadTiming};

/// A new best is at least this much faster.
const LEAST_GAIN: f64 = 0.99;

/// On no workload may it be slower than this against the kernel that the search began with: among what the search itself
/// found, a gain on one workload may cost something on another.
const MOST_LOSS: f64 = 1.02;

/// A variant that is this much slower than the best is not waited for.
const ABANDON: f64 = 3.0;

impl<L: Laboratory> Explorer<'_, L> {
    /// Looks at variants, and decides about each.
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
        let kernels = self.foresee(kernels)?;
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
        for (variant, attempt, kernel) in kernels.iter().take(screenings.len()) {
            self.decide(*variant, kernel)?;
            self.learn(*variant);
            self.grow(*variant, *attempt);
        }
        Ok(())
    }

    /// A variant that a quick look saw.
    pub(super) fn decide(
        &mut self,
        variant: usize,
        kernel: &Arc<Kernel>,
    ) -> Result<(), Interrupted> {
        let story = &self.scribe.story;
        let decision = match (&story.variants[variant].look, story.best) {
            (Some(Look::Failed(failed)), _) => {
                Some(Decision::Rejected { why: failed.sentence.clone() })
            }
            (Some(Look::NotJudged(reason)), _) => {
                Some(Decision::NotJudged { why: reason.sentence.clone() })
            }
            (Some(Look::Slow { .. }), _) => {
                let why = format!("its first execution took {ABANDON} times as long as the best");
                Some(Decision::Rejected { why })
            }
            (_, None) => None,
            (_, Some(best)) => self.not_promising(variant, best),
        };
        match decision {
            Some(decision) => self.decided(variant, decision),
            None => self.judge(variant, kernel),
        }
    }

    /// Why a quick look is enough to know that a variant is no new best.
    fn not_promising(&self, variant: usize, best: usize) -> Option<Decision> {
        let story = &self.scribe.story;
        // Looks are held against looks, and modelled times against modelled ones.
        let seen = |number: usize| {
            let look = story.variants[number].look.as_ref()?;
            crate::search::cost::cost(look.times(), &story.header.workloads)
        };
        let (Some(own), Some(other)) = (seen(variant), seen(best).or_else(|| story.cost(best)))
        else {
            let why = "it has no time on some workload".to_owned();
            return Some(Decision::Kept { why });
        };
        let is_promising = own <= other * LEAST_GAIN;
        (!is_promising).then(|| {
            let ratio = own / other;
            let why = match ratio <= 1.0 / LEAST_GAIN {
                true => format!("about as fast as variant {best}"),
                false => format!("takes {:.1} % of the time of variant {best}", 100.0 * ratio),
            };
            Decision::Kept { why }
        })
    }

    /// Every check, and where it is right, side by side with the best.
    fn judge(&mut self, variant: usize, kernel: &Arc<Kernel>) -> Result<(), Interrupted> {
        let run = self.laboratory.evaluate(kernel)?;
        let parent = self.scribe.story.variants[variant].proposal.parent;
        let parent = parent.and_then(|parent| self.candidates[parent].clone());
        self.candidates[variant] = run.candidate.map(|hash| format!("{hash:#}"));
        let origin = self.scribe.story.variants[variant].proposal.origin.clone();
        let verdict = match &run.verdict {
            Ok(passed) => recorded(passed),
            Err(reason @ NotPassed::Failed(_)) => Verdict::Failed(Failed::of(reason)),
            Err(reason @ NotPassed::NotJudged(_)) => Verdict::NotJudged(Failed::of(reason)),
        };
        // A kill between the two has it judged again, which is better than lost.
        (self.keeper)(Kept { kernel: Arc::clone(kernel), run, origin, parent });
        self.scribe.record(&Entry::Judged { variant, verdict: verdict.clone() })?;
        let decision = match (&verdict, self.scribe.story.best) {
            (Verdict::Failed(failed), _) => Decision::Rejected { why: failed.sentence.clone() },
            (Verdict::NotJudged(reason), _) => Decision::NotJudged { why: reason.sentence.clone() },
            (Verdict::Passed { .. }, None) => {
                Decision::Accepted { why: "it passes, and nothing else is there yet".to_owned() }
            }
            (Verdict::Passed { times, not_checked, .. }, Some(best)) => {
                match self.newly_unchecked(not_checked) {
                    Some(workload) => Decision::Kept {
                        why: format!("its results on `{workload}` were not checked at that size"),
                    },
                    None => self.against(best, kernel, times)?,
                }
            }
        };
        self.decided(variant, decision)
    }

    /// A workload of which no result of a variant was judged, although results of the first kernel were: there it may be
    /// fast because it is wrong.
    fn newly_unchecked<'n>(&self, not_checked: &'n [String]) -> Option<&'n String> {
        let first = &self.scribe.story.variants[0].verdict;
        let known: &[String] = match first {
            Some(Verdict::Passed { not_checked, .. }) => not_checked,
            Some(Verdict::Failed(_) | Verdict::NotJudged(_)) | None => &[],
        };
        not_checked.iter().find(|workload| !known.contains(workload))
    }

    /// Whether a variant that passed is better than the best.
    fn against(
        &mut self,
        best: usize,
        kernel: &Arc<Kernel>,
        new: &[WorkloadTime],
    ) -> Result<Decision, Interrupted> {
        let is_modelled = new.iter().any(|time| time.basis == Basis::Modelled);
        if is_modelled {
            let story = &self.scribe.story;
            return Ok(modelled(best, new, story, &self.order.counting()));
        }
        let Some(old) = self.kernels[best].clone() else {
            return Ok(Decision::Kept { why: "the best cannot be built any more".to_owned() });
        };
        let compared = self.laboratory.side_by_side(&old, kernel)?;
        let counting = self.order.counting();
        Ok(measured(best, &compared, (new, self.scribe.story.times(0)), &counting))
    }

    fn abandon(&self) -> BTreeMap<String, Seconds> {
        let Some(best) = self.scribe.story.best else { return BTreeMap::new() };
        let times = self.scribe.story.times(best).iter();
        let measured = times.filter(|time| time.basis == Basis::Measured);
        measured.map(|time| (time.workload.clone(), time.seconds * ABANDON)).collect()
    }

    /// Learns what came of the technique that made a variant.
    pub(super) fn learn(&mut self, variant: usize) {
        if let Some((technique, bottleneck, gain)) = self.lesson(variant) {
            self.learnt.learn(&technique, bottleneck.as_deref(), gain);
            self.order.knowledge.learn(&technique, bottleneck.as_deref(), gain);
        }
    }

    /// Knows again what was learnt before a restart, and kept then.
    pub(super) fn recall(&mut self, variant: usize) {
        if let Some((technique, bottleneck, gain)) = self.lesson(variant) {
            self.order.knowledge.learn(&technique, bottleneck.as_deref(), gain);
        }
    }

    /// The technique, what held its parent back, and times as fast; no gain where it is not right.
    fn lesson(&self, variant: usize) -> Option<(String, Option<String>, Option<f64>)> {
        let story = &self.scribe.story;
        let proposal = &story.variants[variant].proposal;
        let (technique, parent) = (proposal.technique.clone()?, proposal.parent?);
        if let Some(Decision::Skipped { .. } | Decision::NotJudged { .. }) =
            &story.variants[variant].decision
        {
            // Nothing is known of it.
            return None;
        }
        let gain = match &story.variants[variant].look {
            Some(Look::Right { .. }) => Some(story.cost(parent)? / story.cost(variant)?),
            Some(Look::Slow { .. } | Look::NotJudged(_)) => return None,
            Some(Look::Failed(_)) | None => None,
        };
        Some((technique, self.held_back(parent).0, gain))
    }
}

/// What the journal has of a candidate that passed.
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
    let bottleneck = standing.and_then(|standing| relief(standing.limiter.bottleneck)).map(word);
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

/// By a model of the device, which is no measurement: it says so.
fn modelled(best: usize, new: &[WorkloadTime], story: &Story, counting: &[String]) -> Decision {
    let each = counted(new, story.times(best), counting);
    let since_first = counted(new, story.times(0), counting);
    if each.is_empty() {
        return Decision::Kept { why: "no workload has a time for both".to_owned() };
    }
    let mean = each.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / each.len() as f64;
    let (mean, worst) = (mean.exp(), worst(&since_first));
    let told = format!("modelled at {:.1} % of the time of variant {best}", 100.0 * mean);
    decision(mean <= LEAST_GAIN, worst, told)
}

/// Of each workload that counts, the time of `new` as a part of that of `old`.
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

/// By samples that were taken side by side.
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
        return Decision::Kept { why: "nothing was timed side by side".to_owned() };
    }
    let lost: Vec<(&str, f64)> = if best == 0 {
        let slower = each.iter().filter(|(_, pair)| pair.conclusion == Conclusion::Slower);
        slower.map(|(workload, comparison)| (*workload, comparison.ratio.0)).collect()
    } else {
        // Not side by side; but whatever is the best has been, and this must not be a way around it.
        counted(new, first, counting)
    };
    let mean =
        each.iter().map(|(_, comparison)| comparison.ratio.0.ln()).sum::<f64>() / each.len() as f64;
    let any_faster = each.iter().any(|(_, comparison)| comparison.conclusion == Conclusion::Faster);
    let told =
        format!("side by side it takes {:.2} % of the time of variant {best}", 100.0 * mean.exp());
    decision(any_faster && mean.exp() <= LEAST_GAIN, worst(&lost), told)
}

fn not_beside(best: usize, workload: &str, reason: &str) -> Decision {
    let why = format!("it has no time beside variant {best} on `{workload}`: {reason}");
    Decision::Kept { why }
}
