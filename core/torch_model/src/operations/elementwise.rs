//! Operations on each element, with broadcasting.

use crate::arguments::Arguments;
use crate::trace::{Step, Trace, Work};
use crate::value::{Distribution, ElementType, Origin, Tensor, Value};

/// Operations with one tensor whose result has its shape, and what they cost for each element.
const UNARY: &[(&str, Work, i128)] = &[
    ("relu", Work::Compare, 1),
    ("relu6", Work::Compare, 2),
    ("leaky_relu", Work::Compare, 1),
    ("clamp", Work::Compare, 2),
    ("clip", Work::Compare, 2),
    ("clamp_min", Work::Compare, 1),
    ("clamp_max", Work::Compare, 1),
    ("hardtanh", Work::Compare, 2),
    ("hardsigmoid", Work::Arithmetic, 4),
    ("hardswish", Work::Arithmetic, 5),
    ("hardshrink", Work::Compare, 2),
    ("softshrink", Work::Compare, 2),
    ("threshold", Work::Compare, 1),
    ("abs", Work::Arithmetic, 1),
    ("neg", Work::Arithmetic, 1),
    ("negative", Work::Arithmetic, 1),
    ("square", Work::Arithmetic, 1),
    ("sign", Work::Compare, 2),
    ("softsign", Work::Arithmetic, 3),
    ("nan_to_num", Work::Compare, 1),
    ("sigmoid", Work::Special, 1),
    ("tanh", Work::Special, 1),
    ("gelu", Work::Special, 1),
    ("silu", Work::Special, 1),
    ("swish", Work::Special, 1),
    ("mish", Work::Special, 2),
    ("elu", Work::Special, 1),
    ("selu", Work::Special, 1),
    ("celu", Work::Special, 1),
    ("softplus", Work::Special, 2),
    ("logsigmoid", Work::Special, 2),
    ("tanhshrink", Work::Special, 1),
    ("exp", Work::Special, 1),
    ("exp2", Work::Special, 1),
    ("expm1", Work::Special, 1),
    ("log", Work::Special, 1),
    ("log2", Work::Special, 1),
    ("log10", Work::Special, 1),
    ("log1p", Work::Special, 1),
    ("sqrt", Work::Special, 1),
    ("rsqrt", Work::Special, 1),
    ("reciprocal", Work::Special, 1),
    ("sin", Work::Special, 1),
    ("cos", Work::Special, 1),
    ("erf", Work::Special, 1),
    ("triu", Work::Arithmetic, 0),
    ("tril", Work::Arithmetic, 0),
    ("masked_fill", Work::Compare, 1),
];

/// Operations with two operands, of which one may be a number.
const BINARY: &[(&str, Work)] = &[
    ("add", Work::Arithmetic),
    ("sub", Work::Arithmetic),
    ("subtract", Work::Arithmetic),
    ("mul", Work::Arithmetic),
    ("multiply", Work::Arithmetic),
    ("div", Work::Arithmetic),
    ("divide", Work::Arithmetic),
    ("true_divide", Work::Arithmetic),
    ("pow", Work::Special),
    ("atan2", Work::Special),
    ("maximum", Work::Compare),
    ("minimum", Work::Compare),
];

/// Comparisons, whose result is boolean.
const COMPARISONS: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];

pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Value>> {
    if let Some((_, work, each)) = UNARY.iter().find(|(known, ..)| *known == name) {
        let tensor = arguments.first_tensor(trace)?.clone();
        return Ok(Some(Value::Tensor(unary(trace, (*work, *each), &tensor)?)));
    }
    if let Some((_, work)) = BINARY.iter().find(|(known, _)| *known == name) {
        let other = arguments.get(1, "other").or_else(|| arguments.get(1, "exponent"));
        let (Some(left), Some(right)) = (arguments.get(0, "input"), other) else {
            return trace.refuse(format!("`{name}` with one operand; expected two"));
        };
        // A square is a product.
        let is_square = name == "pow" && is_number(right, 2.0);
        let work = if is_square { Work::Arithmetic } else { *work };
        return binary(trace, name, work, (left, right)).map(Some);
    }
    if COMPARISONS.contains(&name) {
        let (Some(left), Some(right)) = (arguments.get(0, "input"), arguments.get(1, "other"))
        else {
            return trace.refuse(format!("`{name}` with one operand; expected two"));
        };
        let value = binary(trace, name, Work::Compare, (left, right))?;
        let Value::Tensor(tensor) = value else { return Ok(Some(value)) };
        return Ok(Some(Value::Tensor(Tensor { dtype: ElementType::Boolean, ..tensor })));
    }
    match name {
        "where" => chosen(trace, arguments).map(Some),
        "lerp" | "addcmul" | "addcdiv" => {
            let (first, second) =
                (arguments.first_tensor(trace)?, arguments.tensor(trace, 1, "end")?);
            let shape = trace.broadcast(&first.shape, &second.shape)?;
            trace.count_each(Work::Arithmetic, 3, &shape)?;
            Ok(Some(Value::Tensor(Tensor::float(shape))))
        }
        "dropout" | "dropout1d" | "dropout2d" | "dropout3d" => match arguments.get(2, "training") {
            Some(Value::Boolean(Some(false))) => {
                Ok(Some(Value::Tensor(arguments.first_tensor(trace)?.clone())))
            }
            _ => trace.refuse(format!(
                "`{name}` draws random numbers; expected a function of the inputs"
            )),
        },
        _ => Ok(None),
    }
}

