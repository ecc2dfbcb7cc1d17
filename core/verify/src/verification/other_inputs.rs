//! Inputs other than the declared ones: other distributions, inputs on which every order of operations is exact, and
//! runs that follow each other.

use lightbench_device::Placement;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::{self, InputMode, InputSpec, PerturbedInput};

use super::{Attempt, BufferPlacement, RunReport, Scrutiny, Stop, Verification};
use crate::compiled_candidate::CompiledWorkload;
use crate::verdict::Step;

/// A workload with at most this many warp instructions runs with every check on other inputs too: a race may occur on
/// some inputs only.
const MOST_WATCHED: u64 = 1 << 16;

/// The distributions besides the declared one, in the order in which they are tried.
pub(super) const OTHERS: [Distribution; 4] =
    [Distribution::Scaled, Distribution::Shifted, Distribution::HeavyTail, Distribution::Exact];

impl Verification<'_> {
    /// Inputs other than the declared ones on every workload, except those from the whole domain.
    pub(super) fn other_inputs(&mut self, seen: &[RunReport]) -> Result<(), Stop> {
        let trials = &self.subject.workloads;
        for (trial, first) in trials.iter().zip(seen) {
            self.distributions(trial, scrutiny_of_other_inputs(first))?;
        }
        for trial in trials {
            self.precision(trial)?;
        }
        for ((index, trial), first) in trials.iter().enumerate().zip(seen) {
            let echoes = self.perturbed_inputs(index, &trial.case);
            self.state(trial, first, &echoes)?;
        }
        Ok(())
    }

    /// Inputs drawn from distributions other than the declared one.
    fn distributions(&mut self, trial: &CompiledWorkload, scrutiny: Scrutiny) -> Result<(), Stop> {
        for distribution in OTHERS {
            let allows = trial.case.tensors.iter();
            if !allows.clone().any(|tensor| tensor.distributions.contains(&distribution)) {
                continue;
            }
            self.timed(Step::Distributions, Some(&trial.case.workload), |this| {
                let recipe = this.recipe(&trial.case, InputMode::Distribution(distribution), "d");
                let memory = BufferPlacement::Fresh(Placement::Right);
                let attempt = Attempt { trial, recipe, step: Step::Distributions, memory };
                this.run_and_judge(&attempt, scrutiny).map(drop)
            })?;
            self.count_run(trial);
        }
        Ok(())
    }

    /// Inputs on which every permitted order of operations is exact, where such inputs exist.
    pub(super) fn precision(&mut self, trial: &CompiledWorkload) -> Result<(), Stop> {
        if !trial.adds_and_multiplies {
            return Ok(());
        }
        self.timed(Step::PrecisionProbe, Some(&trial.case.workload), |this| {
            let recipe = this.recipe(&trial.case, InputMode::PrecisionProbe, "p");
            let memory = BufferPlacement::Fresh(Placement::Left);
            let attempt = Attempt { trial, recipe, step: Step::PrecisionProbe, memory };
            this.launch(&attempt, Scrutiny::Memory)?;
            let judged = this.judge(&attempt)?;
            this.checks.precision_probed += usize::from(judged.exact);
            this.accept(&attempt, judged, None)
        })?;
        self.count_run(trial);
        Ok(())
    }

    /// Inputs that differ in few elements from those of one workload. Each way to change a tensor is used twice; the
    /// seed chooses which workloads use it, and each workload has at least one.
    fn perturbed_inputs(&self, workload: usize, case: &Case) -> Vec<PerturbedInput> {
        let ways = inputs::changes(case).len();
        if ways == 0 {
            return Vec::new();
        }
        let workloads = self.subject.workloads.len();
        let links = workloads.max(2 * ways);
        let (start, end) = (links * workload / workloads, links * (workload + 1) / workloads);
        let first = start + (self.seed % (2 * ways as u64)) as usize;
        let seed = self.input_seed(case, "echo");
        (1..=end - start).map(|links| PerturbedInput { seed, first, links }).collect()
    }

    /// Inputs A again at other addresses, then perturbed inputs and inputs B at the addresses of A, then A at addresses
    /// with no more than the promised alignment and in an unusual thread order.
    fn state(
        &mut self,
        trial: &CompiledWorkload,
        first: &RunReport,
        echoes: &[PerturbedInput],
    ) -> Result<(), Stop> {
        let name = trial.case.workload.as_str();
        let declared = InputMode::Distribution(Distribution::AsDeclared);
        let (a, b) =
            (self.recipe(&trial.case, declared, "a"), self.recipe(&trial.case, declared, "b"));
        self.timed(Step::StateProbe, Some(name), |this| {
            let step = Step::StateProbe;
            let elsewhere = BufferPlacement::Fresh(Placement::Right);
            let again = Attempt { trial, recipe: a, step, memory: elsewhere };
            let second = this.run_and_judge_again(&again, Scrutiny::Memory, None)?;
            this.checks.deterministic &= second.digest == first.digest;
            for echo in echoes {
                let recipe = InputSpec { seed: a.seed, draw: InputMode::Perturbed(*echo) };
                // A kernel could read the outputs of the previous run and return them.
                let memory = BufferPlacement::AsLeft;
                let nearly = Attempt { trial, recipe, step, memory };
                this.run_and_judge_again(&nearly, Scrutiny::Memory, Some(&second.digest))?;
            }
            let other = Attempt { trial, recipe: b, step, memory: BufferPlacement::Same };
            this.run_and_judge_again(&other, scrutiny_of_other_inputs(first), Some(&second.digest))
                .map(drop)
        })?;
        self.timed(Step::Determinism, Some(name), |this| {
            let step = Step::Determinism;
            let memory = BufferPlacement::Fresh(Placement::OddMultiple);
            let attempt = Attempt { trial, recipe: a, step, memory };
            let scrutiny = Scrutiny::Shuffled { seed: this.seed };
            let third = this.run_and_judge_again(&attempt, scrutiny, None)?;
            this.checks.deterministic &= third.digest == first.digest;
            Ok(())
        })?;
        for _ in 0..3 + echoes.len() {
            self.count_run(trial);
        }
        Ok(())
    }
}

/// The checks for further inputs of a workload that was run with every check.
fn scrutiny_of_other_inputs(first: &RunReport) -> Scrutiny {
    match first.warp_instructions {
        Some(count) if count <= MOST_WATCHED => Scrutiny::Full,
        Some(_) | None => Scrutiny::Memory,
    }
}
