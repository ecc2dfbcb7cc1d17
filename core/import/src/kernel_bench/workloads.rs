//! Workloads: small sizes for verification, the sizes of the task for measurement, and held-out sizes.

use lightbench_project::manifest::{AxisWritten, Purpose, WorkloadWritten};
use lightbench_torch_model::{Dimension, ElementType, Sizes, Task, sizes};

use crate::draft::workload;

/// Wanted sizes of the axes in their order, for tasks with up to one, two, three and more axes. Those of verification
/// first; the last two are held out.
const WANTED: [[&[i128]; 5]; 4] = [
    [&[257], &[1000], &[33], &[513], &[96]],
    [&[9, 65], &[33, 40], &[2, 129], &[17, 48], &[5, 100]],
    [&[5, 33, 17], &[8, 16, 24], &[3, 9, 65], &[7, 20, 11], &[2, 48, 13]],
    [&[3, 5, 4, 7], &[2, 8, 6, 4], &[4, 3, 9, 5], &[2, 6, 5, 8], &[3, 4, 7, 6]],
];

/// The names and purposes of these workloads.
const SMALL: [(&str, Purpose); 5] = [
    ("small-1", Purpose::Verify),
    ("small-2", Purpose::Verify),
    ("small-3", Purpose::Verify),
    ("hidden-1", Purpose::HeldOut),
    ("hidden-2", Purpose::HeldOut),
];

/// Without a GPU, the memory of all tensors together that a project permits unless it states more.
const DEFAULT_DEVICE_BYTES: i128 = 128 << 30;

pub(super) fn written(task: &Task, axes: &[AxisWritten]) -> Result<Vec<WorkloadWritten>, String> {
    let group = &WANTED[task.axes.len().clamp(1, WANTED.len()) - 1];
    let mut all: Vec<WorkloadWritten> = Vec::new();
    for ((name, purpose), wanted) in SMALL.into_iter().zip(group) {
        let small = sizes::small(task, wanted);
        let sizes = small.ok_or("no small sizes fulfil the conditions of the operations")?;
        let written = workload(name, purpose, values(axes, &sizes)?);
        // Few axes or many conditions may lead to the same sizes.
        if !all.iter().any(|known| known.axes == written.axes) {
            all.push(written);
        }
    }
    let measured = workload("task", Purpose::Measure, values(axes, &task.axes)?);
    let at = all.iter().position(|each| each.purpose == Purpose::HeldOut).unwrap_or(all.len());
    all.insert(at, measured);
    Ok(all)
}

/// A value for every axis; one that the task does not have is 1.
fn values(axes: &[AxisWritten], sizes: &Sizes) -> Result<Vec<(String, i64)>, String> {
    let one = |axis: &AxisWritten| {
        let size = sizes.get(&axis.name).copied().unwrap_or(1);
        match i64::try_from(size) {
            Ok(size) => Ok((axis.name.clone(), size)),
            Err(_) => Err(format!("the size {size} is too large")),
        }
    };
    axes.iter().map(one).collect()
}

/// The memory that the task needs, if it is more than projects have by default.
pub(super) fn device_bytes(task: &Task) -> Option<i64> {
    let bytes = |shape: &[Dimension], dtype: ElementType| {
        let size = match dtype {
            ElementType::Float => 4,
            ElementType::Integer => 8,
            ElementType::Boolean => 1,
        };
        sizes::elements(shape, &task.axes)?.checked_mul(size)
    };
    let inputs = task.tensors.iter().map(|tensor| bytes(&tensor.shape, tensor.dtype));
    let outputs = task.outputs.iter().map(|output| bytes(&output.shape, output.dtype));
    let total: i128 = inputs.chain(outputs).sum::<Option<i128>>()?;
    (total > DEFAULT_DEVICE_BYTES).then(|| i64::try_from(total + (total >> 3)).ok())?
}
