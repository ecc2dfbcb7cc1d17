//! What an import asks about the functions of a Python text, answered from its syntax tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lightbench_primitives::dtype::Dtype;
use lightbench_project::written::NumberWritten;
use lightbench_python_source::{
    Constants, Expression, ExpressionKind, Function, Module, Parameter, ParameterKind, SourceError,
    Statement, StatementKind, Value,
};

use crate::error::ImportError;

/// Reads a text of a file, or of the field `place` in it.
///
/// # Errors
///
/// The text is not Python: the first line that the grammar does not permit.
pub(crate) fn read(file: &Path, place: &str, text: &str) -> Result<Module, ImportError> {
    Module::parse(text).map_err(|error| {
        let found = match error {
            SourceError::Syntax { line, found } => {
                format!("line {line}: syntax error at `{found}`")
            }
            SourceError::TooLarge { .. }
            | SourceError::Nul { .. }
            | SourceError::GaveUp { .. }
            | SourceError::Grammar(_) => error.to_string(),
        };
        ImportError::new(file, place, found, "a text in Python 3")
    })
}

/// The parameters without those that collect further arguments.
pub(crate) fn parameters(function: &Function) -> impl Iterator<Item = &Parameter> {
    let collects = |kind| matches!(kind, ParameterKind::Rest | ParameterKind::Keywords);
    function.parameters.iter().filter(move |parameter| !collects(parameter.kind))
}

/// Whether a function takes any further keyword arguments (`**kwargs`).
pub(crate) fn takes_any_keyword(function: &Function) -> bool {
    function.parameters.iter().any(|parameter| parameter.kind == ParameterKind::Keywords)
}

/// Whether a function changes the content of a parameter: `x[…] = …`, `x += …`, `x.copy_(…)`, `x.add_(…)`.
pub(crate) fn writes_into(function: &Function, parameter: &str) -> bool {
    function.all_statements().into_iter().any(|statement| {
        let is_assigned = if let StatementKind::Assign { targets, .. } = &statement.kind {
            targets.iter().any(|target| assigns_into(target, parameter))
        } else if let StatementKind::AugmentedAssign { target, .. } = &statement.kind {
            is_in(target, parameter)
        } else {
            false
        };
        is_assigned || statement.all_expressions().iter().any(|each| calls_on(each, parameter))
    })
}

/// Whether a target of an assignment is an element or a part of a variable.
fn assigns_into(target: &Expression, variable: &str) -> bool {
    if let ExpressionKind::Tuple(all) | ExpressionKind::List(all) = &target.kind {
        return all.iter().any(|each| assigns_into(each, variable));
    }
    matches!(target.kind, ExpressionKind::Subscript { .. }) && is_in(target, variable)
}

/// Whether an expression calls a method on a variable that changes it, which PyTorch names with `_` at the end.
fn calls_on(expression: &Expression, variable: &str) -> bool {
    let ExpressionKind::Call(call) = &expression.kind else { return false };
    let ExpressionKind::Attribute { value, name } = &call.function.kind else { return false };
    name.ends_with('_') && !name.ends_with("__") && is_in(value, variable)
}

/// Whether an expression is a variable, or an element or a part of it.
fn is_in(expression: &Expression, variable: &str) -> bool {
    let mut whole = expression;
    while let ExpressionKind::Subscript { value, .. } = &whole.kind {
        whole = value;
    }
    matches!(&whole.kind, ExpressionKind::Name(name) if name == variable)
}

/// How many values a function returns: the most of its `return` statements, and of those of functions whose results it
/// returns; `None` if it returns none.
pub(crate) fn returned_values(module: &Module, name: &str) -> Option<usize> {
    let functions: BTreeMap<&str, &Function> =
        module.functions().into_iter().map(|each| (each.name.as_str(), each)).collect();
    let mut pending = vec![name];
    let mut followed = BTreeSet::new();
    let mut most = None;
    while let Some(name) = pending.pop() {
        let Some(function) = functions.get(name).filter(|_| followed.insert(name)) else {
            continue;
        };
        for value in returns(function) {
            let called = called_name(value).filter(|called| functions.contains_key(called));
            match called {
                Some(called) => pending.push(called),
                None => most = most.max(values_of(value)),
            }
        }
    }
    most
}

/// The name of the function whose result an expression is.
fn called_name(value: &Expression) -> Option<&str> {
    let ExpressionKind::Call(call) = &value.kind else { return None };
    let ExpressionKind::Name(name) = &call.function.kind else { return None };
    Some(name)
}

fn values_of(returned: &Expression) -> Option<usize> {
    if let ExpressionKind::Tuple(all) = &returned.kind {
        return Some(all.len());
    }
    (returned.kind != ExpressionKind::None).then_some(1)
}

/// The expressions that a function returns, without those of functions inside it.
fn returns(function: &Function) -> Vec<&Expression> {
    let mut pending: Vec<&Statement> = function.body.iter().collect();
    let mut found = Vec::new();
    while let Some(statement) = pending.pop() {
        if let StatementKind::Return(value) = &statement.kind {
            found.extend(value);
        }
        if !matches!(statement.kind, StatementKind::Function(_) | StatementKind::Class(_)) {
            pending.extend(statement.inner());
        }
    }
    found
}

/// A default value as a number, if it is one.
pub(crate) fn number(default: &Expression) -> Option<NumberWritten> {
    match Constants::default().evaluate(default)? {
        Value::Boolean(value) => Some(NumberWritten::Boolean(value)),
        Value::Integer(value) => i64::try_from(value).ok().map(|_| NumberWritten::Integer(value)),
        Value::Float(value) => value.is_finite().then_some(NumberWritten::Real(value)),
        Value::Text(_) | Value::None | Value::Tuple(_) | Value::List(_) => None,
    }
}

/// The dtype that PyTorch calls by this name, without `torch.`.
pub(crate) fn torch_dtype(name: &str) -> Option<Dtype> {
    Some(match name {
        "float64" | "double" => Dtype::F64,
        "float32" | "float" => Dtype::F32,
        "float16" | "half" => Dtype::F16,
        "bfloat16" => Dtype::Bf16,
        "float8_e4m3fn" => Dtype::F8E4M3,
        "float8_e5m2" => Dtype::F8E5M2,
        "int64" | "long" => Dtype::I64,
        "int32" | "int" => Dtype::I32,
        "int16" | "short" => Dtype::I16,
        "int8" => Dtype::I8,
        "uint8" => Dtype::U8,
        "bool" => Dtype::Bool,
        _ => return None,
    })
}
