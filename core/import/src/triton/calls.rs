//! Calls in host code: allocations, methods of tensors, functions of Python and of Triton, functions of the file.

use lightbench_cuda_source::torch_wrapper::{
    AllocatedShape, Condition, Integer, NoteKind, Operator, Real, RealFunction, Refusal, Step, Why,
};
use lightbench_python_source::{Call, Expression, ExpressionKind, Function, ParameterKind};

use super::autotune::OPTIONS;
use super::expressions::{DEEPEST, rank, rounded};
use super::host::Host;
use super::value::{ElementType, HostFunction, Sizes, Value, View, real_call};

impl Host<'_> {
    pub(super) fn call(&mut self, at: &Expression, call: &Call) -> Result<Value, Refusal> {
        if let ExpressionKind::Subscript { value, indices } = &call.function.kind {
            return self.launch(at, call, (value, indices));
        }
        if let ExpressionKind::Name(name) = &call.function.kind {
            if let Some(Value::Function(function)) = self.names.get(name).cloned() {
                return self.call_function(at, &function, call);
            }
            if let Some(function) = self.file.module.function(name)
                && !self.file.kernels.contains_key(name)
            {
                let function = HostFunction::Definition(Box::new(function.clone()));
                return self.call_function(at, &function, call);
            }
        }
        if let ExpressionKind::Attribute { value, name } = &call.function.kind {
            if let ExpressionKind::Name(kernel) = &value.kind
                && self.file.kernels.contains_key(kernel)
                && ["warmup", "run"].contains(&name.as_str())
            {
                let mut options = Vec::new();
                for argument in &call.arguments {
                    let name = argument.name.clone();
                    if let Some(name) = name.filter(|name| OPTIONS.contains(&name.as_str())) {
                        options.push((name, self.evaluate(&argument.value)?));
                    }
                }
                return Ok(Value::Compiled(kernel.clone(), options));
            }
            let dotted = call.function.dotted_name();
            let first = dotted.as_deref().and_then(|dotted| dotted.split('.').next());
            let is_value = first.is_none_or(|first| self.names.contains_key(first));
            if is_value || self.is_global(first) {
                let owner = self.evaluate(value)?;
                return self.method(at, call, (owner, name));
            }
        }
        let Some(dotted) = call.function.dotted_name() else {
            return Err(self.refused(at, Why::UnknownCall));
        };
        let full = self.file.module.full_name(&dotted);
        match full.strip_prefix("torch.") {
            Some(name) => self.torch(at, call, name),
            None => self.function(at, call, &full),
        }
    }

    /// Whether a name is assigned at the top level of the module.
    fn is_global(&self, name: Option<&str>) -> bool {
        let assigned = |name: &str| super::autotune::assigned(self.file.module, name).is_some();
        name.is_some_and(|name| self.file.constants.get(name).is_some() || assigned(name))
    }

    fn values(&mut self, call: &Call) -> Result<Vec<Value>, Refusal> {
        call.positional().map(|each| self.evaluate(each)).collect()
    }

    /// Functions of Python, `math` and `triton`.
    fn function(&mut self, at: &Expression, call: &Call, name: &str) -> Result<Value, Refusal> {
        if name.starts_with("triton.runtime.") || name.starts_with("triton.backends.") {
            return Ok(Value::Device);
        }
        let plain = name.rsplit('.').next().unwrap_or_default();
        // Their second argument is a type, or what only PyTorch knows.
        if ["isinstance", "hasattr"].contains(&plain) {
            return Ok(Value::Condition(Condition::Given));
        }
        // Functions of other files that ask for the vendor of the device.
        if plain.starts_with("is_hip") || plain.starts_with("is_cuda") {
            return Ok(Value::Condition(Condition::Always(plain.starts_with("is_cuda"))));
        }
        let values = self.values(call)?;
        let refused = || self.refused(at, Why::UnknownCall);
        let found = match (plain, values.as_slice()) {
            ("cdiv", [left, right]) => combined(Operator::CeilingDivide, left, right),
            ("next_power_of_2", [value]) => {
                value.integer().and_then(Integer::next_power_of_two).map(Value::Integer)
            }
            ("min" | "max", [Value::Tuple(all)]) => extreme(plain, all),
            ("min" | "max", all) => extreme(plain, all),
            ("int" | "floor" | "ceil" | "float" | "abs", [Value::Device | Value::AtMost(_)]) => {
                Some(Value::Device)
            }
            ("int" | "floor", [value]) => rounded(value, false).map(Value::Integer),
            ("ceil", [value]) => rounded(value, true).map(Value::Integer),
            ("constexpr", [value]) => Some(value.clone()),
            ("float", [value]) => value.real().map(Value::Real),
            ("bool", [value]) => Some(Value::Condition(value.truth())),
            ("len", [Value::Shape(view)]) => Some(Value::Integer(rank(view))),
            ("len", [Value::Tuple(all)]) => i128::try_from(all.len()).ok().map(Value::literal),
            ("list" | "tuple", [value @ (Value::Tuple(_) | Value::Shape(_))]) => {
                Some(value.clone())
            }
            (_, [value]) => RealFunction::from_name(plain)
                .zip(value.real())
                .map(|(function, operand)| Value::Real(real_call(function, operand))),
            _ => None,
        };
        found.ok_or_else(refused)
    }

    /// Functions of `torch`: allocations, and questions about the device.
    fn torch(&mut self, at: &Expression, call: &Call, name: &str) -> Result<Value, Refusal> {
        if name.starts_with("cuda.") || name.starts_with("version.") || name == "device" {
            return Ok(Value::Device);
        }
        if let Some(kind) = name.strip_suffix("_like") {
            let like = call.positional().next().map(|each| self.evaluate(each)).transpose()?;
            let Some(Value::Tensor(view)) = like else {
                return Err(self.refused(at, Why::NotATensor));
            };
            let element =
                self.dtype_argument(at, call)?.unwrap_or_else(|| self.element(view.tensor));
            let shape = match view.sizes {
                Sizes::Of(tensor) => AllocatedShape::Like(tensor),
                Sizes::List(sizes) => AllocatedShape::Sizes(sizes),
            };
            return self.allocate(at, call, (kind, 1), shape, element);
        }
        if !["empty", "zeros", "ones", "full"].contains(&name) {
            return Err(self.refused(at, Why::TorchOperator));
        }
        let default = ElementType::Known(lightbench_primitives::dtype::Dtype::F32);
        let element = self.dtype_argument(at, call)?.unwrap_or(default);
        let shape = self.sizes(at, call, name)?;
        self.allocate(at, call, (name, 1), AllocatedShape::Sizes(shape), element)
    }

    /// The sizes that an allocation receives: `(m, n)` as one argument, or one by one.
    fn sizes(&mut self, at: &Expression, call: &Call, name: &str) -> Result<Vec<Integer>, Refusal> {
        let given = match call.keyword("size") {
            Some(size) => vec![self.evaluate(size)?],
            None => self.values(call)?,
        };
        let is_full = name.ends_with("full");
        let given = match given.as_slice() {
            [Value::Tuple(all), ..] => all.clone(),
            [Value::Shape(view), ..] => return self.shape_of(at, view),
            [first, ..] if is_full => vec![first.clone()],
            all => all.to_vec(),
        };
        let sizes: Option<Vec<Integer>> = given.iter().map(Value::integer).collect();
        sizes.ok_or_else(|| self.refused(at, Why::NotAnInteger))
    }

    /// The number of dimensions, if it is known.
    fn known_rank(&self, view: &View) -> Option<usize> {
        match &view.sizes {
            Sizes::Of(tensor) => self.read.wrapper.tensors.get(*tensor)?.rank,
            Sizes::List(sizes) => Some(sizes.len()),
        }
    }

    /// The sizes of a tensor whose number of dimensions is known.
    fn shape_of(&self, at: &Expression, view: &View) -> Result<Vec<Integer>, Refusal> {
        let rank = self.known_rank(view);
        let dimensions = rank.map(|rank| (0_i64..).take(rank));
        let sizes = dimensions.and_then(|all| all.map(|each| view.size(each)).collect());
        sizes.ok_or_else(|| self.refused(at, Why::Allocation))
    }

    /// The new tensor, and the fill that the allocation implies.
    fn allocate(
        &mut self,
        at: &Expression,
        call: &Call,
        (kind, position): (&str, usize),
        shape: AllocatedShape,
        element: ElementType,
    ) -> Result<Value, Refusal> {
        let value = match kind {
            "empty" => None,
            "zeros" => Some(0.0),
            "ones" => Some(1.0),
            "full" => {
                let given = call.argument(position, "fill_value");
                let given = given.map(|each| self.evaluate(each)).transpose()?;
                let value = given.and_then(|value| value.real()?.constant());
                Some(value.ok_or_else(|| self.refused(at, Why::NotANumber))?)
            }
            _ => return Err(self.refused(at, Why::TorchOperator)),
        };
        let sizes = match &shape {
            AllocatedShape::Like(tensor) => Sizes::Of(*tensor),
            AllocatedShape::Sizes(sizes) => Sizes::List(sizes.clone()),
        };
        let tensor = self.allocated(shape, element);
        if let Some(value) = value {
            self.read.wrapper.steps.push(Step::Fill { tensor, value });
        }
        Ok(Value::Tensor(View { tensor, sizes }))
    }

    fn dtype_argument(
        &mut self,
        at: &Expression,
        call: &Call,
    ) -> Result<Option<ElementType>, Refusal> {
        let Some(given) = call.keyword("dtype") else { return Ok(None) };
        let given = self.evaluate(given)?;
        if let Value::Type(element) = given {
            Ok(Some(element))
        } else if let Value::None = given {
            Ok(None)
        } else {
            Err(self.refused(at, Why::UnknownDtype))
        }
    }

    /// A method of a value.
    fn method(
        &mut self,
        at: &Expression,
        call: &Call,
        (owner, name): (Value, &str),
    ) -> Result<Value, Refusal> {
        match (owner, name) {
            (Value::Device | Value::Compiled(..), _) => Ok(Value::Device),
            (Value::Tensor(view), _) => self.tensor_method(at, call, &view, name),
            (Value::Shape(view), "numel") => self.elements(at, &view),
            _ => Err(self.refused(at, Why::UnknownCall)),
        }
    }

    fn tensor_method(
        &mut self,
        at: &Expression,
        call: &Call,
        view: &View,
        name: &str,
    ) -> Result<Value, Refusal> {
        let refused = self.refused(at, Why::TorchOperator);
        match name {
            "numel" | "nelement" => self.elements(at, view),
            "dim" | "ndimension" => Ok(Value::Integer(rank(view))),
            "size" if call.arguments.is_empty() => Ok(Value::Shape(view.clone())),
            "size" | "stride" => self.along(at, call, view, name),
            "element_size" => {
                let element = self.element(view.tensor);
                self.element_bytes(at, element)
            }
            "is_contiguous" => Ok(Value::Condition(Condition::Given)),
            "contiguous" | "detach" | "cuda" => {
                if name == "contiguous" {
                    self.note_at((at.line, at.span.clone()), NoteKind::Contiguous);
                }
                Ok(Value::Tensor(view.clone()))
            }
            "view" | "reshape" => self.reshaped(at, call, view),
            "flatten" if call.arguments.is_empty() => {
                let flat = view.reshaped(&[Integer::Literal(-1)]);
                flat.map(Value::Tensor).ok_or(refused)
            }
            "view_as" | "reshape_as" => match self.values(call)?.as_slice() {
                [Value::Tensor(other)] => {
                    Ok(Value::Tensor(View { tensor: view.tensor, sizes: other.sizes.clone() }))
                }
                _ => Err(refused),
            },
            "to" => match self.values(call)?.as_slice() {
                [Value::Device] => Ok(Value::Tensor(view.clone())),
                [Value::Type(element)] if *element == self.element(view.tensor) => {
                    Ok(Value::Tensor(view.clone()))
                }
                _ => Err(refused),
            },
            "zero_" => {
                self.read.wrapper.steps.push(Step::Fill { tensor: view.tensor, value: 0.0 });
                Ok(Value::Tensor(view.clone()))
            }
            _ => match name.strip_prefix("new_") {
                Some(kind @ ("empty" | "zeros" | "ones" | "full")) => {
                    let element =
                        self.dtype_argument(at, call)?.unwrap_or_else(|| self.element(view.tensor));
                    let shape = AllocatedShape::Sizes(self.sizes(at, call, kind)?);
                    self.allocate(at, call, (kind, 1), shape, element)
                }
                Some(_) | None => Err(refused),
            },
        }
    }

    /// `x.size(i)`, `x.stride(i)` and `x.stride()`.
    fn along(
        &mut self,
        at: &Expression,
        call: &Call,
        view: &View,
        name: &str,
    ) -> Result<Value, Refusal> {
        let Some(dimension) = call.argument(0, "dim") else {
            let rank =
                self.known_rank(view).ok_or_else(|| self.refused(at, Why::UnknownExpression))?;
            return self.unpacked(at, view, rank, View::stride).map(Value::Tuple);
        };
        let dimension = self.evaluate(dimension)?.integer();
        let Some(Integer::Literal(dimension)) = dimension else {
            return Err(self.refused(at, Why::NotAnInteger));
        };
        let dimension = i64::try_from(dimension).ok();
        let of = |dimension| match name {
            "size" => view.size(dimension),
            _ => view.stride(dimension),
        };
        let found = dimension.and_then(of).map(Value::Integer);
        found.ok_or_else(|| self.refused(at, Why::UnknownExpression))
    }

    fn elements(&self, at: &Expression, view: &View) -> Result<Value, Refusal> {
        let elements = view.elements().map(Value::Integer);
        elements.ok_or_else(|| self.refused(at, Why::TooLarge))
    }

    fn reshaped(&mut self, at: &Expression, call: &Call, view: &View) -> Result<Value, Refusal> {
        // `view(*shape)` and `view(*batch, n)` undo an earlier reshape.
        if let Some(ExpressionKind::Starred(shape)) =
            call.positional().next().map(|each| &each.kind)
        {
            let (Value::Shape(own) | Value::Leading(own)) = self.evaluate(shape)? else {
                return Err(self.refused(at, Why::NotAnInteger));
            };
            return Ok(Value::Tensor(View { tensor: view.tensor, sizes: own.sizes }));
        }
        let given = self.values(call)?;
        if let [Value::Shape(own)] = given.as_slice() {
            let sizes = own.sizes.clone();
            return Ok(Value::Tensor(View { tensor: view.tensor, sizes }));
        }
        let given = match given.as_slice() {
            [Value::Tuple(all)] => all.clone(),
            _ => given,
        };
        let sizes: Option<Vec<Integer>> = given.iter().map(Value::integer).collect();
        let reshaped = sizes.and_then(|sizes| view.reshaped(&sizes));
        reshaped.map(Value::Tensor).ok_or_else(|| self.refused(at, Why::NotAnInteger))
    }

    /// Follows a function of the file.
    fn call_function(
        &mut self,
        at: &Expression,
        function: &HostFunction,
        call: &Call,
    ) -> Result<Value, Refusal> {
        let mut given: Vec<(Option<String>, Value)> = Vec::new();
        for argument in &call.arguments {
            given.push((argument.name.clone(), self.evaluate(&argument.value)?));
        }
        self.apply(at, function, &given)
    }

    /// Calls a function of the file with values.
    pub(super) fn apply(
        &mut self,
        at: &Expression,
        function: &HostFunction,
        given: &[(Option<String>, Value)],
    ) -> Result<Value, Refusal> {
        if self.depth >= DEEPEST {
            return Err(self.refused(at, Why::TooLarge));
        }
        // A lambda sees the names around it; so does a function that is defined inside another one.
        let around = self.names.clone();
        let result = match function {
            HostFunction::Lambda(parameter, body) => {
                if let (Some(parameter), Some((_, value))) = (parameter, given.first()) {
                    self.names.insert(parameter.clone(), value.clone());
                }
                self.depth += 1;
                self.evaluate(body)
            }
            HostFunction::Definition(function) => {
                let bound = self.bound(at, function, given);
                bound.and_then(|bound| {
                    self.names.extend(bound);
                    self.depth += 1;
                    self.follow(&function.body)
                })
            }
        };
        self.names = around;
        self.depth = self.depth.saturating_sub(1);
        result
    }

    /// The parameters of a function with their values.
    fn bound(
        &mut self,
        at: &Expression,
        function: &Function,
        given: &[(Option<String>, Value)],
    ) -> Result<Vec<(String, Value)>, Refusal> {
        let mut by_position = given.iter().filter(|(name, _)| name.is_none());
        let mut bound = Vec::new();
        for parameter in &function.parameters {
            if let ParameterKind::Rest | ParameterKind::Keywords = parameter.kind {
                continue;
            }
            let named = given.iter().find(|(name, _)| name.as_deref() == Some(&parameter.name));
            let value = match (named.or_else(|| by_position.next()), &parameter.default) {
                (Some((_, value)), _) => value.clone(),
                (None, Some(default)) => self.evaluate(default)?,
                (None, None) => {
                    let parameters = function.parameters.len();
                    return Err(self.refused(at, Why::ArgumentCount { parameters }));
                }
            };
            bound.push((parameter.name.clone(), value));
        }
        Ok(bound)
    }
}

