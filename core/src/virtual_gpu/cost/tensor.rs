//! What tensor cores multiply.

use super::super::isa::matrix::{Matrix, Multiplicand};
use super::super::lower::code::Code;

/// The format of what tensor cores multiply, as peak rates are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TensorFormat {
    /// Half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// An f32 with ten bits of fraction.
    Tf32,
    /// Double precision.
    F64,
    /// Eight bits with an exponent, in either format.
    F8,
    /// Eight-bit integers.
    I8,
    /// Four-bit integers.
    I4,
    /// Single bits.
    B1,
}

/// What an operation multiplies, if it is a product.
pub(crate) fn format(code: Code) -> Option<TensorFormat> {
    let Code::Matrix {
        matrix: Matrix::Multiply(multiply) | Matrix::WarpMultiply(multiply), ..
    } = code
    else {
        return None;
    };
    Some(match multiply.a {
        Multiplicand::F16 => TensorFormat::F16,
        Multiplicand::Bf16 => TensorFormat::Bf16,
        Multiplicand::Tf32 => TensorFormat::Tf32,
        Multiplicand::F64 => TensorFormat::F64,
        Multiplicand::E4m3 | Multiplicand::E5m2 => TensorFormat::F8,
        Multiplicand::U8 | Multiplicand::S8 => TensorFormat::I8,
        Multiplicand::U4 | Multiplicand::S4 => TensorFormat::I4,
        Multiplicand::B1 => TensorFormat::B1,
    })
}
