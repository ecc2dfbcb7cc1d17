//! Runs a program with its output in a file, and checks for cancellation while it runs.
//!
//! A file instead of a pipe needs no reading thread, and the program never blocks on an unread pipe.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(50);

/// Why a program did not complete.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It could not be started or watched.
    #[error("cannot run {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// It took too long.
    #[error("stopped after {} s", limit.as_secs())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    #[error("cancelled")]
    Cancelled,
}

/// When to stop.
pub struct Limits<'a> {
    /// When the clock started.
    pub begin: Instant,
    /// Time limit.
    pub limit: Duration,
    /// Whether the caller has given up.
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Limits<'_> {
    /// Fails once it is time to stop.
    pub(crate) fn check(&self) -> Result<(), ProgramError> {
        if (self.cancelled)() {
            return Err(ProgramError::Cancelled);
        }
        if self.begin.elapsed() >= self.limit {
            return Err(ProgramError::TimedOut { limit: self.limit });
        }
        Ok(())
    }
}

/// Runs `command` to its end and passes its output on line by line.
///
/// `folder` receives the file with the output. The program gets its own process group, which is killed if this function
/// returns before the program has ended.
pub fn run(
    command: &mut Command,
    folder: &Path,
    limits: &Limits<'_>,
    on_line: &mut dyn FnMut(&str),
) -> Result<ExitStatus, ProgramError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| ProgramError::Start { program: program.clone(), source };
    let output = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut lines = Lines { file: output.reopen().map_err(failed)?, rest: Vec::new() };
    command
        .stdout(output.as_file().try_clone().map_err(failed)?)
        .stderr(output.as_file().try_clone().map_err(failed)?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut running = Running { child: command.spawn().map_err(failed)?, ended: false };
    loop {
        let status = running.child.try_wait().map_err(failed)?;
        lines.drain(on_line).map_err(failed)?;
        if let Some(status) = status {
            running.ended = true;
            lines.finish(on_line);
            return Ok(status);
        }
        limits.check()?;
        thread::sleep(PAUSE);
    }
}

/// A child that does not outlive this value.
struct Running {
    child: Child,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        #[cfg(unix)]
        let _gone = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        // Both fail only if the child has already ended, which is the desired state.
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// The lines of a growing file.
struct Lines {
    file: File,
    rest: Vec<u8>,
}

impl Lines {
    fn drain(&mut self, on_line: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.file.read_to_end(&mut self.rest)?;
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        if let Some(end) = self.rest.iter().rposition(is_end) {
            let whole: Vec<u8> = self.rest.drain(..=end).collect();
            whole.split(is_end).for_each(|line| say(line, on_line));
        }
        Ok(())
    }

    fn finish(self, on_line: &mut dyn FnMut(&str)) {
        say(&self.rest, on_line);
    }
}

/// Passes one line on without control characters, because it is shown on a terminal.
fn say(line: &[u8], on_line: &mut dyn FnMut(&str)) {
    let text: String =
        String::from_utf8_lossy(line).chars().filter(|letter| !letter.is_control()).collect();
    let text = text.trim();
    if !text.is_empty() {
        on_line(text);
    }
}
