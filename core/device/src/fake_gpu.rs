//! A device that passes for a GPU: a virtual one runs the kernels and counts for nobody, and a test says what its clock
//! reads.

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

/// What its clock reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// For every execution.
    pub time: Seconds,
    /// For a kernel that does nothing.
    pub floor: Seconds,
    /// Timings after which its time stamps do not fit any more what was launched; none if it has no time stamps.
    pub stamps: Option<usize>,
    /// What it draws while a kernel runs; none if it has no counter. It idles at 60 W.
    pub watts: Option<f64>,
    /// What it is doing meanwhile, read by read, again and again; nothing is read where there is none.
    pub doing: [Option<Reading>; 2],
}

/// What an empty kernel of the shape of another takes, by what one of a single block does.
pub(crate) const SHAPED: f64 = 2.0;

impl Readings {
    /// A clock without time stamps.
    pub fn new(time: Seconds, floor: Seconds) -> Self {
        Self { time, floor, stamps: None, watts: None, doing: [None; 2] }
    }
}

/// How much shorter its time stamps are than what its events say, so that they cannot be taken for each other.
pub const STAMPED: f64 = 0.5;

/// What a library takes of what its clock reads for a kernel.
pub(crate) const LIBRARY_SHARE: f64 = 0.25;

/// An instruction that only this device knows: it does nothing.
pub(crate) const OWN_INSTRUCTION: &str = "wgmma.fence.sync.aligned;";

/// A device that passes for a GPU.
#[derive(Debug)]
pub struct FakeGpu {
    device: VirtualDevice,
    description: Description,
    readings: Readings,
    timekeeping: Timekeeping,
    /// How often it was asked for times.
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
        Ok(Outcome { counters: None, ..outcome })
    }

    /// A product of f32 by rows. The name of the file says what kind of library it is: none, one that narrows factors
    /// to bf16, or an honest one.
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
