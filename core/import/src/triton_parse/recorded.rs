//! Recorded launches as the description of a host function, and their sizes as workloads.

use std::collections::BTreeMap;

use lightbench_cuda_source::SourceLocation;
use lightbench_cuda_source::torch_wrapper::{
    AllocatedShape, ArgumentValue, Comparison, Condition, Fact, Integer, LaunchArgument, Operator,
    ParameterKind, Real, Step, TensorOrigin, Wrapper, WrapperLaunch, WrapperParameter,
    WrapperTensor,
};
use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::{Purpose, WorkloadWritten};
use lightbench_ptx::{PtxEntry, PtxParameter};

use super::record::{Argument, Compilation, Launch};
use super::sizes::{RecordedTensor, Sizes, Values, contiguous_order, dimension, form, product};
use crate::draft::workload;
use crate::report::{Place, Report};
use crate::triton::KernelText;
use crate::wrapper::interface::Interface;

/// Workloads of a log that are taken at most.
const MOST_WORKLOADS: usize = 8;

/// Different launches that are taken at most.
const MOST_LAUNCHES: usize = 256;

/// Elements of all tensors of a workload that the verifier runs as a whole.
const SMALL: i128 = 1 << 21;

/// The launches that become workloads, with formulas for their numbers.
pub(super) struct Recorded<'a> {
    compilation: &'a Compilation,
    sizes: Sizes,
    launches: Vec<&'a Launch>,
}

impl<'a> Recorded<'a> {
    pub(super) fn new(
        compilation: &'a Compilation,
        quotients: &[(String, String)],
        report: &mut Report,
    ) -> Result<Self, String> {
        let mut distinct: Vec<(&Launch, usize)> = Vec::new();
        let mut positions: BTreeMap<String, usize> = BTreeMap::new();
        for launch in &compilation.launches {
            let position = *positions.entry(format!("{launch:?}")).or_insert(distinct.len());
            match distinct.get_mut(position) {
                Some((_, count)) => *count += 1,
                None => distinct.push((launch, 1)),
            }
        }
        let total = distinct.len();
        let mut forms: BTreeMap<Vec<String>, Vec<(&Launch, usize)>> = BTreeMap::new();
        for (launch, count) in distinct {
            forms.entry(form(launch)).or_default().push((launch, count));
        }
        let count =
            |group: &Vec<(&Launch, usize)>| -> usize { group.iter().map(|(_, count)| count).sum() };
        let mut distinct = forms.into_values().max_by_key(count).unwrap_or_default();
        distinct.truncate(MOST_LAUNCHES);
        let mut recorded =
            Self::of(compilation, distinct.iter().map(|(launch, _)| *launch).collect())?;
        if !recorded.is_explained(quotients) {
            // Formulas for some numbers are unknown: one launch needs none.
            let best = distinct.iter().rev().max_by_key(|(_, count)| *count);
            recorded = Self::of(compilation, best.iter().map(|(launch, _)| *launch).collect())?;
        }
        let left = total - recorded.launches.len();
        if left > 0 {
            report.leave_out(
                format!("{left} of {total} different launches"),
                format!("no formula gives their numbers together with those of the others, a number that is no size differs, or they are more than {MOST_LAUNCHES}"),
            );
        }
        Ok(recorded)
    }

    fn of(compilation: &'a Compilation, launches: Vec<&'a Launch>) -> Result<Self, String> {
        let first = launches.first().ok_or("no launch")?;
        let mut tensors = Vec::new();
        for (index, (name, argument)) in first.arguments.iter().enumerate() {
            let Argument::Tensor { dtype, shape, strides } = argument else { continue };
            let order = contiguous_order(shape, strides).ok_or_else(|| {
                format!("`{name}` with the sizes {shape:?} and the strides {strides:?}")
            })?;
            let shapes = launches.iter().map(|launch| {
                let shape = match &launch.arguments.get(index)?.1 {
                    Argument::Tensor { shape, .. } => shape,
                    Argument::Integer(_)
                    | Argument::Real(_)
                    | Argument::Boolean(_)
                    | Argument::None
                    | Argument::Text(_)
                    | Argument::Other(_) => return None,
                };
                order.iter().map(|dimension| shape.get(*dimension).copied()).collect()
            });
            let shapes: Option<Vec<Vec<i128>>> = shapes.collect();
            let shapes = shapes.ok_or_else(|| format!("`{name}` with several ranks"))?;
            if let Some(shape) = shapes.iter().find(|shape| {
                shape.iter().any(|size| !(1..=1 << 31).contains(size)) || product(shape) > 1 << 40
            }) {
                return Err(format!("`{name}` with the sizes {shape:?}"));
            }
            tensors.push(RecordedTensor { name: name.clone(), dtype: *dtype, order, shapes });
        }
        let sizes = Sizes::new(tensors, launches.len());
        Ok(Self { compilation, sizes, launches })
    }

