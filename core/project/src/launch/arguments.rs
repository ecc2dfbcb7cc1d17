//! Resolves the names in a step's argument list.

use lightbench_primitives::dtype::{CType, Dtype};
use serde::{Deserialize, Serialize};

use super::{KernelRole, Scratch, tensor_maps::BufferLayout, written::LaunchBlockWritten};
use crate::argument::{ValueArgument, ValueSource, parse_value};
use crate::compare::Comparator;
use crate::definition;
use crate::definition::{Definition, Inputs};
use crate::expression::{Expression, Kind, Scope};
use crate::language::Language;
use crate::locate::Located;
use crate::names::is_identifier;
use crate::problem::Findings;
use crate::tensor::{Layout, Role, Tensor};

/// The alignment in bytes of buffers that a project does not declare.
pub const OWN_ALIGN: u64 = 256;

/// A null pointer in an argument list.
pub(super) const NULL: &str = "null";

/// Device memory with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Buffer {
    /// A tensor, by its index in the definition.
    Tensor(usize),
    /// Scratch, by its index in the launch.
    Scratch(usize),
    /// Reference only: the sums of magnitudes of an output, by the tensor's index; f64, shaped like it.
    Magnitude(usize),
}

/// One argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// An address.
    Buffer(Buffer),
    /// A value.
    Value(ValueArgument),
    /// A TMA descriptor, by its index.
    TensorMap(usize),
    /// A struct, by its index.
    Struct(usize),
    /// A texture or surface object, by its index.
    Texture(usize),
    /// An integer whose C type follows from its value: Triton only.
    Integer(Expression),
    /// A null pointer.
    Null,
    /// A name that only a project could explain: in kernel files outside one.
    Outside(String),
}

/// All names that an argument list may use.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) block: &'a LaunchBlockWritten,
    pub(super) definition: Option<&'a Definition>,
    pub(super) role: KernelRole,
    pub(super) language: Language,
    pub(super) early: &'a Scope,
    pub(super) late: &'a Scope,
}

/// The element type of a buffer, and whether a kernel may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BufferFacts {
    pub(super) dtype: Dtype,
    pub(super) rank: usize,
    pub(super) writable: bool,
}

impl<'a> Names<'a> {
    /// Resolves an argument; reports an unknown one.
    pub(super) fn argument(
        &self,
        findings: &mut Findings<'_>,
        at: &Located,
        written: &str,
    ) -> Option<Argument> {
        let name = written.trim();
        if name == NULL {
            return Some(Argument::Null);
        }
        if let Some(buffer) = self.find_buffer(name) {
            return Some(Argument::Buffer(buffer));
        }
        if let Some(value) = self.value(name) {
            return Some(self.own_value(value));
        }
        let block = self.block;
        let position = |mut names: Box<dyn Iterator<Item = &'a str> + 'a>| {
            names.position(|known| known == name)
        };
        if let Some(index) =
            position(Box::new(block.tensor_maps.iter().map(|entry| entry.name.as_str())))
        {
            return Some(Argument::TensorMap(index));
        }
        if let Some(index) =
            position(Box::new(block.structs.iter().map(|entry| entry.name.as_str())))
        {
            return Some(Argument::Struct(index));
        }
        if let Some(index) = position(Box::new(self.texture_names())) {
            return Some(Argument::Texture(index));
        }
        if written.contains(':') {
            let inputs = self.definition.map_or_else(Inputs::default, Definition::inputs);
            return parse_value(findings, at, written, self.late, inputs).map(Argument::Value);
        }
        if self.language == Language::Triton && self.is_integer(name) {
            let formula = findings.formula(at, name, self.early, Kind::Integer);
            return Some(Argument::Integer(formula));
        }
        // Without a definition the tensors are unknown, so their names are not checked.
        let tensor = name.strip_suffix(".magnitude").unwrap_or(name);
        if self.definition.is_none() && is_identifier(tensor) {
            return Some(Argument::Outside(name.to_owned()));
        }
        self.report_unknown(findings, at, name);
        None
    }

