//! The command that starts a worker. The application supplies it; the core never derives it from its own program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Default of [`WorkerCommand::stopped_limit`].
const STOPPED_LIMIT: Duration = Duration::from_secs(10);

/// A program that uses the worker protocol on its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables besides `LANG` and the temporary folder. The worker receives no other variable of the
    /// parent.
    pub environment: Vec<(OsString, OsString)>,
    /// How long a worker may be stopped (by SIGSTOP) without a break before its parent kills it.
    pub stopped_limit: Duration,
}

impl WorkerCommand {
    /// A command without additional environment variables. Its workers may be stopped for 10 s.
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
