//! Where a candidate stands: its times against the speed of light, what holds it back, what to try next, in one sentence.

use super::Evaluation;
use crate::measure::timing::{Basis as TimingBasis, Mode, Timing};
use crate::speed_of_light::advice::advise;
use crate::speed_of_light::bound::{CacheState, MethodBound, PhysicalBound};
use crate::speed_of_light::ceilings::{Basis, Ceilings};
use crate::speed_of_light::limiter::limiter;
use crate::speed_of_light::minimal_work::MinimalWork;
use crate::speed_of_light::situation::{DeviceNumbers, Profile, Situation};
use crate::speed_of_light::standing::{Bounds, standing};
use crate::speed_of_light::verdict_line::{Performance, Time, VerdictLine};
use crate::units::Seconds;
use crate::verify::subject::Subject;
use crate::verify::verdict::{Passed, WorkloadStanding, WorkloadTiming};

/// Finds out where each workload that was timed stands.
pub(super) fn stand(evaluation: &Evaluation<'_>, subject: &Subject, passed: &mut Passed) {
    for timing in &mut passed.timings {
        timing.standing = of(evaluation, subject, timing);
    }
}

fn of(
    evaluation: &Evaluation<'_>,
    subject: &Subject,
    timed: &WorkloadTiming,
) -> Option<WorkloadStanding> {
    let project = evaluation.project;
    let workload = project.workloads.iter().find(|each| each.name == timed.workload)?;
    let trial = subject.measured.iter().find(|trial| trial.case.workload == timed.workload)?;
    let work = MinimalWork::of(&project.definition, workload);
    let ceilings = Ceilings::of(evaluation.sheet, None, Basis::Sheet);
    let physical = PhysicalBound::of(&work, &ceilings, CacheState::Cold).ok();
    let method = MethodBound::of(&work, &ceilings, CacheState::Cold).ok();
    let cold = timed.timings.iter().find(|timing| timing.mode == Mode::Cold);
    let time = cold.map(compared);
    let standing = time.map(|time| {
        let bounds = physical.iter().map(|physical| Bounds { physical, method: method.as_ref() });
        standing(time, &bounds.collect::<Vec<_>>())
    });
    let Profile { counted, units, waits } = timed.profile.clone().unwrap_or_default();
    let situation = Situation {
        device: DeviceNumbers::of(evaluation.sheet),
        work: &work,
        launches: &trial.launches,
        launches_run: Some(trial.candidate.launches()),
        code: Some(trial.code),
        counted: timed.profile.is_some().then_some(counted),
        units,
        waits,
        time,
        bound: physical.as_ref(),
    };
    let limiter = limiter(&situation);
    let advice = advise(&situation, &limiter);
    let line = VerdictLine::Correct(Performance {
        time: told(cold, timed.withheld.as_deref()),
        previous: None,
        best: None,
        standing: standing.as_ref(),
        limiter: Some(&limiter),
        advice: Some(&advice),
    })
    .sentence();
    let bound = physical.map(|physical| physical.bound().clone());
    Some(WorkloadStanding { bound, standing, limiter, advice, line })
}

/// The time that is held against a bound: of a model, its own bound, which is below every time that is expected.
fn compared(timing: &Timing) -> Seconds {
    match &timing.basis {
        TimingBasis::Samples { .. } => timing.summary.median,
        TimingBasis::Model { bound, .. } => *bound,
    }
}

fn told<'a>(timing: Option<&'a Timing>, withheld: Option<&'a str>) -> Time<'a> {
    match timing {
        Some(timing) => Time::Taken(timing),
        None => Time::None(withheld.unwrap_or("nobody measured it")),
    }
}
