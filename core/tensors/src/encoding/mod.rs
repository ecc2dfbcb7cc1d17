//! How tensors, fills and comparisons are encoded for the harness kernels in `assets/bench`, which generate inputs and
//! compare outputs on a GPU, bit for bit as this crate does on the host.

pub mod comparison;
pub mod format;
pub mod input;
mod words;
