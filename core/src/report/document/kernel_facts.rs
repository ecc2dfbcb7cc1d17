//! A compiled kernel: parameters, resources and occupancy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compile::occupancy::Occupancy;
use crate::compile::signature::function_name;
use crate::compile::{KernelFacts, Resources};
use crate::ptx::{ParameterKind, PointerAttributes, PtxParameter};

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedKernelFacts {
    /// The name expression that requested it.
    pub kernel: Option<String>,
    /// The name of its function.
    pub name: String,
    /// The symbol, mangled unless `extern "C"`.
    pub symbol: String,
    /// The parameters that it declares.
    pub parameters: Vec<ReportedParameter>,
    /// The largest block that `__launch_bounds__` allows.
    pub max_threads: Option<[u32; 3]>,
    /// The block that it requires.
    pub required_threads: Option<[u32; 3]>,
    /// Resources of the machine code; null if the PTX was not assembled.
    pub resources: Option<ReportedResources>,
}

/// One parameter of a compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedParameter {
    /// Its name in the PTX.
    pub name: String,
    /// Its type.
    pub kind: ReportedParameterKind,
    /// Its size in bytes.
    pub size: u64,
    /// Its alignment in bytes.
    pub alignment: u64,
    /// Attributes, if it is declared as a pointer.
    pub pointer: Option<ReportedPointer>,
}

/// The type of a parameter in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedParameterKind {
    /// `.u32`, `.s64` …; pointers are 64-bit integers.
    Integer,
    /// `.b32`, `.b64` …: an integer, a floating-point number or a pointer.
    Bits,
    /// `.f32`, `.f64` …
    Float,
    /// `.align N .b8 name[size]`: structs, and half-precision scalars.
    Bytes,
    /// Texture, surface and sampler references.
    Opaque,
}

/// The attributes of a pointer parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedPointer {
    /// `global`, `const`, `local` or `shared`.
    pub space: Option<String>,
    /// Alignment of the pointee in bytes.
    pub align: Option<u64>,
}

/// Resources that a kernel's machine code uses. Null values are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedResources {
    /// Registers of each thread.
    pub registers: u32,
    /// Register spills stored to local memory, per thread.
    pub spill_store_bytes: u64,
    /// Register spills loaded from local memory, per thread.
    pub spill_load_bytes: u64,
    /// Stack of each thread with all calls.
    pub stack_bytes: Option<u64>,
    /// Shared memory that the kernel declares.
    pub static_shared_bytes: u64,
    /// Constant memory of the kernel: parameters and literals.
    pub constant_bytes: u64,
    /// `__constant__` data of the module.
    pub module_constant_bytes: u64,
    /// Named barriers.
    pub barriers: u32,
    /// Machine code, padding included.
    pub code_bytes: u64,
}

/// The occupancy of a multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedOccupancy {
    /// Blocks fit.
    Resident {
        /// Resident blocks.
        blocks_per_sm: u32,
        /// Resident warps.
        warps_per_sm: u32,
        /// The largest number of resident warps.
        max_warps_per_sm: u32,
        /// Resident warps divided by the largest number.
        fraction: f64,
        /// The resources that limit it.
        limited_by: Vec<String>,
    },
    /// No block fits.
    CannotLaunch {
        /// Always 0.
        blocks_per_sm: u32,
        /// Why not.
        cannot_launch: Vec<String>,
    },
}

impl From<&KernelFacts> for ReportedKernelFacts {
    fn from(kernel: &KernelFacts) -> Self {
        Self {
            kernel: kernel.expression.clone(),
            name: function_name(&kernel.symbol).unwrap_or_else(|| kernel.symbol.clone()),
            symbol: kernel.symbol.clone(),
            parameters: kernel.parameters.iter().map(Into::into).collect(),
            max_threads: kernel.max_threads,
            required_threads: kernel.required_threads,
            resources: kernel.resources.map(Into::into),
        }
    }
}

impl From<&PtxParameter> for ReportedParameter {
    fn from(parameter: &PtxParameter) -> Self {
        let PtxParameter { name, kind, size, alignment, pointer } = parameter.clone();
        let pointer =
            pointer.map(|PointerAttributes { space, align }| ReportedPointer { space, align });
        let kind = match kind {
            ParameterKind::Integer => ReportedParameterKind::Integer,
            ParameterKind::Bits => ReportedParameterKind::Bits,
            ParameterKind::Float => ReportedParameterKind::Float,
            ParameterKind::Bytes => ReportedParameterKind::Bytes,
            ParameterKind::Opaque => ReportedParameterKind::Opaque,
        };
        Self { name, kind, size, alignment, pointer }
    }
}

impl From<Resources> for ReportedResources {
    fn from(resources: Resources) -> Self {
        Self {
            registers: resources.registers,
            spill_store_bytes: resources.spill_stores.0,
            spill_load_bytes: resources.spill_loads.0,
            stack_bytes: resources.stack.map(|stack| stack.0),
            static_shared_bytes: resources.static_shared.0,
            constant_bytes: resources.constant.0,
            module_constant_bytes: resources.module_constant.0,
            barriers: resources.barriers,
            code_bytes: resources.code.0,
        }
    }
}

impl From<&Occupancy> for ReportedOccupancy {
    fn from(occupancy: &Occupancy) -> Self {
        match occupancy {
            Occupancy::Resident(resident) => Self::Resident {
                blocks_per_sm: resident.blocks,
                warps_per_sm: resident.warps,
                max_warps_per_sm: resident.max_warps,
                fraction: resident.fraction().0,
                limited_by: resident.limiters().map(|limiter| limiter.to_string()).collect(),
            },
            Occupancy::CannotLaunch(obstacles) => Self::CannotLaunch {
                blocks_per_sm: 0,
                cannot_launch: obstacles.iter().map(ToString::to_string).collect(),
            },
        }
    }
}
