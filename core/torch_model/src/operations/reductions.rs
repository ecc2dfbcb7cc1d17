//! Operations along dimensions: sums, largest elements, norms, softmax and prefix sums.

use crate::arguments::{Arguments, Flag, dimension_of, size_of};
use crate::dimension::Dimension;
use crate::trace::{Step, Trace, Work};
use crate::value::{Distribution, ElementType, Origin, Tensor, Value};

/// Reductions: the name, the work for each element, and whether the result is a sum.
const REDUCTIONS: &[(&str, Work, i128, Summed)] = &[
    ("sum", Work::Arithmetic, 1, Summed::Yes),
    ("mean", Work::Arithmetic, 1, Summed::Yes),
    ("prod", Work::Arithmetic, 1, Summed::Yes),
    ("amax", Work::Compare, 1, Summed::No),
    ("amin", Work::Compare, 1, Summed::No),
    ("logsumexp", Work::Special, 1, Summed::Yes),
    ("var", Work::Arithmetic, 3, Summed::Yes),
    ("std", Work::Arithmetic, 3, Summed::Yes),
    ("any", Work::Compare, 1, Summed::No),
    ("all", Work::Compare, 1, Summed::No),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Summed {
    Yes,
    No,
}

pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Value>> {
    if let Some((_, work, each, summed)) = REDUCTIONS.iter().find(|(known, ..)| *known == name) {
        let tensor = arguments.first_tensor(trace)?.clone();
        let dims = dims(trace, arguments, 1, &tensor)?;
        let keep = arguments.flag(trace, (2, "keepdim"), Flag::Clear)?;
        return reduced(trace, &tensor, &dims, keep, (*work, *each), *summed).map(Some);
    }
    match name {
        "max" | "min" => extreme(trace, arguments).map(Some),
        "argmax" | "argmin" => index_of_extreme(trace, arguments).map(Some),
        "norm" | "vector_norm" => {
            let tensor = arguments.first_tensor(trace)?.clone();
            let dims = dims(trace, arguments, 2, &tensor)?;
            let keep = arguments.flag(trace, (3, "keepdim"), Flag::Clear)?;
            reduced(trace, &tensor, &dims, keep, (Work::Arithmetic, 2), Summed::Yes).map(Some)
        }
        "softmax" | "log_softmax" | "softmin" | "normalize" => {
            let tensor = arguments.first_tensor(trace)?.clone();
            let position = if name == "normalize" { 2 } else { 1 };
            let dim = match arguments.fixed(trace, position, "dim")? {
                Some(dim) => dimension_of(trace, dim, tensor.shape.len())?,
                None if name == "normalize" => dimension_of(trace, 1, tensor.shape.len())?,
                None => return trace.refuse(format!("`{name}` without a dimension")),
            };
            softmax(trace, name, &tensor, dim).map(Some)
        }
        "cumsum" | "cumprod" | "logcumsumexp" => {
            let tensor = arguments.first_tensor(trace)?.clone();
            let Some(dim) = arguments.fixed(trace, 1, "dim")? else {
                return trace.refuse(format!("`{name}` without a dimension"));
            };
            let dim = dimension_of(trace, dim, tensor.shape.len())?;
            trace.sum_of(&tensor.shape[dim]);
            trace.count_each(Work::Arithmetic, 1, &tensor.shape)?;
            Ok(Some(Value::Tensor(Tensor::float(tensor.shape))))
        }
        _ => Ok(None),
    }
}

/// The dimensions of a reduction: those that are passed, or all.
fn dims(trace: &Trace, arguments: &Arguments, at: usize, tensor: &Tensor) -> Step<Vec<usize>> {
    let value = arguments.get(at, "dim").or_else(|| arguments.get(at, "axis"));
    let rank = tensor.shape.len();
    let one =
        |value: &Value| dimension_of(trace, trace.fixed(&size_of(trace, value, "dim")?)?, rank);
    match value {
        None => Ok((0..rank).collect()),
        Some(Value::Sequence(all)) => all.iter().map(one).collect(),
        Some(only) => Ok(vec![one(only)?]),
    }
}

fn remaining(shape: &[Dimension], dims: &[usize], keep: Flag) -> Vec<Dimension> {
    let all = shape.iter().enumerate();
    all.filter_map(|(dim, size)| match (dims.contains(&dim), keep) {
        (false, _) => Some(size.clone()),
        (true, Flag::Set) => Some(Dimension::from(1)),
        (true, Flag::Clear) => None,
    })
    .collect()
}

fn reduced(
    trace: &mut Trace,
    tensor: &Tensor,
    dims: &[usize],
    keep: Flag,
    (work, each): (Work, i128),
    summed: Summed,
) -> Step<Value> {
    let lengths: Vec<_> = dims.iter().map(|dim| tensor.shape[*dim].clone()).collect();
    let length = trace.product(&lengths)?;
    if summed == Summed::Yes {
        trace.sum_of(&length);
    }
    trace.count_each(work, each, &tensor.shape)?;
    let dtype = match summed {
        Summed::Yes => ElementType::Float,
        Summed::No => tensor.dtype,
    };
    Ok(Value::Tensor(Tensor { dtype, ..Tensor::float(remaining(&tensor.shape, dims, keep)) }))
}

/// `max(x)`, `max(x, dim)` with indices, `max(x, other)`.
fn extreme(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let tensor = arguments.first_tensor(trace)?.clone();
    if let Some(Value::Tensor(other)) = arguments.get(1, "other") {
        let shape = trace.broadcast(&tensor.shape, &other.shape)?;
        trace.count_each(Work::Compare, 1, &shape)?;
        return Ok(Value::Tensor(Tensor::float(shape)));
    }
    let dims = dims(trace, arguments, 1, &tensor)?;
    let keep = arguments.flag(trace, (2, "keepdim"), Flag::Clear)?;
    let values = reduced(trace, &tensor, &dims, keep, (Work::Compare, 1), Summed::No)?;
    if arguments.get(1, "dim").is_none() {
        return Ok(values);
    }
    Ok(Value::Sequence(vec![values, Value::Tensor(indices(&tensor, dims.first().copied(), keep))]))
}

fn indices(tensor: &Tensor, dim: Option<usize>, keep: Flag) -> Tensor {
    let dims: Vec<_> = dim.map_or_else(|| (0..tensor.shape.len()).collect(), |dim| vec![dim]);
    let origin = match (&tensor.origin, dim) {
        (Origin::Input(input), Some(dim)) => Origin::IndexOf { input: input.clone(), dim },
        _ => Origin::Computed,
    };
    Tensor {
        dtype: ElementType::Integer,
        origin,
        ..Tensor::float(remaining(&tensor.shape, &dims, keep))
    }
}

fn index_of_extreme(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let tensor = arguments.first_tensor(trace)?.clone();
    let dim = match arguments.fixed(trace, 1, "dim")? {
        Some(dim) => Some(dimension_of(trace, dim, tensor.shape.len())?),
        None => None,
    };
    let keep = arguments.flag(trace, (2, "keepdim"), Flag::Clear)?;
    trace.count_each(Work::Compare, 1, &tensor.shape)?;
    Ok(Value::Tensor(indices(&tensor, dim, keep)))
}

/// The result of a softmax along a dimension.
pub(crate) fn softmax(trace: &mut Trace, name: &str, tensor: &Tensor, dim: usize) -> Step<Value> {
    trace.sum_of(&tensor.shape[dim]);
    trace.count_each(Work::Special, 1, &tensor.shape)?;
    trace.count_each(Work::Arithmetic, 3, &tensor.shape)?;
    let is_last = dim + 1 == tensor.shape.len();
    let distribution = match (name, is_last) {
        ("softmax", true) => Distribution::Probability,
        _ => Distribution::Unknown,
    };
    Ok(Value::Tensor(Tensor { distribution, ..Tensor::float(tensor.shape.clone()) }))
}
