//! Guesses the problem that a kernel solves from its signature.
//!
//! Const-ness and types are facts; shapes, sizes and launch are guesses. The written project marks each guess with a
//! comment, for the user to check.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_cuda_source::host_launch::HostLaunch;
use lightbench_cuda_source::index_sizes;
use lightbench_cuda_source::usage::{self, Access, Usage};
use lightbench_cuda_source::{Parameter, Passing, Signature, Source, structs};
use lightbench_primitives::dtype::{CType, Dtype, Family};

use super::error::{ParameterProblem, ScaffoldError};
use super::geometry::{self, Launch};
use super::names::Names;
use super::templates::{self, Templates};

/// Memory behind a pointer: `lanes` elements per index (4 behind a `float4*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointee {
    pub(super) dtype: Dtype,
    pub(super) lanes: u32,
}

pub(super) struct Guess {
    pub(super) axes: Vec<Axis>,
    pub(super) scalars: Vec<Scalar>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) structs: Vec<Struct>,
    /// The project's arguments in order.
    pub(super) arguments: Vec<Argument>,
    /// The kernel's argument order, if structs make it different.
    pub(super) kernel_arguments: Vec<String>,
    pub(super) templates: Templates,
    pub(super) launch: Launch,
}

pub(super) struct Axis {
    pub(super) name: String,
    /// The largest value that its C type holds, if below the format's limit.
    pub(super) limit: Option<u64>,
    /// Whether the kernel has no such parameter.
    pub(super) invented: bool,
}

pub(super) struct Scalar {
    pub(super) name: String,
    pub(super) dtype: Dtype,
}

pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) pointee: Pointee,
    pub(super) role: Role,
    pub(super) why: &'static str,
    /// The only axis by which the kernel indexes an input.
    pub(super) only_axis: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Input,
    Output,
    Inout,
}

impl Role {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Inout => "inout",
        }
    }

    pub(super) fn is_input(self) -> bool {
        matches!(self, Self::Input)
    }
}

pub(super) struct Struct {
    pub(super) name: String,
    pub(super) fields: Vec<(String, Dtype)>,
}

pub(super) enum Argument {
    Tensor(String),
    Value(String, Dtype),
}

impl Guess {
    /// The axes that tensors are shaped by: the first two.
    pub(super) fn shape_axes(&self) -> &[Axis] {
        &self.axes[..self.axes.len().min(2)]
    }

    /// The shape of a tensor, as expressions.
    pub(super) fn shape(&self, tensor: &Tensor) -> Vec<String> {
        let is_axis = |name: &&String| self.axes.iter().any(|axis| axis.name == **name);
        let mut shape: Vec<String> = match tensor.only_axis.as_ref().filter(is_axis) {
            Some(axis) => vec![axis.clone()],
            None => self.shape_axes().iter().map(|axis| axis.name.clone()).collect(),
        };
        if tensor.pointee.lanes > 1 {
            shape.push(tensor.pointee.lanes.to_string());
        }
        shape
    }

    /// The number of elements of a tensor, as an expression.
    pub(super) fn count(&self, tensor: &Tensor) -> String {
        self.shape(tensor).join(" * ")
    }

    /// The tensors that a kernel writes.
    pub(super) fn written(&self) -> impl Iterator<Item = &Tensor> {
        self.tensors.iter().filter(|tensor| tensor.role != Role::Input)
    }
}

/// `host` is the launch of the kernel in the source. Its parts are empty if the source does not launch the kernel.
pub(super) fn guess(
    source: &Source<'_>,
    signature: &Signature,
    host: &HostLaunch,
) -> Result<Guess, ScaffoldError> {
    let mut names = Names::default();
    let templates = templates::guess(source, signature, host, &mut names)?;
    let sizes = sizes_of(source, signature, &templates);
    let pointers = named(signature, |parameter| parameter.passing == Passing::Pointer);
    let usage = usage::read(source, signature.body.clone(), &pointers, &sizes);
    let index_sizes = index_sizes::read(source, signature.body.clone(), &sizes);
    let mut builder = Builder {
        source,
        signature,
        templates: &templates,
        usage: &usage,
        index_sizes: &index_sizes,
        names,
        parts: Parts::default(),
    };
    for (position, parameter) in signature.parameters.iter().enumerate() {
        builder.add(position, parameter)?;
    }
    let parts = builder.finish()?;
    let launch = launch_of(source, signature, &templates, &usage, host, &parts);
    let Parts { axes, scalars, tensors, structs, arguments, kernel_arguments } = parts;
    Ok(Guess { axes, scalars, tensors, structs, arguments, kernel_arguments, templates, launch })
}

