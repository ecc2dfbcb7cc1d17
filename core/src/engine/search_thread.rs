//! The thread of a search that runs beside the window. Its requests have background priority.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use lightbench_primitives::coalescing_queue::{CoalescingQueue, QueuedEvent};

use super::event_queue::Wake;
use crate::search::entry::End;
use crate::search::operators::{OperatorWait, WaitControl};
use crate::search::{
    CandidateRunner, Control, Entry, Explorer, FinishedRun, Interrupted, Journal, SearchListeners,
    SearchSetup, SearchState,
};
use crate::suggest::knowledge::Knowledge;

/// Handle of a search on a thread of its own. Dropping it stops the search and joins the thread.
#[derive(Debug)]
pub struct SearchThread {
    control: Control,
    said: Arc<UnreadEvents>,
    thread: Option<JoinHandle<()>>,
}

/// An event of a search.
#[derive(Debug)]
pub enum SearchThreadEvent {
    /// The next entry; [`SearchState`] is the sum of all entries in order.
    Entry(Box<Entry>),
    /// An operator waits for the reply of a model.
    Waiting(OperatorWait),
    /// An evaluation has ended, and its run is to be stored.
    Ran(Box<FinishedRun>),
    /// The search has ended.
    Ended {
        /// The reason.
        why: End,
        /// Gains of techniques that this search observed.
        learnt: Box<Knowledge>,
    },
    /// The search panicked: a defect of Lightbench.
    Panicked,
}

/// Whether a search is new or continues a journal.
#[derive(Debug)]
pub enum SearchOrigin {
    /// A new search.
    New,
    /// The state of a journal, from which the search continues.
    Resumed(Box<SearchState>),
}

impl QueuedEvent for SearchThreadEvent {
    type Key = ();

    /// A wait is replaced by a newer one. Everything else is a result; the budget of the search limits their number.
    fn coalescing_key(&self) -> Option<()> {
        match self {
            Self::Waiting(_) => Some(()),
            Self::Entry(_) | Self::Ran(_) | Self::Ended { .. } | Self::Panicked => None,
        }
    }
}

#[derive(Debug)]
struct UnreadEvents {
    queue: CoalescingQueue<SearchThreadEvent>,
    wake: Option<Wake>,
}

impl SearchThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system cannot start another thread.
    pub fn start(
        mut order: SearchSetup,
        laboratory: impl CandidateRunner + Send + 'static,
        (beginning, journal): (SearchOrigin, Option<Journal>),
        control: Control,
        wake: Option<Wake>,
    ) -> io::Result<Self> {
        let said = Arc::new(UnreadEvents { queue: CoalescingQueue::new(), wake });
        let own = Arc::clone(&said);
        let waits = Arc::clone(&said);
        order.attend(&WaitControl {
            cancellation: control.cancellation.clone(),
            hear: Arc::new(move |waiting| waits.push(SearchThreadEvent::Waiting(waiting.clone()))),
        });
        let thread = Builder::new().name("search".to_owned()).spawn(move || {
            let work = AssertUnwindSafe(|| search(order, laboratory, (beginning, journal), &own));
            if catch_unwind(work).is_err() {
                own.push(SearchThreadEvent::Panicked);
            }
        })?;
        Ok(Self { control, said, thread: Some(thread) })
    }

    /// Pauses, slows and stops the search.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The oldest unread event. It does not wait.
    #[must_use]
    pub fn next_event(&self) -> Option<SearchThreadEvent> {
        self.said.queue.try_next()
    }
}

impl Drop for SearchThread {
    fn drop(&mut self) {
        self.control.stop();
        if let Some(thread) = self.thread.take() {
            // A panic was sent as an event.
            let _panicked = thread.join();
        }
    }
}

impl UnreadEvents {
    fn push(&self, heard: SearchThreadEvent) {
        self.queue.push(heard);
        if let Some(Wake(wake)) = &self.wake {
            wake();
        }
    }
}

fn search(
    order: SearchSetup,
    laboratory: impl CandidateRunner,
    (beginning, journal): (SearchOrigin, Option<Journal>),
    said: &UnreadEvents,
) {
    let audience = SearchListeners {
        listener: Box::new(|entry, _story| {
            said.push(SearchThreadEvent::Entry(Box::new(entry.clone())));
        }),
        keeper: Box::new(|kept| said.push(SearchThreadEvent::Ran(Box::new(kept)))),
    };
    let explorer = match beginning {
        SearchOrigin::New => Explorer::begin(order, laboratory, journal, audience),
        SearchOrigin::Resumed(story) => {
            Ok(Explorer::resume(order, laboratory, *story, journal, audience))
        }
    };
    let (why, learnt) = match explorer {
        Ok(explorer) => {
            let (story, learnt) = explorer.run();
            (story.ended.unwrap_or(End::Stopped), learnt)
        }
        Err(Interrupted::Stopped) => (End::Stopped, Knowledge::default()),
        Err(Interrupted::Impossible(why)) => (End::Impossible(why), Knowledge::default()),
    };
    said.push(SearchThreadEvent::Ended { why, learnt: Box::new(learnt) });
}
