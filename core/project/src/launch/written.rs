//! The launch block as parsed, before validation.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::tensor_map::{
    Interleave, L2Promotion, MapElement, OutOfBoundsFill, Swizzle,
};
use lightbench_primitives::texture::{TextureAddress, TextureFilter, TextureRead};
use std::fmt;

use ron::value::RawValue;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::header_libraries::HeaderLibrary;
use crate::manifest::Init;
use crate::written::{Entries, ExpressionWritten, NumberWritten};

/// The whole block.
#[derive(Debug, Deserialize)]
#[serde(rename = "lightbench", deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct LaunchBlockWritten {
    pub title: String,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub lineage: String,
    #[serde(default)]
    pub params: Entries<Vec<i64>>,
    #[serde(default)]
    pub require: Vec<ExpressionWritten>,
    #[serde(default)]
    pub constants: Vec<String>,
    #[serde(default)]
    pub scratch: Vec<ScratchWritten>,
    pub steps: Vec<StepWritten>,
    #[serde(default)]
    pub flags: Vec<FlagWritten>,
    #[serde(default)]
    pub libraries: Vec<HeaderLibrary>,
    #[serde(default)]
    pub arch: Architecture,
    #[serde(default)]
    pub tensor_maps: Vec<TensorMapWritten>,
    #[serde(default)]
    pub structs: Vec<StructWritten>,
    #[serde(default)]
    pub textures: Vec<TextureWritten>,
    #[serde(default)]
    pub surfaces: Vec<SurfaceWritten>,
    #[serde(default)]
    pub constant_memory: Vec<ConstantMemoryWritten>,
    /// Parsed again during validation: its payload is optional, which the RON reader cannot express.
    pub expect: Option<Box<RawValue>>,
}

/// Device memory that a kernel needs besides the tensors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct ScratchWritten {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<ExpressionWritten>,
    #[serde(default)]
    pub init: Init,
}

/// One step.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each step")]
pub enum StepWritten {
    Launch(LaunchWritten),
    Triton(TritonLaunchWritten),
    Fill(FillStepWritten),
    Repeat(RepeatWritten),
}

/// A kernel launch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct LaunchWritten {
    pub kernel: String,
    pub args: Option<Vec<String>>,
    pub grid: Vec<ExpressionWritten>,
    pub block: Vec<ExpressionWritten>,
    pub shared: Option<ExpressionWritten>,
    pub cluster: Option<Vec<ExpressionWritten>>,
    #[serde(default)]
    pub cooperative: bool,
    pub carveout: Option<ExpressionWritten>,
    #[serde(default)]
    pub programmatic: bool,
}

/// A launch of a Triton kernel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct TritonLaunchWritten {
    pub kernel: String,
    pub args: Option<Vec<String>>,
    #[serde(default)]
    pub constexprs: Entries<ConstexprWritten>,
    pub grid: Vec<ExpressionWritten>,
    #[serde(default = "default_warps")]
    pub num_warps: ExpressionWritten,
    #[serde(default = "default_stages")]
    pub num_stages: ExpressionWritten,
    #[serde(default = "default_ctas")]
    pub num_ctas: ExpressionWritten,
}

/// The defaults of Triton's backend for NVIDIA GPUs (`CUDAOptions`).
fn default_warps() -> ExpressionWritten {
    ExpressionWritten("4".to_owned())
}

fn default_stages() -> ExpressionWritten {
    ExpressionWritten("3".to_owned())
}

fn default_ctas() -> ExpressionWritten {
    ExpressionWritten("1".to_owned())
}

/// A compile-time constant of a Triton kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConstexprValue {
    /// Python's `int`.
    Integer(i64),
    /// Python's `bool`.
    Boolean(bool),
    /// Python's `str`.
    Text(String),
    /// A type of `triton.language`, such as `float16`.
    Type(String),
    /// Python's `None`.
    None,
}

/// A compile-time constant as written: an expression, a boolean, a text in single quotes, `tl.` and the name of a
/// type, or `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstexprWritten {
    /// An expression over parameters and axes.
    Formula(String),
    /// Any other value.
    Value(ConstexprValue),
}

