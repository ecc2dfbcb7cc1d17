//! Logic, shifts, bit fields, bit counts and permutations.

use super::super::super::isa::logic::{
    Direction, ExtendType, FieldType, FoundBit, Join, Logic, LogicType, PermuteMode,
    RightShiftType, ShiftType, WideBits,
};
use super::super::super::lower::code::Op;
use super::super::super::semantics::bits as s;
use super::super::lanes::{Lanes, bits, each};
use super::super::register_init_mask::{BitOperand, BitOperation, BitRule};
use super::bitwise::{
    each_1, each_2, each_3, each_doubles_1, each_doubles_2, field, joined, moved_1, shifted,
    shifted_double,
};
use super::modes;

#[inline(always)]
pub(super) fn execute(lanes: &mut Lanes<'_>, op: &Op, what: Logic) {
    match what {
        Logic::And(ty) => match ty {
            LogicType::Pred => predicates(lanes, op, and_bits),
            LogicType::B16 | LogicType::B32 => each_2(lanes, op, s::and),
            LogicType::B64 => each_doubles_2(lanes, op, s::and),
        },
        Logic::Or(ty) => match ty {
            LogicType::Pred => predicates(lanes, op, or_bits),
            LogicType::B16 | LogicType::B32 => each_2(lanes, op, s::or),
            LogicType::B64 => each_doubles_2(lanes, op, s::or),
        },
        Logic::Xor(ty) => match ty {
            LogicType::Pred => predicates(lanes, op, |a, ua, b, ub| (a ^ b, ua | ub)),
            LogicType::B16 | LogicType::B32 => each_2(lanes, op, s::xor),
            LogicType::B64 => each_doubles_2(lanes, op, s::xor),
        },
        Logic::Not(ty) => match ty {
            LogicType::Pred => {
                let (value, undefined) = (!lanes.predicate(op.a), lanes.predicate_undefined(op.a));
                lanes.set_predicate(op.d, value, undefined);
            }
            LogicType::B16 => each_1(lanes, op, |a| u32::from(s::not(a as u16))),
            LogicType::B32 => each_1(lanes, op, s::not),
            LogicType::B64 => each_doubles_1(lanes, op, s::not),
        },
        Logic::ShiftLeft(ty) => match ty {
            ShiftType::B16 => shifted(lanes, op, |a, b| u32::from(s::shift_left(a as u16, b))),
            ShiftType::B32 => shifted(lanes, op, s::shift_left),
            ShiftType::B64 => shifted_double(lanes, op, s::shift_left),
        },
        Logic::ShiftRight(ty) => shift_right(lanes, op, ty),
        Logic::Table3 => table_3(lanes, op),
        Logic::Funnel(direction, excess) => {
            let excess = modes::excess(excess);
            let direction = match direction {
                Direction::Left => s::Direction::Left,
                Direction::Right => s::Direction::Right,
            };
            joined(lanes, op, |a, b, c| s::funnel(a, b, c, direction, excess));
        }
        Logic::LogicalNot(_)
        | Logic::Table3Predicate(_)
        | Logic::PopulationCount(_)
        | Logic::LeadingZeros(_)
        | Logic::Reverse(_)
        | Logic::FindLeading(..)
        | Logic::Extract(_)
        | Logic::Insert(_)
        | Logic::Mask(_)
        | Logic::Extend(..)
        | Logic::FindNth
        | Logic::Permute(_) => fields(lanes, op, what),
    }
}

/// `a & b`: defined as false if one operand is defined and false.
pub(super) fn and_bits(a: u32, a_undefined: u32, b: u32, b_undefined: u32) -> (u32, u32) {
    let known_false = (!a & !a_undefined) | (!b & !b_undefined);
    (a & b & !known_false, (a_undefined | b_undefined) & !known_false)
}

/// `a | b`: defined as true if one operand is defined and true.
pub(super) fn or_bits(a: u32, a_undefined: u32, b: u32, b_undefined: u32) -> (u32, u32) {
    let known_true = (a & !a_undefined) | (b & !b_undefined);
    (a | b | known_true, (a_undefined | b_undefined) & !known_true)
}

#[inline(always)]
fn predicates(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u32, u32, u32, u32) -> (u32, u32)) {
    let (a, b) = (lanes.predicate(op.a), lanes.predicate(op.b));
    let (result, undefined) =
        f(a, lanes.predicate_undefined(op.a), b, lanes.predicate_undefined(op.b));
    lanes.set_predicate(op.d, result, undefined);
}

