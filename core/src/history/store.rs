//! The history of a project, open: runs are appended and read, never edited.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::error::HistoryError;
use super::label::Label;
use super::machine::{Machine, Seal};
use super::record::{Basis, RunRecord};
use super::sidecar::Held;
use super::text::{TextHash, Texts};

/// The place of a run in a history, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunNumber(pub i64);

impl fmt::Display for RunNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Who ran it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// This machine.
    Own,
    /// Somebody else, or nobody knows: never best, previous or baseline.
    Recorded,
}

/// A run in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Its place.
    pub number: RunNumber,
    /// Who ran it.
    pub provenance: Provenance,
    /// What somebody calls it.
    pub label: Option<Label>,
    /// What it is.
    pub record: RunRecord,
}

/// What came of an import.
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
    /// While this is held, nobody moves the file away or changes its tables.
    _held: Held,
}

impl Store {
    pub(super) const fn new(
        connection: Connection,
        path: PathBuf,
        machine: Machine,
        held: Held,
    ) -> Self {
        Self { connection, path, machine, _held: held }
    }

    /// The database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a run of this machine. When this returns, no kill of this process loses it.
    ///
    /// # Errors
    /// The disk is full, another process would not let go, the file is damaged, or a text is missing; then nothing of
    /// it is there, and everything before is.
    pub fn append(&mut self, record: &RunRecord, texts: &Texts) -> Result<RunNumber, HistoryError> {
        let document = written(record)?;
        let seal = self.machine.seal(&document);
        let failed = |source| HistoryError::of("append a run", &self.path, source);
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

    /// Adds runs that this machine did not make, all of them or none; those that are here already stay as they are.
    ///
    /// # Errors
    /// As [`Store::append`].
    pub fn import(
        &mut self,
        records: &[RunRecord],
        texts: &Texts,
    ) -> Result<Imported, HistoryError> {
        let failed = |source| HistoryError::of("import runs", &self.path, source);
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

    /// The run with that number, if there is one that can be read.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn run(&self, number: RunNumber) -> Result<Option<StoredRun>, HistoryError> {
        let select = format!("{SELECT} WHERE run.number = ?1");
        let found = self.connection.query_row(&select, [number.0], |row| self.stored(row));
        found.optional().map(Option::flatten).map_err(|source| self.failed("read a run", source))
    }

    /// The text of that name, if it is here and is what its name says.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn text(&self, hash: &TextHash) -> Result<Option<Vec<u8>>, HistoryError> {
        let select = "SELECT content FROM text WHERE hash = ?1";
        let found = self.connection.query_row(select, [hash.bytes()], |row| row.get(0));
        let found: Option<Vec<u8>> =
            found.optional().map_err(|source| self.failed("read a text", source))?;
        Ok(found.filter(|content| TextHash::of(content) == *hash))
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn failed(&self, what: &'static str, source: rusqlite::Error) -> HistoryError {
        HistoryError::of(what, &self.path, source)
    }

    /// The run of a row of [`SELECT`]; none where its document is no run, which only a foreign file holds.
    pub(super) fn stored(&self, row: &Row<'_>) -> rusqlite::Result<Option<StoredRun>> {
        let document: String = row.get("body")?;
        let Ok(record) = serde_json::from_str::<RunRecord>(&document) else { return Ok(None) };
        let seal: Option<Vec<u8>> = row.get("seal")?;
        // The columns are only there to search by: where they say something else, somebody changed them.
        let is_own = self.machine.has_sealed(&document, seal.as_deref())
            && Columns::of_row(row)? == Columns::of(&record);
        let provenance = if is_own { Provenance::Own } else { Provenance::Recorded };
        // What a file from elsewhere calls it may be no label.
        let words: Option<String> = row.get("label")?;
        let label = words.and_then(|words| Label::typed(&words).ok().flatten());
        Ok(Some(StoredRun { number: RunNumber(row.get("number")?), provenance, label, record }))
    }
}

/// Everything that makes a [`StoredRun`].
pub(super) const SELECT: &str = "SELECT run.number, id, kernel, device, verdict, candidate, parent, basis, seconds, \
                                 seal, body, (SELECT words FROM label WHERE label.run = run.number \
                                 ORDER BY label.number DESC LIMIT 1) AS label \
                                 FROM run CROSS JOIN document ON document.number = run.number";

/// What is searched by, taken out of a record.
#[derive(Debug, PartialEq)]
struct Columns {
    id: String,
    kernel: String,
    device: String,
    verdict: String,
    candidate: Option<String>,
    parent: Option<String>,
    basis: Option<String>,
    /// The bits of the seconds, which compare exactly.
    seconds: Option<u64>,
}

impl Columns {
    fn of(record: &RunRecord) -> Self {
        let (basis, seconds) = match record.score() {
            Some(score) => {
                let Basis(basis) = score.basis;
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

    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let seconds: Option<f64> = row.get("seconds")?;
        Ok(Self {
            id: row.get("id")?,
            kernel: row.get("kernel")?,
            device: row.get("device")?,
            verdict: row.get("verdict")?,
            candidate: row.get("candidate")?,
            parent: row.get("parent")?,
            basis: row.get("basis")?,
            seconds: seconds.map(f64::to_bits),
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

fn insert_run(
    transaction: &Transaction<'_>,
    record: &RunRecord,
    document: &str,
    seal: Option<&Seal>,
) -> rusqlite::Result<RunNumber> {
    let columns = Columns::of(record);
    transaction.execute(
        "INSERT INTO run (id, kernel, device, verdict, candidate, parent, basis, seconds, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
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
    let number = transaction.last_insert_rowid();
    transaction.execute(
        "INSERT INTO document (number, body) VALUES (?1, ?2)",
        params![number, document],
    )?;
    Ok(RunNumber(number))
}
