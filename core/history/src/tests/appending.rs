//! An appended run is stored once and unchanged; a failed append changes nothing.

use rusqlite::Connection;

use crate::fixture::{failed, machine, opened, passed};
use crate::location::{HistoryLocation, Journal};
use crate::query::{Filter, Order};
use crate::text::Texts;
use crate::{HistoryError, IntegrityCheck, Provenance, RunNumber, open};

#[test]
fn what_was_appended_is_read_as_it_was() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let runs = [
        failed("naive", "a"),
        passed("naive", "b", None),
        passed("vector", "c", Some(1.25e-5)),
        passed("vector", "d", Some(f64::MIN_POSITIVE)),
    ];
    let (mut store, notices) = opened(root.path(), &machine);
    assert_eq!(notices, []);
    for (index, (record, texts)) in runs.iter().enumerate() {
        let number = store.append(record, texts).unwrap();
        assert_eq!(number, RunNumber(index as i64 + 1));
    }
    drop(store);
    let (store, notices) = opened(root.path(), &machine);
    assert_eq!(notices, []);
    for (index, (record, texts)) in runs.iter().enumerate() {
        let found = store.run(RunNumber(index as i64 + 1)).unwrap().unwrap();
        assert_eq!((&found.record, found.provenance), (record, Provenance::Own));
        for (hash, content) in texts.iter() {
            assert_eq!(store.text(hash).unwrap().as_deref(), Some(content));
        }
    }
    assert_eq!(store.run(RunNumber(5)).unwrap(), None);
    assert_eq!(store.run(RunNumber(-1)).unwrap(), None);
}

#[test]
fn a_text_is_kept_once() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    for _ in 0..5 {
        let (record, texts) = failed("naive", "a");
        store.append(&record, &texts).unwrap();
    }
    let count: i64 =
        store.connection().query_row("SELECT count(*) FROM text", [], |row| row.get(0)).unwrap();
    assert_eq!((count, store.count().unwrap()), (1, 5));
}

#[test]
fn a_record_without_its_text_is_refused_and_leaves_nothing() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    let (record, _) = failed("naive", "a");
    let refused = store.append(&record, &Texts::default());
    assert!(matches!(refused, Err(HistoryError::MissingText { .. })), "{refused:?}");
    assert_eq!(store.count().unwrap(), 0);
}

#[test]
fn the_same_run_is_not_appended_twice() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    let (record, texts) = failed("naive", "a");
    store.append(&record, &texts).unwrap();
    assert!(store.append(&record, &texts).is_err());
    assert_eq!(store.count().unwrap(), 1);
}

#[test]
fn nothing_is_edited_or_removed() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    let (record, texts) = passed("naive", "a", Some(1e-5));
    let number = store.append(&record, &texts).unwrap();
    store.choose_baseline(number).unwrap();
    let check = |statement: &str| {
        let refused = store.connection().execute(statement, []).unwrap_err().to_string();
        assert!(refused.contains("never"), "{statement}: {refused}");
    };
    for table in ["run", "document", "text", "baseline"] {
        check(&format!("DELETE FROM {table}"));
    }
    check("UPDATE run SET seconds = 1e-9");
    check("UPDATE document SET body = '{}'");
    check("UPDATE text SET content = x'00'");
    check("UPDATE baseline SET run = 1");
}

#[test]
fn a_time_without_a_pass_cannot_be_written() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (store, _) = opened(root.path(), &machine);
    let insert = "INSERT INTO run (id, kernel, device, verdict, basis, seconds) VALUES ('i', 'k', 'd', ?1, ?2, ?3)";
    let check = |verdict: &str, basis: Option<&str>, seconds: Option<f64>, accepted: bool| {
        let inserted =
            store.connection().execute(insert, rusqlite::params![verdict, basis, seconds]);
        assert_eq!(inserted.is_ok(), accepted, "{verdict} {basis:?} {seconds:?}: {inserted:?}");
    };
    check("wrong", Some("b"), Some(1e-5), false);
    check("passed", None, Some(1e-5), false);
    check("passed", Some("b"), None, false);
    check("passed", Some("b"), Some(1e-5), true);
}

