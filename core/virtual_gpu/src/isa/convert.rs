//! Conversions. PTX ISA, sections "cvt" and "cvt.pack" of "Data Movement and Conversion Instructions".

use super::float::{Clamp, Rounding, Subnormals, clamp, subnormals};
use super::integer::{Negative, Overflow};
use super::keyword::{keywords, scalar_subset};
use super::scalar::{Fit, ScalarClass, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

scalar_subset! {
    /// Integers.
    WholeType: "an integer type" { U8, U16, U32, U64, S8, S16, S32, S64 }
}
scalar_subset! {
    /// Floating-point numbers.
    RealType: "a floating-point type" { F16, Bf16, F32, F64 }
}
scalar_subset! {
    /// Pairs of halves.
    HalfPairType: "a pair of halves" { F16x2, Bf16x2 }
}
scalar_subset! {
    /// Pairs of floating-point numbers of 8 bits or fewer.
    NarrowType: "a pair of narrow numbers" { E4m3x2, E5m2x2, E2m1x2, E2m3x2, E3m2x2, Ue8m0x2 }
}
scalar_subset! {
    /// The source of a conversion to a narrow format: two f32, or a pair of halves.
    PackSource: "the type to pack" { F32, F16x2, Bf16x2 }
}
scalar_subset! {
    /// The result of `cvt.pack`.
    PackedInteger: "a type to pack into" { U8, S8, U16, S16 }
}
keywords! {
    /// Rounding to an integer.
    WholeRounding: "rounding to a whole number (.rni, .rzi, .rmi, .rpi)" {
        NearestEven = "rni", TowardZero = "rzi", Down = "rmi", Up = "rpi",
    }
}
keywords! {
    /// Rounding to tf32.
    Tf32Rounding: "`.rna`, `.rn` or `.rz`" {
        NearestAway = "rna", NearestEven = "rn", TowardZero = "rz",
    }
}
keywords! {
    /// Rounding to pairs of halves and to narrow formats.
    PairRounding: "`.rn`, `.rz` or `.rp`" {
        NearestEven = "rn", TowardZero = "rz", Up = "rp",
    }
}

/// The rounding of a conversion between floating-point types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealRounding {
    /// None: the conversion is exact.
    Exact,
    /// To the precision of the result.
    ToPrecision(Rounding),
    /// To an integer.
    ToWhole(WholeRounding),
}

/// The result of an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    Infinity,
    /// The largest finite number (`.satfinite`).
    LargestFinite,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convert {
    /// Extension or truncation.
    IntegerToInteger {
        /// Type of the result.
        to: WholeType,
        /// Type of the source.
        from: WholeType,
        /// Saturation.
        overflow: Overflow,
    },
    /// Rounding to a floating-point type.
    IntegerToReal {
        /// Type of the result.
        to: RealType,
        /// Type of the source.
        from: WholeType,
        rounding: Rounding,
        /// Clamping to [0, 1].
        clamp: Clamp,
    },
    /// Rounding to an integer, saturated to the type; the ISA specifies the result of NaN.
    RealToInteger {
        /// Type of the result.
        to: WholeType,
        /// Type of the source.
        from: RealType,
        rounding: WholeRounding,
        /// Treatment of subnormal numbers.
        subnormals: Subnormals,
        /// Saturation.
        overflow: Overflow,
    },
    /// A change of precision, or rounding to an integer in the same format.
    RealToReal {
        /// Type of the result.
        to: RealType,
        /// Type of the source.
        from: RealType,
        rounding: RealRounding,
        /// Treatment of subnormal numbers.
        subnormals: Subnormals,
        /// Clamping to [0, 1].
        clamp: Clamp,
        /// Treatment of negative results.
        negative: Negative,
        /// The result of an overflow.
        beyond: Beyond,
    },
    /// f32 to tf32.
    ToTf32 {
        rounding: Tf32Rounding,
        /// Treatment of negative results.
        negative: Negative,
        /// The result of an overflow.
        beyond: Beyond,
    },
    /// Two f32 to a pair of halves; the first source is the upper half.
    PackHalves {
        /// Type of the result.
        to: HalfPairType,
        rounding: PairRounding,
        /// Treatment of negative results.
        negative: Negative,
        /// The result of an overflow.
        beyond: Beyond,
    },
    /// Two f32, or a pair of halves, to a pair of narrow numbers.
    PackNarrow {
        /// Type of the result.
        to: NarrowType,
        /// Type of the source.
        from: PackSource,
        rounding: PairRounding,
        /// Treatment of negative results.
        negative: Negative,
        /// The result of an overflow.
        beyond: Beyond,
    },
    /// A pair of narrow numbers to a pair of halves.
    UnpackNarrow {
        /// Type of the result.
        to: HalfPairType,
        /// Type of the source.
        from: NarrowType,
        /// Treatment of negative results.
        negative: Negative,
    },
    /// Two s32, saturated, above the lower bits of an optional third operand.
    PackIntegers {
        /// Type of the result.
        to: PackedInteger,
        /// Type of the source.
        from: WholeType,
    },
}

