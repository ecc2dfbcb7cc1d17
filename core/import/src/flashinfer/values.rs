//! The inputs and outputs of a definition as tensors and scalars of a project.

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_project::manifest::{
    Accuracy, ComparatorWritten, Manifest, RoleWritten, ScalarDomainWritten, ScalarWritten,
    TensorWritten,
};
use lightbench_project::written::{ExpressionWritten, NumberWritten};

use super::definition::{Definition, Value, ValueType};
use super::domains::{Context, propose};
use super::interface::{Binding, Interface};
use super::sizes::Sizes;
use crate::draft::{expression, scalar, tensor};
use crate::error::ImportError;
use crate::names::NameGiver;
use crate::python::{number, returned_values, writes_into};
use crate::report::{Place, Report};

/// The values of a definition, decided one by one.
pub(super) struct Values<'a> {
    pub(super) definition: &'a Definition,
    pub(super) interface: &'a Interface,
    pub(super) sizes: &'a Sizes,
    pub(super) tensors: Vec<TensorWritten>,
    pub(super) scalars: Vec<ScalarWritten>,
    /// Inputs and outputs by their names in the definition and in the project.
    pub(super) names: Vec<(String, String)>,
    /// For each output of the definition, what the reference does with it.
    pub(super) results: Vec<Returned>,
}

/// An output and how its values come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Returned {
    /// The output's name in the definition.
    pub(super) output: String,
    /// The tensor of the project that holds it; `None` if it was left out.
    pub(super) tensor: Option<String>,
    pub(super) how: How,
}

/// How the values of an output come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The function returns them.
    Value,
    /// The function writes them into its parameter.
    InPlace,
    /// Another input is added to the parameter, as the description of the output states.
    Added(String),
    /// The function does not compute them.
    Missing,
}

impl<'a> Values<'a> {
    pub(super) fn new(
        definition: &'a Definition,
        interface: &'a Interface,
        sizes: &'a Sizes,
    ) -> Self {
        let (tensors, scalars, names) = (Vec::new(), Vec::new(), Vec::new());
        let results = results(definition, interface);
        Self { definition, interface, sizes, tensors, scalars, names, results }
    }

    /// The name of an input or output in the project.
    pub(super) fn project_name(&self, name: &str) -> Option<&str> {
        self.names.iter().find(|(own, _)| own == name).map(|(_, given)| given.as_str())
    }

    /// Carries inputs over, in their order.
    pub(super) fn inputs(
        &mut self,
        names: &mut NameGiver,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        for input in &self.definition.inputs {
            if let Some(reason) = self.reason_to_leave_out(input) {
                report.leave_out(format!("input `{}`", input.name), reason);
                continue;
            }
            if input.shape.is_some() {
                self.tensor(input, names, report)?;
            } else {
                self.scalar(input, names, report);
            }
        }
        Ok(())
    }

    fn reason_to_leave_out(&self, input: &Value) -> Option<String> {
        let Some(binding) = self.interface.of_input(&input.name) else {
            return Some("the reference does not use it".to_owned());
        };
        let default = binding.default.as_ref();
        let text = default.and_then(|default| self.definition.reference.get(default.span.clone()));
        if input.dtype == ValueType::Option {
            let used = text.unwrap_or("None");
            return Some(format!("an option, not a number; the reference gets `{used}`"));
        }
        if input.shape.is_none() && self.sizes.axis(&input.name).is_some() {
            return Some("it is a size of the project".to_owned());
        }
        let has_number = default.is_some_and(|default| number(default).is_some());
        if input.optional && default.is_some() && !has_number {
            let used = text.unwrap_or_default();
            return Some(format!("optional; the reference gets its default `{used}`"));
        }
        None
    }

    /// Whether an output replaces the content of this input.
    fn is_updated(&self, input: &str) -> bool {
        self.definition.outputs.iter().zip(&self.results).any(|(output, result)| {
            result.how != How::Missing && updated_input(self.definition, output) == Some(input)
        })
    }

