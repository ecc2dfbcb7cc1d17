//! The history of a project, open: runs are appended and read, never edited.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::damage::{DamagedRow, RowError, RowReader};
use super::error::HistoryError;
use super::label::Label;
use super::machine::{Machine, Seal};
use super::record::{RunRecord, ScoreBasis};
use super::sidecar::FolderLock;
use super::text::{TextHash, Texts};

/// The number of a run in a history, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunNumber(pub i64);

impl fmt::Display for RunNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The provenance: this machine or another source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// This machine ran it.
    Own,
    /// Another or an unknown machine ran it: never best, previous or baseline.
    Recorded,
}

/// A run in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// The number.
    pub number: RunNumber,
    /// The provenance: this machine or another source.
    pub provenance: Provenance,
    /// The label.
    pub label: Option<Label>,
    /// The record.
    pub record: RunRecord,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Runs that are new here.
    pub added: usize,
    /// Runs that were here already.
    pub known: usize,
}

/// The history of a project, open.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    machine: Machine,
    /// While this lock is held, no process moves the file or changes its tables.
    _held: FolderLock,
    /// The folder of a copy, if the history's own folder cannot be written. It is removed after the connection is closed.
    _copy: Option<TempDir>,
}

impl Store {
    pub(super) const fn new(
        connection: Connection,
        path: PathBuf,
        machine: Machine,
        held: FolderLock,
    ) -> Self {
        Self { connection, path, machine, _held: held, _copy: None }
    }

    /// Keeps the folder of a copy while the history is open, and the path of the original.
    pub(super) fn keep_copy(&mut self, folder: TempDir, of: PathBuf) {
        self._copy = Some(folder);
        self.path = of;
    }

    /// The database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a run of this machine. After the return, a kill of this process does not lose it.
    ///
    /// # Errors
    /// The disk is full, another process holds the lock, the file is damaged, or a text is missing; the history is then
    /// unchanged.
    pub fn append(&mut self, record: &RunRecord, texts: &Texts) -> Result<RunNumber, HistoryError> {
        let document = written(record)?;
        let seal = self.machine.seal(&document);
        let failed = |source| HistoryError::from_sqlite("append a run", &self.path, source);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(failed)?;
        insert_texts(&transaction, texts).map_err(failed)?;
        if let Some(hash) = missing_text(&transaction, record).map_err(failed)? {
            return Err(HistoryError::MissingText { hash });
        }
        let number = insert_run(&transaction, record, &document, seal.as_ref()).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(number)
    }

    /// Adds runs of other machines in one transaction; runs that exist already stay unchanged.
    ///
    /// # Errors
    /// As [`Store::append`].
    pub fn import(
        &mut self,
        records: &[RunRecord],
        texts: &Texts,
    ) -> Result<Imported, HistoryError> {
        let failed = |source| HistoryError::from_sqlite("import runs", &self.path, source);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(failed)?;
        insert_texts(&transaction, texts).map_err(failed)?;
        let mut imported = Imported::default();
        for record in records {
            if is_known(&transaction, record).map_err(failed)? {
                imported.known += 1;
                continue;
            }
            if let Some(hash) = missing_text(&transaction, record).map_err(failed)? {
                return Err(HistoryError::MissingText { hash });
            }
            insert_run(&transaction, record, &written(record)?, None).map_err(failed)?;
            imported.added += 1;
        }
        transaction.commit().map_err(failed)?;
        Ok(imported)
    }

    /// The run with that number, if there is one.
    ///
    /// # Errors
    /// The run is damaged, or the database cannot be read.
    pub fn run(&self, number: RunNumber) -> Result<Option<StoredRun>, HistoryError> {
        let mut damaged = Vec::new();
        let found = self.readable_run(number, &mut damaged)?;
        // A damaged label takes nothing from the run.
        match damaged.into_iter().next() {
            Some(row) if found.is_none() => Err(HistoryError::DamagedRun(row)),
            Some(_) | None => Ok(found),
        }
    }

