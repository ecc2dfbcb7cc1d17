//! Tensor-core instructions: `mma`, `wmma`, loads and stores of fragments, and `wgmma`. PTX ISA, sections "Warp
//! Level Matrix Multiply-Accumulate Instructions" and "Asynchronous Warpgroup Level Matrix Instructions".

mod fragment;
mod mma;
mod transfer;
mod warpgroup;
mod wmma;

pub use fragment::{Accumulator, Fragment, Layout, Multiplicand, Shape};
pub use mma::{BitProduct, MultiplyAccumulate};
pub use transfer::{MatrixCount, Orientation};
pub use warpgroup::{Source, Warpgroup, WarpgroupMultiply};

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
    /// `wgmma`: asynchronous products of a warpgroup.
    Warpgroup(Warpgroup),
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("mma", mma::decode),
    Row::with("wmma", "load", wmma::load),
    Row::with("wmma", "store", wmma::store),
    Row::with("wmma", "mma", wmma::multiply),
    Row::any("ldmatrix", transfer::load),
    Row::any("stmatrix", transfer::store),
    Row::any("movmatrix", transfer::transpose),
    Row::any("wgmma", warpgroup::decode),
];
