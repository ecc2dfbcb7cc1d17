//! Requests to the engine.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::compile::Build;
use crate::device::{DeviceName, DeviceSheet};
use crate::evaluate::PolicyUse;
use crate::evaluate::compare::Pair;
use crate::measure::Mode;
use crate::nsight::Profiler;
use crate::project::{Kernel, Project};
use crate::speed_of_light::calibration::Calibration;
use crate::units::Seconds;
use crate::verify::verdict::TimingUse;

/// A request to the engine.
#[derive(Clone, Debug)]
pub enum Request {
    /// Runs every check on a candidate and times it.
    Evaluate(Work, Conditions),
    /// Screens candidates: a few checks and a short timing, from which a search drops most of them.
    Screen(ScreeningBatch, Conditions),
    /// Times two candidates with alternating launches, by the protocol of the conditions.
    Compare(Box<AbComparison>, Conditions),
    /// Profiles a kernel that passes every check, on the workload that the conditions name.
    Profile(Work, Conditions, Box<Profiler>),
    /// Compiles a kernel and collects its facts, on a thread of its own that needs no device.
    Compile(Work, CompileFor),
    /// Compiles everything that the evaluation of a candidate needs, on the thread that compiles, so that the evaluation
    /// finds it in the compile cache.
    CompileAhead(Work, Conditions),
    /// Cancels a request. It ends as cancelled unless it has completed before.
    Cancel(RequestId),
    /// Cancels all requests, then ends the threads.
    Stop,
}

/// The number of a request; later requests have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub(super) u64);

/// A candidate with its parameters, and the priority of its request.
#[derive(Clone, Debug)]
pub struct Work {
    /// The project as it was at the time of the request.
    pub project: Arc<Project>,
    /// A kernel of the project, saved or not.
    pub kernel: Arc<Kernel>,
    /// Values of parameters that replace the choice of the kernel.
    pub chosen: BTreeMap<String, i64>,
    /// Priority of the request.
    pub asked_by: AskedBy,
}

/// A comparison of two candidates with alternating launches. Both have passed every check before.
#[derive(Clone, Debug)]
pub struct AbComparison {
    /// The two candidates.
    pub pair: Pair<Work>,
    /// Cold or warm caches.
    pub mode: Mode,
}

/// One or more candidates of one project in one request.
#[derive(Clone, Debug)]
pub struct WorkBatch {
    /// The first candidate, whose topic and priority are those of the request.
    pub first: Work,
    /// The other candidates.
    pub others: Vec<Work>,
}

impl WorkBatch {
    /// A batch of these candidates; none if there are none.
    #[must_use]
    pub fn from_works(works: impl IntoIterator<Item = Work>) -> Option<Self> {
        let mut works = works.into_iter();
        Some(Self { first: works.next()?, others: works.collect() })
    }

    /// All candidates.
    pub fn iter(&self) -> impl Iterator<Item = &Work> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// Candidates that are screened in one request.
#[derive(Clone, Debug)]
pub struct ScreeningBatch {
    /// The candidates.
    pub works: WorkBatch,
    /// By workload, the duration of a first execution from which on the candidate is dropped as slow.
    pub abandon: BTreeMap<String, Seconds>,
}

impl ScreeningBatch {
    /// A screening of one candidate without limits of time.
    #[must_use]
    pub fn one(first: Work) -> Self {
        let works = WorkBatch { first, others: Vec::new() };
        Self { works, abandon: BTreeMap::new() }
    }
}

/// Priority of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedBy {
    /// A person waits: runs first and preempts requests of the background.
    Person,
    /// A search or a sweep.
    Background,
}

/// Device, inputs and timing of an evaluation.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// One of the devices that the engine was started with.
    pub device: DeviceName,
    /// The data sheet of the device.
    pub sheet: &'static DeviceSheet,
    /// Calibration of this device, if there is one.
    pub calibration: Option<Arc<Calibration>>,
    /// Evaluate this workload only; none: all workloads.
    pub workload: Option<String>,
    /// Seed of all inputs.
    pub seed: u64,
    /// Whether a kernel that the policy refuses fails, or the refusal is only reported.
    pub policy: PolicyUse,
    /// Whether times are measured, and by which protocol.
    pub timing: TimingUse,
}

/// Target of a compilation.
#[derive(Clone, Debug)]
pub struct CompileFor {
    /// The data sheet of the device.
    pub sheet: &'static DeviceSheet,
    /// The workload whose sizes determine grids and constants.
    pub workload: String,
    /// Optimised or debug build.
    pub build: Build,
}

/// Identity of what a request is about: a newer request of the same topic replaces the older one.
///
/// Parameters belong to it, so that the requests of a sweep do not replace each other, and so does the priority.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Topic {
    pub(super) project: PathBuf,
    pub(super) kernel: String,
    pub(super) chosen: BTreeMap<String, i64>,
    pub(super) asked_by: AskedBy,
}

/// Why the engine refuses a request. No event follows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestRefused {
    /// The queue is full; the number of waiting requests.
    #[error("{0} requests are waiting; ask again when one has ended")]
    Full(usize),
    /// The client does not read its events; the number of unread ends.
    #[error(
        "the client has not read the ends of {0} requests; read events before the next request"
    )]
    Unread(usize),
    /// The engine was not started with this device.
    #[error("the engine has no device `{0}`")]
    NoSuchDevice(String),
    /// The request to cancel has ended, or never existed.
    #[error("{0} neither waits nor runs, so it cannot be cancelled")]
    UnknownRequest(RequestId),
    /// The engine stops.
    #[error("the engine is stopping")]
    Stopping,
}

impl RequestId {
    /// The identifier of this number, for tests that replace the engine.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }
}

impl Work {
    pub(super) fn topic(&self) -> Topic {
        Topic {
            project: self.project.root.clone(),
            kernel: self.kernel.name.clone(),
            chosen: self.chosen.clone(),
            asked_by: self.asked_by,
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "request {}", self.0)
    }
}
