//! Functions that make tensors.

use crate::arguments::{Arguments, size_of};
use crate::dimension::Dimension;
use crate::operations::shapes::element_type;
use crate::trace::{Step, Trace};
use crate::value::{Distribution, ElementType, Origin, Tensor, Value};

pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Value>> {
    let (distribution, origin) = match name {
        "rand" | "rand_like" => (Distribution::Uniform(0.0, 1.0), Origin::Random),
        "randn" | "randn_like" => (Distribution::Normal(0.0, 1.0), Origin::Random),
        "ones" | "ones_like" => (Distribution::Constant(1.0), Origin::Computed),
        "zeros" | "zeros_like" => (Distribution::Constant(0.0), Origin::Computed),
        "empty" | "empty_like" => (Distribution::Unknown, Origin::Random),
        "full" | "full_like" => (filled(arguments), Origin::Computed),
        "randint" => return integers(trace, arguments).map(Some),
        "randperm" | "normal" | "bernoulli" => (Distribution::Unknown, Origin::Random),
        "arange" => return range(trace, arguments).map(Some),
        "tensor" | "as_tensor" => return literal(trace, arguments).map(Some),
        "eye" => {
            let rows = arguments.required(trace, 0, "n")?;
            let columns = arguments.size(trace, 1, "m")?.unwrap_or_else(|| rows.clone());
            return Ok(Some(Value::Tensor(Tensor::float(vec![rows, columns]))));
        }
        _ => return Ok(None),
    };
    let shape = match (name.ends_with("_like"), name) {
        (true, _) => arguments.first_tensor(trace)?.shape.clone(),
        (false, "full") => match arguments.get(0, "size") {
            Some(Value::Sequence(all)) => {
                all.iter().map(|each| size_of(trace, each, "size")).collect::<Step<Vec<_>>>()?
            }
            _ => return trace.refuse("`full` without a shape"),
        },
        (false, _) => arguments.sizes_from(trace, 0, "size")?,
    };
    let dtype = dtype(arguments).unwrap_or(ElementType::Float);
    Ok(Some(Value::Tensor(Tensor { dtype, distribution, origin, ..Tensor::float(shape) })))
}

fn dtype(arguments: &Arguments) -> Option<ElementType> {
    match arguments.named.get("dtype") {
        Some(Value::Library(name)) => element_type(name),
        _ => None,
    }
}

fn filled(arguments: &Arguments) -> Distribution {
    match arguments.get(1, "fill_value") {
        Some(Value::Real(Some(value))) => Distribution::Constant(*value),
        Some(Value::Integer(size)) => size
            .constant()
            .map_or(Distribution::Unknown, |value| Distribution::Constant(value as f64)),
        _ => Distribution::Unknown,
    }
}

/// `randint(high, size)` or `randint(low, high, size)`; `high` is not drawn.
fn integers(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let has_low = matches!(arguments.positional.get(1), Some(Value::Integer(_)))
        || arguments.named.contains_key("low");
    let place = usize::from(has_low);
    let low = match has_low {
        true => arguments.required(trace, 0, "low")?,
        false => Dimension::from(0),
    };
    let high = arguments.required(trace, place, "high")?;
    let last = trace.minus(&high, &Dimension::from(1))?;
    let shape = match arguments.get(place + 1, "size") {
        Some(Value::Sequence(all)) => {
            all.iter().map(|each| size_of(trace, each, "size")).collect::<Step<Vec<_>>>()?
        }
        _ => return trace.refuse("`randint` without a shape"),
    };
    let dtype = dtype(arguments).unwrap_or(ElementType::Integer);
    let distribution = Distribution::Integers(low, last);
    Ok(Value::Tensor(Tensor {
        dtype,
        distribution,
        origin: Origin::Random,
        ..Tensor::float(shape)
    }))
}

fn range(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let (first, last) = match arguments.positional.as_slice() {
        [_] => (Dimension::from(0), arguments.required(trace, 0, "end")?),
        [_, _] => (arguments.required(trace, 0, "start")?, arguments.required(trace, 1, "end")?),
        _ => return trace.refuse("`arange` with a step"),
    };
    let length = trace.minus(&last, &first)?;
    let dtype = dtype(arguments).unwrap_or(ElementType::Integer);
    Ok(Value::Tensor(Tensor { dtype, ..Tensor::float(vec![length]) }))
}

/// A tensor of numbers that are written out.
fn literal(trace: &Trace, arguments: &Arguments) -> Step<Value> {
    let mut shape = Vec::new();
    let mut dtype = ElementType::Float;
    let mut here = arguments.get(0, "data");
    loop {
        match here {
            Some(Value::Sequence(all)) => {
                shape.push(Dimension::from(all.len() as i128));
                here = all.first();
            }
            Some(Value::Integer(_)) => {
                dtype = ElementType::Integer;
                break;
            }
            Some(Value::Boolean(_)) => {
                dtype = ElementType::Boolean;
                break;
            }
            Some(Value::Real(_)) => break,
            Some(other) => return trace.refuse(format!("a tensor of {}", other.kind())),
            None => break,
        }
    }
    let dtype = self::dtype(arguments).unwrap_or(dtype);
    Ok(Value::Tensor(Tensor { dtype, ..Tensor::float(shape) }))
}
