//! The host function of a Triton file, executed on formulas: what it allocates, checks and launches.

use std::collections::BTreeMap;
use std::ops::Range;

use lightbench_cuda_source::SourceLocation;
use lightbench_cuda_source::torch_wrapper::{
    AllocatedShape, Comparison, Condition, Fact, Integer, NoteKind, ParameterKind, Real, Refusal,
    Step, TensorOrigin, Why, Wrapper, WrapperNote, WrapperParameter, WrapperTensor,
};
use lightbench_primitives::dtype::Dtype;
use lightbench_python_source::{Expression, Function, Statement, StatementKind};

use super::file::HostFile;
use super::parameters::{Given, given};
use super::value::{ElementType, Sizes, Value, View, selected};

/// Statements that are executed at most, those of followed functions too.
const MOST_STATEMENTS: usize = 20_000;

/// A host function that was read.
pub(crate) struct HostReading {
    pub(crate) wrapper: Wrapper,
    /// Tuning parameters of the launch block with their values, the first of which is the default.
    pub(super) tuned: Vec<(String, Vec<i128>)>,
    /// Choices that depend on the device, with their lines.
    pub(super) device_choices: Vec<usize>,
    /// Sizes that are taken to be equal because one name receives both.
    pub(super) equal_by_name: Vec<String>,
    /// Parameters that keep their default.
    pub(super) defaults: Vec<String>,
}

/// What the caller knows about parameters, which a task states.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownInputs {
    /// The dtype of tensors for which nothing else states one.
    pub(crate) dtype: Option<Dtype>,
    /// Tensors by the name of the parameter, with their number of dimensions.
    pub(crate) tensors: BTreeMap<String, (Dtype, usize)>,
    /// Numbers by the name of the parameter.
    pub(crate) numbers: BTreeMap<String, Dtype>,
}

/// The execution of one host function.
pub(super) struct Host<'a> {
    pub(super) file: HostFile<'a>,
    known: &'a KnownInputs,
    pub(super) names: BTreeMap<String, Value>,
    pub(super) read: HostReading,
    /// Functions that are being followed.
    pub(super) depth: usize,
    statements: usize,
}

/// How a list of statements ended.
enum Flow {
    Next,
    Returned(Value),
}

/// Executes a host function. `skipped` parameters at its beginning (`ctx`) have no value.
pub(super) fn read_host(
    file: HostFile<'_>,
    function: &Function,
    skipped: usize,
    known: &KnownInputs,
) -> Result<HostReading, Refusal> {
    let line = function.body.first().map_or(1, |first| first.line);
    let wrapper = Wrapper {
        name: function.name.clone(),
        place: SourceLocation { line, column: 1 },
        parameters: Vec::new(),
        tensors: Vec::new(),
        steps: Vec::new(),
        returned: Vec::new(),
        requirements: Vec::new(),
        local_names: Vec::new(),
        same_shapes: Vec::new(),
        other_dtypes: Vec::new(),
        notes: Vec::new(),
    };
    let read = HostReading {
        wrapper,
        tuned: Vec::new(),
        device_choices: Vec::new(),
        equal_by_name: Vec::new(),
        defaults: Vec::new(),
    };
    let mut host = Host { file, known, names: BTreeMap::new(), read, depth: 0, statements: 0 };
    for parameter in function.parameters.iter().skip(skipped) {
        let value = host.received(function, parameter);
        host.names.insert(parameter.name.clone(), value);
    }
    let result = match host.run(&function.body)? {
        Flow::Next => Value::None,
        Flow::Returned(value) => value,
    };
    let end = function.body.last().map_or(line, |last| last.line);
    host.returned(&result, end)?;
    if !host.read.wrapper.steps.iter().any(|step| matches!(step, Step::Launch(_))) {
        let place = SourceLocation { line, column: 1 };
        return Err(Refusal { place, found: function.name.clone(), why: Why::NoLaunch });
    }
    Ok(host.read)
}

