//! A vendor's library in the candidate's place: checked on every workload and on the precision probe, then timed like a
//! candidate.

use lightbench_device::LibraryUsed;
use lightbench_measure::timing::Timing;

use super::{Stop, Verification};
use crate::verdict::{Step, TimingUse};

/// The result of verifying a library.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryTimes {
    /// Which one ran; none where nothing did.
    pub used: Option<LibraryUsed>,
    /// The largest error of any output, as a fraction of the tolerance.
    pub worst_error: f64,
    /// The times of each measured workload, by its name, or why it does not take these sizes; empty where timing was not
    /// requested.
    pub workloads: Vec<(String, Result<Vec<Timing>, String>)>,
}

impl Verification<'_> {
    /// Verifies a library, and times it if requested. The subject's programs are calls of it.
    ///
    /// # Errors
    /// The library is missing, its results are wrong, or the user cancelled.
    pub fn library(mut self, timing: TimingUse) -> Result<LibraryTimes, Stop> {
        let subject = self.subject;
        self.open_bare()?;
        let mut used = None;
        for trial in &subject.workloads {
            used = self.check_declared_inputs(trial)?.1.library.or(used);
            self.precision(trial)?;
        }
        let mut workloads = Vec::new();
        for trial in &subject.measured {
            let checked = match self.check_declared_inputs(trial) {
                // No kernel is timed on this workload either.
                Err(Stop::ReferenceTooLarge(_)) => continue,
                checked => checked?,
            };
            used = checked.1.library.or(used);
            if let TimingUse::Measure(protocol) = timing {
                workloads.push((trial.case.workload.clone(), Ok(self.timings(trial, protocol)?)));
            }
        }
        Ok(LibraryTimes { used, worst_error: self.checks.worst_error, workloads })
    }

    /// Opens the devices without a candidate.
    pub(super) fn open_bare(&mut self) -> Result<(), Stop> {
        let subject = self.subject;
        let (reference, trusted) = (&subject.reference, subject.harness_kernels.as_ref());
        let steps = subject.limits.virtual_steps;
        let opened = self.workers.open_bare(reference, trusted, steps, self.cancellation);
        opened.map_err(|error| super::stop_from_worker_error(error, Step::Load, None))
    }
}
