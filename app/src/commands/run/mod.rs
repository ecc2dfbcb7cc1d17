//! `lightbench run`: evaluates a project's kernels.

pub(crate) mod record;
mod screening;
mod skipped_conditions;
mod text;
pub(super) mod times;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::device::clock_lock::LockError;
use lightbench_core::engine::{AskedBy, Conditions, Ending, Request, Work};
use lightbench_core::evaluate::{EvaluateError, PolicyUse, Run};
use lightbench_core::history::record::Origin;
use lightbench_core::measure::{EnergyUse, Protocol};
use lightbench_core::project::{BrokenFile, Kernel, KernelUnavailable, Part, Project};
use lightbench_core::report::document::problem::ReportedBrokenFile;
use lightbench_core::report::document::{RunReport, RunReports, RunsSchema};
use lightbench_core::verify::not_judged::{NotJudged, NotPassed};
use lightbench_core::verify::verdict::TimingUse;

use self::record::{HistoryMode, Recorder, RunScope};
use super::check::target;
use super::check::{sources, unknown_parameter};
use super::evaluation_setup::{self, ChosenDevice};
use super::hold_clocks::ClockHolder;
use crate::args;
use crate::outcome::{Outcome, Status, report_document};
use crate::report;
use crate::session::Session;

/// Evaluates and reports.
pub fn run(session: &Session, arguments: &args::Run) -> Outcome {
    let lacks = "no reference to verify against; `lightbench launch` runs it";
    let (project, kernel) = match target::project(&arguments.target, lacks, arguments.json) {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    let wanted = arguments.kernel.as_deref().or(kernel.as_deref());
    evaluated(session, arguments, &project, wanted, Origin::Person)
        .unwrap_or_else(|outcome| outcome)
}

/// The results of all kernels.
struct RunResults<'a> {
    project: &'a Project,
    chosen: &'a ChosenDevice,
    runs: Vec<(&'a Kernel, Run)>,
    /// Kernels that were not run because their files could not be read.
    broken: Vec<&'a BrokenFile>,
}

/// Evaluates kernels of a loaded project; `origin` stands at their runs in the history.
pub(super) fn evaluated(
    session: &Session,
    arguments: &args::Run,
    project: &Project,
    wanted: Option<&str>,
    origin: Origin,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let named = |name| match project.kernel(name) {
        Err(KernelUnavailable::Broken(broken)) => {
            Err(report::broken_kernel(&broken, project, as_json))
        }
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
        return Err(refuse(&format!("no kernel of this project has a parameter `{name}`")));
    }
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => {
            evaluation_setup::fresh_seed().map_err(|error| report::environment(&error, as_json))?
        }
    };
    let (mut desk, chosen) =
        evaluation_setup::engine_client(session, arguments.device.as_deref(), as_json)?;
    let mut asked = EvaluationInput::evaluate_all_workloads(project, &chosen, seed);
    asked.parameters = parameters;
    asked.conditions.workload.clone_from(&arguments.workload);
    asked.conditions.timing = TimingUse::Measure(protocol(&arguments.measuring));
    if arguments.no_times {
        asked.conditions.timing = TimingUse::Skip;
    }
    if arguments.screen {
        let of = screening::ScreenedKernels { kernels: &kernels, broken: &broken };
        return screening::screened(&mut desk, &asked, &chosen, of, (as_json, wanted));
    }
    let _held = locked(session, arguments.measuring.lock_clocks, &chosen)
        .map_err(|error| report::environment(&error, as_json))?;
    let compiler = desk.compiler.clone();
    let asked_for = RunScope {
        parameters: &arguments.parameters,
        workload: arguments.workload.as_deref(),
        history: if arguments.no_history { HistoryMode::Discard } else { HistoryMode::Append },
    };
    let mut recorder =
        Recorder::new(session, project, &chosen, asked_for, compiler).with_origin(origin);
    let mut runs = Vec::new();
    for kernel in kernels {
        let (work, conditions) = asked.for_kernel(kernel);
        let ending = desk.wait_for_ending(&kernel.name, Request::Evaluate(work, conditions));
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
        notices.extend(skipped_conditions::notices(
            protocol(&arguments.measuring).besides,
            &chosen,
            &runs,
        ));
    }
    let results = RunResults { project, chosen: &chosen, runs, broken };
    Ok(outcome(&results, &notices, OutputForm::from_flags(as_json, wanted)))
}

fn broken_kernels(project: &Project) -> impl Iterator<Item = &BrokenFile> {
    project.broken.iter().filter(|broken| broken.part == Part::Kernel)
}

