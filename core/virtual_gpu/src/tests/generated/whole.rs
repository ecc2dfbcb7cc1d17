//! Integer and bit operations of the reference: every operand is converted to an integer of 128 bits, every result
//! is truncated.

use super::super::virtual_gpu::isa::extended::{CarryIn, CarryOut, Extended, ExtendedOperator};
use super::super::virtual_gpu::isa::integer::{
    ExtremeType, Integer, Negative, Overflow, Part, WideType, WordType,
};
use super::super::virtual_gpu::isa::logic::{
    Direction, Excess, FoundBit, Logic, LogicType, PermuteMode,
};
use super::super::virtual_gpu::isa::scalar::ScalarType;
use super::video;

pub(super) fn is_signed(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::S8 | ScalarType::S16 | ScalarType::S32 | ScalarType::S64)
}

/// The number that the low bits of a register mean.
pub(super) fn number(bits: u64, ty: ScalarType) -> i128 {
    let width = ty.bits();
    let raw = i128::from(wrap(i128::from(bits), width));
    let negative = is_signed(ty) && raw >> (width - 1) & 1 == 1;
    if negative { raw - (1 << width) } else { raw }
}

/// The low bits of a number.
pub(super) fn wrap(value: i128, width: u32) -> u64 {
    (value & ((1 << width) - 1)) as u64
}

fn limits(ty: ScalarType) -> (i128, i128) {
    let width = ty.bits();
    if is_signed(ty) {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    }
}

pub(super) fn clamp(value: i128, ty: ScalarType) -> i128 {
    let (least, most) = limits(ty);
    value.clamp(least, most)
}

fn part(a: u64, b: u64, ty: ScalarType, part: Part) -> i128 {
    let (x, y) = (number(a, ty), number(b, ty));
    // The product of two unsigned numbers of 64 bits needs all 128.
    let product = if is_signed(ty) { x * y } else { (x as u128).wrapping_mul(y as u128) as i128 };
    match part {
        Part::Low => product,
        Part::High if is_signed(ty) => product >> ty.bits(),
        Part::High => ((product as u128) >> ty.bits()) as i128,
    }
}

fn product_24(a: u64, b: u64, ty: WordType, part: Part) -> i128 {
    let low = |bits: u64| {
        let raw = i128::from(bits & 0xff_ffff);
        if ty == WordType::S32 && raw >> 23 == 1 { raw - (1 << 24) } else { raw }
    };
    match part {
        Part::Low => low(a) * low(b),
        Part::High => (low(a) * low(b)) >> 16,
    }
}

pub(super) fn piece(bits: u64, index: u32, width: u32, signed: bool) -> i128 {
    let raw = i128::from(bits >> (index * width) & ((1 << width) - 1));
    if signed && raw >> (width - 1) == 1 { raw - (1 << width) } else { raw }
}

fn wide(ty: WideType) -> (ScalarType, u32) {
    let ty = ScalarType::from(ty);
    (ty, 2 * ty.bits())
}

fn pairs(a: u64, b: u64, signed: bool, f: impl Fn(i128, i128) -> i128) -> u64 {
    let one = |index| wrap(f(piece(a, index, 16, signed), piece(b, index, 16, signed)), 16);
    one(0) | one(1) << 16
}

fn extreme(ty: ExtremeType, negative: Negative, s: &[u64], best: fn(i128, i128) -> i128) -> u64 {
    let limit = |value: i128| if negative == Negative::Zero { value.max(0) } else { value };
    match ty {
        ExtremeType::U16x2 => pairs(s[0], s[1], false, best),
        ExtremeType::S16x2 => pairs(s[0], s[1], true, |a, b| limit(best(a, b))),
        ExtremeType::U16
        | ExtremeType::U32
        | ExtremeType::U64
        | ExtremeType::S16
        | ExtremeType::S32
        | ExtremeType::S64 => {
            let ty = ScalarType::from(ty);
            wrap(limit(best(number(s[0], ty), number(s[1], ty))), ty.bits())
        }
    }
}

