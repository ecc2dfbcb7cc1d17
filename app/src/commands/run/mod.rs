//! `lightbench run`: a project's kernels, from candidate to verdict.

mod json;
mod left_out;
pub(crate) mod record;
mod screened;
mod text;
pub(super) mod times;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::device::clock_lock::LockError;
use lightbench_core::engine::{AskedBy, Conditions, Ending, Request, Work};
use lightbench_core::evaluate::{EvaluateError, PolicyUse, Run};
use lightbench_core::measure::{EnergyUse, Protocol};
use lightbench_core::project::{BrokenFile, Kernel, NoKernel, Part, Project};
use lightbench_core::verify::not_judged::{NotJudged, NotPassed};
use lightbench_core::verify::verdict::TimingUse;

use self::record::{AskedFor, Keeping, Recorder};
use super::bench::{self, Chosen};
use super::check::target;
use super::check::{sources, unknown_parameter};
use super::hold_clocks::Keeper;
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// Evaluates and reports.
pub fn run(session: &Session, arguments: &args::Run) -> Outcome {
    let lacks = "no definition of what is right; `lightbench launch` runs it";
    let (project, kernel) = match target::project(&arguments.target, lacks, arguments.json) {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    let wanted = arguments.kernel.as_deref().or(kernel.as_deref());
    evaluated(session, arguments, &project, wanted).unwrap_or_else(|outcome| outcome)
}

/// What came of each kernel.
struct Report<'a> {
    project: &'a Project,
    chosen: &'a Chosen,
    runs: Vec<(&'a Kernel, Run)>,
    /// Kernels that were not run, because their files are not understood.
    broken: Vec<&'a BrokenFile>,
}

fn evaluated(
    session: &Session,
    arguments: &args::Run,
    project: &Project,
    wanted: Option<&str>,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let named = |name| match project.kernel(name) {
        Err(NoKernel::Broken(broken)) => Err(report::broken_kernel(&broken, project, as_json)),
        found => found.map_err(|error| refuse(&error)),
    };
    let (kernels, broken): (Vec<&Kernel>, Vec<&BrokenFile>) = match wanted {
        Some(name) => (vec![named(name)?], Vec::new()),
        None => (project.kernels.iter().collect(), broken_kernels(project).collect()),
    };
    if kernels.is_empty() && broken.is_empty() {
        let name = &project.definition.name;
        return Err(refuse(&format!("{name} has no kernel yet: its folder `kernels` is empty")));
    }
    if let Some(name) = &arguments.workload {
        project.workload(name).map_err(|error| refuse(&error))?;
    }
    let parameters: BTreeMap<String, i64> = arguments.parameters.iter().cloned().collect();
    if let Some(name) = unknown_parameter(&kernels, &parameters) {
        return Err(refuse(&format!("no kernel here has a parameter `{name}`")));
    }
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => bench::fresh_seed().map_err(|error| report::environment(&error, as_json))?,
    };
    let (mut desk, chosen) = bench::desk(session, arguments.device.as_deref(), as_json)?;
    let mut asked = Asked::everything(project, &chosen, seed);
    asked.parameters = parameters;
    asked.conditions.workload.clone_from(&arguments.workload);
    asked.conditions.timing = TimingUse::Measure(protocol(&arguments.measuring));
    if arguments.no_times {
        asked.conditions.timing = TimingUse::Skip;
    }
    if arguments.screen {
        let of = screened::Of { kernels: &kernels, broken: &broken };
        return screened::screened(&mut desk, &asked, &chosen, of, (as_json, wanted));
    }
    let _held = locked(session, arguments.measuring.lock_clocks, &chosen)
        .map_err(|error| report::environment(&error, as_json))?;
    let compiler = desk.compiler.clone();
    let asked_for = AskedFor {
        parameters: &arguments.parameters,
        workload: arguments.workload.as_deref(),
        keeping: if arguments.no_history { Keeping::Nothing } else { Keeping::Records },
    };
    let mut recorder = Recorder::new(session, project, &chosen, asked_for, compiler);
    let mut runs = Vec::new();
    for kernel in kernels {
        let (work, conditions) = asked.of(kernel);
        let ending = desk.ending(&kernel.name, Request::Evaluate(work, conditions));
        let mut run = evaluated_run(ending, seed).map_err(|error| failed(&error, as_json))?;
        recorder.append(kernel, &mut run);
        let stopped = run.verdict.as_ref().is_err_and(NotPassed::is_cancelled);
        runs.push((kernel, run));
        if stopped {
            break;
        }
    }
    let mut notices = chosen.notices();
    notices.extend(desk.notices());
    notices.extend(recorder.notices);
    if !arguments.no_times {
        notices.extend(left_out::notices(protocol(&arguments.measuring).besides, &chosen, &runs));
    }
    let report = Report { project, chosen: &chosen, runs, broken };
    Ok(outcome(&report, &notices, Form::of(as_json, wanted)))
}

fn broken_kernels(project: &Project) -> impl Iterator<Item = &BrokenFile> {
    project.broken.iter().filter(|broken| broken.part == Part::Kernel)
}

/// Locks the clocks, where somebody asks for that.
fn locked(
    session: &Session,
    megahertz: Option<u32>,
    chosen: &Chosen,
) -> Result<Option<Keeper>, LockError> {
    match (megahertz, &chosen.gpu) {
        (None, _) => Ok(None),
        (Some(_), None) => Err(LockError::NoGpu(chosen.title.clone())),
        (Some(megahertz), Some(gpu)) => {
            Keeper::start(session, &gpu.identity.uuid, megahertz).map(Some)
        }
    }
}

