//! Replays of a small workload in which strong reads return older values that the memory model permits
//! (`docs/races.md`, "Replay"): a missing fence shows as another result, a fault or a hang.

use lightbench_device::Placement;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::inputs::InputMode;

use super::{Attempt, BufferPlacement, RunReport, Scrutiny, Stop, Verification, open};
use crate::compiled_candidate::CompiledWorkload;
use crate::verdict::{Failure, Step, Wrong};

/// Replays of one verification.
const MOST_REPLAYS: u64 = 8;
/// Part of the warp instructions of all runs that replays may take: one tenth.
const PART: u64 = 10;
/// A workload of more warp instructions is not replayed.
const MOST_REPLAYED: u64 = 1 << 18;

const DETAILS: &str = "strong reads returned older values that the memory model permits, because no fence or \
                       acquire pattern orders them behind the newer writes: use `__threadfence()` between the data and the \
                       flag, or cuda::atomic with release and acquire";

impl Verification<'_> {
    /// Replays the smallest workload on which a strong read may return an older value, if any.
    pub(super) fn replays(&mut self, seen: &[RunReport]) -> Result<(), Stop> {
        let trials = self.subject.workloads.iter().zip(seen);
        let stale = trials.filter(|(_, report)| report.stale_reads > 0);
        let sized = stale.filter_map(|(trial, report)| Some((trial, report.warp_instructions?)));
        let Some((trial, each)) = sized.min_by_key(|(_, count)| *count) else { return Ok(()) };
        if each > MOST_REPLAYED {
            self.not_replayed();
            return Ok(());
        }
        let runs = self.checks.workloads.iter();
        let all = runs.map(|run| run.warp_instructions.unwrap_or(0) * run.runs as u64).sum::<u64>();
        for seed in 0..(all / PART / each.max(1)).clamp(1, MOST_REPLAYS) {
            self.timed(Step::Determinism, Some(&trial.case.workload), |this| {
                let done = this.replay(trial, seed);
                this.explained(done)
            })?;
        }
        Ok(())
    }

    /// The values that reads return on a GPU cannot be chosen: a virtual device beside it checks for faults only.
    fn replay(&mut self, trial: &CompiledWorkload, seed: u64) -> Result<(), Stop> {
        let recipe =
            self.recipe(&trial.case, InputMode::Distribution(Distribution::AsDeclared), "a");
        let memory = BufferPlacement::Fresh(Placement::Left);
        let attempt = Attempt { trial, recipe, step: Step::Determinism, memory };
        self.virtually(&attempt, Scrutiny::Replayed { seed })
    }

    /// Adds to a failure which values the reads returned. A replay that exceeds its limit is no finding.
    fn explained(&mut self, done: Result<(), Stop>) -> Result<(), Stop> {
        match done {
            Err(Stop::Failure(Failure::TimedOut { .. })) => {
                self.not_replayed();
                open(self.workers, self.subject, &self.subject.candidate, self.cancellation)
            }
            Err(Stop::Failure(Failure::Wrong(mut wrong))) => {
                if let Wrong::Seen { details, .. } = &mut *wrong {
                    details.get_or_insert_with(|| DETAILS.to_owned());
                }
                Err(Failure::Wrong(wrong).into())
            }
            Err(Stop::Failure(Failure::Fault(mut fault))) => {
                for fault in &mut fault.faults {
                    fault.details = format!("{}; {DETAILS}", fault.details);
                }
                Err(Failure::Fault(fault).into())
            }
            Ok(())
            | Err(
                Stop::Failure(_)
                | Stop::NotJudged(_)
                | Stop::ReferenceTooLarge(_)
                | Stop::WorkerEnded(_)
                | Stop::Request(_)
                | Stop::Broken(_),
            ) => done,
        }
    }

    fn not_replayed(&mut self) {
        let what = "strong reads that return older values (the workload is too large to replay)";
        self.checks.add_not_checked(what);
    }
}
