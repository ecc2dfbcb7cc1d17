//! Tensor cores: `mma`, `wmma`, and what moves their fragments. PTX ISA, section "Warp Level Matrix
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

/// What tensor cores do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// `mma.sync`: d = a × b + c, fragments as that instruction lays them out.
    Multiply(MultiplyAccumulate),
    /// `wmma.mma`: the same with fragments as `wmma.load` lays them out.
    WarpMultiply(MultiplyAccumulate),
    /// `wmma.load`: a fragment from memory; the stride, where there is one, is in elements.
    WarpLoad(Fragment, Shape, Layout, Space),
    /// `wmma.store`: a fragment to memory.
    WarpStore(Accumulator, Shape, Layout, Space),
    /// `ldmatrix`: 8 × 8 matrices of 16-bit elements from shared memory, rows addressed by lanes.
    Load(MatrixCount, Orientation, Space),
    /// `stmatrix`: the way back.
    Store(MatrixCount, Orientation, Space),
    /// `movmatrix`: an 8 × 8 matrix across registers, transposed.
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
