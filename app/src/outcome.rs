//! The result of a command: its texts and its exit status.

use std::io;
use std::process::ExitCode;

use crate::style::ERROR;

/// Exit statuses of the command line, in ascending severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything requested was done, without failures.
    Passed,
    /// A kernel failed.
    KernelFailed,
    /// The request is wrong: arguments, a project, a file.
    BadRequest,
    /// The machine cannot do it: no compiler, no space, no device.
    Environment,
    /// Interrupted by Ctrl-C.
    Interrupted,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Passed => 0,
            Status::KernelFailed => 1,
            Status::BadRequest => 2,
            Status::Environment => 3,
            Status::Interrupted => 130,
        })
    }
}

/// The result of a command: text for standard output, text for standard error, and a status.
#[derive(Debug)]
pub struct Outcome {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub errors: String,
    /// The exit status.
    pub status: Status,
}

impl Outcome {
    /// A successful result.
    pub fn passed(output: String) -> Self {
        Self { output, errors: String::new(), status: Status::Passed }
    }

    /// The usage text, for a command without arguments.
    pub fn usage(help: String) -> Self {
        Self { output: String::new(), errors: help, status: Status::BadRequest }
    }

    /// One error message, and nothing on standard output.
    pub fn failed(status: Status, message: impl std::fmt::Display) -> Self {
        let errors = format!("{}error{}: {message}\n", ERROR.render(), ERROR.render_reset());
        Self { output: String::new(), errors, status }
    }

    /// Writes both texts.
    pub fn show(&self) -> io::Result<()> {
        // Errors come last, next to the prompt.
        write_all(&mut anstream::stdout().lock(), &self.output)?;
        write_all(&mut anstream::stderr().lock(), &self.errors)
    }
}

/// A report as text, with its keys in alphabetical order.
pub fn report_document(report: &impl serde::Serialize) -> String {
    match serde_json::to_value(report) {
        // A JSON value keeps its keys sorted.
        Ok(value) => document(&value),
        Err(error) => no_document(&error),
    }
}

/// A JSON document as text; every document states its schema.
pub fn document(value: &impl serde::Serialize) -> String {
    match serde_json::to_string_pretty(value) {
        Ok(text) => text + "\n",
        Err(error) => no_document(&error),
    }
}

fn no_document(error: &serde_json::Error) -> String {
    format!("{{\"error\": \"this result has no JSON form: {error}\"}}\n")
}

/// Writes a text to a stream; a closed pipe is not an error.
pub(crate) fn write_all(stream: &mut impl io::Write, text: &str) -> io::Result<()> {
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
