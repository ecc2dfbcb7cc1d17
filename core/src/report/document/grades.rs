//! The document of `lightbench lesson --grade`: the goals that each submission reaches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lesson::ReportedGoalState;
use crate::lesson::grade::GradedStep;

/// The grades of the submissions to a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GradesReport {
    /// The schema of this document.
    pub schema: GradesSchema,
    /// The title of the lesson.
    pub title: String,
    /// The device that ran the kernels, in words.
    pub device_title: String,
    /// The seed of all random inputs.
    pub seed: u64,
    /// The last step that has goals, from 1.
    pub last_step: usize,
    /// Each submission, by name.
    pub submissions: Vec<ReportedGrade>,
}

/// The schema of a [`GradesReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GradesSchema {
    /// The first schema.
    #[serde(rename = "lightbench.grades/1")]
    V1,
}

/// The grade of one submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedGrade {
    /// The name of the file or folder.
    pub name: String,
    /// The verdict in one word; null if the kernel was not run.
    pub verdict: Option<String>,
    /// Why the kernel was not run; null if it was.
    pub not_run: Option<String>,
    /// The last step whose goals are all reached, from 1; null if there is none.
    pub reached_step: Option<usize>,
    /// Each goal, in the order of the steps; empty if the kernel was not run.
    pub goals: Vec<GradedGoal>,
}

/// A goal and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GradedGoal {
    /// The step, from 1.
    pub step: usize,
    /// The goal in words.
    pub goal: String,
    /// Its state.
    pub state: ReportedGoalState,
}

impl ReportedGrade {
    /// A submission that was run.
    #[must_use]
    pub fn from_steps(name: String, verdict: String, steps: &[GradedStep]) -> Self {
        let goals = steps.iter().flat_map(|graded| {
            let step = graded.step;
            graded.goals.iter().map(move |(goal, state)| GradedGoal {
                step,
                goal: goal.words(),
                state: state.into(),
            })
        });
        let goals = goals.collect();
        let reached_step = steps.iter().rfind(|step| step.is_reached()).map(|step| step.step);
        Self { name, verdict: Some(verdict), not_run: None, reached_step, goals }
    }

    /// A submission that was not run.
    #[must_use]
    pub fn not_run(name: String, reason: String) -> Self {
        Self { name, verdict: None, not_run: Some(reason), reached_step: None, goals: Vec::new() }
    }
}
