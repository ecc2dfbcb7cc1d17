//! Values of host code: formulas instead of numbers.

use lightbench_cuda_source::torch_wrapper::{
    Comparison, Condition, Fact, Integer, Operator, Real, RealFunction, RealOperator,
};
use lightbench_primitives::dtype::Dtype;
use lightbench_python_source::{Expression, Function};

/// A value of host code.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Tensor(View),
    /// The shape of a tensor whose number of dimensions may be unknown.
    Shape(View),
    /// All sizes of a tensor but the last ones: `batch` of `*batch, n = x.shape`.
    Leading(View),
    Integer(Integer),
    Real(Real),
    Condition(Condition),
    Text(String),
    Type(ElementType),
    None,
    Tuple(Vec<Self>),
    /// Values by name: a dictionary, and the arguments of a launch, which the function of a grid receives.
    Arguments(Vec<(String, Self)>),
    Function(HostFunction),
    /// A kernel that was compiled for its resources: `kernel.warmup(…)`. With its options.
    Compiled(String, Vec<(String, Self)>),
    /// A number of which only the device decides.
    Device,
    /// The smaller one of such a number and an integer.
    AtMost(Integer),
}

/// A tensor, or a contiguous view of a whole one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub(super) tensor: usize,
    pub(super) sizes: Sizes,
}

/// The sizes of a view.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sizes {
    /// Those of a received tensor.
    Of(usize),
    List(Vec<Integer>),
}

/// A dtype, or that of a tensor for which nothing has decided it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementType {
    Known(Dtype),
    Of(usize),
}

/// A function that host code defines: for the grid of a launch.
#[derive(Clone, Debug)]
pub(super) enum HostFunction {
    /// The name of the parameter, if it has one, and the body.
    Lambda(Option<String>, Box<Expression>),
    Definition(Box<Function>),
}

impl View {
    pub(super) fn whole(tensor: usize) -> Self {
        Self { tensor, sizes: Sizes::Of(tensor) }
    }

    /// The size along a dimension.
    pub(super) fn size(&self, dimension: i64) -> Option<Integer> {
        match &self.sizes {
            Sizes::Of(tensor) => Some(Integer::Fact(Fact::Size { tensor: *tensor, dimension })),
            Sizes::List(sizes) => sizes.get(position(dimension, sizes.len())?).cloned(),
        }
    }

    /// The distance of neighbours along a dimension, in elements.
    pub(super) fn stride(&self, dimension: i64) -> Option<Integer> {
        match &self.sizes {
            Sizes::Of(tensor) => Some(Integer::Fact(Fact::Stride { tensor: *tensor, dimension })),
            Sizes::List(sizes) => {
                let inner = sizes.get(position(dimension, sizes.len())? + 1..)?;
                Integer::product(inner.iter().cloned())
            }
        }
    }

    /// The number of elements; none if the formula is too long.
    pub(super) fn elements(&self) -> Option<Integer> {
        match &self.sizes {
            Sizes::Of(tensor) => Some(Integer::Fact(Fact::Elements(*tensor))),
            Sizes::List(sizes) => Integer::product(sizes.iter().cloned()),
        }
    }

    /// The view with other sizes, of which one may be −1.
    pub(super) fn reshaped(&self, sizes: &[Integer]) -> Option<Self> {
        let is_open = |size: &Integer| *size == Integer::Literal(-1);
        let known = sizes.iter().filter(|size| !is_open(size)).cloned();
        let known = Integer::product(known)?;
        let open = Integer::combined(Operator::Divide, self.elements()?, known)?;
        let sizes =
            sizes.iter().map(|size| if is_open(size) { open.clone() } else { size.clone() });
        Some(Self { tensor: self.tensor, sizes: Sizes::List(sizes.collect()) })
    }
}

fn position(dimension: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let dimension = if dimension < 0 { dimension + count } else { dimension };
    usize::try_from(dimension).ok().filter(|_| dimension < count)
}

/// 1 where a condition holds, else 0, as a formula; none for a condition that is not one of integers.
pub(super) fn indicator(condition: &Condition) -> Option<Integer> {
    let one = Integer::Literal(1);
    let zero = Integer::Literal(0);
    let combined = Integer::combined;
    // 1 if the number is positive.
    let positive = |number: Integer| {
        let floored = combined(Operator::Maximum, number, Integer::Literal(0))?;
        combined(Operator::Minimum, floored, Integer::Literal(1))
    };
    let difference =
        |left: &Integer, right: &Integer| combined(Operator::Subtract, left.clone(), right.clone());
    match condition {
        Condition::Always(value) => Some(if *value { one } else { zero }),
        Condition::Compare(comparison, left, right) => match comparison {
            Comparison::Less => positive(difference(right, left)?),
            Comparison::Greater => positive(difference(left, right)?),
            Comparison::LessOrEqual => {
                positive(combined(Operator::Add, difference(right, left)?, one)?)
            }
            Comparison::GreaterOrEqual => {
                positive(combined(Operator::Add, difference(left, right)?, one)?)
            }
            Comparison::Equal => combined(Operator::Subtract, one, unequal(left, right)?),
            Comparison::NotEqual => unequal(left, right),
        },
        Condition::And(left, right) => {
            combined(Operator::Multiply, indicator(left)?, indicator(right)?)
        }
        Condition::Or(left, right) => {
            combined(Operator::Maximum, indicator(left)?, indicator(right)?)
        }
        Condition::Not(inner) => combined(Operator::Subtract, one, indicator(inner)?),
        Condition::Given => Some(one),
        Condition::SameShape(..)
        | Condition::HasDtype(..)
        | Condition::SameDtype(..)
        | Condition::Unknown => None,
    }
}

