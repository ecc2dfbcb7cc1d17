//! Checks a launch against the requirements of its kernel, before the driver receives it.

use cudarc::driver::sys::{CUdevice_attribute, CUfunction_attribute};
use lightbench_virtual_gpu::LaunchError;

use super::driver::{Gpu, Kernel};
use super::older_driver::Layout;
use crate::error::DeviceError;
use crate::execution::Launch;

/// Shared memory that a block may have without asking for more.
const ORDINARY_SHARED: u32 = 48 << 10;

/// Blocks that a cluster may have without asking for more (CUDA C++ Programming Guide, "Thread Block Clusters").
const ORDINARY_CLUSTER: u32 = 8;

/// Limit on the queried parameters: more than the largest parameter list has.
const MOST_PARAMETERS: usize = 32 << 10;

/// Rejects sizes that the driver would refuse without a reason, and requests dynamic shared memory.
pub(super) fn prepare(gpu: Gpu, kernel: Kernel, launch: &Launch) -> Result<(), DeviceError> {
    let sides = launch.grid.iter().chain(&launch.block);
    let threads = launch.block.iter().fold(1_u32, |product, side| product.saturating_mul(*side));
    let most = kernel.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    if sides.clone().any(|side| *side == 0) || threads > most {
        let (what, size) = if launch.grid.contains(&0) {
            ("a grid", launch.grid)
        } else {
            ("a block", launch.block)
        };
        let reason = format!(
            "each side is at least 1, and a block of this kernel has at most {most} threads"
        );
        return Err(LaunchError::Size { what, size, reason }.into());
    }
    if let Some(cluster) = launch.cluster {
        prepare_clusters(gpu, kernel, cluster)?;
    }
    let declared = kernel.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
    let limit =
        gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
    let bytes = u64::from(declared) + u64::from(launch.dynamic_shared);
    if bytes > u64::from(limit) {
        return Err(LaunchError::Shared { bytes, limit }.into());
    }
    if bytes > u64::from(ORDINARY_SHARED) {
        kernel.allow_dynamic_shared(launch.dynamic_shared)?;
    }
    Ok(())
}

/// Rejects clusters on a GPU without clusters, and enables large ones.
fn prepare_clusters(gpu: Gpu, kernel: Kernel, size: [u32; 3]) -> Result<(), DeviceError> {
    if gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? == 0 {
        let reason = "this GPU has none, which begin with compute capability 9.0".to_owned();
        return Err(LaunchError::Size { what: "a cluster", size, reason }.into());
    }
    let blocks = size.iter().fold(1_u32, |product, side| product.saturating_mul(*side));
    if blocks > ORDINARY_CLUSTER {
        kernel.allow_large_clusters()?;
    }
    Ok(())
}

/// The parameters of a kernel, as the driver lists them.
pub(super) fn layout(kernel: Kernel) -> Result<Layout, DeviceError> {
    let mut layout = Vec::new();
    while let Some(next) =
        kernel.parameter(layout.len())?.filter(|_| layout.len() < MOST_PARAMETERS)
    {
        layout.push(next);
    }
    Ok(layout)
}

/// The bytes of all parameters at their offsets.
pub(super) fn parameters(layout: Layout, values: &[Vec<u8>]) -> Result<Vec<u8>, DeviceError> {
    let (expected, found) = (layout.len(), values.len());
    if expected != found {
        return Err(LaunchError::ArgumentCount { expected, found }.into());
    }
    let mut bytes = vec![0; layout.last().map_or(0, |(offset, size)| offset + size)];
    for (index, ((offset, size), value)) in layout.into_iter().zip(values).enumerate() {
        let position = index + 1;
        let place = bytes.get_mut(offset..offset + size).filter(|place| place.len() == value.len());
        let Some(place) = place else {
            let (expected, found) = (size as u64, value.len() as u64);
            let name = format!("parameter {position}");
            return Err(LaunchError::Argument { position, name, expected, found }.into());
        };
        place.copy_from_slice(value);
    }
    Ok(bytes)
}
