//! PTX text: its tokens and syntax tree, the declarations of kernels, and the source line of each PTX line.
//!
//! Source: PTX ISA 9.0, chapters 4, 5 and 11.

mod error;
mod facts;
pub mod header;
mod line_map;
pub mod merge;
mod parse;
mod token;
pub mod tree;

#[cfg(test)]
mod tests;

pub use error::SyntaxError;
pub use line_map::{LineMap, SourceLine};
pub use parse::{MAX_ERRORS, outline, parse};
pub use token::{PtxLocation, excerpt};

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// `.u32`, `.s64` …; pointers are 64-bit integers here.
    Integer,
    /// `.b32`, `.b64` …: an integer, a float or a pointer; newer compilers write only this.
    Bits,
    /// `.f32`, `.f64` …
    Float,
    /// `.align N .b8 name[size]`: structs, and half-precision scalars.
    Bytes,
    /// Texture, surface and sampler references.
    Opaque,
}

/// `.ptr` with its attributes; NVRTC omits it, other compilers write it.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PointerAttributes {
    /// `global`, `const`, `local` or `shared`.
    pub space: Option<String>,
    /// Bytes to which the pointee is aligned.
    pub align: Option<u64>,
}

/// One parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PtxParameter {
    /// As the PTX names it.
    pub name: String,
    pub kind: ParameterKind,
    /// Bytes.
    pub size: u64,
    /// Bytes; a power of two in valid PTX.
    pub alignment: u64,
    /// Present if it is declared a pointer.
    pub pointer: Option<PointerAttributes>,
}

impl PtxParameter {
    /// Whether a pointer can be passed here: PTX declares pointers as 64-bit integers.
    #[must_use]
    pub fn may_be_pointer(&self) -> bool {
        matches!(self.kind, ParameterKind::Integer | ParameterKind::Bits) && self.size == 8
    }
}

/// A variable in shared or constant memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtxVariable {
    /// As the PTX names it.
    pub name: String,
    /// Bytes; 0 for an array without a size, whose size the launch gives.
    pub bytes: u64,
    /// Declared `.extern`.
    pub external: bool,
}

/// One `.entry`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PtxEntry {
    /// The symbol, mangled.
    pub name: String,
    /// In order.
    pub parameters: Vec<PtxParameter>,
    /// `.maxntid`.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// Shared variables that the kernel declares, and those of the module that its own text names. Variables used only
    /// by called functions are missing: the cubin has the total.
    pub shared: Vec<PtxVariable>,
    /// The line of its name and the line of its closing brace, from 1.
    pub lines: (u32, u32),
}

impl PtxEntry {
    /// Bytes of statically sized shared memory.
    #[must_use]
    pub fn static_shared_bytes(&self) -> u64 {
        self.shared.iter().fold(0, |sum, each| sum.saturating_add(each.bytes))
    }

    /// Whether it uses shared memory whose size the launch gives.
    #[must_use]
    pub fn uses_dynamic_shared(&self) -> bool {
        self.shared.iter().any(|each| each.external)
    }
}

/// One PTX text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PtxModule {
    /// `.version`, such as `(9, 0)`.
    pub version: Option<(u32, u32)>,
    /// `.target`, such as `["sm_90a"]`, with options such as `debug`.
    pub target: Vec<String>,
    /// In order.
    pub entries: Vec<PtxEntry>,
    /// `.const` variables.
    pub constants: Vec<PtxVariable>,
    /// From each line to its source.
    pub line_map: LineMap,
}

impl PtxModule {
    /// Bytes of `.const` variables.
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        self.constants.iter().fold(0, |sum, each| sum.saturating_add(each.bytes))
    }
}

/// Reads the declarations and the line information of a PTX text. Instructions are not read, so that those of any
/// architecture are accepted. Text that is not PTX yields only the parts that resemble PTX.
#[must_use]
pub fn read(text: &str) -> PtxModule {
    PtxModule::from_outline(&outline(text))
}
