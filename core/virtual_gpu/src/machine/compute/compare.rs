//! Comparison and selection.

use super::super::super::isa::compare::{
    BitsType, Combine, Compare, ComparedFloat, ComparedInteger, Comparison, Equality, SelectType,
    SelectorType, SetType,
};
use super::super::super::lower::code::Op;
use super::super::super::semantics::compare as s;
use super::super::super::semantics::half::HalfFormat;
use super::super::lanes::{Lanes, each};
use super::modes;

#[inline(always)]
pub(super) fn execute(lanes: &mut Lanes<'_>, op: &Op, what: Compare) {
    match what {
        Compare::SetPredicate(comparison, combine) => set_predicate(lanes, op, comparison, combine),
        Compare::Set(comparison, combine, ty) => set(lanes, op, comparison, combine, ty),
        Compare::Select(ty) => {
            let (choice, unknown) = (lanes.predicate(op.c), lanes.predicate_undefined(op.c));
            select(lanes, op, ty, choice, unknown);
        }
        Compare::SelectBySign(ty, selector, subnormals) => {
            let c = lanes.word(op.c);
            let unknown = lanes.word_undefined(op.c);
            let subnormals = modes::subnormals(subnormals);
            let choice = super::super::lanes::bits(|lane| match selector {
                SelectorType::S32 => s::select_by_s32(true, false, c[lane] as i32),
                SelectorType::F32 => s::select_by_f32(true, false, c[lane], subnormals),
            });
            select(lanes, op, ty, choice, unknown);
        }
    }
}

/// The result of a comparison, or the two results for a pair of halves: a mask of lanes, and the lanes in which it is
/// undefined.
struct Outcome {
    first: u32,
    second: Option<u32>,
    undefined: u32,
}

#[inline(always)]
fn compare(lanes: &Lanes<'_>, op: &Op, comparison: Comparison) -> Outcome {
    let single = |(first, undefined)| Outcome { first, second: None, undefined };
    match comparison {
        Comparison::Bits(equality, ty) => {
            let order = match equality {
                Equality::Equal => s::Order::Equal,
                Equality::NotEqual => s::Order::NotEqual,
            };
            single(match ty {
                BitsType::B16 => lanes.test_words(op, |a, b| s::compare(a as u16, b as u16, order)),
                BitsType::B32 => lanes.test_words(op, |a, b| s::compare(a, b, order)),
                BitsType::B64 => lanes.test_doubles(op, |a, b| s::compare(a, b, order)),
            })
        }
        Comparison::Integer(order, ty) => {
            let order = modes::order(order);
            single(match ty {
                ComparedInteger::U16 => {
                    lanes.test_words(op, |a, b| s::compare(a as u16, b as u16, order))
                }
                ComparedInteger::S16 => {
                    lanes.test_words(op, |a, b| s::compare(a as i16, b as i16, order))
                }
                ComparedInteger::U32 => lanes.test_words(op, |a, b| s::compare(a, b, order)),
                ComparedInteger::S32 => {
                    lanes.test_words(op, |a, b| s::compare(a as i32, b as i32, order))
                }
                ComparedInteger::U64 => lanes.test_doubles(op, |a, b| s::compare(a, b, order)),
                ComparedInteger::S64 => {
                    lanes.test_doubles(op, |a, b| s::compare(a as i64, b as i64, order))
                }
            })
        }
        Comparison::Float(order, ty, subnormals) => {
            let (order, flush) = (modes::float_order(order), modes::subnormals(subnormals));
            let half = |format, shift: u32| {
                lanes.test_words(op, |a, b| {
                    s::compare_half((a >> shift) as u16, (b >> shift) as u16, order, format, flush)
                })
            };
            let pair = |format| {
                let (first, undefined) = half(format, 0);
                Outcome { first, second: Some(half(format, 16).0), undefined }
            };
            match ty {
                ComparedFloat::F32 => {
                    single(lanes.test_words(op, |a, b| s::compare_f32(a, b, order, flush)))
                }
                ComparedFloat::F64 => {
                    single(lanes.test_doubles(op, |a, b| s::compare_f64(a, b, order)))
                }
                ComparedFloat::F16 => single(half(HalfFormat::F16, 0)),
                ComparedFloat::Bf16 => single(half(HalfFormat::Bf16, 0)),
                ComparedFloat::F16x2 => pair(HalfFormat::F16),
                ComparedFloat::Bf16x2 => pair(HalfFormat::Bf16),
            }
        }
    }
}

