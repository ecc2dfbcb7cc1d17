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

/// Cycles until an instruction that needs a result can go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// After arithmetic.
    pub arithmetic: f64,
    /// After a load of shared memory.
    pub shared: f64,
    /// After a load of global memory that no cache serves.
    pub global: f64,
}

impl Default for Latencies {
    /// Dependent arithmetic takes 4 cycles since Volta (Jia et al. 2018, arXiv 1804.06826); shared memory about 23 to
    /// 30 and memory about 500 to 700 cycles on A100 and H100 (Luo et al. 2024, arXiv 2402.13499). Round numbers
    /// between those.
    fn default() -> Self {
        Self { arithmetic: 4.0, shared: 28.0, global: 600.0 }
    }
}
