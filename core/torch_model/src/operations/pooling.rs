//! Pooling over windows, and to given sizes.

use crate::arguments::{Arguments, Flag, size_of};
use crate::dimension::Dimension;
use crate::trace::{Step, Trace, Work};
use crate::value::{Tensor, Value};

/// What a pool does with its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    Largest,
    Average,
}

/// A pool over windows.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) kind: Pooling,
    pub(crate) kernel: Vec<i128>,
    pub(crate) stride: Vec<i128>,
    pub(crate) padding: Vec<i128>,
    pub(crate) dilation: Vec<i128>,
}

/// A pool to a given size; none keeps the size of the input.
#[derive(Clone, Debug)]
pub(crate) struct AdaptivePool {
    pub(crate) kind: Pooling,
    pub(crate) sizes: Vec<Option<Dimension>>,
}

pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Option<Value>> {
    let Some((kind, rank)) = named(name) else { return Ok(None) };
    let tensor = arguments.first_tensor(trace)?.clone();
    let mut rest = arguments.clone();
    if !rest.positional.is_empty() {
        rest.positional.remove(0);
    }
    if name.starts_with("adaptive") {
        return adaptive_pool(trace, kind, rank, &rest)?.apply(trace, &tensor).map(Some);
    }
    pool(trace, kind, rank, &rest)?.apply(trace, &tensor).map(Some)
}

/// The kind and the number of dimensions of `max_pool2d`, `AdaptiveAvgPool3d` and the like.
pub(crate) fn named(name: &str) -> Option<(Pooling, usize)> {
    let name = name.to_ascii_lowercase().replace('_', "");
    let name = name.strip_prefix("adaptive").unwrap_or(&name);
    let (kind, rest) = match (name.strip_prefix("maxpool"), name.strip_prefix("avgpool")) {
        (Some(rest), _) => (Pooling::Largest, rest),
        (None, Some(rest)) => (Pooling::Average, rest),
        (None, None) => return None,
    };
    match rest {
        "1d" => Some((kind, 1)),
        "2d" => Some((kind, 2)),
        "3d" => Some((kind, 3)),
        _ => None,
    }
}

/// A pool with the arguments of a layer.
pub(crate) fn pool(trace: &Trace, kind: Pooling, rank: usize, arguments: &Arguments) -> Step<Pool> {
    let Some(kernel) = arguments.fixed_each(trace, (0, "kernel_size"), rank)? else {
        return trace.refuse("a pool without `kernel_size`");
    };
    let stride = arguments.fixed_each(trace, (1, "stride"), rank)?;
    let padding = arguments.fixed_each(trace, (2, "padding"), rank)?;
    let (dilation, ceiling) = match kind {
        Pooling::Largest => (arguments.fixed_each(trace, (3, "dilation"), rank)?, 5),
        Pooling::Average => (None, 3),
    };
    if arguments.flag(trace, (ceiling, "ceil_mode"), Flag::Clear)? == Flag::Set {
        return trace.refuse("a pool with `ceil_mode`");
    }
    if arguments.flag(trace, (usize::MAX, "return_indices"), Flag::Clear)? == Flag::Set {
        return trace.refuse("a pool with `return_indices`");
    }
    let pool = Pool {
        kind,
        stride: stride.unwrap_or_else(|| kernel.clone()),
        padding: padding.unwrap_or_else(|| vec![0; rank]),
        dilation: dilation.unwrap_or_else(|| vec![1; rank]),
        kernel,
    };
    match pool.kernel.iter().chain(&pool.stride).all(|value| (1..=1 << 16).contains(value)) {
        true => Ok(pool),
        false => trace.refuse("a pool whose window or stride is less than 1 or very large"),
    }
}

/// An adaptive pool with the arguments of a layer.
pub(crate) fn adaptive_pool(
    trace: &Trace,
    kind: Pooling,
    rank: usize,
    arguments: &Arguments,
) -> Step<AdaptivePool> {
    let one = |value: &Value| {
        let is_kept = matches!(value, Value::None);
        if is_kept { Ok(None) } else { size_of(trace, value, "output_size").map(Some) }
    };
    let sizes: Vec<_> = match arguments.get(0, "output_size") {
        Some(Value::Sequence(all)) => all.iter().map(one).collect::<Step<_>>()?,
        Some(only) => vec![one(only)?; rank],
        None => return trace.refuse("an adaptive pool without `output_size`"),
    };
    match sizes.len() == rank {
        true => Ok(AdaptivePool { kind, sizes }),
        false => {
            trace.refuse(format!("`output_size` has {} elements; expected {rank}", sizes.len()))
        }
    }
}

/// The dimensions before the last `rank`, and those.
fn split<'a>(
    trace: &Trace,
    tensor: &'a Tensor,
    rank: usize,
) -> Step<(&'a [Dimension], &'a [Dimension])> {
    let channels = tensor.shape.len().checked_sub(rank);
    match channels.filter(|channels| (1..=2).contains(channels)) {
        Some(channels) => Ok(tensor.shape.split_at(channels)),
        None => trace.refuse(format!(
            "a pool over {rank} dimensions of a tensor with {}",
            tensor.shape.len()
        )),
    }
}

impl Pool {
    pub(crate) fn apply(&self, trace: &mut Trace, input: &Tensor) -> Step<Value> {
        let (channels, sizes) = split(trace, input, self.kernel.len())?;
        let mut shape = channels.to_vec();
        for (dim, size) in sizes.iter().enumerate() {
            let span = self.dilation[dim] * (self.kernel[dim] - 1);
            // Padding does not count for PyTorch.
            let beyond = trace.minus(size, &Dimension::from(self.kernel[dim] - 1))?;
            trace.positive(&beyond, "the elements that a window of a pool leaves, plus one,")?;
            let room = trace.plus(size, &Dimension::from(2 * self.padding[dim] - span - 1))?;
            let steps = trace.size(room.floor_divide(self.stride[dim]))?;
            let size = trace.plus(&steps, &Dimension::from(1))?;
            trace.positive(&size, "the size of the output of a pool")?;
            shape.push(size);
        }
        let window: i128 = self.kernel.iter().product();
        match self.kind {
            Pooling::Largest => trace.count_each(Work::Compare, window, &shape)?,
            Pooling::Average => {
                trace.sum_of(&Dimension::from(window));
                trace.count_each(Work::Arithmetic, window, &shape)?;
            }
        }
        Ok(Value::Tensor(Tensor::float(shape)))
    }
}

impl AdaptivePool {
    pub(crate) fn apply(&self, trace: &mut Trace, input: &Tensor) -> Step<Value> {
        let (channels, sizes) = split(trace, input, self.sizes.len())?;
        let found = sizes.iter().zip(&self.sizes);
        let found = found.map(|(size, wanted)| wanted.as_ref().unwrap_or(size).clone());
        let shape: Vec<_> = channels.iter().cloned().chain(found).collect();
        match self.kind {
            Pooling::Largest => trace.count_each(Work::Compare, 1, &input.shape)?,
            Pooling::Average => {
                let length = trace.product(sizes)?;
                trace.sum_of(&length);
                trace.count_each(Work::Arithmetic, 1, &input.shape)?;
            }
        }
        Ok(Value::Tensor(Tensor::float(shape)))
    }
}
