//! Limits shared by all devices of a compute capability.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_units::Bytes;
use serde::Serialize;

use super::peaks::Pipe;
use super::sheet::SheetError;
use super::sheet_check;
use super::sourced::Sourced;
use super::written::{WrittenCapabilities, WrittenCapability};

/// The file that holds all capabilities, as error messages name it.
const FILE: &str = "compute-capabilities.ron";
const TEXT: &str = include_str!("../../../assets/devices/compute-capabilities.ron");

/// Limits and rates of one compute capability, with their sources.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capability {
    /// Which capability.
    pub compute_capability: ComputeCapability,
    /// Single-precision lanes of a multiprocessor.
    pub fp32_lanes_per_sm: Sourced<u32>,
    /// Results of approximate functions (reciprocal, roots, `ex2`, `lg2`, sine, cosine) in a clock of a multiprocessor.
    pub special_function_lanes_per_sm: Sourced<u32>,
    /// Passes of atomic instructions over one kibibyte of global memory per multiprocessor clock: one pass per sector,
    /// and if lanes share an address in it, one per lane.
    pub atomics_per_clock: Sourced<f64>,
    /// Atomic sums of floats at one address of global memory in a clock of the multiprocessors.
    pub float_atomics_per_clock: Sourced<f64>,
    /// Threads of a warp.
    pub warp_size: Sourced<u32>,
    /// Maximum threads of a block.
    pub max_threads_per_block: Sourced<u32>,
    /// Maximum resident threads of a multiprocessor.
    pub max_threads_per_sm: Sourced<u32>,
    /// Maximum resident blocks of a multiprocessor.
    pub max_blocks_per_sm: Sourced<u32>,
    /// Sub-partitions of a multiprocessor, each with a scheduler and a register file.
    pub sub_partitions_per_sm: Sourced<u32>,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_sm: Sourced<u32>,
    /// Registers that one block may hold.
    pub max_registers_per_block: Sourced<u32>,
    /// Registers that a thread may use.
    pub max_registers_per_thread: Sourced<u32>,
    /// Registers are given to a warp in multiples of this.
    pub register_allocation_per_warp: Sourced<u32>,
    /// Warps of a block count in multiples of this against [`Self::max_registers_per_block`].
    pub warp_allocation_granularity: Sourced<u32>,
    /// Maximum shared memory of a multiprocessor.
    pub shared_per_sm: Sourced<Bytes>,
    /// Shared memory that a block may use without asking.
    pub default_shared_per_block: Sourced<Bytes>,
    /// Maximum shared memory of a block, which the launch must request.
    pub max_shared_per_block: Sourced<Bytes>,
    /// Shared memory that the system reserves in every block.
    pub reserved_shared_per_block: Sourced<Bytes>,
    /// Shared memory is given to a block in multiples of this.
    pub shared_allocation_unit: Sourced<Bytes>,
    /// The sizes to which the shared part of the L1 cache can be set, ascending.
    pub shared_carveouts: Sourced<Vec<Bytes>>,
    /// Named barriers that one block may use.
    pub barriers_per_block: Sourced<u32>,
    /// Named barriers of a multiprocessor; absent if they never limit residency.
    pub barriers_per_sm: Sourced<u32>,
    /// L1 cache and shared memory of a multiprocessor together.
    pub l1: Sourced<Bytes>,
    /// Dense operations of a multiprocessor in a clock, two for a multiply-add.
    pub operations_per_clock: OperationRates,
    /// The rates of GeForce boards, if they differ.
    pub geforce_operations_per_clock: BTreeMap<Pipe, Sourced<f64>>,
    /// The documents by key.
    pub sources: BTreeMap<String, String>,
}

/// Operations per clock of every pipe.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct OperationRates(BTreeMap<Pipe, Sourced<f64>>);

impl OperationRates {
    /// The rate of a pipe.
    #[must_use]
    pub fn get(&self, pipe: Pipe) -> &Sourced<f64> {
        static MISSING: LazyLock<Sourced<f64>> = LazyLock::new(|| Sourced::Unknown {
            reason: "the table of compute capabilities lacks this pipe".to_owned(),
        });
        self.0.get(&pipe).unwrap_or(&MISSING)
    }

