//! `kernel[grid](…)`: arguments, constants, options and the grid of a launch.

use lightbench_cuda_source::SourceLocation;
use lightbench_cuda_source::torch_wrapper::{
    ArgumentValue, Condition, ConstexprValue, Integer, LaunchArgument, Operator, Refusal, Step,
    TritonLaunch, Why, WrapperLaunch,
};
use lightbench_primitives::dtype::Dtype;
use lightbench_python_source::{Call, Expression, Value as Literal};

use super::autotune::OPTIONS;
use super::expressions::triton_name;
use super::host::Host;
use super::kernel::{Kernel, KernelParameter};
use super::parameters::literal;
use super::value::{ElementType, HostFunction, Value};

/// Blocks of a persistent kernel on an H200, for choosing sizes.
const RESIDENT: i128 = 132;

/// Arguments of a launch that matter to other compilers, or to the JIT itself.
const WITHOUT_EFFECT: [&str; 8] = [
    "grid",
    "warmup",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
    "debug",
    "sanitize_overflow",
    "device",
];

/// A launch whose arguments are evaluated.
struct Arguments {
    /// In the order of the kernel's parameters; none where the launch leaves one to a decorator or a default.
    by_parameter: Vec<Option<Value>>,
    /// `num_warps`, `num_stages`, `num_ctas`.
    options: Vec<(String, Value)>,
}

