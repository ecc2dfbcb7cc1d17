//! Everything known about the performance of a kernel in one workload on one device: the input of facts, limiter and
//! advice.
//!
//! Every part may be missing. A fact that needs a missing part is unknown, and no conclusion follows from an unknown fact.

use std::collections::BTreeMap;

use lightbench_compile::facts::{Facts, LaunchFacts};
use lightbench_device::{ComputeCapability, DeviceSheet};
use lightbench_project::launch::plan::PlannedStep;
use lightbench_units::{Bytes, BytesPerSecond, Hertz, Seconds};
use lightbench_virtual_gpu::cost::time::{Bound, LimitingResource, Modelled};
use lightbench_virtual_gpu::cost::{BlocksRun, Counters, Counts, InstructionClass, Kind};
use serde::{Deserialize, Serialize};

use super::bound::{MethodBound, PhysicalBound};
use super::code_mix::CodeMix;
use super::extrapolated_counters::{ExtrapolatedCounters, join_lines};
use super::minimal_work::MinimalWork;

/// The known data.
#[derive(Clone, Debug)]
pub struct PerformanceData<'a> {
    /// The device.
    pub device: DeviceLimits,
    /// The minimal work of the task.
    pub work: &'a MinimalWork,
    /// The launches of the kernel, in order.
    pub launches: &'a [LaunchFacts],
    /// The number of launches, including repetitions.
    pub launches_run: Option<u64>,
    /// The static instruction mix.
    pub code: Option<CodeMix>,
    /// The counters of all launches.
    pub counted: Option<KernelCounters>,
    /// The least busy time of each unit, from counters.
    pub units: Vec<(LimitingResource, Seconds)>,
    /// Whether latency limits the modelled time.
    pub waits: bool,
    /// The measured time, or the middle of the modelled range.
    pub time: Option<Seconds>,
    /// For a modelled time, the low end of its range: no unit accounts for the rest of the range.
    pub earliest: Option<Seconds>,
    /// The time that no correct kernel beats.
    pub bound: Option<&'a PhysicalBound>,
    /// The time that the pipe needs which the task's precision names.
    pub method: Option<&'a MethodBound>,
    /// The time of an empty kernel, measured by the same clock.
    pub floor: Option<Seconds>,
    /// The location of the counters.
    pub at: &'a CounterLocation,
    /// Why nothing was counted.
    pub no_counters_reason: Option<&'a str>,
}

/// The profile of a kernel from a virtual device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The counters of all launches.
    pub counted: KernelCounters,
    /// The least busy time of each unit, from counters.
    pub units: Vec<(LimitingResource, Seconds)>,
    /// Whether latency limits the modelled time.
    pub waits: bool,
    /// The shortest and the longest modelled time, if the model gives one.
    pub between: Option<(Seconds, Seconds)>,
    /// The counters of each source line that the compiler's line table names.
    pub lines: Vec<LineCounts>,
    /// The location of the counters.
    #[serde(default)]
    pub at: CounterLocation,
}

/// The device and workload of a profile's counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum CounterLocation {
    /// The device and the workload that the profile describes.
    #[default]
    #[serde(rename = "There")]
    SameWorkload,
    /// A virtual device and a smaller workload. The counters are those of that workload; busy times are estimates for the
    /// timed workload.
    #[serde(rename = "Beside")]
    Extrapolated(ExtrapolatedCounters),
}

/// The counters of a source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineCounts {
    /// The file, as the compiler spells it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The counters over all launches.
    pub counts: Counts,
}

/// Limits and rates of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceLimits {
    /// The compute capability.
    pub capability: ComputeCapability,
    /// Multiprocessors.
    pub multiprocessors: Option<u32>,
    /// Their clock at best.
    pub clock: Option<Hertz>,
    /// The size of L2.
    pub l2: Option<Bytes>,
    /// The peak bandwidth of device memory.
    pub dram: Option<BytesPerSecond>,
}

/// The counters over all launches of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelCounters {
    /// Counters over all instructions.
    pub total: Counts,
    /// Counters by instruction class.
    pub classes: BTreeMap<InstructionClass, Counts>,
    /// Warp instructions by cost kind.
    pub kinds: BTreeMap<Kind, u64>,
    /// Distinct bytes of global memory, summed over launches; unknown if only a part of a grid was counted.
    pub touched: DistinctBytes,
}

/// Bytes of distinct sectors of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DistinctBytes {
    /// Counted over whole grids.
    Whole {
        /// Read.
        read: Bytes,
        /// Written.
        written: Bytes,
    },
    /// Counted over some blocks only; other blocks may access the same sectors.
    Part,
}

impl Default for DistinctBytes {
    fn default() -> Self {
        Self::Whole { read: Bytes(0), written: Bytes(0) }
    }
}

