//! Workloads: sizes that fit the limits of the axes, the checks of the wrapper and the limits of launches.

use std::path::Path;

use lightbench_cuda_source::torch_wrapper::{Condition, Integer, ParameterKind, Real};
use lightbench_project::manifest::{Purpose, WorkloadWritten};
use lightbench_project::written::{Entries, NumberWritten};

use super::interface::{Interface, ScalarSource, launches};
use crate::draft::workload;
use crate::error::ImportError;
use crate::report::{Place, Report};

/// The workloads and the checks.
pub(crate) struct Workloads {
    pub(crate) list: Vec<WorkloadWritten>,
    /// Checks that every workload passes, as expressions.
    pub(crate) required: Vec<String>,
    /// Checks that some workload fails.
    pub(crate) dropped: Vec<String>,
}

/// A workload's sizes for one, two, three and more axes.
struct Plan {
    name: &'static str,
    purpose: Purpose,
    by_count: [&'static [i128]; 4],
}

/// Odd sizes, so that no block divides them; even ones; large ones to measure.
const PLANS: [Plan; 4] = [
    Plan {
        name: "odd",
        purpose: Purpose::Verify,
        by_count: [&[1003], &[33, 131], &[17, 35, 67], &[3, 5, 19, 23]],
    },
    Plan {
        name: "even",
        purpose: Purpose::Verify,
        by_count: [&[4096], &[64, 256], &[32, 64, 128], &[2, 4, 32, 64]],
    },
    Plan {
        name: "large",
        purpose: Purpose::Measure,
        by_count: [&[1 << 22], &[2048, 2048], &[512, 512, 512], &[8, 16, 512, 64]],
    },
    Plan {
        name: "hidden",
        purpose: Purpose::HeldOut,
        by_count: [&[2049], &[45, 259], &[21, 45, 93], &[3, 7, 35, 37]],
    },
];

/// Gives one value to each axis from which the wrapper computes a real number: a launch block computes integers only, and
/// the verifier changes other axes.
pub(crate) fn pin(interface: &mut Interface<'_>, report: &mut Report) {
    let mut pinned: Vec<(usize, String)> = Vec::new();
    for scalar in &interface.scalars {
        let ScalarSource::Computed(real) = &scalar.source else { continue };
        for fact in real.facts() {
            let text = interface.axes.text(&Integer::Fact(fact)).unwrap_or_default();
            let words: Vec<&str> = text.split(|letter: char| !is_word(letter)).collect();
            let axes = interface.axes.axes.iter().enumerate();
            let used = axes.filter(|(_, axis)| words.contains(&axis.name.as_str()));
            pinned.extend(used.map(|(index, _)| (index, scalar.name.clone())));
        }
    }
    pinned.sort();
    pinned.dedup_by_key(|(index, _)| *index);
    let alone = interface.axes.axes.len() == 1;
    for (index, scalar) in pinned {
        let Some(axis) = interface.axes.axes.get_mut(index) else { continue };
        let wanted = if alone { 4096 } else { 64 };
        let size = wanted.max(axis.min).min(axis.max.unwrap_or(wanted.max(axis.min)));
        let size = (size / axis.multiple_of).max(1) * axis.multiple_of;
        (axis.min, axis.max) = (size, Some(size));
        let name = axis.name.clone();
        report.confirm(
            format!("{name}.value"),
            Place::Axis(name.clone()),
            format!("the wrapper computes the scalar `{scalar}` from `{name}`, which a launch block cannot; {size} is the only size, and `{scalar}` has its value for it"),
        );
    }
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}

/// Chooses workloads.
pub(crate) fn workloads(path: &Path, interface: &Interface<'_>) -> Result<Workloads, ImportError> {
    let mut list: Vec<WorkloadWritten> = Vec::new();
    let mut all = Vec::new();
    for plan in &PLANS {
        let sizes = fitted(interface, plan).ok_or_else(|| {
            let expected =
                "launches that some small sizes permit: at most 1,024 threads in a block";
            ImportError::new(path, "", "no sizes fit the checks and the launches", expected)
        })?;
        let same = |other: &WorkloadWritten| other.axes.0 == written(interface, &sizes);
        if list.iter().any(same) && plan.purpose == Purpose::Verify {
            continue;
        }
        let mut own = workload(plan.name, plan.purpose, written(interface, &sizes));
        own.scalars = Entries(scalars(interface, &sizes));
        list.push(own);
        all.push(sizes);
    }
    let (mut required, mut dropped) = (Vec::new(), Vec::new());
    for condition in &interface.axes.conditions {
        let Some(text) = interface.axes.condition_text(condition) else { continue };
        let holds = all.iter().all(|sizes| holds(interface, condition, sizes) == Some(true));
        if holds { required.push(text) } else { dropped.push(text) }
    }
    Ok(Workloads { list, required, dropped })
}

fn written(interface: &Interface<'_>, sizes: &[i128]) -> Vec<(String, i64)> {
    let axes = interface.axes.axes.iter().zip(sizes);
    axes.map(|(axis, size)| (axis.name.clone(), i64::try_from(*size).unwrap_or(i64::MAX))).collect()
}

/// The sizes of a plan, made smaller until everything fits.
fn fitted(interface: &Interface<'_>, plan: &Plan) -> Option<Vec<i128>> {
    let count = interface.axes.axes.len();
    let wanted = plan.by_count[count.clamp(1, 4) - 1];
    let base = |index: usize| wanted.get(index).or(wanted.last()).copied().unwrap_or(1);
    let start: Vec<i128> = (0..count).map(base).collect();
    // Sizes along the last dimension are the ones that blocks and shared memory depend on.
    let mut fallback = None;
    for divisor in [1, 2, 4, 8, 16, 32, 64, 128] {
        for all_axes in [false, true] {
            let sizes: Vec<i128> = start
                .iter()
                .zip(&interface.axes.axes)
                .enumerate()
                .map(|(index, (size, axis))| {
                    let shrinks = all_axes || index + 1 == count;
                    let size = if shrinks { size / divisor } else { *size };
                    let size = size.max(1).max(axis.min);
                    let size = (size + axis.multiple_of - 1) / axis.multiple_of * axis.multiple_of;
                    match axis.max {
                        Some(max) if size > max => max / axis.multiple_of * axis.multiple_of,
                        Some(_) | None => size,
                    }
                })
                .collect();
            if !launches_fit(interface, &sizes) {
                continue;
            }
            let checks = interface.axes.conditions.iter();
            let mut results = checks.map(|condition| holds(interface, condition, &sizes));
            if results.all(|result| result != Some(false)) {
                return Some(sizes);
            }
            fallback = fallback.or(Some(sizes));
        }
    }
    fallback
}

fn value(interface: &Interface<'_>, integer: &Integer, sizes: &[i128]) -> Option<i128> {
    interface.axes.value(integer, &|name| named(interface, name, sizes))
}

/// The value of an axis, an integer scalar or a number of the launch block.
fn named(interface: &Interface<'_>, name: &str, sizes: &[i128]) -> Option<i128> {
    let axes = interface.axes.axes.iter().zip(sizes);
    let axis = axes.filter(|(axis, _)| axis.name == name).map(|(_, size)| *size).next();
    axis.or_else(|| {
        let parameters = interface.wrapper.parameters.iter();
        if let Some(ParameterKind::Launch(value)) =
            parameters.filter(|each| each.name == name).map(|each| &each.kind).next()
        {
            return Some(*value);
        }
        let scalar = interface.scalars.iter().find(|scalar| scalar.name == name)?;
        match scalar.value {
            NumberWritten::Integer(value) => Some(value),
            NumberWritten::Boolean(_) | NumberWritten::Real(_) => None,
        }
    })
}

/// Whether every launch and every shape is possible with these sizes.
fn launches_fit(interface: &Interface<'_>, sizes: &[i128]) -> bool {
    let evaluate = |integer: &Integer| value(interface, integer, sizes).unwrap_or(0);
    let shapes = interface.axes.shapes.iter().flatten();
    let positive = shapes.map(evaluate).all(|size| size >= 1);
    let fits = launches(interface.wrapper).all(|launch| {
        let block: Vec<i128> = launch.block.iter().map(evaluate).collect();
        let grid: Vec<i128> = launch.grid.iter().map(evaluate).collect();
        let shared = value(interface, &launch.shared, sizes);
        block.iter().product::<i128>() <= 1024
            && block.iter().chain(&grid).all(|extent| *extent >= 1)
            && block.get(2).is_none_or(|depth| *depth <= 64)
            && grid.iter().skip(1).all(|extent| *extent <= 65_535)
            && shared.is_some_and(|bytes| (0..=232_448).contains(&bytes))
    });
    positive && fits
}

fn holds(interface: &Interface<'_>, condition: &Condition, sizes: &[i128]) -> Option<bool> {
    let side = |integer: &Integer| value(interface, integer, sizes);
    Some(match condition {
        Condition::Always(value) => *value,
        Condition::Compare(comparison, left, right) => comparison.holds(side(left)?, side(right)?),
        Condition::And(left, right) => {
            holds(interface, left, sizes)? && holds(interface, right, sizes)?
        }
        Condition::Or(left, right) => {
            holds(interface, left, sizes)? || holds(interface, right, sizes)?
        }
        Condition::Not(inner) => !holds(interface, inner, sizes)?,
        Condition::SameShape(..)
        | Condition::HasDtype(..)
        | Condition::SameDtype(..)
        | Condition::Given
        | Condition::Unknown => return None,
    })
}

/// The values of numbers that the wrapper computes from sizes.
fn scalars(interface: &Interface<'_>, sizes: &[i128]) -> Vec<(String, NumberWritten)> {
    let mut found = Vec::new();
    for scalar in &interface.scalars {
        let ScalarSource::Computed(real) = &scalar.source else { continue };
        if real.constant().is_none()
            && let Some(value) = computed(interface, real, sizes)
        {
            found.push((scalar.name.clone(), NumberWritten::Real(value)));
        }
    }
    found
}

fn computed(interface: &Interface<'_>, real: &Real, sizes: &[i128]) -> Option<f64> {
    let parameter = |position: usize| {
        let scalar = interface.parameter_scalar(position)?;
        match scalar.value {
            NumberWritten::Real(value) => Some(value),
            NumberWritten::Integer(_) | NumberWritten::Boolean(_) => None,
        }
    };
    let fact = |fact| interface.axes.fact_value(fact, &|name| named(interface, name, sizes));
    let value = real.value(&fact, &parameter)?;
    // The scalar has the type of the kernel's parameter, which rounds it.
    #[expect(clippy::cast_possible_truncation, reason = "f32 is what the kernel takes")]
    let value = f64::from(value as f32);
    Some(value)
}
