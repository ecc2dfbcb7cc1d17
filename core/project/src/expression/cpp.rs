//! Translates expressions to C++ for exported launchers: 64-bit integers, and functions where the rules of C++ differ.

use super::{Binary, Expression, Function, Node, NodeKind, Unary};

/// The C++ spelling of the names in an expression.
pub trait Spelling {
    /// An axis, an integer scalar, a parameter or a device fact.
    fn name(&self, name: &str) -> String;

    /// Resident blocks of a step's kernel on the whole device; `None` if unknown.
    fn max_active_blocks(&self, kernel: &str) -> Option<String>;
}

impl Expression {
    /// The expression in C++: a `long long`, or a `bool` for a condition. Work formulas have no C++ form.
    ///
    /// `exact`, `floored`, `remainder`, `power`, `ceil_div` and `log2_floor` of `assets/launcher` take a last argument,
    /// `sound`, which they clear if the expression has no value.
    pub fn cpp(&self, spelling: &dyn Spelling) -> Option<String> {
        cpp(&self.root, spelling)
    }
}

fn cpp(node: &Node, spelling: &dyn Spelling) -> Option<String> {
    Some(match &node.kind {
        NodeKind::Integer(value) => {
            let value = i64::try_from(*value).ok()?;
            if i32::try_from(value).is_ok() { value.to_string() } else { format!("{value}LL") }
        }
        NodeKind::Decimal(_) => return None,
        NodeKind::Name(name) => spelling.name(name),
        NodeKind::MaxActiveBlocks(kernel) => return spelling.max_active_blocks(kernel),
        NodeKind::Unary(Unary::Negate, operand) => format!("-{}", inner(operand, spelling)?),
        NodeKind::Unary(Unary::Not, operand) => format!("!{}", inner(operand, spelling)?),
        NodeKind::Binary(operator, left, right) => {
            if let Some(function) = function(*operator) {
                let (left, right) = (cpp(left, spelling)?, cpp(right, spelling)?);
                return Some(format!("lightbench::{function}({left}, {right}, sound)"));
            }
            let (left, right) = (inner(left, spelling)?, inner(right, spelling)?);
            format!("{left} {} {right}", symbol(*operator))
        }
        NodeKind::Call(function, arguments) => {
            let arguments: Option<Vec<String>> =
                arguments.iter().map(|argument| cpp(argument, spelling)).collect();
            let list = arguments?.join(", ");
            match function {
                Function::Min => format!("std::min<long long>({{{list}}})"),
                Function::Max => format!("std::max<long long>({{{list}}})"),
                Function::CeilDiv | Function::Log2Floor => {
                    format!("lightbench::{}({list}, sound)", function.name())
                }
                Function::Sqrt | Function::Log2 => return None,
            }
        }
    })
}

/// An operand, in parentheses unless it is a word or a call.
fn inner(node: &Node, spelling: &dyn Spelling) -> Option<String> {
    let text = cpp(node, spelling)?;
    let alone = match &node.kind {
        NodeKind::Binary(operator, ..) => function(*operator).is_some(),
        NodeKind::Unary(..) => false,
        NodeKind::Integer(value) => *value >= 0,
        NodeKind::Decimal(_)
        | NodeKind::Name(_)
        | NodeKind::Call(..)
        | NodeKind::MaxActiveBlocks(_) => true,
    };
    Some(if alone { text } else { format!("({text})") })
}

/// The function for an operator that C++ lacks or defines differently.
fn function(operator: Binary) -> Option<&'static str> {
    match operator {
        Binary::Divide => Some("exact"),
        Binary::FloorDivide => Some("floored"),
        Binary::Remainder => Some("remainder"),
        Binary::Power => Some("power"),
        Binary::Or
        | Binary::And
        | Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual
        | Binary::Add
        | Binary::Subtract
        | Binary::Multiply => None,
    }
}

fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::Or => "||",
        Binary::And => "&&",
        Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual
        | Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Divide
        | Binary::FloorDivide
        | Binary::Remainder
        | Binary::Power => operator.symbol(),
    }
}
