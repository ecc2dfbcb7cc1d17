//! Bitwise operations and operations that move bits, with the initialisation of each bit.

use super::super::super::lower::code::Op;
use super::super::lanes::{Lanes, each};
use super::super::register_init_mask::{BitOperand, BitOperation, BitRule};

/// A copy of a 32-bit value.
#[inline(always)]
pub(super) fn copy(lanes: &mut Lanes<'_>, op: &Op) {
    let a = lanes.word_row(op.a);
    let (values, undefined) = (a.values, a.undefined);
    let trace = BitOperation {
        rule: BitRule::Copied,
        operands: &[BitOperand::word(op.a)],
        apply: &|[a, ..]| a,
    };
    lanes.set_bitwise_word(op.d, &values, undefined, &trace);
}

/// A copy of a 64-bit value.
#[inline(always)]
pub(super) fn copy_double(lanes: &mut Lanes<'_>, op: &Op) {
    let a = lanes.double_row(op.a);
    let (values, undefined) = (a.values, a.undefined);
    let trace = BitOperation {
        rule: BitRule::Copied,
        operands: &[BitOperand::double(op.a)],
        apply: &|[a, ..]| a,
    };
    lanes.set_bitwise_double(op.d, &values, undefined, &trace);
}

macro_rules! words_1 {
    ($(#[$doc:meta])* $name:ident, $rule:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u32) -> u32) {
            let a = lanes.word_row(op.a);
            let undefined = a.undefined;
            let values = each(|lane| f(a.values[lane]));
            let trace = BitOperation {
                rule: BitRule::$rule,
                operands: &[BitOperand::word(op.a)],
                apply: &|[a, ..]| u64::from(f(a as u32)),
            };
            lanes.set_bitwise_word(op.d, &values, undefined, &trace);
        }
    };
}

macro_rules! words_2 {
    ($(#[$doc:meta])* $name:ident, $rule:ident, $second:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u32, u32) -> u32) {
            let (a, b) = (lanes.word_row(op.a), lanes.word_row(op.b));
            let undefined = a.undefined | b.undefined;
            let values = each(|lane| f(a.values[lane], b.values[lane]));
            let trace = BitOperation {
                rule: BitRule::$rule,
                operands: &[BitOperand::word(op.a), BitOperand::$second(op.b)],
                apply: &|[a, b, ..]| u64::from(f(a as u32, b as u32)),
            };
            lanes.set_bitwise_word(op.d, &values, undefined, &trace);
        }
    };
}

macro_rules! words_3 {
    ($(#[$doc:meta])* $name:ident, $rule:ident, $second:ident, $third:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u32, u32, u32) -> u32) {
            let (a, b, c) = (lanes.word_row(op.a), lanes.word_row(op.b), lanes.word_row(op.c));
            let undefined = a.undefined | b.undefined | c.undefined;
            let values =
                each(|lane| f(a.values[lane], b.values[lane], c.values[lane]));
            let trace = BitOperation {
                rule: BitRule::$rule,
                operands: &[BitOperand::word(op.a), BitOperand::$second(op.b), BitOperand::$third(op.c)],
                apply: &|[a, b, c, _]| u64::from(f(a as u32, b as u32, c as u32)),
            };
            lanes.set_bitwise_word(op.d, &values, undefined, &trace);
        }
    };
}

words_1! {
    /// A bitwise operation on one word.
    each_1, Each
}
words_1! {
    /// An operation that moves the bits of a word.
    moved_1, Moved
}
words_2! {
    /// A bitwise operation on two words.
    each_2, Each, word
}
words_2! {
    /// An operation that moves the bits of a word by a second operand.
    shifted, Moved, control
}
words_3! {
    /// A bitwise operation on three words.
    each_3, Each, word, word
}
words_3! {
    /// A selection of bits of two words by a third operand.
    joined, Moved, word, control
}
words_3! {
    /// A selection of bits of a word by the other operands.
    field, Moved, control, control
}

/// A bitwise operation on one 64-bit value.
#[inline(always)]
pub(super) fn each_doubles_1(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u64) -> u64) {
    let a = lanes.double_row(op.a);
    let undefined = a.undefined;
    let values = each(|lane| f(a.values[lane]));
    let trace = BitOperation {
        rule: BitRule::Each,
        operands: &[BitOperand::double(op.a)],
        apply: &|[a, ..]| f(a),
    };
    lanes.set_bitwise_double(op.d, &values, undefined, &trace);
}

/// A bitwise operation on two 64-bit values.
#[inline(always)]
pub(super) fn each_doubles_2(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u64, u64) -> u64) {
    let (a, b) = (lanes.double_row(op.a), lanes.double_row(op.b));
    let undefined = a.undefined | b.undefined;
    let values = each(|lane| f(a.values[lane], b.values[lane]));
    let trace = BitOperation {
        rule: BitRule::Each,
        operands: &[BitOperand::double(op.a), BitOperand::double(op.b)],
        apply: &|[a, b, ..]| f(a, b),
    };
    lanes.set_bitwise_double(op.d, &values, undefined, &trace);
}

/// An operation that moves the bits of a 64-bit value by a word.
#[inline(always)]
pub(super) fn shifted_double(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u64, u32) -> u64) {
    let (a, b) = (lanes.double_row(op.a), lanes.word_row(op.b));
    let undefined = a.undefined | b.undefined;
    let values = each(|lane| f(a.values[lane], b.values[lane]));
    let trace = BitOperation {
        rule: BitRule::Moved,
        operands: &[BitOperand::double(op.a), BitOperand::control(op.b)],
        apply: &|[a, b, ..]| f(a, b as u32),
    };
    lanes.set_bitwise_double(op.d, &values, undefined, &trace);
}