    /// The project's arguments, used for a launch without `args`. The reference's magnitudes follow.
    pub(super) fn default_arguments(&self) -> Option<Vec<Argument>> {
        let definition = self.definition?;
        let mut arguments: Vec<Argument> = definition
            .arguments
            .iter()
            .map(|argument| match argument {
                definition::Argument::Tensor(tensor) => Argument::Buffer(Buffer::Tensor(*tensor)),
                definition::Argument::Value(value) => self.own_value(value),
            })
            .collect();
        if self.role == KernelRole::Reference {
            arguments.extend(magnitudes(definition).map(Argument::Buffer));
        }
        Some(arguments)
    }

    /// The buffer with this name; reports an unknown one.
    pub(super) fn buffer(
        &self,
        findings: &mut Findings<'_>,
        at: &Located,
        name: &str,
    ) -> Option<Buffer> {
        let buffer = self.find_buffer(name);
        if buffer.is_none() && (self.definition.is_some() || !is_identifier(name)) {
            let known = self.buffer_names();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            findings.unknown(at, "buffer", name, &known);
        }
        buffer
    }

    pub(super) fn facts(&self, buffer: Buffer) -> Option<BufferFacts> {
        match buffer {
            Buffer::Scratch(index) => {
                let scratch = self.block.scratch.get(index)?;
                Some(BufferFacts {
                    dtype: scratch.dtype,
                    rank: scratch.shape.len(),
                    writable: true,
                })
            }
            Buffer::Tensor(index) | Buffer::Magnitude(index) => {
                let tensor = self.definition?.tensors.get(index)?;
                let magnitude = matches!(buffer, Buffer::Magnitude(_));
                let dtype = if magnitude { Dtype::F64 } else { tensor.dtype };
                let writable = !matches!(tensor.role, Role::Input { .. });
                Some(BufferFacts { dtype, rank: tensor.shape.len(), writable })
            }
        }
    }

    /// The sizes of a buffer; `None` outside a project.
    pub(super) fn layout(&self, buffer: Buffer, scratch: &[Scratch]) -> Option<BufferLayout> {
        Some(match buffer {
            Buffer::Scratch(index) => {
                let Scratch { dtype, shape, .. } = scratch.get(index)?;
                BufferLayout { dtype: *dtype, shape: shape.clone(), layout: Layout::RowMajor }
            }
            Buffer::Tensor(index) | Buffer::Magnitude(index) => {
                let Tensor { shape, layout, .. } = self.definition?.tensors.get(index)?;
                let dtype = self.facts(buffer)?.dtype;
                BufferLayout { dtype, shape: shape.clone(), layout: layout.clone() }
            }
        })
    }

    /// The alignment of a buffer's address, in bytes.
    pub(super) fn align(&self, buffer: Buffer) -> u64 {
        match buffer {
            Buffer::Tensor(index) => {
                let tensor = self.definition.and_then(|definition| definition.tensors.get(index));
                tensor.map_or(OWN_ALIGN, |tensor| tensor.align)
            }
            Buffer::Scratch(_) | Buffer::Magnitude(_) => OWN_ALIGN,
        }
    }

    fn find_buffer(&self, name: &str) -> Option<Buffer> {
        if let Some(tensor) = self.definition.and_then(|definition| definition.tensor(name)) {
            return Some(Buffer::Tensor(tensor));
        }
        if let Some(scratch) = self.block.scratch.iter().position(|scratch| scratch.name == name) {
            return Some(Buffer::Scratch(scratch));
        }
        let definition = self.definition.filter(|_| self.role == KernelRole::Reference)?;
        let tensor = definition.tensor(name.strip_suffix(".magnitude")?)?;
        magnitudes(definition).find(|magnitude| *magnitude == Buffer::Magnitude(tensor))
    }

