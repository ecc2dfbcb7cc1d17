//! Measures the ceilings of a device with built-in benchmark projects, which are verified and timed like any other project.
//!
//! Each project in `assets/calibration` keeps one memory or one pipe busy. Its definition states the amount of work; the
//! rate is that amount divided by the time. Only a kernel that passed verification gives a ceiling.

mod benchmark;
mod folder;
mod retained;

use std::collections::BTreeMap;
use std::path::Path;

use lightbench_primitives::cancellation::Cancellation;

use self::retained::{Times, retained};
use crate::device::{Description, DeviceName, DeviceSheet, Identity, Pipe};
use crate::evaluate::{EvaluateError, Evaluation, EvaluationContext, PolicyUse, Run, evaluate};
use crate::measure::timing::{Basis, Clock, Mode, Timing};
use crate::measure::{ClockUse, Protocol};
use crate::project::{Project, ProjectError, Workload};
use crate::speed_of_light::calibration::{
    CalibratedClocks, CalibratedDevice, Calibration, CalibrationError, ClockControl, Measured,
    MemoryPath, SCHEMA,
};
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Seconds};
use crate::verify::not_judged::NotPassed;
use crate::verify::sentence;
use crate::verify::verdict::{TimingUse, WorkloadTiming};
pub use benchmark::{BENCHMARKS, Benchmark, Quantity};
pub use folder::{Calibrations, StoredCalibration};

/// Why there is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// A virtual device has no measured ceilings.
    #[error("a virtual device takes its rates from its device sheet: only a GPU can be calibrated")]
    Virtual,
    /// The folder for a benchmark.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A benchmark is no project: a defect.
    #[error("the benchmark `{name}`: {error}")]
    Project {
        /// The benchmark.
        name: &'static str,
        /// Why.
        error: Box<ProjectError>,
    },
    /// The machine cannot run it.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// Cancelled by the user.
    #[error("cancelled")]
    Cancelled,
    /// Not one benchmark gave a number.
    #[error("no benchmark gave a measurement; the first reason: {0}")]
    Nothing(String),
    /// A number that is impossible for a measurement.
    #[error(transparent)]
    Unsound(#[from] CalibrationError),
}

/// The device to calibrate, and the environment of the calibration.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationTarget<'a> {
    /// The device.
    pub device: &'a DeviceName,
    /// The driver's description of the device.
    pub description: &'a Description,
    /// The identity of the GPU; `None` for a virtual device.
    pub identity: Option<&'a Identity>,
    /// The device sheet.
    pub sheet: &'a DeviceSheet,
    /// The time of day, as RFC 3339.
    pub date: &'a str,
    /// A folder that exists, for the projects.
    pub folder: &'a Path,
    /// The seed of the inputs.
    pub seed: u64,
}

/// The result of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The numbers that there are.
    pub calibration: Calibration,
    /// The quantities without a measurement, with the reason; for them the device sheet is used.
    pub left_out: Vec<(Quantity, String)>,
}

/// Runs every benchmark and calls `watcher` at the start of each. A benchmark that does not pass or whose time is
/// unreliable is left out, because a device may lack a pipe.
///
/// # Errors
/// The device is virtual, the machine cannot run a benchmark, or no benchmark gave a number.
pub fn calibrate(
    place: &CalibrationTarget<'_>,
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
    watcher: &mut dyn FnMut(&Benchmark),
) -> Result<Calibrated, CalibrateError> {
    let Some(identity) = place.identity else { return Err(CalibrateError::Virtual) };
    let mut found = CalibrationDraft::default();
    for benchmark in &BENCHMARKS {
        let capability = place.description.capability;
        if let Some(reason) = benchmark.unsuitable(capability) {
            // A quantity that another benchmark measures is not left out.
            let known = found.left_out.iter().any(|(quantity, _)| *quantity == benchmark.quantity);
            if !known && !benchmark.has_substitute(capability) {
                found.left_out.push((benchmark.quantity, reason.to_owned()));
            }
            continue;
        }
        watcher(benchmark);
        if let Err(reason) = found.add(benchmark, place, context, cancellation)? {
            found.left_out.push((benchmark.quantity, reason));
        }
    }
    found.finished(place, identity)
}

/// The measurements so far.
#[derive(Default)]
struct CalibrationDraft {
    memory: BTreeMap<MemoryPath, Measured<BytesPerSecond>>,
    pipes: BTreeMap<Pipe, Measured<FlopsPerSecond>>,
    special: Option<Measured<FlopsPerSecond>>,
    retained: Option<Measured<Bytes>>,
    /// The event offsets of cold times, measured by each benchmark's device after opening.
    offsets: Vec<Seconds>,
    /// The launch floors in long sequences, measured in the same way.
    floors: Vec<Seconds>,
    sm_clocks: Vec<Hertz>,
    left_out: Vec<(Quantity, String)>,
}

