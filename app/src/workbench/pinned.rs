//! The run that everything is held against, with all that is known of it, and what the numbers of a run are beside its own.

use std::sync::Arc;

use lightbench_core::evaluate::Run;
use lightbench_core::history::numbers::{CountedIn, RecordedCounts, RecordedNumbers};
use lightbench_core::history::record::Outcome;
use lightbench_core::history::{RunNumber, StoredRun};
use lightbench_core::speed_of_light::situation::Profile;
use lightbench_core::virtual_gpu::cost::Metric;

use super::Workbench;
use super::errand::Errand;

/// A run that everything is held against.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// Which run.
    pub number: RunNumber,
    /// What is on record, once it was read.
    pub(super) run: Option<Arc<StoredRun>>,
    /// All that was counted, where that was found out since the window opened: a record has less.
    verdict: Option<Arc<Run>>,
}

/// A number beside that of the pinned run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beside {
    /// The two are the same.
    Same,
    /// They are not.
    Differs {
        /// How much more it is, or less.
        by: f64,
        /// The pinned run's.
        other: f64,
    },
    /// Nobody knows the other.
    NotRecorded,
    /// The other is of another place.
    Elsewhere,
}

impl Beside {
    /// Of two numbers.
    #[must_use]
    pub fn of(mine: f64, other: f64) -> Self {
        if mine == other { Self::Same } else { Self::Differs { by: mine - other, other } }
    }

    /// In words, with a sign; `amount` says how much.
    #[must_use]
    pub fn words(self, amount: impl FnOnce(f64) -> String) -> String {
        match self {
            Self::Same => "same".to_owned(),
            Self::Differs { by, .. } if by < 0.0 => format!("-{}", amount(-by)),
            Self::Differs { by, .. } => format!("+{}", amount(by)),
            Self::NotRecorded => "not recorded".to_owned(),
            Self::Elsewhere => "counted elsewhere".to_owned(),
        }
    }
}

impl Workbench {
    /// Holds everything against a run, or against none again.
    pub(super) fn pin(&mut self, number: RunNumber) {
        if self.selection.pinned.take().is_some_and(|pinned| pinned.number == number) {
            return;
        }
        let known = self.evaluations.all().filter_map(|(_, known)| known.evaluated.as_ref());
        let live = known.filter(|evaluated| evaluated.number == Some(number)).last();
        let verdict = live.map(|evaluated| Arc::clone(&evaluated.run));
        self.selection.pinned = Some(Pinned { number, run: None, verdict });
        if let Some(opened) = &self.opened {
            self.hand(Errand::ReadRun(opened.project.root.clone(), number));
        }
    }

    /// The number of the pinned run, where it still exists.
    #[must_use]
    pub fn pinned(&self) -> Option<RunNumber> {
        let pinned = self.selection.pinned.as_ref()?.number;
        self.runs.get(pinned).map(|_| pinned)
    }

    /// The pinned run, where numbers of another one are shown.
    #[must_use]
    pub fn held_against(&self) -> Option<&Pinned> {
        let pinned = self.pinned()?;
        let is_shown = self.shown_run().is_some_and(|shown| shown.number == pinned);
        self.selection.pinned.as_ref().filter(|_| !is_shown)
    }

    /// What the run of the history that panels show needs and did in the workload.
    #[must_use]
    pub fn recorded_numbers(&self) -> Option<(&StoredRun, &RecordedNumbers)> {
        let run = self.selection.read.as_deref()?;
        let shown = self.shown_run()?.number;
        let workload = &self.opened.as_ref()?.workload;
        (run.number == shown).then_some(())?;
        Some((run, numbers(run, workload)?))
    }
}

/// What is on record of a run in a workload.
fn numbers<'a>(run: &'a StoredRun, workload: &str) -> Option<&'a RecordedNumbers> {
    match &run.record.outcome {
        Outcome::Passed { numbers, .. } => {
            numbers.iter().find(|(name, _)| name.as_str() == workload).map(|(_, numbers)| numbers)
        }
        Outcome::Failed { .. } => None,
    }
}

impl Pinned {
    /// What it needs and did in a workload, where that is on record.
    #[must_use]
    pub fn numbers(&self, workload: &str) -> Option<&RecordedNumbers> {
        numbers(self.run.as_deref()?, workload)
    }

    /// A counter of a run beside this one's.
    #[must_use]
    pub fn beside(&self, workload: &str, metric: &Metric, (mine, at): (f64, &CountedIn)) -> Beside {
        if let Some(own) = self.profile(workload) {
            let is_there = CountedIn::of(&own.at) == *at;
            return match (metric.value)(&own.counted.total) {
                Some(own) if is_there => Beside::of(mine, own),
                Some(_) => Beside::Elsewhere,
                None => Beside::NotRecorded,
            };
        }
        let own = self.numbers(workload).and_then(|numbers| numbers.counted.as_ref());
        match own.and_then(|own| Some((recorded(own, metric)?, &own.at))) {
            Some((own, there)) if there == at => Beside::of(mine, own),
            Some(_) => Beside::Elsewhere,
            None => Beside::NotRecorded,
        }
    }

    fn profile(&self, workload: &str) -> Option<&Profile> {
        let timings = &self.verdict.as_ref()?.verdict.as_ref().ok()?.timings;
        let timing = timings.iter().find(|timing| timing.workload == workload)?;
        timing.profile.as_ref().ok()
    }
}

/// A counter that a history keeps.
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
        let numbers = RecordedNumbers::of(None, Some(&profile));
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
            assert_eq!(Beside::of(mine, other).words(|by| by.to_string()), expected);
        };
        check(3.0, 3.0, "same");
        check(5.0, 3.0, "+2");
        check(1.0, 3.0, "-2");
        assert_eq!(Beside::NotRecorded.words(|by| by.to_string()), "not recorded");
    }
}
