//! Events that a client has not read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::coalescing_queue::{CoalescingQueue, QueuedEvent};

use super::event::Event;
use super::request::RequestId;

/// Unread ends of requests from which on new requests are refused.
pub(super) const MAX_UNREAD_ENDS: usize = 1024;

/// Called after each event by the thread that sent it, to wake the reader. It must not call the engine: that thread may
/// hold a lock of it.
pub struct Wake(pub Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Wake {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Wake")
    }
}

/// Queue from the engine threads, which never wait, to one reader. The end of a request is never left out; progress and
/// repeated notices coalesce while the reader does not read.
#[derive(Debug)]
pub(super) struct EventQueue {
    unread: CoalescingQueue<Event>,
    /// Queues of clients, by request, until the request ends.
    redirected: Mutex<BTreeMap<RequestId, Arc<Self>>>,
    wake: Option<Wake>,
}

/// The state that an event of progress reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportedState {
    /// How far a request is.
    Progress(RequestId),
    /// That this incident occurred.
    Incident(String),
}

impl QueuedEvent for Event {
    type Key = ReportedState;

    fn coalescing_key(&self) -> Option<ReportedState> {
        match self {
            Self::Queued { request, .. } | Self::Began { request, .. } => {
                Some(ReportedState::Progress(*request))
            }
            Self::Noticed(notice) => Some(ReportedState::Incident(notice.to_string())),
            Self::Finished { .. } => None,
        }
    }
}

impl EventQueue {
    pub(super) fn new(wake: Option<Wake>) -> Self {
        Self { unread: CoalescingQueue::new(), redirected: Mutex::default(), wake }
    }

    /// Sends all events of this request to another queue.
    pub(super) fn redirect(&self, request: RequestId, reader: Arc<Self>) {
        self.redirected().insert(request, reader);
    }

    /// Removes the redirection of a request that was refused.
    pub(super) fn cancel_redirect(&self, request: RequestId) {
        self.redirected().remove(&request);
    }

    /// The queue of the client that made the request of this event.
    fn reader(&self, event: &Event) -> Option<Arc<Self>> {
        let request = event.request()?;
        let mut redirected = self.redirected();
        match event {
            Event::Finished { .. } => redirected.remove(&request),
            Event::Queued { .. } | Event::Began { .. } | Event::Noticed(_) => {
                redirected.get(&request).map(Arc::clone)
            }
        }
    }

    pub(super) fn push(&self, event: Event) {
        if let Some(reader) = self.reader(&event) {
            return reader.push(event);
        }
        self.unread.push(event);
        if let Some(Wake(wake)) = &self.wake {
            wake();
        }
    }

    /// The oldest unread event; waits for one at most `patience`.
    pub(super) fn next(&self, patience: Duration) -> Option<Event> {
        self.unread.next(patience)
    }

    /// The oldest unread event; waits for one until `cancellation` is raised, and then returns none.
    pub(super) fn next_unless(&self, cancellation: &Cancellation) -> Option<Event> {
        self.unread.next_unless(cancellation)
    }

    /// Number of unread [`Event::Finished`].
    pub(super) fn unread_ends(&self) -> usize {
        self.unread.unread_results()
    }

    /// Number of unread events.
    #[cfg(test)]
    pub(super) fn unread(&self) -> usize {
        self.unread.len()
    }

    fn redirected(&self) -> MutexGuard<'_, BTreeMap<RequestId, Arc<Self>>> {
        self.redirected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