/// Integer arithmetic; none for quotients by zero, which the ISA leaves open.
pub(super) fn integer(what: Integer, s: &[u64]) -> Option<u64> {
    let limited = |value: i128, ty: ScalarType, overflow: Overflow| match overflow {
        Overflow::Wrap => wrap(value, ty.bits()),
        Overflow::Saturate => wrap(clamp(value, ty), ty.bits()),
    };
    let signed = |ty: WordType| ty == WordType::S32;
    Some(match what {
        Integer::Add(ty, overflow) => {
            let ty = ScalarType::from(ty);
            limited(number(s[0], ty) + number(s[1], ty), ty, overflow)
        }
        Integer::Subtract(ty, overflow) => {
            let ty = ScalarType::from(ty);
            limited(number(s[0], ty) - number(s[1], ty), ty, overflow)
        }
        Integer::AddPacked(_) => pairs(s[0], s[1], false, |a, b| a + b),
        Integer::Multiply(half, ty) => {
            let ty = ScalarType::from(ty);
            wrap(part(s[0], s[1], ty, half), ty.bits())
        }
        Integer::MultiplyAdd(half, ty, overflow) => {
            let ty = ScalarType::from(ty);
            let product = part(s[0], s[1], ty, half);
            limited(product.wrapping_add(number(s[2], ty)), ty, overflow)
        }
        Integer::MultiplyWide(ty) => {
            let (ty, bits) = wide(ty);
            wrap(number(s[0], ty) * number(s[1], ty), bits)
        }
        Integer::MultiplyAddWide(ty) => {
            let (ty, bits) = wide(ty);
            wrap(number(s[0], ty) * number(s[1], ty) + i128::from(s[2]), bits)
        }
        Integer::Multiply24(half, ty) => wrap(product_24(s[0], s[1], ty, half), 32),
        Integer::MultiplyAdd24(half, ty, overflow) => {
            let sum = product_24(s[0], s[1], ty, half) + number(s[2], ScalarType::from(ty));
            limited(sum, ty.into(), overflow)
        }
        Integer::SumOfAbsoluteDifferences(ty) => {
            let ty = ScalarType::from(ty);
            wrap(number(s[2], ty) + (number(s[0], ty) - number(s[1], ty)).abs(), ty.bits())
        }
        Integer::Divide(_) | Integer::Remainder(_) => return None,
        Integer::Absolute(ty) => wrap(number(s[0], ty.into()).abs(), ScalarType::from(ty).bits()),
        Integer::Negate(ty) => wrap(-number(s[0], ty.into()), ScalarType::from(ty).bits()),
        Integer::Minimum(ty, negative) => extreme(ty, negative, s, Ord::min),
        Integer::Maximum(ty, negative) => extreme(ty, negative, s, Ord::max),
        Integer::DotProduct4(a, b) => {
            let products =
                (0..4).map(|i| piece(s[0], i, 8, signed(a)) * piece(s[1], i, 8, signed(b)));
            wrap(i128::from(s[2]) + products.sum::<i128>(), 32)
        }
        Integer::DotProduct2(half, a, b) => {
            let first = if half == Part::Low { 0 } else { 2 };
            let one = |i| piece(s[0], i, 16, signed(a)) * piece(s[1], first + i, 8, signed(b));
            wrap(i128::from(s[2]) + one(0) + one(1), 32)
        }
        Integer::Video(what) => video::value(what, s),
    })
}

/// Additions and products with the carry flag; returns the result and the new flag.
pub(super) fn extended(what: Extended, s: &[u64], carry: bool) -> (u64, bool) {
    let ty = ScalarType::from(what.ty);
    let width = ty.bits();
    let raw = |bits: u64| i128::from(wrap(i128::from(bits), width));
    let come = i128::from(carry && what.carry_in == CarryIn::Use);
    let value = match what.operator {
        ExtendedOperator::Add => raw(s[0]) + raw(s[1]) + come,
        // The sum with the complement, and one more unless something was borrowed before.
        ExtendedOperator::Subtract => {
            let more = if what.carry_in == CarryIn::Use { come } else { 1 };
            raw(s[0]) + raw(!s[1]) + more
        }
        ExtendedOperator::MultiplyAdd(half) => {
            i128::from(wrap(part(s[0], s[1], ty, half), width)) + raw(s[2]) + come
        }
    };
    let goes = value >> width != 0;
    (wrap(value, width), if what.carry_out == CarryOut::Write { goes } else { carry })
}

/// The bits of a number, lowest first.
fn bits(value: u64, width: u32) -> Vec<bool> {
    (0..width).map(|index| value >> index & 1 == 1).collect()
}

fn from_bits(bits: impl IntoIterator<Item = bool>) -> u64 {
    bits.into_iter().enumerate().fold(0, |value, (index, bit)| value | u64::from(bit) << index)
}

/// Operations on bits; none for the few that no generated program has.
pub(super) fn logic(what: Logic, s: &[u64]) -> Option<u64> {
    let width = |ty: LogicType| ScalarType::from(ty).bits();
    Some(match what {
        Logic::And(_) => s[0] & s[1],
        Logic::Or(_) => s[0] | s[1],
        Logic::Xor(_) => s[0] ^ s[1],
        Logic::Not(ty) => wrap(!i128::from(s[0]), width(ty)),
        Logic::LogicalNot(ty) => u64::from(number(s[0], ty.into()) == 0),
        Logic::Table3 => {
            let of = |index: u64| {
                (s[0] >> index & 1) << 2 | (s[1] >> index & 1) << 1 | s[2] >> index & 1
            };
            from_bits((0..32).map(|index| s[3] >> of(index) & 1 == 1))
        }
        Logic::Table3Predicate(_) => return None,
        Logic::ShiftLeft(ty) => {
            let width = ScalarType::from(ty).bits();
            let amount = (s[1] & 0xffff_ffff).min(u64::from(width));
            wrap(i128::from(s[0]) << amount, width)
        }
        Logic::ShiftRight(ty) => {
            let ty = ScalarType::from(ty);
            let amount = (s[1] & 0xffff_ffff).min(u64::from(ty.bits()));
            wrap(number(s[0], ty) >> amount, ty.bits())
        }
        Logic::Funnel(direction, excess) => {
            let pair = i128::from(s[1]) << 32 | i128::from(s[0]);
            let amount = match excess {
                Excess::Wrap => s[2] & 31,
                Excess::Clamp => s[2].min(32),
            };
            match direction {
                Direction::Left => wrap((pair << amount) >> 32, 32),
                Direction::Right => wrap(pair >> amount, 32),
            }
        }
        Logic::PopulationCount(_)
        | Logic::LeadingZeros(_)
        | Logic::Reverse(_)
        | Logic::FindLeading(..)
        | Logic::Extract(_)
        | Logic::Insert(_)
        | Logic::Mask(_)
        | Logic::Extend(..) => return bit_field(what, s),
        Logic::FindNth => return None,
        Logic::Permute(mode) => permute(mode, s),
    })
}

