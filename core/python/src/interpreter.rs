//! A Python interpreter, and the sandbox in which it runs.

use std::path::PathBuf;

use lightbench_worker::sandbox::{SYSTEM_LIBRARIES, SandboxPolicy, Sockets, SystemCalls};
use serde::{Deserialize, Serialize};

use crate::error::PythonError;
use crate::layout::Layout;

/// Files besides the interpreter's own that a program of numerical libraries reads: libraries of the system, sources of
/// random numbers, and the number and kind of the processors. Of `/proc`, only the worker's own folder: the folder of
/// another process holds its environment, which may hold keys.
const SYSTEM_FILES: [&str; 8] = [
    "/usr/local/lib",
    "/dev/urandom",
    "/dev/random",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
];

/// Files that CUDA's driver reads besides those, and folders in which it is installed outside the system's own.
const GPU_FILES: [&str; 9] = [
    "/proc/driver/nvidia",
    "/proc/devices",
    "/proc/modules",
    "/sys/bus/pci/devices",
    "/sys/devices",
    "/sys/module/nvidia",
    "/usr/local/nvidia",
    "/usr/lib/wsl",
    "/run/opengl-driver",
];

/// A Python interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// The program. In a virtual environment, the environment's own link.
    pub program: PathBuf,
    /// Major, minor and micro version.
    pub version: (u32, u32, u32),
    /// The folder of the virtual environment, if there is one, then the base prefix; without links.
    pub prefixes: Vec<PathBuf>,
    /// Installed packages that Lightbench uses.
    pub packages: Packages,
}

/// Versions of installed packages, from their metadata. A package that is present may still fail to load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packages {
    /// NumPy.
    pub numpy: Option<String>,
    /// PyTorch.
    pub torch: Option<String>,
    /// Triton.
    pub triton: Option<String>,
}

impl Interpreter {
    /// The sandbox of this interpreter, and the folders of packages that it may read.
    pub(crate) fn policy(
        &self,
        read: &[PathBuf],
        gpu_files: &[PathBuf],
    ) -> Result<(SandboxPolicy, Vec<PathBuf>), PythonError> {
        let layout = Layout::of(&self.program).map_err(|reason| {
            let program = self.program.clone();
            PythonError::Unusable { program, reason }
        })?;
        let system = SYSTEM_LIBRARIES.into_iter().chain(SYSTEM_FILES).map(PathBuf::from);
        let mut readable = layout.readable();
        readable.extend(system);
        readable.extend_from_slice(read);
        let uses_gpu = !gpu_files.is_empty();
        if uses_gpu {
            readable.extend(GPU_FILES.map(PathBuf::from));
        }
        let policy = SandboxPolicy {
            read: readable.clone(),
            execute: layout.executed,
            write: gpu_files.to_vec(),
            sockets: if uses_gpu { Sockets::Unconnected } else { Sockets::None },
            calls: SystemCalls::ForeignCode,
        };
        Ok((policy, readable))
    }
}
