//! The hidden command `hold-clocks`: a process that locks the clocks of a GPU while its parent lives, and its handle in
//! the parent.

use std::io::{self, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lightbench_core::device::clock_lock::{LockError, hold, read_lock_reply};
use lightbench_core::device::cuda::NvmlClocks;

use crate::args::HoldClocks;
use crate::session::Session;

/// Termination signals: the process ends with its parent and not earlier.
#[cfg(unix)]
const SIGNALS: [i32; 3] = {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    [SIGHUP, SIGINT, SIGTERM]
};
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// Locks the clocks until standard input ends.
#[must_use]
pub fn run(arguments: &HoldClocks) -> ExitCode {
    for signal in SIGNALS {
        let noticed = Arc::new(AtomicBool::new(false));
        if signal_hook::flag::register(signal, noticed).is_err() {
            return ExitCode::FAILURE;
        }
    }
    let mut told = io::stdout();
    let held = NvmlClocks::open(&arguments.uuid).map_err(|error| {
        anstream::println!("{error}");
        error
    });
    let held = held
        .and_then(|mut clocks| hold(&mut clocks, arguments.megahertz, &mut io::stdin(), &mut told));
    if held.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Holds the clocks of a GPU until it is dropped.
pub(super) struct ClockHolder {
    process: Child,
    /// Starts a replacement if the process was killed: it locks the clocks again and releases them.
    again: Command,
}

impl ClockHolder {
    /// Locks the clocks of the GPU with this UUID.
    ///
    /// # Errors
    /// The machine does not permit it, or the GPU does not support it.
    pub(super) fn start(session: &Session, uuid: &str, megahertz: u32) -> Result<Self, LockError> {
        let no_keeper = |error: io::Error| LockError::NoKeeper(error.to_string());
        let own = session.hold_clocks_command().map_err(no_keeper)?;
        let command = || {
            let mut command = Command::new(&own.program);
            command.args(&own.arguments).arg(uuid).arg(megahertz.to_string());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            // A new process group, so that Ctrl-C does not reach it.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            command
        };
        let mut process = command().spawn().map_err(no_keeper)?;
        let said = match process.stdout.as_mut() {
            Some(told) => read_lock_reply(&mut BufReader::new(told)),
            None => Err("it has no output".to_owned()),
        };
        let keeper = Self { process, again: command() };
        match said {
            Ok(()) => Ok(keeper),
            Err(reason) => Err(LockError::Refused(reason)),
        }
    }
}

impl Drop for ClockHolder {
    fn drop(&mut self) {
        // The process waits for the end of its input.
        drop(self.process.stdin.take());
        let ended = self.process.wait();
        if !ended.is_ok_and(|status| status.success()) {
            let again = self.again.stdin(Stdio::null()).spawn();
            if let Ok(mut again) = again {
                again.wait().ok();
            }
        }
    }
}
