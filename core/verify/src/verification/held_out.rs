//! Held-out workloads: one bit is reported of each, and their cost is limited.

use std::time::Duration;

use lightbench_device::Placement;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::inputs::InputMode;

use super::{Attempt, Stop, Verification};
use crate::compiled_candidate::{CompiledWorkload, Extent};
use crate::device_session::{BufferPlacement, CountsUse, RunReport, Scrutiny};
use crate::device_workers::DeviceWorkerError;
use crate::not_judged::NotJudged;
use crate::reference_source::ReferenceSource;
use crate::verdict::{Failure, NotRun, SizeCheck, Step, Wrong};

/// Factor by which the cost of a held-out workload, relative to its least work, may exceed that of the slowest visible
/// workload.
const HELD_OUT_FACTOR: f64 = 16.0;

/// Shorter times by the host's clock are not compared.
const SHORTEST: Duration = Duration::from_millis(2);

impl Verification<'_> {
    /// Held-out workloads, each one bit. None starts before all other workloads are timed, because their run times must
    /// not be reported.
    pub(super) fn all_held_out(&mut self, slowest: Cost) -> Result<(), Stop> {
        let memory = BufferPlacement::Fresh(Placement::Right);
        let attempts = self.subject.held_out.iter().map(|trial| {
            let trial = trial.as_ref()?;
            let declared = InputMode::Distribution(Distribution::AsDeclared);
            let recipe = self.recipe(&trial.case, declared, "h");
            Some(Attempt { trial, recipe, step: Step::HeldOut, memory })
        });
        let attempts: Vec<Option<Attempt<'_>>> = attempts.collect();
        self.with_prefetched_reports(
            &attempts,
            (Scrutiny::Memory, CountsUse::Drop),
            |this, ahead| {
                this.in_sequence(|this| {
                    let mut each = attempts.iter().enumerate();
                    each.try_for_each(|(index, attempt)| {
                        this.held_out(attempt.as_ref(), || ahead.take(index), slowest)
                    })
                })
            },
        )
    }

    /// Reports one bit: neither the kind of failure, nor the error or the time of a correct run.
    fn held_out(
        &mut self,
        attempt: Option<&Attempt<'_>>,
        beside: impl FnOnce() -> Option<Result<RunReport, DeviceWorkerError>>,
        slowest: Cost,
    ) -> Result<(), Stop> {
        let told = (self.checks.worst_error, self.checks.accepted_races);
        let notes = self.checks.notes.len();
        let found = self.timed(Step::HeldOut, None, |this| {
            let Some(attempt) = attempt else {
                return Err(Failure::Wrong(Box::new(Wrong::HeldOut)).into());
            };
            if this.workers.models_time() && attempt.trial.extent == Extent::Large {
                return this.sample_held_out(attempt.trial);
            }
            let beside = this.accept_checker_report(attempt, beside)?;
            let mut report = this.run_and_judge(attempt, Scrutiny::Memory)?;
            let counted = beside.and_then(|beside| beside.warp_instructions);
            report.warp_instructions = report.warp_instructions.or(counted);
            if Cost::from_report(attempt.trial, &report).is_beyond(slowest) {
                return Err(Failure::Wrong(Box::new(Wrong::HeldOut)).into());
            }
            Ok(SizeCheck::Whole)
        });
        (self.checks.worst_error, self.checks.accepted_races) = told;
        self.checks.notes.truncate(notes);
        match found {
            Ok(SizeCheck::Whole | SizeCheck::Sampled { .. }) => {
                self.checks.held_out += 1;
                Ok(())
            }
            // The reason could describe the workload.
            Ok(SizeCheck::NotChecked(_)) => {
                let reason = "too large for a virtual device".to_owned();
                self.checks.not_run.push(NotRun { workload: None, reason });
                Ok(())
            }
            Err(Stop::NotJudged(reason)) => Err(anonymous(reason).into()),
            Err(Stop::ReferenceTooLarge(_)) => {
                let reason = "reference.py does not compute it within its limits".to_owned();
                self.checks.not_run.push(NotRun { workload: None, reason });
                Ok(())
            }
            Err(Stop::WorkerEnded(loss)) => Err(Stop::WorkerEnded(loss)),
            Err(Stop::Failure(_)) => Err(Failure::Wrong(Box::new(Wrong::HeldOut)).into()),
            // The message of a broken reference could describe the workload: it is withheld.
            Err(Stop::Broken(_) | Stop::Request(_)) => {
                Err(Stop::Broken("a held-out workload could not be judged".to_owned()))
            }
        }
    }

    /// Sampled blocks of a workload that is too large for a virtual device.
    fn sample_held_out(&mut self, trial: &CompiledWorkload) -> Result<SizeCheck, Stop> {
        if let Some(reason) = self.foreseen_delay(trial) {
            return Ok(SizeCheck::NotChecked(reason));
        }
        match trial.reference {
            ReferenceSource::Program(_) => self.check_sampled_blocks(trial),
            ReferenceSource::Python(_) => {
                let ran = self.run_sampled_blocks(trial)?;
                let not_judged = || "reference.py computes whole tensors only".to_owned();
                Ok(SizeCheck::NotChecked(ran.err().unwrap_or_else(not_judged)))
            }
        }
    }
}

/// A reason without the texts that could describe a held-out workload.
fn anonymous(reason: NotJudged) -> NotJudged {
    let nothing_more = || "in a held-out workload (no details are reported)".to_owned();
    match reason {
        NotJudged::DeviceLost { step, reason: _ } => {
            NotJudged::DeviceLost { step, reason: nothing_more() }
        }
        NotJudged::NotSupported { reason: _ } => NotJudged::NotSupported { reason: nothing_more() },
        reason @ (NotJudged::CrashesWorker { .. } | NotJudged::Cancelled) => reason,
    }
}

/// The cost of a run relative to the least work of any correct kernel: in warp instructions where a virtual device
/// counts them, otherwise in seconds if the time is long enough.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    instructions: Option<f64>,
    seconds: Option<f64>,
}

impl Cost {
    pub(super) fn from_report(trial: &CompiledWorkload, report: &RunReport) -> Self {
        let work = trial.work.max(1.0);
        let seconds = (report.elapsed >= SHORTEST).then(|| report.elapsed.as_secs_f64() / work);
        match report.warp_instructions {
            Some(instructions) => {
                Self { instructions: Some(instructions as f64 / work), seconds: None }
            }
            None => Self { instructions: None, seconds },
        }
    }

    pub(super) fn worse(self, other: Self) -> Self {
        let worse = |left: Option<f64>, right: Option<f64>| match (left, right) {
            (Some(left), Some(right)) => Some(left.max(right)),
            (left, right) => left.or(right),
        };
        Self {
            instructions: worse(self.instructions, other.instructions),
            seconds: worse(self.seconds, other.seconds),
        }
    }

    /// Instructions are compared with instructions, and seconds with seconds, where both are known.
    fn is_beyond(self, slowest: Self) -> bool {
        let beyond = |own: Option<f64>, most: Option<f64>| {
            own.zip(most).is_some_and(|(own, most)| own > most * HELD_OUT_FACTOR)
        };
        beyond(self.instructions, slowest.instructions) || beyond(self.seconds, slowest.seconds)
    }
}