impl CalibrationDraft {
    /// The reason where a benchmark gave no number.
    fn add(
        &mut self,
        benchmark: &Benchmark,
        place: &CalibrationTarget<'_>,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
    ) -> Result<Result<(), String>, CalibrateError> {
        let project = benchmark.written_to(place.folder)?;
        let Some(kernel) = project.kernels.first() else {
            return Ok(Err("it has no kernel".to_owned()));
        };
        let evaluation = Evaluation {
            project: &project,
            kernel,
            chosen: &BTreeMap::new(),
            device: place.device,
            sheet: place.sheet,
            calibration: None,
            workload: None,
            seed: place.seed,
            policy: PolicyUse::Show,
            // CUDA events, because their offset is calibrated as well.
            timing: TimingUse::Measure(Protocol { clock: ClockUse::Events, ..Protocol::FINAL }),
        };
        let run = evaluate(&evaluation, context, cancellation, &mut |_step, _workload| {})?;
        if run.verdict.as_ref().is_err_and(NotPassed::is_cancelled) {
            return Err(CalibrateError::Cancelled);
        }
        self.note_clock(&run);
        Ok(timed(benchmark, &project, &run).and_then(|all| self.noted(benchmark, &all, place)))
    }

    /// Records the number from the times of the benchmark's workloads; returns the reason if they have none.
    fn noted(
        &mut self,
        benchmark: &Benchmark,
        all: &[(&Workload, &Timing)],
        place: &CalibrationTarget<'_>,
    ) -> Result<(), String> {
        if benchmark.quantity == Quantity::RetainedWrites {
            let timings: Vec<&Timing> = all.iter().map(|(_, timing)| *timing).collect();
            let times =
                Times::from_timings(&timings).ok_or("one of its workloads was not timed")?;
            let rate = self.memory.get(&MemoryPath::DramWrite);
            let rate = rate.ok_or("the rate of writes was not measured")?;
            let cache = place.sheet.l2.get().ok_or("the sheet does not state the size of L2")?;
            let samples = all.iter().map(|(_, timing)| timing.summary.samples).min().unwrap_or(0);
            let samples = u32::try_from(samples).unwrap_or(u32::MAX);
            self.retained = Some(retained(times, rate, cache, samples)?);
            return Ok(());
        }
        let (workload, timing) = all.first().ok_or("no workload of it was timed")?;
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
            // The quantity is computed from several times, see above.
            Quantity::RetainedWrites => {}
        }
        if let Some((low, high)) = timing.conditions.sm_clock {
            self.sm_clocks.extend([low, high]);
        }
    }

    /// Records the offset and floor of the clock in a run, independent of the cache state that counts.
    fn note_clock(&mut self, run: &Run) {
        let passed = run.verdict.iter().flat_map(|passed| &passed.timings);
        let all: Vec<&Timing> = passed.flat_map(|timed| &timed.timings).collect();
        let first = |mode: Mode| {
            all.iter().find_map(|timing| match timing.clock {
                Clock::Events { offset, floor, .. } if timing.mode == mode => Some((offset, floor)),
                Clock::Events { .. } | Clock::Cupti { .. } | Clock::Modelled => None,
            })
        };
        self.offsets.extend(first(Mode::Cold).map(|(offset, _)| offset));
        // The time of a single empty kernel is not a measurement of the device, see `device/cuda/stopwatch.rs`.
        self.floors.extend(first(Mode::Warm).map(|(_, floor)| floor));
    }

    fn finished(
        self,
        place: &CalibrationTarget<'_>,
        identity: &Identity,
    ) -> Result<Calibrated, CalibrateError> {
        if self.memory.is_empty() && self.pipes.is_empty() && self.special.is_none() {
            let first =
                self.left_out.into_iter().next().map(|(what, why)| format!("{what}: {why}"));
            return Err(CalibrateError::Nothing(first.unwrap_or_default()));
        }
        let calibration = Calibration {
            schema: SCHEMA,
            device: CalibratedDevice {
                title: place.description.title.clone(),
                uuid: identity.uuid.clone(),
                compute_capability: place.description.capability,
            },
            date: place.date.to_owned(),
            driver: identity.driver.clone(),
            clocks: self.clocks(place.sheet),
            memory: self.memory,
            pipes: self.pipes,
            special: self.special,
            retained_writes: self.retained,
            launch_floor: over_devices(&self.floors, "an empty kernel in a graph of many"),
            event_offset: over_devices(&self.offsets, "an empty kernel after a flush"),
        };
        let problems = calibration.problems();
        if !problems.is_empty() {
            return Err(CalibrationError::Unsound(problems).into());
        }
        Ok(Calibrated { calibration, left_out: self.left_out })
    }

    fn clocks(&self, sheet: &DeviceSheet) -> CalibratedClocks {
        let mut all: Vec<f64> = self.sm_clocks.iter().map(|clock| clock.0).collect();
        let multiprocessors = crate::measure::statistics::median(&mut all);
        // Two transfers per clock; NVML does not report it.
        let memory = sheet.memory_transfers.get().map(|transfers| Hertz(transfers.0 / 2.0));
        let sheet_clock = sheet.boost_clock.get().map_or(0.0, |clock| clock.0);
        CalibratedClocks {
            multiprocessors: Hertz(multiprocessors.unwrap_or(sheet_clock)),
            memory,
            control: ClockControl::Free,
        }
    }
}

