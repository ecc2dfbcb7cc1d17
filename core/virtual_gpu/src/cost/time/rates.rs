//! What a device can do at best, as plain numbers; what is not known is left out of the model and said.

use lightbench_units::{BytesPerSecond, FlopsPerSecond, Hertz, Seconds};

/// Rates of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Warp instructions that one multiprocessor issues in a cycle.
    pub issue_per_cycle: Option<f64>,
    /// The clock of the multiprocessors, at best.
    pub clock: Hertz,
    /// f32 of the whole device; a multiply-add is two.
    pub single: Option<FlopsPerSecond>,
    /// f64 of the whole device.
    pub double: Option<FlopsPerSecond>,
    /// f16 and bf16 of the whole device, in pairs.
    pub half: Option<FlopsPerSecond>,
    /// Integer instructions of threads that one multiprocessor executes in a cycle.
    pub integer_lanes: Option<f64>,
    /// Approximated functions that one multiprocessor computes in a cycle.
    pub special_lanes: Option<f64>,
    /// Tensor cores of the whole device, dense.
    pub tensor: TensorRates,
    /// Passes of atomics over one kibibyte of global memory in a cycle of the multiprocessors.
    pub atomics_per_cycle: Option<f64>,
    /// Atomic sums of floats at one address in a cycle of the multiprocessors.
    pub float_atomics_per_cycle: Option<f64>,
    /// L2 to multiprocessors, together.
    pub l2: Option<BytesPerSecond>,
    /// Memory.
    pub dram: Option<BytesPerSecond>,
    /// What a kernel takes that does nothing.
    pub launch: Seconds,
    /// What the first launch of a measured kernel takes beside what its blocks take.
    pub first_launch: Seconds,
    /// How long one warp waits for its own results.
    pub latencies: Latencies,
}

/// Rates of tensor cores by what they multiply; a multiply-add is two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TensorRates {
    /// f16.
    pub f16: Option<FlopsPerSecond>,
    /// bf16.
    pub bf16: Option<FlopsPerSecond>,
    /// tf32.
    pub tf32: Option<FlopsPerSecond>,
    /// f64.
    pub f64: Option<FlopsPerSecond>,
    /// f8 of both kinds.
    pub f8: Option<FlopsPerSecond>,
    /// 8-bit integers.
    pub int8: Option<FlopsPerSecond>,
}

/// How long results take, in cycles, and what a multiprocessor does of them at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// After arithmetic.
    pub arithmetic: f64,
    /// The same of f64.
    pub double: f64,
    /// After an approximated function.
    pub special: f64,
    /// After a shuffle.
    pub shuffle: f64,
    /// After a product of tensor cores.
    pub tensor: f64,
    /// After a load of shared memory.
    pub shared: f64,
    /// After a load that the cache of the multiprocessor serves.
    pub l1: f64,
    /// After one that L2 serves.
    pub l2: f64,
    /// After one that memory serves.
    pub dram: f64,
    /// After an atomic of global memory that gives something back.
    pub atomic: f64,
    /// From a branch to what follows it.
    pub branch: f64,
    /// From the last warp at a barrier to the next instruction.
    pub barrier: f64,
    /// The same for each of those warps.
    pub barrier_warp: f64,
    /// Until a block begins where another one ended.
    pub block: f64,
    /// Atomic changes of one address of shared memory in a cycle.
    pub shared_changes_at_one: f64,
    /// The same of different addresses.
    pub shared_changes: f64,
    /// Bytes that one multiprocessor gets of L2 in a cycle.
    pub l2_bytes: f64,
    /// Cycles that one line of an access takes in L1.
    pub near_line: f64,
    /// Cycles in which one multiprocessor gets something of a line of L2, however little.
    pub loaded_line: f64,
    /// The same of what it stores.
    pub stored_line: f64,
    /// The part of memory's peak that kernels reach.
    pub dram_part: f64,
}

impl Default for Latencies {
    /// Those of an H200 at 1980 MHz (`tests/benches/latencies`, November 2026), less the address or the counter in between;
    /// what changes one address of shared memory by `tests/benches/atomics`, bytes of L2 by its calibration. Luo et al. 2024
    /// (arXiv 2402.13499) found the same within a tenth on an H100. What tensor cores and new blocks take is an assumption.
    fn default() -> Self {
        Self {
            arithmetic: 4.4,
            double: 8.2,
            special: 17.0,
            shuffle: 24.0,
            tensor: 32.0,
            shared: 29.0,
            l1: 37.0,
            l2: 288.0,
            dram: 685.0,
            atomic: 515.0,
            branch: 19.0,
            barrier: 20.0,
            barrier_warp: 1.75,
            block: 100.0,
            shared_changes_at_one: 0.86,
            shared_changes: 3.5,
            near_line: 0.37,
            loaded_line: 1.7,
            stored_line: 3.1,
            l2_bytes: 35.0,
            dram_part: 0.85,
        }
    }
}
