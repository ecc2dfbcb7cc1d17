//! Whose failure a missing compile result is: the candidate's, the reference's or the machine's.

use crate::compile::artifact::Rejection;
use crate::compile::diagnostics::{Place, Severity};
use crate::compile::error::CompileError;
use crate::compile::facts::FactsError;
use crate::compile::triton::TritonError;
use crate::verify::not_judged::NotJudged;
use crate::verify::program::ProgramError;
use crate::verify::verdict::{Failure, Refused, Step};
use crate::verify::verification::Stop;

pub(super) fn of_reference(error: &FactsError) -> Stop {
    match error {
        FactsError::Compile(CompileError::Cancelled) => NotJudged::Cancelled.into(),
        FactsError::Compile(CompileError::Rejected(rejection)) => {
            Stop::Request(rejected(rejection))
        }
        FactsError::Compile(_)
        | FactsError::Plan(_)
        | FactsError::Include(_)
        | FactsError::Arguments { .. }
        | FactsError::NoSuchKernel { .. } => Stop::Broken(format!("the reference: {error}")),
    }
}

/// A reference that does not compile, with the first error of the compiler: often it is not written yet.
fn rejected(rejection: &Rejection) -> String {
    let mut errors = rejection.diagnostics.iter().filter(|each| each.severity >= Severity::Error);
    let first = errors.next().map_or_else(String::new, |error| {
        let place = match &error.place {
            Place::Source(place) => format!("{}:{}: ", place.file, place.line),
            Place::EndOfSource | Place::Ptx { .. } | Place::Nowhere => String::new(),
        };
        format!("{place}{}; ", error.message.lines().next().unwrap_or_default())
    });
    format!("the reference does not compile: {first}`lightbench check` shows everything")
}

/// What the device or this machine lacks, which leaves the candidate unjudged.
fn not_supported(error: &FactsError) -> Option<String> {
    match error {
        FactsError::Compile(CompileError::Rejected(rejection)) => {
            rejection.newer_device_needed().map(str::to_owned)
        }
        FactsError::Compile(CompileError::Triton(error @ TritonError::Missing { .. })) => {
            Some(error.to_string())
        }
        FactsError::Compile(error @ CompileError::LibraryMissing { .. }) => Some(error.to_string()),
        FactsError::Plan(error) if error.needs_device() => Some(error.to_string()),
        FactsError::Compile(_)
        | FactsError::Plan(_)
        | FactsError::Include(_)
        | FactsError::Arguments { .. }
        | FactsError::NoSuchKernel { .. } => None,
    }
}

/// Attributes missing compile facts to the candidate, the reference or the machine.
pub(super) fn of_candidate(error: FactsError) -> Stop {
    if let Some(reason) = not_supported(&error) {
        return NotJudged::NotSupported { reason }.into();
    }
    match error {
        FactsError::Plan(error) => Stop::Request(error.to_string()),
        FactsError::Compile(CompileError::Cancelled) => NotJudged::Cancelled.into(),
        FactsError::Compile(CompileError::TimedOut { limit }) => {
            Failure::TimedOut { step: Step::Compile, workload: None, limit, at: None }.into()
        }
        FactsError::Compile(CompileError::Rejected(_)) | FactsError::NoSuchKernel { .. } => {
            Failure::Compile(Box::new(error)).into()
        }
        FactsError::Include(_) | FactsError::Arguments { .. } => {
            Failure::Refused(Refused::Build(Box::new(error))).into()
        }
        FactsError::Compile(error) => Stop::Broken(error.to_string()),
    }
}

/// A defect of Lightbench.
pub(super) fn of_program(error: &ProgramError) -> Stop {
    Stop::Broken(error.to_string())
}
