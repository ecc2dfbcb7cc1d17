//! A device that passes for a GPU: a virtual one runs the kernels and counts for nobody, and a test says what its clock
//! reads.

use serde::{Deserialize, Serialize};

use super::error::DeviceError;
use super::execution::{
    BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image, Launch, ModuleId,
    Outcome,
};
use super::library::{LibraryError, LibraryOutcome, LibraryRun, LibraryUsed, Product};
use super::sheet::DeviceSheet;
use super::timing::{Operation, Sampling, Timed, Work};
use super::virtual_device::{VirtualDevice, Watch};
use crate::measure::timing::{Clock, Reading};
use crate::units::Seconds;
use crate::virtual_gpu::Initial;

/// What its clock reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Readings {
    /// For every execution.
    pub(crate) time: Seconds,
    /// For a kernel that does nothing.
    pub(crate) floor: Seconds,
    /// What it is doing meanwhile, read by read, again and again; nothing is read where there is none.
    pub(crate) doing: [Option<Reading>; 2],
}

/// What a library takes of what its clock reads for a kernel.
pub(crate) const LIBRARY_SHARE: f64 = 0.25;

/// An instruction that only this device knows: it does nothing.
pub(crate) const OWN_INSTRUCTION: &str = "wgmma.fence.sync.aligned;";

/// A device that passes for a GPU.
#[derive(Debug)]
pub(crate) struct PretendedGpu {
    device: VirtualDevice,
    description: Description,
    readings: Readings,
    /// How often it was asked for times.
    asked: usize,
}

impl PretendedGpu {
    pub(crate) fn new(sheet: &DeviceSheet, readings: Readings) -> Self {
        let device = VirtualDevice::new(sheet, Watch::ALL).unwrap();
        let description = Description {
            name: "cuda:0".to_owned(),
            kind: DeviceKind::Cuda { uuid: "0".repeat(32), driver: (13, 0) },
            ..device.description().clone()
        };
        Self { device, description, readings, asked: 0 }
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
        self.device.set(c, Initial::Bytes(bytes))?;
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
            self.device.set(*buffer, Initial::Unwritten)?;
        }
        let Readings { mut time, floor, doing } = self.readings;
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
        let clock = Clock::Events { offset: floor, floor };
        let times = vec![time; sampling.samples as usize];
        let reading = doing[self.asked % doing.len()];
        self.asked += 1;
        Ok(Timed::Samples { clock, times, reading })
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        self.device.read(buffer)
    }
}
