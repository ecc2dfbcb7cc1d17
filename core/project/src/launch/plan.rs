//! A launch with all values: parameters chosen, expressions evaluated, ready to compile and to launch.

use std::collections::BTreeMap;

use thiserror::Error;

pub use super::planned::{Plan, PlannedArgument, PlannedLaunch, PlannedScratch, PlannedStep};
use lightbench_primitives::scalar_value::ScalarValue;

use super::tensor_maps::ViolatedLimit;
use super::triton::{self, Specialisation};
use super::{
    Architecture, Argument, Launch, LaunchStep, Parameter, Scratch, Step, StructArgument, steps,
};
use crate::argument::ValueError;
use crate::environment::{DeviceFacts, Environment};
use crate::expression::{Expression, ExpressionError, Reason};
use crate::extent::MAX_TENSOR_BYTES;
use crate::manifest::LARGEST_AXIS;

/// Maximum threads of a block, and along its third dimension (CUDA C++ programming guide, technical specifications).
const MAX_THREADS: u64 = 1024;
const MAX_BLOCK: [u64; 3] = [1024, 1024, 64];
const MAX_GRID: [u64; 3] = [(1 << 31) - 1, 65535, 65535];

/// Maximum blocks of a cluster: 8 everywhere, 16 if the kernel opts in (same source).
const MAX_CLUSTER: u64 = 16;

/// Maximum dynamic shared memory of a block on any device: 227 KiB (same source).
pub const MAX_SHARED_BYTES: u64 = 227 << 10;

/// Maximum launches and fills of one run, with all repetitions.
pub(super) const MAX_OPERATIONS: u64 = 1 << 20;

/// Maximum iterations of one repetition.
const MAX_TURNS: u64 = 1 << 20;

/// Parameters chosen for one workload, and all inputs of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// A value for every parameter: `PARAM_` and the name.
    pub parameters: Vec<(String, i64)>,
    /// Axes that are compile-time constants: `AXIS_` and the name, and `axis::` and the name.
    pub constants: Vec<(String, u64)>,
    /// The compiler's options; they contain no user text.
    pub options: Vec<String>,
    /// Which architectures the code is for.
    pub architecture: Architecture,
    /// The name expressions for the compiler, one for each kernel of [`Launch::kernels`].
    pub name_expressions: Vec<String>,
    /// What the kernels of a Triton file are compiled for, one for each launch in the order of the steps; empty for
    /// other languages.
    pub triton: Vec<Specialisation>,
}

/// The resources of one launch that determine its occupancy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The kernel as named in the step: the key of the occupancy that [`Launch::plan`] takes.
    pub kernel: String,
    /// The name expression for the compiler.
    pub name_expression: String,
    /// Threads along three dimensions.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u64,
    /// Blocks of a cluster along three dimensions.
    pub cluster: Option<[u32; 3]>,
    /// Preferred share of shared memory, in percent.
    pub carveout: Option<u8>,
}

/// Why a launch has no numbers.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PlanError {
    /// A chosen parameter is not one of the kernel's.
    #[error("unknown parameter `{name}`; expected one of {}", known.join(", "))]
    UnknownParameter {
        /// The requested name.
        name: String,
        /// The kernel's parameters.
        known: Vec<String>,
    },
    /// A chosen value is not in the parameter's list.
    #[error("{value} is not a value of `{name}`; expected one of {values:?}")]
    UnknownValue {
        /// The parameter.
        name: String,
        /// The requested value.
        value: i64,
        /// The values that it has.
        values: Vec<i64>,
    },
    /// The conditions leave no choice.
    #[error("no parameter values satisfy `require`{}; expected at least one choice", condition.as_ref().map(|text| format!(": `{text}` fails")).unwrap_or_default())]
    NotAllowed {
        /// The condition that failed last, if there is one.
        condition: Option<String>,
    },
    /// An expression has no value.
    #[error("`{text}`: {error}")]
    Expression {
        /// The expression.
        text: String,
        /// Why not.
        error: ExpressionError,
    },
    /// A number is outside the limits of its field.
    #[error("`{field}` is {found} (`{text}`); expected {expected}")]
    OutOfRange {
        /// The field of the step.
        field: &'static str,
        /// The expression.
        text: String,
        /// Its value.
        found: String,
        /// The limits.
        expected: String,
    },
    /// A tensor map violates a limit of the driver.
    #[error("{0}")]
    TensorMap(Box<ViolatedLimit>),
    /// Repetitions multiply to more than a run may do.
    #[error("one run has {found} launches and fills; expected at most {MAX_OPERATIONS}")]
    TooManyOperations {
        /// Their number, saturating.
        found: u64,
    },
}