/// Operations on single bits of a value.
fn bit_field(what: Logic, s: &[u64]) -> Option<u64> {
    Some(match what {
        Logic::PopulationCount(ty) => {
            bits(s[0], ScalarType::from(ty).bits()).iter().filter(|bit| **bit).count() as u64
        }
        Logic::LeadingZeros(ty) => {
            let all = bits(s[0], ScalarType::from(ty).bits());
            all.iter().rev().take_while(|bit| !**bit).count() as u64
        }
        Logic::Reverse(ty) => from_bits(bits(s[0], ScalarType::from(ty).bits()).into_iter().rev()),
        Logic::FindLeading(ty, found) => {
            let ty = ScalarType::from(ty);
            let all = bits(s[0], ty.bits());
            let sign = is_signed(ty) && all.last() == Some(&true);
            let position = all.iter().rposition(|bit| *bit != sign);
            let top = u64::from(ty.bits()) - 1;
            match (position, found) {
                (None, _) => 0xffff_ffff,
                (Some(position), FoundBit::Position) => position as u64,
                (Some(position), FoundBit::ShiftAmount) => top - position as u64,
            }
        }
        Logic::Extract(ty) => {
            let ty = ScalarType::from(ty);
            let all = bits(s[0], ty.bits());
            let (start, length) = ((s[1] & 0xff) as usize, (s[2] & 0xff) as usize);
            let top = all.len() - 1;
            let fill = is_signed(ty) && length > 0 && all[(start + length - 1).min(top)];
            let bit = |index: usize| {
                if index < length { all.get(start + index).copied().unwrap_or(fill) } else { fill }
            };
            from_bits((0..all.len()).map(bit))
        }
        Logic::Insert(ty) => {
            let width = ScalarType::from(ty).bits();
            let (from, mut into) = (bits(s[0], width), bits(s[1], width));
            let (start, length) = ((s[2] & 0xff) as usize, (s[3] & 0xff) as usize);
            for (bit, given) in into.iter_mut().skip(start).zip(from.into_iter().take(length)) {
                *bit = given;
            }
            from_bits(into)
        }
        Logic::Mask(excess) => {
            let limit =
                |value: u64| if excess == Excess::Wrap { value & 31 } else { value.min(32) };
            let (start, length) = (limit(s[0]), limit(s[1]));
            from_bits((0..32).map(|index| index >= start && index < start + length))
        }
        Logic::Extend(excess, ty) => {
            let signed = is_signed(ty.into());
            let length = if excess == Excess::Wrap { s[1] & 31 } else { s[1].min(32) };
            let all = bits(s[0], 32);
            let fill = signed && length > 0 && all[length as usize - 1];
            from_bits((0..32).map(|index| if index < length as usize { all[index] } else { fill }))
        }
        Logic::And(_)
        | Logic::Or(_)
        | Logic::Xor(_)
        | Logic::Not(_)
        | Logic::LogicalNot(_)
        | Logic::Table3
        | Logic::Table3Predicate(_)
        | Logic::ShiftLeft(_)
        | Logic::ShiftRight(_)
        | Logic::Funnel(..)
        | Logic::FindNth
        | Logic::Permute(_) => return None,
    })
}

fn permute(mode: Option<PermuteMode>, s: &[u64]) -> u64 {
    let pair = s[1] << 32 | s[0] & 0xffff_ffff;
    let low = s[2] & 3;
    let selectors: [u64; 4] = std::array::from_fn(|index| {
        let index = index as u64;
        match mode {
            None => s[2] >> (4 * index) & 15,
            Some(PermuteMode::Forward4) => low + index,
            Some(PermuteMode::Backward4) => (8 + low - index) % 8,
            Some(PermuteMode::Replicate8) => low,
            Some(PermuteMode::EdgeLeft) => index.max(low),
            Some(PermuteMode::EdgeRight) => index.min(low),
            Some(PermuteMode::Replicate16) => 2 * (low & 1) + index % 2,
        }
    });
    let byte = |selector: u64| {
        let byte = pair >> (8 * (selector & 7)) & 0xff;
        let copies_sign = selector >> 3 == 1;
        if copies_sign { if byte >> 7 == 1 { 0xff } else { 0 } } else { byte }
    };
    selectors
        .iter()
        .enumerate()
        .fold(0, |all, (index, selector)| all | byte(*selector) << (8 * index))
}
