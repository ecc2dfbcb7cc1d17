//! Conversions.

use super::super::super::isa::convert::{
    Convert, HalfPairType, NarrowType, PackSource, PackedInteger, PairRounding, RealRounding,
    RealType, Tf32Rounding, WholeRounding, WholeType,
};
use super::super::super::isa::float::{Clamp, Rounding, Subnormals};
use super::super::super::isa::integer::{Negative, Overflow};
use super::super::super::lower::code::Op;
use super::super::super::semantics as all;
use super::super::super::semantics::convert as s;
use super::super::super::semantics::exact::Format;
use super::super::super::semantics::half::HalfFormat;
use super::super::lanes::{Lanes, each};
use super::super::register_init_mask::{BitOperand, BitOperation, BitRule};
use super::modes;

#[inline(always)]
pub(super) fn execute(lanes: &mut Lanes<'_>, op: &Op, convert: Convert, wide: bool, bits: u8) {
    match convert {
        Convert::IntegerToInteger { to, from, overflow: Overflow::Wrap } => {
            let (from, to) = (whole(from), whole(to));
            let (in_shift, out_shift) = (64 - from.bits(), 64 - to.bits());
            let extend = |value: u64, shift: u32, signed: bool| {
                let up = value << shift;
                if signed { (up as i64 >> shift) as u64 } else { up >> shift }
            };
            let (from_signed, to_signed) = (from.is_signed(), to.is_signed());
            moved(lanes, op, wide, bits, |a| {
                extend(extend(a, in_shift, from_signed), out_shift, to_signed)
            });
        }
        Convert::IntegerToInteger { to, from, overflow } => {
            let (from, to, overflow) = (whole(from), whole(to), modes::overflow(overflow));
            one(lanes, op, wide, bits, |a| s::whole_to_whole(a, from, to, overflow));
        }
        Convert::IntegerToReal { to, from, rounding, clamp } => {
            let (from, to) = (whole(from), real(to));
            let (rounding, clamp) = (modes::rounding(rounding), modes::clamp(clamp));
            one(lanes, op, wide, bits, |a| s::whole_to_real(a, from, to, rounding, clamp));
        }
        // Conversions to integers saturate in any case.
        Convert::RealToInteger { to, from, rounding, subnormals, overflow: _ } => {
            let common = (to, from, rounding, subnormals)
                == (WholeType::S32, RealType::F32, WholeRounding::TowardZero, Subnormals::Keep);
            if common && bits == 32 && !wide {
                lanes.words_1(op, s::f32_to_s32_toward_zero);
                return;
            }
            let (from, to, rounding) = (real(from), whole(to), whole_rounding(rounding));
            let subnormals = modes::subnormals(subnormals);
            one(lanes, op, wide, bits, |a| s::real_to_whole(a, from, to, rounding, subnormals));
        }
        Convert::RealToReal { .. } => real_to_real(lanes, op, convert, wide, bits),
        Convert::ToTf32 { .. }
        | Convert::PackHalves { .. }
        | Convert::PackNarrow { .. }
        | Convert::UnpackNarrow { .. }
        | Convert::PackIntegers { .. } => packed(lanes, op, convert),
    }
}

/// A conversion with a source and a result of either bank; the result is truncated to the register.
#[inline(always)]
fn one(lanes: &mut Lanes<'_>, op: &Op, wide: bool, bits: u8, f: impl Fn(u64) -> u64) {
    let (a, undefined) = lanes.any(op.a, wide);
    if bits == 64 {
        lanes.set_double(op.d, &a.map(f), undefined);
    } else {
        let mask = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
        let result = each(|lane| f(a[lane]) as u32 & mask);
        lanes.set_word(op.d, &result, undefined);
    }
}

/// A conversion in which bits of the source become bits of the result.
#[inline(always)]
fn moved(lanes: &mut Lanes<'_>, op: &Op, wide: bool, bits: u8, f: impl Fn(u64) -> u64) {
    let (a, undefined) = lanes.any(op.a, wide);
    let from = if wide { BitOperand::double(op.a) } else { BitOperand::word(op.a) };
    if bits == 64 {
        let trace =
            BitOperation { rule: BitRule::Moved, operands: &[from], apply: &|[a, ..]| f(a) };
        lanes.set_bitwise_double(op.d, &a.map(&f), undefined, &trace);
    } else {
        let mask = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
        let cut = |a| f(a) as u32 & mask;
        let result = each(|lane| cut(a[lane]));
        let apply = |[a, ..]: [u64; 4]| u64::from(cut(a));
        let trace = BitOperation { rule: BitRule::Moved, operands: &[from], apply: &apply };
        lanes.set_bitwise_word(op.d, &result, undefined, &trace);
    }
}

