//! One run of a kernel as a file, and the process that executes it.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::verify::device_session::{DeviceSession, OpenRequest, RunRequest, SessionFailure};
use crate::verify::program::Step;
use crate::worker::frame::{Frame, FrameError};

/// Modules, and one run of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfiledLaunchRequest {
    /// The device and what it loads.
    pub opening: OpenRequest,
    /// The run, which is executed once.
    pub run: RunRequest,
}

/// The reason why a launch request was not executed.
#[derive(Debug, thiserror::Error)]
pub enum LaunchOnceError {
    /// The file cannot be read.
    #[error("the launch request cannot be read: {0}")]
    Unreadable(#[from] FrameError),
    /// The device.
    #[error(transparent)]
    Session(#[from] SessionFailure),
    /// The kernel.
    #[error("the kernel faulted: {0}")]
    Fault(String),
    /// The completion file.
    #[error("the completion file cannot be written: {0}")]
    Done(#[source] std::io::Error),
}

impl ProfiledLaunchRequest {
    /// Writes the request to a file.
    ///
    /// # Errors
    /// The request exceeds the frame limit, or the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), FrameError> {
        let frame = Frame::new(self)?;
        frame.write_to(&mut File::create(file).map_err(FrameError::Io)?)
    }

    /// Reads a request that [`ProfiledLaunchRequest::write`] wrote.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read(file: &Path) -> Result<Self, FrameError> {
        Frame::read_from(&mut File::open(file).map_err(FrameError::Io)?)?.parse()
    }

    /// The symbols of all launched kernels.
    #[must_use]
    pub fn symbols(&self) -> BTreeSet<&str> {
        let mut all = BTreeSet::new();
        symbols(&self.run.program.steps, &mut all);
        all
    }

    /// The number of launches.
    #[must_use]
    pub fn launches(&self) -> u64 {
        launches(&self.run.program.steps)
    }
}

fn symbols<'a>(steps: &'a [Step], all: &mut BTreeSet<&'a str>) {
    for step in steps {
        match step {
            Step::Launch(launch) => {
                all.insert(&launch.kernel);
            }
            Step::Fill { .. } | Step::Library(_) => {}
            Step::Repeat { steps, .. } => symbols(steps, all),
        }
    }
}

fn launches(steps: &[Step]) -> u64 {
    let of = |step: &Step| match step {
        Step::Launch(_) => 1,
        Step::Fill { .. } | Step::Library(_) => 0,
        Step::Repeat { count, steps, .. } => count.saturating_mul(launches(steps)),
    };
    steps.iter().map(of).fold(0, u64::saturating_add)
}

/// The completion file of a request, which exists once it was executed. The exit status of a profiler does not show the
/// state of the profiled process.
pub(super) fn done(order: &Path) -> PathBuf {
    order.with_extension("done")
}

/// Executes the launch request in a file, in this process, for a profiler around it. The results of the kernel are
/// discarded, and a completion file marks the end.
///
/// # Errors
/// The file contains no launch request, the device cannot execute it, or the kernel faults.
pub fn launch_once(file: &Path) -> Result<(), LaunchOnceError> {
    let ProfiledLaunchRequest { opening, run } = ProfiledLaunchRequest::read(file)?;
    let report = DeviceSession::open(&opening)?.run(&run)?;
    match report.faults.into_iter().next() {
        Some(fault) => Err(LaunchOnceError::Fault(fault.details)),
        None => File::create(done(file)).map(drop).map_err(LaunchOnceError::Done),
    }
}
