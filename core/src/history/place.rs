//! Where the history of a project lies.
//!
//! In the project's `.lightbench/`; in the user's state folder where the project cannot hold it. Each departure from
//! the usual place is said.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use super::error::HistoryError;
use super::file_system::{self, FileSystem};
use super::sidecar;

/// The folder in a project.
const FOLDER: &str = ".lightbench";

/// Git keeps nothing of the folder, whatever the project's own settings say.
const IGNORE: &str = "*\n";

/// Where the history of a project lies, and how it is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// An existing folder.
    pub folder: PathBuf,
    /// How a kill in the middle of an append is survived.
    pub journal: Journal,
    /// Why it is not as usual, where it is not.
    pub notice: Option<String>,
}

/// How a kill in the middle of an append is survived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// A write-ahead log: readers never wait. Needs memory that processes share.
    WriteAhead,
    /// A journal of what was there before. Works wherever files can be locked.
    Rollback,
}

/// Our folder in the platform's state folder (its data folder where it has none).
///
/// It reads the environment, through `etcetera`; only the program calls it.
#[must_use]
pub fn user_state() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("lightbench"))
}

impl Place {
    /// Where runs of the project in `root` are appended; the folder is made.
    ///
    /// # Errors
    /// Neither the project nor the state folder can hold a history.
    pub fn for_writing(root: &Path, state: Option<&Path>) -> Result<Self, HistoryError> {
        let root = real(root)?;
        let own = root.join(FOLDER);
        let in_project = usable(&own);
        if let Candidate::Usable(FileSystem::Local) = in_project {
            return decide(own, in_project, None);
        }
        let elsewhere = state.map(|state| in_state(state, &root));
        let elsewhere = elsewhere.map(|folder| {
            let made = fs::create_dir_all(&folder).map_err(|error| error.to_string());
            let found = made.map_or_else(Candidate::Unusable, |()| usable(&folder));
            (folder, found)
        });
        decide(own, in_project, elsewhere)
    }

    /// Where runs of the project in `root` are, if there are any; nothing is made.
    ///
    /// # Errors
    /// There is a history that cannot be used.
    pub fn for_reading(root: &Path, state: Option<&Path>) -> Result<Option<Self>, HistoryError> {
        let root = real(root)?;
        let own = root.join(FOLDER);
        let elsewhere = state.map(|state| in_state(state, &root));
        let exists = |folder: &Path| fs::symlink_metadata(folder.join(sidecar::DATABASE)).is_ok();
        if exists(&own) || elsewhere.is_some_and(|folder| exists(&folder)) {
            return Self::for_writing(&root, state).map(Some);
        }
        Ok(None)
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.folder.join(sidecar::DATABASE)
    }
}

fn real(root: &Path) -> Result<PathBuf, HistoryError> {
    let failed = |source| HistoryError::Files { what: "find", path: root.to_owned(), source };
    root.canonicalize().map_err(failed)
}

/// A folder of its own for each project, by the path of the project.
fn in_state(state: &Path, root: &Path) -> PathBuf {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    state.join("histories").join(&hash[..16])
}

/// Whether a folder can hold a history.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Candidate {
    Usable(FileSystem),
    Unusable(String),
}

fn usable(folder: &Path) -> Candidate {
    match prepare(folder) {
        Ok(candidate) => candidate,
        Err(error) => Candidate::Unusable(error.to_string()),
    }
}

/// Makes the folder where it is missing, and looks whether anything in it leads elsewhere.
fn prepare(folder: &Path) -> io::Result<Candidate> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Ok(Candidate::Unusable("it is a link or a file, not a folder".to_owned()));
    }
    if let Some(path) = sidecar::not_a_plain_file(folder)? {
        return Ok(Candidate::Unusable(format!("{} is not a plain file", path.display())));
    }
    match OpenOptions::new().write(true).create_new(true).open(folder.join(".gitignore")) {
        Ok(mut file) => file.write_all(IGNORE.as_bytes())?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(Candidate::Usable(file_system::of(folder)?))
}