/// The result of an operation on each element of a tensor.
pub(crate) fn unary(trace: &mut Trace, cost: (Work, i128), tensor: &Tensor) -> Step<Tensor> {
    trace.count_each(cost.0, cost.1, &tensor.shape)?;
    let is_float = tensor.dtype == ElementType::Float || cost.0 == Work::Special;
    let dtype = if is_float { ElementType::Float } else { tensor.dtype };
    Ok(Tensor { dtype, ..Tensor::float(tensor.shape.clone()) })
}

fn is_number(value: &Value, expected: f64) -> bool {
    number(value).is_some_and(|value| (value - expected).abs() == 0.0)
}

/// The number that a value is, if it does not depend on sizes.
fn number(value: &Value) -> Option<f64> {
    if let Value::Real(value) = value {
        return *value;
    }
    let Value::Integer(size) = value else { return None };
    size.constant().map(|value| value as f64)
}

/// The result of an operation on the elements of two tensors, or of a tensor and a number.
pub(crate) fn binary(
    trace: &mut Trace,
    name: &str,
    work: Work,
    (left, right): (&Value, &Value),
) -> Step<Value> {
    let tensor = match (left, right) {
        (Value::Tensor(left), Value::Tensor(right)) => {
            let shape = trace.broadcast(&left.shape, &right.shape)?;
            let distribution = joined(name, left, right);
            Tensor { dtype: wider(left.dtype, right.dtype), distribution, ..Tensor::float(shape) }
        }
        (Value::Tensor(tensor), number) | (number, Value::Tensor(tensor)) => {
            if !matches!(number, Value::Integer(_) | Value::Real(_) | Value::Boolean(_)) {
                return trace.refuse(format!("`{name}` of a tensor and {}", number.kind()));
            }
            let number_first = matches!(right, Value::Tensor(_));
            let is_real = matches!(number, Value::Real(_)) || name.starts_with("div");
            let dtype = if is_real { ElementType::Float } else { tensor.dtype };
            let distribution = shifted(name, tensor, number, number_first);
            Tensor { dtype, distribution, ..Tensor::float(tensor.shape.clone()) }
        }
        _ => return trace.refuse(format!("`{name}` of {} and {}", left.kind(), right.kind())),
    };
    trace.count_each(work, 1, &tensor.shape)?;
    Ok(Value::Tensor(tensor))
}

/// The distribution of a tensor and a number.
fn shifted(name: &str, tensor: &Tensor, number: &Value, number_first: bool) -> Distribution {
    let Some(number) = self::number(number) else { return Distribution::Unknown };
    match (name, number_first) {
        ("add", _) => tensor.distribution.scaled(1.0, number),
        ("sub", false) => tensor.distribution.scaled(1.0, -number),
        ("sub", true) => tensor.distribution.scaled(-1.0, number),
        ("mul", _) => tensor.distribution.scaled(number, 0.0),
        ("div", false) if number != 0.0 => tensor.distribution.scaled(1.0 / number, 0.0),
        _ => Distribution::Unknown,
    }
}

/// A tensor times one random number between 0 and 1 stays in its interval.
fn joined(name: &str, left: &Tensor, right: &Tensor) -> Distribution {
    let is_factor = |tensor: &Tensor| {
        tensor.shape.is_empty() && tensor.distribution == Distribution::Uniform(0.0, 1.0)
    };
    match name {
        "mul" if is_factor(right) => left.distribution.clone(),
        "mul" if is_factor(left) => right.distribution.clone(),
        _ => Distribution::Unknown,
    }
}

fn wider(left: ElementType, right: ElementType) -> ElementType {
    match (left, right) {
        (ElementType::Float, _) | (_, ElementType::Float) => ElementType::Float,
        (ElementType::Integer, _) | (_, ElementType::Integer) => ElementType::Integer,
        (ElementType::Boolean, ElementType::Boolean) => ElementType::Boolean,
    }
}

fn chosen(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let mut shape = arguments.first_tensor(trace)?.shape.clone();
    for (position, name) in [(1, "input"), (2, "other")] {
        if let Some(Value::Tensor(tensor)) = arguments.get(position, name) {
            shape = trace.broadcast(&shape, &tensor.shape)?;
        }
    }
    trace.count_each(Work::Compare, 1, &shape)?;
    Ok(Value::Tensor(Tensor { origin: Origin::Computed, ..Tensor::float(shape) }))
}
