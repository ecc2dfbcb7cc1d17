//! Translates expressions to Python for exported operators: integers, of symbolic sizes too.

use super::{Binary, Expression, Function, Node, NodeKind, Unary};

impl Expression {
    /// The expression in Python, with names as `spelled`. `None` for what symbolic sizes have no form of: decimals, roots,
    /// logarithms and occupancy.
    pub fn python(&self, spelled: &dyn Fn(&str) -> String) -> Option<String> {
        python(&self.root, spelled)
    }
}

fn python(node: &Node, spelled: &dyn Fn(&str) -> String) -> Option<String> {
    Some(match &node.kind {
        NodeKind::Integer(value) => value.to_string(),
        NodeKind::Name(name) => spelled(name),
        NodeKind::Unary(Unary::Negate, operand) => format!("(-{})", python(operand, spelled)?),
        NodeKind::Unary(Unary::Not, operand) => format!("(not {})", python(operand, spelled)?),
        NodeKind::Binary(operator, left, right) => {
            let (left, right) = (python(left, spelled)?, python(right, spelled)?);
            format!("({left} {} {right})", symbol(*operator))
        }
        NodeKind::Call(function, arguments) => {
            let arguments: Option<Vec<String>> =
                arguments.iter().map(|argument| python(argument, spelled)).collect();
            let arguments = arguments?;
            match (function, arguments.as_slice()) {
                (Function::Min | Function::Max, _) => {
                    format!("{}({})", function.name(), arguments.join(", "))
                }
                (Function::CeilDiv, [left, right]) => format!("(-(-{left} // {right}))"),
                (Function::CeilDiv | Function::Log2Floor | Function::Sqrt | Function::Log2, _) => {
                    return None;
                }
            }
        }
        NodeKind::Decimal(_) | NodeKind::MaxActiveBlocks(_) => return None,
    })
}

fn symbol(operator: Binary) -> &'static str {
    match operator {
        // A division with a remainder has no value.
        Binary::Divide | Binary::FloorDivide => "//",
        Binary::Remainder => "%",
        Binary::Power => "**",
        Binary::Or => "or",
        Binary::And => "and",
        Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual
        | Binary::Add
        | Binary::Subtract
        | Binary::Multiply => operator.symbol(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_have_a_form_in_python() {
        let check = |text: &str, expected: Option<&str>| {
            let formula = Expression::parse(text).unwrap();
            let found = formula.python(&|name| name.to_uppercase());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("rows", Some("ROWS"));
        check("rows * cols / 2", Some("((ROWS * COLS) // 2)"));
        check("ceil_div(cols, 128)", Some("(-(-COLS // 128))"));
        check("min(rows, 2 ** 3) - 1", Some("(min(ROWS, (2 ** 3)) - 1)"));
        check("-rows % 4", Some("((-ROWS) % 4)"));
        check("log2_floor(rows)", None);
    }
}
