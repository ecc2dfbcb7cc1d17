//! Problems in texts, from the project reader, the compiler or a device.

use std::path::{Path, PathBuf};

use lightbench_core::project::guesses::Guess;
use lightbench_core::project::{Project, ProjectError};
use lightbench_core::report::document::build_failure::{
    BuildFailureCause, BuildFailureDetails, ReportedBuildFailure, ReportedDiagnostic,
    ReportedDiagnosticPlace, ReportedExcerpt, ReportedRefusal, ReportedSeverity,
};
use lightbench_core::report::document::checks::ReportedEvidence;
use lightbench_core::report::document::failure::{NotPassedReport, RefusedReport};
use lightbench_core::report::document::fault::ReportedFault;
use lightbench_core::verify::fault_report::causes;

/// A problem in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    pub place: Option<SourceLocation>,
    pub message: String,
    pub source: ProblemSource,
}

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The request cannot be carried out.
    Error,
    /// Probably not intended.
    Warning,
    Note,
}

/// A location in a file of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// Relative to the project's folder.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1, in characters; 0 for the whole line.
    pub column: u32,
    /// In characters; 0 if unknown.
    pub length: u32,
}

/// What reported a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemSource {
    Project,
    Compiler,
    Device,
}

impl ProblemSource {
    /// The source as one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Compiler => "compiler",
            Self::Device => "device",
        }
    }
}

fn error(source: ProblemSource, place: Option<SourceLocation>, message: String) -> Problem {
    Problem { severity: Severity::Error, place, message, source }
}

/// Problems from a project that could not be read.
#[must_use]
pub fn from_project_error(refused: &ProjectError) -> Vec<Problem> {
    match refused {
        ProjectError::Problems { problems } => problems.iter().map(from_project_problem).collect(),
        ProjectError::UnreadableFolder { .. }
        | ProjectError::NotAFolder { .. }
        | ProjectError::Missing { .. }
        | ProjectError::Unreadable { .. } => {
            vec![error(ProblemSource::Project, None, refused.to_string())]
        }
    }
}

/// A guess of `new` or `import` that the user has not confirmed.
#[must_use]
pub fn from_guess(guess: &Guess) -> Problem {
    let place = SourceLocation {
        file: guess.file.clone(),
        line: u32::try_from(guess.line).unwrap_or(u32::MAX),
        column: 0,
        length: 0,
    };
    let message = format!("{} Delete the comment to confirm", guess.text);
    let (severity, source) = (Severity::Note, ProblemSource::Project);
    Problem { severity, place: Some(place), message, source }
}

/// A problem that the project reader reported.
#[must_use]
pub fn from_project_problem(problem: &lightbench_core::project::Problem) -> Problem {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let place = SourceLocation {
        file: problem.file.clone(),
        line: number(problem.line),
        column: number(problem.column),
        length: number(problem.length),
    };
    let field =
        if problem.field.is_empty() { String::new() } else { format!("{}: ", problem.field) };
    let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    let message = format!("{field}{}; expected {}{help}", problem.found, problem.expected);
    error(ProblemSource::Project, Some(place), message)
}

/// The problem of a compiler diagnostic.
#[must_use]
pub fn from_diagnostic(diagnostic: &ReportedDiagnostic) -> Problem {
    let own = |place: &ReportedExcerpt| {
        (!place.foreign)
            .then(|| source_location(&place.file, place.line, place.column.unwrap_or(0)))
    };
    let place = match &diagnostic.place {
        ReportedDiagnosticPlace::Source(place) => own(place),
        ReportedDiagnosticPlace::EndOfSource
        | ReportedDiagnosticPlace::Ptx { .. }
        | ReportedDiagnosticPlace::Nowhere => None,
    };
    // Located in the toolkit's headers: the first note in the project's text names the include.
    let noted = || diagnostic.notes.iter().find_map(|note| note.place.as_ref().and_then(own));
    let severity = match diagnostic.severity {
        ReportedSeverity::Error | ReportedSeverity::Fatal => Severity::Error,
        ReportedSeverity::Warning => Severity::Warning,
        ReportedSeverity::Note | ReportedSeverity::Remark => Severity::Note,
    };
    Problem {
        severity,
        place: place.or_else(noted),
        message: diagnostic.message.clone(),
        source: ProblemSource::Compiler,
    }
}

fn source_location(file: &str, line: u32, column: u32) -> SourceLocation {
    SourceLocation { file: PathBuf::from(file), line, column, length: 0 }
}

