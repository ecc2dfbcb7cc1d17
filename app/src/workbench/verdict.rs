//! The verdict line: one sentence about the current kernel.

use lightbench_core::report::document::RunOutcome;
use lightbench_core::report::document::failure::NotPassedReport;

use super::evaluations::MachineState;
use super::runs::RunRow;
use super::{Workbench, problem};

/// A sentence with its tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictLine {
    pub text: String,
    pub tone: Tone,
}

/// Tone of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Quiet,
    Running,
}

impl Workbench {
    /// The sentence about the shown run, or about the state of the current kernel.
    #[must_use]
    pub fn verdict_line(&self) -> VerdictLine {
        let quiet = |text: &str| VerdictLine { text: text.to_owned(), tone: Tone::Quiet };
        let Some(opened) = &self.opened else {
            return match self.broken.as_ref().map(|broken| broken.problems.as_slice()) {
                None => quiet("Open a project to begin"),
                Some([]) => quiet("No problem is left: save the texts to open the project"),
                Some([first, ..]) => {
                    let text = format!("The project cannot be read: {}", first.message);
                    VerdictLine { text, tone: Tone::Bad }
                }
            };
        };
        if let MachineState::Unusable(why) = &self.evaluations.machine {
            return VerdictLine { text: why.clone(), tone: Tone::Bad };
        }
        let broken = opened.project.broken_kernel(&opened.kernel);
        if let Some(problem) = broken.and_then(|broken| broken.problems.first()) {
            let (name, line) = (&opened.kernel, problem.line);
            let text = format!("{name} cannot be read: line {line}: {}", problem.found);
            return VerdictLine { text, tone: Tone::Bad };
        }
        let known = self.evaluations.kernel(&opened.kernel);
        if let (Some(known), None) = (known, self.selection.run) {
            if known.running.is_some() {
                let before = self.details_line().map(|line| line.text);
                let text = match before {
                    None => format!("{} is being evaluated for the first time", opened.kernel),
                    Some(line) => {
                        format!("{} is being evaluated again; before: {line}", opened.kernel)
                    }
                };
                return VerdictLine { text, tone: Tone::Running };
            }
            if let Some(obstacle) = &known.obstacle {
                return VerdictLine { text: obstacle.clone(), tone: Tone::Bad };
            }
            if known.evaluated.is_none() {
                if let Some(first) = known.compile_problems.first() {
                    let text = format!("{} does not compile: {}", opened.kernel, first.message);
                    return VerdictLine { text, tone: Tone::Bad };
                }
                if known.facts.is_some() {
                    return quiet("It compiles and was not verified yet");
                }
            }
        }
        if let Some(line) = self.details_line() {
            return line;
        }
        match self.shown_run() {
            Some(row) => quiet(&line_from_history(row, &opened.workload)),
            None => quiet("This kernel was not evaluated yet: save it, or press F5"),
        }
    }

    /// The sentence about the shown run, if its evidence is known.
    fn details_line(&self) -> Option<VerdictLine> {
        let (details, opened) = (self.shown_details()?, self.opened.as_ref()?);
        let evidence = &details.evidence;
        Some(match &evidence.outcome {
            RunOutcome::Passed { .. } => {
                let told = self.shown_times();
                let lines = self.shown_verdict().map(|evaluated| &evaluated.lines);
                let compared = told.and_then(|told| lines?.get(&told.workload));
                let alone = told.and_then(|told| told.standing.as_ref()).map(|told| &told.line);
                let text = compared.or(alone).unwrap_or(&evidence.sentence).clone();
                VerdictLine { text, tone: Tone::Good }
            }
            RunOutcome::NotPassed(NotPassedReport::Cancelled { .. }) => {
                VerdictLine { text: "Stopped".to_owned(), tone: Tone::Quiet }
            }
            RunOutcome::NotPassed(reason) if !reason.is_judged() => {
                VerdictLine { text: evidence.sentence.clone(), tone: Tone::Quiet }
            }
            RunOutcome::NotPassed(reason) => {
                let mut text = evidence.sentence.clone();
                let problems = problem::from_verdict(reason, &evidence.sentence, &opened.project);
                let first = problems.iter().find(|problem| problem.place.is_some());
                if let Some((first, place)) =
                    first.and_then(|first| Some((first, first.place.as_ref()?)))
                {
                    text += &format!("; line {}: {}", place.line, first.message);
                }
                VerdictLine { text, tone: Tone::Bad }
            }
        })
    }
}

/// The sentence for a run without recorded evidence.
fn line_from_history(row: &RunRow, workload: &str) -> String {
    let number = row.number;
    if row.failure.is_some() {
        let sentence = row.sentence.as_deref().unwrap_or("it failed");
        return format!("Run {number} (latest): {sentence}. Press F5 to evaluate again");
    }
    let of_workload = row.times.iter().find(|time| &*time.workload == workload);
    let time = of_workload
        .or_else(|| row.times.first())
        .map(|time| format!(", {} {} at {}", time.median, time.source.word(), time.workload));
    let time = time.unwrap_or_default();
    format!("Run {number} (latest) passed{time}. Press F5 to evaluate again")
}
