//! The modelled time of a launch on a device: a lower bound, an expected range and the limiter.
//!
//! Each pipe and each level of memory needs the time of its work at the peak rate. The longest of these times, plus
//! the launch overhead, is a lower bound. The expected range above the bound comes from a replay of recorded blocks
//! on one multiprocessor, in which warps wait for the results that they use.

mod demand;
mod order;
mod pipes;
mod rates;
mod replay;
#[cfg(test)]
mod tests;
mod timeline;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use rates::{Latencies, Rates, TensorRates};
pub use timeline::{Activity, CopyInterval, ProductInterval, Span, Timeline, WarpTimeline};

use super::Counters;
use super::expansion::Expansion;
use lightbench_units::{Bytes, Seconds};

/// The range of times of regular kernels, as multiples of the bound, without a replay: published models and
/// measurements do not support a narrower band.
pub const BAND: (f64, f64) = (1.2, 2.5);

/// The usual ratio between a measured time and the replayed time, at most.
pub const AROUND: f64 = 1.4;

/// A unit that is busy for this fraction of the replayed time is the limiter; otherwise latency is.
const BUSY: f64 = 0.6;

/// The size of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks of the grid.
    pub blocks: u64,
    pub warps_per_block: u32,
    /// Resident blocks per multiprocessor: registers and shared memory decide, so that the compiler provides it.
    pub resident_blocks: u32,
    /// The least DRAM traffic of the whole grid, if it is known better than from the counters: counters of a part of
    /// the grid do not include sharing between blocks.
    pub dram: Option<Bytes>,
    /// The launches before it.
    pub begins: LaunchStart,
}

/// The launches before a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchStart {
    /// None: the device is idle, and its code is fetched.
    First,
    /// Launches of the same kernel.
    AfterOthers,
}

/// The resource that limits the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitingResource {
    /// The launch overhead.
    Launch,
    /// Instruction issue.
    Issue,
    /// f32 pipe.
    Single,
    /// f64 pipe.
    Double,
    /// f16 and bf16 pipe.
    Half,
    /// Integer pipe.
    Integer,
    /// Special functions.
    Special,
    /// Tensor cores.
    Tensor,
    /// The load/store pipe and L1.
    GlobalWavefronts,
    /// Shared memory.
    Shared,
    /// Atomics to one address range of global memory, which are serialised.
    Atomics,
    /// The L2 cache.
    L2,
    Dram,
}

impl LimitingResource {
    /// The verb after its name.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Special | Self::Tensor | Self::Atomics => "are",
            Self::Launch
            | Self::Issue
            | Self::Single
            | Self::Double
            | Self::Half
            | Self::Integer
            | Self::GlobalWavefronts
            | Self::Shared
            | Self::L2
            | Self::Dram => "is",
        }
    }
}

impl fmt::Display for LimitingResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Launch => "launch",
            Self::Issue => "instruction issue",
            Self::Single => "FP32",
            Self::Double => "FP64",
            Self::Half => "FP16",
            Self::Integer => "integer",
            Self::Special => "special functions",
            Self::Tensor => "tensor cores",
            Self::GlobalWavefronts => "L1",
            Self::Shared => "shared memory",
            Self::Atomics => "atomics to one address",
            Self::L2 => "L2",
            Self::Dram => "DRAM",
        })
    }
}

/// The reason why warps stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StallReason {
    /// Loads of global memory, and asynchronous copies.
    GlobalMemory,
    /// Loads of shared memory.
    SharedMemory,
    /// Results of arithmetic instructions.
    Arithmetic,
    /// Barriers of the block.
    Barriers,
    /// Atomics that return a value.
    Atomics,
}

impl StallReason {
    /// All reasons.
    pub const ALL: [Self; 5] =
        [Self::GlobalMemory, Self::SharedMemory, Self::Arithmetic, Self::Barriers, Self::Atomics];
}

impl fmt::Display for StallReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::GlobalMemory => "global memory",
            Self::SharedMemory => "shared memory",
            Self::Arithmetic => "results of arithmetic",
            Self::Barriers => "barriers",
            Self::Atomics => "atomics",
        })
    }
}

