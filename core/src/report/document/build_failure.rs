//! A kernel without facts: it does not compile, or is not compiled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compile::CompileError;
use crate::compile::diagnostics::{Diagnostic, Note, Place, Severity, SourcePlace};
use crate::compile::facts::FactsError;
use crate::project::includes::Refusal;

/// Why a kernel has no facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedBuildFailure {
    /// The kind of failure.
    pub kind: BuildFailureKind,
    /// The failure in words, with what was found.
    #[serde(flatten)]
    pub details: BuildFailureDetails,
}

/// The kind of a build failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BuildFailureKind {
    /// The workload and the parameters give the launch no numbers, or the target is unknown.
    Request,
    /// The kernel includes a file that is not permitted, or declares other parameters than it would be given.
    Refused,
    /// The compiler rejects the kernel, or the kernel that the launch names is missing.
    Compile,
    /// The compilation exceeded its time limit.
    TimedOut,
    /// The user cancelled.
    Cancelled,
    /// The machine cannot compile.
    Environment,
}

/// A build failure in words, with what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildFailureDetails {
    /// The failure in words.
    pub message: String,
    /// What was found, if the failure has locations.
    #[serde(flatten)]
    pub cause: Option<BuildFailureCause>,
}

/// The findings of a build failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BuildFailureCause {
    /// The compiler rejects the source.
    Rejected {
        /// Messages of the compiler, in the order of its log.
        diagnostics: Vec<ReportedDiagnostic>,
        /// Lines of the log that are no such message.
        other: String,
    },
    /// The kernel includes files that are not permitted.
    Includes {
        /// Each refused include.
        refusals: Vec<ReportedRefusal>,
    },
    /// The compiled kernel declares other parameters than it would be given.
    Arguments {
        /// Each difference in words.
        mismatches: Vec<String>,
    },
}

/// An include that is not permitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedRefusal {
    /// The file with the include.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// Why it is not permitted.
    pub reason: String,
}

/// One message of the compiler or the assembler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedDiagnostic {
    /// Its location.
    pub place: ReportedDiagnosticPlace,
    /// Its severity.
    pub severity: ReportedSeverity,
    /// The compiler's number for it, such as `177-D`.
    pub code: Option<String>,
    /// The message, which may have several lines.
    pub message: String,
    /// Additions, innermost context first.
    pub notes: Vec<ReportedNote>,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedSeverity {
    /// An addition to another diagnostic.
    Note,
    /// Information of little importance.
    Remark,
    /// The source compiles but is probably wrong.
    Warning,
    /// The source does not compile.
    Error,
    /// The compilation stopped here.
    Fatal,
}

/// The location of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedDiagnosticPlace {
    /// A line of source.
    Source(ReportedExcerpt),
    /// The end of the kernel file, for example after a missing bracket.
    EndOfSource,
    /// A line of the generated PTX.
    Ptx {
        /// The line, from 1.
        line: u32,
    },
    /// No location.
    Nowhere,
}

/// A line of a source file, as the compiler reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedExcerpt {
    /// The file's name, or the name in a `#line` directive.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// The line of source, as the compiler printed it.
    pub excerpt: Option<String>,
    /// Whether the file is not among the given sources: a toolkit header, or a name from a `#line` directive.
    pub foreign: bool,
}

/// An addition to a diagnostic: an instantiation context, or a note at another location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedNote {
    /// Its location, if the log has one.
    pub place: Option<ReportedExcerpt>,
    /// The message without the location.
    pub message: String,
}

impl From<&FactsError> for ReportedBuildFailure {
    fn from(error: &FactsError) -> Self {
        Self { kind: error.into(), details: error.into() }
    }
}

impl From<&FactsError> for BuildFailureKind {
    fn from(error: &FactsError) -> Self {
        match error {
            FactsError::Plan(_) => Self::Request,
            FactsError::Include(_) | FactsError::Arguments { .. } => Self::Refused,
            FactsError::NoSuchKernel { .. } => Self::Compile,
            FactsError::Compile(error) => match error {
                CompileError::Rejected(_) => Self::Compile,
                CompileError::TimedOut { .. } => Self::TimedOut,
                CompileError::Cancelled => Self::Cancelled,
                CompileError::UnknownTarget { .. } => Self::Request,
                CompileError::ToolMissing { .. }
                | CompileError::Worker { .. }
                | CompileError::Tool { .. }
                | CompileError::Triton(_)
                | CompileError::LibraryMissing { .. }
                | CompileError::Headers(_) => Self::Environment,
            },
        }
    }
}

impl BuildFailureKind {
    /// The kind within a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Refused => "refused",
            Self::Compile => "compile",
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
            Self::Environment => "environment",
        }
    }
}

impl From<&FactsError> for BuildFailureDetails {
    fn from(error: &FactsError) -> Self {
        Self { message: error.to_string(), cause: BuildFailureCause::from_error(error) }
    }
}

impl BuildFailureCause {
    /// The findings of a failure; none if its message has everything.
    #[must_use]
    pub fn from_error(error: &FactsError) -> Option<Self> {
        match error {
            FactsError::Compile(CompileError::Rejected(rejection)) => Some(Self::Rejected {
                diagnostics: rejection.diagnostics.iter().map(Into::into).collect(),
                other: rejection.other.clone(),
            }),
            FactsError::Include(refusals) => {
                Some(Self::Includes { refusals: refusals.iter().map(Into::into).collect() })
            }
            FactsError::Arguments { mismatches, .. } => Some(Self::Arguments {
                mismatches: mismatches.iter().map(ToString::to_string).collect(),
            }),
            FactsError::Plan(_) | FactsError::NoSuchKernel { .. } | FactsError::Compile(_) => None,
        }
    }
}

impl From<&Refusal> for ReportedRefusal {
    fn from(refusal: &Refusal) -> Self {
        let place = &refusal.place;
        Self {
            file: place.file.clone(),
            line: place.line,
            column: place.column,
            reason: refusal.reason.to_string(),
        }
    }
}

impl From<&Diagnostic> for ReportedDiagnostic {
    fn from(diagnostic: &Diagnostic) -> Self {
        let Diagnostic { place, severity, code, message, notes } = diagnostic;
        Self {
            place: place.into(),
            severity: (*severity).into(),
            code: code.clone(),
            message: message.clone(),
            notes: notes.iter().map(Into::into).collect(),
        }
    }
}

impl From<Severity> for ReportedSeverity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Note => Self::Note,
            Severity::Remark => Self::Remark,
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Error,
            Severity::Fatal => Self::Fatal,
        }
    }
}

impl From<&Place> for ReportedDiagnosticPlace {
    fn from(place: &Place) -> Self {
        match place {
            Place::Source(place) => Self::Source(place.into()),
            Place::EndOfSource => Self::EndOfSource,
            Place::Ptx { line } => Self::Ptx { line: *line },
            Place::Nowhere => Self::Nowhere,
        }
    }
}

impl From<&SourcePlace> for ReportedExcerpt {
    fn from(place: &SourcePlace) -> Self {
        let SourcePlace { file, line, column, excerpt, foreign } = place.clone();
        Self { file, line, column, excerpt, foreign }
    }
}

impl From<&Note> for ReportedNote {
    fn from(note: &Note) -> Self {
        Self { place: note.place.as_ref().map(Into::into), message: note.message.clone() }
    }
}
