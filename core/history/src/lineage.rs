//! The parents of a candidate, and the runs that others are compared with. Only runs of this machine qualify.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use lightbench_units::Seconds;
use rusqlite::{Params, Transaction, TransactionBehavior, params};

use super::error::HistoryError;
use super::record::{CorrectnessSource, Outcome, RunRecord, Scope, ScoreBasis};
use super::store::{Provenance, RunNumber, SELECT, Store, StoredRun};

impl StoredRun {
    /// Whether other runs may be compared with it: this machine verified all workloads, and the run passed.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        let verified = matches!(
            &self.record.outcome,
            Outcome::Passed { by: CorrectnessSource::Verification(_), .. }
        );
        verified && self.provenance == Provenance::Own && self.record.scope == Scope::Whole
    }
}

/// Orders two runs on one basis: the faster run is better; of equally fast runs, the earlier one.
#[must_use]
pub fn better(one: (Seconds, RunNumber), other: (Seconds, RunNumber)) -> Ordering {
    one.0.0.total_cmp(&other.0.0).then(one.1.cmp(&other.1))
}

/// The sealed text of a baseline choice: its number among all choices, and the run.
fn choice(number: i64, run: &RunRecord) -> String {
    format!("lightbench.baseline/1\n{number}\n{}", run.id)
}

impl Store {
    /// The best run of this machine that a time on this basis can be compared with.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn best(&self, basis: &ScoreBasis) -> Result<Option<StoredRun>, HistoryError> {
        let ScoreBasis(basis) = basis;
        // The order of [`better`].
        let select = format!("{SELECT} WHERE basis = ?1 ORDER BY seconds, run.number");
        self.first(&select, [basis], StoredRun::is_standard)
    }

    /// The latest run of a kernel on this machine with a candidate other than this one, with any verdict: the parent of the
    /// candidate.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn previous(
        &self,
        kernel: &str,
        candidate: Option<&str>,
    ) -> Result<Option<StoredRun>, HistoryError> {
        let select = "SELECT number FROM run INDEXED BY run_newest WHERE kernel = ?1 \
                      AND candidate IS NOT NULL AND candidate IS NOT ?2 ORDER BY number DESC";
        self.latest(select, params![kernel, candidate])
    }

    /// The latest run that passed before the run `before`, or of all runs without one, on the kernel and the device of
    /// `now`, with another candidate: the run that its times are compared with.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn previous_passed(
        &self,
        now: &RunRecord,
        before: Option<RunNumber>,
    ) -> Result<Option<StoredRun>, HistoryError> {
        let select = "SELECT number FROM run INDEXED BY run_newest WHERE kernel = ?1 AND device = ?2 \
                      AND verdict = 'passed' AND number < ?3 \
                      AND candidate IS NOT NULL AND candidate IS NOT ?4 ORDER BY number DESC";
        let before = before.map_or(i64::MAX, |before| before.0);
        self.latest(select, params![now.kernel, now.device.name, before, now.candidate])
    }

    /// The first of the selected runs that is a run of this machine.
    fn latest(
        &self,
        select: &str,
        parameters: impl Params,
    ) -> Result<Option<StoredRun>, HistoryError> {
        let failed = |source| self.failed("look for the previous run", source);
        let mut statement = self.connection().prepare(select).map_err(failed)?;
        let mut numbers = statement.query(parameters).map_err(failed)?;
        while let Some(row) = numbers.next().map_err(failed)? {
            let number = RunNumber(row.get(0).map_err(failed)?);
            // A damaged run is reported where runs are listed.
            let run = self.readable_run(number, &mut Vec::new())?;
            if let Some(run) = run.filter(|run| run.provenance == Provenance::Own) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The chosen baseline among runs with the same task definition.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn baseline(&self, record: &RunRecord) -> Result<Option<StoredRun>, HistoryError> {
        let failed = |source| self.failed("look for the baseline", source);
        let select = "SELECT number, run, seal FROM baseline ORDER BY number DESC";
        let mut statement = self.connection().prepare(select).map_err(failed)?;
        let mut choices = statement.query([]).map_err(failed)?;
        while let Some(row) = choices.next().map_err(failed)? {
            let read = (row.get("number"), row.get("run"), row.get::<_, Option<Vec<u8>>>("seal"));
            // A damaged choice is ignored; the previous one counts.
            let (Ok(number), Ok(run), Ok(seal)) = read else { continue };
            let Some(run) = self.readable_run(RunNumber(run), &mut Vec::new())? else { continue };
            let is_chosen_here = self.has_sealed(&choice(number, &run.record), seal.as_deref());
            let (found, device) = (&run.record, &record.device);
            let asks_the_same = (&found.project, &found.definition)
                == (&record.project, &record.definition)
                && found.device == *device;
            if is_chosen_here && run.is_standard() && asks_the_same {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// Chooses a run as the baseline; earlier choices stay in the history.
    ///
    /// # Errors
    /// The run does not exist, is recorded, or did not pass all checks.
    pub fn choose_baseline(&mut self, number: RunNumber) -> Result<(), HistoryError> {
        let run = self.run(number)?.ok_or(HistoryError::NoSuchRun(number))?;
        if run.provenance == Provenance::Recorded {
            return Err(HistoryError::OnlyRecorded(number));
        }
        if !run.is_standard() {
            return Err(HistoryError::NotPassed(number));
        }
        self.insert_choice(&run).map_err(|source| self.failed("choose a baseline", source))
    }

    fn insert_choice(&self, run: &StoredRun) -> rusqlite::Result<()> {
        // The seal covers the number, so that an earlier choice cannot be moved after a later one.
        let connection = self.connection();
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        let next = "SELECT ifnull(max(number), 0) + 1 FROM baseline";
        let next: i64 = transaction.query_row(next, [], |row| row.get(0))?;
        let seal = self.seal(&choice(next, &run.record));
        let insert = "INSERT INTO baseline (number, run, seal) VALUES (?1, ?2, ?3)";
        transaction.execute(insert, params![next, run.number.0, seal])?;
        transaction.commit()
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
        // A file from another machine may contain a cycle of parents.
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
            let mut rows = statement.query([of])?;
            let mut names = Vec::new();
            while let Some(row) = rows.next()? {
                // A damaged name ends the lineage; lists of runs report the damaged run.
                names.extend(row.get_ref(0)?.as_str().ok().map(str::to_owned));
            }
            Ok(names)
        };
        names().map_err(|source| self.failed("follow a lineage", source))
    }

    /// The first run of a query that satisfies the condition.
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
                if let Some(run) = self.stored(row, &mut Vec::new())?.filter(&is_meant) {
                    return Ok(Some(run));
                }
            }
            Ok(None)
        };
        find().map_err(|source| self.failed("look for a run", source))
    }
}
