//! The verdict line: one sentence about the current kernel.

use lightbench_core::verify::not_judged::{NotJudged, NotPassed};
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::WorkloadTiming;

use super::evaluations::{Evaluated, MachineState};
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
    /// The sentence about the current kernel.
    #[must_use]
    pub fn verdict_line(&self) -> VerdictLine {
        let quiet = |text: &str| VerdictLine { text: text.to_owned(), tone: Tone::Quiet };
        let Some(opened) = &self.opened else {
            return quiet("Open a project to begin");
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
        if let Some(known) = known {
            if known.running.is_some() {
                let before =
                    known.evaluated.as_ref().map(|evaluated| self.evaluated_line(evaluated).text);
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
            if let Some(evaluated) = &known.evaluated {
                return self.evaluated_line(evaluated);
            }
            if let Some(first) = known.compile_problems.first() {
                let text = format!("{} does not compile: {}", opened.kernel, first.message);
                return VerdictLine { text, tone: Tone::Bad };
            }
            if known.facts.is_some() {
                return quiet("It compiles and was not verified yet");
            }
        }
        match self.runs.newest_of(&opened.kernel) {
            Some(row) => quiet(&line_from_history(row, &opened.workload)),
            None => quiet("This kernel was not evaluated yet: save it, or press F5"),
        }
    }

    fn evaluated_line(&self, evaluated: &Evaluated) -> VerdictLine {
        let (kernel, verdict) = (evaluated.kernel.name.as_str(), &evaluated.run.verdict);
        match verdict {
            Ok(passed) => {
                let told = self.summary_timing(&passed.timings);
                let against = told.and_then(|told| {
                    let line = evaluated.lines.iter().find(|(name, _)| *name == told.workload);
                    line.map(|(_, line)| line)
                });
                let alone = told.and_then(|told| told.standing.as_ref()).map(|told| &told.line);
                let text = against.or(alone).cloned();
                let text = text.unwrap_or_else(|| sentence::verdict(kernel, verdict));
                VerdictLine { text, tone: Tone::Good }
            }
            Err(NotPassed::NotJudged(NotJudged::Cancelled)) => {
                VerdictLine { text: "Stopped".to_owned(), tone: Tone::Quiet }
            }
            Err(NotPassed::NotJudged(_)) => {
                VerdictLine { text: sentence::verdict(kernel, verdict), tone: Tone::Quiet }
            }
            Err(NotPassed::Failed(failure)) => {
                let mut text = sentence::verdict(kernel, verdict);
                let problems =
                    problem::from_failure(failure, &evaluated.kernel, &evaluated.project);
                let first = problems.iter().find(|problem| problem.place.is_some());
                if let Some((first, place)) =
                    first.and_then(|first| Some((first, first.place.as_ref()?)))
                {
                    text += &format!("; line {}: {}", place.line, first.message);
                }
                VerdictLine { text, tone: Tone::Bad }
            }
        }
    }

    /// The timing of the selected workload, else the first timing.
    #[must_use]
    pub fn summary_timing<'a>(&self, timings: &'a [WorkloadTiming]) -> Option<&'a WorkloadTiming> {
        let workload = self.opened.as_ref().map(|opened| opened.workload.as_str());
        let chosen = timings.iter().find(|timing| Some(timing.workload.as_str()) == workload);
        chosen.or_else(|| timings.first())
    }
}

/// The sentence for a kernel that was not evaluated since the window opened.
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
