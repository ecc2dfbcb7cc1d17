//! `lightbench launcher`: exports a kernel as one CUDA C++ file with a launch function.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use lightbench_core::compile::facts::device_facts;
use lightbench_core::device::DeviceSheet;
use lightbench_core::history::definition_hash::definition_hash;
use lightbench_core::history::query::{Filter, Order};
use lightbench_core::history::record::{Outcome as Recorded, RunRecord};
use lightbench_core::history::timing::{Clock, Mode, RecordedTiming};
use lightbench_core::history::{HistoryError, Provenance, StoredRun};
use lightbench_core::launcher::LauncherRequest;
use lightbench_core::project::{Candidate, DeviceFacts, Kernel, Project, Workload};
use lightbench_core::whole_file;

use super::check::{target, unknown_parameter};
use super::history::existing;
use crate::args;
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;

/// Maximum number of runs searched for results of the exported text.
const LOOKED_THROUGH: usize = 200;

/// Writes the file, or prints it.
pub fn run(session: &Session, arguments: &args::Launcher) -> Outcome {
    written(session, arguments).unwrap_or_else(|refused| refused)
}

fn written(session: &Session, arguments: &args::Launcher) -> Result<Outcome, Outcome> {
    let choice = KernelChoice {
        target: &arguments.target,
        kernel: arguments.kernel.as_deref(),
        workload: arguments.workload.as_deref(),
        parameters: &arguments.parameters,
        device: &arguments.device,
    };
    let chosen = ChosenKernel::find(session, &choice)?;
    let text = chosen.request().launcher().map_err(|error| report::request(&error, false))?;
    let Some(path) = &arguments.output else { return Ok(Outcome::passed(text)) };
    create(path, &text)?;
    let (shown, name) = (path.display(), &chosen.kernel.name);
    let said = chosen.provenance.first().map(String::as_str).unwrap_or_default();
    Ok(Outcome::passed(format!("{shown}: `{name}` with a function that launches it\n{said}\n")))
}

/// The kernel to export, as the command line names it.
pub(super) struct KernelChoice<'a> {
    pub(super) target: &'a Path,
    /// By default the file's, else the first.
    pub(super) kernel: Option<&'a str>,
    pub(super) workload: Option<&'a str>,
    pub(super) parameters: &'a [(String, i64)],
    /// The device sheet.
    pub(super) device: &'a str,
}

/// A kernel with chosen parameters, and what its history says.
pub(super) struct ChosenKernel {
    project: Box<Project>,
    pub(super) kernel: Kernel,
    candidate: Candidate,
    pub(super) provenance: Vec<String>,
    pub(super) latest: LatestRun,
}

/// The latest run of a candidate on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LatestRun {
    Passed,
    Failed,
    /// There is no run.
    None,
}

impl ChosenKernel {
    /// Resolves the names of a command line.
    pub(super) fn find(session: &Session, wanted: &KernelChoice<'_>) -> Result<Self, Outcome> {
        let refuse = |error: &dyn Display| report::request(&error, false);
        let lacks = "no tensors and sizes for a function's parameters";
        let (project, of_file) = target::project(wanted.target, lacks, false)?;
        let kernel = target::kernel(&project, wanted.kernel.map(str::to_owned).or(of_file))
            .map_err(|message| refuse(&message))?;
        let workload =
            target::workload(&project, wanted.workload).map_err(|message| refuse(&message))?;
        let sheet = DeviceSheet::named(wanted.device).map_err(|error| refuse(&error))?;
        let parameters: BTreeMap<String, i64> = wanted.parameters.iter().cloned().collect();
        if let Some(name) = unknown_parameter(&[&kernel], &parameters) {
            return Err(refuse(&format!("`{}` has no parameter `{name}`", kernel.name)));
        }
        let facts = device_facts(sheet);
        let choice = Choice { project: &project, kernel: &kernel, parameters, facts };
        let candidate = choice.candidate(&workload)?;
        // The history stores runs under the candidate of the first workload.
        let first = project.workloads.first().unwrap_or(&workload);
        let known = choice.candidate(first)?;
        let (provenance, latest) = provenance(session, &project, &known, &workload.name)
            .map_err(|error| report::environment(&error, false))?;
        Ok(Self { project, kernel, candidate, provenance, latest })
    }

