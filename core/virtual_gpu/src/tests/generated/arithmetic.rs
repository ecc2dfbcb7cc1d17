//! Floating-point arithmetic of the reference, by the arbitrary-precision library that LLVM uses for constant
//! folding.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float as _, FloatConvert as _, Round};

use super::super::virtual_gpu::isa::compare::{
    Combine, Compare, ComparedFloat, Comparison, Equality, FloatComparison, IntegerComparison,
    SelectorType, SetType,
};
use super::super::virtual_gpu::isa::convert::{
    Convert, HalfPairType, PairRounding, RealRounding, RealType, WholeRounding,
};
use super::super::virtual_gpu::isa::float::{
    Choice, Clamp, Float, FloatFormat, FloatProperty, FloatType, NanRule, Rounding, SignRule,
    Subnormals,
};
use super::super::virtual_gpu::isa::half::{
    Half as HalfOperation, HalfClamp, HalfFormat, HalfType,
};
use super::super::virtual_gpu::isa::integer::{Negative, Overflow};
use super::super::virtual_gpu::isa::scalar::ScalarType;
use super::whole::{clamp, number, wrap};

/// A format of numbers, which `rustc_apfloat` has as a type of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Half,
    Brain,
    Single,
    Double,
}

fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::TowardZero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

/// Calls a function with the type of a format.
macro_rules! with {
    ($format:expr, $name:ident => $body:expr) => {
        match $format {
            Format::Half => {
                type $name = Half;
                $body
            }
            Format::Brain => {
                type $name = BFloat;
                $body
            }
            Format::Single => {
                type $name = Single;
                $body
            }
            Format::Double => {
                type $name = Double;
                $body
            }
        }
    };
}

impl Format {
    fn bits(self) -> u32 {
        match self {
            Self::Half | Self::Brain => 16,
            Self::Single => 32,
            Self::Double => 64,
        }
    }

    fn canonical_nan(self) -> u64 {
        match self {
            Self::Half | Self::Brain => 0x7fff,
            Self::Single => 0x7fff_ffff,
            Self::Double => 0x7ff8_0000_0000_0000,
        }
    }

    fn low(self, bits: u64) -> u128 {
        u128::from(wrap(i128::from(bits), self.bits()))
    }

    fn is_nan(self, bits: u64) -> bool {
        with!(self, T => T::from_bits(self.low(bits)).is_nan())
    }

    fn is_subnormal(self, bits: u64) -> bool {
        with!(self, T => T::from_bits(self.low(bits)).is_denormal())
    }

    fn sign(self, bits: u64) -> u64 {
        bits & 1 << (self.bits() - 1)
    }

    fn one(self) -> u64 {
        with!(self, T => T::from_u128(1).value.to_bits() as u64)
    }

    fn is_negative(self, bits: u64) -> bool {
        self.sign(bits) != 0
    }

    fn flush(self, bits: u64, subnormals: Subnormals) -> u64 {
        let bits = self.low(bits) as u64;
        let flushes = subnormals == Subnormals::Flush && self.is_subnormal(bits);
        if flushes { self.sign(bits) } else { bits }
    }

    fn compute(self, operator: Operator, s: &[u64], rounding: Round) -> u64 {
        with!(self, T => {
            let at = |index: usize| T::from_bits(self.low(s[index]));
            let value = match operator {
                Operator::Add => at(0).add_r(at(1), rounding).value,
                Operator::Subtract => at(0).sub_r(at(1), rounding).value,
                Operator::Multiply => at(0).mul_r(at(1), rounding).value,
                Operator::MultiplyAdd => at(0).mul_add_r(at(1), at(2), rounding).value,
                Operator::Divide => at(0).div_r(at(1), rounding).value,
                Operator::Reciprocal => T::from_u128(1).value.div_r(at(0), rounding).value,
            };
            if value.is_nan() { self.canonical_nan() } else { value.to_bits() as u64 }
        })
    }

