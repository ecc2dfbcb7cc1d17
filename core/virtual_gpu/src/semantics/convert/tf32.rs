//! Conversion of f32 to tf32, which is stored as an f32 whose low 13 bits are zero.

use super::super::exact::{Beyond, Format, Value};
use super::super::{Negative, Rounding};

/// Rounding to tf32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tf32Rounding {
    /// To nearest, ties away from zero (`.rna`).
    NearestAway,
    /// To nearest even (`.rn`).
    NearestEven,
    /// Towards zero (`.rz`).
    TowardZero,
}

const CUT: u32 = 13;

/// `cvt.{rna,rn,rz}{.relu}{.satfinite}.tf32.f32`. PTX ISA 9.7.9.21 "cvt".
///
/// NaN becomes 0x7fffe000. `.rna` without other modifiers truncates NaN instead, as an H200 does: a NaN whose payload
/// is in the truncated bits becomes infinity. (With `.satfinite` an H200 converts some NaN to finite numbers; the ISA
/// specifies "if the input value is NaN, then the result is NaN", which is implemented here.)
#[inline]
#[must_use]
pub fn f32_to_tf32(a: u32, rounding: Tf32Rounding, negative: Negative, beyond: Beyond) -> u32 {
    let magnitude = a & 0x7fff_ffff;
    let plain = negative == Negative::Keep && beyond == Beyond::Infinity;
    if rounding == Tf32Rounding::NearestAway && plain {
        let special = magnitude >= 0x7f80_0000;
        let half = if special { 0 } else { 1 << (CUT - 1) };
        return (a + half) >> CUT << CUT;
    }
    let cut = match Format::F32.decode(u64::from(a)) {
        Value::Nan => Format::TF32.canonical_nan(),
        Value::Infinity { .. } if beyond == Beyond::Infinity => u64::from(a >> CUT),
        Value::Infinity { .. } => u64::from(a >> 31 << 18) | Format::TF32.largest_finite(),
        Value::Finite(number) => match rounding {
            Tf32Rounding::NearestEven => Format::TF32.round(number, Rounding::NearestEven, beyond),
            Tf32Rounding::TowardZero => Format::TF32.round(number, Rounding::TowardZero, beyond),
            Tf32Rounding::NearestAway => {
                let away = u64::from(magnitude + (1 << (CUT - 1))) >> CUT;
                let limit = match beyond {
                    Beyond::Infinity => Format::TF32.infinity(),
                    Beyond::LargestFinite => Format::TF32.largest_finite(),
                };
                u64::from(a >> 31 << 18) | away.min(limit)
            }
        },
    };
    let is_negative = cut & Format::TF32.sign_bit() != 0;
    match negative {
        Negative::Zero if is_negative => 0,
        Negative::Zero | Negative::Keep => (cut as u32) << CUT,
    }
}
