//! Conversions between types. PTX ISA 9.7.9.21 "cvt" and 9.7.9.22 "cvt.pack".

mod narrow;
mod real;
#[cfg(test)]
mod tests;
mod tf32;
mod whole;

pub use narrow::{
    NarrowFormat, NarrowMode, narrow_from_f32, narrow_from_half, narrow_to_half, scale_from_real,
    scale_to_bf16,
};
pub use real::{
    FloatFormat, RealMode, RealRounding, bf16_to_f32, f16_to_f32, f32_to_f16_nearest, f32_to_f64,
    f32_to_half, f64_to_f32_nearest, real_to_real,
};
pub use tf32::{Tf32Rounding, f32_to_tf32};
pub use whole::{
    WholeRounding, WholeType, f32_to_s32_toward_zero, pack_integers, real_to_whole, whole_to_real,
    whole_to_whole,
};

use super::exact::Beyond;
