//! The document of a command that failed, with one form for all commands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build_failure::{BuildFailureCause, BuildFailureKind};
use super::problem::ReportedProblem;
use crate::compile::facts::FactsError;
use crate::project::Problem;

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorReport {
    /// The schema of this document.
    pub schema: ErrorSchema,
    /// The failure.
    pub error: ErrorDetails,
}

/// The schema of an [`ErrorReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ErrorSchema {
    /// The first schema.
    #[serde(rename = "lightbench.error/1")]
    V1,
}

/// The failure of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDetails {
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The failure in words.
    pub message: String,
    /// What was found, if the failure has locations.
    #[serde(flatten)]
    pub cause: Option<ErrorCause>,
}

/// The kind of a command's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The command line asks for something that does not exist or is not possible.
    Request,
    /// The machine lacks something.
    Environment,
    /// The project's files have problems.
    Project,
    /// The kernel failed, or the file does not have the kernel.
    Kernel,
    /// The arguments do not match the kernel's parameters.
    Arguments,
    /// The device does not permit the launch.
    Launch,
    /// The device cannot load the code.
    Load,
    /// The kernel includes a file that is not permitted, or declares other parameters than it would be given.
    Refused,
    /// The compiler rejects the kernel.
    Compile,
    /// The compilation exceeded its time limit.
    TimedOut,
    /// The user cancelled.
    Cancelled,
}

/// What a failed command found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ErrorCause {
    /// Problems of the project's files.
    Project {
        /// Each problem.
        problems: Vec<ReportedProblem>,
    },
    /// The findings of a build.
    Build(BuildFailureCause),
}

impl ErrorReport {
    /// The document of a failure.
    #[must_use]
    pub const fn new(error: ErrorDetails) -> Self {
        Self { schema: ErrorSchema::V1, error }
    }
}

impl ErrorDetails {
    /// A failure without locations.
    #[must_use]
    pub const fn new(kind: ErrorKind, message: String) -> Self {
        Self { kind, message, cause: None }
    }

    /// Problems of a project's files.
    #[must_use]
    pub fn from_problems(message: String, problems: &[Problem]) -> Self {
        let problems = problems.iter().map(Into::into).collect();
        Self {
            cause: Some(ErrorCause::Project { problems }),
            ..Self::new(ErrorKind::Project, message)
        }
    }
}

impl From<&FactsError> for ErrorDetails {
    fn from(error: &FactsError) -> Self {
        let cause = BuildFailureCause::from_error(error).map(ErrorCause::Build);
        Self { kind: BuildFailureKind::from(error).into(), message: error.to_string(), cause }
    }
}

impl From<BuildFailureKind> for ErrorKind {
    fn from(kind: BuildFailureKind) -> Self {
        match kind {
            BuildFailureKind::Request => Self::Request,
            BuildFailureKind::Refused => Self::Refused,
            BuildFailureKind::Compile => Self::Compile,
            BuildFailureKind::TimedOut => Self::TimedOut,
            BuildFailureKind::Cancelled => Self::Cancelled,
            BuildFailureKind::Environment => Self::Environment,
        }
    }
}
