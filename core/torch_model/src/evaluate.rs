//! Expressions: names, attributes, operators and calls.

use std::rc::Rc;

use lightbench_python_source::{
    BinaryOperator, Call, Comparison, Expression, ExpressionKind, UnaryOperator,
};

use crate::arguments::Arguments;
use crate::dimension::Dimension;
use crate::interpreter::{Interpreter, Locals, words};
use crate::operations::{self, elementwise, products, shapes};
use crate::trace::{Step, Work};
use crate::value::{Origin, Tensor, Value};

/// Elements of a tuple or list.
const LONGEST_SEQUENCE: usize = 1024;

impl Interpreter<'_> {
    /// The value of an expression.
    pub(crate) fn expression(&mut self, expression: &Expression, locals: &Locals) -> Step<Value> {
        self.nested(|this| {
            this.trace.line = expression.line;
            this.kind(&expression.kind, locals)
        })
    }

    fn all(&mut self, expressions: &[Expression], locals: &Locals) -> Step<Vec<Value>> {
        let mut found = Vec::new();
        for expression in expressions {
            let ExpressionKind::Starred(inner) = &expression.kind else {
                found.push(self.expression(expression, locals)?);
                continue;
            };
            let value = self.expression(inner, locals)?;
            let Value::Sequence(all) = value else {
                return self.trace.refuse(format!("`*` before {}", value.kind()));
            };
            found.extend(all);
        }
        Ok(found)
    }

    fn kind(&mut self, kind: &ExpressionKind, locals: &Locals) -> Step<Value> {
        Ok(match kind {
            ExpressionKind::Integer(value) => Value::Integer(Dimension::from(*value)),
            ExpressionKind::Float(value) => Value::Real(Some(*value)),
            ExpressionKind::Text { text, .. } => Value::Text(text.clone()),
            ExpressionKind::Boolean(value) => Value::Boolean(Some(*value)),
            ExpressionKind::None => Value::None,
            ExpressionKind::Ellipsis => Value::Ellipsis,
            ExpressionKind::Name(name) => self.name(name, locals)?,
            ExpressionKind::Tuple(all) | ExpressionKind::List(all) => {
                Value::Sequence(self.all(all, locals)?)
            }
            ExpressionKind::Attribute { value, name } => {
                let value = self.expression(value, locals)?;
                self.attribute(value, name)?
            }
            ExpressionKind::Call(call) => self.call(call, locals)?,
            ExpressionKind::Subscript { value, indices } => {
                let value = self.expression(value, locals)?;
                let indices = self.all(indices, locals)?;
                self.subscript(&value, &indices)?
            }
            ExpressionKind::Slice { first, last, step } => Value::Slice {
                first: self.bound_of_slice(first.as_deref(), locals)?,
                last: self.bound_of_slice(last.as_deref(), locals)?,
                step: self.bound_of_slice(step.as_deref(), locals)?,
            },
            ExpressionKind::Unary { operator, operand } => {
                let operand = self.expression(operand, locals)?;
                self.unary(*operator, &operand)?
            }
            ExpressionKind::Binary { operator, left, right } => {
                let left = self.expression(left, locals)?;
                let right = self.expression(right, locals)?;
                self.binary(*operator, &left, &right)?
            }
            ExpressionKind::Compare { first, rest } => {
                let left = self.expression(first, locals)?;
                match rest.as_slice() {
                    [(comparison, right)] => {
                        let right = self.expression(right, locals)?;
                        self.compare(*comparison, &left, &right)?
                    }
                    _ => return self.trace.refuse("a chain of comparisons"),
                }
            }
            ExpressionKind::Conditional { condition, then, otherwise } => {
                let branch = if self.condition(condition, locals)? { then } else { otherwise };
                self.expression(branch, locals)?
            }
            ExpressionKind::Dictionary(_) => return self.trace.refuse("a dictionary"),
            ExpressionKind::Starred(_) => return self.trace.refuse("`*` before an expression"),
            ExpressionKind::Other { what, .. } => {
                return self
                    .trace
                    .refuse(format!("an expression that is not followed: {}", words(what)));
            }
        })
    }

    fn bound_of_slice(
        &mut self,
        bound: Option<&Expression>,
        locals: &Locals,
    ) -> Step<Option<Dimension>> {
        let Some(bound) = bound else { return Ok(None) };
        let value = self.expression(bound, locals)?;
        if matches!(value, Value::None) {
            return Ok(None);
        }
        let Value::Integer(size) = value else {
            return self.trace.refuse(format!("a bound of a slice that is {}", value.kind()));
        };
        Ok(Some(size))
    }

    /// Whether a condition holds; it must be known.
    pub(crate) fn condition(&mut self, condition: &Expression, locals: &Locals) -> Step<bool> {
        let value = self.expression(condition, locals)?;
        match &value {
            Value::Boolean(Some(value)) => Ok(*value),
            Value::None => Ok(false),
            Value::Integer(size) => Ok(self.trace.fixed(size)? != 0),
            Value::Sequence(all) => Ok(!all.is_empty()),
            Value::Module(_) | Value::This | Value::Function(_) => Ok(true),
            Value::Boolean(None)
            | Value::Real(_)
            | Value::Text(_)
            | Value::Tensor(_)
            | Value::Slice { .. }
            | Value::Ellipsis
            | Value::Library(_)
            | Value::Bound(..) => {
                let kind = value.kind();
                self.trace.refuse(format!("a branch on {kind}, whose value is not known"))
            }
        }
    }

    fn attribute(&mut self, value: Value, name: &str) -> Step<Value> {
        match (&value, name) {
            (Value::This, "training") => return Ok(Value::Boolean(Some(true))),
            (Value::This, _) => {
                if let Some(found) = self.attributes.values.get(name) {
                    if let Value::Tensor(Tensor { origin: Origin::Random, .. }) = found {
                        return self.trace.refuse(format!(
                            "`self.{name}` is drawn at random and is no parameter; expected `nn.Parameter`"
                        ));
                    }
                    return Ok(found.clone());
                }
                if self.class.method(name).is_none() && !name.starts_with("register_") {
                    return self.trace.refuse(format!("the model has no attribute `{name}`"));
                }
            }
            (Value::Library(path), _) => {
                let full = format!("{path}.{name}");
                return Ok(match full.as_str() {
                    "math.pi" | "torch.pi" => Value::Real(Some(std::f64::consts::PI)),
                    "math.e" => Value::Real(Some(std::f64::consts::E)),
                    "math.inf" | "torch.inf" => Value::Real(Some(f64::INFINITY)),
                    _ => Value::Library(full),
                });
            }
            (Value::Tensor(tensor), "shape") => {
                return Ok(Value::Sequence(
                    tensor.shape.iter().cloned().map(Value::Integer).collect(),
                ));
            }
            (Value::Tensor(tensor), "ndim") => {
                return Ok(Value::Integer(Dimension::from(tensor.shape.len() as i128)));
            }
            (Value::Tensor(tensor), "dtype") => return Ok(Value::Tensor(tensor.clone())),
            (Value::Tensor(_), "device") => return Ok(Value::None),
            (Value::Tensor(tensor), "data") => return Ok(Value::Tensor(tensor.clone())),
            (Value::Tensor(tensor), "T" | "mT") => {
                let mut shape = tensor.shape.clone();
                match (name, shape.len()) {
                    ("T", _) => shape.reverse(),
                    (_, length) if length >= 2 => shape.swap(length - 1, length - 2),
                    _ => return self.trace.refuse("`mT` of a tensor that is no matrix"),
                }
                return Ok(Value::Tensor(tensor.reshaped(shape)));
            }
            (Value::Sequence(all), "values" | "indices") if all.len() == 2 => {
                return Ok(all[usize::from(name == "indices")].clone());
            }
            (Value::Module(module), "weight" | "bias") => {
                let parameters = module.parameters(&self.trace)?;
                let found = parameters.into_iter().find(|(known, _)| known == name);
                return Ok(found.map_or(Value::None, |(_, tensor)| Value::Tensor(tensor)));
            }
            _ => {}
        }
        Ok(Value::Bound(Box::new(value), name.to_owned()))
    }

    fn subscript(&mut self, value: &Value, indices: &[Value]) -> Step<Value> {
        match (value, indices) {
            (Value::Tensor(tensor), _) => shapes::subscript(&mut self.trace, tensor, indices),
            (Value::Sequence(all), [Value::Slice { first, last, step }]) => {
                shapes::part(&self.trace, all, [first, last, step])
            }
            (Value::Sequence(all), [index]) => shapes::element(&self.trace, all, index),
            _ => self.trace.refuse(format!("an element of {}", value.kind())),
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Value) -> Step<Value> {
        Ok(match (operator, operand) {
            (UnaryOperator::Negative, Value::Integer(size)) => {
                Value::Integer(self.trace.times(size, &Dimension::from(-1))?)
            }
            (UnaryOperator::Negative, Value::Real(value)) => Value::Real(value.map(|value| -value)),
            (UnaryOperator::Negative, Value::Tensor(tensor)) => {
                let distribution = tensor.distribution.scaled(-1.0, 0.0);
                let negative = elementwise::unary(&mut self.trace, (Work::Arithmetic, 1), tensor)?;
                Value::Tensor(Tensor { distribution, ..negative })
            }
            (UnaryOperator::Positive, value) => value.clone(),
            (UnaryOperator::Not, Value::Boolean(value)) => {
                Value::Boolean(value.map(|value| !value))
            }
            (UnaryOperator::Not, Value::None) => Value::Boolean(Some(true)),
            (UnaryOperator::Invert, Value::Tensor(tensor)) => {
                Value::Tensor(elementwise::unary(&mut self.trace, (Work::Compare, 1), tensor)?)
            }
            _ => return self.trace.refuse(format!("an operator before {}", operand.kind())),
        })
    }

    /// `left operator right`.
    pub(crate) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Value,
        right: &Value,
    ) -> Step<Value> {
        let trace = &mut self.trace;
        if let (Value::Integer(first), Value::Integer(second)) = (left, right) {
            return integers(trace, operator, first, second);
        }
        if operator == BinaryOperator::MatrixMultiply
            && let (Value::Tensor(left), Value::Tensor(right)) = (left, right)
        {
            return products::matmul(trace, left, right);
        }
        if let (Value::Sequence(first), Value::Sequence(second), BinaryOperator::Add) =
            (left, right, operator)
        {
            return match first.len() + second.len() <= LONGEST_SEQUENCE {
                true => Ok(Value::Sequence(first.iter().chain(second).cloned().collect())),
                false => trace.refuse("a very long sequence"),
            };
        }
        if let (Value::Sequence(all), Value::Integer(count), BinaryOperator::Multiply) =
            (left, right, operator)
        {
            let count = trace.fixed(count)?;
            let most = (LONGEST_SEQUENCE / all.len().max(1)) as i128;
            return match (0..=most).contains(&count) {
                true => Ok(Value::Sequence(
                    std::iter::repeat_n(all, count as usize).flatten().cloned().collect(),
                )),
                false => trace.refuse(format!("a sequence repeated {count} times")),
            };
        }
        if let (Value::Boolean(first), Value::Boolean(second)) = (left, right) {
            return Ok(Value::Boolean(match (operator, first, second) {
                (BinaryOperator::And, Some(first), Some(second)) => Some(*first && *second),
                (BinaryOperator::Or, Some(first), Some(second)) => Some(*first || *second),
                _ => return trace.refuse("an operator between booleans"),
            }));
        }
        let name = match operator {
            BinaryOperator::Add => "add",
            BinaryOperator::Subtract => "sub",
            BinaryOperator::Multiply => "mul",
            BinaryOperator::Divide => "div",
            BinaryOperator::Power => "pow",
            BinaryOperator::FloorDivide
            | BinaryOperator::Remainder
            | BinaryOperator::MatrixMultiply
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::And
            | BinaryOperator::Or => {
                let (left, right) = (left.kind(), right.kind());
                return trace.refuse(format!("an operator between {left} and {right}"));
            }
        };
        if matches!(left, Value::Tensor(_)) || matches!(right, Value::Tensor(_)) {
            let all =
                Arguments { positional: vec![left.clone(), right.clone()], ..Arguments::default() };
            return operations::call(trace, name, &all);
        }
        match (real(left), real(right)) {
            (Some(first), Some(second)) => Ok(Value::Real(reals(operator, first, second))),
            _ => trace.refuse(format!("an operator between {} and {}", left.kind(), right.kind())),
        }
    }

    fn compare(&mut self, comparison: Comparison, left: &Value, right: &Value) -> Step<Value> {
        let name = match comparison {
            Comparison::Equal => "eq",
            Comparison::NotEqual => "ne",
            Comparison::Less => "lt",
            Comparison::LessOrEqual => "le",
            Comparison::Greater => "gt",
            Comparison::GreaterOrEqual => "ge",
            Comparison::Is | Comparison::IsNot => {
                let is_none = matches!((left, right), (Value::None, Value::None));
                let is_wanted = is_none == (comparison == Comparison::Is);
                if !matches!(right, Value::None) {
                    return self.trace.refuse("`is` with anything but None");
                }
                return Ok(Value::Boolean(Some(is_wanted)));
            }
            Comparison::In | Comparison::NotIn => return self.trace.refuse("`in`"),
        };
        match (left, right) {
            (Value::Tensor(_), _) | (_, Value::Tensor(_)) => {
                let positional = vec![left.clone(), right.clone()];
                operations::call(
                    &mut self.trace,
                    name,
                    &Arguments { positional, ..Arguments::default() },
                )
            }
            (Value::Integer(left), Value::Integer(right)) => {
                let difference = self.trace.minus(left, right)?;
                let difference = self.trace.fixed(&difference)?;
                Ok(Value::Boolean(Some(match comparison {
                    Comparison::NotEqual => difference != 0,
                    Comparison::Less => difference < 0,
                    Comparison::LessOrEqual => difference <= 0,
                    Comparison::Greater => difference > 0,
                    Comparison::GreaterOrEqual => difference >= 0,
                    Comparison::Equal
                    | Comparison::Is
                    | Comparison::IsNot
                    | Comparison::In
                    | Comparison::NotIn => difference == 0,
                })))
            }
            (Value::Text(left), Value::Text(right)) => {
                Ok(Value::Boolean(Some((left == right) == (comparison == Comparison::Equal))))
            }
            _ => self.trace.refuse(format!("a comparison of {} and {}", left.kind(), right.kind())),
        }
    }

    fn call(&mut self, call: &Call, locals: &Locals) -> Step<Value> {
        let line = self.trace.line;
        if let ExpressionKind::Attribute { value, name } = &call.function.kind
            && let ExpressionKind::Call(inner) = &value.kind
            && inner.function.dotted_name().as_deref() == Some("super")
            && name == "__init__"
        {
            return Ok(Value::None);
        }
        let function = self.expression(&call.function, locals)?;
        let mut arguments = Arguments::default();
        for argument in &call.arguments {
            match &argument.name {
                None => {
                    arguments
                        .positional
                        .extend(self.all(std::slice::from_ref(&argument.value), locals)?);
                }
                Some(name) if name == "**" => return self.trace.refuse("`**` in a call"),
                Some(name) => {
                    let value = self.expression(&argument.value, locals)?;
                    arguments.named.insert(name.clone(), value);
                }
            }
        }
        self.trace.line = line;
        self.apply(&function, arguments)
    }

    fn apply(&mut self, function: &Value, arguments: Arguments) -> Step<Value> {
        if let Value::Library(path) = function {
            return self.library(path, &arguments);
        }
        if let Value::Module(module) = function {
            return module.call(&mut self.trace, arguments.positional, arguments.named);
        }
        if let Value::Function(function) = function {
            let function = Rc::clone(function);
            return self.call_function(&function, &arguments);
        }
        let Value::Bound(owner, name) = function else {
            return self.trace.refuse(format!("a call of {}", function.kind()));
        };
        self.method(owner, name, arguments)
    }

    fn method(&mut self, owner: &Value, name: &str, mut arguments: Arguments) -> Step<Value> {
        if let Value::Tensor(tensor) = owner {
            let operation = match name.strip_suffix('_') {
                Some(_) if matches!(tensor.origin, Origin::Input(_)) => {
                    return self.trace.refuse(format!("`{name}` changes an input"));
                }
                Some(operation) => operation,
                None => name,
            };
            arguments.positional.insert(0, Value::Tensor(tensor.clone()));
            return operations::call(&mut self.trace, operation, &arguments);
        }
        if !matches!(owner, Value::This) {
            let owner = owner.kind();
            return self.trace.refuse(format!("the method `{name}` of {owner}"));
        }
        if name == "register_buffer" {
            return Ok(self.buffer(&arguments));
        }
        let Some(method) = self.class.method(name) else {
            return self.trace.refuse(format!("the model has no method `{name}`"));
        };
        arguments.positional.insert(0, Value::This);
        self.call_function(method, &arguments)
    }

    /// A buffer whose values are random is an input; any other keeps its values.
    fn buffer(&mut self, arguments: &Arguments) -> Value {
        if let (Some(name), Some(value)) = (arguments.text(0, "name"), arguments.get(1, "tensor")) {
            let mut value = value.clone();
            if let Value::Tensor(tensor) = &mut value
                && tensor.origin == Origin::Random
            {
                tensor.origin = Origin::Parameter;
            }
            self.attributes.set(name, value);
        }
        Value::None
    }
}

