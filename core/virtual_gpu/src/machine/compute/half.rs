//! f16 and bf16 arithmetic, scalar and packed.

use super::super::super::isa::float::Choice;
use super::super::super::isa::half::{Half, HalfClamp, HalfFormat, HalfType};
use super::super::super::lower::code::Op;
use super::super::super::semantics::Extreme;
use super::super::super::semantics::half as s;
use super::super::super::semantics::{self, Subnormals};
use super::super::lanes::Lanes;
use super::modes;

pub(super) fn execute(lanes: &mut Lanes<'_>, op: &Op, what: Half) {
    match what {
        Half::Add(format) => two(lanes, op, format, s::add),
        Half::Subtract(format) => two(lanes, op, format, s::subtract),
        Half::Multiply(format) => two(lanes, op, format, s::multiply),
        Half::MultiplyAdd(format) => {
            let mode = mode(format);
            if is_pair(format.ty) {
                lanes.words_3(op, |a, b, c| {
                    s::pair([a, b, c], |[a, b, c]| s::multiply_add(a, b, c, mode))
                });
            } else {
                lanes.words_3(op, |a, b, c| {
                    u32::from(s::multiply_add(a as u16, b as u16, c as u16, mode))
                });
            }
        }
        Half::Absolute(format) => one(lanes, op, format, s::absolute),
        Half::Negate(format) => one(lanes, op, format, s::negate),
        Half::Minimum(format, choice) => extreme(lanes, op, format, choice, Extreme::Minimum),
        Half::Maximum(format, choice) => extreme(lanes, op, format, choice, Extreme::Maximum),
    }
}

fn is_pair(ty: HalfType) -> bool {
    match ty {
        HalfType::F16x2 | HalfType::Bf16x2 => true,
        HalfType::F16 | HalfType::Bf16 => false,
    }
}

pub(super) fn format(ty: HalfType) -> s::HalfFormat {
    match ty {
        HalfType::F16 | HalfType::F16x2 => s::HalfFormat::F16,
        HalfType::Bf16 | HalfType::Bf16x2 => s::HalfFormat::Bf16,
    }
}

fn mode(of: HalfFormat) -> s::HalfMode {
    let clamp = match of.clamp {
        HalfClamp::None => semantics::HalfClamp::None,
        HalfClamp::Unit => semantics::HalfClamp::Unit,
        HalfClamp::Negative => semantics::HalfClamp::Negative,
    };
    s::HalfMode { format: format(of.ty), subnormals: modes::subnormals(of.subnormals), clamp }
}

fn two(lanes: &mut Lanes<'_>, op: &Op, of: HalfFormat, f: impl Fn(u16, u16, s::HalfMode) -> u16) {
    let mode = mode(of);
    if is_pair(of.ty) {
        lanes.words_2(op, |a, b| s::pair([a, b], |[a, b]| f(a, b, mode)));
    } else {
        lanes.words_2(op, |a, b| u32::from(f(a as u16, b as u16, mode)));
    }
}

fn one(
    lanes: &mut Lanes<'_>,
    op: &Op,
    of: HalfFormat,
    f: impl Fn(u16, s::HalfFormat, Subnormals) -> u16,
) {
    let (format, subnormals) = (format(of.ty), modes::subnormals(of.subnormals));
    if is_pair(of.ty) {
        lanes.words_1(op, |a| s::pair([a], |[a]| f(a, format, subnormals)));
    } else {
        lanes.words_1(op, |a| u32::from(f(a as u16, format, subnormals)));
    }
}

fn extreme(lanes: &mut Lanes<'_>, op: &Op, of: HalfFormat, choice: Choice, extreme: Extreme) {
    let choice = modes::choice(extreme, choice);
    two(lanes, op, of, |a, b, mode| s::extreme(a, b, choice, mode.format, mode.subnormals));
}
