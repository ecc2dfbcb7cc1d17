//! Evaluates expressions: checked integers, conditions, and floating point for work formulas.

use super::{Binary, Expression, ExpressionError, Function, Node, NodeKind, Reason, Unary};

/// The values of names.
pub trait Values {
    /// The value of an axis, an integer scalar, a parameter or a device fact.
    fn integer(&self, name: &str) -> Option<i128>;

    /// The value of any scalar, for work formulas.
    fn real(&self, name: &str) -> Option<f64>;

    /// Resident blocks of a step's kernel on the whole device, once it is compiled.
    fn max_active_blocks(&self, kernel: &str) -> Option<i128>;
}

impl Expression {
    /// The value as a checked 128-bit integer.
    pub fn integer(&self, values: &dyn Values) -> Result<i128, ExpressionError> {
        integer(&self.root, values)
    }

    /// Evaluates a condition; `and` and `or` short-circuit.
    pub fn condition(&self, values: &dyn Values) -> Result<bool, ExpressionError> {
        condition(&self.root, values)
    }

    /// The value of a work formula.
    pub fn real(&self, values: &dyn Values) -> Result<f64, ExpressionError> {
        real(&self.root, values)
    }
}

fn integer(node: &Node, values: &dyn Values) -> Result<i128, ExpressionError> {
    let result = match &node.kind {
        NodeKind::Integer(value) => Ok(*value),
        NodeKind::Decimal(_) => Err(Reason::DecimalHere),
        NodeKind::Name(name) => {
            values.integer(name).ok_or_else(|| Reason::NoValue { name: name.clone() })
        }
        NodeKind::MaxActiveBlocks(kernel) => active_blocks(kernel, values),
        NodeKind::Unary(Unary::Negate, operand) => {
            let value = integer(operand, values)?;
            value.checked_neg().ok_or_else(|| overflow(0, Binary::Subtract, value))
        }
        NodeKind::Unary(Unary::Not, _) => return Err(wrong_kind(node, super::Kind::Integer)),
        NodeKind::Binary(operator, left, right) => {
            if operator.precedence() <= Binary::Equal.precedence() {
                return Err(wrong_kind(node, super::Kind::Integer));
            }
            combine(*operator, integer(left, values)?, integer(right, values)?)
        }
        NodeKind::Call(function, arguments) => {
            let arguments: Result<Vec<i128>, _> =
                arguments.iter().map(|node| integer(node, values)).collect();
            call(*function, &arguments?)
        }
    };
    result.map_err(|reason| ExpressionError::new(node.span.clone(), reason))
}

fn combine(operator: Binary, left: i128, right: i128) -> Result<i128, Reason> {
    let dividing = matches!(operator, Binary::Divide | Binary::FloorDivide | Binary::Remainder);
    if dividing && right == 0 {
        return Err(Reason::DivisionByZero { left: left.to_string(), operator: operator.symbol() });
    }
    let value = match operator {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide => match left.checked_rem(right) {
            Some(0) => left.checked_div(right),
            Some(_) => return Err(Reason::Inexact { left, right }),
            None => None,
        },
        Binary::FloorDivide => floor_divide(left, right),
        // The remainder of the smallest integer by -1 is 0 although the quotient overflows.
        Binary::Remainder => Some(left.checked_rem(right).map_or(0, |rest| {
            if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }
        })),
        Binary::Power => match u32::try_from(right) {
            Ok(exponent) if exponent <= 127 => left.checked_pow(exponent),
            Ok(_) | Err(_) => return Err(Reason::BadExponent { exponent: right }),
        },
        Binary::Or
        | Binary::And
        | Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual => None,
    };
    value.ok_or_else(|| overflow(left, operator, right))
}

fn floor_divide(left: i128, right: i128) -> Option<i128> {
    let quotient = left.checked_div(right)?;
    let rest = left.checked_rem(right)?;
    if rest != 0 && (rest < 0) != (right < 0) { quotient.checked_sub(1) } else { Some(quotient) }
}

fn call(function: Function, arguments: &[i128]) -> Result<i128, Reason> {
    let first = arguments.first().copied().unwrap_or_default();
    match function {
        Function::Min => Ok(arguments.iter().copied().min().unwrap_or_default()),
        Function::Max => Ok(arguments.iter().copied().max().unwrap_or_default()),
        Function::CeilDiv => {
            let second = arguments.get(1).copied().unwrap_or_default();
            if second == 0 {
                let operator = Function::CeilDiv.name();
                return Err(Reason::DivisionByZero { left: first.to_string(), operator });
            }
            // ⌈a / b⌉ is ⌊a / b⌋ plus one unless b divides a.
            let floor = floor_divide(first, second);
            let exact = first.checked_rem(second) == Some(0);
            let value = if exact { floor } else { floor.and_then(|floor| floor.checked_add(1)) };
            value.ok_or_else(|| overflow(first, Binary::Divide, second))
        }
        Function::Log2Floor => first.checked_ilog2().map(i128::from).ok_or_else(|| {
            Reason::OutOfDomain { function: function.name(), value: first.to_string() }
        }),
        Function::Sqrt | Function::Log2 => {
            Err(Reason::RealFunctionHere { function: function.name() })
        }
    }
}

