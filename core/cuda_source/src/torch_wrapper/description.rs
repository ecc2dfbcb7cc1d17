//! What a host wrapper does, as data: parameters, allocations, fills and launches in order.

use lightbench_primitives::dtype::Dtype;

use crate::error::SourceLocation;

use super::condition::Condition;
use super::integer::Integer;
use super::real::Real;

/// A wrapper: `torch::Tensor f(torch::Tensor x, …)` that launches kernels.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrapper {
    pub name: String,
    pub place: SourceLocation,
    pub parameters: Vec<WrapperParameter>,
    /// The tensors among the parameters, in their order, then the allocated ones.
    pub tensors: Vec<WrapperTensor>,
    /// Fills and launches, in order.
    pub steps: Vec<Step>,
    /// The returned tensors, as positions in `tensors`.
    pub returned: Vec<usize>,
    /// Checks that sizes must pass.
    pub requirements: Vec<Condition>,
    /// Names of locals for sizes, in the order of the text.
    pub local_names: Vec<(Integer, String)>,
    /// Groups of tensors that checks require to have one shape.
    pub same_shapes: Vec<(usize, usize)>,
    /// Other dtypes that a dispatch offers.
    pub other_dtypes: Vec<Dtype>,
    /// What the description leaves out or assumes.
    pub notes: Vec<WrapperNote>,
}

/// A parameter of a wrapper.
#[derive(Debug, Clone, PartialEq)]
pub struct WrapperParameter {
    pub name: String,
    pub kind: ParameterKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ParameterKind {
    /// With its position among the tensors.
    Tensor(usize),
    /// With its default, if the signature or the caller has one.
    Integer(Option<i128>),
    Real(Option<f64>),
    Boolean(Option<bool>),
    /// No parameter of the function, but a number that only the launch block knows: a tuning parameter, or a call such
    /// as `max_active_blocks('softmax')`. With a value from which sizes are chosen.
    Launch(i128),
}

/// A tensor that a wrapper receives or allocates.
#[derive(Debug, Clone, PartialEq)]
pub struct WrapperTensor {
    pub name: String,
    pub origin: TensorOrigin,
    /// `None` if nothing in the wrapper decides it.
    pub dtype: Option<Dtype>,
    /// The number of dimensions of a received tensor, where the wrapper decides it.
    pub rank: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TensorOrigin {
    /// A parameter, by its position.
    Parameter(usize),
    Allocated(AllocatedShape),
}

#[derive(Debug, Clone, PartialEq)]
pub enum AllocatedShape {
    /// That of a received tensor.
    Like(usize),
    Sizes(Vec<Integer>),
}

/// One step on the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Fill { tensor: usize, value: f64 },
    Launch(Box<WrapperLaunch>),
}

/// A launch of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct WrapperLaunch {
    /// With namespaces, without template arguments.
    pub kernel: String,
    /// As a launch block writes them: `float`, `__half`, `256`.
    pub template_arguments: Vec<String>,
    pub grid: [Integer; 3],
    pub block: [Integer; 3],
    pub shared: Integer,
    pub arguments: Vec<LaunchArgument>,
    pub triton: Option<TritonLaunch>,
    pub place: SourceLocation,
}

/// The part of a launch that only a Triton kernel has.
#[derive(Debug, Clone, PartialEq)]
pub struct TritonLaunch {
    /// Values of `tl.constexpr` parameters, by the name of the parameter.
    pub constexprs: Vec<(String, ConstexprValue)>,
    /// `None` for Triton's default.
    pub num_warps: Option<Integer>,
    pub num_stages: Option<Integer>,
    pub num_ctas: Option<Integer>,
}

/// The value of a `tl.constexpr` parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstexprValue {
    Integer(Integer),
    Boolean(bool),
    Text(String),
    /// As Python writes it: `tl.float16`.
    Type(String),
    None,
}

/// An argument of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchArgument {
    /// The name of the kernel's parameter, empty if it has none.
    pub parameter: String,
    pub value: ArgumentValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentValue {
    /// `writes` states whether the kernel's parameter points to elements that it may write.
    Tensor {
        tensor: usize,
        writes: bool,
        reads: bool,
    },
    Null,
    Integer(Integer, Dtype),
    Real(Real, Dtype),
    Boolean(bool),
    /// A boolean parameter of the wrapper, by its position.
    BooleanParameter(usize),
}

/// A statement that has no effect on the launches, or an assumption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrapperNote {
    pub place: SourceLocation,
    /// The text, shortened to one line.
    pub found: String,
    pub kind: NoteKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// Holds for all tensors of a project.
    GivenByProject,
    /// A check that is not carried over.
    UncheckedCondition,
    /// Errors, streams and devices are handled by Lightbench.
    HostOnly,
    /// What `forward` keeps for `backward`.
    BackwardOnly,
    /// Shared memory beyond 48 KiB is permitted automatically.
    SharedMemoryLimit,
    /// A branch for other inputs.
    OtherBranch,
    /// A tensor is assumed to be contiguous.
    Contiguous,
}

impl NoteKind {
    /// The reason in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::GivenByProject => "holds for every tensor of a project",
            Self::UncheckedCondition => "a check that is not carried over",
            Self::HostOnly => "Lightbench chooses the stream and the device, and checks for errors",
            Self::BackwardOnly => "only the backward pass needs it",
            Self::SharedMemoryLimit => {
                "Lightbench permits the shared memory that a launch asks for"
            }
            Self::OtherBranch => "not taken for the inputs of this project",
            Self::Contiguous => "tensors of this project are contiguous already",
        }
    }
}
