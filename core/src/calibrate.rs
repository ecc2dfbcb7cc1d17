//! Measures the ceilings of a device: projects of our own, verified and timed like everybody's.
//!
//! Each of `assets/calibration` does nothing but keep one memory or one pipe busy. Its definition says how much of it there
//! is to do; the rate is that by the time. A ceiling exists only for a kernel that passed.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cancellation::Cancellation;
use crate::device::{Description, DeviceKind, DeviceName, DeviceSheet, Pipe};
use crate::evaluate::{Bench, EvaluateError, Evaluation, PolicyUse, evaluate};
use crate::measure::timing::{Basis, Clock, Mode, Timing};
use crate::measure::{Protocol, Taint};
use crate::project::{Project, ProjectError, Workload};
use crate::speed_of_light::calibration::{
    CalibratedClocks, CalibratedDevice, Calibration, CalibrationError, ClockControl, Measured,
    MemoryPath, SCHEMA,
};
use crate::units::{BytesPerSecond, FlopsPerSecond, Hertz, Seconds};
use crate::verify::sentence;
use crate::verify::verdict::TimingUse;

/// A project that reaches one ceiling.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// Its folder.
    pub name: &'static str,
    files: [(&'static str, &'static str); 3],
    quantity: Quantity,
    mode: Mode,
    method: &'static str,
}

/// What a benchmark measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Memory(MemoryPath),
    Pipe(Pipe),
    Special,
}

macro_rules! benchmark {
    ($name:literal, $quantity:expr, $mode:ident, $method:literal) => {
        Benchmark {
            name: $name,
            files: [
                (
                    "project.ron",
                    include_str!(concat!("../../assets/calibration/", $name, "/project.ron")),
                ),
                (
                    "reference.cu",
                    include_str!(concat!("../../assets/calibration/", $name, "/reference.cu")),
                ),
                (
                    "kernels/best.cu",
                    include_str!(concat!("../../assets/calibration/", $name, "/kernels/best.cu")),
                ),
            ],
            quantity: $quantity,
            mode: Mode::$mode,
            method: $method,
        }
    };
}

/// All benchmarks, in the order in which they run.
pub const BENCHMARKS: [Benchmark; 12] = [
    benchmark!("dram-read", Quantity::Memory(MemoryPath::DramRead), Cold, "16-byte loads, 2 GiB"),
    benchmark!(
        "dram-write",
        Quantity::Memory(MemoryPath::DramWrite),
        Cold,
        "16-byte stores, 2 GiB"
    ),
    benchmark!(
        "dram-copy",
        Quantity::Memory(MemoryPath::DramCopy),
        Cold,
        "16-byte loads and stores, 1 GiB each way"
    ),
    benchmark!(
        "l2-read",
        Quantity::Memory(MemoryPath::L2Read),
        Warm,
        "16-byte loads past L1, 16 MiB"
    ),
    benchmark!("shared-read", Quantity::Memory(MemoryPath::SharedRead), Cold, "16-byte loads"),
    benchmark!("fma-f32", Quantity::Pipe(Pipe::Fp32), Cold, "fma.f32, eight chains a thread"),
    benchmark!("fma-f64", Quantity::Pipe(Pipe::Fp64), Cold, "fma.f64, eight chains a thread"),
    benchmark!("fma-f16", Quantity::Pipe(Pipe::Fp16), Cold, "fma.f16x2, eight chains a thread"),
    benchmark!("special", Quantity::Special, Cold, "rsqrt.approx.f32, eight chains a thread"),
    benchmark!(
        "tensor-f16",
        Quantity::Pipe(Pipe::TensorFp16AccumulateFp32),
        Cold,
        "mma.sync m16n16k16 f16, f32 accumulators"
    ),
    benchmark!("tensor-bf16", Quantity::Pipe(Pipe::TensorBf16), Cold, "mma.sync m16n16k16 bf16"),
    benchmark!("tensor-tf32", Quantity::Pipe(Pipe::TensorTf32), Cold, "mma.sync m16n16k8 tf32"),
];

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// Only what runs in real time has ceilings of its own.
    #[error("a virtual device has no ceilings of its own: its sheet says what they are")]
    Virtual,
    /// The folder for a benchmark.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A benchmark is no project: a defect.
    #[error("the benchmark `{name}`: {error}")]
    Project {
        /// Which.
        name: &'static str,
        /// Why.
        error: Box<ProjectError>,
    },
    /// The machine cannot run it.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// The benchmark did not pass, so that its time means nothing.
    #[error("the benchmark `{name}` did not pass: {sentence}")]
    Failed {
        /// Which.
        name: &'static str,
        /// The verdict.
        sentence: String,
    },
    /// It passed and has no time.
    #[error("the benchmark `{0}` was not timed")]
    NotTimed(&'static str),
    /// A time is not to be trusted.
    #[error("the benchmark `{name}`: {taint}")]
    Tainted {
        /// Which.
        name: &'static str,
        /// Why.
        taint: Taint,
    },
    /// A number that no measurement gives.
    #[error(transparent)]
    Unsound(#[from] CalibrationError),
}

/// Where a calibration is made.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The device.
    pub device: &'a DeviceName,
    /// What it says of itself.
    pub description: &'a Description,
    /// Its sheet.
    pub sheet: &'a DeviceSheet,
    /// The time of day, as RFC 3339.
    pub date: &'a str,
    /// A folder that exists, for the projects.
    pub folder: &'a Path,
    /// What inputs come from.
    pub seed: u64,
}

