//! Checks names and kinds of an expression, without values.

use std::fmt;

use super::{
    Binary, DEVICE_PREFIX, Expression, ExpressionError, Function, MAX_ACTIVE_BLOCKS, Node,
    NodeKind, Reason, Unary,
};
use crate::nearest::nearest;

/// The names of the device facts, as expressions spell them.
const DEVICE_FACTS: [&str; 6] = [
    "device.sms",
    "device.l2_bytes",
    "device.max_shared_per_block",
    "device.shared_per_sm",
    "device.warp_size",
    "device.max_threads_per_sm",
];

/// The kind of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// True or false.
    Condition,
    /// A work formula: floating point.
    Real,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Integer | Self::Real => "number",
            Self::Condition => "condition",
        })
    }
}

/// The names that an expression may use in its location.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Axes, integer scalars and parameters.
    pub integers: Vec<String>,
    /// Scalars of other types: for work formulas only.
    pub reals: Vec<String>,
    /// Whether device facts have a meaning here.
    pub device: DeviceNames,
    /// Whether unknown names are accepted: outside a project the axes of a kernel file are unknown.
    pub open: Openness,
}

/// Which facts of a device an expression may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceNames {
    /// None: the definition never depends on a device.
    #[default]
    None,
    /// The values of a device sheet.
    Facts,
    /// Also the occupancy of these kernels, which is known after compilation.
    FactsAndOccupancy(Vec<String>),
}

/// The treatment of unknown names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Openness {
    /// They are errors.
    #[default]
    Closed,
    /// They may be axes of a project that is not at hand.
    Open,
}

impl Expression {
    /// Checks every name and the kinds of all operands, as far as possible without values.
    pub fn check(&self, scope: &Scope, kind: Kind) -> Result<(), ExpressionError> {
        let found = Checker { scope, real: kind == Kind::Real }.kind(&self.root)?;
        expect_kind(&self.root, found, if kind == Kind::Real { Kind::Integer } else { kind })
    }
}

struct Checker<'a> {
    scope: &'a Scope,
    real: bool,
}

impl Checker<'_> {
    /// `Integer` accepts any number here; `real` states whether decimals are allowed.
    fn kind(&self, node: &Node) -> Result<Kind, ExpressionError> {
        let fail = |reason| Err(ExpressionError::new(node.span.clone(), reason));
        match &node.kind {
            NodeKind::Integer(_) => Ok(Kind::Integer),
            NodeKind::Decimal(_) if self.real => Ok(Kind::Integer),
            NodeKind::Decimal(_) => fail(Reason::DecimalHere),
            NodeKind::Name(name) => match self.name(name) {
                None => Ok(Kind::Integer),
                Some(reason) => fail(reason),
            },
            NodeKind::MaxActiveBlocks(kernel) => match self.occupancy(kernel) {
                None => Ok(Kind::Integer),
                Some(reason) => fail(reason),
            },
            NodeKind::Unary(operator, operand) => {
                let kind = match operator {
                    Unary::Negate => Kind::Integer,
                    Unary::Not => Kind::Condition,
                };
                self.expect(operand, kind)?;
                Ok(kind)
            }
            NodeKind::Binary(operator, left, right) => {
                let (operands, result) = signature(*operator);
                self.expect(left, operands)?;
                self.expect(right, operands)?;
                Ok(result)
            }
            NodeKind::Call(function, arguments) => {
                if function.is_real() && !self.real {
                    return fail(Reason::RealFunctionHere { function: function.name() });
                }
                arguments.iter().try_for_each(|argument| self.expect(argument, Kind::Integer))?;
                Ok(Kind::Integer)
            }
        }
    }

    fn expect(&self, node: &Node, expected: Kind) -> Result<(), ExpressionError> {
        expect_kind(node, self.kind(node)?, expected)
    }

    fn name(&self, name: &str) -> Option<Reason> {
        if name.starts_with(DEVICE_PREFIX) && DEVICE_FACTS.contains(&name) {
            return match self.scope.device {
                DeviceNames::None => Some(Reason::DeviceFactHere { name: name.to_owned() }),
                DeviceNames::Facts | DeviceNames::FactsAndOccupancy(_) => None,
            };
        }
        let has = |names: &[String]| names.iter().any(|known| known == name);
        if has(&self.scope.integers) || (self.real && has(&self.scope.reals)) {
            return None;
        }
        if has(&self.scope.reals) {
            return Some(Reason::RealName { name: name.to_owned() });
        }
        if self.scope.open == Openness::Open && !name.contains('.') {
            return None;
        }
        let mut known = self.scope.integers.clone();
        if self.real {
            known.extend(self.scope.reals.iter().cloned());
        }
        if self.scope.device != DeviceNames::None {
            known.extend(DEVICE_FACTS.iter().map(|fact| (*fact).to_owned()));
        }
        // A scalar of another type may be intended; a second message then reports that its type does not fit.
        let meant = known.iter().chain(&self.scope.reals).map(String::as_str);
        let functions =
            || Function::ALL.iter().map(|function| function.name()).chain([MAX_ACTIVE_BLOCKS]);
        let nearest = nearest(name, meant.chain(functions())).map(|near| {
            // A function name without arguments is an error.
            let is_function = functions().any(|function| function == near);
            if is_function { format!("{near}(…)") } else { near.to_owned() }
        });
        Some(Reason::UnknownName { name: name.to_owned(), nearest, known })
    }

    fn occupancy(&self, kernel: &str) -> Option<Reason> {
        match &self.scope.device {
            DeviceNames::None | DeviceNames::Facts => Some(Reason::OccupancyHere),
            DeviceNames::FactsAndOccupancy(kernels)
                if kernels.iter().any(|known| known == kernel) =>
            {
                None
            }
            DeviceNames::FactsAndOccupancy(kernels) => Some(Reason::UnknownKernel {
                name: kernel.to_owned(),
                nearest: nearest(kernel, kernels.iter().map(String::as_str)).map(str::to_owned),
                known: kernels.clone(),
            }),
        }
    }
}

fn expect_kind(node: &Node, found: Kind, expected: Kind) -> Result<(), ExpressionError> {
    if found == expected {
        Ok(())
    } else {
        Err(ExpressionError::new(node.span.clone(), Reason::WrongKind { found, expected }))
    }
}

/// The kind of both operands, and of the result.
fn signature(operator: Binary) -> (Kind, Kind) {
    match operator {
        Binary::Or | Binary::And => (Kind::Condition, Kind::Condition),
        Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessOrEqual
        | Binary::Greater
        | Binary::GreaterOrEqual => (Kind::Integer, Kind::Condition),
        Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Divide
        | Binary::FloorDivide
        | Binary::Remainder
        | Binary::Power => (Kind::Integer, Kind::Integer),
    }
}
