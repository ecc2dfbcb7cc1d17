//! Small sizes that fulfil the conditions of a task.

use std::collections::BTreeMap;

use crate::dimension::{Dimension, Sizes};
use crate::task::Task;
use crate::trace::Condition;

/// Limits of the search for sizes.
const MOST_STEPS: usize = 20_000;

/// What every value of an axis must be a multiple of, and its least value while all others are as in the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisLimits {
    /// Every value is a multiple of this.
    pub multiple_of: i128,
    /// The least value.
    pub min: i128,
}

/// Limits of each axis, from the conditions on this axis alone.
#[must_use]
pub fn limits(task: &Task) -> BTreeMap<String, AxisLimits> {
    let one = |(name, size): (&String, &i128)| {
        let multiples = task.conditions.iter().filter_map(|condition| match condition {
            Condition::Multiple(dimension, of) if dimension.plain_axis() == Some(name) => Some(*of),
            Condition::Multiple(..) | Condition::Positive(_) => None,
        });
        let multiple_of = multiples.fold(1, least_common_multiple);
        (name.clone(), AxisLimits { multiple_of, min: least(task, name, *size, multiple_of) })
    };
    task.axes.iter().map(one).collect()
}

fn least_common_multiple(left: i128, right: i128) -> i128 {
    let (mut a, mut b) = (left, right);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    left / a.max(1) * right
}

/// The least multiple that fulfils the conditions on this axis alone.
fn least(task: &Task, name: &str, size: i128, multiple_of: i128) -> i128 {
    let alone = |condition: &&Condition| condition.axes().iter().eq([name]);
    let conditions: Vec<_> = task.conditions.iter().filter(alone).collect();
    let mut candidate = multiple_of;
    while candidate < size && candidate <= 1 << 12 {
        let sizes = Sizes::from([(name.to_owned(), candidate)]);
        if conditions.iter().all(|condition| condition.holds(&sizes)) {
            return candidate;
        }
        candidate += multiple_of;
    }
    if conditions.is_empty() { multiple_of } else { size }
}

/// Sizes near the wanted ones that fulfil all conditions; none if none were found. Axes that a failed condition depends
/// on grow, at most to their size in the task.
#[must_use]
pub fn near(task: &Task, wanted: impl Fn(usize, &str) -> i128) -> Option<Sizes> {
    let limits = limits(task);
    let rounded = |value: i128, limits: AxisLimits| {
        let up = (value + limits.multiple_of - 1).div_euclid(limits.multiple_of);
        (up * limits.multiple_of).max(limits.min)
    };
    let mut sizes = Sizes::new();
    for (index, (name, task_size)) in task.axes.iter().enumerate() {
        let limits = limits.get(name)?;
        sizes.insert(
            name.clone(),
            rounded(wanted(index, name), *limits).min((*task_size).max(limits.min)),
        );
    }
    for _ in 0..MOST_STEPS {
        let Some(failed) = task.conditions.iter().find(|condition| !condition.holds(&sizes)) else {
            return Some(sizes);
        };
        // The smallest axis that may still grow.
        let growing = failed.axes().into_iter().filter_map(|name| {
            let size = *sizes.get(&name)?;
            (size < *task.axes.get(&name)?).then_some((size, name))
        });
        let (size, name) = growing.min()?;
        let step = limits.get(&name)?.multiple_of;
        sizes.insert(name.clone(), (size + step).min(*task.axes.get(&name)?));
    }
    None
}

/// Elements of all tensors together that a small workload has, if its conditions permit it: the reference in Python and
/// the virtual GPU compute it in seconds.
const FEW_ELEMENTS: i128 = 1 << 18;

/// Sizes near the wanted ones, which are taken in turn, and smaller ones if those make too many elements.
#[must_use]
pub fn small(task: &Task, wanted: &[i128]) -> Option<Sizes> {
    let mut found = None;
    for halved in 0..10_u32 {
        let size = |index: usize| wanted.iter().cycle().nth(index).copied().unwrap_or(1);
        let sizes = near(task, |index, _| (size(index) >> halved).max(1))?;
        let is_small = total(task, &sizes).is_some_and(|elements| elements <= FEW_ELEMENTS);
        found = Some(sizes);
        if is_small {
            break;
        }
    }
    found
}

/// The number of elements of all inputs and outputs.
fn total(task: &Task, sizes: &Sizes) -> Option<i128> {
    let inputs = task.tensors.iter().map(|tensor| &tensor.shape);
    let shapes = inputs.chain(task.outputs.iter().map(|output| &output.shape));
    shapes.map(|shape| elements(shape, sizes)).sum()
}

/// The number of elements of a shape; none for an unknown axis.
#[must_use]
pub fn elements(shape: &[Dimension], sizes: &Sizes) -> Option<i128> {
    shape.iter().try_fold(1_i128, |product, size| product.checked_mul(size.value(sizes)?))
}
