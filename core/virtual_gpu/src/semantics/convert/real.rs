//! Conversions between f16, bf16, f32 and f64.

use super::super::exact::{Exact, Format, Value};
use super::super::half::HalfFormat;
use super::super::{Clamp, Negative, Rounding, Subnormals};
use super::Beyond;
use super::whole::{WholeRounding, round_to_whole};

/// The scalar floating-point types of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatFormat {
    /// Half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

/// The rounding of a conversion between floating-point types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealRounding {
    /// To the precision of the result; a widening conversion is exact in any mode.
    ToPrecision(Rounding),
    /// To an integer.
    ToWhole(WholeRounding),
}

/// The modifiers of a conversion between floating-point types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealMode {
    /// `.rn` to `.rp`, `.rni` to `.rpi`.
    pub rounding: RealRounding,
    /// `.ftz`: f32 inputs and results.
    pub subnormals: Subnormals,
    /// `.sat`.
    pub clamp: Clamp,
    /// `.relu`.
    pub negative: Negative,
    /// `.satfinite`.
    pub beyond: Beyond,
}

impl RealMode {
    /// Round to nearest, without further modifiers.
    pub const NEAREST: Self = Self {
        rounding: RealRounding::ToPrecision(Rounding::NearestEven),
        subnormals: Subnormals::Keep,
        clamp: Clamp::None,
        negative: Negative::Keep,
        beyond: Beyond::Infinity,
    };
}

impl FloatFormat {
    /// The binary format.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::F16 => Format::F16,
            Self::Bf16 => Format::BF16,
            Self::F32 => Format::F32,
            Self::F64 => Format::F64,
        }
    }

    /// The encoding of 1.0.
    fn one(self) -> u64 {
        self.round(Exact::integer(1), Rounding::NearestEven)
    }

    /// `.ftz` applies to f32 only: "cvt.ftz.dtype.f32", "cvt.ftz.f32.stype".
    pub(super) fn flush(self, bits: u64, subnormals: Subnormals) -> u64 {
        let format = self.format();
        let flushes = self == Self::F32 && subnormals == Subnormals::Flush;
        if flushes && bits & format.infinity() == 0 { bits & format.sign_bit() } else { bits }
    }
}

/// Converts a floating-point number to another format, or rounds it to an integer in its own.
///
/// A NaN becomes the canonical NaN of the result format. Conversions from or to f64 keep its payload on an H200: it
/// moves to the upper bits of the result, and the quiet bit is set. Conversions of bf16 to f32 keep all bits.
///
/// With `.ftz` an H200 does not flush the input of `cvt.rm.ftz.f16.f32` and `.rp`; the ISA specifies that it is
/// flushed, which is implemented here.
#[inline]
#[must_use]
pub fn real_to_real(a: u64, from: FloatFormat, to: FloatFormat, mode: RealMode) -> u64 {
    let bits = match from.format().decode(from.flush(a, mode.subnormals)) {
        Value::Nan => nan(a, from, to, mode),
        Value::Infinity { negative } => infinity(negative, to, mode.beyond),
        Value::Finite(number) => finite(number, to, mode),
    };
    limit(bits, to, mode)
}

fn finite(number: Exact, to: FloatFormat, mode: RealMode) -> u64 {
    let format = to.format();
    let (number, rounding) = match mode.rounding {
        RealRounding::ToPrecision(rounding) => (number, rounding),
        RealRounding::ToWhole(whole) => (round_to_whole(number, whole), Rounding::NearestEven),
    };
    // Results below the normal range are flushed before rounding, as in arithmetic.
    let top = 127 - number.significand.leading_zeros() as i32 + number.exponent;
    let flushes = to == FloatFormat::F32 && mode.subnormals == Subnormals::Flush;
    if flushes && number.significand != 0 && top < format.smallest_exponent() {
        return if number.negative { format.sign_bit() } else { 0 };
    }
    format.round(number, rounding, mode.beyond)
}

fn infinity(negative: bool, to: FloatFormat, beyond: Beyond) -> u64 {
    let format = to.format();
    let magnitude = match beyond {
        Beyond::Infinity => format.infinity(),
        Beyond::LargestFinite => format.largest_finite(),
    };
    if negative { format.sign_bit() | magnitude } else { magnitude }
}

