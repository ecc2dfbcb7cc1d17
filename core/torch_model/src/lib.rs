//! Inputs, weights, shapes and work of a PyTorch model, from its text alone: nothing of the text runs.
//!
//! ```text
//!  Module (of `python_source`) ──► Interpreter: sizes are polynomials, tensors are shapes ──► Task
//!                                       │
//!                                       └── table of operations and of modules of `torch.nn`
//! ```
//!
//! Integers that a task writes at its module level are sizes that may vary, until an operation needs one as a number, as
//! a kernel size is: then this name keeps the value of the task, and the interpreter starts again. What remains are the
//! axes. An operation that is not in the table ends the reading with its name and line.

mod arguments;
mod dimension;
mod evaluate;
mod interpreter;
mod library;
mod modules;
mod operations;
pub mod sizes;
mod task;
mod trace;
mod value;

#[cfg(test)]
mod tests;

pub use dimension::{Dimension, Sizes};
pub use task::{InputRole, InputTensor, OutputTensor, ScalarInput, Task, is_task, read};
pub use trace::{Condition, Refusal, Work};
pub use value::{Distribution, ElementType};
