//! A file that is not understood: half-written, not text, or not to be read.

use std::path::PathBuf;

use super::{kernel::stem, problem::Problem};

/// A file of a project that is not understood: it is shown and edited, and never compiled or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenFile {
    /// Relative to the project folder.
    pub file: PathBuf,
    /// What it would be.
    pub part: Part,
    /// The whole text, where there is one.
    pub source: Option<String>,
    /// What is wrong with it, at least one, in the order of their places.
    pub problems: Vec<Problem>,
}

/// What a file is to its project, by the folder in which it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Below `kernels/`.
    Kernel,
    /// Below `wrong/`.
    Wrong,
    /// Below `include/`.
    Include,
}

impl BrokenFile {
    /// The name that its kernel would have.
    #[must_use]
    pub fn name(&self) -> String {
        stem(&self.file)
    }

    /// Everything that is wrong with it, for people.
    #[must_use]
    pub fn problem_list(&self) -> String {
        let all: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        all.join("; ")
    }
}
