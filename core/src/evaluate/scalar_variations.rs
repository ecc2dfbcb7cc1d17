//! Workloads with scalars other than the declared ones: a kernel must read a scalar from its argument.

use lightbench_primitives::dtype::Family;
use lightbench_primitives::random::Stream;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_tensors::inputs::InputMode;

use crate::project::Definition;
use crate::project::manifest::Distribution;
use crate::project::scalar::{Scalar, ScalarDomain};
use crate::project::workload::Workload;

/// A copy of a workload with one scalar or one size changed.
#[derive(Clone, Debug)]
pub(super) struct VariedWorkload {
    pub(super) workload: Workload,
    /// The scalar or the axis with its value, for reports.
    pub(super) what: String,
    /// The inputs.
    pub(super) draw: InputMode,
    pub(super) launch: Launchable,
}

/// Whether a launch must be possible with what was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launchable {
    /// No launch depends on it.
    Always,
    /// A launch block may have conditions about it, and shared memory may not suffice.
    WherePermitted,
}

/// Values of a scalar relative to the declared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScalarChange {
    MuchLarger,
    MuchSmaller,
    Near,
    OtherSign,
}

const SCALAR_CHANGES: [ScalarChange; 4] = [
    ScalarChange::MuchLarger,
    ScalarChange::MuchSmaller,
    ScalarChange::Near,
    ScalarChange::OtherSign,
];

/// Every change of every floating-point scalar and of every integer that no size depends on, distributed over the given
/// workloads; the other value of every such boolean.
pub(super) fn scalar_variations(
    definition: &Definition,
    workloads: &[&Workload],
    seed: u64,
) -> Vec<VariedWorkload> {
    let mut all = Vec::new();
    for (index, scalar) in definition.scalars.iter().enumerate() {
        let launch = match scalar.dtype.family() {
            Family::Float => Launchable::Always,
            Family::Signed | Family::Unsigned | Family::Boolean => {
                if definition.decides_sizes(scalar) {
                    continue;
                }
                Launchable::WherePermitted
            }
        };
        let stream = Stream::new(seed, u32::MAX - index as u32);
        for (turn, way) in SCALAR_CHANGES.into_iter().enumerate() {
            let Some(workload) = workloads.get(turn % workloads.len().max(1)) else { continue };
            let Some(declared) = workload.scalars.get(index).copied() else { continue };
            let Some(value) = value(scalar, declared, way, stream.unit(turn as u64)) else {
                continue;
            };
            let mut workload = (*workload).clone();
            workload.scalars[index] = value;
            let what = format!("{} = {value} instead of {declared}", scalar.name);
            let draw = InputMode::Distribution(Distribution::AsDeclared);
            all.push(VariedWorkload { workload, what, draw, launch });
        }
    }
    all
}

/// Another value of a scalar; `None` if its domain or type has no such value.
fn value(
    scalar: &Scalar,
    declared: ScalarValue,
    way: ScalarChange,
    random: f64,
) -> Option<ScalarValue> {
    match declared {
        ScalarValue::Real(declared) => {
            let value = scalar.domain.admit(way.value(declared, random))?;
            let most = scalar.dtype.largest_finite().unwrap_or(f64::MAX);
            (value.abs() <= most).then_some(ScalarValue::Real(value))
        }
        ScalarValue::Integer(declared) => {
            // Integers of tasks are small, so that an f64 holds them.
            let value = scalar.domain.admit(way.integer(declared, random) as f64)? as i128;
            let differs = value != declared && scalar.dtype.holds(value);
            differs.then_some(ScalarValue::Integer(value))
        }
        ScalarValue::Boolean(declared) => {
            let is_other = way == ScalarChange::OtherSign && scalar.domain == ScalarDomain::Any;
            is_other.then_some(ScalarValue::Boolean(!declared))
        }
    }
}

impl ScalarChange {
    /// `random` is in [0, 1).
    fn value(self, declared: f64, random: f64) -> f64 {
        // Zero cannot be scaled.
        let base = if declared == 0.0 { 1.0 } else { declared };
        match self {
            Self::MuchLarger => base * (2.0_f64).powi(10 + (random * 8.0) as i32) * (1.0 + random),
            Self::MuchSmaller => base * (2.0_f64).powi(-6 - (random * 8.0) as i32) * (1.0 + random),
            Self::Near => base * (1.5 + random),
            Self::OtherSign => -base * (0.5 + random),
        }
    }

    /// Integers often count elements or loop iterations, so they grow by a small factor only.
    fn integer(self, declared: i128, random: f64) -> i128 {
        match self {
            Self::MuchLarger => 3 * declared + 2 + (random * 8.0) as i128,
            Self::MuchSmaller => declared / 2,
            Self::Near => declared + 1 + (random * 2.0) as i128,
            Self::OtherSign => -declared,
        }
    }
}

#[cfg(test)]
mod tests {
    use lightbench_primitives::dtype::Dtype;

    use super::*;

    #[test]
    fn other_values_stay_in_the_domain_and_in_the_type() {
        let check_values = |dtype, domain, declared, expected: [Option<ScalarValue>; 4]| {
            let (name, note) = ("k".to_owned(), String::new());
            let scalar = Scalar { name, dtype, value: declared, domain, note };
            let found = SCALAR_CHANGES.map(|way| value(&scalar, declared, way, 0.0));
            assert_eq!(found, expected, "{dtype:?}");
        };
        let check = |dtype, domain, declared, expected: [Option<i128>; 4]| {
            let expected = expected.map(|value| value.map(ScalarValue::Integer));
            check_values(dtype, domain, ScalarValue::Integer(declared), expected);
        };
        let any = ScalarDomain::Any;
        check(Dtype::I32, any, 6, [Some(20), Some(3), Some(7), Some(-6)]);
        check(Dtype::U32, any, 6, [Some(20), Some(3), Some(7), None]);
        check(Dtype::I32, any, 0, [Some(2), None, Some(1), None]);
        check(Dtype::I8, any, 100, [None, Some(50), Some(101), Some(-100)]);
        check(Dtype::I32, ScalarDomain::Fixed, 6, [None; 4]);
        check(Dtype::I32, ScalarDomain::Positive, 1, [Some(5), None, Some(2), None]);
        let limits = ScalarDomain::Between(2.0, 8.0);
        check(Dtype::I32, limits, 6, [Some(8), Some(3), Some(7), Some(2)]);
        let [yes, no] = [true, false].map(ScalarValue::Boolean);
        check_values(Dtype::Bool, any, yes, [None, None, None, Some(no)]);
        check_values(Dtype::Bool, ScalarDomain::Fixed, yes, [None; 4]);
    }
}