    fn tensor(
        &mut self,
        input: &Value,
        names: &mut NameGiver,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        let shape = self.shape("inputs", input)?;
        let role =
            if self.is_updated(&input.name) { RoleWritten::Inout } else { RoleWritten::Input };
        let name = names.give(&input.name);
        let dtype = self.dtype(input, &name, report);
        let mut written = tensor(&name, dtype, shape, role);
        let context = Context { definition: self.definition, sizes: self.sizes };
        if let Some(proposal) = propose(&context, input, dtype) {
            if !proposal.why.is_empty() {
                let text = format!("`{name}` is filled with {}", proposal.why);
                report.confirm(format!("{name}.domain"), Place::Tensor(name.clone()), text);
            }
            proposal.apply(&mut written);
        }
        self.names.push((input.name.clone(), name));
        self.tensors.push(written);
        Ok(())
    }

    fn shape(&self, field: &str, value: &Value) -> Result<Vec<ExpressionWritten>, ImportError> {
        let shape = value.shape.as_deref().unwrap_or_default();
        let place = format!("{field}.{}.shape", value.name);
        shape
            .iter()
            .map(|size| self.sizes.size(self.definition, &place, size).map(expression))
            .collect()
    }

    /// The type of a tensor; one that the definition does not state is proposed.
    fn dtype(&self, input: &Value, given: &str, report: &mut Report) -> Dtype {
        if let ValueType::Number(dtype) = input.dtype {
            return dtype;
        }
        let same_shape = self.definition.outputs.iter().find_map(|output| match output.dtype {
            ValueType::Number(dtype) if output.shape == input.shape => Some(dtype),
            ValueType::Number(_) | ValueType::Unknown | ValueType::Option => None,
        });
        let name = input.name.to_ascii_lowercase();
        let words = ["indptr", "indices", "ids", "len", "offsets", "positions", "slot", "table"];
        let dtype = if words.iter().any(|word| name.contains(word)) {
            Dtype::I32
        } else if name.contains("mask") {
            Dtype::Bool
        } else {
            same_shape.unwrap_or(Dtype::F32)
        };
        let text = format!(
            "the definition does not state the type of `{given}`; {} is a proposal",
            dtype.name()
        );
        report.confirm(format!("{given}.dtype"), Place::Tensor(given.to_owned()), text);
        dtype
    }

    fn scalar(&mut self, input: &Value, names: &mut NameGiver, report: &mut Report) {
        let dtype = match input.dtype {
            ValueType::Number(dtype) => dtype,
            ValueType::Unknown | ValueType::Option => Dtype::F32,
        };
        let name = names.give(&input.name);
        let binding = self.interface.of_input(&input.name);
        let default =
            binding.and_then(|binding: &Binding| binding.default.as_ref()).and_then(number);
        let value = default.unwrap_or_else(|| self.likely_value(input, dtype));
        let value = fitting(value, dtype);
        let mut written = scalar(&name, dtype, value);
        written.domain = scalar_domain(&input.name, dtype);
        written.note = input.description.clone();
        if default.is_none() {
            let text = format!("the definition states no value of `{name}`; {value} is a proposal");
            report.confirm(format!("{name}.value"), Place::Scalar(name.clone()), text);
        }
        self.names.push((input.name.clone(), name));
        self.scalars.push(written);
    }

    /// A value for a scalar, from its name and its description.
    fn likely_value(&self, input: &Value, dtype: Dtype) -> NumberWritten {
        let name = input.name.to_ascii_lowercase();
        if let Some(root) = self.root_of(input) {
            return NumberWritten::Real(1.0 / root.sqrt());
        }
        match name.as_str() {
            "top_k" => NumberWritten::Integer(8),
            "top_p" => NumberWritten::Real(0.75),
            "min_p" => NumberWritten::Real(0.125),
            "max_seq_len" => NumberWritten::Integer(256),
            "local_expert_offset" => NumberWritten::Integer(0),
            _ if name.contains("eps") => NumberWritten::Real(1e-6),
            _ if dtype.is_float() => NumberWritten::Real(1.0),
            _ if dtype == Dtype::Bool => NumberWritten::Boolean(true),
            _ => NumberWritten::Integer(1),
        }
    }

    /// For a scale of attention, the size whose square root divides.
    fn root_of(&self, input: &Value) -> Option<f64> {
        let stated = input.description.split("1/sqrt(").nth(1);
        let stated = stated.and_then(|rest| rest.split(')').next()).unwrap_or_default();
        let is_scale =
            ["sm_scale", "softmax_scale", "scale_softmax"].contains(&input.name.as_str());
        let names = [stated, if is_scale { "head_dim" } else { "" }];
        let sizes = names.iter().filter_map(|name| self.sizes.axis(name));
        sizes.filter_map(|axis| axis.fixed).map(|size| size as f64).next()
    }

