//! Convolutions and their transposes.

use crate::dimension::Dimension;
use crate::operations::products::{Bias, contraction};
use crate::trace::{Step, Trace, Work};
use crate::value::{Tensor, Value};

/// A convolution layer.
#[derive(Clone, Debug)]
pub(crate) struct Convolution {
    pub(crate) transposed: Direction,
    pub(crate) from: Dimension,
    pub(crate) to: Dimension,
    /// Channels of the input, and of the output, in one group.
    pub(crate) from_per_group: Dimension,
    pub(crate) to_per_group: Dimension,
    pub(crate) kernel: Vec<i128>,
    pub(crate) stride: Vec<i128>,
    pub(crate) padding: Padding,
    pub(crate) dilation: Vec<i128>,
    pub(crate) output_padding: Vec<i128>,
    pub(crate) bias: HasBias,
}

/// Whether a convolution is transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Transposed,
}

/// Whether a layer has a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HasBias {
    Yes,
    No,
}

/// Elements added on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Padding {
    Each(Vec<i128>),
    /// The output has the size of the input.
    Same,
}

impl HasBias {
    pub(crate) const fn added(self) -> Bias {
        match self {
            Self::Yes => Bias::Added,
            Self::No => Bias::None,
        }
    }
}

impl Convolution {
    /// The shape of the weight.
    pub(crate) fn weight(&self) -> Vec<Dimension> {
        let channels = match self.transposed {
            Direction::Forward => [&self.to, &self.from_per_group],
            Direction::Transposed => [&self.from, &self.to_per_group],
        };
        let kernel = self.kernel.iter().map(|size| Dimension::from(*size));
        channels.into_iter().cloned().chain(kernel).collect()
    }

    /// Products in one element of the output.
    pub(crate) fn products(&self, trace: &Trace) -> Step<Dimension> {
        let window: i128 = self.kernel.iter().product();
        trace.times(&self.from_per_group, &Dimension::from(window))
    }

    pub(crate) fn apply(&self, trace: &mut Trace, input: &Tensor) -> Step<Value> {
        let rank = self.kernel.len();
        let Some(split) = input.shape.len().checked_sub(rank + 1).filter(|batch| *batch <= 1)
        else {
            let found = input.shape.len();
            return trace.refuse(format!("a convolution of a tensor with {found} dimensions"));
        };
        let (batch, rest) = input.shape.split_at(split);
        trace.same(&rest[0], &self.from, "the channels of a convolution")?;
        let mut shape = batch.to_vec();
        shape.push(self.to.clone());
        for (dim, size) in rest[1..].iter().enumerate() {
            let size = self.extent(trace, dim, size)?;
            trace.positive(&size, "the size of the output of a convolution")?;
            shape.push(size);
        }
        match self.transposed {
            Direction::Forward => {
                let length = self.products(trace)?;
                contraction(trace, &shape, &length)?;
            }
            Direction::Transposed => {
                // Each element of the input meets the window once for each channel of its group.
                let window: i128 = self.kernel.iter().product();
                let length = trace.times(&self.to_per_group, &Dimension::from(window))?;
                let elements = trace.product(&input.shape)?;
                let count = trace.times(&elements, &length)?;
                let count = trace.times(&count, &Dimension::from(2))?;
                trace.count(Work::Contraction, &count)?;
                let length = self.products(trace)?;
                trace.sum_of(&length);
            }
        }
        if self.bias == HasBias::Yes {
            trace.count_each(Work::Arithmetic, 1, &shape)?;
        }
        Ok(Value::Tensor(Tensor::float(shape)))
    }

    fn extent(&self, trace: &Trace, dim: usize, size: &Dimension) -> Step<Dimension> {
        let span = self.dilation[dim] * (self.kernel[dim] - 1);
        let padding = match &self.padding {
            Padding::Each(all) => all[dim],
            Padding::Same => return Ok(size.clone()),
        };
        match self.transposed {
            Direction::Forward => {
                let room = trace.plus(size, &Dimension::from(2 * padding - span - 1))?;
                let steps = trace.size(room.floor_divide(self.stride[dim]))?;
                trace.plus(&steps, &Dimension::from(1))
            }
            Direction::Transposed => {
                let spread = trace.times(size, &Dimension::from(self.stride[dim]))?;
                let added = span + self.output_padding[dim] + 1 - 2 * padding - self.stride[dim];
                trace.plus(&spread, &Dimension::from(added))
            }
        }
    }
}
