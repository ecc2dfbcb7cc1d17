//! Starts the window of Nsight Compute.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lightbench_core::toolchain::{HostEnvironment, NsightProgram, nsight};

/// Whether the viewer was started.
pub(super) enum ViewerState {
    /// Not requested.
    NotAsked,
    /// Started; it outlives this program.
    Started(PathBuf),
    /// Not started, for this reason.
    NotStarted(String),
}

impl ViewerState {
    /// Opens a report in the viewer.
    pub(super) fn show(surroundings: &HostEnvironment, file: &Path) -> Self {
        let program = match nsight(surroundings, NsightProgram::Window) {
            Ok(program) => program,
            Err(absent) => return Self::NotStarted(absent.to_string()),
        };
        let mut command = Command::new(&program);
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A new process group, so that Ctrl-C does not reach it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Not awaited: the viewer outlives this program.
        match command.spawn() {
            Ok(_child) => Self::Started(program),
            Err(error) => {
                Self::NotStarted(format!("{} cannot be started: {error}", program.display()))
            }
        }
    }

    /// A line for the report, if there is something to report.
    pub(super) fn line(&self) -> Option<String> {
        match self {
            Self::NotAsked => None,
            Self::Started(program) => Some(format!("opened with {}", program.display())),
            Self::NotStarted(reason) => Some(format!("not opened: {reason}")),
        }
    }
}