    fn value(&self, name: &str) -> Option<&'a ValueArgument> {
        self.definition?.arguments.iter().find_map(|argument| match argument {
            definition::Argument::Value(value) if value.name == name => Some(value),
            definition::Argument::Value(_) | definition::Argument::Tensor(_) => None,
        })
    }

    /// An argument of the project. Triton's JIT chooses the type of an integer by its value, whatever the project declares
    /// for other kernels.
    fn own_value(&self, value: &ValueArgument) -> Argument {
        match &value.source {
            ValueSource::Formula(formula)
                if self.language == Language::Triton && value.c_type != CType::Bool =>
            {
                Argument::Integer(formula.clone())
            }
            ValueSource::Formula(_) | ValueSource::Scalar(_) => Argument::Value(value.clone()),
        }
    }

    /// Whether a text without a type is an integer: a known name, or a formula.
    fn is_integer(&self, text: &str) -> bool {
        !is_identifier(text) || self.early.integers.iter().any(|name| name == text)
    }

    fn buffer_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        if let Some(definition) = self.definition {
            names.extend(definition.tensors.iter().map(|tensor| tensor.name.clone()));
            if self.role == KernelRole::Reference {
                names.extend(
                    magnitudes(definition).map(|buffer| buffer_name(buffer, definition, &[])),
                );
            }
        }
        names.extend(self.block.scratch.iter().map(|scratch| scratch.name.clone()));
        names
    }

    /// Textures, and surfaces after them.
    fn texture_names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let LaunchBlockWritten { textures, surfaces, .. } = self.block;
        let textures = textures.iter().map(|entry| entry.name.as_str());
        textures.chain(surfaces.iter().map(|entry| entry.name.as_str()))
    }

    fn report_unknown(&self, findings: &mut Findings<'_>, at: &Located, name: &str) {
        let mut known = self.buffer_names();
        if let Some(definition) = self.definition {
            known.extend(definition.arguments.iter().filter_map(|argument| match argument {
                definition::Argument::Value(value) => Some(value.name.clone()),
                definition::Argument::Tensor(_) => None,
            }));
            let axis = definition.axes.iter().any(|axis| axis.name == name);
            if axis && !known.iter().any(|known| known == name) {
                let help = format!("write `{name}: i64`");
                findings.add_with_help(at, format!("`{name}` has no C type"), "`name: type`", help);
                return;
            }
        }
        known.extend(self.block.tensor_maps.iter().map(|entry| entry.name.clone()));
        known.extend(self.block.structs.iter().map(|entry| entry.name.clone()));
        known.extend(self.texture_names().map(str::to_owned));
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        findings.unknown(at, "argument", name, &known);
    }
}

/// The magnitudes that a reference emits: one for every output that is judged element by element.
fn magnitudes(definition: &Definition) -> impl Iterator<Item = Buffer> + '_ {
    definition.tensors.iter().enumerate().filter_map(|(index, tensor)| {
        let elementwise = matches!(tensor.role.compare(), Some(Comparator::Elementwise { .. }));
        elementwise.then_some(Buffer::Magnitude(index))
    })
}

/// Everything that a reference must write.
pub(super) fn reference_outputs(definition: &Definition) -> Vec<Buffer> {
    let written =
        definition.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role.compare().is_some());
    written.map(|(index, _)| Buffer::Tensor(index)).chain(magnitudes(definition)).collect()
}

/// The name of a buffer, as argument lists spell it.
pub(super) fn buffer_name(buffer: Buffer, definition: &Definition, scratch: &[Scratch]) -> String {
    let tensor =
        |index: usize| definition.tensors.get(index).map_or("", |tensor| tensor.name.as_str());
    match buffer {
        Buffer::Tensor(index) => tensor(index).to_owned(),
        Buffer::Magnitude(index) => format!("{}.magnitude", tensor(index)),
        Buffer::Scratch(index) => {
            scratch.get(index).map_or_else(String::new, |scratch| scratch.name.clone())
        }
    }
}