fn real_to_real(lanes: &mut Lanes<'_>, op: &Op, convert: Convert, wide: bool, bits: u8) {
    let Convert::RealToReal { to, from, rounding, subnormals, clamp, negative, beyond } = convert
    else {
        return;
    };
    let mode = s::RealMode {
        rounding: match rounding {
            RealRounding::Exact => s::RealRounding::ToPrecision(all::Rounding::NearestEven),
            RealRounding::ToPrecision(rounding) => {
                s::RealRounding::ToPrecision(modes::rounding(rounding))
            }
            RealRounding::ToWhole(rounding) => s::RealRounding::ToWhole(whole_rounding(rounding)),
        },
        subnormals: modes::subnormals(subnormals),
        clamp: modes::clamp(clamp),
        negative: modes::negative(negative),
        beyond: modes::beyond(beyond),
    };
    let plain = mode == s::RealMode::NEAREST && !wide && !op.a.is_pool();
    match (from, to) {
        (RealType::F16, RealType::F32) if plain && bits == 32 => {
            lanes.words_1(op, |a| s::f16_to_f32(a as u16));
        }
        (RealType::Bf16, RealType::F32) if plain && bits == 32 => {
            lanes.words_1(op, |a| s::bf16_to_f32(a as u16));
        }
        (RealType::F32, RealType::F16) if plain && bits < 64 => {
            lanes.words_1(op, |a| u32::from(s::f32_to_f16_nearest(a)));
        }
        (RealType::F32, RealType::Bf16) if plain && bits < 64 => {
            let nearest = |a| s::f32_to_half(a, HalfFormat::Bf16, mode);
            lanes.words_1(op, |a| u32::from(nearest(a)));
        }
        (RealType::F32, RealType::F64) if mode == s::RealMode::NEAREST => {
            one(lanes, op, wide, bits, |a| s::f32_to_f64(a as u32));
        }
        (RealType::F64, RealType::F32) if mode == s::RealMode::NEAREST => {
            one(lanes, op, wide, bits, |a| u64::from(s::f64_to_f32_nearest(a)));
        }
        _ => {
            let (from, to) = (real(from), real(to));
            one(lanes, op, wide, bits, |a| s::real_to_real(a, from, to, mode));
        }
    }
}

fn packed(lanes: &mut Lanes<'_>, op: &Op, convert: Convert) {
    match convert {
        Convert::ToTf32 { rounding, negative, beyond } => {
            let rounding = match rounding {
                Tf32Rounding::NearestAway => s::Tf32Rounding::NearestAway,
                Tf32Rounding::NearestEven => s::Tf32Rounding::NearestEven,
                Tf32Rounding::TowardZero => s::Tf32Rounding::TowardZero,
            };
            let (negative, beyond) = (modes::negative(negative), modes::beyond(beyond));
            lanes.words_1(op, |a| s::f32_to_tf32(a, rounding, negative, beyond));
        }
        Convert::PackHalves { to, rounding, negative, beyond } => {
            let to = half_format(to);
            let mode = s::RealMode {
                rounding: s::RealRounding::ToPrecision(pair_rounding(rounding)),
                subnormals: modes::subnormals(Subnormals::Keep),
                clamp: modes::clamp(Clamp::None),
                negative: modes::negative(negative),
                beyond: modes::beyond(beyond),
            };
            lanes.words_2(op, |a, b| {
                let (high, low) = (s::f32_to_half(a, to, mode), s::f32_to_half(b, to, mode));
                u32::from(high) << 16 | u32::from(low)
            });
        }
        Convert::PackNarrow { to, from, rounding, negative, beyond } => {
            pack_narrow(lanes, op, to, from, (rounding, negative, modes::beyond(beyond)));
        }
        Convert::UnpackNarrow { to, from, negative } => {
            unpack_narrow(lanes, op, to, from, negative);
        }
        Convert::PackIntegers { to, from: _ } => {
            let to = match to {
                PackedInteger::U8 => s::WholeType::U8,
                PackedInteger::S8 => s::WholeType::S8,
                PackedInteger::U16 => s::WholeType::U16,
                PackedInteger::S16 => s::WholeType::S16,
            };
            if op.c.is_none() {
                lanes.words_2(op, |a, b| s::pack_integers(a, b, 0, to));
            } else {
                lanes.words_3(op, |a, b, c| s::pack_integers(a, b, c, to));
            }
        }
        Convert::IntegerToInteger { .. }
        | Convert::IntegerToReal { .. }
        | Convert::RealToInteger { .. }
        | Convert::RealToReal { .. } => {}
    }
}

