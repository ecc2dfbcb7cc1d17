//! The vendor's packages that a fetch installs.

use serde::{Deserialize, Serialize};

use super::DriverBranch;
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
    /// The compiler of CUDA 13, the disassembler and the cubin reader: all that Lightbench needs.
    #[serde(rename = "compiler")]
    Compiler13,
    /// The same with the compiler of CUDA 12, whose cubins older drivers load; its assembler comes with its headers.
    Compiler12,
    /// The stand-alone assembler of CUDA 13, on request.
    #[serde(rename = "assembler")]
    Assembler13,
}

/// CUDA 13.5, update of October 2026: the first release line whose NVRTC carries its headers is 13.3.
const RELEASE: &str = "13.5.37";

/// CUDA 12.9, update 1: the last release of CUDA 12.
const RELEASE_12: &str = "12.9.86";

const NVDISASM: Pin =
    Pin { package: "nvidia-cuda-nvdisasm", version: RELEASE, part: Part::Nvdisasm };
const CUOBJDUMP: Pin =
    Pin { package: "nvidia-cuda-cuobjdump", version: RELEASE, part: Part::Cuobjdump };

const COMPILER_13: &[Pin] = &[
    Pin { package: "nvidia-cuda-nvrtc", version: RELEASE, part: Part::Compiler },
    NVDISASM,
    CUOBJDUMP,
];

/// CUDA 12 has no packages of the disassembler and the cubin reader; those of CUDA 13 read its cubins.
const COMPILER_12: &[Pin] = &[
    Pin { package: "nvidia-cuda-nvrtc-cu12", version: RELEASE_12, part: Part::Compiler },
    Pin { package: "nvidia-cuda-runtime-cu12", version: "12.9.79", part: Part::Headers },
    Pin { package: "nvidia-cuda-cccl-cu12", version: "12.9.27", part: Part::Headers },
    // The assembler, and the headers in `crt`.
    Pin { package: "nvidia-cuda-nvcc-cu12", version: RELEASE_12, part: Part::Ptxas },
    NVDISASM,
    CUOBJDUMP,
];

const ASSEMBLER_13: &[Pin] =
    &[Pin { package: "nvidia-cuda-nvcc", version: RELEASE, part: Part::Ptxas }];

impl PinnedSet {
    /// The compiler for a driver: that of CUDA 12 if only its cubins load, else that of CUDA 13.
    #[must_use]
    pub fn compiler_for(driver: Option<DriverBranch>) -> Self {
        match driver {
            Some(branch)
                if (DriverBranch::FIRST_FOR_12..DriverBranch::FIRST_FOR_13).contains(&branch) =>
            {
                Self::Compiler12
            }
            // Without a driver, or with one that loads the output of neither, only the virtual GPU runs kernels.
            Some(_) | None => Self::Compiler13,
        }
    }

    /// The set with the assembler for a driver.
    #[must_use]
    pub fn assembler_for(driver: Option<DriverBranch>) -> Self {
        match Self::compiler_for(driver) {
            Self::Compiler12 => Self::Compiler12,
            Self::Compiler13 | Self::Assembler13 => Self::Assembler13,
        }
    }

    /// The packages of the set.
    #[must_use]
    pub const fn pins(self) -> &'static [Pin] {
        match self {
            Self::Compiler13 => COMPILER_13,
            Self::Compiler12 => COMPILER_12,
            Self::Assembler13 => ASSEMBLER_13,
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
            Self::Compiler13 => format!("compiler-{RELEASE}"),
            Self::Compiler12 => format!("compiler-{RELEASE_12}"),
            Self::Assembler13 => format!("assembler-{RELEASE}"),
        }
    }

    /// What pip downloads, in megabytes, for x86-64 Linux.
    #[must_use]
    pub const fn download_megabytes(self) -> u32 {
        match self {
            Self::Compiler13 => 64,
            Self::Compiler12 => 142,
            Self::Assembler13 => 47,
        }
    }

    /// Free space that an install needs, with a margin. Installed and downloaded together, the x86-64 Linux packages take
    /// 147 + 64 MB (compiler 13.5.37), 345 + 142 MB (compiler 12.9.86) and 142 + 47 MB (assembler 13.5.37).
    #[must_use]
    pub const fn space_bytes(self) -> u64 {
        match self {
            Self::Compiler13 | Self::Assembler13 => 300 << 20,
            Self::Compiler12 => 650 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_decides_what_is_fetched() {
        for (driver, compiler, assembler) in [
            (None, "compiler-13.5.37", "assembler-13.5.37"),
            (Some(580), "compiler-13.5.37", "assembler-13.5.37"),
            (Some(595), "compiler-13.5.37", "assembler-13.5.37"),
            (Some(575), "compiler-12.9.86", "compiler-12.9.86"),
            (Some(525), "compiler-12.9.86", "compiler-12.9.86"),
            // No compiler fits.
            (Some(470), "compiler-13.5.37", "assembler-13.5.37"),
        ] {
            let branch = driver.map(DriverBranch);
            assert_eq!(PinnedSet::compiler_for(branch).folder_name(), compiler, "{driver:?}");
            assert_eq!(PinnedSet::assembler_for(branch).folder_name(), assembler, "{driver:?}");
        }
    }
}
