//! The location of a project's history.
//!
//! The history is in the project's `.lightbench/`, or in the user's state folder if the project cannot hold it. Each
//! departure from the usual location has a notice. Whether a folder is writable is tested by writing a file: permission
//! bits do not apply to a superuser and do not show a full disk.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use lightbench_primitives::no_links;
use lightbench_primitives::no_links::{Access, FOLDER};

use super::error::HistoryError;
use super::file_system::{self, FileSystem};
use super::sidecar;

/// Git ignores the folder, independent of the project's own settings.
const IGNORE: &str = "*\n";

/// The location of a project's history, and how it is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryLocation {
    /// An existing folder.
    pub folder: PathBuf,
    /// The journal that protects appends against a kill of the process.
    pub journal: Journal,
    /// The reason for a departure from the usual location or journal.
    pub notice: Option<String>,
    /// Whether runs can be appended there.
    pub access: HistoryAccess,
}

/// The access to a history at its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryAccess {
    /// Runs are read and appended.
    Append,
    /// The folder cannot be written: a copy is opened and read, in the first of these folders with enough space.
    ReadCopy {
        /// Folders for temporary files.
        within: Vec<PathBuf>,
    },
}

/// The size of a probe file in bytes: larger than file systems store inside a directory entry.
const PROBE_BYTES: usize = 8192;

/// The journal that protects appends against a kill of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// A write-ahead log: readers never wait. Needs memory that processes share.
    WriteAhead,
    /// A rollback journal, which works on every file system with file locks.
    Rollback,
}

/// Lightbench's folder in the platform's state folder (its data folder if it has no state folder).
///
/// It reads the environment, through `etcetera`; only the program calls it.
#[must_use]
pub fn user_state() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("lightbench"))
}

impl HistoryLocation {
    /// The location for appending runs of the project in `root`; the folder is created. If the project has become
    /// unwritable, its history is copied to the state folder and continues there.
    ///
    /// # Errors
    /// Neither the project nor the state folder can hold a history, or the disk is full.
    pub fn for_writing(root: &Path, state: Option<&Path>) -> Result<Self, HistoryError> {
        let root = real(root)?;
        let own = root.join(FOLDER);
        let in_project = usable(&own);
        match &in_project {
            FolderState::Usable(FileSystem::Local) => return decide(own, in_project, None),
            // Room may be made: a history that goes on elsewhere would be two from then on.
            FolderState::Full(_) => return Err(HistoryError::Full { path: own }),
            FolderState::Usable(FileSystem::Shared(_))
            | FolderState::ReadOnly(_)
            | FolderState::Unusable(_) => {}
        }
        let elsewhere = state.map(|state| in_state(state, &root));
        let elsewhere = elsewhere.map(|folder| {
            let made = fs::create_dir_all(&folder).map_err(|error| error.to_string());
            let found = made.map_or_else(FolderState::Unusable, |()| usable(&folder));
            (folder, found)
        });
        let is_read_only = matches!(in_project, FolderState::ReadOnly(_));
        let place = decide(own.clone(), in_project, elsewhere)?;
        if is_read_only && place.folder != own && !holds_history(&place.folder) {
            let (what, path) = ("copy", own.join(sidecar::DATABASE));
            let failed = |source| HistoryError::Files { what, path, source };
            sidecar::copy(&own, &place.folder).map_err(failed)?;
        }
        Ok(place)
    }

    /// The location of an existing history of the project in `root`; nothing is created. If the folder cannot be written, a
    /// copy is read.
    ///
    /// # Errors
    /// The history exists and cannot be used.
    pub fn for_reading(root: &Path, state: Option<&Path>) -> Result<Option<Self>, HistoryError> {
        let real_root = real(root)?;
        let own = real_root.join(FOLDER);
        let elsewhere = state.map(|state| in_state(state, &real_root));
        let elsewhere = elsewhere.filter(|folder| holds_history(folder));
        if holds_history(&own) {
            match usable(&own) {
                FolderState::Usable(_) | FolderState::Unusable(_) => {
                    return Self::for_writing(root, state).map(Some);
                }
                FolderState::Full(reason) => return Ok(Some(Self::copy_of(own, &reason, state))),
                // The history that goes on in the state folder has these runs too.
                FolderState::ReadOnly(reason) if elsewhere.is_none() => {
                    return Ok(Some(Self::copy_of(own, &reason, state)));
                }
                FolderState::ReadOnly(_) => {}
            }
        }
        let Some(folder) = elsewhere else { return Ok(None) };
        match usable(&folder) {
            FolderState::Usable(_) | FolderState::Unusable(_) => {
                Self::for_writing(root, state).map(Some)
            }
            FolderState::Full(reason) | FolderState::ReadOnly(reason) => {
                Ok(Some(Self::copy_of(folder, &reason, state)))
            }
        }
    }