impl DeviceLimits {
    /// The limits and rates of a device sheet.
    #[must_use]
    pub fn from_sheet(sheet: &DeviceSheet) -> Self {
        Self {
            capability: sheet.capability.compute_capability,
            multiprocessors: sheet.sms.get(),
            clock: sheet.boost_clock.get(),
            l2: sheet.l2.get(),
            dram: sheet.dram_bandwidth.get(),
        }
    }
}

impl KernelCounters {
    /// Adds the counters of a launch; counters of sampled blocks are scaled to the whole grid.
    pub fn add(&mut self, counters: &Counters) {
        let blocks = counters.blocks;
        self.total.add(&blocks.scaled(&counters.total));
        for (class, counts) in &counters.classes {
            self.classes.entry(*class).or_default().add(&blocks.scaled(counts));
        }
        for (kind, count) in &counters.kinds {
            let whole = *count as f64 / blocks.fraction();
            *self.kinds.entry(*kind).or_default() += whole as u64;
        }
        self.touched = match self.touched {
            DistinctBytes::Whole { read, written } if !blocks.is_sample() => DistinctBytes::Whole {
                read: read + Bytes(counters.compulsory_read_bytes),
                written: written + Bytes(counters.compulsory_written_bytes),
            },
            DistinctBytes::Whole { .. } | DistinctBytes::Part => DistinctBytes::Part,
        };
    }
}

impl KernelCounters {
    /// Adds the counters of other launches.
    pub fn join(&mut self, other: &Self) {
        self.total.add(&other.total);
        for (class, counts) in &other.classes {
            self.classes.entry(*class).or_default().add(counts);
        }
        for (kind, count) in &other.kinds {
            *self.kinds.entry(*kind).or_default() += count;
        }
        self.touched = match (self.touched, other.touched) {
            (
                DistinctBytes::Whole { read, written },
                DistinctBytes::Whole { read: more_read, written: more_written },
            ) => DistinctBytes::Whole { read: read + more_read, written: written + more_written },
            (DistinctBytes::Whole { .. } | DistinctBytes::Part, _) => DistinctBytes::Part,
        };
    }

    /// The counters scaled to a multiple of the work and a multiple of the bytes; maxima are not scaled.
    #[must_use]
    pub fn scaled(&self, work: f64, bytes: f64) -> Self {
        let blocks = BlocksRun { run: UNIT, all: (work * UNIT as f64) as u64 };
        let times = |count: u64| (count as f64 * work) as u64;
        let moved = |size: Bytes| Bytes((size.0 as f64 * bytes) as u64);
        Self {
            total: blocks.scaled(&self.total),
            classes: self
                .classes
                .iter()
                .map(|(key, counts)| (*key, blocks.scaled(counts)))
                .collect(),
            kinds: self.kinds.iter().map(|(key, count)| (*key, times(*count))).collect(),
            touched: match self.touched {
                DistinctBytes::Whole { read, written } => {
                    DistinctBytes::Whole { read: moved(read), written: moved(written) }
                }
                DistinctBytes::Part => DistinctBytes::Part,
            },
        }
    }
}

/// The factor one in fixed-point representation.
const UNIT: u64 = 1 << 32;

impl DistinctBytes {
    /// The bytes read and the bytes written, if known.
    #[must_use]
    pub const fn whole(self) -> Option<(Bytes, Bytes)> {
        match self {
            Self::Whole { read, written } => Some((read, written)),
            Self::Part => None,
        }
    }
}

impl<'a> PerformanceData<'a> {
    /// The data known before a run: the device, the task, the compiled launches and their code.
    #[must_use]
    pub fn compiled(sheet: &DeviceSheet, work: &'a MinimalWork, facts: &'a Facts) -> Self {
        let artifact = &facts.artifact;
        let symbols: Vec<&str> =
            facts.launches.iter().map(|launch| launch.kernel.symbol.as_str()).collect();
        Self {
            device: DeviceLimits::from_sheet(sheet),
            work,
            launches: &facts.launches,
            launches_run: Some(launches(&facts.plan.steps)),
            code: Some(CodeMix::from_ptx(&artifact.ptx, &symbols)),
            counted: None,
            units: Vec::new(),
            waits: false,
            time: None,
            earliest: None,
            bound: None,
            method: None,
            floor: None,
            at: &CounterLocation::SameWorkload,
            no_counters_reason: None,
        }
    }
}

/// The number of launches, including repetitions.
fn launches(steps: &[PlannedStep]) -> u64 {
    let each = steps.iter().map(|step| match step {
        PlannedStep::Launch(_) => 1,
        PlannedStep::Fill { .. } => 0,
        PlannedStep::Repeat { count, steps, .. } => count.saturating_mul(launches(steps)),
    });
    each.fold(0, u64::saturating_add)
}

