//! What owners of folders leave, and what they keep.

use super::*;

const PREFIX: &str = "lightbench-outputs-";

fn lock_of(folder: &Path) -> PathBuf {
    PathBuf::from(format!("{}{LOCK}", folder.display()))
}

fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_goes_with_its_owner() {
    let place = tempfile::tempdir().unwrap();
    let owned = OwnedFolder::within(place.path(), PREFIX).unwrap();
    fs::write(owned.path().join("0"), "outputs").unwrap();
    assert_eq!(names(place.path()).len(), 2);
    drop(owned);
    assert_eq!(names(place.path()), [""; 0]);
}

#[test]
fn what_a_dead_owner_left_is_removed_and_what_a_living_one_has_is_not() {
    let place = tempfile::tempdir().unwrap();
    let living = OwnedFolder::within(place.path(), PREFIX).unwrap();
    fs::write(living.path().join("0"), "outputs").unwrap();
    // As after a kill: the system has let go of the lock, and nothing was removed.
    let dead = place.path().join(format!("{PREFIX}1-dead"));
    fs::create_dir(&dead).unwrap();
    fs::write(dead.join("0"), "outputs").unwrap();
    fs::write(lock_of(&dead), "").unwrap();
    // As after a kill before the folder was made.
    fs::write(lock_of(&place.path().join(format!("{PREFIX}2-unborn"))), "").unwrap();
    // Not known to be anybody's: there is no lock that could be free.
    fs::create_dir(place.path().join(format!("{PREFIX}3-unlocked"))).unwrap();
    fs::create_dir(place.path().join("lightbench-worker-x")).unwrap();
    let other = OwnedFolder::within(place.path(), PREFIX).unwrap();
    assert!(!dead.exists() && !lock_of(&dead).exists());
    assert!(living.path().join("0").exists());
    assert_eq!(names(place.path()).len(), 6, "{:?}", names(place.path()));
    drop((living, other));
    assert_eq!(names(place.path()), ["lightbench-outputs-3-unlocked", "lightbench-worker-x"]);
}

#[test]
fn a_lock_whose_file_was_replaced_is_no_lock() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("lock");
    let file = private().create_new(true).open(&path).unwrap();
    assert!(is_still_named(&file, &path));
    fs::remove_file(&path).unwrap();
    assert!(!is_still_named(&file, &path));
    fs::write(&path, "").unwrap();
    assert!(!is_still_named(&file, &path));
}

#[test]
fn owners_that_come_and_go_at_once_keep_what_is_theirs() {
    let place = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let owned = OwnedFolder::within(place.path(), PREFIX).unwrap();
                    fs::write(owned.path().join("0"), "outputs").unwrap();
                    assert!(owned.path().join("0").exists());
                }
            });
        }
    });
    assert_eq!(names(place.path()), [""; 0]);
}

#[test]
fn what_a_worker_left_without_its_parent_is_removed_with_its_lock() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(format!("{PREFIX}1-orphan"));
    fs::create_dir(&folder).unwrap();
    fs::write(lock_of(&folder), "").unwrap();
    remove_orphan(&folder);
    assert_eq!(names(place.path()), [""; 0]);
    // One that is gone already.
    remove_orphan(&folder);
}
