//! The runs that others are compared with, and the parents of candidates.

use crate::fixture::{failed, machine, opened, passed};
use crate::record::{CorrectnessSource, Outcome, ReportedCorrectness, RunRecord, Scope};
use crate::timing::{Clock, Mode};
use crate::{HistoryError, RunNumber, Store};

fn append(store: &mut Store, (record, texts): (RunRecord, crate::text::Texts)) -> RunNumber {
    store.append(&record, &texts).unwrap()
}

/// A run with the same time, but not quite.
fn changed(
    candidate: &str,
    seconds: f64,
    change: impl Fn(&mut RunRecord),
) -> (RunRecord, crate::text::Texts) {
    let (mut record, texts) = passed("naive", candidate, Some(seconds));
    change(&mut record);
    (record, texts)
}

fn timing(record: &mut RunRecord, change: impl Fn(&mut crate::timing::RecordedTiming)) {
    match &mut record.outcome {
        Outcome::Passed { timings, .. } => change(&mut timings[0]),
        Outcome::Failed { .. } => panic!("it has no times"),
    }
}

#[test]
fn the_best_is_the_fastest_that_can_be_compared_and_was_verified_here() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    let basis = passed("naive", "a", Some(1.0)).0.score().unwrap().basis;
    assert_eq!(store.best(&basis).unwrap(), None);
    append(&mut store, passed("naive", "slow", Some(3e-5)));
    let expected = append(&mut store, passed("vector", "fast", Some(2e-5)));
    append(&mut store, passed("vector", "as fast, later", Some(2e-5)));
    append(&mut store, failed("vector", "wrong"));
    append(&mut store, changed("one workload", 1e-6, |run| run.scope = Scope::OneWorkload));
    append(&mut store, changed("other task", 1e-6, |run| run.definition = Some("e".repeat(64))));
    append(&mut store, changed("other device", 1e-6, |run| run.device.title = "H100".to_owned()));
    append(
        &mut store,
        changed("other clock", 1e-6, |run| timing(run, |it| it.clock = Clock::Modelled)),
    );
    append(
        &mut store,
        changed("hot", 1e-6, |run| timing(run, |it| it.taint.push("hot".to_owned()))),
    );
    append(&mut store, changed("warm", 1e-6, |run| timing(run, |it| it.mode = Mode::Warm)));
    append(
        &mut store,
        changed("reported", 1e-6, |run| {
            let Outcome::Passed { by, .. } = &mut run.outcome else { panic!("it passed") };
            let none = ReportedCorrectness { max_relative_error: None, max_absolute_error: None };
            *by = CorrectnessSource::Report(none);
        }),
    );
    let (imported, texts) = passed("naive", "imported", Some(1e-6));
    store.import(&[imported], &texts).unwrap();
    assert_eq!(store.best(&basis).unwrap().map(|run| run.number), Some(expected));
}

#[test]
fn times_of_several_workloads_are_one_number_only_if_they_are_alike() {
    let check = |change: &dyn Fn(&mut Vec<crate::timing::RecordedTiming>),
                 expected: Option<f64>| {
        let (mut record, _) = passed("naive", "a", Some(4e-6));
        let Outcome::Passed { timings, .. } = &mut record.outcome else { panic!("it passed") };
        change(timings);
        let found = record.score().map(|score| score.seconds.0);
        match (found, expected) {
            (Some(found), Some(expected)) => {
                assert!((found / expected - 1.0).abs() < 1e-12, "{found}");
            }
            (found, expected) => assert_eq!(found, expected),
        }
    };
    let other = |seconds: f64, clock: Clock, timings: &mut Vec<crate::timing::RecordedTiming>| {
        let mut timing = timings[0].clone();
        timing.workload = crate::record::WorkloadName::from_import("large".to_owned());
        timing.median = crate::fixture::duration(seconds);
        timing.clock = clock;
        timings.push(timing);
    };
    let cupti = || Clock::Measured { method: "cupti".to_owned() };
    check(&|_| {}, Some(4e-6));
    check(&|timings| other(9e-6, cupti(), timings), Some(6e-6));
    check(&|timings| other(9e-6, Clock::Modelled, timings), None);
    check(&|timings| timings.push(timings[0].clone()), None);
    check(&|timings| timings[0].mode = Mode::Warm, None);
    check(&Vec::clear, None);
}

#[test]
fn the_previous_run_is_the_newest_of_another_candidate() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    let first = append(&mut store, failed("naive", "a"));
    let second = append(&mut store, failed("naive", "b"));
    append(&mut store, failed("vector", "c"));
    let (imported, texts) = failed("naive", "d");
    store.import(&[imported], &texts).unwrap();
    let check = |kernel: &str, candidate: Option<&str>, expected: Option<RunNumber>| {
        let found = store.previous(kernel, candidate).unwrap().map(|run| run.number);
        assert_eq!(found, expected, "{kernel} {candidate:?}");
    };
    check("naive", Some("b"), Some(first));
    check("naive", Some("new"), Some(second));
    check("naive", None, Some(second));
    check("vector", Some("c"), None);
    check("other", None, None);
}

#[test]
fn only_what_passed_here_is_a_baseline_and_the_last_choice_counts() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    let (record, texts) = passed("naive", "a", Some(1e-5));
    let first = store.append(&record, &texts).unwrap();
    let second = append(&mut store, passed("naive", "b", None));
    let wrong = append(&mut store, failed("naive", "c"));
    let (imported, texts) = passed("naive", "d", Some(1e-6));
    store.import(&[imported], &texts).unwrap();
    assert_eq!(store.baseline(&record).unwrap(), None);
    store.choose_baseline(first).unwrap();
    store.choose_baseline(second).unwrap();
    assert_eq!(store.baseline(&record).unwrap().map(|run| run.number), Some(second));
    store.choose_baseline(first).unwrap();
    assert_eq!(store.baseline(&record).unwrap().map(|run| run.number), Some(first));
    let (other, _) = changed("a", 1e-5, |run| run.definition = Some("e".repeat(64)));
    assert_eq!(store.baseline(&other).unwrap(), None, "another task has another baseline");
    let refuse = |store: &mut Store, number| store.choose_baseline(number).unwrap_err();
    assert!(matches!(refuse(&mut store, wrong), HistoryError::NotPassed(_)));
    assert!(matches!(refuse(&mut store, RunNumber(4)), HistoryError::OnlyRecorded(_)));
    assert!(matches!(refuse(&mut store, RunNumber(5)), HistoryError::NoSuchRun(_)));
}

#[test]
fn a_lineage_is_followed_both_ways_and_ends_in_a_circle() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    for (candidate, parent) in [
        ("a", None),
        ("b", Some("a")),
        ("c", Some("a")),
        ("d", Some("c")),
        ("b", Some("a")),
        ("x", Some("y")),
        ("y", Some("x")),
    ] {
        let parent = parent.map(str::to_owned);
        append(&mut store, changed(candidate, 1e-5, |run| run.parent.clone_from(&parent)));
    }
    assert_eq!(store.children("a").unwrap(), ["b", "c"]);
    assert_eq!(store.children("d").unwrap(), Vec::<String>::new());
    assert_eq!(store.ancestors("d").unwrap(), ["c", "a"]);
    assert_eq!(store.ancestors("x").unwrap(), ["y"]);
    assert_eq!(store.ancestors("nobody").unwrap(), Vec::<String>::new());
}
