//! `lightbench profile`: hardware counters of one launch, measured by Nsight Compute.

mod json;
mod request;
mod stalled_lines;
#[cfg(test)]
mod tests;
mod text;
mod viewer;

use std::path::Path;

use lightbench_core::evaluate::profiled::{Profilable, profilable};
use lightbench_core::evaluate::{EvaluateError, Evaluation, PolicyUse, Run};
use lightbench_core::nsight::{
    Hardware, ProfileError, ProfiledLaunchRequest, Profiler, hardware, write_report,
};
use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};
use lightbench_core::toolchain::{NsightProgram, ProgramError, nsight};
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::TimingUse;

use self::request::ProfileRequest;
use self::viewer::ViewerState;
use super::evaluation_setup::{self, ChosenDevice};
use super::{progress, run};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// The measurement conditions that Nsight Compute sets.
const CONDITIONS: &str = "Nsight Compute, clocks not locked, caches flushed before each pass";

/// Verifies, profiles and reports.
pub fn run(session: &Session, arguments: &args::Profile) -> Outcome {
    profiled(session, arguments).unwrap_or_else(|outcome| outcome)
}

/// The inputs of the report.
struct ProfileReport<'a> {
    request: &'a ProfileRequest,
    chosen: &'a ChosenDevice,
    run: &'a Run,
    hardware: &'a Hardware,
    /// The report file, and whether its viewer was started.
    written: Option<(&'a Path, ViewerState)>,
}

fn profiled(session: &Session, arguments: &args::Profile) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let environment = |error: &dyn std::fmt::Display| report::environment(&error, as_json);
    let request = ProfileRequest::from_arguments(arguments)?;
    let ncu = nsight(&session.host, NsightProgram::CommandLine);
    let profiler = Profiler {
        ncu: ncu.map_err(|error| environment(&error))?,
        command: session.launch_once_command().map_err(|error| environment(&error))?,
        path: session.host.path.clone(),
    };
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => evaluation_setup::fresh_seed().map_err(|error| environment(&error))?,
    };
    let (chosen, looked) = prepare(session, arguments, &request, seed)?;
    let Profilable { run, order: Some(order) } = looked else {
        return Err(wrong(&request, &looked.run, as_json));
    };
    progress::show("Nsight Compute measures …");
    let measured = hardware(&profiler, &order, &request.set, &session.cancellation);
    let written = match (measured, &arguments.report) {
        (Ok(hardware), None) => Ok((hardware, None)),
        (Ok(hardware), Some(file)) => reported(session, &profiler, &order, (file, arguments.open))
            .map(|viewer| (hardware, Some((file.as_path(), viewer)))),
        (Err(error), _) => Err(error),
    };
    progress::clear();
    let (hardware, written) = written.map_err(|error| failed(&error, as_json))?;
    let (request, run, hardware) = (&request, &run, &hardware);
    let told = ProfileReport { request, chosen: &chosen, run, hardware, written };
    let output =
        if as_json { document(&json::report_json(&told)) } else { text::report_text(&told) };
    let notices: Vec<String> =
        chosen.notices().into_iter().chain(text::notices(hardware)).collect();
    Ok(Outcome { output, errors: report::notices(&notices), status: Status::Passed })
}

/// Opens the device and verifies the kernel on it.
fn prepare(
    session: &Session,
    arguments: &args::Profile,
    request: &ProfileRequest,
    seed: u64,
) -> Result<(ChosenDevice, Profilable), Outcome> {
    let why = "only a GPU has hardware counters; `lightbench launch --counters` shows those of the virtual GPU";
    let (mut bench, chosen) =
        evaluation_setup::open_gpu(session, &arguments.device, why, arguments.json)?;
    let evaluation = Evaluation {
        project: &request.project,
        kernel: request.kernel(),
        chosen: &request.parameters,
        device: &chosen.device,
        sheet: chosen.sheet,
        calibration: chosen.calibration().map(AsRef::as_ref),
        workload: None,
        seed,
        policy: PolicyUse::Refuse,
        timing: TimingUse::Skip,
    };
    let mut watcher = |step, workload: Option<&str>| {
        let place = workload.map(|name| format!(", {name}")).unwrap_or_default();
        progress::show(&format!("{}: {step}{place} …", request.kernel().name));
    };
    let (workload, cancellation) = (request.workload(), &session.cancellation);
    let looked = profilable(&evaluation, workload, &mut bench, cancellation, &mut watcher);
    progress::clear();
    let looked = looked.map_err(|error| match error {
        EvaluateError::Request(_) => report::request(&error, arguments.json),
        EvaluateError::Environment(_) => report::environment(&error, arguments.json),
    })?;
    Ok((chosen, looked))
}

/// Writes the report, and opens the viewer if requested.
fn reported(
    session: &Session,
    profiler: &Profiler,
    order: &ProfiledLaunchRequest,
    (file, open): (&Path, bool),
) -> Result<ViewerState, ProfileError> {
    progress::show("Nsight Compute measures all metrics …");
    write_report(profiler, order, file, &session.cancellation)?;
    Ok(if open { ViewerState::show(&session.host, file) } else { ViewerState::NotAsked })
}

/// The outcome of a kernel that failed; it is not profiled.
fn wrong(request: &ProfileRequest, run: &Run, as_json: bool) -> Outcome {
    if run.verdict.as_ref().is_err_and(NotPassed::is_cancelled) {
        return Outcome::failed(Status::Interrupted, "cancelled; nothing was profiled");
    }
    let kernel = &request.kernel().name;
    let sentence = sentence::verdict(kernel, &run.verdict);
    let (root, seed) = (request.project.root.display(), run.seed);
    let message = format!(
        "{sentence}; it was not profiled. `lightbench run {root} --kernel {kernel} --seed {seed}` shows the evidence"
    );
    let details = ErrorDetails::new(ErrorKind::Kernel, message);
    report::failed(run::status(&run.verdict), details, as_json)
}

fn failed(error: &ProfileError, as_json: bool) -> Outcome {
    match error {
        ProfileError::Program(ProgramError::Cancelled) => {
            Outcome::failed(Status::Interrupted, error)
        }
        ProfileError::Exists(_) => report::request(error, as_json),
        ProfileError::Complaint(_)
        | ProfileError::Table { .. }
        | ProfileError::Unfinished { .. }
        | ProfileError::Program(ProgramError::Start { .. } | ProgramError::TimedOut { .. })
        | ProfileError::Order(_)
        | ProfileError::NoReport { .. }
        | ProfileError::Lines { .. }
        | ProfileError::Storage { .. } => report::environment(error, as_json),
    }
}