    /// A result whose subnormals are flushed: also one that is subnormal before it is rounded.
    fn arithmetic(
        self,
        operator: Operator,
        s: &[u64],
        rounding: Round,
        subnormals: Subnormals,
    ) -> u64 {
        let s: Vec<u64> = s.iter().map(|bits| self.flush(*bits, subnormals)).collect();
        let result = self.compute(operator, &s, rounding);
        let cut = self.compute(operator, &s, Round::TowardZero);
        let small = self.is_subnormal(result) || self.is_subnormal(cut);
        if subnormals == Subnormals::Flush && small { self.sign(cut) } else { result }
    }

    fn unit(self, bits: u64) -> u64 {
        if self.is_nan(bits) || self.is_negative(bits) { 0 } else { bits.min(self.one()) }
    }

    fn order(self, a: u64, b: u64) -> Option<std::cmp::Ordering> {
        with!(self, T => T::from_bits(self.low(a)).partial_cmp(&T::from_bits(self.low(b))))
    }

    fn to(self, to: Self, bits: u64, rounding: Round) -> u64 {
        let mut inexact = false;
        let value = with!(self, From => {
            let from = From::from_bits(self.low(bits));
            with!(to, To => {
                let value: To = from.convert_r(rounding, &mut inexact).value;
                value.to_bits() as u64
            })
        });
        if self.is_nan(bits) { to.canonical_nan() } else { value }
    }

