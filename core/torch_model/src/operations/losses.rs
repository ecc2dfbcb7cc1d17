//! Loss functions.

use crate::arguments::Arguments;
use crate::dimension::Dimension;
use crate::trace::{Step, Trace, Work};
use crate::value::{Tensor, Value};

/// Losses of two tensors of one shape: the name, and the work for each element.
const ELEMENTWISE: &[(&str, Work, i128)] = &[
    ("mse_loss", Work::Arithmetic, 3),
    ("l1_loss", Work::Arithmetic, 3),
    ("smooth_l1_loss", Work::Arithmetic, 5),
    ("huber_loss", Work::Arithmetic, 5),
    ("binary_cross_entropy", Work::Special, 2),
    ("binary_cross_entropy_with_logits", Work::Special, 2),
    ("kl_div", Work::Special, 1),
    ("hinge_embedding_loss", Work::Arithmetic, 3),
];

pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Value>> {
    if let Some((_, work, each)) = ELEMENTWISE.iter().find(|(known, ..)| *known == name) {
        let (first, second) =
            (arguments.first_tensor(trace)?, arguments.tensor(trace, 1, "target")?);
        let shape = trace.broadcast(&first.shape, &second.shape)?;
        trace.count_each(*work, *each, &shape)?;
        return reduced(trace, arguments, shape).map(Some);
    }
    match name {
        "cross_entropy" | "nll_loss" => cross_entropy(trace, arguments).map(Some),
        "triplet_margin_loss" => {
            let anchor = arguments.first_tensor(trace)?.clone();
            let positive = arguments.tensor(trace, 1, "positive")?.clone();
            let negative = arguments.tensor(trace, 2, "negative")?.clone();
            let shape = trace.broadcast(&anchor.shape, &positive.shape)?;
            let shape = trace.broadcast(&shape, &negative.shape)?;
            let Some((width, rows)) = shape.split_last() else {
                return trace.refuse("a triplet loss of single numbers");
            };
            trace.sum_of(width);
            trace.count_each(Work::Arithmetic, 6, &shape)?;
            reduced(trace, arguments, rows.to_vec()).map(Some)
        }
        "cosine_similarity" => {
            let (first, second) =
                (arguments.first_tensor(trace)?, arguments.tensor(trace, 1, "x2")?);
            let mut shape = trace.broadcast(&first.shape, &second.shape)?;
            let at = arguments.fixed(trace, 2, "dim")?.unwrap_or(1);
            let at = crate::arguments::dimension_of(trace, at, shape.len())?;
            trace.count_each(Work::Arithmetic, 6, &shape)?;
            trace.sum_of(&shape[at].clone());
            shape.remove(at);
            Ok(Some(Value::Tensor(Tensor::float(shape))))
        }
        _ => Ok(None),
    }
}

/// The mean or sum of losses, or the losses.
fn reduced(trace: &mut Trace, arguments: &Arguments, shape: Vec<Dimension>) -> Step<Value> {
    if arguments.text(usize::MAX, "reduction") == Some("none") {
        return Ok(Value::Tensor(Tensor::float(shape)));
    }
    let count = trace.product(&shape)?;
    trace.sum_of(&count);
    trace.count(Work::Arithmetic, &count)?;
    Ok(Value::Tensor(Tensor::float(Vec::new())))
}

/// Classes are the second dimension of the predictions.
fn cross_entropy(trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
    let predictions = arguments.first_tensor(trace)?.clone();
    let targets = arguments.tensor(trace, 1, "target")?.clone();
    let mut rows = predictions.shape.clone();
    if rows.is_empty() {
        return trace.refuse("a cross entropy of a single number");
    }
    let classes = rows.remove(usize::from(rows.len() > 1));
    if targets.shape.len() == predictions.shape.len() {
        let shape = trace.broadcast(&predictions.shape, &targets.shape)?;
        trace.count_each(Work::Arithmetic, 2, &shape)?;
    } else {
        for (left, right) in rows.iter().zip(&targets.shape) {
            trace.same(left, right, "sizes of predictions and targets")?;
        }
    }
    trace.sum_of(&classes);
    trace.count_each(Work::Special, 1, &predictions.shape)?;
    trace.count_each(Work::Arithmetic, 3, &predictions.shape)?;
    reduced(trace, arguments, rows)
}
