//! The peak rates of a device as plain numbers. The model leaves out a rate that is unknown and reports that.

use lightbench_units::{BytesPerSecond, FlopsPerSecond, Hertz, Seconds};

/// The peak rates of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    pub multiprocessors: u32,
    /// Warp instructions that one multiprocessor issues per cycle.
    pub issue_per_cycle: Option<f64>,
    /// The highest clock of the multiprocessors.
    pub clock: Hertz,
    /// f32 rate of the device; a multiply-add counts as two.
    pub single: Option<FlopsPerSecond>,
    /// f64 rate of the device.
    pub double: Option<FlopsPerSecond>,
    /// Packed f16 and bf16 rate of the device.
    pub half: Option<FlopsPerSecond>,
    /// Integer instructions of threads per cycle and multiprocessor.
    pub integer_lanes: Option<f64>,
    /// Special functions per cycle and multiprocessor.
    pub special_lanes: Option<f64>,
    /// Dense tensor-core rates of the device.
    pub tensor: TensorRates,
    /// Atomic passes over one kibibyte of global memory per cycle of the multiprocessors.
    pub atomics_per_cycle: Option<f64>,
    /// Atomic floating-point additions at one address per cycle of the multiprocessors.
    pub float_atomics_per_cycle: Option<f64>,
    /// Bandwidth between L2 and all multiprocessors.
    pub l2: Option<BytesPerSecond>,
    /// DRAM bandwidth.
    pub dram: Option<BytesPerSecond>,
    /// The time of an empty kernel.
    pub launch: Seconds,
    /// The additional time of the first launch of a measured kernel.
    pub first_launch: Seconds,
    /// Latencies of results.
    pub latencies: Latencies,
}

/// Tensor-core rates by multiplicand type; a multiply-add counts as two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TensorRates {
    pub f16: Option<FlopsPerSecond>,
    pub bf16: Option<FlopsPerSecond>,
    pub tf32: Option<FlopsPerSecond>,
    pub f64: Option<FlopsPerSecond>,
    /// Both f8 formats.
    pub f8: Option<FlopsPerSecond>,
    /// 8-bit integers.
    pub int8: Option<FlopsPerSecond>,
}

/// Latencies in cycles, and throughputs of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    pub arithmetic: f64,
    /// f64 arithmetic.
    pub double: f64,
    /// Special functions.
    pub special: f64,
    pub shuffle: f64,
    /// Tensor-core products.
    pub tensor: f64,
    /// Loads of shared memory.
    pub shared: f64,
    /// Loads that hit in L1.
    pub l1: f64,
    /// Loads that hit in L2.
    pub l2: f64,
    /// Loads from DRAM.
    pub dram: f64,
    /// Atomics of global memory that return a value.
    pub atomic: f64,
    /// From a branch to the next instruction.
    pub branch: f64,
    /// From the last arrival at a barrier to the next instruction.
    pub barrier: f64,
    /// The additional latency of a barrier for each warp.
    pub barrier_warp: f64,
    /// From the end of a block to the start of the next one.
    pub block: f64,
    /// Atomic operations on one address of shared memory per cycle.
    pub shared_changes_at_one: f64,
    /// Atomic operations on different addresses of shared memory per cycle.
    pub shared_changes: f64,
    /// Bytes from L2 to one multiprocessor per cycle.
    pub l2_bytes: f64,
    /// Cycles of L1 per line of an access.
    pub near_line: f64,
    /// Cycles per line that is loaded from L2, for any number of its sectors.
    pub loaded_line: f64,
    /// Cycles per line that is stored to L2.
    pub stored_line: f64,
    /// The fraction of the DRAM peak that kernels reach.
    pub dram_part: f64,
    /// The fraction of the peak of tensor cores that long products reach: their power lowers the clock.
    pub tensor_part: f64,
}

impl Default for Latencies {
    /// The latencies of an H200 at 1980 MHz (`tests/benches/latencies`, November 2026), without the address or
    /// counter arithmetic in between; atomics on one address of shared memory by `tests/benches/atomics`, bytes from
    /// L2 by the calibration of the device. Luo et al. 2024 (arXiv 2402.13499) measured the same within 10 % on an
    /// H100. The latencies of tensor cores and new blocks are assumptions; the part of their peak is what cuBLAS reaches
    /// for bf16 at 4096 x 4096 x 4096.
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
            tensor_part: 0.8,
        }
    }
}
