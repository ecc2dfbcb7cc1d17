//! The time that a launch needs at least on a device, and what decides it.
//!
//! Every pipe and every level of memory gets the time that its work takes at the peak rate; the longest one, with what
//! a launch costs, is a bound below which no run can be. What is expected above it comes of blocks that were recorded step by
//! step: they are replayed on one multiprocessor, where warps wait for what they asked for.

mod demand;
mod order;
mod pipes;
mod rates;
mod replay;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use rates::{Latencies, Rates, TensorRates};

use super::Counters;
use super::expansion::Expansion;
use lightbench_units::{Bytes, Seconds};

/// How much longer than the bound regular kernels take, where nothing was replayed: published models and measurements agree
/// on no narrower band.
pub const BAND: (f64, f64) = (1.2, 2.5);

/// A measured time is this many times longer or shorter than the replayed one, at most, as a rule.
pub const AROUND: f64 = 1.4;

/// A unit that is busy for this part of the replayed time decides it; else waiting does.
const BUSY: f64 = 0.6;

/// What a launch puts on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks of the grid.
    pub blocks: u64,
    /// Warps of a block.
    pub warps_per_block: u32,
    /// Blocks that a multiprocessor holds at once: registers and shared memory decide, so the compiler knows.
    pub resident_blocks: u32,
    /// Bytes that the whole grid moves to and from memory at least, where somebody knows better than the counters: those
    /// of a part of the grid do not tell what its blocks share.
    pub dram: Option<Bytes>,
    /// What was before it.
    pub begins: Begins,
}

/// What was before a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Nothing: the device is idle, and its code is fetched.
    First,
    /// Other launches of the same work.
    Behind,
}

/// What can decide the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// What a launch costs by itself.
    Launch,
    /// Schedulers that issue instructions.
    Issue,
    /// f32 pipe.
    Single,
    /// f64 pipe.
    Double,
    /// f16 and bf16 pipe.
    Half,
    /// Integer pipe.
    Integer,
    /// Approximated functions.
    Special,
    /// Tensor cores.
    Tensor,
    /// Global accesses through L1.
    GlobalWavefronts,
    /// Shared memory.
    Shared,
    /// Changes of one place of global memory, which go one after the other.
    Atomics,
    /// L2.
    L2,
    /// Memory.
    Dram,
}

impl fmt::Display for Limit {
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

/// What warps wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wait {
    /// Loads of global memory, and copies from there.
    GlobalMemory,
    /// Loads of shared memory.
    SharedMemory,
    /// Results of arithmetic.
    Arithmetic,
    /// Other warps of the block.
    Barriers,
    /// Atomics that give something back.
    Atomics,
}

impl Wait {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::GlobalMemory, Self::SharedMemory, Self::Arithmetic, Self::Barriers, Self::Atomics];
}

impl fmt::Display for Wait {
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

/// What the model says.
#[derive(Clone, Debug, PartialEq)]
pub enum Modelled {
    /// No run can be faster.
    Bound(Bound),
    /// Nothing worth a number.
    Withheld(Withheld),
}

/// A bound, with all that it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// At least this long.
    pub time: Seconds,
    /// What decides it.
    pub limit: Limit,
    /// What warps wait for most, where that decides instead.
    pub waits: Option<Wait>,
    /// Real runs are expected between these multiples of the bound.
    pub band: (f64, f64),
    /// The time of every pipe and level by itself, the longest first.
    pub parts: Vec<(Limit, Seconds)>,
    /// How often every multiprocessor is filled with blocks.
    pub waves: f64,
    /// What has to hold.
    pub assumptions: Vec<Assumption>,
}

