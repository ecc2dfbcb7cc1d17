//! Copies the readable rows of a damaged history into a new one.
//!
//! Rows are found by their keys from both ends of each table and one by one in between, so that a broken page costs only
//! the rows on it. All reads are from a copy: the damaged file stays unchanged.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Row, Transaction, params};
use tempfile::TempDir;

use super::error::HistoryError;
use super::location::HistoryLocation;
use super::machine::Machine;
use super::open::{begun_by, connect, row_bytes};
use super::record::RunRecord;
use super::schema;
use super::sidecar;
use super::store::{RunNumber, insert_numbered};
use super::text::TextHash;

/// The highest plausible number of a run. A higher number is damage.
pub(super) const HIGHEST_NUMBER: i64 = 1 << 40;

/// The largest number of keys tried one by one between two broken pages.
const MOST_KEYS_BETWEEN: i64 = 200_000;

/// The runs copied from a damaged history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// The number of runs in the new file.
    pub runs: usize,
    /// Runs whose number is known and that could not be read.
    pub lost: Vec<RunNumber>,
}

/// A new history with the rows that could be read, in a folder that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct SalvagedFile {
    folder: TempDir,
    pub(super) salvaged: Salvaged,
}

impl SalvagedFile {
    /// The new history.
    pub(super) fn database(&self) -> PathBuf {
        self.folder.path().join("salvaged.db")
    }
}

/// Copies the readable rows of the history at a location into a new file in the same folder; `None` if no run can be read.
///
/// # Errors
/// The copy or the new file cannot be written.
pub(super) fn salvage(
    place: &HistoryLocation,
    machine: &Machine,
) -> Result<Option<SalvagedFile>, HistoryError> {
    let files = |source| HistoryError::Files { what: "copy", path: place.database(), source };
    let folder = tempfile::Builder::new().prefix("history-salvage-").tempdir_in(&place.folder);
    let folder = folder.map_err(files)?;
    sidecar::copy(&place.folder, folder.path()).map_err(files)?;
    let damaged = folder.path().join(sidecar::DATABASE);
    let mut rescue = SalvagedFile { folder, salvaged: Salvaged::default() };
    for is_page_replaced in [false, true] {
        if is_page_replaced && !replace_first_page(&damaged).map_err(files)? {
            break;
        }
        let path = rescue.database();
        sidecar::remove(&path).map_err(files)?;
        // A database that cannot be opened has nothing to read.
        let Ok(source) = damaged_connection(&damaged) else { continue };
        let failed = |source| HistoryError::from_sqlite("copy a damaged history", &path, source);
        rescue.salvaged = copied(&source, &path, machine).map_err(failed)?;
        if rescue.salvaged.runs > 0 {
            return Ok(Some(rescue));
        }
    }
    Ok(None)
}

/// A connection to a copy that continues if parts of the schema are damaged. Writes affect only the copy.
fn damaged_connection(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // With it, tables before a damaged one in the schema can be used (https://www.sqlite.org/pragma.html).
    connection.pragma_update(None, "writable_schema", true)?;
    // The first statement after a damaged schema fails and those after it see the tables that were read.
    connection.prepare("SELECT 1 FROM sqlite_schema").map(drop).ok();
    Ok(connection)
}

/// Replaces the first page of a copy, which has the header and the root of the schema, with that of a new history: the same
/// statements create both, so tables have the same root pages. Returns whether that was possible.
fn replace_first_page(damaged: &Path) -> io::Result<bool> {
    let fresh = damaged.with_file_name("fresh.db");
    let made =
        Connection::open(&fresh).and_then(|mut connection| schema::begin(&mut connection, ""));
    if let Err(error) = made {
        return Err(io::Error::other(error));
    }
    let mut page = [0; 4096];
    fs::File::open(&fresh)?.read_exact(&mut page)?;
    let size = fs::metadata(damaged)?.len();
    let page_size = u64::from(u16::from_be_bytes([page[16], page[17]]));
    if page_size != page.len() as u64 || size < page_size {
        return Ok(false);
    }
    // The size of the database in pages (https://www.sqlite.org/fileformat2.html, section 1.3.8).
    let pages = u32::try_from(size / page_size).map_err(io::Error::other)?;
    page[28..32].copy_from_slice(&pages.to_be_bytes());
    let mut file = OpenOptions::new().write(true).open(damaged)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&page)?;
    Ok(true)
}

