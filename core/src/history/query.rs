//! The newest runs, filtered and sorted.

use rusqlite::{Params, params};

use super::damage::DamagedRow;
use super::error::HistoryError;
use super::store::{RunNumber, SELECT, Store, StoredRun};

/// Which runs are asked for; what is not named is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this kernel.
    pub kernel: Option<String>,
    /// On the device of this name.
    pub device: Option<String>,
    /// With this verdict: `passed` or the word of a failure.
    pub verdict: Option<String>,
    /// With this label.
    pub label: Option<String>,
}

/// In which order they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The newest first.
    Newest,
    /// The fastest first, those without a time last.
    Fastest,
    /// By the name of the kernel, the newest of each first.
    Kernel,
}

/// Runs that were asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The runs.
    pub runs: Vec<StoredRun>,
    /// What is damaged in the rows that were read. A run whose label alone is damaged is among the runs as well.
    pub damaged: Vec<DamagedRow>,
    /// How many rows were read, with and without damage.
    pub rows: usize,
}

impl Listing {
    /// The lowest number of all rows, damaged or not.
    #[must_use]
    pub fn oldest(&self) -> Option<RunNumber> {
        let damaged = self.damaged.iter().map(|row| row.run);
        self.runs.iter().map(|run| run.number).chain(damaged).min()
    }
}

impl Store {
    /// The newest runs that the filter lets through, at most `limit`, in the order that is asked for.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn newest(
        &self,
        filter: &Filter,
        order: Order,
        limit: usize,
    ) -> Result<Listing, HistoryError> {
        let failed = |source| self.failed("list runs", source);
        let mut listing = self.listing(filter, limit).map_err(failed)?;
        let name = |run: &StoredRun| run.record.kernel.clone();
        let seconds =
            |run: &StoredRun| run.record.score().map_or(f64::INFINITY, |score| score.seconds.0);
        match order {
            Order::Newest => {}
            Order::Kernel => listing.runs.sort_by_cached_key(name),
            Order::Fastest => listing.runs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b))),
        }
        Ok(listing)
    }

    /// The newest runs before that one, or of all where none is named, at most `limit`, the newest first: so a long
    /// history is read page by page.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn page(&self, before: Option<RunNumber>, limit: usize) -> Result<Listing, HistoryError> {
        let select = format!("{SELECT} WHERE run.number < ?1 ORDER BY run.number DESC LIMIT ?2");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let before = before.map_or(i64::MAX, |before| before.0);
        self.listed(&select, params![before, limit])
            .map_err(|source| self.failed("list runs", source))
    }

    fn listing(&self, filter: &Filter, limit: usize) -> rusqlite::Result<Listing> {
        // The index holds all that is filtered by, in the order of the numbers: nothing else is read until it is known
        // which runs are meant.
        let select = format!(
            "{SELECT} WHERE run.number IN (
                 SELECT number FROM run INDEXED BY run_newest
                 WHERE (?1 IS NULL OR kernel = ?1) AND (?2 IS NULL OR device = ?2)
                   AND (?3 IS NULL OR verdict = ?3)
                   AND (?4 IS NULL OR number IN (
                       SELECT run FROM label AS last WHERE words = ?4 AND words <> '' AND number =
                           (SELECT max(number) FROM label WHERE label.run = last.run)))
                 ORDER BY number DESC LIMIT ?5)
             ORDER BY run.number DESC"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let Filter { kernel, device, verdict, label } = filter;
        self.listed(&select, params![kernel, device, verdict, label, limit])
    }

    fn listed(&self, select: &str, parameters: impl Params) -> rusqlite::Result<Listing> {
        let mut statement = self.connection().prepare(select)?;
        let mut rows = statement.query(parameters)?;
        let mut listing = Listing::default();
        while let Some(row) = rows.next()? {
            listing.rows += 1;
            listing.runs.extend(self.stored(row, &mut listing.damaged)?);
        }
        Ok(listing)
    }

    /// How many runs there are.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn count(&self) -> Result<u64, HistoryError> {
        let count = self.connection().query_row("SELECT count(*) FROM run", [], |row| row.get(0));
        let count: i64 = count.map_err(|source| self.failed("count runs", source))?;
        Ok(count.unsigned_abs())
    }
}