impl PerformanceData<'_> {
    /// Adds the counters of a launch.
    pub fn add_counted(&mut self, counters: &Counters) {
        self.counted.get_or_insert_default().add(counters);
    }

    /// Adds the modelled busy times of a launch.
    pub fn add_modelled(&mut self, modelled: &Modelled) {
        self.waits |= add_modelled(&mut self.units, modelled, 1.0);
    }

    /// The launch with the most threads: the one that the others prepare or finish.
    #[must_use]
    pub fn main_launch(&self) -> Option<&LaunchFacts> {
        LaunchFacts::main(self.launches)
    }

    /// Blocks of the main launch.
    #[must_use]
    pub fn blocks(&self) -> Option<f64> {
        let grid = self.main_launch()?.planned.grid;
        Some(grid.iter().map(|size| f64::from(*size)).product())
    }

    /// The fraction of the speed of light; never clamped.
    #[must_use]
    pub fn bound_fraction(&self) -> Option<f64> {
        Some((self.bound?.bound().time / self.time?).0)
    }

    /// The headroom: the displayed time divided by the bound, which is the largest possible speed-up.
    #[must_use]
    pub fn headroom(&self) -> Option<f64> {
        self.over_bound(self.time?)
    }

    /// The largest speed-up that counters explain: the time in which units are busy or wait, divided by the bound. For a
    /// modelled time it is less than [`Self::headroom`].
    #[must_use]
    pub fn busy_headroom(&self) -> Option<f64> {
        self.over_bound(self.busy_time()?)
    }

    fn over_bound(&self, time: Seconds) -> Option<f64> {
        let room = (time / self.bound?.bound().time).0;
        (room > 0.0 && room.is_finite()).then_some(room)
    }

    /// The time in which units are busy or wait: a measured time, or the low end of a modelled range.
    #[must_use]
    pub fn busy_time(&self) -> Option<Seconds> {
        self.earliest.or(self.time)
    }
}

/// The shortest and the longest modelled time of a launch.
fn modelled_range(modelled: &Modelled) -> Option<(Seconds, Seconds)> {
    match modelled {
        Modelled::Bound(Bound { time, band, .. }) => Some((*time * band.0, *time * band.1)),
        Modelled::Withheld(_) => None,
    }
}

impl Profile {
    /// The profile of launches, each with its number of executions.
    pub fn from_launches<'a>(
        launches: impl Iterator<Item = (u64, Option<&'a Counters>, &'a Modelled)>,
    ) -> Self {
        let mut profile = Self { between: Some((Seconds(0.0), Seconds(0.0))), ..Self::default() };
        for (executions, counters, modelled) in launches {
            profile.add(executions, counters, modelled);
        }
        profile
    }

    /// Adds a launch that is executed so many times.
    fn add(&mut self, executions: u64, counters: Option<&Counters>, modelled: &Modelled) {
        let times = executions as f64;
        let longer = modelled_range(modelled).zip(self.between);
        self.between = longer.map(|(own, all)| (all.0 + own.0 * times, all.1 + own.1 * times));
        self.waits |= add_modelled(&mut self.units, modelled, executions as f64);
        if let Some(counters) = counters {
            for _ in 0..executions.min(MOST_ADDED) {
                self.counted.add(counters);
            }
            self.add_lines(counters);
        }
    }

    /// Adds the counters of lines for one execution; repetitions do not change their ratios.
    fn add_lines(&mut self, counters: &Counters) {
        join_lines(&mut self.lines, &lines(counters));
    }
}

/// The counters of each source line in a launch; counters of sampled blocks are scaled to the whole grid.
#[must_use]
pub fn lines(counters: &Counters) -> Vec<LineCounts> {
    let each = counters.source_lines.iter().map(|(place, counts)| LineCounts {
        file: place.file.to_string(),
        line: place.line,
        counts: counters.blocks.scaled(counts),
    });
    each.collect()
}

/// The largest number of executions of a launch that are added; more do not change ratios.
const MOST_ADDED: u64 = 1024;

/// Adds busy times of units, and returns whether latency limits the launch instead.
fn add_modelled(
    units: &mut Vec<(LimitingResource, Seconds)>,
    modelled: &Modelled,
    executions: f64,
) -> bool {
    match modelled {
        Modelled::Bound(bound) => {
            for (limit, time) in &bound.parts {
                let time = *time * executions;
                match units.iter_mut().find(|(known, _)| known == limit) {
                    Some((_, total)) => *total = *total + time,
                    None => units.push((*limit, time)),
                }
            }
            bound.waits.is_some()
        }
        Modelled::Withheld(_) => false,
    }
}
