//! Values of the abstract interpreter: sizes are polynomials, tensors are shapes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;

use lightbench_python_source::Function;

use crate::dimension::Dimension;
use crate::trace::{Step, Trace};

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// An integer.
    Integer(Dimension),
    /// A real number; none if it depends on sizes.
    Real(Option<f64>),
    /// `True` or `False`; none if it is not known.
    Boolean(Option<bool>),
    /// A string.
    Text(String),
    /// `None`.
    None,
    /// A tuple or list.
    Sequence(Vec<Self>),
    /// A tensor.
    Tensor(Tensor),
    /// A module of `torch.nn`.
    Module(Rc<dyn Callable>),
    /// The model.
    This,
    /// A slice of a subscript.
    Slice {
        /// The first index.
        first: Option<Dimension>,
        /// The index after the last.
        last: Option<Dimension>,
        /// The step.
        step: Option<Dimension>,
    },
    /// `...`.
    Ellipsis,
    /// A function or another object of a library, by its full name.
    Library(String),
    /// A method of a value.
    Bound(Box<Self>, String),
    /// A function of the file.
    Function(Rc<Function>),
}

/// A module as a value: what modules are is not decided here.
pub(crate) trait Callable: Debug {
    /// The weights, by their names inside the module.
    fn parameters(&self, trace: &Trace) -> Step<Vec<(String, Tensor)>>;

    /// The result of a call.
    fn call(
        &self,
        trace: &mut Trace,
        positional: Vec<Value>,
        named: BTreeMap<String, Value>,
    ) -> Step<Value>;

    /// The modules inside, if it is a list of modules.
    fn elements(&self) -> Option<Vec<Value>>;
}

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// `float32` and the other floats, which the reference replaces.
    Float,
    /// `int64` and the other integers.
    Integer,
    /// `bool`.
    Boolean,
}

/// How the elements of an input are distributed.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Uniform between two numbers.
    Uniform(f64, f64),
    /// Normal, with mean and standard deviation.
    Normal(f64, f64),
    /// Integers from the first to the last.
    Integers(Dimension, Dimension),
    /// One value.
    Constant(f64),
    /// Weights of sums of so many products, as PyTorch initialises them.
    Weight(Dimension),
    /// Rows that sum to 1.
    Probability,
    /// Anything else.
    Unknown,
}

impl Distribution {
    /// The distribution of `x * factor + offset`.
    pub(crate) fn scaled(&self, factor: f64, offset: f64) -> Self {
        match self {
            Self::Uniform(low, high) => {
                let ends = [low * factor + offset, high * factor + offset];
                Self::Uniform(ends[0].min(ends[1]), ends[0].max(ends[1]))
            }
            Self::Normal(mean, deviation) => {
                Self::Normal(mean * factor + offset, deviation * factor.abs())
            }
            Self::Constant(value) => Self::Constant(value * factor + offset),
            Self::Integers(low, high) => match (low.constant(), high.constant()) {
                (Some(low), Some(high)) => {
                    Self::Uniform(low as f64, high as f64).scaled(factor, offset)
                }
                _ => Self::Unknown,
            },
            Self::Weight(_) | Self::Probability | Self::Unknown => Self::Unknown,
        }
    }
}

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<Dimension>,
    pub(crate) dtype: ElementType,
    pub(crate) distribution: Distribution,
    /// Where its values come from.
    pub(crate) origin: Origin,
}

/// Where the values of a tensor come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Origin {
    /// Computed.
    Computed,
    /// Drawn at random where it was made.
    Random,
    /// `nn.Parameter`.
    Parameter,
    /// An input of the model, by its name.
    Input(String),
    /// The index of the largest or smallest element of an input along a dimension.
    IndexOf { input: String, dim: usize },
}

impl Tensor {
    /// A computed tensor of floats.
    pub(crate) fn float(shape: Vec<Dimension>) -> Self {
        Self {
            shape,
            dtype: ElementType::Float,
            distribution: Distribution::Unknown,
            origin: Origin::Computed,
        }
    }

    /// A computed tensor with another shape.
    pub(crate) fn reshaped(&self, shape: Vec<Dimension>) -> Self {
        Self {
            shape,
            dtype: self.dtype,
            distribution: self.distribution.clone(),
            origin: Origin::Computed,
        }
    }
}

/// The attributes of the model, in the order of assignment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) order: Vec<String>,
}

impl Attributes {
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        if self.values.insert(name.to_owned(), value).is_none() {
            self.order.push(name.to_owned());
        }
    }
}

impl Value {
    /// What a loop over it visits.
    pub(crate) fn elements(&self) -> Option<Vec<Self>> {
        if let Self::Sequence(all) = self {
            return Some(all.clone());
        }
        let Self::Module(module) = self else { return None };
        module.elements()
    }

    /// What a message calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a real number",
            Self::Boolean(_) => "a boolean",
            Self::Text(_) => "a string",
            Self::None => "None",
            Self::Sequence(_) => "a sequence",
            Self::Tensor(_) => "a tensor",
            Self::Module(_) => "a module",
            Self::This => "the model",
            Self::Slice { .. } | Self::Ellipsis => "a slice",
            Self::Library(_) | Self::Bound(..) | Self::Function(_) => "a function",
        }
    }
}