    /// The pipes that the table lacks.
    pub(super) fn missing(&self) -> impl Iterator<Item = Pipe> {
        Pipe::ALL.into_iter().filter(|pipe| !self.0.contains_key(pipe))
    }

    /// All that are stated.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Pipe, &Sourced<f64>)> {
        self.0.iter().map(|(pipe, rate)| (*pipe, rate))
    }
}

impl Capability {
    /// All capabilities, ascending.
    ///
    /// # Errors
    ///
    /// When the embedded table is not sound.
    pub fn all() -> Result<&'static [Self], SheetError> {
        static ALL: LazyLock<Result<Vec<Capability>, SheetError>> =
            LazyLock::new(|| Capability::parse(TEXT));
        ALL.as_deref().map_err(Clone::clone)
    }

    /// Looks up a compute capability.
    ///
    /// # Errors
    ///
    /// The table has no such capability.
    pub fn from_compute_capability(
        compute_capability: ComputeCapability,
    ) -> Result<&'static Self, SheetError> {
        let all = Self::all()?;
        all.iter().find(|one| one.compute_capability == compute_capability).ok_or_else(|| {
            SheetError::UnknownCapability {
                compute_capability,
                known: all.iter().map(|one| one.compute_capability).collect(),
            }
        })
    }

    fn parse(text: &str) -> Result<Vec<Self>, SheetError> {
        let written: WrittenCapabilities = super::sheet::read(FILE, text)?;
        let sources = written.sources;
        let mut all: Vec<Self> = written
            .capabilities
            .into_iter()
            .map(|capability| Self::from_written(capability, sources.clone()))
            .collect();
        all.sort_by_key(|capability| capability.compute_capability);
        let problems = sheet_check::capabilities(&all, &sources);
        if problems.is_empty() {
            Ok(all)
        } else {
            Err(SheetError::Unsound { file: FILE.to_owned(), problems })
        }
    }

    fn from_written(written: WrittenCapability, sources: BTreeMap<String, String>) -> Self {
        let all_kib = |sizes: Vec<u64>| sizes.into_iter().map(Bytes::from_kib).collect();
        Self {
            compute_capability: written.compute_capability,
            fp32_lanes_per_sm: written.fp32_lanes_per_sm,
            special_function_lanes_per_sm: written.special_function_lanes_per_sm,
            atomics_per_clock: written.atomics_per_clock,
            float_atomics_per_clock: written.float_atomics_per_clock,
            warp_size: written.warp_size,
            max_threads_per_block: written.max_threads_per_block,
            max_threads_per_sm: written.max_threads_per_sm,
            max_blocks_per_sm: written.max_blocks_per_sm,
            sub_partitions_per_sm: written.sub_partitions_per_sm,
            registers_per_sm: written.registers_per_sm,
            max_registers_per_block: written.max_registers_per_block,
            max_registers_per_thread: written.max_registers_per_thread,
            register_allocation_per_warp: written.register_allocation_per_warp,
            warp_allocation_granularity: written.warp_allocation_granularity,
            shared_per_sm: written.shared_per_sm_kib.map(Bytes::from_kib),
            default_shared_per_block: written.default_shared_per_block_kib.map(Bytes::from_kib),
            max_shared_per_block: written.max_shared_per_block_kib.map(Bytes::from_kib),
            reserved_shared_per_block: written.reserved_shared_per_block_kib.map(Bytes::from_kib),
            shared_allocation_unit: written.shared_allocation_unit.map(Bytes),
            shared_carveouts: written.shared_carveouts_kib.map(all_kib),
            barriers_per_block: written.barriers_per_block,
            barriers_per_sm: written.barriers_per_sm,
            l1: written.l1_kib.map(Bytes::from_kib),
            operations_per_clock: OperationRates(written.operations_per_clock),
            geforce_operations_per_clock: written.geforce_operations_per_clock,
            sources,
        }
    }
}

#[cfg(test)]
mod tests;
