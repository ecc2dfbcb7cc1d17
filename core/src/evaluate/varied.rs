//! Workloads with other scalars than those declared: a kernel must take a scalar from its argument.

use crate::project::definition::Definition;
use crate::project::dtype::Family;
use crate::project::scalar::{ScalarDomain, ScalarValue};
use crate::project::workload::Workload;
use crate::random::Stream;

/// A copy of a workload with one scalar changed.
#[derive(Clone, Debug)]
pub(super) struct Varied {
    pub(super) workload: Workload,
    /// The scalar's name and value, for reports.
    pub(super) what: String,
}

/// Values of a scalar relative to the declared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    MuchLarger,
    MuchSmaller,
    Near,
    OtherSign,
}

const WAYS: [Way; 4] = [Way::MuchLarger, Way::MuchSmaller, Way::Near, Way::OtherSign];

/// Every floating-point scalar in every way, dealt to the workloads that were chosen for it. Integers and booleans
/// stay: sizes and launches may depend on them.
pub(super) fn of(definition: &Definition, workloads: &[&Workload], seed: u64) -> Vec<Varied> {
    let mut all = Vec::new();
    let reals = definition.scalars.iter().enumerate();
    for (index, scalar) in reals.filter(|(_, scalar)| scalar.dtype.family() == Family::Float) {
        let stream = Stream::new(seed, u32::MAX - index as u32);
        for (turn, way) in WAYS.into_iter().enumerate() {
            let Some(workload) = workloads.get(turn % workloads.len().max(1)) else { continue };
            let Some(ScalarValue::Real(declared)) = workload.scalars.get(index).copied() else {
                continue;
            };
            let value = way.value(declared, stream.unit(turn as u64));
            let most = scalar.dtype.largest_finite().unwrap_or(f64::MAX);
            let Some(value) = scalar.domain.admit(value).filter(|value| value.abs() <= most) else {
                continue;
            };
            let mut workload = (*workload).clone();
            workload.scalars[index] = ScalarValue::Real(value);
            let what = format!("{} = {value:e} in the place of {declared:e}", scalar.name);
            all.push(Varied { workload, what });
        }
    }
    all
}

impl Way {
    /// `random` is in [0, 1).
    fn value(self, declared: f64, random: f64) -> f64 {
        // What is 0 has no factor.
        let base = if declared == 0.0 { 1.0 } else { declared };
        match self {
            Self::MuchLarger => base * (2.0_f64).powi(10 + (random * 8.0) as i32) * (1.0 + random),
            Self::MuchSmaller => base * (2.0_f64).powi(-6 - (random * 8.0) as i32) * (1.0 + random),
            Self::Near => base * (1.5 + random),
            Self::OtherSign => -base * (0.5 + random),
        }
    }
}

impl ScalarDomain {
    /// A value as the domain has it; none where it has none like it.
    fn admit(self, value: f64) -> Option<f64> {
        match self {
            Self::Any => Some(value),
            Self::Fixed => None,
            Self::NonZero => Some(value).filter(|value| *value != 0.0),
            Self::Positive => Some(value).filter(|value| *value > 0.0),
            Self::NonNegative => Some(value).filter(|value| *value >= 0.0),
            Self::Between(low, high) => Some(value.clamp(low, high)),
        }
    }
}
