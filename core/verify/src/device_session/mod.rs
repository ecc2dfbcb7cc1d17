//! Sessions on a device that run one side of a verification: the candidate's or the reference's, each in a separate
//! process.
//!
//! Requests name cases, programs and input specifications, never tensors. The outputs of a candidate pass through a
//! folder to the reference's session, which judges them.

pub mod accesses;
mod admitted;
mod block_map;
mod bound;
mod harness_kernels;
mod judging;
mod measure;
mod outputs;
mod reference_results;
mod sample;
mod sampler;
mod sampling;
mod session;
mod steps;
pub mod timelines;
pub mod virtual_run;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use lightbench_device::{LibraryUsed, Placement};
use lightbench_speed_of_light::extrapolated_counters::LaunchCounts;
use lightbench_tensors::case::Case;
use lightbench_tensors::compare::Comparison;
use lightbench_tensors::inputs::InputSpec;
use serde::{Deserialize, Serialize};

use super::fault_report::{FaultReport, SuspicionReport};
use super::program::Program;
use super::reference_source::{Precision, PythonCall, ReferenceSource, SuppliedResults};

pub use measure::{
    MeasureReport, MeasureRequest, ModelledProgram, ModelledTime, Quantity, Samples,
};
pub(crate) use outputs::write as write_outputs;
pub use sample::{GridPart, Sampled};
pub(crate) use sample::{grid_blocks, sample_time};
pub use session::DeviceSession;

/// A request to open a device with modules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRequest {
    /// Whose code the session runs.
    pub side: Side,
    /// The name of the device.
    pub device: String,
    /// The largest number of warp instructions of one launch, on a device that counts them.
    pub max_steps: u64,
    /// The modules, in the order in which programs count them.
    pub modules: Vec<ModuleImage>,
    /// The harness kernels, for a device that generates and compares tensors itself.
    pub harness_kernels: Option<ModuleImage>,
}

impl OpenRequest {
    /// Whether a session that this request opened serves another request: the modules of the other one come first.
    pub(super) fn serves(&self, other: &Self) -> bool {
        let Self { side, device, max_steps, modules, harness_kernels } = self;
        (side, device, max_steps) == (&other.side, &other.device, &other.max_steps)
            && *harness_kernels == other.harness_kernels
            && modules.starts_with(&other.modules)
    }
}

/// A compiled module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleImage {
    /// The PTX, which a virtual GPU executes.
    pub ptx: String,
    /// The machine code, which a GPU executes.
    #[serde(with = "serde_bytes")]
    pub cubin: Option<Vec<u8>>,
}

/// Whose code a session runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// Not trusted: everything about it is checked.
    Candidate,
    /// The project's own: floating-point outputs are f64, and come with magnitudes.
    Reference,
}

/// One run of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The sizes.
    pub case: Case,
    /// What runs.
    pub program: Program,
    /// The inputs.
    pub recipe: InputSpec,
    /// Where the buffers lie.
    pub memory: BufferPlacement,
    /// The checks that run.
    pub scrutiny: Scrutiny,
    /// Whether counters are reported.
    pub counts: CountsUse,
    /// Which blocks run.
    pub part: GridPart,
    /// An existing folder for the outputs; none if they are not judged.
    pub outputs: Option<PathBuf>,
}

/// Where the buffers of a run lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferPlacement {
    /// At other addresses than in the previous run.
    Fresh(Placement),
    /// At the same addresses as in the previous run, which was of the same case.
    Same,
    /// At the same addresses, and outputs and scratch with undefined content keep what the previous run wrote.
    AsLeft,
}

/// The checks that run beside a kernel, where the device has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scrutiny {
    /// Everything, data races too.
    Full,
    /// Bounds, rights, alignment, and uninitialised values.
    Memory,
    /// The same, with threads in an unusual order.
    Shuffled {
        /// Which order.
        seed: u64,
    },
    /// Everything, and strong reads return older values that the memory model permits (`docs/races.md`, "Replay").
    Replayed {
        /// Which of them.
        seed: u64,
    },
    /// Bounds, rights, alignment and initialisation, while one block at a time is resident.
    OneBlock(StartOrder),
}

/// The order in which blocks start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartOrder {
    /// By block index.
    Ascending,
    /// The highest index first.
    Descending,
    /// A permutation.
    Random {
        /// Which one.
        seed: u64,
    },
}

