//! The environment of a command: paths, cancellation, and how worker processes are started.

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::Compiler;
use lightbench_core::display_text::visible;
use lightbench_core::history::location::user_state;
use lightbench_core::models::{ModelAccess, ModelRegistry, StopSignal, SystemKeyring};
use lightbench_core::remote::hosts::{HostSettings, Hosts};
use lightbench_core::remote::transport::{HostProgram, Prompts};
use lightbench_core::toolchain::{
    DEFAULT_FETCH_LIMIT, FetchError, FetchEvent, FetchRequest, HostEnvironment, PinnedSet,
    Toolchain, ToolchainError, discover, fetch, installed_driver, user_cache,
};
use lightbench_core::worker::command::WorkerCommand;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::args::Places;
use crate::outcome::{Outcome, Status};
use crate::report;

/// The architectures for which a program for hosts may lie beside this program.
const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];

/// How hosts are reached, with the programs that lie beside this one; `described` is the part of the user's settings.
pub fn host_settings(described: HostSettings) -> HostSettings {
    let folder = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let file = |name: String| {
        let file = folder.as_ref()?.join(name);
        file.is_file().then_some(file)
    };
    let program = |architecture: &str| {
        let own =
            || file("lightbench-worker".to_owned()).filter(|_| architecture == env::consts::ARCH);
        let file = file(format!("lightbench-worker-{architecture}")).or_else(own)?;
        Some(HostProgram { architecture: architecture.to_owned(), file })
    };
    let programs = ARCHITECTURES.iter().filter_map(|architecture| program(architecture)).collect();
    HostSettings { programs, prompts: prompts(), ..described }
}

/// Who answers the questions of `ssh`.
pub fn prompts() -> Prompts {
    match env::var_os("SSH_ASKPASS").filter(|program| !program.is_empty()) {
        Some(_) => Prompts::AskPass,
        None => Prompts::None,
    }
}

/// The exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Whether the environment names a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    Likely,
    None,
}

/// Whether the environment names a display.
#[must_use]
pub fn display() -> Display {
    let named = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    match cfg!(any(target_os = "windows", target_os = "macos"))
        || named("DISPLAY")
        || named("WAYLAND_DISPLAY")
    {
        true => Display::Likely,
        false => Display::None,
    }
}

/// The environment of one command.
#[derive(Debug)]
pub struct Session {
    /// The relevant environment variables and paths.
    pub host: HostEnvironment,
    /// Set by Ctrl-C.
    pub cancellation: Cancellation,
    /// Lightbench's folder in the user's state folder.
    pub state: Option<PathBuf>,
    /// The Python interpreter that `LIGHTBENCH_PYTHON` names.
    pub python: Option<PathBuf>,
    /// The hosts of devices that this machine does not have.
    pub hosts: Hosts,
}

impl Session {
    /// A session in this environment, without signal handlers.
    pub fn new(surroundings: HostEnvironment) -> Self {
        Self {
            host: surroundings,
            cancellation: Cancellation::new(),
            state: None,
            python: None,
            hosts: Hosts::default(),
        }
    }

    /// The same environment with a cancellation of its own.
    #[must_use]
    pub fn with_cancellation(&self, cancellation: Cancellation) -> Self {
        let Self { host, state, python, hosts, cancellation: _ } = self;
        let (host, state, python) = (host.clone(), state.clone(), python.clone());
        Self { host, cancellation, state, python, hosts: hosts.clone() }
    }

    /// The session of this process, with the paths from the command line.
    pub fn for_process(places: &Places) -> Self {
        let mut surroundings =
            HostEnvironment::from_variables(&|name| env::var_os(name), user_cache());
        surroundings.explicit = place(places.toolchain.as_ref(), "LIGHTBENCH_TOOLCHAIN");
        let cache = place(places.cache.as_ref(), "LIGHTBENCH_CACHE");
        surroundings.cache = cache.or(surroundings.cache);
        surroundings.driver = installed_driver(&surroundings.system);
        let state = place(places.state.as_ref(), "LIGHTBENCH_STATE").or_else(user_state);
        #[cfg(unix)]
        have_long_files_refused();
        let python = place(None, "LIGHTBENCH_PYTHON");
        // The user's settings determine them.
        let hosts = Hosts::default();
        Self { host: surroundings, cancellation: interruption(), state, python, hosts }
    }

    /// The command that starts a worker: this program.
    ///
    /// # Errors
    /// The system does not report the program's path.
    pub fn worker_command(&self) -> io::Result<WorkerCommand> {
        self.own_command("worker")
    }

    /// The command that starts `launch-once`: this program.
    ///
    /// # Errors
    /// The system does not report the program's path.
    pub fn launch_once_command(&self) -> io::Result<WorkerCommand> {
        self.own_command("launch-once")
    }

    /// The command that starts `hold-clocks`: this program.
    ///
    /// # Errors
    /// The system does not report the program's path.
    pub fn hold_clocks_command(&self) -> io::Result<WorkerCommand> {
        self.own_command("hold-clocks")
    }

    fn own_command(&self, hidden: &str) -> io::Result<WorkerCommand> {
        let mut command = WorkerCommand::new(env::current_exe()?, [hidden]);
        // Programs on Windows do not start without this variable.
        let system = env::var_os("SystemRoot").map(|folder| ("SystemRoot".into(), folder));
        command.environment.extend(system);
        Ok(command)
    }