impl PlanError {
    /// Whether the number is known once a device and its occupancy are.
    pub fn needs_device(&self) -> bool {
        matches!(self, Self::Expression { error, .. } if error.reason.lacks_value())
    }
}

impl Launch {
    /// Chooses parameters: the given ones, and for the others the first values that `require` permits.
    ///
    /// Combinations are tried in the written order, the last parameter varying fastest. A condition on an unknown
    /// property of the device permits every combination.
    pub fn select(
        &self,
        environment: &Environment<'_>,
        chosen: &BTreeMap<String, i64>,
        device: &DeviceFacts,
    ) -> Result<Selection, PlanError> {
        let candidates = self.candidates(chosen)?;
        let environment = environment.clone().on_device(device);
        let mut failed = None;
        for index in 0..combinations(&candidates) {
            let parameters = combination(&candidates, index);
            let environment = with_parameters(&environment, &parameters);
            match self.forbidding(&environment)? {
                None => return self.selection(&environment, &parameters),
                Some(condition) => failed = Some(condition.text().to_owned()),
            }
        }
        Err(PlanError::NotAllowed { condition: failed })
    }

    /// The parameters with the values to try.
    fn candidates(&self, chosen: &BTreeMap<String, i64>) -> Result<Vec<Parameter>, PlanError> {
        let names = || self.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        if let Some(name) =
            chosen.keys().find(|name| !self.parameters.iter().any(|known| known.name == **name))
        {
            return Err(PlanError::UnknownParameter { name: name.clone(), known: names() });
        }
        let mut candidates = self.parameters.clone();
        for parameter in &mut candidates {
            let Some(value) = chosen.get(&parameter.name) else { continue };
            if !parameter.values.contains(value) {
                let (name, values) = (parameter.name.clone(), parameter.values.clone());
                return Err(PlanError::UnknownValue { name, value: *value, values });
            }
            parameter.values = vec![*value];
        }
        Ok(candidates)
    }