/// How times are taken.
fn protocol(arguments: &args::Measuring) -> Protocol {
    let usual = Protocol::FINAL;
    Protocol {
        clock: arguments.clock.map_or(usual.clock, Into::into),
        besides: arguments.mode.map_or(usual.besides, Into::into),
        locked: arguments.lock_clocks,
        energy: if arguments.energy { EnergyUse::Measure } else { usual.energy },
        ..usual
    }
}

/// What every kernel is asked about alike.
pub(super) struct Asked {
    project: Arc<Project>,
    parameters: BTreeMap<String, i64>,
    /// Of each of them.
    pub(super) conditions: Conditions,
}

impl Asked {
    /// All workloads, verified and timed, with parameters that kernels choose themselves.
    pub(super) fn everything(project: &Project, chosen: &Chosen, seed: u64) -> Self {
        let conditions = Conditions {
            device: chosen.device.clone(),
            sheet: chosen.sheet,
            calibration: chosen.calibration().cloned(),
            workload: None,
            seed,
            policy: PolicyUse::Refuse,
            timing: TimingUse::Measure(Protocol::FINAL),
        };
        Self { project: Arc::new(project.clone()), parameters: BTreeMap::new(), conditions }
    }

    pub(super) fn of(&self, kernel: &Kernel) -> (Work, Conditions) {
        let own = |name: &String| kernel.launch.parameters.iter().any(|own| own.name == *name);
        let mut chosen = self.parameters.clone();
        // Over a whole project, a parameter is for the kernels that have it.
        chosen.retain(|name, _| own(name));
        let (project, kernel) = (Arc::clone(&self.project), Arc::new(kernel.clone()));
        (Work { project, kernel, chosen, asked_by: AskedBy::Person }, self.conditions.clone())
    }
}

/// The run that an end tells of; one that was cancelled before anything was known has nothing but that.
pub(crate) fn evaluated_run(ending: Ending, seed: u64) -> Result<Run, EvaluateError> {
    match ending {
        Ending::Evaluated(run) | Ending::Cancelled { so_far: Some(run), .. } => Ok(*run),
        Ending::Cancelled { so_far: None, .. } => {
            let (candidate, verdict) = (None, Err(NotJudged::Cancelled.into()));
            Ok(Run { candidate, seed, verdict, elapsed: Duration::ZERO })
        }
        other @ (Ending::Screened(_)
        | Ending::Examined(_)
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_)
        | Ending::Impossible(_)
        | Ending::Panicked { .. }
        | Ending::Stopped) => Err(no_verdict(other)),
    }
}

/// Why there is no verdict.
pub(super) fn no_verdict(ending: Ending) -> EvaluateError {
    match ending {
        Ending::Impossible(error) => error,
        Ending::Panicked { message } => {
            EvaluateError::Environment(format!("a defect of Lightbench: {message}"))
        }
        Ending::Evaluated(_)
        | Ending::Screened(_)
        | Ending::Examined(_)
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_)
        | Ending::Cancelled { .. }
        | Ending::Stopped => {
            EvaluateError::Environment("the engine ended something else".to_owned())
        }
    }
}

pub(super) fn failed(error: &EvaluateError, as_json: bool) -> Outcome {
    match error {
        EvaluateError::Request(_) => report::request(error, as_json),
        EvaluateError::Environment(_) => report::environment(error, as_json),
    }
}

/// How the verdicts are told.
#[derive(Clone, Copy)]
enum Form {
    Text,
    OneDocument,
    Documents,
}

impl Form {
    fn of(as_json: bool, wanted: Option<&str>) -> Self {
        match (as_json, wanted) {
            (false, _) => Self::Text,
            (true, Some(_)) => Self::OneDocument,
            (true, None) => Self::Documents,
        }
    }
}

fn outcome(report: &Report<'_>, notices: &[String], form: Form) -> Outcome {
    let statuses = report.runs.iter().map(|(_, run)| status(&run.verdict));
    let broken = report.broken.iter().map(|_| Status::KernelFailed);
    let status = statuses.chain(broken).max().unwrap_or(Status::Passed);
    let errors = report::notices(notices);
    let output = match (form, report.runs.first()) {
        (Form::Text, _) => text::of(report),
        (Form::OneDocument, Some((kernel, run))) => document(&json::run(report, kernel, run)),
        (Form::OneDocument | Form::Documents, _) => document(&json::runs(report)),
    };
    Outcome { output, errors, status }
}

/// What a verdict says to a script: a kernel that was not judged is no kernel that failed.
pub(super) fn status<Tier>(verdict: &Result<Tier, NotPassed>) -> Status {
    match verdict {
        Ok(_) => Status::Passed,
        Err(NotPassed::Failed(_)) => Status::KernelFailed,
        Err(NotPassed::NotJudged(NotJudged::Cancelled)) => Status::Interrupted,
        Err(NotPassed::NotJudged(
            NotJudged::DeviceLost { .. }
            | NotJudged::CrashesWorker { .. }
            | NotJudged::NotSupported { .. },
        )) => Status::Environment,
    }
}

/// The texts that evidence quotes.
fn quoted<'a>(report: &Report<'a>, kernel: &'a Kernel) -> report::Sources<'a> {
    sources(report.project, kernel)
}
