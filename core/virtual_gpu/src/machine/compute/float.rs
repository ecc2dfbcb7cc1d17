//! Arithmetic of f32, f64 and pairs of f32.

use super::super::super::isa::float::{
    Choice, Clamp, Float, FloatFormat, FloatProperty, FloatType, NanRule, Rounding, SignRule,
    Subnormals,
};
use super::super::super::lower::code::Op;
use super::super::super::semantics::Extreme;
use super::super::super::semantics::float as s;
use super::super::lanes::Lanes;
use super::{Fused, modes};

/// A rounded operation of one to three sources in every format.
macro_rules! rounded {
    // The semicolon prevents the formatter from putting every name on a line of its own.
    ($lanes:ident, $op:ident, $format:ident, $rounding:ident;
     $words:ident $doubles:ident $single:ident $double:ident [$($x:ident)+]) => {
        match ($format, $rounding) {
            // The most frequent mode is a constant for the compiler.
            (FloatFormat::F32(Subnormals::Keep, Clamp::None), Rounding::NearestEven) => {
                $lanes.$words($op, |$($x),+| s::$single($($x),+, s::SingleMode::DEFAULT));
            }
            (FloatFormat::F32(subnormals, clamp), rounding) => {
                let mode = single_mode(rounding, subnormals, clamp);
                $lanes.$words($op, |$($x),+| s::$single($($x),+, mode));
            }
            (FloatFormat::F32x2(subnormals), rounding) => {
                let mode = single_mode(rounding, subnormals, Clamp::None);
                $lanes.$doubles($op, |$($x),+| {
                    s::pair_f32([$($x),+], |[$($x),+]| s::$single($($x),+, mode))
                });
            }
            (FloatFormat::F64, Rounding::NearestEven) => {
                $lanes.$doubles($op, |$($x),+| {
                    s::$double($($x),+, modes::rounding(Rounding::NearestEven))
                });
            }
            (FloatFormat::F64, rounding) => {
                let rounding = modes::rounding(rounding);
                $lanes.$doubles($op, |$($x),+| s::$double($($x),+, rounding));
            }
        }
    };
}

#[inline(always)]
fn single_mode(rounding: Rounding, subnormals: Subnormals, clamp: Clamp) -> s::SingleMode {
    s::SingleMode {
        rounding: modes::rounding(rounding),
        subnormals: modes::subnormals(subnormals),
        clamp: modes::clamp(clamp),
    }
}

#[inline(always)]
pub(super) fn execute(lanes: &mut Lanes<'_>, op: &Op, what: Float, fused: Fused) {
    match what {
        Float::MultiplyAdd(
            FloatFormat::F32(Subnormals::Keep, Clamp::None),
            Rounding::NearestEven,
        ) if fused == Fused::Hardware => lanes.words_3(op, s::fused_multiply_add_f32),
        Float::Add(FloatFormat::F64, Rounding::NearestEven) => {
            let rounding = modes::rounding(Rounding::NearestEven);
            nearest_2(lanes, op, |a, b| a + b, |a, b| s::add_f64(a, b, rounding));
        }
        Float::Subtract(FloatFormat::F64, Rounding::NearestEven) => {
            let rounding = modes::rounding(Rounding::NearestEven);
            nearest_2(lanes, op, |a, b| a - b, |a, b| s::subtract_f64(a, b, rounding));
        }
        Float::Multiply(FloatFormat::F64, Rounding::NearestEven) => {
            let rounding = modes::rounding(Rounding::NearestEven);
            nearest_2(lanes, op, |a, b| a * b, |a, b| s::multiply_f64(a, b, rounding));
        }
        Float::MultiplyAdd(FloatFormat::F64, Rounding::NearestEven) if fused == Fused::Hardware => {
            nearest_multiply_add(lanes, op);
        }
        Float::Add(format, rounding) => {
            rounded!(lanes, op, format, rounding; words_2 doubles_2 add_f32 add_f64 [a b]);
        }
        Float::Subtract(format, rounding) => {
            rounded!(lanes, op, format, rounding; words_2 doubles_2 subtract_f32 subtract_f64 [a b]);
        }
        Float::Multiply(format, rounding) => {
            rounded!(lanes, op, format, rounding; words_2 doubles_2 multiply_f32 multiply_f64 [a b]);
        }
        Float::MultiplyAdd(format, rounding) => {
            rounded!(lanes, op, format, rounding; words_3 doubles_3 multiply_add_f32 multiply_add_f64 [a b c]);
        }
        Float::Divide(format, rounding) => {
            rounded!(lanes, op, format, rounding; words_2 doubles_2 divide_f32 divide_f64 [a b]);
        }
        Float::Reciprocal(format, rounding) => {
            rounded!(lanes, op, format, rounding; words_1 doubles_1 reciprocal_f32 reciprocal_f64 [a]);
        }
        Float::SquareRoot(format, rounding) => {
            rounded!(lanes, op, format, rounding; words_1 doubles_1 square_root_f32 square_root_f64 [a]);
        }
        Float::Absolute(format) => match format {
            FloatFormat::F32(subnormals, _) => {
                let subnormals = modes::subnormals(subnormals);
                lanes.words_1(op, |a| s::absolute_f32(a, subnormals));
            }
            FloatFormat::F32x2(subnormals) => {
                let subnormals = modes::subnormals(subnormals);
                lanes.doubles_1(op, |a| s::pair_f32([a], |[a]| s::absolute_f32(a, subnormals)));
            }
            FloatFormat::F64 => lanes.doubles_1(op, s::absolute_f64),
        },
        Float::Negate(format) => match format {
            FloatFormat::F32(subnormals, _) => {
                let subnormals = modes::subnormals(subnormals);
                lanes.words_1(op, |a| s::negate_f32(a, subnormals));
            }
            FloatFormat::F32x2(subnormals) => {
                let subnormals = modes::subnormals(subnormals);
                lanes.doubles_1(op, |a| s::pair_f32([a], |[a]| s::negate_f32(a, subnormals)));
            }
            FloatFormat::F64 => lanes.doubles_1(op, s::negate_f64),
        },
        Float::Minimum(format, choice) => extreme(lanes, op, format, choice, Extreme::Minimum),
        Float::Maximum(format, choice) => extreme(lanes, op, format, choice, Extreme::Maximum),
        Float::CopySign(FloatType::F32) => lanes.words_2(op, s::copy_sign_f32),
        Float::CopySign(FloatType::F64) => lanes.doubles_2(op, s::copy_sign_f64),
        Float::Test(property, ty) => test(lanes, op, property, ty),
    }
}

