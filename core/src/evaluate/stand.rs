//! Where a candidate stands: its times against the speed of light, what holds it back, what to try next, in one sentence.

use super::Evaluation;
use crate::measure::timing::{Basis as TimingBasis, Mode, Timing};
use crate::speed_of_light::advice::advise;
use crate::speed_of_light::bound::{CacheState, MethodBound, PhysicalBound};
use crate::speed_of_light::ceilings::{Basis, Ceilings};
use crate::speed_of_light::fact::Fact;
use crate::speed_of_light::limiter::limiter;
use crate::speed_of_light::minimal_work::MinimalWork;
use crate::speed_of_light::situation::{DeviceNumbers, Profile, Situation};
use crate::speed_of_light::standing::{Bounds, NoStanding, Standing, standing};
use crate::speed_of_light::than::Than;
use crate::speed_of_light::verdict_line::{Performance, Time, VerdictLine};
use crate::units::Seconds;
use crate::verify::subject::Subject;
use crate::verify::verdict::{Passed, WorkloadStanding, WorkloadTiming};

/// Finds out where each workload that was timed stands.
pub(super) fn stand(evaluation: &Evaluation<'_>, subject: &Subject, passed: &mut Passed) {
    for timing in &mut passed.timings {
        timing.standing = of(evaluation, subject, timing);
        timing.tell(None, None);
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
    let time = timed.cold().map(compared);
    let bounds = bounds(evaluation, &work);
    let standing = time.map(|time| {
        let bounds =
            bounds.iter().map(|(physical, method)| Bounds { physical, method: method.as_ref() });
        standing(time, &bounds.collect::<Vec<_>>())
    });
    let bound = decisive(&bounds, standing.as_ref());
    let Profile { counted, units, waits, .. } = timed.profile.clone().unwrap_or_default();
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
        bound,
    };
    let limiter = limiter(&situation);
    let advice = advise(&situation, &limiter);
    let facts = Fact::ALL.iter().filter_map(|fact| Some((*fact, fact.value(&situation)?)));
    let (facts, line) = (facts.collect(), String::new());
    let bound = bound.map(|physical| physical.bound().clone());
    Some(WorkloadStanding { bound, standing, limiter, advice, facts, line })
}

/// The bounds on each basis that there is: the sheet, and what was measured on this device.
fn bounds(
    evaluation: &Evaluation<'_>,
    work: &MinimalWork,
) -> Vec<(PhysicalBound, Option<MethodBound>)> {
    let calibration = evaluation.calibration;
    let bases = [Some(Basis::Sheet), calibration.map(|_| Basis::Measured)];
    let of = |basis| {
        let ceilings = Ceilings::of(evaluation.sheet, calibration, basis);
        let physical = PhysicalBound::of(work, &ceilings, CacheState::Cold).ok()?;
        Some((physical, MethodBound::of(work, &ceilings, CacheState::Cold).ok()))
    };
    bases.into_iter().flatten().filter_map(of).collect()
}

/// The bound that limiter and advice rest on: the one that the sentence is about.
fn decisive<'a>(
    bounds: &'a [(PhysicalBound, Option<MethodBound>)],
    standing: Option<&Result<Standing, NoStanding>>,
) -> Option<&'a PhysicalBound> {
    let best = standing.and_then(|standing| standing.as_ref().ok()?.best());
    let of_basis = |basis| bounds.iter().find(|(physical, _)| physical.bound().basis == basis);
    let found = best.and_then(|best| of_basis(best.basis)).or(bounds.first());
    found.map(|(physical, _)| physical)
}

impl WorkloadTiming {
    /// The cold time: the one that scores.
    #[must_use]
    pub fn cold(&self) -> Option<&Timing> {
        self.timings.iter().find(|timing| timing.mode == Mode::Cold)
    }

    /// Makes the sentence anew, against the previous run and the best where those are known; [`than`] compares.
    ///
    /// [`than`]: crate::history::before::than
    pub fn tell(&mut self, previous: Option<Than>, best: Option<Than>) {
        let Some(stands) = &self.standing else { return };
        let line = VerdictLine::Correct(Performance {
            time: told(self.cold(), self.withheld.as_deref()),
            previous,
            best,
            standing: stands.standing.as_ref(),
            limiter: Some(&stands.limiter),
            advice: Some(&stands.advice),
        })
        .sentence();
        if let Some(stands) = &mut self.standing {
            stands.line = line;
        }
    }
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
