//! Constants as values of a type. PTX ISA, section "Constants": integers are truncated, floats are rounded.

use lightbench_ptx::tree::Literal;

use super::super::isa::scalar::{ScalarClass, ScalarType};
use super::operand::Immediate;

/// The constant as a value of a type; none if the type does not accept it.
pub(super) fn immediate(literal: Literal, ty: ScalarType) -> Option<Immediate> {
    match (literal, ty.class()) {
        (Literal::Integer(value), ScalarClass::Predicate) => {
            Some(Immediate::Integer(u64::from(value != 0)))
        }
        (Literal::Integer(value), ScalarClass::Bits | ScalarClass::Integer) => Some(cut(value, ty)),
        // Halves and pairs have no constants of their own: their bits are written.
        (Literal::Integer(value), ScalarClass::Float) => {
            (!matches!(ty, ScalarType::F32 | ScalarType::F64)).then(|| cut(value, ty))
        }
        (Literal::Single(bits), ScalarClass::Float | ScalarClass::Bits) => single(bits, ty),
        (Literal::Double(bits), ScalarClass::Float | ScalarClass::Bits) => double(bits, ty),
        (
            Literal::Single(_) | Literal::Double(_),
            ScalarClass::Predicate | ScalarClass::Integer,
        ) => None,
    }
}

fn cut(value: i64, ty: ScalarType) -> Immediate {
    let unused = 64_u32.saturating_sub(ty.bits());
    Immediate::Integer((value as u64) << unused >> unused)
}

fn single(bits: u32, ty: ScalarType) -> Option<Immediate> {
    if ty == ScalarType::F64 {
        return Some(Immediate::F64(f64::from(f32::from_bits(bits)).to_bits()));
    }
    matches!(ty, ScalarType::F32 | ScalarType::B32).then_some(Immediate::F32(bits))
}

fn double(bits: u64, ty: ScalarType) -> Option<Immediate> {
    if ty == ScalarType::F32 {
        return Some(Immediate::F32((f64::from_bits(bits) as f32).to_bits()));
    }
    matches!(ty, ScalarType::F64 | ScalarType::B64).then_some(Immediate::F64(bits))
}
