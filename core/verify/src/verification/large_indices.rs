//! One run on a workload whose indices do not fit 32 bits.

use std::time::Duration;

use lightbench_device::Placement;
use lightbench_tensors::inputs::InputMode;

use super::domain::with_change;
use super::{Attempt, BufferPlacement, ObservedOn, Scrutiny, Stop, Verification, open};
use crate::compiled_candidate::{CompiledVariation, CompiledWorkload};
use crate::device_session::{CountsUse, GridPart};
use crate::device_workers::DeviceWorkerError;
use crate::not_judged::NotJudged;
use crate::verdict::{SizeCheck, Step, WorkloadRun};

/// Time limit of the kernel. Some correct kernels are too slow for this much work.
const LIMIT: Duration = Duration::from_secs(10);

/// Time limit of the reference and the comparison; the host compares every element of wrong results.
const JUDGE_LIMIT: Duration = Duration::from_secs(120);

impl Verification<'_> {
    /// Runs and judges the workload, if there is one. Too little memory or a time-out is no finding.
    pub(super) fn check_large_indices(&mut self) -> Result<(), Stop> {
        let Some(CompiledVariation { trial, what, draw }) = &self.subject.large_indices else {
            return Ok(());
        };
        if self.workers.models_time() {
            return self.sample_large_indices(trial, what);
        }
        self.timed(Step::Results, Some(&trial.case.workload), |this| {
            let recipe = this.recipe(&trial.case, *draw, "far");
            let memory = BufferPlacement::Fresh(Placement::Right);
            let attempt = Attempt { trial, recipe, step: Step::Results, memory };
            let order = attempt.run_request(Scrutiny::Memory, CountsUse::Drop);
            let report = this.workers.run(order, LIMIT, this.cancellation);
            let report = match report {
                Err(error) => return this.not_reached(&error),
                Ok(report) => this.accept_report(&attempt, Ok(report), ObservedOn::Device),
            };
            let report = report.map_err(|stop| with_size(stop, what))?;
            let order = attempt.judge_request(GridPart::Whole);
            let judged = match this.workers.judge(order, JUDGE_LIMIT, this.cancellation) {
                Err(error) => return this.not_reached(&error),
                Ok(judged) => judged,
            };
            this.accept(&attempt, judged, None).map_err(|stop| with_size(stop, what))?;
            this.checks.digests.push(report.digest);
            this.checks.workloads.push(WorkloadRun {
                workload: format!("{} with {what}", trial.case.workload),
                seed: recipe.seed,
                runs: 1,
                warp_instructions: None,
            });
            Ok(())
        })
    }

    /// The same on a virtual device: sampled blocks, of which one writes the last element.
    fn sample_large_indices(&mut self, trial: &CompiledWorkload, what: &str) -> Result<(), Stop> {
        let check = match self.foreseen_delay(trial) {
            Some(reason) => SizeCheck::NotChecked(reason),
            None => self.check_sampled_blocks(trial).map_err(|stop| with_size(stop, what))?,
        };
        let workload = &trial.case.workload;
        let workload = match check {
            SizeCheck::NotChecked(reason) => {
                self.checks.not_checked.push(format!("indices beyond 32 bits ({reason})"));
                return Ok(());
            }
            SizeCheck::Whole => format!("{workload} with {what}"),
            SizeCheck::Sampled { blocks, of, .. } => {
                format!("{workload} with {what}, {blocks} of {of} blocks")
            }
        };
        let seed = self.recipe(&trial.case, InputMode::Repeating, "a").seed;
        self.checks.workloads.push(WorkloadRun {
            workload,
            seed,
            runs: 1,
            warp_instructions: None,
        });
        Ok(())
    }

    fn not_reached(&mut self, error: &DeviceWorkerError) -> Result<(), Stop> {
        if matches!(error, DeviceWorkerError::Cancelled) {
            return Err(NotJudged::Cancelled.into());
        }
        self.checks.not_checked.push(format!("indices beyond 32 bits ({error})"));
        open(self.workers, self.subject, &self.subject.candidate, self.cancellation)
    }
}

/// Says at which sizes the candidate failed.
fn with_size(stop: Stop, what: &str) -> Stop {
    with_change(stop, &format!("{what}, which the axes permit"))
}
