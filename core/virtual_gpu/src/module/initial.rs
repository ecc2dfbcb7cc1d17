//! Initial values of variables. PTX ISA, section "Initializers".

use lightbench_ptx::tree::{self, Declaration, InitialValue, Literal};

use super::super::error::{Problem, PtxLocation};
use super::super::isa::scalar::{ScalarClass, ScalarType};
use super::module_scope::{MAX_INITIAL_BYTES, ModuleScope};
use super::{FunctionId, VariableId};

/// The initial bytes of a variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialBytes {
    /// The first bytes; the remaining ones are zero.
    pub bytes: Vec<u8>,
    /// Addresses that are inserted when memory is laid out.
    pub relocations: Vec<Relocation>,
}

/// An address, or a part of one, in the initial bytes of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset in the variable in bytes.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u8,
    /// The symbol.
    pub target: RelocationTarget,
    /// The offset that is added to its address.
    pub addend: i64,
    /// Whether the address is generic.
    pub generic: bool,
    /// The right shift of the address before its low bytes are taken.
    pub shift: u8,
}

/// A symbol with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    Variable(VariableId),
    Function(FunctionId),
}

pub(super) fn initial(
    declaration: &Declaration<'_>,
    element: ScalarType,
    bytes: Option<u64>,
    declared: &ModuleScope<'_>,
) -> Result<InitialBytes, (PtxLocation, Problem)> {
    let mut initial = InitialBytes::default();
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

/// Extends the bytes up to `end`, within the limit of the module.
fn grow(bytes: &mut Vec<u8>, end: u64, declared: &ModuleScope<'_>) -> Result<(), Problem> {
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

/// The bits of a number as an element of a type; 128 bits are zero-extended.
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
    declared: &ModuleScope<'_>,
) -> Result<Relocation, (PtxLocation, Problem)> {
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
