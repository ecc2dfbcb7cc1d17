//! What a wrapper's tensors and numbers are in the project: roles, unique names, dtypes, shapes.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_cuda_source::torch_wrapper::{
    ArgumentValue, Axes, ParameterKind, Real, Step, TensorOrigin, Wrapper, WrapperLaunch, axes,
};
use lightbench_primitives::dtype::Dtype;
use lightbench_project::written::NumberWritten;

use crate::names::NameGiver;
use crate::report::{Place, Report};

/// The interface of a project.
pub(crate) struct Interface<'w> {
    /// The wrapper, with the names of the project.
    pub(crate) wrapper: &'w Wrapper,
    pub(crate) tensors: Vec<ProjectTensor>,
    pub(crate) scalars: Vec<ProjectScalar>,
    pub(crate) axes: Axes,
}

pub(crate) struct ProjectTensor {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) dtype: Dtype,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Input,
    Output,
    Inout,
    Scratch,
}

/// A number that a launch passes.
pub(crate) struct ProjectScalar {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) value: NumberWritten,
    /// Whether the reference does not take it, or a changed value has no meaning.
    pub(crate) is_fixed: bool,
    /// The parameter of the wrapper, or the formula of a computed number.
    pub(crate) source: ScalarSource,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ScalarSource {
    Parameter(usize),
    Computed(Real),
}

/// Gives names that differ also without case.
#[derive(Default)]
struct Names {
    given: NameGiver,
    taken: BTreeSet<String>,
}

impl Names {
    fn give(&mut self, wanted: &str) -> String {
        for number in 1..1000 {
            let wanted = if number == 1 { wanted.to_owned() } else { format!("{wanted}_{number}") };
            if !self.taken.contains(&wanted.to_ascii_lowercase()) {
                let name = self.given.give(&wanted);
                self.taken.insert(name.to_ascii_lowercase());
                return name;
            }
        }
        self.given.give(wanted)
    }
}

/// Whether a name is a word of the project format, of C++ or of Python.
fn is_reserved(name: &str) -> bool {
    NameGiver::default().give(name) != name
}

impl<'w> Interface<'w> {
    /// The interface of a wrapper whose received tensors have the shapes `given`.
    pub(crate) fn new(
        wrapper: &'w Wrapper,
        given: &BTreeMap<usize, Vec<String>>,
        report: &mut Report,
    ) -> Self {
        let mut names = Names::default();
        let tensors = tensors(wrapper, &mut names, report);
        let mut named = wrapper.clone();
        for (own, tensor) in named.tensors.iter_mut().zip(&tensors) {
            own.name.clone_from(&tensor.name);
        }
        let mut scalars = Vec::new();
        for (position, parameter) in named.parameters.iter_mut().enumerate() {
            if let ParameterKind::Tensor(_) | ParameterKind::Launch(_) = parameter.kind {
                continue;
            }
            parameter.name = names.give(&parameter.name);
            scalars.push(parameter_scalar(
                wrapper,
                position,
                &parameter.name,
                &parameter.kind,
                report,
            ));
        }
        let axes = axes(&named, given, &is_reserved);
        for axis in &axes.axes {
            names.taken.insert(axis.name.to_ascii_lowercase());
        }
        for launch in launches(wrapper) {
            for argument in &launch.arguments {
                let ArgumentValue::Real(real, dtype) = &argument.value else { continue };
                let known =
                    |each: &ProjectScalar| each.source == ScalarSource::Computed(real.clone());
                if matches!(real, Real::Parameter(_)) || scalars.iter().any(known) {
                    continue;
                }
                let wanted =
                    if argument.parameter.is_empty() { "factor" } else { &argument.parameter };
                scalars.push(ProjectScalar {
                    name: names.give(wanted),
                    dtype: *dtype,
                    value: NumberWritten::Real(real.constant().unwrap_or(1.0)),
                    is_fixed: true,
                    source: ScalarSource::Computed(real.clone()),
                });
            }
        }
        let interface = Self { wrapper, tensors, scalars, axes };
        interface.ask_shapes(report);
        interface
    }

