//! The loop of a search: choose an action, propose a variant, screen it, evaluate it, decide, and record each step.

mod archive_update;
mod decide;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::{Budget, Cost, Spent};
use super::by_shape;
use super::candidate_runner::{CandidateRunner, Interrupted};
use super::entry::{
    Basis, Decision, End, Entry, Header, Proposal, SCHEMA, ScreeningResult, Verdict,
};
use super::journal::Journal;
use super::journal_writer::{EntryListener, JournalWriter};
use super::operators::{Draft, NoProposal, Operator, ParentVariant, RULES, TUNE, WaitControl};
use super::roles::Roles;
use super::state::{SearchState, Variant};
use crate::evaluate::{Run, Screening};
use crate::history::definition_hash::definition_hash;
use crate::history::record::Origin;
use crate::project::{DeviceFacts, Kernel, Project, Purpose, Workload};
use crate::strategies::archive::Attempt;
use crate::strategies::{Archive, Choice, Strategy, StrategyKind, TunerKind};
use crate::suggest::descriptor::Descriptor;
use crate::suggest::knowledge::Knowledge;

/// Gain over its parent from which a best variant with new parameters is tuned before anything else.
const TUNED_AT_ONCE: f64 = 1.2;

/// Longest call that screens several candidates, in seconds, and how often each is executed in it.
const LONGEST_CALL: f64 = 5.0;
const EXECUTIONS: f64 = 5.0;

/// Version of this program, on which the proposals of a search depend.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Kernel, device, operators and limits of a search that is to begin or to continue.
pub struct SearchSetup {
    /// Identifier of the search.
    pub id: String,
    /// The project.
    pub project: Arc<Project>,
    /// The kernel to begin with.
    pub kernel: Arc<Kernel>,
    /// Minimise the time of this workload only; none: all timed workloads.
    pub workload: Option<String>,
    /// Name of the device on the command line, and its product name.
    pub device_names: (String, String),
    /// Values of the device that expressions of the project can use.
    pub device: DeviceFacts,
    /// Chooses which variant is changed next; none: only the parameters of the kernel are tuned.
    pub strategy: Option<StrategyKind>,
    /// Chooses configurations of parameters.
    pub tuner: TunerKind,
    /// Whether a search with a strategy tunes parameters too.
    pub tunes: bool,
    /// Operators besides the tuner.
    pub operators: Vec<Box<dyn Operator>>,
    /// Roles of models.
    pub roles: Roles,
    /// Most other variants in a prompt.
    pub contrast: usize,
    /// Limits of evaluations, time, tokens and money.
    pub budget: Budget,
    /// Seed of all random choices.
    pub seed: u64,
    /// Gains of techniques that were observed before.
    pub knowledge: Knowledge,
}

impl SearchSetup {
    /// The workloads whose times the search minimises.
    #[must_use]
    pub fn workloads(&self) -> Vec<&Workload> {
        let counts = |workload: &&Workload| {
            workload.purpose == Purpose::Measure
                && self.workload.as_ref().is_none_or(|only| *only == workload.name)
        };
        self.project.workloads.iter().filter(counts).collect()
    }

    /// Sets what ends and reports the waits of all operators.
    pub fn attend(&mut self, attention: &WaitControl) {
        for operator in &mut self.operators {
            operator.attend(attention);
        }
    }

    pub(super) fn is_sweep(&self) -> bool {
        self.strategy.is_none()
    }

    fn header(&self) -> Header {
        let mut operators: Vec<String> =
            self.operators.iter().map(|operator| operator.name().to_owned()).collect();
        if self.tunes || self.is_sweep() {
            operators.insert(0, "tuner".to_owned());
        }
        Header {
            schema: SCHEMA.to_owned(),
            id: self.id.clone(),
            began_at: jiff::Timestamp::now(),
            project: self.project.definition.name.clone(),
            definition: definition_hash(&self.project),
            kernel: self.kernel.name.clone(),
            device: self.device_names.0.clone(),
            device_title: self.device_names.1.clone(),
            workloads: self.workloads().iter().map(|workload| workload.name.clone()).collect(),
            strategy: self.strategy.map_or_else(|| "sweep".to_owned(), |kind| kind.to_string()),
            tuner: self.tuner.to_string(),
            operators,
            roles: self.roles,
            contrast: self.contrast,
            budget: self.budget,
            seed: self.seed,
            program: PROGRAM.to_owned(),
            knowledge: Some(self.knowledge.clone()),
        }
    }
}

