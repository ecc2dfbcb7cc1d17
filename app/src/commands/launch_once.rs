//! The hidden command `launch-once`: the process that a profiler observes.

use std::process::ExitCode;

use lightbench_core::nsight::launch_once;

use crate::args::LaunchOnce;

/// Carries out the order; standard output belongs to the profiler.
#[must_use]
pub fn run(arguments: &LaunchOnce) -> ExitCode {
    match launch_once(&arguments.order) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
