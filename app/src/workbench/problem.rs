//! What is wrong with a text, whoever found it: the reader of projects, the compiler, or a device that ran it.

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

/// Something wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where, if that is known.
    pub place: Option<Place>,
    /// What.
    pub message: String,
    /// Who says so.
    pub source: Source,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is not what was asked for.
    Error,
    /// It is probably not what was meant.
    Warning,
    /// It is worth a look.
    Note,
}

/// A place in a file of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Below the project's folder.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1, in characters; 0 for the whole line.
    pub column: u32,
    /// Characters; 0 where nobody says.
    pub length: u32,
}

/// Who says that something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The reader of projects.
    Project,
    /// The compiler.
    Compiler,
    /// The device that ran it.
    Device,
}

impl Source {
    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Compiler => "compiler",
            Self::Device => "device",
        }
    }
}

fn error(source: Source, place: Option<Place>, message: String) -> Problem {
    Problem { severity: Severity::Error, place, message, source }
}

/// Why a project cannot be used.
#[must_use]
pub fn of_project(refused: &ProjectError) -> Vec<Problem> {
    match refused {
        ProjectError::Problems { problems } => problems.iter().map(of_reader).collect(),
        ProjectError::UnreadableFolder { .. }
        | ProjectError::NotAFolder { .. }
        | ProjectError::Missing { .. }
        | ProjectError::Unreadable { .. } => {
            vec![error(Source::Project, None, refused.to_string())]
        }
    }
}

/// What the reader of projects says.
#[must_use]
pub fn of_reader(problem: &lightbench_core::project::Problem) -> Problem {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let place = Place {
        file: problem.file.clone(),
        line: number(problem.line),
        column: number(problem.column),
        length: number(problem.length),
    };
    let field =
        if problem.field.is_empty() { String::new() } else { format!("{}: ", problem.field) };
    let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    let message = format!("{field}{}; expected {}{help}", problem.found, problem.expected);
    error(Source::Project, Some(place), message)
}

/// What the compiler says.
#[must_use]
pub fn of_compiler(diagnostics: &[Diagnostic]) -> Vec<Problem> {
    diagnostics.iter().map(of_diagnostic).collect()
}

fn of_diagnostic(diagnostic: &Diagnostic) -> Problem {
    let place = match &diagnostic.place {
        diagnostics::Place::Source(place) if !place.foreign => {
            Some(of_source(&place.file, place.line, place.column.unwrap_or(0)))
        }
        // Of the toolkit's own headers: what brought them there is the first note in our own text.
        diagnostics::Place::Source(_)
        | diagnostics::Place::EndOfSource
        | diagnostics::Place::Ptx { .. }
        | diagnostics::Place::Nowhere => diagnostic.notes.iter().find_map(|note| {
            let place = note.place.as_ref().filter(|place| !place.foreign)?;
            Some(of_source(&place.file, place.line, place.column.unwrap_or(0)))
        }),
    };
    let severity = match diagnostic.severity {
        diagnostics::Severity::Error | diagnostics::Severity::Fatal => Severity::Error,
        diagnostics::Severity::Warning => Severity::Warning,
        diagnostics::Severity::Note | diagnostics::Severity::Remark => Severity::Note,
    };
    Problem { severity, place, message: diagnostic.message.clone(), source: Source::Compiler }
}

fn of_source(file: &str, line: u32, column: u32) -> Place {
    Place { file: PathBuf::from(file), line, column, length: 0 }
}

/// What made a kernel fail, as far as that can be said in places of its text.
#[must_use]
pub fn of_failure(failure: &Failure, kernel: &Kernel, project: &Project) -> Vec<Problem> {
    match failure {
        Failure::Compile(refused) | Failure::Refused(Refused::Build(refused)) => of_facts(refused),
        Failure::Refused(Refused::Evidence(found)) => {
            let of = |found: &Found| {
                let place =
                    found.source.iter().find_map(|line| known(project, &line.file, line.line));
                error(
                    Source::Compiler,
                    place,
                    format!("the project's policy refuses this: {}", found.what),
                )
            };
            found.iter().map(of).collect()
        }
        Failure::Fault(fault) => {
            fault.faults.iter().map(|fault| of_fault(fault, project)).collect()
        }
        Failure::TimedOut { at: Some(at), .. } => vec![of_fault(at, project)],
        Failure::Refused(_) | Failure::Wrong(_) | Failure::TimedOut { at: None, .. } => {
            vec![error(Source::Device, None, sentence::of_failure(&kernel.name, failure))]
        }
    }
}

/// Why a kernel has no facts.
#[must_use]
pub fn of_facts(refused: &FactsError) -> Vec<Problem> {
    match refused {
        FactsError::Compile(CompileError::Rejected(rejection)) => {
            of_compiler(&rejection.diagnostics)
        }
        FactsError::Include(refusals) => {
            let of = |refusal: &Refusal| {
                let place =
                    of_source(&refusal.place.file, refusal.place.line, refusal.place.column);
                error(Source::Compiler, Some(place), refusal.reason.to_string())
            };
            refusals.iter().map(of).collect()
        }
        FactsError::Compile(_)
        | FactsError::Plan(_)
        | FactsError::Arguments { .. }
        | FactsError::NoSuchKernel { .. } => {
            vec![error(Source::Compiler, None, refused.to_string())]
        }
    }
}

fn of_fault(fault: &FaultReport, project: &Project) -> Problem {
    let seen = fault.seen.as_ref();
    let source = seen.and_then(|seen| seen.place.source.as_ref());
    let place = source.and_then(|(file, line, _)| known(project, file, *line));
    let who = seen.map(|seen| {
        let three = |at: [u32; 3]| format!("({}, {}, {})", at[0], at[1], at[2]);
        format!(" (block {}, thread {})", three(seen.block), three(seen.thread))
    });
    error(Source::Device, place, format!("{}{}", fault.details, who.unwrap_or_default()))
}

/// The file of a project that the compiler means, who puts a folder of its own in front.
fn known(project: &Project, spelled: &str, line: u32) -> Option<Place> {
    let kernels = project.kernels.iter().chain(&project.wrong).map(|kernel| &kernel.file);
    let mut files = kernels.chain(project.includes.iter().map(|include| &include.file));
    let file = files.find(|file| Path::new(spelled).ends_with(file))?;
    Some(Place { file: file.clone(), line, column: 0, length: 0 })
}
