//! What variables hold at the start. PTX ISA, section "Initializers".

use super::super::error::{Place, Problem};
use super::super::isa::scalar::{ScalarClass, ScalarType};
use super::super::ptx::tree::{self, Declaration, InitialValue, Literal};
use super::declared::{Declared, MAX_INITIAL_BYTES};
use super::{FunctionId, VariableId};

/// The bytes of a variable at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    /// From the beginning; what follows is zero.
    pub bytes: Vec<u8>,
    /// Addresses to be put in once memory is laid out.
    pub relocations: Vec<Relocation>,
}

/// An address, or a part of one, inside a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where in the variable.
    pub offset: u64,
    /// How many bytes are written.
    pub bytes: u8,
    /// Whose address.
    pub target: RelocationTarget,
    /// What is added to it.
    pub addend: i64,
    /// Whether it is a generic address.
    pub generic: bool,
    /// How far it is shifted to the right before its lowest bytes are taken.
    pub shift: u8,
}

/// What has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    /// A variable.
    Variable(VariableId),
    /// A function.
    Function(FunctionId),
}

pub(super) fn initial(
    declaration: &Declaration<'_>,
    element: ScalarType,
    bytes: Option<u64>,
    declared: &Declared<'_>,
) -> Result<Initial, (Place, Problem)> {
    let mut initial = Initial::default();
    let width = element.bytes() as usize;
    for written in &declaration.initial {
        let place = written.place;
        let fail = |reason: &str| (place, super::layout::problem(declaration, "variable", reason));
        let offset = written.index.saturating_mul(width as u64);
        let end = offset.saturating_add(width as u64);
        if bytes.is_some_and(|bytes| end > bytes) {
            return Err(fail("has more initial values than elements"));
        }
        grow(&mut initial.bytes, end, declared).map_err(|problem| (place, problem))?;
        match written.value {
            InitialValue::Literal(literal) => {
                let value = literal_bits(literal, element)
                    .ok_or_else(|| fail("has an initial value of another type"))?;
                let target = &mut initial.bytes[offset as usize..end as usize];
                target.copy_from_slice(&value.to_le_bytes()[..width]);
            }
            InitialValue::Symbol { .. } => {
                let relocation = relocation(written, offset, width as u8, declared)?;
                initial.relocations.push(relocation);
            }
        }
    }
    Ok(initial)
}

/// Makes room up to `end`, as long as the module has not filled too much.
fn grow(bytes: &mut Vec<u8>, end: u64, declared: &Declared<'_>) -> Result<(), Problem> {
    let missing = end.saturating_sub(bytes.len() as u64);
    let Some(left) = declared.initial_bytes_left.get().checked_sub(missing) else {
        let limit = MAX_INITIAL_BYTES;
        return Err(Problem::TooMany { what: "bytes of initial values", limit });
    };
    declared.initial_bytes_left.set(left);
    if missing > 0 {
        bytes.resize(end as usize, 0);
    }
    Ok(())
}

/// The bits of a number as an element of that type; 128 bits are zero-extended.
fn literal_bits(literal: Literal, element: ScalarType) -> Option<u128> {
    let is_float = element.class() == ScalarClass::Float;
    match (literal, element) {
        (Literal::Integer(value), ScalarType::F32) => Some(u128::from((value as f32).to_bits())),
        (Literal::Integer(value), ScalarType::F64) => Some(u128::from((value as f64).to_bits())),
        (Literal::Integer(value), _) => Some(i128::from(value) as u128),
        (Literal::Single(bits), ScalarType::F64) => {
            Some(u128::from(f64::from(f32::from_bits(bits)).to_bits()))
        }
        (Literal::Single(bits), _) => (element.bits() == 32).then_some(u128::from(bits)),
        (Literal::Double(bits), ScalarType::F32) => {
            Some(u128::from((f64::from_bits(bits) as f32).to_bits()))
        }
        (Literal::Double(bits), _) => (is_float || element.class() == ScalarClass::Bits)
            .then_some(u128::from(bits))
            .filter(|_| element.bits() == 64),
    }
}

fn relocation(
    written: &tree::Initial<'_>,
    offset: u64,
    width: u8,
    declared: &Declared<'_>,
) -> Result<Relocation, (Place, Problem)> {
    let InitialValue::Symbol { name, offset: addend, generic, mask } = written.value else {
        return Err((written.place, super::operands::undeclared("symbol", "")));
    };
    let target = if let Some(id) = declared.variables.get(name) {
        RelocationTarget::Variable(*id)
    } else if let Some(id) = declared.functions.get(name) {
        RelocationTarget::Function(*id)
    } else {
        return Err((written.place, super::operands::undeclared("variable or function", name)));
    };
    let shift = mask.map_or(0, |mask| mask.trailing_zeros().min(63)) as u8;
    Ok(Relocation { offset, bytes: width, target, addend, generic, shift })
}