impl Host<'_> {
    pub(super) fn launch(
        &mut self,
        at: &Expression,
        call: &Call,
        (value, indices): (&Expression, &[Expression]),
    ) -> Result<Value, Refusal> {
        let (kernel, options) = self.launched_kernel(at, value)?;
        let mut arguments = self.arguments(at, call, &kernel)?;
        arguments.options.extend(options);
        self.tuned(at, &kernel, &mut arguments)?;
        self.heuristics(at, &kernel, &mut arguments)?;
        let named = kernel.parameters.iter().zip(&arguments.by_parameter);
        let by_name: Vec<(String, Value)> = named
            .filter_map(|(parameter, value)| Some((parameter.name.clone(), value.clone()?)))
            .collect();
        let grid = self.grid(at, indices, &kernel, &by_name)?;
        let mut launch = WrapperLaunch {
            kernel: kernel.name.clone(),
            template_arguments: Vec::new(),
            grid,
            block: [const { Integer::Literal(1) }; 3],
            shared: Integer::Literal(0),
            arguments: Vec::new(),
            triton: None,
            place: SourceLocation { line: at.line, column: 1 },
        };
        let mut constexprs = Vec::new();
        for (parameter, value) in kernel.parameters.iter().zip(&arguments.by_parameter) {
            match value {
                None if parameter.has_default => {}
                None => {
                    let parameters = kernel.parameters.len();
                    return Err(self.refused(at, Why::ArgumentCount { parameters }));
                }
                Some(value) if parameter.is_constexpr => {
                    let constant = self.constant(at, parameter, value)?;
                    constexprs.push((parameter.name.clone(), constant));
                }
                Some(value) => {
                    let value = self.argument(at, parameter, value)?;
                    let parameter = parameter.name.clone();
                    launch.arguments.push(LaunchArgument { parameter, value });
                }
            }
        }
        let [num_warps, num_stages, num_ctas] = OPTIONS.map(|option| {
            let given = arguments.options.iter().find(|(name, _)| name == option);
            given.map(|(_, value)| value.integer())
        });
        let refused = || self.refused(at, Why::NotAnInteger);
        launch.triton = Some(TritonLaunch {
            constexprs,
            num_warps: num_warps.map(|each| each.ok_or_else(refused)).transpose()?,
            num_stages: num_stages.map(|each| each.ok_or_else(refused)).transpose()?,
            num_ctas: num_ctas.map(|each| each.ok_or_else(refused)).transpose()?,
        });
        self.read.wrapper.steps.push(Step::Launch(Box::new(launch)));
        Ok(Value::Device)
    }

    /// The kernel, and the options with which host code has compiled it.
    fn launched_kernel(
        &mut self,
        at: &Expression,
        value: &Expression,
    ) -> Result<(Kernel, Vec<(String, Value)>), Refusal> {
        let name = value.dotted_name().unwrap_or_default();
        let (name, options) = if let Some(Value::Compiled(kernel, options)) = self.names.get(&name)
        {
            (kernel.clone(), options.clone())
        } else {
            (name, Vec::new())
        };
        let kernel = self.file.kernels.get(&name).cloned();
        let kernel = kernel.ok_or_else(|| self.refused(at, Why::UnknownKernel))?;
        Ok((kernel, options))
    }

    fn arguments(
        &mut self,
        at: &Expression,
        call: &Call,
        kernel: &Kernel,
    ) -> Result<Arguments, Refusal> {
        let parameters = kernel.parameters.len();
        let mut by_parameter = vec![None; parameters];
        let mut options = Vec::new();
        let mut next = 0;
        for argument in &call.arguments {
            let position = match &argument.name {
                None => {
                    next += 1;
                    Some(next - 1)
                }
                Some(name) => kernel.parameters.iter().position(|each| each.name == *name),
            };
            match (position, &argument.name) {
                (Some(position), _) => {
                    let value = self.evaluate(&argument.value)?;
                    let place = by_parameter.get_mut(position);
                    *place.ok_or_else(|| self.refused(at, Why::ArgumentCount { parameters }))? =
                        Some(value);
                }
                (None, Some(name)) if OPTIONS.contains(&name.as_str()) => {
                    options.push((name.clone(), self.evaluate(&argument.value)?));
                }
                (None, Some(name)) if WITHOUT_EFFECT.contains(&name.as_str()) => {}
                (None, _) => {
                    return Err(self.refused(&argument.value, Why::ArgumentCount { parameters }));
                }
            }
        }
        Ok(Arguments { by_parameter, options })
    }

    /// What `@triton.autotune` chooses: one value, or a tuning parameter of the launch block.
    fn tuned(
        &mut self,
        at: &Expression,
        kernel: &Kernel,
        arguments: &mut Arguments,
    ) -> Result<(), Refusal> {
        for (parameter, value) in kernel.parameters.iter().zip(&mut arguments.by_parameter) {
            if value.is_none() && !parameter.has_default {
                *value = self.choice(kernel, &parameter.name, &parameter.name);
            }
        }
        for option in OPTIONS {
            if arguments.options.iter().any(|(name, _)| name == option) {
                continue;
            }
            if let Some(value) = self.choice(kernel, option, &option.to_ascii_uppercase()) {
                arguments.options.push((option.to_owned(), value));
            }
        }
        let is_missing = |(parameter, value): (&KernelParameter, &Option<Value>)| {
            let by_heuristic =
                kernel.tuning.heuristics.iter().any(|(name, _)| *name == parameter.name);
            value.is_none() && !parameter.has_default && !by_heuristic
        };
        let mut all = kernel.parameters.iter().zip(&arguments.by_parameter);
        if let Some(line) = kernel.tuning.unreadable
            && all.any(is_missing)
        {
            let mut refusal = self.refused(at, Why::TuningConfigurations);
            refusal.place.line = line;
            return Err(refusal);
        }
        Ok(())
    }

    fn choice(&mut self, kernel: &Kernel, name: &str, parameter: &str) -> Option<Value> {
        let values = kernel.tuning.values(name);
        let integers: Option<Vec<i128>> = values
            .iter()
            .map(|value| match value {
                Literal::Integer(value) => Some(*value),
                Literal::Float(_)
                | Literal::Text(_)
                | Literal::Boolean(_)
                | Literal::None
                | Literal::Tuple(_)
                | Literal::List(_) => None,
            })
            .collect();
        match integers.as_deref() {
            Some([_, _, ..]) => {
                let integers = integers.unwrap_or_default();
                let first = integers.first().copied()?;
                if !self.read.tuned.iter().any(|(known, _)| known == parameter) {
                    self.read.tuned.push((parameter.to_owned(), integers));
                }
                Some(Value::Integer(self.launch_number(parameter, first)))
            }
            Some(_) | None => values.into_iter().next().map(literal),
        }
    }

    /// What `@triton.heuristics` computes from the other arguments.
    fn heuristics(
        &mut self,
        at: &Expression,
        kernel: &Kernel,
        arguments: &mut Arguments,
    ) -> Result<(), Refusal> {
        for (name, function) in &kernel.tuning.heuristics {
            let position = kernel.parameters.iter().position(|each| each.name == *name);
            let Some(position) = position else { continue };
            let known = kernel.parameters.iter().zip(&arguments.by_parameter);
            let known: Vec<(String, Value)> = known
                .filter_map(|(parameter, value)| Some((parameter.name.clone(), value.clone()?)))
                .collect();
            let function = self.evaluate(function)?;
            let Value::Function(function) = function else {
                return Err(self.refused(at, Why::UnknownExpression));
            };
            let value = self.apply(at, &function, &[(None, Value::Arguments(known))])?;
            if let Some(place) = arguments.by_parameter.get_mut(position) {
                *place = Some(value);
            }
        }
        Ok(())
    }

    /// The programs along three dimensions.
    fn grid(
        &mut self,
        at: &Expression,
        indices: &[Expression],
        kernel: &Kernel,
        arguments: &[(String, Value)],
    ) -> Result<[Integer; 3], Refusal> {
        let given: Vec<Value> =
            indices.iter().map(|index| self.evaluate(index)).collect::<Result<_, _>>()?;
        let mut extents = match given.as_slice() {
            [Value::Function(function)] => {
                let function: HostFunction = function.clone();
                let given = [(None, Value::Arguments(arguments.to_vec()))];
                let extents = self.apply(at, &function, &given)?;
                if let Value::Tuple(all) = extents { all } else { vec![extents] }
            }
            [Value::Tuple(all)] => all.clone(),
            all => all.to_vec(),
        };
        if extents.is_empty() || extents.len() > 3 {
            return Err(self.refused(at, Why::NotAnInteger));
        }
        extents.resize(3, Value::literal(1));
        let mut grid = [const { Integer::Literal(1) }; 3];
        for (own, extent) in grid.iter_mut().zip(extents) {
            let resident = format!("max_active_blocks('{}')", kernel.name);
            let found = if let Value::Device = extent {
                Some(self.launch_number(&resident, RESIDENT))
            } else if let Value::AtMost(bound) = extent {
                let resident = self.launch_number(&resident, RESIDENT);
                Integer::combined(Operator::Minimum, resident, bound)
            } else {
                extent.integer()
            };
            *own = found.ok_or_else(|| self.refused(at, Why::NotAnInteger))?;
        }
        Ok(grid)
    }

    fn argument(
        &mut self,
        at: &Expression,
        parameter: &KernelParameter,
        value: &Value,
    ) -> Result<ArgumentValue, Refusal> {
        let unsupported = Why::UnsupportedParameter { parameter: parameter.name.clone() };
        if let Value::Tensor(view) = value {
            let (reads, writes) = (parameter.access.reads, parameter.access.writes);
            return Ok(ArgumentValue::Tensor { tensor: view.tensor, writes, reads });
        }
        if let Value::None = value {
            return Ok(ArgumentValue::Null);
        }
        if let Value::Condition(Condition::Always(value)) = value {
            return Ok(ArgumentValue::Boolean(*value));
        }
        if let Value::Real(real) = value {
            return Ok(ArgumentValue::Real(real.clone(), Dtype::F32));
        }
        let integer = value.integer().ok_or_else(|| self.refused(at, unsupported))?;
        Ok(ArgumentValue::Integer(integer, Dtype::I64))
    }

    fn constant(
        &mut self,
        at: &Expression,
        parameter: &KernelParameter,
        value: &Value,
    ) -> Result<ConstexprValue, Refusal> {
        let unsupported = Why::UnsupportedParameter { parameter: parameter.name.clone() };
        let found = match value {
            Value::Condition(Condition::Always(value)) => Some(ConstexprValue::Boolean(*value)),
            Value::Condition(Condition::Given) => Some(ConstexprValue::Boolean(true)),
            Value::Text(text) => Some(ConstexprValue::Text(text.clone())),
            Value::None => Some(ConstexprValue::None),
            Value::Type(element) => {
                let dtype = match element {
                    ElementType::Known(dtype) => Some(*dtype),
                    ElementType::Of(tensor) => Some(self.dtype_of(*tensor).unwrap_or(Dtype::F32)),
                };
                let name = dtype.and_then(triton_name);
                name.map(|name| ConstexprValue::Type(format!("tl.{name}")))
            }
            Value::Integer(_)
            | Value::Real(_)
            | Value::Condition(_)
            | Value::Tensor(_)
            | Value::Shape(_)
            | Value::Leading(_)
            | Value::Tuple(_)
            | Value::Arguments(_)
            | Value::Function(_)
            | Value::Compiled(..)
            | Value::Device
            | Value::AtMost(_) => value.integer().map(ConstexprValue::Integer),
        };
        found.ok_or_else(|| self.refused(at, unsupported))
    }
}