/// The result of the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Modelled {
    /// A lower bound.
    Bound(Bound),
    /// No result.
    Withheld(ModelError),
}

/// A lower bound with its parts and assumptions.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// No correct run can be faster.
    pub time: Seconds,
    /// The limiter of the bound.
    pub limit: LimitingResource,
    /// The main stall reason, if latency limits the time instead.
    pub waits: Option<StallReason>,
    /// The expected range of measured times, as multiples of the bound.
    pub band: (f64, f64),
    /// The time on each pipe and level, the longest first.
    pub parts: Vec<(LimitingResource, Seconds)>,
    /// The number of waves of resident blocks.
    pub waves: f64,
    /// The assumptions of the bound.
    pub assumptions: Vec<Assumption>,
}

impl Bound {
    /// The limiter of the expected time, in words.
    #[must_use]
    pub fn decided_by(&self) -> String {
        match self.waits {
            Some(wait) => format!("waiting for {wait}"),
            None => self.limit.to_string(),
        }
    }
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The grid, the block or the device is empty.
    #[error("nothing to model: {0}")]
    Nothing(&'static str),
    /// A fault ended the launch, or nothing was counted.
    #[error("no instruction was counted")]
    NotCounted,
    /// A timeline needs the steps of a block.
    #[error("no block was recorded")]
    NotRecorded,
}

/// An assumption of the model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Assumption {
    /// A rate that the device sheet does not give.
    #[error("the rate of {0} is unknown and not modelled")]
    UnknownRate(LimitingResource),
    /// Always.
    #[error("all blocks do the same work and are spread evenly over the multiprocessors")]
    EqualBlocks,
    /// Always.
    #[error("the clock stays at {megahertz:.0} MHz")]
    Clock { megahertz: f64 },
    /// Instructions are counted in PTX.
    #[error(
        "one machine instruction per PTX instruction, because this architecture is not calibrated"
    )]
    NotExpanded,
    /// PTX instructions are converted to machine instructions.
    #[error("machine instructions per PTX instruction as calibrated, with a median error of {median_error:.0}%", median_error = 100.0 * .0)]
    Expanded(f64),
    /// No cache model.
    #[error("every sector is transferred once, and caches are empty at the start")]
    CompulsoryTraffic,
    /// With a cache model.
    #[error("modelled caches, empty at the start")]
    ModelledCaches,
    /// The traffic of the whole grid was extrapolated.
    #[error("the whole grid transfers {0} from and to DRAM, extrapolated from two parts of it")]
    Extrapolated(Bytes),
    /// Only a sample of the grid was counted.
    #[error("the counts of {run} of {all} blocks, scaled to the grid")]
    Sample {
        /// Blocks that were counted.
        run: u64,
        /// Blocks of the grid.
        all: u64,
    },
    /// With a trace.
    #[error("all blocks stall like the recorded ones, which are replayed on one multiprocessor")]
    Replayed,
    /// With products of tensor cores that a launch for counters does not compute.
    #[error("results of tensor cores do not change which instructions run: they were not computed")]
    ProductsNotComputed,
    /// Without one.
    #[error("no block was recorded, and stalls are not modelled")]
    NotReplayed,
    /// Always.
    #[error("the launch overhead is {0}")]
    Launch(Seconds),
}

