//! Compares a time with its bounds: a fraction that is never clamped, or the finding that the time is below a bound.

use lightbench_units::Seconds;

use super::bound::{Bound, CacheState, Limit, MethodBound, Part, PhysicalBound, Residency};
use super::bound_fraction::{BoundFraction, ComparableTime};
use super::ceilings::Basis;

/// A time compared with the bounds of its workload, on the peaks of the device sheet and, if available, on measured
/// ceilings.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundComparison {
    /// Against the bounds that no correct kernel beats.
    pub physical: Vec<ComparedBound>,
    /// Compared with the bounds of the named method; a fraction above 1 shows another method.
    pub method: Vec<ComparedBound>,
}

/// A time against one bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedBound {
    /// The basis of the ceilings.
    pub basis: Basis,
    /// The bound.
    pub bound: Seconds,
    /// The resource that sets the bound.
    pub limit: Limit,
    /// The bound by the time.
    pub bound_fraction: BoundFraction,
}

/// Why a time has no standing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoBoundComparison {
    /// The time is below a confirmed bound: it is reported as a finding and not used as a time.
    #[error("{}", .0.sentence())]
    BelowBound(BelowBound),
    /// The time is below a bound whose peak is unconfirmed on this device: the device sheet is the likely error, and the
    /// time stays valid.
    #[error("{}", .0.unconfirmed_sentence())]
    UnconfirmedPeak(BelowBound),
    /// The time is not a positive, finite number.
    #[error("the time is not a positive, finite number")]
    NotATime,
    /// No bound is known.
    #[error("no bound is known for this workload")]
    NoBound,
}

/// A time that no correct kernel reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct BelowBound {
    /// The measured value.
    pub claimed: Seconds,
    /// The bound from device-sheet peaks that the time is below.
    pub compared: ComparedBound,
    /// Possible causes, likeliest first.
    pub reasons: Vec<Reason>,
}

/// A possible cause of a time below its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Most often.
    #[error("the kernel does not do all of the work")]
    WorkSkipped,
    /// Cold times only.
    #[error("caches were not empty when the clock started")]
    NotCold,
    /// Small working sets.
    #[error("the working set fits in L2")]
    FitsInCache,
    /// Short times.
    #[error(
        "the clock missed part of the work: an asynchronous launch, a wrong stream, an offset subtracted twice"
    )]
    ClockMissed,
    /// Only for unconfirmed peaks.
    #[error("the description of this device states too low a peak")]
    DescriptionWrong,
    /// Always.
    #[error("the device runs above the clocks of its sheet")]
    FasterClock,
    /// Always.
    #[error("the project counts more work than the task needs")]
    WorkOverstated,
}

/// Bounds on one basis; a method bound may be missing where the physical one is not.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// No correct kernel beats it.
    pub physical: &'a PhysicalBound,
    /// The bound of the named method.
    pub method: Option<&'a MethodBound>,
}

