//! Errors between a parent and its worker.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::frame::{FrameError, VALUE_LIMIT};
use crate::protocol::SetupFailure;

/// Why a call has no reply.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The worker could not be started.
    #[error("cannot start the worker `{}`: {reason}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's message.
        #[source]
        reason: std::io::Error,
    },
    /// The worker started but did not become ready.
    #[error("the worker is not ready: {0}")]
    Setup(#[source] SetupFailure),
    /// The worker uses another version of the worker protocol.
    #[error(
        "the worker uses version {theirs} of the worker protocol, expected {ours}: use the same \
         build on both sides"
    )]
    OtherVersion {
        /// The parent's version.
        ours: u32,
        /// The worker's version.
        theirs: u32,
    },
    /// The worker and its parent are different builds.
    #[error(
        "the worker offers build {theirs} of the service `{service}`, expected {ours}: use the \
         same build on both sides"
    )]
    OtherBuild {
        /// The name of the service.
        service: &'static str,
        /// The parent's build.
        ours: &'static str,
        /// The worker's build, with control characters replaced.
        theirs: String,
    },
    /// The worker was killed because it exceeded its limit.
    #[error("the worker took longer than {} s to {during} and was killed", limit.as_secs_f64())]
    TimedOut {
        /// What it was doing.
        during: Stage,
        /// The limit.
        limit: Duration,
    },
    /// The call was cancelled, and the worker was killed.
    #[error("cancelled")]
    Cancelled,
    /// The worker ended without a reply.
    #[error("the worker ended before it could {during}: {death}{}", quoted(stderr_tail))]
    Died {
        /// Stage in which it ended. At [`Stage::Start`] the cause is the environment: loading a truncated compiler library,
        /// for example, ends the process.
        during: Stage,
        /// How it ended.
        death: Death,
        /// The last lines of its standard error, with control characters replaced.
        stderr_tail: Vec<String>,
        /// Number of out-of-memory kills in the control group of this process during the lifetime of the worker.
        oom_kills: u64,
    },
    /// The worker sent a message that is not part of the protocol, or the pipe to it failed. The worker was killed.
    #[error("the exchange with the worker failed: {0}")]
    Protocol(#[source] FrameError),
    /// The request is larger than a frame may be, or cannot be encoded; nothing was sent.
    #[error("the request cannot be sent: {0}")]
    Request(#[source] FrameError),
    /// The reply is larger than a frame may be; it was not sent.
    #[error("the reply holds {size} bytes, more than the {VALUE_LIMIT} allowed")]
    ReplyTooLarge {
        /// The size in bytes.
        size: u64,
    },
    /// The worker is on another host, and the connection to that host ended.
    #[error("the connection to {host} is lost: {reason}")]
    ConnectionLost {
        /// The host as the user names it.
        host: String,
        /// How the connection ended.
        reason: String,
    },
    /// The host of the worker reports an error that concerns neither the request nor the process of the worker.
    #[error("{host}: {reason}")]
    OnHost {
        /// The host as the user names it.
        host: String,
        /// The error of that host.
        reason: String,
    },
}

/// Stage of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The worker starts.
    Start,
    /// The worker carries out a request.
    Call,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Start => "get ready",
            Self::Call => "reply",
        })
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Death {
    /// The process exited.
    Exited {
        /// Its exit status.
        code: i32,
    },
    /// A signal ended it.
    Signal {
        /// The signal's number.
        number: i32,
    },
    /// The process was stopped without interruption for the permitted time, and was killed.
    Stopped {
        /// Time stopped.
        after: Duration,
    },
    /// The process had more threads than permitted, and was killed.
    TooManyThreads {
        /// The number of its threads.
        found: u32,
        /// The most that it may have.
        limit: u32,
    },
    /// The process closed its standard output, did not exit, and was killed.
    OutputClosed,
    /// The operating system did not report how the process ended.
    Unknown,
}

impl Death {
    /// Whether the process caused its own end: it exited, or an instruction or a call of the process raised the signal.
    #[must_use]
    pub fn is_crash(self) -> bool {
        match self {
            Self::Exited { .. } => true,
            Self::Signal { number } => is_crash_signal(number),
            Self::Stopped { .. }
            | Self::TooManyThreads { .. }
            | Self::OutputClosed
            | Self::Unknown => false,
        }
    }
}

/// Whether a process normally receives this signal because of its own instruction or call.
#[cfg(unix)]
fn is_crash_signal(number: i32) -> bool {
    use rustix::process::Signal;
    let own = [
        Signal::SEGV,
        Signal::BUS,
        Signal::ILL,
        Signal::ABORT,
        Signal::FPE,
        Signal::TRAP,
        Signal::SYS,
    ];
    own.iter().any(|signal| signal.as_raw() == number)
}

/// Other systems have no signals.
#[cfg(not(unix))]
fn is_crash_signal(_number: i32) -> bool {
    false
}

/// The usual name of a signal that ends processes.
#[cfg(unix)]
fn signal_name(number: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    let names = [
        (Signal::KILL, "SIGKILL"),
        (Signal::TERM, "SIGTERM"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ILL, "SIGILL"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::FPE, "SIGFPE"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    names.iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| *name)
}

/// Other systems have no signals.
#[cfg(not(unix))]
fn signal_name(_number: i32) -> Option<&'static str> {
    None
}

impl std::fmt::Display for Death {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited { code } => write!(formatter, "exit status {code}"),
            Self::Signal { number } => match signal_name(*number) {
                Some(name) => write!(formatter, "signal {number} ({name})"),
                None => write!(formatter, "signal {number}"),
            },
            Self::Stopped { after } => {
                write!(formatter, "it was stopped for {} s", after.as_secs_f64())
            }
            Self::TooManyThreads { found, limit } => {
                write!(
                    formatter,
                    "it had {found} threads, more than the {limit} allowed, and was killed"
                )
            }
            Self::OutputClosed => {
                formatter.write_str("it closed its standard output without exiting")
            }
            Self::Unknown => formatter.write_str("unknown cause"),
        }
    }
}

fn quoted(lines: &[String]) -> String {
    lines.last().map_or_else(String::new, |line| format!("; its last line was `{line}`"))
}
