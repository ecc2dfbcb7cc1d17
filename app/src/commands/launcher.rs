//! `lightbench launcher`: exports a kernel as one CUDA C++ file with a launch function.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use lightbench_core::compile::facts::device_facts;
use lightbench_core::device::DeviceSheet;
use lightbench_core::history::query::{Filter, Order};
use lightbench_core::history::record::{Outcome as Recorded, RunRecord, definition_hash};
use lightbench_core::history::timing::{Clock, Mode, RecordedTiming};
use lightbench_core::history::{HistoryError, Provenance, StoredRun};
use lightbench_core::launcher::LauncherRequest;
use lightbench_core::project::{Candidate, DeviceFacts, Kernel, Project, Workload};

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
    let refuse = |error: &dyn Display| report::request(&error, false);
    let lacks = "no tensors and sizes for a function's parameters";
    let (project, of_file) = target::project(&arguments.target, lacks, false)?;
    let kernel = target::kernel(&project, arguments.kernel.clone().or(of_file))
        .map_err(|message| refuse(&message))?;
    let workload = target::workload(&project, arguments.workload.as_deref())
        .map_err(|message| refuse(&message))?;
    let sheet = DeviceSheet::named(&arguments.device).map_err(|error| refuse(&error))?;
    let parameters: BTreeMap<String, i64> = arguments.parameters.iter().cloned().collect();
    if let Some(name) = unknown_parameter(&[&kernel], &parameters) {
        return Err(refuse(&format!("`{}` has no parameter `{name}`", kernel.name)));
    }
    let choice =
        Choice { project: &project, kernel: &kernel, parameters, facts: device_facts(sheet) };
    let candidate = choice.candidate(&workload)?;
    // The history stores runs under the candidate of the first workload.
    let first = project.workloads.first().unwrap_or(&workload);
    let known = choice.candidate(first)?;
    let provenance = provenance(session, &project, &known, &workload.name)
        .map_err(|error| report::environment(&error, false))?;
    let (definition, launch) = (&project.definition, &kernel.launch);
    let subject =
        LauncherRequest { definition, launch, candidate: &candidate, provenance: &provenance };
    let text = subject.launcher().map_err(|error| refuse(&error))?;
    let Some(path) = &arguments.output else { return Ok(Outcome::passed(text)) };
    let shown = path.display();
    create(path, &text)
        .map_err(|error| refuse(&format!("cannot write {shown}: {error}; nothing was changed")))?;
    let said = provenance.first().map(String::as_str).unwrap_or_default();
    Ok(Outcome::passed(format!(
        "{shown}: `{}` with a function that launches it\n{said}\n",
        kernel.name
    )))
}

/// Creates a file that does not exist yet.
fn create(path: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
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
) -> Result<Vec<String>, HistoryError> {
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
        return Ok(vec![
            "No run on this machine says that it is right: `lightbench run` verifies it."
                .to_owned(),
        ]);
    };
    let day = run.record.made_at.strftime("%Y-%m-%d");
    let device = &run.record.device.name;
    Ok(match &run.record.outcome {
        Recorded::Failed { sentence, .. } => {
            vec![format!("NOT RIGHT, says run {} of {day} on {device}: {sentence}", run.number)]
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
            std::iter::once(right).chain(times).collect()
        }
    })
}
