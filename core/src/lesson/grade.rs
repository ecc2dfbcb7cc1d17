//! Grades: which goals of a lesson each submitted kernel reaches, on the definition and the workloads of the teacher.

use super::goal::{Goal, GoalProgress, judge};
use super::{Lesson, Step, locked};
use crate::evaluate::Run;
use crate::project::{Kernel, Project};

/// A step with goals, and their states for one submission.
#[derive(Clone, Debug, PartialEq)]
pub struct GradedStep {
    /// The step, from 1.
    pub step: usize,
    /// Each goal with its state.
    pub goals: Vec<(Goal, GoalProgress)>,
}

impl GradedStep {
    /// Whether all of its goals are reached.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.goals.iter().all(|(_, state)| state.is_met())
    }
}

/// The last step of a lesson that has goals, from 1; 0 if none has.
#[must_use]
pub fn last_step(lesson: &Lesson) -> usize {
    lesson.steps.iter().rposition(|step| !step.goals.is_empty()).map_or(0, |index| index + 1)
}

/// The kernel of a submission.
///
/// # Errors
/// Its locked lines differ from those of the lesson, or its launch block has problems.
pub fn submitted(project: &Project, begun: &Kernel, text: String) -> Result<Kernel, String> {
    if locked::locked_texts(&text) != locked::locked_texts(&begun.source) {
        return Err(format!("its locked lines differ from those of {}", begun.file.display()));
    }
    project.draft(&begun.name, text).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        lines.join("; ")
    })
}

/// The goals of each step that has some.
#[must_use]
pub fn grade(lesson: &Lesson, run: &Run) -> Vec<GradedStep> {
    let graded = |(step, number): (&Step, usize)| {
        let state = |goal: &Goal| (*goal, judge(goal, Some(run), &lesson.workload));
        let goals: Vec<_> = step.goals.iter().map(state).collect();
        (!goals.is_empty()).then_some(GradedStep { step: number, goals })
    };
    lesson.steps.iter().zip(1..).filter_map(graded).collect()
}