/// Problems from a verdict that is not passed, with their locations in the project's texts. A verdict without a location
/// is one problem with its sentence.
#[must_use]
pub fn from_verdict(reason: &NotPassedReport, sentence: &str, project: &Project) -> Vec<Problem> {
    match reason {
        NotPassedReport::Compile { compile } => from_build_failure(compile),
        NotPassedReport::Refused {
            refused:
                RefusedReport::Include(details)
                | RefusedReport::Arguments(details)
                | RefusedReport::Build(details),
        } => from_details(details),
        NotPassedReport::Refused { refused: RefusedReport::Evidence { evidence } } => {
            evidence.iter().map(|found| from_evidence(found, project)).collect()
        }
        NotPassedReport::Fault { fault } => {
            let causes = causes(&fault.faults, |fault| {
                let place = fault.thread.as_ref().map(|thread| &thread.place);
                let line = place.map(|place| match &place.source {
                    Some(source) => (Some(source.file.clone()), source.line),
                    None => (None, place.ptx_line),
                });
                (fault.kind, line, fault.buffer.clone())
            });
            causes
                .into_iter()
                .map(|(fault, count)| counted(from_fault(fault, project), count))
                .collect()
        }
        NotPassedReport::TimedOut { timed_out } if timed_out.at.is_some() => {
            timed_out.at.iter().map(|at| from_fault(at, project)).collect()
        }
        NotPassedReport::Refused { .. }
        | NotPassedReport::Wrong { .. }
        | NotPassedReport::TimedOut { .. } => {
            vec![error(ProblemSource::Device, None, sentence.to_owned())]
        }
        // The kernel was not judged.
        NotPassedReport::DeviceLost { .. }
        | NotPassedReport::CrashesWorker { .. }
        | NotPassedReport::NotSupported { .. }
        | NotPassedReport::Cancelled { .. } => Vec::new(),
    }
}

/// Problems from a kernel without facts.
#[must_use]
pub fn from_build_failure(failure: &ReportedBuildFailure) -> Vec<Problem> {
    from_details(&failure.details)
}

fn from_details(details: &BuildFailureDetails) -> Vec<Problem> {
    match &details.cause {
        Some(BuildFailureCause::Rejected { diagnostics, .. }) => {
            diagnostics.iter().map(from_diagnostic).collect()
        }
        Some(BuildFailureCause::Includes { refusals }) => {
            let of = |refusal: &ReportedRefusal| {
                let place = source_location(&refusal.file, refusal.line, refusal.column);
                error(ProblemSource::Compiler, Some(place), refusal.reason.clone())
            };
            refusals.iter().map(of).collect()
        }
        Some(BuildFailureCause::Arguments { .. }) | None => {
            vec![error(ProblemSource::Compiler, None, details.message.clone())]
        }
    }
}

fn from_evidence(found: &ReportedEvidence, project: &Project) -> Problem {
    let place = found.source.iter().find_map(|line| known_location(project, &line.file, line.line));
    let message = format!("the project's policy forbids this: {}", found.what);
    error(ProblemSource::Compiler, place, message)
}

/// A problem with the number of faults that have its cause.
fn counted(problem: Problem, count: usize) -> Problem {
    match count {
        0 | 1 => problem,
        count => Problem {
            message: format!("{} and {} more like it", problem.message, count - 1),
            ..problem
        },
    }
}

fn from_fault(fault: &ReportedFault, project: &Project) -> Problem {
    let thread = fault.thread.as_ref();
    let source = thread.and_then(|thread| thread.place.source.as_ref());
    let place = source.and_then(|source| known_location(project, &source.file, source.line));
    let who = thread.map(|thread| {
        let three = |at: [u32; 3]| format!("({}, {}, {})", at[0], at[1], at[2]);
        format!(" (block {}, thread {})", three(thread.block), three(thread.thread))
    });
    error(ProblemSource::Device, place, format!("{}{}", fault.details, who.unwrap_or_default()))
}

/// The project file for a compiler path, which has a leading folder of its own.
fn known_location(project: &Project, spelled: &str, line: u32) -> Option<SourceLocation> {
    let kernels = project.kernels.iter().chain(&project.wrong).map(|kernel| &kernel.file);
    let mut files = kernels.chain(project.includes.iter().map(|include| &include.file));
    let file = files.find(|file| Path::new(spelled).ends_with(file))?;
    Some(SourceLocation { file: file.clone(), line, column: 0, length: 0 })
}
