//! What all entries of a search so far amount to: the same for the loop that goes on, for the window, and for a journal that
//! is read again.

use std::collections::BTreeMap;

use super::budget::Spent;
use super::cost::cost;
use super::entry::{
    Basis, Cost, Decision, End, Entry, Header, Look, Proposal, Talk, Verdict, WorkloadTime,
};
use super::foresight::Foresight;
use crate::suggest::descriptor::Descriptor;

/// What a search came to so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// What is searched.
    pub header: Header,
    /// All variants, by their number.
    pub variants: Vec<Variant>,
    /// Every action that was carried out, in order.
    pub attempts: Vec<Attempt>,
    /// The best variant, once one was accepted.
    pub best: Option<usize>,
    /// The cost of the best after so many evaluations, whenever it changed.
    pub progress: Vec<Progress>,
    /// What was used up.
    pub spent: Spent,
    /// Why it ended, if it did.
    pub ended: Option<End>,
}

/// A variant and all that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// How it came to be.
    pub proposal: Proposal,
    /// What was forecast, where the search did.
    pub foreseen: Option<Foresight>,
    /// What a quick look saw.
    pub look: Option<Look>,
    /// Where it lies among all possible ones.
    pub descriptor: Option<Descriptor>,
    /// What came of every check, where it was worth that.
    pub verdict: Option<Verdict>,
    /// What became of it.
    pub decision: Option<Decision>,
    /// Why a person does not want it, where one said so.
    pub turned_down: Option<String>,
    /// Its parameters' configurations that were looked at.
    pub tried: Vec<(BTreeMap<String, i64>, Look)>,
    /// How many evaluations there were before it was proposed.
    pub after: usize,
    /// How many of its evaluations the device or the machine ended.
    pub not_judged: usize,
    /// How many actions the search had carried out when it was decided about for the last time.
    pub decided_after: usize,
}

/// An action that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The variant that it began with.
    pub parent: usize,
    /// What it was.
    pub action: String,
    /// What came of it.
    pub came: Came,
}

/// What came of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// This variant.
    Variant(usize),
    /// Nothing.
    Nothing {
        /// Why, in a sentence.
        why: String,
        /// What a model was told and said, where one was asked.
        talk: Option<Box<Talk>>,
    },
}

/// A moment at which something better was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Evaluations until then.
    pub evaluations: usize,
    /// The variant.
    pub variant: usize,
    /// Its cost, in seconds.
    pub cost: f64,
}

/// An entry that does not follow from those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unconnected(String);

impl Story {
    /// A story that has just begun.
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

    /// The story of these entries; none where there are none.
    ///
    /// # Errors
    /// One of them does not follow from those before it.
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Result<Option<Self>, Unconnected> {
        let mut entries = entries.into_iter();
        let mut story = match entries.next() {
            None => return Ok(None),
            Some(Entry::Began(header)) => Self::new(*header),
            Some(_) => return Err(Unconnected("a search begins with its header".to_owned())),
        };
        for entry in entries {
            story.add(&entry)?;
        }
        Ok(Some(story))
    }

