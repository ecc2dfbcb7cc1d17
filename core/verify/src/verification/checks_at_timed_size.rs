//! Checks at timed sizes: a kernel may have a code path for them that no smaller workload runs.

use lightbench_device::Placement;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::inputs::{InputMode, InputSpec, PerturbedInput, single_change};

use super::{Attempt, BufferPlacement, RunReport, Scrutiny, Stop, Verification};
use crate::compiled_candidate::CompiledWorkload;
use crate::verdict::{Step, WorkloadRun};

/// Changed tensors are generated on the host; larger tensors are not changed.
pub(super) const MOST_CHANGED_BYTES: u64 = 32 << 20;

/// Checks at a timed size besides running the declared inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extras {
    /// None: a screened candidate is never called correct.
    None,
    /// A state probe and a precision probe.
    Probes,
}

impl Verification<'_> {
    /// Checks the results of a workload that is timed on a real device.
    pub(super) fn check_timed_size(
        &mut self,
        trial: &CompiledWorkload,
        extras: Extras,
    ) -> Result<(), Stop> {
        let (seed, report) = self.check_declared_inputs(trial)?;
        self.checks.workloads.push(WorkloadRun {
            workload: trial.case.workload.clone(),
            seed,
            runs: 1,
            warp_instructions: None,
        });
        match extras {
            Extras::None => Ok(()),
            Extras::Probes => {
                self.check_perturbed_inputs(trial, &report)?;
                self.precision(trial)
            }
        }
    }

    /// Runs and judges the declared inputs of a workload; returns the seed and the report.
    pub(super) fn check_declared_inputs(
        &mut self,
        trial: &CompiledWorkload,
    ) -> Result<(u64, RunReport), Stop> {
        self.timed(Step::Results, Some(&trial.case.workload), |this| {
            let declared = InputMode::Distribution(Distribution::AsDeclared);
            let recipe = this.recipe(&trial.case, declared, "a");
            let memory = BufferPlacement::Fresh(Placement::Right);
            let attempt = Attempt { trial, recipe, step: Step::Results, memory };
            Ok((recipe.seed, this.run_and_judge(&attempt, Scrutiny::Memory)?))
        })
    }

    /// Runs and judges inputs with one changed element, in buffers that still hold the results of the previous run.
    fn check_perturbed_inputs(
        &mut self,
        trial: &CompiledWorkload,
        before: &RunReport,
    ) -> Result<(), Stop> {
        let case = &trial.case;
        let seed = self.input_seed(case, "echo");
        let Some(first) = single_change(case, seed, MOST_CHANGED_BYTES) else { return Ok(()) };
        self.timed(Step::StateProbe, Some(&case.workload), |this| {
            let declared = InputMode::Distribution(Distribution::AsDeclared);
            let recipe = InputSpec {
                draw: InputMode::Perturbed(PerturbedInput { seed, first, links: 1 }),
                ..this.recipe(case, declared, "a")
            };
            let (step, memory) = (Step::StateProbe, BufferPlacement::AsLeft);
            let nearly = Attempt { trial, recipe, step, memory };
            this.run_and_judge_again(&nearly, Scrutiny::Memory, Some(&before.digest)).map(drop)
        })?;
        self.count_run(trial);
        Ok(())
    }
}
