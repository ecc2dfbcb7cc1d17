//! Whether a kernel depends on the order in which its blocks start, or on all of them being resident.
//!
//! A small workload runs with one block at a time, in descending and in random order. Blocks that wait for others then
//! wait for ever, which the virtual GPU reports. A third run in ascending order tells the two dependences apart.

use lightbench_device::Placement;
use lightbench_project::launch::expectation::FaultKind;
use lightbench_project::manifest::{BlockOrder, Distribution};
use lightbench_tensors::inputs::InputMode;

use super::{
    Attempt, BufferPlacement, CountsUse, ObservedOn, RunReport, Scrutiny, Stop, Verification, open,
};
use crate::compiled_candidate::CompiledWorkload;
use crate::device_session::StartOrder;
use crate::fault_report::FaultReport;
use crate::program::{LaunchStep, Program};
use crate::verdict::{Failure, Fault, Step};

/// A workload of more warp instructions does not run again for this.
const MOST_REPEATED: u64 = 1 << 20;

/// How the list of warps begins in the details of such a fault.
const STANDING: &str = "warp positions";

impl Verification<'_> {
    /// Runs the smallest workload of at least two blocks with one block at a time.
    pub(super) fn start_orders(&mut self, seen: &[RunReport]) -> Result<(), Stop> {
        let trials = self.subject.workloads.iter().zip(seen);
        let trials = trials.filter(|(trial, _)| may_depend(&trial.candidate));
        let sized = trials.filter_map(|(trial, report)| Some((trial, report.warp_instructions?)));
        let Some((trial, count)) = sized.min_by_key(|(_, count)| *count) else { return Ok(()) };
        if count > MOST_REPEATED {
            let what = "block start orders (the smallest workload of several blocks is too large)";
            self.checks.not_checked.push(what.to_owned());
            return Ok(());
        }
        self.timed(Step::Determinism, Some(&trial.case.workload), |this| {
            for order in [StartOrder::Descending, StartOrder::Random { seed: this.seed }] {
                let Some(fault) = this.waits(trial, order)? else { continue };
                return this.waiting(trial, fault);
            }
            Ok(())
        })
    }

    /// The fault of blocks that wait for others; none where all of them end.
    fn waits(
        &mut self,
        trial: &CompiledWorkload,
        order: StartOrder,
    ) -> Result<Option<Box<Fault>>, Stop> {
        match self.one_block_at_a_time(trial, order) {
            Ok(()) => Ok(None),
            Err(Stop::Failure(Failure::Fault(fault))) if fault.faults.iter().all(is_wait) => {
                open(self.workers, self.subject, &self.subject.candidate, self.cancellation)?;
                Ok(Some(fault))
            }
            Err(stop) => Err(stop),
        }
    }

    fn one_block_at_a_time(
        &mut self,
        trial: &CompiledWorkload,
        order: StartOrder,
    ) -> Result<(), Stop> {
        let recipe =
            self.recipe(&trial.case, InputMode::Distribution(Distribution::AsDeclared), "a");
        let memory = BufferPlacement::Fresh(Placement::Left);
        let attempt = Attempt { trial, recipe, step: Step::Determinism, memory };
        self.virtually(&attempt, Scrutiny::OneBlock(order))
    }

    /// Notes or reports that blocks wait for others.
    fn waiting(&mut self, trial: &CompiledWorkload, mut fault: Box<Fault>) -> Result<(), Stop> {
        let in_ascending_order = self.waits(trial, StartOrder::Ascending)?.is_none();
        let place = fault.faults.first().map(place).unwrap_or_default();
        if !in_ascending_order {
            self.checks.notes.push(format!(
                "the blocks wait for each other{place}: all of them must be resident at once, which CUDA guarantees for \
                 cooperative launches only"
            ));
            return Ok(());
        }
        match self.subject.block_order {
            BlockOrder::Ascending => {
                self.checks.notes.push(format!(
                    "blocks wait for blocks of lower index{place}, and CUDA does not promise the order in which blocks \
                     start (a ticket from atomicAdd does; `block_order: any` in project.ron makes this a fault)"
                ));
                Ok(())
            }
            BlockOrder::Any => {
                for fault in &mut fault.faults {
                    // What the virtual GPU advises is about the residency of this run.
                    let places = fault.details.find(STANDING).map(|at| &fault.details[at..]);
                    fault.details = format!(
                        "blocks wait for blocks of lower index, and the project declares `block_order: any`: in another \
                         order, with one resident block, the launch does not end; {}",
                        places.unwrap_or_default()
                    );
                }
                Err(Failure::Fault(fault).into())
            }
        }
    }

    /// Runs and judges on a virtual device; beside a GPU, it checks for faults only.
    pub(super) fn virtually(
        &mut self,
        attempt: &Attempt<'_>,
        scrutiny: Scrutiny,
    ) -> Result<(), Stop> {
        if self.workers.models_time() {
            return self.run_and_judge(attempt, scrutiny).map(drop);
        }
        let order = (scrutiny, CountsUse::Drop);
        self.with_prefetched_reports(&[Some(*attempt)], order, |this, ahead| {
            let Some(report) = ahead.take(0) else { return Ok(()) };
            this.accept_report(attempt, report, ObservedOn::Beside).map(drop)
        })
    }
}

/// Whether blocks of a launch may wait for each other without the guarantee of a cooperative launch.
fn may_depend(program: &Program) -> bool {
    let several = |launch: &LaunchStep| launch.grid.iter().any(|count| *count > 1);
    program.any_launch(several) && !program.is_cooperative()
}

/// ` (file:line)`, where the fault has a source line.
fn place(fault: &FaultReport) -> String {
    let source = fault.seen.as_ref().and_then(|seen| seen.place.source.as_ref());
    source.map_or_else(String::new, |(file, line, _)| format!(" ({file}:{line})"))
}

fn is_wait(fault: &FaultReport) -> bool {
    match fault.kind {
        FaultKind::Livelock
        | FaultKind::Residency
        | FaultKind::StepLimit
        | FaultKind::TimeLimit => true,
        FaultKind::OutOfBounds
        | FaultKind::Misaligned
        | FaultKind::UninitializedRead
        | FaultKind::ReadOnlyWrite
        | FaultKind::InputModified
        | FaultKind::DataRace
        | FaultKind::BarrierDivergence
        | FaultKind::BarrierPhase
        | FaultKind::WarpSync
        | FaultKind::MissingWait
        | FaultKind::Deadlock
        | FaultKind::Trap
        | FaultKind::Assertion
        | FaultKind::TensorMap
        | FaultKind::Texture => false,
    }
}
