//! Why a wrapper is not a launch block, with the line.

use crate::error::SourceLocation;

/// A statement of a wrapper that a launch block cannot express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}: `{found}`")]
pub struct Refusal {
    /// Where the statement or expression stands.
    pub place: SourceLocation,
    /// Its text, shortened to one line.
    pub found: String,
    pub why: Why,
}

/// The reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("no function here takes tensors and launches a kernel")]
    NoWrapper,
    #[error("there are several wrappers; choose one by its name")]
    SeveralWrappers,
    #[error("there is no function of this name with a body")]
    UnknownFunction,
    #[error("this is a syntax error for the CUDA grammar")]
    Syntax,
    #[error(
        "an operator of PyTorch computes something beside the kernels; a launch block has launches and fills only"
    )]
    TorchOperator,
    #[error(
        "an accessor passes sizes and strides in a struct of PyTorch; pass a pointer and integers"
    )]
    Accessor,
    #[error("the host waits for the device here; remove the synchronisation")]
    Synchronisation,
    #[error("a loop of the host; a launch block lists its launches one by one")]
    Loop,
    #[error(
        "a branch that only the inputs of a call decide; a launch block has one list of launches"
    )]
    Branch,
    #[error("the check fails for every input")]
    AlwaysFails,
    #[error("this call has no counterpart in a launch block")]
    UnknownCall,
    #[error("this statement has no counterpart in a launch block")]
    UnknownStatement,
    #[error("this expression is not a formula of sizes and integer parameters")]
    NotAnInteger,
    #[error("this expression is not a number")]
    NotANumber,
    #[error("this expression has no counterpart in a launch block")]
    UnknownExpression,
    #[error("nothing in the wrapper defines this name")]
    UnknownName,
    #[error("this is not the address of a tensor; a launch passes whole tensors")]
    NotAPointer,
    #[error("this is not a tensor")]
    NotATensor,
    #[error("this is not a type of elements that a project has")]
    UnknownDtype,
    #[error("no kernel of this name is defined in the file")]
    UnknownKernel,
    #[error("the number of arguments is not that of the kernel's parameters ({parameters})")]
    ArgumentCount { parameters: usize },
    #[error("the kernel's parameter `{parameter}` is neither a pointer nor a number")]
    UnsupportedParameter { parameter: String },
    #[error("the template argument `{parameter}` is neither written nor decided by the arguments")]
    TemplateArgument { parameter: String },
    #[error("this parameter is neither a tensor nor a number")]
    UnsupportedInput,
    #[error("the tensor is read as {found}, and as {expected} elsewhere")]
    TwoDtypes { found: &'static str, expected: &'static str },
    #[error("the dtype that was asked for is none of the cases")]
    NoSuchCase,
    #[error("the wrapper returns a tensor that it did not allocate or receive")]
    UnknownResult,
    #[error("the wrapper launches no kernel")]
    NoLaunch,
    #[error("the wrapper is nested too deeply or too long")]
    TooLarge,
    #[error("an allocation of this kind has no counterpart in a project")]
    Allocation,
    #[error("the configurations are no list of `triton.Config` with literals; write one list")]
    TuningConfigurations,
}