    fn whole(self, bits: u64, rounding: Round) -> u64 {
        with!(self, T => T::from_bits(self.low(bits)).round_to_integral(rounding).value.to_bits() as u64)
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    Divide,
    Reciprocal,
}

fn format_of(format: FloatFormat) -> Option<(Format, Subnormals, Clamp)> {
    match format {
        FloatFormat::F32(subnormals, clamp) => Some((Format::Single, subnormals, clamp)),
        FloatFormat::F64 => Some((Format::Double, Subnormals::Keep, Clamp::None)),
        FloatFormat::F32x2(_) => None,
    }
}

/// f32 and f64; none for pairs of f32.
pub(super) fn float(what: Float, s: &[u64]) -> Option<u64> {
    let exact = |operator, format, rounding| {
        let (format, subnormals, clamp) = format_of(format)?;
        let result = format.arithmetic(operator, s, round(rounding), subnormals);
        Some(if clamp == Clamp::Unit { format.unit(result) } else { result })
    };
    let of = |ty: FloatType| if ty == FloatType::F32 { Format::Single } else { Format::Double };
    match what {
        Float::Add(format, rounding) => exact(Operator::Add, format, rounding),
        Float::Subtract(format, rounding) => exact(Operator::Subtract, format, rounding),
        Float::Multiply(format, rounding) => exact(Operator::Multiply, format, rounding),
        Float::MultiplyAdd(format, rounding) => exact(Operator::MultiplyAdd, format, rounding),
        Float::Divide(format, rounding) => exact(Operator::Divide, format, rounding),
        Float::Reciprocal(format, rounding) => exact(Operator::Reciprocal, format, rounding),
        Float::SquareRoot(
            FloatFormat::F32(Subnormals::Keep, Clamp::None),
            Rounding::NearestEven,
        ) => {
            let root = f32::from_bits(s[0] as u32).sqrt();
            Some(if root.is_nan() { 0x7fff_ffff } else { u64::from(root.to_bits()) })
        }
        Float::SquareRoot(FloatFormat::F64, Rounding::NearestEven) => {
            Some(f64::from_bits(s[0]).sqrt().to_bits())
        }
        Float::SquareRoot(..) => None,
        Float::Absolute(format) => {
            let (format, subnormals, _) = format_of(format)?;
            let bits = format.flush(s[0], subnormals);
            Some(if format.is_nan(bits) { bits } else { bits & !format.sign(u64::MAX) })
        }
        Float::Negate(format) => {
            let (format, subnormals, _) = format_of(format)?;
            let bits = format.flush(s[0], subnormals);
            Some(if format.is_nan(bits) { bits } else { bits ^ format.sign(u64::MAX) })
        }
        Float::Minimum(format, choice) => {
            let (format, subnormals, _) = format_of(format)?;
            extreme(format, subnormals, choice, s, std::cmp::Ordering::Less)
        }
        Float::Maximum(format, choice) => {
            let (format, subnormals, _) = format_of(format)?;
            extreme(format, subnormals, choice, s, std::cmp::Ordering::Greater)
        }
        Float::CopySign(ty) => {
            let format = of(ty);
            Some(format.sign(s[0]) | s[1] & !format.sign(u64::MAX))
        }
        Float::Test(FloatProperty::NotANumber, ty) => Some(u64::from(of(ty).is_nan(s[0]))),
        Float::Test(..) => None,
    }
}

/// The extreme of two numbers; only plain ones of two operands.
fn extreme(
    format: Format,
    subnormals: Subnormals,
    choice: Choice,
    s: &[u64],
    wanted: std::cmp::Ordering,
) -> Option<u64> {
    if choice.sign != SignRule::Winner || s.len() != 2 {
        return None;
    }
    let [a, b] = [s[0], s[1]].map(|bits| format.flush(bits, subnormals));
    let (a_nan, b_nan) = (format.is_nan(a), format.is_nan(b));
    let lost = if choice.nan == NanRule::Propagate { a_nan || b_nan } else { a_nan && b_nan };
    let zeros = (a | b) & !format.sign(u64::MAX) == 0;
    Some(if lost {
        format.canonical_nan()
    } else if a_nan {
        b
    } else if b_nan {
        a
    } else if zeros {
        // -0 is smaller than +0.
        if wanted == std::cmp::Ordering::Less { a | b } else { a & b }
    } else if format.order(a, b) == Some(wanted) {
        a
    } else {
        b
    })
}

/// f16 and bf16, alone and in pairs, without `.ftz`.
pub(super) fn half(what: HalfOperation, s: &[u64]) -> Option<u64> {
    let format_of = |format: HalfFormat| match format.ty {
        HalfType::F16 => (Format::Half, 1),
        HalfType::F16x2 => (Format::Half, 2),
        HalfType::Bf16 => (Format::Brain, 1),
        HalfType::Bf16x2 => (Format::Brain, 2),
    };
    let each = |format: HalfFormat, f: &dyn Fn(Format, &[u64]) -> Option<u64>| {
        if format.subnormals == Subnormals::Flush {
            return None;
        }
        let (of, count) = format_of(format);
        (0..count).try_fold(0, |all, index| {
            let pieces: Vec<u64> = s.iter().map(|bits| bits >> (16 * index) & 0xffff).collect();
            let bits = f(of, &pieces)?;
            let limited = match format.clamp {
                HalfClamp::None => bits,
                HalfClamp::Unit => of.unit(bits),
                HalfClamp::Negative if of.is_negative(bits) && !of.is_nan(bits) => 0,
                HalfClamp::Negative => bits,
            };
            Some(all | limited << (16 * index))
        })
    };
    let exact = |format, operator| {
        each(format, &|of, s| Some(of.compute(operator, s, Round::NearestTiesToEven)))
    };
    match what {
        HalfOperation::Add(format) => exact(format, Operator::Add),
        HalfOperation::Subtract(format) => exact(format, Operator::Subtract),
        HalfOperation::Multiply(format) => exact(format, Operator::Multiply),
        HalfOperation::MultiplyAdd(format) => exact(format, Operator::MultiplyAdd),
        HalfOperation::Minimum(format, choice) => each(format, &|of, s| {
            extreme(of, Subnormals::Keep, choice, s, std::cmp::Ordering::Less)
        }),
        HalfOperation::Maximum(format, choice) => each(format, &|of, s| {
            extreme(of, Subnormals::Keep, choice, s, std::cmp::Ordering::Greater)
        }),
        HalfOperation::Absolute(_) | HalfOperation::Negate(_) => None,
    }
}

fn holds(comparison: Comparison, s: &[u64]) -> Option<bool> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    Some(match comparison {
        Comparison::Bits(equality, ty) => {
            let width = ScalarType::from(ty).bits();
            let same = wrap(i128::from(s[0] ^ s[1]), width) == 0;
            same == (equality == Equality::Equal)
        }
        Comparison::Integer(order, ty) => {
            let found = number(s[0], ty.into()).cmp(&number(s[1], ty.into()));
            use IntegerComparison as I;
            match order {
                I::Equal => found == Equal,
                I::NotEqual => found != Equal,
                I::Less | I::Lower => found == Less,
                I::LessEqual | I::LowerSame => found != Greater,
                I::Greater | I::Higher => found == Greater,
                I::GreaterEqual | I::HigherSame => found != Less,
            }
        }
        Comparison::Float(order, ty, subnormals) => {
            let format = match ty {
                ComparedFloat::F16 => Format::Half,
                ComparedFloat::Bf16 => Format::Brain,
                ComparedFloat::F32 => Format::Single,
                ComparedFloat::F64 => Format::Double,
                ComparedFloat::F16x2 | ComparedFloat::Bf16x2 => return None,
            };
            let [a, b] = [s[0], s[1]].map(|bits| format.flush(bits, subnormals));
            let found = format.order(a, b);
            use FloatComparison as F;
            match order {
                F::Equal => found == Some(Equal),
                F::NotEqual => found.is_some_and(|found| found != Equal),
                F::Less => found == Some(Less),
                F::LessEqual => found.is_some_and(|found| found != Greater),
                F::Greater => found == Some(Greater),
                F::GreaterEqual => found.is_some_and(|found| found != Less),
                F::EqualUnordered => found.is_none_or(|found| found == Equal),
                F::NotEqualUnordered => found != Some(Equal),
                F::LessUnordered => found.is_none_or(|found| found == Less),
                F::LessEqualUnordered => found != Some(Greater),
                F::GreaterUnordered => found.is_none_or(|found| found == Greater),
                F::GreaterEqualUnordered => found != Some(Less),
                F::BothNumbers => found.is_some(),
                F::AnyNan => found.is_none(),
            }
        }
    })
}

