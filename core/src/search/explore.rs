//! The loop of a search: choose, propose, look, judge, decide; and write down each of them.

mod decide;
mod foresee;
mod grow;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::{Budget, Cost, Spent};
use super::entry::{Decision, End, Entry, Header, Look, Proposal, SCHEMA, Verdict};
use super::forecast::Forecasting;
use super::journal::Journal;
use super::laboratory::{Interrupted, Laboratory};
use super::operators::{Attention, Draft, Nothing, Operator, RULES, Subjected, TUNE};
use super::roles::Roles;
use super::scribe::{Listener, Scribe};
use super::story::{Story, Variant};
use crate::evaluate::{Run, Screening};
use crate::history::record::{Origin, definition_hash};
use crate::project::{DeviceFacts, Kernel, Project, Purpose, Workload};
use crate::strategies::archive::Attempt;
use crate::strategies::{Archive, Choice, Strategy, StrategyKind, TunerKind};
use crate::suggest::descriptor::Descriptor;
use crate::suggest::knowledge::Knowledge;

/// The version of this program, which decides what a search proposes.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What is searched, and how.
pub struct Order {
    /// The name of the search.
    pub id: String,
    /// The project.
    pub project: Arc<Project>,
    /// The kernel to begin with.
    pub kernel: Arc<Kernel>,
    /// Only this workload counts, where one is named.
    pub workload: Option<String>,
    /// The device's name, and what people call it.
    pub device_names: (String, String),
    /// What expressions may know of the device.
    pub device: DeviceFacts,
    /// Which candidate is changed next; none: only the parameters of the kernel are tuned.
    pub strategy: Option<StrategyKind>,
    /// What chooses parameters.
    pub tuner: TunerKind,
    /// Whether parameters are tuned in the course of a search.
    pub tunes: bool,
    /// What proposes candidates besides.
    pub operators: Vec<Box<dyn Operator>>,
    /// Who does what where models propose.
    pub roles: Roles,
    /// Other variants that models are shown, at most.
    pub contrast: usize,
    /// Whether it forecasts.
    pub forecast: Forecasting,
    /// The limits.
    pub budget: Budget,
    /// What everything random comes from.
    pub seed: u64,
    /// What is known of techniques.
    pub knowledge: Knowledge,
}

impl Order {
    /// The workloads whose times count.
    #[must_use]
    pub fn workloads(&self) -> Vec<&Workload> {
        let counts = |workload: &&Workload| {
            workload.purpose == Purpose::Measure
                && self.workload.as_ref().is_none_or(|only| *only == workload.name)
        };
        self.project.workloads.iter().filter(counts).collect()
    }

    /// Has all operators hear what ends their waits, and who hears of them.
    pub fn attend(&mut self, attention: &Attention) {
        for operator in &mut self.operators {
            operator.attend(attention);
        }
    }

    pub(super) fn counting(&self) -> Vec<String> {
        self.workloads().iter().map(|workload| workload.name.clone()).collect()
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
            workloads: self.counting(),
            strategy: self.strategy.map_or_else(|| "sweep".to_owned(), |kind| kind.to_string()),
            tuner: self.tuner.to_string(),
            operators,
            roles: self.roles,
            contrast: self.contrast,
            forecast: self.forecast,
            budget: self.budget,
            seed: self.seed,
            program: PROGRAM.to_owned(),
            knowledge: Some(self.knowledge.clone()),
        }
    }
}

/// Told of a kernel that passed or failed every check: keeps it among all other runs.
pub type Keeper<'a> = Box<dyn FnMut(Kept) + 'a>;

/// A run to keep, and where its candidate comes from.
#[derive(Debug)]
pub struct Kept {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// What came of it.
    pub run: Run,
    /// Who made it.
    pub origin: Origin,
    /// The candidate that it was made of, where that ran.
    pub parent: Option<String>,
}

/// Variants that are settled together, each with the attempt that made it.
type Batch = Vec<(usize, Option<Attempt>)>;

/// A search that goes on.
pub struct Explorer<'a, L> {
    pub(super) order: Order,
    pub(super) laboratory: L,
    pub(super) scribe: Scribe<'a>,
    keeper: Keeper<'a>,
    /// The kernel of each variant, where its text is one.
    kernels: Vec<Option<Arc<Kernel>>>,
    /// The candidate of each variant that ran through every check.
    candidates: Vec<Option<String>>,
    archive: Archive,
    /// What is new about techniques.
    learnt: Knowledge,
    /// The place of each variant in the archive, once it has one.
    places: Vec<Option<usize>>,
    /// The variant of each place.
    variants: Vec<usize>,
    /// Variants that were not judged, each with the attempt that made it.
    not_judged: BTreeMap<usize, Option<Attempt>>,
}

/// Hears of everything, and keeps what is worth it.
pub struct Audience<'a> {
    /// Hears every entry.
    pub listener: Listener<'a>,
    /// Keeps runs.
    pub keeper: Keeper<'a>,
}