    /// Takes in what happened next.
    ///
    /// # Errors
    /// It does not follow.
    pub fn add(&mut self, entry: &Entry) -> Result<(), Unconnected> {
        // A word on a variant of a search that is over does not begin it again.
        if !matches!(entry, Entry::TurnedDown { .. }) {
            self.ended = None;
        }
        match entry {
            Entry::Began(_) => return Err(Unconnected("a search begins once".to_owned())),
            Entry::Proposed(proposal) => self.propose(proposal)?,
            Entry::Nothing { parent, action, why, cost, talk } => {
                self.variant(*parent)?;
                self.pay(*cost);
                let came = Came::Nothing { why: why.clone(), talk: talk.clone() };
                self.attempts.push(Attempt { parent: *parent, action: action.clone(), came });
            }
            Entry::Tried { variant, parameters, look } => {
                self.spent.evaluations += 1;
                let tried = (parameters.clone(), look.clone());
                self.variant(*variant)?.tried.push(tried);
            }
            Entry::Foreseen { variant, foresight } => {
                self.variant(*variant)?.foreseen = Some((**foresight).clone());
            }
            Entry::Looked { variant, look, descriptor } => {
                self.spent.evaluations += 1;
                let variant = self.variant(*variant)?;
                // A second look begins the evaluation again.
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

    fn variant(&mut self, number: usize) -> Result<&mut Variant, Unconnected> {
        let count = self.variants.len();
        let missing = || Unconnected(format!("there is no variant {number} among {count}"));
        self.variants.get_mut(number).ok_or_else(missing)
    }

    fn propose(&mut self, proposal: &Proposal) -> Result<(), Unconnected> {
        let number = self.variants.len();
        if proposal.variant != number || proposal.parent.is_some_and(|parent| parent >= number) {
            return Err(Unconnected(format!("variant {} does not come next", proposal.variant)));
        }
        if let Some(parent) = proposal.parent {
            let action = proposal.action.clone();
            self.attempts.push(Attempt { parent, action, came: Came::Variant(number) });
        }
        self.pay(proposal.cost);
        self.variants.push(Variant {
            proposal: proposal.clone(),
            foreseen: None,
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

    /// The best is then the last one that was accepted before, and is wanted.
    fn turn_down(&mut self, number: usize, why: &str) -> Result<(), Unconnected> {
        if number == 0 {
            let what = "the first variant is what all others are held against";
            return Err(Unconnected(what.to_owned()));
        }
        self.variant(number)?.turned_down = Some(why.to_owned());
        if self.best == Some(number) {
            self.best = self.variants[..number].iter().rposition(Variant::is_accepted);
        }
        Ok(())
    }

    /// The times of a variant: of its verdict, else of a quick look.
    #[must_use]
    pub fn times(&self, variant: usize) -> &[WorkloadTime] {
        let Some(variant) = self.variants.get(variant) else { return &[] };
        match (&variant.verdict, &variant.look) {
            (Some(Verdict::Passed { times, .. }), _) => times,
            (_, Some(look)) => look.times(),
            (_, None) => &[],
        }
    }

    /// What a variant costs, in seconds; none where it has no time on some workload.
    #[must_use]
    pub fn cost(&self, variant: usize) -> Option<f64> {
        cost(self.times(variant), &self.header.workloads)
    }

    /// How many times as fast as the first variant one is.
    #[must_use]
    pub fn speedup(&self, variant: usize) -> Option<f64> {
        Some(self.cost(0)? / self.cost(variant)?)
    }

    /// Whether its times were measured or modelled.
    #[must_use]
    pub fn basis(&self, variant: usize) -> Option<Basis> {
        self.times(variant).first().map(|time| time.basis)
    }
}

impl Variant {
    /// Whether nothing is left to be found out about it.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.decision.is_some()
    }

    /// Whether nothing is known of it because the device or the machine ended its evaluation.
    #[must_use]
    pub fn is_not_judged(&self) -> bool {
        matches!(self.decision, Some(Decision::NotJudged { .. }))
    }

    /// Whether it is to be evaluated once more: the device or the machine ended its only evaluation. What the device does not
    /// support is the same the second time.
    #[must_use]
    pub fn is_due_again(&self) -> bool {
        let reason = match (&self.verdict, &self.look) {
            (Some(Verdict::NotJudged(reason)), _) | (None, Some(Look::NotJudged(reason))) => reason,
            (Some(Verdict::Passed { .. } | Verdict::Failed(_)), _)
            | (None, Some(Look::Right { .. } | Look::Slow { .. } | Look::Failed(_)) | None) => {
                return false;
            }
        };
        self.is_not_judged()
            && self.not_judged == 1
            && self.turned_down.is_none()
            && !reason.is_not_supported()
    }

    /// Whether it was the best when it was decided about, and nobody turned it down since.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self.decision, Some(Decision::Accepted { .. })) && self.turned_down.is_none()
    }

    /// Speed-up over the first that it is predicted to be, where it was not looked at for that.
    #[must_use]
    pub fn predicted(&self) -> Option<f64> {
        let is_skipped = matches!(self.decision, Some(Decision::Skipped { .. }));
        let expected = self.foreseen.as_ref().filter(|_| is_skipped)?.expected?;
        Some(expected.speedup())
    }

    /// What limits it, as far as a verdict says.
    #[must_use]
    pub fn bottleneck(&self) -> Option<&str> {
        match &self.verdict {
            Some(Verdict::Passed { bottleneck, .. }) => bottleneck.as_deref(),
            Some(Verdict::Failed(_) | Verdict::NotJudged(_)) | None => None,
        }
    }
}
