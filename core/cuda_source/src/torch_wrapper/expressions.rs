//! Expressions of host code: numbers, sizes, conditions.

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use crate::syntax::{bare, named, one_line, part};

use super::condition::{Comparison, Condition};
use super::dtypes;
use super::functions::kind_of;
use super::integer::{Fact, Integer, Operator};
use super::reader::Reader;
use super::real::{Real, RealOperator};
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Element, Kind, TensorView, Value};

/// Maximum number of operands of a real number.
const MOST_REAL_NODES: usize = 100;

impl Reader<'_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        self.nested(text, node, |reader| reader.value_here(text, bare(node)))
    }

    fn value_here(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let unknown = || text.refused(node, Why::UnknownExpression);
        match node.kind() {
            "number_literal" => number(text.of(node)).ok_or_else(unknown),
            "true" => Ok(Value::Boolean(Condition::Always(true))),
            "false" => Ok(Value::Boolean(Condition::Always(false))),
            "null" | "nullptr" => Ok(Value::Null),
            "identifier" | "qualified_identifier" | "template_function" => {
                self.name(text, node, text.of(node))
            }
            "string_literal" | "concatenated_string" | "raw_string_literal" => Ok(Value::HostOnly),
            "binary_expression" => self.binary(text, node),
            "unary_expression" => self.unary(text, node),
            "conditional_expression" => self.conditional(text, node),
            "cast_expression" => {
                let kind = part(node, "type").ok_or_else(unknown)?;
                let operand = part(node, "value").ok_or_else(unknown)?;
                let value = self.value(text, operand)?;
                self.cast(text, node, text.of(kind), value)
            }
            "sizeof_expression" => self.size_of_type(text, node),
            "call_expression" => self.call(text, node),
            "subscript_expression" => self.subscript(text, node),
            "field_expression" => self.field(text, node),
            "initializer_list" => self.list(text, node),
            "compound_literal_expression" => {
                let list = part(node, "value").ok_or_else(unknown)?;
                let kind = part(node, "type").map_or("", |kind| text.of(kind));
                match (self.list(text, list)?, kind) {
                    (Value::List(values), "dim3") => self.extents_of(text, node, values),
                    (list, _) => Ok(list),
                }
            }
            // The address of a local that a function of the host fills.
            "pointer_expression" => Ok(Value::HostOnly),
            "ERROR" => Err(text.refused(node, Why::Syntax)),
            _ => Err(unknown()),
        }
    }

    /// The values in braces or brackets.
    pub(super) fn list(&mut self, text: Text<'_>, list: Node<'_>) -> Result<Value, Refusal> {
        let mut values = Vec::new();
        for part in named(list) {
            values.push(self.value(text, part)?);
        }
        Ok(Value::List(values))
    }

    /// The value of a name.
    pub(super) fn name(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        name: &str,
    ) -> Result<Value, Refusal> {
        if let Some(local) = self.frame.local(name) {
            return Ok(local.value.clone());
        }
        let last = name.rsplit("::").next().unwrap_or(name).trim();
        if let Some(value) = self.main.integer(last) {
            return Ok(Value::Integer(Integer::Literal(i128::from(value))));
        }
        if let Some(value) = self.main.constant(last).and_then(number) {
            return Ok(value);
        }
        if name.contains("::")
            && let Some(dtype) = dtypes::from_constant(last)
        {
            return Ok(Value::Element(Element::Known(dtype)));
        }
        if self.kernel(name).is_some() {
            return Ok(Value::Kernel(one_line(name)));
        }
        match last {
            "INFINITY" | "HUGE_VALF" => Ok(Value::Real(Real::Literal(f64::INFINITY))),
            "FLT_MAX" => Ok(Value::Real(Real::Literal(f64::from(f32::MAX)))),
            "nullopt" | "None" => Ok(Value::Null),
            "kCUDA" | "cudaSuccess" | "kStrided" => Ok(Value::HostOnly),
            _ => Err(text.refused(node, Why::UnknownName)),
        }
    }

    fn binary(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let (Some(left), Some(right)) = (part(node, "left"), part(node, "right")) else {
            return Err(text.refused(node, Why::Syntax));
        };
        let symbol = part(node, "operator").map_or("", |operator| text.of(operator));
        let (left, right) = (self.value(text, left)?, self.value(text, right)?);
        self.combined(text, node, symbol, left, right)
    }

    /// The value of `left symbol right`.
    pub(super) fn combined(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        symbol: &str,
        left: Value,
        right: Value,
    ) -> Result<Value, Refusal> {
        match symbol {
            "&&" | "and" | "||" | "or" => {
                let left = self.condition_of(text, node, left)?;
                let right = self.condition_of(text, node, right)?;
                let is_and = matches!(symbol, "&&" | "and");
                return Ok(Value::Boolean(if is_and { left.and(right) } else { left.or(right) }));
            }
            _ => {}
        }
        if let Some(comparison) = Comparison::from_symbol(symbol) {
            return Ok(Value::Boolean(self.compared(comparison, left, right)));
        }
        match (left, right) {
            (Value::Integer(left), Value::Integer(right)) => integer_operation(symbol, left, right)
                .map(Value::Integer)
                .ok_or_else(|| text.refused(node, Why::NotAnInteger)),
            (
                left @ (Value::Integer(_) | Value::Real(_)),
                right @ (Value::Integer(_) | Value::Real(_)),
            ) => {
                let (left, right) = (self.real(text, node, left)?, self.real(text, node, right)?);
                let operator = match symbol {
                    "+" => RealOperator::Add,
                    "-" => RealOperator::Subtract,
                    "*" => RealOperator::Multiply,
                    "/" => RealOperator::Divide,
                    _ => return Err(text.refused(node, Why::NotANumber)),
                };
                let real = Real::Binary(operator, Box::new(left), Box::new(right));
                if real.nodes() > MOST_REAL_NODES {
                    return Err(text.refused(node, Why::TooLarge));
                }
                Ok(Value::Real(real))
            }
            (Value::Pointer(_), _) | (_, Value::Pointer(_)) => {
                Err(text.refused(node, Why::NotAPointer))
            }
            (Value::Tensor(_), _) | (_, Value::Tensor(_)) => {
                Err(text.refused(node, Why::TorchOperator))
            }
            _ => Err(text.refused(node, Why::UnknownExpression)),
        }
    }

    fn compared(&self, comparison: Comparison, left: Value, right: Value) -> Condition {
        let equal = match comparison {
            Comparison::Equal => true,
            Comparison::NotEqual => false,
            Comparison::Less
            | Comparison::LessOrEqual
            | Comparison::Greater
            | Comparison::GreaterOrEqual => {
                return match (left, right) {
                    (Value::Integer(left), Value::Integer(right)) => {
                        Condition::compared(comparison, left, right)
                    }
                    _ => Condition::Unknown,
                };
            }
        };
        let condition = match (left, right) {
            (Value::Integer(left), Value::Integer(right)) => {
                return Condition::compared(comparison, left, right);
            }
            (Value::Element(left), Value::Element(right)) => self.same_dtype(left, right),
            (Value::Sizes(left), Value::Sizes(right)) => self.same_shape(&left, &right),
            (Value::Sizes(view), Value::List(list)) | (Value::List(list), Value::Sizes(view)) => {
                self.has_sizes(&view, &list)
            }
            (Value::Null, Value::Null) => Condition::Always(true),
            (Value::Null, Value::Pointer(_) | Value::Tensor(_))
            | (Value::Pointer(_) | Value::Tensor(_), Value::Null) => Condition::Always(false),
            _ => Condition::Unknown,
        };
        if equal { condition } else { condition.negated() }
    }

    fn same_dtype(&self, left: Element, right: Element) -> Condition {
        match (left, right) {
            (Element::Known(left), Element::Known(right)) => Condition::Always(left == right),
            (Element::Of(tensor), Element::Known(dtype))
            | (Element::Known(dtype), Element::Of(tensor)) => match self.dtype_of(tensor) {
                Some(known) => Condition::Always(known == dtype),
                None => Condition::HasDtype(tensor, dtype),
            },
            (Element::Of(left), Element::Of(right)) => Condition::SameDtype(left, right),
        }
    }

    pub(super) fn same_shape(&self, left: &TensorView, right: &TensorView) -> Condition {
        match (self.shape_owner(left), self.shape_owner(right)) {
            (Some(left), Some(right)) if left == right => Condition::Always(true),
            (Some(left), Some(right)) => Condition::SameShape(left, right),
            (_, _) => Condition::Unknown,
        }
    }

    fn has_sizes(&self, view: &TensorView, list: &[Value]) -> Condition {
        let mut condition = Condition::Always(true);
        for (dimension, value) in list.iter().enumerate() {
            let Value::Integer(value) = value else { return Condition::Unknown };
            let dimension = i64::try_from(dimension).unwrap_or(i64::MAX);
            let Some(size) = self.size(view, dimension) else { return Condition::Unknown };
            condition = condition.and(Condition::compared(Comparison::Equal, size, value.clone()));
        }
        condition
    }

    fn unary(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let unknown = || text.refused(node, Why::UnknownExpression);
        let operand = part(node, "argument").ok_or_else(unknown)?;
        let symbol = part(node, "operator").map_or("", |operator| text.of(operator));
        let value = self.value(text, operand)?;
        match (symbol, value) {
            ("!" | "not", value) => {
                Ok(Value::Boolean(self.condition_of(text, operand, value)?.negated()))
            }
            ("+", value @ (Value::Integer(_) | Value::Real(_))) => Ok(value),
            ("-", Value::Integer(integer)) => {
                Integer::combined(Operator::Subtract, Integer::Literal(0), integer)
                    .map(Value::Integer)
                    .ok_or_else(unknown)
            }
            ("-", Value::Real(Real::Literal(literal))) => Ok(Value::Real(Real::Literal(-literal))),
            ("-", Value::Real(real)) => Ok(Value::Real(Real::Binary(
                RealOperator::Subtract,
                Box::new(Real::Literal(0.0)),
                Box::new(real),
            ))),
            ("~", Value::Integer(Integer::Literal(literal))) => {
                Ok(Value::Integer(Integer::Literal(!literal)))
            }
            _ => Err(unknown()),
        }
    }

    fn conditional(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let (Some(condition), Some(taken), Some(other)) =
            (part(node, "condition"), part(node, "consequence"), part(node, "alternative"))
        else {
            return Err(text.refused(node, Why::Syntax));
        };
        let value = self.value(text, condition)?;
        let condition = self.condition_of(text, condition, value)?;
        match self.decide(text, node, &condition)? {
            Some(true) => return self.value(text, taken),
            Some(false) => return self.value(text, other),
            None => {}
        }
        let (taken, other) = (self.value(text, taken)?, self.value(text, other)?);
        if taken == other {
            return Ok(taken);
        }
        match (taken, other) {
            (Value::Integer(taken), Value::Integer(other)) => selected(&condition, taken, other)
                .map(Value::Integer)
                .ok_or_else(|| text.refused(node, Why::Branch)),
            _ => Err(text.refused(node, Why::Branch)),
        }
    }

    /// The value of a cast to a type.
    pub(super) fn cast(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        type_name: &str,
        value: Value,
    ) -> Result<Value, Refusal> {
        if type_name.contains('*') {
            return self.pointer(text, node, type_name, value);
        }
        let plain = one_line(type_name).replace("const ", "");
        let dtype = self.named_dtype(&plain);
        match dtype {
            Some(Dtype::Bool) => self.condition_of(text, node, value).map(Value::Boolean),
            Some(dtype) if dtype.is_float() => self.real(text, node, value).map(Value::Real),
            Some(_) => self.integer(text, node, value).map(Value::Integer),
            None => match kind_of(&plain) {
                Some(Kind::Integer) => self.integer(text, node, value).map(Value::Integer),
                Some(Kind::Real | Kind::Boolean | Kind::Extents | Kind::Other) | None => Ok(value),
            },
        }
    }

    /// The bytes of `sizeof(type)`.
    fn size_of_type(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let operand = part(node, "type").or_else(|| part(node, "value"));
        let operand = operand.ok_or_else(|| text.refused(node, Why::Syntax))?;
        let written = text.of(operand).trim_matches(['(', ')', ' ']);
        let dtype = self.named_dtype(written);
        let vector = || Dtype::vector_from_c_name(written);
        let bytes = dtype
            .map(Dtype::address_bytes)
            .or_else(|| vector().map(|(dtype, lanes)| dtype.address_bytes() * u64::from(lanes)))
            .ok_or_else(|| text.refused(node, Why::UnknownDtype))?;
        Ok(Value::Integer(Integer::Literal(i128::from(bytes))))
    }

    fn subscript(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let unknown = || text.refused(node, Why::UnknownExpression);
        let list = part(node, "argument").ok_or_else(unknown)?;
        let index = crate::syntax::index(node).ok_or_else(unknown)?;
        let list = self.value(text, list)?;
        let index = self.value(text, index)?;
        let index = index.literal().ok_or_else(unknown)?;
        if let Value::Sizes(view) = &list {
            let dimension = i64::try_from(index).map_err(|_wide| unknown())?;
            return self.size(view, dimension).map(Value::Integer).ok_or_else(unknown);
        }
        if let Value::List(values) = &list {
            let value = usize::try_from(index).ok().and_then(|index| values.get(index));
            return value.cloned().ok_or_else(unknown);
        }
        if list.into_tensor().is_some() {
            return Err(text.refused(node, Why::TorchOperator));
        }
        Err(unknown())
    }

    /// `grid.x`, and `x->shape` of TVM FFI.
    fn field(&mut self, text: Text<'_>, node: Node<'_>) -> Result<Value, Refusal> {
        let unknown = || text.refused(node, Why::UnknownExpression);
        let argument = part(node, "argument").ok_or_else(unknown)?;
        let field = part(node, "field").map_or("", |field| text.of(field));
        match (self.value(text, argument)?, field) {
            (Value::Extents([x, _, _]), "x") => Ok(Value::Integer(x)),
            (Value::Extents([_, y, _]), "y") => Ok(Value::Integer(y)),
            (Value::Extents([_, _, z]), "z") => Ok(Value::Integer(z)),
            (Value::Tensor(view), "shape") => Ok(Value::Sizes(view)),
            (Value::HostOnly, _) => Ok(Value::HostOnly),
            _ => Err(unknown()),
        }
    }

    /// The value as an integer.
    pub(super) fn integer(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        value: Value,
    ) -> Result<Integer, Refusal> {
        let integer = if let Value::Real(real) = &value {
            truncated(real)
        } else if let Value::Boolean(Condition::Always(value)) = value {
            Some(Integer::Literal(i128::from(value)))
        } else {
            value.into_integer()
        };
        integer.ok_or_else(|| text.refused(node, Why::NotAnInteger))
    }

    /// The value as a real number.
    pub(super) fn real(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        value: Value,
    ) -> Result<Real, Refusal> {
        if let Value::Real(real) = value {
            return Ok(real);
        }
        let integer = value.into_integer().map(Real::Integer);
        integer.ok_or_else(|| text.refused(node, Why::NotANumber))
    }

    /// The value as a condition.
    pub(super) fn condition_of(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        value: Value,
    ) -> Result<Condition, Refusal> {
        Ok(match value {
            Value::Boolean(condition) => condition,
            Value::Integer(integer) => {
                Condition::compared(Comparison::NotEqual, integer, Integer::Literal(0))
            }
            Value::HostOnly | Value::BooleanParameter(_) | Value::Unset => Condition::Unknown,
            Value::Null => Condition::Always(false),
            Value::Pointer(_) | Value::Tensor(_) => Condition::Always(true),
            Value::Real(_)
            | Value::Extents(_)
            | Value::Sizes(_)
            | Value::List(_)
            | Value::Element(_)
            | Value::Options(_)
            | Value::Kernel(_) => return Err(text.refused(node, Why::UnknownExpression)),
        })
    }

    /// Elements along a dimension, which may count from the end.
    pub(super) fn size(&self, view: &TensorView, dimension: i64) -> Option<Integer> {
        if let Some(sizes) = self.listed_sizes(view) {
            let rank = i64::try_from(sizes.len()).ok()?;
            let index = if dimension < 0 { dimension + rank } else { dimension };
            return sizes.get(usize::try_from(index).ok()?).cloned();
        }
        let tensor = self.shape_owner(view)?;
        (-8..8).contains(&dimension).then_some(Integer::Fact(Fact::Size { tensor, dimension }))
    }

    /// All elements of a tensor.
    pub(super) fn elements(&self, view: &TensorView) -> Option<Integer> {
        match self.listed_sizes(view) {
            Some(sizes) => Integer::product(sizes),
            None => Some(Integer::Fact(Fact::Elements(self.shape_owner(view)?))),
        }
    }
}

