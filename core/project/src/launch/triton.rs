//! The launch of a Triton kernel: its compile-time constants and options, and what Triton's JIT would assume about its
//! arguments.

use std::collections::BTreeSet;

use lightbench_primitives::dtype::{CType, Dtype};
use lightbench_primitives::scalar_value::ScalarValue;

use super::arguments::Names;
use super::flags::Flag;
use super::plan::{PlanError, within};
use super::steps::{self, LaunchStep};
pub use super::written::ConstexprValue;
use super::written::{ConstexprWritten, FlagWritten, LaunchBlockWritten, TritonLaunchWritten};
use super::{Argument, Buffer, Launch};
use crate::argument::ValueArgument;
use crate::environment::Environment;
use crate::expression::{Expression, Kind, Scope};
use crate::locate::Located;
use crate::names::is_identifier;
use crate::problem::Findings;
use crate::written::ExpressionWritten;

/// Divisor about which Triton specialises pointers and integers.
const DIVISOR: i128 = 16;

/// Warps of a block. Triton requires a power of two.
const MAX_WARPS: u64 = 32;

/// Stages of a software pipeline; more than a few do not fit into shared memory.
const MAX_STAGES: u64 = 64;

/// Blocks of a cluster on every device that has clusters.
const MAX_CTAS: u64 = 8;

/// The part of a launch step that only a Triton kernel has.
#[derive(Clone, Debug, PartialEq)]
pub struct TritonOptions {
    /// The position of the launch among all launches of its file, in the order of the steps.
    pub ordinal: usize,
    /// Compile-time constants, by the name of the parameter.
    pub constexprs: Vec<(String, Constexpr)>,
    /// Warps of a block.
    pub num_warps: Expression,
    /// Stages of software pipelines.
    pub num_stages: Expression,
    /// Blocks of a cluster.
    pub num_ctas: Expression,
    /// The element type of each argument that is a buffer.
    pub elements: Vec<Option<Dtype>>,
    /// Whether every buffer of the project begins at a multiple of 16 bytes.
    pub aligned: bool,
}

/// The value of a parameter that is annotated `tl.constexpr`.
#[derive(Clone, Debug, PartialEq)]
pub enum Constexpr {
    /// An integer.
    Formula(Expression),
    /// Any other value.
    Value(ConstexprValue),
}

/// A kernel with the call that it is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specialisation {
    /// The name of its entry in the compiled module: that of the function, with `$2` for the second call of the function
    /// that needs other code, and so on.
    pub symbol: String,
    /// The call.
    pub call: TritonCall,
}

/// Everything that determines the code that Triton generates for a kernel, besides the text of its file and the device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TritonCall {
    /// The function's name.
    pub kernel: String,
    /// The arguments, in the order of the parameters that are not constants.
    pub arguments: Vec<TritonArgument>,
    /// The constants, by the name of the parameter.
    pub constexprs: Vec<(String, ConstexprValue)>,
    /// Warps of a block.
    pub num_warps: u32,
    /// Stages of software pipelines.
    pub num_stages: u32,
    /// Blocks of a cluster.
    pub num_ctas: u32,
    /// Whether multiplications and additions may be fused.
    pub fuse: bool,
    /// Maximum registers of a thread, if limited.
    pub max_registers: Option<u32>,
}

/// An argument of a Triton kernel as its signature describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TritonArgument {
    /// Triton's name of the type, such as `*fp32` or `i64`.
    pub type_name: String,
    /// What the generated code may assume about the value.
    pub assumption: Assumption,
}

/// What Triton's JIT assumes about an argument, from its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Assumption {
    /// Nothing.
    None,
    /// It is a multiple of 16.
    MultipleOf16,
    /// It is the integer 1, which becomes a constant: the compiled kernel lacks the parameter.
    One,
    /// It is null, which becomes the constant `None`: the compiled kernel lacks the parameter.
    Null,
}