    /// Whether formulas give every number of every launch.
    fn is_explained(&self, quotients: &[(String, String)]) -> bool {
        let count = self.launches.first().map_or(0, |launch| launch.arguments.len());
        let integers = (0..count).filter_map(|index| self.integers(index));
        integers.into_iter().all(|values| self.sizes.integer(&values).is_some())
            && self.grid(quotients).is_some()
    }

    /// The values of an integer argument.
    fn integers(&self, argument: usize) -> Option<Values> {
        let values = self.launches.iter().map(|launch| match launch.arguments.get(argument) {
            Some((_, Argument::Integer(value))) => Some(*value),
            Some(_) | None => None,
        });
        values.collect()
    }

    fn arguments(&self) -> impl Iterator<Item = (usize, &'a str, &'a Argument)> {
        let all = self.launches.first().map(|launch| launch.arguments.as_slice());
        let all = all.unwrap_or_default().iter().enumerate();
        all.map(|(index, (name, argument))| (index, name.as_str(), argument))
    }

    /// The formula of the grid. `quotients` are those of names that the kernel computes.
    fn grid(&self, quotients: &[(String, String)]) -> Option<[Integer; 3]> {
        let named = |name: &str| {
            let (index, ..) = self.arguments().find(|(_, own, _)| *own == name)?;
            self.integers(index)
        };
        let computed: Vec<(Integer, i128)> = quotients
            .iter()
            .filter_map(|(size, unit)| {
                let unit = *named(unit)?.first()?;
                Some((self.sizes.integer(&named(size)?)?, unit))
            })
            .collect();
        let constants: Vec<i128> = self
            .arguments()
            .filter(|(index, ..)| self.compilation.constants.contains(index))
            .filter_map(|(index, ..)| self.integers(index)?.first().copied())
            .collect();
        let extent = |axis: usize| {
            let values = self.launches.iter().map(|launch| launch.grid[axis]).collect();
            self.sizes.extent(&values, &computed, &constants)
        };
        Some([extent(0)?, extent(1)?, extent(2)?])
    }

    /// The launch as the description of a host function that takes the recorded tensors.
    pub(super) fn wrapper(&self, text: &KernelText, entry: &PtxEntry) -> Result<Wrapper, String> {
        let grid = self.grid(&text.quotients).ok_or("a grid without formula")?;
        let mut wrapper = self.host_function();
        let mut parameters = entry.parameters.iter();
        let mut arguments = Vec::new();
        for (index, name, argument) in self.arguments() {
            if self.compilation.constants.contains(&index) {
                continue;
            }
            let parameter =
                parameters.next().ok_or_else(|| format!("no parameter for `{name}`"))?;
            let value = self.argument(index, (name, argument), text, parameter)?;
            if let ArgumentValue::Integer(formula, _) = &value
                && self.compilation.divisible.contains(&index)
            {
                wrapper.requirements.extend(divisible(formula));
            }
            arguments.push(LaunchArgument { parameter: name.to_owned(), value });
        }
        // Global scratch memory, then memory for Triton's profiler.
        let rest = parameters.len();
        if rest > 2 {
            return Err(format!("{rest} more parameters than arguments"));
        }
        for position in 0..rest {
            let value = if position == 0 && self.compilation.scratch > 0 {
                let tensor = wrapper.tensors.len();
                wrapper.tensors.push(scratch(self.compilation.scratch, &grid)?);
                ArgumentValue::Tensor { tensor, writes: true, reads: true }
            } else {
                ArgumentValue::Null
            };
            arguments.push(LaunchArgument { parameter: String::new(), value });
        }
        wrapper.steps.push(Step::Launch(Box::new(WrapperLaunch {
            kernel: self.compilation.name.clone(),
            template_arguments: Vec::new(),
            grid,
            block: [self.compilation.num_warps * 32, 1, 1].map(Integer::Literal),
            shared: Integer::Literal(self.compilation.shared),
            arguments,
            triton: None,
            place: wrapper.place,
        })));
        Ok(wrapper)
    }

