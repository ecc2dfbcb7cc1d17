//! Analyses the performance of a candidate that passed: fraction of the speed of light, limiter, advice, and the verdict
//! sentence.

use super::Evaluation;
use crate::speed_of_light::achieved::Achieved;
use crate::speed_of_light::advice::advise;
use crate::speed_of_light::bound::{CacheState, MethodBound, PhysicalBound};
use crate::speed_of_light::bound_comparison::{
    BoundComparison, Bounds, NoBoundComparison, compare_with_bounds,
};
use crate::speed_of_light::bound_fraction::ComparableTime;
use crate::speed_of_light::ceilings::{Basis, Ceilings};
use crate::speed_of_light::fact::Fact;
use crate::speed_of_light::limiter::limiter;
use crate::speed_of_light::minimal_work::MinimalWork;
use crate::speed_of_light::performance_data::{
    CounterLocation, DeviceLimits, DistinctBytes, KernelCounters, PerformanceData, Profile,
};
use crate::speed_of_light::score::score;
use crate::units::Bytes;
use crate::verify::baseline::BaselineOutcome;
use crate::verify::compiled_candidate::CompiledCandidate;
use crate::verify::verdict::{Passed, WorkloadStanding, WorkloadTiming};

/// The least bytes that a task moves in a workload for its distinct bytes to be extrapolated.
const ENOUGH: Bytes = Bytes(1 << 14);

/// Analyses the performance of each timed workload.
pub(super) fn analyse_performance(
    evaluation: &Evaluation<'_>,
    subject: &CompiledCandidate,
    passed: &mut Passed,
) {
    for timing in &mut passed.timings {
        timing.standing = analyse_workload(evaluation, subject, timing);
        analyse_baselines(evaluation, timing);
        timing.update_line(None, None);
    }
}

fn analyse_workload(
    evaluation: &Evaluation<'_>,
    subject: &CompiledCandidate,
    timed: &WorkloadTiming,
) -> Option<WorkloadStanding> {
    let project = evaluation.project;
    let workload = project.workloads.iter().find(|each| each.name == timed.workload)?;
    let trial = subject.measured.iter().find(|trial| trial.case.workload == timed.workload)?;
    let work = MinimalWork::new(&project.definition, workload);
    let held = timed.cold().map(ComparableTime::from);
    let bounds = bounds(evaluation, &work);
    let standing = held.map(|held| {
        let bounds =
            bounds.iter().map(|(physical, method)| Bounds { physical, method: method.as_ref() });
        compare_with_bounds(held, &bounds.collect::<Vec<_>>())
    });
    let decisive = decisive(&bounds, standing.as_ref());
    let bound = decisive.map(|(physical, _)| physical);
    let profile = timed.profile.as_ref();
    let uncounted = profile.err().map(ToString::to_string);
    let none = Profile::default();
    let Profile { units, waits, at, .. } = profile.unwrap_or(&none);
    let situation = PerformanceData {
        device: DeviceLimits::from_sheet(evaluation.sheet),
        work: &work,
        launches: &trial.launches,
        launches_run: Some(trial.candidate.launches()),
        code: Some(trial.code),
        counted: profile.ok().map(|profile| counted(profile, evaluation, &work)),
        units: units.clone(),
        waits: *waits,
        time: held.map(|held| held.time),
        earliest: held.map(|held| held.earliest()),
        bound,
        method: decisive.and_then(|(_, method)| method.as_ref()),
        floor: timed.cold().and_then(|timing| timing.clock.floor()),
        at,
        no_counters_reason: uncounted.as_deref(),
    };
    let limiter = limiter(&situation);
    let advice = advise(&situation, &limiter);
    let facts = Fact::ALL.iter().filter_map(|fact| Some((*fact, fact.value(&situation)?)));
    let (facts, line) = (facts.collect(), String::new());
    let bound = bound.map(|physical| physical.bound().clone());
    let achieved = held.zip(bound.as_ref()).and_then(|(held, bound)| {
        Achieved::new(&work, bound, &ceilings(evaluation, bound.basis), held.time)
    });
    let launch = situation.main_launch().cloned();
    Some(WorkloadStanding { bound, achieved, standing, limiter, advice, facts, launch, line })
}

