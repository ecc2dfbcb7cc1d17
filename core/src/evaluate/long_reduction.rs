//! A workload with a reduction of more than 65,536 terms, if the definition permits one: 16-bit counters overflow there,
//! and a sequential sum in f32 loses most precision.

use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::{DomainInput, InputMode, InputSpec, generate};

use super::scalar_variations::{Launchable, VariedWorkload};
use crate::project::compare::Comparator;
use crate::project::workload::Workload;
use crate::project::{Definition, Purpose};

/// More terms than 16 bits count.
const TERMS: u64 = 65_537;

/// The largest work, in operations and words moved: one second on a virtual device.
const MOST_WORK: f64 = 4_194_304.0;

/// The permitted workload with at least [`TERMS`] terms and the least work; `None` if a small workload has as many terms.
pub(super) fn find(
    definition: &Definition,
    small: &[&Workload],
    work: impl Fn(&Workload) -> f64,
) -> Option<VariedWorkload> {
    if small.iter().any(|workload| terms(definition, workload) >= TERMS) {
        return None;
    }
    let mut long = Vec::new();
    for (workload, axis) in
        small.iter().flat_map(|each| (0..definition.axes.len()).map(move |axis| (each, axis)))
    {
        let length = TERMS.next_multiple_of(definition.axes[axis].multiple_of);
        let least = |index: usize| {
            let axis = &definition.axes[index];
            axis.min.next_multiple_of(axis.multiple_of)
        };
        let with = |other: &dyn Fn(usize) -> u64| {
            let value = |index| if index == axis { length } else { other(index) };
            workload.with_axes(definition, (0..definition.axes.len()).map(value).collect())
        };
        long.extend([with(&least), with(&|index| workload.axes[index])].into_iter().flatten());
    }
    long.retain(|long| terms(definition, long) >= TERMS && work(long) <= MOST_WORK);
    long.sort_by(|one, other| work(one).total_cmp(&work(other)));
    long.into_iter().find_map(|workload| with_equal_terms(definition, workload))
}

/// The workload with equal values in its largest floating-point input; `None` if its inputs cannot be generated.
fn with_equal_terms(definition: &Definition, workload: Workload) -> Option<VariedWorkload> {
    let case = Case::new(definition, &workload).ok()?;
    let (tensor, draw) = DomainInput::equal_terms(&case)?;
    let draw = InputMode::Domain(draw);
    generate(&case, InputSpec { seed: 0, draw }).ok()?;
    let axes = definition.axes.iter().zip(&workload.axes);
    let sizes: Vec<String> = axes.map(|(axis, size)| format!("{} = {size}", axis.name)).collect();
    let what = format!("{} and equal values in `{}`", sizes.join(", "), case.tensors[tensor].name);
    Some(VariedWorkload { workload, what, draw, launch: Launchable::WherePermitted })
}

/// The largest number of terms of an output's sums.
fn terms(definition: &Definition, workload: &Workload) -> u64 {
    debug_assert_ne!(workload.purpose, Purpose::HeldOut, "reports name what is lengthened");
    let environment = definition.environment(workload);
    let outputs = definition.tensors.iter().filter_map(|tensor| tensor.role.compare());
    let terms = outputs.filter_map(|compare| match compare {
        Comparator::Elementwise { terms, .. } => terms.count(&environment).ok(),
        Comparator::IntegerExact
        | Comparator::IndexByValue { .. }
        | Comparator::Permutation { .. }
        | Comparator::Set
        | Comparator::Sampling { .. } => None,
    });
    terms.max().unwrap_or(0)
}
