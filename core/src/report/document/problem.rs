//! Files of a project that cannot be read, and their problems.

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::{BrokenFile, Part, Problem};

/// A file of a project that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedBrokenFile {
    /// The name that its kernel would have.
    pub name: String,
    /// The file, relative to the project folder.
    pub file: PathBuf,
    /// Its role, by its folder.
    pub part: ReportedPart,
    /// Its problems, at least one, in the order of their locations.
    pub problems: Vec<ReportedProblem>,
}

/// The role of a file, by its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedPart {
    /// Below `kernels/`.
    Kernel,
    /// Below `wrong/`.
    Wrong,
    /// Below `include/`.
    Include,
}

/// One thing that is wrong in one place of a project's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedProblem {
    /// The file, relative to the project folder.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Characters on that line: at least 1, and 0 if the file has no text.
    pub length: usize,
    /// Bytes of the file that the problem is about.
    pub span: ReportedSpan,
    /// The field, such as `tensors[2].shape[1]`; empty for a problem of the whole file.
    pub field: String,
    /// The text found.
    pub found: String,
    /// The text expected.
    pub expected: String,
    /// A suggestion, if there is one.
    pub help: Option<String>,
}

/// Bytes of a file, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSpan {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl From<&BrokenFile> for ReportedBrokenFile {
    fn from(broken: &BrokenFile) -> Self {
        Self {
            name: broken.name(),
            file: broken.file.clone(),
            part: match broken.part {
                Part::Kernel => ReportedPart::Kernel,
                Part::Wrong => ReportedPart::Wrong,
                Part::Include => ReportedPart::Include,
            },
            problems: broken.problems.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Problem> for ReportedProblem {
    fn from(problem: &Problem) -> Self {
        let Problem { file, line, column, length, span, field, found, expected, help } =
            problem.clone();
        let Range { start, end } = span;
        let span = ReportedSpan { start, end };
        Self { file, line, column, length, span, field, found, expected, help }
    }
}
