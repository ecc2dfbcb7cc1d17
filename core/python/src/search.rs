//! The search for the user's interpreter: named in the settings or in `PATH`, and examined by running it confined.

use std::path::{Path, PathBuf};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::WorkerError;
use lightbench_worker::server::WithoutSandbox;
use serde::Deserialize as _;
use serde_json::json;

use crate::error::PythonError;
use crate::interpreter::{Interpreter, Packages};
use crate::layout::Layout;
use crate::shim::OLDEST_VERSION;
use crate::worker::{Worker, WorkerConfiguration};

/// Where an interpreter is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterpreterSearch {
    /// An interpreter or the folder of a virtual environment that the user named; nothing else is looked for then.
    pub explicit: Option<PathBuf>,
    /// The folders of `PATH`, in order; relative ones are skipped.
    pub path: Vec<PathBuf>,
}

/// The interpreter and the sandbox that the user's settings permit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PythonAccess {
    /// Where the interpreter is looked for.
    pub search: InterpreterSearch,
    /// Whether workers start where the sandbox is not fully in force.
    pub without_sandbox: WithoutSandbox,
}

impl PythonAccess {
    /// How workers start by this command.
    #[must_use]
    pub fn configuration(&self, command: WorkerCommand) -> WorkerConfiguration {
        let without_sandbox = self.without_sandbox;
        WorkerConfiguration { without_sandbox, ..WorkerConfiguration::new(command) }
    }
}

impl Interpreter {
    /// Finds an interpreter and examines it in a worker.
    ///
    /// # Errors
    ///
    /// [`PythonError::NotFound`] and [`PythonError::Unusable`]; [`PythonError::Worker`] if the examination was cancelled
    /// or the sandbox is not in force and the configuration does not permit that.
    pub fn find(
        search: &InterpreterSearch,
        configuration: &WorkerConfiguration,
        cancellation: &Cancellation,
    ) -> Result<Self, PythonError> {
        if let Some(program) = &search.explicit {
            return Self::examine(program, configuration, cancellation);
        }
        let mut tried = Vec::new();
        let folders = search.path.iter().filter(|folder| folder.is_absolute());
        for program in folders.map(|folder| folder.join("python3")).filter(|file| file.is_file()) {
            match Self::examine(&program, configuration, cancellation) {
                Err(PythonError::Unusable { reason, .. }) => {
                    tried.push(format!("`{}`: {reason}", program.display()));
                }
                examined => return examined,
            }
        }
        Err(PythonError::NotFound { tried })
    }

    /// Starts the interpreter and asks for its version and its packages.
    fn examine(
        program: &Path,
        configuration: &WorkerConfiguration,
        cancellation: &Cancellation,
    ) -> Result<Self, PythonError> {
        let unusable = |reason| PythonError::Unusable { program: program.to_owned(), reason };
        let layout = Layout::of(program).map_err(unusable)?;
        let unknown = Self {
            program: layout.program,
            version: (0, 0, 0),
            prefixes: layout.prefixes,
            packages: Packages::default(),
        };
        let start = Worker::start(&unknown, configuration.clone(), cancellation);
        let (mut worker, facts) = match start {
            Err(PythonError::Worker(error @ WorkerError::Died { .. })) => {
                return Err(unusable(error.to_string()));
            }
            started => started?,
        };
        let (major, minor, micro) = facts.version;
        if (major, minor) < OLDEST_VERSION {
            let (oldest_major, oldest_minor) = OLDEST_VERSION;
            return Err(unusable(format!(
                "it is version {major}.{minor}.{micro}, expected {oldest_major}.{oldest_minor} or newer"
            )));
        }
        let request = json!({ "names": ["numpy", "torch", "triton"] });
        let limit = configuration.limits.start;
        let reply = worker.call("packages", &request, &[], limit, cancellation)?;
        let packages = Packages::deserialize(reply.value)
            .map_err(|error| unusable(format!("its list of packages cannot be read: {error}")))?;
        Ok(Self { version: facts.version, packages, ..unknown })
    }
}
