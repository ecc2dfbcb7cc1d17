//! A worker process. It starts with a cleared environment and its own scratch folder, and is killed with its process group.

use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lightbench_primitives::owned_folder::OwnedFolder;

use crate::SCRATCH_PREFIX;
use crate::command::WorkerCommand;
use crate::error::{Death, WorkerError};
use crate::memory;
use crate::stderr_tail::StderrTail;

/// Time for a worker that closed its output to exit, so that its exit status can be reported.
const GRACE: Duration = Duration::from_millis(250);

/// The process, its scratch folder and the end of its standard error. Dropping the value kills and reaps the process and
/// removes the folder.
#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    stderr: StderrTail,
    scratch: OwnedFolder,
    ended: Option<Death>,
    /// Out-of-memory kills of the control group when the process started.
    oom_kills: Option<u64>,
}

/// The parent's ends of the worker's standard input and output.
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
        // This also removes scratch folders that killed programs left behind.
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

    /// Whether the process runs. This does not reap an ended process.
    pub(super) fn is_running(&mut self) -> bool {
        self.ended.is_none() && is_running(&mut self.process)
    }

    /// Kills the process and its process group, and reaps the process.
    pub(super) fn kill(&mut self) -> Death {
        if let Some(death) = self.ended {
            return death;
        }
        // The group first: until the process is reaped, its number cannot be assigned to another group.
        kill_group(&mut self.process);
        let death = self.process.wait().map_or(Death::Unknown, death_from_status);
        self.stderr.finish();
        self.ended = Some(death);
        death
    }

    /// How a process that closed its output ended. The process is killed if it does not exit within [`GRACE`].
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

    /// Out-of-memory kills in the control group of this process since the worker started; zero if the system does not
    /// count them.
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

/// Starts the worker in a new process group, so that a kill includes the worker's children and Ctrl-C in the terminal
/// reaches only the parent.
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

/// Without process groups, only the worker itself is killed.
#[cfg(not(unix))]
fn kill_group(process: &mut std::process::Child) {
    // Fails only if the process has ended.
    let _ended = process.kill();
}

/// Whether the process has ended. This does not reap it, so that its number stays reserved.
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

/// Without `waitid`, the worker always gets the whole [`GRACE`] period.
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
