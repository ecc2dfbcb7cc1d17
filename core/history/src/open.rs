//! Opens a history: creates a missing file, migrates an old one, and sets aside a file that is not a history.

use std::fmt;
use std::path::{Path, PathBuf};

use lightbench_primitives::no_links;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row, ffi};

use super::error::HistoryError;
use super::location::{HistoryAccess, HistoryLocation, Journal};
use super::machine::Machine;
use super::salvage::{HIGHEST_NUMBER, Salvaged, salvage};
use super::schema;
use super::sidecar::{self, FolderLock, LockMode};
use super::store::Store;

/// The largest document or text that is read or written, in bytes.
const MOST_BYTES: i32 = 64 << 20;

/// The largest number of unreadable runs that a notice names.
const MOST_NAMED: usize = 10;

/// The largest number of retries if another process changes the files during inspection.
const MOST_LOOKS: usize = 8;

/// The extent of the integrity check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegrityCheck {
    /// Check only the rows that are read.
    None,
    /// Something was found to be damaged.
    Damage,
}

/// An open history with the notices of opening it.
#[derive(Debug)]
pub struct OpenedHistory {
    /// The history.
    pub store: Store,
    /// Notices for the user.
    pub notices: Vec<Notice>,
}

/// A notice for the user about opening a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The history is not at its usual location or not in its usual form.
    Place(String),
    /// The file system cannot do write-ahead logging.
    Rollback {
        /// The database.
        path: PathBuf,
    },
    /// The file was not a history or was damaged; a new one was created.
    SetAside {
        /// The reason.
        reason: String,
        /// The new path of the old file.
        kept: PathBuf,
        /// The runs copied from it into the new file.
        salvaged: Salvaged,
    },
    /// The history had an older schema.
    Migrated {
        /// The version that it had.
        from: i64,
        /// The new schema version.
        to: i64,
        /// A copy of the old file.
        backup: PathBuf,
    },
    /// Another machine created the history, or this machine with an earlier key.
    FromElsewhere {
        /// The database.
        path: PathBuf,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(message) => formatter.write_str(message),
            Self::Rollback { path } => write!(
                formatter,
                "the file system of {} cannot do write-ahead logging: a rollback journal is used, which is slower",
                path.display()
            ),
            Self::SetAside { reason, kept, salvaged } => {
                let kept = kept.display();
                write!(formatter, "the history was set aside ({reason}): it is now {kept}, ")?;
                match salvaged.runs {
                    0 => write!(formatter, "and a new one was begun"),
                    runs => {
                        write!(formatter, "and a new one has the {runs} runs that could be read")
                    }
                }?;
                let lost = salvaged.lost.iter().take(MOST_NAMED).map(ToString::to_string);
                let lost: Vec<_> = lost.collect();
                match salvaged.lost.len() {
                    0 => Ok(()),
                    1..=MOST_NAMED => write!(formatter, "; not read: run {}", lost.join(", ")),
                    count => write!(formatter, "; not read: {count} runs ({}, …)", lost.join(", ")),
                }
            }
            Self::Migrated { from, to, backup } => {
                let backup = backup.display();
                write!(
                    formatter,
                    "the history was migrated from schema {from} to {to}; {backup} is a copy of the old file"
                )?;
                match *from < schema::SEALED_BASELINES_SINCE {
                    true => write!(
                        formatter,
                        "; baselines that were chosen before have no seal and do not count: choose again with \
                         `--choose-baseline`"
                    ),
                    false => Ok(()),
                }
            }
            Self::FromElsewhere { path } => write!(
                formatter,
                "{} was created on another machine: runs from that machine count as recorded",
                path.display()
            ),
        }
    }
}

/// Opens the history at a location; `machine` seals appended runs and verifies seals.
///
/// # Errors
/// A newer version wrote the history, another process holds it, or the files cannot be used.
pub fn open(
    place: &HistoryLocation,
    machine: &Machine,
    suspicion: IntegrityCheck,
) -> Result<OpenedHistory, HistoryError> {
    match &place.access {
        HistoryAccess::Append => open_in_place(place, machine, suspicion),
        HistoryAccess::ReadCopy { within } => open_copy(place, machine, suspicion, within),
    }
}

