//! Times of baselines for the same work: libraries named by the project run in place of the candidate, once per process,
//! and times from elsewhere are quoted.

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::case::Case;

use super::{Evaluation, EvaluationContext, Watcher};
use crate::device::DeviceName;
use crate::project::library::{Gemm, Library};
use crate::project::policy::Baseline;
use crate::speed_of_light::code_mix::CodeMix;
use crate::units::Seconds;
use crate::verify::baseline::{BaselineOutcome, BaselineTiming, MeasuredBaseline};
use crate::verify::compiled_candidate::{CompiledCandidate, CompiledWorkload};
use crate::verify::not_judged::NotJudged;
use crate::verify::program::Program;
use crate::verify::sentence;
use crate::verify::verdict::{Checks, Failure, Passed, Refused, TimingUse};
use crate::verify::verification::library::LibraryTimes;
use crate::verify::verification::{Stop, Verification};

/// The cached times of libraries.
#[derive(Debug, Default)]
pub struct LibraryTimeCache(Vec<(LibraryTimeKey, LibraryTimeResult)>);

/// The key of a cached library time.
#[derive(Clone, Debug, PartialEq)]
struct LibraryTimeKey {
    gemm: Gemm,
    cases: Vec<Case>,
    timing: TimingUse,
}

/// The times of a library, or the reason for their absence.
type LibraryTimeResult = Result<LibraryTimes, LibraryUnusable>;

/// The reason why a library cannot serve as a baseline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryUnusable {
    /// The library is missing, or a call failed.
    #[error("{0}")]
    Unusable(String),
    /// The library ran, and its results are wrong.
    #[error("{0}")]
    Wrong(String),
}

