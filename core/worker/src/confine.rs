//! Restrictions that a worker applies to its own process before it reads untrusted input.
//!
//! Windows has no equivalent of these limits. There only the parent enforces a limit: it kills the worker.

use std::fs::File;
use std::path::Path;

use crate::protocol::{Limits, SetupFailure};

#[cfg(not(unix))]
pub(super) use fallback::{forbid_core_dumps, limit, take_standard_streams};
#[cfg(unix)]
pub(super) use unix::{forbid_core_dumps, limit, take_standard_streams};

/// The streams to and from the parent, on descriptors that libraries do not use by number.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) from_parent: File,
    pub(super) to_parent: File,
}

/// Open descriptors besides the standard three: the parent opened them without close-on-exec, which is a defect. Closing
/// them by number would be unsafe, so the worker reports them.
pub(super) fn inherited_descriptors() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let mut found: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| !matches!(entry.file_name().to_str(), Some("0" | "1" | "2")))
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        // Reading the folder opens one descriptor.
        .filter(|target| !(target.starts_with("/proc") && target.ends_with("fd")))
        .map(|target| target.to_string_lossy().into_owned())
        .collect();
    found.sort();
    found
}

/// Ends this worker and its process group after the parent has ended, and removes the scratch folder.
///
/// The end of standard input shows that the parent process has ended, on every system. Linux's parent-death signal is not
/// used because it is sent when the *thread* that started the worker ends.
pub(super) fn end_with_parent(scratch: &Path) -> ! {
    lightbench_primitives::owned_folder::remove_orphan(scratch);
    #[cfg(unix)]
    unix::kill_own_group();
    std::process::abort()
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::{File, Limits, SetupFailure, Streams};

    /// Moves standard input and output to close-on-exec descriptors, and redirects descriptor 0 to `/dev/null` and
    /// descriptor 1 to standard error. A library that prints cannot forge a reply, and a library that reads standard input
    /// cannot consume a request.
    pub(in super::super) fn take_standard_streams() -> std::io::Result<Streams> {
        use rustix::io::fcntl_dupfd_cloexec;
        use rustix::stdio::{dup2_stdin, dup2_stdout};
        let from_parent = fcntl_dupfd_cloexec(std::io::stdin(), 3)?;
        let to_parent = fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
        dup2_stdin(File::open("/dev/null")?)?;
        dup2_stdout(std::io::stderr())?;
        Ok(Streams { from_parent: from_parent.into(), to_parent: to_parent.into() })
    }

    /// A dump of a compiler's memory would hold the kernel's source.
    pub(in super::super) fn forbid_core_dumps() -> std::io::Result<()> {
        // Dumps that the kernel pipes to a program ignore limits, except a limit of one byte, which ends them and is less
        // than any dump to a file (Linux, `fs/coredump.c`). A program that this process executes keeps the limit.
        let limit = getrlimit(Resource::Core).maximum.map_or(1, |maximum| maximum.min(1));
        setrlimit(Resource::Core, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        #[cfg(target_os = "linux")]
        rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
        Ok(())
    }

    /// Sets the limits that hold for the whole life of the worker.
    pub(in super::super) fn limit(limits: &Limits) -> Result<(), SetupFailure> {
        let memory = physical_memory_bytes().unwrap_or(u64::MAX);
        if let Some(bytes) = limits.address_space_bytes {
            set(Resource::As, "address space", bytes.min(memory))?;
        }
        set(Resource::Fsize, "file size", limits.file_bytes)?;
        // At the soft limit the process gets SIGXCPU, which names the cause; a second later SIGKILL.
        let cpu_secs = limits.cpu_secs;
        set_both(Resource::Cpu, "processor time", (cpu_secs, cpu_secs.saturating_add(1)))
    }

    fn set(resource: Resource, name: &str, value: u64) -> Result<(), SetupFailure> {
        set_both(resource, name, (value, value))
    }

    /// Sets the soft and the hard limit: the compiler raises its soft limit of processor time.
    fn set_both(
        resource: Resource,
        name: &str,
        (soft, hard): (u64, u64),
    ) -> Result<(), SetupFailure> {
        let maximum = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit { current: Some(soft.min(maximum)), maximum: Some(hard.min(maximum)) };
        setrlimit(resource, limit).map_err(|error| SetupFailure::Limit {
            resource: name.to_owned(),
            reason: error.to_string(),
        })
    }

    #[cfg(target_os = "linux")]
    fn physical_memory_bytes() -> Option<u64> {
        let info = rustix::system::sysinfo();
        info.totalram.checked_mul(u64::from(info.mem_unit))
    }

    #[cfg(not(target_os = "linux"))]
    fn physical_memory_bytes() -> Option<u64> {
        None
    }

    /// Kills the process group only if the parent created it for this worker. A group that the worker shares with a shell
    /// or a remote session is left alone.
    pub(super) fn kill_own_group() {
        use rustix::process::{Signal, getpgrp, getpid, kill_process_group};
        if getpgrp() == getpid() {
            let _unreachable = kill_process_group(getpgrp(), Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod fallback {
    use super::{File, Limits, SetupFailure, Streams};

    pub(in super::super) fn take_standard_streams() -> std::io::Result<Streams> {
        use std::os::windows::io::AsHandle as _;
        let from_parent = std::io::stdin().as_handle().try_clone_to_owned()?;
        let to_parent = std::io::stdout().as_handle().try_clone_to_owned()?;
        Ok(Streams { from_parent: from_parent.into(), to_parent: to_parent.into() })
    }

    pub(in super::super) fn forbid_core_dumps() -> std::io::Result<()> {
        Ok(())
    }

    pub(in super::super) fn limit(_limits: &Limits) -> Result<(), SetupFailure> {
        Ok(())
    }
}
