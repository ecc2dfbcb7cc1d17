//! The window of Nsight Compute, started and let go.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lightbench_core::toolchain::{NsightProgram, Surroundings, nsight};

/// What became of showing a report.
pub(super) enum Viewer {
    /// Nobody asked.
    NotAsked,
    /// It was started, and lives on by itself.
    Started(PathBuf),
    /// Why it was not.
    NotStarted(String),
}

impl Viewer {
    /// Starts the window with a report in it.
    pub(super) fn show(surroundings: &Surroundings, file: &Path) -> Self {
        let program = match nsight(surroundings, NsightProgram::Window) {
            Ok(program) => program,
            Err(absent) => return Self::NotStarted(absent.to_string()),
        };
        let mut command = Command::new(&program);
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C in our terminal is not for it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Nobody waits for it: we end first.
        match command.spawn() {
            Ok(_child) => Self::Started(program),
            Err(error) => {
                Self::NotStarted(format!("{} cannot be started: {error}", program.display()))
            }
        }
    }

    /// In a line of its own, where there is something to say.
    pub(super) fn line(&self) -> Option<String> {
        match self {
            Self::NotAsked => None,
            Self::Started(program) => Some(format!("opened with {}", program.display())),
            Self::NotStarted(reason) => Some(format!("not opened: {reason}")),
        }
    }
}