    fn copy_of(folder: PathBuf, reason: &str, state: Option<&Path>) -> Self {
        let shown = folder.display();
        let notice = format!("{shown} cannot be written ({reason}): a copy of the history is read");
        let memory = PathBuf::from("/dev/shm");
        let temporary = tempfile::env::temp_dir();
        let within = state.map(Path::to_owned).into_iter().chain([temporary, memory]).collect();
        let (journal, notice) = (Journal::WriteAhead, Some(notice));
        Self { folder, journal, notice, access: HistoryAccess::ReadCopy { within } }
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

/// Whether a file exists there that may be a history.
fn holds_history(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(sidecar::DATABASE)).is_ok()
}

/// The folder of a project in the state folder, named by the path of the project.
fn in_state(state: &Path, root: &Path) -> PathBuf {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    // The user may have moved the folder with a link, and the database is never opened through a link.
    let state = state.canonicalize().unwrap_or_else(|_missing| state.to_owned());
    state.join("histories").join(&hash[..16])
}

/// Whether a folder can hold a history.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FolderState {
    /// Files can be written there.
    Usable(FileSystem),
    /// The folder exists and cannot be written.
    ReadOnly(String),
    /// The folder exists and its disk is full.
    Full(String),
    /// It is a link or a file, or contains one.
    Unusable(String),
}

fn usable(folder: &Path) -> FolderState {
    let error = match prepare(folder) {
        Ok(candidate) => return candidate,
        Err(error) => error,
    };
    let is = |kinds: [io::ErrorKind; 2]| kinds.contains(&error.kind());
    if is([io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded]) {
        FolderState::Full(error.to_string())
    } else if is([io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied]) {
        FolderState::ReadOnly(error.to_string())
    } else {
        FolderState::Unusable(error.to_string())
    }
}

/// Creates the folder if it is missing, checks that it contains no links, and writes a probe file.
fn prepare(folder: &Path) -> io::Result<FolderState> {
    match fs::create_dir(folder) {
        // Some systems report that a folder cannot be created before they report that it exists.
        Err(error) if !folder.is_dir() => return Err(error),
        Ok(()) | Err(_) => {}
    }
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Ok(FolderState::Unusable("it is a link or a file, not a folder".to_owned()));
    }
    if let Some(path) = sidecar::not_a_plain_file(folder)? {
        return Ok(FolderState::Unusable(format!("{} is not a plain file", path.display())));
    }
    probe(folder)?;
    match no_links::open(&folder.join(".gitignore"), Access::New) {
        Ok(mut file) => file.write_all(IGNORE.as_bytes())?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(FolderState::Usable(file_system::detect(folder)?))
}

/// Writes a file and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let path = folder.join(format!(".probe-{:016x}", u64::from_le_bytes(random)));
    // Without `fsync`: a full file system reports its error on the write.
    let written =
        no_links::open(&path, Access::New).and_then(|mut file| file.write_all(&[0; PROBE_BYTES]));
    match no_links::remove(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => written.and(Err(error)),
        Ok(()) | Err(_) => written,
    }?;
    let database = folder.join(sidecar::DATABASE);
    match is_writable(&database) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether permissions allow writing a file. The file is not opened, because closing it would release the locks of the
/// database.
#[cfg(unix)]
fn is_writable(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?)
}

#[cfg(not(unix))]
fn is_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.permissions().readonly() {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

fn decide(
    own: PathBuf,
    in_project: FolderState,
    elsewhere: Option<(PathBuf, FolderState)>,
) -> Result<HistoryLocation, HistoryError> {
    let place = |folder, journal, notice| {
        Ok(HistoryLocation { folder, journal, notice, access: HistoryAccess::Append })
    };
    match (in_project, elsewhere) {
        (FolderState::Usable(FileSystem::Local), _) => place(own, Journal::WriteAhead, None),
        (
            FolderState::Usable(FileSystem::Shared(name)),
            Some((folder, FolderState::Usable(FileSystem::Local))),
        ) => {
            let notice = format!(
                "the project is on {name}, where other machines may write: its history is kept in {}",
                folder.display()
            );
            place(folder, Journal::WriteAhead, Some(notice))
        }
        (FolderState::Usable(FileSystem::Shared(name)), _) => {
            let notice = format!(
                "the project is on {name}, where other machines may write: its history uses a rollback journal, which is slower"
            );
            place(own, Journal::Rollback, Some(notice))
        }
        (
            FolderState::Unusable(reason)
            | FolderState::ReadOnly(reason)
            | FolderState::Full(reason),
            Some((folder, FolderState::Usable(kind))),
        ) => {
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
        (
            FolderState::Unusable(reason)
            | FolderState::ReadOnly(reason)
            | FolderState::Full(reason),
            _,
        ) => {
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
        let local = || FolderState::Usable(FileSystem::Local);
        let shared = || FolderState::Usable(FileSystem::Shared("NFS"));
        let unusable = || FolderState::Unusable("it is a link".to_owned());
        let check = |own, state: Option<FolderState>, expected: Option<(&str, Journal, &str)>| {
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
        assert_eq!(HistoryLocation::for_reading(root.path(), Some(&state)).unwrap(), None);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_folder_is_ignored_by_git() {
        let root = tempfile::tempdir().unwrap();
        let place = HistoryLocation::for_writing(root.path(), None).unwrap();
        assert_eq!(fs::read_to_string(place.folder.join(".gitignore")).unwrap(), IGNORE);
    }

    #[cfg(unix)]
    #[test]
    fn what_leads_elsewhere_is_not_followed() {
        let check = |plant: &dyn Fn(&Path, &Path)| {
            let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let victim = tempfile::tempdir().unwrap();
            plant(root.path(), victim.path());
            let place = HistoryLocation::for_writing(root.path(), Some(state.path())).unwrap();
            assert!(place.folder.starts_with(state.path()), "{place:?}");
            assert!(place.notice.is_some());
            assert!(HistoryLocation::for_writing(root.path(), None).is_err());
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