    pub(super) fn request(&self) -> LauncherRequest<'_> {
        LauncherRequest {
            definition: &self.project.definition,
            launch: &self.kernel.launch,
            candidate: &self.candidate,
            provenance: &self.provenance,
        }
    }
}

/// Creates a file that does not exist yet.
pub(super) fn create(path: &Path, text: &str) -> Result<(), Outcome> {
    let written = whole_file::create(path, text.as_bytes());
    written.map_err(|error| report::unwritten(path, &error, false))
}

/// A kernel with the requested parameters.
struct Choice<'a> {
    project: &'a Project,
    kernel: &'a Kernel,
    parameters: BTreeMap<String, i64>,
    facts: DeviceFacts,
}

impl Choice<'_> {
    /// The candidate for a workload.
    fn candidate(&self, workload: &Workload) -> Result<Candidate, Outcome> {
        let environment = self.project.environment(workload);
        let selection = self.kernel.launch.select(&environment, &self.parameters, &self.facts);
        let selection = selection.map_err(|error| report::request(&error, false))?;
        Candidate::new(self.project, self.kernel, selection).map_err(|refusals| {
            let all: Vec<String> = refusals.iter().map(ToString::to_string).collect();
            report::request(&all.join("\n"), false)
        })
    }
}

/// The results of the candidate's latest run on this machine.
fn provenance(
    session: &Session,
    project: &Project,
    candidate: &Candidate,
    workload: &str,
) -> Result<(Vec<String>, LatestRun), HistoryError> {
    let hash = format!("{:#}", candidate.hash);
    let definition = definition_hash(project);
    let is_it = |run: &&StoredRun| {
        let RunRecord { candidate, definition: task, .. } = &run.record;
        run.provenance != Provenance::Recorded
            && candidate.as_deref() == Some(hash.as_str())
            && task.as_deref() == Some(definition.as_str())
    };
    let filter = Filter { kernel: Some(candidate.kernel.clone()), ..Filter::default() };
    let runs = match existing(session, &project.root)? {
        Some(opened) => opened.store.newest(&filter, Order::Newest, LOOKED_THROUGH)?.runs,
        None => Vec::new(),
    };
    let Some(run) = runs.iter().find(is_it) else {
        let nothing = "No run on this machine says that it is right: `lightbench run` verifies it.";
        return Ok((vec![nothing.to_owned()], LatestRun::None));
    };
    let day = run.record.made_at.strftime("%Y-%m-%d");
    let device = &run.record.device.name;
    Ok(match &run.record.outcome {
        Recorded::Failed { sentence, .. } => {
            let wrong =
                format!("NOT RIGHT, says run {} of {day} on {device}: {sentence}", run.number);
            (vec![wrong], LatestRun::Failed)
        }
        Recorded::Passed { timings, .. } => {
            let right = format!("Right, says run {} of {day} on {device}.", run.number);
            let cold = |timing: &&RecordedTiming| {
                timing.workload.as_str() == workload && timing.mode == Mode::Cold
            };
            let times = timings.iter().filter(cold).map(|timing| {
                let by = match &timing.clock {
                    Clock::Measured { method } => format!("measured by {method}"),
                    Clock::Modelled => "modelled".to_owned(),
                    Clock::Unstated => "by an unspecified clock".to_owned(),
                };
                format!("{workload}: {} cold, {by}.", timing.median.seconds())
            });
            (std::iter::once(right).chain(times).collect(), LatestRun::Passed)
        }
    })
}
