//! A kernel without facts: exit status and text.

use lightbench_core::compile::CompileError;
use lightbench_core::compile::facts::FactsError;
use lightbench_core::worker::error::{Stage, WorkerError};

use crate::diagnostics;
use crate::outcome::Status;
use crate::report::{self, Sources};

/// The exit status: kernel, request or machine.
pub(in crate::commands) fn status(error: &FactsError) -> Status {
    match error {
        FactsError::Plan(_) => Status::BadRequest,
        FactsError::Include(_) | FactsError::Arguments { .. } | FactsError::NoSuchKernel { .. } => {
            Status::KernelFailed
        }
        FactsError::Compile(error) => compile_status(error),
    }
}

/// The exit status: kernel, request or machine.
pub(in crate::commands) fn compile_status(error: &CompileError) -> Status {
    match error {
        CompileError::Rejected(_) | CompileError::TimedOut { .. } => Status::KernelFailed,
        CompileError::Cancelled => Status::Interrupted,
        CompileError::UnknownTarget { .. } => Status::BadRequest,
        // A compiler that crashed in two processes on one kernel was crashed by that kernel.
        CompileError::Worker {
            source: WorkerError::Died { during: Stage::Call, death, oom_kills: 0, .. },
            ..
        } if death.is_crash() => Status::KernelFailed,
        CompileError::ToolMissing { .. }
        | CompileError::Worker { .. }
        | CompileError::Tool { .. }
        | CompileError::Triton(_)
        | CompileError::LibraryMissing { .. }
        | CompileError::Headers(_) => Status::Environment,
    }
}

/// The text form: diagnostics below the source lines they refer to.
pub(in crate::commands) fn to_text(
    name: &str,
    error: &FactsError,
    sources: &Sources<'_>,
) -> String {
    match error {
        FactsError::Compile(CompileError::Rejected(rejection)) => {
            let shown: Vec<_> = rejection
                .diagnostics
                .iter()
                .map(|each| diagnostics::compiler_message(each, sources))
                .collect();
            shown.join("\n") + &report::other_messages(&rejection.other)
        }
        FactsError::Include(refusals) => {
            let shown: Vec<_> = refusals
                .iter()
                .map(|refusal| diagnostics::include_refusal(refusal, sources))
                .collect();
            shown.join("\n")
        }
        FactsError::Plan(_)
        | FactsError::Arguments { .. }
        | FactsError::NoSuchKernel { .. }
        | FactsError::Compile(_) => report::error(&format!("{name}: {error}")),
    }
}
