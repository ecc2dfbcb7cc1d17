//! Inputs, weights and outputs as tensors of a project.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::{
    ComparatorWritten, DomainWritten, FillWritten, RoleWritten, TensorWritten,
};
use lightbench_project::written::{ExpressionWritten, NumberWritten};
use lightbench_torch_model::{
    Dimension, Distribution, ElementType, InputRole, InputTensor, OutputTensor, Task,
};

use crate::draft::{expression, tensor};
use crate::names::NameGiver;
use crate::report::{Place, Report};

/// The tolerance of an element in units of its rounding errors, the format's default.
const FACTOR: f64 = 4.0;

pub(super) fn written(task: &Task, report: &mut Report) -> Vec<TensorWritten> {
    let mut names = NameGiver::default();
    for name in task.axes.keys().chain(task.scalars.iter().map(|(name, _)| name)) {
        names.give(name);
    }
    let mut all: Vec<TensorWritten> = Vec::new();
    for each in &task.tensors {
        names.give(&each.name);
        all.push(input(task, each, report));
    }
    for (index, each) in task.outputs.iter().enumerate() {
        let wanted = if task.outputs.len() == 1 { "y".to_owned() } else { format!("y{index}") };
        all.push(output(task, each, &names.give(&wanted)));
    }
    all
}

fn shape(dimensions: &[Dimension]) -> Vec<ExpressionWritten> {
    dimensions.iter().map(|size| expression(size.to_string())).collect()
}

const fn dtype(kind: ElementType) -> Dtype {
    match kind {
        ElementType::Float => Dtype::F32,
        ElementType::Integer => Dtype::I64,
        ElementType::Boolean => Dtype::Bool,
    }
}

fn input(task: &Task, input: &InputTensor, report: &mut Report) -> TensorWritten {
    let dtype = dtype(input.dtype);
    let mut written = tensor(&input.name, dtype, shape(&input.shape), RoleWritten::Input);
    match (&input.distribution, input.dtype) {
        (Distribution::Integers(..), ElementType::Boolean) => {
            written.fill = Some(FillWritten::Mask { density: 0.5 });
        }
        (Distribution::Integers(low, high), ElementType::Integer) => {
            integers(&mut written, low, high);
        }
        (Distribution::Probability, ElementType::Float) => {
            written.domain = DomainWritten::Probability;
        }
        (distribution, ElementType::Float) => written.fill = fill(task, distribution, input.role),
        (_, ElementType::Integer | ElementType::Boolean) => {}
    }
    let has_values = written.fill.is_some() || written.domain != DomainWritten::Any;
    if !has_values {
        report.confirm(
            format!("{}.fill", input.name),
            Place::Tensor(input.name.clone()),
            "the file computes its values; they are drawn from a normal distribution here",
        );
    }
    written
}

/// Indices from 0 have a domain, which every kernel may rely on.
fn integers(written: &mut TensorWritten, low: &Dimension, high: &Dimension) {
    if low.constant() == Some(0) {
        if let Some(below) = high.plus(&Dimension::from(1)) {
            written.domain = DomainWritten::IndexBelow(expression(below.to_string()));
        }
        return;
    }
    let bound = |size: &Dimension| size.constant().and_then(|value| i64::try_from(value).ok());
    if let (Some(low), Some(high)) = (bound(low), bound(high)) {
        written.fill = Some(FillWritten::Integers { low, high });
    }
}

fn fill(task: &Task, distribution: &Distribution, role: InputRole) -> Option<FillWritten> {
    match distribution {
        Distribution::Uniform(low, high) => uniform(*low, *high),
        Distribution::Normal(mean, deviation) if mean.is_finite() && *deviation > 0.0 => {
            Some(FillWritten::Normal { mean: *mean, std: *deviation })
        }
        Distribution::Integers(low, high) => {
            let (low, high) = (low.value(&task.axes)?, high.value(&task.axes)?);
            uniform(low as f64, high as f64)
        }
        // A weight that is 1 or 0 before training would hide mistakes.
        Distribution::Constant(value) if role == InputRole::Weight => {
            uniform(value - 0.5, value + 0.5)
        }
        Distribution::Constant(value) => {
            value.is_finite().then_some(FillWritten::Constant(NumberWritten::Real(*value)))
        }
        Distribution::Weight(products) => {
            let products = products.value(&task.axes)?.max(1);
            let bound = (1e4 / (products as f64).sqrt()).round().max(1.0) / 1e4;
            uniform(-bound, bound)
        }
        Distribution::Normal(..) | Distribution::Probability | Distribution::Unknown => None,
    }
}

fn uniform(low: f64, high: f64) -> Option<FillWritten> {
    let is_interval = low.is_finite() && high.is_finite() && low < high;
    is_interval.then_some(FillWritten::Uniform { low, high })
}

fn output(task: &Task, output: &OutputTensor, name: &str) -> TensorWritten {
    let mut written = tensor(name, dtype(output.dtype), shape(&output.shape), RoleWritten::Output);
    written.compare = Some(match (&output.index_of, output.dtype) {
        (Some((of, axis)), _) => ComparatorWritten::IndexByValue {
            of: of.clone(),
            axis: i64::try_from(*axis).unwrap_or(0),
        },
        (None, ElementType::Float) => ComparatorWritten::Elementwise {
            terms: expression(terms(task)),
            factor: FACTOR,
            rms: true,
        },
        (None, ElementType::Integer | ElementType::Boolean) => ComparatorWritten::IntegerExact,
    });
    written
}

/// The length of the longest sum.
fn terms(task: &Task) -> String {
    let largest = task.sums.iter().filter_map(Dimension::constant).max();
    let mut lengths: Vec<String> = task
        .sums
        .iter()
        .filter(|size| size.constant().is_none())
        .map(ToString::to_string)
        .collect();
    lengths.extend(largest.map(|value| value.to_string()));
    match lengths.as_slice() {
        [] => "1".to_owned(),
        [only] => only.clone(),
        several => format!("max({})", several.join(", ")),
    }
}