impl Bound {
    /// In words what decides the time that is expected.
    #[must_use]
    pub fn decided_by(&self) -> String {
        match self.waits {
            Some(wait) => format!("waiting for {wait}"),
            None => self.limit.to_string(),
        }
    }
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Withheld {
    /// The grid, the block or the device is empty.
    #[error("there is nothing to model: {0}")]
    Nothing(&'static str),
    /// A fault ended the launch, or nothing was counted.
    #[error("no instruction was counted")]
    NotCounted,
}

/// What has to hold for a bound to mean something.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Assumption {
    /// The sheet does not say.
    #[error("the rate of {0} is not known, and left out")]
    UnknownRate(Limit),
    /// Always.
    #[error("all blocks do the same work, spread evenly over multiprocessors")]
    EqualBlocks,
    /// Always.
    #[error("the clock stays at {megahertz:.0} MHz")]
    Clock {
        /// In MHz.
        megahertz: f64,
    },
    /// Instructions are counted in PTX.
    #[error("one machine instruction for each of PTX, as this architecture is not calibrated")]
    NotExpanded,
    /// They are translated.
    #[error("machine instructions as the compiler makes them for calibration, off by {median_error:.0}% in the median", median_error = 100.0 * .0)]
    Expanded(f64),
    /// No cache model.
    #[error("memory moves every sector once, and caches are empty at first")]
    CompulsoryTraffic,
    /// With a cache model.
    #[error("caches as modelled, empty at first")]
    ModelledCaches,
    /// What the whole grid moves was estimated.
    #[error("the whole grid moves {0} to and from memory, as two parts of it suggest")]
    Extrapolated(Bytes),
    /// Only a part of the grid was counted.
    #[error("counts of {run} of {all} blocks stand for all")]
    Sample {
        /// Counted.
        run: u64,
        /// Of the grid.
        all: u64,
    },
    /// With a trace.
    #[error("blocks wait as some of them do when they are replayed on one multiprocessor")]
    Replayed,
    /// Without one.
    #[error("no block was recorded, and what warps wait for is left out")]
    NotReplayed,
    /// Always.
    #[error("a launch costs {0}")]
    Launch(Seconds),
}

/// The bound of a launch from what it did.
#[must_use]
pub fn modelled(
    counters: &Counters,
    shape: &LaunchShape,
    rates: &Rates,
    expansion: Option<&Expansion>,
) -> Modelled {
    if counters.total.warp_instructions == 0 {
        return Modelled::Withheld(Withheld::NotCounted);
    }
    if shape.blocks == 0 || shape.warps_per_block == 0 || shape.resident_blocks == 0 {
        return Modelled::Withheld(Withheld::Nothing("no block fits"));
    }
    let clock_runs = rates.clock.0 > 0.0;
    if rates.multiprocessors == 0 || !clock_runs {
        return Modelled::Withheld(Withheld::Nothing("the device has no multiprocessor or clock"));
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
    let (busiest, work) = parts.first().copied().unwrap_or((Limit::Launch, Seconds(0.0)));
    let limit = if rates.launch >= work { Limit::Launch } else { busiest };
    let time = rates.launch + work;
    let expected = Expected::of(&demand, shape, time, (work, limit));
    let Expected { band, waits, assumption } = expected;
    assumptions.push(assumption);
    let waves = spread.waves;
    Modelled::Bound(Bound { time, limit, waits, band, parts, waves, assumptions })
}

/// What is expected above a bound.
struct Expected {
    /// As multiples of the bound.
    band: (f64, f64),
    waits: Option<Wait>,
    assumption: Assumption,
}

impl Expected {
    fn of(
        demand: &demand::Demand<'_>,
        shape: &LaunchShape,
        bound: Seconds,
        (work, limit): (Seconds, Limit),
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
            Begins::First => rates.first_launch,
            Begins::Behind => rates.launch,
        };
        let time = launch + rates.clock.time_of(cycles);
        let middle = (time / bound).0.max(1.0);
        let decides = limit != Limit::Launch && (work / time).0 >= BUSY;
        // Nothing is below the bound, and the replayed time is in the middle.
        let low = (middle / AROUND).max(1.0);
        Self {
            band: (low, middle * middle / low),
            waits: (!decides).then_some(waits),
            assumption: Assumption::Replayed,
        }
    }
}

/// How blocks spread over multiprocessors.
struct Spread {
    blocks: f64,
    /// Blocks of the multiprocessor that has most.
    busiest: f64,
    /// Times that the multiprocessors are filled, with a fraction.
    waves: f64,
    /// Of them those that are there at once.
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

    /// What the busiest multiprocessor does of something that all blocks do together.
    fn of_busiest(&self, total: f64) -> f64 {
        total / self.blocks * self.busiest
    }
}