pub(crate) const TABLE: &[Row] =
    &[Row::with("cvt", "pack", pack_integers), Row::any("cvt", convert)];

fn done(operation: Convert, to: impl Into<ScalarType>, from: &[ScalarType]) -> Decoded {
    let mut roles = vec![Role::Write(to.into(), Fit::Wider)];
    roles.extend(from.iter().map(|ty| Role::Read(*ty, Fit::Wider)));
    Ok((Operation::Convert(operation), Signature::new(&roles)))
}

/// The first type is that of the result; both types select the conversion.
fn convert(m: &mut Modifiers<'_>) -> Decoded {
    let Some(to) = m.principal_type() else { return Err(m.missing("the type of the result")) };
    if to == ScalarType::Tf32 {
        return to_tf32(m);
    }
    if let Some(to) = pair(to) {
        m.flag(to.0);
        return pack_or_unpack_halves(m, to.1);
    }
    if let Some(to) = m.optional::<NarrowType>() {
        return pack_narrow(m, to);
    }
    match to.class() {
        ScalarClass::Integer => to_integer(m),
        ScalarClass::Float => to_real(m),
        ScalarClass::Bits | ScalarClass::Predicate => Err(m.missing("the type of the result")),
    }
}

fn pair(ty: ScalarType) -> Option<(&'static str, HalfPairType)> {
    if ty == ScalarType::F16x2 {
        return Some(("f16x2", HalfPairType::F16x2));
    }
    (ty == ScalarType::Bf16x2).then_some(("bf16x2", HalfPairType::Bf16x2))
}

fn to_integer(m: &mut Modifiers<'_>) -> Decoded {
    let to: WholeType = m.required()?;
    let overflow = if m.flag("sat") { Overflow::Saturate } else { Overflow::Wrap };
    if let Some(from) = m.optional::<WholeType>() {
        let operation = Convert::IntegerToInteger { to, from, overflow };
        return done(operation, to, &[from.into()]);
    }
    let from: RealType = m.required()?;
    let rounding = m.required()?;
    let subnormals = subnormals(m);
    let operation = Convert::RealToInteger { to, from, rounding, subnormals, overflow };
    done(operation, to, &[from.into()])
}

fn to_real(m: &mut Modifiers<'_>) -> Decoded {
    let to: RealType = m.required()?;
    if let Some(from) = m.optional::<WholeType>() {
        let rounding = m.required()?;
        let operation = Convert::IntegerToReal { to, from, rounding, clamp: clamp(m) };
        // `.ftz` is allowed if the result is f32, and has no effect: no integer is subnormal.
        if to == RealType::F32 {
            m.flag("ftz");
        }
        return done(operation, to, &[from.into()]);
    }
    let from: RealType = m.required()?;
    let rounding = real_rounding(m, to, from)?;
    let operation = Convert::RealToReal {
        to,
        from,
        rounding,
        subnormals: subnormals(m),
        clamp: clamp(m),
        negative: negative(m),
        beyond: beyond(m),
    };
    done(operation, to, &[from.into()])
}