/// Opens a copy of a history whose folder cannot be written; runs cannot be appended to the copy.
fn open_copy(
    place: &HistoryLocation,
    machine: &Machine,
    suspicion: IntegrityCheck,
    within: &[PathBuf],
) -> Result<OpenedHistory, HistoryError> {
    let copied = within.iter().map(|parent| {
        let folder = tempfile::Builder::new().prefix("lightbench-history-").tempdir_in(parent)?;
        sidecar::copy(&place.folder, folder.path()).map(|()| folder)
    });
    // The first that succeeds, or the last reason.
    let mut last = Err(std::io::Error::other("no folder is available for a copy"));
    for copy in copied {
        last = copy;
        if last.is_ok() {
            break;
        }
    }
    let path = place.database();
    let failed = |source| HistoryError::Files { what: "copy", path: path.clone(), source };
    let folder = last.map_err(failed)?;
    let at_copy = HistoryLocation {
        folder: folder.path().to_owned(),
        access: HistoryAccess::Append,
        journal: place.journal,
        notice: place.notice.clone(),
    };
    let mut opened = open_in_place(&at_copy, machine, suspicion)?;
    for notice in &mut opened.notices {
        if let Notice::FromElsewhere { path: named } = notice {
            named.clone_from(&path);
        }
    }
    let database = |source| HistoryError::from_sqlite("open the history", &path, source);
    opened.store.connection().pragma_update(None, "query_only", true).map_err(database)?;
    opened.store.keep_copy(folder, path.clone());
    Ok(opened)
}

fn open_in_place(
    place: &HistoryLocation,
    machine: &Machine,
    suspicion: IntegrityCheck,
) -> Result<OpenedHistory, HistoryError> {
    let mut notices: Vec<Notice> = place.notice.iter().cloned().map(Notice::Place).collect();
    let mut suspicion = suspicion;
    for _ in 0..MOST_LOOKS {
        let held = sidecar::lock(&place.folder, LockMode::Shared)?;
        if let FileState::Ready(connection) = examine(place, machine, suspicion)? {
            return ready(place, machine, connection, held, notices);
        }
        drop(held);
        let alone = sidecar::lock(&place.folder, LockMode::Alone)?;
        // Another process may have repaired it in the meantime.
        match examine(place, machine, suspicion)? {
            FileState::Ready(_) => {}
            FileState::Empty(mut connection) => begin(place, machine, &mut connection)?,
            FileState::Older(mut connection, from) => {
                notices.push(migrate(place, &mut connection, from)?);
            }
            FileState::Unreadable(reason) => {
                notices.push(set_aside(place, machine, reason)?);
                suspicion = IntegrityCheck::None;
            }
        }
        drop(alone);
    }
    let reason = "other processes kept changing it while it was being opened".to_owned();
    Err(HistoryError::Damaged { path: place.database(), reason })
}

/// Opens the history at a place and reads from it. Where reading meets damage, what can be read is copied to a new file,
/// and `read` is asked once more.
///
/// # Errors
/// As [`open`], and what `read` returns.
pub fn open_and_read<T>(
    place: &HistoryLocation,
    machine: &Machine,
    mut read: impl FnMut(&Store) -> Result<T, HistoryError>,
) -> Result<(OpenedHistory, T), HistoryError> {
    let opened = open(place, machine, IntegrityCheck::None)?;
    match read(&opened.store) {
        Err(HistoryError::Damaged { .. }) => {
            // No other process may hold the file while it is moved.
            drop(opened);
            let opened = open(place, machine, IntegrityCheck::Damage)?;
            let found = read(&opened.store)?;
            Ok((opened, found))
        }
        found => found.map(|found| (opened, found)),
    }
}

/// Sets a damaged history aside, and replaces it with a new one that has the readable runs.
fn set_aside(
    place: &HistoryLocation,
    machine: &Machine,
    reason: String,
) -> Result<Notice, HistoryError> {
    let rescue = salvage(place, machine)?;
    let kept = sidecar::set_aside(&place.folder)?;
    let Some(rescue) = rescue else {
        return Ok(Notice::SetAside { reason, kept, salvaged: Salvaged::default() });
    };
    let path = place.database();
    let failed = |source| HistoryError::Files { what: "write", path: path.clone(), source };
    std::fs::rename(rescue.database(), &path).map_err(failed)?;
    Ok(Notice::SetAside { reason, kept, salvaged: rescue.salvaged })
}