/// Compares a time with its bounds.
///
/// A time below a bound on stated peaks is an error only if the driver's attributes or a calibration confirm the peak on this
/// device. Measured ceilings are the rates that our own kernels reached: a time below a bound on them shows that more is
/// possible, see [`BoundComparison::exceeded_ceiling`].
///
/// # Errors
/// The time lies below a physical bound on stated peaks, is none, or there is no bound.
pub fn compare_with_bounds(
    held: impl Into<ComparableTime>,
    bounds: &[Bounds<'_>],
) -> Result<BoundComparison, NoBoundComparison> {
    let held = held.into();
    let is_time = [held.time, held.least].iter().all(|time| time.0 > 0.0 && time.0.is_finite());
    if !is_time {
        return Err(NoBoundComparison::NotATime);
    }
    if bounds.is_empty() {
        return Err(NoBoundComparison::NoBound);
    }
    let mut standing = BoundComparison { physical: Vec::new(), method: Vec::new() };
    let mut unconfirmed = None;
    for Bounds { physical, method } in bounds {
        let bound = physical.bound();
        match bound.basis {
            Basis::Sheet if held.is_below(bound.time) => {
                let is_proof =
                    |part: &&Part| part.confirmation.is_confirmed() && held.is_below(part.time);
                if let Some(part) = bound.parts.iter().find(is_proof) {
                    let below = BelowBound::new(held.least, part, bound);
                    return Err(NoBoundComparison::BelowBound(below));
                }
                let longest = bound.parts.first();
                unconfirmed = longest.map(|part| BelowBound::new(held.least, part, bound));
                continue;
            }
            Basis::Sheet | Basis::Measured => {}
        }
        // A bound that is NaN compares false with every time, so it is refused.
        let is_bound = bound.time.0 > 0.0 && bound.time.0.is_finite();
        if !is_bound {
            return Err(NoBoundComparison::NoBound);
        }
        standing.physical.push(ComparedBound::new(&held, bound));
        standing.method.extend(method.map(|method| ComparedBound::new(&held, method.bound())));
    }
    match unconfirmed {
        Some(below) if standing.physical.is_empty() => {
            Err(NoBoundComparison::UnconfirmedPeak(below))
        }
        Some(_) | None => Ok(standing),
    }
}

impl ComparedBound {
    fn new(held: &ComparableTime, bound: &Bound) -> Self {
        let Bound { time: at_least, limit, basis, .. } = bound;
        Self {
            basis: *basis,
            bound: *at_least,
            limit: *limit,
            bound_fraction: held.bound_fraction(*at_least),
        }
    }
}

impl BoundComparison {
    /// Against the physical bound on the best basis there is: measured before sheet, unless the measured one was beaten.
    #[must_use]
    pub fn best(&self) -> Option<&ComparedBound> {
        let unbeaten =
            self.physical.iter().filter(|against| against.bound_fraction.middle.0 <= 1.0);
        unbeaten.max_by_key(|against| against.basis)
    }

    /// The comparison on device-sheet peaks, if [`BoundComparison::best`] uses measured ceilings.
    #[must_use]
    pub fn on_sheet_peaks(&self) -> Option<&ComparedBound> {
        match self.best()?.basis {
            Basis::Measured => self.physical.iter().find(|against| against.basis == Basis::Sheet),
            Basis::Sheet => None,
        }
    }

    /// The bound on measured ceilings, if the time is below it: the calibration is outdated, or its benchmark kernels are
    /// not the fastest possible.
    #[must_use]
    pub fn exceeded_ceiling(&self) -> Option<&ComparedBound> {
        self.physical.iter().find(|against| against.bound_fraction.middle.0 > 1.0)
    }

    /// The bound of the named method, if the time is below it: the kernel uses another method.
    #[must_use]
    pub fn exceeded_method(&self) -> Option<&ComparedBound> {
        self.method.iter().find(|against| against.bound_fraction.middle.0 > 1.0)
    }
}

impl BelowBound {
    /// The finding for a time below one part of a bound.
    fn new(claimed: Seconds, part: &Part, bound: &Bound) -> Self {
        let Part { time, limit, confirmation, .. } = part;
        let share = ComparableTime::from(claimed).bound_fraction(*time);
        let against = ComparedBound {
            basis: bound.basis,
            bound: *time,
            limit: *limit,
            bound_fraction: share,
        };
        let mut reasons = reasons(bound);
        if !confirmation.is_confirmed() {
            reasons.insert(0, Reason::DescriptionWrong);
        }
        Self { claimed, compared: against, reasons }
    }

    /// The sentence for an unconfirmed peak: the device sheet is the likely error.
    #[must_use]
    pub fn unconfirmed_sentence(&self) -> String {
        let ComparedBound { bound, limit, basis, .. } = self.compared;
        format!(
            "{} is below the {bound} that {limit} alone takes ({basis}), but neither the driver's attributes nor a \
             calibration of this device confirms that peak: the description of the device is most likely wrong; \
             `lightbench calibrate` measures its ceilings",
            self.claimed
        )
    }

    /// The sentence of the finding.
    #[must_use]
    pub fn sentence(&self) -> String {
        let ComparedBound { bound, limit, basis, .. } = self.compared;
        let likely = self.reasons.first().map(|reason| format!("; most likely {reason}"));
        format!(
            "{} is below the {bound} that {limit} alone takes ({basis}): not a valid time{}",
            self.claimed,
            likely.unwrap_or_default()
        )
    }
}

fn reasons(bound: &Bound) -> Vec<Reason> {
    let mut reasons = vec![Reason::WorkSkipped];
    if bound.cache == CacheState::Cold {
        reasons.push(Reason::NotCold);
    }
    match bound.residency {
        Residency::Fits | Residency::Unknown => reasons.push(Reason::FitsInCache),
        Residency::Beyond => {}
    }
    reasons.extend([Reason::ClockMissed, Reason::FasterClock, Reason::WorkOverstated]);
    reasons
}
