//! Times work on a GPU: cold caches by a flush before each sample, warm ones by a graph of many executions.
//!
//! Events around a launch read about two microseconds too much. How much too much is read from a kernel that does nothing.
//! Warm: graphs of few and of many such kernels say what each takes in a row, and what a graph itself adds. Cold: what a
//! single one reads after a flush, less what such a kernel is known to take. Where the driver's own time stamps are asked
//! for, they tell the time of single launches instead, and need no offset (`stopwatch/stamped.rs`).

mod energy;
mod floor;
mod stamped;

use std::time::Duration;

use cudarc::driver::sys::{CUdevice_attribute, CUresult, CUstream};
use lightbench_measure::statistics::median;
use lightbench_measure::{Clock, Mode, NoStamps};
use lightbench_primitives::element::POISON;
use lightbench_units::Seconds;

use self::stamped::SingleLaunchTimer;
use super::block::Allocation;
use super::driver::{Gpu, Kernel, LoadedModule, error};
use super::prepared::{Action, Prepared};
use super::stream::{Event, Graph, Stream, reset_persisting_l2};
use crate::error::{DeviceError, DriverError};
use crate::execution::{Launch, ModuleId};
use crate::library::LibraryError;
use crate::timing::Sampling;

const PTX: &str = include_str!("flush.ptx");

/// How many times the size of L2 is read to empty it.
const FLUSH: usize = 2;

/// What the clean buffer holds, where the flush writes if it reads anything else, and buffers that are left zero.
const CLEAN: u8 = 0;

/// Kernels in the two graphs that tell the floor.
const FEW: u32 = 8;
const MANY: u32 = 108;

/// What a kernel that does nothing takes by itself: `gpu__time_duration` of Nsight Compute says 1.54 to 1.57 µs on an
/// H200 (driver 580, November 2026). Nothing but a profiler tells it.
const ALONE: Seconds = Seconds(1.55e-6);

/// Readings of each kind when the clock is set.
const READINGS: u32 = 41;

/// What one block reads at a gate: some tens of microseconds, in which the host has put the rest into the stream.
const GATE: usize = 2 << 20;

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
    cold: EventOffset,
    warm: EventOffset,
    /// Found out when it is first needed.
    graph: Option<EventOffset>,
    keeper: SingleLaunchTimer,
    gpu: Gpu,
}

/// What events add, and what they read at least.
#[derive(Clone, Copy, Debug)]
struct EventOffset {
    offset: Seconds,
    floor: Seconds,
}

/// How executions get to the device.
enum Submission {
    /// A graph, so often.
    Graph(Graph, u32),
    /// One after the other.
    Launches(u32),
}

/// The driver's own error, what a kernel did, or what a library refuses.
pub(super) enum StopwatchError {
    Driver(DriverError),
    Kernel(CUresult),
    Library(LibraryError),
}

impl From<LibraryError> for StopwatchError {
    fn from(error: LibraryError) -> Self {
        Self::Library(error)
    }
}

