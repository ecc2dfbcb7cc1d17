//! Errors as text and JSON, in one form for all commands.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::path::Path;

use lightbench_core::display_text::visible_lines;
use lightbench_core::project::new_folder::FolderError;
use lightbench_core::project::{BrokenFile, Part, Problem, Project, ProjectError};
use lightbench_core::report::document::ErrorReport;
use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};

use crate::diagnostics;
use crate::outcome::{Outcome, Status, report_document};
use crate::style::{ERROR, NOTE};

/// The texts that diagnostics quote.
#[derive(Debug, Default)]
pub struct Sources<'a> {
    texts: BTreeMap<String, Quoted<'a>>,
    main: Option<String>,
}

/// A text with its path relative to the working directory.
#[derive(Debug)]
pub struct Quoted<'a> {
    pub path: String,
    pub text: &'a str,
}

impl<'a> Sources<'a> {
    /// Adds a text under the compiler's name for it.
    pub fn add(&mut self, name: String, path: &Path, text: &'a str) {
        self.texts.insert(name, Quoted { path: path.display().to_string(), text });
    }

    /// Adds the kernel file.
    pub fn add_main(&mut self, name: String, path: &Path, text: &'a str) {
        self.main = Some(name.clone());
        self.add(name, path, text);
    }

    /// The kernel file.
    pub fn main(&self) -> Option<&Quoted<'a>> {
        self.get(self.main.as_ref()?)
    }

    /// The text with this name.
    pub fn get(&self, name: &str) -> Option<&Quoted<'a>> {
        self.texts.get(name)
    }

    /// A line of a text, numbered from 1.
    pub fn line(&self, name: &str, number: u32) -> Option<&'a str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.get(name)?.text.lines().nth(index)
    }
}

/// `error: …`, with control characters from files made visible.
pub fn error(message: &str) -> String {
    format!("{ERROR}error{ERROR:#}: {}\n", visible_lines(message))
}

/// Notices, one line each.
pub fn notices(notices: &[String]) -> String {
    notices
        .iter()
        .map(|notice| format!("{NOTE}note{NOTE:#}: {}\n", visible_lines(notice)))
        .collect()
}

/// Unrecognised compiler messages, unchanged.
pub fn other_messages(text: &str) -> String {
    if text.trim().is_empty() {
        String::new()
    } else {
        format!("{}\n", visible_lines(text.trim_end()))
    }
}

/// A wrong request.
pub fn request(error: &impl Display, as_json: bool) -> Outcome {
    let details = ErrorDetails::new(ErrorKind::Request, error.to_string());
    failed(Status::BadRequest, details, as_json)
}

/// A machine that lacks something.
pub fn environment(message: &impl Display, as_json: bool) -> Outcome {
    let details = ErrorDetails::new(ErrorKind::Environment, message.to_string());
    failed(Status::Environment, details, as_json)
}

/// A file that could not be written.
pub fn unwritten(path: &Path, error: &io::Error, as_json: bool) -> Outcome {
    let message = format!("cannot write {}: {error}", path.display());
    not_written(WriteFault::from(error), &message, as_json)
}

/// A folder of a project that could not be written.
pub fn folder_unwritten(error: &FolderError, as_json: bool) -> Outcome {
    let fault = match error {
        FolderError::Io { source, .. } => source.into(),
        FolderError::NotEmpty { .. }
        | FolderError::Occupied { .. }
        | FolderError::NoParent { .. }
        | FolderError::NoName { .. } => WriteFault::Path,
    };
    not_written(fault, error, as_json)
}

fn not_written(fault: WriteFault, message: &impl Display, as_json: bool) -> Outcome {
    match fault {
        WriteFault::Path => request(message, as_json),
        WriteFault::Machine => environment(message, as_json),
    }
}

/// What prevented a write.
#[derive(Clone, Copy)]
enum WriteFault {
    /// Another path helps.
    Path,
    /// The machine lacks something, such as space.
    Machine,
}

impl From<&io::Error> for WriteFault {
    fn from(error: &io::Error) -> Self {
        use io::ErrorKind::{
            AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound,
        };
        let is_path = matches!(
            error.kind(),
            AlreadyExists
                | InvalidFilename
                | InvalidInput
                | IsADirectory
                | NotADirectory
                | NotFound
        );
        if is_path { Self::Path } else { Self::Machine }
    }
}

/// A project that cannot be used: every problem below the line it refers to.
pub fn project_error(error: &ProjectError, target: &Path, as_json: bool) -> Outcome {
    let ProjectError::Problems { problems } = error else {
        return request(error, as_json);
    };
    let details = ErrorDetails::from_problems(error.to_string(), problems);
    let outcome = failed(Status::BadRequest, details, as_json);
    Outcome { errors: problems_text(problems, target), ..outcome }
}

/// A requested kernel whose file cannot be read: it failed, and nothing ran.
pub fn broken_kernel(broken: &BrokenFile, project: &Project, as_json: bool) -> Outcome {
    let file = project.root.join(&broken.file);
    let message = format!("{} cannot be read", file.display());
    let errors = broken_text(broken, project) + "\n" + &error(&message);
    let details = ErrorDetails::from_problems(message, &broken.problems);
    Outcome { errors, ..failed(Status::KernelFailed, details, as_json) }
}

/// The problems of a broken file, below the lines they refer to.
pub fn broken_text(broken: &BrokenFile, project: &Project) -> String {
    let text = below_lines(&broken.problems, &project.root);
    text.trim_end().to_owned() + "\n"
}

/// Notices about kernels that a command skips because their files are broken.
pub fn left_out(project: &Project) -> Vec<String> {
    let kernels = project.broken.iter().filter(|broken| broken.part == Part::Kernel);
    let notice =
        |broken: &BrokenFile| format!("{} is skipped: {}", broken.name(), broken.problem_list());
    kernels.map(notice).collect()
}

fn below_lines(problems: &[Problem], root: &Path) -> String {
    problems.iter().map(|problem| diagnostics::project_problem(problem, root) + "\n").collect()
}

fn problems_text(problems: &[Problem], target: &Path) -> String {
    let text = below_lines(problems, &diagnostics::root_of(target, problems));
    let count = problems.len();
    let noun = if count == 1 { "problem" } else { "problems" };
    text + &error(&format!("{count} {noun} in {}", target.display()))
}

/// A failure with any status, as text and optionally as JSON.
pub fn failed(status: Status, details: ErrorDetails, as_json: bool) -> Outcome {
    let errors = error(&details.message);
    let output = if as_json { report_document(&ErrorReport::new(details)) } else { String::new() };
    Outcome { output, errors, status }
}