    /// Carries outputs over, in their order.
    pub(super) fn outputs(
        &mut self,
        names: &mut NameGiver,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        for (index, output) in self.definition.outputs.iter().enumerate() {
            let how = self.results.get(index).map_or(How::Value, |result| result.how.clone());
            self.tell(output, &how, report);
            if how == How::Missing {
                continue;
            }
            let updated =
                updated_input(self.definition, output).and_then(|input| self.project_name(input));
            let name = match updated.map(str::to_owned) {
                Some(name) if self.tensors.iter().any(|tensor| tensor.name == name) => name,
                Some(_) | None => self.new_output(output, names, report)?,
            };
            let compare = self.comparator(output, &name, report);
            if let Some(tensor) = self.tensors.iter_mut().find(|tensor| tensor.name == name) {
                tensor.compare = Some(compare);
            }
            if let Some(result) = self.results.get_mut(index) {
                result.tensor = Some(name);
            }
        }
        Ok(())
    }

    fn new_output(
        &mut self,
        output: &Value,
        names: &mut NameGiver,
        report: &mut Report,
    ) -> Result<String, ImportError> {
        let name = names.give(&output.name);
        let dtype = self.dtype(output, &name, report);
        let mut shape = self.shape("outputs", output)?;
        if output.shape.is_none() {
            shape = Vec::new();
        }
        self.tensors.push(tensor(&name, dtype, shape, RoleWritten::Output));
        Ok(name)
    }

    /// Reports outputs that the reference does not simply return.
    fn tell(&self, output: &Value, how: &How, report: &mut Report) {
        let name = &output.name;
        match how {
            How::Value | How::InPlace => {}
            How::Added(input) => {
                let text = format!(
                    "the reference does not return `{name}`; its description states that `{input}` is added to it, which reference.py does"
                );
                report.confirm(format!("reference.{name}"), Place::Reference, text);
            }
            How::Missing => {
                report.leave_out(format!("output `{name}`"), "the reference does not compute it");
                let text = format!(
                    "the reference computes fewer outputs than declared: `{name}` is missing; to check it, compute it in reference.py and add it to project.ron"
                );
                report.confirm(format!("reference.{name}"), Place::Reference, text);
            }
        }
        let other = output.parameter.as_deref().filter(|parameter| parameter != name);
        if let Some(parameter) = other.filter(|_| updated_input(self.definition, output).is_none())
        {
            report.carried.push(format!(
                "`{name}` as an output of its own (the original function writes it into its parameter `{parameter}`)"
            ));
        }
    }

    fn comparator(&self, output: &Value, name: &str, report: &mut Report) -> ComparatorWritten {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name);
        if tensor.is_some_and(|tensor| tensor.dtype.is_float() && !tensor.dtype.is_packed()) {
            let terms = self.terms(output);
            report.confirm_terms(name, &terms);
            return ComparatorWritten::Elementwise {
                terms: expression(terms),
                factor: 4.0,
                rms: true,
            };
        }
        ComparatorWritten::IntegerExact
    }

    /// The number of terms of one element: the sizes that inputs have and the output lacks, else its last dimension.
    fn terms(&self, output: &Value) -> String {
        let own = output.shape.clone().unwrap_or_default();
        let inputs =
            self.definition.inputs.iter().filter(|input| self.project_name(&input.name).is_some());
        let shapes = inputs.filter_map(|input| input.shape.as_ref());
        let missing = shapes.flat_map(|shape| shape.last()).find(|size| !own.contains(size));
        let size = missing.or_else(|| own.last());
        size.and_then(|size| self.sizes.translated(size)).unwrap_or_else(|| "1".to_owned())
    }
}

/// The input whose content an output replaces.
pub(super) fn updated_input<'d>(definition: &'d Definition, output: &Value) -> Option<&'d str> {
    let named = |name: &str| definition.inputs.iter().find(|input| input.name == name);
    let same = |input: &&Value| input.shape == output.shape;
    let by_parameter = output.parameter.as_deref().and_then(named).filter(same);
    let found = by_parameter.or_else(|| named(&output.name).filter(same))?;
    Some(&found.name)
}

