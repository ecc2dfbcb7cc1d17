//! Lessons: a project with steps, each with a task, a prediction, and goals. The format is
//! described in `docs/lessons.md`.
//!
//! ```text
//!  lesson.ron, Markdown, recorded/*.json ──► Lesson::read (written → meant, every problem at once)
//!                                               │
//!  Run ──► judge(Goal)        met, missed or not known, with what it is now and who says so
//!      ──► Prediction::answer the number that was guessed, and how near the guess was
//! ```

pub mod author;
pub mod goal;
pub mod grade;
mod load;
pub mod locked;
pub mod prediction;
pub mod recorded;
#[cfg(test)]
mod tests;
pub mod written;

use crate::device::Pipe;
use crate::speed_of_light::roofline::Level;

pub use goal::{Goal, GoalProgress, judge};
pub use load::{FILE, Heading, heading};
pub use locked::Locked;
pub use prediction::{Nearness, Prediction, PredictionResult};
pub use recorded::Recorded;
pub use written::{PanelName, RoofName};

/// A lesson, checked against the project that it is part of.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// The title.
    pub title: String,
    /// The position among lessons, from 1.
    pub order: u32,
    /// The learning goal, as a sentence.
    pub summary: String,
    /// The kernel that is worked on.
    pub kernel: String,
    /// The workload that goals and predictions are about.
    pub workload: String,
    /// The panels that a student sees first.
    pub panels: Vec<PanelName>,
    /// The roofs that a roofline shows initially; all roofs if empty.
    pub roofs: Roofs,
    /// The locked lines of the kernel.
    pub locked: Vec<Locked>,
    /// At least one.
    pub steps: Vec<Step>,
    /// Recorded runs of real devices.
    pub recorded: Vec<Recorded>,
}

/// The roofs that a roofline shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roofs {
    /// Memories; all if empty.
    pub levels: Vec<Level>,
    /// Pipes; those of the task if empty.
    pub pipes: Vec<Pipe>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The title.
    pub title: String,
    /// The text, in Markdown.
    pub text: String,
    /// The prediction that a student enters before the run.
    pub prediction: Option<Prediction>,
    /// The goals; a step without goals is only read.
    pub goals: Vec<Goal>,
    /// Help, from a nudge to the way.
    pub hints: Vec<String>,
    /// The kernel that reaches the goals.
    pub solution: Option<String>,
}
