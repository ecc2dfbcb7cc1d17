//! `project.ron` as parsed, before validation.

use lightbench_primitives::dtype::Dtype;
use serde::{Deserialize, Serialize};

use super::written::{Entries, ExpressionWritten, NumberWritten};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct Manifest {
    pub schema: i64,
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub summary: String,
    pub axes: Vec<AxisWritten>,
    #[serde(default)]
    pub scalars: Vec<ScalarWritten>,
    pub tensors: Vec<TensorWritten>,
    pub arguments: Vec<String>,
    #[serde(default)]
    pub accuracy: Accuracy,
    #[serde(default)]
    pub block_order: BlockOrder,
    #[serde(default)]
    pub summation: SummationWritten,
    #[serde(default)]
    pub subnormals: SubnormalsWritten,
    #[serde(default)]
    pub intermediate_rounding: IntermediateRounding,
    pub work: WorkWritten,
    pub workloads: Vec<WorkloadWritten>,
    #[serde(default)]
    pub baselines: Vec<BaselineWritten>,
    #[serde(default)]
    pub policy: PolicyWritten,
    #[serde(default)]
    pub limits: LimitsWritten,
}

/// One axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct AxisWritten {
    pub name: String,
    #[serde(default = "one")]
    pub min: i64,
    #[serde(default = "largest_axis")]
    pub max: i64,
    #[serde(default = "one")]
    pub multiple_of: i64,
    #[serde(default)]
    pub note: String,
}

/// The largest value of an axis, and the maximum elements of a tensor.
pub const LARGEST_AXIS: i64 = 1 << 40;

fn one() -> i64 {
    1
}

fn largest_axis() -> i64 {
    LARGEST_AXIS
}

/// One scalar.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct ScalarWritten {
    pub name: String,
    pub dtype: Dtype,
    pub value: NumberWritten,
    #[serde(default)]
    pub domain: ScalarDomainWritten,
    #[serde(default)]
    pub note: String,
}

/// The values that a scalar may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the format's page documents each choice")]
pub enum ScalarDomainWritten {
    #[default]
    Any,
    Fixed,
    NonZero,
    Positive,
    NonNegative,
    Between {
        low: f64,
        high: f64,
    },
}

/// In which order a correct kernel may add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the format's page documents each choice")]
pub enum SummationWritten {
    #[default]
    Any,
    Blocked(i64),
}

/// Whether kernels must keep subnormal numbers of f32 and bf16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the format's page documents each choice")]
pub enum SubnormalsWritten {
    #[default]
    MayFlush,
    Keep,
}

/// What roundings to f16 and bf16 inside `reference.py` mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntermediateRounding {
    /// The author has not decided: those that change results beyond the tolerance stop the verification.
    #[default]
    Undeclared,
    /// They are no part of the computation: kernels must be as close to the results without them as the tolerance says.
    Ignored,
}

/// One tensor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct TensorWritten {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<ExpressionWritten>,
    pub role: RoleWritten,
    pub fill: Option<FillWritten>,
    #[serde(default)]
    pub layout: LayoutWritten,
    #[serde(default = "default_align")]
    pub align: i64,
    #[serde(default)]
    pub alias: Vec<String>,
    #[serde(default)]
    pub domain: DomainWritten,
    pub distributions: Option<Vec<Distribution>>,
    pub compare: Option<ComparatorWritten>,
    pub init: Option<Init>,
    pub scales: Option<ScalesWritten>,
}

fn default_align() -> i64 {
    256
}

/// The role of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RoleWritten {
    Input,
    Output,
    Inout,
}

/// The fill of an input.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each fill")]
pub enum FillWritten {
    Normal { mean: f64, std: f64 },
    Uniform { low: f64, high: f64 },
    Integers { low: i64, high: i64 },
    Ones,
    Zeros,
    Constant(NumberWritten),
    Permutation,
    SortedOffsets { total: ExpressionWritten },
    SortedIndices { offsets: String, below: ExpressionWritten },
    Mask { density: f64 },
    CausalMask,
    HeavyTail { scale: f64 },
    Labels { below: ExpressionWritten },
    PackedWeights,
}

/// The memory layout of a tensor.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the format's page documents each layout")]
pub enum LayoutWritten {
    #[default]
    RowMajor,
    Strides(Vec<ExpressionWritten>),
    LeadingDimension(ExpressionWritten),
}

/// The values that an input may have.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DomainWritten {
    #[default]
    Any,
    Finite,
    NonZero,
    Positive,
    NonNegative,
    UnitInterval,
    Probability,
    Between {
        low: f64,
        high: f64,
    },
    IndexBelow(ExpressionWritten),
}