fn condition(node: &Node, values: &dyn Values) -> Result<bool, ExpressionError> {
    match &node.kind {
        NodeKind::Unary(Unary::Not, operand) => Ok(!condition(operand, values)?),
        NodeKind::Binary(Binary::And, left, right) => {
            Ok(condition(left, values)? && condition(right, values)?)
        }
        NodeKind::Binary(Binary::Or, left, right) => {
            Ok(condition(left, values)? || condition(right, values)?)
        }
        NodeKind::Binary(operator, left, right) if operator.is_comparison() => {
            let order = integer(left, values)?.cmp(&integer(right, values)?);
            Ok(match operator {
                Binary::Equal => order.is_eq(),
                Binary::NotEqual => order.is_ne(),
                Binary::Less => order.is_lt(),
                Binary::LessOrEqual => order.is_le(),
                Binary::Greater => order.is_gt(),
                Binary::GreaterOrEqual => order.is_ge(),
                Binary::Or
                | Binary::And
                | Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide
                | Binary::FloorDivide
                | Binary::Remainder
                | Binary::Power => return Err(wrong_kind(node, super::Kind::Condition)),
            })
        }
        NodeKind::Integer(_)
        | NodeKind::Decimal(_)
        | NodeKind::Name(_)
        | NodeKind::MaxActiveBlocks(_)
        | NodeKind::Unary(Unary::Negate, _)
        | NodeKind::Binary(..)
        | NodeKind::Call(..) => Err(wrong_kind(node, super::Kind::Condition)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "work formulas are floating point by definition")]
fn real(node: &Node, values: &dyn Values) -> Result<f64, ExpressionError> {
    let result = match &node.kind {
        NodeKind::Integer(value) => Ok(*value as f64),
        NodeKind::Decimal(value) => Ok(*value),
        NodeKind::Name(name) => values
            .real(name)
            .or_else(|| values.integer(name).map(|value| value as f64))
            .ok_or_else(|| Reason::NoValue { name: name.clone() }),
        NodeKind::MaxActiveBlocks(kernel) => {
            active_blocks(kernel, values).map(|blocks| blocks as f64)
        }
        NodeKind::Unary(Unary::Negate, operand) => Ok(-real(operand, values)?),
        NodeKind::Unary(Unary::Not, _) => return Err(wrong_kind(node, super::Kind::Real)),
        NodeKind::Binary(operator, left, right) => {
            combine_real(*operator, real(left, values)?, real(right, values)?)
        }
        NodeKind::Call(function, arguments) => {
            let arguments: Result<Vec<f64>, _> =
                arguments.iter().map(|node| real(node, values)).collect();
            call_real(*function, &arguments?)
        }
    };
    result.map_err(|reason| ExpressionError::new(node.span.clone(), reason))
}

fn combine_real(operator: Binary, left: f64, right: f64) -> Result<f64, Reason> {
    let dividing = matches!(operator, Binary::Divide | Binary::FloorDivide | Binary::Remainder);
    if dividing && right == 0.0 {
        return Err(Reason::DivisionByZero { left: left.to_string(), operator: operator.symbol() });
    }
    let value = match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left / right,
        Binary::FloorDivide => (left / right).floor(),
        Binary::Remainder => left - right * (left / right).floor(),
        Binary::Power => left.powf(right),
        Binary::Or
        | Binary::And
        | Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual => {
            return Err(Reason::WrongKind {
                found: super::Kind::Condition,
                expected: super::Kind::Real,
            });
        }
    };
    if value.is_finite() {
        return Ok(value);
    }
    Err(Reason::Overflow {
        left: left.to_string(),
        operator: operator.symbol(),
        right: right.to_string(),
    })
}

fn call_real(function: Function, arguments: &[f64]) -> Result<f64, Reason> {
    let first = arguments.first().copied().unwrap_or_default();
    let out_of_domain =
        || Reason::OutOfDomain { function: function.name(), value: first.to_string() };
    match function {
        Function::Min => Ok(arguments.iter().copied().fold(f64::INFINITY, f64::min)),
        Function::Max => Ok(arguments.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        Function::CeilDiv => {
            let second = arguments.get(1).copied().unwrap_or_default();
            combine_real(Binary::Divide, first, second).map(f64::ceil)
        }
        Function::Log2Floor if first >= 1.0 => Ok(first.log2().floor()),
        Function::Log2 if first > 0.0 => Ok(first.log2()),
        Function::Sqrt if first >= 0.0 => Ok(first.sqrt()),
        Function::Log2Floor | Function::Log2 | Function::Sqrt => Err(out_of_domain()),
    }
}

fn active_blocks(kernel: &str, values: &dyn Values) -> Result<i128, Reason> {
    values
        .max_active_blocks(kernel)
        .ok_or_else(|| Reason::NoOccupancy { kernel: kernel.to_owned() })
}

fn overflow(left: i128, operator: Binary, right: i128) -> Reason {
    Reason::Overflow {
        left: left.to_string(),
        operator: operator.symbol(),
        right: right.to_string(),
    }
}

fn wrong_kind(node: &Node, expected: super::Kind) -> ExpressionError {
    let found = if expected == super::Kind::Condition {
        super::Kind::Integer
    } else {
        super::Kind::Condition
    };
    ExpressionError::new(node.span.clone(), Reason::WrongKind { found, expected })
}
