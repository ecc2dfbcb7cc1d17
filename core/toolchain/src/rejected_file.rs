//! Files that were found and are not used, with the reasons; the doctor and all errors about compilers list them.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::receipt::ReceiptProblem;
use super::search_places::{Source, file_name};
use super::{Damage, DriverBranch, FETCH_COMMAND, Version};

/// The role of a discovered file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// `libnvrtc`.
    Compiler,
    /// Headers of a compiler that does not carry them.
    Headers,
    /// `nvdisasm`.
    Nvdisasm,
    /// `cuobjdump`.
    Cuobjdump,
    /// `ptxas`.
    Ptxas,
}

/// Something that was found and is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedFile {
    pub part: Part,
    /// The kind of search place that contains it.
    pub source: Source,
    /// The library or program, or the folder if it contains neither.
    pub path: PathBuf,
    /// Why it is not used.
    pub reason: Reason,
}

/// Why something that was found is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A release that is not supported.
    #[error("version {found}; supported are 13.x and 12.9, and `{FETCH_COMMAND}` installs one")]
    WrongVersion {
        /// The version, as far as file names state it.
        found: String,
    },
    /// The builtins library is missing next to the compiler library.
    #[error("its builtins library is missing from its folder")]
    NoBuiltins,
    /// A compiler without bundled headers, and no include folder near it.
    #[error(
        "version {version} has no bundled headers, and `{header}` is in none of: {}",
        joined(looked)
    )]
    NoHeaders {
        /// Version of the compiler.
        version: Version,
        /// A header that kernels need.
        header: &'static str,
        /// Include folders that were tried.
        looked: Vec<PathBuf>,
    },
    /// The file cannot be loaded.
    #[error("{} is {damage}", file_name(file))]
    Damaged {
        /// The damaged file.
        file: PathBuf,
        /// The defect.
        damage: Damage,
    },
    /// An install of ours that is not whole.
    #[error("{problem}")]
    Untrusted {
        /// The mismatch.
        problem: ReceiptProblem,
    },
    /// A tool that may not support the compiler's output.
    #[error("version {found} is older than the compiler ({compiler})")]
    OlderThanCompiler {
        /// Version of the tool.
        found: Version,
        /// Version of the compiler.
        compiler: Version,
    },
    /// An assembler that is older than the PTX of the compiler, or whose machine code may need a newer driver.
    #[error("version {found} is of another CUDA major version than the compiler ({compiler})")]
    OtherMajorVersion {
        /// Version of the tool.
        found: Version,
        /// Version of the compiler.
        compiler: Version,
    },
    /// A compiler whose output the driver refuses.
    #[error(
        "usable without a GPU, but driver {driver} does not load its output: driver {} or newer is \
         needed", DriverBranch::first_for(*version)
    )]
    NewerThanDriver {
        /// Version of the compiler.
        version: Version,
        /// The driver of this machine.
        driver: DriverBranch,
    },
    /// Usable, but the user gave another path.
    #[error("usable, but another path was given")]
    PathGiven,
    /// Usable, but found after another one.
    #[error("usable, but another has priority")]
    Later,
}

impl Part {
    /// File stem of the program; the compiler is a library.
    pub(super) const fn program(self) -> Option<&'static str> {
        match self {
            Self::Compiler | Self::Headers => None,
            Self::Nvdisasm => Some("nvdisasm"),
            Self::Cuobjdump => Some("cuobjdump"),
            Self::Ptxas => Some("ptxas"),
        }
    }

    /// The package that carries the part, as folder names spell it.
    pub(super) const fn package(self) -> &'static str {
        match self {
            Self::Compiler => "nvidia_cuda_nvrtc",
            Self::Headers => "nvidia_cuda_runtime",
            Self::Nvdisasm => "nvidia_cuda_nvdisasm",
            Self::Cuobjdump => "nvidia_cuda_cuobjdump",
            Self::Ptxas => "nvidia_cuda_nvcc",
        }
    }
}

/// `; found but not used: …` for error messages; empty if no file was rejected.
pub(super) fn listed(passed_over: &[RejectedFile]) -> String {
    let mut text = String::new();
    for candidate in passed_over.iter().filter(|candidate| candidate.part == Part::Compiler) {
        let separator = if text.is_empty() { "; found but not used: " } else { ", " };
        // Writing to a String cannot fail.
        let _written =
            write!(text, "{separator}{} ({})", candidate.path.display(), candidate.reason);
    }
    text
}

fn joined(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