    /// The first condition that does not hold.
    pub(super) fn forbidding(
        &self,
        environment: &Environment<'_>,
    ) -> Result<Option<&Expression>, PlanError> {
        for condition in &self.require {
            match condition.condition(environment) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(condition)),
                Err(error) if error.reason.lacks_value() => {}
                Err(error) => {
                    return Err(PlanError::Expression { text: condition.text().to_owned(), error });
                }
            }
        }
        Ok(None)
    }

    fn selection(
        &self,
        environment: &Environment<'_>,
        parameters: &[(&str, i64)],
    ) -> Result<Selection, PlanError> {
        let parameters: Vec<(String, i64)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut constants = Vec::new();
        for name in &self.constants {
            use crate::expression::Values as _;
            let value = environment.integer(name).and_then(|value| u64::try_from(value).ok());
            constants.push((name.clone(), value.ok_or_else(|| no_value(name))?));
        }
        let options = self
            .flags
            .options(environment)
            .map_err(|error| PlanError::Expression { text: "flags".to_owned(), error })?;
        let mut selection = Selection {
            parameters,
            constants,
            options,
            architecture: self.architecture,
            name_expressions: Vec::new(),
            triton: self.specialisations(environment)?,
        };
        for launch in self.launches() {
            let name = selection.name_expression(launch);
            if !selection.name_expressions.contains(&name) {
                selection.name_expressions.push(name);
            }
        }
        Ok(selection)
    }

    /// The resources of each launch, in order.
    pub fn footprints(
        &self,
        environment: &Environment<'_>,
        selection: &Selection,
        device: &DeviceFacts,
    ) -> Result<Vec<Footprint>, PlanError> {
        let environment = environment.clone().on_device(device);
        let environment = selection.apply(&environment);
        let launches = self.launches().into_iter();
        launches.map(|launch| footprint(launch, selection, &environment)).collect()
    }

    /// All launches, nested ones included, in order.
    fn launches(&self) -> Vec<&LaunchStep> {
        let mut launches = Vec::new();
        steps::each_launch(&self.steps, &mut |launch| launches.push(launch));
        launches
    }

    /// All numbers of a launch. `occupancy` holds resident blocks on the whole device, by [`Footprint::kernel`].
    pub fn plan(
        &self,
        environment: &Environment<'_>,
        selection: &Selection,
        device: &DeviceFacts,
        occupancy: &BTreeMap<String, u64>,
    ) -> Result<Plan, PlanError> {
        let environment = environment.clone().on_device(device).with_occupancy(occupancy);
        let environment = selection.apply(&environment);
        self.plan_in(selection, &environment)
    }

    pub(super) fn plan_in(
        &self,
        selection: &Selection,
        environment: &Environment<'_>,
    ) -> Result<Plan, PlanError> {
        let scratch: Result<_, _> =
            self.scratch.iter().map(|scratch| planned_scratch(scratch, environment)).collect();
        let maps = self.tensor_maps.iter().map(|map| map.plan(environment));
        let tensor_maps = maps.collect::<Result<_, _>>()?;
        let textures = self.textures.iter().map(|texture| texture.plan(environment));
        let textures = textures.collect::<Result<_, _>>()?;
        let planner = Planner { structs: &self.structs, selection, environment };
        let scratch = scratch?;
        let steps = planner.steps(&self.steps)?;
        match operations(&steps) {
            0..=MAX_OPERATIONS => Ok(Plan { scratch, tensor_maps, textures, steps }),
            found => Err(PlanError::TooManyOperations { found }),
        }
    }
}

impl Selection {
    /// The value of `PARAM_…` or `AXIS_…`.
    pub fn macro_value(&self, name: &str) -> Option<i128> {
        if let Some(parameter) = name.strip_prefix("PARAM_") {
            let found = self.parameters.iter().find(|(known, _)| known == parameter);
            return found.map(|(_, value)| i128::from(*value));
        }
        let axis = name.strip_prefix("AXIS_")?;
        self.constants.iter().find(|(known, _)| known == axis).map(|(_, value)| i128::from(*value))
    }

    /// The compiled kernel of a launch: a name expression for NVRTC, the entry of a specialisation for Triton.
    fn name_expression(&self, launch: &LaunchStep) -> String {
        let triton = launch.triton.as_ref().and_then(|triton| self.triton.get(triton.ordinal));
        triton.map_or_else(
            || launch.kernel.expression(|name| self.macro_value(name)),
            |specialisation| specialisation.symbol.clone(),
        )
    }

    pub(super) fn apply<'a>(&'a self, environment: &Environment<'a>) -> Environment<'a> {
        let mut environment = environment.clone();
        for (name, value) in &self.parameters {
            environment.set(name, i128::from(*value));
        }
        environment
    }
}

pub(super) fn combinations(parameters: &[Parameter]) -> usize {
    parameters.iter().map(|parameter| parameter.values.len()).product()
}

/// The combination with this number, the last parameter varying fastest.
pub(super) fn combination(parameters: &[Parameter], mut index: usize) -> Vec<(&str, i64)> {
    let mut chosen: Vec<(&str, i64)> = Vec::new();
    for parameter in parameters.iter().rev() {
        let count = parameter.values.len().max(1);
        chosen.extend(
            parameter.values.get(index % count).map(|value| (parameter.name.as_str(), *value)),
        );
        index /= count;
    }
    chosen.reverse();
    chosen
}

pub(super) fn with_parameters<'a>(
    environment: &Environment<'a>,
    parameters: &[(&'a str, i64)],
) -> Environment<'a> {
    let mut environment = environment.clone();
    for (name, value) in parameters {
        environment.set(name, i128::from(*value));
    }
    environment
}

impl Expression {
    /// Its value as a count.
    ///
    /// # Errors
    /// It has no value from 0 to 2^64.
    pub fn count(&self, environment: &Environment<'_>) -> Result<u64, PlanError> {
        within("count", self, environment, (0, u64::MAX))
    }
}

