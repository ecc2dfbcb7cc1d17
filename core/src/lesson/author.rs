//! Checks for authors of a lesson: the kernel it starts with does not reach the goals, and each solution does.

use super::goal::{Goal, GoalProgress, judge};
use super::{Lesson, Step};
use crate::evaluate::Run;

/// The states of a step's goals for the initial kernel and for the solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The step, from 1.
    pub step: usize,
    /// The title of the step.
    pub title: String,
    /// The solution.
    pub solution: String,
    /// Each goal with its state for the lesson's kernel and for the solution.
    pub goals: Vec<(Goal, GoalProgress, GoalProgress)>,
}

impl Proof {
    /// Whether the initial kernel misses a goal, and the solution reaches all goals.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let begun = self.goals.iter().all(|(_, start, _)| start.is_met());
        let reached = self.goals.iter().all(|(_, _, solution)| solution.is_met());
        !begun && reached
    }
}

/// The kernels that an author's check runs: the one that is begun with, and every solution.
#[must_use]
pub fn kernels(lesson: &Lesson) -> Vec<&str> {
    let mut names = vec![lesson.kernel.as_str()];
    names.extend(lesson.steps.iter().filter_map(|step| step.solution.as_deref()));
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

/// Checks each step that has goals, with runs of the kernels.
pub fn prove<'a>(lesson: &Lesson, run_of: impl Fn(&str) -> Option<&'a Run>) -> Vec<Proof> {
    let proof = |(step, number): (&Step, usize)| {
        let solution = step.solution.clone()?;
        let (start, solved) = (run_of(&lesson.kernel), run_of(&solution));
        let goal = |goal: &Goal| {
            let of = |run| judge(goal, run, &lesson.workload);
            (*goal, of(start), of(solved))
        };
        let goals: Vec<_> = step.goals.iter().map(goal).collect();
        let title = step.title.clone();
        (!goals.is_empty()).then_some(Proof { step: number, title, solution, goals })
    };
    lesson.steps.iter().zip(1..).filter_map(proof).collect()
}