#[test]
fn what_another_machine_ran_or_somebody_changed_is_recorded() {
    let root = tempfile::tempdir().unwrap();
    let ((_key, here), (_other_key, there)) = (machine(), machine());
    let (mut store, _) = opened(root.path(), &here);
    let runs = ["a", "b", "c"].map(|candidate| passed("naive", candidate, Some(1e-5)));
    for (record, texts) in &runs {
        store.append(record, texts).unwrap();
    }
    drop(store);
    let path = HistoryLocation::for_writing(root.path(), None).unwrap().database();
    let forge = Connection::open(&path).unwrap();
    // Somebody who may write the file may also take the triggers away for a moment.
    forge
        .execute_batch(
            "DROP TRIGGER run_stays; DROP TRIGGER document_stays;
             UPDATE run SET seconds = 1e-9 WHERE number = 2;
             UPDATE document SET body = replace(body, '18446744073709551615', '7') WHERE number = 3;",
        )
        .unwrap();
    for trigger in crate::schema::STEPS[0].lines().filter(|line| line.contains("_stays BEFORE")) {
        if trigger.contains(" run_stays") || trigger.contains(" document_stays") {
            forge.execute_batch(trigger).unwrap();
        }
    }
    drop(forge);
    let check = |machine: &crate::machine::Machine, expected: [Provenance; 3]| {
        let (store, _) = opened(root.path(), machine);
        let listing = store.newest(&Filter::default(), Order::Newest, 10).unwrap();
        let found: Vec<_> = listing.runs.iter().rev().map(|run| run.provenance).collect();
        assert_eq!(found, expected);
    };
    check(&here, [Provenance::Own, Provenance::Recorded, Provenance::Recorded]);
    check(&there, [Provenance::Recorded; 3]);
    check(&crate::machine::Machine::without_key(), [Provenance::Recorded; 3]);
}

#[test]
fn a_full_disk_is_an_error_and_everything_before_is_intact() {
    for journal in [Journal::WriteAhead, Journal::Rollback] {
        let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
        let place =
            HistoryLocation { journal, ..HistoryLocation::for_writing(root.path(), None).unwrap() };
        let mut store = open(&place, &machine, IntegrityCheck::None).unwrap().store;
        store.connection().pragma_update(None, "max_page_count", 60).unwrap();
        let mut kept = Vec::new();
        let full = loop {
            let (record, mut texts) = failed("naive", "a");
            texts.add(format!("{}{}", record.id, "x".repeat(9000)).into_bytes());
            match store.append(&record, &texts) {
                Ok(number) => kept.push((number, record)),
                Err(error) => break error,
            }
        };
        assert!(matches!(full, HistoryError::Full { .. }), "{full:?}");
        assert!(kept.len() > 3, "{}", kept.len());
        drop(store);
        let mut store = open(&place, &machine, IntegrityCheck::Damage).unwrap().store;
        assert_eq!(store.count().unwrap(), kept.len() as u64);
        for (number, record) in kept {
            assert_eq!(store.run(number).unwrap().unwrap().record, record);
        }
        let (record, texts) = failed("naive", "a");
        store.append(&record, &texts).unwrap();
    }
}

#[test]
fn imports_are_recorded_and_known_again() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (mut store, _) = opened(root.path(), &machine);
    let (own, texts) = passed("naive", "a", Some(1e-5));
    store.append(&own, &texts).unwrap();
    let (other, more) = passed("naive", "b", Some(1e-6));
    let records = [own, other];
    let imported = store.import(&records, &more).unwrap();
    assert_eq!((imported.added, imported.known), (1, 1));
    let again = store.import(&records, &more).unwrap();
    assert_eq!((again.added, again.known), (0, 2));
    let found = [1, 2].map(|number| store.run(RunNumber(number)).unwrap().unwrap().provenance);
    assert_eq!(found, [Provenance::Own, Provenance::Recorded]);
}
