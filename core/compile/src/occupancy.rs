//! Theoretical occupancy: resident blocks of a kernel on a multiprocessor, and the limiting resources.
//!
//! The rules are those of NVIDIA's `cuda_occupancy.h` (CUDA Toolkit 13.5), for compute
//! capabilities 7.5 and newer; the tests compare with tables made from that header and with what a
//! driver answered. Clusters and tensor memory are not considered.

use std::fmt;

pub use advice::{NextBlock, Saving, next_block};

use lightbench_device::SmLimits;
use lightbench_units::{Bytes, Fraction};

mod advice;

/// Resources of one block of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockDemand {
    /// Threads of the block.
    pub threads: u32,
    /// Registers of each thread.
    pub registers_per_thread: u32,
    /// Shared memory that the kernel declares; the compiler keeps it below the default limit.
    pub static_shared: Bytes,
    /// Dynamic shared memory of the launch; above the default limit the launch must opt in.
    pub dynamic_shared: Bytes,
    /// Named barriers that the kernel uses; `__syncthreads` alone is one.
    pub barriers: u32,
    /// Preferred share of the L1 cache for shared memory.
    pub carveout: Carveout,
}

/// The preferred split of the L1 cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carveout {
    /// No preference: the largest shared memory.
    Default,
    /// Percentage of the largest shared memory, rounded up to a size that the device supports.
    Percent(u8),
}

/// How a launch occupies a multiprocessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupancy {
    /// At least one block fits.
    Resident(Resident),
    /// Not even one block fits, for all of these reasons.
    CannotLaunch(Vec<Obstacle>),
}

/// Resident blocks of a multiprocessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Resident blocks.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
    /// Maximum resident warps of the multiprocessor.
    pub max_warps: u32,
    /// Blocks that each resource alone would allow.
    pub allowances: Vec<(Resource, u32)>,
}

/// A resource that limits residency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Resident warps.
    Warps,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
    /// Resident blocks.
    Blocks,
    /// Named barriers.
    Barriers,
}

/// Why a block cannot launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// A block without threads.
    #[error("a block needs at least one thread")]
    NoThreads,
    /// The block has too many threads.
    #[error("a block of {required} threads exceeds the limit of {limit}")]
    Threads {
        /// Asked for.
        required: u32,
        /// Allowed.
        limit: u32,
    },
    /// A thread needs too many registers.
    #[error("{required} registers a thread exceed the limit of {limit}")]
    RegistersPerThread {
        /// Asked for.
        required: u32,
        /// Allowed.
        limit: u32,
    },
    /// The block needs too many registers.
    #[error(
        "the block needs {required} registers (allocated by warp) of {limit}: at most \
         {per_thread} a thread with this block size"
    )]
    RegistersPerBlock {
        /// Asked for, after rounding up.
        required: u32,
        /// Allowed.
        limit: u32,
        /// Registers per thread that would fit.
        per_thread: u32,
    },
    /// Too much shared memory.
    #[error("the block needs {} bytes of shared memory, the limit is {}", .required.0, .limit.0)]
    SharedMemory {
        /// Asked for, static and dynamic.
        required: Bytes,
        /// Allowed.
        limit: Bytes,
    },
    /// Too many barriers.
    #[error("the kernel uses {required} named barriers of {limit}")]
    Barriers {
        /// Asked for.
        required: u32,
        /// Allowed.
        limit: u32,
    },
}

/// How many blocks fit on a multiprocessor with these limits.
#[must_use]
pub fn occupancy(limits: &SmLimits, demand: &BlockDemand) -> Occupancy {
    let obstacles = obstacles(limits, demand);
    if !obstacles.is_empty() {
        return Occupancy::CannotLaunch(obstacles);
    }
    let warps_per_block = demand.threads.div_ceil(limits.warp_size);
    let mut allowances = vec![
        (Resource::Warps, limits.max_warps / warps_per_block),
        (Resource::Blocks, limits.max_blocks),
    ];
    allowances.extend(
        by_registers(limits, demand.registers_per_thread, warps_per_block)
            .map(|blocks| (Resource::Registers, blocks)),
    );
    allowances.extend(
        by_shared_memory(limits, demand.shared(), demand.carveout)
            .map(|blocks| (Resource::SharedMemory, blocks)),
    );
    allowances
        .extend(by_barriers(limits, demand.barriers).map(|blocks| (Resource::Barriers, blocks)));
    allowances.sort_unstable();
    let blocks = allowances.iter().map(|&(_, blocks)| blocks).min().unwrap_or(0);
    let warps = blocks * warps_per_block;
    Occupancy::Resident(Resident { blocks, warps, max_warps: limits.max_warps, allowances })
}

