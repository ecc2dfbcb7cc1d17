//! Expressions of host code as formulas.

use lightbench_cuda_source::torch_wrapper::{
    Comparison as Order, Condition, Fact, Integer, Operator, ParameterKind, Real, RealFunction,
    RealOperator, Refusal, Why, WrapperParameter,
};
use lightbench_primitives::dtype::Dtype;
use lightbench_python_source::{
    BinaryOperator, Comparison, Expression, ExpressionKind, UnaryOperator,
};

use super::autotune::assigned;
use super::host::Host;
use super::parameters::literal;
use super::value::{
    ElementType, HostFunction, Sizes, Value, View, real_binary, real_call, selected, whole,
};
use crate::python::torch_dtype;

/// Functions that are followed inside each other.
pub(super) const DEEPEST: usize = 16;

/// Multiprocessors of an H200, for choosing sizes.
const MULTIPROCESSORS: i128 = 132;

impl Host<'_> {
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Result<Value, Refusal> {
        match &expression.kind {
            ExpressionKind::Integer(value) => Ok(Value::literal(*value)),
            ExpressionKind::Float(value) => Ok(Value::Real(Real::Literal(*value))),
            ExpressionKind::Text { text, .. } => Ok(Value::Text(text.clone())),
            ExpressionKind::Boolean(value) => Ok(Value::Condition(Condition::Always(*value))),
            ExpressionKind::None => Ok(Value::None),
            ExpressionKind::Name(name) => self.named(expression, name),
            ExpressionKind::Tuple(all) | ExpressionKind::List(all) => {
                let all: Result<Vec<_>, _> = all.iter().map(|each| self.evaluate(each)).collect();
                all.map(Value::Tuple)
            }
            ExpressionKind::Attribute { value, name } => self.attribute(expression, value, name),
            ExpressionKind::Call(call) => self.call(expression, call),
            ExpressionKind::Subscript { value, indices } => {
                self.subscript(expression, value, indices)
            }
            ExpressionKind::Unary { operator, operand } => {
                let value = self.evaluate(operand)?;
                self.unary(expression, *operator, &value)
            }
            ExpressionKind::Binary { operator, left, right } => {
                let left_value = self.evaluate(left)?;
                if let BinaryOperator::And | BinaryOperator::Or = operator {
                    return self.joined(*operator, left_value, right);
                }
                let right = self.evaluate(right)?;
                self.binary(expression, *operator, &left_value, &right)
            }
            ExpressionKind::Compare { first, rest } => self.comparison(first, rest),
            ExpressionKind::Conditional { condition, then, otherwise } => {
                let condition = self.decided(condition)?;
                if let Condition::Always(true) | Condition::Given = condition {
                    return self.evaluate(then);
                }
                if let Condition::Always(false) = condition {
                    return self.evaluate(otherwise);
                }
                let (then, otherwise) = (self.evaluate(then)?, self.evaluate(otherwise)?);
                let both = then.integer().zip(otherwise.integer());
                let chosen = both.and_then(|(left, right)| selected(&condition, left, right));
                chosen.map(Value::Integer).ok_or_else(|| self.refused(expression, Why::Branch))
            }
            ExpressionKind::Other { what, parts } if what == "lambda" => {
                let (parameter, body) = match parts.as_slice() {
                    [body] => (None, body),
                    [parameters, body] => (parameters.parts().first().copied(), body),
                    _ => return Err(self.refused(expression, Why::UnknownExpression)),
                };
                let parameter = parameter.and_then(Expression::dotted_name);
                let function = HostFunction::Lambda(parameter, Box::new(body.clone()));
                Ok(Value::Function(function))
            }
            ExpressionKind::Other { what, parts } if what == "set" => {
                let all: Result<Vec<_>, _> = parts.iter().map(|each| self.evaluate(each)).collect();
                all.map(Value::Tuple)
            }
            ExpressionKind::Dictionary(pairs) => {
                let mut all = Vec::new();
                for (key, value) in pairs {
                    let Value::Text(key) = self.evaluate(key)? else {
                        return Err(self.refused(expression, Why::UnknownExpression));
                    };
                    all.push((key, self.evaluate(value)?));
                }
                Ok(Value::Arguments(all))
            }
            ExpressionKind::Slice { .. }
            | ExpressionKind::Starred(_)
            | ExpressionKind::Ellipsis
            | ExpressionKind::Other { .. } => Err(self.refused(expression, Why::UnknownExpression)),
        }
    }

    fn named(&mut self, at: &Expression, name: &str) -> Result<Value, Refusal> {
        if let Some(value) = self.names.get(name) {
            return Ok(value.clone());
        }
        if let Some(value) = self.file.constants.get(name) {
            return Ok(literal(value.clone()));
        }
        if let Some(function) = self.file.module.function(name) {
            let function = HostFunction::Definition(Box::new(function.clone()));
            return Ok(Value::Function(function));
        }
        if let Some(value) = global(&self.file.module.full_name(name)) {
            return Ok(value);
        }
        let value = assigned(self.file.module, name).filter(|_| self.depth < DEEPEST);
        let Some(value) = value.cloned() else {
            return Err(self.refused(at, Why::UnknownName));
        };
        // A global of the module, which sees no local names.
        let names = std::mem::take(&mut self.names);
        self.depth += 1;
        let value = self.evaluate(&value);
        self.depth -= 1;
        self.names = names;
        value
    }

    fn attribute(
        &mut self,
        at: &Expression,
        owner: &Expression,
        name: &str,
    ) -> Result<Value, Refusal> {
        if let Some(dotted) = at.dotted_name()
            && !self.is_local(owner)
            && let Some(value) = global(&self.file.module.full_name(&dotted))
        {
            return Ok(value);
        }
        match (self.evaluate(owner)?, name) {
            (Value::Tensor(view), "shape") => Ok(Value::Shape(view)),
            (Value::Tensor(view), "dtype") => Ok(Value::Type(self.element(view.tensor))),
            (Value::Tensor(view), "ndim") => Ok(Value::Integer(rank(&view))),
            (Value::Tensor(_), "device") => Ok(Value::Device),
            (Value::Tensor(_), "is_cuda") => Ok(Value::Condition(Condition::Given)),
            (Value::Type(element), "itemsize") => self.element_bytes(at, element),
            (Value::Device, "multi_processor_count") => Ok(self.multiprocessors()),
            (Value::Device | Value::Compiled(..), _) => Ok(Value::Device),
            _ => Err(self.refused(at, Why::UnknownExpression)),
        }
    }

    fn multiprocessors(&mut self) -> Value {
        Value::Integer(self.launch_number("device.sms", MULTIPROCESSORS))
    }

    /// A number that only the launch block knows.
    pub(super) fn launch_number(&mut self, name: &str, value: i128) -> Integer {
        let parameters = &mut self.read.wrapper.parameters;
        let position = parameters.iter().position(|each| each.name == name).unwrap_or_else(|| {
            let kind = ParameterKind::Launch(value);
            parameters.push(WrapperParameter { name: name.to_owned(), kind });
            parameters.len() - 1
        });
        Integer::Fact(Fact::Parameter(position))
    }

    /// Whether the first part of a dotted name is a local variable.
    fn is_local(&self, owner: &Expression) -> bool {
        let dotted = owner.dotted_name().unwrap_or_default();
        let first = dotted.split('.').next().unwrap_or_default();
        self.names.contains_key(first)
    }

    /// The dtype of a tensor as a value.
    pub(super) fn element(&self, tensor: usize) -> ElementType {
        self.dtype_of(tensor).map_or(ElementType::Of(tensor), ElementType::Known)
    }

    /// The bytes of an element. A tensor without a dtype becomes one of f32, the dtype of a project that states none.
    pub(super) fn element_bytes(
        &mut self,
        at: &Expression,
        element: ElementType,
    ) -> Result<Value, Refusal> {
        let dtype = match element {
            ElementType::Known(dtype) => dtype,
            ElementType::Of(tensor) => self.dtype_of(tensor).unwrap_or(Dtype::F32),
        };
        let bits = i128::from(dtype.bits());
        if bits % 8 != 0 {
            return Err(self.refused(at, Why::UnknownDtype));
        }
        Ok(Value::literal(bits / 8))
    }

    fn subscript(
        &mut self,
        at: &Expression,
        value: &Expression,
        indices: &[Expression],
    ) -> Result<Value, Refusal> {
        let owner = self.evaluate(value)?;
        let [index] = indices else { return Err(self.refused(at, Why::UnknownExpression)) };
        let index = self.evaluate(index)?;
        if let Value::Device | Value::Compiled(..) = owner {
            let is_count = matches!(index, Value::Text(key) if key == "multiprocessor_count");
            return Ok(if is_count { self.multiprocessors() } else { Value::Device });
        }
        let refused = || self.refused(at, Why::UnknownExpression);
        if let (Value::Shape(view), Some(Integer::Literal(index))) = (&owner, index.integer()) {
            let size = i64::try_from(index).ok().and_then(|index| view.size(index));
            return size.map(Value::Integer).ok_or_else(refused);
        }
        if let (Value::Tuple(all), Some(Integer::Literal(index))) = (&owner, index.integer()) {
            let count = i128::try_from(all.len()).unwrap_or(i128::MAX);
            let index = if index < 0 { index + count } else { index };
            let found = usize::try_from(index).ok().and_then(|index| all.get(index));
            return found.cloned().ok_or_else(refused);
        }
        if let (Value::Arguments(all), Value::Text(key)) = (&owner, &index) {
            let found = all.iter().find(|(name, _)| name == key);
            return found.map(|(_, value)| value.clone()).ok_or_else(refused);
        }
        Err(refused())
    }

    fn unary(
        &mut self,
        at: &Expression,
        operator: UnaryOperator,
        value: &Value,
    ) -> Result<Value, Refusal> {
        match (operator, value) {
            (_, Value::Device | Value::AtMost(_)) => Ok(Value::Device),
            (UnaryOperator::Not, value) => Ok(Value::Condition(value.truth().negated())),
            (UnaryOperator::Positive, Value::Integer(_) | Value::Real(_)) => Ok(value.clone()),
            (UnaryOperator::Negative, Value::Integer(_) | Value::Real(_)) => {
                self.binary(at, BinaryOperator::Subtract, &Value::literal(0), value)
            }
            _ => Err(self.refused(at, Why::NotANumber)),
        }
    }

    /// `and` and `or` of conditions; of other values, the one that decides.
    fn joined(
        &mut self,
        operator: BinaryOperator,
        left: Value,
        right: &Expression,
    ) -> Result<Value, Refusal> {
        let is_and = operator == BinaryOperator::And;
        let condition = left.truth();
        if let Condition::Always(value) = condition {
            return if value == is_and { self.evaluate(right) } else { Ok(left) };
        }
        let right = self.evaluate(right)?.truth();
        Ok(Value::Condition(if is_and { condition.and(right) } else { condition.or(right) }))
    }

    pub(super) fn binary(
        &mut self,
        at: &Expression,
        operator: BinaryOperator,
        left: &Value,
        right: &Value,
    ) -> Result<Value, Refusal> {
        let is_device = |value: &Value| matches!(value, Value::Device | Value::AtMost(_));
        if is_device(left) || is_device(right) {
            return Ok(Value::Device);
        }
        if let (Value::Tuple(first), Value::Tuple(second), BinaryOperator::Add) =
            (left, right, operator)
        {
            return Ok(Value::Tuple(first.iter().chain(second).cloned().collect()));
        }
        if let (Value::Tensor(_), _) | (_, Value::Tensor(_)) = (left, right) {
            return Err(self.refused(at, Why::TorchOperator));
        }
        let integers = match (left, right) {
            (Value::Real(_), _) | (_, Value::Real(_)) => None,
            _ => left.integer().zip(right.integer()),
        };
        let value = match integers {
            Some((first, second)) => integer_binary(operator, first, second),
            None => None,
        };
        let reals = || real_operation(operator, left.real()?, right.real()?);
        let value = value.or_else(reals);
        value.ok_or_else(|| self.refused(at, Why::NotANumber))
    }

    fn comparison(
        &mut self,
        first: &Expression,
        rest: &[(Comparison, Expression)],
    ) -> Result<Value, Refusal> {
        let mut left = self.evaluate(first)?;
        let mut all = Condition::Always(true);
        for (operator, right) in rest {
            let right = self.evaluate(right)?;
            match compared(*operator, &left, &right) {
                Some(condition) => all = all.and(condition),
                None => return Ok(Value::Device),
            }
            left = right;
        }
        Ok(Value::Condition(all))
    }
}

