//! Damaged files: readable rows are kept, the other runs are named, and new runs can be appended.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lightbench_primitives::random::Stream;
use rusqlite::Connection;

use crate::fixture::{failed, machine, opened, passed};
use crate::label::Label;
use crate::location::HistoryLocation;
use crate::machine::Machine;
use crate::query::{Filter, Listing, Order};
use crate::{
    DamagedRow, HistoryError, IntegrityCheck, Notice, Provenance, RunNumber, RunRecord, Store,
    open, open_and_read, schema,
};

/// Runs, by their numbers from 1.
fn filled(root: &Path, machine: &Machine, runs: usize) -> Vec<RunRecord> {
    let (mut store, _) = opened(root, machine);
    let mut records = Vec::new();
    for number in 0..runs {
        let candidate = format!("candidate-{number}");
        let (record, mut texts) = match number % 3 {
            0 => failed("naive", &candidate),
            _ => passed("vector", &candidate, Some(1e-5 + number as f64 * 1e-7)),
        };
        texts.add(format!("{number} ").repeat(200).into_bytes());
        let appended = store.append(&record, &texts).unwrap();
        let label = Label::typed(&format!("label {number}")).unwrap();
        store.label(appended, label.as_ref()).unwrap();
        records.push(record);
    }
    store.choose_baseline(RunNumber(2)).unwrap();
    records
}

/// Changes rows as no statement of ours can: without the triggers that keep them.
fn forge(database: &Path, statement: &str) {
    let connection = Connection::open(database).unwrap();
    for name in ["run_stays", "document_stays", "label_stays"] {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    connection.execute_batch(statement).unwrap();
    for step in schema::STEPS {
        let stays = step.lines().filter(|line| line.contains("_stays BEFORE"));
        for trigger in stays.filter(|line| !line.contains("text_") && !line.contains("baseline_")) {
            connection.execute_batch(trigger).unwrap();
        }
    }
}

fn all(store: &Store) -> Result<Listing, HistoryError> {
    store.newest(&Filter::default(), Order::Newest, usize::MAX)
}

#[test]
fn a_damaged_row_is_skipped_and_named() {
    let invalid = "CAST(x'6162ff' AS TEXT)";
    let check = |statement: String, expected: (&'static str, &str), runs: usize| {
        let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
        filled(root.path(), &machine, 5);
        forge(&HistoryLocation::for_writing(root.path(), None).unwrap().database(), &statement);
        let (mut store, notices) = opened(root.path(), &machine);
        assert_eq!(notices, [], "{statement}");
        let listing = all(&store).unwrap();
        let (column, says) = expected;
        let [DamagedRow { run: RunNumber(3), column: found, reason }] = listing.damaged.as_slice()
        else {
            panic!("{statement}: {:?}", listing.damaged)
        };
        assert!(*found == column && reason.contains(says), "{statement}: {found} {reason}");
        assert_eq!((listing.runs.len(), listing.rows), (runs, 5), "{statement}");
        assert_eq!(store.run(RunNumber(3)).is_err(), runs == 4, "{statement}");
        let (record, texts) = failed("naive", "new");
        assert_eq!(store.append(&record, &texts).unwrap(), RunNumber(6));
    };
    let document = |value: &str| format!("UPDATE document SET body = {value} WHERE number = 3");
    check(document(invalid), ("body", "not UTF-8 from byte 2"), 4);
    check(document("'{}'"), ("body", "no run"), 4);
    check(document("substr(body, 1, 99)"), ("body", "no run"), 4);
    let column = |column: &str| format!("UPDATE run SET {column} = {invalid} WHERE number = 3");
    for name in ["kernel", "device", "verdict", "candidate", "parent", "basis"] {
        let damaged = match name {
            // Only a run that passed has times, and only one with times has a basis.
            "verdict" => format!(
                "UPDATE run SET verdict = {invalid}, basis = NULL, seconds = NULL WHERE number = 3"
            ),
            _ => column(name),
        };
        check(damaged, (name, "not UTF-8"), 4);
    }
    check(format!("UPDATE label SET words = {invalid} WHERE run = 3"), ("label", "not UTF-8"), 5);
}

#[test]
fn a_document_that_is_gone_is_named() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    filled(root.path(), &machine, 3);
    let path = HistoryLocation::for_writing(root.path(), None).unwrap().database();
    forge(&path, "PRAGMA foreign_keys = OFF; UPDATE document SET number = 90 WHERE number = 2");
    let (mut store, _) = opened(root.path(), &machine);
    let listing = all(&store).unwrap();
    assert_eq!(listing.runs.len(), 2);
    assert_eq!(listing.damaged[0].to_string(), "run 2, column `body`: the value is missing");
    // Behind the document that has no run.
    let (record, texts) = failed("naive", "new");
    assert_eq!(store.append(&record, &texts).unwrap(), RunNumber(91));
}

