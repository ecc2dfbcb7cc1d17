//! The document of `lightbench launch`: one launch of a kernel without a reference.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compile::modelled_time::{ModelledTime, NotModelled};
use crate::project::launch::expectation::FaultKind;
use crate::virtual_gpu::cost::{Counts, FlopCounts, metrics};

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchReport {
    /// The schema of this document.
    pub schema: LaunchSchema,
    /// The device.
    pub device: LaunchDevice,
    /// The compiler; null for a file of PTX.
    pub compiler: Option<String>,
    /// The file.
    pub file: PathBuf,
    /// The launched kernel.
    pub kernel: LaunchedKernel,
    /// Whether the compiler was told not to optimise.
    pub as_written: bool,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// Whether all blocks are resident together.
    pub cooperative: bool,
    /// The arguments as the command line specifies them.
    pub arguments: Vec<String>,
    /// The seed of generated contents.
    pub seed: u64,
    /// Checks and order of a virtual device; null for a GPU.
    pub watch: Option<LaunchWatch>,
    /// Checks that the device could not do.
    pub not_checked: Vec<String>,
    /// Data races by the memory model that the rules for races accept.
    pub accepted: Vec<AcceptedRace>,
    /// Faults, in the order of observation.
    pub faults: Vec<LaunchFaultReport>,
    /// What the kernel printed.
    pub printed: String,
    /// The requested buffers after the launch.
    pub buffers: Vec<LaunchBuffer>,
    /// Counters, if they were requested.
    pub counters: Option<LaunchCounters>,
    /// The modelled time, if counters were requested.
    pub modelled: Option<LaunchModelledTime>,
}

/// The schema of a [`LaunchReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LaunchSchema {
    /// The first schema.
    #[serde(rename = "lightbench.launch/1")]
    V1,
}

/// The device of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchDevice {
    /// The device, as the option `--device` names it.
    pub name: String,
    /// Its name in words.
    pub title: String,
    /// The compute capability, such as `9.0`.
    pub compute_capability: String,
    /// The driver; null for a virtual device.
    pub driver: Option<LaunchDriver>,
}

/// The driver of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchDriver {
    /// The version of CUDA that it supports.
    pub cuda: String,
    /// The UUID of the GPU.
    pub uuid: String,
}

/// A launched kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchedKernel {
    /// The name of its function.
    pub name: String,
    /// The symbol, mangled unless `extern "C"`.
    pub symbol: String,
}

/// Checks and order of a launch on a virtual device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchWatch {
    /// Where approximate functions lie within their documented error.
    pub approximations: LaunchApproximations,
    /// Whether the use of uninitialised values is a fault.
    pub uninitialized: bool,
    /// Which data races are faults.
    pub races: LaunchRaces,
    /// The order of threads.
    pub schedule: LaunchSchedule,
    /// Whether instructions and accesses are counted.
    pub counters: bool,
    /// The order in which blocks start.
    pub block_order: LaunchBlockOrder,
    /// Limit on resident blocks, if it is lower than the device's.
    pub resident_blocks: Option<u32>,
    /// Warp instructions after which the launch is ended.
    pub max_steps: u64,
    /// The time after which the launch is ended.
    pub time_limit_seconds: Option<f64>,
}

/// Where approximate functions lie within their documented error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchApproximations {
    /// At the correctly rounded result.
    Nearest,
    /// At the lower end.
    Low,
    /// At the upper end.
    High,
}

/// Which data races are faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchRaces {
    /// None.
    Ignored,
    /// Those that no idiom of CUDA permits.
    CudaIdiom,
    /// All that the memory model has.
    Strict,
    /// Those of a replayed order.
    Replayed,
}

/// The order of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchSchedule {
    /// Fixed.
    Deterministic,
    /// On this many host threads.
    Parallel(usize),
    /// On this many host threads if no block can observe another one, else fixed.
    Independent(usize),
    /// Random, from this seed.
    Adversarial(u64),
}

/// The order in which blocks start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchBlockOrder {
    /// Ascending indices.
    Ascending,
    /// Descending indices.
    Descending,
    /// Random, from this seed.
    Random(u64),
}

/// A data race by the memory model that a rule accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedRace {
    /// The rule of `docs/races.md`.
    pub rule: u8,
    /// The line of the PTX, from 1.
    pub ptx_line: u32,
    /// The line of the launched file.
    #[serde(flatten)]
    pub source: LaunchedLine,
}

/// A line of the launched file. Fields are null if the line is unknown or in another file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchedLine {
    /// The launched file.
    pub file: Option<PathBuf>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1; null for a whole line.
    pub column: Option<u32>,
}

/// One fault of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchFaultReport {
    /// The rule that it broke.
    #[schemars(with = "String")]
    pub kind: FaultKind,
    /// The kernel.
    pub kernel: String,
    /// The block, if the device observed the fault.
    pub block: Option<[u32; 3]>,
    /// The thread within the block, if the device observed the fault.
    pub thread: Option<[u32; 3]>,
    /// The line of the PTX, from 1; 0 if only machine code is known.
    pub ptx_line: Option<u32>,
    /// The address of a memory access, in hexadecimal.
    pub address: Option<String>,
    /// The buffer that was meant or hit.
    pub buffer: Option<String>,
    /// What happened, in a sentence.
    pub details: String,
    /// The conflicting access, of faults that take two.
    pub other: Option<LaunchAccess>,
    /// The line of the launched file.
    #[serde(flatten)]
    pub source: LaunchedLine,
}

