//! One run of a kernel as a file, and the process that carries it out.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::verify::program::Step;
use crate::verify::station::{Opening, RunOrder, Station, StationFailure};
use crate::worker::frame::{Frame, FrameError};

/// Modules, and one run of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfiledLaunchRequest {
    /// The device and what it loads.
    pub opening: Opening,
    /// What runs, once.
    pub run: RunOrder,
}

/// Why an order was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum LaunchOnceError {
    /// The file cannot be read.
    #[error("the order cannot be read: {0}")]
    Unreadable(#[from] FrameError),
    /// The device.
    #[error(transparent)]
    Station(#[from] StationFailure),
    /// The kernel.
    #[error("the kernel faulted: {0}")]
    Fault(String),
    /// The file that says that it is done.
    #[error("the end cannot be written down: {0}")]
    Done(#[source] std::io::Error),
}

impl ProfiledLaunchRequest {
    /// Writes it to a file.
    ///
    /// # Errors
    /// It is larger than a frame may be, or the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), FrameError> {
        let frame = Frame::new(self)?;
        frame.write_to(&mut File::create(file).map_err(FrameError::Io)?)
    }

    /// Reads what [`Order::write`] wrote.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read(file: &Path) -> Result<Self, FrameError> {
        Frame::read_from(&mut File::open(file).map_err(FrameError::Io)?)?.parse()
    }

    /// The symbols of all kernels that it launches.
    #[must_use]
    pub fn symbols(&self) -> BTreeSet<&str> {
        let mut all = BTreeSet::new();
        symbols(&self.run.program.steps, &mut all);
        all
    }

    /// How many launches it makes.
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

/// The file beside an order that is there once it was carried out. A profiler's exit status says too little of the process
/// inside it.
pub(super) fn done(order: &Path) -> PathBuf {
    order.with_extension("done")
}

/// Carries out the order in a file, in this very process: for a profiler around it. What the kernel computes is let go, and a
/// file beside the order says that it came to its end.
///
/// # Errors
/// The file holds no order, or the device cannot carry it out, or the kernel does something wrong.
pub fn launch_once(file: &Path) -> Result<(), LaunchOnceError> {
    let ProfiledLaunchRequest { opening, run } = ProfiledLaunchRequest::read(file)?;
    let report = Station::open(&opening)?.run(&run)?;
    match report.faults.into_iter().next() {
        Some(fault) => Err(LaunchOnceError::Fault(fault.details)),
        None => File::create(done(file)).map(drop).map_err(LaunchOnceError::Done),
    }
}
