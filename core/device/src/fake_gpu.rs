//! A fake GPU for tests: a virtual device runs the kernels, and the test supplies the readings of the clock.

use lightbench_measure::energy::{Energy, EnergyError, Joules, Window};
use lightbench_measure::timing::{Clock, Mode, NoStamps, Reading};
use lightbench_units::Seconds;
use lightbench_virtual_gpu::{Checks, InitialContent, Races};
use serde::{Deserialize, Serialize};

use super::cards::Card;
use super::error::DeviceError;
use super::execution::{
    BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image, Instruments, Launch,
    ModuleId, Outcome,
};
use super::library::{LibraryError, LibraryOutcome, LibraryRun, LibraryUsed, Product};
use super::sheet::DeviceSheet;
use super::timing::{Operation, Sampling, Timed, Timekeeping, Work};
use super::virtual_device::{VirtualDevice, Watch};

/// Readings of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// For every execution.
    pub time: Seconds,
    /// The reading for an empty kernel.
    pub floor: Seconds,
    /// Number of timings after which the time stamps no longer match the launches; `None` without time stamps.
    pub stamps: Option<usize>,
    /// Power while a kernel runs; `None` without an energy counter. Idle power is 60 W.
    pub watts: Option<f64>,
    /// Telemetry readings, used cyclically; empty without telemetry.
    pub doing: [Option<Reading>; 2],
}

/// Time of an empty kernel with the launch configuration of another, as a multiple of one with a single block.
pub(crate) const SHAPED: f64 = 2.0;

impl Readings {
    /// A clock without time stamps.
    pub fn new(time: Seconds, floor: Seconds) -> Self {
        Self { time, floor, stamps: None, watts: None, doing: [None; 2] }
    }
}

/// Time stamps as a fraction of the events' readings, so that the two are distinguishable.
pub const STAMPED: f64 = 0.5;

/// Time of a library call as a fraction of a kernel's.
pub(crate) const LIBRARY_SHARE: f64 = 0.25;

/// An instruction that only this device accepts; it has no effect.
pub(crate) const OWN_INSTRUCTION: &str = "tcgen05.wait::ld.sync.aligned;";

/// A device that passes for a GPU.
#[derive(Debug)]
pub struct FakeGpu {
    device: VirtualDevice,
    description: Description,
    readings: Readings,
    timekeeping: Timekeeping,
    /// Number of timings so far.
    timed: usize,
}

impl FakeGpu {
    pub fn new(sheet: &DeviceSheet, readings: Readings) -> Self {
        let device = VirtualDevice::new(sheet, Watch::ALL).unwrap();
        let attributes = Box::new(Card::find("h200").unwrap().unwrap().attributes.clone());
        let description = Description {
            name: "cuda:0".to_owned(),
            kind: DeviceKind::Cuda { uuid: "0".repeat(32), driver: (13, 0), attributes },
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

impl Device for FakeGpu {
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

    fn set(&mut self, buffer: BufferId, initial: InitialContent) -> Result<(), DeviceError> {
        self.device.set(buffer, initial)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.device.free(buffer)
    }

    /// A GPU does not look.
    fn watch(&mut self, watch: Watch) {
        let checks = Checks { uninitialized: false, races: Races::Ignored };
        self.device.watch(Watch { checks, ..watch });
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
        Ok(Outcome { counters: None, steps: None, warp_instructions: None, ..outcome })
    }

    /// A row-major f32 product. The name of the file selects the kind of library: missing, narrowing factors to bf16,
    /// or exact.
    fn library(&mut self, run: &LibraryRun) -> Result<LibraryOutcome, DeviceError> {
        let file = run.files.first().cloned().unwrap_or_default().display().to_string();
        if file == "absent" {
            return Err(LibraryError::Missing { reason: file }.into());
        }
        let narrowed = |word: u32| if file == "narrow" { word & 0xffff_0000 } else { word };
        let [a, b, c] = run.buffers;
        let mut numbers = |buffer| {
            let bytes = self.device.read(buffer)?.bytes;
            let words =
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
            Ok::<_, DeviceError>(
                words.map(|word| f32::from_bits(narrowed(word))).collect::<Vec<_>>(),
            )
        };
        let (left, right) = (numbers(a)?, numbers(b)?);
        let Product { m, n, k, .. } = run.product;
        let (m, n, k) = (m as usize, n as usize, k as usize);
        let mut bytes = Vec::new();
        for place in 0..m * n {
            let (row, column) = (place / n, place % n);
            let terms = (0..k).map(|term| left[row * k + term] * right[term * n + column]);
            bytes.extend(terms.sum::<f32>().to_le_bytes());
        }
        self.device.set(c, InitialContent::Bytes(bytes))?;
        let used = LibraryUsed {
            name: "cuBLAS".to_owned(),
            version: "1.2.3".to_owned(),
            file,
            call: run.product.words(),
        };
        Ok(LibraryOutcome { used, faults: Vec::new() })
    }

    fn time(&mut self, work: &Work, sampling: Sampling) -> Result<Timed, DeviceError> {
        for buffer in &work.poison {
            self.device.set(*buffer, InitialContent::Uninitialised)?;
        }
        for buffer in &work.clear {
            let bytes = self.device.read(*buffer)?.bytes.len();
            self.device.set(*buffer, InitialContent::Bytes(vec![0; bytes]))?;
        }
        let Readings { mut time, doing, .. } = self.readings;
        for operation in &work.timed {
            match operation {
                Operation::Launch { launch, .. } => drop(self.launch(launch)?),
                Operation::Library(run) => {
                    self.library(run)?;
                    time = time * LIBRARY_SHARE;
                }
                Operation::Fill { .. } => {}
            }
        }
        let clock = self.clock(sampling.mode);
        let time = match clock {
            Clock::Cupti { .. } => time * STAMPED,
            Clock::Events { .. } | Clock::Modelled => time,
        };
        let times = vec![time; sampling.samples as usize];
        let reading = doing[self.timed % doing.len()];
        self.timed += 1;
        Ok(Timed::Samples { clock, times, reading })
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        self.device.read(buffer)
    }

    fn instruments(&mut self) -> Option<&mut dyn Instruments> {
        Some(self)
    }
}

impl Instruments for FakeGpu {
    fn keep_time(&mut self, by: &Timekeeping) {
        self.timekeeping.clone_from(by);
    }

    fn launch_floor(&mut self, _work: &Work) -> Result<Option<Seconds>, DeviceError> {
        Ok(Some(self.readings.floor * SHAPED))
    }

    fn energy(&mut self, _work: &Work) -> Result<Result<Energy, EnergyError>, DeviceError> {
        let window =
            |energy| Window { energy: Joules(energy), elapsed: Seconds(1.0), executions: 100 };
        Ok(match self.readings.watts {
            Some(watts) => {
                Energy::from_windows(&window(60.0), &[window(watts - 1.0), window(watts + 1.0)])
            }
            None => Err(EnergyError::NoCounter),
        })
    }
}
