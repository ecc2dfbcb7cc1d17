//! The sandbox of a worker: the policy of its parent, and the report of the restrictions in force.
//!
//! Enforcement uses Linux's landlock and seccomp (`sandbox/linux.rs`). On other systems nothing is enforced, which
//! the report states. The worker is still a separate process with limits and a cleared environment, and the compiler still receives
//! texts in memory and options from trusted code only.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
mod foreign_code;
#[cfg(target_os = "linux")]
mod linux;

/// The files and folders that a worker may use in addition to its scratch folder, with everything below them. Access to any
/// other path is refused; a path that does not exist is ignored.
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
    /// Which other system calls may be made.
    pub calls: SystemCalls,
}

/// Which sockets a worker may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Sockets {
    /// None.
    #[default]
    None,
    /// Unix-domain sockets only, which GPU drivers need to start. No network.
    Local,
    /// Unix-domain sockets for sequenced packets that cannot be connected. CUDA's driver makes such a socket when it
    /// starts, and none of them reaches a server, as that of a key agent.
    Unconnected,
}

/// Which system calls a worker may make, apart from those that make sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum SystemCalls {
    /// All except those that reach the memory of other processes or leave the process group.
    #[default]
    Ordinary,
    /// Those of a program that interprets untrusted code: it can start threads and no processes, and cannot signal or
    /// limit other processes, change the owner, the permissions or the times of a file, watch files, or administer the
    /// machine.
    ForeignCode,
}

/// The folders and files that a program linked to the system's libraries reads when it starts.
pub const SYSTEM_LIBRARIES: [&str; 5] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/// Restrictions in force in a running worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// Access to files is limited to the policy.
    pub filesystem: Enforcement,
    /// Sockets cannot be made, and the worker's process group cannot be left.
    pub network: Enforcement,
    /// Targets of descriptors besides the standard three that the worker inherited because the parent opened them without
    /// close-on-exec. Expected: none.
    pub inherited_descriptors: Vec<String>,
}

impl SandboxReport {
    /// Restrictions that are not fully in force, a sentence for each.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        [("files", &self.filesystem), ("network", &self.network)]
            .into_iter()
            .filter_map(|(what, enforcement)| match enforcement {
                Enforcement::Enforced { .. } => None,
                Enforcement::Partial { mechanism, missing } => {
                    Some(format!("{what}: {mechanism} does not restrict {missing}"))
                }
                Enforcement::Unavailable { reason } => Some(format!("{what}: {reason}")),
            })
            .collect()
    }

    /// As [`SandboxReport::gaps`], for [`SystemCalls::ForeignCode`]: what an older landlock lacks, the filter of system
    /// calls refuses.
    #[must_use]
    pub fn gaps_for_foreign_code(&self) -> Vec<String> {
        match (&self.filesystem, &self.network) {
            (Enforcement::Partial { .. }, Enforcement::Enforced { .. }) => Vec::new(),
            (
                Enforcement::Enforced { .. }
                | Enforcement::Partial { .. }
                | Enforcement::Unavailable { .. },
                _,
            ) => self.gaps(),
        }
    }
}

/// How far a restriction is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Enforcement {
    /// Fully.
    Enforced {
        /// The mechanism, such as `landlock ABI 7`.
        mechanism: String,
    },
    /// In part.
    Partial {
        /// The mechanism.
        mechanism: String,
        /// Operations that it does not restrict.
        missing: String,
    },
    /// Not at all.
    Unavailable {
        /// Reason.
        reason: String,
    },
}

/// Restricts the calling thread and all threads and processes that it starts from now on.
#[cfg(target_os = "linux")]
pub(crate) fn restrict(policy: &SandboxPolicy, scratch: &Path) -> (Enforcement, Enforcement) {
    (linux::restrict_files(policy, scratch), linux::restrict_system_calls(policy))
}

/// Enforces nothing, and reports that.
#[cfg(not(target_os = "linux"))]
pub(crate) fn restrict(_policy: &SandboxPolicy, _scratch: &Path) -> (Enforcement, Enforcement) {
    let reason = format!("no sandbox is implemented for {}", std::env::consts::OS);
    (Enforcement::Unavailable { reason: reason.clone() }, Enforcement::Unavailable { reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_code_needs_files_and_calls_confined() {
        let enforced = || Enforcement::Enforced { mechanism: "m".to_owned() };
        let partial = || Enforcement::Partial {
            mechanism: "landlock ABI 1".to_owned(),
            missing: "truncating files".to_owned(),
        };
        let unavailable = || Enforcement::Unavailable { reason: "none".to_owned() };
        let check = |filesystem, network, expected: &[&str]| {
            let report = SandboxReport { filesystem, network, inherited_descriptors: Vec::new() };
            assert_eq!(report.gaps_for_foreign_code(), expected, "{report:?}");
        };
        check(enforced(), enforced(), &[]);
        // The filter refuses what an older landlock does not cover.
        check(partial(), enforced(), &[]);
        check(unavailable(), enforced(), &["files: none"]);
        check(enforced(), unavailable(), &["network: none"]);
        let truncation = "files: landlock ABI 1 does not restrict truncating files";
        check(partial(), unavailable(), &[truncation, "network: none"]);
    }
}
