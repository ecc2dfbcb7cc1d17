//! A workload whose indices exceed 32 bits, if the definition permits one.
//!
//! It differs from a small workload in as few axes as suffice, and runs once: whole on a GPU, in sampled blocks on a virtual device.

use std::cmp::Reverse;

use crate::device::LocalDevice;
use crate::project::scalar::Axis;
use crate::project::workload::Workload;
use crate::project::{Definition, Reference};
use crate::units::Bytes;

use super::Evaluation;

/// The required size of the largest tensor, in order of preference: more elements than an `int` can index, or more bytes
/// than an `unsigned` can address.
const GOALS: [Goal; 2] = [(elements, (1 << 31) + 1), (bytes, (1 << 32) + 1)];

/// A measure of the largest tensor, and its required value.
type Goal = (fn(&Workload) -> u64, u64);

/// Additional bytes for each output element: the f64 result of the reference and its magnitude.
const REFERENCE_BYTES: u64 = 16;

/// A workload with wide indices, or the reason for its absence.
#[derive(Clone, Debug)]
pub(super) enum WideIndexWorkload {
    /// The definition does not permit one.
    NotPermitted,
    /// The device cannot run it, with the reason.
    NoRoom(String),
    /// The workload, and its sizes as text.
    Fits(Box<Workload>, String),
}

impl WideIndexWorkload {
    /// The workload that fits and has the most output elements, up to the goal, and of these the one with the least memory:
    /// where outputs grow, more blocks run, and otherwise each of them takes longer.
    pub(super) fn find(evaluation: &Evaluation<'_>, small: &[&Workload]) -> Self {
        let definition = &evaluation.project.definition;
        // Modules, stacks and the driver take a tenth.
        let room = evaluation.sheet.dram.get().map_or(0, |Bytes(all)| all / 10 * 9);
        let memory: fn(&Definition, &Workload) -> u64 = match evaluation.device.local {
            LocalDevice::Cuda(_) => memory_of_both,
            // The device stands for a GPU with the candidate alone; the host provides what sampled blocks access.
            LocalDevice::Virtual(_) => memory_of_candidate,
        };
        let mut least = None;
        for goal in GOALS {
            let axes = 0..definition.axes.len();
            let each = small.iter().flat_map(|base| axes.clone().map(move |axis| (*base, axis)));
            let all = each.filter_map(|(base, axis)| grown(definition, base, axis, goal));
            let all: Vec<(u64, Workload)> =
                all.map(|workload| (memory(definition, &workload), workload)).collect();
            let fitting = all.iter().filter(|(needed, _)| *needed <= room);
            let best = fitting.min_by_key(|(needed, workload)| {
                (Reverse(output_elements(definition, workload).min(goal.1)), *needed)
            });
            if let Some((_, workload)) = best {
                if let Reference::Python(_) = evaluation.project.reference {
                    return Self::NoRoom("reference.py is not computed at this size".to_owned());
                }
                let sizes = definition.axes.iter().zip(&workload.axes);
                let sizes: Vec<String> =
                    sizes.map(|(axis, size)| format!("{} = {size}", axis.name)).collect();
                return Self::Fits(Box::new(workload.clone()), sizes.join(", "));
            }
            least = all.iter().map(|(needed, _)| *needed).chain(least).min();
        }
        match least {
            None => Self::NotPermitted,
            Some(needed) => Self::NoRoom(format!("{needed} bytes of memory; {room} can be used")),
        }
    }
}

impl WideIndexWorkload {
    pub(super) fn workload(&self) -> Option<&Workload> {
        match self {
            Self::Fits(workload, _) => Some(workload),
            Self::NotPermitted | Self::NoRoom(_) => None,
        }
    }
}

/// The workload with the smallest size of this axis that reaches the goal. If none does, the axis has its largest size and
/// the next one grows.
fn grown(definition: &Definition, base: &Workload, first: usize, goal: Goal) -> Option<Workload> {
    let mut base = base.clone();
    for axis in (first..definition.axes.len()).chain(0..first) {
        if let Some(workload) = grown_along(definition, &base, axis, goal) {
            return Some(workload);
        }
        let Axis { max, multiple_of, .. } = definition.axes[axis];
        let mut axes = base.axes.clone();
        axes[axis] = max / multiple_of * multiple_of;
        if let Some(largest) = base.with_axes(definition, axes) {
            base = largest;
        }
    }
    None
}

/// The same with this axis alone.
fn grown_along(
    definition: &Definition,
    base: &Workload,
    axis: usize,
    (measure, goal): Goal,
) -> Option<Workload> {
    let size = base.axes[axis].div_ceil(definition.axes[axis].multiple_of);
    let factor = u128::from(goal).div_ceil(u128::from(measure(base).max(1)));
    // Other dimensions may not grow with the axis, so that its size in proportion is not enough.
    (0..3).find_map(|doubled| {
        let size = u64::try_from((u128::from(size) * factor) << doubled).ok()?;
        let mut axes = base.axes.clone();
        axes[axis] = size.checked_mul(definition.axes[axis].multiple_of)?;
        base.with_axes(definition, axes).filter(|workload| measure(workload) >= goal)
    })
}

fn elements(workload: &Workload) -> u64 {
    workload.extents.iter().map(|extent| extent.elements).max().unwrap_or(0)
}

fn bytes(workload: &Workload) -> u64 {
    workload.extents.iter().map(|extent| extent.bytes).max().unwrap_or(0)
}

fn output_elements(definition: &Definition, workload: &Workload) -> u64 {
    let each = definition.tensors.iter().zip(&workload.extents);
    let outputs = each.filter(|(tensor, _)| tensor.role.compare().is_some());
    outputs.map(|(_, extent)| extent.elements).fold(0, u64::saturating_add)
}

fn memory_of_candidate(_: &Definition, workload: &Workload) -> u64 {
    workload.extents.iter().map(|extent| extent.bytes).fold(0, u64::saturating_add)
}

/// Bytes of device memory in both processes: the reference has the inputs, too.
fn memory_of_both(definition: &Definition, workload: &Workload) -> u64 {
    let each = definition.tensors.iter().zip(&workload.extents).map(|(tensor, extent)| {
        let is_output = tensor.role.compare().is_some();
        let beside =
            if is_output { extent.elements.saturating_mul(REFERENCE_BYTES) } else { extent.bytes };
        extent.bytes.saturating_add(beside)
    });
    each.fold(0, u64::saturating_add)
}
