//! The tensors of a workload: memory layout, generated inputs, and comparison of outputs.

pub mod case;
pub mod compare;
pub mod encoding;
pub mod inputs;
pub mod layout;

#[cfg(any(test, feature = "testing"))]
pub mod fixture;

pub use case::{Case, TensorCase};
pub use layout::LayoutError;
use lightbench_primitives::element;
