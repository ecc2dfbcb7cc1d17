//! Operations that move elements, and queries of shapes.

use crate::arguments::{Arguments, dimension_of, size_of};
use crate::dimension::Dimension;
use crate::trace::{Step, Trace};
use crate::value::{ElementType, Origin, Tensor, Value};

/// Operations that return their operand.
const UNCHANGED: &[&str] = &[
    "clone",
    "detach",
    "contiguous",
    "flip",
    "roll",
    "requires_grad_",
    "cuda",
    "cpu",
    "eval",
    "train",
];

pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Value>> {
    if UNCHANGED.contains(&name) {
        let tensor = arguments.first_tensor(trace)?;
        return Ok(Some(Value::Tensor(tensor.reshaped(tensor.shape.clone()))));
    }
    let dtype = match name {
        "float" | "double" | "half" | "bfloat16" => Some(ElementType::Float),
        "long" | "int" => Some(ElementType::Integer),
        "bool" => Some(ElementType::Boolean),
        _ => None,
    };
    if let Some(dtype) = dtype {
        return typed(trace, arguments, dtype);
    }
    match name {
        "to" | "type" | "type_as" => return converted(trace, arguments),
        "size" => return size(trace, arguments).map(Some),
        "dim" | "ndimension" => {
            let rank = arguments.first_tensor(trace)?.shape.len();
            return Ok(Some(Value::Integer(Dimension::from(rank as i128))));
        }
        "numel" => {
            let shape = arguments.first_tensor(trace)?.shape.clone();
            return Ok(Some(Value::Integer(trace.product(&shape)?)));
        }
        "chunk" | "split" => return pieces(trace, name, arguments).map(Some),
        _ => {}
    }
    let shape = match (joined(trace, name, arguments)?, moved(trace, name, arguments)?) {
        (Some(shape), _) | (None, Some(shape)) => shape,
        (None, None) => return Ok(None),
    };
    let source = match arguments.positional.first() {
        Some(Value::Tensor(tensor)) => tensor.clone(),
        _ => Tensor::float(Vec::new()),
    };
    Ok(Some(Value::Tensor(source.reshaped(shape))))
}