    fn ask_shapes(&self, report: &mut Report) {
        for guess in &self.axes.guesses {
            let Some(tensor) = self.tensors.get(guess.tensor) else { continue };
            let text = format!(
                "the wrapper never asks for the shape of `{}`; [{}] is a guess from its name and the other inputs",
                tensor.name,
                self.shape(guess.tensor).join(", ")
            );
            report.confirm(
                format!("{}.shape", tensor.name),
                Place::Tensor(tensor.name.clone()),
                text,
            );
        }
    }

    /// The shape of a tensor as expressions.
    pub(crate) fn shape(&self, tensor: usize) -> Vec<String> {
        let sizes = self.axes.shapes.get(tensor).map(Vec::as_slice).unwrap_or_default();
        sizes.iter().filter_map(|size| self.axes.text(size)).collect()
    }

    /// The checks of the wrapper that are no limits of axes, as conditions of the launch block.
    pub(crate) fn required(&self) -> Vec<String> {
        let conditions = self.axes.conditions.iter();
        conditions.filter_map(|condition| self.axes.condition_text(condition)).collect()
    }

    /// The launches of the wrapper.
    pub(crate) fn launches(&self) -> usize {
        launches(self.wrapper).count()
    }

    /// The scalar that an argument of a launch passes.
    pub(crate) fn scalar_of(&self, real: &Real) -> Option<&ProjectScalar> {
        let source = if let Real::Parameter(position) = real {
            ScalarSource::Parameter(*position)
        } else {
            ScalarSource::Computed(real.clone())
        };
        self.scalars.iter().find(|scalar| scalar.source == source)
    }

    /// The scalar of a parameter of the wrapper.
    pub(crate) fn parameter_scalar(&self, position: usize) -> Option<&ProjectScalar> {
        self.scalars.iter().find(|scalar| scalar.source == ScalarSource::Parameter(position))
    }

    /// The project's arguments: those of the first launch in their order, then all others.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut order: Vec<usize> = Vec::new();
        for launch in launches(self.wrapper) {
            for argument in &launch.arguments {
                if let ArgumentValue::Tensor { tensor, .. } = argument.value
                    && !order.contains(&tensor)
                {
                    order.push(tensor);
                }
            }
        }
        let rest: Vec<usize> =
            (0..self.tensors.len()).filter(|index| !order.contains(index)).collect();
        order.extend(rest);
        let tensors = order.into_iter().filter_map(|index| {
            let tensor = self.tensors.get(index)?;
            (tensor.role != Role::Scratch).then(|| tensor.name.clone())
        });
        let axes = self.axes.axes.iter().map(|axis| format!("{}: i64", axis.name));
        let scalars =
            self.scalars.iter().map(|scalar| format!("{}: {}", scalar.name, scalar.dtype.name()));
        tensors.chain(axes).chain(scalars).collect()
    }

    /// The most terms of one element of an output: the last size of an input that the output lacks, else its own last
    /// size.
    pub(crate) fn terms(&self, output: usize) -> String {
        let own = self.shape(output);
        let inputs =
            self.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::Input);
        let missing = inputs
            .filter_map(|(index, _)| self.shape(index).pop())
            .find(|size| !own.contains(size));
        missing.or_else(|| own.last().cloned()).unwrap_or_else(|| "1".to_owned())
    }
}

pub(crate) fn launches(wrapper: &Wrapper) -> impl Iterator<Item = &WrapperLaunch> {
    wrapper.steps.iter().filter_map(|step| match step {
        Step::Launch(launch) => Some(&**launch),
        Step::Fill { .. } => None,
    })
}

fn tensors(wrapper: &Wrapper, names: &mut Names, report: &mut Report) -> Vec<ProjectTensor> {
    let mut found = Vec::new();
    for (index, tensor) in wrapper.tensors.iter().enumerate() {
        let name = names.give(&tensor.name);
        let role = role(wrapper, index);
        if tensor.dtype.is_none() && role != Role::Scratch {
            let text =
                format!("nothing in the wrapper states the dtype of `{name}`; f32 is a guess");
            report.confirm(format!("{name}.dtype"), Place::Tensor(name.clone()), text);
        }
        if role == Role::Inout {
            let text = format!(
                "the kernels read and write `{name}`, so it is updated in place; write `role: output` if its content before the call does not matter"
            );
            report.confirm(format!("{name}.role"), Place::Tensor(name.clone()), text);
        }
        found.push(ProjectTensor { name, role, dtype: tensor.dtype.unwrap_or(Dtype::F32) });
    }
    found
}

