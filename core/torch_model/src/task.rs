//! A task: its axes, inputs, weights, outputs and work.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_python_source::{Class, Function, Module, ParameterKind};

use crate::arguments::Arguments;
use crate::dimension::{Dimension, Sizes};
use crate::interpreter::{Interpreter, Settled};
use crate::trace::{Condition, Refusal, Step, Stop, Trace, Work};
use crate::value::{Distribution, ElementType, Origin, Tensor, Value};

/// What was read from the text of a task.
#[derive(Clone, Debug)]
pub struct Task {
    /// The axes, which are names of the module or elements of its tuples, with the values of the task.
    pub axes: Sizes,
    /// The inputs, then the weights.
    pub tensors: Vec<InputTensor>,
    /// Inputs that are numbers, with their values.
    pub scalars: Vec<(String, ScalarInput)>,
    /// The results, in order.
    pub outputs: Vec<OutputTensor>,
    /// Conditions on the sizes.
    pub conditions: BTreeSet<Condition>,
    /// Operations by kind.
    pub work: BTreeMap<Work, Dimension>,
    /// Lengths of sums.
    pub sums: BTreeSet<Dimension>,
    /// What the user should know, with lines.
    pub notes: Vec<(usize, String)>,
    /// The line of the class.
    pub line: usize,
}

/// An input that is a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct InputTensor {
    /// The name of the parameter of `forward`, or the path of the weight with `_` for `.`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<Dimension>,
    /// Its element type.
    pub dtype: ElementType,
    /// How its elements are distributed.
    pub distribution: Distribution,
    /// What it is.
    pub role: InputRole,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputRole {
    /// A tensor of `get_inputs`.
    Argument,
    /// A parameter of the model.
    Weight,
}

/// An input that is a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarInput {
    /// A real number.
    Real(f64),
    /// An integer.
    Integer(i128),
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputTensor {
    /// Its shape.
    pub shape: Vec<Dimension>,
    /// Its element type.
    pub dtype: ElementType,
    /// The input and the dimension along which it is the index of the largest or smallest element.
    pub index_of: Option<(String, usize)>,
}

/// The class of a task.
const CLASS: &str = "Model";

/// The functions of a task.
const INPUTS: &str = "get_inputs";
const INIT_INPUTS: &str = "get_init_inputs";

/// Whether a file has the form of a task: the class and the function that makes its inputs.
#[must_use]
pub fn is_task(module: &Module) -> bool {
    module.classes().any(|class| class.name == CLASS) && module.function(INPUTS).is_some()
}

/// Reads a task.
///
/// # Errors
///
/// The line, and what is there that cannot be followed.
pub fn read(module: &Module) -> Result<Task, Refusal> {
    let missing = |what: &str| Refusal { line: 1, reason: format!("the file has no {what}") };
    let class = module.classes().filter(|class| class.name == CLASS).last();
    let class = class.ok_or_else(|| missing("class `Model`"))?;
    let inputs = module.function(INPUTS).ok_or_else(|| missing("function `get_inputs`"))?;
    let mut settled = Settled::default();
    loop {
        let known = settled.fixed.len() + settled.equal.len();
        match attempt(module, class, inputs, &settled) {
            Ok(task) => return Ok(task),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Fix(names)) => settled.fixed.extend(names),
            Err(Stop::Equal(left, right)) => equate(module, class, &mut settled, [left, right]),
        }
        if settled.fixed.len() + settled.equal.len() == known {
            return Err(missing("sizes that can be followed"));
        }
    }
}

/// Settles two sizes that must be equal. A number inside a tuple that only `get_inputs` reads can follow another size;
/// others keep the values of the task.
fn equate(module: &Module, class: &Class, settled: &mut Settled, names: [String; 2]) {
    let read = Interpreter::new(module, class, settled).map(|read| (read.sizes, read.unnamed));
    if let Ok((sizes, unnamed)) = read {
        let [left, right] = &names;
        let follows = |name: &&String| unnamed.contains(*name) && !is_read(module, class, name);
        if sizes.get(left) == sizes.get(right)
            && let Some(follower) = [left, right].into_iter().find(follows)
        {
            let leader = if follower == left { right } else { left };
            settled.equal.insert(follower.clone(), leader.clone());
            return;
        }
    }
    settled.fixed.extend(names);
}

