//! Files that are missing, old, new, damaged, foreign, or changed by other processes.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::fixture::{failed, machine, opened};
use crate::location::{HistoryLocation, Journal};
use crate::machine::Machine;
use crate::{HistoryError, IntegrityCheck, Notice, Provenance, RunNumber, open, schema};

/// A history with runs in it, closed.
fn filled(root: &Path, machine: &Machine, runs: usize) -> PathBuf {
    let (mut store, _) = opened(root, machine);
    for _ in 0..runs {
        let (record, texts) = failed("naive", "a");
        store.append(&record, &texts).unwrap();
    }
    store.path().to_owned()
}

#[test]
fn what_is_no_history_is_kept_aside_and_a_new_one_begins() {
    let foreign = |path: &Path| {
        let other = Connection::open(path).unwrap();
        other
            .execute_batch("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
            .unwrap();
    };
    let disguised = |path: &Path| {
        foreign(path);
        let other = Connection::open(path).unwrap();
        other.pragma_update(None, "application_id", schema::APPLICATION).unwrap();
        other.pragma_update(None, "user_version", 1).unwrap();
    };
    let with_a_trigger = |path: &Path| {
        let other = Connection::open(path).unwrap();
        let trigger = "CREATE TRIGGER more AFTER INSERT ON run BEGIN INSERT INTO text VALUES (zeroblob(32), x''); END";
        other.execute_batch(trigger).unwrap();
    };
    let overwritten = |from: u64| {
        move |path: &Path| {
            let mut file = OpenOptions::new().write(true).open(path).unwrap();
            file.seek(SeekFrom::Start(from)).unwrap();
            file.write_all(&[0x5a; 4096]).unwrap();
        }
    };
    let check = |name: &str, (runs, read): (usize, usize), says: &str, harm: &dyn Fn(&Path)| {
        let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
        let path = match runs {
            0 => HistoryLocation::for_writing(root.path(), None).unwrap().database(),
            runs => filled(root.path(), &machine, runs),
        };
        harm(&path);
        let before = fs::read(&path).unwrap();
        let (mut store, notices) = opened(root.path(), &machine);
        let [Notice::SetAside { reason, kept, salvaged }] = notices.as_slice() else {
            panic!("{name}: {notices:?}")
        };
        assert!(reason.contains(says), "{name}: {reason}");
        assert_eq!(fs::read(kept).unwrap(), before, "{name}");
        assert_eq!((store.count().unwrap(), salvaged.runs), (read as u64, read), "{name}");
        let (record, texts) = failed("naive", "a");
        store.append(&record, &texts).unwrap();
        drop(store);
        assert_eq!(opened(root.path(), &machine).1, [], "{name}: said once");
    };
    let write = |content: &'static [u8]| move |path: &Path| fs::write(path, content).unwrap();
    check("a text", (0, 0), "not a database", &write(&[b'x'; 5000]));
    check("a short text", (0, 0), "too short", &write(b"x"));
    check("another program's", (0, 0), "another program", &foreign);
    check("in disguise", (0, 0), "tables", &disguised);
    check("with a trigger more", (3, 3), "tables", &with_a_trigger);
    check("a header that is gone", (3, 3), "not a database", &overwritten(0));
    let stating = |version: i64| {
        move |path: &Path| {
            let file = Connection::open(path).unwrap();
            file.pragma_update(None, "user_version", version).unwrap();
        }
    };
    for version in [schema::known() + 1, 0x0400, 0x0400_0000, -1, i64::from(i32::MIN)] {
        check("a version that is damaged", (3, 3), "it states schema", &stating(version));
    }
    check("a schema that is gone", (3, 3), "malformed", &overwritten(100));
    check("a file cut short", (40, 0), "malformed", &|path: &Path| {
        OpenOptions::new().write(true).open(path).unwrap().set_len(4096 * 3).unwrap();
    });
    check("a journal that names another", (3, 3), "journal", &|path: &Path| {
        let victim = path.with_file_name("victim");
        let mut journal = victim.to_string_lossy().into_owned().into_bytes();
        journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
        fs::write(path.with_extension("db-journal"), journal).unwrap();
    });
}

#[test]
fn damage_inside_is_found_when_it_is_suspected() {
    let (root, (_key, here)) = (tempfile::tempdir().unwrap(), machine());
    let path = filled(root.path(), &here, 200);
    let length = fs::metadata(&path).unwrap().len();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(length / 8192 * 4096)).unwrap();
    file.write_all(&[0x5a; 4096]).unwrap();
    drop(file);
    let place = HistoryLocation::for_writing(root.path(), None).unwrap();
    let opened = open(&place, &here, IntegrityCheck::Damage).unwrap();
    assert!(matches!(opened.notices.as_slice(), [Notice::SetAside { .. }]), "{:?}", opened.notices);
}

