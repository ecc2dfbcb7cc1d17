//! Errors of interpreters and of their workers.

use std::path::PathBuf;

use lightbench_worker::error::WorkerError;

use crate::exception::Exception;
use crate::message::MalformedReply;
use crate::shim::OLDEST_VERSION;

/// Why there is no interpreter, or no reply.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// No interpreter was found.
    #[error(
        "no Python interpreter found: no `python3` in the folders of PATH{}; install Python {}.{} or newer, or name an \
         interpreter in the settings",
        rejected(tried), OLDEST_VERSION.0, OLDEST_VERSION.1
    )]
    NotFound {
        /// Files called `python3` that are not usable, each with the reason.
        tried: Vec<String>,
    },
    /// The interpreter cannot be used.
    #[error("the Python interpreter `{}` cannot be used: {reason}", program.display())]
    Unusable {
        /// The interpreter.
        program: PathBuf,
        /// What was found and expected.
        reason: String,
    },
    /// The request cannot be sent; the worker takes further requests.
    #[error("the request to the Python worker cannot be sent: {0}")]
    Request(String),
    /// The worker could not start, reached a limit, ended or was cancelled. The next call starts another.
    #[error("Python: {0}")]
    Worker(#[from] WorkerError),
    /// The worker's reply does not follow the protocol, as after code that writes to the worker's descriptors. The worker
    /// was killed, and the next call starts another.
    #[error("Python: {0}; the worker was killed")]
    Reply(#[from] MalformedReply),
    /// The code raised an exception; the worker takes further requests.
    #[error("{exception}{}", memory_advice(exception, *memory_bytes))]
    Exception {
        /// The exception.
        exception: Box<Exception>,
        /// The limit of the worker's memory, in bytes.
        memory_bytes: u64,
    },
}

fn memory_advice(exception: &Exception, memory_bytes: u64) -> String {
    match exception.kind.as_str() {
        "MemoryError" => format!(" (limit of the worker's memory: {} MiB)", memory_bytes >> 20),
        _ => String::new(),
    }
}

fn rejected(tried: &[String]) -> String {
    if tried.is_empty() { String::new() } else { format!(" is usable ({})", tried.join("; ")) }
}