/// Locks the clocks, if requested.
fn locked(
    session: &Session,
    megahertz: Option<u32>,
    chosen: &ChosenDevice,
) -> Result<Option<ClockHolder>, LockError> {
    match (megahertz, &chosen.gpu) {
        (None, _) => Ok(None),
        (Some(_), None) => Err(LockError::NoGpu(chosen.title.clone())),
        (Some(megahertz), Some(gpu)) => {
            if let Some(host) = &chosen.device.host {
                return Err(LockError::OtherHost(host.to_string()));
            }
            ClockHolder::start(session, &gpu.identity.uuid, megahertz).map(Some)
        }
    }
}

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

/// Inputs that all kernels of a command share.
pub(super) struct EvaluationInput {
    project: Arc<Project>,
    parameters: BTreeMap<String, i64>,
    pub(super) conditions: Conditions,
}

impl EvaluationInput {
    /// Evaluates all workloads with the kernels' own parameters.
    pub(super) fn evaluate_all_workloads(
        project: &Project,
        chosen: &ChosenDevice,
        seed: u64,
    ) -> Self {
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

    pub(super) fn for_kernel(&self, kernel: &Kernel) -> (Work, Conditions) {
        let own = |name: &String| kernel.launch.parameters.iter().any(|own| own.name == *name);
        let mut chosen = self.parameters.clone();
        // For a whole project, a parameter applies to the kernels that declare it.
        chosen.retain(|name, _| own(name));
        let (project, kernel) = (Arc::clone(&self.project), Arc::new(kernel.clone()));
        (Work { project, kernel, chosen, asked_by: AskedBy::Person }, self.conditions.clone())
    }
}

/// The run of a finished evaluation; one cancelled early contains only that fact.
pub(crate) fn evaluated_run(ending: Ending, seed: u64) -> Result<Run, EvaluateError> {
    match ending {
        Ending::Evaluated(run) | Ending::Cancelled { so_far: Some(run), .. } => Ok(*run),
        Ending::Cancelled { so_far: None, .. } => {
            let (candidate, verdict) = (None, Err(NotJudged::Cancelled.into()));
            Ok(Run { candidate, seed, verdict, elapsed: Duration::ZERO })
        }
        other @ (Ending::Screened(_)
        | Ending::CompiledAhead { .. }
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
        | Ending::CompiledAhead { .. }
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_)
        | Ending::Cancelled { .. }
        | Ending::Stopped => {
            EvaluateError::Environment("the engine ended a different request".to_owned())
        }
    }
}

pub(super) fn failed(error: &EvaluateError, as_json: bool) -> Outcome {
    match error {
        EvaluateError::Request(_) => report::request(error, as_json),
        EvaluateError::Environment(_) => report::environment(error, as_json),
    }
}

/// The form of the output.
#[derive(Clone, Copy)]
enum OutputForm {
    Text,
    OneDocument,
    Documents,
}

impl OutputForm {
    fn from_flags(as_json: bool, wanted: Option<&str>) -> Self {
        match (as_json, wanted) {
            (false, _) => Self::Text,
            (true, Some(_)) => Self::OneDocument,
            (true, None) => Self::Documents,
        }
    }
}

impl RunResults<'_> {
    /// The document of one kernel.
    fn report(&self, kernel: &Kernel, run: &Run) -> RunReport {
        let names = (self.project.definition.name.as_str(), kernel.name.as_str());
        RunReport::new(names, self.chosen.reported(), self.chosen.ceilings(), run)
    }

    /// The document of all kernels.
    fn reports(&self) -> RunReports {
        RunReports {
            schema: RunsSchema::V1,
            project: self.project.definition.name.clone(),
            runs: self.runs.iter().map(|(kernel, run)| self.report(kernel, run)).collect(),
            broken: self.reported_broken(),
        }
    }

    fn reported_broken(&self) -> Vec<ReportedBrokenFile> {
        self.broken.iter().copied().map(Into::into).collect()
    }
}

fn outcome(results: &RunResults<'_>, notices: &[String], form: OutputForm) -> Outcome {
    let statuses = results.runs.iter().map(|(_, run)| status(&run.verdict));
    let broken = results.broken.iter().map(|_| Status::KernelFailed);
    let status = statuses.chain(broken).max().unwrap_or(Status::Passed);
    let errors = report::notices(notices);
    let output = match (form, results.runs.first()) {
        (OutputForm::Text, _) => text::report_text(results),
        (OutputForm::OneDocument, Some((kernel, run))) => {
            report_document(&results.report(kernel, run))
        }
        (OutputForm::OneDocument | OutputForm::Documents, _) => report_document(&results.reports()),
    };
    Outcome { output, errors, status }
}

/// The exit status of a verdict; a kernel that was not judged did not fail.
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
fn quoted<'a>(report: &RunResults<'a>, kernel: &'a Kernel) -> report::Sources<'a> {
    sources(report.project, kernel)
}