/// Receives each completed evaluation, to store it in the history.
pub type RunListener<'a> = Box<dyn FnMut(FinishedRun) + 'a>;

/// A completed evaluation and the origin of its candidate.
#[derive(Debug)]
pub struct FinishedRun {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The evaluation.
    pub run: Run,
    /// The author of the kernel.
    pub origin: Origin,
    /// Hash of the candidate that was changed, if it was evaluated.
    pub parent: Option<String>,
}

/// Variants that are evaluated together, each with the attempt that made it.
type Batch = Vec<(usize, Option<Attempt>)>;

/// A running search.
pub struct Explorer<'a, L> {
    pub(super) order: SearchSetup,
    pub(super) laboratory: L,
    pub(super) scribe: JournalWriter<'a>,
    keeper: RunListener<'a>,
    /// The kernel of each variant; none if its text is not a kernel.
    kernels: Vec<Option<Arc<Kernel>>>,
    /// The candidate hash of each variant that was evaluated with every check.
    candidates: Vec<Option<String>>,
    archive: Archive,
    /// Gains of techniques that this search observed.
    learnt: Knowledge,
    /// Place of each variant in the archive.
    places: Vec<Option<usize>>,
    /// Variant at each place of the archive.
    variants: Vec<usize>,
    /// Variants that were not judged, each with the attempt that made it.
    not_judged: BTreeMap<usize, Option<Attempt>>,
}

/// Receivers of the entries and evaluations of a search.
pub struct SearchListeners<'a> {
    /// Receives every entry.
    pub listener: EntryListener<'a>,
    /// Receives every completed evaluation.
    pub keeper: RunListener<'a>,
}