/// The bound of a launch from its counters.
#[must_use]
pub fn modelled(
    counters: &Counters,
    shape: &LaunchShape,
    rates: &Rates,
    expansion: Option<&Expansion>,
) -> Modelled {
    if counters.total.warp_instructions == 0 {
        return Modelled::Withheld(ModelError::NotCounted);
    }
    if shape.blocks == 0 || shape.warps_per_block == 0 || shape.resident_blocks == 0 {
        return Modelled::Withheld(ModelError::Nothing("no block fits"));
    }
    let clock_runs = rates.clock.0 > 0.0;
    if rates.multiprocessors == 0 || !clock_runs {
        return Modelled::Withheld(ModelError::Nothing(
            "the device has no multiprocessor or clock",
        ));
    }
    let counts = counters.blocks.scaled(&counters.total);
    let spread = Spread::new(shape, rates);
    let mut assumptions = vec![
        Assumption::EqualBlocks,
        Assumption::Clock { megahertz: rates.clock.0 / 1e6 },
        Assumption::Launch(rates.launch),
    ];
    if counters.blocks.is_sample() {
        let blocks = counters.blocks;
        assumptions.push(Assumption::Sample { run: blocks.run, all: blocks.all });
    }
    let demand = demand::Demand {
        counters,
        counts: &counts,
        rates,
        spread: &spread,
        expansion,
        dram: shape.dram,
    };
    let mut parts = demand.times(&mut assumptions);
    parts.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(&b.0)));
    let (busiest, work) =
        parts.first().copied().unwrap_or((LimitingResource::Launch, Seconds(0.0)));
    let limit = if rates.launch >= work { LimitingResource::Launch } else { busiest };
    let time = rates.launch + work;
    let expected = Expected::new(&demand, shape, time, (work, limit));
    let Expected { band, waits, assumption } = expected;
    assumptions.push(assumption);
    let waves = spread.waves;
    Modelled::Bound(Bound { time, limit, waits, band, parts, waves, assumptions })
}

/// The timeline of a recorded block; none if nothing was recorded, or the rates do not suffice.
#[must_use]
pub fn timeline(counters: &Counters, shape: &LaunchShape, rates: &Rates) -> Option<Timeline> {
    if shape.blocks == 0 || shape.resident_blocks == 0 || rates.multiprocessors == 0 {
        return None;
    }
    let trace = counters.trace.as_deref()?;
    let (counts, spread) = (counters.blocks.scaled(&counters.total), Spread::new(shape, rates));
    let demand = demand::Demand {
        counters,
        counts: &counts,
        rates,
        spread: &spread,
        expansion: None,
        dram: shape.dram,
    };
    let (on, load) = demand.multiprocessor(trace, shape)?;
    Some(replay::recorded(trace, &on, load)?.finish(rates.clock))
}

/// The expected time above a bound.
struct Expected {
    /// Multiples of the bound.
    band: (f64, f64),
    waits: Option<StallReason>,
    assumption: Assumption,
}

impl Expected {
    fn new(
        demand: &demand::Demand<'_>,
        shape: &LaunchShape,
        bound: Seconds,
        (work, limit): (Seconds, LimitingResource),
    ) -> Self {
        let trace = demand.counters.trace.as_deref();
        let replayed = trace.and_then(|trace| {
            let (on, load) = demand.multiprocessor(trace, shape)?;
            replay::replay(trace, &on, load)
        });
        let Some(replay::Replayed { cycles, waits }) = replayed else {
            return Self { band: BAND, waits: None, assumption: Assumption::NotReplayed };
        };
        let rates = demand.rates;
        let launch = match shape.begins {
            LaunchStart::First => rates.first_launch,
            LaunchStart::AfterOthers => rates.launch,
        };
        let time = launch + rates.clock.time_of(cycles);
        let middle = (time / bound).0.max(1.0);
        let decides = limit != LimitingResource::Launch && (work / time).0 >= BUSY;
        // No time is below the bound, and the replayed time is the middle.
        let low = (middle / AROUND).max(1.0);
        Self {
            band: (low, middle * middle / low),
            waits: (!decides).then_some(waits),
            assumption: Assumption::Replayed,
        }
    }
}

/// The distribution of blocks over multiprocessors.
struct Spread {
    blocks: f64,
    /// Blocks of the busiest multiprocessor.
    busiest: f64,
    /// The number of waves, as a fraction.
    waves: f64,
    /// Resident blocks of the busiest multiprocessor.
    at_once: u64,
}

impl Spread {
    fn new(shape: &LaunchShape, rates: &Rates) -> Self {
        let multiprocessors = u64::from(rates.multiprocessors);
        let resident = u64::from(shape.resident_blocks);
        let busiest = shape.blocks.div_ceil(multiprocessors);
        let at_once = busiest.min(resident);
        Self {
            blocks: shape.blocks as f64,
            busiest: busiest as f64,
            waves: shape.blocks as f64 / (multiprocessors * resident) as f64,
            at_once,
        }
    }

    /// The part of the busiest multiprocessor of a total over all blocks.
    fn of_busiest(&self, total: f64) -> f64 {
        total / self.blocks * self.busiest
    }
}
