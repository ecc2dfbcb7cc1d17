//! Texture and surface objects of a launch block, as declared and with numbers.
//!
//! A launch block lists dimensions as tensors do, outermost first; [`Texels`] lists them innermost first.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_primitives::texture::{
    LINEAR_ALIGNMENT, Sampling, TexelAccess, TexelFormat, TexelMemory, Texels, TextureCoordinates,
    TextureError, TextureObject,
};

use super::arguments::{Argument, Names};
use super::plan::PlanError;
use super::steps::Step;
use super::tensor_maps::{BufferLayout, counts};
use super::written::{SurfaceWritten, TextureMemory, TextureWritten};
use super::{Buffer, KernelRole, Launch, Scratch};
use crate::environment::Environment;
use crate::locate::Located;
use crate::problem::Findings;
use crate::tensor::Layout;

/// A texture or surface object as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The name of the argument.
    pub name: String,
    pub buffer: Buffer,
    /// The sizes of the buffer, whose last dimension holds the channels if there are several.
    pub layout: BufferLayout,
    pub format: TexelFormat,
    /// Elements of a texel.
    pub channels: u8,
    pub memory: TexelMemory,
    pub access: TexelAccess,
}

impl Texture {
    /// The object with the numbers of one workload, within all limits of the driver.
    pub(super) fn plan(&self, environment: &Environment<'_>) -> Result<TextureObject, PlanError> {
        let mut extents = counts("shape", &self.layout.shape, environment)?;
        let bytes = self.layout.bytes(environment)?;
        if self.channels > 1 {
            let last = extents.pop();
            if last != Some(u64::from(self.channels)) {
                let found = format!("a last dimension of {}", last.unwrap_or(0));
                let expected = format!("{}, the channels", self.channels);
                return Err(self.violated(TextureError { found, expected }));
            }
        }
        extents.reverse();
        let Self { format, channels, memory, access, .. } = *self;
        let texels = Texels { format, channels, extents, memory };
        let object = TextureObject { texels, access };
        object.check(bytes).map_err(|error| self.violated(error))?;
        Ok(object)
    }

    fn violated(&self, TextureError { found, expected }: TextureError) -> PlanError {
        let (field, kind) = match self.access {
            TexelAccess::Texture(_) => ("textures", "texture"),
            TexelAccess::Surface => ("surfaces", "surface"),
        };
        let found = format!("a {kind} with {found}");
        PlanError::OutOfRange { field, text: self.name.clone(), found, expected }
    }
}

/// The textures, and the surfaces after them.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    (names, scratch): (Names<'_>, &[Scratch]),
) -> Vec<Texture> {
    let checker = Checker { names, scratch };
    let surfaces: BTreeSet<&str> =
        names.block.surfaces.iter().map(|surface| surface.tensor.as_str()).collect();
    let mut all = Vec::new();
    for (index, written) in names.block.textures.iter().enumerate() {
        let memory = match written.memory {
            TextureMemory::Linear => TexelMemory::Linear,
            TextureMemory::Array if surfaces.contains(written.tensor.as_str()) => {
                TexelMemory::WritableArray
            }
            TextureMemory::Array => TexelMemory::Array,
        };
        all.extend(checker.texture(findings, at.field("textures").item(index), written, memory));
    }
    for (index, written) in names.block.surfaces.iter().enumerate() {
        let place = at.field("surfaces").item(index);
        let SurfaceWritten { name, tensor, channels } = written;
        if names.role == KernelRole::Reference {
            let found = "a surface in the reference";
            findings.add(place, found, "pointers: the reference writes f64");
        }
        let form = (*channels, TexelMemory::WritableArray, TexelAccess::Surface);
        all.extend(checker.object(findings, place, (name, tensor), form));
    }
    all
}

struct Checker<'a> {
    names: Names<'a>,
    scratch: &'a [Scratch],
}

