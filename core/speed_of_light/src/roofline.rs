//! The roofline as plain numbers: ceilings, and a point for each kernel at each level of memory.
//!
//! Two levels: what goes through device memory, and what goes through L2 (the hierarchical roofline of Yang, Kurth and
//! Williams 2020). Whoever draws it decides on axes and colours.

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
}

/// Who counted the bytes of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// What any correct kernel moves.
    Compulsory,
    /// The virtual GPU: at this level at least so many.
    Counted,
    /// The virtual GPU with a model of the caches.
    Modelled,
    /// Counters of the device.
    Measured,
}

/// A roof: what a device does at best at an intensity.
#[derive(Clone, Debug, PartialEq)]
pub enum Roof {
    /// It rises with the intensity.
    Memory {
        /// Of which memory.
        level: Level,
        /// How steeply.
        rate: BytesPerSecond,
        /// Where the number comes from.
        origin: Origin,
    },
    /// It is flat.
    Compute {
        /// Of which pipe.
        pipe: Pipe,
        /// How high.
        rate: FlopsPerSecond,
        /// Where the number comes from.
        origin: Origin,
    },
}

/// A kernel in one workload at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Which memory.
    pub level: Level,
    /// Who counted the bytes.
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
    /// It only moves data: its bandwidth is all there is to show.
    #[error("the task has no floating-point operation; only its bandwidth can be shown")]
    NoOperations,
    /// Nothing was moved at this level.
    #[error("no byte was moved")]
    NoBytes,
    /// The time is none.
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
    let memories = [memory(Level::Dram, &ceilings.dram), memory(Level::L2, &ceilings.l2)];
    let pipes = ceilings.pipes.iter().map(|(pipe, ceiling)| Roof::Compute {
        pipe: *pipe,
        rate: ceiling.value,
        origin: ceiling.origin.clone(),
    });
    memories.into_iter().flatten().chain(pipes).collect()
}

/// Where a memory's roof meets a pipe's: below it the memory is the limit, above it the pipe.
#[must_use]
pub fn ridge(pipe: FlopsPerSecond, memory: BytesPerSecond) -> Intensity {
    pipe / memory
}

/// What a device does at best at an intensity, with one pipe and one memory.
#[must_use]
pub fn attainable(at: Intensity, pipe: FlopsPerSecond, memory: BytesPerSecond) -> FlopsPerSecond {
    let rising = at * memory;
    // What is no number stays none.
    if rising >= pipe { pipe } else { rising }
}

/// The point of a kernel at one level.
///
/// # Errors
/// Something is missing that a point needs.
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
