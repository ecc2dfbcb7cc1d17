//! A worker process: started with nothing of the parent's, ended with everything it started.

use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lightbench_primitives::owned_folder::OwnedFolder;

use crate::SCRATCH_PREFIX;
use crate::command::WorkerCommand;
use crate::error::{Death, WorkerError};
use crate::memory;
use crate::stderr_tail::StderrTail;

/// How long a worker that closed its output may take to end by itself, so that its own exit status
/// is what gets reported.
const GRACE: Duration = Duration::from_millis(250);

/// The process, its scratch folder and its last words. Dropping it kills and reaps the process and
/// removes the folder.
#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    stderr: StderrTail,
    scratch: OwnedFolder,
    ended: Option<Death>,
    /// What the control group had counted when it started.
    oom_kills: Option<u64>,
}

/// The two ends of the conversation.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) to_worker: ChildStdin,
    pub(super) from_worker: ChildStdout,
}

impl Child {
    pub(super) fn start(command: &WorkerCommand) -> Result<(Self, Pipes), WorkerError> {
        Self::try_start(command)
            .map_err(|reason| WorkerError::Start { program: command.program.clone(), reason })
    }

    fn try_start(command: &WorkerCommand) -> std::io::Result<(Self, Pipes)> {
        let oom_kills = memory::oom_kills();
        // What workers of killed programs left is removed here.
        let scratch = OwnedFolder::within(&tempfile::env::temp_dir(), SCRATCH_PREFIX)?;
        let mut process = Command::new(&command.program);
        process
            .args(&command.arguments)
            .env_clear()
            .env("LANG", "C")
            .env(TEMPORARY_FOLDER, scratch.path())
            .envs(command.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        own_process_group(&mut process);
        let mut process = process.spawn()?;
        let streams = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(to_worker), Some(from_worker), Some(stderr)) = streams else {
            return Err(std::io::Error::other("the process has no pipes"));
        };
        let stderr = StderrTail::start(stderr)?;
        let child = Self { process, stderr, scratch, ended: None, oom_kills };
        Ok((child, Pipes { to_worker, from_worker }))
    }

    pub(super) fn scratch(&self) -> &std::path::Path {
        self.scratch.path()
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it has not ended; a process that has is not reaped by asking.
    pub(super) fn is_running(&mut self) -> bool {
        self.ended.is_none() && is_running(&mut self.process)
    }

    /// Ends the process and everything in its group, now.
    pub(super) fn kill(&mut self) -> Death {
        if let Some(death) = self.ended {
            return death;
        }
        // The group first, while its number is still reserved by a process that nobody has reaped.
        kill_group(&mut self.process);
        let death = self.process.wait().map_or(Death::Unknown, death_from_status);
        self.stderr.finish();
        self.ended = Some(death);
        death
    }

    /// How a process that closed its output ended; one that did not end is killed.
    pub(super) fn death(&mut self) -> Death {
        let deadline = Instant::now() + GRACE;
        while !has_exited(&self.process) {
            if Instant::now() >= deadline {
                self.kill();
                return Death::OutputClosed;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill()
    }

    /// How many processes of our control group the out-of-memory killer has ended since it started; zero where the system
    /// does not say.
    pub(super) fn oom_kills(&self) -> u64 {
        let counts = self.oom_kills.zip(memory::oom_kills());
        counts.map_or(0, |(before, now)| now.saturating_sub(before))
    }

    pub(super) fn stderr_tail(&self) -> Vec<String> {
        self.stderr.lines()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(unix)]
const TEMPORARY_FOLDER: &str = "TMPDIR";
#[cfg(not(unix))]
const TEMPORARY_FOLDER: &str = "TMP";

/// A group of its own: a kill takes the worker's children too, and Ctrl-C in the terminal reaches
/// only the parent, which decides.
#[cfg(unix)]
fn own_process_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_process_group(_command: &mut Command) {}

#[cfg(unix)]
fn kill_group(process: &mut std::process::Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
        // Fails only if the whole group has ended.
        let _ended = kill_process_group(group, Signal::KILL);
    }
}

/// Where there are no process groups, only the worker itself is ended.
#[cfg(not(unix))]
fn kill_group(process: &mut std::process::Child) {
    // Fails only if the process has ended.
    let _ended = process.kill();
}

/// Whether the process has ended, without reaping it: its number stays reserved.
#[cfg(unix)]
fn has_exited(process: &std::process::Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(pid) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

#[cfg(unix)]
fn is_running(process: &mut std::process::Child) -> bool {
    !has_exited(process)
}

#[cfg(not(unix))]
fn is_running(process: &mut std::process::Child) -> bool {
    matches!(process.try_wait(), Ok(None))
}

/// Without that distinction, give it the whole time of grace.
#[cfg(not(unix))]
fn has_exited(_process: &std::process::Child) -> bool {
    std::thread::sleep(GRACE);
    true
}

#[cfg(unix)]
fn death_from_status(status: std::process::ExitStatus) -> Death {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => Death::Exited { code },
        (None, Some(number)) => Death::Signal { number },
        (None, None) => Death::Unknown,
    }
}

#[cfg(not(unix))]
fn death_from_status(status: std::process::ExitStatus) -> Death {
    status.code().map_or(Death::Unknown, |code| Death::Exited { code })
}
