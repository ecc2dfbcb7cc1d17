//! Finds or fetches the CUDA compiler and its tools, and reports missing parts.
//!
//! [`discover`] only reads files: it starts no process, loads no library and reads no environment variable (the program
//! passes its [`HostEnvironment`]).

mod binary;
mod discover;
pub mod doctor;
mod driver_branch;
mod fetch;
mod header_libraries;
mod headers;
mod host_environment;
mod libraries;
mod lock;
mod naming;
mod pins;
mod profilers;
pub mod program;
mod receipt;
mod rejected_file;
mod search_places;
#[cfg(test)]
mod tests;
mod version;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use binary::Damage;
pub use discover::{Discovery, discover};
pub use doctor::installed_driver;
pub use driver_branch::DriverBranch;
pub use fetch::{DEFAULT_FETCH_LIMIT, FetchError, FetchEvent, FetchRequest, fetch};
pub use header_libraries::{Cutlass, HeaderLibrary, INSTALL_CUTLASS, cutlass};
pub use headers::{HeaderError, HeaderExtraction, HeaderFolder, HeaderStaging, HeaderState};
pub use host_environment::{HostEnvironment, user_cache};
pub use libraries::{Libraries, libraries};
pub use lock::LockError;
pub use pins::{Pin, PinnedSet};
pub use profilers::{NsightProgram, ProfilerNotFound, nsight};
pub use program::ProgramError;
pub use receipt::{FileRecord, Receipt, ReceiptProblem};
pub use rejected_file::{Part, Reason, RejectedFile};
pub use search_places::Source;
pub use version::Version;

/// The command that installs the compiler and its tools.
pub const FETCH_COMMAND: &str = "lightbench doctor --fetch";

/// A compiler that can be used, and the tools found with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// The compiler library.
    pub nvrtc: Nvrtc,
    pub headers: Headers,
    /// The disassembler: cubin to SASS.
    pub nvdisasm: Option<Tool>,
    /// Reads resource usage and sections of cubins.
    pub cuobjdump: Option<Tool>,
    /// The stand-alone PTX assembler; NVRTC carries its own.
    pub ptxas: Option<Tool>,
    /// CUTLASS's headers, for kernels that name it.
    pub cutlass: Cutlass,
}

impl Toolchain {
    /// The folders that a confined compile worker must be able to read.
    ///
    /// The folder that bundled headers are extracted to is not among them: see [`HeaderFolder`].
    #[must_use]
    pub fn compile_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for file in [&self.nvrtc.library, &self.nvrtc.builtins] {
            // The file may be a link into another folder, which must be readable as well.
            let real = std::fs::canonicalize(file).ok();
            folders.extend(file.parent().map(Path::to_path_buf));
            folders.extend(real.as_deref().and_then(Path::parent).map(Path::to_path_buf));
        }
        match &self.headers {
            Headers::Bundled => {}
            Headers::Folders(include) => folders.extend(include.iter().cloned()),
        }
        folders.sort();
        folders.dedup();
        folders
    }
}

/// NVIDIA's run-time compiler library, checked to be whole, not yet loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nvrtc {
    /// Path of `libnvrtc`.
    pub library: PathBuf,
    /// Path of `libnvrtc-builtins`, to be loaded first: `libnvrtc` finds it only by name.
    pub builtins: PathBuf,
    /// Version, from file and folder names.
    pub version: Version,
    /// Which kind of place it was found in.
    pub source: Source,
}

/// The source of the compiler's headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "folders", rename_all = "snake_case")]
pub enum Headers {
    /// The compiler carries them (13.3 and newer) and extracts them with
    /// `--use-bundled-headers=DIR`.
    Bundled,
    /// Include folders, in order.
    Folders(Vec<PathBuf>),
}

/// A program that came with a compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// Path of the program.
    pub program: PathBuf,
    /// The version, if a file or folder name states it.
    pub version: Option<Version>,
    /// Which kind of place it was found in.
    pub source: Source,
}

/// Why no compiler can be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// NVIDIA publishes no compiler for this operating system or processor.
    #[error("no CUDA compiler exists for this system ({system})")]
    Unsupported {
        /// Operating system and processor.
        system: String,
    },
    #[error(
        "{} holds no usable CUDA compiler{}; give the folder or the file of NVRTC 13.x or 12.9, \
         or leave the path out",
        path.display(), rejected_file::listed(passed_over)
    )]
    Explicit {
        /// The path from the user.
        path: PathBuf,
        /// The files found there, and why they are not used.
        passed_over: Vec<RejectedFile>,
    },
    /// Nothing usable was found anywhere.
    #[error(
        "no usable CUDA compiler on this machine{}; run `lightbench doctor --fetch` to install one",
        rejected_file::listed(passed_over)
    )]
    Missing {
        /// The files found, and why they are not used.
        passed_over: Vec<RejectedFile>,
    },
}