/// Narrowing requires a rounding mode, widening takes none. The assembler also accepts a mode when it widens bf16,
/// and rounds between f16 and bf16 to nearest if no mode is given.
fn real_rounding(
    m: &mut Modifiers<'_>,
    to: RealType,
    from: RealType,
) -> Result<RealRounding, Refusal> {
    if let Some(rounding) = m.optional() {
        return Ok(RealRounding::ToWhole(rounding));
    }
    let rounding = m.optional::<Rounding>();
    let narrows = match (to, from) {
        (RealType::F16 | RealType::Bf16, RealType::F32 | RealType::F64) => true,
        (RealType::F16, RealType::Bf16) | (RealType::Bf16, RealType::F16) => true,
        (RealType::F32, RealType::F64) => true,
        (RealType::F16, RealType::F16) | (RealType::Bf16, RealType::Bf16) => false,
        (RealType::F32, RealType::F16 | RealType::Bf16 | RealType::F32) => false,
        (RealType::F64, _) => false,
    };
    match (rounding, narrows) {
        (Some(rounding), true) => Ok(RealRounding::ToPrecision(rounding)),
        (Some(_), false) if from == RealType::Bf16 => Ok(RealRounding::Exact),
        (None, true) if from != RealType::F32 && from != RealType::F64 => {
            Ok(RealRounding::ToPrecision(Rounding::NearestEven))
        }
        (None, false) => Ok(RealRounding::Exact),
        (None, true) => Err(m.missing("a rounding mode (.rn, .rz, .rm, .rp)")),
        (Some(_), false) => {
            Err(m.combination("an exact conversion does not accept a rounding mode"))
        }
    }
}

fn negative(m: &mut Modifiers<'_>) -> Negative {
    if m.flag("relu") { Negative::Zero } else { Negative::Keep }
}

fn beyond(m: &mut Modifiers<'_>) -> Beyond {
    if m.flag("satfinite") { Beyond::LargestFinite } else { Beyond::Infinity }
}

fn to_tf32(m: &mut Modifiers<'_>) -> Decoded {
    m.require_flag("tf32", ".tf32")?;
    m.require_flag("f32", ".f32, the only source type of tf32")?;
    let (rounding, negative, beyond) = (m.required()?, negative(m), beyond(m));
    let operation = Convert::ToTf32 { rounding, negative, beyond };
    done(operation, ScalarType::B32, &[ScalarType::F32])
}

fn pack_or_unpack_halves(m: &mut Modifiers<'_>, to: HalfPairType) -> Decoded {
    if let Some(from) = m.optional::<NarrowType>() {
        m.require_flag("rn", "the rounding mode .rn")?;
        let operation = Convert::UnpackNarrow { to, from, negative: negative(m) };
        return done(operation, to, &[from.into()]);
    }
    m.require_flag("f32", "the type of the sources")?;
    let (rounding, negative, beyond) = (m.required()?, negative(m), beyond(m));
    let operation = Convert::PackHalves { to, rounding, negative, beyond };
    done(operation, to, &[ScalarType::F32, ScalarType::F32])
}

fn pack_narrow(m: &mut Modifiers<'_>, to: NarrowType) -> Decoded {
    let from: PackSource = m.required()?;
    let (rounding, negative, beyond) = (m.required()?, negative(m), beyond(m));
    if beyond == Beyond::Infinity && to != NarrowType::Ue8m0x2 {
        return Err(m.missing("`.satfinite`, which narrow types require"));
    }
    let operation = Convert::PackNarrow { to, from, rounding, negative, beyond };
    match from {
        PackSource::F32 => done(operation, to, &[ScalarType::F32, ScalarType::F32]),
        PackSource::F16x2 | PackSource::Bf16x2 => done(operation, to, &[from.into()]),
    }
}

fn pack_integers(m: &mut Modifiers<'_>) -> Decoded {
    m.flag("pack");
    m.require_flag("sat", "`.sat`")?;
    let to: PackedInteger = m.required()?;
    m.require_flag("s32", "the type of the sources, .s32")?;
    let from = WholeType::S32;
    let operation = Convert::PackIntegers { to, from };
    let s32 = ScalarType::S32;
    let bytes = matches!(to, PackedInteger::U8 | PackedInteger::S8);
    let third = m.flag("b32");
    if bytes && !third {
        return Err(m.missing(".b32 of the third operand, which 8-bit types require"));
    }
    let sources = [s32, s32, ScalarType::B32];
    done(operation, ScalarType::B32, if third { &sources } else { &sources[..2] })
}