fn decide(
    own: PathBuf,
    in_project: Candidate,
    elsewhere: Option<(PathBuf, Candidate)>,
) -> Result<Place, HistoryError> {
    let place = |folder, journal, notice| Ok(Place { folder, journal, notice });
    match (in_project, elsewhere) {
        (Candidate::Usable(FileSystem::Local), _) => place(own, Journal::WriteAhead, None),
        (
            Candidate::Usable(FileSystem::Shared(name)),
            Some((folder, Candidate::Usable(FileSystem::Local))),
        ) => {
            let notice = format!(
                "the project lies on {name}, where other machines may write: its history is kept in {}",
                folder.display()
            );
            place(folder, Journal::WriteAhead, Some(notice))
        }
        (Candidate::Usable(FileSystem::Shared(name)), _) => {
            let notice = format!(
                "the project lies on {name}, where other machines may write: its history has a rollback journal, which is slower"
            );
            place(own, Journal::Rollback, Some(notice))
        }
        (Candidate::Unusable(reason), Some((folder, Candidate::Usable(kind)))) => {
            let notice = format!(
                "{} cannot hold the history ({reason}): it is kept in {}",
                own.display(),
                folder.display()
            );
            let journal = match kind {
                FileSystem::Local => Journal::WriteAhead,
                FileSystem::Shared(_) => Journal::Rollback,
            };
            place(folder, journal, Some(notice))
        }
        (Candidate::Unusable(reason), None | Some((_, Candidate::Unusable(_)))) => {
            let source = io::Error::other(reason);
            Err(HistoryError::Files { what: "keep a history in", path: own, source })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_lies_where_it_can_be_written_safely() {
        let local = || Candidate::Usable(FileSystem::Local);
        let shared = || Candidate::Usable(FileSystem::Shared("NFS"));
        let unusable = || Candidate::Unusable("it is a link".to_owned());
        let check = |own, state: Option<Candidate>, expected: Option<(&str, Journal, &str)>| {
            let elsewhere = state.map(|candidate| (PathBuf::from("state"), candidate));
            let place = decide(PathBuf::from("project"), own, elsewhere).ok();
            let found = place.as_ref().map(|place| {
                (place.folder.to_str().unwrap(), place.journal, place.notice.as_deref())
            });
            match (found, expected) {
                (None, None) => {}
                (Some((folder, journal, notice)), Some((wanted, kind, says))) => {
                    assert_eq!((folder, journal), (wanted, kind));
                    assert_eq!(notice.is_none(), says.is_empty(), "{notice:?}");
                    assert!(notice.unwrap_or_default().contains(says), "{notice:?}");
                }
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        };
        check(local(), None, Some(("project", Journal::WriteAhead, "")));
        check(shared(), Some(local()), Some(("state", Journal::WriteAhead, "NFS")));
        check(shared(), Some(shared()), Some(("project", Journal::Rollback, "NFS")));
        check(shared(), Some(unusable()), Some(("project", Journal::Rollback, "NFS")));
        check(shared(), None, Some(("project", Journal::Rollback, "rollback journal")));
        check(unusable(), Some(local()), Some(("state", Journal::WriteAhead, "it is a link")));
        check(unusable(), Some(shared()), Some(("state", Journal::Rollback, "it is a link")));
        check(unusable(), Some(unusable()), None);
        check(unusable(), None, None);
    }

    #[test]
    fn looking_for_a_history_makes_nothing() {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("state");
        assert_eq!(Place::for_reading(root.path(), Some(&state)).unwrap(), None);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_folder_is_ignored_by_git() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::for_writing(root.path(), None).unwrap();
        assert_eq!(fs::read_to_string(place.folder.join(".gitignore")).unwrap(), IGNORE);
    }

    #[cfg(unix)]
    #[test]
    fn what_leads_elsewhere_is_not_followed() {
        let check = |plant: &dyn Fn(&Path, &Path)| {
            let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let victim = tempfile::tempdir().unwrap();
            plant(root.path(), victim.path());
            let place = Place::for_writing(root.path(), Some(state.path())).unwrap();
            assert!(place.folder.starts_with(state.path()), "{place:?}");
            assert!(place.notice.is_some());
            assert!(Place::for_writing(root.path(), None).is_err());
            assert_eq!(fs::read_dir(victim.path()).unwrap().count(), 0);
        };
        let link = |from: &Path, to: PathBuf| std::os::unix::fs::symlink(from, to).unwrap();
        check(&|root, victim| link(victim, root.join(FOLDER)));
        for name in ["history.db", "history.db-wal", "history.db-journal", "history.lock"] {
            check(&|root, victim| {
                fs::create_dir(root.join(FOLDER)).unwrap();
                link(&victim.join("target"), root.join(FOLDER).join(name));
            });
        }
        check(&|root, _| fs::write(root.join(FOLDER), "a file").unwrap());
    }
}
