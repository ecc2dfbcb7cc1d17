//! The file format of `lesson.ron`; [`super::Lesson`] is the parsed form.

use serde::Deserialize;

use crate::device::Pipe;
use crate::speed_of_light::fact::Fact;

/// A whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LessonFile {
    /// The schema version.
    pub schema: u32,
    /// The title.
    pub title: String,
    /// The position among lessons.
    pub order: u32,
    /// The learning goal.
    pub summary: String,
    /// The kernel that is worked on.
    pub kernel: String,
    /// The workload that goals and predictions are about.
    pub workload: String,
    /// The panels that a student sees first.
    #[serde(default)]
    pub panels: Vec<PanelName>,
    /// The roofs that a roofline shows first.
    #[serde(default)]
    pub roofs: Vec<RoofName>,
    /// The kernel that reaches the goals of steps that name none.
    #[serde(default)]
    pub solution: Option<String>,
    /// At least one.
    pub steps: Vec<StepFile>,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// The title.
    pub title: String,
    /// A Markdown file below the folder.
    pub text: String,
    /// The quantity to predict.
    #[serde(default)]
    pub predict: Option<PredictionFile>,
    /// The goals.
    #[serde(default)]
    pub goals: Vec<GoalWritten>,
    /// Help.
    #[serde(default)]
    pub hints: Vec<String>,
    /// The kernel that reaches the goals.
    #[serde(default)]
    pub solution: Option<String>,
}

/// The quantity to predict.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictionFile {
    /// The question.
    pub question: String,
    /// Which number.
    pub quantity: QuantityFile,
    /// The unit.
    pub unit: String,
    /// The least that can be guessed.
    pub from: f64,
    /// The most.
    pub to: f64,
    /// The kernel, if it is not the lesson's kernel.
    #[serde(default)]
    pub kernel: Option<String>,
    /// The workload, if it is not the lesson's workload.
    #[serde(default)]
    pub workload: Option<String>,
}

/// A quantity for predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuantityFile {
    /// The time.
    Time,
    /// The bytes that the task has to move, by that time.
    Bandwidth,
    /// A fact of the playbook.
    Fact(Fact),
}

/// A goal: a condition of the playbook, or that the kernel passes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalWritten {
    /// The kernel is right.
    Passed,
    /// The fact is this number or more.
    AtLeast(Fact, f64),
    /// The fact is this number or less.
    AtMost(Fact, f64),
}

/// A panel that a lesson can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelName {
    /// The kernel's text.
    Editor,
    /// Lanes, addresses, sectors and banks.
    Access,
    /// The roofline.
    Roofline,
    /// Each unit against its peak.
    SpeedOfLight,
    /// The counters.
    Counters,
    /// The problems of the text.
    Problems,
    /// The verdict with its evidence.
    Result,
    /// Times of each workload.
    Workloads,
    /// Samples.
    Timing,
    /// Registers, shared memory, occupancy.
    Resources,
    /// PTX and machine code.
    Assembly,
    /// Every run.
    History,
}

/// A roof that a lesson can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoofName {
    /// Device memory.
    Dram,
    /// L2.
    L2,
    /// The pipes.
    Pipe(Pipe),
}
