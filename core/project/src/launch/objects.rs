//! Objects of a launch besides tensors, tensor maps and textures: scratch, structs, constant memory.

use lightbench_primitives::dtype::Dtype;

use super::{Buffer, arguments::Names, written::ScratchWritten};
use crate::argument::{ValueArgument, parse_value};
use crate::definition::{Definition, Inputs};
use crate::expression::{Expression, Scope};
use crate::locate::Located;
use crate::manifest::Init;
use crate::names::is_identifier;
use crate::problem::Findings;
use crate::tensor::{MAX_RANK, formulas};

/// Device memory that a kernel needs besides the tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Scratch {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its dimensions; contiguous.
    pub shape: Vec<Expression>,
    /// Initial content.
    pub init: Init,
}

/// A struct that is passed by value, laid out as C does.
#[derive(Clone, Debug, PartialEq)]
pub struct StructArgument {
    /// Its name.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<ValueArgument>,
}

impl StructArgument {
    /// The offset of each field in bytes.
    pub fn offsets(&self) -> Vec<u64> {
        let mut end = 0_u64;
        let place = |field: &ValueArgument| {
            let offset = end.next_multiple_of(field.c_type.bytes());
            end = offset + field.c_type.bytes();
            offset
        };
        self.fields.iter().map(place).collect()
    }

    /// The alignment in bytes: that of the widest field.
    pub fn alignment(&self) -> u64 {
        self.fields.iter().map(|field| field.c_type.bytes()).max().unwrap_or(1)
    }

    /// The size in bytes, padding included.
    pub fn bytes(&self) -> u64 {
        let last = self.offsets().into_iter().zip(&self.fields).next_back();
        last.map_or(0, |(offset, field)| offset + field.c_type.bytes())
            .next_multiple_of(self.alignment())
    }
}

/// A `__constant__` array that is filled before the first step.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantMemory {
    /// The array's name in the source.
    pub symbol: String,
    /// The source of its content.
    pub buffer: Buffer,
}

pub(super) fn check_scratch(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &[ScratchWritten],
    scope: &Scope,
) -> Vec<Scratch> {
    let mut scratch = Vec::new();
    for (index, entry) in written.iter().enumerate() {
        let place = at.item(index).field("shape");
        findings.at_most(place, "dimensions", entry.shape.len(), MAX_RANK);
        let shape = formulas(findings, place, entry.shape.iter().map(|text| &text.0), scope);
        scratch.push(Scratch {
            name: entry.name.clone(),
            dtype: entry.dtype,
            shape,
            init: entry.init,
        });
    }
    scratch
}

pub(super) fn check_structs(
    findings: &mut Findings<'_>,
    at: &Located,
    names: Names<'_>,
) -> Vec<StructArgument> {
    let inputs = names.definition.map_or_else(Inputs::default, Definition::inputs);
    let mut structs = Vec::new();
    for (index, written) in names.block.structs.iter().enumerate() {
        let place = at.item(index).field("fields");
        findings.at_most(place, "fields", written.fields.len(), 256);
        if written.fields.is_empty() {
            findings.add(place, "a struct without fields", "at least one field");
        }
        let mut fields = Vec::new();
        for (entry, field) in written.fields.iter().enumerate() {
            let place = place.item(entry);
            if field.contains(':') {
                fields.extend(parse_value(findings, place, field, names.late, inputs));
            } else {
                findings.add(place, format!("`{field}` has no C type"), "`name: type`");
            }
        }
        structs.push(StructArgument { name: written.name.clone(), fields });
    }
    structs
}

pub(super) fn check_constant_memory(
    findings: &mut Findings<'_>,
    at: &Located,
    names: Names<'_>,
) -> Vec<ConstantMemory> {
    let mut arrays = Vec::new();
    for (index, written) in names.block.constant_memory.iter().enumerate() {
        let place = at.item(index);
        if !written.symbol.split("::").all(is_identifier) {
            let found = format!("`{}` cannot name an array", written.symbol);
            findings.add(place.field("symbol"), found, "identifiers joined by `::`");
        }
        let Some(buffer) = names.buffer(findings, place.field("tensor"), &written.tensor) else {
            continue;
        };
        arrays.push(ConstantMemory { symbol: written.symbol.clone(), buffer });
    }
    findings.unique(
        "symbol",
        names
            .block
            .constant_memory
            .iter()
            .enumerate()
            .map(|(index, written)| (at.item(index).field("symbol"), written.symbol.as_str())),
    );
    arrays
}