    /// The run with that number, if it exists and is readable; its damage is added to `damaged`.
    pub(super) fn readable_run(
        &self,
        number: RunNumber,
        damaged: &mut Vec<DamagedRow>,
    ) -> Result<Option<StoredRun>, HistoryError> {
        let select = format!("{SELECT} WHERE run.number = ?1");
        let read = |row: &Row<'_>| self.stored(row, damaged);
        let found = self.connection.query_row(&select, [number.0], read);
        found.optional().map(Option::flatten).map_err(|source| self.failed("read a run", source))
    }

    /// The text of that name, if it exists and its hash matches.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn text(&self, hash: &TextHash) -> Result<Option<Vec<u8>>, HistoryError> {
        let select = "SELECT content FROM text WHERE hash = ?1";
        let found = self.connection.query_row(select, [hash.bytes()], |row| row.get(0));
        let found: Option<Vec<u8>> =
            found.optional().map_err(|source| self.failed("read a text", source))?;
        Ok(found.filter(|content| TextHash::from_content(content) == *hash))
    }

    /// The seal of this machine.
    pub(super) fn seal(&self, text: &str) -> Option<Seal> {
        self.machine.seal(text)
    }

    /// Whether this machine sealed that text.
    pub(super) fn has_sealed(&self, text: &str, seal: Option<&[u8]>) -> bool {
        self.machine.has_sealed(text, seal)
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn failed(&self, what: &'static str, source: rusqlite::Error) -> HistoryError {
        HistoryError::from_sqlite(what, &self.path, source)
    }

    /// The run of a row of [`SELECT`]; `None` if the row is damaged. Damage is added to `damaged`; a run with only a
    /// damaged label is still returned.
    pub(super) fn stored(
        &self,
        row: &Row<'_>,
        damaged: &mut Vec<DamagedRow>,
    ) -> rusqlite::Result<Option<StoredRun>> {
        let row = RowReader::new(row)?;
        let mut run = match self.unlabelled(row) {
            Ok(run) => run,
            Err(RowError::Damaged(row)) => {
                damaged.push(row);
                return Ok(None);
            }
            Err(RowError::Database(source)) => return Err(source),
        };
        match row.optional_text("label") {
            // The label in a file from another machine may be invalid.
            Ok(words) => run.label = words.and_then(|words| Label::typed(&words).ok().flatten()),
            Err(RowError::Damaged(row)) => damaged.push(row),
            Err(RowError::Database(source)) => return Err(source),
        }
        Ok(Some(run))
    }

    fn unlabelled(&self, row: RowReader<'_, '_>) -> Result<StoredRun, RowError> {
        let document = row.text("body")?;
        let record: RunRecord = serde_json::from_str(&document)
            .map_err(|error| row.damaged("body", format!("it is no run: {error}")))?;
        let seal = row.optional_bytes("seal")?;
        // The columns only serve searches: if they differ from the document, the file was modified.
        let is_own = self.machine.has_sealed(&document, seal)
            && Columns::of_row(row)? == Columns::from_record(&record);
        let provenance = if is_own { Provenance::Own } else { Provenance::Recorded };
        Ok(StoredRun { number: row.run(), provenance, label: None, record })
    }
}

/// Everything that makes a [`StoredRun`].
pub(super) const SELECT: &str = "SELECT run.number, id, kernel, device, verdict, candidate, parent, basis, seconds, \
                                 seal, body, (SELECT words FROM label WHERE label.run = run.number \
                                 ORDER BY label.number DESC LIMIT 1) AS label \
                                 FROM run LEFT JOIN document ON document.number = run.number";

/// The searchable values of a record.
#[derive(Debug, PartialEq)]
struct Columns {
    id: String,
    kernel: String,
    device: String,
    verdict: String,
    candidate: Option<String>,
    parent: Option<String>,
    basis: Option<String>,
    /// The bit pattern of the seconds, which compares exactly.
    seconds: Option<u64>,
}

