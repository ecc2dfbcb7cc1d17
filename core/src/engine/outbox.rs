//! What was said and not read yet.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::event::Event;
use super::request::RequestId;

/// With as many events unread, progress is not kept: the end of a request says all that came of it.
const MOST_PROGRESS: usize = 4096;

/// Ends that may be unread before no more requests are taken.
pub(super) const MOST_UNREAD: usize = 1024;

/// Called after each event by the thread that said it: wakes whoever reads, and does nothing else. It must not ask the
/// engine anything.
pub struct Wake(pub Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Wake {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Wake")
    }
}

/// Between the threads, which never wait for a reader, and the one who reads.
#[derive(Debug)]
pub(super) struct Outbox {
    said: Mutex<Said>,
    more: Condvar,
    wake: Option<Wake>,
}

#[derive(Debug, Default)]
struct Said {
    events: VecDeque<Event>,
    ends: usize,
    /// Requests of somebody who reads apart, until they end.
    apart: BTreeMap<RequestId, Arc<Outbox>>,
}

impl Outbox {
    pub(super) fn new(wake: Option<Wake>) -> Self {
        Self { said: Mutex::default(), more: Condvar::new(), wake }
    }

    /// Everything about this request is for another reader.
    pub(super) fn set_apart(&self, request: RequestId, reader: Arc<Self>) {
        self.lock().apart.insert(request, reader);
    }

    /// The request was not taken after all.
    pub(super) fn forget(&self, request: RequestId) {
        self.lock().apart.remove(&request);
    }

    /// Who reads about this event, if it is somebody apart.
    fn reader(&self, event: &Event) -> Option<Arc<Self>> {
        let request = event.request()?;
        let mut said = self.lock();
        match event {
            Event::Finished { .. } => said.apart.remove(&request),
            Event::Queued { .. } | Event::Began { .. } | Event::Noticed(_) => {
                said.apart.get(&request).map(Arc::clone)
            }
        }
    }

    pub(super) fn say(&self, event: Event) {
        if let Some(reader) = self.reader(&event) {
            return reader.say(event);
        }
        {
            let mut said = self.lock();
            match event {
                Event::Finished { .. } => said.ends += 1,
                Event::Queued { .. } | Event::Began { .. }
                    if said.events.len() >= MOST_PROGRESS =>
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

    /// The oldest unread event, waited for at most this long.
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

    /// Ends that nobody has read.
    pub(super) fn unread(&self) -> usize {
        self.lock().ends
    }

    fn lock(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
