//! What a search is to be like, on the command line or in the window, and the order that comes of it.

use std::sync::Arc;

use lightbench_core::compile::facts::device_facts;
use lightbench_core::history::record::definition_hash;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::budget::Spent;
use lightbench_core::search::{Budget, Forecasting, Header, Order, Story};
use lightbench_core::strategies::{StrategyKind, TunerKind};
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::suggest::model::Roles;

use super::place::knowledge;
use super::proposers::{Proposers, ledger};
use crate::commands::bench::Chosen;
use crate::session::Session;

/// What a search is to be like.
pub(crate) struct Terms {
    /// The kernel to begin with; where none is named, the project's baseline, else its first.
    pub(crate) kernel: Option<String>,
    /// Only this workload counts, where one is named.
    pub(crate) workload: Option<String>,
    /// Which candidate is changed next; none: only parameters are tuned.
    pub(crate) strategy: Option<StrategyKind>,
    /// What chooses parameters.
    pub(crate) tuner: TunerKind,
    /// Who proposes: `rules`, `tuner`, `model:NAME`.
    pub(crate) operators: Vec<String>,
    /// Who does what where models propose.
    pub(crate) roles: Roles,
    /// Other variants that models are shown, at most.
    pub(crate) contrast: usize,
    /// Whether it forecasts.
    pub(crate) forecast: Forecasting,
    /// The limits.
    pub(crate) budget: Budget,
}

/// What is searched, and where.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) session: &'a Session,
    pub(crate) project: &'a Arc<Project>,
    pub(crate) chosen: &'a Chosen,
}

/// What an order has beside its terms.
struct Begun {
    id: String,
    kernel: Arc<Kernel>,
    seed: u64,
    knowledge: Knowledge,
    /// What was spent before a restart.
    spent: Spent,
}

/// The name of a search that begins now. Names sort by time, to the millisecond: scripts begin several in a second.
fn fresh_id(kernel: &str, seed: u64) -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f");
    let id = format!("{now}-{kernel}-{:04x}", seed & 0xffff);
    id.chars().filter(|each| each.is_ascii_alphanumeric() || *each == '-').collect()
}

/// The kernel that an earlier search began with, where project and device are still the same; `changed` says what a
/// project that is not means.
fn earlier(place: Place<'_>, story: &Story, changed: &str) -> Result<Arc<Kernel>, String> {
    let header = &story.header;
    if header.definition != definition_hash(place.project) {
        return Err(changed.to_owned());
    }
    if place.chosen.device.to_string() != header.device {
        return Err(format!("this search ran on {}", header.device));
    }
    let first = story.variants.first().ok_or("the search has no variant yet")?;
    let kernel = place.project.draft(&header.kernel, first.proposal.source.clone());
    let none = "the kernel that it began with is not a kernel of the project any more";
    kernel.map(Arc::new).map_err(|_problems| none.to_owned())
}

impl Terms {
    /// A new search.
    pub(crate) fn begun(&self, place: Place<'_>, seed: u64) -> Result<Order, String> {
        let kernel = self.kernel(place.project)?;
        let id = fresh_id(&kernel.name, seed);
        let knowledge = knowledge(place.session);
        let begun = Begun { id, kernel, seed, knowledge, spent: Spent::default() };
        self.order(place, begun)
    }

    /// A new search that repeats an earlier one: its kernel, seed and knowledge, and its terms where these have none.
    pub(crate) fn like(&self, place: Place<'_>, story: &Story) -> Result<Order, String> {
        let header = &story.header;
        let what = "the project has changed since that search, so that nothing can repeat it: search without `--like`";
        let kernel = earlier(place, story, what)?;
        let known = header.knowledge.clone();
        let knowledge = known.ok_or(
            "the journal of that search does not say what was known when it began, so that nothing can repeat it: search with its `--seed`",
        )?;
        let (id, seed) = (fresh_id(&header.kernel, header.seed), header.seed);
        let begun = Begun { id, kernel, seed, knowledge, spent: Spent::default() };
        self.continued(header)?.order(place, begun)
    }

    /// As it was begun, with a larger budget where these terms have one.
    pub(crate) fn again(&self, place: Place<'_>, story: &Story) -> Result<Order, String> {
        let header = &story.header;
        let what =
            "the project has changed since this search began, so that its results no longer count";
        let kernel = earlier(place, story, what)?;
        // What was learnt since must not change what this search tries next.
        let known = header.knowledge.clone();
        let knowledge = known.unwrap_or_else(|| knowledge(place.session));
        let (id, seed, spent) = (header.id.clone(), header.seed, story.spent);
        self.continued(header)?.order(place, Begun { id, kernel, seed, knowledge, spent })
    }

    /// Those of a search that began before.
    fn continued(&self, header: &Header) -> Result<Self, String> {
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
            roles: header.roles,
            contrast: header.contrast,
            forecast: header.forecast,
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
        Place { session, project, chosen }: Place<'_>,
        Begun { id, kernel, seed, knowledge, spent }: Begun,
    ) -> Result<Order, String> {
        let proposers = Proposers {
            session,
            sheet: chosen.sheet,
            roles: self.roles,
            contrast: self.contrast,
            seed,
            ledger: ledger(&self.budget, &spent),
        };
        let (tunes, operators) = proposers.operators(&self.operators)?;
        Ok(Order {
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
            forecast: self.forecast,
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
