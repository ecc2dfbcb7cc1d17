//! Times work on a GPU: cold caches by a flush before each sample, warm ones by a graph of many executions.
//!
//! Events around a launch read about two microseconds too much. How much too much is read from a kernel that does nothing.
//! Warm: graphs of few and of many such kernels say what each takes in a row, and what a graph itself adds. Cold: what a
//! single one reads after a flush, less what such a kernel is known to take.

use std::rc::Rc;

use cudarc::driver::sys::{CUdevice_attribute, CUdeviceptr, CUresult, CUstream};

use super::block::Allocation;
use super::cublas::Cublas;
use super::driver::{Gpu, Kernel, LoadedModule, error};
use super::stream::{Event, Graph, Room, Stream, reset_persisting_l2};
use crate::device::error::{DeviceError, DriverError};
use crate::device::execution::{Launch, ModuleId, POISON};
use crate::device::library::{LibraryError, Product};
use crate::measure::statistics::median;
use crate::measure::{Clock, Mode};
use crate::units::Seconds;

const PTX: &str = include_str!("flush.ptx");

/// How many times the size of L2 is read to empty it.
const FLUSH: usize = 2;

/// What the clean buffer holds: the flush writes where it reads anything else.
const CLEAN: u8 = 0;

/// Kernels in the two graphs that tell the floor.
const FEW: u32 = 8;
const MANY: u32 = 108;

/// What a kernel that does nothing takes by itself: `gpu__time_duration` of Nsight Compute says 1.54 to 1.57 µs on an
/// H200 (driver 580, November 2026). Nothing but a profiler tells it.
const ALONE: Seconds = Seconds(1.55e-6);

/// Readings of each kind when the clock is set.
const READINGS: usize = 41;

/// Work that a GPU can start at once, again and again.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) poison: Vec<Room>,
    pub(super) restore: Vec<(Room, Room)>,
    pub(super) timed: Vec<Action>,
}

impl Prepared {
    /// Whether all blocks of a launch must be on the device at once: the driver takes no such launch into a graph.
    fn is_cooperative(&self) -> bool {
        self.timed.iter().any(|action| match action {
            Action::Launch { launch, .. } => launch.cooperative,
            Action::Fill { .. } | Action::Library { .. } => false,
        })
    }
}

/// One thing that is timed.
#[derive(Debug)]
pub(super) enum Action {
    Launch { kernel: Kernel, launch: Box<Launch>, parameters: Vec<u8> },
    Fill { to: Room, element: Vec<u8> },
    Library { cublas: Rc<Cublas>, product: Product, addresses: [CUdeviceptr; 3] },
}

/// What a GPU is timed with. Fields are dropped in this order.
#[derive(Debug)]
pub(super) struct Stopwatch {
    stream: Stream,
    marks: Vec<(Event, Event)>,
    module: LoadedModule,
    /// Filled before the clean buffer is read.
    dirty: Allocation,
    clean: Allocation,
    flush: (Kernel, Launch),
    cold: Clock,
    warm: Clock,
}

/// The driver's own error, what a kernel did, or what a library refuses.
pub(super) enum Trouble {
    Driver(DriverError),
    Kernel(CUresult),
    Library(LibraryError),
}

impl From<LibraryError> for Trouble {
    fn from(error: LibraryError) -> Self {
        Self::Library(error)
    }
}

impl From<DriverError> for Trouble {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl Stopwatch {
    pub(super) fn new(gpu: Gpu) -> Result<Self, DeviceError> {
        let l2 = gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize;
        let multiprocessors =
            gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let stream = Stream::new()?;
        let dirty = Allocation::new(l2.max(1))?;
        let clean = Allocation::new((FLUSH * l2).max(16))?;
        stream.set_bytes(&clean.room(), CLEAN)?;
        let module = LoadedModule::of_ptx(PTX)?;
        let nothing_yet = Clock::Events { offset: Seconds(0.0), floor: Seconds(0.0) };
        let mut stopwatch = Self {
            stream,
            marks: Vec::new(),
            flush: (own_kernel(&module, "flush")?, plain(2 * multiprocessors, 1024)),
            module,
            dirty,
            clean,
            cold: nothing_yet,
            warm: nothing_yet,
        };
        stopwatch.set_clock().map_err(|trouble| match trouble {
            Trouble::Driver(error) => DeviceError::from(error),
            Trouble::Kernel(code) => error("cuStreamSynchronize", code).into(),
            Trouble::Library(error) => error.into(),
        })?;
        Ok(stopwatch)
    }

    /// The stream that all timed work is put into.
    pub(super) fn stream(&self) -> CUstream {
        self.stream.handle()
    }

    /// What tells the time of some work. Without a graph, events add what they add to a single launch.
    pub(super) fn clock(&self, work: &Prepared, mode: Mode) -> Clock {
        match mode {
            Mode::Warm if !work.is_cooperative() => self.warm,
            Mode::Warm | Mode::Cold => self.cold,
        }
    }