/// Runs every benchmark; `watcher` is told which one begins.
///
/// # Errors
/// A benchmark did not pass, or the machine cannot run it.
pub fn calibrate(
    place: &Place<'_>,
    bench: &mut Bench,
    cancellation: &Cancellation,
    watcher: &mut dyn FnMut(&Benchmark),
) -> Result<Calibration, CalibrateError> {
    let DeviceKind::Cuda { uuid, driver } = &place.description.kind else {
        return Err(CalibrateError::Virtual);
    };
    let mut found = Found::default();
    for benchmark in &BENCHMARKS {
        watcher(benchmark);
        found.add(benchmark, place, bench, cancellation)?;
    }
    let calibration = Calibration {
        schema: SCHEMA,
        device: CalibratedDevice {
            title: place.description.title.clone(),
            uuid: uuid.clone(),
            compute_capability: place.description.capability,
        },
        date: place.date.to_owned(),
        driver: format!("CUDA {}.{}", driver.0, driver.1),
        clocks: found.clocks(place.sheet),
        memory: found.memory,
        pipes: found.pipes,
        special: found.special,
        retained_writes: None,
        // What an empty kernel takes is no measurement of this device: `device/cuda/stopwatch.rs` says why.
        launch_floor: None,
        event_offset: found.offset,
    };
    match calibration.problems() {
        problems if problems.is_empty() => Ok(calibration),
        problems => Err(CalibrationError::Unsound(problems).into()),
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    memory: BTreeMap<MemoryPath, Measured<BytesPerSecond>>,
    pipes: BTreeMap<Pipe, Measured<FlopsPerSecond>>,
    special: Option<Measured<FlopsPerSecond>>,
    offset: Option<Measured<Seconds>>,
    sm_clocks: Vec<Hertz>,
}

impl Found {
    fn add(
        &mut self,
        benchmark: &Benchmark,
        place: &Place<'_>,
        bench: &mut Bench,
        cancellation: &Cancellation,
    ) -> Result<(), CalibrateError> {
        let project = benchmark.written_to(place.folder)?;
        let Some(kernel) = project.kernels.first() else {
            return Err(CalibrateError::NotTimed(benchmark.name));
        };
        let evaluation = Evaluation {
            project: &project,
            kernel,
            chosen: &BTreeMap::new(),
            device: place.device,
            sheet: place.sheet,
            workload: None,
            seed: place.seed,
            policy: PolicyUse::Show,
            timing: TimingUse::Measure(Protocol::FINAL),
        };
        let run = evaluate(&evaluation, bench, cancellation, &mut |_step, _workload| {})?;
        let Ok(passed) = &run.verdict else {
            let sentence = sentence::verdict(&kernel.name, &run.verdict);
            return Err(CalibrateError::Failed { name: benchmark.name, sentence });
        };
        let missing = CalibrateError::NotTimed(benchmark.name);
        let Some(timed) = passed.timings.first() else { return Err(missing) };
        let of_mode = |timing: &&Timing| timing.mode == benchmark.mode;
        let Some(timing) = timed.timings.iter().find(of_mode) else { return Err(missing) };
        if let Some(taint) = timing.taint.first() {
            return Err(CalibrateError::Tainted { name: benchmark.name, taint: *taint });
        }
        let workload = project.workloads.iter().find(|each| each.name == timed.workload);
        let Some(workload) = workload else { return Err(missing) };
        self.note(benchmark, workload, timing);
        Ok(())
    }

    fn note(&mut self, benchmark: &Benchmark, workload: &Workload, timing: &Timing) {
        let operations: f64 = workload.work.operations.iter().map(|(_, count)| count).sum();
        match benchmark.quantity {
            Quantity::Memory(path) => {
                let rate = measured(workload.work.bytes, timing, benchmark.method, BytesPerSecond);
                self.memory.insert(path, rate);
            }
            Quantity::Pipe(pipe) => {
                let rate = measured(operations, timing, benchmark.method, FlopsPerSecond);
                self.pipes.insert(pipe, rate);
            }
            Quantity::Special => {
                let rate = measured(operations, timing, benchmark.method, FlopsPerSecond);
                self.special = Some(rate);
            }
        }
        if let Clock::Events { offset, .. } = timing.clock
            && timing.mode == Mode::Cold
        {
            let method = "an empty kernel after a flush".to_owned();
            self.offset =
                Some(Measured { median: offset, low: offset, high: offset, samples: 1, method });
        }
        if let Some((low, high)) = timing.conditions.sm_clock {
            self.sm_clocks.extend([low, high]);
        }
    }

    fn clocks(&self, sheet: &DeviceSheet) -> CalibratedClocks {
        let mut all: Vec<f64> = self.sm_clocks.iter().map(|clock| clock.0).collect();
        let multiprocessors = crate::measure::statistics::median(&mut all);
        // Two transfers a clock; NVML is not asked for it.
        let memory = sheet.memory_transfers.get().map_or(0.0, |transfers| transfers.0 / 2.0);
        let sheet_clock = sheet.boost_clock.get().map_or(0.0, |clock| clock.0);
        CalibratedClocks {
            multiprocessors: Hertz(multiprocessors.unwrap_or(sheet_clock)),
            memory: Hertz(memory),
            control: ClockControl::Free,
        }
    }
}

/// An amount by the times of a timing: the longest time is the lowest rate.
fn measured<Rate>(
    amount: f64,
    timing: &Timing,
    method: &str,
    rate: fn(f64) -> Rate,
) -> Measured<Rate> {
    let longest = match &timing.basis {
        Basis::Samples { rounds, .. } => {
            rounds.iter().flatten().fold(timing.summary.median.0, |most, each| most.max(each.0))
        }
        Basis::Model { bound, .. } => bound.0,
    };
    Measured {
        median: rate(amount / timing.summary.median.0),
        low: rate(amount / longest),
        high: rate(amount / timing.summary.minimum.0),
        samples: u32::try_from(timing.summary.samples).unwrap_or(u32::MAX),
        method: method.to_owned(),
    }
}

impl Benchmark {
    /// The project, below a folder that exists.
    fn written_to(&self, folder: &Path) -> Result<Project, CalibrateError> {
        let root = folder.join(self.name);
        std::fs::create_dir_all(root.join("kernels"))?;
        for (file, text) in self.files {
            std::fs::write(root.join(file), text)?;
        }
        Project::load(&root)
            .map_err(|error| CalibrateError::Project { name: self.name, error: Box::new(error) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_is_a_project_with_one_kernel_and_one_amount() {
        let folder = tempfile::tempdir().unwrap();
        for benchmark in &BENCHMARKS {
            let project = benchmark.written_to(folder.path()).unwrap();
            assert_eq!(project.kernels.len(), 1, "{}", benchmark.name);
            let measured = project
                .workloads
                .iter()
                .find(|each| each.purpose == crate::project::Purpose::Measure);
            let work = &measured.unwrap().work;
            let operations: f64 = work.operations.iter().map(|(_, count)| count).sum();
            match benchmark.quantity {
                Quantity::Memory(_) => assert!(work.bytes >= 1e9, "{}", benchmark.name),
                Quantity::Pipe(_) | Quantity::Special => {
                    assert!(operations >= 1e9, "{}", benchmark.name);
                }
            }
        }
    }

    #[test]
    fn a_longer_time_is_a_lower_rate() {
        let clock = Clock::Events { offset: Seconds(1e-6), floor: Seconds(1e-6) };
        let rounds = vec![vec![Seconds(1.0), Seconds(2.0), Seconds(4.0)]; 10];
        let stopped = crate::measure::Stopped::Budget;
        let timing = Timing::measured(clock, Mode::Cold, rounds, (1, stopped), &[]).unwrap();
        let rate = measured(8.0, &timing, "", BytesPerSecond);
        assert_eq!(
            (rate.low, rate.median, rate.high),
            (BytesPerSecond(2.0), BytesPerSecond(4.0), BytesPerSecond(8.0))
        );
    }
}
