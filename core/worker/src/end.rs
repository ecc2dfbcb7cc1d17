//! Diagnosis of a worker that ended before it replied, with advice for the user.

use std::fmt;

use crate::error::{Death, Stage};
use crate::memory;

/// Messages that Rust and C++ programs print when an allocation fails, before they abort.
///
/// Sources: `std::alloc::handle_alloc_error`, and `std::terminate` of libstdc++ for `std::bad_alloc`.
const FAILED_ALLOCATIONS: [&str; 2] = ["memory allocation of ", "std::bad_alloc"];

/// A worker that ended before it replied, without a time-out or a cancellation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerEnd {
    /// Role of the worker.
    pub role: WorkerRole,
    /// Stage in which it ended. Before [`Stage::Call`] the worker has received nothing of a candidate.
    pub during: Stage,
    /// How it ended.
    pub death: Death,
    /// The last lines of its standard error.
    pub stderr_tail: Vec<String>,
    /// Number of out-of-memory kills in the control group of this process during the lifetime of the worker.
    pub oom_kills: u64,
}

/// Role of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerRole {
    /// It runs the candidate.
    Candidate,
    /// It runs the reference.
    Reference,
}

impl WorkerEnd {
    /// Whether the process crashed by itself, and not because of a lack of memory or a signal of another process.
    #[must_use]
    pub fn is_crash(&self) -> bool {
        self.during == Stage::Call
            && self.death.is_crash()
            && self.oom_kills == 0
            && self.failed_allocation().is_none()
    }

    /// The line of standard error that reports a failed allocation.
    fn failed_allocation(&self) -> Option<&str> {
        let reports = |line: &&String| FAILED_ALLOCATIONS.iter().any(|words| line.contains(words));
        self.stderr_tail.iter().find(reports).map(String::as_str)
    }

    /// Advice for the user after two workers in a row ended this way.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self.death {
            Death::Stopped { .. } => "find what stops the processes of Lightbench (SIGSTOP)",
            Death::TooManyThreads { .. } => "start fewer threads",
            Death::Signal { .. } | Death::Exited { .. } | Death::OutputClosed | Death::Unknown
                if self.is_crash() =>
            {
                "report this as a defect of Lightbench, with the project"
            }
            Death::Exited { .. } if self.failed_allocation().is_none() => {
                "run `lightbench doctor` to check this machine"
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
            (
                None,
                death @ (Death::Exited { .. }
                | Death::TooManyThreads { .. }
                | Death::OutputClosed
                | Death::Unknown),
            ) => {
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
        // A worker that cannot start gives no evidence about the candidate.
        let start = WorkerEnd { during: Stage::Start, ..end(Death::Exited { code: 7 }, "", 0) };
        assert!(!start.is_crash(), "{start}");
    }

    #[test]
    fn a_message_names_the_worker_and_the_cause() {
        let killed = end(Death::Signal { number: 9 }, "", 2).to_string();
        for part in ["candidate's device worker", "signal 9", "2 out-of-memory kills"] {
            assert!(killed.contains(part), "{killed}");
        }
        let stopped = end(Death::Stopped { after: Duration::from_secs(10) }, "", 0).to_string();
        assert!(stopped.contains("state T"), "{stopped}");
    }
}