    /// The times of one execution, one for each sample.
    pub(super) fn samples(
        &mut self,
        work: &Prepared,
        mode: Mode,
        batch: u32,
        samples: u32,
    ) -> Result<Vec<Seconds>, Trouble> {
        let clock = self.clock(work, mode);
        let readings = self.readings(work, mode, batch, samples as usize)?;
        let Clock::Events { offset, .. } = clock else { return Ok(Vec::new()) };
        let each = 1.0 / f64::from(batch.max(1));
        Ok(readings.into_iter().map(|reading| (reading - offset) * each).collect())
    }

    fn readings(
        &mut self,
        work: &Prepared,
        mode: Mode,
        batch: u32,
        samples: usize,
    ) -> Result<Vec<Seconds>, Trouble> {
        while self.marks.len() < samples {
            self.marks.push((Event::new()?, Event::new()?));
        }
        reset_persisting_l2()?;
        let graph = match mode {
            Mode::Warm if !work.is_cooperative() => Some(self.stream.captured(|| {
                (0..batch).try_for_each(|_| self.start(work)).map_err(|trouble| match trouble {
                    Trouble::Kernel(code) => Trouble::Driver(error("cuLaunchKernelEx", code)),
                    Trouble::Driver(_) | Trouble::Library(_) => trouble,
                })
            })?),
            Mode::Warm | Mode::Cold => None,
        };
        for (begin, end) in self.marks.iter().take(samples) {
            self.put_right(work)?;
            for room in &work.poison {
                self.stream.set_bytes(room, POISON)?;
            }
            match mode {
                Mode::Cold => self.flush()?,
                Mode::Warm => {
                    self.executions(work, graph.as_ref(), batch)?;
                    self.put_right(work)?;
                }
            }
            self.stream.mark(begin)?;
            self.executions(work, graph.as_ref(), batch)?;
            self.stream.mark(end)?;
        }
        self.stream.synchronise().map_err(Trouble::Kernel)?;
        let marks = self.marks.iter().take(samples);
        Ok(marks.map(|(begin, end)| begin.until(end)).collect::<Result<_, _>>()?)
    }

    /// What is read and written begins each sample as it was.
    fn put_right(&self, work: &Prepared) -> Result<(), Trouble> {
        for (from, to) in &work.restore {
            self.stream.copy(from, to)?;
        }
        Ok(())
    }

    fn executions(
        &self,
        work: &Prepared,
        graph: Option<&Graph>,
        batch: u32,
    ) -> Result<(), Trouble> {
        match graph {
            Some(graph) => self.stream.run(graph).map_err(Trouble::Kernel),
            None => (0..batch).try_for_each(|_| self.start(work)),
        }
    }

    fn start(&self, work: &Prepared) -> Result<(), Trouble> {
        for action in &work.timed {
            match action {
                Action::Launch { kernel, launch, parameters } => kernel
                    .start(launch, &mut parameters.clone(), self.stream.handle())
                    .map_err(Trouble::Kernel)?,
                Action::Fill { to, element } => self.stream.set_elements(to, element)?,
                Action::Library { cublas, product, addresses } => {
                    cublas.start(product, *addresses)?;
                }
            }
        }
        Ok(())
    }

    /// Leaves nothing in L2 but a clean buffer: neither what the work reads nor lines that are still to be written back.
    fn flush(&self) -> Result<(), Trouble> {
        self.stream.set_bytes(&self.dirty.room(), POISON)?;
        let room = self.clean.room();
        let mut parameters = room.start.to_le_bytes().to_vec();
        parameters.extend((room.bytes as u64).to_le_bytes());
        let (kernel, launch) = &self.flush;
        kernel.start(launch, &mut parameters, self.stream.handle()).map_err(Trouble::Kernel)
    }

    /// Finds out what the events add.
    fn set_clock(&mut self) -> Result<(), Trouble> {
        let nothing = own_kernel(&self.module, "nothing")?;
        let launch = Box::new(plain(1, 32));
        let timed = vec![Action::Launch { kernel: nothing, launch, parameters: Vec::new() }];
        let work = Prepared { poison: Vec::new(), restore: Vec::new(), timed };
        let mut reading = |mode, batch| {
            let mut all: Vec<f64> =
                self.readings(&work, mode, batch, READINGS)?.iter().map(|each| each.0).collect();
            Ok::<_, Trouble>(median(&mut all).unwrap_or(f64::NAN))
        };
        // The first readings wake the device up.
        reading(Mode::Cold, 1)?;
        let (few, many) = (reading(Mode::Warm, FEW)?, reading(Mode::Warm, MANY)?);
        let in_a_row = (many - few) / f64::from(MANY - FEW);
        let cold = Seconds(reading(Mode::Cold, 1)?);
        let graph = Seconds(few - f64::from(FEW) * in_a_row);
        self.cold = Clock::Events { offset: cold - ALONE, floor: ALONE };
        self.warm = Clock::Events { offset: graph, floor: Seconds(in_a_row) };
        Ok(())
    }
}

fn own_kernel(module: &LoadedModule, name: &'static str) -> Result<Kernel, DriverError> {
    let missing = || error("cuModuleGetFunction", CUresult::CUDA_ERROR_NOT_FOUND);
    module.kernel(name)?.ok_or_else(missing)
}

/// A launch of a kernel of our own.
fn plain(blocks: u32, threads: u32) -> Launch {
    Launch {
        module: ModuleId(0),
        kernel: String::new(),
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        arguments: Vec::new(),
    }
}