    /// A function that takes the recorded tensors and does nothing.
    fn host_function(&self) -> Wrapper {
        let tensors = self.sizes.tensors.iter().enumerate();
        let tensors = tensors.map(|(index, tensor)| WrapperTensor {
            name: project_name(&tensor.name).to_owned(),
            origin: TensorOrigin::Parameter(index),
            dtype: Some(tensor.dtype),
            rank: Some(tensor.order.len()),
        });
        let tensors: Vec<WrapperTensor> = tensors.collect();
        let parameters = tensors.iter().enumerate().map(|(index, tensor)| WrapperParameter {
            name: tensor.name.clone(),
            kind: ParameterKind::Tensor(index),
        });
        Wrapper {
            name: self.compilation.name.clone(),
            place: SourceLocation { line: self.compilation.line, column: 1 },
            parameters: parameters.collect(),
            tensors,
            steps: Vec::new(),
            returned: Vec::new(),
            requirements: self.equalities(),
            local_names: self.names(),
            same_shapes: Vec::new(),
            other_dtypes: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What the launch passes for a parameter of the entry.
    fn argument(
        &self,
        index: usize,
        (name, argument): (&str, &Argument),
        text: &KernelText,
        parameter: &PtxParameter,
    ) -> Result<ArgumentValue, String> {
        Ok(match argument {
            Argument::Tensor { .. } => {
                let (reads, writes) = text.pointers.get(name).copied().unwrap_or((true, false));
                let before = self.arguments().take(index);
                let tensor =
                    before.filter(|(.., other)| matches!(other, Argument::Tensor { .. })).count();
                ArgumentValue::Tensor { tensor, writes, reads }
            }
            Argument::Integer(_) => {
                let values = self.integers(index).unwrap_or_default();
                let formula = self.sizes.integer(&values);
                let formula = formula.ok_or_else(|| format!("`{name}` without formula"))?;
                ArgumentValue::Integer(formula, integer_type(parameter)?)
            }
            Argument::Real(value) => {
                let dtype = if parameter.size == 8 { Dtype::F64 } else { Dtype::F32 };
                ArgumentValue::Real(Real::Literal(*value), dtype)
            }
            Argument::Boolean(value) => ArgumentValue::Boolean(*value),
            Argument::None | Argument::Text(_) => {
                return Err(format!("`{name}`, which is no constant of the code, as {argument:?}"));
            }
            Argument::Other(kind) => return Err(format!("`{name}` of the type {kind}")),
        })
    }

    /// Sizes that are equal in every launch are one.
    fn equalities(&self) -> Vec<Condition> {
        let pairs = self.sizes.equal().into_iter();
        pairs
            .map(|(first, other)| {
                Condition::Compare(Comparison::Equal, Integer::Fact(first), Integer::Fact(other))
            })
            .collect()
    }

    /// The integer arguments that are sizes give them their names.
    fn names(&self) -> Vec<(Integer, String)> {
        let named = self.arguments().filter_map(|(index, name, _)| {
            let formula = self.sizes.integer(&self.integers(index)?)?;
            let is_constant = self.compilation.constants.contains(&index);
            let is_size = !is_constant && matches!(formula, Integer::Fact(Fact::Size { .. }));
            (is_size && is_identifier(name)).then(|| (formula, name.to_owned()))
        });
        named.collect()
    }

    /// The recorded sizes as workloads; the axes get their limits.
    pub(super) fn workloads(&self, interface: &mut Interface<'_>) -> Vec<WorkloadWritten> {
        let axes = interface.axes.axes.iter();
        let axes: Vec<Values> = axes.map(|axis| self.axis(interface, &axis.name)).collect();
        let mut sizes: Vec<(i128, Vec<i128>)> = Vec::new();
        for launch in 0..self.launches.len() {
            let tensors = self.sizes.tensors.iter();
            let elements = tensors.map(|tensor| product(&tensor.shapes[launch])).sum();
            let own: Vec<i128> = axes.iter().map(|values| values[launch]).collect();
            if sizes.iter().all(|(_, known)| *known != own) {
                sizes.push((elements, own));
            }
        }
        sizes.sort();
        for (axis, values) in interface.axes.axes.iter_mut().zip(&axes) {
            axis.min = values.iter().copied().min().unwrap_or(1);
            axis.max = values.iter().copied().max();
        }
        let written = |name: &str, purpose: Purpose, own: &[i128]| {
            let axes = interface.axes.axes.iter().zip(own);
            let axes = axes
                .map(|(axis, size)| (axis.name.clone(), i64::try_from(*size).unwrap_or(i64::MAX)));
            workload(name, purpose, axes.collect())
        };
        let Some((largest, others)) = sizes.split_last() else { return Vec::new() };
        let mut small: Vec<&Vec<i128>> = Vec::new();
        let checked = if others.is_empty() { std::slice::from_ref(largest) } else { others };
        small.extend(checked.iter().filter(|(elements, _)| *elements <= SMALL).map(|(_, own)| own));
        let step = small.len().div_ceil(MOST_WORKLOADS).max(1);
        let small: Vec<&Vec<i128>> = small.into_iter().step_by(step).collect();
        // The second smallest is held out, or the only one is used twice.
        let hidden = small.get(1).or(small.first()).copied();
        let mut list = Vec::new();
        for own in small.iter().filter(|own| small.len() == 1 || Some(**own) != hidden) {
            list.push(written(&format!("recorded-{}", list.len() + 1), Purpose::Verify, own));
        }
        list.push(written("largest", Purpose::Measure, &largest.1));
        list.extend(hidden.map(|own| written("hidden", Purpose::HeldOut, own)));
        list
    }

    /// The size of an axis in each launch.
    fn axis(&self, interface: &Interface<'_>, name: &str) -> Values {
        let tensors = self.sizes.tensors.iter().enumerate();
        let sizes = tensors.flat_map(|(tensor, recorded)| {
            (0..recorded.order.len()).map(move |position| (tensor, position))
        });
        let of_axis = sizes.into_iter().find(|(tensor, position)| {
            let fact = Fact::Size { tensor: *tensor, dimension: dimension(*position) };
            interface.axes.text(&Integer::Fact(fact)).as_deref() == Some(name)
        });
        let sizes = of_axis.map(|(tensor, position)| self.sizes.size(tensor, position));
        sizes.unwrap_or_else(|| vec![1; self.launches.len()])
    }

    pub(super) fn tell(&self, kernel: &str, interface: &Interface<'_>, report: &mut Report) {
        let short: String = self.compilation.hash.chars().take(8).collect();
        let (launches, axes) = (self.launches.len(), interface.axes.axes.len());
        report.carried.insert(
            0,
            format!(
                "{axes} axes, {} tensors, {launches} different launches",
                self.sizes.tensors.len()
            ),
        );
        report.carried.push(format!("kernels/{kernel}: the PTX of the compilation {short}"));
        report.leave_out(
            "the Python text of the kernel",
            "the recorded PTX is judged, not a new compilation; import the Python file for that",
        );
        for tensor in self.sizes.tensors.iter().filter(|tensor| !tensor.order.is_sorted()) {
            let name = project_name(&tensor.name);
            let order: Vec<String> = tensor.order.iter().map(ToString::to_string).collect();
            let text = format!(
                "the launches pass `{name}` with permuted strides; its dimensions are those of its memory here, which are the dimensions {} of the argument",
                order.join(", ")
            );
            report.confirm(format!("{name}.order"), Place::Tensor(name.to_owned()), text);
        }
        report.confirm(
            "grid",
            Place::Kernel(kernel.to_owned()),
            format!("the formulas of the grid and the arguments give the numbers of {launches} recorded launches; a log states none"),
        );
        report.confirm(
            "workloads",
            Place::Workloads,
            "the sizes are recorded ones; sizes that are equal in every launch are one axis",
        );
    }
}

/// Whether a text of the log can be a name of the project.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The name of a tensor: that of the parameter without the suffix of pointers.
fn project_name(parameter: &str) -> &str {
    parameter.strip_suffix("_ptr").filter(|name| !name.is_empty()).unwrap_or(parameter)
}

fn divisible(formula: &Integer) -> Option<Condition> {
    let remainder = Integer::combined(Operator::Remainder, formula.clone(), Integer::Literal(16))?;
    Some(Condition::compared(Comparison::Equal, remainder, Integer::Literal(0)))
}

/// The type of an integer parameter.
fn integer_type(parameter: &PtxParameter) -> Result<Dtype, String> {
    match parameter.size {
        1 => Ok(Dtype::I8),
        2 => Ok(Dtype::I16),
        4 => Ok(Dtype::I32),
        8 => Ok(Dtype::I64),
        size => Err(format!("an integer in the parameter `{}` of {size} bytes", parameter.name)),
    }
}

/// The scratch memory of all blocks.
fn scratch(bytes: i128, grid: &[Integer; 3]) -> Result<WrapperTensor, String> {
    let blocks = Integer::product(grid.iter().cloned());
    let size = blocks
        .and_then(|blocks| Integer::combined(Operator::Multiply, blocks, Integer::Literal(bytes)));
    let size = size.ok_or("scratch memory without formula")?;
    Ok(WrapperTensor {
        name: "scratch".to_owned(),
        origin: TensorOrigin::Allocated(AllocatedShape::Sizes(vec![size])),
        dtype: Some(Dtype::U8),
        rank: Some(1),
    })
}
