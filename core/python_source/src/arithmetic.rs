//! Python's operators on known values, with limits on the size of what they make.

use crate::constants::Value;
use crate::syntax::{BinaryOperator, UnaryOperator};

/// Elements of a repeated tuple, and bytes of a repeated string.
const LARGEST_REPETITION: usize = 1 << 16;

/// Bytes of a string that is joined from others.
const LONGEST_TEXT: usize = 4 << 20;

/// Integers up to this size convert to f64 exactly.
const LARGEST_EXACT: i128 = 1 << 53;

pub(crate) fn unary(operator: UnaryOperator, operand: &Value) -> Option<Value> {
    Some(match (operator, operand) {
        (UnaryOperator::Negative, Value::Integer(value)) => Value::Integer(value.checked_neg()?),
        (UnaryOperator::Negative, Value::Float(value)) => Value::Float(-value),
        (UnaryOperator::Positive, Value::Integer(_) | Value::Float(_)) => operand.clone(),
        (UnaryOperator::Invert, Value::Integer(value)) => Value::Integer(!value),
        (UnaryOperator::Not, Value::Boolean(value)) => Value::Boolean(!value),
        _ => return None,
    })
}

pub(crate) fn binary(operator: BinaryOperator, left: &Value, right: &Value) -> Option<Value> {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => integers(operator, *left, *right),
        (Value::Text(left), Value::Text(right)) if operator == BinaryOperator::Add => {
            let fits = left.len() + right.len() <= LONGEST_TEXT;
            fits.then(|| Value::Text(format!("{left}{right}")))
        }
        (Value::Tuple(left), Value::Tuple(right)) if operator == BinaryOperator::Add => {
            Some(Value::Tuple(joined(left, right)?))
        }
        (Value::List(left), Value::List(right)) if operator == BinaryOperator::Add => {
            Some(Value::List(joined(left, right)?))
        }
        (Value::Tuple(all), Value::Integer(count)) if operator == BinaryOperator::Multiply => {
            Some(Value::Tuple(repeated(all, *count)?))
        }
        (Value::List(all), Value::Integer(count)) if operator == BinaryOperator::Multiply => {
            Some(Value::List(repeated(all, *count)?))
        }
        _ => floats(operator, real(left)?, real(right)?),
    }
}

fn joined(left: &[Value], right: &[Value]) -> Option<Vec<Value>> {
    let fits = left.len() + right.len() <= LARGEST_REPETITION;
    fits.then(|| left.iter().chain(right).cloned().collect())
}

/// Only of values without parts, so that repetitions do not multiply.
fn repeated(all: &[Value], count: i128) -> Option<Vec<Value>> {
    let count = usize::try_from(count.max(0)).ok()?;
    let flat = |value: &Value| !matches!(value, Value::Tuple(_) | Value::List(_) | Value::Text(_));
    let fits = all.len().checked_mul(count)? <= LARGEST_REPETITION && all.iter().all(flat);
    fits.then(|| std::iter::repeat_n(all, count).flatten().cloned().collect())
}

fn integers(operator: BinaryOperator, left: i128, right: i128) -> Option<Value> {
    Some(Value::Integer(match operator {
        BinaryOperator::Add => left.checked_add(right)?,
        BinaryOperator::Subtract => left.checked_sub(right)?,
        BinaryOperator::Multiply => left.checked_mul(right)?,
        BinaryOperator::Divide => {
            return floats(operator, real(&Value::Integer(left))?, real(&Value::Integer(right))?);
        }
        BinaryOperator::FloorDivide => floor_divide(left, right)?,
        BinaryOperator::Remainder => {
            left.checked_sub(floor_divide(left, right)?.checked_mul(right)?)?
        }
        BinaryOperator::Power => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent)?,
            Err(_) => {
                return floats(
                    operator,
                    real(&Value::Integer(left))?,
                    real(&Value::Integer(right))?,
                );
            }
        },
        BinaryOperator::ShiftLeft => {
            left.checked_mul(2_i128.checked_pow(u32::try_from(right).ok()?)?)?
        }
        BinaryOperator::ShiftRight => left.checked_shr(u32::try_from(right).ok()?)?,
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::MatrixMultiply | BinaryOperator::And | BinaryOperator::Or => return None,
    }))
}

/// Rounds towards minus infinity, as Python does.
fn floor_divide(left: i128, right: i128) -> Option<i128> {
    let quotient = left.checked_div(right)?;
    let rounds_up = left % right != 0 && (left < 0) != (right < 0);
    Some(if rounds_up { quotient - 1 } else { quotient })
}

fn floats(operator: BinaryOperator, left: f64, right: f64) -> Option<Value> {
    let value = match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left * right,
        BinaryOperator::Divide if right != 0.0 => left / right,
        BinaryOperator::FloorDivide if right != 0.0 => (left / right).floor(),
        BinaryOperator::Power => left.powf(right),
        BinaryOperator::Divide
        | BinaryOperator::FloorDivide
        | BinaryOperator::Remainder
        | BinaryOperator::MatrixMultiply
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::BitAnd
        | BinaryOperator::BitOr
        | BinaryOperator::BitXor
        | BinaryOperator::And
        | BinaryOperator::Or => return None,
    };
    Some(Value::Float(value))
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Integer(value) if value.abs() <= LARGEST_EXACT => Some(*value as f64),
        Value::Integer(_)
        | Value::Text(_)
        | Value::Boolean(_)
        | Value::None
        | Value::Tuple(_)
        | Value::List(_) => None,
    }
}

/// `value[index]`.
pub(crate) fn element(value: &Value, index: &Value) -> Option<Value> {
    let (Value::Tuple(all) | Value::List(all), Value::Integer(index)) = (value, index) else {
        return None;
    };
    let from_start = if *index < 0 { index.checked_add(all.len() as i128)? } else { *index };
    all.get(usize::try_from(from_start).ok()?).cloned()
}

/// The built-in functions with one argument.
pub(crate) fn built_in(name: &str, argument: Value) -> Option<Value> {
    Some(match (name, argument) {
        ("len", Value::Tuple(all) | Value::List(all)) => Value::Integer(all.len() as i128),
        ("tuple", Value::Tuple(all) | Value::List(all)) => Value::Tuple(all),
        ("list", Value::Tuple(all) | Value::List(all)) => Value::List(all),
        ("int", Value::Integer(value)) => Value::Integer(value),
        ("int", Value::Float(value)) if value.abs() < LARGEST_EXACT as f64 => {
            Value::Integer(value.trunc() as i128)
        }
        ("float", Value::Text(text)) => Value::Float(match text.trim() {
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            written => written.parse().ok()?,
        }),
        ("float", number) => Value::Float(real(&number)?),
        _ => return None,
    })
}
