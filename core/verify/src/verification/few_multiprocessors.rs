//! Launches as on a device with few multiprocessors.
//!
//! The grid of a persistent kernel has a block for each multiprocessor, so that each block does at most one part of a small
//! workload: what goes wrong from one part to the next would be seen only in workloads that are too large for a virtual
//! device.

use lightbench_device::Placement;

use super::domain::with_change;
use super::{Attempt, BufferPlacement, Scrutiny, Stop, Verification};
use crate::compiled_candidate::CompiledVariation;
use crate::verdict::Step;

impl Verification<'_> {
    /// Runs each of these workloads once with every check of a virtual device; beside a GPU, it checks for faults only.
    pub(super) fn on_few_multiprocessors(&mut self) -> Result<(), Stop> {
        let subject = self.subject;
        for CompiledVariation { trial, what, draw } in &subject.on_few_multiprocessors {
            let recipe = self.recipe(&trial.case, *draw, what);
            let memory = BufferPlacement::Fresh(Placement::Left);
            let attempt = Attempt { trial, recipe, step: Step::Determinism, memory };
            self.timed(Step::Determinism, Some(&trial.case.workload), |this| {
                this.virtually(&attempt, Scrutiny::Full)
            })
            .map_err(|stop| with_change(stop, what))?;
            self.count_run(trial);
        }
        Ok(())
    }
}
