//! The first line of source that a failure names.

use std::fmt;

use super::build_failure::{
    BuildFailureCause, BuildFailureDetails, ReportedDiagnosticPlace, ReportedSeverity,
};
use super::error::{ErrorCause, ErrorDetails};
use super::eval::{EvalEvidence, EvalOutcome};
use super::failure::{NotPassedReport, RefusedReport};
use super::fault::ReportedFault;
use super::run::RunOutcome;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

impl EvalOutcome {
    /// The first line of source that the outcome names, of a candidate that failed.
    #[must_use]
    pub fn source_line(&self) -> Option<SourceLine> {
        match self {
            Self::Failed(EvalEvidence::Run { run }) => match &run.outcome {
                RunOutcome::NotPassed(reason) => reason.source_line(),
                RunOutcome::Passed { .. } => None,
            },
            Self::Failed(EvalEvidence::Error { error }) => error.source_line(),
            Self::Passed { .. } | Self::NotJudged(_) | Self::Error { .. } => None,
        }
    }
}

impl ErrorDetails {
    /// The first line of source that the failure names.
    #[must_use]
    pub fn source_line(&self) -> Option<SourceLine> {
        match self.cause.as_ref()? {
            ErrorCause::Project { problems } => {
                let first = problems.first()?;
                Some(SourceLine {
                    file: first.file.display().to_string(),
                    line: first.line.try_into().ok()?,
                })
            }
            ErrorCause::Build(cause) => of_build(cause),
        }
    }
}

impl NotPassedReport {
    /// The first line of source that the failure names.
    #[must_use]
    pub fn source_line(&self) -> Option<SourceLine> {
        match self {
            Self::Compile { compile } => of_details(&compile.details),
            Self::Refused { refused } => of_refusal(refused),
            Self::Fault { fault } => fault.faults.iter().find_map(of_fault),
            Self::TimedOut { timed_out } => of_fault(timed_out.at.as_ref()?),
            Self::Wrong { .. }
            | Self::DeviceLost { .. }
            | Self::CrashesWorker { .. }
            | Self::NotSupported { .. }
            | Self::Cancelled { .. } => None,
        }
    }
}

fn of_refusal(refused: &RefusedReport) -> Option<SourceLine> {
    match refused {
        RefusedReport::Include(details)
        | RefusedReport::Arguments(details)
        | RefusedReport::Build(details) => of_details(details),
        RefusedReport::Evidence { evidence } => {
            let line = evidence.first()?.source.first()?;
            Some(SourceLine { file: line.file.clone(), line: line.line.into() })
        }
        RefusedReport::Launch { .. }
        | RefusedReport::Load { .. }
        | RefusedReport::Memory { .. }
        | RefusedReport::Subnormals { .. } => None,
    }
}

fn of_details(details: &BuildFailureDetails) -> Option<SourceLine> {
    of_build(details.cause.as_ref()?)
}

fn of_build(cause: &BuildFailureCause) -> Option<SourceLine> {
    match cause {
        BuildFailureCause::Rejected { diagnostics, .. } => diagnostics
            .iter()
            .filter(|each| match each.severity {
                ReportedSeverity::Error | ReportedSeverity::Fatal => true,
                ReportedSeverity::Note | ReportedSeverity::Remark | ReportedSeverity::Warning => {
                    false
                }
            })
            .find_map(|each| match &each.place {
                ReportedDiagnosticPlace::Source(place) => {
                    Some(SourceLine { file: place.file.clone(), line: place.line.into() })
                }
                ReportedDiagnosticPlace::EndOfSource
                | ReportedDiagnosticPlace::Ptx { .. }
                | ReportedDiagnosticPlace::Nowhere => None,
            }),
        BuildFailureCause::Includes { refusals } => {
            let first = refusals.first()?;
            Some(SourceLine { file: first.file.clone(), line: first.line.into() })
        }
        BuildFailureCause::Arguments { .. } => None,
    }
}

fn of_fault(fault: &ReportedFault) -> Option<SourceLine> {
    let source = fault.thread.as_ref()?.place.source.as_ref()?;
    Some(SourceLine { file: source.file.clone(), line: source.line.into() })
}

impl fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}
