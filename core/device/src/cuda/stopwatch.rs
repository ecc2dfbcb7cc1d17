//! Times work on a GPU: with cold caches by a flush before each sample, with warm caches by a graph of many executions.
//!
//! Events around a launch overestimate its time by about two microseconds. The overhead is measured with an empty
//! kernel. Warm: graphs of few and of many empty kernels yield the time of each kernel in a sequence and the overhead
//! of the graph. Cold: the reading of a single empty kernel after a flush, less the known time of such a kernel. If the
//! driver's time stamps are requested, they measure single launches instead and need no correction for this overhead
//! (`stopwatch/stamped.rs`).

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

/// The flush reads this multiple of the size of L2.
const FLUSH: usize = 2;

/// Content of the clean buffer; the flush writes if it reads any other value, and buffers with value zero use it too.
const CLEAN: u8 = 0;

/// Kernels in the two graphs that measure the floor.
const FEW: u32 = 8;
const MANY: u32 = 108;

/// Time of an empty kernel: `gpu__time_duration` of Nsight Compute reports 1.54 to 1.57 µs on an H200 (driver 580,
/// November 2026). Only a profiler measures it.
const ALONE: Seconds = Seconds(1.55e-6);

/// Readings of each kind when the clock is set.
const READINGS: u32 = 41;

/// Bytes that one block reads at a gate: some tens of microseconds, during which the host enqueues the remaining work.
const GATE: usize = 2 << 20;

/// Timing equipment of a GPU. Fields are dropped in this order.
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

/// The overhead of events, and their smallest reading.
#[derive(Clone, Copy, Debug)]
struct EventOffset {
    offset: Seconds,
    floor: Seconds,
}

/// How executions are submitted to the device.
enum Submission {
    /// A graph, launched this many times.
    Graph(Graph, u32),
    /// One after the other.
    Launches(u32),
}

/// An error of the driver, of the kernel, or of a library.
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

    /// The times of one execution, one per sample, and the clock that measured them.
    pub(super) fn samples(
        &mut self,
        work: &Prepared,
        sampling: Sampling,
    ) -> Result<(Clock, Vec<Seconds>), StopwatchError> {
        let is_single = matches!(sampling.mode, Mode::Cold | Mode::Server);
        // Recording time stamps slows consecutive launches, so work of several launches is timed by events.
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

    /// The overhead of events for this work.
    fn offset(&mut self, work: &Prepared, mode: Mode) -> Result<EventOffset, StopwatchError> {
        Ok(match mode {
            Mode::Warm if !work.is_cooperative() => self.warm,
            // Without a graph, the overhead is that of a single launch.
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

    /// How a number of executions is submitted to the device.
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

    /// Waits until the device is idle, and then for `pause`.
    fn idle(&self, pause: Duration) -> Result<(), StopwatchError> {
        self.stream.synchronise().map_err(StopwatchError::Kernel)?;
        std::thread::sleep(pause);
        Ok(())
    }

    /// Restores buffers that the work reads and writes before each sample.
    fn put_right(&self, work: &Prepared) -> Result<(), StopwatchError> {
        for (from, to) in &work.restore {
            self.stream.copy(from, to)?;
        }
        self.refill_arrays(work)
    }

    /// Overwrites uninitialised and zeroed buffers, so that they hold no data of the previous sample.
    fn poison(&self, work: &Prepared) -> Result<(), StopwatchError> {
        for room in &work.poison {
            self.stream.set_bytes(room, POISON)?;
        }
        for room in &work.clear {
            self.stream.set_bytes(room, CLEAN)?;
        }
        self.refill_arrays(work)
    }

    /// Brings the arrays that surfaces write up to date with their buffers.
    fn refill_arrays(&self, work: &Prepared) -> Result<(), StopwatchError> {
        for copy in &work.arrays {
            copy.to_array(self.stream.handle())?;
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

    /// Fills L2 with a clean buffer: it then holds neither the work's data nor dirty lines.
    fn flush(&self) -> Result<(), StopwatchError> {
        self.stream.set_bytes(&self.dirty.room(), POISON)?;
        self.read(self.clean.room().bytes, &self.flush.1)
    }

    /// Keeps the stream waiting while marks and launches are put into it, so that no event pair has the host between.
    fn gate(&self) -> Result<(), StopwatchError> {
        self.read(GATE.min(self.clean.room().bytes), &plain(1, 1024))
    }

    /// Reads the first bytes of the clean buffer.
    fn read(&self, bytes: usize, launch: &Launch) -> Result<(), StopwatchError> {
        let mut parameters = self.clean.room().start.to_le_bytes().to_vec();
        parameters.extend((bytes as u64).to_le_bytes());
        self.flush
            .0
            .start(launch, &mut parameters, self.stream.handle())
            .map_err(StopwatchError::Kernel)
    }

    /// Measures the overhead of events.
    fn set_clock(&mut self) -> Result<(), StopwatchError> {
        // The first readings wake the device up.
        self.alone(Mode::Cold)?;
        self.warm = self.in_a_row(Mode::Warm)?;
        self.cold = self.alone(Mode::Cold)?;
        Ok(())
    }

    /// The overhead of events around a sequence of launches, and the time of each empty kernel in it.
    fn in_a_row(&mut self, mode: Mode) -> Result<EventOffset, StopwatchError> {
        let (few, many) = (self.reading(mode, FEW)?, self.reading(mode, MANY)?);
        let each = (many - few) * (1.0 / f64::from(MANY - FEW));
        Ok(EventOffset { offset: few - each * f64::from(FEW), floor: each })
    }

    /// The overhead of events around a single launch.
    fn alone(&mut self, mode: Mode) -> Result<EventOffset, StopwatchError> {
        Ok(EventOffset { offset: self.reading(mode, 1)? - ALONE, floor: ALONE })
    }

    /// The events' reading for empty kernels.
    fn reading(&mut self, mode: Mode, batch: u32) -> Result<Seconds, StopwatchError> {
        let work = self.nothing(plain(1, 32))?;
        let sampling = Sampling { batch, ..Sampling::single(mode, READINGS) };
        let readings = self.readings(&work, sampling)?;
        let mut readings: Vec<f64> = readings.iter().map(|each| each.0).collect();
        Ok(Seconds(median(&mut readings).unwrap_or(f64::NAN)))
    }

    /// A launch of an empty kernel.
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

/// A launch of a harness kernel.
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
