//! Timelines of the launches of a candidate, as a virtual device models them.

use std::ops::ControlFlow;

use lightbench_virtual_gpu::cost::time::{ModelError, Timeline};

use super::SessionFailure;
use super::bound::failure_from_device_error;
use super::virtual_run::VirtualRun;

/// The timeline of one launch.
#[derive(Clone, Debug)]
pub struct LaunchTimeline {
    /// The kernel's symbol.
    pub kernel: String,
    /// What its first block does, or why its time is not modelled.
    pub timeline: Result<Timeline, ModelError>,
}

/// Most launches that are recorded; further launches of a long program repeat them.
const MOST_LAUNCHES: usize = 4;

/// Models the launches of a program.
///
/// # Errors
/// The device cannot run it.
pub fn timelines(order: &VirtualRun<'_>) -> Result<Vec<LaunchTimeline>, SessionFailure> {
    let mut found = Vec::new();
    order.visit(&mut |device, launch, residence| {
        let timeline = device.timeline(&launch, residence);
        let timeline = timeline.map_err(|error| failure_from_device_error(&error))?;
        found.push(LaunchTimeline { kernel: launch.kernel, timeline });
        let is_enough = found.len() >= MOST_LAUNCHES;
        Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(found)
}
