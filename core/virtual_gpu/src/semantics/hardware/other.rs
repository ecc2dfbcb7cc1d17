//! Bits, comparisons, carries and atomics.

use super::Spelling;
use crate::semantics::Negative;
use crate::semantics::atomic::{self, Memory};
use crate::semantics::bits::{self, Direction, Excess, FoundBit, PermuteMode};
use crate::semantics::compare::{self, FloatOrder, Order};
use crate::semantics::half::{self, HalfFormat};
use crate::semantics::integer::{self, Carried, Limb, ProductPart};

pub(super) fn evaluate(s: &Spelling<'_>, x: [u64; 4]) -> Option<u64> {
    let w = x.map(|bits| bits as u32);
    match s.opcode() {
        "setp" => comparison(s, x).map(u64::from),
        "set" => set(s, x),
        "slct" => slct(s, x),
        "atom" => atom(s, x),
        "addc" | "subc" | "madc" if s.ty().ends_with("32") => carried(s, w).map(u64::from),
        "addc" | "subc" | "madc" => carried(s, x),
        _ => words(s, w).or_else(|| logic(s, x)),
    }
}

fn carried<T: Limb + Default + From<bool> + Copy>(
    s: &Spelling<'_>,
    [a, b, c, d]: [T; 4],
) -> Option<T> {
    let zero = T::default();
    let close = |last: Carried<T>| {
        let carry = integer::add_with_carry(zero, zero, last.carry).value;
        integer::add_with_carry(last.value, carry, false).value
    };
    if s.has("subtract") {
        let borrow = integer::subtract_with_borrow(a, b, false).carry;
        return Some(integer::add_with_carry(c, d, !borrow).value);
    }
    Some(match s.opcode() {
        "addc" => {
            let carry = integer::add_with_carry(a, b, false).carry;
            close(integer::add_with_carry(c, d, carry))
        }
        "subc" => {
            let borrow = integer::subtract_with_borrow(a, b, false).carry;
            let last = integer::subtract_with_borrow(c, d, borrow);
            close(Carried { carry: !last.carry, ..last })
        }
        _ => {
            let high = if s.ty().starts_with('s') {
                ProductPart::HighSigned
            } else {
                ProductPart::HighUnsigned
            };
            let low = integer::multiply_add_with_carry(a, b, c, ProductPart::Low, false);
            close(integer::multiply_add_with_carry(a, b, d, high, low.carry))
        }
    })
}

fn order(word: &str) -> Option<FloatOrder> {
    let orders = [
        ("eq", Order::Equal),
        ("ne", Order::NotEqual),
        ("lt", Order::Less),
        ("lo", Order::Less),
        ("le", Order::LessEqual),
        ("ls", Order::LessEqual),
        ("gt", Order::Greater),
        ("hi", Order::Greater),
        ("ge", Order::GreaterEqual),
        ("hs", Order::GreaterEqual),
    ];
    let find = |word: &str| orders.iter().find(|(name, _)| *name == word).map(|(_, order)| *order);
    match word {
        "num" => Some(FloatOrder::BothNumbers),
        "nan" => Some(FloatOrder::AnyNan),
        _ => find(word)
            .map(FloatOrder::Ordered)
            .or_else(|| find(word.strip_suffix('u')?).map(FloatOrder::Unordered)),
    }
}

fn comparison(s: &Spelling<'_>, [a, b, ..]: [u64; 4]) -> Option<bool> {
    let float = order(s.words[1])?;
    let half = |format| compare::compare_half(a as u16, b as u16, float, format, s.subnormals());
    match s.ty() {
        "f32" => return Some(compare::compare_f32(a as u32, b as u32, float, s.subnormals())),
        "f64" => return Some(compare::compare_f64(a, b, float)),
        "f16" => return Some(half(HalfFormat::F16)),
        "bf16" => return Some(half(HalfFormat::Bf16)),
        _ => {}
    }
    let FloatOrder::Ordered(order) = float else { return None };
    Some(match s.ty() {
        "u16" => compare::compare(a as u16, b as u16, order),
        "s16" => compare::compare(a as i16, b as i16, order),
        "u32" => compare::compare(a as u32, b as u32, order),
        "s32" => compare::compare(a as i32, b as i32, order),
        "u64" => compare::compare(a, b, order),
        "s64" => compare::compare(a as i64, b as i64, order),
        _ => return None,
    })
}

fn set(s: &Spelling<'_>, x: [u64; 4]) -> Option<u64> {
    let truth = match s.result_ty() {
        "u16" => 0xffff,
        "f16" | "f16x2" => 0x3c00,
        "bf16" | "bf16x2" => 0x3f80,
        "f32" => 0x3f80_0000,
        "u32" | "s32" if s.ty().ends_with("x2") => 0xffff,
        "u32" | "s32" => u32::MAX,
        _ => return None,
    };
    if !s.ty().ends_with("x2") {
        return comparison(s, x).map(|holds| u64::from(compare::set(holds, truth)));
    }
    let (float, format) = (order(s.words[1])?, s.half_format());
    let halves = half::pair([x[0] as u32, x[1] as u32], |[a, b]| {
        compare::set(compare::compare_half(a, b, float, format, s.subnormals()), truth) as u16
    });
    Some(u64::from(halves))
}

