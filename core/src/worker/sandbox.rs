//! What a worker may touch: the policy that its parent states, and the report of what is in force.
//!
//! Enforcement is Linux's landlock and seccomp (`sandbox/linux.rs`). Elsewhere nothing is enforced
//! and the report says so: the worker is still a process of its own, with limits and a scrubbed
//! environment, and the compiler still gets texts in memory and options from trusted code only.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::protocol::Tools;

#[cfg(target_os = "linux")]
mod linux;

/// The parts of the file system that a worker may use, besides its own scratch folder, and
/// everything below them. What is not named is refused; what does not exist is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SandboxPolicy {
    /// Files and folders that may be read.
    pub read: Vec<PathBuf>,
    /// Files and folders that may be read and executed.
    pub execute: Vec<PathBuf>,
    /// Folders that may be read and written.
    pub write: Vec<PathBuf>,
    /// Which sockets may be made.
    pub sockets: Sockets,
}

/// Which sockets a worker may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Sockets {
    /// None.
    #[default]
    None,
    /// Those of this machine's own processes: a GPU's driver does not start without one. No network.
    Local,
}

impl SandboxPolicy {
    /// What these tools need: the compiler's own folder, folders with headers, the programs, and
    /// the system's libraries where there are programs that are linked to them.
    #[must_use]
    pub fn for_tools(tools: &Tools, include_folders: &[PathBuf]) -> Self {
        let libraries = tools.nvrtc.iter().filter_map(|nvrtc| nvrtc.library.parent());
        let read = libraries.map(Path::to_owned).chain(include_folders.iter().cloned()).collect();
        let mut execute: Vec<PathBuf> =
            tools.nvdisasm.iter().chain(&tools.ptxas).cloned().collect();
        if !execute.is_empty() {
            execute.extend(SYSTEM_LIBRARIES.iter().map(PathBuf::from));
        }
        Self { read, execute, write: Vec::new(), sockets: Sockets::None }
    }
}

/// What programs linked to the system's own libraries need in order to start.
const SYSTEM_LIBRARIES: [&str; 5] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/// What of the sandbox is in force in a running worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// Access to files is limited to the policy.
    pub filesystem: Enforcement,
    /// Sockets cannot be made, and the worker's process group cannot be left.
    pub network: Enforcement,
    /// Descriptors besides the standard three that the worker was started with: the parent opened
    /// them without close-on-exec. What they were at that moment; zero is expected.
    pub inherited_descriptors: Vec<String>,
}

impl SandboxReport {
    /// What is not fully in force, in words.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        [("files", &self.filesystem), ("network", &self.network)]
            .into_iter()
            .filter_map(|(what, enforcement)| match enforcement {
                Enforcement::Enforced { .. } => None,
                Enforcement::Partial { mechanism, missing } => {
                    Some(format!("{what}: {mechanism} leaves open {missing}"))
                }
                Enforcement::Unavailable { reason } => Some(format!("{what}: {reason}")),
            })
            .collect()
    }
}

/// How far a restriction is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Enforcement {
    /// Fully.
    Enforced {
        /// By what: `landlock ABI 7`.
        mechanism: String,
    },
    /// In part.
    Partial {
        /// By what.
        mechanism: String,
        /// What it leaves open.
        missing: String,
    },
    /// Not at all.
    Unavailable {
        /// Why not.
        reason: String,
    },
}

/// Restricts the calling thread and all threads and processes that it starts from now on.
#[cfg(target_os = "linux")]
pub(crate) fn restrict(policy: &SandboxPolicy, scratch: &Path) -> (Enforcement, Enforcement) {
    (linux::restrict_files(policy, scratch), linux::restrict_system_calls(policy.sockets))
}

/// The stated fallback: nothing is enforced, and the report says so.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restrict(_policy: &SandboxPolicy, _scratch: &Path) -> (Enforcement, Enforcement) {
    let reason = format!("no sandbox is implemented for {}", std::env::consts::OS);
    (Enforcement::Unavailable { reason: reason.clone() }, Enforcement::Unavailable { reason })
}
