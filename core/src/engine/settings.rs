//! Configuration of an engine.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::event_queue::Wake;
use crate::compile::Compiler;
use crate::device::DeviceName;
use crate::python::PythonAccess;
use crate::remote::hosts::Hosts;
use crate::toolchain::{Libraries, Toolchain};
use crate::worker::command::WorkerCommand;

/// Configuration of an engine.
#[derive(Debug)]
pub struct Settings {
    /// Command that starts a worker process.
    pub command: WorkerCommand,
    /// The hosts of devices that this machine does not have.
    pub hosts: Hosts,
    /// The CUDA compiler and its headers.
    pub toolchain: Toolchain,
    /// The interpreter for Triton kernels; nothing else needs it.
    pub python: PythonAccess,
    /// Folder of the compile cache; none: results are not stored.
    pub cache: Option<PathBuf>,
    /// The devices. The engine starts one thread for each.
    pub devices: Vec<DeviceSetting>,
    /// Called after each event, for a reader that cannot block in [`super::Engine::next_event`].
    pub wake: Option<Wake>,
}

/// One device of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSetting {
    /// Its name.
    pub device: DeviceName,
    /// For a GPU, the virtual device that runs the checks which a GPU cannot run.
    pub checker: Option<DeviceName>,
    /// Paths of the libraries that run as baselines.
    pub libraries: Libraries,
}

impl Settings {
    /// A compiler for one engine thread, with its part of the processors.
    pub(super) fn compiler(&self) -> Compiler {
        let compiler =
            Compiler::new(self.toolchain.clone(), self.command.clone(), self.cache.clone())
                .with_python(self.python.clone());
        let share = compiler.workers().get() / (self.devices.len() + 1);
        compiler.with_workers(NonZeroUsize::new(share).unwrap_or(NonZeroUsize::MIN))
    }
}