/// Whether the model or its arguments read the tuple of an element, `shape` of `shape_0`.
fn is_read(module: &Module, class: &Class, element: &str) -> bool {
    let tuple = element.rsplit_once('_').map_or(element, |(tuple, _)| tuple);
    let arguments = module.function(INIT_INPUTS).map_or(&[][..], |function| &function.body);
    let mut statements: Vec<_> = class.body.iter().chain(arguments).collect();
    let mut expressions = Vec::new();
    while let Some(statement) = statements.pop() {
        expressions.extend(statement.expressions());
        statements.extend(statement.inner());
    }
    while let Some(expression) = expressions.pop() {
        if expression.dotted_name().is_some_and(|name| name == tuple) {
            return true;
        }
        expressions.extend(expression.parts());
    }
    false
}

fn attempt(module: &Module, class: &Class, inputs: &Function, settled: &Settled) -> Step<Task> {
    let mut interpreter = Interpreter::new(module, class, settled)?;
    construct(&mut interpreter, module, class)?;
    let weights = weights(&interpreter)?;
    let made = interpreter.call_function(inputs, &Arguments::default())?;
    let Some(forward) = class.method("forward") else {
        return interpreter.trace.refuse("the model has no method `forward`");
    };
    let passed = named(&interpreter.trace, forward, made)?;
    // Only the work of `forward` counts.
    interpreter.trace.work.clear();
    interpreter.trace.sums.clear();
    let mut arguments = Arguments { positional: vec![Value::This], ..Arguments::default() };
    arguments.positional.extend(passed.iter().map(|(_, value)| value.clone()));
    let result = interpreter.call_function(forward, &arguments)?;
    let outputs = outputs(&interpreter.trace, result)?;
    let (mut tensors, mut scalars) = (Vec::new(), Vec::new());
    for (name, value) in passed {
        if let Value::Tensor(tensor) = value {
            tensors.push(input(name, tensor, InputRole::Argument));
        } else if let Value::Real(Some(value)) = value {
            scalars.push((name, ScalarInput::Real(value)));
        } else if let Value::Integer(size) = &value {
            scalars.push((name, ScalarInput::Integer(interpreter.trace.fixed(size)?)));
        } else {
            let kind = value.kind();
            let reason = format!("the input `{name}` is {kind}; expected a tensor");
            return interpreter.trace.refuse(reason);
        }
    }
    tensors
        .extend(weights.into_iter().map(|(name, tensor)| input(name, tensor, InputRole::Weight)));
    finished(interpreter, class, (tensors, scalars, outputs))
}

fn input(name: String, tensor: Tensor, role: InputRole) -> InputTensor {
    let Tensor { shape, dtype, distribution, .. } = tensor;
    InputTensor { name, shape, dtype, distribution, role }
}

/// Runs `__init__` with the values of `get_init_inputs`.
fn construct(interpreter: &mut Interpreter<'_>, module: &Module, class: &Class) -> Step<()> {
    let values = match module.function(INIT_INPUTS) {
        Some(function) => interpreter.call_function(function, &Arguments::default())?,
        None => Value::Sequence(Vec::new()),
    };
    let Value::Sequence(values) = values else {
        return interpreter.trace.refuse("`get_init_inputs` returns no list");
    };
    let unnamed = interpreter.unnamed.clone();
    let used: BTreeSet<_> =
        values.iter().flat_map(axes_in).filter(|axis| unnamed.contains(axis)).collect();
    // The file cannot be told another value of a number inside a tuple.
    if !used.is_empty() {
        return Err(Stop::Fix(used));
    }
    let Some(init) = class.method("__init__") else { return Ok(()) };
    let positional = std::iter::once(Value::This).chain(values).collect();
    interpreter.call_function(init, &Arguments { positional, ..Arguments::default() })?;
    Ok(())
}

/// The axes that a value depends on.
fn axes_in(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Integer(size) => size.axes(),
        Value::Sequence(all) => all.iter().flat_map(axes_in).collect(),
        Value::Tensor(tensor) => tensor.shape.iter().flat_map(Dimension::axes).collect(),
        Value::Real(_)
        | Value::Boolean(_)
        | Value::Text(_)
        | Value::None
        | Value::Module(_)
        | Value::This
        | Value::Slice { .. }
        | Value::Ellipsis
        | Value::Library(_)
        | Value::Bound(..)
        | Value::Function(_) => BTreeSet::new(),
    }
}