impl<'a, L: Laboratory> Explorer<'a, L> {
    /// Begins a search.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn begin(
        order: Order,
        laboratory: L,
        journal: Option<Journal>,
        audience: Audience<'a>,
    ) -> Result<Self, Interrupted> {
        let header = order.header();
        let mut explorer =
            Self::with(order, laboratory, Story::new(header.clone()), journal, audience);
        explorer.scribe.record(&Entry::Began(Box::new(header)))?;
        let first = Proposal::first(&explorer.order.kernel, "the search begins here");
        explorer.scribe.record(&Entry::Proposed(Box::new(first)))?;
        Ok(explorer)
    }

    /// Goes on with a search that was written down.
    #[must_use]
    pub fn resume(
        order: Order,
        laboratory: L,
        story: Story,
        journal: Option<Journal>,
        audience: Audience<'a>,
    ) -> Self {
        Self::with(order, laboratory, story, journal, audience)
    }

    fn with(
        order: Order,
        laboratory: L,
        story: Story,
        journal: Option<Journal>,
        Audience { listener, keeper }: Audience<'a>,
    ) -> Self {
        Self {
            order,
            laboratory,
            scribe: Scribe::new(story, journal, listener),
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

    /// Searches until something ends it; gives the story, and what is new about techniques.
    pub fn run(mut self) -> (Story, Knowledge) {
        let ended = self.steps();
        // What a person said during the last step is written down as well, however it ended.
        let why = match self.hear().and(ended) {
            Ok(why) => why,
            Err(Interrupted::Stopped) => End::Stopped,
            Err(Interrupted::Impossible(why)) => End::Impossible(why),
        };
        let ended = Entry::Ended { why: why.clone() };
        if self.scribe.record(&ended).is_err() {
            // What cannot be written down is not told; who asked sees how it ended.
            self.scribe.story.ended = Some(why);
        }
        (self.scribe.story, self.learnt)
    }

    /// The archive of what is settled.
    pub(super) fn into_archive(mut self) -> Archive {
        // What is not settled cannot be, and is left out.
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
            let why = "the kernel to begin with does not pass, so that nothing can be better";
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
            // What ended the first evaluation of a variant has passed by then, if it passes at all.
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

    /// Variants to settle together; none where nothing is left to try. Rules cost nothing, so that several of their
    /// variants share a look; whatever else proposes does so alone.
    fn batch(&mut self, strategy: &mut dyn Strategy) -> Result<Option<Batch>, Interrupted> {
        let most = self.laboratory.batch().min(self.evaluations_left());
        let (mut batch, mut chose) = (Batch::new(), false);
        while batch.len() < most {
            let Some(choice) = strategy.choose(&self.archive) else { break };
            let action = &self.archive.nodes()[choice.node].actions[choice.action];
            let shares = action.operator == RULES;
            if !shares && !batch.is_empty() {
                break;
            }
            chose = true;
            let attempt = self.archive.mark_tried(choice.origin());
            self.carry_out(&choice, attempt, &mut batch)?;
            if !shares {
                break;
            }
        }
        Ok(chose.then_some(batch))
    }

    /// Parameters alone, then whoever was best.
    fn sweep(&mut self) -> Result<End, Interrupted> {
        let is_done = self.scribe.story.attempts.iter().any(|attempt| attempt.action == TUNE);
        if !is_done {
            let choice =
                Choice { node: 0, action: 0, reason: "it is what a sweep does".to_owned() };
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

    /// Does what a strategy chose; variants that came of it are to be settled.
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
        let subject = Subjected {
            project: &self.order.project,
            kernel: &kernel,
            bottleneck: bottleneck.as_deref(),
            advised: &advised,
            knowledge: &self.order.knowledge,
            story: &self.scribe.story,
            variant: parent,
        };
        match self.order.operators[index].propose(&subject, &action) {
            Ok(draft) => {
                let how = (action.key.as_str(), choice.reason.as_str());
                self.propose(parent, how, draft, (Some(attempt), batch))
            }
            Err(Nothing { why, cost, talk }) => {
                // Also where it could be repeated: what says nothing would be asked for ever.
                self.archive.use_up(attempt.origin);
                let action = action.key;
                self.scribe.record(&Entry::Nothing { parent, action, why, cost, talk })
            }
        }
    }

    /// Tunes a variant and proposes what is best.
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

    /// Writes down which variants a person turned down meanwhile, and goes on from none of them.
    fn hear(&mut self) -> Result<(), Interrupted> {
        for (variant, why) in self.laboratory.turned_down() {
            // What does not follow would make the journal unreadable.
            if variant == 0 || variant >= self.scribe.story.variants.len() {
                continue;
            }
            self.scribe.record(&Entry::TurnedDown { variant, why })?;
            self.close(variant);
        }
        Ok(())
    }

    /// A draft becomes a variant, unless there is one with its text already.
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
            let why = format!("it is variant {known} again");
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
        self.scribe.look_at_clock();
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
        let look = Look::of(&screening.verdict);
        let screened = screening.verdict.as_ref().ok();
        let descriptor = screened.map(|screened| Descriptor::of(&screened.code));
        self.scribe.record(&Entry::Looked { variant, look, descriptor })
    }
}