/// Comparison and selection.
pub(super) fn compare(what: Compare, s: &[u64]) -> Option<u64> {
    let joined = |comparison, combine: Option<Combine>| {
        let holds = holds(comparison, s)?;
        Some(match combine {
            None => holds,
            Some(Combine::And) => holds && s[2] == 1,
            Some(Combine::Or) => holds || s[2] == 1,
            Some(Combine::Xor) => holds != (s[2] == 1),
        })
    };
    match what {
        Compare::SetPredicate(comparison, combine) => joined(comparison, combine).map(u64::from),
        Compare::Set(comparison, combine, ty) => {
            let holds = joined(comparison, combine)?;
            let yes = match ty {
                SetType::F32 => 0x3f80_0000,
                SetType::U32 | SetType::S32 => 0xffff_ffff,
                SetType::U16
                | SetType::S16
                | SetType::F16
                | SetType::F16x2
                | SetType::Bf16
                | SetType::Bf16x2 => return None,
            };
            Some(if holds { yes } else { 0 })
        }
        Compare::Select(_) => Some(if s[2] == 1 { s[0] } else { s[1] }),
        Compare::SelectBySign(_, SelectorType::S32, _) => {
            Some(if number(s[2], ScalarType::S32) >= 0 { s[0] } else { s[1] })
        }
        Compare::SelectBySign(_, SelectorType::F32, subnormals) => {
            let selector = f32::from_bits(Format::Single.flush(s[2], subnormals) as u32);
            Some(if selector >= 0.0 { s[0] } else { s[1] })
        }
    }
}

