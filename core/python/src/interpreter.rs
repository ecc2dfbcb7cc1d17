//! The user's interpreter: found in the settings or in `PATH`, and examined by running it confined.

use std::path::{Path, PathBuf};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::error::WorkerError;
use lightbench_worker::sandbox::{SYSTEM_LIBRARIES, SandboxPolicy, Sockets, SystemCalls};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::PythonError;
use crate::layout::Layout;
use crate::worker::{Worker, WorkerConfiguration};

/// The oldest version of Python that runs our own Python code: major and minor.
pub const OLDEST_VERSION: (u32, u32) = (3, 8);

/// Files besides the interpreter's own that a program of numerical libraries reads: libraries of the system, sources of
/// random numbers, and the number and kind of the processors. Of `/proc`, only the worker's own folder: the folder of
/// another process holds its environment, which may hold keys.
const SYSTEM_FILES: [&str; 8] = [
    "/usr/local/lib",
    "/dev/urandom",
    "/dev/random",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
];

/// Where an interpreter is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterpreterSearch {
    /// An interpreter or the folder of a virtual environment that the user named; nothing else is looked for then.
    pub explicit: Option<PathBuf>,
    /// The folders of `PATH`, in order; relative ones are skipped.
    pub path: Vec<PathBuf>,
}

/// A Python interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// The program. In a virtual environment, the environment's own link.
    pub program: PathBuf,
    /// Major, minor and micro version.
    pub version: (u32, u32, u32),
    /// The folder of the virtual environment, if there is one, then the base prefix; without links.
    pub prefixes: Vec<PathBuf>,
    /// Installed packages that Lightbench uses.
    pub packages: Packages,
}

/// Versions of installed packages, from their metadata. A package that is present may still fail to load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packages {
    /// NumPy.
    pub numpy: Option<String>,
    /// PyTorch.
    pub torch: Option<String>,
    /// Triton.
    pub triton: Option<String>,
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

    /// The sandbox of this interpreter, and the folders of packages that it may read.
    pub(crate) fn policy(
        &self,
        read: &[PathBuf],
    ) -> Result<(SandboxPolicy, Vec<PathBuf>), PythonError> {
        let layout = Layout::of(&self.program).map_err(|reason| {
            let program = self.program.clone();
            PythonError::Unusable { program, reason }
        })?;
        let system = SYSTEM_LIBRARIES.into_iter().chain(SYSTEM_FILES).map(PathBuf::from);
        let mut readable = layout.readable();
        readable.extend(system);
        readable.extend_from_slice(read);
        let policy = SandboxPolicy {
            read: readable.clone(),
            execute: layout.executed,
            write: Vec::new(),
            sockets: Sockets::None,
            calls: SystemCalls::ForeignCode,
        };
        Ok((policy, readable))
    }
}
