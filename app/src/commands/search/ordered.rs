//! A search from what was typed, or from a journal: its order, its journal, and what runs it.

use std::sync::Arc;

use lightbench_core::device::DeviceName;
use lightbench_core::engine::{Conditions, Engine};
use lightbench_core::evaluate::PolicyUse;
use lightbench_core::measure::Protocol;
use lightbench_core::project::Project;
use lightbench_core::search::{Budget, Forecasting, Header, Journal, Order, PROGRAM, Story};
use lightbench_core::suggest::model::{PREFIX, Roles};
use lightbench_core::verify::verdict::TimingUse;

use super::terms::{Place, Terms};
use super::{Wanted, bench, place};
use crate::args;
use crate::commands::bench::Chosen;
use crate::commands::check::target;
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;

/// Candidates that are looked at together on a GPU: opening it costs as much as some looks.
const ON_GPU: usize = 32;

/// A search that is about to begin.
pub(super) struct Ordered {
    pub(super) order: Order,
    pub(super) begun: Begun,
    /// What may keep it from repeating an earlier search to the bit.
    pub(super) repeats: Option<String>,
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
    let lacks = "no definition of what is right";
    let (project, _) = target::project(&arguments.project, lacks, as_json)?;
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
    let like = match &arguments.like {
        None => None,
        Some(name) => {
            let path = place::any_journal(&folder, name).map_err(|error| refuse(&error))?;
            Some(Journal::read(&path, &machine).map_err(|error| refuse(&error))?.story)
        }
    };
    let earlier = before.as_ref().map(|(_, read)| &read.story).or(like.as_ref());
    let device = earlier.map(|story| story.header.device.clone());
    let device = arguments.device.clone().or(device);
    let (engine, compiler, chosen) = bench::engine(session, device.as_deref(), as_json)?;
    let project: Arc<Project> = Arc::from(project);
    let terms = terms(arguments, wanted);
    let place = Place { session, project: &project, chosen: &chosen };
    let (order, begun) = match before {
        Some((journal, read)) => {
            let order = terms.again(place, &read.story).map_err(|error| refuse(&error))?;
            (order, Begun::Before(journal, Box::new(read.story)))
        }
        None => {
            let order = match (&like, arguments.seed) {
                (Some(story), _) => terms.like(place, story),
                (None, Some(seed)) => terms.begun(place, seed),
                (None, None) => {
                    terms.begun(place, bench::fresh_seed().map_err(|error| broken(&error))?)
                }
            };
            let order = order.map_err(|error| refuse(&error))?;
            let path = folder.join(format!("{}.jsonl", order.id));
            let journal = Journal::create(&path, machine).map_err(|error| broken(&error))?;
            (order, Begun::New(journal))
        }
    };
    let conditions = conditions(&chosen, order.workload.clone(), order.seed);
    let repeats = like.as_ref().and_then(|story| unlike(&story.header));
    Ok(Ordered { order, begun, repeats, conditions, engine, compiler, chosen })
}

/// Why a search may differ from the one that it repeats, beside the clocks of a GPU.
fn unlike(header: &Header) -> Option<String> {
    let models = header.operators.iter().any(|operator| operator.starts_with(PREFIX));
    if header.program != PROGRAM {
        return Some(format!(
            "search {} is of lightbench {}, and this is {PROGRAM}: rules and models of the device may differ",
            header.id, header.program
        ));
    }
    models.then(|| format!("search {} asked models, which may answer otherwise now", header.id))
}

/// How candidates of a search are evaluated.
pub(crate) fn conditions(chosen: &Chosen, workload: Option<String>, seed: u64) -> Conditions {
    Conditions {
        device: chosen.device.clone(),
        sheet: chosen.sheet,
        calibration: chosen.calibration().cloned(),
        workload,
        seed,
        policy: PolicyUse::Refuse,
        timing: TimingUse::Measure(Protocol::FINAL),
    }
}

/// What was typed.
fn terms(arguments: &args::Searching, wanted: &Wanted<'_>) -> Terms {
    let (kernel, workload) = (arguments.kernel.clone(), arguments.workload.clone());
    let budget =
        Budget { evaluations: arguments.budget, seconds: arguments.time, ..Budget::default() };
    match wanted {
        Wanted::Sweep(sweep) => Terms {
            kernel,
            workload,
            strategy: None,
            tuner: sweep.tuner,
            operators: Vec::new(),
            roles: Roles::default(),
            contrast: 0,
            forecast: Forecasting::Off,
            budget,
        },
        Wanted::Search(search) => Terms {
            kernel,
            workload,
            strategy: Some(search.strategy),
            tuner: search.tuner,
            operators: search.operators.clone(),
            roles: search.roles,
            contrast: usize::from(search.contrast),
            forecast: if search.forecast { Forecasting::On } else { Forecasting::Off },
            budget: Budget { tokens: search.tokens, money: search.money, ..budget },
        },
    }
}