fn nan(a: u64, from: FloatFormat, to: FloatFormat, mode: RealMode) -> u64 {
    let (source, result) = (from.format(), to.format());
    let kept = mode.subnormals == Subnormals::Keep;
    let plain = kept && matches!(mode.rounding, RealRounding::ToPrecision(_));
    let keeps = match (from, to) {
        (FloatFormat::F64, _) | (_, FloatFormat::F64) => true,
        (FloatFormat::Bf16, FloatFormat::F32) => kept,
        // `cvt.f32.f32` is a move.
        (FloatFormat::F32, FloatFormat::F32) => plain,
        (FloatFormat::F16 | FloatFormat::Bf16 | FloatFormat::F32, _) => false,
    };
    if !keeps {
        return result.canonical_nan();
    }
    // With `.ftz` an f32 NaN is made canonical first.
    let a = if from == FloatFormat::F32 && !kept { source.canonical_nan() } else { a };
    let sign = if a & source.sign_bit() == 0 { 0 } else { result.sign_bit() };
    let payload = a & ((1 << source.fraction_bits) - 1);
    let moved = payload << (64 - source.fraction_bits) >> (64 - result.fraction_bits);
    let moves_only = matches!((from, to), (FloatFormat::Bf16 | FloatFormat::F32, FloatFormat::F32))
        || (from == to && plain);
    let quiet = if moves_only { 0 } else { 1 << (result.fraction_bits - 1) };
    sign | result.infinity() | moved | quiet
}

/// `.sat` and `.relu`.
fn limit(bits: u64, to: FloatFormat, mode: RealMode) -> u64 {
    let format = to.format();
    let magnitude = bits & format.magnitude_mask();
    let nan = magnitude > format.infinity();
    let negative = bits & format.sign_bit() != 0;
    match (mode.clamp, mode.negative) {
        (Clamp::Unit, _) if nan || negative => 0,
        (Clamp::Unit, _) => bits.min(to.one()),
        (Clamp::None, Negative::Zero) if nan => format.canonical_nan(),
        (Clamp::None, Negative::Zero) if negative => 0,
        (Clamp::None, Negative::Keep | Negative::Zero) => bits,
    }
}

/// `cvt.f32.f16`.
#[inline]
#[must_use]
pub fn f16_to_f32(a: u16) -> u32 {
    if HalfFormat::F16.is_nan(a) {
        super::super::float::CANONICAL_NAN_F32
    } else {
        HalfFormat::F16.to_f32(a).to_bits()
    }
}

/// `cvt.f32.bf16`: the same bits, NaN too.
#[inline]
#[must_use]
pub fn bf16_to_f32(a: u16) -> u32 {
    u32::from(a) << 16
}

/// `cvt.rn.f16.f32`.
#[inline]
#[must_use]
pub fn f32_to_f16_nearest(a: u32) -> u16 {
    HalfFormat::F16.nearest(f64::from(f32::from_bits(a)))
}

/// `cvt.f64.f32`.
#[inline]
#[must_use]
pub fn f32_to_f64(a: u32) -> u64 {
    let number = f32::from_bits(a);
    if !number.is_nan() {
        return f64::from(number).to_bits();
    }
    real_to_real(u64::from(a), FloatFormat::F32, FloatFormat::F64, RealMode::NEAREST)
}

/// `cvt.rn.f32.f64`.
#[inline]
#[must_use]
pub fn f64_to_f32_nearest(a: u64) -> u32 {
    let number = f64::from_bits(a);
    if !number.is_nan() {
        return (number as f32).to_bits();
    }
    real_to_real(a, FloatFormat::F64, FloatFormat::F32, RealMode::NEAREST) as u32
}

/// `cvt.rn.f16.f32`, `cvt.rz.relu.bf16.f32` and their like, of which `.f16x2` and `.bf16x2` take two: the
/// first operand is the upper half.
#[inline]
#[must_use]
pub fn f32_to_half(a: u32, to: HalfFormat, mode: RealMode) -> u16 {
    if mode == RealMode::NEAREST {
        return to.nearest(f64::from(f32::from_bits(a)));
    }
    let to = match to {
        HalfFormat::F16 => FloatFormat::F16,
        HalfFormat::Bf16 => FloatFormat::Bf16,
    };
    real_to_real(u64::from(a), FloatFormat::F32, to, mode) as u16
}
