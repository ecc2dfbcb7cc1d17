//! A device that passes for a GPU: a virtual one runs the kernels and counts for nobody, and a test says what its clock
//! reads.

use serde::{Deserialize, Serialize};

use super::error::DeviceError;
use super::execution::{
    BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image, Instruments, Launch,
    ModuleId, Outcome,
};
use super::sheet::DeviceSheet;
use super::timing::{Operation, Sampling, Timed, Timekeeping, Work};
use super::virtual_device::{VirtualDevice, Watch};
use crate::measure::energy::{Energy, Joules, NoEnergy, Window};
use crate::measure::timing::{Clock, Mode, NoStamps};
use crate::units::Seconds;
use crate::virtual_gpu::Initial;

/// What its clock reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Readings {
    /// For every execution.
    pub(crate) time: Seconds,
    /// For a kernel that does nothing.
    pub(crate) floor: Seconds,
    /// Timings after which its time stamps do not fit any more what was launched; none if it has no time stamps.
    pub(crate) stamps: Option<usize>,
    /// What it draws while a kernel runs; none if it has no counter. It idles at 60 W.
    pub(crate) watts: Option<f64>,
}

/// What an empty kernel of the shape of another takes, by what one of a single block does.
pub(crate) const SHAPED: f64 = 2.0;

impl Readings {
    /// A clock without time stamps.
    pub(crate) fn of(time: Seconds, floor: Seconds) -> Self {
        Self { time, floor, stamps: None, watts: None }
    }
}

/// How much shorter its time stamps are than what its events say, so that they cannot be taken for each other.
pub(crate) const STAMPED: f64 = 0.5;

/// An instruction that only this device knows: it does nothing.
pub(crate) const OWN_INSTRUCTION: &str = "wgmma.fence.sync.aligned;";

/// A device that passes for a GPU.
#[derive(Debug)]
pub(crate) struct PretendedGpu {
    device: VirtualDevice,
    description: Description,
    readings: Readings,
    timekeeping: Timekeeping,
    timed: usize,
}

impl PretendedGpu {
    pub(crate) fn new(sheet: &DeviceSheet, readings: Readings) -> Self {
        let device = VirtualDevice::new(sheet, Watch::ALL).unwrap();
        let description = Description {
            name: "cuda:0".to_owned(),
            kind: DeviceKind::Cuda { uuid: "0".repeat(32), driver: (13, 0) },
            ..device.description().clone()
        };
        let timekeeping = Timekeeping::Events;
        Self { device, description, readings, timekeeping, timed: 0 }
    }

    fn clock(&self, mode: Mode) -> Clock {
        let Readings { floor, stamps, .. } = self.readings;
        let without = match (&self.timekeeping, mode) {
            (Timekeeping::Events, _) | (_, Mode::Warm | Mode::Graph) => None,
            (Timekeeping::Cupti(_), Mode::Cold | Mode::Server) => match stamps {
                Some(most) if self.timed < most => {
                    let offset = Seconds(0.0) - floor;
                    return Clock::Cupti { offset, floor, version: 130_001 };
                }
                Some(_) => Some(NoStamps::Unlike),
                None => Some(NoStamps::NotFound),
            },
        };
        Clock::Events { offset: floor, floor, without }
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
        let clock = self.clock(sampling.mode);
        self.timed += 1;
        let time = match clock {
            Clock::Cupti { .. } => self.readings.time * STAMPED,
            Clock::Events { .. } | Clock::Modelled => self.readings.time,
        };
        let times = vec![time; sampling.samples as usize];
        Ok(Timed::Samples { clock, times, reading: None })
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        self.device.read(buffer)
    }

    fn instruments(&mut self) -> Option<&mut dyn Instruments> {
        Some(self)
    }
}

impl Instruments for PretendedGpu {
    fn keep_time(&mut self, by: &Timekeeping) {
        self.timekeeping.clone_from(by);
    }

    fn launch_floor(&mut self, _work: &Work) -> Result<Option<Seconds>, DeviceError> {
        Ok(Some(self.readings.floor * SHAPED))
    }

    fn energy(&mut self, _work: &Work) -> Result<Result<Energy, NoEnergy>, DeviceError> {
        let window =
            |energy| Window { energy: Joules(energy), elapsed: Seconds(1.0), executions: 100 };
        Ok(match self.readings.watts {
            Some(watts) => Energy::of(&window(60.0), &[window(watts - 1.0), window(watts + 1.0)]),
            None => Err(NoEnergy::NoCounter),
        })
    }
}
