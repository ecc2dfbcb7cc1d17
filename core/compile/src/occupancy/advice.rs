//! Reductions of resources with which a multiprocessor holds one more block.
//!
//! The search uses the occupancy rules, so that advice and occupancy always agree.

use std::fmt;

use lightbench_device::SmLimits;
use lightbench_units::Bytes;

use super::{
    BlockDemand, Occupancy, Resource, by_barriers, by_registers, by_shared_memory, occupancy,
};

/// The smallest reductions with which a multiprocessor holds one more block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextBlock {
    /// Every warp slot is taken: nothing to gain.
    FullOccupancy,
    /// The device holds no more blocks, however small: larger blocks are the only way.
    BlockLimit,
    /// All of these together make room for at least one more block.
    Savings {
        /// Blocks then.
        blocks: u32,
        /// Warps then, with the block size that the savings leave.
        warps: u32,
        /// Reductions, one for each limiting resource.
        savings: Vec<Saving>,
    },
    /// Some resource cannot be reduced that far.
    OutOfReach(Resource),
}

impl fmt::Display for NextBlock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FullOccupancy => formatter.write_str("full: every warp slot is taken"),
            Self::BlockLimit => formatter
                .write_str("the most blocks that the device holds: larger blocks would fill it"),
            Self::OutOfReach(resource) => {
                write!(formatter, "no saving of {resource} makes room for another block")
            }
            Self::Savings { blocks, warps, savings } => {
                let savings: Vec<_> = savings.iter().map(ToString::to_string).collect();
                let savings = savings.join(" and ");
                write!(formatter, "{blocks} blocks ({warps} warps) would fit: {savings}")
            }
        }
    }
}

/// The reduction of one resource that allows one more block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// Fewer threads in a block.
    Threads {
        /// Now.
        from: u32,
        /// At most.
        to: u32,
    },
    /// Fewer registers in a thread.
    RegistersPerThread {
        /// Now.
        from: u32,
        /// At most.
        to: u32,
    },
    /// Less shared memory in a block, static and dynamic together.
    SharedMemory {
        /// Now.
        from: Bytes,
        /// At most.
        to: Bytes,
    },
    /// Fewer named barriers in a kernel.
    Barriers {
        /// Now.
        from: u32,
        /// At most.
        to: u32,
    },
}

/// The reductions with which one more block fits; `None` if not even one block fits.
#[must_use]
pub fn next_block(limits: &SmLimits, demand: &BlockDemand) -> Option<NextBlock> {
    let Occupancy::Resident(now) = occupancy(limits, demand) else { return None };
    if now.warps == now.max_warps {
        return Some(NextBlock::FullOccupancy);
    }
    let blocks = now.blocks + 1;
    if blocks > limits.max_blocks {
        return Some(NextBlock::BlockLimit);
    }
    let mut leaner = *demand;
    let mut savings = Vec::new();
    // Warps come first: a smaller block may be all that the registers need.
    for resource in now.limiters() {
        match leaner.save(limits, resource, blocks) {
            Ok(saving) => savings.extend(saving),
            Err(resource) => return Some(NextBlock::OutOfReach(resource)),
        }
    }
    // Sizes are granted in steps, so that the savings for one block may make room for more.
    let Occupancy::Resident(then) = occupancy(limits, &leaner) else { return None };
    Some(NextBlock::Savings { blocks: then.blocks, warps: then.warps, savings })
}

impl BlockDemand {
    /// Reduces the use of one resource until it allows `blocks`: nothing where it does already,
    /// the resource itself where it never will.
    fn save(
        &mut self,
        limits: &SmLimits,
        resource: Resource,
        blocks: u32,
    ) -> Result<Option<Saving>, Resource> {
        let enough = |allowed: Option<u32>| allowed.is_none_or(|allowed| allowed >= blocks);
        match resource {
            Resource::Warps => {
                let (from, to) = (self.threads, limits.max_warps / blocks * limits.warp_size);
                self.threads = to;
                if to == 0 { Err(resource) } else { Ok(Some(Saving::Threads { from, to })) }
            }
            Resource::Registers => {
                let from = self.registers_per_thread;
                let warps = self.threads.div_ceil(limits.warp_size);
                let fits = |&registers: &u32| enough(by_registers(limits, registers, warps));
                let to = (1..=from).rev().find(fits).ok_or(resource)?;
                self.registers_per_thread = to;
                Ok((to < from).then_some(Saving::RegistersPerThread { from, to }))
            }
            Resource::SharedMemory => {
                let from = self.shared();
                let fits = |&size: &Bytes| enough(by_shared_memory(limits, size, self.carveout));
                let to = shared_sizes_below(limits, from).find(fits).ok_or(resource)?;
                (self.static_shared, self.dynamic_shared) = (Bytes(0), to);
                Ok(Some(Saving::SharedMemory { from, to }))
            }
            Resource::Barriers => {
                let from = self.barriers;
                let fits = |&barriers: &u32| enough(by_barriers(limits, barriers));
                let to = (1..from).rev().find(fits).ok_or(resource)?;
                self.barriers = to;
                Ok(Some(Saving::Barriers { from, to }))
            }
            Resource::Blocks => Err(resource),
        }
    }
}

/// The largest size of every number of allocation units, below `size`, descending to nothing.
fn shared_sizes_below(limits: &SmLimits, size: Bytes) -> impl Iterator<Item = Bytes> {
    let (unit, reserved) = (limits.shared_unit, limits.reserved_shared_per_block);
    let units = (size + reserved).0.div_ceil(unit.0);
    (0..units).rev().filter_map(move |count| (unit * count).checked_sub(reserved))
}

impl fmt::Display for Saving {
    /// What to do: `use at most 64 registers a thread (now 72)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads { from, to } => {
                write!(f, "use at most {to} threads a block (now {from})")
            }
            Self::RegistersPerThread { from, to } => {
                write!(f, "use at most {to} registers a thread (now {from})")
            }
            Self::SharedMemory { from, to } => {
                write!(f, "use at most {} bytes of shared memory a block (now {})", to.0, from.0)
            }
            Self::Barriers { from, to } => {
                write!(f, "use at most {to} named barriers (now {from})")
            }
        }
    }
}