/// Creates a history at `path` with every readable row of `source`.
fn copied(source: &Connection, path: &Path, machine: &Machine) -> rusqlite::Result<Salvaged> {
    let mut target = connect(path)?;
    let begun_by = begun_by(source).ok().flatten();
    schema::begin(&mut target, begun_by.as_deref().unwrap_or_else(|| machine.name()))?;
    let transaction = target.transaction()?;
    let mut salvaged = Salvaged::default();
    for number in keys(source, "run").union(&keys(source, "document")).copied() {
        match run(source, number) {
            Some((record, document, seal)) if (1..=HIGHEST_NUMBER).contains(&number) => {
                let number = RunNumber(number);
                insert_numbered(&transaction, number, &record, &document, seal.as_deref())?;
                salvaged.runs += 1;
            }
            Some(_) | None => salvaged.lost.push(RunNumber(number)),
        }
    }
    copy_texts(source, &transaction)?;
    copy_choices(source, &transaction)?;
    transaction.commit()?;
    Ok(salvaged)
}

/// A run with its document and seal, where its document can be read.
fn run(source: &Connection, number: i64) -> Option<(RunRecord, String, Option<Vec<u8>>)> {
    let document = "SELECT body FROM document NOT INDEXED WHERE number = ?1";
    let document = row(source, document, number, |row| {
        row.get_ref(0)?.as_str().map(str::to_owned).map_err(Into::into)
    })?;
    let record = serde_json::from_str(&document).ok()?;
    let seal = "SELECT seal FROM run NOT INDEXED WHERE number = ?1";
    // Without its seal the run is a recorded one.
    let seal = row(source, seal, number, |row| row_bytes(row, 0)).flatten();
    Some((record, document, seal))
}

/// Copies texts whose hashes match their names.
fn copy_texts(source: &Connection, target: &Transaction<'_>) -> rusqlite::Result<()> {
    let select = "SELECT hash, content FROM text NOT INDEXED WHERE rowid = ?1";
    let insert = "INSERT INTO text (hash, content) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut insert = target.prepare(insert)?;
    for key in keys(source, "text") {
        let text = row(source, select, key, |row| Ok((row_bytes(row, 0)?, row_bytes(row, 1)?)));
        let Some((Some(hash), Some(content))) = text else { continue };
        if TextHash::from_content(&content).bytes().as_slice() == hash {
            insert.execute(params![hash, content])?;
        }
    }
    Ok(())
}

/// Copies baselines and labels of the runs that were copied.
fn copy_choices(source: &Connection, target: &Transaction<'_>) -> rusqlite::Result<()> {
    let exists = "SELECT 1 FROM run WHERE number = ?1";
    let mut exists = target.prepare(exists)?;
    let select = "SELECT run, seal FROM baseline NOT INDEXED WHERE number = ?1";
    for key in keys(source, "baseline") {
        let found = row(source, select, key, |row| Ok((row.get::<_, i64>(0)?, row_bytes(row, 1)?)));
        let Some((run, seal)) = found else { continue };
        if exists.exists([run])? {
            let insert = "INSERT INTO baseline (number, run, seal) VALUES (?1, ?2, ?3)";
            target.execute(insert, params![key, run, seal])?;
        }
    }
    let select = "SELECT run, words FROM label NOT INDEXED WHERE number = ?1";
    for key in keys(source, "label") {
        let found = row(source, select, key, |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)));
        let Some((run, words)): Option<(i64, String)> = found else { continue };
        if exists.exists([run])? {
            let insert = "INSERT INTO label (number, run, words) VALUES (?1, ?2, ?3)";
            target.execute(insert, params![key, run, words])?;
        }
    }
    Ok(())
}

/// The row of a key; `None` if it is missing or unreadable.
fn row<T>(
    source: &Connection,
    select: &str,
    key: i64,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Option<T> {
    source.prepare(select).and_then(|mut found| found.query_row([key], read)).ok()
}

/// The reachable keys of a table.
fn keys(source: &Connection, table: &str) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    let up = format!("SELECT rowid FROM {table} NOT INDEXED ORDER BY rowid");
    if walk(source, &up, &mut found).is_ok() {
        return found;
    }
    let low = found.last().copied().unwrap_or(0);
    let mut above = BTreeSet::new();
    // If this direction ends early too, the keys in between are tried below.
    walk(source, &format!("{up} DESC"), &mut above).ok();
    let high = above.first().copied().unwrap_or(i64::MAX);
    found.append(&mut above);
    let is_there = format!("SELECT rowid FROM {table} NOT INDEXED WHERE rowid = ?1");
    // Without the table itself there is nothing to try.
    let Ok(mut is_there) = source.prepare(&is_there) else { return found };
    let last = low.saturating_add(MOST_KEYS_BETWEEN).min(high);
    let between = low.saturating_add(1)..last;
    found.extend(between.filter(|key| is_there.exists([key]).unwrap_or(false)));
    found
}

fn walk(source: &Connection, select: &str, found: &mut BTreeSet<i64>) -> rusqlite::Result<()> {
    let mut statement = source.prepare(select)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // A table whose pages lead in a circle repeats its keys.
        if !found.insert(row.get(0)?) {
            return Err(rusqlite::Error::InvalidQuery);
        }
    }
    Ok(())
}
