//! What is searched, from what was typed or from a journal.

use std::sync::Arc;

use lightbench_core::compile::facts::device_facts;
use lightbench_core::device::DeviceName;
use lightbench_core::engine::{Conditions, Engine};
use lightbench_core::evaluate::PolicyUse;
use lightbench_core::history::record::definition_hash;
use lightbench_core::measure::Protocol;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::budget::Spent;
use lightbench_core::search::operators::Operator;
use lightbench_core::search::{Budget, Header, Journal, Order, Story};
use lightbench_core::strategies::{StrategyKind, TunerKind};
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::suggest::model::Roles;
use lightbench_core::verify::verdict::TimingUse;

use super::proposers::{Proposers, ledger};
use super::{Wanted, bench, place};
use crate::args;
use crate::commands::bench::Chosen;
use crate::commands::check::target::{self, Target};
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;

/// Candidates that are looked at together on a GPU: opening it costs as much as some looks.
const ON_GPU: usize = 32;

/// A search that is about to begin.
pub(super) struct Ordered {
    pub(super) order: Order,
    pub(super) begun: Begun,
    pub(super) conditions: Conditions,
    pub(super) engine: Engine,
    pub(super) compiler: String,
    pub(super) chosen: Chosen,
}

/// Whether it begins or goes on.
pub(super) enum Begun {
    New(Journal),
    Before(Journal, Box<Story>),
}

/// How many looks are taken together: on a virtual device each takes seconds, and somebody may want it in between.
pub(crate) fn batch(chosen: &Chosen) -> usize {
    match chosen.device {
        DeviceName::Cuda(_) => ON_GPU,
        DeviceName::Virtual(_) => 1,
    }
}

pub(super) fn ordered(
    session: &Session,
    arguments: &args::Searching,
    wanted: &Wanted<'_>,
) -> Result<Ordered, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let broken = |error: &dyn std::fmt::Display| report::environment(&error, as_json);
    let found = target::find(&arguments.project)
        .map_err(|error| report::project_error(&error, &arguments.project, as_json))?;
    let Target::Project { project, .. } = found else {
        return Err(refuse(
            &"a file that belongs to no project has no definition of what is right",
        ));
    };
    if let Some(name) = &arguments.workload {
        project.workload(name).map_err(|error| refuse(&error))?;
    }
    let folder = place::folder(session, &project.root).map_err(|error| broken(&error))?;
    let machine = place::machine(session).map_err(|error| broken(&error))?;
    let before = match &arguments.resume {
        None => None,
        Some(name) => {
            let path = place::journal(&folder, name).map_err(|error| refuse(&error))?;
            Some(Journal::resume(&path, machine.clone()).map_err(|error| refuse(&error))?)
        }
    };
    let device = before.as_ref().map(|(_, read)| read.story.header.device.clone());
    let device = arguments.device.clone().or(device);
    let (engine, compiler, chosen) = bench::engine(session, device.as_deref(), as_json)?;
    let project: Arc<Project> = Arc::from(project);
    let typed = Typed { session, project: &project, chosen: &chosen, arguments, wanted };
    let (order, begun) = match before {
        Some((journal, read)) => {
            let order = typed.again(&read.story).map_err(|error| refuse(&error))?;
            (order, Begun::Before(journal, Box::new(read.story)))
        }
        None => {
            let seed = match arguments.seed {
                Some(seed) => seed,
                None => bench::fresh_seed().map_err(|error| broken(&error))?,
            };
            let order = typed.begun(seed).map_err(|error| refuse(&error))?;
            let path = folder.join(format!("{}.jsonl", order.id));
            let journal = Journal::create(&path, machine).map_err(|error| broken(&error))?;
            (order, Begun::New(journal))
        }
    };
    let conditions = conditions(&chosen, &order);
    Ok(Ordered { order, begun, conditions, engine, compiler, chosen })
}

/// How candidates of a search are evaluated.
pub(crate) fn conditions(chosen: &Chosen, order: &Order) -> Conditions {
    Conditions {
        device: chosen.device.clone(),
        sheet: chosen.sheet,
        calibration: chosen.calibration().cloned(),
        workload: order.workload.clone(),
        seed: order.seed,
        policy: PolicyUse::Refuse,
        timing: TimingUse::Measure(Protocol::FINAL),
    }
}

/// A search as somebody asked for it, on the command line or in the window.
pub(crate) struct Typed<'a> {
    pub(crate) session: &'a Session,
    pub(crate) project: &'a Arc<Project>,
    pub(crate) chosen: &'a Chosen,
    pub(crate) arguments: &'a args::Searching,
    pub(crate) wanted: &'a Wanted<'a>,
}

