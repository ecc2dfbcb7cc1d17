//! f32 and f64 arithmetic with exact rounding, on bit patterns. PTX ISA 9.7.3 "Floating Point Instructions".
//!
//! An f32 result that is NaN is the canonical NaN 0x7fffffff (9.7.3). An f64 result that is NaN is the last operand
//! that is NaN (the first one for a division), with its quiet bit set; the ISA does not specify this, an H200 does
//! it.

mod class;
mod double;
mod extreme;
mod single;
#[cfg(test)]
mod tests;

pub use class::{
    FloatProperty, absolute_f32, absolute_f64, copy_sign_f32, copy_sign_f64, negate_f32,
    negate_f64, test_f32, test_f64,
};
pub use double::{
    add_f64, divide_f64, multiply_add_f64, multiply_f64, reciprocal_f64, square_root_f64,
    subtract_f64,
};
pub(super) use extreme::ordered_key;
pub use extreme::{Choice, extreme_f32, extreme_f32_of_three, extreme_f64};
pub use single::{
    SingleMode, add_f32, divide_f32, fused_multiply_add_f32, multiply_add_f32, multiply_f32,
    reciprocal_f32, square_root_f32, subtract_f32,
};
pub(super) use single::{flush_f32, odd_sum};

/// The NaN of f32 results. PTX ISA 9.7.3: "single-precision NaN is 0x7fffffff".
pub const CANONICAL_NAN_F32: u32 = 0x7fff_ffff;

/// Applies an f32 operation to both halves of 64 bits (`.f32x2`). PTX ISA 9.7.3 "add", "mul", "fma".
#[inline]
#[must_use]
pub fn pair_f32<const N: usize>(operands: [u64; N], operation: impl Fn([u32; N]) -> u32) -> u64 {
    let low = operation(operands.map(|bits| bits as u32));
    let high = operation(operands.map(|bits| (bits >> 32) as u32));
    u64::from(low) | u64::from(high) << 32
}
