//! `lightbench lesson`: checks whether the goals of a lesson can be reached, or which of them submitted kernels reach.

mod grade;
mod submissions;

use lightbench_core::engine::Request;
use lightbench_core::evaluate::Run;
use lightbench_core::lesson::author::{Proof, kernels, prove};
use lightbench_core::lesson::{GoalProgress, Lesson};
use lightbench_core::project::{Project, ProjectError};
use lightbench_core::report::document::lesson::LessonReport;

use crate::args;
use crate::commands::evaluation_setup;
use crate::commands::run::{EvaluationInput, evaluated_run, failed};
use crate::outcome::{Outcome, Status, report_document};
use crate::report;
use crate::session::Session;

/// Reads the lesson, evaluates its kernels, and reports.
pub fn run(session: &Session, arguments: &args::Lesson) -> Outcome {
    proven(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn proven(session: &Session, arguments: &args::Lesson) -> Result<Outcome, Outcome> {
    let (folder, as_json) = (&arguments.project, arguments.json);
    let refused = |error: ProjectError| report::project_error(&error, folder, as_json);
    let project = Project::load(folder).map_err(refused)?;
    let Some(lesson) = Lesson::read(&project) else {
        let message =
            format!("{} has no lesson.ron; `docs/lessons.md` describes it", folder.display());
        return Err(report::request(&message, as_json));
    };
    let lesson = lesson.map_err(|problems| refused(ProjectError::Problems { problems }))?;
    if let Some(submissions) = &arguments.grade {
        return grade::graded(session, arguments, (&project, &lesson), submissions);
    }
    let (mut desk, chosen) =
        evaluation_setup::engine_client(session, Some(&arguments.device), as_json)?;
    let asked = EvaluationInput::evaluate_all_workloads(&project, &chosen, arguments.seed);
    let mut runs: Vec<(&str, Run)> = Vec::new();
    for name in kernels(&lesson) {
        let kernel = project.kernel(name).map_err(|error| report::request(&error, as_json))?;
        let (work, conditions) = asked.for_kernel(kernel);
        let ending = desk.wait_for_ending(name, Request::Evaluate(work, conditions));
        let run = evaluated_run(ending, arguments.seed);
        runs.push((name, run.map_err(|error| failed(&error, as_json))?));
    }
    let run_of = |name: &str| runs.iter().find(|(known, _)| *known == name).map(|(_, run)| run);
    let proofs = prove(&lesson, run_of);
    let is_sound = proofs.iter().all(Proof::is_sound);
    let status = if is_sound { Status::Passed } else { Status::KernelFailed };
    let output = match as_json {
        true => report_document(&LessonReport::new(&lesson, chosen.title.clone(), &proofs)),
        false => to_text(&lesson, &chosen.title, &proofs),
    };
    let mut notices = chosen.notices();
    notices.extend(desk.notices());
    Ok(Outcome { output, errors: report::notices(&notices), status })
}

fn to_text(lesson: &Lesson, device: &str, proofs: &[Proof]) -> String {
    let mut text = format!("{}: {}\n", lesson.title, lesson.summary);
    text.push_str(&format!("on {device}, workload {}\n", lesson.workload));
    for (step, number) in lesson.steps.iter().zip(1..) {
        text.push_str(&format!("\nstep {number} of {}: {}\n", lesson.steps.len(), step.title));
        if let Some(prediction) = &step.prediction {
            text.push_str(&format!("  predict: {}\n", prediction.question));
        }
        let Some(proof) = proofs.iter().find(|proof| proof.step == number) else { continue };
        for (goal, start, solution) in &proof.goals {
            text.push_str(&format!("  goal: {}\n", goal.words()));
            text.push_str(&format!(
                "    {} {}: {}\n",
                tick(start),
                lesson.kernel,
                judgement_text(start)
            ));
            text.push_str(&format!(
                "    {} {}: {}\n",
                tick(solution),
                proof.solution,
                judgement_text(solution)
            ));
        }
        let verdict = match proof.is_sound() {
            true => "sound: the goals are reachable but not reached at first",
            false => "NOT SOUND: the first kernel must miss a goal and the solution must reach all",
        };
        text.push_str(&format!("  {verdict}\n"));
    }
    for run in &lesson.recorded {
        text.push_str(&format!(
            "{}, {}: {}, {}\n",
            run.kernel,
            run.workload,
            run.time,
            run.label()
        ));
    }
    text
}

fn tick(judged: &GoalProgress) -> &'static str {
    if judged.is_met() { "✓" } else { "✗" }
}

fn judgement_text(judged: &GoalProgress) -> String {
    match judged.source {
        Some(source) => format!("{} ({})", judged.current, source.word()),
        None => "not known".to_owned(),
    }
}
