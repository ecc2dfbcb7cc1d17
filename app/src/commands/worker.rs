//! The hidden command `worker`: the process that compiles for another one of this program.

use std::process::ExitCode;

use lightbench_core::worker::server;

/// Serves the parent at the other end of the standard streams.
#[must_use]
pub fn run() -> ExitCode {
    match server::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
