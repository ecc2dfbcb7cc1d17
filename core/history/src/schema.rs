//! The tables of a history, as a list of migrations from one version to the next.
//!
//! A released migration is never edited, because existing files were made by it. The version of a file is the number of
//! migrations applied.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The `PRAGMA application_id` of a history: `LbHi`.
pub(super) const APPLICATION: i64 = 0x4c62_4869;

/// No history has a higher version.
const MOST_VERSIONS: i64 = 1000;

/// The migrations, each of which changes a declaration: a file with a higher version and the same tables is damaged. Rows
/// are appended and never changed, which triggers enforce.
pub(super) const STEPS: &[&str] = &[RUNS, BASELINES, LABELS, SEALED_BASELINES];

/// Runs, their documents, and the texts that they refer to.
///
/// Columns of `run` have the values for filters and sorting; the document is the complete and authoritative record.
const RUNS: &str = "
CREATE TABLE begun (machine TEXT NOT NULL) STRICT;
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kernel TEXT NOT NULL,
    device TEXT NOT NULL,
    verdict TEXT NOT NULL,
    candidate TEXT,
    parent TEXT,
    basis TEXT,
    seconds REAL,
    seal BLOB,
    CHECK ((seconds IS NULL) = (basis IS NULL)),
    CHECK (seconds IS NULL OR verdict = 'passed')
) STRICT;
CREATE TABLE document (number INTEGER PRIMARY KEY REFERENCES run (number), body TEXT NOT NULL) STRICT;
CREATE TABLE text (hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), content BLOB NOT NULL) STRICT;
CREATE INDEX run_newest ON run (number, kernel, device, verdict);
CREATE INDEX run_fastest ON run (basis, seconds) WHERE basis IS NOT NULL;
CREATE INDEX run_candidate ON run (candidate) WHERE candidate IS NOT NULL;
CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;
CREATE TRIGGER run_stays BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'a run is never edited'); END;
CREATE TRIGGER run_remains BEFORE DELETE ON run BEGIN SELECT RAISE(ABORT, 'a run is never removed'); END;
CREATE TRIGGER document_stays BEFORE UPDATE ON document BEGIN SELECT RAISE(ABORT, 'a run is never edited'); END;
CREATE TRIGGER document_remains BEFORE DELETE ON document BEGIN SELECT RAISE(ABORT, 'a run is never removed'); END;
CREATE TRIGGER text_stays BEFORE UPDATE ON text BEGIN SELECT RAISE(ABORT, 'a text is never edited'); END;
CREATE TRIGGER text_remains BEFORE DELETE ON text BEGIN SELECT RAISE(ABORT, 'a text is never removed'); END;
";

/// Runs chosen as baselines; the last choice counts.
const BASELINES: &str = "
CREATE TABLE baseline (number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (number)) STRICT;
CREATE TRIGGER baseline_stays BEFORE UPDATE ON baseline BEGIN SELECT RAISE(ABORT, 'a choice is never edited'); END;
CREATE TRIGGER baseline_remains BEFORE DELETE ON baseline BEGIN SELECT RAISE(ABORT, 'a choice is never removed'); END;
";

/// Labels of runs; the last one counts, and an empty text removes a label.
const LABELS: &str = "
CREATE TABLE label (
    number INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (number),
    words TEXT NOT NULL
) STRICT;
CREATE INDEX label_run ON label (run, number);
CREATE TRIGGER label_stays BEFORE UPDATE ON label BEGIN SELECT RAISE(ABORT, 'a label is never edited'); END;
CREATE TRIGGER label_remains BEFORE DELETE ON label BEGIN SELECT RAISE(ABORT, 'a label is never removed'); END;
";

/// The seal of the machine on which a baseline was chosen. A choice without a seal, from an earlier version or another
/// machine, does not count.
const SEALED_BASELINES: &str = "ALTER TABLE baseline ADD COLUMN seal BLOB;";

/// The first version in which choices of baselines are sealed.
pub(super) const SEALED_BASELINES_SINCE: i64 = 4;

/// The version that all steps make.
pub(super) fn known() -> i64 {
    version_after(STEPS.len())
}

/// The version after so many steps.
fn version_after(steps: usize) -> i64 {
    // A list in this file is short.
    i64::try_from(steps).unwrap_or(i64::MAX)
}

/// A table, index or trigger: its kind, name and the statement that made it.
pub(super) type Object = (String, String, Option<String>);

/// Everything that a database declares, sorted.
pub(super) fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// The declarations of a history of that version; `None` for an unknown version.
pub(super) fn expected(version: i64) -> rusqlite::Result<Option<Vec<Object>>> {
    let Some(steps) = usize::try_from(version).ok().and_then(|count| STEPS.get(..count)) else {
        return Ok(None);
    };
    let connection = Connection::open_in_memory()?;
    for step in steps {
        connection.execute_batch(step)?;
    }
    objects(&connection).map(Some)
}

/// The reason why the version of a file is implausible, if it is.
///
/// A newer program is recognised by unknown tables. A higher version with the tables of a known version is a damaged
/// number, and so is an excessively high one.
pub(super) fn implausible(version: i64, objects: &[Object]) -> rusqlite::Result<Option<String>> {
    if (0..=known()).contains(&version) {
        return Ok(None);
    }
    if !(0..=MOST_VERSIONS).contains(&version) {
        return Ok(Some(format!("it states schema {version}, which does not exist")));
    }
    for known in 1..=known() {
        if expected(known)?.is_some_and(|expected| expected == objects) {
            let reason =
                format!("it states schema {version}, and its tables are those of schema {known}");
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// Creates all tables in an empty database, in one transaction.
pub(super) fn begin(connection: &mut Connection, machine: &str) -> rusqlite::Result<()> {
    take(connection, STEPS, |transaction| {
        transaction.execute("INSERT INTO begun (machine) VALUES (?1)", [machine]).map(drop)
    })
}

/// Applies the migrations from a version to the latest, in one transaction.
pub(super) fn migrate(connection: &mut Connection, from: i64) -> rusqlite::Result<()> {
    let taken = usize::try_from(from).unwrap_or(STEPS.len());
    take(connection, STEPS.get(taken..).unwrap_or_default(), |_| Ok(()))
}

fn take(
    connection: &mut Connection,
    steps: &[&str],
    then: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    for step in steps {
        transaction.execute_batch(step)?;
    }
    then(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", known())?;
    transaction.commit()
}
