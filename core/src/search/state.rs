//! State of a search, computed from its entries alone: the same for the running search, for the window and for a journal
//! that is read again.

use std::collections::BTreeMap;

use super::budget::{Cost, Spent};
use super::cost::cost;
use super::entry::{
    Basis, Decision, End, Entry, Header, ModelExchange, Proposal, ScreeningResult, Verdict,
    WorkloadTime,
};
use crate::suggest::descriptor::Descriptor;

/// State of a search after some entries.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchState {
    /// Project, device, strategy and limits.
    pub header: Header,
    /// All variants, by their number.
    pub variants: Vec<Variant>,
    /// All actions that were carried out, in order.
    pub attempts: Vec<Attempt>,
    /// Number of the best variant; none before one is accepted.
    pub best: Option<usize>,
    /// Each change of the best variant, in order.
    pub progress: Vec<Progress>,
    /// Evaluations, time, tokens and money spent.
    pub spent: Spent,
    /// Why the search ended; none while it runs.
    pub ended: Option<End>,
}

/// A variant and the results about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The proposal.
    pub proposal: Proposal,
    /// Result of its screening.
    pub look: Option<ScreeningResult>,
    /// Its place in the archive of the search.
    pub descriptor: Option<Descriptor>,
    /// Verdict, if it was evaluated with every check.
    pub verdict: Option<Verdict>,
    /// Decision of the search.
    pub decision: Option<Decision>,
    /// Why the user turned it down, if so.
    pub turned_down: Option<String>,
    /// Configurations of its parameters that were screened.
    pub tried: Vec<(BTreeMap<String, i64>, ScreeningResult)>,
    /// Number of evaluations before it was proposed.
    pub after: usize,
    /// Number of its evaluations that the device or the machine ended.
    pub not_judged: usize,
    /// Number of actions before the last decision about it.
    pub decided_after: usize,
}

/// An action that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The variant that was to be changed.
    pub parent: usize,
    /// Key of the action.
    pub action: String,
    /// The variant that it made, or why it made none.
    pub came: ActionOutcome,
}

/// Outcome of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    /// It made the variant of this number.
    Variant(usize),
    /// It made no variant.
    Nothing {
        /// The reason, in a sentence.
        why: String,
        /// The questions to a model and its last reply, if one was asked.
        talk: Option<Box<ModelExchange>>,
    },
}

/// A change of the best variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Number of evaluations before it.
    pub evaluations: usize,
    /// Number of the new best variant.
    pub variant: usize,
    /// Geometric mean of its times, in seconds.
    pub cost: f64,
}

/// An entry that contradicts the entries before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EntryOrderError(String);

