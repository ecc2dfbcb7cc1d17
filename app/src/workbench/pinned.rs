//! The pinned run: the base of comparison for all numbers.

use std::sync::Arc;

use lightbench_core::evaluate::Run;
use lightbench_core::history::numbers::{CountedLocation, RecordedCounts, RecordedNumbers};
use lightbench_core::history::record::Outcome;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::speed_of_light::performance_data::Profile;
use lightbench_core::virtual_gpu::cost::Metric;

use super::Workbench;
use super::background_task::BackgroundTask;

/// The pinned run.
#[derive(Clone, Debug)]
pub struct Pinned {
    pub number: RunNumber,
    /// The stored run, once it is read.
    pub(super) run: Option<Arc<StoredRun>>,
    /// The full verdict, if this window evaluated it: a record holds fewer counters.
    verdict: Option<Arc<Run>>,
}

/// Difference of a number to that of the pinned run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PinnedDifference {
    Same,
    Differs {
        /// Shown number minus pinned number.
        by: f64,
        /// The pinned run's number.
        other: f64,
    },
    /// The pinned run has no such number.
    NotRecorded,
    /// The pinned number belongs to another workload or device.
    OtherContext,
}

impl PinnedDifference {
    /// The difference between two numbers.
    #[must_use]
    pub fn between(mine: f64, other: f64) -> Self {
        if mine == other { Self::Same } else { Self::Differs { by: mine - other, other } }
    }

    /// The difference as text with a sign; `amount` formats its magnitude.
    #[must_use]
    pub fn to_text(self, amount: impl FnOnce(f64) -> String) -> String {
        match self {
            Self::Same => "same".to_owned(),
            Self::Differs { by, .. } if by < 0.0 => format!("-{}", amount(-by)),
            Self::Differs { by, .. } => format!("+{}", amount(by)),
            Self::NotRecorded => "not recorded".to_owned(),
            Self::OtherContext => "counted elsewhere".to_owned(),
        }
    }
}

impl Workbench {
    /// Pins a run, or unpins it.
    pub(super) fn pin(&mut self, number: RunNumber) {
        if self.selection.pinned.take().is_some_and(|pinned| pinned.number == number) {
            return;
        }
        let known = self.evaluations.all().filter_map(|(_, known)| known.evaluated.as_ref());
        let live = known.filter(|evaluated| evaluated.number == Some(number)).last();
        let verdict = live.map(|evaluated| Arc::clone(&evaluated.run));
        self.selection.pinned = Some(Pinned { number, run: None, verdict });
        if let Some(opened) = &self.opened {
            self.submit(BackgroundTask::ReadRun(opened.project.root.clone(), number));
        }
    }

    /// The number of the pinned run, if the run still exists.
    #[must_use]
    pub fn pinned(&self) -> Option<RunNumber> {
        let pinned = self.selection.pinned.as_ref()?.number;
        self.runs.get(pinned).map(|_| pinned)
    }

    /// The pinned run, if another run is shown.
    #[must_use]
    pub fn comparison_base(&self) -> Option<&Pinned> {
        let pinned = self.pinned()?;
        let is_shown = self.shown_run().is_some_and(|shown| shown.number == pinned);
        self.selection.pinned.as_ref().filter(|_| !is_shown)
    }

    /// Recorded numbers of the shown run for the workload.
    #[must_use]
    pub fn recorded_numbers(&self) -> Option<(&StoredRun, &RecordedNumbers)> {
        let run = self.selection.read.as_deref()?;
        let shown = self.shown_run()?.number;
        let workload = &self.opened.as_ref()?.workload;
        (run.number == shown).then_some(())?;
        Some((run, numbers(run, workload)?))
    }
}

/// Recorded numbers of a run for a workload.
fn numbers<'a>(run: &'a StoredRun, workload: &str) -> Option<&'a RecordedNumbers> {
    match &run.record.outcome {
        Outcome::Passed { numbers, .. } => {
            numbers.iter().find(|(name, _)| name.as_str() == workload).map(|(_, numbers)| numbers)
        }
        Outcome::Failed { .. } => None,
    }
}

impl Pinned {
    /// Recorded numbers for a workload.
    #[must_use]
    pub fn numbers(&self, workload: &str) -> Option<&RecordedNumbers> {
        numbers(self.run.as_deref()?, workload)
    }

    /// The difference of a counter to the shown run's value.
    #[must_use]
    pub fn beside(
        &self,
        workload: &str,
        metric: &Metric,
        (mine, at): (f64, &CountedLocation),
    ) -> PinnedDifference {
        if let Some(own) = self.profile(workload) {
            let is_there = CountedLocation::from_source(&own.at) == *at;
            return match (metric.value)(&own.counted.total) {
                Some(own) if is_there => PinnedDifference::between(mine, own),
                Some(_) => PinnedDifference::OtherContext,
                None => PinnedDifference::NotRecorded,
            };
        }
        let own = self.numbers(workload).and_then(|numbers| numbers.counted.as_ref());
        match own.and_then(|own| Some((recorded(own, metric)?, &own.at))) {
            Some((own, there)) if there == at => PinnedDifference::between(mine, own),
            Some(_) => PinnedDifference::OtherContext,
            None => PinnedDifference::NotRecorded,
        }
    }

    fn profile(&self, workload: &str) -> Option<&Profile> {
        let timings = &self.verdict.as_ref()?.verdict.as_ref().ok()?.timings;
        let timing = timings.iter().find(|timing| timing.workload == workload)?;
        timing.profile.as_ref().ok()
    }
}

/// A counter that the history stores.
#[must_use]
pub fn recorded(counts: &RecordedCounts, metric: &Metric) -> Option<f64> {
    match metric.name {
        "warp_instructions" => Some(counts.warp_instructions as f64),
        "active_lanes" => counts.active_lanes,
        "shared_bank_conflicts" => Some(counts.bank_conflicts as f64),
        "divergent_branches" => Some(counts.divergent_branches as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lightbench_core::virtual_gpu::cost::{Counts, metrics};

    use super::*;

    #[test]
    fn what_a_history_keeps_is_what_a_metric_says() {
        let total = Counts {
            warp_instructions: 10,
            thread_instructions: 160,
            shared_bank_conflicts: 3,
            divergent_branches: 2,
            ..Counts::default()
        };
        let mut profile = Profile::default();
        profile.counted.total = total;
        let numbers = RecordedNumbers::from_launch(None, Some(&profile));
        let kept = numbers.counted.unwrap();
        let known: Vec<&str> = metrics()
            .filter_map(|metric| {
                let value = recorded(&kept, metric)?;
                assert_eq!(Some(value), (metric.value)(&total), "{}", metric.name);
                Some(metric.name)
            })
            .collect();
        assert_eq!(known.len(), 4, "{known:?}");
    }

    #[test]
    fn a_difference_has_a_sign() {
        let check = |mine: f64, other: f64, expected: &str| {
            assert_eq!(
                PinnedDifference::between(mine, other).to_text(|by| by.to_string()),
                expected
            );
        };
        check(3.0, 3.0, "same");
        check(5.0, 3.0, "+2");
        check(1.0, 3.0, "-2");
        assert_eq!(PinnedDifference::NotRecorded.to_text(|by| by.to_string()), "not recorded");
    }
}
