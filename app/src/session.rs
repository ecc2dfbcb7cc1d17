//! What every command needs of the machine it runs on: places, a way to stop, a way to start workers.

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::Compiler;
use lightbench_core::display_text::visible;
use lightbench_core::history::place::user_state;
use lightbench_core::models::{Access, Roster, StopSign, SystemKeyring};
use lightbench_core::toolchain::{
    DEFAULT_FETCH_LIMIT, FetchError, FetchEvent, FetchRequest, PinnedSet, Surroundings, Toolchain,
    ToolchainError, discover, fetch, user_cache,
};
use lightbench_core::worker::command::WorkerCommand;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::args::Places;
use crate::outcome::{Outcome, Status};
use crate::report;

/// The exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Whether there is something to draw on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// There may be.
    Likely,
    /// The environment names none.
    None,
}

/// Whether there is something to draw on, as far as the environment says.
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

/// One run of the program.
#[derive(Debug)]
pub struct Session {
    /// The relevant part of the environment.
    pub surroundings: Surroundings,
    /// Set by Ctrl-C.
    pub cancellation: Cancellation,
    /// Our folder in the user's state folder.
    pub state: Option<PathBuf>,
}

impl Session {
    /// A session in these surroundings that nobody interrupts yet.
    pub fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, cancellation: Cancellation::new(), state: None }
    }

    /// The session of this process, with the places that the user named.
    pub fn of_process(places: &Places) -> Self {
        let mut surroundings =
            Surroundings::from_variables(&|name| env::var_os(name), user_cache());
        surroundings.explicit = place(places.toolchain.as_ref(), "LIGHTBENCH_TOOLCHAIN");
        let cache = place(places.cache.as_ref(), "LIGHTBENCH_CACHE");
        surroundings.cache = cache.or(surroundings.cache);
        let state = place(places.state.as_ref(), "LIGHTBENCH_STATE").or_else(user_state);
        #[cfg(unix)]
        have_long_files_refused();
        Self { surroundings, cancellation: interruption(), state }
    }

    /// How a worker is started: this very program.
    ///
    /// # Errors
    /// When the system does not say where the program is.
    pub fn worker_command(&self) -> io::Result<WorkerCommand> {
        self.own_command("worker")
    }

    /// How a process is started that carries out one order and ends: this very program.
    ///
    /// # Errors
    /// When the system does not say where the program is.
    pub fn launch_once_command(&self) -> io::Result<WorkerCommand> {
        self.own_command("launch-once")
    }

    /// How a process is started that holds clocks: this very program.
    ///
    /// # Errors
    /// When the system does not say where the program is.
    pub fn hold_clocks_command(&self) -> io::Result<WorkerCommand> {
        self.own_command("hold-clocks")
    }

    fn own_command(&self, hidden: &str) -> io::Result<WorkerCommand> {
        let mut command = WorkerCommand::new(env::current_exe()?, [hidden]);
        // Programs on Windows do not start without knowing where the system is.
        let system = env::var_os("SystemRoot").map(|folder| ("SystemRoot".into(), folder));
        command.environment.extend(system);
        Ok(command)
    }

    /// A compiler: the one found on this machine, or else fetched now.
    ///
    /// # Errors
    /// When there is none and none could be fetched.
    pub fn compiler(&self) -> Result<Compiler, NoCompiler> {
        let toolchain = self.toolchain()?;
        let command = self.worker_command().map_err(NoCompiler::Program)?;
        Ok(Compiler::new(toolchain, command, self.surroundings.cache.clone()))
    }

    /// What a compiler is made of: what is found on this machine, or else fetched now.
    ///
    /// # Errors
    /// When there is none and none could be fetched.
    pub fn toolchain(&self) -> Result<Toolchain, NoCompiler> {
        match discover(&self.surroundings).into_toolchain() {
            Err(ToolchainError::Missing { .. }) => {
                self.fetch(PinnedSet::Compiler)?;
                Ok(discover(&self.surroundings).into_toolchain()?)
            }
            found => Ok(found?),
        }
    }

    /// The keys, variables and proxy that models need. The keyring may ask a person to unlock it.
    #[must_use]
    pub fn model_access(&self, roster: &Roster) -> Access {
        roster.access(&|name| env::var_os(name), &SystemKeyring)
    }

    /// Up after Ctrl-C.
    #[must_use]
    pub fn stop_sign(&self) -> StopSign {
        let cancellation = self.cancellation.clone();
        StopSign::when(move || cancellation.is_cancelled())
    }

    /// Fetches a set of packages, with its progress on standard error.
    ///
    /// # Errors
    /// As [`fetch`].
    pub fn fetch(&self, set: PinnedSet) -> Result<(), FetchError> {
        let request = FetchRequest { set, limit: DEFAULT_FETCH_LIMIT };
        let cancelled = || self.cancellation.is_cancelled();
        fetch(&self.surroundings, request, &cancelled, &mut |event| say(&event)).map(drop)
    }
}

/// A place as it was typed, else as a variable of the environment has it.
fn place(typed: Option<&PathBuf>, variable: &str) -> Option<PathBuf> {
    let named = || env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    typed.cloned().or_else(named)
}

/// Set by Ctrl-C and its like; a second one ends the program at once, without cleaning up.
fn interruption() -> Cancellation {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Order matters: the shutdown looks at the flag that the second registration sets.
        let registered = register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&flag))
            .and_then(|_| register(signal, Arc::clone(&flag)));
        if let Err(error) = registered {
            say_line(&format!("Ctrl-C will not clean up: {error}"));
        }
    }
    Cancellation::from(flag)
}

/// A write beyond the limit of file sizes (`ulimit -f`) fails like one to a full disk, instead of ending the process by SIGXFSZ.
#[cfg(unix)]
fn have_long_files_refused() {
    let unread = Arc::new(AtomicBool::new(false));
    if let Err(error) = register(signal_hook::consts::SIGXFSZ, unread) {
        say_line(&format!("a file beyond the limit of file sizes will end the program: {error}"));
    }
}

/// From now on the first Ctrl-C ends the program: for what cannot be stopped halfway and leaves nothing behind.
pub fn end_when_interrupted() {
    for signal in [SIGINT, SIGTERM] {
        let armed = Arc::new(AtomicBool::new(true));
        if let Err(error) = register_conditional_shutdown(signal, INTERRUPTED, armed) {
            say_line(&format!("Ctrl-C will not end the launch: {error}"));
        }
    }
}

/// Why there is no compiler.
#[derive(Debug, thiserror::Error)]
pub enum NoCompiler {
    /// None was found, and none may be fetched.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// It could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The system does not say where this program is.
    #[error("cannot find this program to start a worker: {0}")]
    Program(io::Error),
}

impl NoCompiler {
    /// What a command reports.
    pub fn outcome(&self, as_json: bool) -> Outcome {
        match self {
            Self::Fetch(FetchError::Cancelled) => Outcome::failed(Status::Interrupted, self),
            Self::Toolchain(_) | Self::Fetch(_) | Self::Program(_) => {
                report::environment(self, as_json)
            }
        }
    }
}

/// One line of progress; a reader that stopped listening does not stop the work.
fn say(event: &FetchEvent) {
    let line = match event {
        FetchEvent::WaitingForAnother => {
            "another process is fetching the compiler; waiting for it".to_owned()
        }
        FetchEvent::LeftoverRemoved { folder } => {
            format!("removed what an interrupted fetch had left: {}", folder.display())
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
    say_line(&line);
}

fn say_line(line: &str) {
    writeln!(anstream::stderr(), "{line}").ok();
}
