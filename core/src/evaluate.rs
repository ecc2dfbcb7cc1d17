//! The spine: from a candidate to a verdict, one call per stage. Read this first.
//!
//! ```text
//!  Kernel ──► build ──► CompiledCandidate ──► verify ──► Checks ──► Passed
//!              │ compiler processes            │ device workers: one process for the candidate, one for the reference
//!              ▼                               ▼
//!          Failure: compile,               Failure: fault, wrong, refused, timed out
//!          refused, timed out              NotJudged: device lost, crashes the worker, not supported
//! ```
//!
//! An error of the kernel is a `Failure`, and the reason why a kernel could not be judged is a [`NotJudged`]: both are
//! results. An [`EvaluateError`] is about the request or the machine. If a worker process ends unexpectedly, the evaluation
//! is repeated once in fresh processes (`retry`).

mod baselines;
mod build;
pub mod compare;
mod compilations;
mod compile_ahead;
mod f32_reference;
mod long_reduction;
mod performance_analysis;
pub mod profiled;
mod retry;
mod scalar_variations;
mod screening;
#[cfg(test)]
mod tests;
mod wide_index_workload;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub use self::baselines::{LibraryTimeCache, LibraryUnusable};
use self::build::Scope;
pub use self::build::compile_failure;
pub(crate) use self::compile_ahead::compile_ahead;
pub use self::screening::{ScreeningRequest, screen};
use lightbench_primitives::cancellation::Cancellation;

use crate::compile::Compiler;
use crate::device::{DeviceName, DeviceSheet};
use crate::measure::{ClockUse, Protocol};
use crate::project::candidate::CandidateHash;
use crate::project::policy::Baseline;
use crate::project::{Kernel, Project};
use crate::speed_of_light::calibration::Calibration;
use crate::toolchain::Libraries;
use crate::verify::device_workers::DeviceWorkers;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::verdict::{Passed, Screened, Step, TimingUse, Verdict};
use crate::verify::verification::{Stop, Verification};

/// The input of an evaluation: the kernel, the device and the options.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The project.
    pub project: &'a Project,
    /// The kernel, one of the project's.
    pub kernel: &'a Kernel,
    /// Parameters that are not to be chosen by the kernel itself.
    pub chosen: &'a BTreeMap<String, i64>,
    /// The device.
    pub device: &'a DeviceName,
    /// The device sheet.
    pub sheet: &'a DeviceSheet,
    /// The calibration of this device, if there is one.
    pub calibration: Option<&'a Calibration>,
    /// Only this workload, where one is named.
    pub workload: Option<&'a str>,
    /// The seed of all inputs.
    pub seed: u64,
    /// Whether the policy refuses a candidate or only reports.
    pub policy: PolicyUse,
    /// Whether and how the kernel is timed.
    pub timing: TimingUse,
}

impl Evaluation<'_> {
    /// The timing to use. If a library is timed as a baseline, the default clock is CUDA events for all times: only events
    /// can time a library, and times of different clocks are not compared.
    pub(crate) fn timing_use(&self) -> TimingUse {
        let is_run = |baseline: &Baseline| {
            matches!(baseline, Baseline::CublasGemm(_) | Baseline::Pytorch(_))
        };
        match self.timing {
            TimingUse::Measure(protocol)
                if protocol.clock == ClockUse::Best
                    && self.project.definition.baselines.iter().any(is_run) =>
            {
                TimingUse::Measure(Protocol { clock: ClockUse::Events, ..protocol })
            }
            timing @ (TimingUse::Measure(_) | TimingUse::Skip) => timing,
        }
    }
}

/// Whether static evidence refuses a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyUse {
    /// Refuse candidates as the project's policy states.
    Refuse,
    /// Only report, to test whether a violation is found while the kernel runs.
    Show,
}

/// The compiler, workers and libraries that evaluations use.
#[derive(Debug)]
pub struct EvaluationContext {
    /// The compiler, which runs in its own processes.
    pub compiler: Compiler,
    /// Run the candidate and the reference.
    pub workers: DeviceWorkers,
    /// The paths of the libraries that run as baselines.
    pub libraries: Libraries,
    /// The cached times of these libraries.
    pub library_times: LibraryTimeCache,
}