fn ready(
    place: &HistoryLocation,
    machine: &Machine,
    connection: Connection,
    held: FolderLock,
    mut notices: Vec<Notice>,
) -> Result<OpenedHistory, HistoryError> {
    let path = place.database();
    let database = |source| HistoryError::from_sqlite("open the history", &path, source);
    let journal = choose_journal(&connection, place.journal).map_err(database)?;
    if (place.journal, journal) == (Journal::WriteAhead, Journal::Rollback) {
        notices.push(Notice::Rollback { path: path.clone() });
    }
    if begun_by(&connection).map_err(database)?.is_none_or(|name| name != machine.name()) {
        notices.push(Notice::FromElsewhere { path: path.clone() });
    }
    let store = Store::new(connection, path, machine.clone(), held);
    Ok(OpenedHistory { store, notices })
}

/// The state of the file at the location of a history.
enum FileState {
    /// A history of this version.
    Ready(Connection),
    /// An empty database.
    Empty(Connection),
    /// A history of an older version.
    Older(Connection, i64),
    /// Damaged, or something else.
    Unreadable(String),
}

fn examine(
    place: &HistoryLocation,
    machine: &Machine,
    suspicion: IntegrityCheck,
) -> Result<FileState, HistoryError> {
    let path = place.database();
    let files = |source| HistoryError::Files { what: "look at", path: path.clone(), source };
    let before = no_links::identity(&path).map_err(files)?;
    if sidecar::journal_names_another(&place.folder).map_err(files)? {
        return Ok(FileState::Unreadable("its journal names another file".to_owned()));
    }
    if sidecar::is_too_short(&place.folder).map_err(files)? {
        return Ok(FileState::Unreadable("file is too short to be a database".to_owned()));
    }
    let connection = connect(&path);
    let after = no_links::identity(&path).map_err(files)?;
    if before.is_some() && before != after {
        let source = std::io::Error::other("the file was replaced while it was being opened");
        return Err(files(source));
    }
    let found = connection.and_then(|connection| inspect(connection, machine, suspicion));
    match found {
        Ok(Inspection::State(state)) => Ok(state),
        Ok(Inspection::Newer(found)) => {
            Err(HistoryError::Newer { path, found, known: schema::known() })
        }
        Err(source) => {
            if is_environment(&source) {
                return Err(HistoryError::from_sqlite("open the history", &path, source));
            }
            Ok(FileState::Unreadable(source.to_string()))
        }
    }
}

/// Whether an error of opening a history is an error of the machine. All other errors are caused by the content of the
/// file.
fn is_environment(source: &rusqlite::Error) -> bool {
    let environment = [
        ErrorCode::CannotOpen,
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
        ErrorCode::DiskFull,
        ErrorCode::FileLockingProtocolFailed,
        ErrorCode::OutOfMemory,
        ErrorCode::PermissionDenied,
        ErrorCode::ReadOnly,
    ];
    match source.sqlite_error() {
        // A file that ends too early is damaged; every other failure to read is the system's.
        Some(error) if error.code == ErrorCode::SystemIoFailure => {
            error.extended_code != ffi::SQLITE_IOERR_SHORT_READ
        }
        Some(error) => environment.contains(&error.code),
        None => false,
    }
}

/// The pages that a connection keeps in memory, in SQLite's unit of -1 KiB. The system has the file in its own cache.
const CACHE: i64 = -256;

/// A connection that trusts nothing in the file; see <https://www.sqlite.org/security.html>.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(sidecar::PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES)?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

enum Inspection {
    State(FileState),
    Newer(i64),
}

