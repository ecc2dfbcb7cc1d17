//! What an engine is started with.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::outbox::Wake;
use crate::compile::Compiler;
use crate::device::DeviceName;
use crate::toolchain::{Libraries, Toolchain};
use crate::worker::command::WorkerCommand;

/// What an engine is started with.
#[derive(Debug)]
pub struct Settings {
    /// How workers are started.
    pub command: WorkerCommand,
    /// What compiles.
    pub toolchain: Toolchain,
    /// The user's cache folder, if there is one.
    pub cache: Option<PathBuf>,
    /// The devices; each has a thread of its own.
    pub devices: Vec<DeviceSetting>,
    /// Wakes whoever reads the events, where waiting for them will not do.
    pub wake: Option<Wake>,
}

/// One device of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSetting {
    /// Its name.
    pub device: DeviceName,
    /// The virtual device beside it, where it is a GPU.
    pub checker: Option<DeviceName>,
    /// Where the libraries lie that run as baselines.
    pub libraries: Libraries,
}

impl Settings {
    /// A compiler for one of the threads: they share the processors.
    pub(super) fn compiler(&self) -> Compiler {
        let compiler =
            Compiler::new(self.toolchain.clone(), self.command.clone(), self.cache.clone());
        let share = compiler.workers().get() / (self.devices.len() + 1);
        compiler.with_workers(NonZeroUsize::new(share).unwrap_or(NonZeroUsize::MIN))
    }
}
