//! Tensor-core instructions: `mma`, `wmma`, and loads and stores of fragments. PTX ISA, section "Warp Level Matrix
//! Multiply-Accumulate Instructions", except sparse matrices.

mod fragment;
mod mma;
mod transfer;
mod wmma;

pub use fragment::{Accumulator, Fragment, Layout, Multiplicand, Shape};
pub use mma::{BitProduct, MultiplyAccumulate};
pub use transfer::{MatrixCount, Orientation};

use super::Row;
use super::memory::Space;

/// Tensor-core instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// `mma.sync`: D = A × B + C, with the fragment layouts of `mma`.
    Multiply(MultiplyAccumulate),
    /// `wmma.mma`: D = A × B + C, with the fragment layouts of `wmma.load`.
    WarpMultiply(MultiplyAccumulate),
    /// `wmma.load`: a fragment from memory; an optional stride is in elements.
    WarpLoad(Fragment, Shape, Layout, Space),
    /// `wmma.store`: a fragment to memory.
    WarpStore(Accumulator, Shape, Layout, Space),
    /// `ldmatrix`: 8 × 8 matrices of 16-bit elements from shared memory; lanes give the addresses of rows.
    Load(MatrixCount, Orientation, Space),
    /// `stmatrix`: 8 × 8 matrices of 16-bit elements to shared memory.
    Store(MatrixCount, Orientation, Space),
    /// `movmatrix`: transposes an 8 × 8 matrix across registers.
    Transpose,
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("mma", mma::decode),
    Row::with("wmma", "load", wmma::load),
    Row::with("wmma", "store", wmma::store),
    Row::with("wmma", "mma", wmma::multiply),
    Row::any("ldmatrix", transfer::load),
    Row::any("stmatrix", transfer::store),
    Row::any("movmatrix", transfer::transpose),
];
