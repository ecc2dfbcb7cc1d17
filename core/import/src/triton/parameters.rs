//! What the parameters of a host function are: tensors, numbers, or values that keep their default.

use lightbench_python_source::{
    Constants, Expression, ExpressionKind, Function, Parameter, ParameterKind, Value as Literal,
};

use super::file::HostFile;
use super::kernel::launched;
use super::value::Value;

/// What a caller gives for a parameter.
pub(super) enum Given {
    /// The function does not use it.
    Unused,
    /// Its default.
    Default(Value),
    Tensor,
    Integer,
    /// With its default.
    Real(Option<f64>),
}

/// Attributes and methods of tensors that host functions use.
const OF_TENSORS: [&str; 22] = [
    "shape",
    "size",
    "stride",
    "dtype",
    "device",
    "numel",
    "dim",
    "ndim",
    "is_cuda",
    "is_contiguous",
    "contiguous",
    "view",
    "reshape",
    "element_size",
    "new_empty",
    "new_zeros",
    "data_ptr",
    "flatten",
    "nelement",
    "view_as",
    "new_ones",
    "new_full",
];

/// Names of numbers that are not integers.
const REALS: [&str; 12] = [
    "eps",
    "epsilon",
    "scale",
    "sm_scale",
    "alpha",
    "p",
    "dropout_p",
    "momentum",
    "lr",
    "factor",
    "softmax_scale",
    "slope",
];

/// Decides from the annotation, the default and the uses of a parameter.
pub(super) fn given(file: HostFile<'_>, function: &Function, parameter: &Parameter) -> Given {
    let collects = matches!(parameter.kind, ParameterKind::Rest | ParameterKind::Keywords);
    if collects || !is_used(function, &parameter.name) {
        return Given::Unused;
    }
    let default = parameter.default.as_ref().map(|default| Constants::default().evaluate(default));
    let annotation = parameter.annotation.as_deref().unwrap_or_default();
    let is_tensor = annotation.contains("Tensor") || is_tensor(file, function, &parameter.name);
    match default {
        Some(Some(Literal::Float(value))) => Given::Real(Some(value)),
        Some(Some(value)) => Given::Default(literal(value)),
        _ if is_tensor => Given::Tensor,
        _ if annotation == "float" => Given::Real(None),
        _ if annotation == "int" => Given::Integer,
        _ if annotation == "bool" => Given::Default(literal(Literal::Boolean(false))),
        _ if REALS.contains(&parameter.name.to_ascii_lowercase().as_str()) => Given::Real(None),
        _ => Given::Integer,
    }
}

/// A literal as a value of host code.
pub(super) fn literal(value: Literal) -> Value {
    use lightbench_cuda_source::torch_wrapper::{Condition, Real};
    match value {
        Literal::Integer(value) => Value::literal(value),
        Literal::Float(value) => Value::Real(Real::Literal(value)),
        Literal::Text(text) => Value::Text(text),
        Literal::Boolean(value) => Value::Condition(Condition::Always(value)),
        Literal::None => Value::None,
        Literal::Tuple(all) | Literal::List(all) => {
            Value::Tuple(all.into_iter().map(literal).collect())
        }
    }
}

fn expressions(function: &Function) -> Vec<&Expression> {
    let statements = function.all_statements().into_iter();
    statements.flat_map(|statement| statement.all_expressions()).collect()
}

fn is_name(expression: &Expression, name: &str) -> bool {
    matches!(&expression.kind, ExpressionKind::Name(own) if own == name)
}

fn is_used(function: &Function, name: &str) -> bool {
    expressions(function).iter().any(|each| is_name(each, name))
}

/// Whether a function uses a parameter as only a tensor can be used.
fn is_tensor(file: HostFile<'_>, function: &Function, name: &str) -> bool {
    expressions(function).iter().any(|expression| {
        if let ExpressionKind::Attribute { value, name: attribute } = &expression.kind {
            return is_name(value, name) && OF_TENSORS.contains(&attribute.as_str());
        }
        let ExpressionKind::Call(call) = &expression.kind else { return false };
        let called = call.function.dotted_name().unwrap_or_default();
        if file.module.full_name(&called).ends_with("_like") {
            return call.positional().next().is_some_and(|first| is_name(first, name));
        }
        let Some(kernel) = launched(file.kernels, call) else { return false };
        kernel.parameters.iter().enumerate().any(|(position, parameter)| {
            let given = call.argument(position, &parameter.name);
            parameter.access.is_pointer() && given.is_some_and(|given| is_name(given, name))
        })
    })
}