/// Validates a launch of a Triton kernel.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    (written, names): (&TritonLaunchWritten, Names<'_>),
    (arguments, early): (&[Argument], &Scope),
    ordinal: usize,
) -> TritonOptions {
    let is_function = is_identifier(written.kernel.trim());
    if !is_function {
        let found = format!("`{}`", written.kernel);
        findings.add(at.field("kernel"), found, "the name of a function with `@triton.jit`");
    }
    let place = at.field("constexprs");
    findings.at_most(place, "constants", written.constexprs.0.len(), 64);
    let mut seen = BTreeSet::new();
    let mut constexprs = Vec::new();
    for (index, (name, value)) in written.constexprs.0.iter().enumerate() {
        findings.identifier(place.key(index), name);
        if !seen.insert(name) {
            findings.add(place.key(index), format!("`{name}` again"), "each constant once");
        }
        let value = match value {
            ConstexprWritten::Formula(text) => {
                Constexpr::Formula(findings.formula(place.value(index), text, early, Kind::Integer))
            }
            ConstexprWritten::Value(value) => Constexpr::Value(value.clone()),
        };
        constexprs.push((name.clone(), value));
    }
    let mut option = |field: &str, written: &ExpressionWritten| {
        findings.formula(at.field(field), &written.0, early, Kind::Integer)
    };
    let num_warps = option("num_warps", &written.num_warps);
    let num_stages = option("num_stages", &written.num_stages);
    let num_ctas = option("num_ctas", &written.num_ctas);
    for (index, argument) in arguments.iter().enumerate() {
        match argument {
            Argument::Buffer(_)
            | Argument::Value(_)
            | Argument::Integer(_)
            | Argument::Null
            | Argument::Outside(_) => {}
            Argument::TensorMap(_) | Argument::Struct(_) | Argument::Texture(_) => findings.add(
                at.field("args").item(index),
                "an argument that Triton does not take",
                "tensors, scratch, values and `null`",
            ),
        }
    }
    let elements = arguments.iter().map(|argument| match argument {
        Argument::Buffer(buffer) => names.facts(*buffer).map(|facts| facts.dtype),
        Argument::Value(_)
        | Argument::TensorMap(_)
        | Argument::Struct(_)
        | Argument::Texture(_)
        | Argument::Integer(_)
        | Argument::Null
        | Argument::Outside(_) => None,
    });
    let elements = elements.collect();
    let aligned = names.definition.is_none_or(|definition| {
        let tensors = 0..definition.tensors.len();
        tensors.into_iter().all(|index| names.align(Buffer::Tensor(index)) % 16 == 0)
    });
    TritonOptions { ordinal, constexprs, num_warps, num_stages, num_ctas, elements, aligned }
}

/// Reports what a launch block in Python cannot have.
pub(super) fn check_block(findings: &mut Findings<'_>, at: &Located, written: &LaunchBlockWritten) {
    let expected = "nothing: a Triton kernel has no such objects";
    for (field, count) in [
        ("constants", written.constants.len()),
        ("tensor_maps", written.tensor_maps.len()),
        ("structs", written.structs.len()),
        ("textures", written.textures.len()),
        ("surfaces", written.surfaces.len()),
        ("constant_memory", written.constant_memory.len()),
    ] {
        if count > 0 {
            findings.add(at.field(field), format!("`{field}` in a Triton file"), expected);
        }
    }
    for (index, flag) in written.flags.iter().enumerate() {
        if !matches!(flag, FlagWritten::Fmad(_) | FlagWritten::Maxrregcount(_)) {
            let place = at.field("flags").item(index);
            findings.add(place, "a flag of CUDA C++", "`fmad(false)` or `maxrregcount(…)`");
        }
    }
}

impl TritonOptions {
    /// The call in an environment.
    pub(super) fn call(
        &self,
        launch: &LaunchStep,
        flags: &[Flag],
        environment: &Environment<'_>,
    ) -> Result<TritonCall, PlanError> {
        let count = |field, expression, most| {
            let value = within(field, expression, environment, (1, most))?;
            // The limits are far below 2^32.
            Ok(u32::try_from(value).unwrap_or(u32::MAX))
        };
        let mut constexprs = Vec::new();
        for (name, value) in &self.constexprs {
            let value = match value {
                Constexpr::Value(value) => value.clone(),
                Constexpr::Formula(formula) => {
                    ConstexprValue::Integer(integer(formula, environment)?)
                }
            };
            constexprs.push((name.clone(), value));
        }
        let mut arguments = Vec::new();
        for (argument, element) in launch.arguments.iter().zip(&self.elements) {
            arguments.extend(self.argument(argument, *element, environment)?);
        }
        let mut fuse = true;
        let mut max_registers = None;
        for flag in flags {
            match flag {
                Flag::Fmad(on) => fuse = *on,
                Flag::MaxRegisters(registers) => {
                    let registers = registers.integer(environment);
                    // The check of the flags reports a value out of range.
                    max_registers = registers.ok().and_then(|count| u32::try_from(count).ok());
                }
                Flag::FastMath
                | Flag::Ftz(_)
                | Flag::PrecDiv(_)
                | Flag::PrecSqrt(_)
                | Flag::Dialect(_)
                | Flag::OptLevel(_)
                | Flag::ExtraDeviceVectorization
                | Flag::LoadCache(_)
                | Flag::StoreCache(_) => {}
            }
        }
        let num_warps = count("num_warps", &self.num_warps, MAX_WARPS)?;
        if !num_warps.is_power_of_two() {
            return Err(PlanError::OutOfRange {
                field: "num_warps",
                text: self.num_warps.text().to_owned(),
                found: num_warps.to_string(),
                expected: "a power of two".to_owned(),
            });
        }
        Ok(TritonCall {
            kernel: launch.kernel.text().to_owned(),
            arguments,
            constexprs,
            num_warps,
            num_stages: count("num_stages", &self.num_stages, MAX_STAGES)?,
            num_ctas: count("num_ctas", &self.num_ctas, MAX_CTAS)?,
            fuse,
            max_registers,
        })
    }