/// Combines a mask of lanes with a predicate, and returns the lanes in which the result is undefined.
fn combined(
    lanes: &Lanes<'_>,
    op: &Op,
    holds: u32,
    undefined: u32,
    combine: Option<Combine>,
) -> (u32, u32) {
    let Some(combine) = combine else { return (holds, undefined) };
    let (other, other_undefined) = (lanes.predicate(op.c), lanes.predicate_undefined(op.c));
    match combine {
        Combine::And => super::logic::and_bits(holds, undefined, other, other_undefined),
        Combine::Or => super::logic::or_bits(holds, undefined, other, other_undefined),
        Combine::Xor => (holds ^ other, undefined | other_undefined),
    }
}

#[inline(always)]
fn set_predicate(lanes: &mut Lanes<'_>, op: &Op, comparison: Comparison, combine: Option<Combine>) {
    let outcome = compare(lanes, op, comparison);
    let (first, first_undefined) = combined(lanes, op, outcome.first, outcome.undefined, combine);
    if op.e.is_none() {
        lanes.set_predicate(op.d, first, first_undefined);
        return;
    }
    // A pair of halves has one predicate per half; any other comparison has one for the complement.
    let second = outcome.second.unwrap_or(!outcome.first);
    let (second, second_undefined) = combined(lanes, op, second, outcome.undefined, combine);
    lanes.set_predicate(op.d, first, first_undefined);
    lanes.set_predicate(op.e, second, second_undefined);
}

fn set(
    lanes: &mut Lanes<'_>,
    op: &Op,
    comparison: Comparison,
    combine: Option<Combine>,
    ty: SetType,
) {
    let outcome = compare(lanes, op, comparison);
    let (first, undefined) = combined(lanes, op, outcome.first, outcome.undefined, combine);
    let second = outcome.second.map(|bits| combined(lanes, op, bits, outcome.undefined, combine).0);
    let truth: u32 = match (ty, second) {
        (SetType::F32, _) => 1.0_f32.to_bits(),
        (SetType::F16 | SetType::F16x2, _) => u32::from(HalfFormat::F16.one()),
        (SetType::Bf16 | SetType::Bf16x2, _) => u32::from(HalfFormat::Bf16.one()),
        (SetType::U16 | SetType::S16, _) | (SetType::U32 | SetType::S32, Some(_)) => 0xffff,
        (SetType::U32 | SetType::S32, None) => u32::MAX,
    };
    let result = each(|lane| {
        let low = s::set(first >> lane & 1 == 1, truth);
        match second {
            Some(second) => low | s::set(second >> lane & 1 == 1, truth) << 16,
            None => low,
        }
    });
    lanes.set_word(op.d, &result, undefined);
}

#[inline(always)]
fn select(lanes: &mut Lanes<'_>, op: &Op, ty: SelectType, choice: u32, unknown: u32) {
    match ty {
        SelectType::B16
        | SelectType::B32
        | SelectType::U16
        | SelectType::U32
        | SelectType::S16
        | SelectType::S32
        | SelectType::F32 => {
            let (a, b) = (lanes.word(op.a), lanes.word(op.b));
            let undefined = unknown
                | lanes.word_undefined(op.a) & choice
                | lanes.word_undefined(op.b) & !choice;
            let result = each(|lane| s::select(a[lane], b[lane], choice >> lane & 1 == 1));
            lanes.set_word(op.d, &result, undefined);
        }
        SelectType::B64 | SelectType::U64 | SelectType::S64 | SelectType::F64 => {
            let (a, b) = (lanes.double(op.a), lanes.double(op.b));
            let undefined = unknown
                | lanes.double_undefined(op.a) & choice
                | lanes.double_undefined(op.b) & !choice;
            let result = each(|lane| s::select(a[lane], b[lane], choice >> lane & 1 == 1));
            lanes.set_double(op.d, &result, undefined);
        }
    }
}
