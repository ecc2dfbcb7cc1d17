//! The runs that a new run is compared with: the previous run of the kernel and the best run, for each workload.

use std::collections::BTreeMap;

use lightbench_speed_of_light::time_comparison::{
    Incomparable, Interval, TimeComparison, comparison_range, widened_for_events,
};
use lightbench_units::Seconds;
use lightbench_verify::verdict::Passed;

use super::error::HistoryError;
use super::record::{RunRecord, WorkloadName};
use super::store::{Provenance, RunNumber, Store, StoredRun};
use super::timing::{Clock, Mode, RecordedTiming, Spread};

/// The runs that a run is compared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonRuns {
    /// The latest run of the same kernel on the same device that passed, with another candidate.
    pub previous: Option<StoredRun>,
    /// The fastest run of any kernel that can be compared.
    pub best: Option<StoredRun>,
}

impl Store {
    /// The runs that a run is compared with: earlier ones than the run of this number; all runs if it is not stored yet.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn comparison_runs(
        &self,
        now: &RunRecord,
        number: Option<RunNumber>,
    ) -> Result<ComparisonRuns, HistoryError> {
        let best = now.score().map(|score| self.best(&score.basis)).transpose()?;
        let best = best.flatten().filter(|best| Some(best.number) != number);
        Ok(ComparisonRuns { previous: self.previous_passed(now, number)?, best })
    }
}

/// The time of a workload compared with the previous and the best run, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkloadComparison {
    /// With the previous run.
    pub previous: Option<(RunNumber, TimeComparison)>,
    /// With the best run.
    pub best: Option<(RunNumber, TimeComparison)>,
}

impl ComparisonRuns {
    /// The comparison of each timed workload.
    #[must_use]
    pub fn by_workload(&self, now: &RunRecord) -> BTreeMap<String, WorkloadComparison> {
        let compared = |name: &WorkloadName| {
            let against = |other: &Option<StoredRun>| {
                let other = other.as_ref()?;
                Some((other.number, compare_times(now, other, name)?))
            };
            WorkloadComparison { previous: against(&self.previous), best: against(&self.best) }
        };
        let names = now.timings().iter().map(|timing| &timing.workload);
        names.map(|name| (name.to_string(), compared(name))).collect()
    }

    /// Updates the sentence of every workload with the comparisons.
    pub fn update_sentences(&self, now: &RunRecord, passed: &mut Passed) {
        let all = self.by_workload(now);
        for timed in &mut passed.timings {
            if let Some(WorkloadComparison { previous, best }) = all.get(&timed.workload) {
                timed.update_line(previous.map(|(_, than)| than), best.map(|(_, than)| than));
            }
        }
    }
}

/// The range of a time for comparisons with other runs; `None` if its interval is unknown.
#[must_use]
pub fn recorded_range(timing: &RecordedTiming) -> Option<(Seconds, Seconds)> {
    match &timing.clock {
        Clock::Modelled => timing
            .spread
            .map(|Spread { interval: (low, high), .. }| (low.seconds(), high.seconds())),
        Clock::Measured { .. } | Clock::Unstated => interval(timing).map(comparison_range),
    }
}

/// Compares the cold time of a run on a workload with that of an earlier run; `None` if this run has no cold time.
#[must_use]
pub fn compare_times(
    now: &RunRecord,
    before: &StoredRun,
    workload: &WorkloadName,
) -> Option<TimeComparison> {
    let mine = cold(now, workload)?;
    Some(match comparable_timing(now, mine, before, workload) {
        Err(unlike) => TimeComparison::NotComparable(unlike),
        Ok(other) => match &mine.clock {
            Clock::Modelled => {
                TimeComparison::Modelled { ratio: mine.median.seconds() / other.median.seconds() }
            }
            Clock::Measured { .. } | Clock::Unstated => match (interval(mine), interval(other)) {
                (Some(mine), Some(other)) => TimeComparison::from_separate_runs(mine, other),
                (_, _) => TimeComparison::NotComparable(Incomparable::NoInterval),
            },
        },
    })
}