/// `condition ? taken : other`, if it is a minimum or a maximum.
pub(super) fn selected(condition: &Condition, taken: Integer, other: Integer) -> Option<Integer> {
    let Condition::Compare(comparison, left, right) = condition else { return None };
    let straight = *left == taken && *right == other;
    let crossed = *left == other && *right == taken;
    let operator = match (comparison, straight, crossed) {
        (Comparison::Less | Comparison::LessOrEqual, true, _)
        | (Comparison::Greater | Comparison::GreaterOrEqual, _, true) => Operator::Minimum,
        (Comparison::Greater | Comparison::GreaterOrEqual, true, _)
        | (Comparison::Less | Comparison::LessOrEqual, _, true) => Operator::Maximum,
        (Comparison::Equal | Comparison::NotEqual, _, _)
        | (
            Comparison::Less
            | Comparison::LessOrEqual
            | Comparison::Greater
            | Comparison::GreaterOrEqual,
            false,
            false,
        ) => return None,
    };
    Integer::combined(operator, taken, other)
}

/// An operation of C++ on integers that are not negative.
fn integer_operation(symbol: &str, left: Integer, right: Integer) -> Option<Integer> {
    if let Some(operator) = operator(symbol) {
        return Integer::combined(operator, left, right);
    }
    let Integer::Literal(literal) = right else { return None };
    let power = || Some(Integer::Literal(1_i128.checked_shl(u32::try_from(literal).ok()?)?));
    match symbol {
        "<<" if (0..64).contains(&literal) => Integer::combined(Operator::Multiply, left, power()?),
        ">>" if (0..64).contains(&literal) => Integer::combined(Operator::Divide, left, power()?),
        "&" if literal >= 0 && (literal + 1).count_ones() == 1 => {
            Integer::combined(Operator::Remainder, left, Integer::Literal(literal + 1))
        }
        // `n & ~31` rounds down to a multiple of 32.
        "&" if literal < 0 && literal.checked_neg()?.count_ones() == 1 => {
            let unit = Integer::Literal(-literal);
            let quotient = Integer::combined(Operator::Divide, left, unit.clone())?;
            Integer::combined(Operator::Multiply, quotient, unit)
        }
        _ => None,
    }
}

