//! Work to be timed: its operations, the buffers restored before each sample, and the result.

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
    /// Buffers filled with [`POISON`](lightbench_primitives::element::POISON) before each sample, so that results of an
    /// earlier sample do not count.
    pub poison: Vec<BufferId>,
    /// Buffers that hold zeros before each sample; each execution must leave them zero.
    pub clear: Vec<BufferId>,
    /// Copies of one whole buffer to another of the same size, before each sample.
    pub restore: Vec<(BufferId, BufferId)>,
    /// The timed operations, in order.
    pub timed: Vec<Operation>,
}

/// One thing that is timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A launch.
    Launch {
        /// Which.
        launch: Launch,
        /// Resident blocks of the launch, if the compiler reports them; a model needs it.
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

/// Resident blocks of a launch on a multiprocessor. Registers and shared memory determine them, so the compiler reports
/// them.
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
    /// State of the caches before each sample.
    pub mode: Mode,
    /// Executions of the work in each sample, whose time is divided by them.
    pub batch: u32,
    /// Samples.
    pub samples: u32,
    /// Idle time of the device before each sample, for modes that include it.
    pub pause: Duration,
}

impl Sampling {
    /// Samples of one execution each, without a pause.
    #[must_use]
    pub const fn single(mode: Mode, samples: u32) -> Self {
        Self { mode, batch: 1, samples, pause: Duration::ZERO }
    }
}

/// The clock of single launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Timekeeping {
    /// Events around it.
    #[default]
    Events,
    /// Time stamps of the driver, whose library is at one of these paths or known to the system's loader.
    Cupti(Vec<PathBuf>),
}

/// One operation of modelled work; the same again is not modelled again.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelledOperation {
    /// Number of executions.
    pub executions: u64,
    /// The modelled time.
    pub modelled: Modelled,
    /// Counters of a launch.
    pub counters: Option<Counters>,
}

/// The result of timing.
#[derive(Clone, Debug, PartialEq)]
pub enum Timed {
    /// The work ran, once more for each sample.
    Samples {
        /// The clock.
        clock: Clock,
        /// The times of one execution.
        times: Vec<Seconds>,
        /// State of the device; not read for every sample.
        reading: Option<Reading>,
    },
    /// It was modelled.
    Modelled(Vec<ModelledOperation>),
    /// A kernel did something wrong; a GPU is lost for this process.
    Faulted(Vec<LaunchFault>),
}
