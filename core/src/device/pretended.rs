//! A device that passes for a GPU: a virtual one runs the kernels and counts for nobody, and a test says what its clock
//! reads.

use serde::{Deserialize, Serialize};

use super::error::DeviceError;
use super::execution::{
    BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image, Launch, ModuleId,
    Outcome,
};
use super::sheet::DeviceSheet;
use super::timing::{Operation, Sampling, Timed, Work};
use super::virtual_device::{VirtualDevice, Watch};
use crate::measure::timing::Clock;
use crate::units::Seconds;
use crate::virtual_gpu::Initial;

/// What its clock reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Readings {
    /// For every execution.
    pub(crate) time: Seconds,
    /// For a kernel that does nothing.
    pub(crate) floor: Seconds,
}

/// An instruction that only this device knows: it does nothing.
pub(crate) const OWN_INSTRUCTION: &str = "wgmma.fence.sync.aligned;";

/// A device that passes for a GPU.
#[derive(Debug)]
pub(crate) struct PretendedGpu {
    device: VirtualDevice,
    description: Description,
    readings: Readings,
}

impl PretendedGpu {
    pub(crate) fn new(sheet: &DeviceSheet, readings: Readings) -> Self {
        let device = VirtualDevice::new(sheet, Watch::ALL).unwrap();
        let description = Description {
            name: "cuda:0".to_owned(),
            kind: DeviceKind::Cuda { uuid: "0".repeat(32), driver: (13, 0) },
            ..device.description().clone()
        };
        Self { device, description, readings }
    }
}

impl Device for PretendedGpu {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError> {
        let ptx = image.ptx.replace(OWN_INSTRUCTION, "");
        self.device.load(Image { ptx: &ptx, cubin: None })
    }

    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError> {
        self.device.allocate(request)
    }

    fn set(&mut self, buffer: BufferId, initial: Initial) -> Result<(), DeviceError> {
        self.device.set(buffer, initial)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.device.free(buffer)
    }

    fn watch(&mut self, watch: Watch) {
        self.device.watch(watch);
    }

    fn fill_variable(
        &mut self,
        module: ModuleId,
        symbol: &str,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.device.fill_variable(module, symbol, bytes)
    }

    fn launch(&mut self, launch: &Launch) -> Result<Outcome, DeviceError> {
        let outcome = self.device.launch(launch)?;
        Ok(Outcome { counters: None, ..outcome })
    }

    fn time(&mut self, work: &Work, sampling: Sampling) -> Result<Timed, DeviceError> {
        for buffer in &work.poison {
            self.device.set(*buffer, Initial::Unwritten)?;
        }
        for operation in &work.timed {
            if let Operation::Launch { launch, .. } = operation {
                self.launch(launch)?;
            }
        }
        let Readings { time, floor } = self.readings;
        let clock = Clock::Events { offset: floor, floor };
        let times = vec![time; sampling.samples as usize];
        Ok(Timed::Samples { clock, times, reading: None })
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        self.device.read(buffer)
    }
}