impl From<DriverError> for StopwatchError {
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
        let module = LoadedModule::from_ptx(PTX)?;
        let nothing_yet = EventOffset { offset: Seconds(0.0), floor: Seconds(0.0) };
        let mut stopwatch = Self {
            stream,
            marks: Vec::new(),
            flush: (own_kernel(&module, "flush")?, plain(2 * multiprocessors, 1024)),
            module,
            dirty,
            clean,
            cold: nothing_yet,
            warm: nothing_yet,
            graph: None,
            keeper: SingleLaunchTimer::Events,
            gpu,
        };
        stopwatch.set_clock().map_err(|trouble| match trouble {
            StopwatchError::Driver(error) => DeviceError::from(error),
            StopwatchError::Kernel(code) => error("cuStreamSynchronize", code).into(),
            StopwatchError::Library(error) => error.into(),
        })?;
        Ok(stopwatch)
    }

    /// The stream that all timed work is put into.
    pub(super) fn stream(&self) -> CUstream {
        self.stream.handle()
    }

    /// The times of one execution, one for each sample, and what told them.
    pub(super) fn samples(
        &mut self,
        work: &Prepared,
        sampling: Sampling,
    ) -> Result<(Clock, Vec<Seconds>), StopwatchError> {
        let is_single = matches!(sampling.mode, Mode::Cold | Mode::Server);
        // Between launches stamps cost something: what takes several of them is told by events.
        if is_single
            && let Some(calls) = work.only_call(sampling.mode)
            && let SingleLaunchTimer::Cupti { cupti, offset, .. } = self.keeper
        {
            match self.stamped(cupti, (work, &calls), sampling)? {
                Ok(times) => {
                    let times = times.into_iter().map(|time| time - offset).collect();
                    let clock = Clock::Cupti { offset, floor: ALONE, version: cupti.version };
                    return Ok((clock, times));
                }
                Err(reason) => {
                    self.detach();
                    self.keeper = SingleLaunchTimer::Without(reason);
                }
            }
        }
        self.detach();
        let EventOffset { offset, floor } = self.offset(work, sampling.mode)?;
        let readings = self.readings(work, sampling)?;
        let each = 1.0 / f64::from(sampling.batch.max(1));
        let times = readings.into_iter().map(|reading| (reading - offset) * each).collect();
        let without = match self.keeper {
            SingleLaunchTimer::Without(reason) => Some(reason),
            SingleLaunchTimer::Cupti { .. } => Some(NoStamps::Several),
            SingleLaunchTimer::Events => None,
        };
        let without = without.filter(|_| is_single);
        Ok((Clock::Events { offset, floor, without }, times))
    }

    /// What events add to readings of this work.
    fn offset(&mut self, work: &Prepared, mode: Mode) -> Result<EventOffset, StopwatchError> {
        Ok(match mode {
            Mode::Warm if !work.is_cooperative() => self.warm,
            // Without a graph, events add what they add to a single launch.
            Mode::Warm | Mode::Cold | Mode::Server => self.cold,
            Mode::Graph => {
                let known = self.graph.map_or_else(|| self.in_a_row(Mode::Graph), Ok)?;
                *self.graph.insert(known)
            }
        })
    }

    fn readings(
        &mut self,
        work: &Prepared,
        sampling: Sampling,
    ) -> Result<Vec<Seconds>, StopwatchError> {
        let Sampling { mode, batch, samples, pause } = sampling;
        let samples = samples as usize;
        while self.marks.len() < samples {
            self.marks.push((Event::new()?, Event::new()?));
        }
        reset_persisting_l2()?;
        let way = self.way(work, mode, batch)?;
        for (begin, end) in self.marks.iter().take(samples) {
            self.put_right(work)?;
            self.poison(work)?;
            match mode {
                Mode::Cold => self.flush()?,
                Mode::Warm | Mode::Graph => {
                    self.execute(work, &way)?;
                    self.put_right(work)?;
                }
                Mode::Server => {
                    self.idle(pause)?;
                    self.gate()?;
                }
            }
            self.stream.mark(begin)?;
            self.execute(work, &way)?;
            self.stream.mark(end)?;
        }
        self.stream.synchronise().map_err(StopwatchError::Kernel)?;
        let marks = self.marks.iter().take(samples);
        Ok(marks.map(|(begin, end)| begin.until(end)).collect::<Result<_, _>>()?)
    }

    /// How so many executions get to the device.
    fn way(&self, work: &Prepared, mode: Mode, batch: u32) -> Result<Submission, StopwatchError> {
        Ok(match mode {
            Mode::Warm if !work.is_cooperative() => {
                Submission::Graph(self.captured(work, batch)?, 1)
            }
            Mode::Graph => Submission::Graph(self.captured(work, 1)?, batch),
            Mode::Warm | Mode::Cold | Mode::Server => Submission::Launches(batch),
        })
    }

    fn captured(&self, work: &Prepared, executions: u32) -> Result<Graph, StopwatchError> {
        self.stream.captured(|| {
            (0..executions).try_for_each(|_| self.start(work)).map_err(|trouble| match trouble {
                StopwatchError::Kernel(code) => {
                    StopwatchError::Driver(error("cuLaunchKernelEx", code))
                }
                StopwatchError::Driver(_) | StopwatchError::Library(_) => trouble,
            })
        })
    }

    /// Waits until nothing runs, and then as long as that.
    fn idle(&self, pause: Duration) -> Result<(), StopwatchError> {
        self.stream.synchronise().map_err(StopwatchError::Kernel)?;
        std::thread::sleep(pause);
        Ok(())
    }

    /// What is read and written begins each sample as it was.
    fn put_right(&self, work: &Prepared) -> Result<(), StopwatchError> {
        for (from, to) in &work.restore {
            self.stream.copy(from, to)?;
        }
        Ok(())
    }

    /// Neither what begins undefined nor what is left zero holds anything of the sample before.
    fn poison(&self, work: &Prepared) -> Result<(), StopwatchError> {
        for room in &work.poison {
            self.stream.set_bytes(room, POISON)?;
        }
        for room in &work.clear {
            self.stream.set_bytes(room, CLEAN)?;
        }
        Ok(())
    }

    fn execute(&self, work: &Prepared, way: &Submission) -> Result<(), StopwatchError> {
        match way {
            Submission::Graph(graph, times) => {
                (0..*times).try_for_each(|_| self.stream.run(graph).map_err(StopwatchError::Kernel))
            }
            Submission::Launches(times) => (0..*times).try_for_each(|_| self.start(work)),
        }
    }

    fn start(&self, work: &Prepared) -> Result<(), StopwatchError> {
        for action in &work.timed {
            match action {
                Action::Launch { kernel, launch, parameters } => kernel
                    .start(launch, &mut parameters.clone(), self.stream.handle())
                    .map_err(StopwatchError::Kernel)?,
                Action::Fill { to, element } => self.stream.set_elements(to, element)?,
                Action::Library { cublas, product, addresses } => {
                    cublas.start(product, *addresses)?;
                }
            }
        }
        Ok(())
    }

    /// Leaves nothing in L2 but a clean buffer: neither what the work reads nor lines that are still to be written back.
    fn flush(&self) -> Result<(), StopwatchError> {
        self.stream.set_bytes(&self.dirty.room(), POISON)?;
        self.read(self.clean.room().bytes, &self.flush.1)
    }

    /// Keeps the stream waiting while marks and launches are put into it, so that no event pair has the host between.
    fn gate(&self) -> Result<(), StopwatchError> {
        self.read(GATE.min(self.clean.room().bytes), &plain(1, 1024))
    }

    /// Reads the beginning of the clean buffer.
    fn read(&self, bytes: usize, launch: &Launch) -> Result<(), StopwatchError> {
        let mut parameters = self.clean.room().start.to_le_bytes().to_vec();
        parameters.extend((bytes as u64).to_le_bytes());
        self.flush
            .0
            .start(launch, &mut parameters, self.stream.handle())
            .map_err(StopwatchError::Kernel)
    }

    /// Finds out what the events add.
    fn set_clock(&mut self) -> Result<(), StopwatchError> {
        // The first readings wake the device up.
        self.alone(Mode::Cold)?;
        self.warm = self.in_a_row(Mode::Warm)?;
        self.cold = self.alone(Mode::Cold)?;
        Ok(())
    }

    /// What events add where many follow each other, and what each of many empty ones takes.
    fn in_a_row(&mut self, mode: Mode) -> Result<EventOffset, StopwatchError> {
        let (few, many) = (self.reading(mode, FEW)?, self.reading(mode, MANY)?);
        let each = (many - few) * (1.0 / f64::from(MANY - FEW));
        Ok(EventOffset { offset: few - each * f64::from(FEW), floor: each })
    }

    /// What events add to a single launch.
    fn alone(&mut self, mode: Mode) -> Result<EventOffset, StopwatchError> {
        Ok(EventOffset { offset: self.reading(mode, 1)? - ALONE, floor: ALONE })
    }

    /// What events read for a kernel that does nothing.
    fn reading(&mut self, mode: Mode, batch: u32) -> Result<Seconds, StopwatchError> {
        let work = self.nothing(plain(1, 32))?;
        let sampling = Sampling { batch, ..Sampling::single(mode, READINGS) };
        let readings = self.readings(&work, sampling)?;
        let mut readings: Vec<f64> = readings.iter().map(|each| each.0).collect();
        Ok(Seconds(median(&mut readings).unwrap_or(f64::NAN)))
    }

    /// A launch of a kernel that does nothing.
    fn nothing(&self, launch: Launch) -> Result<Prepared, StopwatchError> {
        let kernel = own_kernel(&self.module, "nothing")?;
        let (launch, parameters) = (Box::new(launch), Vec::new());
        let timed = vec![Action::Launch { kernel, launch, parameters }];
        Ok(Prepared { timed, ..Prepared::default() })
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        self.detach();
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
