//! Arithmetic of integers, floating-point numbers and halves.

use super::Spelling;
use crate::semantics::float::{self, FloatProperty};
use crate::semantics::integer::{self, Integer, Part, Signedness};
use crate::semantics::{Extreme, half};

pub(super) fn evaluate(spelling: &Spelling<'_>, x: [u64; 4]) -> Option<u64> {
    let words = x.map(|bits| bits as u32);
    if spelling.has("approx") || spelling.has("full") || spelling.has("cc") {
        return None;
    }
    match spelling.ty() {
        "f32" => single(spelling, words).map(u64::from),
        "f64" => double(spelling, x),
        "f16" | "bf16" => half_arithmetic(spelling, x.map(|bits| bits as u16)).map(u64::from),
        "f16x2" | "bf16x2" => {
            half_arithmetic(spelling, [0; 4])?;
            let halves = |h: [u16; 4]| half_arithmetic(spelling, h).unwrap_or(0);
            Some(u64::from(half::pair(words, halves)))
        }
        "u16" => whole(spelling, x.map(|b| b as u16)).map(u64::from),
        "s16" => whole(spelling, x.map(|b| b as i16)).map(|r| r as u64),
        "u32" => whole(spelling, words).map(u64::from).or_else(|| words_only(spelling, words)),
        "s32" => whole(spelling, words.map(|b| b as i32))
            .map(|r| r as u64)
            .or_else(|| words_only(spelling, words)),
        "u64" => whole(spelling, x),
        "s64" => whole(spelling, x.map(|b| b as i64)).map(|r| r as u64),
        _ => packed(spelling, words),
    }
    .or_else(|| wide(spelling, x))
}

fn single(s: &Spelling<'_>, [a, b, c, _]: [u32; 4]) -> Option<u32> {
    let mode = s.single_mode();
    Some(match s.opcode() {
        "add" => float::add_f32(a, b, mode),
        "sub" => float::subtract_f32(a, b, mode),
        "mul" => float::multiply_f32(a, b, mode),
        "fma" => float::multiply_add_f32(a, b, c, mode),
        "div" => float::divide_f32(a, b, mode),
        "rcp" => float::reciprocal_f32(a, mode),
        "sqrt" => float::square_root_f32(a, mode),
        "min" | "max" => float::extreme_f32(a, b, s.choice()?, s.subnormals()),
        "copysign" => float::copy_sign_f32(a, b),
        "abs" => float::absolute_f32(a, s.subnormals()),
        "neg" => float::negate_f32(a, s.subnormals()),
        "testp" => u32::from(float::test_f32(a, property(s)?)),
        _ => return None,
    })
}

fn double(s: &Spelling<'_>, [a, b, c, _]: [u64; 4]) -> Option<u64> {
    let mode = s.rounding();
    Some(match s.opcode() {
        "add" => float::add_f64(a, b, mode),
        "sub" => float::subtract_f64(a, b, mode),
        "mul" => float::multiply_f64(a, b, mode),
        "fma" => float::multiply_add_f64(a, b, c, mode),
        "div" => float::divide_f64(a, b, mode),
        "rcp" => float::reciprocal_f64(a, mode),
        "sqrt" => float::square_root_f64(a, mode),
        "min" | "max" => float::extreme_f64(a, b, s.extreme()?),
        "copysign" => float::copy_sign_f64(a, b),
        "abs" => float::absolute_f64(a),
        "neg" => float::negate_f64(a),
        "testp" => u64::from(float::test_f64(a, property(s)?)),
        _ => return None,
    })
}

fn property(s: &Spelling<'_>) -> Option<FloatProperty> {
    Some(match s.words[1] {
        "finite" => FloatProperty::Finite,
        "infinite" => FloatProperty::Infinite,
        "number" => FloatProperty::Number,
        "notanumber" => FloatProperty::NotANumber,
        "normal" => FloatProperty::Normal,
        "subnormal" => FloatProperty::Subnormal,
        _ => return None,
    })
}

