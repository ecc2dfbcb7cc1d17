//! Writes each entry to the journal before listeners receive it.

use std::time::Instant;

use super::candidate_runner::Interrupted;
use super::entry::Entry;
use super::journal::Journal;
use super::state::SearchState;

/// Receives each entry, with the state that includes it.
pub type EntryListener<'a> = Box<dyn FnMut(&Entry, &SearchState) + 'a>;

/// Adds entries to the journal and the state, and sends them to the listener.
pub(super) struct JournalWriter<'a> {
    pub(super) story: SearchState,
    journal: Option<Journal>,
    listener: EntryListener<'a>,
    began: Instant,
    /// Seconds that the search had run before, from the journal.
    before: f64,
}

impl<'a> JournalWriter<'a> {
    /// A writer that continues from a state and its elapsed time.
    pub(super) fn new(
        story: SearchState,
        journal: Option<Journal>,
        listener: EntryListener<'a>,
    ) -> Self {
        let before = story.spent.seconds;
        Self { story, journal, listener, began: Instant::now(), before }
    }

    /// Records an entry.
    pub(super) fn record(&mut self, entry: &Entry) -> Result<(), Interrupted> {
        self.update_elapsed();
        let broken = |error: &dyn std::fmt::Display| Interrupted::Impossible(error.to_string());
        if let Some(journal) = &mut self.journal {
            journal.append(self.story.spent.seconds, entry).map_err(|error| broken(&error))?;
        }
        // The state is created with the header.
        if !matches!(entry, Entry::Began(_)) {
            self.story.add(entry).map_err(|error| broken(&error))?;
        }
        (self.listener)(entry, &self.story);
        Ok(())
    }

    /// Updates the elapsed time of the state.
    pub(super) fn update_elapsed(&mut self) {
        self.story.spent.seconds = self.before + self.began.elapsed().as_secs_f64();
    }
}