/// The measured value over several opened devices; `None` if it was not measured or is not a valid time.
fn over_devices(found: &[Seconds], what: &str) -> Option<Measured<Seconds>> {
    let mut seconds: Vec<f64> = found.iter().map(|each| each.0).collect();
    let median = Seconds(crate::measure::statistics::median(&mut seconds)?);
    let low = Seconds(seconds.iter().copied().fold(f64::INFINITY, f64::min));
    let high = Seconds(seconds.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let samples = u32::try_from(seconds.len()).unwrap_or(u32::MAX);
    let method = format!("{what}, the device reopened for each sample");
    (low.0 > 0.0).then_some(Measured { median, low, high, samples, method })
}

/// The times that count, with their workloads, or the reason for their absence.
fn timed<'a>(
    benchmark: &Benchmark,
    project: &'a Project,
    run: &'a Run,
) -> Result<Vec<(&'a Workload, &'a Timing)>, String> {
    let kernel = project.kernels.first().map_or("", |kernel| &kernel.name);
    let Ok(passed) = &run.verdict else {
        return Err(sentence::verdict(kernel, &run.verdict));
    };
    passed.timings.iter().map(|timed| one(benchmark, project, timed)).collect()
}

fn one<'a>(
    benchmark: &Benchmark,
    project: &'a Project,
    timed: &'a WorkloadTiming,
) -> Result<(&'a Workload, &'a Timing), String> {
    let of_mode = |timing: &&Timing| timing.mode == benchmark.mode;
    let withheld = || timed.withheld.clone().unwrap_or_else(|| "it was not timed".to_owned());
    let timing = timed.timings.iter().find(of_mode).ok_or_else(withheld)?;
    if let Some(taint) = timing.taint.first() {
        return Err(taint.to_string());
    }
    let workload = project.workloads.iter().find(|each| each.name == timed.workload);
    Ok((workload.ok_or("its workload is missing")?, timing))
}

/// An amount divided by the times of a timing: the longest time gives the lowest rate.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::ComputeCapability;

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
                Quantity::RetainedWrites => {
                    let measures = project.workloads.iter();
                    let measures =
                        measures.filter(|each| each.purpose == crate::project::Purpose::Measure);
                    let bytes: Vec<f64> = measures.map(|each| each.work.bytes).collect();
                    assert!(bytes.len() == 4 && bytes.is_sorted(), "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn a_rate_that_the_chip_exceeds_by_another_method_is_no_ceiling() {
        let check = |capability, by: &str| {
            for benchmark in &BENCHMARKS {
                let is_tensor =
                    matches!(benchmark.quantity, Quantity::Pipe(pipe) if pipe.is_tensor());
                let is_measured = benchmark.unsuitable(capability).is_none();
                let expected = !is_tensor || benchmark.method.starts_with(by);
                assert_eq!(is_measured, expected, "{} on {capability:?}", benchmark.name);
            }
        };
        check(ComputeCapability(8, 0), "mma.sync");
        check(ComputeCapability(8, 9), "mma.sync");
        check(ComputeCapability(9, 0), "wgmma");
        check(ComputeCapability(10, 0), "neither");
        check(ComputeCapability(12, 0), "mma.sync");
    }

    #[test]
    fn what_devices_found_anew_has_a_spread() {
        let check = |found: &[f64], expected: Option<[f64; 3]>| {
            let found: Vec<Seconds> = found.iter().map(|each| Seconds(each * 1e-6)).collect();
            let measured = over_devices(&found, "an empty kernel");
            let numbers =
                measured.as_ref().map(|of| [of.low, of.median, of.high].map(|s| s.0 * 1e6));
            let close = |[a, b]: [[f64; 3]; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(numbers.zip(expected).is_none_or(|(a, b)| close([a, b])), "{numbers:?}");
            assert_eq!(numbers.is_some(), expected.is_some());
            assert!(measured.is_none_or(|of| of.samples as usize == found.len()));
        };
        check(&[2.2, 3.2, 2.4], Some([2.2, 2.4, 3.2]));
        check(&[2.2], Some([2.2, 2.2, 2.2]));
        check(&[], None);
        check(&[2.2, -0.1, 2.0], None);
    }

    #[test]
    fn a_longer_time_is_a_lower_rate() {
        let clock = Clock::Events { offset: Seconds(1e-6), floor: Seconds(1e-6), without: None };
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
