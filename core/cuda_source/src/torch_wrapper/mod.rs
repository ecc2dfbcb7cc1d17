//! Reads the host wrapper of a PyTorch extension: one straight-line function that allocates tensors and launches kernels.
//!
//! ```text
//!  Source ──► inputs (signature) ──► statements ──► Wrapper (tensors, fills, launches, checks)
//!                                     │  values: integers, reals, conditions, tensors
//!                                     └─ calls: checks, allocations, dispatch, launches, functions of the file
//! ```
//!
//! The statements are executed on formulas: `int rows = x.size(0)` makes `rows` the size of the first dimension of `x`.
//! Functions and macros of the file are followed. Everything else is refused at its line: a project's launch block has
//! launches and fills, nothing that runs on the host. Nothing here executes code.

mod allocations;
mod axes;
mod calls;
mod checks;
mod condition;
mod description;
mod dispatch;
mod dtypes;
mod expressions;
mod functions;
mod inputs;
mod integer;
mod launches;
mod methods;
mod read;
mod reader;
mod real;
mod refusal;
mod statements;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub use axes::{Axes, Axis, ShapeGuess, axes};
pub use condition::{Comparison, Condition};
pub use description::{
    AllocatedShape, ArgumentValue, ConstexprValue, LaunchArgument, NoteKind, ParameterKind, Step,
    TensorOrigin, TritonLaunch, Wrapper, WrapperLaunch, WrapperNote, WrapperParameter,
    WrapperTensor,
};
pub use functions::{Candidates, wrappers};
pub use integer::{Fact, Integer, Operator};
pub use read::read_wrapper;
pub use reader::{Known, KnownInput};
pub use real::{Real, RealFunction, RealOperator};
pub use refusal::{Refusal, Why};