#[inline(always)]
fn shift_right(lanes: &mut Lanes<'_>, op: &Op, ty: RightShiftType) {
    match ty {
        RightShiftType::B16 | RightShiftType::U16 => {
            shifted(lanes, op, |a, b| u32::from(s::shift_right(a as u16, b)));
        }
        RightShiftType::S16 => {
            shifted(lanes, op, |a, b| u32::from(s::shift_right(a as i16, b) as u16));
        }
        RightShiftType::B32 | RightShiftType::U32 => shifted(lanes, op, s::shift_right),
        RightShiftType::S32 => shifted(lanes, op, |a, b| s::shift_right(a as i32, b) as u32),
        RightShiftType::B64 | RightShiftType::U64 => shifted_double(lanes, op, s::shift_right),
        RightShiftType::S64 => shifted_double(lanes, op, |a, b| s::shift_right(a as i64, b) as u64),
    }
}

fn table(lanes: &Lanes<'_>, op: &Op) -> u8 {
    if op.f.is_pool() && op.immediate == 0 { lanes.word(op.f)[0] as u8 } else { op.immediate as u8 }
}

#[inline(always)]
fn table_3(lanes: &mut Lanes<'_>, op: &Op) {
    let table = table(lanes, op);
    each_3(lanes, op, |a, b, c| s::table_3(a, b, c, table));
}

fn fields(lanes: &mut Lanes<'_>, op: &Op, what: Logic) {
    match what {
        Logic::LogicalNot(ty) => match ty {
            ShiftType::B16 => lanes.words_1(op, |a| u32::from(s::logical_not(a as u16))),
            ShiftType::B32 => lanes.words_1(op, s::logical_not),
            ShiftType::B64 => lanes.doubles_1(op, s::logical_not),
        },
        Logic::Table3Predicate(join) => {
            let table = op.immediate as u8;
            let (a, b, c) = (lanes.word(op.a), lanes.word(op.b), lanes.word(op.c));
            let result: [u32; 32] = each(|lane| s::table_3(a[lane], b[lane], c[lane], table));
            let undefined = lanes.word_undefined(op.a)
                | lanes.word_undefined(op.b)
                | lanes.word_undefined(op.c);
            let (other, other_undefined) = (lanes.predicate(op.f), lanes.predicate_undefined(op.f));
            let holds = bits(|lane| result[lane] != 0);
            let (joined, joined_undefined) = match join {
                Join::And => and_bits(holds, undefined, other, other_undefined),
                Join::Or => or_bits(holds, undefined, other, other_undefined),
            };
            lanes.set_word(op.d, &result, undefined);
            if !op.e.is_none() {
                lanes.set_predicate(op.e, joined, joined_undefined);
            }
        }
        Logic::PopulationCount(WideBits::B32) => {
            lanes.words_1(op, |a| s::population_count(u64::from(a)));
        }
        Logic::PopulationCount(WideBits::B64) => lanes.narrowing_1(op, s::population_count),
        Logic::LeadingZeros(WideBits::B32) => lanes.words_1(op, s::leading_zeros_32),
        Logic::LeadingZeros(WideBits::B64) => lanes.narrowing_1(op, s::leading_zeros_64),
        Logic::Reverse(WideBits::B32) => moved_1(lanes, op, s::reverse_32),
        Logic::Reverse(WideBits::B64) => lanes.doubles_1(op, s::reverse_64),
        Logic::FindLeading(ty, found) => find(lanes, op, ty, found),
        Logic::Extract(ty) => extract(lanes, op, ty),
        Logic::Insert(ty) => insert(lanes, op, ty),
        Logic::Mask(excess) => lanes.words_2(op, |a, b| s::mask(a, b, modes::excess(excess))),
        Logic::Extend(excess, ExtendType::S32) => {
            lanes.words_2(op, |a, b| s::extend_sign(a, b, modes::excess(excess)));
        }
        Logic::Extend(excess, ExtendType::U32) => {
            lanes.words_2(op, |a, b| s::extend_zero(a, b, modes::excess(excess)));
        }
        Logic::FindNth => lanes.words_3(op, |a, b, c| s::find_nth_set(a, b, c as i32)),
        Logic::Permute(None) => joined(lanes, op, s::permute),
        Logic::Permute(Some(mode)) => {
            let mode = permute_mode(mode);
            joined(lanes, op, |a, b, c| s::permute_by_mode(a, b, c, mode));
        }
        Logic::And(_)
        | Logic::Or(_)
        | Logic::Xor(_)
        | Logic::Not(_)
        | Logic::Table3
        | Logic::ShiftLeft(_)
        | Logic::ShiftRight(_)
        | Logic::Funnel(..) => {}
    }
}

