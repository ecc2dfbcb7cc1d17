//! Launches of a candidate on a virtual device of this process, each of which a visitor carries out: the same buffers,
//! inputs and steps as in a verification, without judging.

use std::ops::ControlFlow;

use lightbench_device::timing::Residence;
use lightbench_device::{
    Device as _, DeviceSheet, Image, Launch, Operation, Placement, VirtualDevice, Watch,
};
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputSpec;
use lightbench_virtual_gpu::{Checks, Races};

use super::bound::{Bound, failure_from_device_error};
use super::session::sizes;
use super::steps::{Walk, Watched, fill_constants};
use super::{BufferPlacement, ModuleImage, SessionFailure, Side};
use crate::program::Program;

/// A program with its inputs and the device that is played.
#[derive(Clone, Copy, Debug)]
pub struct VirtualRun<'a> {
    /// The device that is played.
    pub sheet: &'a DeviceSheet,
    /// The compiled module.
    pub image: &'a ModuleImage,
    /// The sizes.
    pub case: &'a Case,
    /// What runs.
    pub program: &'a Program,
    /// The kinds of its output buffers.
    pub side: Side,
    /// The inputs.
    pub recipe: InputSpec,
    /// Warp instructions of one launch.
    pub max_steps: u64,
}

/// Carries out a launch.
pub(super) type VisitLaunch<'a> = &'a mut dyn FnMut(
    &mut VirtualDevice,
    Launch,
    Option<Residence>,
) -> Result<ControlFlow<()>, SessionFailure>;

impl VirtualRun<'_> {
    /// Every launch in order, until the visitor breaks; fills take place.
    ///
    /// # Errors
    /// The device cannot run the program, or the visitor fails.
    pub(super) fn visit(&self, visit_launch: VisitLaunch<'_>) -> Result<(), SessionFailure> {
        let checks = Checks { uninitialized: false, races: Races::Ignored };
        let watch = Watch { checks, counters: false, max_steps: self.max_steps, ..Watch::ALL };
        let open = |error: lightbench_device::OpenError| SessionFailure::Open(error.to_string());
        let mut device = VirtualDevice::new(self.sheet, watch).map_err(open)?;
        let image = Image { ptx: &self.image.ptx, cubin: None };
        let module = device.load(image).map_err(|error| failure_from_device_error(&error))?;
        let (case, program, side) = (self.case, self.program, self.side);
        let memory = BufferPlacement::Fresh(Placement::Left);
        let bound =
            Bound::prepare(&mut device, None, (case, program, side), self.recipe, memory, None)?;
        let mut walk = Walk { module: Some(module), names: bound.names() };
        let sizes = sizes(&walk.names, program, case, side);
        fill_constants(&mut device, &walk, program)?;
        let watched = Watched { trusted: None, made: bound.made() };
        let mut visit = |operation| match operation {
            Operation::Launch { launch, residence } => visit_launch(&mut device, launch, residence),
            Operation::Library(_) => {
                Err(SessionFailure::Order("a library call has no warps to record".to_owned()))
            }
            Operation::Fill { buffer, element } => {
                let bytes = sizes.get(&buffer).copied().unwrap_or(0);
                watched.fill(&mut device, (buffer, bytes), &element)?;
                Ok(ControlFlow::Continue(()))
            }
        };
        let _ended = walk.visit(&program.steps, &mut visit)?;
        Ok(())
    }
}