impl Typed<'_> {
    pub(crate) fn begun(&self, seed: u64) -> Result<Order, String> {
        let arguments = self.arguments;
        let kernel = self.kernel()?;
        let mut budget =
            Budget { evaluations: arguments.budget, seconds: arguments.time, ..Budget::default() };
        let (strategy, tuner, names) = match self.wanted {
            Wanted::Sweep(sweep) => (None, sweep.tuner, Vec::new()),
            Wanted::Search(search) => {
                (budget.tokens, budget.money) = (search.tokens, search.money);
                (Some(search.strategy), search.tuner, search.operators.clone())
            }
        };
        let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
        let id = format!("{now}-{}-{:04x}", kernel.name, seed & 0xffff);
        let id = id.chars().filter(|each| each.is_ascii_alphanumeric() || *each == '-').collect();
        let (tunes, operators) =
            self.proposers(seed, &budget, &Spent::default()).operators(&names)?;
        let workload = arguments.workload.clone();
        Ok(self.order((id, kernel, workload), (strategy, tuner, tunes, operators), (budget, seed)))
    }

    /// As it was begun, with a larger budget where one is typed.
    pub(crate) fn again(&self, story: &Story) -> Result<Order, String> {
        let header: &Header = &story.header;
        if header.definition != definition_hash(self.project) {
            let what = "the project has changed since this search began, so that its results no longer count";
            return Err(what.to_owned());
        }
        if self.chosen.device.to_string() != header.device {
            return Err(format!("this search ran on {}", header.device));
        }
        let first = story.variants.first().ok_or("the search has no variant yet")?;
        let kernel = self
            .project
            .draft(&header.kernel, first.proposal.source.clone())
            .map_err(|_problems| "the kernel that it began with is none any more".to_owned())?;
        let strategy = match header.strategy.as_str() {
            "sweep" => None,
            name => Some(name.parse::<StrategyKind>().map_err(|error| error.to_string())?),
        };
        let tuner = header.tuner.parse::<TunerKind>().map_err(|error| error.to_string())?;
        let (tokens, money) = match self.wanted {
            Wanted::Sweep(_) => (None, None),
            Wanted::Search(search) => (search.tokens, search.money),
        };
        let budget = Budget {
            evaluations: self.arguments.budget.or(header.budget.evaluations),
            seconds: self.arguments.time.or(header.budget.seconds),
            tokens: tokens.or(header.budget.tokens),
            money: money.or(header.budget.money),
        };
        let proposers = self.proposers(header.seed, &budget, &story.spent);
        let (tunes, operators) = proposers.operators(&header.operators)?;
        let workload = match header.workloads.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        Ok(self.order(
            (header.id.clone(), Arc::new(kernel), workload),
            (strategy, tuner, tunes, operators),
            (budget, header.seed),
        ))
    }

    /// What models need, with what is left of the budget.
    fn proposers(&self, seed: u64, budget: &Budget, spent: &Spent) -> Proposers<'_> {
        let (roles, contrast) = match self.wanted {
            Wanted::Sweep(_) => (Roles::default(), 0),
            Wanted::Search(search) => (search.roles, usize::from(search.contrast)),
        };
        let (session, sheet) = (self.session, self.chosen.sheet);
        Proposers { session, sheet, roles, contrast, seed, ledger: ledger(budget, spent) }
    }

    fn order(
        &self,
        (id, kernel, workload): (String, Arc<Kernel>, Option<String>),
        (strategy, tuner, tunes, operators): (
            Option<StrategyKind>,
            TunerKind,
            bool,
            Vec<Box<dyn Operator>>,
        ),
        (budget, seed): (Budget, u64),
    ) -> Order {
        Order {
            id,
            project: Arc::clone(self.project),
            kernel,
            workload,
            device_names: (self.chosen.device.to_string(), self.chosen.title.clone()),
            device: device_facts(self.chosen.sheet),
            strategy,
            tuner,
            tunes,
            operators,
            budget,
            seed,
            knowledge: Knowledge::default(),
        }
    }

    /// The kernel that is named, else the project's baseline, else its first.
    fn kernel(&self) -> Result<Arc<Kernel>, String> {
        let project = self.project;
        let named = match &self.arguments.kernel {
            Some(name) => Some(project.kernel(name).map_err(|error| error.to_string())?),
            None => project.kernels.iter().find(|kernel| kernel.name == "naive"),
        };
        let kernel = named.or_else(|| project.kernels.first());
        kernel.cloned().map(Arc::new).ok_or_else(|| "the project has no kernel".to_owned())
    }
}