impl<'de> Deserialize<'de> for ConstexprWritten {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = ConstexprWritten;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an expression, a boolean, \"'text'\", \"tl.TYPE\" or None")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(ConstexprWritten::Value(ConstexprValue::Boolean(value)))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(ConstexprWritten::Formula(value.to_string()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(ConstexprWritten::Formula(value.to_string()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
                Ok(match (quoted, text.strip_prefix("tl.")) {
                    (Some(inside), _) => {
                        ConstexprWritten::Value(ConstexprValue::Text(inside.to_owned()))
                    }
                    (None, Some(name)) => {
                        ConstexprWritten::Value(ConstexprValue::Type(name.to_owned()))
                    }
                    (None, None) => ConstexprWritten::Formula(text.to_owned()),
                })
            }
            fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
                Ok(ConstexprWritten::Value(ConstexprValue::None))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                self.visit_none()
            }
            fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Self::Value, D::Error> {
                ConstexprWritten::deserialize(inner)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A buffer set to one value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct FillStepWritten {
    pub buffer: String,
    pub value: NumberWritten,
}

/// Steps that run again and again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct RepeatWritten {
    pub count: ExpressionWritten,
    #[serde(default)]
    pub swap: Vec<(String, String)>,
    pub steps: Vec<StepWritten>,
}

/// A compiler flag.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the format's page documents each flag")]
pub enum FlagWritten {
    FastMath,
    Ftz(bool),
    PrecDiv(bool),
    PrecSqrt(bool),
    Fmad(bool),
    Maxrregcount(ExpressionWritten),
    Std(Dialect),
    OptLevel(i64),
    ExtraDeviceVectorization,
    LoadCache(LoadCache),
    StoreCache(StoreCache),
}

/// The C++ dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the standard's own")]
pub enum Dialect {
    Cpp14,
    Cpp17,
    Cpp20,
}

/// The assembler's default cache operator of loads; PTX ISA, "Cache Operators".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the instruction set's own")]
pub enum LoadCache {
    Ca,
    Cg,
    Cs,
    Cv,
}

/// The assembler's default cache operator of stores; PTX ISA, "Cache Operators".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the instruction set's own")]
pub enum StoreCache {
    Wb,
    Cg,
    Cs,
    Wt,
}

/// Which architectures the compiled code runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// `sm_90`: this one and newer ones of its family.
    #[default]
    Portable,
    /// `sm_90a`: this one alone, with all its instructions.
    Specific,
}

/// A TMA descriptor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct TensorMapWritten {
    pub name: String,
    pub tensor: String,
    pub data_type: Option<MapElement>,
    pub shape: Option<Vec<ExpressionWritten>>,
    pub strides: Option<Vec<ExpressionWritten>>,
    pub offset: Option<ExpressionWritten>,
    #[serde(rename = "box")]
    pub sides: Option<Vec<ExpressionWritten>>,
    pub im2col: Option<Im2colWritten>,
    pub element_strides: Option<Vec<ExpressionWritten>>,
    #[serde(default)]
    pub swizzle: Swizzle,
    #[serde(default)]
    pub interleave: Interleave,
    #[serde(default)]
    pub l2_promotion: L2Promotion,
    #[serde(default)]
    pub fill: OutOfBoundsFill,
}

/// The region that a copy of a TMA descriptor for convolutions transfers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct Im2colWritten {
    pub lower_corner: Vec<ExpressionWritten>,
    pub upper_corner: Vec<ExpressionWritten>,
    pub channels: ExpressionWritten,
    pub pixels: ExpressionWritten,
}

/// A struct that is passed by value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct StructWritten {
    pub name: String,
    pub fields: Vec<String>,
}

/// A texture object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct TextureWritten {
    pub name: String,
    pub tensor: String,
    #[serde(default)]
    pub memory: TextureMemory,
    #[serde(default = "one_channel")]
    pub channels: u8,
    #[serde(default)]
    pub filter: TextureFilter,
    #[serde(default)]
    pub address: TextureAddress,
    #[serde(default)]
    pub normalized: bool,
    #[serde(default)]
    pub read: TextureRead,
}

/// A surface object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct SurfaceWritten {
    pub name: String,
    pub tensor: String,
    #[serde(default = "one_channel")]
    pub channels: u8,
}

/// The memory of a texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextureMemory {
    /// An array of the driver.
    #[default]
    Array,
    /// The tensor's buffer.
    Linear,
}

const fn one_channel() -> u8 {
    1
}

/// A `__constant__` array that is filled before the first step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the format's page documents each field")]
pub struct ConstantMemoryWritten {
    pub symbol: String,
    pub tensor: String,
}
