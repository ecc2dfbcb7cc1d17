//! All that the engine says.

use std::time::Duration;

use super::request::RequestId;
use crate::compile;
use crate::compile::facts::{Facts, FactsError};
use crate::evaluate::compare::Compared;
use crate::evaluate::profiled::Profiled;
use crate::evaluate::{EvaluateError, Examined, Run, Screening};
use crate::units::Seconds;
use crate::verify::verdict::Step;
use crate::worker::error::Death;

/// All that the engine says. Every request that was taken has exactly one [`Event::Finished`], and nothing after it.
#[derive(Debug)]
pub enum Event {
    /// A request waits for its turn; said again where it was put off for a person's request.
    Queued {
        /// Which.
        request: RequestId,
        /// How many come before it.
        ahead: usize,
    },
    /// A step of a request begins.
    Began {
        /// Which.
        request: RequestId,
        /// The step.
        step: Step,
        /// The workload, unless it is held out.
        workload: Option<String>,
        /// How long the same step took the last time, where that is known and may be.
        expected: Option<Seconds>,
    },
    /// A request has ended.
    Finished {
        /// Which.
        request: RequestId,
        /// How.
        ending: Ending,
    },
    /// Something that ended no request and should be said.
    Noticed(Notice),
}

impl Event {
    /// The request that it is about.
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
    /// There is a verdict.
    Evaluated(Box<Run>),
    /// A quick look was taken at each candidate, in their order.
    Screened(Vec<Screening>),
    /// What is known of each candidate without running it, in their order; none of one that cannot be built.
    Examined(Vec<Option<Examined>>),
    /// Two were run beside each other.
    Compared(Compared),
    /// What hardware counted, or why the kernel was not profiled.
    Profiled(Box<Profiled>),
    /// There are facts, or the reason why there are none.
    Compiled(Box<Result<Facts, FactsError>>),
    /// There is no verdict: the request is wrong, or the machine cannot do it.
    Impossible(EvaluateError),
    /// It was not wanted any more.
    Cancelled {
        /// Why.
        because: Because,
        /// How far an evaluation came; its verdict is none.
        so_far: Option<Box<Run>>,
    },
    /// A defect of ours: whatever it was doing, the engine goes on without it.
    Panicked {
        /// What the defect says of itself.
        message: String,
    },
    /// The answer to [`super::Request::Stop`]: no thread is left.
    Stopped,
}

/// Why a request was not wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// Somebody said so.
    Asked,
    /// There is a newer one about the same kernel.
    SupersededBy(RequestId),
    /// Nothing is wanted any more.
    Stopping,
}

/// What a process is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It runs the candidate or the reference.
    Station,
    /// It compiles.
    Compiler,
}

/// Something that ended no request and should be said.
#[derive(Debug)]
pub enum Notice {
    /// The compiler's: results are not kept, a sandbox is not in force.
    Compiler(compile::Notice),
    /// A process was found dead when it was needed, and another one was started in its place.
    Replaced {
        /// What it was for.
        role: Role,
        /// How it ended.
        death: Death,
    },
    /// A process ended in the middle of a step; the verdict says so too.
    Lost {
        /// The step.
        step: Step,
    },
    /// A process was killed because it exceeded its limit; the verdict says so too.
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
                    Role::Station => "a process that runs kernels",
                    Role::Compiler => "a compiler's process",
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
