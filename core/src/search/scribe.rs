//! Writes down what happens, before anybody hears of it.

use std::time::Instant;

use super::entry::Entry;
use super::journal::Journal;
use super::laboratory::Interrupted;
use super::story::Story;

/// Hears what happened, with the story that includes it.
pub type Listener<'a> = Box<dyn FnMut(&Entry, &Story) + 'a>;

/// Writes down what happens.
pub(super) struct Scribe<'a> {
    pub(super) story: Story,
    journal: Option<Journal>,
    listener: Listener<'a>,
    began: Instant,
    /// Seconds that the search had run when this began.
    before: f64,
}

impl<'a> Scribe<'a> {
    /// One that goes on from a story; the clock goes on too.
    pub(super) fn new(story: Story, journal: Option<Journal>, listener: Listener<'a>) -> Self {
        let before = story.spent.seconds;
        Self { story, journal, listener, began: Instant::now(), before }
    }

    /// Something happened.
    pub(super) fn record(&mut self, entry: &Entry) -> Result<(), Interrupted> {
        self.look_at_clock();
        let broken = |error: &dyn std::fmt::Display| Interrupted::Impossible(error.to_string());
        if let Some(journal) = &mut self.journal {
            journal.append(self.story.spent.seconds, entry).map_err(|error| broken(&error))?;
        }
        // The story has its header from the beginning.
        if !matches!(entry, Entry::Began(_)) {
            self.story.add(entry).map_err(|error| broken(&error))?;
        }
        (self.listener)(entry, &self.story);
        Ok(())
    }

    /// Brings the time that was spent up to date.
    pub(super) fn look_at_clock(&mut self) {
        self.story.spent.seconds = self.before + self.began.elapsed().as_secs_f64();
    }
}