impl SearchState {
    /// The state before the first variant.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Self {
            header,
            variants: Vec::new(),
            attempts: Vec::new(),
            best: None,
            progress: Vec::new(),
            spent: Spent::default(),
            ended: None,
        }
    }

    /// The state after these entries; none if there are none.
    ///
    /// # Errors
    /// An entry contradicts the entries before it.
    pub fn from_entries(
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<Option<Self>, EntryOrderError> {
        let mut entries = entries.into_iter();
        let mut story = match entries.next() {
            None => return Ok(None),
            Some(Entry::Began(header)) => Self::new(*header),
            Some(_) => {
                return Err(EntryOrderError(
                    "the first entry is not the header of a search".to_owned(),
                ));
            }
        };
        for entry in entries {
            story.add(&entry)?;
        }
        Ok(Some(story))
    }

    /// Adds the next entry.
    ///
    /// # Errors
    /// The entry contradicts the entries before it.
    pub fn add(&mut self, entry: &Entry) -> Result<(), EntryOrderError> {
        // The user can turn down a variant of a search that has ended.
        if !matches!(entry, Entry::TurnedDown { .. }) {
            self.ended = None;
        }
        match entry {
            Entry::Began(_) => {
                return Err(EntryOrderError(
                    "the header of the search appears a second time".to_owned(),
                ));
            }
            Entry::Proposed(proposal) => self.propose(proposal)?,
            Entry::Nothing { parent, action, why, cost, talk } => {
                self.variant(*parent)?;
                self.pay(*cost);
                let came = ActionOutcome::Nothing { why: why.clone(), talk: talk.clone() };
                self.attempts.push(Attempt { parent: *parent, action: action.clone(), came });
            }
            Entry::Tried { variant, parameters, look } => {
                self.spent.evaluations += 1;
                let tried = (parameters.clone(), look.clone());
                self.variant(*variant)?.tried.push(tried);
            }
            Entry::Looked { variant, look, descriptor } => {
                self.spent.evaluations += 1;
                let variant = self.variant(*variant)?;
                // A second screening restarts the evaluation.
                (variant.verdict, variant.decision) = (None, None);
                variant.look = Some(look.clone());
                variant.descriptor.clone_from(descriptor);
            }
            Entry::Judged { variant, verdict } => {
                self.variant(*variant)?.verdict = Some(verdict.clone());
            }
            Entry::Decided { variant, decision } => {
                let attempts = self.attempts.len();
                let variant_decided = self.variant(*variant)?;
                variant_decided.decided_after = attempts;
                if let Decision::NotJudged { .. } = decision {
                    variant_decided.not_judged += 1;
                }
                variant_decided.decision = Some(decision.clone());
                if let Decision::Accepted { .. } = decision {
                    self.accept(*variant);
                }
            }
            Entry::TurnedDown { variant, why } => self.turn_down(*variant, why)?,
            Entry::Ended { why } => self.ended = Some(why.clone()),
        }
        Ok(())
    }

    fn variant(&mut self, number: usize) -> Result<&mut Variant, EntryOrderError> {
        let count = self.variants.len();
        let missing = || EntryOrderError(format!("there is no variant {number} among {count}"));
        self.variants.get_mut(number).ok_or_else(missing)
    }

    fn propose(&mut self, proposal: &Proposal) -> Result<(), EntryOrderError> {
        let number = self.variants.len();
        if proposal.variant != number || proposal.parent.is_some_and(|parent| parent >= number) {
            return Err(EntryOrderError(format!(
                "variant {} is out of order: its number must be {number} and its parent a lower one",
                proposal.variant
            )));
        }
        if let Some(parent) = proposal.parent {
            let action = proposal.action.clone();
            self.attempts.push(Attempt { parent, action, came: ActionOutcome::Variant(number) });
        }
        self.pay(proposal.cost);
        self.variants.push(Variant {
            proposal: proposal.clone(),
            look: None,
            descriptor: None,
            verdict: None,
            decision: None,
            turned_down: None,
            tried: Vec::new(),
            after: self.spent.evaluations,
            not_judged: 0,
            decided_after: 0,
        });
        Ok(())
    }

    fn pay(&mut self, cost: Cost) {
        self.spent.cost.tokens = self.spent.cost.tokens.saturating_add(cost.tokens);
        self.spent.cost.money += cost.money;
    }

    fn accept(&mut self, variant: usize) {
        self.best = Some(variant);
        if let Some(cost) = self.cost(variant) {
            let evaluations = self.spent.evaluations;
            self.progress.push(Progress { evaluations, variant, cost });
        }
    }

    /// The best is then the last variant that was accepted before and is not turned down.
    fn turn_down(&mut self, number: usize, why: &str) -> Result<(), EntryOrderError> {
        if number == 0 {
            let what = "the first variant cannot be turned down: all others are compared with it";
            return Err(EntryOrderError(what.to_owned()));
        }
        self.variant(number)?.turned_down = Some(why.to_owned());
        if self.best == Some(number) {
            self.best = self.variants[..number].iter().rposition(Variant::is_accepted);
        }
        Ok(())
    }

    /// Times of a variant: of its verdict, otherwise of its screening.
    #[must_use]
    pub fn times(&self, variant: usize) -> &[WorkloadTime] {
        let Some(variant) = self.variants.get(variant) else { return &[] };
        match (&variant.verdict, &variant.look) {
            (Some(Verdict::Passed { times, .. }), _) => times,
            (_, Some(look)) => look.times(),
            (_, None) => &[],
        }
    }

    /// Geometric mean of the times of a variant, in seconds; none if a workload has no time.
    #[must_use]
    pub fn cost(&self, variant: usize) -> Option<f64> {
        cost(self.times(variant), &self.counted())
    }

    /// The workloads whose times the search minimises: those of the header on which the first variant has a time, or all
    /// before it has any.
    #[must_use]
    pub fn counted(&self) -> Vec<String> {
        let timed = self.times(0);
        let has_time = |name: &&String| timed.iter().any(|time| time.workload == **name);
        let all = &self.header.workloads;
        if timed.is_empty() { all.clone() } else { all.iter().filter(has_time).cloned().collect() }
    }

    /// Time of the first variant divided by the time of this one.
    #[must_use]
    pub fn speedup(&self, variant: usize) -> Option<f64> {
        Some(self.cost(0)? / self.cost(variant)?)
    }

    /// Whether the times of a variant are measured or modelled.
    #[must_use]
    pub fn basis(&self, variant: usize) -> Option<Basis> {
        self.times(variant).first().map(|time| time.basis)
    }
}

impl Variant {
    /// Whether the search has decided about it.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.decision.is_some()
    }

    /// Whether the device or the machine ended its evaluation, so that its correctness is unknown.
    #[must_use]
    pub fn is_not_judged(&self) -> bool {
        matches!(self.decision, Some(Decision::NotJudged { .. }))
    }

    /// Whether it is to be evaluated once more: the device or the machine ended its only evaluation. A feature that the
    /// device does not support is excluded.
    #[must_use]
    pub fn is_due_again(&self) -> bool {
        let reason = match (&self.verdict, &self.look) {
            (Some(Verdict::NotJudged(reason)), _)
            | (None, Some(ScreeningResult::NotJudged(reason))) => reason,
            (Some(Verdict::Passed { .. } | Verdict::Failed(_)), _)
            | (
                None,
                Some(
                    ScreeningResult::Right { .. }
                    | ScreeningResult::Slow { .. }
                    | ScreeningResult::Failed(_),
                )
                | None,
            ) => {
                return false;
            }
        };
        self.is_not_judged()
            && self.not_judged == 1
            && self.turned_down.is_none()
            && !reason.is_not_supported()
    }

    /// Whether it was accepted as the best and was not turned down since.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self.decision, Some(Decision::Accepted { .. })) && self.turned_down.is_none()
    }

    /// Bottleneck that its verdict names.
    #[must_use]
    pub fn bottleneck(&self) -> Option<&str> {
        match &self.verdict {
            Some(Verdict::Passed { bottleneck, .. }) => bottleneck.as_deref(),
            Some(Verdict::Failed(_) | Verdict::NotJudged(_)) | None => None,
        }
    }
}
