//! The roofline as numbers: ceilings, and a point for each kernel at each level of memory.
//!
//! There is a roof for each level of memory (the hierarchical roofline of Yang, Kurth and Williams 2020); traffic is known
//! of device memory and of L2. Axes and colours are chosen by the figure.

use lightbench_device::Pipe;
use lightbench_units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Intensity, Seconds};

use super::ceilings::{Ceiling, Ceilings, Origin};
use super::minimal_work::MinimalWork;

/// Through which memory bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Device memory.
    Dram,
    /// L2.
    L2,
    /// L1 and shared memory, which are one memory with one bandwidth.
    L1,
}

/// The source of the byte count of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// The minimum of any correct kernel.
    Compulsory,
    /// The virtual GPU: at this level at least so many.
    Counted,
    /// The virtual GPU with its cache model.
    Modelled,
    /// Hardware counters.
    Measured,
}

/// A roof: the highest rate of a device over intensity.
#[derive(Clone, Debug, PartialEq)]
pub enum Roof {
    /// A roof that rises with the intensity.
    Memory {
        /// The memory.
        level: Level,
        /// The slope.
        rate: BytesPerSecond,
        /// The source of the number.
        origin: Origin,
    },
    /// A horizontal roof.
    Compute {
        /// The pipe.
        pipe: Pipe,
        /// The rate.
        rate: FlopsPerSecond,
        /// The source of the number.
        origin: Origin,
    },
}

/// A kernel in one workload at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Which memory.
    pub level: Level,
    /// The source of the byte count.
    pub traffic: Traffic,
    /// Operations by bytes.
    pub intensity: Intensity,
    /// Operations by time.
    pub rate: FlopsPerSecond,
    /// Bytes by time.
    pub bandwidth: BytesPerSecond,
}

/// Why a kernel has no point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPoint {
    /// The task only moves data; only its bandwidth can be shown.
    #[error("the task has no floating-point operation; only its bandwidth can be shown")]
    NoOperations,
    /// No bytes were moved at this level.
    #[error("no byte was moved")]
    NoBytes,
    /// The time is not a positive, finite number.
    #[error("the time is not a positive, finite number")]
    NotATime,
}

/// All roofs of a device, memories first.
#[must_use]
pub fn roofs(ceilings: &Ceilings) -> Vec<Roof> {
    let memory = |level, ceiling: &Option<Ceiling<BytesPerSecond>>| {
        let Ceiling { value: rate, origin } = ceiling.clone()?;
        Some(Roof::Memory { level, rate, origin })
    };
    let memories = [
        memory(Level::Dram, &ceilings.dram),
        memory(Level::L2, &ceilings.l2),
        memory(Level::L1, &ceilings.shared),
    ];
    let pipes = ceilings.pipes.iter().map(|(pipe, ceiling)| Roof::Compute {
        pipe: *pipe,
        rate: ceiling.value,
        origin: ceiling.origin.clone(),
    });
    memories.into_iter().flatten().chain(pipes).collect()
}

/// The ridge point of a memory and a pipe: below it the memory is the limit, above it the pipe.
#[must_use]
pub fn ridge(pipe: FlopsPerSecond, memory: BytesPerSecond) -> Intensity {
    pipe / memory
}

/// The highest rate of a device at an intensity, with one pipe and one memory.
#[must_use]
pub fn attainable(at: Intensity, pipe: FlopsPerSecond, memory: BytesPerSecond) -> FlopsPerSecond {
    let rising = at * memory;
    // NaN stays NaN.
    if rising >= pipe { pipe } else { rising }
}

/// The point of a kernel at one level.
///
/// # Errors
/// Operations, bytes or time are missing or invalid.
pub fn point(
    work: &MinimalWork,
    time: Seconds,
    level: Level,
    (bytes, traffic): (Bytes, Traffic),
) -> Result<Point, NoPoint> {
    let flops: Flops = work.flops();
    let (is_time, computes) = (time.0 > 0.0 && time.0.is_finite(), flops.0 > 0.0);
    if !is_time {
        return Err(NoPoint::NotATime);
    }
    if !computes {
        return Err(NoPoint::NoOperations);
    }
    if bytes == Bytes(0) {
        return Err(NoPoint::NoBytes);
    }
    Ok(Point {
        level,
        traffic,
        intensity: flops / bytes,
        rate: flops / time,
        bandwidth: bytes / time,
    })
}