/// Compares baselines with the bounds, and the candidate with the baselines. A baseline below its bound is a finding and
/// loses its time.
fn analyse_baselines(evaluation: &Evaluation<'_>, timed: &mut WorkloadTiming) {
    let mut workloads = evaluation.project.workloads.iter();
    let Some(workload) = workloads.find(|each| each.name == timed.workload) else { return };
    let work = MinimalWork::new(&evaluation.project.definition, workload);
    let found = bounds(evaluation, &work);
    let all: Vec<Bounds<'_>> = found
        .iter()
        .map(|(physical, method)| Bounds { physical, method: method.as_ref() })
        .collect();
    let time = timed.cold().map(|cold| cold.summary.median);
    let stands = timed.standing.as_ref().and_then(|stands| stands.standing.as_ref());
    let bound = decisive(&found, stands).map(|(physical, _)| physical.bound().time);
    for baseline in &mut timed.baselines {
        let outcome = &mut baseline.outcome;
        let seconds = match outcome {
            BaselineOutcome::Measured(measured) => measured.cold().map(|cold| cold.summary.median),
            BaselineOutcome::Recorded { seconds, .. } => Some(*seconds),
            BaselineOutcome::None(_) => None,
        };
        let Some(seconds) = seconds else { continue };
        if let Err(finding @ NoBoundComparison::BelowBound(_)) = compare_with_bounds(seconds, &all)
        {
            *outcome = BaselineOutcome::None(finding.to_string());
        }
        if let (BaselineOutcome::Measured(measured), Some(time), Some(bound)) =
            (outcome, time, bound)
        {
            measured.score = Some(score(time, seconds, bound));
        }
    }
}

/// The counters for the timed workload: counters of a smaller one are scaled, so that ratios to threads and to the task's
/// work use one size.
fn counted(profile: &Profile, evaluation: &Evaluation<'_>, work: &MinimalWork) -> KernelCounters {
    let CounterLocation::Extrapolated(beside) = &profile.at else { return profile.counted.clone() };
    let project = evaluation.project;
    let small = project.workloads.iter().find(|each| each.name == beside.workload);
    let small = small.map(|small| MinimalWork::new(&project.definition, small).moved());
    let bytes = small.map_or(beside.scale, |small| (work.moved() / small).0);
    let mut counted = profile.counted.scaled(beside.scale, bytes);
    if beside.whole_warps {
        counted = counted.as_full_warps();
    }
    // In tensors of a few sectors, partial sectors at the ends distort the ratio.
    if small.is_none_or(|small| small < ENOUGH) {
        counted.touched = DistinctBytes::Part;
    }
    counted
}

/// The ceilings of the device that the evaluation uses.
fn ceilings(evaluation: &Evaluation<'_>, basis: Basis) -> Ceilings {
    let ceilings = Ceilings::new(evaluation.sheet, evaluation.calibration, basis);
    if evaluation.device.local.is_virtual() { ceilings.on_virtual_device() } else { ceilings }
}

/// The bounds on each available basis: device-sheet peaks and measured ceilings.
fn bounds(
    evaluation: &Evaluation<'_>,
    work: &MinimalWork,
) -> Vec<(PhysicalBound, Option<MethodBound>)> {
    let calibration = evaluation.calibration;
    let bases = [Some(Basis::Sheet), calibration.map(|_| Basis::Measured)];
    let of = |basis| {
        let ceilings = ceilings(evaluation, basis);
        let physical = PhysicalBound::new(work, &ceilings, CacheState::Cold).ok()?;
        Some((physical, MethodBound::new(work, &ceilings, CacheState::Cold).ok()))
    };
    bases.into_iter().flatten().filter_map(of).collect()
}

/// The physical bounds of a workload on each available basis.
pub(super) fn physical_bounds(evaluation: &Evaluation<'_>, workload: &str) -> Vec<PhysicalBound> {
    let project = evaluation.project;
    let Ok(workload) = project.workload(workload) else { return Vec::new() };
    let work = MinimalWork::new(&project.definition, workload);
    bounds(evaluation, &work).into_iter().map(|(physical, _)| physical).collect()
}

/// The bound that limiter and advice rest on: the one that the sentence is about.
fn decisive<'a>(
    bounds: &'a [(PhysicalBound, Option<MethodBound>)],
    standing: Option<&Result<BoundComparison, NoBoundComparison>>,
) -> Option<&'a (PhysicalBound, Option<MethodBound>)> {
    // A bound with an unconfirmed peak that the time is below probably belongs to another device.
    if let Some(Err(NoBoundComparison::UnconfirmedPeak(_))) = standing {
        return None;
    }
    let best = standing.and_then(|standing| standing.as_ref().ok()?.best());
    let of_basis = |basis| bounds.iter().find(|(physical, _)| physical.bound().basis == basis);
    best.and_then(|best| of_basis(best.basis)).or(bounds.first())
}