/// f64 rounded to nearest, which the host computes for all lanes at once. A result that is NaN depends on the
/// operands of each lane.
#[inline(always)]
fn nearest_2(
    lanes: &mut Lanes<'_>,
    op: &Op,
    all: impl Fn(f64, f64) -> f64,
    each: impl Fn(u64, u64) -> u64,
) {
    let (a, b) = (lanes.double_row(op.a), lanes.double_row(op.b));
    let (mut values, mut is_nan) = ([0; 32], false);
    for (lane, value) in values.iter_mut().enumerate() {
        let result = all(f64::from_bits(a.values[lane]), f64::from_bits(b.values[lane]));
        is_nan |= result.is_nan();
        *value = result.to_bits();
    }
    let undefined = a.undefined | b.undefined;
    if is_nan {
        lanes.doubles_2(op, each);
    } else {
        lanes.set_double(op.d, &values, undefined);
    }
}

/// f64 multiply-add rounded to nearest, for which the host has an instruction.
#[inline(always)]
fn nearest_multiply_add(lanes: &mut Lanes<'_>, op: &Op) {
    let (a, b, c) = (lanes.double_row(op.a), lanes.double_row(op.b), lanes.double_row(op.c));
    let (mut values, mut is_nan) = ([0; 32], false);
    for (lane, value) in values.iter_mut().enumerate() {
        let (x, y) = (f64::from_bits(a.values[lane]), f64::from_bits(b.values[lane]));
        let result = x.mul_add(y, f64::from_bits(c.values[lane]));
        is_nan |= result.is_nan();
        *value = result.to_bits();
    }
    let undefined = a.undefined | b.undefined | c.undefined;
    if is_nan {
        let rounding = modes::rounding(Rounding::NearestEven);
        lanes.doubles_3(op, |a, b, c| s::multiply_add_f64(a, b, c, rounding));
    } else {
        lanes.set_double(op.d, &values, undefined);
    }
}

#[inline(always)]
fn extreme(lanes: &mut Lanes<'_>, op: &Op, format: FloatFormat, choice: Choice, extreme: Extreme) {
    let plain = choice == Choice { nan: NanRule::Number, sign: SignRule::Winner };
    let choice = modes::choice(extreme, choice);
    match format {
        FloatFormat::F32(subnormals, _) => {
            let subnormals = modes::subnormals(subnormals);
            if op.c.is_none() {
                lanes.words_2(op, |a, b| s::extreme_f32(a, b, choice, subnormals));
            } else {
                lanes.words_3(op, |a, b, c| s::extreme_f32_of_three([a, b, c], choice, subnormals));
            }
        }
        FloatFormat::F32x2(subnormals) => {
            let subnormals = modes::subnormals(subnormals);
            lanes.doubles_2(op, |a, b| {
                s::pair_f32([a, b], |[a, b]| s::extreme_f32(a, b, choice, subnormals))
            });
        }
        FloatFormat::F64 => {
            debug_assert!(plain);
            lanes.doubles_2(op, |a, b| s::extreme_f64(a, b, extreme));
        }
    }
}

fn test(lanes: &mut Lanes<'_>, op: &Op, property: FloatProperty, ty: FloatType) {
    let property = match property {
        FloatProperty::Finite => s::FloatProperty::Finite,
        FloatProperty::Infinite => s::FloatProperty::Infinite,
        FloatProperty::Number => s::FloatProperty::Number,
        FloatProperty::NotANumber => s::FloatProperty::NotANumber,
        FloatProperty::Normal => s::FloatProperty::Normal,
        FloatProperty::Subnormal => s::FloatProperty::Subnormal,
    };
    let twice = Op { b: op.a, ..*op };
    let (holds, undefined) = match ty {
        FloatType::F32 => lanes.test_words(&twice, |a, _| s::test_f32(a, property)),
        FloatType::F64 => lanes.test_doubles(&twice, |a, _| s::test_f64(a, property)),
    };
    lanes.set_predicate(op.d, holds, undefined);
}