/// Launches and fills of one run, with all repetitions.
fn operations(steps: &[PlannedStep]) -> u64 {
    let each = steps.iter().map(|step| match step {
        PlannedStep::Launch(_) | PlannedStep::Fill { .. } => 1,
        PlannedStep::Repeat { count, steps, .. } => count.saturating_mul(operations(steps)),
    });
    each.fold(0, u64::saturating_add)
}

struct Planner<'a> {
    structs: &'a [StructArgument],
    selection: &'a Selection,
    environment: &'a Environment<'a>,
}

impl Planner<'_> {
    fn steps(&self, steps: &[Step]) -> Result<Vec<PlannedStep>, PlanError> {
        steps.iter().map(|step| self.step(step)).collect()
    }

    fn step(&self, step: &Step) -> Result<PlannedStep, PlanError> {
        Ok(match step {
            Step::Fill { buffer, value } => PlannedStep::Fill { buffer: *buffer, value: *value },
            Step::Repeat { count, swap, steps } => PlannedStep::Repeat {
                count: within("count", count, self.environment, (1, MAX_TURNS))?,
                swap: swap.clone(),
                steps: self.steps(steps)?,
            },
            Step::Launch(launch) => PlannedStep::Launch(self.launch(launch)?),
        })
    }

    fn launch(&self, launch: &LaunchStep) -> Result<PlannedLaunch, PlanError> {
        let Footprint { name_expression, block, shared_bytes, cluster, carveout, .. } =
            footprint(launch, self.selection, self.environment)?;
        let grid = dimensions("grid", &launch.grid, self.environment, MAX_GRID)?;
        if let Some(cluster) = cluster {
            let divides = grid.iter().zip(cluster).all(|(blocks, cluster)| blocks % cluster == 0);
            if !divides {
                let text = launch.grid.iter().map(Expression::text).collect::<Vec<_>>().join(", ");
                let expected = format!("a multiple of the cluster {cluster:?}");
                return Err(PlanError::OutOfRange {
                    field: "grid",
                    text,
                    found: format!("{grid:?}"),
                    expected,
                });
            }
        }
        let arguments = launch
            .arguments
            .iter()
            .map(|argument| self.argument(argument))
            .collect::<Result<_, _>>()?;
        Ok(PlannedLaunch {
            name_expression,
            arguments,
            grid,
            block,
            shared_bytes,
            cluster,
            cooperative: launch.cooperative,
            carveout,
            programmatic: launch.programmatic,
        })
    }

    fn argument(&self, argument: &Argument) -> Result<PlannedArgument, PlanError> {
        Ok(match argument {
            Argument::Buffer(buffer) => PlannedArgument::Buffer(*buffer),
            Argument::TensorMap(index) => PlannedArgument::TensorMap(*index),
            Argument::Texture(index) => PlannedArgument::Texture(*index),
            Argument::Integer(formula) => {
                let (c_type, value) = triton::integer_argument(formula, self.environment)?;
                PlannedArgument::Value { name: formula.text().to_owned(), c_type, value }
            }
            Argument::Null => PlannedArgument::Null,
            Argument::Outside(name) => PlannedArgument::Outside(name.clone()),
            Argument::Value(argument) => PlannedArgument::Value {
                name: argument.name.clone(),
                c_type: argument.c_type,
                value: self.value(argument)?,
            },
            Argument::Struct(index) => {
                let layout = &self.structs[*index];
                let mut fields = Vec::new();
                for (offset, field) in layout.offsets().into_iter().zip(&layout.fields) {
                    fields.push((offset, field.c_type, self.value(field)?));
                }
                PlannedArgument::Struct {
                    index: *index,
                    bytes: layout.bytes(),
                    alignment: layout.alignment(),
                    fields,
                }
            }
        })
    }

    fn value(&self, argument: &crate::argument::ValueArgument) -> Result<ScalarValue, PlanError> {
        argument.value(self.environment).map_err(|error| match error {
            ValueError::Formula(error) => {
                PlanError::Expression { text: argument.name.clone(), error }
            }
            ValueError::Type { value, expected } => PlanError::OutOfRange {
                field: "args",
                text: argument.name.clone(),
                found: value.to_string(),
                expected,
            },
        })
    }
}

