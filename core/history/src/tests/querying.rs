//! The newest runs, filtered and sorted.

use crate::fixture::{failed, machine, opened, passed};
use crate::label::Label;
use crate::query::{Filter, Order};
use crate::{HistoryError, RunNumber};

#[test]
fn the_newest_that_a_filter_lets_through_come_in_the_order_asked_for() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    for (kernel, candidate, seconds) in
        [("b", "1", Some(3e-5)), ("a", "2", None), ("b", "3", Some(1e-5)), ("a", "4", Some(2e-5))]
    {
        let (record, texts) = passed(kernel, candidate, seconds);
        store.append(&record, &texts).unwrap();
    }
    let (mut record, texts) = failed("b", "5");
    record.device.name = "cuda:0".to_owned();
    store.append(&record, &texts).unwrap();
    let check = |filter: &Filter, order, limit, expected: &[&str]| {
        let listing = store.newest(filter, order, limit).unwrap();
        let found: Vec<_> =
            listing.runs.iter().map(|run| run.record.candidate.as_deref().unwrap()).collect();
        assert_eq!(found, expected, "{filter:?} {order:?} {limit}");
        assert_eq!(listing.damaged, []);
    };
    let filter = |kernel: &str, device: &str, verdict: &str| {
        let wanted = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (kernel, device, verdict) = (wanted(kernel), wanted(device), wanted(verdict));
        Filter { kernel, device, verdict, label: None }
    };
    check(&Filter::default(), Order::Newest, 10, &["5", "4", "3", "2", "1"]);
    check(&Filter::default(), Order::Newest, 2, &["5", "4"]);
    check(&Filter::default(), Order::Newest, 0, &[]);
    check(&Filter::default(), Order::Kernel, 10, &["4", "2", "5", "3", "1"]);
    check(&Filter::default(), Order::Fastest, 10, &["3", "4", "1", "5", "2"]);
    check(&filter("b", "", ""), Order::Newest, 10, &["5", "3", "1"]);
    check(&filter("b", "", "passed"), Order::Newest, 1, &["3"]);
    check(&filter("", "cuda:0", ""), Order::Newest, 10, &["5"]);
    check(&filter("", "", "wrong"), Order::Newest, 10, &["5"]);
    check(&filter("a", "cuda:0", ""), Order::Newest, 10, &[]);
    check(&filter("' OR 1 = 1 --", "", ""), Order::Newest, 10, &[]);
    assert_eq!(store.count().unwrap(), 5);
}

#[test]
fn a_long_history_is_read_page_by_page() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    for candidate in ["1", "2", "3", "4", "5"] {
        let (record, texts) = passed("a", candidate, Some(1e-5));
        store.append(&record, &texts).unwrap();
    }
    let check = |before: Option<i64>, expected: &[i64], oldest: Option<i64>| {
        let page = store.page(before.map(RunNumber), 2).unwrap();
        let numbers: Vec<i64> = page.runs.iter().map(|run| run.number.0).collect();
        assert_eq!(numbers, expected, "{before:?}");
        assert_eq!(page.oldest(), oldest.map(RunNumber), "{before:?}");
    };
    check(None, &[5, 4], Some(4));
    check(Some(4), &[3, 2], Some(2));
    check(Some(2), &[1], Some(1));
    check(Some(1), &[], None);
}

#[test]
fn a_label_is_what_was_said_last_and_runs_are_found_by_it() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    for candidate in ["1", "2", "3"] {
        let (record, texts) = passed("a", candidate, Some(1e-5));
        store.append(&record, &texts).unwrap();
    }
    let mut say = |number, words: &str| {
        store.label(RunNumber(number), Label::typed(words).unwrap().as_ref()).unwrap();
    };
    say(1, "slow");
    say(1, "two rows");
    say(2, "two rows");
    say(3, "two rows");
    say(3, "");
    let label = |number| store.run(RunNumber(number)).unwrap().unwrap().label;
    assert_eq!(label(1), Label::typed("two rows").unwrap());
    assert_eq!(label(3), None);
    let found = |words: &str| {
        let filter = Filter { label: Some(words.to_owned()), ..Filter::default() };
        let runs = store.newest(&filter, Order::Newest, 10).unwrap().runs;
        runs.iter().map(|run| run.number.0).collect::<Vec<_>>()
    };
    assert_eq!(found("two rows"), [2, 1]);
    assert_eq!((found("slow"), found("")), (vec![], vec![]));
    let refused = store.label(RunNumber(4), None).unwrap_err();
    assert!(matches!(refused, HistoryError::NoSuchRun(RunNumber(4))), "{refused}");
}
