//! Memory accesses of one warp of a candidate on a virtual device.

use std::ops::ControlFlow;

use lightbench_virtual_gpu::machine::{Accesses, WarpId};

use super::SessionFailure;
use super::bound::failure_from_device_error;
use super::virtual_run::VirtualRun;

/// What the warp accesses in one launch.
#[derive(Clone, Debug)]
pub struct LaunchAccesses {
    /// The kernel's symbol.
    pub kernel: String,
    /// What it accesses.
    pub accesses: Accesses,
}

/// Most launches whose accesses are recorded; further launches of a long program repeat them.
const MOST_LAUNCHES: usize = 8;

/// Runs a program until the accesses of a warp are recorded in enough launches that have it, `most` of each.
///
/// # Errors
/// The device cannot run it.
pub fn accesses(
    order: &VirtualRun<'_>,
    (warp, most): (WarpId, usize),
) -> Result<Vec<LaunchAccesses>, SessionFailure> {
    let mut found = Vec::new();
    order.visit(&mut |device, launch, _| {
        let recorded = device.record(&launch, (warp, most));
        let accesses = recorded.map_err(|error| failure_from_device_error(&error))?;
        if has(warp, launch.grid, launch.block) {
            found.push(LaunchAccesses { kernel: launch.kernel, accesses });
        }
        let is_enough = found.len() >= MOST_LAUNCHES;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(found)
}

/// Whether a launch has the warp.
fn has(warp: WarpId, grid: [u32; 3], block: [u32; 3]) -> bool {
    let threads: u32 = block.iter().product();
    warp.block.iter().zip(grid).all(|(index, size)| *index < size)
        && warp.warp < threads.div_ceil(32)
}
