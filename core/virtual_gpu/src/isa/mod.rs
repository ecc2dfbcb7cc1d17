//! The instruction set: every supported instruction, declared once, in the table of its family.
//!
//! A row of a table names the opcode, the types that select the row (several families share `add`), and the
//! function that reads the modifiers as a set and returns a typed operation with its operand signature.

pub mod approximate;
pub mod async_copy;
pub mod atomic;
pub mod barrier;
pub mod bulk_copy;
pub mod cluster;
pub mod compare;
pub mod control;
pub mod convert;
pub mod extended;
pub mod float;
pub mod half;
pub mod integer;
mod keyword;
pub mod logic;
pub mod matrix;
pub mod mbarrier;
pub mod memory;
mod modifiers;
pub mod moves;
pub mod refusal;
pub mod remote_write;
pub mod scalar;
pub(crate) mod signature;
pub mod special_register;
pub mod system;
pub mod tensor_copy;
pub mod tensor_map;
#[cfg(test)]
mod tests;
pub mod texture;
pub mod unsupported;
pub mod video;
pub mod warp;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use keyword::Keyword;
pub(crate) use modifiers::{Modifiers, OperandForms, SELECTED, spelling};
use refusal::Refusal;
use scalar::ScalarType;
use signature::Signature;

/// The operation of an instruction; its operands are stored separately, in the order of the PTX ISA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Integer arithmetic.
    Integer(integer::Integer),
    /// Extended-precision integer arithmetic.
    Extended(extended::Extended),
    /// Arithmetic of f32, f64 and pairs of f32, exactly rounded.
    Float(float::Float),
    /// f16 and bf16 arithmetic, scalar and packed.
    Half(half::Half),
    /// Approximate functions.
    Approximate(approximate::Approximate),
    /// Comparison and selection.
    Compare(compare::Compare),
    /// Bit operations.
    Logic(logic::Logic),
    /// Conversions.
    Convert(convert::Convert),
    /// Moves, packing, address conversions.
    Move(moves::Move),
    /// Loads, stores, hints.
    Memory(memory::Memory),
    /// Read-modify-writes.
    Atomic(atomic::Atomic),
    /// Branches, calls, exits.
    Control(control::Control),
    /// Barriers and fences.
    Barrier(barrier::Barrier),
    /// Warp-level operations.
    Warp(warp::Warp),
    /// `nanosleep` and `pmevent`.
    System(system::System),
    /// Tensor-core instructions.
    Matrix(matrix::Matrix),
    /// Asynchronous copies.
    AsyncCopy(async_copy::AsyncCopy),
    /// Bulk copies.
    BulkCopy(bulk_copy::BulkCopy),
    /// Copies of boxes of tensors.
    TensorCopy(tensor_copy::TensorCopy),
    /// Changes of tensor maps.
    TensorMap(tensor_map::TensorMapOperation),
    /// Textures and surfaces.
    Texture(texture::Texture),
    /// Barrier objects in shared memory.
    Mbarrier(mbarrier::Mbarrier),
    /// Operations between the blocks of a cluster.
    Cluster(cluster::Cluster),
    /// Asynchronous writes to shared memory of the cluster.
    RemoteWrite(remote_write::RemoteWrite),
}

/// The result of decoding.
pub(crate) type Decoded = Result<(Operation, Signature), Refusal>;

/// One row: an opcode, its selector, and its decoder.
pub(crate) struct Row {
    name: &'static str,
    selected_by: Selector,
    decode: fn(&mut Modifiers<'_>) -> Decoded,
}

/// The condition by which a row is selected among those of one opcode.
enum Selector {
    Anything,
    FirstType(&'static [ScalarType]),
    Modifier(&'static str),
}

impl Row {
    fn takes(&self, modifiers: &Modifiers<'_>) -> bool {
        match self.selected_by {
            Selector::Anything => true,
            Selector::FirstType(types) => {
                modifiers.principal_type().is_some_and(|ty| types.contains(&ty))
            }
            Selector::Modifier(word) => modifiers.has(word),
        }
    }

    /// An opcode that belongs to the family if it has a given modifier.
    pub(crate) const fn with(
        name: &'static str,
        modifier: &'static str,
        decode: fn(&mut Modifiers<'_>) -> Decoded,
    ) -> Self {
        Self { name, selected_by: Selector::Modifier(modifier), decode }
    }

    /// An opcode of one family only.
    pub(crate) const fn any(name: &'static str, decode: fn(&mut Modifiers<'_>) -> Decoded) -> Self {
        Self { name, selected_by: Selector::Anything, decode }
    }

    /// An opcode that belongs to the family if its first type is one of these.
    pub(crate) const fn typed(
        name: &'static str,
        types: &'static [ScalarType],
        decode: fn(&mut Modifiers<'_>) -> Decoded,
    ) -> Self {
        Self { name, selected_by: Selector::FirstType(types), decode }
    }
}

/// All families; if two match an instruction, the earlier one is selected.
const FAMILIES: &[&[Row]] = &[
    cluster::TABLE,
    remote_write::TABLE,
    extended::TABLE,
    integer::TABLE,
    video::TABLE,
    approximate::TABLE,
    float::TABLE,
    half::TABLE,
    compare::TABLE,
    logic::TABLE,
    convert::TABLE,
    moves::TABLE,
    tensor_copy::TABLE,
    tensor_map::TABLE,
    texture::TABLE,
    memory::TABLE,
    atomic::TABLE,
    control::TABLE,
    barrier::TABLE,
    warp::TABLE,
    system::TABLE,
    matrix::TABLE,
    bulk_copy::TABLE,
    async_copy::TABLE,
    mbarrier::TABLE,
];

static ROWS: LazyLock<HashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<&'static str, Vec<&'static Row>> = HashMap::new();
    for row in FAMILIES.iter().copied().flatten() {
        rows.entry(row.name).or_default().push(row);
    }
    rows
});

/// Every opcode of the instruction set, sorted.
#[must_use]
pub fn opcodes() -> Vec<&'static str> {
    let mut names: Vec<_> = ROWS.keys().copied().collect();
    names.sort_unstable();
    names
}

/// Decodes an opcode and its modifiers; `operands` describes the syntax of the operands.
pub(crate) fn decode<'m>(
    opcode: &'m str,
    words: &'m [&'m str],
    operands: impl Into<OperandForms<'m>>,
) -> Decoded {
    if let Some(reason) = unsupported::reason(opcode, words) {
        let instruction = spelling(opcode, words);
        return Err(Refusal::Unsupported { instruction, reason });
    }
    let Some(rows) = ROWS.get(opcode) else {
        return Err(Refusal::Unknown { instruction: spelling(opcode, words) });
    };
    let mut modifiers = Modifiers::new(opcode, words, operands.into())?;
    let row = rows
        .iter()
        .find(|row| row.takes(&modifiers))
        .ok_or_else(|| modifiers.missing("a type that the instruction supports"))?;
    let decoded = (row.decode)(&mut modifiers)?;
    modifiers.finish()?;
    Ok(decoded)
}
