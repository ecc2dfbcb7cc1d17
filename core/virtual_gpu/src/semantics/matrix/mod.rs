//! Tensor cores: the lane that holds each element, and the sums of products. PTX ISA 9.7.15 "Warp Level Matrix
//! Multiply-Accumulate Instructions".
//!
//! Matrices are slices of bit patterns: A by rows (m × k), B by columns (k × n, each column contiguous), C and D by
//! rows (m × n). A [`Layout`] gives the matrix position of each element in the registers of each lane.

mod accumulate;
mod bounded;
mod element;
mod layout;
mod multiply;
#[cfg(test)]
mod tests;

pub use accumulate::{Architecture, Issuer};
pub use element::{Accumulator, Multiplicand};
pub use layout::{Fragment, Layout, MajorOrder, Position, QuadFragment, Shape};
pub use multiply::{
    BitProduct, FloatRows, FloatTypes, multiply_bits, multiply_double, multiply_float,
    multiply_integer, transpose_8x8,
};
