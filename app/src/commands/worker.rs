//! The hidden command `worker`: the process that compiles for its parent.

use std::process::ExitCode;

use lightbench_core::worker::server;

/// Serves the parent on standard input and output.
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
