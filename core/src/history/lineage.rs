//! What came from what, and which runs others are compared with. Only runs of this machine are.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use rusqlite::Params;

use super::error::HistoryError;
use super::record::{Basis, Outcome, PassedBy, RunRecord, Scope};
use super::store::{Provenance, RunNumber, SELECT, Store, StoredRun};
use crate::units::Seconds;

impl StoredRun {
    /// Whether others may be compared with it: this machine verified everything, and it passed.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        let verified =
            matches!(&self.record.outcome, Outcome::Passed { by: PassedBy::Verification(_), .. });
        verified && self.provenance == Provenance::Own && self.record.scope == Scope::Whole
    }
}

/// Which of two runs on one basis is the better one: the faster, and of equally fast ones the earlier, as nothing has beaten it.
#[must_use]
pub fn better(one: (Seconds, RunNumber), other: (Seconds, RunNumber)) -> Ordering {
    one.0.0.total_cmp(&other.0.0).then(one.1.cmp(&other.1))
}

impl Store {
    /// The best run of this machine that a time on this basis can be compared with.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn best(&self, basis: &Basis) -> Result<Option<StoredRun>, HistoryError> {
        let Basis(basis) = basis;
        // The order of [`better`].
        let select = format!("{SELECT} WHERE basis = ?1 ORDER BY seconds, run.number");
        self.first(&select, [basis], StoredRun::is_standard)
    }

    /// The newest run of a kernel by this machine with another candidate than this one, whatever came of it.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn previous(
        &self,
        kernel: &str,
        candidate: Option<&str>,
    ) -> Result<Option<StoredRun>, HistoryError> {
        let select =
            "SELECT number FROM run INDEXED BY run_newest WHERE kernel = ?1 ORDER BY number DESC";
        let failed = |source| self.failed("look for the previous run", source);
        let mut statement = self.connection().prepare(select).map_err(failed)?;
        let mut numbers = statement.query([kernel]).map_err(failed)?;
        while let Some(row) = numbers.next().map_err(failed)? {
            let run = self.run(RunNumber(row.get(0).map_err(failed)?))?;
            let is_meant = |run: &StoredRun| {
                let found = run.record.candidate.as_deref();
                run.provenance == Provenance::Own && found.is_some() && found != candidate
            };
            if let Some(run) = run.filter(is_meant) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The run that somebody chose to compare with, among those that ask the same of a candidate.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn baseline(&self, record: &RunRecord) -> Result<Option<StoredRun>, HistoryError> {
        let select = format!(
            "{SELECT} JOIN baseline ON baseline.run = run.number ORDER BY baseline.number DESC"
        );
        self.first(&select, [], |run| {
            let (found, device) = (&run.record, &record.device);
            run.is_standard()
                && (&found.project, &found.definition) == (&record.project, &record.definition)
                && found.device == *device
        })
    }

    /// Chooses a run as the baseline; an earlier choice stays on record.
    ///
    /// # Errors
    /// There is no such run, it is a recorded one, or it did not pass everything.
    pub fn choose_baseline(&mut self, number: RunNumber) -> Result<(), HistoryError> {
        let run = self.run(number)?.ok_or(HistoryError::NoSuchRun(number))?;
        if run.provenance == Provenance::Recorded {
            return Err(HistoryError::OnlyRecorded(number));
        }
        if !run.is_standard() {
            return Err(HistoryError::NotPassed(number));
        }
        let insert = "INSERT INTO baseline (run) VALUES (?1)";
        let inserted = self.connection().execute(insert, [number.0]);
        inserted.map(drop).map_err(|source| self.failed("choose a baseline", source))
    }

    /// The candidates that were made from this one, in the order in which they first ran.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn children(&self, candidate: &str) -> Result<Vec<String>, HistoryError> {
        let select = "SELECT candidate FROM run WHERE parent = ?1 AND candidate IS NOT NULL \
                      GROUP BY candidate ORDER BY min(number)";
        self.names(select, candidate)
    }

    /// The candidates that this one was made from, the nearest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn ancestors(&self, candidate: &str) -> Result<Vec<String>, HistoryError> {
        let select = "SELECT parent FROM run WHERE candidate = ?1 AND parent IS NOT NULL ORDER BY number LIMIT 1";
        let mut ancestors = Vec::new();
        // A file from elsewhere may say that two candidates come from each other.
        let mut seen = BTreeSet::from([candidate.to_owned()]);
        let mut current = candidate.to_owned();
        while let Some(parent) = self.names(select, &current)?.pop() {
            if !seen.insert(parent.clone()) {
                break;
            }
            ancestors.push(parent.clone());
            current = parent;
        }
        Ok(ancestors)
    }

    fn names(&self, select: &str, of: &str) -> Result<Vec<String>, HistoryError> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection().prepare(select)?;
            statement.query_map([of], |row| row.get(0))?.collect()
        };
        names().map_err(|source| self.failed("follow a lineage", source))
    }

    /// The first run that a query finds and that is what is asked for.
    fn first(
        &self,
        select: &str,
        with: impl Params,
        is_meant: impl Fn(&StoredRun) -> bool,
    ) -> Result<Option<StoredRun>, HistoryError> {
        let find = || {
            let mut statement = self.connection().prepare(select)?;
            let mut rows = statement.query(with)?;
            while let Some(row) = rows.next()? {
                if let Some(run) = self.stored(row)?.filter(&is_meant) {
                    return Ok(Some(run));
                }
            }
            Ok(None)
        };
        find().map_err(|source| self.failed("look for a run", source))
    }
}