/// How the outputs come about: returned in their order, then written in place, then added, else missing.
fn results(definition: &Definition, interface: &Interface) -> Vec<Returned> {
    let function = &interface.function;
    let outputs = &definition.outputs;
    let written = |output: &Value| {
        let input = updated_input(definition, output)?;
        let binding = interface.of_input(input)?;
        writes_into(function, &binding.parameter).then_some(())
    };
    let count = returned_values(&interface.module, &function.name);
    let in_place = outputs.iter().filter(|output| written(output).is_some()).count();
    // Without a count, and where everything that is not written in place is returned, the order is that of the others.
    let returned = count.unwrap_or(if in_place > 0 { 0 } else { outputs.len() });
    let others_only = returned < outputs.len() && returned == outputs.len() - in_place;
    let mut left = returned;
    let result = |output: &Value| {
        let is_written = written(output).is_some();
        let how = if left > 0 && !(is_written && others_only) {
            left -= 1;
            How::Value
        } else if is_written {
            How::InPlace
        } else {
            added(definition, interface, output).map_or(How::Missing, How::Added)
        };
        Returned { output: output.name.clone(), tensor: None, how }
    };
    outputs.iter().map(result).collect()
}

/// The input that is added to an output, if the output's description states `output += input`.
fn added(definition: &Definition, interface: &Interface, output: &Value) -> Option<String> {
    let input = updated_input(definition, output)?;
    let (_, rest) = output.description.split_once(&format!("{input} += "))?;
    let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let name = rest.get(..end.unwrap_or(rest.len()))?;
    let other = definition.inputs.iter().find(|other| other.name == name)?;
    let is_usable = other.shape == output.shape && interface.of_input(name).is_some();
    (is_usable && interface.of_input(input).is_some()).then(|| name.to_owned())
}

/// A value in the family of a type.
pub(super) fn fitting(value: NumberWritten, dtype: Dtype) -> NumberWritten {
    match (dtype.family(), value) {
        (Family::Boolean, NumberWritten::Integer(value)) => NumberWritten::Boolean(value != 0),
        (Family::Boolean, NumberWritten::Real(value)) => NumberWritten::Boolean(value != 0.0),
        (Family::Float, NumberWritten::Boolean(value)) => NumberWritten::Real(f64::from(value)),
        (Family::Float, NumberWritten::Integer(value)) => NumberWritten::Real(value as f64),
        (Family::Signed | Family::Unsigned, NumberWritten::Boolean(value)) => {
            NumberWritten::Integer(i128::from(value))
        }
        (Family::Signed | Family::Unsigned, NumberWritten::Real(value)) => {
            NumberWritten::Integer(value as i128)
        }
        (Family::Boolean | Family::Float | Family::Signed | Family::Unsigned, value) => value,
    }
}

fn scalar_domain(name: &str, dtype: Dtype) -> ScalarDomainWritten {
    let is_scale = name.contains("scale") || name == "temperature" || name == "alpha";
    if dtype.is_float() && is_scale {
        ScalarDomainWritten::Positive
    } else {
        ScalarDomainWritten::Fixed
    }
}

/// The precision in which the task may be computed: that of the types, unless the reference converts to f32.
pub(super) fn accuracy(definition: &Definition, manifest: &Manifest) -> Accuracy {
    let outputs = manifest.tensors.iter().filter(|tensor| tensor.role != RoleWritten::Input);
    let floats: Vec<Dtype> =
        outputs.map(|tensor| tensor.dtype).filter(|dtype| dtype.is_float()).collect();
    if floats.is_empty() {
        return Accuracy::Exact;
    }
    let text = &definition.reference;
    let widens =
        ["float32", ".float()", "float64", ".double()"].iter().any(|word| text.contains(word));
    if widens {
        return Accuracy::F32;
    }
    let narrow = |dtype: &Dtype| match dtype {
        Dtype::F64 => 53,
        Dtype::F16 => 11,
        Dtype::Bf16 => 8,
        Dtype::F8E4M3 | Dtype::F8E5M2 => 4,
        Dtype::F32
        | Dtype::I64
        | Dtype::I32
        | Dtype::I16
        | Dtype::I8
        | Dtype::U64
        | Dtype::U32
        | Dtype::U16
        | Dtype::U8
        | Dtype::Bool
        | Dtype::I4
        | Dtype::U4
        | Dtype::E2M1 => 24,
    };
    match floats.iter().map(narrow).min() {
        Some(53) => Accuracy::F64,
        Some(11) => Accuracy::F16,
        Some(8) => Accuracy::Bf16,
        Some(4) => Accuracy::F8,
        Some(_) | None => Accuracy::F32,
    }
}
