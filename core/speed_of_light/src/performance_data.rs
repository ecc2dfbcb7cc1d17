//! All that is known of a kernel in one workload on one device: what facts, the limiter and advice are computed from.
//!
//! Every part may be missing. What is missing makes a fact unknown, and nothing is concluded from an unknown fact.

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

/// What is known.
#[derive(Clone, Debug)]
pub struct PerformanceData<'a> {
    /// The device.
    pub device: DeviceLimits,
    /// What the task needs at least.
    pub work: &'a MinimalWork,
    /// The launches of the kernel, in order.
    pub launches: &'a [LaunchFacts],
    /// How many launches run, repetitions included.
    pub launches_run: Option<u64>,
    /// What its code consists of.
    pub code: Option<CodeMix>,
    /// What its launches did.
    pub counted: Option<KernelCounters>,
    /// How long what they did keeps each unit busy at least.
    pub units: Vec<(LimitingResource, Seconds)>,
    /// Whether the model says that waiting decides.
    pub waits: bool,
    /// The time that was taken, or the middle of what is modelled.
    pub time: Option<Seconds>,
    /// Of a modelled time the low end of what is expected: the band above it has no unit to blame.
    pub earliest: Option<Seconds>,
    /// The time that no correct kernel beats.
    pub bound: Option<&'a PhysicalBound>,
    /// The time that the pipe needs which the task's precision names.
    pub method: Option<&'a MethodBound>,
    /// What a kernel takes that does nothing, by the clock that told the time.
    pub floor: Option<Seconds>,
    /// Where it was counted.
    pub at: &'a CounterLocation,
    /// Why nothing was counted.
    pub no_counters_reason: Option<&'a str>,
}

/// What running on a virtual device told of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What its launches did.
    pub counted: KernelCounters,
    /// How long what they did keeps each unit busy at least.
    pub units: Vec<(LimitingResource, Seconds)>,
    /// Whether the model says that waiting decides.
    pub waits: bool,
    /// The shortest and the longest time that the model can imagine, where it can say anything.
    pub between: Option<(Seconds, Seconds)>,
    /// What each line of source did, as far as the compiler says which.
    pub lines: Vec<LineCounts>,
    /// Where it was counted.
    #[serde(default)]
    pub at: CounterLocation,
}

/// Where a profile was counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum CounterLocation {
    /// On the device and in the workload that it is said of.
    #[default]
    #[serde(rename = "There")]
    SameWorkload,
    /// On a virtual device beside a GPU, in a smaller workload. Counts are those of that workload; times of units are
    /// estimates for the one that was timed.
    #[serde(rename = "Beside")]
    Extrapolated(ExtrapolatedCounters),
}

/// What a line of source did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineCounts {
    /// The file, as the compiler spells it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What it did, in all launches together.
    pub counts: Counts,
}

/// Numbers of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceLimits {
    /// Its compute capability.
    pub capability: ComputeCapability,
    /// Multiprocessors.
    pub multiprocessors: Option<u32>,
    /// Their clock at best.
    pub clock: Option<Hertz>,
    /// The size of L2.
    pub l2: Option<Bytes>,
    /// What memory moves at best.
    pub dram: Option<BytesPerSecond>,
}

/// What all launches of a kernel did, together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelCounters {
    /// Of all instructions.
    pub total: Counts,
    /// By what instructions do.
    pub classes: BTreeMap<InstructionClass, Counts>,
    /// Warp instructions by what they cost.
    pub kinds: BTreeMap<Kind, u64>,
    /// Distinct bytes of global memory, each launch by itself; not known where only a part of a grid was counted.
    pub touched: DistinctBytes,
}

/// Bytes of distinct sectors of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DistinctBytes {
    /// Of whole grids.
    Whole {
        /// Read.
        read: Bytes,
        /// Written.
        written: Bytes,
    },
    /// Of some blocks, which says nothing about all of them: others may touch the same.
    Part,
}

impl Default for DistinctBytes {
    fn default() -> Self {
        Self::Whole { read: Bytes(0), written: Bytes(0) }
    }
}

impl DeviceLimits {
    /// The numbers of a sheet.
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
    /// Adds what a launch did; counts of some blocks stand for the whole grid.
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
    /// Adds what other launches did.
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

    /// What as many times the work would do, and as many times the bytes; largest values stay as they are.
    #[must_use]
    pub fn scaled(&self, work: f64, bytes: f64) -> Self {
        let blocks = BlocksRun { run: UNIT, all: (work * UNIT as f64) as u64, first: None };
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

/// A factor of one, as whole numbers have it.
const UNIT: u64 = 1 << 32;

impl DistinctBytes {
    /// What was read and what was written, where that is known.
    #[must_use]
    pub const fn whole(self) -> Option<(Bytes, Bytes)> {
        match self {
            Self::Whole { read, written } => Some((read, written)),
            Self::Part => None,
        }
    }
}

impl<'a> PerformanceData<'a> {
    /// What is known before anything has run: the device, the task, the compiled launches and their code.
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
            code: Some(CodeMix::from_ptx(&artifact.ptx, &artifact.module, &symbols)),
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

/// How many launches run, repetitions included.
fn launches(steps: &[PlannedStep]) -> u64 {
    let each = steps.iter().map(|step| match step {
        PlannedStep::Launch(_) => 1,
        PlannedStep::Fill { .. } => 0,
        PlannedStep::Repeat { count, steps, .. } => count.saturating_mul(launches(steps)),
    });
    each.fold(0, u64::saturating_add)
}

impl PerformanceData<'_> {
    /// Takes over what a launch did.
    pub fn add_counted(&mut self, counters: &Counters) {
        self.counted.get_or_insert_default().add(counters);
    }

    /// Takes over what the model says of each launch: the times of units add up, launch after launch.
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

    /// The share of the speed of light that was reached; never clamped.
    #[must_use]
    pub fn bound_fraction(&self) -> Option<f64> {
        Some((self.bound?.bound().time / self.time?).0)
    }

    /// How many times as fast it can become at most: what is accounted for by the bound, where both are known.
    #[must_use]
    pub fn headroom(&self) -> Option<f64> {
        let room = (self.busy_time()? / self.bound?.bound().time).0;
        (room > 0.0 && room.is_finite()).then_some(room)
    }

    /// The time in which units are busy or wait: all of a measured one, and of a modelled one what is expected at
    /// least.
    #[must_use]
    pub fn busy_time(&self) -> Option<Seconds> {
        self.earliest.or(self.time)
    }
}

/// The shortest and the longest time of a launch that its model can imagine.
fn modelled_range(modelled: &Modelled) -> Option<(Seconds, Seconds)> {
    match modelled {
        Modelled::Bound(Bound { time, band, .. }) => Some((*time * band.0, *time * band.1)),
        Modelled::Withheld(_) => None,
    }
}

impl Profile {
    /// What launches did, each executed so many times.
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

    /// Adds what lines did in one execution; repetitions change no share.
    fn add_lines(&mut self, counters: &Counters) {
        join_lines(&mut self.lines, &lines(counters));
    }
}

/// What each line of source did in a launch; counts of some blocks stand for the whole grid.
#[must_use]
pub fn lines(counters: &Counters) -> Vec<LineCounts> {
    let each = counters.source_lines.iter().map(|(place, counts)| LineCounts {
        file: place.file.to_string(),
        line: place.line,
        counts: counters.blocks.scaled(counts),
    });
    each.collect()
}

/// Executions of one launch that are added up: shares do not change by more.
const MOST_ADDED: u64 = 1024;

/// Adds the times of units, and says whether waiting decides instead.
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