/// 1 where two integers differ. A remainder, which is never negative for sizes, needs no second side.
fn unequal(left: &Integer, right: &Integer) -> Option<Integer> {
    let distance = match (left, right) {
        (Integer::Binary(Operator::Remainder, ..), Integer::Literal(0)) => left.clone(),
        _ => {
            let larger = Integer::combined(Operator::Maximum, left.clone(), right.clone())?;
            let smaller = Integer::combined(Operator::Minimum, left.clone(), right.clone())?;
            Integer::combined(Operator::Subtract, larger, smaller)?
        }
    };
    Integer::combined(Operator::Minimum, distance, Integer::Literal(1))
}

/// The first integer where a condition holds, else the second one.
pub(super) fn selected(
    condition: &Condition,
    then: Integer,
    otherwise: Integer,
) -> Option<Integer> {
    if then == otherwise {
        return Some(then);
    }
    let change = Integer::combined(Operator::Subtract, then, otherwise.clone())?;
    let change = Integer::combined(Operator::Multiply, change, indicator(condition)?)?;
    Integer::combined(Operator::Add, otherwise, change)
}

impl Value {
    pub(super) fn literal(value: i128) -> Self {
        Self::Integer(Integer::Literal(value))
    }

    /// As a real number.
    pub(super) fn real(&self) -> Option<Real> {
        match self {
            Self::Integer(Integer::Literal(literal)) => {
                #[expect(clippy::cast_precision_loss, reason = "Python converts integers likewise")]
                let literal = *literal as f64;
                Some(Real::Literal(literal))
            }
            Self::Integer(integer) => Some(Real::Integer(integer.clone())),
            Self::Real(real) => Some(real.clone()),
            Self::Condition(Condition::Always(value)) => {
                Some(Real::Literal(f64::from(u8::from(*value))))
            }
            Self::Tensor(_)
            | Self::Shape(_)
            | Self::Leading(_)
            | Self::Condition(_)
            | Self::Text(_)
            | Self::Type(_)
            | Self::None
            | Self::Tuple(_)
            | Self::Arguments(_)
            | Self::Function(_)
            | Self::Compiled(..)
            | Self::Device
            | Self::AtMost(_) => None,
        }
    }

    /// As an integer.
    pub(super) fn integer(&self) -> Option<Integer> {
        match self {
            Self::Integer(integer) => Some(integer.clone()),
            Self::Condition(condition) => indicator(condition),
            Self::Real(real) => whole(real.constant()?).map(Integer::Literal),
            Self::Tensor(_)
            | Self::Shape(_)
            | Self::Leading(_)
            | Self::Text(_)
            | Self::Type(_)
            | Self::None
            | Self::Tuple(_)
            | Self::Arguments(_)
            | Self::Function(_)
            | Self::Compiled(..)
            | Self::Device
            | Self::AtMost(_) => None,
        }
    }

    /// As Python's `if` takes it.
    pub(super) fn truth(&self) -> Condition {
        match self {
            Self::Condition(condition) => condition.clone(),
            Self::Integer(integer) => {
                Condition::compared(Comparison::NotEqual, integer.clone(), Integer::Literal(0))
            }
            Self::Text(text) => Condition::Always(!text.is_empty()),
            Self::None => Condition::Always(false),
            Self::Tuple(all) => Condition::Always(!all.is_empty()),
            Self::Type(_) | Self::Function(_) | Self::Arguments(_) => Condition::Always(true),
            Self::Real(real) => {
                real.constant().map_or(Condition::Unknown, |value| Condition::Always(value != 0.0))
            }
            Self::Tensor(_)
            | Self::Shape(_)
            | Self::Leading(_)
            | Self::Compiled(..)
            | Self::Device
            | Self::AtMost(_) => Condition::Unknown,
        }
    }
}

/// A number without a fraction.
pub(super) fn whole(value: f64) -> Option<i128> {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i128)
}

/// A real number computed from two, folded if both are literals.
pub(super) fn real_binary(operator: RealOperator, left: Real, right: Real) -> Real {
    folded(Real::Binary(operator, Box::new(left), Box::new(right)))
}

pub(super) fn real_call(function: RealFunction, operand: Real) -> Real {
    folded(Real::Call(function, Box::new(operand)))
}

fn folded(real: Real) -> Real {
    real.constant().map_or(real, Real::Literal)
}
