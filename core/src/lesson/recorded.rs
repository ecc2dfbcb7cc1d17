//! Recorded runs of real devices that come with a lesson, so that a class without a GPU has their times: traces in the
//! format of the history's export (`docs/traces.md`).

use crate::history::record::{DeviceIdentity, Outcome, RunRecord};
use crate::history::trace;
use crate::units::Seconds;

/// One workload of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// The name of the device.
    pub device: String,
    /// Whether a device was timed or modelled.
    pub kind: RecordedKind,
    /// The time.
    pub time: Seconds,
}

/// The kind of a recorded time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedKind {
    /// A device ran the kernel.
    Device,
    /// The time is modelled: the name of the device starts with `virtual`.
    Model,
}

impl Recorded {
    /// `recorded on NVIDIA H200`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.kind {
            RecordedKind::Device => format!("recorded on {}", self.device),
            RecordedKind::Model => format!("modelled, {}", self.device),
        }
    }
}

/// The times in a file of traces. Failed runs have none.
///
/// # Errors
/// A line is not a trace.
pub fn read(text: &str) -> Result<Vec<Recorded>, trace::TraceError> {
    let import = trace::import(text, "lesson")?;
    Ok(import.runs.iter().flat_map(of_run).collect())
}

fn of_run(run: &RunRecord) -> Vec<Recorded> {
    let Outcome::Passed { timings, .. } = &run.outcome else { return Vec::new() };
    let DeviceIdentity { title: device, .. } = &run.device;
    let kind = match device.starts_with("virtual") {
        true => RecordedKind::Model,
        false => RecordedKind::Device,
    };
    let one = |timing: &crate::history::timing::RecordedTiming| Recorded {
        kernel: kernel(&run.kernel).to_owned(),
        workload: timing.workload.as_str().to_owned(),
        device: device.clone(),
        kind,
        time: timing.median.seconds(),
    };
    timings.iter().map(one).collect()
}

/// The kernel of a solution, whose name ends with the first digits of its candidate's hash.
fn kernel(solution: &str) -> &str {
    solution.split_once('@').map_or(solution, |(name, _)| name)
}
