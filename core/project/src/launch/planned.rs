//! The content of a plan: steps, arguments and scratch with all values.

use lightbench_primitives::dtype::{CType, Dtype};
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_primitives::tensor_map::TensorMap;
use lightbench_primitives::texture::TextureObject;

use super::Buffer;
use crate::manifest::Init;

/// A launch with numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Device memory, in the order of the launch's scratch; memory that a compiler asks for follows.
    pub scratch: Vec<PlannedScratch>,
    /// In the order of the launch's tensor maps; dimensions innermost first.
    pub tensor_maps: Vec<TensorMap>,
    /// In the order of the launch's textures.
    pub textures: Vec<TextureObject>,
    pub steps: Vec<PlannedStep>,
}

/// Scratch with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedScratch {
    /// The name in reports.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// How it begins.
    pub init: Init,
    /// Its dimensions.
    pub dims: Vec<u64>,
    /// Its size.
    pub bytes: u64,
}

/// A step with numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannedStep {
    /// A kernel runs.
    Launch(PlannedLaunch),
    /// A buffer is set to one value.
    Fill {
        /// Which.
        buffer: Buffer,
        value: ScalarValue,
    },
    /// Steps run again and again.
    Repeat {
        /// Number of iterations.
        count: u64,
        /// Buffers that change places after each turn.
        swap: Vec<(Buffer, Buffer)>,
        /// Steps of each iteration.
        steps: Vec<Self>,
    },
}

/// A kernel launch with numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedLaunch {
    /// The name expression for the compiler.
    pub name_expression: String,
    /// Its arguments.
    pub arguments: Vec<PlannedArgument>,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u64,
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks are resident together.
    pub cooperative: bool,
    /// Preferred share of shared memory, in percent.
    pub carveout: Option<u8>,
    /// Whether it may start before the previous kernel has ended.
    pub programmatic: bool,
}

/// An argument with its value.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannedArgument {
    /// An address: 8 bytes.
    Buffer(Buffer),
    /// A value.
    Value {
        name: String,
        /// Its C type.
        c_type: CType,
        /// Not yet rounded to the type.
        value: ScalarValue,
    },
    /// A TMA descriptor, by its index: 128 bytes, aligned to 64.
    TensorMap(usize),
    /// A texture or surface object, by its index: 8 bytes.
    Texture(usize),
    /// A struct, laid out as C does.
    Struct {
        /// Its index.
        index: usize,
        /// Its size, padding included.
        bytes: u64,
        /// Its alignment.
        alignment: u64,
        /// Offset, type and value of each field.
        fields: Vec<(u64, CType, ScalarValue)>,
    },
    /// A null pointer: 8 bytes.
    Null,
    /// A name that only a project could explain.
    Outside(String),
}

impl PlannedArgument {
    /// Bytes of the argument in the kernel's parameter list; `None` if they are unknown outside a project.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Buffer(_) | Self::Texture(_) | Self::Null => Some(8),
            Self::Value { c_type, .. } => Some(c_type.bytes()),
            Self::TensorMap(_) => Some(128),
            Self::Struct { bytes, .. } => Some(*bytes),
            Self::Outside(_) => None,
        }
    }

    /// Alignment of the argument in bytes; `None` if it is unknown outside a project.
    pub fn alignment(&self) -> Option<u64> {
        match self {
            Self::Buffer(_) | Self::Texture(_) | Self::Null => Some(8),
            Self::Value { c_type, .. } => Some(c_type.bytes()),
            Self::TensorMap(_) => Some(64),
            Self::Struct { alignment, .. } => Some(*alignment),
            Self::Outside(_) => None,
        }
    }
}
