//! Classifies the error messages of Nsight Compute.

use super::metric::Metric;

/// The prefix of the profiler's errors.
const ERROR: &str = "==ERROR==";

/// The error for missing permission to read counters.
const PERMISSION: &str = "ERR_NVGPUCTRPERM";

/// The profiler's message if another tool holds the counters.
const BUSY: &str = "driver resource was unavailable";

/// The profiler's message if it saw no launch.
const NO_KERNEL: &str = "No kernels were profiled";

/// Why there is nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfilerMessage {
    /// Counters are for administrators.
    #[error("{}", permission())]
    NotPermitted,
    /// Another tool holds the counters.
    #[error(
        "another tool is reading this GPU's counters (DCGM, another profiler); stop it, such as with `dcgmi profile --pause`"
    )]
    Busy,
    /// Some metrics are unknown for this GPU.
    #[error("Nsight Compute has no metric {} for this GPU", .0.join(", "))]
    UnknownMetrics(Vec<String>),
    /// No launch was seen.
    #[error("Nsight Compute saw no launch of the kernel")]
    NoLaunch,
    /// Any other message.
    #[error("Nsight Compute reported: {0}")]
    Other(String),
}

/// The instructions for an administrator.
const fn permission() -> &'static str {
    if cfg!(target_os = "windows") {
        "this user may not read the GPU's performance counters: in the NVIDIA Control Panel, under Desktop, Enable Developer \
         Settings, then under Developer, Manage GPU Performance Counters, an administrator allows access to all users"
    } else {
        "this user may not read the GPU's performance counters: an administrator writes the line `options nvidia \
         NVreg_RestrictProfilingToAdminUsers=0` into a file of /etc/modprobe.d and restarts the machine, or runs Lightbench \
         with CAP_SYS_ADMIN (in a container: `--cap-add=SYS_ADMIN`); everything else works without it"
    }
}

/// The reason for a failure in the profiler's output, if it has one; `asked` are the requested metrics.
#[must_use]
pub fn profiler_message(text: &str, asked: &[&Metric]) -> Option<ProfilerMessage> {
    if text.contains(PERMISSION) {
        return Some(ProfilerMessage::NotPermitted);
    }
    if text.contains(BUSY) {
        return Some(ProfilerMessage::Busy);
    }
    let errors = || text.lines().filter_map(|line| line.trim_start().strip_prefix(ERROR));
    let named = |metric: &&&Metric| errors().any(|line| line.contains(&metric.name));
    let unknown: Vec<String> =
        asked.iter().filter(named).map(|metric| metric.name.clone()).collect();
    if !unknown.is_empty() {
        return Some(ProfilerMessage::UnknownMetrics(unknown));
    }
    if text.contains(NO_KERNEL) {
        return Some(ProfilerMessage::NoLaunch);
    }
    errors().next().map(|line| ProfilerMessage::Other(line.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nsight::metric::set;

    fn check(text: &str, expected: impl Into<Option<ProfilerMessage>>) {
        let expected = expected.into();
        assert_eq!(profiler_message(text, &set("overview").unwrap().metrics), expected, "{text}");
    }

    #[test]
    fn what_the_profiler_says_is_told_apart() {
        check("==PROF== Connected to process 1\n\"ID\",\"Process ID\"", None);
        check(
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the \
             target device 0. For instructions see https://developer.nvidia.com/ERR_NVGPUCTRPERM",
            ProfilerMessage::NotPermitted,
        );
        check(
            "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM) is \
             concurrently collecting profiling data.",
            ProfilerMessage::Busy,
        );
        check(
            "==PROF== fine\n==ERROR== Failed to find metric dram__bytes_read.sum\n==ERROR== No metrics to collect found",
            ProfilerMessage::UnknownMetrics(vec!["dram__bytes_read.sum".to_owned()]),
        );
        check("==WARNING== No kernels were profiled.", ProfilerMessage::NoLaunch);
        check(
            "==ERROR== The application returned an error code (11).",
            ProfilerMessage::Other("The application returned an error code (11).".to_owned()),
        );
    }

    #[cfg(not(target_os = "windows"))]
    #[test]
    fn the_administrator_is_told_the_exact_setting() {
        let sentence = ProfilerMessage::NotPermitted.to_string();
        for part in ["NVreg_RestrictProfilingToAdminUsers=0", "/etc/modprobe.d", "CAP_SYS_ADMIN"] {
            assert!(sentence.contains(part), "{sentence}");
        }
    }
}
