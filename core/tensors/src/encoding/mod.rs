//! Encoding of tensors, fills and comparisons for the harness kernels in `assets/bench`, which generate inputs and
//! compare outputs on a GPU with the same bits as this crate on the host.

pub mod comparison;
pub mod format;
pub mod input;
mod words;
