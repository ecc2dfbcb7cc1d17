//! Arguments of a call, by position and by name.

use std::collections::BTreeMap;

use crate::dimension::Dimension;
use crate::trace::{Step, Trace};
use crate::value::{Tensor, Value};

/// Arguments of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) positional: Vec<Value>,
    pub(crate) named: BTreeMap<String, Value>,
}

impl Arguments {
    /// The value of a parameter; none if it is not passed, or `None`.
    pub(crate) fn get(&self, position: usize, name: &str) -> Option<&Value> {
        let value = self.positional.get(position).or_else(|| self.named.get(name))?;
        (!matches!(value, Value::None)).then_some(value)
    }

    /// The tensor that is the first argument, whatever its name is.
    pub(crate) fn first_tensor(&self, trace: &Trace) -> Step<&Tensor> {
        let named = self.named.get("input").or_else(|| self.named.get("x"));
        self.as_tensor(trace, self.positional.first().or(named), "the first argument")
    }

    /// A tensor that is required.
    pub(crate) fn tensor(&self, trace: &Trace, position: usize, name: &str) -> Step<&Tensor> {
        self.as_tensor(trace, self.get(position, name), name)
    }

    fn as_tensor<'a>(
        &self,
        trace: &Trace,
        value: Option<&'a Value>,
        name: &str,
    ) -> Step<&'a Tensor> {
        match value {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            Some(other) => trace.refuse(format!("`{name}` is {}; expected a tensor", other.kind())),
            None => trace.refuse(format!("`{name}` is missing; expected a tensor")),
        }
    }

    /// A size; none if it is not passed.
    pub(crate) fn size(
        &self,
        trace: &Trace,
        position: usize,
        name: &str,
    ) -> Step<Option<Dimension>> {
        self.get(position, name).map(|value| size_of(trace, value, name)).transpose()
    }

    /// A size that is required.
    pub(crate) fn required(&self, trace: &Trace, position: usize, name: &str) -> Step<Dimension> {
        match self.size(trace, position, name)? {
            Some(size) => Ok(size),
            None => trace.refuse(format!("`{name}` is missing; expected an integer")),
        }
    }

    /// An integer that must have the value of the task.
    pub(crate) fn fixed(&self, trace: &Trace, position: usize, name: &str) -> Step<Option<i128>> {
        self.size(trace, position, name)?.map(|size| trace.fixed(&size)).transpose()
    }

    /// Integers that must have the values of the task: one for all, or one for each of `count`.
    pub(crate) fn fixed_each(
        &self,
        trace: &Trace,
        (position, name): (usize, &str),
        count: usize,
    ) -> Step<Option<Vec<i128>>> {
        let Some(value) = self.get(position, name) else { return Ok(None) };
        let found = if let Value::Sequence(all) = value {
            let mut found = Vec::new();
            for each in all {
                found.push(trace.fixed(&size_of(trace, each, name)?)?);
            }
            found
        } else {
            vec![trace.fixed(&size_of(trace, value, name)?)?; count]
        };
        match (found.len(), found.first()) {
            (length, _) if length == count => Ok(Some(found)),
            (1, Some(only)) => Ok(Some(vec![*only; count])),
            (length, _) => {
                trace.refuse(format!("`{name}` has {length} elements; expected {count}"))
            }
        }
    }

    /// A boolean, which must be known.
    pub(crate) fn flag(&self, trace: &Trace, at: (usize, &str), default: Flag) -> Step<Flag> {
        let (position, name) = at;
        match self.get(position, name) {
            None => Ok(default),
            Some(Value::Boolean(Some(true))) => Ok(Flag::Set),
            Some(Value::Boolean(Some(false))) => Ok(Flag::Clear),
            Some(Value::Integer(size)) => match trace.fixed(size)? {
                0 => Ok(Flag::Clear),
                _ => Ok(Flag::Set),
            },
            Some(other) => {
                trace.refuse(format!("`{name}` is {}; expected a boolean", other.kind()))
            }
        }
    }

    /// Sizes that are one sequence or the rest of the positional arguments.
    pub(crate) fn sizes_from(
        &self,
        trace: &Trace,
        position: usize,
        name: &str,
    ) -> Step<Vec<Dimension>> {
        let all: &[Value] = match (self.positional.get(position), self.named.get(name)) {
            (Some(Value::Sequence(all)), _) | (None, Some(Value::Sequence(all))) => all,
            (Some(_), _) => self.positional.get(position..).unwrap_or_default(),
            (None, Some(only)) => std::slice::from_ref(only),
            (None, None) => &[],
        };
        all.iter().map(|each| size_of(trace, each, name)).collect()
    }

    /// A string; none if it is not passed.
    pub(crate) fn text(&self, position: usize, name: &str) -> Option<&str> {
        match self.get(position, name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// A flag of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    Set,
    Clear,
}

/// The size that a value is.
pub(crate) fn size_of(trace: &Trace, value: &Value, name: &str) -> Step<Dimension> {
    let Value::Integer(size) = value else {
        return trace.refuse(format!("`{name}` is {}; expected an integer", value.kind()));
    };
    Ok(size.clone())
}

/// A dimension of a tensor of this rank, counted from the end if it is negative.
pub(crate) fn dimension_of(trace: &Trace, value: i128, rank: usize) -> Step<usize> {
    let from_start = if value < 0 { value + rank as i128 } else { value };
    match usize::try_from(from_start) {
        Ok(dim) if dim < rank => Ok(dim),
        _ => trace.refuse(format!("dimension {value} of a tensor with {rank} dimensions")),
    }
}
