//! Times of baselines for the same work: cuBLAS and functions of PyTorch run in place of the candidate, once per process, and
//! times from elsewhere are quoted.

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::case::Case;

use super::build::python_call;
use super::{Evaluation, EvaluationContext, Watcher};
use crate::device::LocalDevice;
use crate::measure::timing::Clock;
use crate::project::PythonText;
use crate::project::library::Gemm;
use crate::project::policy::Baseline;
use crate::speed_of_light::code_mix::CodeMix;
use crate::units::Seconds;
use crate::verify::baseline::{BaselineOutcome, BaselineTiming, MeasuredBaseline};
use crate::verify::compiled_candidate::{CompiledCandidate, CompiledWorkload};
use crate::verify::not_judged::NotJudged;
use crate::verify::program::Program;
use crate::verify::reference_source::Precision;
use crate::verify::sentence;
use crate::verify::verdict::{Failure, Passed, Refused, TimingUse};
use crate::verify::verification::library::LibraryTimes;
use crate::verify::verification::pytorch::PytorchBaseline;
use crate::verify::verification::{Stop, Verification};

/// The cached times of libraries.
#[derive(Debug, Default)]
pub struct LibraryTimeCache(Vec<(LibraryTimeKey, LibraryTimeResult)>);

/// The key of a cached library time.
#[derive(Clone, Debug, PartialEq)]
struct LibraryTimeKey {
    baseline: RunBaseline,
    cases: Vec<Case>,
    timing: TimingUse,
}

/// A baseline that runs here.
#[derive(Clone, Debug, PartialEq)]
enum RunBaseline {
    CublasGemm(Gemm),
    Pytorch(PythonText),
}

impl RunBaseline {
    /// The name in reports; several files of PyTorch differ by theirs.
    fn name(&self) -> String {
        match self {
            Self::CublasGemm(_) => "cuBLAS".to_owned(),
            Self::Pytorch(text) => format!("PyTorch ({})", text.file.display()),
        }
    }
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
    let (LocalDevice::Cuda(_), timing @ TimingUse::Measure(_)) =
        (evaluation.device.local, evaluation.timing_use())
    else {
        return Ok(());
    };
    let clock = passed.timings.iter().flat_map(|timed| &timed.timings).next();
    let clock = clock.map(|timing| timing.clock);
    let mut run = |baseline: RunBaseline, passed: &mut Passed| {
        let order = LibraryTiming { evaluation, subject, baseline: &baseline, timing, clock };
        let answer = order.answer(context, cancellation, watcher)?;
        for timed in &mut passed.timings {
            timed.baselines.push(told(&baseline.name(), &answer, &timed.workload));
        }
        Ok::<_, Stop>(())
    };
    for baseline in &evaluation.project.definition.baselines {
        match baseline {
            Baseline::CublasGemm(gemm) => {
                run(RunBaseline::CublasGemm(gemm.clone()), passed)?;
            }
            Baseline::Pytorch(file) => {
                let texts = evaluation.project.pytorch.iter();
                for text in texts.filter(|text| text.file == *file) {
                    run(RunBaseline::Pytorch(text.clone()), passed)?;
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
            // It has its own runs.
            Baseline::Kernel(_) => {}
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
    let baseline = &RunBaseline::CublasGemm(gemm.clone());
    let timing = TimingUse::Skip;
    let order = LibraryTiming { evaluation, subject, baseline, timing, clock: None };
    order.answer(context, cancellation, watcher)
}

/// The result for one workload.
fn told(name: &str, answer: &LibraryTimeResult, workload: &str) -> BaselineTiming {
    let outcome = match answer {
        Err(unfit) => BaselineOutcome::None(unfit.to_string()),
        Ok(LibraryTimes { used, worst_error, workloads }) => {
            let timings = workloads.iter().find(|(known, _)| known == workload);
            match (timings.map(|(_, timings)| timings), used) {
                (Some(Ok(timings)), Some(used)) => {
                    BaselineOutcome::Measured(Box::new(MeasuredBaseline {
                        used: used.clone(),
                        timings: timings.clone(),
                        worst_error: *worst_error,
                        score: None,
                    }))
                }
                (Some(Err(reason)), _) => BaselineOutcome::None(reason.clone()),
                (None, _) | (_, None) => BaselineOutcome::None("it was not timed".to_owned()),
            }
        }
    };
    BaselineTiming { name: name.to_owned(), outcome }
}

/// The timing of one library for one candidate.
struct LibraryTiming<'a, 'b> {
    evaluation: &'b Evaluation<'a>,
    subject: &'b CompiledCandidate,
    baseline: &'b RunBaseline,
    timing: TimingUse,
    /// The clock of the candidate's times, if it has any.
    clock: Option<Clock>,
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
            baseline: self.baseline.clone(),
            cases: trials.map(|trial| trial.case.clone()).collect(),
            timing: self.timing,
        };
        let LibraryTimeCache(known) = &context.library_times;
        if let Some((_, answer)) = known.iter().find(|(asked, _)| *asked == question) {
            return Ok(answer.clone());
        }
        let asked = match self.baseline {
            RunBaseline::CublasGemm(gemm) => self.cublas(gemm, context, cancellation, watcher),
            RunBaseline::Pytorch(text) => self.pytorch(text, context, cancellation, watcher),
        };
        let answer = match asked {
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

    fn pytorch(
        &self,
        text: &PythonText,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<LibraryTimes, Stop> {
        let (TimingUse::Measure(protocol), Some(clock)) = (self.timing, self.clock) else {
            return Err(Stop::Request("the candidate has no times".to_owned()));
        };
        let project = self.evaluation.project;
        let values = |case: &Case| {
            let workload = project.workloads.iter().find(|each| each.name == case.workload);
            workload.map_or_else(Vec::new, |each| {
                python_call(&project.definition, each, Precision::Written).values
            })
        };
        let verification = Verification::new(
            self.subject,
            &mut context.workers,
            self.evaluation.seed,
            cancellation,
            watcher,
        );
        verification.pytorch(PytorchBaseline { text, values: &values, clock, protocol })
    }

    fn cublas(
        &self,
        gemm: &Gemm,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<LibraryTimes, Stop> {
        let files = &context.libraries.cublas;
        let trial = |trial: &CompiledWorkload| {
            let candidate = Program::from_library_call(gemm, &trial.case, files);
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
            on_few_multiprocessors: Vec::new(),
            not_varied: Vec::new(),
            large_indices: None,
            measured: all(&of.measured)?,
            held_out: Vec::new(),
            not_run: Vec::new(),
            evidence: Vec::new(),
            limits: of.limits,
            block_order: of.block_order,
        };
        let verification = Verification::new(
            &subject,
            &mut context.workers,
            self.evaluation.seed,
            cancellation,
            watcher,
        );
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
