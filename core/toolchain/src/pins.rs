//! The vendor's packages that a fetch installs.

use serde::{Deserialize, Serialize};

use super::rejected_file::Part;

/// One package at one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Name in the package index.
    pub package: &'static str,
    /// Exact version.
    pub version: &'static str,
    /// The role of the package.
    pub part: Part,
}

/// Packages that are installed together, in one folder and in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinnedSet {
    /// The compiler, the disassembler and the cubin reader: all that Lightbench needs.
    Compiler,
    /// The stand-alone assembler, on request.
    Assembler,
}

/// CUDA 13.5, update of October 2026: the first release line whose NVRTC carries its headers is 13.3.
const RELEASE: &str = "13.5.37";

const COMPILER: &[Pin] = &[
    Pin { package: "nvidia-cuda-nvrtc", version: RELEASE, part: Part::Compiler },
    Pin { package: "nvidia-cuda-nvdisasm", version: RELEASE, part: Part::Nvdisasm },
    Pin { package: "nvidia-cuda-cuobjdump", version: RELEASE, part: Part::Cuobjdump },
];

const ASSEMBLER: &[Pin] =
    &[Pin { package: "nvidia-cuda-nvcc", version: RELEASE, part: Part::Ptxas }];

impl PinnedSet {
    /// The packages of the set.
    #[must_use]
    pub const fn pins(self) -> &'static [Pin] {
        match self {
            Self::Compiler => COMPILER,
            Self::Assembler => ASSEMBLER,
        }
    }

    /// The set as pip requirements, `name==version`.
    #[must_use]
    pub fn requirements(self) -> Vec<String> {
        self.pins().iter().map(|pin| format!("{}=={}", pin.package, pin.version)).collect()
    }

    /// The name of the set's folder in the cache.
    #[must_use]
    pub fn folder_name(self) -> String {
        match self {
            Self::Compiler => format!("compiler-{RELEASE}"),
            Self::Assembler => format!("assembler-{RELEASE}"),
        }
    }

    /// Free space that an install needs, with a margin. Installed and downloaded together, the x86-64 Linux packages of
    /// 13.5.37 take 147 + 64 MB (compiler) and 142 + 47 MB (assembler).
    #[must_use]
    pub const fn space_bytes(self) -> u64 {
        match self {
            Self::Compiler | Self::Assembler => 300 << 20,
        }
    }
}
