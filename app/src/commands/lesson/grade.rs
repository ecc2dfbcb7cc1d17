//! `lightbench lesson --grade`: runs the kernels that students submit, and reports the goals that each of them reaches.

use std::path::Path;

use lightbench_core::display_text::visible;
use lightbench_core::engine::Request;
use lightbench_core::lesson::Lesson;
use lightbench_core::lesson::grade::{grade, last_step, submitted};
use lightbench_core::project::{Kernel, Project};
use lightbench_core::report::document::grades::{
    GradedGoal, GradesReport, GradesSchema, ReportedGrade,
};
use lightbench_core::report::document::verdict_word;

use super::submissions::{Submission, submissions};
use crate::args;
use crate::commands::engine_client::EngineClient;
use crate::commands::evaluation_setup;
use crate::commands::run::{EvaluationInput, evaluated_run, failed};
use crate::outcome::{Outcome, Status, report_document};
use crate::report;
use crate::session::Session;

pub(super) fn graded(
    session: &Session,
    arguments: &args::Lesson,
    (project, lesson): (&Project, &Lesson),
    folder: &Path,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let begun = project.kernel(&lesson.kernel).map_err(|error| report::request(&error, as_json))?;
    let found = submissions(folder, begun)
        .map_err(|error| report::request(&format!("{}: {error}", folder.display()), as_json))?;
    if found.is_empty() {
        let file = begun.file.display();
        let message =
            format!("{} has no submissions: files or folders like {file}", folder.display());
        return Err(report::request(&message, as_json));
    }
    let (mut desk, chosen) =
        evaluation_setup::engine_client(session, Some(&arguments.device), as_json)?;
    let input = EvaluationInput::evaluate_all_workloads(project, &chosen, arguments.seed);
    let mut grades = Vec::new();
    for submission in found {
        grades.push(one(&mut desk, (project, lesson, begun), &input, submission, as_json)?);
    }
    let grades = GradesReport {
        schema: GradesSchema::V1,
        title: lesson.title.clone(),
        device_title: chosen.title.clone(),
        seed: arguments.seed,
        last_step: last_step(lesson),
        submissions: grades,
    };
    let output = if as_json { report_document(&grades) } else { to_text(&grades) };
    let mut notices = chosen.notices();
    notices.extend(desk.notices());
    Ok(Outcome { output, errors: report::notices(&notices), status: Status::Passed })
}

/// Runs one submission.
fn one(
    desk: &mut EngineClient<'_>,
    (project, lesson, begun): (&Project, &Lesson, &Kernel),
    input: &EvaluationInput,
    Submission { name, text }: Submission,
    as_json: bool,
) -> Result<ReportedGrade, Outcome> {
    let kernel = match text.and_then(|text| submitted(project, begun, text)) {
        Ok(kernel) => kernel,
        Err(reason) => return Ok(ReportedGrade::not_run(name, reason)),
    };
    let (work, conditions) = input.for_kernel(&kernel);
    let seed = conditions.seed;
    let ending = desk.wait_for_ending(&name, Request::Evaluate(work, conditions));
    let run = evaluated_run(ending, seed).map_err(|error| failed(&error, as_json))?;
    let verdict = verdict_word(&run.verdict).to_owned();
    Ok(ReportedGrade::from_steps(name, verdict, &grade(lesson, &run)))
}

fn to_text(grades: &GradesReport) -> String {
    let mut text = format!("{} · {}\n\n", grades.title, grades.device_title);
    let last = grades.last_step;
    for ReportedGrade { name, verdict, not_run, reached_step, goals } in &grades.submissions {
        let reached = reached_step.unwrap_or(0);
        let mark = if reached == last { "✓" } else { "✗" };
        let name = visible(name);
        let result = match (verdict, not_run, reached_step) {
            (None, reason, _) => {
                format!("not run: {}", visible(reason.as_deref().unwrap_or_default()))
            }
            (Some(verdict), _, None) => format!("{}, no step reached", verdict.replace('_', " ")),
            (Some(verdict), _, Some(step)) => {
                format!("{}, step {step} of {last} reached", verdict.replace('_', " "))
            }
        };
        text.push_str(&format!("{mark} {name}: {result}\n"));
        for GradedGoal { step, goal, state } in goals {
            if state.met || *step <= reached {
                continue;
            }
            let now = match &state.source {
                Some(source) => format!("{} ({source})", state.now),
                None => "not known".to_owned(),
            };
            text.push_str(&format!("    step {step}: {goal}: {now}\n"));
        }
    }
    let seed = grades.seed;
    text + &format!("\nseed {seed}: `--seed {seed}` reproduces the inputs\n")
}