/// What came of one damaged file.
struct Came {
    /// Runs that are as they were.
    readable: usize,
    /// Runs that are named as damaged or lost.
    named: usize,
}

/// Reads a damaged history and appends to it, as the commands do.
fn used(root: &Path, machine: &Machine, records: &[RunRecord], what: &str) -> Came {
    let place = HistoryLocation::for_writing(root, None).unwrap();
    let read = open_and_read(&place, machine, all);
    let (opened, listing) = read.unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut named: BTreeSet<RunNumber> = listing.damaged.iter().map(|row| row.run).collect();
    for notice in &opened.notices {
        if let Notice::SetAside { salvaged, .. } = notice {
            named.extend(&salvaged.lost);
        }
    }
    let is_as_it_was = |run: &&crate::StoredRun| records.contains(&run.record);
    let readable = listing.runs.iter().filter(is_as_it_was).count();
    let mut store = opened.store;
    let (record, texts) = failed("naive", "new");
    let mut number = store.append(&record, &texts);
    if let Err(HistoryError::Damaged { .. }) = number {
        drop(store);
        store = open(&place, machine, IntegrityCheck::Damage).unwrap().store;
        number = store.append(&record, &texts);
    }
    let number = number.unwrap_or_else(|error| panic!("{what}: {error}"));
    let kept = store.run(number).unwrap().unwrap();
    assert_eq!((&kept.record, kept.provenance), (&record, Provenance::Own), "{what}");
    Came { readable, named: named.len() }
}

#[test]
fn after_a_flipped_byte_anywhere_runs_are_kept() {
    const RUNS: usize = 40;
    /// Offsets of the schema's version and of the name of the program (section 1.3 of the file format), each of which is tried.
    const HEADER: [usize; 8] = [60, 61, 62, 63, 68, 69, 70, 71];
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let records = filled(root.path(), &machine, RUNS);
    let whole =
        fs::read(HistoryLocation::for_writing(root.path(), None).unwrap().database()).unwrap();
    let random = Stream::new(20, 0);
    let pages = whole.len() / 4096;
    let anywhere = (0..pages).flat_map(|page| [page * 4096; 3]).chain([0; 100]);
    let places = anywhere.enumerate().map(|(index, base)| {
        let within = if index < pages * 3 { 4096 } else { whole.len() };
        base + (random.bits(index as u64) >> 8) as usize % within
    });
    let (mut all_readable, mut tried) = (0, 0);
    for (index, offset) in places.chain(HEADER).enumerate() {
        let bits = (random.bits(index as u64) as u8).max(1);
        let mut bytes = whole.clone();
        bytes[offset] ^= bits;
        let root = tempfile::tempdir().unwrap();
        let path = HistoryLocation::for_writing(root.path(), None).unwrap().database();
        fs::write(&path, bytes).unwrap();
        let what = format!("byte {offset} of {} changed by {bits:#x}", whole.len());
        let came = used(root.path(), &machine, &records, &what);
        // The rows of one page at most; those are named where their number is known.
        assert!(came.readable + 16 >= RUNS, "{what}: {} of {RUNS} readable", came.readable);
        assert!(came.readable + came.named + 1 >= RUNS, "{what}: {} named", came.named);
        all_readable += usize::from(came.readable == RUNS);
        tried += 1;
    }
    assert!(all_readable * 2 > tried, "{all_readable} of {tried} files lost nothing");
}

#[test]
fn a_baseline_counts_only_where_this_machine_chose_it() {
    let check = |statement: &str, expected: Option<i64>| {
        let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
        let records = filled(root.path(), &machine, 6);
        let path = HistoryLocation::for_writing(root.path(), None).unwrap().database();
        Connection::open(path).unwrap().execute_batch(statement).unwrap();
        let (store, _) = opened(root.path(), &machine);
        let found = store.baseline(&records[4]).unwrap().map(|run| run.number.0);
        assert_eq!(found, expected, "{statement}");
    };
    check("", Some(2));
    check("INSERT INTO baseline (run) VALUES (3)", Some(2));
    check("INSERT INTO baseline (run, seal) VALUES (3, zeroblob(32))", Some(2));
    check("INSERT INTO baseline (run, seal) SELECT 3, seal FROM baseline", Some(2));
    check("INSERT INTO baseline (run, seal) SELECT run, seal FROM baseline", Some(2));
}