/// The number of dimensions of a tensor.
pub(super) fn rank(view: &View) -> Integer {
    match &view.sizes {
        Sizes::Of(tensor) => Integer::Fact(Fact::Rank(*tensor)),
        Sizes::List(sizes) => Integer::Literal(i128::try_from(sizes.len()).unwrap_or(i128::MAX)),
    }
}

/// Values of modules: dtypes, devices, constants of `math`.
fn global(full_name: &str) -> Option<Value> {
    let device =
        ["torch.cuda", "torch.device", "triton.runtime", "torch.version", "torch.backends"];
    if device.iter().any(|prefix| full_name.starts_with(prefix)) {
        return Some(Value::Device);
    }
    if let Some(dtype) = full_name.strip_prefix("torch.").and_then(torch_dtype) {
        return Some(Value::Type(ElementType::Known(dtype)));
    }
    if let Some(dtype) = full_name.strip_prefix("triton.language.").and_then(triton_dtype) {
        return Some(Value::Type(ElementType::Known(dtype)));
    }
    let real = match full_name {
        "math.pi" => std::f64::consts::PI,
        "math.e" => std::f64::consts::E,
        "math.inf" | "torch.inf" => f64::INFINITY,
        _ => return None,
    };
    Some(Value::Real(Real::Literal(real)))
}

