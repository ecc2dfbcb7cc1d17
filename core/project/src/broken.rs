//! A file that cannot be parsed: incomplete, not text, or unreadable.

use std::path::PathBuf;

use super::{kernel::stem, problem::Problem};

/// A file of a project that is not understood: it is shown and edited, and never compiled or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenFile {
    /// Relative to the project folder.
    pub file: PathBuf,
    /// Its role, by its folder.
    pub part: Part,
    /// The whole text, if it is text.
    pub source: Option<String>,
    /// Its problems, at least one, in the order of their locations.
    pub problems: Vec<Problem>,
}

/// The role of a file, by its folder.
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
