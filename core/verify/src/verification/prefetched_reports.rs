//! Checks that virtual devices beside a GPU run on several workloads at a time, before the GPU reaches them.

use lightbench_device::Placement;
use lightbench_project::manifest::Distribution;
use lightbench_tensors::inputs::InputMode;

use super::other_inputs::OTHERS;
use super::{Attempt, Stop, Verification};
use crate::checkers::{Reports, report_channels};
use crate::compiled_candidate::{CompiledWorkload, Extent};
use crate::device_session::{BufferPlacement, CountsUse, RunReport, Scrutiny};
use crate::device_workers::DeviceWorkerError;
use crate::verdict::Step;

/// Reports that arrive while the GPU runs, by the index of the attempt.
pub(super) struct PrefetchedReports {
    reports: Reports,
    /// The index of each attempt's request; none where no virtual device runs the attempt.
    orders: Vec<Option<usize>>,
}

impl PrefetchedReports {
    /// Waits for the report of an attempt; none where no virtual device runs it.
    pub(super) fn take(&self, attempt: usize) -> Option<Result<RunReport, DeviceWorkerError>> {
        let order = self.orders.get(attempt).copied().flatten()?;
        Some(self.reports.take(order))
    }
}

impl<'a> Verification<'a> {
    /// What virtual devices beside a GPU check besides the declared inputs, because a race may occur on some inputs
    /// only: a workload of middle size, on inputs of a distribution that the seed chooses.
    pub(super) fn additional_attempt(&self) -> Option<Attempt<'a>> {
        let trials = self.subject.workloads.iter().filter(|trial| trial.extent == Extent::Small);
        let mut trials: Vec<&'a CompiledWorkload> = trials.collect();
        trials.sort_by_key(|trial| trial.bytes());
        let trial = *trials.get(trials.len() / 2)?;
        let allows = |other: &&Distribution| {
            trial.case.tensors.iter().any(|tensor| tensor.distributions.contains(other))
        };
        let others: Vec<Distribution> = OTHERS.iter().filter(allows).copied().collect();
        let chosen = others.get((self.seed % others.len().max(1) as u64) as usize);
        let (distribution, which) = chosen.map_or((Distribution::AsDeclared, "b"), |it| (*it, "d"));
        let recipe = self.recipe(&trial.case, InputMode::Distribution(distribution), which);
        let memory = BufferPlacement::Fresh(Placement::Right);
        Some(Attempt { trial, recipe, step: Step::Distributions, memory })
    }
}

impl Verification<'_> {
    /// Runs these attempts on the virtual devices beside a GPU, if it has any, while `meanwhile` runs.
    pub(super) fn with_prefetched_reports<T>(
        &mut self,
        attempts: &[Option<Attempt<'_>>],
        (scrutiny, counts): (Scrutiny, CountsUse),
        meanwhile: impl FnOnce(&mut Self, &PrefetchedReports) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (mut orders, mut places) = (Vec::new(), Vec::new());
        for attempt in attempts {
            let is_small = |attempt: &&Attempt<'_>| attempt.trial.extent == Extent::Small;
            let looks = attempt.as_ref().filter(is_small).filter(|_| self.workers.has_checker());
            places.push(looks.map(|_| orders.len()));
            orders.extend(
                looks.map(|attempt| {
                    (attempt.run_request(scrutiny, counts), self.limit(attempt.trial))
                }),
            );
        }
        let (senders, reports) = report_channels(orders.len());
        let ahead = PrefetchedReports { reports, orders: places };
        let lent = if orders.is_empty() { None } else { self.workers.take_checkers() };
        let Some(mut checkers) = lent else { return meanwhile(self, &ahead) };
        let token = self.cancellation.child();
        let done = checkers.run_concurrently((&orders, &token, senders), || {
            // The candidate has failed: the remaining checks are cancelled.
            meanwhile(self, &ahead).inspect_err(|_| token.cancel())
        });
        self.workers.return_checkers(checkers);
        done.map_err(|error| Stop::Broken(format!("cannot start a thread: {error}")))?
    }
}
