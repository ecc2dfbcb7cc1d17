//! Events of the engine: progress and ends of requests, and notices about its processes.

use std::time::Duration;

use super::request::RequestId;
use crate::compile;
use crate::compile::facts::{Facts, FactsError};
use crate::evaluate::compare::Compared;
use crate::evaluate::profiled::Profiled;
use crate::evaluate::{EvaluateError, Run, Screening};
use crate::units::Seconds;
use crate::verify::verdict::Step;
use crate::worker::error::Death;

/// An event of the engine. Every accepted request has exactly one [`Event::Finished`], which is its last event. Of other
/// events, only the newest of each request may arrive if the client does not read for a while.
#[derive(Debug)]
pub enum Event {
    /// A request waits in its queue. Sent again where a request of a person preempts it.
    Queued {
        /// Its number.
        request: RequestId,
        /// Number of requests that run before it.
        ahead: usize,
    },
    /// A step of a request begins.
    Began {
        /// Its number.
        request: RequestId,
        /// The step.
        step: Step,
        /// Name of the workload; none of a held-out one.
        workload: Option<String>,
        /// Duration of the same step of this kernel when it ran last; none for held-out workloads.
        expected: Option<Seconds>,
    },
    /// A request has ended.
    Finished {
        /// Its number.
        request: RequestId,
        /// Its result, or why it has none.
        ending: Ending,
    },
    /// An incident that did not end a request.
    Noticed(Notice),
}

impl Event {
    /// The request that the event belongs to.
    #[must_use]
    pub fn request(&self) -> Option<RequestId> {
        match self {
            Self::Queued { request, .. }
            | Self::Began { request, .. }
            | Self::Finished { request, .. } => Some(*request),
            Self::Noticed(_) => None,
        }
    }
}

/// How a request ended.
#[derive(Debug)]
pub enum Ending {
    /// An evaluation: its verdict and measurements.
    Evaluated(Box<Run>),
    /// The screening of each candidate, in the order of the request.
    Screened(Vec<Screening>),
    /// The compile cache has everything that an evaluation needs.
    CompiledAhead {
        /// Whether the candidate compiles.
        complete: bool,
    },
    /// Times of two candidates whose launches alternated.
    Compared(Compared),
    /// Hardware counters, or why the kernel was not profiled.
    Profiled(Box<Profiled>),
    /// Facts of the compiled kernel, or the compiler's error.
    Compiled(Box<Result<Facts, FactsError>>),
    /// No result: the request is invalid, or the machine cannot carry it out.
    Impossible(EvaluateError),
    /// Cancelled before its end.
    Cancelled {
        /// What cancelled it.
        because: CancelReason,
        /// The evaluation until then, without a verdict.
        so_far: Option<Box<Run>>,
    },
    /// An engine thread panicked: a defect of Lightbench. The thread goes on with the next request.
    Panicked {
        /// The message of the panic.
        message: String,
    },
    /// End of [`super::Request::Stop`]: all threads have ended.
    Stopped,
}

/// What cancelled a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// A [`super::Request::Cancel`].
    Requested,
    /// A newer request for the same kernel and parameters.
    SupersededBy(RequestId),
    /// The engine stops.
    Stopping,
}

/// Task of a worker process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessRole {
    /// Runs candidates and references on a device.
    DeviceWorker,
    /// Runs the compiler.
    Compiler,
}

/// An incident that did not end a request.
#[derive(Debug)]
pub enum Notice {
    /// From the compiler: its cache or its sandbox is not available.
    Compiler(compile::Notice),
    /// A process had died between two requests, and another one was started.
    Replaced {
        /// Its task.
        role: ProcessRole,
        /// How it ended.
        death: Death,
    },
    /// A process died during a step; the verdict contains this too.
    Lost {
        /// The step.
        step: Step,
    },
    /// A process was killed at its time limit; the verdict contains this too.
    Killed {
        /// The step.
        step: Step,
        /// The limit.
        limit: Duration,
    },
}

impl std::fmt::Display for Notice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Compiler(notice) => notice.fmt(formatter),
            Self::Replaced { role, death } => {
                let what = match role {
                    ProcessRole::DeviceWorker => "a process that runs kernels",
                    ProcessRole::Compiler => "a compiler's process",
                };
                write!(formatter, "{what} had ended ({death}) and was started again")
            }
            Self::Lost { step } => write!(formatter, "a process ended during: {step}"),
            Self::Killed { step, limit } => {
                write!(formatter, "a process was killed after {} s of: {step}", limit.as_secs_f64())
            }
        }
    }
}
