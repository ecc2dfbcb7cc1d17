//! Host memory: the size and the free memory of the machine, and out-of-memory kills in the control group.

/// Out-of-memory kills in the control group of this process since the group was created. `None` without version 2 of
/// control groups, or if the file cannot be read.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, `memory.events`, field `oom_kill`.
#[cfg(target_os = "linux")]
pub(super) fn oom_kills() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let events = std::path::Path::new("/sys/fs/cgroup").join(group).join("memory.events");
    count(&std::fs::read_to_string(events).ok()?, "oom_kill")
}

/// Other systems do not count out-of-memory kills.
#[cfg(not(target_os = "linux"))]
pub(super) fn oom_kills() -> Option<u64> {
    None
}

/// Total and available memory of this machine as a clause for a message; `None` if `/proc/meminfo` lacks them.
#[cfg(target_os = "linux")]
pub(super) fn machine_memory() -> Option<String> {
    sizes(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Implemented for Linux only.
#[cfg(not(target_os = "linux"))]
pub(super) fn machine_memory() -> Option<String> {
    None
}

/// Source: Linux, Documentation/filesystems/proc.rst, `/proc/meminfo`; sizes are in KiB.
#[cfg(target_os = "linux")]
fn sizes(meminfo: &str) -> Option<String> {
    let gibibytes =
        |name| count(meminfo, name).map(|kibibytes| kibibytes as f64 / f64::from(1 << 20));
    let (total, available) = (gibibytes("MemTotal:")?, gibibytes("MemAvailable:")?);
    Some(format!("this machine has {total:.1} GiB of memory, {available:.1} GiB of it available"))
}

/// The number after `name` at the beginning of a line.
#[cfg(target_os = "linux")]
fn count(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_ascii_whitespace);
    let mut line = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words))?;
    line.next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_their_whole_name() {
        let events = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n";
        let check = |name, expected| assert_eq!(count(events, name), expected, "{name}");
        check("oom", Some(3));
        check("oom_kill", Some(2));
        check("oom_kil", None);
    }

    #[test]
    fn sizes_of_the_machine_are_in_gibibytes() {
        let meminfo = "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    1572864 kB\n";
        let expected = "this machine has 16.0 GiB of memory, 1.5 GiB of it available";
        assert_eq!(sizes(meminfo).as_deref(), Some(expected));
        assert_eq!(sizes("MemTotal: 1 kB\n"), None);
    }
}