fn real(ty: RealType) -> Format {
    match ty {
        RealType::F16 => Format::Half,
        RealType::Bf16 => Format::Brain,
        RealType::F32 => Format::Single,
        RealType::F64 => Format::Double,
    }
}

fn whole_rounding(rounding: WholeRounding) -> Round {
    match rounding {
        WholeRounding::NearestEven => Round::NearestTiesToEven,
        WholeRounding::TowardZero => Round::TowardZero,
        WholeRounding::Down => Round::TowardNegative,
        WholeRounding::Up => Round::TowardPositive,
    }
}

/// Conversions, those without `.ftz` and `.satfinite`.
pub(super) fn convert(what: Convert, s: &[u64]) -> Option<u64> {
    match what {
        Convert::IntegerToInteger { to, from, overflow } => {
            let to = ScalarType::from(to);
            let value = number(s[0], from.into());
            let limited = if overflow == Overflow::Saturate { clamp(value, to) } else { value };
            // A truncated result is extended by its type, for wider registers.
            Some(number(wrap(limited, 64), to) as u64)
        }
        Convert::IntegerToReal { to, from, rounding, clamp: Clamp::None } => {
            let (value, rounding) = (number(s[0], from.into()), round(rounding));
            Some(with!(real(to), T => T::from_i128_r(value, rounding).value.to_bits() as u64))
        }
        Convert::RealToInteger { to, from, rounding, subnormals: Subnormals::Keep, .. } => {
            let (format, to) = (real(from), ScalarType::from(to));
            // PTX ISA, "cvt": NaN becomes zero, but the top bit where f64 or 64 bits take part.
            if format.is_nan(s[0]) {
                let wide = format == Format::Double || to.bits() == 64;
                let bits = if wide { 1 << (to.bits() - 1) } else { 0 };
                return Some(number(bits, to) as u64);
            }
            let mut exact = false;
            let value = with!(format, T => {
                T::from_bits(format.low(s[0])).to_i128_r(128, whole_rounding(rounding), &mut exact).value
            });
            Some(clamp(value, to) as u64)
        }
        Convert::RealToReal {
            to,
            from,
            rounding,
            subnormals: Subnormals::Keep,
            clamp,
            negative,
            ..
        } => {
            let (from, to) = (real(from), real(to));
            let bits = match rounding {
                RealRounding::Exact => from.to(to, s[0], Round::NearestTiesToEven),
                RealRounding::ToPrecision(rounding) => from.to(to, s[0], round(rounding)),
                RealRounding::ToWhole(_) if from != to => return None,
                RealRounding::ToWhole(_) if from.is_nan(s[0]) => to.canonical_nan(),
                RealRounding::ToWhole(rounding) => from.whole(s[0], whole_rounding(rounding)),
            };
            Some(match (clamp, negative) {
                (Clamp::Unit, _) => to.unit(bits),
                (Clamp::None, Negative::Zero) if to.is_negative(bits) && !to.is_nan(bits) => 0,
                (Clamp::None, Negative::Zero | Negative::Keep) => bits,
            })
        }
        Convert::PackHalves { to, rounding, negative: Negative::Keep, .. } => {
            let to = if to == HalfPairType::F16x2 { Format::Half } else { Format::Brain };
            let rounding = match rounding {
                PairRounding::NearestEven => Round::NearestTiesToEven,
                PairRounding::TowardZero => Round::TowardZero,
                PairRounding::Up => Round::TowardPositive,
            };
            let one = |bits| Format::Single.to(to, bits, rounding);
            Some(one(s[0]) << 16 | one(s[1]))
        }
        Convert::IntegerToReal { .. }
        | Convert::RealToInteger { .. }
        | Convert::RealToReal { .. }
        | Convert::PackHalves { .. }
        | Convert::ToTf32 { .. }
        | Convert::PackNarrow { .. }
        | Convert::UnpackNarrow { .. }
        | Convert::PackIntegers { .. } => None,
    }
}