/// The other run's time, if the two are comparable.
fn comparable_timing<'a>(
    now: &RunRecord,
    mine: &RecordedTiming,
    before: &'a StoredRun,
    workload: &WorkloadName,
) -> Result<&'a RecordedTiming, Incomparable> {
    let record = &before.record;
    if before.provenance == Provenance::Recorded {
        return Err(Incomparable::Recorded);
    }
    let is_known = now.definition.is_some();
    if !is_known || (&now.project, &now.definition) != (&record.project, &record.definition) {
        return Err(Incomparable::Definition);
    }
    let is_same_device = match (&now.device.uuid, &record.device.uuid) {
        (Some(mine), Some(other)) => mine == other,
        (None, None) => now.device == record.device,
        (Some(_), None) | (None, Some(_)) => false,
    };
    if !is_same_device {
        return Err(Incomparable::Device);
    }
    let other = cold(record, workload).ok_or(Incomparable::NoTime)?;
    if mine.clock != other.clock || mine.clock == Clock::Unstated {
        return Err(Incomparable::Clock);
    }
    if !mine.taint.is_empty() || !other.taint.is_empty() {
        return Err(Incomparable::Tainted);
    }
    Ok(other)
}

fn cold<'a>(run: &'a RunRecord, workload: &WorkloadName) -> Option<&'a RecordedTiming> {
    let mut timings = run.timings().iter();
    timings.find(|timing| timing.mode == Mode::Cold && timing.workload == *workload)
}