fn triton_dtype(name: &str) -> Option<Dtype> {
    Some(match name {
        "float8e4nv" => Dtype::F8E4M3,
        "float8e5" => Dtype::F8E5M2,
        "int1" => Dtype::Bool,
        _ if name.starts_with("float") || name.starts_with("int") || name == "bfloat16" => {
            return torch_dtype(name);
        }
        _ => return None,
    })
}

/// The name of a dtype in `triton.language`.
pub(super) fn triton_name(dtype: Dtype) -> Option<&'static str> {
    let names = [
        "float64",
        "float32",
        "float16",
        "bfloat16",
        "float8e4nv",
        "float8e5",
        "int64",
        "int32",
        "int16",
        "int8",
        "int1",
    ];
    names.into_iter().find(|name| triton_dtype(name) == Some(dtype))
}

fn integer_binary(operator: BinaryOperator, left: Integer, right: Integer) -> Option<Value> {
    let combined = |operator| Integer::combined(operator, left.clone(), right.clone());
    let literal = |value: &Integer| match value {
        Integer::Literal(value) => u32::try_from(*value).ok().filter(|value| *value < 100),
        Integer::Fact(_) | Integer::Binary(..) | Integer::NextPowerOfTwo(_) => None,
    };
    let value = match operator {
        BinaryOperator::Add => combined(Operator::Add)?,
        BinaryOperator::Subtract => combined(Operator::Subtract)?,
        BinaryOperator::Multiply => combined(Operator::Multiply)?,
        BinaryOperator::FloorDivide => match negated(&left) {
            // `-(-a // b)` is written with a negative dividend.
            Some(positive) => {
                let ceiling = Integer::combined(Operator::CeilingDivide, positive, right)?;
                Integer::combined(Operator::Subtract, Integer::Literal(0), ceiling)?
            }
            None => combined(Operator::Divide)?,
        },
        BinaryOperator::Remainder => combined(Operator::Remainder)?,
        BinaryOperator::Power => match (&left, literal(&right)?) {
            (Integer::Literal(base), exponent) => Integer::Literal(base.checked_pow(exponent)?),
            _ => return None,
        },
        BinaryOperator::ShiftLeft => {
            let factor = Integer::Literal(1_i128.checked_shl(literal(&right)?)?);
            Integer::combined(Operator::Multiply, left, factor)?
        }
        BinaryOperator::ShiftRight => {
            let divisor = Integer::Literal(1_i128.checked_shl(literal(&right)?)?);
            Integer::combined(Operator::Divide, left, divisor)?
        }
        BinaryOperator::Divide => {
            let (left, right) = (Value::Integer(left).real()?, Value::Integer(right).real()?);
            return Some(Value::Real(real_binary(RealOperator::Divide, left, right)));
        }
        BinaryOperator::MatrixMultiply
        | BinaryOperator::BitAnd
        | BinaryOperator::BitOr
        | BinaryOperator::BitXor
        | BinaryOperator::And
        | BinaryOperator::Or => return None,
    };
    Some(Value::Integer(value))
}