#[test]
fn names_of_what_is_set_aside_are_never_reused() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let path = HistoryLocation::for_writing(root.path(), None).unwrap().database();
    for round in 1..=3 {
        fs::write(&path, format!("no {round}").repeat(999)).unwrap();
        let (_, notices) = opened(root.path(), &machine);
        let [Notice::SetAside { kept, .. }] = notices.as_slice() else { panic!("{notices:?}") };
        let name = kept.file_name().unwrap().to_string_lossy();
        assert!(name.starts_with("history-aside-2"), "a dated name: {name}");
        assert!(name.ends_with(&format!("-{round}.db")), "{name}");
    }
}

#[test]
fn an_older_schema_is_migrated_and_a_backup_is_kept() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let path = HistoryLocation::for_writing(root.path(), None).unwrap().database();
    let (record, _) = failed("naive", "a");
    let body = serde_json::to_string(&record).unwrap();
    let old = Connection::open(&path).unwrap();
    old.execute_batch(schema::STEPS[0]).unwrap();
    old.execute("INSERT INTO begun VALUES (?1)", [machine.name()]).unwrap();
    old.execute(
        "INSERT INTO run (id, kernel, device, verdict, candidate, seal) VALUES (?1, 'naive', 'virtual:h200', 'wrong', 'a', ?2)",
        rusqlite::params![record.id.to_string(), machine.seal(&body)],
    )
    .unwrap();
    old.execute("INSERT INTO document VALUES (1, ?1)", [&body]).unwrap();
    old.pragma_update(None, "application_id", schema::APPLICATION).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    drop(old);

    let (store, notices) = opened(root.path(), &machine);
    let [Notice::Migrated { from: 1, to, backup }] = notices.as_slice() else {
        panic!("{notices:?}")
    };
    assert_eq!(*to, schema::known());
    let found = store.run(RunNumber(1)).unwrap().unwrap();
    assert_eq!((found.record, found.provenance), (record, Provenance::Own));
    let backup = Connection::open(backup).unwrap();
    let version: i64 = backup.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let kept: String = backup.query_row("SELECT body FROM document", [], |row| row.get(0)).unwrap();
    assert_eq!((version, kept), (1, body));
    drop(store);
    assert_eq!(opened(root.path(), &machine).1, [], "once is enough");
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let path = filled(root.path(), &machine, 2);
    let newer = Connection::open(&path).unwrap();
    newer.execute_batch("ALTER TABLE run ADD COLUMN colour TEXT").unwrap();
    newer.pragma_update(None, "user_version", schema::known() + 1).unwrap();
    drop(newer);
    let before = fs::read(&path).unwrap();
    let place = HistoryLocation::for_writing(root.path(), None).unwrap();
    let refused = open(&place, &machine, IntegrityCheck::None).unwrap_err();
    assert!(matches!(refused, HistoryError::Newer { .. }), "{refused:?}");
    assert!(refused.to_string().contains("newer version"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_history_from_another_machine_is_read_and_continued() {
    let root = tempfile::tempdir().unwrap();
    let ((_key, here), (_other_key, there)) = (machine(), machine());
    filled(root.path(), &there, 2);
    let (mut store, notices) = opened(root.path(), &here);
    assert!(matches!(notices.as_slice(), [Notice::FromElsewhere { .. }]), "{notices:?}");
    let (record, texts) = failed("naive", "a");
    store.append(&record, &texts).unwrap();
    let found = [1, 2, 3].map(|number| store.run(RunNumber(number)).unwrap().unwrap().provenance);
    assert_eq!(found, [Provenance::Recorded, Provenance::Recorded, Provenance::Own]);
}

#[test]
fn without_write_ahead_logging_a_rollback_journal_does() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    filled(root.path(), &machine, 2);
    let place = HistoryLocation {
        journal: Journal::Rollback,
        ..HistoryLocation::for_writing(root.path(), None).unwrap()
    };
    let mut store = open(&place, &machine, IntegrityCheck::None).unwrap().store;
    let (record, texts) = failed("naive", "a");
    store.append(&record, &texts).unwrap();
    let mode: String =
        store.connection().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
    drop(store);
    assert!(!place.folder.join("history.db-wal").exists());
    assert_eq!(opened(root.path(), &machine).0.count().unwrap(), 3);
}

#[test]
fn the_schema_of_the_file_is_not_trusted() {
    let (root, (_key, machine)) = (tempfile::tempdir().unwrap(), machine());
    let (store, _) = opened(root.path(), &machine);
    let trusted: i64 =
        store.connection().pragma_query_value(None, "trusted_schema", |row| row.get(0)).unwrap();
    assert_eq!(trusted, 0);
    let error =
        store.connection().execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema");
    assert!(error.is_err(), "the connection is defensive");
}
