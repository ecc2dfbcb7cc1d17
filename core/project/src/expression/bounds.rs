//! Bounds of integer expressions, from the bounds of their names.

use super::{Binary, Expression, Function, Node, NodeKind, Unary};

/// Both ends, inclusive.
pub type Interval = (i128, i128);

impl Expression {
    /// Lower and upper bound, not always attained; `None` if a name has no bounds or an intermediate value exceeds 128
    /// bits.
    #[must_use]
    pub fn bounds(&self, of: &dyn Fn(&str) -> Option<Interval>) -> Option<Interval> {
        bounds(&self.root, of)
    }
}

fn bounds(node: &Node, of: &dyn Fn(&str) -> Option<Interval>) -> Option<Interval> {
    match &node.kind {
        NodeKind::Integer(value) => Some((*value, *value)),
        NodeKind::Name(name) => of(name),
        NodeKind::Unary(Unary::Negate, operand) => {
            let (low, high) = bounds(operand, of)?;
            Some((high.checked_neg()?, low.checked_neg()?))
        }
        NodeKind::Binary(operator, left, right) => {
            combined(*operator, bounds(left, of)?, bounds(right, of)?)
        }
        NodeKind::Call(function, arguments) => {
            let all: Option<Vec<Interval>> =
                arguments.iter().map(|argument| bounds(argument, of)).collect();
            called(*function, &all?)
        }
        NodeKind::Decimal(_) | NodeKind::Unary(Unary::Not, _) | NodeKind::MaxActiveBlocks(_) => {
            None
        }
    }
}

fn combined(operator: Binary, left: Interval, right: Interval) -> Option<Interval> {
    match operator {
        Binary::Add => Some((left.0.checked_add(right.0)?, left.1.checked_add(right.1)?)),
        Binary::Subtract => Some((left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?)),
        Binary::Multiply => corners(left, right, i128::checked_mul),
        Binary::Divide | Binary::FloorDivide if right.0 > 0 => {
            corners(left, right, i128::checked_div_euclid)
        }
        Binary::Remainder if right.0 > 0 => Some((0, right.1 - 1)),
        Binary::Divide
        | Binary::FloorDivide
        | Binary::Remainder
        | Binary::Power
        | Binary::Or
        | Binary::And
        | Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual => None,
    }
}

/// The ends of something that is monotonous in each operand.
fn corners(
    left: Interval,
    right: Interval,
    combine: impl Fn(i128, i128) -> Option<i128>,
) -> Option<Interval> {
    let all = [
        combine(left.0, right.0)?,
        combine(left.0, right.1)?,
        combine(left.1, right.0)?,
        combine(left.1, right.1)?,
    ];
    Some((*all.iter().min()?, *all.iter().max()?))
}

fn called(function: Function, all: &[Interval]) -> Option<Interval> {
    let (first, rest) = all.split_first()?;
    match function {
        Function::Min => Some(rest.iter().fold(*first, |a, b| (a.0.min(b.0), a.1.min(b.1)))),
        Function::Max => Some(rest.iter().fold(*first, |a, b| (a.0.max(b.0), a.1.max(b.1)))),
        Function::CeilDiv => {
            let divisor = rest.first().filter(|divisor| divisor.0 > 0)?;
            let up = |value: i128, by: i128| value.checked_add(by - 1)?.checked_div_euclid(by);
            corners(*first, *divisor, up)
        }
        Function::Log2Floor if first.0 > 0 => {
            Some((i128::from(first.0.ilog2()), i128::from(first.1.ilog2())))
        }
        Function::Log2Floor | Function::Sqrt | Function::Log2 => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_contain_every_value() {
        let check = |text: &str, expected: Option<Interval>| {
            let of = |name: &str| match name {
                "n" => Some((1, 1000)),
                "d" => Some((-3, 5)),
                _ => None,
            };
            assert_eq!(Expression::parse(text).unwrap().bounds(&of), expected, "{text}");
        };
        check("n", Some((1, 1000)));
        check("2 * n - d", Some((-3, 2003)));
        check("n * d", Some((-3000, 5000)));
        check("ceil_div(n, 256)", Some((1, 4)));
        check("n // 3", Some((0, 333)));
        check("n % 7", Some((0, 6)));
        check("min(n, 65535, 4 * n)", Some((1, 1000)));
        check("max(d, 2)", Some((2, 5)));
        check("n // d", None);
        check("m + 1", None);
        check("log2_floor(n)", Some((0, 9)));
        check("-d", Some((-5, 3)));
        check("max_active_blocks(\"f\")", None);
    }
}