fn narrow_format(ty: NarrowType) -> Option<s::NarrowFormat> {
    match ty {
        NarrowType::E4m3x2 => Some(s::NarrowFormat::E4m3),
        NarrowType::E5m2x2 => Some(s::NarrowFormat::E5m2),
        NarrowType::E2m1x2 => Some(s::NarrowFormat::E2m1),
        NarrowType::E2m3x2 => Some(s::NarrowFormat::E2m3),
        NarrowType::E3m2x2 => Some(s::NarrowFormat::E3m2),
        NarrowType::Ue8m0x2 => None,
    }
}

fn pack_narrow(
    lanes: &mut Lanes<'_>,
    op: &Op,
    to: NarrowType,
    from: PackSource,
    (rounding, negative, beyond): (PairRounding, Negative, all::exact::Beyond),
) {
    let Some(format) = narrow_format(to) else {
        let rounding = pair_rounding(rounding);
        let scale = |format: Format, bits: u32| {
            u32::from(s::scale_from_real(format.decode(u64::from(bits)), rounding, beyond))
        };
        match from {
            PackSource::F32 => {
                lanes.words_2(op, |a, b| scale(Format::F32, a) << 8 | scale(Format::F32, b));
            }
            PackSource::F16x2 | PackSource::Bf16x2 => {
                let format = if from == PackSource::F16x2 { Format::F16 } else { Format::BF16 };
                lanes.words_1(op, |a| scale(format, a >> 16) << 8 | scale(format, a & 0xffff));
            }
        }
        return;
    };
    let mode = s::NarrowMode { format, negative: modes::negative(negative) };
    match from {
        PackSource::F32 => lanes.words_2(op, |a, b| u32::from(s::narrow_from_f32(a, b, mode))),
        PackSource::F16x2 => {
            lanes.words_1(op, |a| u32::from(s::narrow_from_half(a, HalfFormat::F16, mode)));
        }
        PackSource::Bf16x2 => {
            lanes.words_1(op, |a| u32::from(s::narrow_from_half(a, HalfFormat::Bf16, mode)));
        }
    }
}

fn unpack_narrow(
    lanes: &mut Lanes<'_>,
    op: &Op,
    to: HalfPairType,
    from: NarrowType,
    negative: Negative,
) {
    let Some(format) = narrow_format(from) else {
        lanes.words_1(op, |a| {
            let (low, high) = (s::scale_to_bf16(a as u8), s::scale_to_bf16((a >> 8) as u8));
            u32::from(high) << 16 | u32::from(low)
        });
        return;
    };
    let negative = modes::negative(negative);
    let to_bf16 = to == HalfPairType::Bf16x2;
    lanes.words_1(op, |a| {
        let halves = s::narrow_to_half(a as u16, format, negative);
        if !to_bf16 {
            return halves;
        }
        // Every number of a narrow format is exact in bf16 as well.
        all::half::pair([halves], |[half]| {
            let single = s::f16_to_f32(half);
            s::f32_to_half(single, HalfFormat::Bf16, s::RealMode::NEAREST)
        })
    });
}

fn half_format(ty: HalfPairType) -> HalfFormat {
    match ty {
        HalfPairType::F16x2 => HalfFormat::F16,
        HalfPairType::Bf16x2 => HalfFormat::Bf16,
    }
}

fn pair_rounding(rounding: PairRounding) -> all::Rounding {
    modes::rounding(match rounding {
        PairRounding::NearestEven => Rounding::NearestEven,
        PairRounding::TowardZero => Rounding::TowardZero,
        PairRounding::Up => Rounding::Up,
    })
}

fn whole(ty: WholeType) -> s::WholeType {
    match ty {
        WholeType::U8 => s::WholeType::U8,
        WholeType::U16 => s::WholeType::U16,
        WholeType::U32 => s::WholeType::U32,
        WholeType::U64 => s::WholeType::U64,
        WholeType::S8 => s::WholeType::S8,
        WholeType::S16 => s::WholeType::S16,
        WholeType::S32 => s::WholeType::S32,
        WholeType::S64 => s::WholeType::S64,
    }
}

fn real(ty: RealType) -> s::FloatFormat {
    match ty {
        RealType::F16 => s::FloatFormat::F16,
        RealType::Bf16 => s::FloatFormat::Bf16,
        RealType::F32 => s::FloatFormat::F32,
        RealType::F64 => s::FloatFormat::F64,
    }
}

fn whole_rounding(rounding: WholeRounding) -> s::WholeRounding {
    match rounding {
        WholeRounding::NearestEven => s::WholeRounding::NearestEven,
        WholeRounding::TowardZero => s::WholeRounding::TowardZero,
        WholeRounding::Down => s::WholeRounding::Down,
        WholeRounding::Up => s::WholeRounding::Up,
    }
}
