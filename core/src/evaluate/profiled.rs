//! What a profiler runs: one run of a kernel that a quick look found nothing wrong with.

use std::collections::BTreeMap;

use super::build::{self, Scope};
use super::{Bench, EvaluateError, Evaluation, Glances, Screening, Watcher, screen, settled};
use crate::cancellation::Cancellation;
use crate::device::Placement;
use crate::measure::Protocol;
use crate::nsight::Order;
use crate::project::manifest::Distribution;
use crate::project::{Project, Purpose, Workload};
use crate::verify::inputs::{Draw, Recipe};
use crate::verify::station::{
    CountsUse, MemoryOrder, Opening, OpeningHead, RunOrder, Scrutiny, Side,
};
use crate::verify::subject::Subject;
use crate::verify::verdict::TimingUse;

/// What came of a quick look, and what may be profiled.
#[derive(Debug)]
pub struct Profilable {
    /// The quick look.
    pub screening: Screening,
    /// One run of the kernel; none where the look found something wrong.
    pub order: Option<Order>,
}

/// The workload that is profiled where nobody chose one: the first that is for measuring, else the first that everybody sees.
#[must_use]
pub fn usual_workload(project: &Project) -> Option<&Workload> {
    let first = |purpose| project.workloads.iter().find(move |each| each.purpose == purpose);
    first(Purpose::Measure).or_else(|| first(Purpose::Verify))
}

/// Takes a quick look at a kernel on one workload, and makes an order for one run of it on the declared inputs.
///
/// # Errors
/// As [`super::evaluate`].
pub fn profilable(
    evaluation: &Evaluation<'_>,
    workload: &Workload,
    bench: &mut Bench,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Profilable, EvaluateError> {
    let evaluation = Evaluation {
        workload: Some(&workload.name),
        timing: TimingUse::Measure(Protocol::QUICK),
        ..*evaluation
    };
    let alone = std::slice::from_ref(&evaluation);
    let glances = Glances { evaluations: alone, abandon: &BTreeMap::new() };
    let looked = screen(glances, bench, cancellation, watcher)?.into_iter().next();
    let mut screening = looked.unwrap_or_else(|| Screening::cancelled(evaluation.seed));
    if screening.verdict.is_err() {
        return Ok(Profilable { screening, order: None });
    }
    // What was compiled a moment ago is remembered.
    let compiler = &mut bench.compiler;
    let built = build::build(&evaluation, Scope::Glance, compiler, cancellation, &mut None);
    match settled(built)? {
        Ok(subject) => {
            let order = order(&evaluation, workload, subject)?;
            Ok(Profilable { screening, order: Some(order) })
        }
        Err(failure) => {
            screening.verdict = Err(failure);
            Ok(Profilable { screening, order: None })
        }
    }
}

fn order(
    evaluation: &Evaluation<'_>,
    workload: &Workload,
    subject: Subject,
) -> Result<Order, EvaluateError> {
    let mut trials = subject.measured.into_iter().chain(subject.trials);
    let trial = trials.find(|trial| trial.case.workload == workload.name).ok_or_else(|| {
        let message = format!("`{}` does not run on {}", workload.name, evaluation.device);
        EvaluateError::Request(message)
    })?;
    let head = OpeningHead {
        side: Side::Candidate,
        device: evaluation.device.to_string(),
        max_steps: subject.limits.virtual_steps,
    };
    let opening = Opening { head, modules: subject.candidate, trusted: subject.trusted };
    let draw = Draw::Distribution(Distribution::AsDeclared);
    let run = RunOrder {
        case: trial.case,
        program: trial.candidate,
        recipe: Recipe { seed: evaluation.seed, draw },
        memory: MemoryOrder::Fresh(Placement::Left),
        scrutiny: Scrutiny::Memory,
        counts: CountsUse::Drop,
        outputs: None,
    };
    Ok(Order { opening, run })
}