impl Resident {
    /// Resident warps divided by the maximum.
    #[must_use]
    pub fn fraction(&self) -> Fraction {
        Fraction(f64::from(self.warps) / f64::from(self.max_warps))
    }

    /// The limiting resources: they allow no further block.
    pub fn limiters(&self) -> impl Iterator<Item = Resource> {
        let limiting = |&&(_, blocks): &&(Resource, u32)| blocks == self.blocks;
        self.allowances.iter().filter(limiting).map(|&(resource, _)| resource)
    }
}

impl BlockDemand {
    /// Static and dynamic shared memory; a sum beyond 64 bits is far too much in any case.
    #[must_use]
    pub fn shared(&self) -> Bytes {
        Bytes(self.static_shared.0.saturating_add(self.dynamic_shared.0))
    }
}

/// All reasons why a single block cannot launch.
fn obstacles(limits: &SmLimits, demand: &BlockDemand) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    if demand.threads == 0 {
        obstacles.push(Obstacle::NoThreads);
    }
    if demand.threads > limits.max_threads_per_block {
        let (required, limit) = (demand.threads, limits.max_threads_per_block);
        obstacles.push(Obstacle::Threads { required, limit });
    }
    if demand.registers_per_thread > limits.max_registers_per_thread {
        let (required, limit) = (demand.registers_per_thread, limits.max_registers_per_thread);
        obstacles.push(Obstacle::RegistersPerThread { required, limit });
    } else {
        obstacles.extend(too_many_registers(limits, demand));
    }
    if demand.shared() > limits.max_shared_per_block {
        let (required, limit) = (demand.shared(), limits.max_shared_per_block);
        obstacles.push(Obstacle::SharedMemory { required, limit });
    }
    if demand.barriers > limits.barriers_per_block {
        let (required, limit) = (demand.barriers, limits.barriers_per_block);
        obstacles.push(Obstacle::Barriers { required, limit });
    }
    obstacles
}

/// The warps of a block count in whole rounds of the sub-partitions against the block's registers.
fn too_many_registers(limits: &SmLimits, demand: &BlockDemand) -> Option<Obstacle> {
    let threads = demand.threads.min(limits.max_threads_per_block);
    let warps = threads.div_ceil(limits.warp_size).next_multiple_of(limits.warp_granularity);
    let block_registers = |per_thread| registers_per_warp(limits, per_thread) * warps;
    let (required, limit) =
        (block_registers(demand.registers_per_thread), limits.max_registers_per_block);
    let fits = |&per_thread: &u32| block_registers(per_thread) <= limit;
    (required > limit).then(|| Obstacle::RegistersPerBlock {
        required,
        limit,
        per_thread: (0..demand.registers_per_thread).rev().find(fits).unwrap_or(0),
    })
}

/// Registers of a warp, rounded up to the allocation unit.
fn registers_per_warp(limits: &SmLimits, per_thread: u32) -> u32 {
    (per_thread * limits.warp_size).next_multiple_of(limits.register_unit)
}

/// Each sub-partition has its own registers: registers left over in one cannot be used by another.
fn by_registers(limits: &SmLimits, per_thread: u32, warps_per_block: u32) -> Option<u32> {
    let registers_per_partition = limits.registers / limits.sub_partitions;
    let warps_per_partition =
        registers_per_partition.checked_div(registers_per_warp(limits, per_thread))?;
    Some(warps_per_partition * limits.sub_partitions / warps_per_block)
}

/// Shared memory is set to the preferred size, or to the smallest that holds one block.
fn by_shared_memory(limits: &SmLimits, shared: Bytes, carveout: Carveout) -> Option<u32> {
    let block = (shared + limits.reserved_shared_per_block).round_up_to(limits.shared_unit);
    let whole = limits.carveouts.last()?;
    let preferred = match carveout {
        Carveout::Default => *whole,
        Carveout::Percent(percent) => Bytes(whole.0 * u64::from(percent.min(100)) / 100),
    };
    let at_least = preferred.max(block);
    let size = limits.carveouts.iter().find(|&&size| size >= at_least)?;
    u32::try_from(size.0.checked_div(block.0)?).ok()
}

/// Barriers limit residency on some architectures only.
fn by_barriers(limits: &SmLimits, barriers: u32) -> Option<u32> {
    limits.barriers?.checked_div(barriers)
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warps => "warps",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::Blocks => "blocks",
            Self::Barriers => "barriers",
        })
    }
}

#[cfg(test)]
mod tests;