impl EvaluationContext {
    /// A context with an empty cache of library times.
    #[must_use]
    pub fn new(compiler: Compiler, mut workers: DeviceWorkers, libraries: Libraries) -> Self {
        // Before anything is timed: a process looks for it once.
        workers.set_cupti_paths(&libraries.cupti);
        workers.set_python(compiler.python_access());
        Self { compiler, workers, libraries, library_times: LibraryTimeCache::default() }
    }
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct Run {
    /// The candidate of the first workload; `None` if it could not be assembled.
    pub candidate: Option<CandidateHash>,
    /// The seed of all inputs.
    pub seed: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The elapsed time up to the first held-out workload.
    pub elapsed: Duration,
}

/// The result of a screening.
#[derive(Debug)]
pub struct Screening {
    /// The candidate; `None` if it could not be assembled.
    pub candidate: Option<CandidateHash>,
    /// The seed of all inputs.
    pub seed: u64,
    /// The result. A candidate that passes screening is not verified.
    pub verdict: Result<Screened, NotPassed>,
    /// The elapsed time.
    pub elapsed: Duration,
}

impl Screening {
    /// The result of a cancelled screening.
    #[must_use]
    pub fn cancelled(seed: u64) -> Self {
        let verdict = Err(NotJudged::Cancelled.into());
        Self { candidate: None, seed, verdict, elapsed: Duration::ZERO }
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The request is wrong.
    #[error("{0}")]
    Request(String),
    /// The machine cannot do it, or the project's reference is at fault.
    #[error("{0}")]
    Environment(String),
}

/// A callback at the start of each step, with the workload unless it is held out.
pub type Watcher<'a> = &'a mut dyn FnMut(Step, Option<&str>);

/// From a candidate to a verdict.
///
/// # Errors
/// The request is wrong, or the machine cannot do it.
pub fn evaluate(
    evaluation: &Evaluation<'_>,
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Run, EvaluateError> {
    let started = Instant::now();
    // The time of held-out workloads must stay secret: they run last, and the measured time ends where they begin.
    let mut ended = None;
    let mut until_held_out = |step: Step, workload: Option<&str>| {
        if step == Step::HeldOut {
            ended.get_or_insert_with(|| started.elapsed());
        }
        watcher(step, workload);
    };
    let mut run = Run {
        candidate: None,
        seed: evaluation.seed,
        verdict: Err(NotJudged::Cancelled.into()),
        elapsed: Duration::ZERO,
    };
    run.verdict = settled(retry::with_fresh_workers(context, |bench| {
        stages(evaluation, bench, cancellation, &mut until_held_out, &mut run.candidate)
    }))?;
    run.elapsed = ended.unwrap_or_else(|| started.elapsed());
    Ok(run)
}

/// An error of the kernel is a result; an error of the request or the machine is an error.
fn settled<T>(found: Result<T, Stop>) -> Result<Result<T, NotPassed>, EvaluateError> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(Stop::Failure(failure)) => Ok(Err(failure.into())),
        Err(Stop::NotJudged(reason)) => Ok(Err(reason.into())),
        Err(Stop::ReferenceTooLarge(unjudged)) => {
            Ok(Err(NotJudged::NotSupported { reason: unjudged.to_string() }.into()))
        }
        Err(Stop::WorkerEnded(loss)) => Err(EvaluateError::Environment(loss.end.to_string())),
        Err(Stop::Request(message)) => Err(EvaluateError::Request(message)),
        Err(Stop::Broken(message)) => Err(EvaluateError::Environment(message)),
    }
}

fn stages(
    evaluation: &Evaluation<'_>,
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
    candidate: &mut Option<CandidateHash>,
) -> Result<Passed, Stop> {
    watcher(Step::Compile, None);
    let started = Instant::now();
    let subject = build::build(
        evaluation,
        Scope::Everything,
        &mut context.compiler,
        cancellation,
        candidate,
    )?;
    let (workers, seed) = (&mut context.workers, evaluation.seed);
    let mut verification = Verification::new(&subject, workers, seed, cancellation, watcher);
    verification.checks = subject.checks(started.elapsed());
    let mut passed = verification.run(evaluation.timing_use())?;
    baselines::add(evaluation, &subject, context, (cancellation, watcher), &mut passed)?;
    performance_analysis::analyse_performance(evaluation, &subject, &mut passed);
    Ok(passed)
}
