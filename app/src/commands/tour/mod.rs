//! `lightbench tour`: presents a project from its first kernel to its best, without a window.

mod narrative;
mod roofline;
mod steps;

use std::path::{Path, PathBuf};
use std::time::Instant;

use lightbench_core::engine::Request;
use lightbench_core::evaluate::Run;
use lightbench_core::project::Project;
use lightbench_core::verify::not_judged::NotPassed;

use self::steps::TourStep;
use super::engine_client::EngineClient;
use super::evaluation_setup::{self, ChosenDevice};
use super::history::page;
use super::run::record::{HistoryMode, Recorder, RunScope};
use super::run::{EvaluationInput, evaluated_run, failed, status};
use crate::args::{self, Selection};
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;

/// The default project, which every clone contains.
const DEFAULT_PROJECT: &str = "sample-projects/rmsnorm";

/// Maximum number of runs in a report.
const REPORTED: usize = 50;

/// Evaluates the kernels and presents them.
pub fn run(session: &Session, arguments: &args::Tour) -> Outcome {
    toured(session, arguments).unwrap_or_else(|outcome| outcome)
}

/// The results of a tour.
struct Tour<'a> {
    project: &'a Project,
    chosen: &'a ChosenDevice,
    steps: Vec<(TourStep<'a>, Run)>,
}

fn toured(session: &Session, arguments: &args::Tour) -> Result<Outcome, Outcome> {
    let began = Instant::now();
    let folder = folder(arguments)?;
    let project =
        Project::load(&folder).map_err(|error| report::project_error(&error, &folder, false))?;
    if project.kernels.is_empty() {
        let shown = folder.display();
        let message = format!("{shown} has no kernels below kernels/");
        return Err(report::request(&message, false));
    }
    let (mut desk, chosen) =
        evaluation_setup::engine_client(session, arguments.device.as_deref(), false)?;
    let asked_for = RunScope { parameters: &[], workload: None, history: HistoryMode::Append };
    let compiler = desk.compiler.clone();
    let mut recorder = Recorder::new(session, &project, &chosen, asked_for, compiler);
    let steps = evaluated(&mut desk, &project, &chosen, &mut recorder)?;
    let kept = recorder.folder().map(Path::to_owned);
    let mut notices = chosen.notices();
    notices.extend(report::left_out(&project));
    notices.extend(desk.notices());
    notices.append(&mut recorder.notices);
    // The history is read from here on.
    drop(recorder);
    let tour = Tour { project: &project, chosen: &chosen, steps };
    let mut output = narrative::story_text(&tour);
    output += &roofline::roofline_text(&tour);
    match reported(session, arguments, &folder, kept.as_deref()) {
        Ok(line) => output += &format!("\n{line}"),
        Err(notice) => notices.push(notice),
    }
    output += &narrative::end(&tour, &folder, began.elapsed());
    let statuses = tour.steps.iter().map(|(_, run)| status(&run.verdict));
    let status = statuses.max().unwrap_or(Status::Passed);
    Ok(Outcome { output, errors: report::notices(&notices), status })
}

/// The project's folder: the named one, else the sample below the current folder, else the current folder.
fn folder(arguments: &args::Tour) -> Result<PathBuf, Outcome> {
    if let Some(folder) = &arguments.project {
        return Ok(folder.clone());
    }
    let found = [DEFAULT_PROJECT, "."].map(PathBuf::from).into_iter();
    let found = found.into_iter().find(|folder| folder.join("project.ron").is_file());
    found.ok_or_else(|| {
        let message = format!(
            "this folder contains neither {DEFAULT_PROJECT} nor a project; name one with `lightbench tour PROJECT`, or create one with `lightbench new DIR`"
        );
        report::request(&message, false)
    })
}

/// Evaluates the kernels in order; fewer if the user cancels.
fn evaluated<'a>(
    desk: &mut EngineClient<'_>,
    project: &'a Project,
    chosen: &ChosenDevice,
    recorder: &mut Recorder<'_>,
) -> Result<Vec<(TourStep<'a>, Run)>, Outcome> {
    let seed =
        evaluation_setup::fresh_seed().map_err(|error| report::environment(&error, false))?;
    let asked = EvaluationInput::evaluate_all_workloads(project, chosen, seed);
    let mut steps = Vec::new();
    for step in steps::ordered(&project.kernels) {
        let (work, conditions) = asked.for_kernel(step.kernel);
        let ending = desk.wait_for_ending(&step.kernel.name, Request::Evaluate(work, conditions));
        let mut run = evaluated_run(ending, seed).map_err(|error| failed(&error, false))?;
        recorder.append(step.kernel, &mut run);
        let stopped = run.verdict.as_ref().is_err_and(NotPassed::is_cancelled);
        steps.push((step, run));
        if stopped {
            break;
        }
    }
    Ok(steps)
}

/// Writes the report; returns a line with its path, or with the reason why it was not written.
fn reported(
    session: &Session,
    arguments: &args::Tour,
    project: &Path,
    kept: Option<&Path>,
) -> Result<String, String> {
    let beside = kept.map(|folder| folder.join("report.html"));
    let Some(output) = arguments.output.clone().or(beside) else {
        return Err("no run was added to the history, so there is no report".to_owned());
    };
    let selection =
        Selection { kernel: None, device: None, verdict: None, label: None, limit: REPORTED };
    let asked = args::Report {
        project: project.to_owned(),
        selection,
        html: true,
        markdown: false,
        output: Some(output),
    };
    page::line(session, &asked).map_err(|reason| format!("there is no report: {reason}"))
}
