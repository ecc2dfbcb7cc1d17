//! Device sheets as written in files, in the units of their source documents.

use std::collections::BTreeMap;

use lightbench_primitives::compute_capability::ComputeCapability;
use serde::Deserialize;

use super::peaks::Pipe;
use super::sourced::Sourced;

/// `assets/devices/<name>.ron`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSheet {
    pub(super) title: String,
    pub(super) sources: BTreeMap<String, String>,
    pub(super) compute_capability: Sourced<ComputeCapability>,
    pub(super) sms: Sourced<u32>,
    pub(super) base_clock_mhz: Sourced<f64>,
    pub(super) boost_clock_mhz: Sourced<f64>,
    /// The clock at which the tensor peaks are quoted.
    pub(super) tensor_clock_mhz: Sourced<f64>,
    /// Million transfers per second and pin; twice the clock of double-data-rate memory.
    pub(super) memory_transfers_mhz: Sourced<f64>,
    pub(super) memory_bus_bits: Sourced<u32>,
    pub(super) dram_gib: Sourced<u64>,
    pub(super) dram_gb_per_s: Sourced<f64>,
    pub(super) l2_kib: Sourced<u64>,
    pub(super) power_limit_watts: Sourced<f64>,
    /// PCI device ids of the boards that the sheet is of.
    #[serde(default = "no_ids")]
    pub(super) pci_device_ids: Sourced<Vec<u32>>,
    /// Dense, 10¹² operations per second.
    pub(super) peaks_tflops: BTreeMap<Pipe, Sourced<f64>>,
}

/// `assets/devices/compute-capabilities.ron`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCapabilities {
    pub(super) sources: BTreeMap<String, String>,
    pub(super) capabilities: Vec<WrittenCapability>,
}

/// One compute capability.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCapability {
    pub(super) compute_capability: ComputeCapability,
    pub(super) fp32_lanes_per_sm: Sourced<u32>,
    pub(super) special_function_lanes_per_sm: Sourced<u32>,
    pub(super) atomics_per_clock: Sourced<f64>,
    pub(super) float_atomics_per_clock: Sourced<f64>,
    pub(super) warp_size: Sourced<u32>,
    pub(super) max_threads_per_block: Sourced<u32>,
    pub(super) max_threads_per_sm: Sourced<u32>,
    pub(super) max_blocks_per_sm: Sourced<u32>,
    pub(super) sub_partitions_per_sm: Sourced<u32>,
    pub(super) registers_per_sm: Sourced<u32>,
    pub(super) max_registers_per_block: Sourced<u32>,
    pub(super) max_registers_per_thread: Sourced<u32>,
    pub(super) register_allocation_per_warp: Sourced<u32>,
    pub(super) warp_allocation_granularity: Sourced<u32>,
    pub(super) shared_per_sm_kib: Sourced<u64>,
    pub(super) default_shared_per_block_kib: Sourced<u64>,
    pub(super) max_shared_per_block_kib: Sourced<u64>,
    pub(super) reserved_shared_per_block_kib: Sourced<u64>,
    pub(super) shared_allocation_unit: Sourced<u64>,
    pub(super) shared_carveouts_kib: Sourced<Vec<u64>>,
    pub(super) barriers_per_block: Sourced<u32>,
    pub(super) barriers_per_sm: Sourced<u32>,
    pub(super) l1_kib: Sourced<u64>,
    pub(super) operations_per_clock: BTreeMap<Pipe, Sourced<f64>>,
    #[serde(default)]
    pub(super) geforce_operations_per_clock: BTreeMap<Pipe, Sourced<f64>>,
}

fn no_ids() -> Sourced<Vec<u32>> {
    Sourced::Unknown { reason: "no available document states it".to_owned() }
}
