//! The newest runs, filtered and sorted.

use rusqlite::{Params, params};

use super::damage::DamagedRow;
use super::error::HistoryError;
use super::store::{RunNumber, SELECT, Store, StoredRun};

/// A filter for runs; fields that are `None` match every run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The kernel.
    pub kernel: Option<String>,
    /// The name of the device.
    pub device: Option<String>,
    /// The verdict: `passed` or the word of a failure.
    pub verdict: Option<String>,
    /// With this label.
    pub label: Option<String>,
}

/// The order of a list of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The newest first.
    Newest,
    /// The fastest first, those without a time last.
    Fastest,
    /// By the name of the kernel, latest run first.
    Kernel,
}

/// The runs of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The runs.
    pub runs: Vec<StoredRun>,
    /// The damage in the rows that were read. A run with only a damaged label is also among the runs.
    pub damaged: Vec<DamagedRow>,
    /// The number of rows read, with and without damage.
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
    /// The latest runs that match the filter, at most `limit`, in the requested order.
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

    /// The latest runs before the run `before`, or of all runs without one; at most `limit`, latest first. It reads a long
    /// history page by page.
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
        // The index has all filtered columns in the order of run numbers, so documents are read only for matching runs.
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

    /// The number of runs.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn count(&self) -> Result<u64, HistoryError> {
        let count = self.connection().query_row("SELECT count(*) FROM run", [], |row| row.get(0));
        let count: i64 = count.map_err(|source| self.failed("count runs", source))?;
        Ok(count.unsigned_abs())
    }
}
