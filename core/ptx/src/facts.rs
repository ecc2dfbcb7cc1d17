//! The declarations of a module as sizes, alignments and limits, from its syntax tree.

use std::collections::{BTreeMap, BTreeSet};

use super::line_map::LineMap;
use super::tree::{Body, Declaration, Function, FunctionKind, Linkage, Statement, Tree};
use super::{ParameterKind, PointerAttributes, PtxEntry, PtxModule, PtxParameter, PtxVariable};

/// Shared variables of module scope, by name.
type SharedVariables<'a> = BTreeMap<&'a str, PtxVariable>;

impl PtxModule {
    pub(super) fn from_outline(tree: &Tree<'_>) -> Self {
        let shared: SharedVariables<'_> =
            in_space(&tree.variables, "shared").map(|each| (each.name, variable(each))).collect();
        let entries = tree.functions.iter().filter(|each| each.kind == FunctionKind::Entry);
        let bodies = tree.functions.iter().filter_map(|function| function.body.as_ref());
        let local = bodies.flat_map(|body| declarations(body, "const"));
        Self {
            version: tree.version,
            target: tree.targets.iter().map(|target| (*target).to_owned()).collect(),
            entries: entries.map(|function| entry(function, &shared)).collect(),
            constants: in_space(&tree.variables, "const").chain(local).map(variable).collect(),
            line_map: LineMap::from_tree(tree),
        }
    }
}

fn entry(function: &Function<'_>, shared: &SharedVariables<'_>) -> PtxEntry {
    let mut entry = PtxEntry {
        name: function.name.to_owned(),
        parameters: function.signature.parameters.iter().filter_map(parameter).collect(),
        lines: (function.place.line, function.end.line),
        ..PtxEntry::default()
    };
    for (directive, numbers) in &function.directives {
        let extent = extent(numbers);
        let first = extent.map(|[first, ..]| first);
        match *directive {
            "maxntid" => entry.max_threads = extent,
            "reqntid" => entry.required_threads = extent,
            "reqnctapercluster" => entry.required_cluster = extent,
            "minnctapersm" => entry.min_blocks_per_sm = first,
            "maxnreg" => entry.max_registers = first,
            // Directives that no reader of these declarations needs.
            _ => {}
        }
    }
    if let Some(body) = &function.body {
        entry.shared.extend(declarations(body, "shared").map(variable));
        let mentioned: BTreeSet<&str> = body.symbols.iter().copied().collect();
        let mentioned = mentioned.into_iter().filter_map(|name| shared.get(name));
        entry.shared.extend(mentioned.cloned());
    }
    entry
}

fn in_space<'t, 'a>(
    all: &'t [Declaration<'a>],
    space: &'static str,
) -> impl Iterator<Item = &'t Declaration<'a>> {
    all.iter().filter(move |each| each.space == space)
}

fn declarations<'t, 'a>(
    body: &'t Body<'a>,
    space: &'static str,
) -> impl Iterator<Item = &'t Declaration<'a>> {
    body.statements.iter().filter_map(move |statement| match statement {
        Statement::Declaration(each) if each.space == space => Some(&**each),
        Statement::Declaration(_)
        | Statement::Open(_)
        | Statement::Close
        | Statement::Label(..)
        | Statement::Instruction(_)
        | Statement::Unsupported(_)
        | Statement::Location(..)
        | Statement::Prototype { .. }
        | Statement::BranchTargets { .. }
        | Statement::CallTargets { .. } => None,
    })
}

/// Up to three numbers; missing numbers are 1. None without a number, or with one that has more than 32 bits.
fn extent(numbers: &[u64]) -> Option<[u32; 3]> {
    let mut extent = [1; 3];
    numbers.first()?;
    for (each, number) in extent.iter_mut().zip(numbers) {
        *each = u32::try_from(*number).ok()?;
    }
    Some(extent)
}

/// None for a parameter of a type that is not fundamental.
fn parameter(declaration: &Declaration<'_>) -> Option<PtxParameter> {
    let (kind, element) = fundamental_type(declaration.element)?;
    let is_scalar = declaration.vector == 1 && declaration.dimensions.is_empty();
    let natural_alignment = element.saturating_mul(declaration.vector.into());
    Some(PtxParameter {
        name: declaration.name.to_owned(),
        kind: if is_scalar { kind } else { ParameterKind::Bytes },
        size: bytes(declaration, element),
        alignment: declaration.align.unwrap_or(natural_alignment),
        pointer: declaration.pointer.map(|pointer| PointerAttributes {
            space: pointer.space.map(str::to_owned),
            align: pointer.align,
        }),
    })
}

fn variable(declaration: &Declaration<'_>) -> PtxVariable {
    let element = fundamental_type(declaration.element).map_or(1, |(_, size)| size);
    PtxVariable {
        name: declaration.name.to_owned(),
        bytes: bytes(declaration, element),
        external: declaration.linkage == Linkage::Extern,
    }
}

/// Bytes of all elements; 0 for an array without a size.
fn bytes(declaration: &Declaration<'_>, element: u64) -> u64 {
    let components = element.saturating_mul(declaration.vector.into());
    declaration.dimensions.iter().fold(components, |bytes, size| bytes.saturating_mul(*size))
}

/// Kind and bytes of a fundamental type. PTX ISA, sections "Fundamental Types" and "Alternate Floating-Point Data
/// Formats".
fn fundamental_type(word: &str) -> Option<(ParameterKind, u64)> {
    Some(match word {
        "texref" | "samplerref" | "surfref" => (ParameterKind::Opaque, 8),
        "u8" | "s8" => (ParameterKind::Integer, 1),
        "u16" | "s16" => (ParameterKind::Integer, 2),
        "u32" | "s32" => (ParameterKind::Integer, 4),
        "u64" | "s64" => (ParameterKind::Integer, 8),
        "b8" => (ParameterKind::Bits, 1),
        "b16" => (ParameterKind::Bits, 2),
        "b32" => (ParameterKind::Bits, 4),
        "b64" => (ParameterKind::Bits, 8),
        "b128" => (ParameterKind::Bits, 16),
        "f16" | "bf16" => (ParameterKind::Float, 2),
        "f16x2" | "bf16x2" | "f32" => (ParameterKind::Float, 4),
        "f64" => (ParameterKind::Float, 8),
        // No other type can be declared.
        _ => return None,
    })
}
