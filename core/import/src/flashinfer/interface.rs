//! Which inputs of a definition the parameters of its reference take.

use lightbench_python_source::{Expression, Function, Module, Parameter};

use super::definition::{Definition, Value, ValueType};
use crate::error::ImportError;
use crate::python::{parameters, read, takes_any_keyword};
use crate::report::{Place, Report};

/// The function that computes the outputs, and what its parameters take.
#[derive(Debug)]
pub(super) struct Interface {
    pub(super) function: Function,
    /// The whole text.
    pub(super) module: Module,
    pub(super) bindings: Vec<Binding>,
}

/// A parameter and what it takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Binding {
    /// The parameter's name.
    pub(super) parameter: String,
    pub(super) default: Option<Expression>,
    pub(super) takes: Takes,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// An input, by its name in the definition.
    Input(String),
    /// Several inputs as a tuple.
    Tuple(Vec<String>),
    /// A size, by its name in the definition.
    Size(String),
    /// `None`.
    Nothing,
}

impl Interface {
    /// Matches parameters and inputs.
    ///
    /// # Errors
    ///
    /// The text is not Python, or has no function.
    pub(super) fn new(definition: &Definition, report: &mut Report) -> Result<Self, ImportError> {
        let module = read(&definition.file, "reference", &definition.reference)?;
        let function = entry(&module).cloned().ok_or_else(|| {
            let expected = "a top-level function in Python that computes the outputs";
            ImportError::new(&definition.file, "reference", "no function", expected)
        })?;
        let mut interface = Self { function, module, bindings: Vec::new() };
        interface.bind_equal_names(definition);
        interface.bind_similar_names(definition, report);
        interface.bind_others(definition, report);
        if takes_any_keyword(&interface.function) {
            interface.bind_keywords(definition);
        }
        Ok(interface)
    }

    /// The binding that takes an input.
    pub(super) fn of_input(&self, name: &str) -> Option<&Binding> {
        self.bindings.iter().find(|binding| match &binding.takes {
            Takes::Input(input) => input == name,
            Takes::Tuple(inputs) => inputs.iter().any(|input| input == name),
            Takes::Size(_) | Takes::Nothing => false,
        })
    }

    fn is_bound(&self, parameter: &Parameter) -> bool {
        self.bindings.iter().any(|binding| binding.parameter == parameter.name)
    }

    fn bind(&mut self, parameter: &Parameter, takes: Takes) {
        let (name, default) = (parameter.name.clone(), parameter.default.clone());
        self.bindings.push(Binding { parameter: name, default, takes });
    }

    fn bind_equal_names(&mut self, definition: &Definition) {
        let all: Vec<Parameter> = parameters(&self.function).cloned().collect();
        for parameter in all {
            if definition.inputs.iter().any(|input| input.name == parameter.name) {
                self.bind(&parameter, Takes::Input(parameter.name.clone()));
            }
        }
    }

    fn unbound(&self) -> Vec<Parameter> {
        let required = parameters(&self.function).filter(|parameter| parameter.default.is_none());
        required.filter(|parameter| !self.is_bound(parameter)).cloned().collect()
    }

    fn bind_similar_names(&mut self, definition: &Definition, report: &mut Report) {
        for parameter in self.unbound() {
            let similar = definition.inputs.iter().find(|input| {
                input.name.eq_ignore_ascii_case(&parameter.name)
                    && self.of_input(&input.name).is_none()
            });
            if let Some(input) = similar {
                self.bind(&parameter, Takes::Input(input.name.clone()));
                confirm(report, &parameter, &format!("the input `{}`", input.name));
            }
        }
    }

    /// The remaining parameters, in the order of the remaining required inputs.
    fn bind_others(&mut self, definition: &Definition, report: &mut Report) {
        for parameter in self.unbound() {
            if definition.axis(&parameter.name).is_some() {
                self.bind(&parameter, Takes::Size(parameter.name.clone()));
            }
        }
        let parameters: Vec<Parameter> =
            self.unbound().into_iter().filter(|parameter| !is_workspace(&parameter.name)).collect();
        let is_left = |input: &&Value| {
            !input.optional && self.of_input(&input.name).is_none() && !is_workspace(&input.name)
        };
        let tensors =
            definition.inputs.iter().filter(is_left).filter(|input| input.shape.is_some());
        let inputs: Vec<String> = tensors.map(|input| input.name.clone()).collect();
        match parameters.as_slice() {
            [parameter] if inputs.len() > 1 => {
                confirm(report, parameter, &format!("the tuple ({})", inputs.join(", ")));
                self.bind(parameter, Takes::Tuple(inputs));
            }
            several if several.len() == inputs.len() => {
                for (parameter, input) in several.iter().zip(inputs) {
                    confirm(report, parameter, &format!("the input `{input}`"));
                    self.bind(parameter, Takes::Input(input));
                }
            }
            _ => {}
        }
        for parameter in self.unbound() {
            confirm(report, &parameter, "`None`, because no input corresponds to it");
            self.bind(&parameter, Takes::Nothing);
        }
    }

    /// A function with `**kwargs` gets the required inputs that no parameter names.
    fn bind_keywords(&mut self, definition: &Definition) {
        for input in &definition.inputs {
            let is_number = matches!(input.dtype, ValueType::Number(_));
            let is_left = !input.optional && self.of_input(&input.name).is_none();
            if is_left && is_number && !is_workspace(&input.name) {
                let (parameter, default) = (input.name.clone(), None);
                let takes = Takes::Input(input.name.clone());
                self.bindings.push(Binding { parameter, default, takes });
            }
        }
    }
}

fn confirm(report: &mut Report, parameter: &Parameter, what: &str) {
    let text = format!("the parameter `{}` of the reference gets {what}", parameter.name);
    report.confirm(format!("reference.{}", parameter.name), Place::Reference, text);
}

/// Memory that an implementation needs and the result does not depend on.
pub(super) fn is_workspace(name: &str) -> bool {
    name.contains("workspace") || name == "semaphores"
}

/// `reference`, `run`, else the last function whose name ends with `_reference`, else the last one.
fn entry(module: &Module) -> Option<&Function> {
    let all = module.functions();
    module
        .function("reference")
        .or_else(|| module.function("run"))
        .or_else(|| all.iter().rev().find(|each| each.name.ends_with("_reference")).copied())
        .or_else(|| all.last().copied())
}