/// What the launches and the result say about a tensor.
fn role(wrapper: &Wrapper, index: usize) -> Role {
    let is_returned = wrapper.returned.contains(&index);
    let is_allocated = match wrapper.tensors.get(index).map(|tensor| &tensor.origin) {
        Some(TensorOrigin::Allocated(_)) => true,
        Some(TensorOrigin::Parameter(_)) | None => false,
    };
    if is_allocated {
        return if is_returned { Role::Output } else { Role::Scratch };
    }
    let (mut is_written, mut is_read) = (false, false);
    for argument in launches(wrapper).flat_map(|launch| &launch.arguments) {
        if let ArgumentValue::Tensor { tensor, writes, reads } = argument.value
            && tensor == index
        {
            // What a kernel wrote before may be read by the next one.
            is_read |= reads && !is_written;
            is_written |= writes;
        }
    }
    let is_filled = wrapper
        .steps
        .iter()
        .any(|step| matches!(step, Step::Fill { tensor, .. } if *tensor == index));
    match (is_written || is_filled || is_returned, is_read && !is_filled) {
        (true, true) => Role::Inout,
        (true, false) => Role::Output,
        (false, _) => Role::Input,
    }
}

fn parameter_scalar(
    wrapper: &Wrapper,
    position: usize,
    name: &str,
    kind: &ParameterKind,
    report: &mut Report,
) -> ProjectScalar {
    let (dtype, value, is_known) = match kind {
        ParameterKind::Integer(value) => {
            (Dtype::I64, NumberWritten::Integer(value.unwrap_or(1)), value.is_some())
        }
        ParameterKind::Real(value) => {
            let dtype = passed_dtype(wrapper, position).unwrap_or(Dtype::F32);
            (
                dtype,
                NumberWritten::Real(value.unwrap_or_else(|| likely_value(name))),
                value.is_some(),
            )
        }
        ParameterKind::Boolean(value) => {
            (Dtype::Bool, NumberWritten::Boolean(value.unwrap_or(true)), value.is_some())
        }
        ParameterKind::Tensor(_) | ParameterKind::Launch(_) => {
            (Dtype::I64, NumberWritten::Integer(0), true)
        }
    };
    if !is_known {
        let text = format!("the file states no value of `{name}`; write the one that callers pass");
        report.confirm(format!("{name}.value"), Place::Scalar(name.to_owned()), text);
    }
    let is_fixed = match kind {
        ParameterKind::Real(_) => false,
        ParameterKind::Integer(_)
        | ParameterKind::Boolean(_)
        | ParameterKind::Tensor(_)
        | ParameterKind::Launch(_) => true,
    };
    ProjectScalar {
        name: name.to_owned(),
        dtype,
        value,
        is_fixed,
        source: ScalarSource::Parameter(position),
    }
}

/// A small positive number for what keeps a divisor from zero.
fn likely_value(name: &str) -> f64 {
    if name.to_ascii_lowercase().contains("eps") { 1e-5 } else { 0.5 }
}

/// The dtype as which a launch passes a parameter: a scalar must not become narrower.
fn passed_dtype(wrapper: &Wrapper, position: usize) -> Option<Dtype> {
    let arguments = launches(wrapper).flat_map(|launch| &launch.arguments);
    let dtypes = arguments.filter_map(|argument| match &argument.value {
        ArgumentValue::Real(Real::Parameter(own), dtype) if *own == position => Some(*dtype),
        ArgumentValue::Real(..)
        | ArgumentValue::Integer(..)
        | ArgumentValue::Tensor { .. }
        | ArgumentValue::Null
        | ArgumentValue::Boolean(_)
        | ArgumentValue::BooleanParameter(_) => None,
    });
    dtypes.min_by_key(|dtype| dtype.bits())
}