impl<'a, L: CandidateRunner> Explorer<'a, L> {
    /// Begins a search.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn begin(
        order: SearchSetup,
        laboratory: L,
        journal: Option<Journal>,
        audience: SearchListeners<'a>,
    ) -> Result<Self, Interrupted> {
        let header = order.header();
        let mut explorer =
            Self::with(order, laboratory, SearchState::new(header.clone()), journal, audience);
        explorer.scribe.record(&Entry::Began(Box::new(header)))?;
        let first = Proposal::first(&explorer.order.kernel, "the search begins here");
        explorer.scribe.record(&Entry::Proposed(Box::new(first)))?;
        Ok(explorer)
    }

    /// Continues a search from the state of its journal.
    #[must_use]
    pub fn resume(
        order: SearchSetup,
        laboratory: L,
        story: SearchState,
        journal: Option<Journal>,
        audience: SearchListeners<'a>,
    ) -> Self {
        Self::with(order, laboratory, story, journal, audience)
    }

    fn with(
        order: SearchSetup,
        laboratory: L,
        story: SearchState,
        journal: Option<Journal>,
        SearchListeners { listener, keeper }: SearchListeners<'a>,
    ) -> Self {
        Self {
            order,
            laboratory,
            scribe: JournalWriter::new(story, journal, listener),
            keeper,
            kernels: Vec::new(),
            candidates: Vec::new(),
            archive: Archive::new(),
            learnt: Knowledge::default(),
            places: Vec::new(),
            variants: Vec::new(),
            not_judged: BTreeMap::new(),
        }
    }

    /// Runs the search to its end; returns its state and the gains of techniques that it observed.
    pub fn run(mut self) -> (SearchState, Knowledge) {
        let ended = self.steps();
        // Variants that the user turned down during the last step are recorded, however the search ended.
        let why = match self.hear().and(ended) {
            Ok(why) => why,
            Err(Interrupted::Stopped) => End::Stopped,
            Err(Interrupted::Impossible(why)) => End::Impossible(why),
        };
        let ended = Entry::Ended { why: why.clone() };
        if self.scribe.record(&ended).is_err() {
            // Without a journal entry listeners are not called; the returned state has the reason.
            self.scribe.story.ended = Some(why);
        }
        (self.scribe.story, self.learnt)
    }

    /// The archive of all variants with a decision.
    pub(super) fn into_archive(mut self) -> Archive {
        // An error means that a variant has no decision; it stays outside the archive.
        let _unsettled = self.catch_up();
        self.archive
    }

    fn steps(&mut self) -> Result<End, Interrupted> {
        if self.scribe.story.variants.is_empty() {
            return Ok(End::Impossible("the journal ends before its first variant".to_owned()));
        }
        self.catch_up()?;
        if self.scribe.story.variants[0].is_due_again() {
            self.settle(&[(0, None)])?;
        }
        let first = &self.scribe.story.variants[0];
        if let Some(Decision::NotJudged { why }) = &first.decision {
            return Ok(End::Impossible(format!("the kernel to begin with was not judged: {why}")));
        }
        if !matches!(first.verdict, Some(Verdict::Passed { .. })) {
            let why =
                "the kernel to begin with does not pass every check; correct it before a search";
            return Ok(End::Impossible(why.to_owned()));
        }
        let Some(kind) = self.order.strategy else { return self.sweep() };
        let mut strategy = kind.start(self.order.seed);
        loop {
            self.laboratory.rest()?;
            self.hear()?;
            let spent = self.spent();
            if let Some(part) = self.order.budget.used_up(&spent) {
                return Ok(End::Budget(part.to_string()));
            }
            // At least one action lies between the two evaluations, so that a transient fault can pass.
            if self.evaluate_again(1)? {
                continue;
            }
            match self.batch(strategy.as_mut())? {
                Some(batch) => self.settle(&batch)?,
                None if self.evaluate_again(0)? => {}
                None => return Ok(End::NothingLeft),
            }
        }
    }

    /// Proposes variants to evaluate together; none if no action is left. Rules cost nothing, so that several of their variants
    /// share a screening; other operators propose one variant at a time.
    fn batch(&mut self, strategy: &mut dyn Strategy) -> Result<Option<Batch>, Interrupted> {
        let mut most = self.laboratory.batch().min(self.evaluations_left());
        let (mut batch, mut chose) = (Batch::new(), false);
        while batch.len() < most {
            let due = if batch.is_empty() { self.due_tuning() } else { None };
            let Some(choice) = due.or_else(|| strategy.choose(&self.archive)) else { break };
            let action = &self.archive.nodes()[choice.node].actions[choice.action];
            let shares = action.operator == RULES;
            if !shares && !batch.is_empty() {
                break;
            }
            chose = true;
            most = most.min(self.at_once(self.variants[choice.node]));
            let attempt = self.archive.mark_tried(choice.origin());
            self.carry_out(&choice, attempt, &mut batch)?;
            if !shares {
                break;
            }
        }
        Ok(chose.then_some(batch))
    }

    /// The tuning of the best variant, if it has parameters that its parent has not and is much faster: their values are
    /// guesses, and other changes should not start from guesses.
    fn due_tuning(&self) -> Option<Choice> {
        let story = &self.scribe.story;
        let best = story.best?;
        let proposal = &story.variants[best].proposal;
        // A choice by shape has a new parameter, and parts that were tuned.
        let parent = proposal.parent.filter(|_| proposal.technique.is_some())?;
        let [own, others] = [best, parent].map(|variant| self.kernels[variant].as_ref());
        let others = &others?.launch.parameters;
        let is_new = own?
            .launch
            .parameters
            .iter()
            .any(|parameter| !others.iter().any(|other| other.name == parameter.name));
        let gain = story.speedup(best)? / story.speedup(parent)?;
        let node = self.places.get(best).copied().flatten()?;
        let mut open = self.archive.nodes()[node].open_actions();
        let (action, _) = open.find(|(_, action)| action.key == TUNE)?;
        let reason = format!("{gain:.2} times as fast as its parent, with new parameters");
        (is_new && gain >= TUNED_AT_ONCE).then_some(Choice { node, action, reason })
    }

    /// Number of candidates made of a variant that one call screens: the results of a long call come too late for the choice
    /// of the next variant. By the measured times of the variant, so that a resumed search has the same calls.
    pub(super) fn at_once(&self, variant: usize) -> usize {
        let times = self.scribe.story.times(variant).iter();
        let measured = times.filter(|time| time.basis == Basis::Measured);
        let each: f64 = measured.map(|time| time.seconds.0 * EXECUTIONS).sum();
        ((LONGEST_CALL / each) as usize).clamp(1, self.laboratory.batch().max(1))
    }

    /// Tunes parameters only, then evaluates the best configurations.
    fn sweep(&mut self) -> Result<End, Interrupted> {
        let is_done = self.scribe.story.attempts.iter().any(|attempt| attempt.action == TUNE);
        if !is_done {
            let choice =
                Choice { node: 0, action: 0, reason: "a sweep tunes parameters".to_owned() };
            let mut batch = Batch::new();
            self.tuned(0, &choice, None, &mut batch)?;
            self.settle(&batch)?;
        }
        while self.evaluate_again(0)? {}
        let spent = self.spent();
        Ok(match self.order.budget.used_up(&spent) {
            Some(part) => End::Budget(part.to_string()),
            None => End::NothingLeft,
        })
    }

    /// Carries out the action that a strategy chose; adds its variants to the batch.
    fn carry_out(
        &mut self,
        choice: &Choice,
        attempt: Attempt,
        batch: &mut Batch,
    ) -> Result<(), Interrupted> {
        let parent = self.variants[choice.node];
        let action = self.archive.nodes()[choice.node].actions[choice.action].clone();
        if action.key == TUNE {
            return self.tuned(parent, choice, Some(attempt), batch);
        }
        let Some(kernel) = self.kernels[parent].clone() else { return Ok(()) };
        let (bottleneck, advised) = self.held_back(parent);
        let index =
            self.order.operators.iter().position(|operator| operator.name() == action.operator);
        let Some(index) = index else { return Ok(()) };
        let subject = ParentVariant {
            project: &self.order.project,
            kernel: &kernel,
            bottleneck: bottleneck.as_deref(),
            advised: &advised,
            knowledge: &self.order.knowledge,
            story: &self.scribe.story,
            variant: parent,
        };
        let mut interrupted = None;
        let (project, story) = (&self.order.project, &self.scribe.story);
        let laboratory = &mut self.laboratory;
        let mut check = |text: &str| {
            let draft = checked(project, &kernel.name, story, text)?;
            match laboratory.compile(&Arc::new(draft)) {
                Ok(compiled) => compiled.map_err(|failure| failure.sentence),
                Err(why) => {
                    interrupted = Some(why);
                    Ok(String::new())
                }
            }
        };
        let proposed = self.order.operators[index].propose(&subject, &action, &mut check);
        if let Some(why) = interrupted {
            return Err(why);
        }
        match proposed {
            Ok(draft) => {
                let how = (action.key.as_str(), choice.reason.as_str());
                self.propose(parent, how, draft, (Some(attempt), batch))
            }
            Err(NoProposal { why, cost, talk }) => {
                // Repeatable actions are closed too: an operator that proposes nothing would be called without end.
                self.archive.use_up(attempt.origin);
                let action = action.key;
                self.scribe.record(&Entry::Nothing { parent, action, why, cost, talk })
            }
        }
    }

    /// Tunes a variant and proposes its best configurations.
    fn tuned(
        &mut self,
        parent: usize,
        choice: &Choice,
        attempt: Option<Attempt>,
        batch: &mut Batch,
    ) -> Result<(), Interrupted> {
        let Some(kernel) = self.kernels[parent].clone() else { return Ok(()) };
        let (mut drafts, why) = match self.tune(parent, &kernel)? {
            Err(why) => (Vec::new(), why),
            Ok(found) => (found.drafts(&kernel), found.nothing_faster()),
        };
        if !self.order.is_sweep() {
            drafts.truncate(1);
            let (project, story) = (&self.order.project, &self.scribe.story);
            let joined = by_shape::of_configurations(project, &kernel, story, parent);
            drafts.extend(joined.map(|(source, what)| Draft::of_tuner(source, what)));
            drafts.truncate(self.evaluations_left());
        }
        let before = batch.len();
        for draft in drafts {
            self.propose(parent, (TUNE, &choice.reason), draft, (attempt, &mut *batch))?;
        }
        if batch.len() == before {
            let (action, cost) = (TUNE.to_owned(), Cost::default());
            self.scribe.record(&Entry::Nothing { parent, action, why, cost, talk: None })?;
        }
        Ok(())
    }

    /// Records the variants that the user turned down since the last call, and removes their actions.
    fn hear(&mut self) -> Result<(), Interrupted> {
        for (variant, why) in self.laboratory.turned_down() {
            // An entry that contradicts the state would make the journal unreadable.
            if variant == 0 || variant >= self.scribe.story.variants.len() {
                continue;
            }
            self.scribe.record(&Entry::TurnedDown { variant, why })?;
            self.close(variant);
        }
        Ok(())
    }

    /// Makes a draft a variant, unless a variant with the same text exists.
    fn propose(
        &mut self,
        parent: usize,
        (action, why): (&str, &str),
        draft: Draft,
        (attempt, batch): (Option<Attempt>, &mut Batch),
    ) -> Result<(), Interrupted> {
        let same = |variant: &Variant| variant.proposal.source == draft.source;
        if let Some(known) = self.scribe.story.variants.iter().position(same) {
            if let Some(attempt) = attempt {
                self.archive.use_up(attempt.origin);
            }
            let why = format!("its text is that of variant {known}");
            let (action, cost, talk) = (action.to_owned(), draft.cost, draft.talk.map(Box::new));
            return self.scribe.record(&Entry::Nothing { parent, action, why, cost, talk });
        }
        let variant = self.scribe.story.variants.len();
        let proposal = Proposal {
            variant,
            parent: Some(parent),
            origin: draft.origin,
            action: action.to_owned(),
            what: draft.what,
            why: why.to_owned(),
            technique: draft.technique,
            source: draft.source,
            talk: draft.talk,
            cost: draft.cost,
        };
        self.scribe.record(&Entry::Proposed(Box::new(proposal)))?;
        batch.push((variant, attempt));
        Ok(())
    }

    fn spent(&mut self) -> Spent {
        self.scribe.update_elapsed();
        self.scribe.story.spent
    }

    pub(super) fn may_go_on(&mut self) -> bool {
        let spent = self.spent();
        self.order.budget.used_up(&spent).is_none()
    }

    pub(super) fn evaluations_left(&mut self) -> usize {
        let spent = self.spent();
        self.order.budget.evaluations_left(&spent)
    }

    fn decided(&mut self, variant: usize, decision: Decision) -> Result<(), Interrupted> {
        self.scribe.record(&Entry::Decided { variant, decision })
    }

    fn looked(&mut self, variant: usize, screening: &Screening) -> Result<(), Interrupted> {
        let look = ScreeningResult::from_verdict(&screening.verdict);
        let screened = screening.verdict.as_ref().ok();
        let descriptor = screened.map(|screened| Descriptor::from_code_mix(&screened.code));
        self.scribe.record(&Entry::Looked { variant, look, descriptor })
    }
}

/// A text as a kernel of the project; else what is wrong with it, in a sentence for its author.
///
/// # Errors
/// The text is that of a variant, or no kernel of the project.
pub fn checked(
    project: &Project,
    name: &str,
    story: &SearchState,
    text: &str,
) -> Result<Kernel, String> {
    let same = |variant: &Variant| variant.proposal.source.trim() == text.trim();
    if let Some(known) = story.variants.iter().position(same) {
        return Err(format!("This is the text of variant {known}, which is known already."));
    }
    project.draft(name, text.to_owned()).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        format!("It is not a kernel of this project: {}", problems.join("; "))
    })
}
