//! The method `forward` of an answer: a straight line with one call of a wrapper, whose result it returns.

use std::collections::BTreeMap;

use lightbench_cuda_source::torch_wrapper::KnownInput;
use lightbench_project::manifest::Manifest;
use lightbench_python_source::{
    Call, Class, Constants, Expression, ExpressionKind, Module, Statement, StatementKind, Value,
};

use crate::python;

/// The call.
pub(super) struct Forward {
    /// The name of the wrapper.
    pub(super) function: String,
    pub(super) arguments: Vec<Passed>,
    /// The attributes of the model that hold weights, with the line of their use.
    pub(super) attributes: Vec<(usize, String)>,
    pub(super) line: usize,
}

/// What an argument is in the project.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Passed {
    /// A tensor, by its name in the project.
    Tensor(String),
    /// A scalar, by its name in the project.
    Scalar(String),
    Number(KnownInput),
}

/// What cannot be followed.
pub(super) struct Refusal {
    pub(super) line: usize,
    pub(super) reason: String,
}

/// What a local name holds.
#[derive(Clone)]
enum Local {
    Input(Passed),
    /// The result of the wrapper.
    Result,
}

struct Reader<'a> {
    manifest: &'a Manifest,
    constants: Constants,
    locals: BTreeMap<String, Local>,
    attributes: Vec<(usize, String)>,
    call: Option<Forward>,
}

impl Forward {
    /// Reads `forward`, whose parameters are the task's inputs `names` by their position.
    pub(super) fn read(
        module: &Module,
        class: &Class,
        names: &[String],
        manifest: &Manifest,
    ) -> Result<Self, Refusal> {
        let missing = |line, reason: &str| Refusal { line, reason: reason.to_owned() };
        let first = class.body.first().map_or(1, |statement| statement.line);
        let function = class.method("forward");
        let function = function.ok_or_else(|| missing(first, "`ModelNew` has no `forward`"))?;
        let line = function.body.first().map_or(first, |statement| statement.line);
        let own: Vec<String> =
            python::parameters(function).skip(1).map(|each| each.name.clone()).collect();
        if own.len() != names.len() {
            let (found, wanted) = (own.len(), names.len());
            let reason = format!("`forward` takes {found} inputs; that of the task takes {wanted}");
            return Err(Refusal { line, reason });
        }
        let constants = Constants::new(module);
        let (locals, attributes) = (BTreeMap::new(), Vec::new());
        let mut reader = Reader { manifest, constants, locals, attributes, call: None };
        for (own, name) in own.iter().zip(names) {
            let passed = reader.input(name).ok_or_else(|| {
                missing(line, &format!("the input `{own}` is neither a tensor nor a number"))
            })?;
            reader.locals.insert(own.clone(), Local::Input(passed));
        }
        for statement in &function.body {
            if reader.statement(statement)? {
                let call =
                    reader.call.ok_or_else(|| missing(line, "`forward` calls no wrapper"))?;
                return Ok(Self { attributes: reader.attributes, ..call });
            }
        }
        Err(missing(line, "`forward` returns nothing"))
    }
}

