//! Prepares the launch that a profiler measures: one run of a kernel that passed every check.

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::inputs::{InputMode, InputSpec};

use super::build::{self, Scope};
use super::{EvaluateError, Evaluation, EvaluationContext, Run, Watcher, evaluate, settled};
use crate::device::Placement;
use crate::measure::Protocol;
use crate::nsight::metric::everything;
use crate::nsight::{Hardware, ProfileError, ProfiledLaunchRequest, Profiler, hardware};
use crate::project::manifest::Distribution;
use crate::project::{Project, Purpose, Workload};
use crate::toolchain::ProgramError;
use crate::verify::compiled_candidate::CompiledCandidate;
use crate::verify::device_session::{
    BufferPlacement, CountsUse, GridPart, OpenRequest, RunRequest, Scrutiny, Side,
};
use crate::verify::not_judged::NotJudged;
use crate::verify::verdict::{Step, TimingUse};

/// The result of verification, and the run that may be profiled.
#[derive(Debug)]
pub struct Profilable {
    /// The result of verification; its times are screening times and are not reported.
    pub run: Run,
    /// One run of the kernel; `None` if it did not pass.
    pub order: Option<ProfiledLaunchRequest>,
}

/// The result of verification, and the hardware counters of a kernel that passed.
#[derive(Debug)]
pub struct Profiled {
    /// The result of verification; its times are screening times and are not reported.
    pub run: Run,
    /// The workload that ran.
    pub workload: String,
    /// The hardware counters; `None` if the kernel did not pass.
    pub hardware: Option<Hardware>,
}

/// Verifies a kernel, and profiles one run of it with all metrics.
///
/// # Errors
/// As [`super::evaluate`], or the profiler lacks permission or fails.
pub fn profiled(
    evaluation: &Evaluation<'_>,
    profiler: &Profiler,
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Profiled, EvaluateError> {
    let named = evaluation.workload.map(|name| evaluation.project.workload(name)).transpose();
    let named = named.map_err(|error| EvaluateError::Request(error.to_string()))?;
    let nothing = || EvaluateError::Request("no workload is selected".to_owned());
    let workload = named.or_else(|| usual_workload(evaluation.project)).ok_or_else(nothing)?;
    let Profilable { mut run, order } =
        profilable(evaluation, workload, context, cancellation, watcher)?;
    let workload = workload.name.clone();
    let Some(order) = order else { return Ok(Profiled { run, workload, hardware: None }) };
    watcher(Step::Profile, Some(&workload));
    let hardware = match hardware(profiler, &order, &everything(), cancellation) {
        Ok(hardware) => Some(hardware),
        Err(ProfileError::Program(ProgramError::Cancelled)) => {
            run.verdict = Err(NotJudged::Cancelled.into());
            None
        }
        Err(error) => return Err(EvaluateError::Environment(error.to_string())),
    };
    Ok(Profiled { run, workload, hardware })
}

/// The default workload for profiling: the first timed one, else the first visible one.
#[must_use]
pub fn usual_workload(project: &Project) -> Option<&Workload> {
    let first = |purpose| project.workloads.iter().find(move |each| each.purpose == purpose);
    first(Purpose::Measure).or_else(|| first(Purpose::Verify))
}

/// Verifies a kernel, and makes a launch request for one run of it on the declared inputs of one workload.
///
/// # Errors
/// As [`super::evaluate`].
pub fn profilable(
    evaluation: &Evaluation<'_>,
    workload: &Workload,
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Profilable, EvaluateError> {
    // A timed workload is profiled at its timed size.
    let timing = TimingUse::Measure(Protocol::QUICK);
    let whole = Evaluation { workload: None, timing, ..*evaluation };
    let mut run = evaluate(&whole, context, cancellation, watcher)?;
    if run.verdict.is_err() {
        return Ok(Profilable { run, order: None });
    }
    let evaluation = Evaluation { workload: Some(&workload.name), ..whole };
    // The compilation is cached.
    let compiler = &mut context.compiler;
    let built = build::build(&evaluation, Scope::Screening, compiler, cancellation, &mut None);
    match settled(built)? {
        Ok(subject) => {
            let order = order(&evaluation, workload, subject)?;
            Ok(Profilable { run, order: Some(order) })
        }
        Err(failure) => {
            run.verdict = Err(failure);
            Ok(Profilable { run, order: None })
        }
    }
}

fn order(
    evaluation: &Evaluation<'_>,
    workload: &Workload,
    subject: CompiledCandidate,
) -> Result<ProfiledLaunchRequest, EvaluateError> {
    let mut trials = subject.measured.into_iter().chain(subject.workloads);
    let trial = trials.find(|trial| trial.case.workload == workload.name).ok_or_else(|| {
        let message = format!("`{}` does not run on {}", workload.name, evaluation.device);
        EvaluateError::Request(message)
    })?;
    let opening = OpenRequest {
        side: Side::Candidate,
        device: evaluation.device.to_string(),
        max_steps: subject.limits.virtual_steps,
        modules: subject.candidate,
        harness_kernels: subject.harness_kernels,
    };
    let draw = InputMode::Distribution(Distribution::AsDeclared);
    let run = RunRequest {
        case: trial.case,
        program: trial.candidate,
        recipe: InputSpec { seed: evaluation.seed, draw },
        memory: BufferPlacement::Fresh(Placement::Left),
        scrutiny: Scrutiny::Memory,
        counts: CountsUse::Drop,
        outputs: None,
        part: GridPart::Whole,
    };
    Ok(ProfiledLaunchRequest { opening, run })
}
