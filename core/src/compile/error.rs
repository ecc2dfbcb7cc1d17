//! Why a compile gave no artifact.

use std::path::PathBuf;
use std::time::Duration;

use super::artifact::Rejection;
use super::target::Target;
use crate::toolchain::HeaderError;
use crate::worker::error::WorkerError;

/// Why a compile gave no artifact. Only [`CompileError::Rejected`] and [`CompileError::TimedOut`] are about the kernel.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler rejects the kernel.
    #[error("the kernel does not compile")]
    Rejected(Rejection),
    /// The compile took too long and was killed.
    #[error("compiling took longer than {} s and was stopped", limit.as_secs_f64())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// Somebody cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The compiler does not know the architecture.
    #[error("{compiler} does not compile for {target}; it knows {}", list(known))]
    UnknownTarget {
        /// The compiler.
        compiler: String,
        /// What was asked for.
        target: Target,
        /// Compute capabilities times ten.
        known: Vec<u32>,
    },
    /// A tool that is needed was not found.
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
        /// What happened.
        source: WorkerError,
    },
    /// The compiler's own headers cannot be prepared.
    #[error(transparent)]
    Headers(#[from] HeaderError),
}

fn list(known: &[u32]) -> String {
    known.iter().map(|number| format!("sm_{number}")).collect::<Vec<_>>().join(", ")
}