impl Reader<'_> {
    fn input(&self, name: &str) -> Option<Passed> {
        if self.manifest.tensors.iter().any(|tensor| tensor.name == name) {
            return Some(Passed::Tensor(name.to_owned()));
        }
        let is_scalar = self.manifest.scalars.iter().any(|scalar| scalar.name == name);
        is_scalar.then(|| Passed::Scalar(name.to_owned()))
    }

    /// Reads a statement; whether it returns.
    fn statement(&mut self, statement: &Statement) -> Result<bool, Refusal> {
        let refused = |reason: &str| Refusal { line: statement.line, reason: reason.to_owned() };
        if let StatementKind::Expression(expression) = &statement.kind
            && let ExpressionKind::Text { .. } = &expression.kind
        {
            return Ok(false);
        }
        if let StatementKind::Return(Some(value)) = &statement.kind {
            return match self.value(value)? {
                Local::Result => Ok(true),
                Local::Input(_) => Err(refused("`forward` returns an input")),
            };
        }
        if let StatementKind::Assign { targets, value: Some(value) } = &statement.kind
            && let [target] = targets.as_slice()
            && let ExpressionKind::Name(name) = &target.kind
        {
            let local = self.value(value)?;
            self.locals.insert(name.clone(), local);
            return Ok(false);
        }
        Err(refused("a statement that is neither an assignment to a name nor a return"))
    }

    fn value(&mut self, expression: &Expression) -> Result<Local, Refusal> {
        let line = expression.line;
        if let ExpressionKind::Name(name) = &expression.kind
            && let Some(local) = self.locals.get(name)
        {
            return Ok(local.clone());
        }
        if let ExpressionKind::Call(call) = &expression.kind {
            return self.call(line, call);
        }
        if let Some(path) = expression.dotted_name()
            && let Some(attribute) = path.strip_prefix("self.")
        {
            let weight = attribute.strip_suffix(".data").unwrap_or(attribute).replace('.', "_");
            let root = attribute.split('.').next().unwrap_or(attribute);
            self.attributes.push((line, root.to_owned()));
            return match self.input(&weight) {
                Some(passed) => Ok(Local::Input(passed)),
                None => {
                    let reason = format!("`{path}` is no weight of the task's model");
                    Err(Refusal { line, reason })
                }
            };
        }
        let known = match self.constants.evaluate(expression) {
            Some(Value::Integer(value)) => KnownInput::Integer(value),
            Some(Value::Float(value)) => KnownInput::Real(value),
            Some(Value::Boolean(value)) => KnownInput::Boolean(value),
            Some(Value::None) => KnownInput::Absent,
            Some(Value::Text(_) | Value::Tuple(_) | Value::List(_)) | None => {
                let reason = "a value that is no input, weight or number".to_owned();
                return Err(Refusal { line, reason });
            }
        };
        // A size of the task is an axis of the project, so that the number of the file is not always its value.
        if let Some(axis) = names_in(expression).find(|name| self.is_axis(name)) {
            let reason = format!("`{axis}` is a size that workloads change; take it from a tensor");
            return Err(Refusal { line, reason });
        }
        Ok(Local::Input(Passed::Number(known)))
    }

    fn is_axis(&self, name: &str) -> bool {
        self.manifest.axes.iter().any(|axis| axis.name == name)
    }

    fn call(&mut self, line: usize, call: &Call) -> Result<Local, Refusal> {
        let refused = |reason: String| Refusal { line, reason };
        if let ExpressionKind::Attribute { value, name } = &call.function.kind
            && matches!(name.as_str(), "contiguous" | "cuda" | "detach")
            && call.arguments.is_empty()
        {
            return self.value(value);
        }
        let path = call.function.dotted_name();
        let path = path.ok_or_else(|| refused("a call without a name".to_owned()))?;
        let is_of_torch = ["torch.", "F.", "nn."].iter().any(|own| path.starts_with(own));
        let local = path.split('.').next().is_some_and(|first| self.locals.contains_key(first));
        if is_of_torch || local {
            return Err(refused(format!("an operator of PyTorch, `{path}`, beside the wrapper")));
        }
        if self.call.is_some() {
            return Err(refused(format!("a second call, `{path}`")));
        }
        if call.arguments.iter().any(|argument| argument.name.is_some()) {
            return Err(refused("an argument that is passed by name".to_owned()));
        }
        let mut arguments = Vec::new();
        for argument in call.positional() {
            match self.value(argument)? {
                Local::Input(passed) => arguments.push(passed),
                Local::Result => {
                    return Err(refused("the result of another call as argument".to_owned()));
                }
            }
        }
        if self.call.is_some() {
            return Err(refused("a second call among the arguments".to_owned()));
        }
        let function = path.rsplit('.').next().unwrap_or(&path).to_owned();
        self.call = Some(Forward { function, arguments, attributes: Vec::new(), line });
        Ok(Local::Result)
    }
}

/// The names in an expression.
fn names_in(expression: &Expression) -> impl Iterator<Item = &str> {
    let mut pending = vec![expression];
    let mut found = Vec::new();
    while let Some(next) = pending.pop() {
        if let ExpressionKind::Name(name) = &next.kind {
            found.push(name.as_str());
        }
        pending.extend(next.parts());
    }
    found.into_iter()
}