/// Whether a device that counts reports its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CountsUse {
    /// For each launch.
    Report,
    /// Not at all.
    Drop,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// What the kernels did wrong; the first launch that does ends the run.
    pub faults: Vec<FaultReport>,
    /// A hash of all outputs and of which bytes of them were written.
    pub digest: String,
    /// Buffers that must be zero after the run and are not.
    pub left_dirty: Vec<String>,
    /// Warp instructions, where the device counts them.
    pub warp_instructions: Option<u64>,
    /// Counters of each launch, in the order of the first of its kind, where they were requested and the device counts.
    pub counted: Vec<LaunchCounts>,
    /// What the kernels printed, the beginning.
    pub printed: String,
    /// Accesses that the idiom of CUDA accepts and the memory model does not: how many by each rule of `docs/races.md`.
    pub accepted: BTreeMap<u8, usize>,
    /// Instructions of strong reads to which the memory model permits an older value than the newest, in all launches.
    pub stale_reads: usize,
    /// What may be wrong without being a fault; a wrong result makes it a likely cause.
    pub suspicions: Vec<SuspicionReport>,
    /// Checks that were not done.
    pub not_checked: Vec<String>,
    /// How long all launches together took by the host's clock.
    pub elapsed: Duration,
    /// Which library ran, if one did.
    pub library: Option<LibraryUsed>,
    /// What sampled blocks showed, where those ran.
    pub sampled: Option<Sampled>,
}

/// A request to judge the outputs of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeRequest {
    /// The sizes.
    pub case: Case,
    /// What computes the expected outputs.
    pub reference: ReferenceSource,
    /// Results that the parent computed, for a reference in Python.
    pub supplied: Vec<SuppliedResults>,
    /// The inputs.
    pub recipe: InputSpec,
    /// The folder where the outputs are.
    pub outputs: PathBuf,
    /// Which blocks of the candidate ran.
    pub part: GridPart,
    /// Where set, the worker judges no outputs, and reports only whether the inputs are fair to a correct kernel.
    pub admission: Option<Admission>,
}

/// How the verifier decides whether inputs are fair to a correct kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Admission {
    /// The reference runs on them without a fault, and its results are finite.
    ByReference,
    /// The same, and the reference's f32 twin agrees with it.
    ByTwin(ReferenceSource),
}

/// How outputs compare with the reference's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeReport {
    /// One for each output, in the order of the case.
    pub comparisons: Vec<Comparison>,
    /// For the precision probe: whether the reference's results show that every permitted order of operations is exact.
    pub exact: bool,
    /// Of sampled blocks: how many elements were judged, or why none was.
    pub sampled: Option<Result<u64, String>>,
    /// Why the inputs are not fair to a correct kernel; only where the order has an admission.
    pub inadmissible: Option<Inadmissibility>,
}

impl JudgeRequest {
    /// The call of the reference, or of its twin, in this precision.
    pub(crate) fn python_call(&self, precision: Precision) -> Option<&PythonCall> {
        let twin = match &self.admission {
            Some(Admission::ByTwin(twin)) => Some(twin),
            Some(Admission::ByReference) | None => None,
        };
        let mut calls =
            [Some(&self.reference), twin].into_iter().flatten().filter_map(|source| match source {
                ReferenceSource::Python(call) => Some(call),
                ReferenceSource::Program(_) => None,
            });
        calls.find(|call| call.precision == precision)
    }
}

impl JudgeReport {
    /// No sampled element was judged, for this reason.
    pub(crate) const fn unsampled(reason: String) -> Self {
        Self {
            comparisons: Vec::new(),
            exact: false,
            sampled: Some(Err(reason)),
            inadmissible: None,
        }
    }
}

/// Why inputs are not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inadmissibility {
    /// A result of this output is not finite, or the f32 twin's differs by more than its share of the tolerance.
    Output(String),
    /// The reference or its twin faulted on them. A GPU's context is lost.
    Fault(String),
}

/// Why a session cannot carry out a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SessionFailure {
    /// The machine has no such device.
    #[error("{0}")]
    Open(String),
    /// The device cannot load a module.
    #[error("{0}")]
    Load(String),
    /// The device lacks an instruction or a feature that a module or a launch needs.
    #[error("{0}")]
    NotSupported(String),
    /// The device refuses a launch.
    #[error("{0}")]
    Launch(String),
    /// The device has too little free memory.
    #[error("{0}")]
    Memory(String),
    /// The device failed.
    #[error("the device failed: {0}")]
    Device(String),
    /// The inputs of a workload cannot be made.
    #[error("{0}")]
    Inputs(String),
    /// The session keeps no results of the Python reference for these inputs, and the request supplies none.
    #[error("results of reference.py were not supplied")]
    ResultsNeeded(Precision),
    /// The reference did something wrong.
    #[error("the reference: {0}")]
    Reference(String),
    /// The outputs could not be passed to the other session.
    #[error("the outputs cannot be passed to the reference: {0}")]
    Outputs(String),
    /// A request that is not valid after the requests before it.
    #[error("{0}")]
    Order(String),
}
