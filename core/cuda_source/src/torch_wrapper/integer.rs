//! Integers that host code computes from the sizes of tensors and its integer parameters.

/// An integer as a formula; built by [`Integer::combined`], which folds literals and recognises ceiling divisions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Integer {
    Literal(i128),
    Fact(Fact),
    Binary(Operator, Box<Self>, Box<Self>),
    /// The least power of two that is not less than a positive number.
    NextPowerOfTwo(Box<Self>),
}

/// A number that only a call of the wrapper decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// Elements along a dimension of a tensor; -1 is the last dimension.
    Size { tensor: usize, dimension: i64 },
    /// Distance of neighbours along a dimension, in elements, of a contiguous tensor.
    Stride { tensor: usize, dimension: i64 },
    /// All elements of a tensor.
    Elements(usize),
    /// The number of dimensions of a tensor.
    Rank(usize),
    /// An integer parameter of the wrapper, by its position.
    Parameter(usize),
}

/// Operators of integers. Divisions round as in C++; sizes have no sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    CeilingDivide,
    Minimum,
    Maximum,
}

/// Maximum number of operands of a formula: a project's expressions have at most 1,024 bytes.
const MOST_NODES: usize = 160;

impl Integer {
    /// `left operator right`, simplified; `None` on overflow, division by zero, or if the formula is too long.
    #[must_use]
    pub fn combined(operator: Operator, left: Self, right: Self) -> Option<Self> {
        if let (Self::Literal(left), Self::Literal(right)) = (&left, &right) {
            return folded(operator, *left, *right).map(Self::Literal);
        }
        let simple = match (operator, left, right) {
            (Operator::Add, Self::Literal(literal), other) => {
                return Self::combined(Operator::Add, other, Self::Literal(literal));
            }
            (Operator::Subtract, left, Self::Literal(literal)) => {
                let negated = Self::Literal(literal.checked_neg()?);
                return Self::combined(Operator::Add, left, negated);
            }
            (Operator::Add, left, Self::Literal(literal)) => added(left, literal)?,
            (Operator::Multiply, Self::Literal(1), other)
            | (Operator::Multiply | Operator::Divide, other, Self::Literal(1)) => other,
            (Operator::Divide, left, right) => match numerator(&left, &right) {
                Some(part) => return Self::combined(Operator::CeilingDivide, part, right),
                None => quotient(left, right),
            },
            (Operator::Minimum | Operator::Maximum, left, right) if left == right => left,
            (operator, left, right) => Self::Binary(operator, Box::new(left), Box::new(right)),
        };
        (simple.nodes() <= MOST_NODES).then_some(simple)
    }

    /// The least power of two that is not less than a number; `None` if the number is a literal below 1.
    #[must_use]
    pub fn next_power_of_two(self) -> Option<Self> {
        match self {
            Self::Literal(literal) => power_of_two(literal).map(Self::Literal),
            other @ (Self::Fact(_) | Self::Binary(..) | Self::NextPowerOfTwo(_)) => {
                Some(Self::NextPowerOfTwo(Box::new(other)))
            }
        }
    }

    /// The product of factors; 1 for none.
    #[must_use]
    pub fn product(factors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut product = Self::Literal(1);
        for factor in factors {
            product = Self::combined(Operator::Multiply, product, factor)?;
        }
        Some(product)
    }

    /// The formula with every fact replaced.
    #[must_use]
    pub fn replaced(&self, with: &dyn Fn(Fact) -> Option<Self>) -> Option<Self> {
        match self {
            Self::Literal(literal) => Some(Self::Literal(*literal)),
            Self::Fact(fact) => with(*fact),
            Self::Binary(operator, left, right) => {
                Self::combined(*operator, left.replaced(with)?, right.replaced(with)?)
            }
            Self::NextPowerOfTwo(inner) => inner.replaced(with)?.next_power_of_two(),
        }
    }

    /// The value, given those of the facts.
    #[must_use]
    pub fn value(&self, of: &dyn Fn(Fact) -> Option<i128>) -> Option<i128> {
        match self {
            Self::Literal(literal) => Some(*literal),
            Self::Fact(fact) => of(*fact),
            Self::Binary(operator, left, right) => {
                folded(*operator, left.value(of)?, right.value(of)?)
            }
            Self::NextPowerOfTwo(inner) => power_of_two(inner.value(of)?),
        }
    }