fn permute_mode(mode: PermuteMode) -> s::PermuteMode {
    match mode {
        PermuteMode::Forward4 => s::PermuteMode::Forward4,
        PermuteMode::Backward4 => s::PermuteMode::Backward4,
        PermuteMode::Replicate8 => s::PermuteMode::Replicate8,
        PermuteMode::EdgeLeft => s::PermuteMode::EdgeLeft,
        PermuteMode::EdgeRight => s::PermuteMode::EdgeRight,
        PermuteMode::Replicate16 => s::PermuteMode::Replicate16,
    }
}

fn find(lanes: &mut Lanes<'_>, op: &Op, ty: FieldType, found: FoundBit) {
    let found = match found {
        FoundBit::Position => s::FoundBit::Position,
        FoundBit::ShiftAmount => s::FoundBit::ShiftAmount,
    };
    match ty {
        FieldType::U32 => lanes.words_1(op, |a| s::find_32(a, found)),
        FieldType::S32 => lanes.words_1(op, |a| s::find_signed_32(a as i32, found)),
        FieldType::U64 => lanes.narrowing_1(op, |a| s::find_64(a, found)),
        FieldType::S64 => lanes.narrowing_1(op, |a| s::find_signed_64(a as i64, found)),
    }
}

fn extract(lanes: &mut Lanes<'_>, op: &Op, ty: FieldType) {
    match ty {
        FieldType::U32 => field(lanes, op, s::extract_32),
        FieldType::S32 => {
            field(lanes, op, |a, b, c| s::extract_signed_32(a as i32, b, c) as u32);
        }
        FieldType::U64 | FieldType::S64 => {
            let (a, b, c) = (lanes.double(op.a), lanes.word(op.b), lanes.word(op.c));
            let undefined = lanes.double_undefined(op.a)
                | lanes.word_undefined(op.b)
                | lanes.word_undefined(op.c);
            let signed = ty == FieldType::S64;
            let extract = |a: u64, b: u32, c: u32| {
                if signed {
                    s::extract_signed_64(a as i64, b, c) as u64
                } else {
                    s::extract_64(a, b, c)
                }
            };
            let result = each(|lane| extract(a[lane], b[lane], c[lane]));
            let trace = BitOperation {
                rule: BitRule::Moved,
                operands: &[
                    BitOperand::double(op.a),
                    BitOperand::control(op.b),
                    BitOperand::control(op.c),
                ],
                apply: &|[a, b, c, _]| extract(a, b as u32, c as u32),
            };
            lanes.set_bitwise_double(op.d, &result, undefined, &trace);
        }
    }
}

fn insert(lanes: &mut Lanes<'_>, op: &Op, ty: WideBits) {
    let (c, f) = (lanes.word(op.c), lanes.word(op.f));
    let mut undefined = lanes.word_undefined(op.c) | lanes.word_undefined(op.f);
    match ty {
        WideBits::B32 => {
            let (a, b) = (lanes.word(op.a), lanes.word(op.b));
            undefined |= lanes.word_undefined(op.a) | lanes.word_undefined(op.b);
            let result = each(|lane| s::insert_32(a[lane], b[lane], c[lane], f[lane]));
            let trace = BitOperation {
                rule: BitRule::Moved,
                operands: &[
                    BitOperand::word(op.a),
                    BitOperand::word(op.b),
                    BitOperand::control(op.c),
                    BitOperand::control(op.f),
                ],
                apply: &|[a, b, c, f]| {
                    u64::from(s::insert_32(a as u32, b as u32, c as u32, f as u32))
                },
            };
            lanes.set_bitwise_word(op.d, &result, undefined, &trace);
        }
        WideBits::B64 => {
            let (a, b) = (lanes.double(op.a), lanes.double(op.b));
            undefined |= lanes.double_undefined(op.a) | lanes.double_undefined(op.b);
            let result = each(|lane| s::insert_64(a[lane], b[lane], c[lane], f[lane]));
            let trace = BitOperation {
                rule: BitRule::Moved,
                operands: &[
                    BitOperand::double(op.a),
                    BitOperand::double(op.b),
                    BitOperand::control(op.c),
                    BitOperand::control(op.f),
                ],
                apply: &|[a, b, c, f]| s::insert_64(a, b, c as u32, f as u32),
            };
            lanes.set_bitwise_double(op.d, &result, undefined, &trace);
        }
    }
}