fn launch_of(
    source: &Source<'_>,
    signature: &Signature,
    templates: &Templates,
    usage: &Usage,
    host: &HostLaunch,
    parts: &Parts,
) -> Launch {
    let block = geometry::block(source, signature, templates, usage, host);
    let axes: Vec<&str> = parts.axes.iter().map(|axis| axis.name.as_str()).collect();
    geometry::launch(source, usage, host, block, &axes)
}

/// The integer parameters.
fn sizes_of<'a>(
    source: &Source<'_>,
    signature: &'a Signature,
    templates: &Templates,
) -> BTreeSet<&'a str> {
    named(signature, |parameter| {
        let dtype = Dtype::from_c_name(&templates.resolve(source, &parameter.type_name));
        parameter.passing == Passing::Value && dtype.is_some_and(Dtype::is_integer)
    })
}

fn named(signature: &Signature, keep: impl Fn(&Parameter) -> bool) -> BTreeSet<&str> {
    let kept = signature.parameters.iter().filter(|parameter| keep(parameter));
    kept.filter_map(|parameter| parameter.name.as_deref()).collect()
}

#[derive(Default)]
struct Parts {
    axes: Vec<Axis>,
    scalars: Vec<Scalar>,
    tensors: Vec<Tensor>,
    structs: Vec<Struct>,
    arguments: Vec<Argument>,
    kernel_arguments: Vec<String>,
}

struct Builder<'all> {
    source: &'all Source<'all>,
    signature: &'all Signature,
    templates: &'all Templates,
    usage: &'all Usage,
    index_sizes: &'all BTreeMap<String, String>,
    names: Names,
    parts: Parts,
}

