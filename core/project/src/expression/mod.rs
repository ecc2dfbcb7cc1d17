//! The expression language of shapes, grids, conditions and work formulas.
//!
//! An expression is parsed once, checked once against the names of its scope, and evaluated once per workload. Integers
//! are checked 128-bit; no operation wraps or rounds implicitly.

mod bounds;
mod check;
mod cpp;
mod error;
mod evaluate;
mod parse;
mod python;
mod token;

use std::{collections::BTreeSet, ops::Range};

pub use bounds::Interval;
pub use check::{DeviceNames, Kind, Openness, Scope};
pub use cpp::Spelling;
pub use error::{ExpressionError, Reason};
pub use evaluate::Values;

/// The longest expression, in bytes.
pub const MAX_BYTES: usize = 1024;

/// The deepest nesting of parentheses, calls and signs.
pub const MAX_DEPTH: usize = 64;

/// The prefix of names that only a device can answer.
pub const DEVICE_PREFIX: &str = "device.";

/// A parsed expression with the text it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

impl Expression {
    /// Parses the whole text as one expression; names are not resolved yet.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let root = parse::parse(text)?;
        Ok(Self { text: text.to_owned(), root })
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name, if the expression is a single name.
    pub fn as_name(&self) -> Option<&str> {
        match &self.root.kind {
            NodeKind::Name(name) => Some(name),
            NodeKind::Integer(_)
            | NodeKind::Decimal(_)
            | NodeKind::Unary(..)
            | NodeKind::Binary(..)
            | NodeKind::Call(..)
            | NodeKind::MaxActiveBlocks(_) => None,
        }
    }

    /// The value, if the expression is a single integer.
    pub fn as_integer(&self) -> Option<i128> {
        if let NodeKind::Integer(value) = self.root.kind { Some(value) } else { None }
    }

    /// Every name used, in alphabetical order.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.root.visit(&mut |node| {
            if let NodeKind::Name(name) = &node.kind {
                names.insert(name.as_str());
            }
        });
        names
    }

    /// The kernels whose occupancy the expression uses.
    pub fn occupancy_of(&self) -> BTreeSet<&str> {
        let mut kernels = BTreeSet::new();
        self.root.visit(&mut |node| {
            if let NodeKind::MaxActiveBlocks(kernel) = &node.kind {
                kernels.insert(kernel.as_str());
            }
        });
        kernels
    }

    /// Whether the expression needs a device for its value.
    pub fn needs_device(&self) -> bool {
        !self.occupancy_of().is_empty()
            || self.names().iter().any(|name| name.starts_with(DEVICE_PREFIX))
    }
}

impl From<i64> for Expression {
    fn from(value: i64) -> Self {
        let text = value.to_string();
        let root = Node { span: 0..text.len(), kind: NodeKind::Integer(i128::from(value)) };
        Self { text, root }
    }
}

/// One node of the tree with its bytes in the text.
#[derive(Clone, Debug, PartialEq)]
struct Node {
    span: Range<usize>,
    kind: NodeKind,
}

#[derive(Clone, Debug, PartialEq)]
enum NodeKind {
    Integer(i128),
    Decimal(f64),
    Name(String),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
    MaxActiveBlocks(String),
}

impl Node {
    fn visit<'a>(&'a self, seen: &mut impl FnMut(&'a Self)) {
        seen(self);
        match &self.kind {
            NodeKind::Unary(_, operand) => operand.visit(seen),
            NodeKind::Binary(_, left, right) => {
                left.visit(seen);
                right.visit(seen);
            }
            NodeKind::Call(_, arguments) => {
                for argument in arguments {
                    argument.visit(seen);
                }
            }
            NodeKind::Integer(_)
            | NodeKind::Decimal(_)
            | NodeKind::Name(_)
            | NodeKind::MaxActiveBlocks(_) => {}
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unary {
    Negate,
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

impl Binary {
    /// Rising precedence: the larger binds tighter.
    fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::FloorDivide | Self::Remainder => 6,
            Self::Power => 8,
        }
    }

    fn is_comparison(self) -> bool {
        self.precedence() == 4
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Power => "**",
        }
    }
}

/// Functions with numbers as arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    CeilDiv,
    Min,
    Max,
    Log2Floor,
    Sqrt,
    Log2,
}

/// The only function with a kernel name as its argument.
const MAX_ACTIVE_BLOCKS: &str = "max_active_blocks";

impl Function {
    const ALL: [Self; 6] =
        [Self::CeilDiv, Self::Min, Self::Max, Self::Log2Floor, Self::Sqrt, Self::Log2];

    fn name(self) -> &'static str {
        match self {
            Self::CeilDiv => "ceil_div",
            Self::Min => "min",
            Self::Max => "max",
            Self::Log2Floor => "log2_floor",
            Self::Sqrt => "sqrt",
            Self::Log2 => "log2",
        }
    }

    /// The minimum and maximum number of arguments.
    fn arity(self) -> (usize, usize) {
        match self {
            Self::CeilDiv => (2, 2),
            Self::Min | Self::Max => (1, usize::MAX),
            Self::Log2Floor | Self::Sqrt | Self::Log2 => (1, 1),
        }
    }

    /// Whether only work formulas may use it.
    fn is_real(self) -> bool {
        matches!(self, Self::Sqrt | Self::Log2)
    }
}

#[cfg(test)]
mod tests;