    /// The compiler without Python: found on this machine, or else fetched now.
    ///
    /// # Errors
    /// None was found and none could be fetched.
    pub fn compiler(&self) -> Result<Compiler, CompilerError> {
        let toolchain = self.toolchain()?;
        let command = self.worker_command().map_err(CompilerError::Program)?;
        Ok(Compiler::new(toolchain, command, self.host.cache.clone()))
    }

    /// The toolchain: found on this machine, or else fetched now.
    ///
    /// # Errors
    /// None was found and none could be fetched.
    pub fn toolchain(&self) -> Result<Toolchain, CompilerError> {
        match discover(&self.host).into_toolchain() {
            Err(ToolchainError::Missing { .. }) => {
                self.fetch(self.compiler_to_fetch())?;
                Ok(discover(&self.host).into_toolchain()?)
            }
            found => Ok(found?),
        }
    }

    /// The compiler that fits the driver of this machine.
    #[must_use]
    pub fn compiler_to_fetch(&self) -> PinnedSet {
        PinnedSet::compiler_for(self.host.driver)
    }

    /// The keys, variables and proxy of models. The keyring may ask the user to unlock it.
    #[must_use]
    pub fn model_access(&self, roster: &ModelRegistry) -> ModelAccess {
        roster.access(&|name| env::var_os(name), &SystemKeyring)
    }

    /// The stop sign that Ctrl-C sets.
    #[must_use]
    pub fn stop_sign(&self) -> StopSignal {
        let cancellation = self.cancellation.clone();
        StopSignal::from_fn(move || cancellation.is_cancelled())
    }

    /// Fetches a set of packages, with progress on standard error.
    ///
    /// # Errors
    /// As [`fetch`].
    pub fn fetch(&self, set: PinnedSet) -> Result<(), FetchError> {
        let request = FetchRequest { set, limit: DEFAULT_FETCH_LIMIT };
        let cancelled = || self.cancellation.is_cancelled();
        fetch(&self.host, request, &cancelled, &mut |event| print_fetch_event(&event)).map(drop)
    }
}

/// A path from the command line, else from an environment variable.
fn place(typed: Option<&PathBuf>, variable: &str) -> Option<PathBuf> {
    let named = || env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    typed.cloned().or_else(named)
}

/// A flag that SIGINT and SIGTERM set; a second signal ends the program at once, without cleanup.
fn interruption() -> Cancellation {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the shutdown handler reads the flag that the second registration sets.
        let registered = register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&flag))
            .and_then(|_| register(signal, Arc::clone(&flag)));
        if let Err(error) = registered {
            print_line(&format!(
                "the handler of Ctrl-C cannot be installed, so an interruption will not clean up: {error}"
            ));
        }
    }
    Cancellation::from(flag)
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail like one to a full disk, instead of ending the process
/// by SIGXFSZ.
#[cfg(unix)]
fn have_long_files_refused() {
    let unread = Arc::new(AtomicBool::new(false));
    if let Err(error) = register(signal_hook::consts::SIGXFSZ, unread) {
        print_line(&format!(
            "the handler of SIGXFSZ cannot be installed, so a file beyond the size limit will end the program: {error}"
        ));
    }
}

/// Makes the first Ctrl-C end the program: for work that cannot be stopped halfway and leaves nothing behind.
pub fn end_when_interrupted() {
    for signal in [SIGINT, SIGTERM] {
        let armed = Arc::new(AtomicBool::new(true));
        if let Err(error) = register_conditional_shutdown(signal, INTERRUPTED, armed) {
            print_line(&format!(
                "the handler of Ctrl-C cannot be installed, so it will not end the launch: {error}"
            ));
        }
    }
}

/// Why there is no compiler.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// None was found, and fetching is not allowed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// Fetching failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The system does not report the program's path.
    #[error("a worker cannot be started, because the path of this program is unknown: {0}")]
    Program(io::Error),
}

impl CompilerError {
    /// The outcome of a command that needs a compiler.
    pub fn outcome(&self, as_json: bool) -> Outcome {
        match self {
            Self::Fetch(FetchError::Cancelled) => Outcome::failed(Status::Interrupted, self),
            Self::Toolchain(_) | Self::Fetch(_) | Self::Program(_) => {
                report::environment(self, as_json)
            }
        }
    }
}

/// Prints a line of progress; a closed terminal does not stop the work.
fn print_fetch_event(event: &FetchEvent) {
    let line = match event {
        FetchEvent::WaitingForAnother => {
            "another process is fetching the compiler; waiting for it".to_owned()
        }
        FetchEvent::LeftoverRemoved { folder } => {
            format!("removed files of an interrupted fetch: {}", folder.display())
        }
        FetchEvent::Starting { packages, folder } => {
            format!("fetching {} with pip into {}", packages.join(" "), folder.display())
        }
        FetchEvent::Line { text } => format!("    {}", visible(text)),
        FetchEvent::Installed { folder, bytes } => {
            format!("installed {} MiB in {}", bytes >> 20, folder.display())
        }
        FetchEvent::AlreadyThere { folder } => format!("already there: {}", folder.display()),
    };
    print_line(&line);
}

fn print_line(line: &str) {
    writeln!(anstream::stderr(), "{line}").ok();
}