/// The access of another thread that a fault conflicts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchAccess {
    /// `read`, `write`, `atomic` or `asynchronous copy`.
    pub access: String,
    /// The block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
    /// The line of the PTX, from 1.
    pub ptx_line: u32,
    /// The line of the launched file.
    #[serde(flatten)]
    pub source: LaunchedLine,
}

/// A buffer after the launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchBuffer {
    /// The position of its argument, from 0.
    pub index: usize,
    /// The name of its parameter.
    pub name: String,
    /// The type of its elements.
    pub dtype: String,
    /// Its elements, if they can be read.
    #[serde(flatten)]
    pub content: LaunchBufferContent,
}

/// The elements of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LaunchBufferContent {
    /// The elements.
    Known {
        /// Each element; null if it is uninitialised.
        values: Vec<Option<LaunchElement>>,
    },
    /// The device cannot read the buffer.
    Unreadable {
        /// Why not.
        error: String,
    },
}

/// One element of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LaunchElement {
    /// A value of type `bool`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// An integer above 2^63.
    Unsigned(u64),
    /// A finite floating-point number.
    Real(f64),
    /// A NaN or an infinity.
    NotFinite {
        /// `nan`, `inf` or `-inf`.
        value: String,
        /// The bits of the element, in hexadecimal.
        bits: String,
    },
}

/// The counters of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchCounters {
    /// What counted: `virtual_gpu`.
    pub by: String,
    /// The level of the counted instructions: `ptx`.
    pub level: String,
    /// The counters of the whole launch, by name.
    pub total: BTreeMap<String, CounterValue>,
    /// Floating-point operations, by precision.
    pub flop: LaunchFlops,
    /// Bytes of the distinct sectors of global memory that were read.
    pub compulsory_read_bytes: u64,
    /// Bytes of the distinct sectors of global memory that were written.
    pub compulsory_written_bytes: u64,
    /// Counters of each line of the launched file.
    pub lines: Vec<LineCounters>,
    /// Counters of each line of the PTX.
    pub ptx_lines: Vec<LineCounters>,
}

/// Floating-point operations, by precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchFlops {
    /// In f16 and bf16.
    pub half: u64,
    /// In f32.
    pub single: u64,
    /// In f64.
    pub double: u64,
}

/// The counters of one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LineCounters {
    /// The line, from 1; null for instructions without a line.
    pub line: Option<u32>,
    /// The counters, by name; `lightbench explain` has their definitions.
    #[serde(flatten)]
    pub counters: BTreeMap<String, CounterValue>,
}

/// A counter or a ratio of counters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CounterValue {
    /// A count.
    Count(u64),
    /// A ratio, or a count too large for an exact integer.
    Real(f64),
}

/// The modelled time of a launch, if the model has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LaunchModelledTime {
    /// The time.
    Known {
        /// Always false: the time is modelled.
        measured: bool,
        /// No correct run can be faster.
        bound_seconds: f64,
        /// The expected range of measured times.
        expected_seconds: [f64; 2],
        /// The same as multiples of the bound.
        band: [f64; 2],
        /// The limiter of the bound.
        limit: String,
        /// The main stall reason, if latency limits the time.
        waits_for: Option<String>,
        /// The time on each pipe and level, the longest first.
        parts: Vec<ModelledPart>,
        /// The number of waves of resident blocks.
        waves: f64,
        /// Resident blocks of a multiprocessor.
        resident_blocks: u32,
        /// Resident warps of a multiprocessor.
        resident_warps: u32,
        /// The assumptions, one sentence each.
        assumptions: Vec<String>,
    },
    /// There is no time.
    Withheld {
        /// Always false.
        measured: bool,
        /// Why not.
        withheld: String,
    },
}

/// The modelled time on one pipe or level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelledPart {
    /// The pipe or level.
    pub limit: String,
    /// Its time.
    pub seconds: f64,
}

/// Every counter and ratio by name; undefined ratios are omitted.
#[must_use]
pub fn counter_values(counts: &Counts) -> BTreeMap<String, CounterValue> {
    let counted = metrics().filter_map(|metric| {
        let value = (metric.value)(counts)?;
        // Counts are integers and are written without a fraction.
        let whole = value.fract() == 0.0 && metric.unit != "1" && value < 9e15;
        let value =
            if whole { CounterValue::Count(value as u64) } else { CounterValue::Real(value) };
        Some((metric.name.to_owned(), value))
    });
    counted.collect()
}

impl From<FlopCounts> for LaunchFlops {
    fn from(FlopCounts { half, single, double }: FlopCounts) -> Self {
        Self { half, single, double }
    }
}

impl From<&Result<ModelledTime, NotModelled>> for LaunchModelledTime {
    fn from(modelled: &Result<ModelledTime, NotModelled>) -> Self {
        match modelled {
            Ok(ModelledTime { bound, resident }) => {
                let (low, high) = bound.band;
                let parts = bound.parts.iter();
                Self::Known {
                    measured: false,
                    bound_seconds: bound.time.0,
                    expected_seconds: [bound.time.0 * low, bound.time.0 * high],
                    band: [low, high],
                    limit: bound.limit.to_string(),
                    waits_for: bound.waits.map(|wait| wait.to_string()),
                    parts: parts
                        .map(|(limit, time)| ModelledPart {
                            limit: limit.to_string(),
                            seconds: time.0,
                        })
                        .collect(),
                    waves: bound.waves,
                    resident_blocks: resident.blocks,
                    resident_warps: resident.warps,
                    assumptions: bound.assumptions.iter().map(ToString::to_string).collect(),
                }
            }
            Err(reason) => Self::Withheld { measured: false, withheld: reason.to_string() },
        }
    }
}
