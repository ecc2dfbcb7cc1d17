//! Work that a device times: what runs, what is put right before each sample, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

use lightbench_measure::timing::{Clock, Mode, Reading};
use lightbench_units::{Bytes, Seconds};
use lightbench_virtual_gpu::cost::Counters;
use lightbench_virtual_gpu::cost::time::Modelled;
use serde::{Deserialize, Serialize};

use super::execution::{BufferId, Launch, LaunchFault};
use super::library::LibraryRun;

/// Work that is timed as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Buffers that hold [`POISON`](lightbench_primitives::element::POISON) when a sample begins, so that results of an
    /// earlier sample do not count.
    pub poison: Vec<BufferId>,
    /// Buffers that hold zeros when a sample begins: those that each execution must leave so.
    pub clear: Vec<BufferId>,
    /// Copies of one whole buffer to another of the same size, before a sample begins.
    pub restore: Vec<(BufferId, BufferId)>,
    /// What is timed, in order.
    pub timed: Vec<Operation>,
}

/// One thing that is timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A launch.
    Launch {
        /// Which.
        launch: Launch,
        /// What a multiprocessor holds at once, where the compiler knows; a model needs it.
        residence: Option<Residence>,
    },
    /// A whole buffer is set to one element after the other.
    Fill {
        /// Which.
        buffer: BufferId,
        /// The bytes of an element: 1, 2 or 4, or 8 and more if all are the same.
        element: Vec<u8>,
    },
    /// A vendor's library.
    Library(LibraryRun),
}

/// What a multiprocessor holds of a launch at once: registers and shared memory decide, so the compiler knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residence {
    /// Blocks.
    pub blocks: u32,
    /// Shared memory of all of them.
    pub shared: Bytes,
}

/// How samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// What the caches hold before each sample.
    pub mode: Mode,
    /// Executions of the work in each sample, whose time is divided by them.
    pub batch: u32,
    /// Samples.
    pub samples: u32,
    /// How long the device does nothing before each of them, where that is a part of the mode.
    pub pause: Duration,
}

impl Sampling {
    /// Samples of one execution each, without a pause.
    #[must_use]
    pub const fn single(mode: Mode, samples: u32) -> Self {
        Self { mode, batch: 1, samples, pause: Duration::ZERO }
    }
}

/// What is asked to tell the time of a single launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Timekeeping {
    /// Events around it.
    #[default]
    Events,
    /// Time stamps of the driver, whose library lies at one of these places or where the system's loader finds it.
    Cupti(Vec<PathBuf>),
}

/// One operation of modelled work; the same again is not modelled again.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelledOperation {
    /// How often it is executed.
    pub executions: u64,
    /// What the model says.
    pub modelled: Modelled,
    /// What was counted of a launch.
    pub counters: Option<Counters>,
}

/// What came of timing.
#[derive(Clone, Debug, PartialEq)]
pub enum Timed {
    /// The work ran, once more for each sample.
    Samples {
        /// What told the time.
        clock: Clock,
        /// The times of one execution.
        times: Vec<Seconds>,
        /// What the device did, where it was asked: not each time.
        reading: Option<Reading>,
    },
    /// It was modelled.
    Modelled(Vec<ModelledOperation>),
    /// A kernel did something wrong; a GPU is lost for this process.
    Faulted(Vec<LaunchFault>),
}
