//! A worker that ended before it replied: what that shows, and what a user can do about it.

use std::fmt;

use crate::error::{Death, Stage};
use crate::memory;

/// What both Rust and C++ print when an allocation fails, before they abort.
///
/// Sources: `std::alloc::handle_alloc_error`, and `std::terminate` of libstdc++ for `std::bad_alloc`.
const FAILED_ALLOCATIONS: [&str; 2] = ["memory allocation of ", "std::bad_alloc"];

/// A worker that ended before it replied, by no act of its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerEnd {
    /// What the worker was for.
    pub role: WorkerRole,
    /// What it was doing. One that was not ready had heard nothing of any candidate.
    pub during: Stage,
    /// How it ended.
    pub death: Death,
    /// The last lines of its standard error.
    pub stderr_tail: Vec<String>,
    /// How many processes of our control group the out-of-memory killer ended while the worker lived.
    pub oom_kills: u64,
}

/// What a worker is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerRole {
    /// It runs the candidate.
    Candidate,
    /// It runs the reference.
    Reference,
}

impl WorkerEnd {
    /// Whether the process crashed by what it did itself, rather than for lack of memory or by a signal from outside.
    #[must_use]
    pub fn is_crash(&self) -> bool {
        self.during == Stage::Call
            && self.death.is_crash()
            && self.oom_kills == 0
            && self.failed_allocation().is_none()
    }

    /// The line that tells of an allocation that failed.
    fn failed_allocation(&self) -> Option<&str> {
        let tells = |line: &&String| FAILED_ALLOCATIONS.iter().any(|words| line.contains(words));
        self.stderr_tail.iter().find(tells).map(String::as_str)
    }

    /// What to do where this happened to two processes in a row.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self.death {
            Death::Stopped { .. } => "find what stops the processes of Lightbench (SIGSTOP)",
            Death::Signal { .. } | Death::Exited { .. } | Death::OutputClosed | Death::Unknown
                if self.is_crash() =>
            {
                "report this as a defect of Lightbench, with the project"
            }
            Death::Exited { .. } if self.failed_allocation().is_none() => {
                "look at what `lightbench doctor` says of this machine"
            }
            Death::Signal { .. } | Death::Exited { .. } | Death::OutputClosed | Death::Unknown => {
                "free memory, raise the memory limit of the control group (`memory.max`), or find what sends the signal"
            }
        }
    }
}

impl fmt::Display for WorkerEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the {} ", self.role)?;
        match (self.failed_allocation(), self.death) {
            (Some(line), _) => write!(formatter, "could not allocate host memory (`{line}`)")?,
            (None, Death::Stopped { after }) => {
                let seconds = after.as_secs_f64();
                write!(formatter, "was stopped (state T) for {seconds} s and was replaced")?;
            }
            (None, death @ (Death::Exited { .. } | Death::OutputClosed | Death::Unknown)) => {
                write!(formatter, "ended before it could {}: {death}", self.during)?;
            }
            (None, death @ Death::Signal { .. }) if self.is_crash() => {
                write!(formatter, "crashed: {death}")?;
            }
            (None, death @ Death::Signal { .. }) => {
                write!(formatter, "was killed by {death}, which Lightbench did not send")?;
            }
        }
        if self.oom_kills > 0 {
            let count = self.oom_kills;
            write!(formatter, "; the control group counted {count} out-of-memory kills meanwhile")?;
        }
        match memory::machine_memory() {
            Some(sizes) if !self.is_crash() => write!(formatter, "; {sizes}"),
            Some(_) | None => Ok(()),
        }
    }
}

impl fmt::Display for WorkerRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Candidate => "candidate's device worker",
            Self::Reference => "reference's device worker",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn end(death: Death, line: &str, oom_kills: u64) -> WorkerEnd {
        let stderr_tail = vec![line.to_owned()];
        WorkerEnd {
            role: WorkerRole::Candidate,
            during: Stage::Call,
            death,
            stderr_tail,
            oom_kills,
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_signals_of_the_process_itself_are_crashes() {
        let check = |number, line, oom_kills, expected| {
            let found = end(Death::Signal { number }, line, oom_kills);
            assert_eq!(found.is_crash(), expected, "{found}");
        };
        // SIGSEGV, SIGBUS, SIGILL, SIGABRT.
        for number in [11, 7, 4, 6] {
            check(number, "", 0, true);
        }
        // SIGKILL, SIGTERM, SIGHUP, SIGXCPU.
        for number in [9, 15, 1, 24] {
            check(number, "", 0, false);
        }
        check(6, "memory allocation of 8589934592 bytes failed", 0, false);
        check(6, "terminate called after throwing an instance of 'std::bad_alloc'", 0, false);
        check(7, "", 1, false);
        let stopped = Death::Stopped { after: Duration::from_secs(10) };
        assert!(!end(stopped, "", 0).is_crash());
        // A worker that cannot even start says nothing of a candidate.
        let start = WorkerEnd { during: Stage::Start, ..end(Death::Exited { code: 7 }, "", 0) };
        assert!(!start.is_crash(), "{start}");
    }

    #[test]
    fn a_message_says_what_was_killed_and_by_what() {
        let killed = end(Death::Signal { number: 9 }, "", 2).to_string();
        for part in ["candidate's device worker", "signal 9", "2 out-of-memory kills"] {
            assert!(killed.contains(part), "{killed}");
        }
        let stopped = end(Death::Stopped { after: Duration::from_secs(10) }, "", 0).to_string();
        assert!(stopped.contains("state T"), "{stopped}");
    }
}
