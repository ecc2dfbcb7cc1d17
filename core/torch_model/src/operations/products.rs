//! Matrix products, `einsum` and attention.

use std::collections::BTreeMap;

use crate::arguments::Arguments;
use crate::dimension::Dimension;
use crate::trace::{Step, Trace, Work};
use crate::value::{Tensor, Value};

pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Value>> {
    match name {
        "matmul" | "mm" | "bmm" | "mv" | "dot" | "inner_product" => {
            let left = arguments.first_tensor(trace)?.clone();
            let other = arguments.get(1, "other").or_else(|| arguments.get(1, "mat2"));
            let Some(Value::Tensor(right)) = other else {
                return trace.refuse(format!("`{name}` with one tensor; expected two"));
            };
            matmul(trace, &left, right).map(Some)
        }
        "linear" => {
            let input = arguments.first_tensor(trace)?.clone();
            let weight = arguments.tensor(trace, 1, "weight")?.clone();
            let [rows, columns] = weight.shape.as_slice() else {
                return trace.refuse("the weight of `linear` has no two dimensions");
            };
            let bias = arguments.get(2, "bias").is_some();
            linear(trace, &input, (columns, rows), if bias { Bias::Added } else { Bias::None })
                .map(Some)
        }
        "einsum" => einsum(trace, arguments).map(Some),
        "scaled_dot_product_attention" => attention(trace, arguments).map(Some),
        "addmm" | "baddbmm" => {
            let added = arguments.first_tensor(trace)?.clone();
            let left = arguments.tensor(trace, 1, "mat1")?.clone();
            let right = arguments.tensor(trace, 2, "mat2")?.clone();
            let product = matmul(trace, &left, &right)?;
            let Value::Tensor(product) = product else { return Ok(None) };
            let shape = trace.broadcast(&product.shape, &added.shape)?;
            trace.count_each(Work::Arithmetic, 1, &shape)?;
            Ok(Some(Value::Tensor(Tensor::float(shape))))
        }
        _ => Ok(None),
    }
}

/// Whether a layer adds a bias.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bias {
    Added,
    None,
}

/// The last dimension of `input`, which is `from`, becomes `to`.
pub(crate) fn linear(
    trace: &mut Trace,
    input: &Tensor,
    (from, to): (&Dimension, &Dimension),
    bias: Bias,
) -> Step<Value> {
    let Some((last, others)) = input.shape.split_last() else {
        return trace.refuse("a linear layer of a single number");
    };
    trace.same(last, from, "the features of a linear layer")?;
    let shape: Vec<_> = others.iter().chain([to]).cloned().collect();
    contraction(trace, &shape, from)?;
    if bias == Bias::Added {
        trace.count_each(Work::Arithmetic, 1, &shape)?;
    }
    Ok(Value::Tensor(Tensor::float(shape)))
}

/// Counts products whose results have a shape and each sum `length` products.
pub(crate) fn contraction(trace: &mut Trace, shape: &[Dimension], length: &Dimension) -> Step<()> {
    trace.sum_of(length);
    let elements = trace.product(shape)?;
    let count = trace.times(&elements, length)?;
    let count = trace.times(&count, &Dimension::from(2))?;
    trace.count(Work::Contraction, &count)
}

/// `left @ right`, with one or more dimensions each.
pub(crate) fn matmul(trace: &mut Trace, left: &Tensor, right: &Tensor) -> Step<Value> {
    let (first, second) = (&left.shape, &right.shape);
    let (mut shape, inner, other) = match (first.as_slice(), second.as_slice()) {
        ([], _) | (_, []) => return trace.refuse("a matrix product of a single number"),
        ([inner], [other]) => (Vec::new(), inner, other),
        ([rows @ .., inner], [other]) => (rows.to_vec(), inner, other),
        ([inner], [batch @ .., other, columns]) => {
            (batch.iter().chain([columns]).cloned().collect(), inner, other)
        }
        ([batch @ .., rows, inner], [batches @ .., other, columns]) => {
            let mut shape = trace.broadcast(batch, batches)?;
            shape.extend([rows.clone(), columns.clone()]);
            (shape, inner, other)
        }
    };
    trace.same(inner, other, "the inner dimensions of a matrix product")?;
    contraction(trace, &shape, inner)?;
    Ok(Value::Tensor(Tensor::float(std::mem::take(&mut shape))))
}

fn einsum(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let Some(equation) = arguments.text(0, "equation") else {
        return trace.refuse("`einsum` without an equation");
    };
    let equation: String = equation.chars().filter(|letter| !letter.is_whitespace()).collect();
    let Some((inputs, output)) = equation.split_once("->") else {
        return trace.refuse("`einsum` without `->`");
    };
    let mut sizes: BTreeMap<char, Dimension> = BTreeMap::new();
    for (position, letters) in inputs.split(',').enumerate() {
        let tensor = arguments.tensor(trace, position + 1, "operand")?;
        if letters.chars().count() != tensor.shape.len() {
            return trace
                .refuse(format!("`{letters}` for a tensor of {} dimensions", tensor.shape.len()));
        }
        for (letter, size) in letters.chars().zip(&tensor.shape) {
            if let Some(known) = sizes.get(&letter) {
                trace.same(known, size, "sizes of one letter of `einsum`")?;
            }
            sizes.insert(letter, size.clone());
        }
    }
    let mut shape = Vec::new();
    for letter in output.chars() {
        match sizes.get(&letter) {
            Some(size) => shape.push(size.clone()),
            None => return trace.refuse(format!("`{letter}` is in no operand of `einsum`")),
        }
    }
    let summed = sizes.iter().filter(|(letter, _)| !output.contains(**letter));
    let summed: Vec<_> = summed.map(|(_, size)| size.clone()).collect();
    let length = trace.product(&summed)?;
    contraction(trace, &shape, &length)?;
    Ok(Value::Tensor(Tensor::float(shape)))
}

fn attention(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let query = arguments.tensor(trace, 0, "query")?.clone();
    let key = arguments.tensor(trace, 1, "key")?.clone();
    let value = arguments.tensor(trace, 2, "value")?.clone();
    if let Some(Value::Real(Some(probability))) = arguments.get(4, "dropout_p")
        && *probability > 0.0
    {
        return trace.refuse("attention with dropout; expected a function of the inputs");
    }
    let [batch @ .., rows, width] = query.shape.as_slice() else {
        return trace.refuse("attention with fewer than two dimensions");
    };
    let ([.., keys, key_width], [.., values, columns]) =
        (key.shape.as_slice(), value.shape.as_slice())
    else {
        return trace.refuse("attention with fewer than two dimensions");
    };
    trace.same(width, key_width, "the widths of query and key")?;
    trace.same(keys, values, "the lengths of key and value")?;
    let scores: Vec<_> = batch.iter().chain([rows, keys]).cloned().collect();
    contraction(trace, &scores, width)?;
    trace.count_each(Work::Special, 1, &scores)?;
    trace.count_each(Work::Arithmetic, 3, &scores)?;
    let shape: Vec<_> = batch.iter().chain([rows, columns]).cloned().collect();
    contraction(trace, &shape, keys)?;
    Ok(Value::Tensor(Tensor::float(shape)))
}
