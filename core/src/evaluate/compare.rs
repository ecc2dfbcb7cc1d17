//! Compares two kernels of a project, or a kernel and a library: both are verified first, and both run in every round.

use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputSpec;

use super::build::Scope;
use super::{
    EvaluateError, Evaluation, EvaluationContext, LibraryUnusable, Watcher, baselines, build,
    performance_analysis, retry, settled,
};
use crate::measure::comparison::Comparison;
use crate::measure::protocol::Protocol;
use crate::measure::timing::{Mode, Timing};
use crate::project::library::Gemm;
use crate::speed_of_light::bound::PhysicalBound;
use crate::speed_of_light::bound_comparison::{
    BoundComparison, Bounds, NoBoundComparison, compare_with_bounds,
};
use crate::units::Fraction;
use crate::verify::compiled_candidate::{CompiledCandidate, CompiledWorkload};
use crate::verify::device_session::{
    MeasureReport, MeasureRequest, ModelledProgram, ModelledTime, Quantity, Samples,
};
use crate::verify::device_workers::DeviceWorkerError;
use crate::verify::not_judged::NotJudged;
use crate::verify::program::Program;
use crate::verify::sentence;
use crate::verify::verdict::{Step, TimingUse};
use crate::verify::verification::library::LibraryTimes;
use crate::verify::verification::{Stop, WorkerLoss};

/// The time limit of a comparison in addition to its samples, for making and copying inputs.
const BESIDE: Duration = Duration::from_secs(120);

/// Two programs to compare; the first is called A, the second B.
#[derive(Clone, Debug)]
pub enum Pair<Kernel> {
    /// Two kernels that passed before.
    Kernels([Kernel; 2]),
    /// A kernel that passed before, and a library that is checked first.
    KernelAndLibrary(Kernel, Gemm),
    /// The pair with A and B exchanged.
    LibraryAndKernel(Gemm, Kernel),
}

impl<Kernel> Pair<Kernel> {
    /// The kernel, or the first of two kernels.
    pub const fn kernel(&self) -> &Kernel {
        match self {
            Self::Kernels([kernel, _])
            | Self::KernelAndLibrary(kernel, _)
            | Self::LibraryAndKernel(_, kernel) => kernel,
        }
    }

