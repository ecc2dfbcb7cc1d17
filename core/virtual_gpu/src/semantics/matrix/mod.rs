//! Tensor cores: which lane holds which element, and what the products sum to. PTX ISA 9.7.15 "Warp Level Matrix
//! Multiply-Accumulate Instructions".
//!
//! Matrices are slices of bit patterns here: A by rows (m × k), B by columns (k × n, each column together), C and
//! D by rows (m × n). A [`Layout`] says where the elements of each lane's registers belong.

mod accumulate;
mod bounded;
mod element;
mod layout;
mod multiply;
#[cfg(test)]
mod tests;

pub use accumulate::{Accumulation, Architecture};
pub use element::{Accumulator, Multiplicand};
pub use layout::{Fragment, Layout, MajorOrder, Position, QuadFragment, Shape};
pub use multiply::{
    BitProduct, FloatTypes, multiply_bits, multiply_double, multiply_float, multiply_integer,
    transpose_8x8,
};