/// Adds the times of the project's baselines to a candidate that passed. A virtual device runs no library, and modelled
/// times are not compared with measured ones.
///
/// # Errors
/// Cancelled by the user. A library that is missing or wrong is reported with the times and is not an error.
pub(super) fn add(
    evaluation: &Evaluation<'_>,
    subject: &CompiledCandidate,
    context: &mut EvaluationContext,
    (cancellation, watcher): (&Cancellation, Watcher<'_>),
    passed: &mut Passed,
) -> Result<(), Stop> {
    let (DeviceName::Cuda(_), timing @ TimingUse::Measure(_)) =
        (evaluation.device, evaluation.timing_use())
    else {
        return Ok(());
    };
    for baseline in &evaluation.project.definition.baselines {
        match baseline {
            Baseline::Library(Library::CublasGemm(gemm)) => {
                let order = LibraryTiming { evaluation, subject, gemm, timing };
                let answer = order.answer(context, cancellation, watcher)?;
                for timed in &mut passed.timings {
                    timed.baselines.push(told(&answer, &timed.workload));
                }
            }
            Baseline::Library(library @ (Library::Cub | Library::Cudnn)) => {
                let reason = "Lightbench cannot run it".to_owned();
                for timed in &mut passed.timings {
                    let (name, outcome) =
                        (library.name().to_owned(), BaselineOutcome::None(reason.clone()));
                    timed.baselines.push(BaselineTiming { name, outcome });
                }
            }
            Baseline::Recorded { name, device, workload, seconds, source } => {
                let is_same = *device == evaluation.sheet.name;
                let timed = passed.timings.iter_mut();
                for timed in timed.filter(|timed| is_same && timed.workload == *workload) {
                    let (seconds, source) = (Seconds(*seconds), source.clone());
                    let outcome = BaselineOutcome::Recorded { seconds, source };
                    timed.baselines.push(BaselineTiming { name: name.clone(), outcome });
                }
            }
            // A kernel of the project has its own runs, and external commands are never executed.
            Baseline::Kernel(_) | Baseline::UserCommand(_) => {}
        }
    }
    Ok(())
}

/// Verifies a library on every workload of a project before it is compared with a kernel. Nothing is timed.
///
/// # Errors
/// Cancelled by the user.
pub(super) fn checked(
    evaluation: &Evaluation<'_>,
    subject: &CompiledCandidate,
    gemm: &Gemm,
    context: &mut EvaluationContext,
    (cancellation, watcher): (&Cancellation, Watcher<'_>),
) -> Result<LibraryTimeResult, Stop> {
    let order = LibraryTiming { evaluation, subject, gemm, timing: TimingUse::Skip };
    order.answer(context, cancellation, watcher)
}

/// The result for one workload.
fn told(answer: &LibraryTimeResult, workload: &str) -> BaselineTiming {
    let name = "cuBLAS".to_owned();
    let outcome = match answer {
        Err(unfit) => BaselineOutcome::None(unfit.to_string()),
        Ok(LibraryTimes { used, worst_error, workloads }) => {
            let timings = workloads.iter().find(|(known, _)| known == workload);
            match (timings, used) {
                (Some((_, timings)), Some(used)) => {
                    BaselineOutcome::Measured(Box::new(MeasuredBaseline {
                        used: used.clone(),
                        timings: timings.clone(),
                        worst_error: *worst_error,
                        score: None,
                    }))
                }
                (None, _) | (_, None) => BaselineOutcome::None("it was not timed".to_owned()),
            }
        }
    };
    BaselineTiming { name, outcome }
}

/// The timing of one library for one candidate.
struct LibraryTiming<'a, 'b> {
    evaluation: &'b Evaluation<'a>,
    subject: &'b CompiledCandidate,
    gemm: &'b Gemm,
    timing: TimingUse,
}

impl LibraryTiming<'_, '_> {
    fn answer(
        &self,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<LibraryTimeResult, Stop> {
        let trials = self.subject.workloads.iter().chain(&self.subject.measured);
        let question = LibraryTimeKey {
            gemm: self.gemm.clone(),
            cases: trials.map(|trial| trial.case.clone()).collect(),
            timing: self.timing,
        };
        let LibraryTimeCache(known) = &context.library_times;
        if let Some((_, answer)) = known.iter().find(|(asked, _)| *asked == question) {
            return Ok(answer.clone());
        }
        let answer = match self.asked(context, cancellation, watcher) {
            Ok(times) => Ok(times),
            Err(stop @ (Stop::NotJudged(NotJudged::Cancelled) | Stop::WorkerEnded(_))) => {
                return Err(stop);
            }
            Err(Stop::NotJudged(reason)) => {
                Err(LibraryUnusable::Unusable(sentence::not_judged("it", &reason)))
            }
            Err(Stop::ReferenceTooLarge(unjudged)) => {
                Err(LibraryUnusable::Unusable(unjudged.to_string()))
            }
            Err(Stop::Failure(failure)) => Err(unfit(&failure)),
            Err(Stop::Request(reason) | Stop::Broken(reason)) => {
                Err(LibraryUnusable::Unusable(reason))
            }
        };
        let LibraryTimeCache(known) = &mut context.library_times;
        known.push((question, answer.clone()));
        Ok(answer)
    }

    fn asked(
        &self,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<LibraryTimes, Stop> {
        let files = &context.libraries.cublas;
        let trial = |trial: &CompiledWorkload| {
            let candidate = Program::from_library_call(self.gemm, &trial.case, files);
            let candidate = candidate.map_err(Stop::Request)?;
            let (launches, code) = (Vec::new(), CodeMix::default());
            Ok::<_, Stop>(CompiledWorkload { candidate, launches, code, ..trial.clone() })
        };
        let all =
            |trials: &[CompiledWorkload]| trials.iter().map(trial).collect::<Result<Vec<_>, _>>();
        let of = self.subject;
        let subject = CompiledCandidate {
            candidate: Vec::new(),
            preceding_modules: 0,
            origins: Vec::new(),
            reference: of.reference.clone(),
            harness_kernels: of.harness_kernels.clone(),
            workloads: all(&of.workloads)?,
            varied: Vec::new(),
            not_varied: Vec::new(),
            large_indices: None,
            measured: all(&of.measured)?,
            held_out: Vec::new(),
            not_run: Vec::new(),
            evidence: Vec::new(),
            limits: of.limits,
            block_order: of.block_order,
        };
        let verification = Verification {
            subject: &subject,
            workers: &mut context.workers,
            seed: self.evaluation.seed,
            cancellation,
            watcher,
            checks: Checks::default(),
        };
        verification.library(self.timing)
    }
}

/// Why a library has no times.
fn unfit(failure: &Failure) -> LibraryUnusable {
    // The loader or the library refused the call; its message is the reason.
    if let Failure::Refused(Refused::Launch { problems, .. }) = failure {
        return LibraryUnusable::Unusable(problems.join("; "));
    }
    LibraryUnusable::Wrong(sentence::describe_failure("it", failure))
}