impl Builder<'_> {
    fn add(&mut self, position: usize, parameter: &Parameter) -> Result<(), ScaffoldError> {
        let name = parameter.name.clone().unwrap_or_else(|| format!("argument_{position}"));
        let name = self.names.give(&name);
        let refused = |problem| self.refused(position, parameter, problem);
        let kind = self.templates.resolve(self.source, &parameter.type_name);
        match parameter.passing {
            Passing::PointerToPointer => return Err(refused(ParameterProblem::PointerToPointer)),
            Passing::Reference => return Err(refused(ParameterProblem::Reference)),
            Passing::Function => return Err(refused(ParameterProblem::Function)),
            Passing::Variadic => return Err(refused(ParameterProblem::Variadic)),
            Passing::ConstPointer | Passing::Pointer => {
                let pointee = self.pointee(&kind).map_err(refused)?;
                self.tensor(parameter, name, pointee);
            }
            Passing::Value => match Dtype::from_c_name(&kind) {
                Some(dtype) if CType::from_dtype(dtype).is_some() => {
                    self.parts.kernel_arguments.push(name.clone());
                    self.value(name, dtype);
                }
                Some(_) => return Err(refused(ParameterProblem::NarrowFloatByValue)),
                None => {
                    let fields = self.fields(&kind).map_err(refused)?;
                    self.structure(name, fields);
                }
            },
        }
        Ok(())
    }

    fn refused(
        &self,
        position: usize,
        parameter: &Parameter,
        problem: ParameterProblem,
    ) -> ScaffoldError {
        ScaffoldError::Parameter {
            kernel: self.signature.path(),
            parameter: parameter.name.clone().unwrap_or_else(|| format!("number {}", position + 1)),
            written: parameter.written.clone(),
            place: parameter.place,
            problem,
        }
    }

    fn pointee(&self, kind: &str) -> Result<Pointee, ParameterProblem> {
        if kind == "void" {
            return Err(ParameterProblem::VoidPointer);
        }
        Dtype::from_c_name(kind)
            .map(|dtype| (dtype, 1))
            .or_else(|| Dtype::vector_from_c_name(kind))
            .or_else(|| structs::as_vector(self.source, kind))
            .map(|(dtype, lanes)| Pointee { dtype, lanes })
            .ok_or(ParameterProblem::UnknownType)
    }

    fn fields(&self, kind: &str) -> Result<Vec<(String, Dtype)>, ParameterProblem> {
        let is_texture = kind.starts_with("texture<") || kind.starts_with("surface<");
        if is_texture || matches!(kind, "cudaTextureObject_t" | "cudaSurfaceObject_t") {
            return Err(ParameterProblem::Texture);
        }
        if Dtype::vector_from_c_name(kind).is_some() {
            return Err(ParameterProblem::VectorByValue);
        }
        match structs::fields(self.source, kind) {
            Some(fields) if fields.is_empty() => Err(ParameterProblem::StructNotPlain),
            Some(fields) => Ok(fields),
            None => Err(ParameterProblem::UnknownType),
        }
    }

    fn tensor(&mut self, parameter: &Parameter, name: String, pointee: Pointee) {
        let (role, why) = match parameter.passing {
            Passing::ConstPointer => (Role::Input, "const in the signature"),
            Passing::Value
            | Passing::Pointer
            | Passing::PointerToPointer
            | Passing::Reference
            | Passing::Function
            | Passing::Variadic => {
                let known = parameter.name.as_ref().and_then(|name| self.usage.accesses.get(name));
                role(known.copied().unwrap_or_default())
            }
        };
        self.parts.arguments.push(Argument::Tensor(name.clone()));
        self.parts.kernel_arguments.push(name.clone());
        let array = parameter.name.as_deref().unwrap_or_default();
        let only_axis = self.index_sizes.get(array).filter(|_| role == Role::Input).cloned();
        self.parts.tensors.push(Tensor { name, pointee, role, why, only_axis });
    }

    /// Integers wide enough for a size become axes; all else keeps a value.
    fn value(&mut self, name: String, dtype: Dtype) {
        self.parts.arguments.push(Argument::Value(name.clone(), dtype));
        if dtype.is_integer() && dtype.bits() > 8 {
            self.parts.axes.push(Axis { name, limit: axis_limit(dtype), invented: false });
        } else {
            self.parts.scalars.push(Scalar { name, dtype });
        }
    }

    /// The fields become separate values, from which the struct is assembled.
    fn structure(&mut self, name: String, fields: Vec<(String, Dtype)>) {
        let mut named = Vec::new();
        for (field, dtype) in fields {
            let field = self.names.give(&field);
            self.value(field.clone(), dtype);
            named.push((field, dtype));
        }
        self.parts.kernel_arguments.push(name.clone());
        self.parts.structs.push(Struct { name, fields: named });
    }

    fn finish(mut self) -> Result<Parts, ScaffoldError> {
        if self.parts.axes.is_empty() {
            let name = self.names.give("n");
            self.parts.axes.push(Axis { name, limit: None, invented: true });
        }
        if self.parts.tensors.iter().all(|tensor| tensor.role == Role::Input) {
            self.promote()?;
        }
        Ok(self.parts)
    }

    /// A project needs an output: a tensor that may be written is taken as written.
    fn promote(&mut self) -> Result<(), ScaffoldError> {
        let mut promoted = false;
        for tensor in &mut self.parts.tensors {
            if tensor.why == ONLY_READ {
                *tensor = Tensor {
                    name: std::mem::take(&mut tensor.name),
                    pointee: tensor.pointee,
                    role: Role::Inout,
                    only_axis: None,
                    why: "not const, though only reading was seen",
                };
                promoted = true;
            }
        }
        if promoted {
            return Ok(());
        }
        Err(ScaffoldError::NoOutput { kernel: self.signature.path(), place: self.signature.place })
    }
}

/// The largest axis that can be passed as this integer, if it is below the format's limit.
fn axis_limit(dtype: Dtype) -> Option<u64> {
    let sign = u64::from(dtype.family() == Family::Signed);
    let bits = dtype.bits() - sign;
    (dtype.bits() < 64).then(|| (1 << bits) - 1)
}

const ONLY_READ: &str = "not const, but only read";

fn role(access: Access) -> (Role, &'static str) {
    match (access.written, access.read, access.escapes) {
        (true, true, _) => (Role::Inout, "read and written"),
        (true, false, false) => (Role::Output, "not const and only written"),
        (true, false, true) => (Role::Output, "written; handed on as well, which may read it"),
        (false, true, false) => (Role::Input, ONLY_READ),
        (false, true, true) => (Role::Inout, "read, and handed on to what may write it"),
        (false, false, true) => (Role::Output, "not const; handed on to what may read it, too"),
        (false, false, false) => (Role::Output, "not const; no use of it was seen"),
    }
}