impl Host<'_> {
    /// The value that a parameter has, and its place in the description.
    fn received(
        &mut self,
        function: &Function,
        parameter: &lightbench_python_source::Parameter,
    ) -> Value {
        let position = self.read.wrapper.parameters.len();
        let stated = self.known.tensors.get(&parameter.name);
        let number = self.known.numbers.get(&parameter.name);
        let given = match (stated, number) {
            (Some(_), _) => Given::Tensor,
            (None, Some(dtype)) if dtype.is_float() => Given::Real(None),
            (None, Some(_)) => Given::Integer,
            (None, None) => given(self.file, function, parameter),
        };
        let (kind, value) = match given {
            Given::Unused => return Value::None,
            Given::Default(value) => {
                self.read.defaults.push(parameter.name.clone());
                return value;
            }
            Given::Tensor => {
                let tensor = self.read.wrapper.tensors.len();
                self.read.wrapper.tensors.push(WrapperTensor {
                    name: parameter.name.clone(),
                    origin: TensorOrigin::Parameter(position),
                    dtype: stated.map(|(dtype, _)| *dtype).or(self.known.dtype),
                    rank: stated.map(|(_, rank)| *rank),
                });
                (ParameterKind::Tensor(tensor), Value::Tensor(View::whole(tensor)))
            }
            Given::Integer => (
                ParameterKind::Integer(None),
                Value::Integer(Integer::Fact(Fact::Parameter(position))),
            ),
            Given::Real(default) => {
                (ParameterKind::Real(default), Value::Real(Real::Parameter(position)))
            }
        };
        let name = parameter.name.clone();
        self.read.wrapper.parameters.push(WrapperParameter { name, kind });
        value
    }

    pub(super) fn refused(&self, at: &Expression, why: Why) -> Refusal {
        let found = self.file.text.get(at.span.clone()).unwrap_or_default();
        refusal(at.line, found, why)
    }

    fn refused_statement(&self, at: &Statement, why: Why) -> Refusal {
        let found = self.file.text.get(at.span.clone()).unwrap_or_default();
        refusal(at.line, found, why)
    }

    fn note(&mut self, at: &Statement, kind: NoteKind) {
        self.note_at((at.line, at.span.clone()), kind);
    }

    /// Notes a place of the file.
    pub(super) fn note_at(&mut self, (line, span): (usize, Range<usize>), kind: NoteKind) {
        let found = self.file.text.get(span).unwrap_or_default();
        let place = SourceLocation { line, column: 1 };
        let found = lightbench_cuda_source::brief(found, 60);
        self.read.wrapper.notes.push(WrapperNote { place, found, kind });
    }

    /// Executes the statements of a function that host code calls.
    pub(super) fn follow(&mut self, body: &[Statement]) -> Result<Value, Refusal> {
        Ok(match self.run(body)? {
            Flow::Next => Value::None,
            Flow::Returned(value) => value,
        })
    }

    fn run(&mut self, statements: &[Statement]) -> Result<Flow, Refusal> {
        for statement in statements {
            self.statements += 1;
            if self.statements > MOST_STATEMENTS {
                return Err(self.refused_statement(statement, Why::TooLarge));
            }
            if let Flow::Returned(value) = self.statement(statement)? {
                return Ok(Flow::Returned(value));
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, Refusal> {
        match &statement.kind {
            StatementKind::Assign { value: None, .. }
            | StatementKind::Import(_)
            | StatementKind::Pass
            | StatementKind::Class(_) => {}
            StatementKind::Assign { targets, value: Some(value) } => {
                let is_host_only = targets.iter().all(is_attribute_of_context);
                if is_host_only {
                    self.note(statement, NoteKind::BackwardOnly);
                    return Ok(Flow::Next);
                }
                let value = self.evaluate(value)?;
                for target in targets {
                    self.assign(target, value.clone())?;
                }
            }
            StatementKind::AugmentedAssign { target, operator, value } => {
                let operator = operator
                    .ok_or_else(|| self.refused_statement(statement, Why::UnknownStatement))?;
                let (left, right) = (self.evaluate(target)?, self.evaluate(value)?);
                let value = self.binary(target, operator, &left, &right)?;
                self.assign(target, value)?;
            }
            StatementKind::Expression(value) => self.effect(statement, value)?,
            StatementKind::Return(None) => return Ok(Flow::Returned(Value::None)),
            StatementKind::Return(Some(value)) => {
                return Ok(Flow::Returned(self.evaluate(value)?));
            }
            StatementKind::Function(function) => {
                let own = super::value::HostFunction::Definition(Box::new(function.clone()));
                self.names.insert(function.name.clone(), Value::Function(own));
            }
            StatementKind::If { condition, then, otherwise } => {
                return self.branch(statement, condition, then, otherwise);
            }
            StatementKind::With { body, .. } => {
                self.note(statement, NoteKind::HostOnly);
                return self.run(body);
            }
            StatementKind::Assert(condition) => {
                let condition = self.evaluate(condition)?.truth();
                self.require(statement, condition)?;
            }
            StatementKind::For { .. } => {
                return Err(self.refused_statement(statement, Why::Loop));
            }
            StatementKind::Other { what, .. } => {
                let why = match what.as_str() {
                    "while_statement" => Why::Loop,
                    "raise_statement" => Why::AlwaysFails,
                    "global_statement" | "nonlocal_statement" | "delete_statement" => {
                        return Ok(Flow::Next);
                    }
                    _ => Why::UnknownStatement,
                };
                return Err(self.refused_statement(statement, why));
            }
        }
        Ok(Flow::Next)
    }

    /// An expression whose value is not used: launches and calls that matter to PyTorch only.
    fn effect(&mut self, statement: &Statement, value: &Expression) -> Result<(), Refusal> {
        use lightbench_python_source::ExpressionKind;
        if let ExpressionKind::Text { .. } | ExpressionKind::Ellipsis = &value.kind {
            return Ok(());
        }
        if let ExpressionKind::Call(call) = &value.kind
            && let Some(name) = call.function.dotted_name()
        {
            let full = self.file.module.full_name(&name);
            if name.starts_with("ctx.") {
                self.note(statement, NoteKind::BackwardOnly);
                return Ok(());
            }
            let host_only = full == "print"
                || full.starts_with("torch.cuda.")
                || full.starts_with("torch._dynamo")
                || full.starts_with("logging.")
                || full == "torch._check";
            if host_only {
                self.note(statement, NoteKind::HostOnly);
                return Ok(());
            }
        }
        self.evaluate(value).map(|_| ())
    }

    fn branch(
        &mut self,
        statement: &Statement,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
    ) -> Result<Flow, Refusal> {
        let condition = self.decided(condition)?;
        let raises = |body: &[Statement]| {
            let mut kinds = body.iter().map(|each| &each.kind);
            kinds.any(|kind| {
                matches!(kind, StatementKind::Other { what, .. } if what == "raise_statement")
            })
        };
        if let Condition::Always(holds) = condition {
            let (taken, other) = if holds { (then, otherwise) } else { (otherwise, then) };
            if let Some(first) = other.first().filter(|_| !raises(other)) {
                self.note(first, NoteKind::OtherBranch);
            }
            self.run(taken)
        } else if raises(then) {
            self.require(statement, condition.negated())?;
            self.run(otherwise)
        } else if raises(otherwise) {
            self.require(statement, condition)?;
            self.run(then)
        } else if condition == Condition::Given {
            self.run(then)
        } else {
            self.merge(statement, &condition, then, otherwise)
        }
    }

    /// Executes both branches, which may differ only in the integers that they assign.
    fn merge(
        &mut self,
        statement: &Statement,
        condition: &Condition,
        then: &[Statement],
        otherwise: &[Statement],
    ) -> Result<Flow, Refusal> {
        let refused = self.refused_statement(statement, Why::Branch);
        let before = (self.read.wrapper.steps.len(), self.read.wrapper.tensors.len());
        let start = self.names.clone();
        let mut both = Vec::new();
        for body in [then, otherwise] {
            self.names.clone_from(&start);
            if let Flow::Returned(_) = self.run(body)? {
                return Err(refused);
            }
            both.push(self.names.clone());
        }
        if before != (self.read.wrapper.steps.len(), self.read.wrapper.tensors.len()) {
            return Err(refused);
        }
        let (Some(second), Some(first)) = (both.pop(), both.pop()) else { return Err(refused) };
        self.names = start;
        for (name, value) in first {
            let Some(other) = second.get(&name) else { continue };
            if format!("{value:?}") == format!("{other:?}") {
                self.names.insert(name, value);
                continue;
            }
            let merged = value
                .integer()
                .zip(other.integer())
                .and_then(|(left, right)| selected(condition, left, right));
            let merged = merged.ok_or_else(|| refused.clone())?;
            self.names.insert(name, Value::Integer(merged));
        }
        Ok(Flow::Next)
    }

    /// A condition; one that only the device decides holds, which the report states.
    pub(super) fn decided(&mut self, condition: &Expression) -> Result<Condition, Refusal> {
        let value = self.evaluate(condition)?;
        if let Value::Device | Value::AtMost(_) = value {
            self.read.device_choices.push(condition.line);
            return Ok(Condition::Always(true));
        }
        Ok(value.truth())
    }

    fn require(&mut self, statement: &Statement, condition: Condition) -> Result<(), Refusal> {
        match condition {
            Condition::Always(true) | Condition::Given => {}
            Condition::Always(false) => {
                return Err(self.refused_statement(statement, Why::AlwaysFails));
            }
            Condition::And(left, right) => {
                self.require(statement, *left)?;
                self.require(statement, *right)?;
            }
            Condition::SameShape(left, right) => {
                self.read.wrapper.same_shapes.push((left, right));
            }
            Condition::HasDtype(tensor, dtype) => {
                if let Some(tensor) = self.read.wrapper.tensors.get_mut(tensor) {
                    tensor.dtype = Some(dtype);
                }
            }
            Condition::SameDtype(left, right) => {
                let known = [left, right].map(|each| self.dtype_of(each));
                for tensor in [left, right] {
                    if let Some(own) = self.read.wrapper.tensors.get_mut(tensor) {
                        own.dtype = own.dtype.or(known[0]).or(known[1]);
                    }
                }
            }
            condition @ (Condition::Compare(..) | Condition::Or(..) | Condition::Not(_)) => {
                self.read.wrapper.requirements.push(condition);
            }
            Condition::Unknown => self.note(statement, NoteKind::UncheckedCondition),
        }
        Ok(())
    }

    pub(super) fn dtype_of(&self, tensor: usize) -> Option<Dtype> {
        self.read.wrapper.tensors.get(tensor).and_then(|tensor| tensor.dtype)
    }

    pub(super) fn assign(&mut self, target: &Expression, value: Value) -> Result<(), Refusal> {
        use lightbench_python_source::ExpressionKind;
        if let ExpressionKind::Name(name) = &target.kind {
            self.bind(name, value);
            return Ok(());
        }
        if let (ExpressionKind::Starred(target), Value::Leading(_)) = (&target.kind, &value) {
            return self.assign(target, value);
        }
        let (ExpressionKind::Tuple(targets) | ExpressionKind::List(targets)) = &target.kind else {
            return Err(self.refused(target, Why::UnknownStatement));
        };
        let starred = targets.first().map(|first| &first.kind);
        let values =
            if let (Value::Shape(view), Some(ExpressionKind::Starred(_))) = (&value, starred) {
                let count = i64::try_from(targets.len()).unwrap_or(i64::MAX);
                let last = (1 - count..0).map(|dimension| view.size(dimension).map(Value::Integer));
                let leading = std::iter::once(Some(Value::Leading(view.clone())));
                leading.chain(last).flatten().collect()
            } else if let Value::Shape(view) = &value {
                self.unpacked(target, view, targets.len(), View::size)?
            } else if let Value::Device = value {
                vec![Value::Device; targets.len()]
            } else if let Value::Tuple(values) = value {
                values
            } else {
                Vec::new()
            };
        if values.len() != targets.len() {
            return Err(self.refused(target, Why::UnknownExpression));
        }
        for (target, value) in targets.iter().zip(values) {
            if let (ExpressionKind::Name(name), Value::Integer(size)) = (&target.kind, &value) {
                self.join_sizes(name, size);
            }
            self.assign(target, value)?;
        }
        Ok(())
    }

    /// The sizes or strides of a tensor as so many values, which decides its number of dimensions.
    pub(super) fn unpacked(
        &mut self,
        at: &Expression,
        view: &View,
        count: usize,
        of: impl Fn(&View, i64) -> Option<Integer>,
    ) -> Result<Vec<Value>, Refusal> {
        if let Sizes::Of(tensor) = view.sizes
            && let Some(tensor) = self.read.wrapper.tensors.get_mut(tensor)
        {
            if tensor.rank.is_some_and(|rank| rank != count) {
                return Err(self.refused(at, Why::UnknownExpression));
            }
            tensor.rank = Some(count);
        }
        let dimensions = (0_i64..).take(count);
        let values: Option<Vec<Value>> =
            dimensions.map(|dimension| of(view, dimension).map(Value::Integer)).collect();
        values.ok_or_else(|| self.refused(at, Why::UnknownExpression))
    }

    /// A name that receives a size twice, as in `M, K = a.shape` and `K, N = b.shape`, means that both are equal.
    fn join_sizes(&mut self, name: &str, size: &Integer) {
        let Some(Value::Integer(before)) = self.names.get(name) else { return };
        let are_sizes =
            [before, size].into_iter().all(|each| matches!(each, Integer::Fact(Fact::Size { .. })));
        if name == "_" || before == size || !are_sizes {
            return;
        }
        let equal = Condition::compared(Comparison::Equal, before.clone(), size.clone());
        if !self.read.wrapper.requirements.contains(&equal) {
            self.read.wrapper.requirements.push(equal);
            self.read.equal_by_name.push(name.to_owned());
        }
    }

    fn bind(&mut self, name: &str, value: Value) {
        if let Value::Integer(formula @ (Integer::Fact(_) | Integer::Binary(..))) = &value
            && self.depth == 0
        {
            self.read.wrapper.local_names.push((formula.clone(), name.to_owned()));
        }
        if let Value::Tensor(view) = &value
            && let Some(own) = self.read.wrapper.tensors.get_mut(view.tensor)
            && own.name.is_empty()
        {
            name.clone_into(&mut own.name);
        }
        self.names.insert(name.to_owned(), value);
    }

    /// A new tensor, which gets the name of the variable that receives it.
    pub(super) fn allocated(&mut self, shape: AllocatedShape, element: ElementType) -> usize {
        let dtype = match element {
            ElementType::Known(dtype) => Some(dtype),
            ElementType::Of(tensor) => self.dtype_of(tensor),
        };
        let tensors = &mut self.read.wrapper.tensors;
        let origin = TensorOrigin::Allocated(shape);
        tensors.push(WrapperTensor { name: String::new(), origin, dtype, rank: None });
        tensors.len() - 1
    }

    fn returned(&mut self, value: &Value, line: usize) -> Result<(), Refusal> {
        match value {
            Value::Tensor(view) => {
                if !self.read.wrapper.returned.contains(&view.tensor) {
                    self.read.wrapper.returned.push(view.tensor);
                }
            }
            Value::Tuple(all) => {
                for each in all {
                    self.returned(each, line)?;
                }
            }
            Value::None => {}
            Value::Shape(_)
            | Value::Leading(_)
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Condition(_)
            | Value::Text(_)
            | Value::Type(_)
            | Value::Arguments(_)
            | Value::Function(_)
            | Value::Compiled(..)
            | Value::Device
            | Value::AtMost(_) => return Err(refusal(line, "return", Why::UnknownResult)),
        }
        Ok(())
    }
}

fn refusal(line: usize, found: &str, why: Why) -> Refusal {
    let found = lightbench_cuda_source::brief(found, 60);
    Refusal { place: SourceLocation { line, column: 1 }, found, why }
}

/// `ctx.name`, into which `forward` stores what `backward` needs.
fn is_attribute_of_context(target: &Expression) -> bool {
    target.dotted_name().is_some_and(|name| name.starts_with("ctx."))
}