/// Distributions of inputs that are valid besides the declared values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Distribution {
    AsDeclared,
    Scaled,
    Shifted,
    HeavyTail,
    Exact,
}

/// The initial content of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// Poisoned before every launch.
    #[default]
    Undefined,
    /// Cleared before every launch, inside the time.
    ZeroEachLaunch,
    /// Cleared once; the kernel must leave it zero.
    ZeroOnce,
}

/// The comparator of an output.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each comparator")]
pub enum ComparatorWritten {
    Elementwise {
        #[serde(default = "one_term")]
        terms: ExpressionWritten,
        #[serde(default = "default_factor")]
        factor: f64,
        #[serde(default = "yes")]
        rms: bool,
    },
    IntegerExact,
    IndexByValue {
        of: String,
        axis: i64,
    },
    Permutation {
        of: String,
    },
    Set,
    Sampling {
        probabilities: String,
        draws: ExpressionWritten,
    },
}

fn one_term() -> ExpressionWritten {
    ExpressionWritten("1".to_owned())
}

fn default_factor() -> f64 {
    4.0
}

fn yes() -> bool {
    true
}

/// The scales of a packed tensor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct ScalesWritten {
    pub tensor: String,
    pub block: i64,
}

/// The orders of block starts in which a kernel must work. CUDA guarantees none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockOrder {
    /// By block index, as GPUs start blocks: a kernel whose blocks wait for blocks of lower index passes with a note.
    #[default]
    Ascending,
    /// Every order: such a kernel faults.
    Any,
}

/// The precision in which a task may be computed: a property of the task, not of a dtype.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum Accuracy {
    F64,
    #[default]
    F32,
    Tf32,
    F16,
    Bf16,
    F8,
    Exact,
}

impl Accuracy {
    /// Bits of the significand, including the hidden one; `None` if results are exact.
    #[must_use]
    pub const fn significant_bits(self) -> Option<u32> {
        Some(match self {
            Self::F64 => 53,
            Self::F32 => 24,
            Self::Tf32 | Self::F16 => 11,
            Self::Bf16 => 8,
            Self::F8 => 4,
            Self::Exact => return None,
        })
    }
}

/// The least that any correct kernel does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct WorkWritten {
    pub operations: Vec<OperationWritten>,
    #[serde(default)]
    pub bytes: WorkBytesWritten,
}

/// Operations of one kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct OperationWritten {
    pub kind: OperationKind,
    pub count: ExpressionWritten,
}

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// Adds and multiplies; a fused multiply-add is two.
    Arithmetic,
    /// Multiply-adds that a tensor core could do; two per element pair.
    Contraction,
    /// Exponentials, logarithms, sines, reciprocal roots.
    Special,
    /// Integer arithmetic that is part of the task.
    Integer,
    /// Comparisons.
    Compare,
}

/// Bytes that any correct kernel moves.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the format's page documents each choice")]
pub enum WorkBytesWritten {
    #[default]
    Automatic,
    Formula(ExpressionWritten),
}

/// One workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct WorkloadWritten {
    pub name: String,
    pub purpose: Purpose,
    pub axes: Entries<i64>,
    #[serde(default)]
    pub scalars: Entries<NumberWritten>,
    #[serde(default)]
    pub fills: Entries<FillWritten>,
    #[serde(default)]
    pub note: String,
}

/// The purpose of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Small: correctness.
    Verify,
    /// Correctness and time.
    Measure,
    /// Never shown.
    HeldOut,
}

/// A baseline to compare with.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each choice")]
pub enum BaselineWritten {
    Kernel(String),
    Library(LibraryWritten),
    Pytorch(String),
    Recorded { name: String, device: String, workload: String, seconds: f64, source: String },
}

/// A vendor library, and its operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each choice")]
pub enum LibraryWritten {
    CublasGemm {
        a: String,
        b: String,
        c: String,
        #[serde(default)]
        transposed: Vec<String>,
    },
}

/// Which static evidence refuses a kernel.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct PolicyWritten {
    pub refuse: Option<Vec<Evidence>>,
}

/// Evidence in a kernel's code, found without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Evidence {
    DeviceGlobals,
    Clocks,
    Sleeps,
    CachePersistence,
    DeviceLaunch,
    Heap,
    Printf,
    Trap,
    InlineAssembly,
}

/// Time, memory and steps.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct LimitsWritten {
    pub compile_secs: Option<i64>,
    pub launch_secs: Option<i64>,
    pub device_bytes: Option<i64>,
    pub virtual_steps: Option<i64>,
}
