//! The pinned run: the base of comparison for all numbers.

use lightbench_core::history::numbers::{CountedLocation, RecordedNumbers};
use lightbench_core::history::record::Outcome;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::speed_of_light::performance_data::CounterLocation;
use lightbench_core::virtual_gpu::cost::Metric;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::run_details::{ReadRun, RunDetails};

/// The pinned run.
#[derive(Clone, Debug)]
pub struct Pinned {
    pub number: RunNumber,
    /// The stored run, once it is read.
    pub(super) read: Option<ReadRun>,
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
        self.selection.pinned = Some(Pinned { number, read: None });
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
        let run = &*self.shown_record()?.run;
        Some((run, numbers(run, &self.opened.as_ref()?.workload)?))
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
    /// The evidence and samples, once they are read.
    #[must_use]
    pub fn details(&self) -> Option<&RunDetails> {
        self.read.as_ref()?.details.as_deref()
    }

    /// Recorded numbers for a workload.
    #[must_use]
    pub fn numbers(&self, workload: &str) -> Option<&RecordedNumbers> {
        numbers(&self.read.as_ref()?.run, workload)
    }

    /// The difference of a counter to the shown run's value.
    #[must_use]
    pub fn beside(
        &self,
        workload: &str,
        metric: &Metric,
        (mine, at): (f64, &CounterLocation),
    ) -> PinnedDifference {
        let counters = self.details().and_then(|details| details.evidence.counters.get(workload));
        let Some(Ok(own)) = counters else { return PinnedDifference::NotRecorded };
        let is_same_place =
            CountedLocation::from_source(&own.at) == CountedLocation::from_source(at);
        match (metric.value)(&own.counted.total) {
            Some(value) if is_same_place => PinnedDifference::between(mine, value),
            Some(_) => PinnedDifference::OtherContext,
            None => PinnedDifference::NotRecorded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