pub(super) fn footprint(
    launch: &LaunchStep,
    selection: &Selection,
    environment: &Environment<'_>,
) -> Result<Footprint, PlanError> {
    let block = dimensions("block", &launch.block, environment, MAX_BLOCK)?;
    at_most_product("block", &launch.block, block, MAX_THREADS)?;
    let shared_bytes = within("shared", &launch.shared, environment, (0, MAX_SHARED_BYTES))?;
    let cluster = match &launch.cluster {
        None => None,
        Some(written) => {
            let cluster = dimensions("cluster", written, environment, [MAX_CLUSTER; 3])?;
            at_most_product("cluster", written, cluster, MAX_CLUSTER)?;
            Some(cluster)
        }
    };
    let carveout = match &launch.carveout {
        None => None,
        Some(carveout) => u8::try_from(within("carveout", carveout, environment, (0, 100))?).ok(),
    };
    Ok(Footprint {
        kernel: launch.kernel.text().to_owned(),
        name_expression: selection.name_expression(launch),
        block,
        shared_bytes,
        cluster,
        carveout,
    })
}

fn dimensions(
    field: &'static str,
    written: &[Expression],
    environment: &Environment<'_>,
    most: [u64; 3],
) -> Result<[u32; 3], PlanError> {
    let mut sizes = [1_u32; 3];
    for ((size, expression), most) in sizes.iter_mut().zip(written).zip(most) {
        let value = within(field, expression, environment, (1, most))?;
        // The limits above are below 2^31.
        *size = u32::try_from(value).unwrap_or(u32::MAX);
    }
    Ok(sizes)
}

fn at_most_product(
    field: &'static str,
    written: &[Expression],
    sizes: [u32; 3],
    most: u64,
) -> Result<(), PlanError> {
    let product: u64 = sizes.iter().map(|size| u64::from(*size)).product();
    if product <= most {
        return Ok(());
    }
    let text = written.iter().map(Expression::text).collect::<Vec<_>>().join(", ");
    let found = format!("{sizes:?}, {product} in all");
    Err(PlanError::OutOfRange { field, text, found, expected: format!("at most {most} in all") })
}

pub(super) fn within(
    field: &'static str,
    expression: &Expression,
    environment: &Environment<'_>,
    (low, high): (u64, u64),
) -> Result<u64, PlanError> {
    let text = || expression.text().to_owned();
    let value = expression
        .integer(environment)
        .map_err(|error| PlanError::Expression { text: text(), error })?;
    let fits = u64::try_from(value).ok().filter(|value| (low..=high).contains(value));
    fits.ok_or_else(|| PlanError::OutOfRange {
        field,
        text: text(),
        found: value.to_string(),
        expected: format!("from {low} to {high}"),
    })
}

fn planned_scratch(
    scratch: &Scratch,
    environment: &Environment<'_>,
) -> Result<PlannedScratch, PlanError> {
    let Scratch { name, dtype, shape, init } = scratch;
    let mut dims = Vec::new();
    for expression in shape {
        dims.push(within("scratch", expression, environment, (1, LARGEST_AXIS.unsigned_abs()))?);
    }
    let bits = dims.iter().try_fold(dtype.bits(), |product, dim| product.checked_mul(*dim));
    let bytes = bits.map(|bits| bits.div_ceil(8)).filter(|bytes| *bytes <= MAX_TENSOR_BYTES);
    let bytes = bytes.ok_or_else(|| PlanError::OutOfRange {
        field: "scratch",
        text: shape.iter().map(Expression::text).collect::<Vec<_>>().join(", "),
        found: format!("{dims:?}"),
        expected: "at most 2^41 bytes".to_owned(),
    })?;
    Ok(PlannedScratch { name: name.clone(), dtype: *dtype, init: *init, dims, bytes })
}

fn no_value(name: &str) -> PlanError {
    let error =
        ExpressionError { span: 0..name.len(), reason: Reason::NoValue { name: name.to_owned() } };
    PlanError::Expression { text: name.to_owned(), error }
}
