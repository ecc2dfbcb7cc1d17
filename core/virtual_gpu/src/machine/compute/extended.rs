//! Extended-precision integers: the carry flag is a predicate of the frame.
//!
//! A difference is computed as the sum with the complement and sets the carry of that sum: 1 if there was no
//! borrow. 9.7.2.3 "sub.cc" says "borrow-out" and does not specify how it is stored. An H200 stores it like this,
//! and the 128-bit division of NVRTC reads it by `addc` after `subc.cc`.

use super::super::super::isa::extended::{
    CarryIn, CarryOut, CarryType, Extended, ExtendedOperator,
};
use super::super::super::isa::integer::Part;
use super::super::super::lower::code::Op;
use super::super::super::semantics::integer as s;
use super::super::lanes::{Lanes, bits};

pub(super) fn execute(lanes: &mut Lanes<'_>, op: &Op, what: Extended) {
    let (carry, carry_undefined) = match what.carry_in {
        CarryIn::Ignore => (0, 0),
        CarryIn::Use => (lanes.predicate(op.f), lanes.predicate_undefined(op.f)),
    };
    let has_c = matches!(what.operator, ExtendedOperator::MultiplyAdd(_));
    let (carries, undefined) = match what.ty {
        CarryType::U32 | CarryType::S32 => {
            let sign = if what.ty == CarryType::S32 { Sign::Signed } else { Sign::Unsigned };
            let (a, b) = (lanes.word(op.a), lanes.word(op.b));
            let c = if has_c { lanes.word(op.c) } else { [0; 32] };
            let results: [s::Carried<u32>; 32] = std::array::from_fn(|lane| {
                one(what, sign, [a[lane], b[lane], c[lane]], carry >> lane & 1 == 1)
            });
            let mut undefined =
                carry_undefined | lanes.word_undefined(op.a) | lanes.word_undefined(op.b);
            if has_c {
                undefined |= lanes.word_undefined(op.c);
            }
            lanes.set_word(op.d, &results.map(|result| result.value), undefined);
            (bits(|lane| results[lane].carry), undefined)
        }
        CarryType::U64 | CarryType::S64 => {
            let sign = if what.ty == CarryType::S64 { Sign::Signed } else { Sign::Unsigned };
            let (a, b) = (lanes.double(op.a), lanes.double(op.b));
            let c = if has_c { lanes.double(op.c) } else { [0; 32] };
            let results: [s::Carried<u64>; 32] = std::array::from_fn(|lane| {
                one(what, sign, [a[lane], b[lane], c[lane]], carry >> lane & 1 == 1)
            });
            let mut undefined =
                carry_undefined | lanes.double_undefined(op.a) | lanes.double_undefined(op.b);
            if has_c {
                undefined |= lanes.double_undefined(op.c);
            }
            lanes.set_double(op.d, &results.map(|result| result.value), undefined);
            (bits(|lane| results[lane].carry), undefined)
        }
    };
    if what.carry_out == CarryOut::Write {
        lanes.set_predicate(op.e, carries, undefined);
    }
}

/// Whether the upper half of a product is signed or unsigned.
#[derive(Clone, Copy)]
enum Sign {
    Signed,
    Unsigned,
}

fn one<T: s::Limb>(what: Extended, sign: Sign, [a, b, c]: [T; 3], carry: bool) -> s::Carried<T> {
    match what.operator {
        ExtendedOperator::Add => s::add_with_carry(a, b, carry),
        ExtendedOperator::Subtract => {
            let borrow = what.carry_in == CarryIn::Use && !carry;
            let difference = s::subtract_with_borrow(a, b, borrow);
            s::Carried { carry: !difference.carry, ..difference }
        }
        ExtendedOperator::MultiplyAdd(part) => {
            let part = match (part, sign) {
                (Part::Low, _) => s::ProductPart::Low,
                (Part::High, Sign::Unsigned) => s::ProductPart::HighUnsigned,
                (Part::High, Sign::Signed) => s::ProductPart::HighSigned,
            };
            s::multiply_add_with_carry(a, b, c, part, carry)
        }
    }
}
