//! The archive from which strategies choose, computed from the state of the search: the same after a restart.

use std::sync::Arc;

use super::Explorer;
use crate::project::Kernel;
use crate::search::candidate_runner::{CandidateRunner, Interrupted};
use crate::search::cost::ratios;
use crate::search::entry::{Decision, Verdict};
use crate::search::operators::{ParentVariant, TUNE, tuning_action};
use crate::search::state::ActionOutcome;
use crate::strategies::archive::Attempt;
use crate::strategies::{Action, Finding, Origin, Outcome};

/// Ratio to the time of the first variant on some workload from which on a variant counts as regressed.
const REGRESSED: f64 = 1.05;

impl<L: CandidateRunner> Explorer<'_, L> {
    /// Adds all variants of the state to the archive and completes evaluations that a restart interrupted.
    pub(super) fn catch_up(&mut self) -> Result<(), Interrupted> {
        let count = self.scribe.story.variants.len();
        self.kernels = (0..count).map(|variant| self.kernel_of(variant).ok()).collect();
        self.candidates = vec![None; count];
        self.finish(0, None)?;
        let mut last: Option<Attempt> = None;
        for (index, tried) in self.scribe.story.attempts.clone().into_iter().enumerate() {
            self.grow_evaluated_again(index);
            let Some(origin) = self.origin(tried.parent, &tried.action) else { continue };
            // One attempt may have made several variants.
            let again = last.filter(|last| last.origin == origin && !self.is_open(origin));
            let attempt = again.unwrap_or_else(|| self.archive.mark_tried(origin));
            last = Some(attempt);
            match tried.came {
                ActionOutcome::Variant(child)
                    if self.scribe.story.variants[child].not_judged > 0 =>
                {
                    self.not_judged.insert(child, Some(attempt));
                }
                ActionOutcome::Variant(child) => self.finish(child, Some(attempt))?,
                ActionOutcome::Nothing { .. } => self.archive.use_up(origin),
            }
        }
        self.grow_evaluated_again(usize::MAX);
        // Variants whose second evaluation a restart interrupted.
        for (variant, attempt) in self.not_judged.clone() {
            if !self.scribe.story.variants[variant].is_settled() {
                self.not_judged.remove(&variant);
                self.finish(variant, attempt)?;
            }
        }
        for variant in 0..count {
            if self.scribe.story.variants[variant].turned_down.is_some() {
                self.close(variant);
            }
        }
        Ok(())
    }

    /// Adds variants to the archive whose second evaluation was decided after at most this number of actions: in the order of
    /// the first run, because places in the archive are numbered.
    fn grow_evaluated_again(&mut self, actions: usize) {
        let story = &self.scribe.story;
        let is_next = |(variant, _): &(&usize, &Option<Attempt>)| {
            let known = &story.variants[**variant];
            known.is_settled() && !known.is_not_judged() && known.decided_after <= actions
        };
        let mut next: Vec<(usize, Option<Attempt>)> =
            self.not_judged.iter().filter(is_next).map(|(key, value)| (*key, *value)).collect();
        next.sort_by_key(|(variant, _)| (story.variants[*variant].decided_after, *variant));
        for (variant, attempt) in next {
            self.not_judged.remove(&variant);
            self.recall(variant);
            self.grow(variant, attempt);
        }
    }

    /// Repeats evaluations that the device or the machine ended, for variants with at least this number of actions since.
    /// Returns whether there were any.
    pub(super) fn evaluate_again(&mut self, actions: usize) -> Result<bool, Interrupted> {
        let story = &self.scribe.story;
        let carried_out = story.attempts.len();
        let is_due = |(variant, _): &(&usize, &Option<Attempt>)| {
            let known = &story.variants[**variant];
            known.is_due_again() && carried_out >= known.decided_after.saturating_add(actions)
        };
        let due = self.not_judged.iter().filter(is_due).map(|(key, value)| (*key, *value));
        let due: Vec<(usize, Option<Attempt>)> = due.take(self.laboratory.batch()).collect();
        let left = self.evaluations_left().min(due.len());
        let Some(next) = due.get(..left).filter(|next| !next.is_empty()) else { return Ok(false) };
        if !self.may_go_on() {
            return Ok(false);
        }
        self.settle(next)?;
        Ok(true)
    }

    /// Completes a variant that a restart interrupted.
    fn finish(&mut self, variant: usize, attempt: Option<Attempt>) -> Result<(), Interrupted> {
        let known = &self.scribe.story.variants[variant];
        match (known.is_settled(), known.look.is_some(), self.kernels[variant].clone()) {
            (true, _, _) => self.recall(variant),
            (false, true, Some(kernel)) => {
                self.decide(variant, &kernel, None)?;
                self.learn(variant);
            }
            (false, true, None) | (false, false, _) => return self.settle(&[(variant, attempt)]),
        }
        self.grow(variant, attempt);
        Ok(())
    }

    fn origin(&self, parent: usize, action: &str) -> Option<Origin> {
        let node = self.places.get(parent).copied().flatten()?;
        let actions = &self.archive.nodes()[node].actions;
        let action = actions.iter().position(|known| known.key == action)?;
        Some(Origin { node, action })
    }

    fn is_open(&self, origin: Origin) -> bool {
        self.archive.nodes()[origin.node].actions[origin.action].is_open()
    }

    /// The kernel of a variant.
    pub(super) fn kernel_of(&mut self, variant: usize) -> Result<Arc<Kernel>, String> {
        while self.kernels.len() <= variant {
            self.kernels.push(None);
            self.candidates.push(None);
        }
        if let Some(kernel) = &self.kernels[variant] {
            return Ok(Arc::clone(kernel));
        }
        let source = self.scribe.story.variants[variant].proposal.source.clone();
        let name = match variant {
            0 => self.order.kernel.name.clone(),
            _ => format!("{}-{variant}", self.order.kernel.name),
        };
        let drafted = self.order.project.draft(&name, source);
        drafted.map(Arc::new).map_err(|problems| {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            format!("its text is not a kernel of this project: {first}")
        })
    }

    /// Adds a variant with a decision to the archive, with the actions that apply to it.
    ///
    /// A variant that was not judged waits for its second evaluation instead: its result is unknown, and strategies would
    /// count it as a failure.
    pub(super) fn grow(&mut self, variant: usize, attempt: Option<Attempt>) {
        if self.scribe.story.variants[variant].is_not_judged() {
            self.not_judged.insert(variant, attempt);
            return;
        }
        self.not_judged.remove(&variant);
        while self.places.len() <= variant {
            self.places.push(None);
        }
        if self.places[variant].is_none() {
            let finding = self.finding(variant);
            self.places[variant] = Some(self.archive.add(attempt, finding));
            self.variants.push(variant);
        }
    }

    /// Removes all further actions of a variant.
    pub(super) fn close(&mut self, variant: usize) {
        if let Some(node) = self.places.get(variant).copied().flatten() {
            self.archive.close(node);
        }
    }

    fn finding(&self, variant: usize) -> Finding {
        let story = &self.scribe.story;
        let known = &story.variants[variant];
        let failed = matches!(known.decision, Some(Decision::Rejected { .. }));
        let speedup = story.speedup(variant).filter(|_| !failed);
        let descriptor = known.descriptor.clone().unwrap_or_default();
        let outcome = match (failed, speedup) {
            (true, _) | (false, None) => Outcome::Failed,
            (false, Some(speedup)) => Outcome::Right {
                gain: self.credited(variant, speedup.ln()),
                regressed: ratios(story.times(variant), story.times(0))
                    .any(|(_, ratio)| ratio > REGRESSED),
            },
        };
        let actions = match outcome {
            Outcome::Failed => Vec::new(),
            Outcome::Right { .. } => self.actions(variant),
        };
        Finding { outcome, cell: descriptor.cell, fingerprint: descriptor.fingerprint, actions }
    }

    /// Limits the gain of a variant that was not accepted to that of the best at its time: its screening was too optimistic.
    fn credited(&self, variant: usize, gain: f64) -> f64 {
        let story = &self.scribe.story;
        let is_accepted = |number: &usize| story.variants[*number].is_accepted();
        if is_accepted(&variant) {
            return gain;
        }
        let best = (0..variant).rev().find(is_accepted);
        let best = best.and_then(|best| story.speedup(best));
        best.map_or(gain, |best| gain.min(best.ln()))
    }

    fn actions(&self, variant: usize) -> Vec<Action> {
        let Some(Some(kernel)) = self.kernels.get(variant) else { return Vec::new() };
        let (bottleneck, advised) = self.held_back(variant);
        let subject = ParentVariant {
            project: &self.order.project,
            kernel,
            bottleneck: bottleneck.as_deref(),
            advised: &advised,
            knowledge: &self.order.knowledge,
            story: &self.scribe.story,
            variant,
        };
        let of_tuner = self.order.tunes.then(|| {
            let from_tuner = self.scribe.story.variants[variant].proposal.action == TUNE;
            // Tuning made this variant, so that it is not tuned again.
            (!from_tuner)
                .then(|| tuning_action(kernel, subject.knowledge, subject.bottleneck))
                .flatten()
        });
        let others = self.order.operators.iter().flat_map(|operator| operator.actions(&subject));
        of_tuner.flatten().into_iter().chain(others).collect()
    }

    /// Bottleneck and advised techniques of a variant: from its own verdict, otherwise from its nearest ancestor with one.
    pub(super) fn held_back(&self, variant: usize) -> (Option<String>, Vec<(String, f64)>) {
        let mut at = Some(variant);
        while let Some(number) = at {
            let known = &self.scribe.story.variants[number];
            if let Some(Verdict::Passed { bottleneck, advised, .. }) = &known.verdict {
                return (bottleneck.clone(), advised.clone());
            }
            at = known.proposal.parent;
        }
        (None, Vec::new())
    }
}