/// The shape of operations whose arguments are lists, or that keep all elements.
fn joined(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Vec<Dimension>>> {
    Ok(Some(match name {
        "cat" | "concat" | "concatenate" => concatenated(trace, arguments)?,
        "stack" => stacked(trace, arguments)?,
        "view" | "reshape" => {
            let wanted = arguments.sizes_from(trace, 1, "shape")?;
            let tensor = arguments.first_tensor(trace)?.clone();
            viewed(trace, &tensor.shape, &wanted)?
        }
        "flatten" => {
            let shape = arguments.first_tensor(trace)?.shape.clone();
            let first = arguments.fixed(trace, 1, "start_dim")?.unwrap_or(0);
            let last = arguments.fixed(trace, 2, "end_dim")?.unwrap_or(-1);
            flattened(trace, &shape, first, last)?
        }
        "permute" => permuted(trace, arguments)?,
        "squeeze" => squeezed(trace, arguments)?,
        "expand" | "expand_as" | "broadcast_to" => expanded(trace, arguments)?,
        "repeat" => {
            let tensor = arguments.first_tensor(trace)?.clone();
            let counts = arguments.sizes_from(trace, 1, "repeats")?;
            repeated(trace, &tensor.shape, &counts)?
        }
        "gather" => arguments.tensor(trace, 2, "index")?.shape.clone(),
        _ => return Ok(None),
    }))
}

/// The shape of operations that change single dimensions.
fn moved(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Vec<Dimension>>> {
    const NAMES: [&str; 7] =
        ["transpose", "swapaxes", "t", "unsqueeze", "select", "narrow", "diag"];
    if !NAMES.contains(&name) {
        return Ok(None);
    }
    let mut shape = arguments.first_tensor(trace)?.shape.clone();
    match name {
        "t" => shape.reverse(),
        "unsqueeze" => {
            let at = dim(trace, arguments, (1, "dim"), shape.len() + 1)?;
            shape.insert(at, Dimension::from(1));
        }
        "select" => {
            let at = dim(trace, arguments, (1, "dim"), shape.len())?;
            shape.remove(at);
        }
        "narrow" => {
            let at = dim(trace, arguments, (1, "dim"), shape.len())?;
            let length = arguments.required(trace, 3, "length")?;
            trace.positive(&length, "the length of `narrow`")?;
            shape[at] = length;
        }
        "diag" => match shape.as_slice() {
            [only] => shape = vec![only.clone(), only.clone()],
            _ => return trace.refuse("`diag` of a tensor that is no vector"),
        },
        _ => {
            let first = dim(trace, arguments, (1, "dim0"), shape.len())?;
            let second = dim(trace, arguments, (2, "dim1"), shape.len())?;
            shape.swap(first, second);
        }
    }
    Ok(Some(shape))
}

fn dim(trace: &Trace, arguments: &Arguments, at: (usize, &str), rank: usize) -> Step<usize> {
    let size = arguments.required(trace, at.0, at.1)?;
    dimension_of(trace, trace.fixed(&size)?, rank)
}

fn typed(trace: &Trace, arguments: &Arguments, dtype: ElementType) -> Step<Option<Value>> {
    let tensor = arguments.first_tensor(trace)?;
    Ok(Some(Value::Tensor(Tensor { dtype, origin: Origin::Computed, ..tensor.clone() })))
}

fn converted(trace: &Trace, arguments: &Arguments) -> Step<Option<Value>> {
    let wanted = arguments.get(1, "dtype");
    let dtype = match wanted {
        Some(Value::Library(name)) => element_type(name),
        Some(Value::Tensor(other)) => Some(other.dtype),
        Some(_) | None => None,
    };
    let tensor = arguments.first_tensor(trace)?;
    typed(trace, arguments, dtype.unwrap_or(tensor.dtype))
}

/// The element type that a name of PyTorch denotes.
pub(crate) fn element_type(name: &str) -> Option<ElementType> {
    match name.rsplit('.').next()? {
        "float" | "float32" | "float64" | "double" | "float16" | "half" | "bfloat16" => {
            Some(ElementType::Float)
        }
        "long" | "int64" | "int" | "int32" | "int16" | "int8" | "uint8" => {
            Some(ElementType::Integer)
        }
        "bool" => Some(ElementType::Boolean),
        _ => None,
    }
}

fn size(trace: &Trace, arguments: &Arguments) -> Step<Value> {
    let shape = &arguments.first_tensor(trace)?.shape;
    match arguments.fixed(trace, 1, "dim")? {
        None => Ok(Value::Sequence(shape.iter().cloned().map(Value::Integer).collect())),
        Some(dim) => {
            let dim = dimension_of(trace, dim, shape.len())?;
            Ok(Value::Integer(shape[dim].clone()))
        }
    }
}

fn pieces(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Value> {
    let tensor = arguments.first_tensor(trace)?.clone();
    let at = arguments.fixed(trace, 2, "dim")?.unwrap_or(0);
    let at = dimension_of(trace, at, tensor.shape.len())?;
    let Some(count) = arguments.fixed(trace, 1, "chunks")? else {
        return trace.refuse(format!("`{name}` without a number"));
    };
    let (count, piece) = match name {
        "chunk" => (count, trace.divided(&tensor.shape[at], count, "`chunk`")?),
        _ => {
            let whole = trace.fixed(&tensor.shape[at])?;
            if count < 1 || whole % count != 0 {
                return trace.refuse(format!("`split` of {whole} elements into pieces of {count}"));
            }
            (whole / count, Dimension::from(count))
        }
    };
    if !(1..=64).contains(&count) {
        return trace.refuse(format!("`{name}` into {count} pieces"));
    }
    let mut shape = tensor.shape.clone();
    shape[at] = piece;
    let pieces = (0..count).map(|_| Value::Tensor(tensor.reshaped(shape.clone())));
    Ok(Value::Sequence(pieces.collect()))
}

fn tensors(trace: &Trace, arguments: &Arguments, name: &str) -> Step<Vec<Tensor>> {
    let Some(Value::Sequence(all)) = arguments.get(0, "tensors") else {
        return trace.refuse(format!("`{name}` without a list of tensors"));
    };
    let mut found = Vec::new();
    for each in all {
        let Value::Tensor(tensor) = each else {
            return trace.refuse(format!("`{name}` of {}", each.kind()));
        };
        found.push(tensor.clone());
    }
    match found.is_empty() {
        true => trace.refuse(format!("`{name}` of no tensors")),
        false => Ok(found),
    }
}

fn concatenated(trace: &mut Trace, arguments: &Arguments) -> Step<Vec<Dimension>> {
    let all = tensors(trace, arguments, "cat")?;
    let mut shape = all[0].shape.clone();
    let at = arguments.fixed(trace, 1, "dim")?.unwrap_or(0);
    let at = dimension_of(trace, at, shape.len())?;
    for tensor in &all[1..] {
        if tensor.shape.len() != shape.len() {
            return trace.refuse("`cat` of tensors with different numbers of dimensions");
        }
        for (place, size) in tensor.shape.iter().enumerate() {
            if place == at {
                shape[at] = trace.plus(&shape[at], size)?;
            } else {
                trace.same(&shape[place], size, "sizes of `cat`")?;
            }
        }
    }
    Ok(shape)
}

fn stacked(trace: &mut Trace, arguments: &Arguments) -> Step<Vec<Dimension>> {
    let all = tensors(trace, arguments, "stack")?;
    let mut shape = all[0].shape.clone();
    let at = arguments.fixed(trace, 1, "dim")?.unwrap_or(0);
    let at = dimension_of(trace, at, shape.len() + 1)?;
    shape.insert(at, Dimension::from(all.len() as i128));
    Ok(shape)
}

/// A shape in which -1 stands for the rest.
fn viewed(trace: &mut Trace, shape: &[Dimension], wanted: &[Dimension]) -> Step<Vec<Dimension>> {
    let total = trace.product(shape)?;
    let rest = Dimension::from(-1);
    let known: Vec<_> = wanted.iter().filter(|size| **size != rest).cloned().collect();
    let product = trace.product(&known)?;
    if known.len() == wanted.len() {
        trace.same(&total, &product, "the numbers of elements before and after `view`")?;
        return Ok(wanted.to_vec());
    }
    let inferred = match total.divide_exactly(&product) {
        Some(quotient) => quotient,
        None => {
            let by = trace.fixed(&product)?;
            trace.divided(&total, by, "`view`")?
        }
    };
    Ok(wanted
        .iter()
        .map(|size| if *size == rest { inferred.clone() } else { size.clone() })
        .collect())
}

/// Dimensions `first` to `last` as one.
pub(crate) fn flattened(
    trace: &mut Trace,
    shape: &[Dimension],
    first: i128,
    last: i128,
) -> Step<Vec<Dimension>> {
    if shape.is_empty() {
        return Ok(vec![Dimension::from(1)]);
    }
    let first = dimension_of(trace, first, shape.len())?;
    let last = dimension_of(trace, last, shape.len())?;
    if first > last {
        return trace.refuse("`flatten` from a later to an earlier dimension");
    }
    let joined = trace.product(&shape[first..=last])?;
    let (before, after) = (&shape[..first], &shape[last + 1..]);
    Ok(before.iter().chain([&joined]).chain(after).cloned().collect())
}

fn permuted(trace: &mut Trace, arguments: &Arguments) -> Step<Vec<Dimension>> {
    let shape = arguments.first_tensor(trace)?.shape.clone();
    let order = arguments.sizes_from(trace, 1, "dims")?;
    let mut places = Vec::new();
    for place in &order {
        let place = dimension_of(trace, trace.fixed(place)?, shape.len())?;
        if places.contains(&place) {
            return trace.refuse("`permute` with a dimension twice");
        }
        places.push(place);
    }
    match places.len() == shape.len() {
        true => Ok(places.into_iter().map(|place| shape[place].clone()).collect()),
        false => trace.refuse("`permute` without all dimensions"),
    }
}

fn squeezed(trace: &mut Trace, arguments: &Arguments) -> Step<Vec<Dimension>> {
    let mut shape = arguments.first_tensor(trace)?.shape.clone();
    let one = Dimension::from(1);
    let Some(at) = arguments.fixed(trace, 1, "dim")? else {
        for size in shape.iter().filter(|size| size.constant().is_none()) {
            trace.conditions.insert(crate::trace::Condition::Positive(trace.minus(size, &one)?));
        }
        shape.retain(|size| *size != one);
        return Ok(shape);
    };
    let at = dimension_of(trace, at, shape.len())?;
    if shape[at] == one {
        shape.remove(at);
    } else if shape[at].constant().is_none() {
        let more = trace.minus(&shape[at], &one)?;
        trace.positive(&more, "a dimension of `squeeze`")?;
    }
    Ok(shape)
}

fn expanded(trace: &mut Trace, arguments: &Arguments) -> Step<Vec<Dimension>> {
    let shape = arguments.first_tensor(trace)?.shape.clone();
    let wanted = match arguments.get(1, "size") {
        Some(Value::Tensor(other)) => other.shape.clone(),
        _ => arguments.sizes_from(trace, 1, "size")?,
    };
    if wanted.len() < shape.len() {
        return trace.refuse("`expand` to fewer dimensions");
    }
    let (kept, added) = (Dimension::from(-1), wanted.len() - shape.len());
    let resolved = wanted.iter().enumerate().map(|(place, size)| match place.checked_sub(added) {
        Some(old) if *size == kept => shape[old].clone(),
        _ => size.clone(),
    });
    let resolved: Vec<_> = resolved.collect();
    trace.broadcast(&shape, &resolved)
}

fn repeated(trace: &mut Trace, shape: &[Dimension], counts: &[Dimension]) -> Step<Vec<Dimension>> {
    let Some(added) = counts.len().checked_sub(shape.len()) else {
        return trace.refuse("`repeat` with fewer counts than dimensions");
    };
    let mut repeated = Vec::new();
    for (place, count) in counts.iter().enumerate() {
        let size =
            place.checked_sub(added).map_or_else(|| Dimension::from(1), |at| shape[at].clone());
        repeated.push(trace.times(&size, count)?);
    }
    Ok(repeated)
}

/// `tensor[indices]`.
pub(crate) fn subscript(trace: &mut Trace, tensor: &Tensor, indices: &[Value]) -> Step<Value> {
    let is_new = |index: &Value| matches!(index, Value::None);
    let used = indices.iter().filter(|index| !is_new(index) && !matches!(index, Value::Ellipsis));
    let Some(skipped) = tensor.shape.len().checked_sub(used.count()) else {
        return trace.refuse("more indices than dimensions");
    };
    let mut sizes = tensor.shape.iter();
    let mut shape = Vec::new();
    for index in indices {
        if let Value::None = index {
            shape.push(Dimension::from(1));
        } else if let Value::Ellipsis = index {
            shape.extend(sizes.by_ref().take(skipped).cloned());
        } else if let Value::Integer(_) = index {
            sizes.next();
        } else if let Value::Slice { first, last, step } = index {
            let Some(size) = sizes.next() else { return trace.refuse("too many indices") };
            shape.push(sliced(trace, size, [first, last, step])?);
        } else {
            return trace.refuse(format!("an index that is {}", index.kind()));
        }
    }
    shape.extend(sizes.cloned());
    Ok(Value::Tensor(tensor.reshaped(shape)))
}

fn sliced(trace: &mut Trace, size: &Dimension, parts: [&Option<Dimension>; 3]) -> Step<Dimension> {
    let [first, last, step] = parts;
    let from_start = |trace: &Trace, place: &Dimension| match place.constant() {
        Some(value) if value < 0 => trace.plus(size, place),
        Some(_) | None => Ok(place.clone()),
    };
    let first = match first {
        Some(first) => from_start(trace, first)?,
        None => Dimension::from(0),
    };
    let last = match last {
        Some(last) => from_start(trace, last)?,
        None => size.clone(),
    };
    // Python clips a slice; here it must lie inside.
    let beyond = trace.minus(size, &last)?;
    let inside = trace.plus(&beyond, &Dimension::from(1))?;
    trace.positive(&inside, "a slice beyond the end; the length that remains")?;
    let length = trace.minus(&last, &first)?;
    trace.positive(&length, "the length of a slice")?;
    match step {
        None => Ok(length),
        Some(step) => {
            let step = trace.fixed(step)?;
            let rounded = trace.plus(&length, &Dimension::from(step - 1))?;
            trace.size(rounded.floor_divide(step))
        }
    }
}

/// The elements of a tuple or list with this index.
pub(crate) fn element(trace: &Trace, all: &[Value], index: &Value) -> Step<Value> {
    let at = trace.fixed(&size_of(trace, index, "an index")?)?;
    let at = dimension_of(trace, at, all.len())?;
    Ok(all[at].clone())
}

/// The part of a tuple or list.
pub(crate) fn part(trace: &Trace, all: &[Value], parts: [&Option<Dimension>; 3]) -> Step<Value> {
    let [first, last, step] = parts;
    let length = all.len() as i128;
    let place = |part: &Option<Dimension>, default: i128| -> Step<usize> {
        let value = part.as_ref().map(|part| trace.fixed(part)).transpose()?.unwrap_or(default);
        let value = if value < 0 { value + length } else { value };
        Ok(value.clamp(0, length) as usize)
    };
    if step.is_some() {
        return trace.refuse("a slice with a step");
    }
    let (first, last) = (place(first, 0)?, place(last, length)?);
    Ok(Value::Sequence(all.get(first..last).unwrap_or_default().to_vec()))
}
