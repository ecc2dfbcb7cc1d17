//! The table of operations: for each function of PyTorch the shape of its result, its work, and the length of its sums.

pub(crate) mod convolution;
mod creation;
pub(crate) mod elementwise;
mod losses;
pub(crate) mod pooling;
pub(crate) mod products;
pub(crate) mod reductions;
pub(crate) mod shapes;

use crate::arguments::Arguments;
use crate::trace::{Step, Trace};
use crate::value::Value;

/// One part of the table: none if it does not have the operation.
type Part = fn(&mut Trace, &str, &Arguments) -> Step<Option<Value>>;

const PARTS: [Part; 7] = [
    elementwise::call,
    reductions::call,
    products::call,
    shapes::call,
    creation::call,
    losses::call,
    pooling::call,
];

/// Calls a function of `torch` or `torch.nn.functional`, or a method of a tensor, by its last name.
pub(crate) fn call(trace: &mut Trace, name: &str, arguments: &Arguments) -> Step<Value> {
    for part in PARTS {
        if let Some(value) = part(trace, name, arguments)? {
            return Ok(value);
        }
    }
    trace.refuse(format!("the operation `{name}` is not in the table of operations"))
}
