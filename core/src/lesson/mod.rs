//! Lessons: a project with steps that say what to do, what to predict, and what has to hold at the end. The format is
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
    /// What it is about.
    pub title: String,
    /// Its place among others, from 1.
    pub order: u32,
    /// What somebody knows afterwards, in a sentence.
    pub summary: String,
    /// The kernel that is worked on.
    pub kernel: String,
    /// The workload that goals and predictions are about.
    pub workload: String,
    /// The panels that a student sees first.
    pub panels: Vec<PanelName>,
    /// The roofs that a roofline shows first; all of them where there is none.
    pub roofs: Roofs,
    /// Lines of the kernel that are part of the task, as it was read.
    pub locked: Vec<Locked>,
    /// At least one.
    pub steps: Vec<Step>,
    /// Runs of real devices.
    pub recorded: Vec<Recorded>,
}

/// The roofs that a roofline shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roofs {
    /// Memories; all of them where there is none.
    pub levels: Vec<Level>,
    /// Pipes; those of the task where there is none.
    pub pipes: Vec<Pipe>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is about.
    pub title: String,
    /// What it says, in Markdown.
    pub text: String,
    /// What a student commits to before it is measured.
    pub prediction: Option<Prediction>,
    /// What has to hold at its end; a step without any is only read.
    pub goals: Vec<Goal>,
    /// Help, from a nudge to the way.
    pub hints: Vec<String>,
    /// The kernel that reaches the goals.
    pub solution: Option<String>,
}
