//! `lightbench run`: a project's kernels, from candidate to verdict.

mod json;
mod text;
pub(super) mod times;

use std::collections::BTreeMap;

use lightbench_core::evaluate::{Bench, EvaluateError, Evaluation, PolicyUse, Run, evaluate};
use lightbench_core::measure::Protocol;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::verify::verdict::{Failure, TimingUse};

use super::bench::{self, Chosen};
use super::check::target::{self, Target};
use super::check::{sources, unknown_parameter};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// Evaluates and reports.
pub fn run(session: &Session, arguments: &args::Run) -> Outcome {
    let found = match target::find(&arguments.target) {
        Ok(found) => found,
        Err(error) => return report::project_error(&error, &arguments.target, arguments.json),
    };
    let Target::Project { project, kernel } = found else {
        let message = "a file that belongs to no project has no definition of what is right; `lightbench launch` runs it";
        return report::request(&message, arguments.json);
    };
    let wanted = arguments.kernel.as_deref().or(kernel.as_deref());
    evaluated(session, arguments, &project, wanted).unwrap_or_else(|outcome| outcome)
}

/// What came of each kernel.
struct Report<'a> {
    project: &'a Project,
    chosen: &'a Chosen,
    runs: Vec<(&'a Kernel, Run)>,
}

fn evaluated(
    session: &Session,
    arguments: &args::Run,
    project: &Project,
    wanted: Option<&str>,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let kernels: Vec<&Kernel> = match wanted {
        Some(name) => vec![project.kernel(name).map_err(|error| refuse(&error))?],
        None => project.kernels.iter().collect(),
    };
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
    let (mut bench, chosen) = bench::open(session, arguments.device.as_deref(), as_json)?;
    let mut runs = Vec::new();
    for kernel in kernels {
        let run =
            one(session, &mut bench, &chosen, project, kernel, (arguments, &parameters, seed))
                .map_err(|error| failed(&error, as_json))?;
        let stopped = matches!(run.verdict, Err(Failure::Cancelled));
        runs.push((kernel, run));
        if stopped {
            break;
        }
    }
    let notices: Vec<String> =
        bench.compiler.take_notices().iter().map(ToString::to_string).collect();
    let report = Report { project, chosen: &chosen, runs };
    let form = match (as_json, wanted) {
        (false, _) => Form::Text,
        (true, Some(_)) => Form::OneDocument,
        (true, None) => Form::Documents,
    };
    Ok(outcome(&report, &notices, form))
}

fn one(
    session: &Session,
    bench: &mut Bench,
    chosen: &Chosen,
    project: &Project,
    kernel: &Kernel,
    (arguments, parameters, seed): (&args::Run, &BTreeMap<String, i64>, u64),
) -> Result<Run, EvaluateError> {
    let own = |name: &String| kernel.launch.parameters.iter().any(|own| own.name == *name);
    let mut parameters = parameters.clone();
    // Over a whole project, a parameter is for the kernels that have it.
    parameters.retain(|name, _| own(name));
    let evaluation = Evaluation {
        project,
        kernel,
        chosen: &parameters,
        device: &chosen.device,
        sheet: chosen.sheet,
        workload: arguments.workload.as_deref(),
        seed,
        policy: PolicyUse::Refuse,
        timing: match arguments.no_times {
            true => TimingUse::Skip,
            false => TimingUse::Measure(Protocol::FINAL),
        },
    };
    evaluate(&evaluation, bench, &session.cancellation, &mut |_step, _workload| {})
}

fn failed(error: &EvaluateError, as_json: bool) -> Outcome {
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

fn outcome(report: &Report<'_>, notices: &[String], form: Form) -> Outcome {
    let statuses = report.runs.iter().map(|(_, run)| status(run));
    let status = statuses.max().unwrap_or(Status::Passed);
    let errors = report::notices(notices);
    let output = match (form, report.runs.first()) {
        (Form::Text, _) => text::of(report),
        (Form::OneDocument, Some((kernel, run))) => document(&json::run(report, kernel, run)),
        (Form::OneDocument | Form::Documents, _) => document(&json::runs(report)),
    };
    Outcome { output, errors, status }
}

fn status(run: &Run) -> Status {
    match &run.verdict {
        Ok(_) => Status::Passed,
        Err(Failure::Cancelled) => Status::Interrupted,
        Err(Failure::DeviceLost { .. }) => Status::KernelFailed,
        Err(
            Failure::Compile(_)
            | Failure::Refused(_)
            | Failure::Fault(_)
            | Failure::Wrong(_)
            | Failure::TimedOut { .. },
        ) => Status::KernelFailed,
    }
}

/// The texts that evidence quotes.
fn quoted<'a>(report: &Report<'a>, kernel: &'a Kernel) -> report::Sources<'a> {
    sources(report.project, kernel)
}
