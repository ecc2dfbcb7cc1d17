//! Events that a client has not read.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::event::Event;
use super::request::RequestId;

/// With this many unread events, progress is dropped: the last event of a request contains its whole result.
const MAX_PROGRESS_EVENTS: usize = 4096;

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

/// Queue from the engine threads, which never wait, to one reader.
#[derive(Debug)]
pub(super) struct EventQueue {
    queued: Mutex<QueuedEvents>,
    more: Condvar,
    wake: Option<Wake>,
}

#[derive(Debug, Default)]
struct QueuedEvents {
    events: VecDeque<Event>,
    ends: usize,
    /// Queues of clients, by request, until the request ends.
    redirected: BTreeMap<RequestId, Arc<EventQueue>>,
}

impl EventQueue {
    pub(super) fn new(wake: Option<Wake>) -> Self {
        Self { queued: Mutex::default(), more: Condvar::new(), wake }
    }

    /// Sends all events of this request to another queue.
    pub(super) fn redirect(&self, request: RequestId, reader: Arc<Self>) {
        self.lock().redirected.insert(request, reader);
    }

    /// Removes the redirection of a request that was refused.
    pub(super) fn cancel_redirect(&self, request: RequestId) {
        self.lock().redirected.remove(&request);
    }

    /// The queue of the client that made the request of this event.
    fn reader(&self, event: &Event) -> Option<Arc<Self>> {
        let request = event.request()?;
        let mut said = self.lock();
        match event {
            Event::Finished { .. } => said.redirected.remove(&request),
            Event::Queued { .. } | Event::Began { .. } | Event::Noticed(_) => {
                said.redirected.get(&request).map(Arc::clone)
            }
        }
    }

    pub(super) fn push(&self, event: Event) {
        if let Some(reader) = self.reader(&event) {
            return reader.push(event);
        }
        {
            let mut said = self.lock();
            match event {
                Event::Finished { .. } => said.ends += 1,
                Event::Queued { .. } | Event::Began { .. }
                    if said.events.len() >= MAX_PROGRESS_EVENTS =>
                {
                    return;
                }
                Event::Queued { .. } | Event::Began { .. } | Event::Noticed(_) => {}
            }
            said.events.push_back(event);
        }
        self.more.notify_one();
        if let Some(Wake(wake)) = &self.wake {
            wake();
        }
    }

    /// The oldest unread event; waits for one at most `patience`.
    pub(super) fn next(&self, patience: Duration) -> Option<Event> {
        let deadline = Instant::now().checked_add(patience);
        let mut said = self.lock();
        loop {
            if let Some(event) = said.events.pop_front() {
                said.ends -= usize::from(matches!(event, Event::Finished { .. }));
                return Some(event);
            }
            let left = match deadline {
                Some(deadline) => deadline.checked_duration_since(Instant::now())?,
                None => Duration::MAX,
            };
            let waited = self.more.wait_timeout(said, left);
            said = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Number of unread [`Event::Finished`].
    pub(super) fn unread_ends(&self) -> usize {
        self.lock().ends
    }

    fn lock(&self) -> MutexGuard<'_, QueuedEvents> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
