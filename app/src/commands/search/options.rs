//! Options of a search, from the command line or the window, and the search order they result in.

use std::sync::Arc;

use lightbench_core::compile::facts::device_facts;
use lightbench_core::history::definition_hash::definition_hash;
use lightbench_core::models::RecordedModel;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::budget::Spent;
use lightbench_core::search::roles::Roles;
use lightbench_core::search::{Budget, Header, SearchSetup, SearchState};
use lightbench_core::strategies::{StrategyKind, TunerKind};
use lightbench_core::suggest::knowledge::Knowledge;

use super::journals::knowledge;
use super::proposers::{Proposers, ledger};
use crate::commands::evaluation_setup::ChosenDevice;
use crate::session::Session;

/// Options of a search.
pub(crate) struct SearchOptions {
    /// The kernel to start with; default: the project's baseline, else its first kernel.
    pub(crate) kernel: Option<String>,
    /// The only workload that counts, if restricted to one.
    pub(crate) workload: Option<String>,
    /// How the next parent is selected; `None` tunes parameters only.
    pub(crate) strategy: Option<StrategyKind>,
    /// How parameters are tuned.
    pub(crate) tuner: TunerKind,
    /// The operators: `rules`, `tuner`, `model:NAME`.
    pub(crate) operators: Vec<String>,
    /// Recorded replies for the operator `model:recorded`.
    pub(crate) recorded: Option<RecordedModel>,
    /// The roles of models.
    pub(crate) roles: Roles,
    /// Maximum number of other variants in a prompt.
    pub(crate) contrast: usize,
    pub(crate) budget: Budget,
}

/// The session, project and device of a search.
#[derive(Clone, Copy)]
pub(crate) struct SearchContext<'a> {
    pub(crate) session: &'a Session,
    pub(crate) project: &'a Arc<Project>,
    pub(crate) chosen: &'a ChosenDevice,
}

/// The state that an order starts from, besides its options.
struct StartState {
    id: String,
    kernel: Arc<Kernel>,
    seed: u64,
    knowledge: Knowledge,
    /// The budget spent before a restart.
    spent: Spent,
}

/// The name of a new search. Names sort by time in milliseconds, because scripts start several per second.
fn fresh_id(kernel: &str, seed: u64) -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f");
    let id = format!("{now}-{kernel}-{:04x}", seed & 0xffff);
    id.chars().filter(|each| each.is_ascii_alphanumeric() || *each == '-').collect()
}

/// The kernel of an earlier search, if project and device are unchanged; `changed` completes the error message.
fn earlier(
    place: SearchContext<'_>,
    story: &SearchState,
    changed: &str,
) -> Result<Arc<Kernel>, String> {
    let header = &story.header;
    if header.definition != definition_hash(place.project) {
        return Err(changed.to_owned());
    }
    if place.chosen.device.to_string() != header.device {
        return Err(format!("this search ran on {}", header.device));
    }
    let first = story.variants.first().ok_or("the search has no variant yet")?;
    let kernel = place.project.draft(&header.kernel, first.proposal.source.clone());
    let none = "the kernel it started with is no longer in the project";
    kernel.map(Arc::new).map_err(|_problems| none.to_owned())
}

impl SearchOptions {
    /// The order of a new search.
    pub(crate) fn new_search(
        &self,
        place: SearchContext<'_>,
        seed: u64,
    ) -> Result<SearchSetup, String> {
        let kernel = self.kernel(place.project)?;
        let id = fresh_id(&kernel.name, seed);
        let knowledge = knowledge(place.session);
        let begun = StartState { id, kernel, seed, knowledge, spent: Spent::default() };
        self.order(place, begun)
    }

    /// The order of a repetition of an earlier search: its kernel, seed and knowledge, and its options where these have
    /// none.
    pub(crate) fn repeat(
        &self,
        place: SearchContext<'_>,
        story: &SearchState,
    ) -> Result<SearchSetup, String> {
        let header = &story.header;
        let what = "the project has changed since that search, so it cannot be repeated: search without `--like`";
        let kernel = earlier(place, story, what)?;
        let known = header.knowledge.clone();
        let knowledge = known.ok_or(
            "the journal of that search has no initial knowledge, so it cannot be repeated: search with its `--seed`",
        )?;
        let (id, seed) = (fresh_id(&header.kernel, header.seed), header.seed);
        let begun = StartState { id, kernel, seed, knowledge, spent: Spent::default() };
        self.with_defaults_from(header)?.order(place, begun)
    }

    /// The order of a resumed search, with a larger budget if these options have one.
    pub(crate) fn resume(
        &self,
        place: SearchContext<'_>,
        story: &SearchState,
    ) -> Result<SearchSetup, String> {
        let header = &story.header;
        let what =
            "the project has changed since this search started, so its results are no longer valid";
        let kernel = earlier(place, story, what)?;
        // Knowledge learnt since must not change what this search tries next.
        let known = header.knowledge.clone();
        let knowledge = known.unwrap_or_else(|| knowledge(place.session));
        let (id, seed, spent) = (header.id.clone(), header.seed, story.spent);
        self.with_defaults_from(header)?
            .order(place, StartState { id, kernel, seed, knowledge, spent })
    }

    /// These options, with missing ones from an earlier search.
    fn with_defaults_from(&self, header: &Header) -> Result<Self, String> {
        let strategy = match header.strategy.as_str() {
            "sweep" => None,
            name => Some(name.parse::<StrategyKind>().map_err(|error| error.to_string())?),
        };
        let workload = match header.workloads.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        Ok(Self {
            kernel: Some(header.kernel.clone()),
            workload,
            strategy,
            tuner: header.tuner.parse::<TunerKind>().map_err(|error| error.to_string())?,
            operators: header.operators.clone(),
            recorded: self.recorded.clone(),
            roles: header.roles,
            contrast: header.contrast,
            budget: Budget {
                evaluations: self.budget.evaluations.or(header.budget.evaluations),
                seconds: self.budget.seconds.or(header.budget.seconds),
                tokens: self.budget.tokens.or(header.budget.tokens),
                money: self.budget.money.or(header.budget.money),
            },
        })
    }

    fn order(
        &self,
        SearchContext { session, project, chosen }: SearchContext<'_>,
        StartState { id, kernel, seed, knowledge, spent }: StartState,
    ) -> Result<SearchSetup, String> {
        let proposers = Proposers {
            session,
            sheet: chosen.sheet,
            roles: self.roles,
            contrast: self.contrast,
            seed,
            recorded: self.recorded.as_ref(),
            ledger: ledger(&self.budget, &spent),
        };
        let (tunes, operators) = proposers.operators(&self.operators)?;
        Ok(SearchSetup {
            id,
            project: Arc::clone(project),
            kernel,
            workload: self.workload.clone(),
            device_names: (chosen.device.to_string(), chosen.title.clone()),
            device: device_facts(chosen.sheet),
            strategy: self.strategy,
            tuner: self.tuner,
            tunes,
            operators,
            roles: self.roles,
            contrast: self.contrast,
            budget: self.budget,
            seed,
            knowledge,
        })
    }

    fn kernel(&self, project: &Project) -> Result<Arc<Kernel>, String> {
        let named = match &self.kernel {
            Some(name) => Some(project.kernel(name).map_err(|error| error.to_string())?),
            None => project.kernels.iter().find(|kernel| kernel.name == "naive"),
        };
        let kernel = named.or_else(|| project.kernels.first());
        kernel.cloned().map(Arc::new).ok_or_else(|| "the project has no kernel".to_owned())
    }
}
