//! Random harm to this process's children, and a look at what this process holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Numbers that are the same for the same seed (SplitMix64, Steele, Lea and Flood 2014).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// So many times in a thousand.
    pub(super) fn in_a_thousand(&mut self, times: u64) -> bool {
        self.below(1000) < times
    }

    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let count = u64::try_from(all.len()).unwrap();
        if count == 0 { None } else { all.get(usize::try_from(self.below(count)).unwrap()) }
    }
}

/// The numbers of all processes that this one started and has not reaped.
pub(super) fn children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let parent = |process: &i32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Behind the name, which may contain anything: state, then the parent.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned)
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter(|process| parent(process).as_ref() == Some(&own)).collect()
}

/// The children that execute a program of their own. One that does not yet holds the thread that starts it, which waits
/// for as long as the child is stopped.
pub(super) fn workers() -> Vec<i32> {
    let command = |process: &str| fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let own = command("self");
    let mut children = children();
    children.retain(|child| {
        let command = command(&child.to_string());
        !command.is_empty() && command != own
    });
    children
}

/// Ends this process when a thread panics. Otherwise the engine would be dropped first, which waits for what hangs.
pub(super) fn end_on_panic() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        hook(info);
        std::process::abort();
    }));
}

/// Sends a signal; a process that has ended meanwhile is not missed.
pub(super) fn signal(process: i32, signal: Signal) {
    if let Some(process) = Pid::from_raw(process) {
        kill_process(process, signal).ok();
    }
}

/// What this process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) descriptors: usize,
    pub(super) threads: usize,
    pub(super) resident_kib: usize,
}

impl Held {
    /// What is held once no more threads are than these: one that was joined is counted for a moment longer, until the
    /// system has cleared it away.
    pub(super) fn at_most(threads: usize) -> Self {
        let began = Instant::now();
        loop {
            let held = Self::now();
            if held.threads <= threads || began.elapsed() > Duration::from_secs(10) {
                return held;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        Self {
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
            threads: field("Threads:"),
            resident_kib: field("VmRSS:"),
        }
    }
}

/// Everything in a folder.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(Result::ok).map(|entry| entry.path()).collect()
}
