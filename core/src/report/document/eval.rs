//! The document of `lightbench eval`: one line for each candidate of a stream.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ErrorDetails;
use super::run::{ReportedStatus, RunReport};

/// What became of one line of a stream of candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvalReport {
    /// The schema of this document.
    pub schema: EvalSchema,
    /// The line or file of the stream, from 1.
    pub line: u64,
    /// The candidate's identifier, as the stream has it; null if the line has none.
    pub id: Option<CandidateId>,
    /// The elapsed time of the evaluation up to the first held-out workload; 0 if nothing was evaluated.
    pub elapsed_seconds: f64,
    /// The outcome with its documents.
    #[serde(flatten)]
    pub outcome: EvalOutcome,
}

/// The schema of an [`EvalReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EvalSchema {
    /// The first schema.
    #[serde(rename = "lightbench.eval/1")]
    V1,
}

/// The identifier of a candidate in a stream.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(untagged)]
pub enum CandidateId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// The outcome of one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum EvalOutcome {
    /// The candidate passed every check that the device can run.
    Passed {
        /// The document of `lightbench run --json`.
        run: Box<RunReport>,
    },
    /// The candidate failed.
    Failed(EvalEvidence),
    /// The device, the machine or a limit ended the evaluation without a finding about the candidate.
    NotJudged(EvalEvidence),
    /// The line asks for nothing that can be evaluated, or the machine lacks something.
    Error {
        /// The failure.
        error: ErrorDetails,
    },
}

/// Why a candidate did not pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EvalEvidence {
    /// The evaluation says it.
    Run {
        /// The document of `lightbench run --json`.
        run: Box<RunReport>,
    },
    /// The evaluation did not begin, or a limit ended it.
    Error {
        /// The failure.
        error: ErrorDetails,
    },
}

/// An outcome without its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvalWord {
    /// See [`EvalOutcome::Passed`].
    Passed,
    /// See [`EvalOutcome::Failed`].
    Failed,
    /// See [`EvalOutcome::NotJudged`].
    NotJudged,
    /// See [`EvalOutcome::Error`].
    Error,
}

impl EvalReport {
    /// The line of an evaluation.
    #[must_use]
    pub fn judged(line: u64, id: CandidateId, run: RunReport) -> Self {
        let (elapsed_seconds, status, run) = (run.elapsed_seconds, run.status, Box::new(run));
        let outcome = match status {
            ReportedStatus::Passed => EvalOutcome::Passed { run },
            ReportedStatus::Failed => EvalOutcome::Failed(EvalEvidence::Run { run }),
            // A screening is no verdict.
            ReportedStatus::NotJudged | ReportedStatus::Screened => {
                EvalOutcome::NotJudged(EvalEvidence::Run { run })
            }
        };
        Self { schema: EvalSchema::V1, line, id: Some(id), elapsed_seconds, outcome }
    }

    /// A line without an evaluation.
    #[must_use]
    pub const fn without_run(line: u64, id: Option<CandidateId>, outcome: EvalOutcome) -> Self {
        Self { schema: EvalSchema::V1, line, id, elapsed_seconds: 0.0, outcome }
    }
}

impl EvalOutcome {
    /// The value of `outcome`.
    #[must_use]
    pub const fn word(&self) -> EvalWord {
        match self {
            Self::Passed { .. } => EvalWord::Passed,
            Self::Failed(_) => EvalWord::Failed,
            Self::NotJudged(_) => EvalWord::NotJudged,
            Self::Error { .. } => EvalWord::Error,
        }
    }

    /// The evaluation, if there was one.
    #[must_use]
    pub fn run(&self) -> Option<&RunReport> {
        match self {
            Self::Passed { run }
            | Self::Failed(EvalEvidence::Run { run })
            | Self::NotJudged(EvalEvidence::Run { run }) => Some(run),
            Self::Failed(EvalEvidence::Error { .. })
            | Self::NotJudged(EvalEvidence::Error { .. })
            | Self::Error { .. } => None,
        }
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}