fn combined(operator: Operator, left: &Value, right: &Value) -> Option<Value> {
    if let (Value::Device | Value::AtMost(_), _) | (_, Value::Device | Value::AtMost(_)) =
        (left, right)
    {
        return Some(Value::Device);
    }
    Integer::combined(operator, left.integer()?, right.integer()?).map(Value::Integer)
}

/// `min` and `max` of several values.
fn extreme(name: &str, all: &[Value]) -> Option<Value> {
    let is_minimum = name == "min";
    let operator = if is_minimum { Operator::Minimum } else { Operator::Maximum };
    let mut all = all.iter().cloned();
    let first = all.next()?;
    all.try_fold(first, |left, right| match (&left, &right) {
        (Value::Device, other) | (other, Value::Device) => Some(match other.integer() {
            Some(bound) if is_minimum => Value::AtMost(bound),
            Some(_) | None => Value::Device,
        }),
        (Value::AtMost(bound), other) | (other, Value::AtMost(bound)) => {
            let bound = Integer::combined(operator, bound.clone(), other.integer()?)?;
            is_minimum.then_some(Value::AtMost(bound))
        }
        (Value::Real(_), _) | (_, Value::Real(_)) => {
            let (left, right) = (left.real()?.constant()?, right.real()?.constant()?);
            let value = if is_minimum { left.min(right) } else { left.max(right) };
            Some(Value::Real(Real::Literal(value)))
        }
        _ => Integer::combined(operator, left.integer()?, right.integer()?).map(Value::Integer),
    })
}