fn inspect(
    connection: Connection,
    machine: &Machine,
    suspicion: IntegrityCheck,
) -> rusqlite::Result<Inspection> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let objects = schema::objects(&connection)?;
    let unreadable = |reason: &str| Ok(Inspection::State(FileState::Unreadable(reason.to_owned())));
    if objects.is_empty() && application == 0 && version == 0 {
        return Ok(Inspection::State(FileState::Empty(connection)));
    }
    if application != schema::APPLICATION {
        return unreadable("it is a database of another program");
    }
    if let Some(reason) = schema::implausible(version, &objects)? {
        return unreadable(&reason);
    }
    if version > schema::known() {
        return Ok(Inspection::Newer(version));
    }
    if schema::expected(version)?.is_none_or(|expected| expected != objects) {
        return unreadable("its tables are not those of a history");
    }
    if connection.is_readonly("main")? {
        return unreadable("the header of the file forbids writing");
    }
    let is_elsewhere = begun_by(&connection)?.is_none_or(|name| name != machine.name());
    let found = match suspicion {
        IntegrityCheck::Damage => damage(&connection, "integrity_check")?,
        IntegrityCheck::None if is_elsewhere => damage(&connection, "quick_check")?,
        IntegrityCheck::None => None,
    };
    if let Some(reason) = found {
        return unreadable(&reason);
    }
    Ok(Inspection::State(if version == schema::known() {
        FileState::Ready(connection)
    } else {
        FileState::Older(connection, version)
    }))
}

/// The first thing that is wrong in the file, where something is.
fn damage(connection: &Connection, check: &str) -> rusqlite::Result<Option<String>> {
    let answer: String =
        connection.query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get(0))?;
    if answer != "ok" {
        return Ok(Some(answer));
    }
    let highest = "SELECT max((SELECT ifnull(max(number), 0) FROM run), \
                   (SELECT ifnull(max(number), 0) FROM document))";
    let highest: i64 = connection.query_row(highest, [], |row| row.get(0))?;
    Ok((highest > HIGHEST_NUMBER).then(|| format!("a run has the number {highest}")))
}

/// The machine that created the history; `None` if its name cannot be read.
pub(super) fn begun_by(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let name = |row: &Row<'_>| Ok(row.get_ref(0)?.as_str().ok().map(str::to_owned));
    let name = connection.query_row("SELECT machine FROM begun", [], name).optional()?;
    Ok(name.flatten())
}

/// The bytes in a column; `None` if the column has another type.
pub(super) fn row_bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => None,
    })
}

/// Chooses the journal: the wanted one, if the file system supports it.
fn choose_journal(connection: &Connection, wanted: Journal) -> rusqlite::Result<Journal> {
    let name = match wanted {
        Journal::WriteAhead => "WAL",
        Journal::Rollback => "DELETE",
    };
    let answer: String =
        connection.pragma_update_and_check(None, "journal_mode", name, |row| row.get(0))?;
    let journal = match answer.as_str() {
        "wal" => Journal::WriteAhead,
        _ => Journal::Rollback,
    };
    // With a write-ahead log, what was committed survives the death of the process in any case, and that of the
    // machine from the next checkpoint on; a rollback journal needs every barrier to survive either.
    let synchronous = match journal {
        Journal::WriteAhead => "NORMAL",
        Journal::Rollback => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(journal)
}

fn begin(
    place: &HistoryLocation,
    machine: &Machine,
    connection: &mut Connection,
) -> Result<(), HistoryError> {
    let path = place.database();
    let database = |source| HistoryError::from_sqlite("begin a history", &path, source);
    schema::begin(connection, machine.name()).map_err(database)
}

/// Brings an older history up to date, after copying it.
fn migrate(
    place: &HistoryLocation,
    connection: &mut Connection,
    from: i64,
) -> Result<Notice, HistoryError> {
    let path = place.database();
    let backup = sidecar::free_name(&place.folder, &format!("history-schema-{from}"))?;
    let target = backup.to_string_lossy();
    connection
        .execute("VACUUM INTO ?1", [target.as_ref()])
        .map_err(|source| HistoryError::from_sqlite("copy the history", &path, source))?;
    schema::migrate(connection, from).map_err(|source| {
        HistoryError::from_sqlite("bring the history up to date", &path, source)
    })?;
    Ok(Notice::Migrated { from, to: schema::known(), backup })
}
