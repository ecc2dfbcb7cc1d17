//! The spine: from a candidate to a verdict, one call per stage. Read this first.
//!
//! ```text
//!  Kernel ──► build ──► Subject ──► verify ──► Checks ──► Passed
//!              │ compiler processes    │ stations: one process for the candidate, one for the reference
//!              ▼                       ▼
//!          Failure: compile,       Failure: fault, wrong, refused, timed out
//!          refused, timed out      NotJudged: device lost, crashes the worker, not supported
//! ```
//!
//! What a kernel does wrong is a `Failure`, and why nothing was found out about it is a [`NotJudged`]: both are results. An
//! [`EvaluateError`] is about the request or the machine. Where a worker ends by no act of ours, all is done once more in
//! fresh processes (`again`).

mod baselines;
mod build;
pub mod compare;
mod compilations;
mod examine;
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
pub use self::examine::{Examined, ExaminedWorkload, examine};
pub use self::screening::{ScreeningRequest, screen};
use lightbench_primitives::cancellation::Cancellation;

use crate::compile::Compiler;
use crate::device::{DeviceName, DeviceSheet};
use crate::measure::{ClockUse, Protocol};
use crate::project::candidate::CandidateHash;
use crate::project::library::Library;
use crate::project::policy::Baseline;
use crate::project::{Kernel, Project};
use crate::speed_of_light::calibration::Calibration;
use crate::toolchain::Libraries;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::stations::Stations;
use crate::verify::subject::Subject;
use crate::verify::verdict::{Checks, Passed, Screened, Step, TimingUse, Verdict};
use crate::verify::verification::{Stop, Verification};

/// What is evaluated, on what, how thoroughly.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The project.
    pub project: &'a Project,
    /// One of its kernels.
    pub kernel: &'a Kernel,
    /// Parameters that are not to be chosen by the kernel itself.
    pub chosen: &'a BTreeMap<String, i64>,
    /// The device.
    pub device: &'a DeviceName,
    /// Its sheet.
    pub sheet: &'a DeviceSheet,
    /// What was measured on this very device, where somebody calibrated it.
    pub calibration: Option<&'a Calibration>,
    /// Only this workload, where one is named.
    pub workload: Option<&'a str>,
    /// What all inputs come from.
    pub seed: u64,
    /// What the policy refuses is refused, or only shown.
    pub policy: PolicyUse,
    /// Whether times are taken.
    pub timing: TimingUse,
}

impl Evaluation<'_> {
    /// How times are taken. Where a library is timed as a baseline, events tell all of them unless somebody asked for
    /// something else: they are what tells its time, and times of two clocks are not held against each other.
    pub(crate) fn timing_use(&self) -> TimingUse {
        let is_run =
            |baseline: &Baseline| matches!(baseline, Baseline::Library(Library::CublasGemm(_)));
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
    /// As the project says.
    Refuse,
    /// It is shown only: to see whether what a kernel does is found while it runs.
    Show,
}

/// What an evaluation works with.
#[derive(Debug)]
pub struct EvaluationContext {
    /// Compiles, in processes of its own.
    pub compiler: Compiler,
    /// Run the candidate and the reference.
    pub stations: Stations,
    /// Where the libraries lie that run as baselines.
    pub libraries: Libraries,
    /// What they were found to take.
    pub library_times: LibraryTimeCache,
}

impl EvaluationContext {
    /// A bench where no library was asked yet.
    #[must_use]
    pub fn new(compiler: Compiler, mut stations: Stations, libraries: Libraries) -> Self {
        // Before anything is timed: a process looks for it once.
        stations.look_for_cupti(&libraries.cupti);
        Self { compiler, stations, libraries, library_times: LibraryTimeCache::default() }
    }
}

/// What came of an evaluation.
#[derive(Debug)]
pub struct Run {
    /// The candidate of the first workload; none where it could not be made.
    pub candidate: Option<CandidateHash>,
    /// What all inputs came from.
    pub seed: u64,
    /// Whether it is right.
    pub verdict: Verdict,
    /// How long everything took that anybody is told about.
    pub elapsed: Duration,
}

/// What came of a quick look.
#[derive(Debug)]
pub struct Screening {
    /// The candidate; none where it could not be made.
    pub candidate: Option<CandidateHash>,
    /// What all inputs came from.
    pub seed: u64,
    /// Whether something wrong was seen. Nothing wrong is not the same as right.
    pub verdict: Result<Screened, NotPassed>,
    /// How long everything took.
    pub elapsed: Duration,
}

impl Screening {
    /// What is said of a look that nobody wanted any more.
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

/// Told what begins: the step, and the workload unless it is held out.
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
    // How long held-out workloads take is theirs: the time ends where they begin, and they come last.
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

/// What a kernel does wrong is a result; what the request or the machine does is an error.
fn settled<T>(found: Result<T, Stop>) -> Result<Result<T, NotPassed>, EvaluateError> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(Stop::Failure(failure)) => Ok(Err(failure.into())),
        Err(Stop::NotJudged(reason)) => Ok(Err(reason.into())),
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
    let checks = subject.checks(started.elapsed());
    let verification = verification(evaluation, &subject, context, cancellation, watcher, checks);
    let mut passed = verification.run(evaluation.timing_use())?;
    baselines::add(evaluation, &subject, context, (cancellation, watcher), &mut passed)?;
    performance_analysis::analyse_performance(evaluation, &subject, &mut passed);
    Ok(passed)
}

fn verification<'a>(
    evaluation: &Evaluation<'_>,
    subject: &'a Subject,
    context: &'a mut EvaluationContext,
    cancellation: &'a Cancellation,
    watcher: Watcher<'a>,
    checks: Checks,
) -> Verification<'a> {
    let (stations, seed) = (&mut context.stations, evaluation.seed);
    Verification { subject, stations, seed, cancellation, watcher, checks }
}