/// A real number converted to an integer, where that is a formula of integers.
fn truncated(real: &Real) -> Option<Integer> {
    match real {
        Real::Integer(integer) => Some(integer.clone()),
        Real::Binary(RealOperator::Divide, left, right) => {
            Integer::combined(Operator::Divide, whole(left)?, whole(right)?)
        }
        Real::Literal(_) | Real::Parameter(_) | Real::Binary(..) | Real::Call(..) => {
            constant_integer(real.constant()?.trunc())
        }
    }
}

/// The smallest integer that is not less.
pub(super) fn ceiling(real: &Real) -> Option<Integer> {
    match real {
        Real::Binary(RealOperator::Divide, left, right) => {
            Integer::combined(Operator::CeilingDivide, whole(left)?, whole(right)?)
        }
        Real::Integer(integer) => Some(integer.clone()),
        Real::Literal(_) | Real::Parameter(_) | Real::Binary(..) | Real::Call(..) => {
            constant_integer(real.constant()?.ceil())
        }
    }
}

fn whole(real: &Real) -> Option<Integer> {
    match real {
        Real::Integer(integer) => Some(integer.clone()),
        Real::Literal(literal) if literal.fract() == 0.0 => constant_integer(*literal),
        Real::Literal(_) | Real::Parameter(_) | Real::Binary(..) | Real::Call(..) => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
fn constant_integer(value: f64) -> Option<Integer> {
    (value.abs() < 9e15).then_some(Integer::Literal(value as i128))
}

/// A literal of C++.
pub(super) fn number(written: &str) -> Option<Value> {
    let plain = written.trim().replace('\'', "").to_ascii_lowercase();
    if let Some(digits) = plain.strip_prefix("0x") {
        let value = i128::from_str_radix(digits.trim_end_matches(['u', 'l']), 16).ok()?;
        return Some(Value::Integer(Integer::Literal(value)));
    }
    if let Ok(value) = plain.trim_end_matches(['u', 'l']).parse::<i64>() {
        return Some(Value::Integer(Integer::Literal(i128::from(value))));
    }
    let starts = plain.starts_with(|letter: char| letter.is_ascii_digit() || ".-".contains(letter));
    let value = plain.trim_end_matches(['f', 'l']).parse::<f64>().ok().filter(|_| starts)?;
    Some(Value::Real(Real::Literal(value)))
}

/// The operator of integers that a symbol stands for.
fn operator(symbol: &str) -> Option<Operator> {
    Some(match symbol {
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "%" => Operator::Remainder,
        _ => return None,
    })
}