    /// Maps each kernel of the pair.
    pub fn map<'a, Other>(&'a self, of: impl Fn(&'a Kernel) -> Other) -> Pair<Other> {
        match self {
            Self::Kernels([a, b]) => Pair::Kernels([of(a), of(b)]),
            Self::KernelAndLibrary(a, b) => Pair::KernelAndLibrary(of(a), b.clone()),
            Self::LibraryAndKernel(a, b) => Pair::LibraryAndKernel(a.clone(), of(b)),
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The state of the library, if one of the two is a library.
    pub library: Option<Result<LibraryTimes, LibraryUnusable>>,
    /// The result of each workload; empty if the library is unusable.
    pub workloads: Vec<ComparedWorkload>,
}

/// The comparison on one workload.
#[derive(Clone, Debug)]
pub struct ComparedWorkload {
    /// The name of the workload.
    pub workload: String,
    /// The physical bounds on device-sheet peaks and measured ceilings. They depend only on the task, so they are known
    /// without times too.
    pub bounds: Vec<PhysicalBound>,
    /// The outcome.
    pub outcome: Outcome,
}

impl ComparedWorkload {
    /// Compares a time with the bounds of the workload.
    ///
    /// # Errors
    /// As [`compare_with_bounds`].
    pub fn standing(&self, timing: &Timing) -> Result<BoundComparison, NoBoundComparison> {
        let bounds = self.bounds.iter().map(|physical| Bounds { physical, method: None });
        compare_with_bounds(timing, &bounds.collect::<Vec<_>>())
    }

    /// The bound on the best basis there is.
    #[must_use]
    pub fn bound(&self) -> Option<&PhysicalBound> {
        self.bounds.iter().max_by_key(|physical| physical.bound().basis)
    }
}

/// The comparison on one workload.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Both programs ran side by side.
    Measured {
        /// The times of A and B.
        timings: Box<[Timing; 2]>,
        /// B against A.
        comparison: Comparison,
    },
    /// Both times come from the model.
    Modelled {
        /// The times of A and B, or the reason why the model gives no time.
        timings: Box<[Result<Timing, String>; 2]>,
        /// The time of B divided by that of A, if both are known.
        ratio: Option<Fraction>,
    },
    /// Neither has a time, for this reason.
    Withheld(String),
}

/// Times two side by side, under one condition, on every workload that is for measuring or the one that is named. A
/// library is found to be right first, a kernel passed before.
///
/// # Errors
/// As [`super::evaluate`].
pub fn side_by_side(
    pair: &Pair<Evaluation<'_>>,
    (mode, protocol): (Mode, Protocol),
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Compared, EvaluateError> {
    let Evaluation { seed, workload: only, .. } = *pair.kernel();
    let timing = TimingUse::Measure(protocol);
    // All workloads: one workload alone does not verify a library, nor a kernel on a virtual device.
    let pair = pair.map(|each| Evaluation { timing, workload: None, ..*each });
    let compared = settled(retry::with_fresh_workers(context, |bench| {
        let mut loaded = LoadedPair::load(&pair, bench, cancellation, &mut *watcher)?;
        loaded.workloads.retain(|contest| only.is_none_or(|only| only == contest.case.workload));
        loaded.timed(pair.kernel(), (mode, protocol, seed), bench, (cancellation, &mut *watcher))
    }))?;
    compared.map_err(|reason| {
        // Both programs passed before.
        EvaluateError::Environment(sentence::not_passed("the comparison", &reason))
    })
}

/// Both programs, loaded into one device.
pub(super) struct LoadedPair {
    library: Option<Result<LibraryTimes, LibraryUnusable>>,
    workloads: Vec<WorkloadPrograms>,
}

/// One workload with both programs.
struct WorkloadPrograms {
    case: Case,
    programs: [Program; 2],
}

impl LoadedPair {
    fn load(
        pair: &Pair<Evaluation<'_>>,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<Self, Stop> {
        let build = |evaluation: &Evaluation<'_>, context: &mut EvaluationContext| {
            let everything = Scope::Everything;
            build::build(evaluation, everything, &mut context.compiler, cancellation, &mut None)
        };
        let (kernel, gemm) = match pair {
            Pair::Kernels([a, b]) => {
                let (a, mut b) = (build(a, context)?, build(b, context)?);
                b.set_preceding_modules(a.candidate.len());
                open([&a, &b], context, cancellation)?;
                return Ok(Self { library: None, workloads: of_kernels(&a, &b) });
            }
            Pair::KernelAndLibrary(kernel, gemm) | Pair::LibraryAndKernel(gemm, kernel) => {
                (kernel, gemm)
            }
        };
        let subject = build(kernel, context)?;
        let told = (cancellation, watcher);
        let mut loaded = Self::with_library((kernel, &subject), gemm, context, told)?;
        if let Pair::LibraryAndKernel(..) = pair {
            loaded.workloads.iter_mut().for_each(|contest| contest.programs.reverse());
        }
        Ok(loaded)
    }

    /// A kernel as A, and a library as B once it was found to be right.
    pub(super) fn with_library(
        (kernel, subject): (&Evaluation<'_>, &CompiledCandidate),
        gemm: &Gemm,
        context: &mut EvaluationContext,
        (cancellation, watcher): (&Cancellation, Watcher<'_>),
    ) -> Result<Self, Stop> {
        let checked = baselines::checked(kernel, subject, gemm, context, (cancellation, watcher))?;
        let contests = match &checked {
            Err(_) => Vec::new(),
            Ok(_) => {
                // The library ran in a process that had no kernel.
                open([subject], context, cancellation)?;
                with_library(subject, gemm, context)?
            }
        };
        Ok(Self { library: Some(checked), workloads: contests })
    }

    /// The times of every workload.
    pub(super) fn timed(
        self,
        evaluation: &Evaluation<'_>,
        conditions: (Mode, Protocol, u64),
        context: &mut EvaluationContext,
        (cancellation, watcher): (&Cancellation, Watcher<'_>),
    ) -> Result<Compared, Stop> {
        let mut workloads = Vec::new();
        for contest in self.workloads {
            let workload = contest.case.workload.clone();
            watcher(Step::Measure, Some(&workload));
            let outcome = contest.outcome(conditions, context, cancellation)?;
            let bounds = performance_analysis::physical_bounds(evaluation, &workload);
            workloads.push(ComparedWorkload { workload, bounds, outcome });
        }
        Ok(Compared { library: self.library, workloads })
    }
}

/// All candidates in one device, and the reference of the first.
fn open<const COUNT: usize>(
    subjects: [&CompiledCandidate; COUNT],
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
) -> Result<(), Stop> {
    let modules: Vec<_> = subjects.iter().flat_map(|each| &each.candidate).cloned().collect();
    let Some(CompiledCandidate { reference, harness_kernels: trusted, limits, .. }) =
        subjects.first()
    else {
        return Ok(());
    };
    let (trusted, steps) = (trusted.as_ref(), limits.virtual_steps);
    let opened = context.workers.open(&modules, reference, trusted, steps, cancellation);
    opened.map_err(|error| stop(error, Step::Load, None))
}

/// Why a comparison ends early: a worker that ended is replaced once, and all else is the machine's, because both kernels
/// passed before.
fn stop(error: DeviceWorkerError, step: Step, workload: Option<String>) -> Stop {
    match error {
        DeviceWorkerError::Ended(end) => {
            Stop::WorkerEnded(Box::new(WorkerLoss { end: *end, step, workload }))
        }
        DeviceWorkerError::Cancelled => NotJudged::Cancelled.into(),
        error @ (DeviceWorkerError::TimedOut(_)
        | DeviceWorkerError::Lost(_)
        | DeviceWorkerError::Failed(_)
        | DeviceWorkerError::ReferenceUnavailable(_)
        | DeviceWorkerError::ReferenceTooLarge(_)
        | DeviceWorkerError::Environment(_)) => Stop::Broken(error.to_string()),
    }
}

fn of_kernels(a: &CompiledCandidate, b: &CompiledCandidate) -> Vec<WorkloadPrograms> {
    let contest = |a: &CompiledWorkload| {
        let b = b.measured.iter().find(|b| b.case.workload == a.case.workload)?;
        let programs = [a.candidate.clone(), b.candidate.clone()];
        Some(WorkloadPrograms { case: a.case.clone(), programs })
    };
    a.measured.iter().filter_map(contest).collect()
}

/// The kernel is A.
fn with_library(
    kernel: &CompiledCandidate,
    gemm: &Gemm,
    context: &EvaluationContext,
) -> Result<Vec<WorkloadPrograms>, Stop> {
    let contest = |trial: &CompiledWorkload| {
        let library = Program::from_library_call(gemm, &trial.case, &context.libraries.cublas);
        let programs = [trial.candidate.clone(), library.map_err(Stop::Request)?];
        Ok(WorkloadPrograms { case: trial.case.clone(), programs })
    };
    kernel.measured.iter().map(contest).collect()
}

impl WorkloadPrograms {
    fn outcome(
        self,
        (mode, protocol, seed): (Mode, Protocol, u64),
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
    ) -> Result<Outcome, Stop> {
        if mode == Mode::Graph && self.programs.iter().any(Program::is_cooperative) {
            let reason = "launches whose blocks wait for each other cannot be captured in a graph";
            return Ok(Outcome::Withheld(reason.to_owned()));
        }
        if let Some(reason) = context.workers.reference_too_large(&self.case) {
            return Ok(Outcome::Withheld(format!("the results were not judged: {reason}")));
        }
        let protocol = protocol.under(mode);
        let workload = self.case.workload.clone();
        let draw = context.workers.timed_input_mode();
        let order = MeasureRequest {
            case: self.case,
            programs: self.programs.into(),
            recipe: InputSpec { seed, draw },
            last: Some(InputSpec { seed: !seed, draw }),
            mode,
            protocol,
            seed,
            abandon_above: None,
            outputs: None,
            cupti: Vec::new(),
            quantity: Quantity::Time,
        };
        let limit = BESIDE.saturating_add(protocol.longest * 4);
        let report = context.workers.measure(order, limit, cancellation);
        let report = report.map_err(|error| stop(error, Step::Measure, Some(workload)))?;
        Ok(of_report(report, mode))
    }
}

fn of_report(report: MeasureReport, mode: Mode) -> Outcome {
    match report {
        MeasureReport::Samples(samples) => measured(samples, mode),
        MeasureReport::Modelled(times) => modelled(times),
        MeasureReport::Abandoned(_) | MeasureReport::Energy(_) => {
            Outcome::Withheld("nothing was timed".to_owned())
        }
        MeasureReport::Faulted(faults) => {
            let details = faults.first().map(|fault| fault.details.clone());
            let details = details.unwrap_or_default();
            Outcome::Withheld(format!("a kernel faulted while it was timed: {details}"))
        }
    }
}

fn measured(samples: Samples, mode: Mode) -> Outcome {
    let Samples { clock, batches, rounds, stopped, readings, .. } = samples;
    let mut rounds = rounds.into_iter().zip(batches);
    let (Some(a), Some(b)) = (rounds.next(), rounds.next()) else {
        return Outcome::Withheld("the clock returned no times".to_owned());
    };
    let comparison = Comparison::from_rounds(&a.0, &b.0);
    let timing =
        |(rounds, batch)| Timing::measured(clock, mode, rounds, (batch, stopped), &readings);
    match (timing(a), timing(b), comparison) {
        (Some(a), Some(b), Some(comparison)) => {
            Outcome::Measured { timings: Box::new([a, b]), comparison }
        }
        _ => Outcome::Withheld("too few rounds to compare".to_owned()),
    }
}

fn modelled(programs: Vec<ModelledProgram>) -> Outcome {
    let timing =
        |time: ModelledTime| Timing::modelled(time.bound, time.band, time.limit, time.assumptions);
    let mut times = programs.into_iter().map(|program| program.time.map(timing));
    let (Some(a), Some(b)) = (times.next(), times.next()) else {
        return Outcome::Withheld("nothing was modelled".to_owned());
    };
    let middle = |time: &Result<Timing, String>| Some(time.as_ref().ok()?.summary.median);
    let ratio = middle(&b).zip(middle(&a)).map(|(b, a)| b / a);
    Outcome::Modelled { timings: Box::new([a, b]), ratio }
}