    /// All facts of the formula, from left to right.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Fact(fact) => vec![*fact],
            Self::Binary(_, left, right) => {
                let mut facts = left.facts();
                facts.extend(right.facts());
                facts
            }
            Self::NextPowerOfTwo(inner) => inner.facts(),
        }
    }

    /// The formula in the expression language of projects, with names for facts; `None` where a fact has none.
    #[must_use]
    pub fn text(&self, name: &dyn Fn(Fact) -> Option<String>) -> Option<String> {
        self.text_within(name, 0)
    }

    fn text_within(&self, name: &dyn Fn(Fact) -> Option<String>, outer: u8) -> Option<String> {
        let (operator, left, right) = match self {
            Self::Literal(literal) => return Some(literal.to_string()),
            Self::Fact(fact) => return name(*fact),
            Self::Binary(operator, left, right) => (*operator, left, right),
            Self::NextPowerOfTwo(inner) => {
                return Some(format!("2 ** log2_floor(2 * {} - 1)", inner.text_within(name, 3)?));
            }
        };
        let infix = |symbol: &str, level: u8| {
            let left = left.text_within(name, level)?;
            let right = match right.literal() {
                // A negative last term of a sum is subtracted.
                Some(literal) if literal < 0 => literal.unsigned_abs().to_string(),
                Some(_) | None => right.text_within(name, level + 1)?,
            };
            let text = format!("{left} {symbol} {right}");
            Some(if level < outer { format!("({text})") } else { text })
        };
        let function = |called: &str| {
            Some(format!(
                "{called}({}, {})",
                left.text_within(name, 0)?,
                right.text_within(name, 0)?
            ))
        };
        match operator {
            Operator::Add => match &**right {
                Self::Literal(literal) if *literal < 0 => infix("-", 1),
                Self::Literal(_) | Self::Fact(_) | Self::Binary(..) | Self::NextPowerOfTwo(_) => {
                    infix("+", 1)
                }
            },
            Operator::Subtract => infix("-", 1),
            Operator::Multiply => infix("*", 2),
            Operator::Divide => infix("//", 2),
            Operator::Remainder => infix("%", 2),
            Operator::CeilingDivide => function("ceil_div"),
            Operator::Minimum => function("min"),
            Operator::Maximum => function("max"),
        }
    }

    fn literal(&self) -> Option<i128> {
        if let Self::Literal(literal) = self { Some(*literal) } else { None }
    }

    fn nodes(&self) -> usize {
        match self {
            Self::Literal(_) | Self::Fact(_) => 1,
            Self::Binary(_, left, right) => 1 + left.nodes() + right.nodes(),
            Self::NextPowerOfTwo(inner) => 4 + inner.nodes(),
        }
    }
}

/// A sum with a literal as its last term.
fn added(left: Integer, literal: i128) -> Option<Integer> {
    if literal == 0 {
        return Some(left);
    }
    if let Integer::Binary(Operator::Add, first, second) = &left
        && let Some(inner) = second.literal()
    {
        let joined = Integer::Literal(inner.checked_add(literal)?);
        return Integer::combined(Operator::Add, (**first).clone(), joined);
    }
    Some(sum(left, literal))
}

fn sum(left: Integer, literal: i128) -> Integer {
    Integer::Binary(Operator::Add, Box::new(left), Box::new(Integer::Literal(literal)))
}

/// `n`, if the dividend is `n + divisor - 1`.
fn numerator(dividend: &Integer, divisor: &Integer) -> Option<Integer> {
    let Integer::Binary(Operator::Add, first, second) = dividend else { return None };
    if let (Integer::Literal(added), Integer::Literal(divisor)) = (&**second, divisor) {
        return (*added > 0 && *added == divisor - 1).then(|| (**first).clone());
    }
    let one_less = Integer::combined(Operator::Add, divisor.clone(), Integer::Literal(-1))?;
    if **second == one_less {
        return Some((**first).clone());
    }
    match (&**first, &**second) {
        (Integer::Binary(Operator::Add, left, right), Integer::Literal(-1))
            if **right == *divisor =>
        {
            Some((**left).clone())
        }
        (Integer::Binary(Operator::Add, left, right), Integer::Literal(-1))
            if **left == *divisor =>
        {
            Some((**right).clone())
        }
        _ => None,
    }
}

/// A quotient without the factor that dividend and divisor share.
fn quotient(dividend: Integer, divisor: Integer) -> Integer {
    if dividend == divisor {
        return Integer::Literal(1);
    }
    if let Integer::Binary(Operator::Multiply, left, right) = &dividend {
        if **right == divisor {
            return (**left).clone();
        }
        let shorter = quotient((**left).clone(), divisor.clone());
        if shorter == Integer::Literal(1) {
            return (**right).clone();
        }
        if !matches!(shorter, Integer::Binary(Operator::Divide, ..)) {
            return Integer::Binary(Operator::Multiply, Box::new(shorter), right.clone());
        }
    }
    Integer::Binary(Operator::Divide, Box::new(dividend), Box::new(divisor))
}

fn power_of_two(number: i128) -> Option<i128> {
    let number = u128::try_from(number).ok().filter(|number| *number > 0)?;
    i128::try_from(number.checked_next_power_of_two()?).ok()
}

fn folded(operator: Operator, left: i128, right: i128) -> Option<i128> {
    match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
        Operator::CeilingDivide => {
            let quotient = left.checked_div(right)?;
            let rounds_up = left.checked_rem(right)? != 0 && (left < 0) == (right < 0);
            quotient.checked_add(i128::from(rounds_up))
        }
        Operator::Minimum => Some(left.min(right)),
        Operator::Maximum => Some(left.max(right)),
    }
}
