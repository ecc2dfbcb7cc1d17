//! What a command has to say, and the exit status that says it to a script.

use std::io;
use std::process::ExitCode;

use crate::style::ERROR;

/// The exit statuses of the command line, the better ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything asked for was done and is well.
    Passed,
    /// A kernel is at fault.
    KernelFailed,
    /// The request itself is wrong: arguments, a project, a file.
    BadRequest,
    /// The machine cannot do it: no compiler, no space, no device.
    Environment,
    /// Ctrl-C.
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
    /// For the script that called us.
    pub status: Status,
}

impl Outcome {
    /// A result without complaints.
    pub fn passed(output: String) -> Self {
        Self { output, errors: String::new(), status: Status::Passed }
    }

    /// Nothing was asked: how to ask.
    pub fn explained(help: String) -> Self {
        Self { output: String::new(), errors: help, status: Status::BadRequest }
    }

    /// One message, and nothing on standard output.
    pub fn failed(status: Status, message: impl std::fmt::Display) -> Self {
        let errors = format!("{}error{}: {message}\n", ERROR.render(), ERROR.render_reset());
        Self { output: String::new(), errors, status }
    }

    /// Writes both texts; a reader that stopped listening is not an error.
    pub fn show(&self) -> io::Result<()> {
        // Errors come last, where somebody looks first.
        let shown = write_all(&mut anstream::stdout().lock(), &self.output)
            .and_then(|()| write_all(&mut anstream::stderr().lock(), &self.errors));
        match shown {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// A JSON document as text; every document states its schema.
pub fn document(value: &impl serde::Serialize) -> String {
    match serde_json::to_string_pretty(value) {
        Ok(text) => text + "\n",
        Err(error) => format!("{{\"error\": \"this result has no JSON form: {error}\"}}\n"),
    }
}

fn write_all(stream: &mut impl io::Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
