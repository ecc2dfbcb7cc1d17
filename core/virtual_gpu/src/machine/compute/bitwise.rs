//! Operations that move bits or treat each for itself, with what is known of each bit.

use super::super::super::lower::code::Op;
use super::super::lanes::{Lanes, each};
use super::super::partial::{Operand, Rule, Trace};

/// The value as it is.
#[inline(always)]
pub(super) fn copy(lanes: &mut Lanes<'_>, op: &Op) {
    let a = lanes.word_row(op.a);
    let (values, undefined) = (a.values, a.undefined);
    let trace = Trace { rule: Rule::Copied, operands: &[Operand::word(op.a)], apply: &|[a, ..]| a };
    lanes.set_traced_word(op.d, &values, undefined, &trace);
}

/// The same of 64 bits.
#[inline(always)]
pub(super) fn copy_double(lanes: &mut Lanes<'_>, op: &Op) {
    let a = lanes.double_row(op.a);
    let (values, undefined) = (a.values, a.undefined);
    let trace =
        Trace { rule: Rule::Copied, operands: &[Operand::double(op.a)], apply: &|[a, ..]| a };
    lanes.set_traced_double(op.d, &values, undefined, &trace);
}

macro_rules! words_1 {
    ($(#[$doc:meta])* $name:ident, $rule:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u32) -> u32) {
            let a = lanes.word_row(op.a);
            let undefined = a.undefined;
            let values = each(|lane| f(a.values[lane]));
            let trace = Trace {
                rule: Rule::$rule,
                operands: &[Operand::word(op.a)],
                apply: &|[a, ..]| u64::from(f(a as u32)),
            };
            lanes.set_traced_word(op.d, &values, undefined, &trace);
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
            let trace = Trace {
                rule: Rule::$rule,
                operands: &[Operand::word(op.a), Operand::$second(op.b)],
                apply: &|[a, b, ..]| u64::from(f(a as u32, b as u32)),
            };
            lanes.set_traced_word(op.d, &values, undefined, &trace);
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
            let trace = Trace {
                rule: Rule::$rule,
                operands: &[Operand::word(op.a), Operand::$second(op.b), Operand::$third(op.c)],
                apply: &|[a, b, c, _]| u64::from(f(a as u32, b as u32, c as u32)),
            };
            lanes.set_traced_word(op.d, &values, undefined, &trace);
        }
    };
}

words_1! {
    /// Each bit of a word for itself.
    each_1, Each
}
words_1! {
    /// Bits of a word in other places.
    moved_1, Moved
}
words_2! {
    /// Each bit of two words for itself.
    each_2, Each, word
}
words_2! {
    /// Bits of a word, moved by the second.
    shifted, Moved, control
}
words_3! {
    /// Each bit of three words for itself.
    each_3, Each, word, word
}
words_3! {
    /// Bits of two words, chosen by the third.
    joined, Moved, word, control
}
words_3! {
    /// Bits of a word, chosen by the others.
    field, Moved, control, control
}

/// Each bit of 64 for itself.
#[inline(always)]
pub(super) fn each_doubles_1(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u64) -> u64) {
    let a = lanes.double_row(op.a);
    let undefined = a.undefined;
    let values = each(|lane| f(a.values[lane]));
    let trace =
        Trace { rule: Rule::Each, operands: &[Operand::double(op.a)], apply: &|[a, ..]| f(a) };
    lanes.set_traced_double(op.d, &values, undefined, &trace);
}

/// Each bit of two values of 64 bits for itself.
#[inline(always)]
pub(super) fn each_doubles_2(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u64, u64) -> u64) {
    let (a, b) = (lanes.double_row(op.a), lanes.double_row(op.b));
    let undefined = a.undefined | b.undefined;
    let values = each(|lane| f(a.values[lane], b.values[lane]));
    let trace = Trace {
        rule: Rule::Each,
        operands: &[Operand::double(op.a), Operand::double(op.b)],
        apply: &|[a, b, ..]| f(a, b),
    };
    lanes.set_traced_double(op.d, &values, undefined, &trace);
}

/// 64 bits, moved by a word.
#[inline(always)]
pub(super) fn shifted_double(lanes: &mut Lanes<'_>, op: &Op, f: impl Fn(u64, u32) -> u64) {
    let (a, b) = (lanes.double_row(op.a), lanes.word_row(op.b));
    let undefined = a.undefined | b.undefined;
    let values = each(|lane| f(a.values[lane], b.values[lane]));
    let trace = Trace {
        rule: Rule::Moved,
        operands: &[Operand::double(op.a), Operand::control(op.b)],
        apply: &|[a, b, ..]| f(a, b as u32),
    };
    lanes.set_traced_double(op.d, &values, undefined, &trace);
}
