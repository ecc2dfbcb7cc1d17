//! Problems in texts, from the project reader, the compiler or a device.

use std::path::{Path, PathBuf};

use lightbench_core::compile::CompileError;
use lightbench_core::compile::diagnostics::{self, Diagnostic};
use lightbench_core::compile::facts::FactsError;
use lightbench_core::project::includes::Refusal;
use lightbench_core::project::{Kernel, Project, ProjectError};
use lightbench_core::verify::evidence::Found;
use lightbench_core::verify::fault_report::FaultReport;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::{Failure, Refused};

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

/// Problems from compiler diagnostics.
#[must_use]
pub fn from_diagnostics(diagnostics: &[Diagnostic]) -> Vec<Problem> {
    diagnostics.iter().map(from_diagnostic).collect()
}

fn from_diagnostic(diagnostic: &Diagnostic) -> Problem {
    let place = match &diagnostic.place {
        diagnostics::Place::Source(place) if !place.foreign => {
            Some(source_location(&place.file, place.line, place.column.unwrap_or(0)))
        }
        // Located in the toolkit's headers: the first note in the project's text names the include.
        diagnostics::Place::Source(_)
        | diagnostics::Place::EndOfSource
        | diagnostics::Place::Ptx { .. }
        | diagnostics::Place::Nowhere => diagnostic.notes.iter().find_map(|note| {
            let place = note.place.as_ref().filter(|place| !place.foreign)?;
            Some(source_location(&place.file, place.line, place.column.unwrap_or(0)))
        }),
    };
    let severity = match diagnostic.severity {
        diagnostics::Severity::Error | diagnostics::Severity::Fatal => Severity::Error,
        diagnostics::Severity::Warning => Severity::Warning,
        diagnostics::Severity::Note | diagnostics::Severity::Remark => Severity::Note,
    };
    Problem {
        severity,
        place,
        message: diagnostic.message.clone(),
        source: ProblemSource::Compiler,
    }
}

fn source_location(file: &str, line: u32, column: u32) -> SourceLocation {
    SourceLocation { file: PathBuf::from(file), line, column, length: 0 }
}

/// Problems from a failed verification, with their locations in the kernel's text.
#[must_use]
pub fn from_failure(failure: &Failure, kernel: &Kernel, project: &Project) -> Vec<Problem> {
    match failure {
        Failure::Compile(refused) | Failure::Refused(Refused::Build(refused)) => {
            from_facts_error(refused)
        }
        Failure::Refused(Refused::Evidence(found)) => {
            let of = |found: &Found| {
                let place = found
                    .source
                    .iter()
                    .find_map(|line| known_location(project, &line.file, line.line));
                error(
                    ProblemSource::Compiler,
                    place,
                    format!("the project's policy forbids this: {}", found.what),
                )
            };
            found.iter().map(of).collect()
        }
        Failure::Fault(fault) => {
            fault.faults.iter().map(|fault| from_fault(fault, project)).collect()
        }
        Failure::TimedOut { at: Some(at), .. } => vec![from_fault(at, project)],
        Failure::Refused(_) | Failure::Wrong(_) | Failure::TimedOut { at: None, .. } => {
            vec![error(
                ProblemSource::Device,
                None,
                sentence::describe_failure(&kernel.name, failure),
            )]
        }
    }
}

/// Problems from a kernel without facts.
#[must_use]
pub fn from_facts_error(refused: &FactsError) -> Vec<Problem> {
    match refused {
        FactsError::Compile(CompileError::Rejected(rejection)) => {
            from_diagnostics(&rejection.diagnostics)
        }
        FactsError::Include(refusals) => {
            let of = |refusal: &Refusal| {
                let place =
                    source_location(&refusal.place.file, refusal.place.line, refusal.place.column);
                error(ProblemSource::Compiler, Some(place), refusal.reason.to_string())
            };
            refusals.iter().map(of).collect()
        }
        FactsError::Compile(_)
        | FactsError::Plan(_)
        | FactsError::Arguments { .. }
        | FactsError::NoSuchKernel { .. } => {
            vec![error(ProblemSource::Compiler, None, refused.to_string())]
        }
    }
}

fn from_fault(fault: &FaultReport, project: &Project) -> Problem {
    let seen = fault.seen.as_ref();
    let source = seen.and_then(|seen| seen.place.source.as_ref());
    let place = source.and_then(|(file, line, _)| known_location(project, file, *line));
    let who = seen.map(|seen| {
        let three = |at: [u32; 3]| format!("({}, {}, {})", at[0], at[1], at[2]);
        format!(" (block {}, thread {})", three(seen.block), three(seen.thread))
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