fn interval(timing: &RecordedTiming) -> Option<Interval> {
    let (low, high) = timing.spread?.interval;
    let interval = (timing.median.seconds(), (low.seconds(), high.seconds()));
    Some(if timing.clock.is_events() { widened_for_events(interval) } else { interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{duration, failed, machine, opened, passed};
    use crate::record::{Outcome, Scope};

    fn run(seconds: f64) -> RunRecord {
        passed("naive", "a", Some(seconds)).0
    }

    fn stored(record: RunRecord) -> StoredRun {
        StoredRun { number: RunNumber(1), provenance: Provenance::Own, label: None, record }
    }

    fn timing(run: &mut RunRecord) -> &mut RecordedTiming {
        match &mut run.outcome {
            Outcome::Passed { timings, .. } => &mut timings[0],
            Outcome::Failed { .. } => panic!("it passed"),
        }
    }

    fn words(now: &RunRecord, before: &StoredRun) -> String {
        let workload = now.timings()[0].workload.clone();
        compare_times(now, before, &workload).unwrap().words("it")
    }

    #[test]
    fn what_events_say_moves_from_process_to_process() {
        let by = |method: &str, seconds| {
            let mut run = run(seconds);
            timing(&mut run).clock = Clock::Measured { method: method.to_owned() };
            run
        };
        let check = |method, now, before, expected: &str| {
            assert_eq!(words(&by(method, now), &stored(by(method, before))), expected);
        };
        // One kernel, two processes.
        check("events", 2.77e-6, 2.22e-6, "no measurable difference from it");
        check("events", 6.66e-6, 2.22e-6, "3.0 times as slow as it");
        check("cupti", 2.77e-6, 2.22e-6, "24.8 % slower than it");
        check(
            "events, clock locked at 1.41 GHz",
            2.77e-6,
            2.22e-6,
            "no measurable difference from it",
        );
        check("events", 1.1e-4, 1e-4, "10.0 % slower than it");
    }

    #[test]
    fn runs_of_one_kind_are_compared() {
        let check = |now: f64, before: f64, expected: &str| {
            assert_eq!(words(&run(now), &stored(run(before))), expected);
        };
        check(0.9e-5, 1e-5, "10.0 % faster than it");
        check(1.1e-5, 1e-5, "10.0 % slower than it");
        // Both intervals extend 1 % to each side.
        check(0.985e-5, 1e-5, "no measurable difference from it");
    }

    #[test]
    fn what_is_not_of_one_kind_is_not_comparable() {
        let check = |change: &dyn Fn(&mut RunRecord), expected: Incomparable| {
            let mut before = run(2e-5);
            change(&mut before);
            let found = words(&run(1e-5), &stored(before));
            assert_eq!(found, format!("not comparable with it ({expected})"));
        };
        check(&|run| run.definition = Some("e".repeat(64)), Incomparable::Definition);
        check(&|run| run.definition = None, Incomparable::Definition);
        check(&|run| run.project = "softmax".to_owned(), Incomparable::Definition);
        check(&|run| run.device.uuid = Some("ab".repeat(16)), Incomparable::Device);
        check(&|run| run.device.name = "virtual:t4".to_owned(), Incomparable::Device);
        check(&|run| timing(run).clock = Clock::Modelled, Incomparable::Clock);
        check(&|run| timing(run).mode = Mode::Warm, Incomparable::NoTime);
        check(&|run| timing(run).taint.push("it was hot".to_owned()), Incomparable::Tainted);
        check(&|run| timing(run).spread = None, Incomparable::NoInterval);
        check(&|run| run.outcome = failed("naive", "a").0.outcome, Incomparable::NoTime);
        let recorded = StoredRun { provenance: Provenance::Recorded, ..stored(run(2e-5)) };
        let elsewhere = TimeComparison::NotComparable(Incomparable::Recorded).words("it");
        assert_eq!(words(&run(1e-5), &recorded), elsewhere);
    }

    #[test]
    fn one_gpu_is_known_by_its_identity_whatever_it_is_called() {
        let on = |name: &str, uuid: &str| {
            let mut run = run(1e-5);
            run.device.name = name.to_owned();
            run.device.uuid = Some(uuid.repeat(16));
            run
        };
        let (here, there) = (on("cuda:0", "ab"), stored(on("cuda:1", "ab")));
        assert_eq!(words(&here, &there), "no measurable difference from it");
        let other = stored(on("cuda:0", "cd"));
        assert_eq!(words(&here, &other), "not comparable with it (on another device)");
    }

    #[test]
    fn two_models_tell_numbers_only() {
        let modelled = |seconds: f64| {
            let mut run = run(seconds);
            timing(&mut run).clock = Clock::Modelled;
            run
        };
        let found = words(&modelled(1e-5), &stored(modelled(4e-5)));
        assert_eq!(found, "modelled at 25.0 % of the time of it");
    }

    #[test]
    fn a_run_is_held_against_the_previous_candidate_and_the_best_of_all() {
        let root = tempfile::tempdir().unwrap();
        let (_state, machine) = machine();
        let (mut store, _) = opened(root.path(), &machine);
        let mut append = |kernel: &str, candidate: &str, seconds: f64| {
            let (record, texts) = passed(kernel, candidate, Some(seconds));
            store.append(&record, &texts).unwrap();
        };
        append("vector", "v", 0.5e-5);
        append("naive", "a", 3e-5);
        append("naive", "b", 2e-5);
        let mut now = passed("naive", "b", Some(1e-5)).0;
        let before = store.comparison_runs(&now, None).unwrap();
        let candidate = |run: &Option<StoredRun>| run.as_ref().unwrap().record.candidate.clone();
        assert_eq!(candidate(&before.previous).as_deref(), Some("a"));
        assert_eq!(candidate(&before.best).as_deref(), Some("v"));
        assert_eq!(words(&now, &before.previous.unwrap()), "3.0 times as fast as it");
        assert_eq!(words(&now, &before.best.unwrap()), "2.0 times as slow as it");
        // Other devices have no runs yet.
        now.device.uuid = Some("ab".repeat(16));
        assert_eq!(store.comparison_runs(&now, None).unwrap().best, None);
        now.scope = Scope::OneWorkload;
        timing(&mut now).median = duration(1e-5);
        assert!(store.comparison_runs(&now, None).unwrap().previous.is_some());
    }
}
