//! The hidden command `worker`: the process that compiles and runs kernels, or runs Python, for its parent.

use std::process::ExitCode;

use lightbench_core::compile;
use lightbench_core::python;
use lightbench_core::verify::device_protocol;
use lightbench_core::worker::server;

/// Serves the parent on standard input and output.
#[must_use]
pub fn run() -> ExitCode {
    match server::serve(vec![compile::service::offer(), device_protocol::offer(), python::offer()])
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