    /// An argument as the signature describes it; none for what Triton does not take.
    fn argument(
        &self,
        argument: &Argument,
        element: Option<Dtype>,
        environment: &Environment<'_>,
    ) -> Result<Option<TritonArgument>, PlanError> {
        Ok(match argument {
            Argument::Buffer(_) => element.map(|element| TritonArgument {
                type_name: format!("*{}", type_name(element)),
                assumption: if self.aligned { Assumption::MultipleOf16 } else { Assumption::None },
            }),
            Argument::Value(value) => Some(value_argument(value, environment)),
            Argument::Integer(formula) => {
                let (c_type, value) = integer_argument(formula, environment)?;
                Some(scalar_argument(c_type, Some(value)))
            }
            Argument::Null => Some(TritonArgument {
                type_name: "constexpr".to_owned(),
                assumption: Assumption::Null,
            }),
            Argument::TensorMap(_)
            | Argument::Struct(_)
            | Argument::Texture(_)
            | Argument::Outside(_) => None,
        })
    }
}

impl Launch {
    /// The compilations that the launches of Triton kernels need, one for each launch; launches with equal calls share
    /// an entry. Empty for other languages.
    pub(super) fn specialisations(
        &self,
        environment: &Environment<'_>,
    ) -> Result<Vec<Specialisation>, PlanError> {
        let mut calls = Vec::new();
        steps::each_launch(&self.steps, &mut |launch| {
            let options = launch.triton.iter();
            calls.extend(options.map(|triton| triton.call(launch, self.flags.list(), environment)));
        });
        let mut all: Vec<Specialisation> = Vec::new();
        for call in calls {
            let call = call?;
            let symbol = match all.iter().find(|known| known.call == call) {
                Some(known) => known.symbol.clone(),
                None => free_symbol(&call.kernel, &all),
            };
            all.push(Specialisation { symbol, call });
        }
        Ok(all)
    }
}

/// The function's name, or the next one with a number. A name in Python has no `$`, one in PTX may have it.
fn free_symbol(kernel: &str, taken: &[Specialisation]) -> String {
    let mut symbol = kernel.to_owned();
    let mut next = 2;
    while taken.iter().any(|known| known.symbol == symbol) {
        symbol = format!("{kernel}${next}");
        next += 1;
    }
    symbol
}

fn integer(formula: &Expression, environment: &Environment<'_>) -> Result<i64, PlanError> {
    let text = || formula.text().to_owned();
    let value = formula
        .integer(environment)
        .map_err(|error| PlanError::Expression { text: text(), error })?;
    i64::try_from(value).map_err(|_range| PlanError::OutOfRange {
        field: "constexprs",
        text: text(),
        found: value.to_string(),
        expected: "an integer of 64 bits".to_owned(),
    })
}

/// The type of a value and what Triton assumes about it. A value that is known only after the compilation, because it
/// depends on the occupancy, is not specialised.
fn value_argument(value: &ValueArgument, environment: &Environment<'_>) -> TritonArgument {
    scalar_argument(value.c_type, value.value(environment).ok())
}

fn scalar_argument(c_type: CType, value: Option<ScalarValue>) -> TritonArgument {
    let is_integer = !matches!(c_type, CType::Bool) && c_type.dtype().is_integer();
    let assumption = match value {
        Some(ScalarValue::Integer(1)) if is_integer => Assumption::One,
        Some(ScalarValue::Integer(number)) if is_integer && number % DIVISOR == 0 => {
            Assumption::MultipleOf16
        }
        Some(_) | None => Assumption::None,
    };
    TritonArgument { type_name: type_name(c_type.dtype()).to_owned(), assumption }
}

/// An integer with the type that Triton's JIT gives it: `i32` if it fits, else `i64`, and `u64` from 2^63
/// (`native_specialize_impl` in Triton 3.9).
pub(super) fn integer_argument(
    formula: &Expression,
    environment: &Environment<'_>,
) -> Result<(CType, ScalarValue), PlanError> {
    let text = || formula.text().to_owned();
    let value = formula
        .integer(environment)
        .map_err(|error| PlanError::Expression { text: text(), error })?;
    let types = [CType::I32, CType::I64, CType::U64];
    let c_type = types.into_iter().find(|c_type| c_type.dtype().holds(value));
    let c_type = c_type.ok_or_else(|| PlanError::OutOfRange {
        field: "args",
        text: text(),
        found: value.to_string(),
        expected: "an integer of 64 bits".to_owned(),
    })?;
    Ok((c_type, ScalarValue::Integer(value)))
}

/// Triton's name of an element type (`triton.language.core.dtype`). Packed 4-bit elements travel as bytes.
fn type_name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F64 => "fp64",
        Dtype::F32 => "fp32",
        Dtype::F16 => "fp16",
        Dtype::Bf16 => "bf16",
        Dtype::F8E4M3 => "fp8e4nv",
        Dtype::F8E5M2 => "fp8e5",
        Dtype::I64 => "i64",
        Dtype::I32 => "i32",
        Dtype::I16 => "i16",
        Dtype::I8 => "i8",
        Dtype::U64 => "u64",
        Dtype::U32 => "u32",
        Dtype::U16 => "u16",
        Dtype::U8 | Dtype::I4 | Dtype::U4 | Dtype::E2M1 => "u8",
        Dtype::Bool => "i1",
    }
}
