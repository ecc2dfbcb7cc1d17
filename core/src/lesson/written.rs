//! What people write in `lesson.ron`; [`super::Lesson`] is what it means.

use serde::Deserialize;

use crate::device::Pipe;
use crate::speed_of_light::fact::Fact;

/// A whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LessonFile {
    /// How the file is to be read.
    pub schema: u32,
    /// What it is about.
    pub title: String,
    /// Its place among others.
    pub order: u32,
    /// What somebody knows afterwards.
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
    /// What it is about.
    pub title: String,
    /// A Markdown file below the folder.
    pub text: String,
    /// What is to be guessed.
    #[serde(default)]
    pub predict: Option<PredictionFile>,
    /// What has to hold.
    #[serde(default)]
    pub goals: Vec<GoalWritten>,
    /// Help.
    #[serde(default)]
    pub hints: Vec<String>,
    /// The kernel that reaches the goals.
    #[serde(default)]
    pub solution: Option<String>,
}

/// What is to be guessed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictionFile {
    /// The question.
    pub question: String,
    /// Which number.
    pub quantity: QuantityFile,
    /// In what it is counted.
    pub unit: String,
    /// The least that can be guessed.
    pub from: f64,
    /// The most.
    pub to: f64,
    /// Of which kernel, where it is not the one that is worked on.
    #[serde(default)]
    pub kernel: Option<String>,
    /// On which workload, where it is not that of the lesson.
    #[serde(default)]
    pub workload: Option<String>,
}

/// A number that can be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuantityFile {
    /// How long a launch takes.
    Time,
    /// The bytes that the task has to move, by that time.
    Bandwidth,
    /// A fact of the playbook.
    Fact(Fact),
}

/// What has to hold: the conditions of the playbook, and that the kernel passes.
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
    /// Times under the roofs of the device.
    Roofline,
    /// Each unit against its peak.
    SpeedOfLight,
    /// What was counted.
    Counters,
    /// What is wrong with the text.
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
    /// What a pipe computes.
    Pipe(Pipe),
}
