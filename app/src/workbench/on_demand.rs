//! What the virtual GPU finds out on request: the latest request and its state.

use std::sync::Arc;

use lightbench_core::access::Recording;
use lightbench_core::device::DeviceSheet;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::verify::device_session::timelines::LaunchTimeline;
use lightbench_core::virtual_gpu::machine::WarpId;

/// The latest request and its state.
#[derive(Clone, Debug)]
pub struct OnDemand<Request, Found> {
    pub wanted: Option<Request>,
    pub state: OnDemandState<Found>,
}

/// State of the latest request.
#[derive(Clone, Debug)]
pub enum OnDemandState<Found> {
    /// No request yet.
    Nothing,
    /// The virtual GPU runs the kernel.
    Running,
    Found(Arc<Found>),
    /// It could not be found out, for this reason.
    Failed(String),
}

impl<Request, Found> Default for OnDemand<Request, Found> {
    fn default() -> Self {
        Self { wanted: None, state: OnDemandState::Nothing }
    }
}

impl<Request: PartialEq, Found> OnDemand<Request, Found> {
    /// Replaces the request.
    pub(super) fn begin(&mut self, wanted: Request) {
        *self = Self { wanted: Some(wanted), state: OnDemandState::Running };
    }

    /// Stores the result of a request; results of superseded requests are dropped.
    pub(super) fn finish(&mut self, wanted: &Request, found: Result<Found, String>) {
        if self.wanted.as_ref() == Some(wanted) {
            self.state = match found {
                Ok(found) => OnDemandState::Found(Arc::new(found)),
                Err(why) => OnDemandState::Failed(why),
            };
        }
    }
}

/// A warp of a kernel, on the inputs of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpSelection {
    pub kernel: String,
    pub workload: String,
    pub warp: WarpId,
}

/// A request to record the accesses of a warp.
#[derive(Clone, Debug)]
pub struct TraceRequest {
    pub wanted: WarpSelection,
    pub project: Arc<Project>,
    pub kernel: Arc<Kernel>,
    /// The device sheet that the virtual GPU uses.
    pub sheet: &'static DeviceSheet,
}

/// The latest request for the accesses of a warp, and what was recorded.
pub type WarpAccesses = OnDemand<WarpSelection, Recording>;

/// A kernel on the inputs of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineSelection {
    pub kernel: String,
    pub workload: String,
    pub device: &'static str,
}

/// A request to model a kernel.
#[derive(Clone, Debug)]
pub struct TimelineRequest {
    pub wanted: TimelineSelection,
    pub project: Arc<Project>,
    pub kernel: Arc<Kernel>,
    pub sheet: &'static DeviceSheet,
}

/// The latest request and the timelines of its launches.
pub type KernelTimelines = OnDemand<TimelineSelection, Vec<LaunchTimeline>>;