fn slct(s: &Spelling<'_>, [a, b, c, _]: [u64; 4]) -> Option<u64> {
    Some(match s.ty() {
        "s32" => compare::select_by_s32(a, b, c as i32),
        _ => compare::select_by_f32(a, b, c as u32, s.subnormals()),
    })
}

fn atom(s: &Spelling<'_>, [a, b, ..]: [u64; 4]) -> Option<u64> {
    let memory = if s.has("global") { Memory::Global } else { Memory::Shared };
    let halves = |format| half::pair([a as u32, b as u32], |[a, b]| atomic::add_half(a, b, format));
    Some(match (s.words[2], s.ty()) {
        ("add", "f32") => atomic::add_f32_in(a as u32, b as u32, memory).into(),
        ("add", "f64") => atomic::add_double(a, b),
        ("add", "f16" | "f16x2") => halves(HalfFormat::F16).into(),
        ("add", "bf16" | "bf16x2") => halves(HalfFormat::Bf16).into(),
        ("inc", _) => atomic::increment(a as u32, b as u32).into(),
        ("dec", _) => atomic::decrement(a as u32, b as u32).into(),
        ("min", "u32") => integer::extreme(a as u32, b as u32, s.extreme()?, Negative::Keep).into(),
        ("max", "s64") => integer::extreme(a as i64, b as i64, s.extreme()?, Negative::Keep) as u64,
        _ => return None,
    })
}

fn words(s: &Spelling<'_>, [a, b, c, _]: [u32; 4]) -> Option<u64> {
    let excess = if s.has("wrap") { Excess::Wrap } else { Excess::Clamp };
    let mode = |word: &str| {
        Some(match word {
            "f4e" => PermuteMode::Forward4,
            "b4e" => PermuteMode::Backward4,
            "rc8" => PermuteMode::Replicate8,
            "ecl" => PermuteMode::EdgeLeft,
            "ecr" => PermuteMode::EdgeRight,
            "rc16" => PermuteMode::Replicate16,
            _ => return None,
        })
    };
    Some(u64::from(match s.opcode() {
        "shf" => {
            let direction = if s.has("l") { Direction::Left } else { Direction::Right };
            bits::funnel(a, b, c, direction, excess)
        }
        "prmt" => match mode(s.ty()) {
            Some(mode) => bits::permute_by_mode(a, b, c, mode),
            None => bits::permute(a, b, c),
        },
        "bmsk" => bits::mask(a, b, excess),
        "szext" if s.ty() == "s32" => bits::extend_sign(a, b, excess),
        "szext" => bits::extend_zero(a, b, excess),
        "lop3" => bits::table_3(a, b, c, u8::from_str_radix(s.ty(), 16).ok()?),
        "fns" => bits::find_nth_set(a, b & 31, c as i32 % 40),
        _ => return None,
    }))
}

fn logic(s: &Spelling<'_>, [a, b, c, d]: [u64; 4]) -> Option<u64> {
    let (count, position, length) = (b as u32, b as u32, c as u32);
    let found = if s.has("shiftamt") { FoundBit::ShiftAmount } else { FoundBit::Position };
    Some(match (s.opcode(), s.ty()) {
        ("shl", "b16") => bits::shift_left(a as u16, count).into(),
        ("shl", "b32") => bits::shift_left(a as u32, count).into(),
        ("shl", "b64") => bits::shift_left(a, count),
        ("shr", "u16") => bits::shift_right(a as u16, count).into(),
        ("shr", "u32") => bits::shift_right(a as u32, count).into(),
        ("shr", "u64") => bits::shift_right(a, count),
        ("shr", "s16") => bits::shift_right(a as i16, count) as u64,
        ("shr", "s32") => bits::shift_right(a as i32, count) as u64,
        ("shr", "s64") => bits::shift_right(a as i64, count) as u64,
        ("cnot", "b16") => bits::logical_not(a as u16).into(),
        ("cnot", "b32") => bits::logical_not(a as u32).into(),
        ("cnot", "b64") => bits::logical_not(a),
        ("bfe", "u32") => bits::extract_32(a as u32, position, length).into(),
        ("bfe", "u64") => bits::extract_64(a, position, length),
        ("bfe", "s32") => bits::extract_signed_32(a as i32, position, length) as u64,
        ("bfe", "s64") => bits::extract_signed_64(a as i64, position, length) as u64,
        ("bfi", "b32") => bits::insert_32(a as u32, b as u32, c as u32, d as u32).into(),
        ("bfi", "b64") => bits::insert_64(a, b, c as u32, d as u32),
        ("bfind", "u32") => bits::find_32(a as u32, found).into(),
        ("bfind", "u64") => bits::find_64(a, found).into(),
        ("bfind", "s32") => bits::find_signed_32(a as i32, found).into(),
        ("bfind", "s64") => bits::find_signed_64(a as i64, found).into(),
        ("brev", "b32") => bits::reverse_32(a as u32).into(),
        ("brev", "b64") => bits::reverse_64(a),
        ("clz", "b32") => bits::leading_zeros_32(a as u32).into(),
        ("clz", "b64") => bits::leading_zeros_64(a).into(),
        ("popc", _) => bits::population_count(a).into(),
        _ => return None,
    })
}