/// The parameters of the model, by their paths.
fn weights(interpreter: &Interpreter<'_>) -> Step<Vec<(String, Tensor)>> {
    let mut found: Vec<(String, Tensor)> = Vec::new();
    for name in &interpreter.attributes.order {
        match interpreter.attributes.values.get(name) {
            Some(Value::Tensor(tensor)) if tensor.origin == Origin::Parameter => {
                found.push((name.clone(), tensor.clone()));
            }
            Some(Value::Module(module)) => {
                for (inner, tensor) in module.parameters(&interpreter.trace)? {
                    found.push((format!("{name}.{inner}").replace('.', "_"), tensor));
                }
            }
            Some(_) | None => {}
        }
    }
    // An axis inside a tuple has no name that the model could read.
    let axes: BTreeSet<_> = found
        .iter()
        .flat_map(|(_, tensor)| tensor.shape.iter().flat_map(Dimension::axes))
        .collect();
    let unnamed: BTreeSet<_> = axes.intersection(&interpreter.unnamed).cloned().collect();
    match unnamed.is_empty() {
        true => Ok(found),
        false => Err(Stop::Fix(unnamed)),
    }
}

/// The inputs by the names of the parameters of `forward`.
fn named(trace: &Trace, forward: &Function, made: Value) -> Step<Vec<(String, Value)>> {
    let Value::Sequence(made) = made else {
        return trace.refuse("`get_inputs` returns no list");
    };
    let parameters = forward.parameters.iter().skip(1);
    let parameters: Vec<_> = parameters
        .filter(|each| each.kind == ParameterKind::Plain)
        .map(|each| &each.name)
        .collect();
    if made.len() > parameters.len() {
        let (made, taken) = (made.len(), parameters.len());
        return trace
            .refuse(format!("`get_inputs` returns {made} values; `forward` takes {taken}"));
    }
    let mut pairs = Vec::new();
    for (name, mut value) in parameters.into_iter().zip(made) {
        if let Value::Tensor(tensor) = &mut value {
            tensor.origin = Origin::Input(name.clone());
        }
        pairs.push((name.clone(), value));
    }
    Ok(pairs)
}

fn outputs(trace: &Trace, result: Value) -> Step<Vec<OutputTensor>> {
    let all = if let Value::Sequence(all) = result { all } else { vec![result] };
    let mut found = Vec::new();
    for value in all {
        let Value::Tensor(tensor) = value else {
            return trace.refuse(format!("`forward` returns {}; expected a tensor", value.kind()));
        };
        let index_of = match tensor.origin {
            Origin::IndexOf { input, dim } => Some((input, dim)),
            Origin::Computed | Origin::Random | Origin::Parameter | Origin::Input(_) => None,
        };
        if tensor.dtype == ElementType::Integer && index_of.is_none() {
            return trace
                .refuse("an integer result that is no index of an input's largest element");
        }
        found.push(OutputTensor { shape: tensor.shape, dtype: tensor.dtype, index_of });
    }
    match found.is_empty() {
        true => trace.refuse("`forward` returns nothing"),
        false => Ok(found),
    }
}

type Read = (Vec<InputTensor>, Vec<(String, ScalarInput)>, Vec<OutputTensor>);

fn finished(
    interpreter: Interpreter<'_>,
    class: &Class,
    (tensors, scalars, outputs): Read,
) -> Step<Task> {
    let shapes =
        tensors.iter().map(|each| &each.shape).chain(outputs.iter().map(|each| &each.shape));
    let mut used: BTreeSet<_> = shapes.flatten().flat_map(Dimension::axes).collect();
    used.extend(interpreter.trace.conditions.iter().flat_map(Condition::axes));
    let axes: Sizes = interpreter
        .sizes
        .iter()
        .filter(|(name, _)| used.contains(*name))
        .map(|(name, size)| (name.clone(), *size))
        .collect();
    let tensor_names: BTreeSet<_> = tensors.iter().map(|each| each.name.as_str()).collect();
    if tensor_names.len() < tensors.len() {
        return interpreter.trace.refuse("two inputs or weights have one name");
    }
    let trace = interpreter.trace;
    for condition in &trace.conditions {
        if !condition.holds(&interpreter.sizes) {
            return trace.refuse(format!("the sizes of the task do not fulfil {condition:?}"));
        }
    }
    Ok(Task {
        axes,
        scalars,
        outputs,
        work: trace.work.clone(),
        sums: trace.sums.clone(),
        notes: trace.notes.iter().cloned().collect(),
        line: class.body.first().map_or(1, |statement| statement.line),
        conditions: trace.conditions,
        tensors,
    })
}
