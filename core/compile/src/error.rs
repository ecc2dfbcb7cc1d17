//! Errors of compilations.

use std::path::PathBuf;
use std::time::Duration;

use lightbench_project::launch::HeaderLibrary;
use lightbench_toolchain::HeaderError;
use lightbench_worker::error::WorkerError;

use super::artifact::Rejection;
use super::protocol::RequestFailure;
use super::target::Target;
use super::triton::TritonError;

/// Why a compilation produced no artifact. Only [`CompileError::Rejected`] and [`CompileError::TimedOut`] are caused by the
/// kernel.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler rejects the kernel.
    #[error("the kernel does not compile")]
    Rejected(Rejection),
    /// The compile took too long and was killed.
    #[error("the compilation took longer than {} s and was stopped", limit.as_secs_f64())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The compile was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The compiler does not support the architecture.
    #[error("{compiler} does not support {target}; supported: {}", list(known))]
    UnknownTarget {
        /// The compiler.
        compiler: String,
        /// The requested architecture.
        target: Target,
        /// Supported compute capabilities times ten.
        known: Vec<u32>,
    },
    /// A required tool was not found.
    #[error("{tool} was not found; `{fix}` fetches it")]
    ToolMissing {
        /// Its name.
        tool: &'static str,
        /// The command that fetches it.
        fix: &'static str,
    },
    /// The worker process failed: the compiler is damaged, or crashed.
    #[error("{compiler}: {source}")]
    Worker {
        /// The compiler library.
        compiler: PathBuf,
        /// The worker's error.
        source: WorkerError,
    },
    /// A request to the worker failed: a tool cannot be run, or its output is too large.
    #[error("{compiler}: {source}")]
    Tool {
        /// The compiler library or tool.
        compiler: PathBuf,
        /// The failure.
        source: RequestFailure,
    },
    /// Triton is missing or failed.
    #[error(transparent)]
    Triton(#[from] TritonError),
    /// A library of headers that the kernel names is missing.
    #[error("the kernel names `libraries: [{library}]`: {reason}")]
    LibraryMissing {
        /// The library.
        library: HeaderLibrary,
        /// What is missing, and how to get it.
        reason: String,
    },
    /// The compiler's headers cannot be prepared.
    #[error(transparent)]
    Headers(#[from] HeaderError),
}

fn list(known: &[u32]) -> String {
    known.iter().map(|number| format!("sm_{number}")).collect::<Vec<_>>().join(", ")
}
