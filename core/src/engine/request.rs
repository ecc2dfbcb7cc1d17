//! All that the engine can be told.

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

/// All that the engine can be told.
#[derive(Clone, Debug)]
pub enum Request {
    /// From a candidate to a verdict.
    Evaluate(Work, Conditions),
    /// A quick look at one candidate or several: enough to drop them.
    Screen(Screens, Conditions),
    /// Builds one candidate or several, and says what is known of them without running them.
    Examine(Works, Conditions),
    /// Times two side by side, by the protocol of the conditions.
    Compare(Box<Contest>, Conditions),
    /// Has a profiler run a kernel that passes every check, on the workload that the conditions name.
    Profile(Work, Conditions, Box<Profiler>),
    /// To facts, and no further. It needs no device, so that it does not wait for one.
    Compile(Work, CompileFor),
    /// A request is not wanted any more. It ends as cancelled, unless it ends otherwise before it hears of it.
    Cancel(RequestId),
    /// Nothing is wanted any more: all requests end as cancelled, then the threads do.
    Stop,
}

/// The number of a request. A higher one was made later, so it is its generation too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub(super) u64);

/// What is worked on, and for whom.
#[derive(Clone, Debug)]
pub struct Work {
    /// The project as it was when somebody asked.
    pub project: Arc<Project>,
    /// A kernel of it, or a draft of one.
    pub kernel: Arc<Kernel>,
    /// Parameters that are not to be chosen by the kernel itself.
    pub chosen: BTreeMap<String, i64>,
    /// Who waits for it.
    pub asked_by: AskedBy,
}

/// Two that are timed side by side. Kernels passed before.
#[derive(Clone, Debug)]
pub struct Contest {
    /// Which.
    pub pair: Pair<Work>,
    /// Under which condition.
    pub mode: Mode,
}

/// Candidates of one project that are worked on together.
#[derive(Clone, Debug)]
pub struct Works {
    /// The first of them; its place among the waiting is that of all.
    pub first: Work,
    /// The others.
    pub others: Vec<Work>,
}

impl Works {
    /// These, unless there are none.
    #[must_use]
    pub fn of(works: impl IntoIterator<Item = Work>) -> Option<Self> {
        let mut works = works.into_iter();
        Some(Self { first: works.next()?, others: works.collect() })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Work> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// Candidates that are looked at together.
#[derive(Clone, Debug)]
pub struct Screens {
    /// Which.
    pub works: Works,
    /// A first execution of a workload that takes longer than this is slow enough to know.
    pub abandon: BTreeMap<String, Seconds>,
}

impl Screens {
    /// A look at one candidate, to the end.
    #[must_use]
    pub fn one(first: Work) -> Self {
        let works = Works { first, others: Vec::new() };
        Self { works, abandon: BTreeMap::new() }
    }
}

/// Who waits for the end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedBy {
    /// Somebody sits there: it goes first, and what runs for nobody in particular is put off.
    Person,
    /// A search or a sweep.
    Background,
}

/// Where something is evaluated, and on what inputs.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// One of the engine's devices.
    pub device: DeviceName,
    /// Its sheet.
    pub sheet: &'static DeviceSheet,
    /// What was measured on this very device, where somebody calibrated it.
    pub calibration: Option<Arc<Calibration>>,
    /// Only this workload, where one is named.
    pub workload: Option<String>,
    /// What all inputs come from.
    pub seed: u64,
    /// What the policy refuses is refused, or only shown.
    pub policy: PolicyUse,
    /// Whether times are taken.
    pub timing: TimingUse,
}

/// What something is compiled for.
#[derive(Clone, Debug)]
pub struct CompileFor {
    /// The device.
    pub sheet: &'static DeviceSheet,
    /// The workload whose sizes decide grids and constants.
    pub workload: String,
    /// Optimised or as written.
    pub build: Build,
}

/// What makes two requests about the same thing: the newer one replaces the older one.
///
/// Other parameters are another thing, so that a sweep does not replace itself; so is who asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Topic {
    pub(super) project: PathBuf,
    pub(super) kernel: String,
    pub(super) chosen: BTreeMap<String, i64>,
    pub(super) asked_by: AskedBy,
}

/// Why a request is not taken; nothing comes of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// It would have to wait behind too many others.
    #[error("{0} requests are waiting; ask again when one has ended")]
    Full(usize),
    /// Nobody reads what the engine says.
    #[error("the ends of {0} requests were not read")]
    Unread(usize),
    /// The engine was not started with this device.
    #[error("the engine has no device `{0}`")]
    NoSuchDevice(String),
    /// There is nothing to cancel: it has ended, or it never was.
    #[error("{0} does not wait and does not run")]
    NotThere(RequestId),
    /// It was told to stop.
    #[error("the engine is stopping")]
    Stopping,
}

impl RequestId {
    /// The request of this number, for whoever plays an engine.
    #[must_use]
    pub const fn numbered(number: u64) -> Self {
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