/// `a` of a formula `0 - a`.
fn negated(integer: &Integer) -> Option<Integer> {
    let Integer::Binary(Operator::Subtract, left, right) = integer else { return None };
    (**left == Integer::Literal(0)).then(|| (**right).clone())
}

fn real_operation(operator: BinaryOperator, left: Real, right: Real) -> Option<Value> {
    let simple = match operator {
        BinaryOperator::Add => RealOperator::Add,
        BinaryOperator::Subtract => RealOperator::Subtract,
        BinaryOperator::Multiply => RealOperator::Multiply,
        BinaryOperator::Divide => RealOperator::Divide,
        BinaryOperator::Power => {
            let exponent = right.constant()?;
            let root = if exponent == 0.5 {
                real_call(RealFunction::Sqrt, left)
            } else if exponent == -0.5 {
                real_call(RealFunction::ReciprocalSqrt, left)
            } else {
                Real::Literal(left.constant()?.powf(exponent))
            };
            return Some(Value::Real(root));
        }
        BinaryOperator::FloorDivide
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
    Some(Value::Real(real_binary(simple, left, right)))
}

/// A comparison; none if only the device decides it.
fn compared(operator: Comparison, left: &Value, right: &Value) -> Option<Condition> {
    let is_equality = matches!(operator, Comparison::Equal | Comparison::Is);
    let is_inequality = matches!(operator, Comparison::NotEqual | Comparison::IsNot);
    let decided = |equal: bool| Condition::Always(equal == is_equality);
    if let (Value::Tuple(all), true) = (right, operator == Comparison::In) {
        let each = all.iter().map(|each| compared(Comparison::Equal, left, each));
        return each
            .reduce(|left, right| Some(left?.or(right?)))
            .unwrap_or(Some(Condition::Unknown));
    }
    match (left, right) {
        // The project runs on an NVIDIA GPU.
        (Value::Device, Value::Text(name)) | (Value::Text(name), Value::Device) => {
            Some(decided(name == "cuda"))
        }
        // Tensors of one project are on one device.
        (Value::Device, Value::Device) if is_equality => Some(Condition::Given),
        (Value::Device | Value::AtMost(_), _) | (_, Value::Device | Value::AtMost(_)) => None,
        _ if !is_equality && !is_inequality => Some(ordered(operator, left, right)),
        (Value::None, Value::None) => Some(decided(true)),
        (Value::None, _) | (_, Value::None) => Some(decided(false)),
        (Value::Tensor(left), Value::Tensor(right)) => {
            let is_identity = matches!(operator, Comparison::Is | Comparison::IsNot);
            Some(if is_identity { decided(left == right) } else { Condition::Unknown })
        }
        (Value::Text(left), Value::Text(right)) => Some(decided(left == right)),
        (Value::Type(left), Value::Type(right)) => {
            let equal = same_type(*left, *right);
            Some(if is_equality { equal } else { equal.negated() })
        }
        (Value::Shape(left), Value::Shape(right)) if is_equality => {
            Some(match (&left.sizes, &right.sizes) {
                (Sizes::Of(left), Sizes::Of(right)) => Condition::SameShape(*left, *right),
                (Sizes::List(_), _) | (_, Sizes::List(_)) => Condition::Unknown,
            })
        }
        (Value::Tuple(left), Value::Tuple(right)) if left.len() == right.len() && is_equality => {
            let each = left.iter().zip(right);
            each.map(|(left, right)| compared(operator, left, right))
                .try_fold(Condition::Always(true), |all, each| Some(all.and(each?)))
        }
        _ => Some(ordered(operator, left, right)),
    }
}

fn same_type(left: ElementType, right: ElementType) -> Condition {
    match (left, right) {
        (ElementType::Known(left), ElementType::Known(right)) => Condition::Always(left == right),
        (ElementType::Of(tensor), ElementType::Known(dtype))
        | (ElementType::Known(dtype), ElementType::Of(tensor)) => {
            Condition::HasDtype(tensor, dtype)
        }
        (ElementType::Of(left), ElementType::Of(right)) => Condition::SameDtype(left, right),
    }
}

fn ordered(operator: Comparison, left: &Value, right: &Value) -> Condition {
    let comparison = match operator {
        Comparison::Equal | Comparison::Is => Order::Equal,
        Comparison::NotEqual | Comparison::IsNot => Order::NotEqual,
        Comparison::Less => Order::Less,
        Comparison::LessOrEqual => Order::LessOrEqual,
        Comparison::Greater => Order::Greater,
        Comparison::GreaterOrEqual => Order::GreaterOrEqual,
        Comparison::In | Comparison::NotIn => return Condition::Unknown,
    };
    if let (Value::Condition(condition), Value::Condition(Condition::Always(value))) = (left, right)
        && comparison == Order::Equal
    {
        return if *value { condition.clone() } else { condition.clone().negated() };
    }
    match left.integer().zip(right.integer()) {
        // A size is at least 1.
        Some((Integer::Fact(Fact::Size { .. } | Fact::Elements(_)), Integer::Literal(0)))
            if matches!(comparison, Order::Equal | Order::LessOrEqual) =>
        {
            Condition::Always(false)
        }
        Some((left, right)) => Condition::compared(comparison, left, right),
        None => Condition::Unknown,
    }
}

/// `math.ceil(a / b)` of integers, and the integer part of a literal.
pub(super) fn rounded(value: &Value, up: bool) -> Option<Integer> {
    if let Value::Integer(integer) = value {
        return Some(integer.clone());
    }
    let Value::Real(real) = value else { return None };
    if let Some(constant) = real.constant() {
        return whole(if up { constant.ceil() } else { constant.floor() }).map(Integer::Literal);
    }
    let Real::Binary(RealOperator::Divide, left, right) = real else { return None };
    let operator = if up { Operator::CeilingDivide } else { Operator::Divide };
    Integer::combined(operator, integer_of(left)?, integer_of(right)?)
}

fn integer_of(real: &Real) -> Option<Integer> {
    match real {
        Real::Integer(integer) => Some(integer.clone()),
        Real::Literal(literal) => whole(*literal).map(Integer::Literal),
        Real::Parameter(_) | Real::Binary(..) | Real::Call(..) => None,
    }
}
