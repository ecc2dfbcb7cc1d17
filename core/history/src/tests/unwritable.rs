//! Projects that cannot be written: read-only and full file systems. The tests mount one, which needs superuser rights;
//! without them, they report that they were skipped.

use std::fs;
use std::path::Path;

use lightbench_primitives::no_links;

use crate::fixture::{MountedFolder, failed, machine, opened};
use crate::location::{HistoryAccess, HistoryLocation};
use crate::machine::Machine;
use crate::open_and_read;
use crate::query::{Filter, Order};
use crate::{HistoryError, IntegrityCheck, RunNumber, Store, open};

/// A project with that many runs, all of which lie in the write-ahead log alone.
fn with_runs_in_the_log(root: &Path, machine: &Machine, runs: usize) {
    let source = tempfile::tempdir().unwrap();
    let (mut store, _) = opened(source.path(), machine);
    // What stands in the database is an empty history.
    store.connection().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    store.connection().pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    for number in 0..runs {
        let (record, texts) = failed("naive", &number.to_string());
        store.append(&record, &texts).unwrap();
    }
    let folder = root.join(".lightbench");
    fs::create_dir_all(&folder).unwrap();
    for name in [".gitignore", "history.db", "history.db-wal"] {
        fs::copy(source.path().join(".lightbench").join(name), folder.join(name)).unwrap();
    }
}

fn runs(store: &Store) -> Result<Vec<RunNumber>, HistoryError> {
    let listing = store.newest(&Filter::default(), Order::Newest, 100)?;
    Ok(listing.runs.iter().map(|run| run.number).collect())
}

#[test]
fn a_read_only_project_is_read_and_its_history_goes_on_in_the_state_folder() {
    let Some(project) = MountedFolder::new(4096) else { return };
    let ((_key, machine), state) = (machine(), tempfile::tempdir().unwrap());
    let state = Some(state.path());
    with_runs_in_the_log(project.path(), &machine, 3);
    project.make_read_only();
    // Without a state folder and with one, before anything was written there.
    for state in [None, state] {
        let place = HistoryLocation::for_reading(project.path(), state).unwrap().unwrap();
        assert!(matches!(place.access, HistoryAccess::ReadCopy { .. }), "{place:?}");
        let (mut read, found) = open_and_read(&place, &machine, runs).unwrap();
        assert_eq!(found, [3, 2, 1].map(RunNumber));
        let told = read.notices.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(told[0].contains("cannot be written") && told[0].contains("copy"), "{told:?}");
        let (record, texts) = failed("naive", "new");
        let refused = read.store.append(&record, &texts).unwrap_err();
        assert!(matches!(refused, HistoryError::ReadOnly { .. }), "{refused}");
        assert!(refused.to_string().contains(project.path().to_str().unwrap()), "{refused}");
    }
    assert!(HistoryLocation::for_writing(project.path(), None).is_err());
    let place = HistoryLocation::for_writing(project.path(), state).unwrap();
    assert!(place.notice.as_ref().unwrap().contains("is kept in"), "{place:?}");
    let mut store = open(&place, &machine, IntegrityCheck::None).unwrap().store;
    let (record, texts) = failed("naive", "new");
    assert_eq!(store.append(&record, &texts).unwrap(), RunNumber(4));
    drop(store);
    let place = HistoryLocation::for_reading(project.path(), state).unwrap().unwrap();
    let (_, found) = open_and_read(&place, &machine, runs).unwrap();
    assert_eq!(found, [4, 3, 2, 1].map(RunNumber));
}

#[test]
fn on_a_full_disk_runs_are_read_and_nothing_is_left_behind() {
    let Some(project) = MountedFolder::new(2048) else { return };
    let (_key, machine) = machine();
    with_runs_in_the_log(project.path(), &machine, 3);
    let before = no_links::names(&project.path().join(".lightbench")).unwrap();
    project.fill();
    let place = HistoryLocation::for_reading(project.path(), None).unwrap().unwrap();
    let (_, found) = open_and_read(&place, &machine, runs).unwrap();
    assert_eq!(found, [3, 2, 1].map(RunNumber));
    let refused = HistoryLocation::for_writing(project.path(), None).unwrap_err();
    assert!(matches!(refused, HistoryError::Full { .. }), "{refused}");
    assert_eq!(no_links::names(&project.path().join(".lightbench")).unwrap(), before);
}
