//! Conversions.

use super::Spelling;
use crate::semantics::convert::{
    self, FloatFormat, NarrowFormat, NarrowMode, RealMode, RealRounding, Tf32Rounding,
    WholeRounding, WholeType,
};
use crate::semantics::half::HalfFormat;

pub(super) fn evaluate(s: &Spelling<'_>, [a, b, c, _]: [u64; 4]) -> Option<u64> {
    if s.opcode() != "cvt" {
        return None;
    }
    if s.has("pack") {
        let to = whole(s.words[3])?;
        return Some(convert::pack_integers(a as u32, b as u32, c as u32, to).into());
    }
    if let Some(format) = narrow(s.result_ty()) {
        let mode = NarrowMode { format, negative: s.negative() };
        return Some(u64::from(match s.ty() {
            "f32" => convert::narrow_from_f32(a as u32, b as u32, mode),
            _ => convert::narrow_from_half(a as u32, HalfFormat::F16, mode),
        }));
    }
    if let Some(format) = narrow(s.ty()) {
        return Some(convert::narrow_to_half(a as u16, format, s.negative()).into());
    }
    match s.result_ty() {
        "tf32" => {
            let rounding = match s.words[1] {
                "rna" => Tf32Rounding::NearestAway,
                "rn" => Tf32Rounding::NearestEven,
                _ => Tf32Rounding::TowardZero,
            };
            Some(convert::f32_to_tf32(a as u32, rounding, s.negative(), s.beyond()).into())
        }
        "f16x2" => Some(pair(s, a, b, HalfFormat::F16)),
        "bf16x2" => Some(pair(s, a, b, HalfFormat::Bf16)),
        _ => scalar(s, a),
    }
}

fn pair(s: &Spelling<'_>, a: u64, b: u64, to: HalfFormat) -> u64 {
    let half = |bits: u64| u64::from(convert::f32_to_half(bits as u32, to, real_mode(s)));
    half(a) << 16 | half(b)
}

fn scalar(s: &Spelling<'_>, a: u64) -> Option<u64> {
    let (to, from) = (s.result_ty(), s.ty());
    let rounding = whole_rounding(s).unwrap_or(WholeRounding::NearestEven);
    match (whole(to), real(to), whole(from), real(from)) {
        (Some(to), _, Some(from), _) => Some(convert::whole_to_whole(a, from, to, s.overflow())),
        (_, Some(to), Some(from), _) => {
            Some(convert::whole_to_real(a, from, to, s.rounding(), s.clamp()))
        }
        (Some(to), _, _, Some(from)) => {
            Some(convert::real_to_whole(a, from, to, rounding, s.subnormals()))
        }
        (_, Some(to), _, Some(from)) => Some(convert::real_to_real(a, from, to, real_mode(s))),
        _ => None,
    }
}

fn real_mode(s: &Spelling<'_>) -> RealMode {
    RealMode {
        rounding: whole_rounding(s)
            .map_or(RealRounding::ToPrecision(s.rounding()), RealRounding::ToWhole),
        subnormals: s.subnormals(),
        clamp: s.clamp(),
        negative: s.negative(),
        beyond: s.beyond(),
    }
}

fn whole_rounding(s: &Spelling<'_>) -> Option<WholeRounding> {
    [
        ("rni", WholeRounding::NearestEven),
        ("rzi", WholeRounding::TowardZero),
        ("rmi", WholeRounding::Down),
        ("rpi", WholeRounding::Up),
    ]
    .into_iter()
    .find(|(word, _)| s.has(word))
    .map(|(_, rounding)| rounding)
}

fn whole(word: &str) -> Option<WholeType> {
    Some(match word {
        "u8" => WholeType::U8,
        "u16" => WholeType::U16,
        "u32" => WholeType::U32,
        "u64" => WholeType::U64,
        "s8" => WholeType::S8,
        "s16" => WholeType::S16,
        "s32" => WholeType::S32,
        "s64" => WholeType::S64,
        _ => return None,
    })
}

fn real(word: &str) -> Option<FloatFormat> {
    Some(match word {
        "f16" => FloatFormat::F16,
        "bf16" => FloatFormat::Bf16,
        "f32" => FloatFormat::F32,
        "f64" => FloatFormat::F64,
        _ => return None,
    })
}

fn narrow(word: &str) -> Option<NarrowFormat> {
    Some(match word {
        "e4m3x2" => NarrowFormat::E4m3,
        "e5m2x2" => NarrowFormat::E5m2,
        "e2m3x2" => NarrowFormat::E2m3,
        "e3m2x2" => NarrowFormat::E3m2,
        "e2m1x2" => NarrowFormat::E2m1,
        _ => return None,
    })
}
