//! Prepares a search from arguments or a journal: its order, its journal and its engine.

use std::sync::Arc;

use lightbench_core::device::LocalDevice;
use lightbench_core::engine::{Conditions, Engine};
use lightbench_core::evaluate::PolicyUse;
use lightbench_core::measure::Protocol;
use lightbench_core::models::RecordedModel;
use lightbench_core::project::Project;
use lightbench_core::search::model::RECORDED;
use lightbench_core::search::operators::MODEL_PREFIX;
use lightbench_core::search::roles::Roles;
use lightbench_core::search::{Budget, Header, Journal, PROGRAM, SearchSetup, SearchState};
use lightbench_core::verify::verdict::TimingUse;

use super::options::{SearchContext, SearchOptions};
use super::{SearchArguments, evaluation_setup, journals, replayed_model};
use crate::args;
use crate::commands::check::target;
use crate::commands::evaluation_setup::ChosenDevice;
use crate::commands::kernel_name::may_be_called;
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;

/// Candidates screened together on a GPU: opening the device costs as much as several screenings.
const ON_GPU: usize = 32;

/// A prepared search.
pub(super) struct PreparedSearch {
    pub(super) order: SearchSetup,
    pub(super) begun: JournalState,
    /// What may prevent an exact repetition of an earlier search.
    pub(super) repeats: Option<String>,
    pub(super) conditions: Conditions,
    pub(super) engine: Engine,
    pub(super) compiler: String,
    pub(super) chosen: ChosenDevice,
}

/// The journal of a new or resumed search.
pub(super) enum JournalState {
    New(Journal),
    Resumed(Journal, Box<SearchState>),
}

/// Number of candidates screened together: on a virtual device a screening takes seconds, and an interactive request
/// may arrive in between.
pub(crate) fn batch(chosen: &ChosenDevice) -> usize {
    match chosen.device.local {
        LocalDevice::Cuda(_) => ON_GPU,
        LocalDevice::Virtual(_) => 1,
    }
}

pub(super) fn prepare(
    session: &Session,
    arguments: &args::Searching,
    wanted: &SearchArguments<'_>,
) -> Result<PreparedSearch, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let broken = |error: &dyn std::fmt::Display| report::environment(&error, as_json);
    let lacks = "no reference to verify against";
    let (project, _) = target::project(&arguments.project, lacks, as_json)?;
    if let Some(name) = &arguments.workload {
        project.workload(name).map_err(|error| refuse(&error))?;
    }
    if let Some(name) = &arguments.write {
        may_be_called(&project, name).map_err(|error| refuse(&error))?;
    }
    let folder = journals::folder(session, &project.root).map_err(|error| broken(&error))?;
    let machine = journals::machine(session).map_err(|error| broken(&error))?;
    let before = match &arguments.resume {
        None => None,
        Some(name) => {
            let path = journals::journal(&folder, name).map_err(|error| refuse(&error))?;
            Some(Journal::resume(&path, machine.clone()).map_err(|error| refuse(&error))?)
        }
    };
    let like = match &arguments.like {
        None => None,
        Some(name) => {
            let path = journals::any_journal(&folder, name).map_err(|error| refuse(&error))?;
            Some(Journal::read(&path, &machine).map_err(|error| refuse(&error))?.story)
        }
    };
    let earlier = before.as_ref().map(|(_, read)| &read.story).or(like.as_ref());
    let device = earlier.map(|story| story.header.device.clone());
    let device = arguments.device.clone().or(device);
    let (engine, compiler, chosen) = evaluation_setup::engine(session, device.as_deref(), as_json)?;
    let project: Arc<Project> = Arc::from(project);
    let recorded = match wanted {
        SearchArguments::Search(search) => search.replay_model.as_deref(),
        SearchArguments::Sweep(_) => None,
    };
    let recorded = recorded.map(|path| replayed_model::read(session, path)).transpose();
    let terms = options(arguments, wanted, recorded.map_err(|error| refuse(&error))?);
    let place = SearchContext { session, project: &project, chosen: &chosen };
    let (order, begun) = match before {
        Some((journal, read)) => {
            let order = terms.resume(place, &read.story).map_err(|error| refuse(&error))?;
            (order, JournalState::Resumed(journal, Box::new(read.story)))
        }
        None => {
            let order = match (&like, arguments.seed) {
                (Some(story), _) => terms.repeat(place, story),
                (None, Some(seed)) => terms.new_search(place, seed),
                (None, None) => terms.new_search(
                    place,
                    evaluation_setup::fresh_seed().map_err(|error| broken(&error))?,
                ),
            };
            let order = order.map_err(|error| refuse(&error))?;
            let path = folder.join(format!("{}.jsonl", order.id));
            let journal = Journal::create(&path, machine).map_err(|error| broken(&error))?;
            (order, JournalState::New(journal))
        }
    };
    let conditions = conditions(&chosen, order.workload.clone(), order.seed);
    let repeats = like.as_ref().and_then(|story| repeat_caveat(&story.header));
    Ok(PreparedSearch { order, begun, repeats, conditions, engine, compiler, chosen })
}

/// Why a search may differ from the one it repeats, apart from GPU clocks.
fn repeat_caveat(header: &Header) -> Option<String> {
    let models = header.operators.iter().any(|operator| operator.starts_with(MODEL_PREFIX));
    if header.program != PROGRAM {
        return Some(format!(
            "search {} ran with lightbench {}, this is {PROGRAM}: rules and device models may differ",
            header.id, header.program
        ));
    }
    models.then(|| {
        format!("search {} asked language models, which may answer differently now", header.id)
    })
}

/// The evaluation conditions of a search.
pub(crate) fn conditions(chosen: &ChosenDevice, workload: Option<String>, seed: u64) -> Conditions {
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

/// The search options from the command line.
fn options(
    arguments: &args::Searching,
    wanted: &SearchArguments<'_>,
    recorded: Option<RecordedModel>,
) -> SearchOptions {
    let (kernel, workload) = (arguments.kernel.clone(), arguments.workload.clone());
    let budget =
        Budget { evaluations: arguments.budget, seconds: arguments.time, ..Budget::default() };
    match wanted {
        SearchArguments::Sweep(sweep) => SearchOptions {
            kernel,
            workload,
            strategy: None,
            tuner: sweep.tuner,
            operators: Vec::new(),
            recorded: None,
            roles: Roles::default(),
            contrast: 0,
            budget,
        },
        SearchArguments::Search(search) => {
            let mut operators = search.operators.clone();
            let name = format!("{MODEL_PREFIX}{RECORDED}");
            if recorded.is_some() && !operators.contains(&name) {
                operators.push(name);
            }
            SearchOptions {
                kernel,
                workload,
                strategy: Some(search.strategy),
                tuner: search.tuner,
                operators,
                recorded,
                roles: search.roles,
                contrast: usize::from(search.contrast),
                budget: Budget { tokens: search.tokens, money: search.money, ..budget },
            }
        }
    }
}
