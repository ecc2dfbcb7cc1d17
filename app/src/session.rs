//! What every command needs of the machine it runs on: places, a way to stop, a way to start workers.

use std::env;
use std::io::{self, Write as _};

use lightbench_core::cancellation::Cancellation;
use lightbench_core::display_text::visible;
use lightbench_core::toolchain::{
    DEFAULT_FETCH_LIMIT, FetchError, FetchEvent, FetchRequest, PinnedSet, Surroundings, fetch,
    user_cache,
};
use lightbench_core::worker::command::WorkerCommand;

use crate::args::Places;

/// One run of the program.
#[derive(Debug)]
pub struct Session {
    /// The relevant part of the environment.
    pub surroundings: Surroundings,
    /// Set by Ctrl-C.
    pub cancellation: Cancellation,
}

impl Session {
    /// A session in these surroundings that nobody interrupts yet.
    pub fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, cancellation: Cancellation::new() }
    }

    /// The session of this process, with the places that the user named.
    pub fn of_process(places: &Places) -> Self {
        let mut surroundings =
            Surroundings::from_variables(&|name| env::var_os(name), user_cache());
        surroundings.explicit.clone_from(&places.toolchain);
        if let Some(cache) = &places.cache {
            surroundings.cache = Some(cache.clone());
        }
        Self::new(surroundings)
    }

    /// How a worker is started: this very program.
    ///
    /// # Errors
    /// When the system does not say where the program is.
    pub fn worker_command(&self) -> io::Result<WorkerCommand> {
        Ok(WorkerCommand::new(env::current_exe()?, ["worker"]))
    }

    /// Fetches a set of packages, with its progress on standard error.
    ///
    /// # Errors
    /// As [`fetch`].
    pub fn fetch(&self, set: PinnedSet) -> Result<(), FetchError> {
        let request = FetchRequest { set, limit: DEFAULT_FETCH_LIMIT };
        let cancelled = || self.cancellation.is_cancelled();
        fetch(&self.surroundings, request, &cancelled, &mut |event| report(&event)).map(drop)
    }
}

/// One line of progress; a reader that stopped listening does not stop the work.
fn report(event: &FetchEvent) {
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
    writeln!(anstream::stderr(), "{line}").ok();
}