fn half_arithmetic(s: &Spelling<'_>, [a, b, c, _]: [u16; 4]) -> Option<u16> {
    let mode = s.half_mode();
    Some(match s.opcode() {
        "add" => half::add(a, b, mode),
        "sub" => half::subtract(a, b, mode),
        "mul" => half::multiply(a, b, mode),
        "fma" if !s.has("oob") => half::multiply_add(a, b, c, mode),
        "min" | "max" => half::extreme(a, b, s.choice()?, mode.format, mode.subnormals),
        "abs" => half::absolute(a, mode.format, mode.subnormals),
        "neg" => half::negate(a, mode.format, mode.subnormals),
        _ => return None,
    })
}

fn whole<T: Integer>(s: &Spelling<'_>, [a, b, c, _]: [T; 4]) -> Option<T> {
    if s.has("sat") || s.has("wide") {
        return None;
    }
    let part = if s.has("hi") { Part::High } else { Part::Low };
    Some(match s.opcode() {
        "add" => integer::add(a, b),
        "sub" => integer::subtract(a, b),
        "mul" => integer::multiply(a, b, part),
        "mad" => integer::multiply_add(a, b, c, part),
        "sad" => integer::sum_of_absolute_differences(a, b, c),
        "div" => integer::divide(a, b),
        "rem" => integer::remainder(a, b),
        "min" | "max" => integer::extreme(a, b, s.extreme()?, s.negative()),
        "abs" => integer::absolute(a),
        "neg" => integer::negate(a),
        _ => return None,
    })
}

/// Operations of 32-bit integers only.
fn words_only(s: &Spelling<'_>, [a, b, c, _]: [u32; 4]) -> Option<u64> {
    let part = if s.has("hi") { Part::High } else { Part::Low };
    let signedness = |word: &str| {
        if word.starts_with('s') { Signedness::Signed } else { Signedness::Unsigned }
    };
    let (ty, first) = (signedness(s.ty()), signedness(s.result_ty()));
    Some(u64::from(match s.opcode() {
        "add" if s.has("sat") => integer::add_saturating(a as i32, b as i32) as u32,
        "sub" if s.has("sat") => integer::subtract_saturating(a as i32, b as i32) as u32,
        "mad" if s.has("sat") => {
            integer::multiply_add_saturating(a as i32, b as i32, c as i32) as u32
        }
        "mul24" => integer::multiply_24(a, b, part, ty),
        "mad24" => integer::multiply_add_24([a, b, c], part, ty, s.overflow()),
        "dp4a" => integer::dot_product_4(a, b, c, first, ty),
        "dp2a" => {
            let part = if s.has("hi") { integer::DotPart::High } else { integer::DotPart::Low };
            integer::dot_product_2([a, b, c], part, first, ty)
        }
        _ => return None,
    }))
}

fn packed(s: &Spelling<'_>, [a, b, ..]: [u32; 4]) -> Option<u64> {
    let ty = match s.ty() {
        "u16x2" => integer::PackedType::U16x2,
        "s16x2" => integer::PackedType::S16x2,
        _ => return None,
    };
    let extreme = |extreme: Extreme| integer::extreme_packed(a, b, ty, extreme, s.negative());
    let sum = || integer::add_packed(a, b);
    Some(u64::from(if s.opcode() == "add" { sum() } else { extreme(s.extreme()?) }))
}

fn wide(s: &Spelling<'_>, [a, b, c, _]: [u64; 4]) -> Option<u64> {
    if !s.has("wide") {
        return None;
    }
    let c = if s.opcode() == "mad" { c } else { 0 };
    Some(match s.ty() {
        "u16" => integer::multiply_add_wide(a as u16, b as u16, c as u32).into(),
        "s16" => integer::multiply_add_wide(a as i16, b as i16, c as i32) as u64,
        "u32" => integer::multiply_add_wide(a as u32, b as u32, c),
        "s32" => integer::multiply_add_wide(a as i32, b as i32, c as i64) as u64,
        _ => return None,
    })
}