/// A real number; none inside if its value depends on sizes.
pub(crate) fn real(value: &Value) -> Option<Option<f64>> {
    if let Value::Real(value) = value {
        return Some(*value);
    }
    let Value::Integer(size) = value else { return None };
    Some(size.constant().map(|value| value as f64))
}

fn reals(operator: BinaryOperator, left: Option<f64>, right: Option<f64>) -> Option<f64> {
    let (left, right) = (left?, right?);
    match operator {
        BinaryOperator::Add => Some(left + right),
        BinaryOperator::Subtract => Some(left - right),
        BinaryOperator::Multiply => Some(left * right),
        BinaryOperator::Divide => Some(left / right),
        BinaryOperator::Power => Some(left.powf(right)),
        BinaryOperator::FloorDivide
        | BinaryOperator::Remainder
        | BinaryOperator::MatrixMultiply
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::BitAnd
        | BinaryOperator::BitOr
        | BinaryOperator::BitXor
        | BinaryOperator::And
        | BinaryOperator::Or => None,
    }
}

fn integers(
    trace: &mut crate::trace::Trace,
    operator: BinaryOperator,
    left: &Dimension,
    right: &Dimension,
) -> Step<Value> {
    Ok(Value::Integer(match operator {
        BinaryOperator::Add => trace.plus(left, right)?,
        BinaryOperator::Subtract => trace.minus(left, right)?,
        BinaryOperator::Multiply => trace.times(left, right)?,
        BinaryOperator::FloorDivide => match left.divide_exactly(right) {
            Some(quotient) => quotient,
            None => {
                let by = trace.fixed(right)?;
                trace.size(left.floor_divide(by))?
            }
        },
        BinaryOperator::Remainder => {
            let (left, right) = (trace.fixed(left)?, trace.fixed(right)?);
            match right {
                0 => return trace.refuse("a remainder of a division by 0"),
                right => Dimension::from(left.rem_euclid(right.abs())),
            }
        }
        BinaryOperator::Power => {
            let (left, right) = (trace.fixed(left)?, trace.fixed(right)?);
            match u32::try_from(right).ok().and_then(|right| left.checked_pow(right)) {
                Some(power) => Dimension::from(power),
                None => return trace.refuse("a power that is no integer of 127 bits"),
            }
        }
        BinaryOperator::Divide => {
            let known = left.constant().zip(right.constant());
            return Ok(Value::Real(known.map(|(left, right)| left as f64 / right as f64)));
        }
        BinaryOperator::MatrixMultiply
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::BitAnd
        | BinaryOperator::BitOr
        | BinaryOperator::BitXor
        | BinaryOperator::And
        | BinaryOperator::Or => return trace.refuse("an operator between integers"),
    }))
}
