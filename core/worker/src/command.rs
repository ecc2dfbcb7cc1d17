//! How a worker is started: told by the program around the core, never derived.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How long a worker may be stopped where nothing else is set.
const STOPPED_LIMIT: Duration = Duration::from_secs(10);

/// A command that speaks the worker protocol on its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that it gets besides `LANG` and the temporary folder. Nothing else of the parent's
    /// environment is passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// How long a worker may be stopped (by SIGSTOP) without a break before its parent kills it.
    pub stopped_limit: Duration,
}

impl WorkerCommand {
    /// A command without variables of its own; its workers may be stopped for 10 s.
    #[must_use]
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self {
            program: program.into(),
            arguments,
            environment: Vec::new(),
            stopped_limit: STOPPED_LIMIT,
        }
    }
}
