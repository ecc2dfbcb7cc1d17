//! The limits of a multiprocessor as plain numbers, for computing occupancy.

use lightbench_units::Bytes;

use super::capability::Capability;
use super::sourced::Sourced;

/// The limits of a multiprocessor as plain numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmLimits {
    /// Threads of a warp.
    pub warp_size: u32,
    /// Maximum threads of a block.
    pub max_threads_per_block: u32,
    /// Maximum resident warps.
    pub max_warps: u32,
    /// Maximum resident blocks.
    pub max_blocks: u32,
    /// Sub-partitions, each with its own register file.
    pub sub_partitions: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Registers that one block may hold.
    pub max_registers_per_block: u32,
    /// Registers that a thread may use.
    pub max_registers_per_thread: u32,
    /// Registers are given to a warp in multiples of this.
    pub register_unit: u32,
    /// Warps of a block count in multiples of this against the registers of a block.
    pub warp_granularity: u32,
    /// Shared memory that a block may use, the system's share not counted.
    pub max_shared_per_block: Bytes,
    /// Shared memory that the system reserves in every block.
    pub reserved_shared_per_block: Bytes,
    /// Shared memory is given to a block in multiples of this.
    pub shared_unit: Bytes,
    /// The configurable sizes of shared memory, ascending.
    pub carveouts: Vec<Bytes>,
    /// Named barriers that a block may use.
    pub barriers_per_block: u32,
    /// Named barriers, if they limit residency.
    pub barriers: Option<u32>,
}

impl Capability {
    /// The limits as plain numbers.
    ///
    /// # Errors
    ///
    /// The names of the unknown limits.
    pub fn sm_limits(&self) -> Result<SmLimits, Vec<&'static str>> {
        let mut missing = Vec::new();
        let mut number = |name, fact: &Sourced<u32>| take(name, fact, &mut missing);
        let warp_size = number("warp_size", &self.warp_size);
        let max_threads_per_sm = number("max_threads_per_sm", &self.max_threads_per_sm);
        let mut limits = SmLimits {
            warp_size,
            max_threads_per_block: number("max_threads_per_block", &self.max_threads_per_block),
            max_warps: max_threads_per_sm.checked_div(warp_size).unwrap_or(0),
            max_blocks: number("max_blocks_per_sm", &self.max_blocks_per_sm),
            sub_partitions: number("sub_partitions_per_sm", &self.sub_partitions_per_sm),
            registers: number("registers_per_sm", &self.registers_per_sm),
            max_registers_per_block: number(
                "max_registers_per_block",
                &self.max_registers_per_block,
            ),
            max_registers_per_thread: number(
                "max_registers_per_thread",
                &self.max_registers_per_thread,
            ),
            register_unit: number(
                "register_allocation_per_warp",
                &self.register_allocation_per_warp,
            ),
            warp_granularity: number(
                "warp_allocation_granularity",
                &self.warp_allocation_granularity,
            ),
            barriers_per_block: number("barriers_per_block", &self.barriers_per_block),
            barriers: match &self.barriers_per_sm {
                Sourced::Absent { .. } => None,
                stated @ (Sourced::Known { .. } | Sourced::Unknown { .. }) => {
                    Some(number("barriers_per_sm", stated))
                }
            },
            max_shared_per_block: Bytes(0),
            reserved_shared_per_block: Bytes(0),
            shared_unit: Bytes(0),
            carveouts: Vec::new(),
        };
        limits.max_shared_per_block =
            take("max_shared_per_block", &self.max_shared_per_block, &mut missing);
        limits.reserved_shared_per_block =
            take("reserved_shared_per_block", &self.reserved_shared_per_block, &mut missing);
        limits.shared_unit =
            take("shared_allocation_unit", &self.shared_allocation_unit, &mut missing);
        limits.carveouts = take("shared_carveouts", &self.shared_carveouts, &mut missing);
        if missing.is_empty() { Ok(limits) } else { Err(missing) }
    }
}

/// The value of a fact, or a default and its name among the missing.
fn take<T: Clone + Default>(
    name: &'static str,
    fact: &Sourced<T>,
    missing: &mut Vec<&'static str>,
) -> T {
    fact.value().cloned().unwrap_or_else(|| {
        missing.push(name);
        T::default()
    })
}
