//! The frequent operations, told apart by one match.

use super::super::super::lower::code::Op;
use super::super::super::lower::hot::Hot;
use super::super::super::semantics::float::{self, SingleMode};
use super::super::super::semantics::integer;
use super::super::lanes::Lanes;
use super::{Fused, bitwise};

/// Executes an operation if it is a frequent one that concerns registers only.
#[inline(always)]
pub(in super::super) fn execute(lanes: &mut Lanes<'_>, op: &Op, hot: Hot, fused: Fused) -> bool {
    const MODE: SingleMode = SingleMode::DEFAULT;
    match hot {
        Hot::MultiplyAdd32 if fused == Fused::Hardware => {
            lanes.words_3(op, float::fused_multiply_add_f32);
        }
        Hot::MultiplyAdd32 => {
            lanes.words_3(op, |a, b, c| float::multiply_add_f32(a, b, c, MODE));
        }
        Hot::AddFloat32 => lanes.words_2(op, |a, b| float::add_f32(a, b, MODE)),
        Hot::MultiplyFloat32 => lanes.words_2(op, |a, b| float::multiply_f32(a, b, MODE)),
        Hot::Add32 => lanes.words_2(op, integer::add::<u32>),
        Hot::Add64 => lanes.doubles_2(op, integer::add::<u64>),
        Hot::MultiplyAdd32Low => {
            lanes.words_3(op, |a, b, c| integer::multiply_add(a, b, c, integer::Part::Low));
        }
        Hot::MultiplyWideSigned => {
            lanes.widening_2(op, |a, b| integer::multiply_wide(a as i32, b as i32) as u64);
        }
        Hot::Copy32 => bitwise::copy(lanes, op),
        Hot::Copy64 => bitwise::copy_double(lanes, op),
        Hot::Load | Hot::Store | Hot::Other => return false,
    }
    true
}