impl Checker<'_> {
    fn texture(
        &self,
        findings: &mut Findings<'_>,
        at: &Located,
        written: &TextureWritten,
        memory: TexelMemory,
    ) -> Option<Texture> {
        let TextureWritten { name, tensor, channels, filter, address, normalized, read, .. } =
            written;
        let coordinates =
            if *normalized { TextureCoordinates::Normalized } else { TextureCoordinates::Texels };
        let sampling = Sampling { filter: *filter, address: *address, coordinates, read: *read };
        let form = (*channels, memory, TexelAccess::Texture(sampling));
        let texture = self.object(findings, at, (name, tensor), form)?;
        if memory == TexelMemory::Linear && self.names.align(texture.buffer) < LINEAR_ALIGNMENT {
            findings.add_with_help(
                at.field("tensor"),
                format!("`{tensor}` is aligned to {} bytes", self.names.align(texture.buffer)),
                format!("at least {LINEAR_ALIGNMENT} bytes for a texture in linear memory"),
                format!("write `align: {LINEAR_ALIGNMENT}` for `{tensor}` in project.ron"),
            );
        }
        Some(texture)
    }

    fn object(
        &self,
        findings: &mut Findings<'_>,
        at: &Located,
        (name, tensor): (&str, &str),
        (channels, memory, access): (u8, TexelMemory, TexelAccess),
    ) -> Option<Texture> {
        let buffer = self.names.buffer(findings, at.field("tensor"), tensor)?;
        let layout = self.names.layout(buffer, self.scratch)?;
        let Some(format) = TexelFormat::of(layout.dtype) else {
            let found = format!("texels of {}", layout.dtype.name());
            findings.add(at.field("tensor"), found, "f32, f16, or integers of 8 to 32 bits");
            return None;
        };
        if layout.layout != Layout::RowMajor {
            let found = format!("`{tensor}` has strides");
            findings.add(at.field("tensor"), found, "a contiguous tensor");
            return None;
        }
        if !matches!(channels, 1 | 2 | 4) {
            findings.add(at.field("channels"), channels.to_string(), "1, 2 or 4");
            return None;
        }
        let name = name.to_owned();
        Some(Texture { name, buffer, layout, format, channels, memory, access })
    }
}

/// Checks that a buffer whose texels are in an array is accessed through the array alone: its memory does not follow
/// the array between the launches of a run.
pub(super) fn check_arrays(findings: &mut Findings<'_>, at: &Located, launch: &Launch) {
    let Launch { textures, tensor_maps, steps, .. } = launch;
    let in_array = |texture: &&Texture| texture.memory != TexelMemory::Linear;
    let mut arrays: BTreeMap<Buffer, u8> = BTreeMap::new();
    for texture in textures.iter().filter(in_array) {
        let channels = *arrays.entry(texture.buffer).or_insert(texture.channels);
        if channels != texture.channels {
            let found = format!("`{}` has {} channels", texture.name, texture.channels);
            findings.add(at, found, format!("{channels}, as another object of the tensor"));
        }
    }
    let mut others: BTreeSet<Buffer> = tensor_maps.iter().map(|map| map.buffer).collect();
    let linear = textures.iter().filter(|texture| !in_array(texture));
    others.extend(linear.map(|texture| texture.buffer));
    add_addressed(steps, &arrays, &mut others);
    for texture in textures.iter().filter(in_array) {
        if others.contains(&texture.buffer) {
            let name = &texture.name;
            let found = format!("the tensor of `{name}` is in an array, and used by its address");
            findings.add(at, found, "one of them, as `memory: linear` is for textures");
        }
    }
}

/// Adds the buffers that steps access by an address: arguments, filled ones, and those of swaps of an array with
/// memory.
fn add_addressed(steps: &[Step], arrays: &BTreeMap<Buffer, u8>, all: &mut BTreeSet<Buffer>) {
    for step in steps {
        match step {
            Step::Launch(launch) => {
                all.extend(launch.arguments.iter().filter_map(|argument| match argument {
                    Argument::Buffer(buffer) => Some(*buffer),
                    Argument::Value(_)
                    | Argument::TensorMap(_)
                    | Argument::Struct(_)
                    | Argument::Texture(_)
                    | Argument::Integer(_)
                    | Argument::Null
                    | Argument::Outside(_) => None,
                }));
            }
            Step::Fill { buffer, .. } => {
                all.insert(*buffer);
            }
            Step::Repeat { swap, steps, .. } => {
                let is_mixed = |(left, right): &&(Buffer, Buffer)| {
                    arrays.contains_key(left) != arrays.contains_key(right)
                };
                all.extend(swap.iter().filter(is_mixed).flat_map(|(left, right)| [left, right]));
                add_addressed(steps, arrays, all);
            }
        }
    }
}