impl Columns {
    fn from_record(record: &RunRecord) -> Self {
        let (basis, seconds) = match record.score() {
            Some(score) => {
                let ScoreBasis(basis) = score.basis;
                (Some(basis), Some(score.seconds.0.to_bits()))
            }
            None => (None, None),
        };
        Self {
            id: record.id.to_string(),
            kernel: record.kernel.clone(),
            device: record.device.name.clone(),
            verdict: record.verdict().to_owned(),
            candidate: record.candidate.clone(),
            parent: record.parent.clone(),
            basis,
            seconds,
        }
    }

    fn of_row(row: RowReader<'_, '_>) -> Result<Self, RowError> {
        Ok(Self {
            id: row.text("id")?,
            kernel: row.text("kernel")?,
            device: row.text("device")?,
            verdict: row.text("verdict")?,
            candidate: row.optional_text("candidate")?,
            parent: row.optional_text("parent")?,
            basis: row.optional_text("basis")?,
            seconds: row.optional_real("seconds")?.map(f64::to_bits),
        })
    }
}

fn written(record: &RunRecord) -> Result<String, HistoryError> {
    serde_json::to_string(record).map_err(HistoryError::Unwritable)
}

fn insert_texts(transaction: &Transaction<'_>, texts: &Texts) -> rusqlite::Result<()> {
    let insert = "INSERT INTO text (hash, content) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut insert = transaction.prepare(insert)?;
    for (hash, content) in texts.iter() {
        insert.execute(params![hash.bytes(), content])?;
    }
    Ok(())
}

fn missing_text(
    transaction: &Transaction<'_>,
    record: &RunRecord,
) -> rusqlite::Result<Option<TextHash>> {
    for hash in record.texts() {
        let mut find = transaction.prepare("SELECT 1 FROM text WHERE hash = ?1")?;
        if !find.exists([hash.bytes()])? {
            return Ok(Some(hash));
        }
    }
    Ok(None)
}

fn is_known(transaction: &Transaction<'_>, record: &RunRecord) -> rusqlite::Result<bool> {
    transaction.prepare("SELECT 1 FROM run WHERE id = ?1")?.exists([record.id.to_string()])
}

/// Appends a run behind all others.
fn insert_run(
    transaction: &Transaction<'_>,
    record: &RunRecord,
    document: &str,
    seal: Option<&Seal>,
) -> rusqlite::Result<RunNumber> {
    // Higher than the keys of the documents too: otherwise a damaged key in one table could match a number in the other.
    let last = "SELECT max((SELECT ifnull(max(number), 0) FROM run), \
                (SELECT ifnull(max(number), 0) FROM document))";
    let last: i64 = transaction.query_row(last, [], |row| row.get(0))?;
    let number = RunNumber(last.saturating_add(1));
    insert_numbered(transaction, number, record, document, seal.map(Seal::as_slice))?;
    Ok(number)
}

/// Inserts a run under its number.
pub(super) fn insert_numbered(
    transaction: &Transaction<'_>,
    number: RunNumber,
    record: &RunRecord,
    document: &str,
    seal: Option<&[u8]>,
) -> rusqlite::Result<()> {
    let columns = Columns::from_record(record);
    transaction.execute(
        "INSERT INTO run (number, id, kernel, device, verdict, candidate, parent, basis, seconds, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            number.0,
            columns.id,
            columns.kernel,
            columns.device,
            columns.verdict,
            columns.candidate,
            columns.parent,
            columns.basis,
            columns.seconds.map(f64::from_bits),
            seal,
        ],
    )?;
    let insert = "INSERT INTO document (number, body) VALUES (?1, ?2)";
    transaction.execute(insert, params![number.0, document]).map(drop)
}
