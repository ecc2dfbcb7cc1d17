//! The document of `lightbench lesson`: whether the goals of a lesson can be reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lesson::author::Proof;
use crate::lesson::{Goal, GoalProgress, Lesson};

/// The proof of a lesson: its kernels against its goals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LessonReport {
    /// The schema of this document.
    pub schema: LessonSchema,
    /// The title of the lesson.
    pub title: String,
    /// Its position among the lessons.
    pub order: u32,
    /// The device that ran its kernels, in words.
    pub device_title: String,
    /// The number of steps.
    pub steps: usize,
    /// The number of times recorded on other devices.
    pub recorded: usize,
    /// The proof of each step that has a solution.
    pub proofs: Vec<ReportedProof>,
}

/// The schema of a [`LessonReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LessonSchema {
    /// The first schema.
    #[serde(rename = "lightbench.lesson/1")]
    V1,
}

/// The proof of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedProof {
    /// The step, from 1.
    pub step: usize,
    /// Its title.
    pub title: String,
    /// The kernel that is the solution.
    pub solution: String,
    /// Whether the start kernel misses a goal, and the solution reaches all goals.
    pub sound: bool,
    /// Each goal.
    pub goals: Vec<ReportedGoal>,
}

/// A goal of a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedGoal {
    /// The goal in words.
    pub goal: String,
    /// Its state for the start kernel.
    pub start: ReportedGoalState,
    /// Its state for the solution.
    pub solution: ReportedGoalState,
}

/// The state of a goal for a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedGoalState {
    /// Whether the goal is reached.
    pub met: bool,
    /// The current value; empty if it is unknown.
    pub now: String,
    /// Where the value comes from; null if it is unknown.
    pub source: Option<String>,
}

impl LessonReport {
    /// The proofs of a lesson on a device.
    #[must_use]
    pub fn new(lesson: &Lesson, device_title: String, proofs: &[Proof]) -> Self {
        Self {
            schema: LessonSchema::V1,
            title: lesson.title.clone(),
            order: lesson.order,
            device_title,
            steps: lesson.steps.len(),
            recorded: lesson.recorded.len(),
            proofs: proofs.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Proof> for ReportedProof {
    fn from(proof: &Proof) -> Self {
        Self {
            step: proof.step,
            title: proof.title.clone(),
            solution: proof.solution.clone(),
            sound: proof.is_sound(),
            goals: proof.goals.iter().map(Into::into).collect(),
        }
    }
}

impl From<&(Goal, GoalProgress, GoalProgress)> for ReportedGoal {
    fn from((goal, start, solution): &(Goal, GoalProgress, GoalProgress)) -> Self {
        Self { goal: goal.words(), start: start.into(), solution: solution.into() }
    }
}

impl From<&GoalProgress> for ReportedGoalState {
    fn from(progress: &GoalProgress) -> Self {
        Self {
            met: progress.is_met(),
            now: progress.current.clone(),
            source: progress.source.map(|source| source.word().to_owned()),
        }
    }
}
