//! Memory accesses of one warp of a candidate on a virtual device: the same buffers, inputs and steps as in a
//! verification, without judging.

use std::ops::ControlFlow;

use lightbench_device::{
    Device as _, DeviceSheet, Image, Operation, Placement, VirtualDevice, Watch,
};
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputSpec;
use lightbench_virtual_gpu::machine::{Accesses, WarpId};
use lightbench_virtual_gpu::{Checks, Races};

use super::bound::{Bound, failure_from_device_error};
use super::session::sizes;
use super::steps::{Walk, Watched, fill_constants};
use super::{BufferPlacement, ModuleImage, SessionFailure, Side};
use crate::program::Program;

/// The program, and the warp whose accesses are recorded.
#[derive(Clone, Copy, Debug)]
pub struct AccessRequest<'a> {
    /// The device that is played.
    pub sheet: &'a DeviceSheet,
    /// The compiled module.
    pub image: &'a ModuleImage,
    /// The sizes.
    pub case: &'a Case,
    /// What runs.
    pub program: &'a Program,
    /// The inputs.
    pub recipe: InputSpec,
    /// Which warp, in every launch that has it.
    pub warp: WarpId,
    /// Accesses that are kept of one launch.
    pub most: usize,
    /// Warp instructions of one launch.
    pub max_steps: u64,
}

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

/// Runs a program until the accesses of enough launches are recorded.
///
/// # Errors
/// The device cannot run it.
pub fn accesses(order: &AccessRequest<'_>) -> Result<Vec<LaunchAccesses>, SessionFailure> {
    let checks = Checks { uninitialized: false, races: Races::Ignored };
    let watch = Watch { checks, counters: false, max_steps: order.max_steps, ..Watch::ALL };
    let open = |error: lightbench_device::OpenError| SessionFailure::Open(error.to_string());
    let mut device = VirtualDevice::new(order.sheet, watch).map_err(open)?;
    let image = Image { ptx: &order.image.ptx, cubin: None };
    let module = device.load(image).map_err(|error| failure_from_device_error(&error))?;
    let (case, program, side) = (order.case, order.program, Side::Candidate);
    let memory = BufferPlacement::Fresh(Placement::Left);
    let bound =
        Bound::prepare(&mut device, None, (case, program, side), order.recipe, memory, None)?;
    let mut walk = Walk { module: Some(module), names: bound.names() };
    let sizes = sizes(&walk.names, program, case, side);
    fill_constants(&mut device, &walk, program)?;
    let watched = Watched { trusted: None, made: bound.made() };
    let mut found = Vec::new();
    let mut visit = |operation| {
        match operation {
            Operation::Launch { launch, .. } => {
                let recorded = device.record(&launch, (order.warp, order.most));
                let accesses = recorded.map_err(|error| failure_from_device_error(&error))?;
                if has(order.warp, launch.grid, launch.block) {
                    found.push(LaunchAccesses { kernel: launch.kernel, accesses });
                }
            }
            Operation::Library(_) => {
                return Err(SessionFailure::Order(
                    "a library call has no warps to record".to_owned(),
                ));
            }
            Operation::Fill { buffer, element } => {
                let bytes = sizes.get(&buffer).copied().unwrap_or(0);
                watched.fill(&mut device, (buffer, bytes), &element)?;
            }
        }
        let is_enough = found.len() >= MOST_LAUNCHES;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let _ended = walk.visit(&program.steps, &mut visit)?;
    Ok(found)
}

/// Whether a launch has the warp.
fn has(warp: WarpId, grid: [u32; 3], block: [u32; 3]) -> bool {
    let threads: u32 = block.iter().product();
    warp.block.iter().zip(grid).all(|(index, size)| *index < size)
        && warp.warp < threads.div_ceil(32)
}
