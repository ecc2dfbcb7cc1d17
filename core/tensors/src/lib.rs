//! The tensors of a workload: where their elements lie, what inputs hold, and how outputs are compared.

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
