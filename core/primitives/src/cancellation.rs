//! Cancellation of work: a flag that running code polls, and a channel that wakes a waiting thread at once.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, at, bounded, never, select_biased};

/// Interval at which a wait polls a flag that is set without [`Cancellation::cancel`], such as by a signal handler.
const FLAG_INTERVAL: Duration = Duration::from_millis(20);

/// A flag that is raised once; clones share it.
///
/// It can be made from an existing flag, so that a signal handler that sets an [`AtomicBool`] cancels work without
/// depending on this type.
#[derive(Clone, Debug)]
pub struct Cancellation {
    flag: Arc<AtomicBool>,
    shared: Arc<Shared>,
    /// This token is cancelled with its parent.
    parent: Option<Arc<Self>>,
}

/// The channel that wakes waiting threads.
#[derive(Debug)]
struct Shared {
    /// Disconnects when the token is raised; no message is ever sent.
    raised: Receiver<Infallible>,
    links: Mutex<Links>,
    flag_source: FlagSource,
}

#[derive(Debug)]
struct Links {
    /// Dropped when the token is raised.
    open: Option<Sender<Infallible>>,
    children: Vec<Child>,
}

/// A token that is raised with its parent; it does not keep that token alive.
#[derive(Debug)]
struct Child {
    flag: Weak<AtomicBool>,
    shared: Weak<Shared>,
}

/// Who can set the flag of a token or of one of its parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagSource {
    /// Only [`Cancellation::cancel`], which wakes waiting threads.
    Cancel,
    /// Also the owner of the flag, such as a signal handler; waiting threads poll it.
    Owner,
}

/// Why a wait ended without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitError {
    /// The token was raised.
    Cancelled,
    /// The deadline has passed.
    TimedOut,
    /// All senders of the channel have been dropped.
    Disconnected,
}

impl Cancellation {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token for a part of the work: it is raised with this one, and can be raised alone.
    #[must_use]
    pub fn child(&self) -> Self {
        let flag = Arc::default();
        let shared = Arc::new(Shared::new(self.shared.flag_source));
        let child = Self { flag, shared, parent: Some(Arc::new(self.clone())) };
        let mut links = self.shared.links();
        if links.open.is_some() {
            links.children.retain(|child| child.shared.strong_count() > 0);
            links.children.push(Child {
                flag: Arc::downgrade(&child.flag),
                shared: Arc::downgrade(&child.shared),
            });
        } else {
            drop(links);
            child.cancel();
        }
        child
    }

    /// Requests all holders of a clone or a child to stop, and wakes those that wait in [`Cancellation::receive`].
    pub fn cancel(&self) {
        raise(&self.flag, &self.shared);
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let parent = || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled());
        self.flag.load(Ordering::Relaxed) || parent()
    }

    /// Waits for a message until the deadline, or without a time limit if there is no deadline. Cancellation ends the wait
    /// at once. A message that has already arrived is returned even after cancellation or the deadline.
    ///
    /// # Errors
    ///
    /// [`WaitError`].
    pub fn receive<Message>(
        &self,
        messages: &Receiver<Message>,
        deadline: Option<Instant>,
    ) -> Result<Message, WaitError> {
        loop {
            if self.is_cancelled() {
                return messages.try_recv().or(Err(WaitError::Cancelled));
            }
            let poll = match self.shared.flag_source {
                FlagSource::Cancel => None,
                FlagSource::Owner => Some(Instant::now() + FLAG_INTERVAL),
            };
            let timer = deadline.into_iter().chain(poll).min().map_or_else(never, at);
            select_biased! {
                recv(messages) -> message => return message.or(Err(WaitError::Disconnected)),
                recv(self.shared.raised) -> _ => return Err(WaitError::Cancelled),
                recv(timer) -> _ => {}
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(WaitError::TimedOut);
            }
        }
    }
}

/// Sets the flag, and wakes the threads that wait for it or for that of a child.
fn raise(flag: &AtomicBool, shared: &Shared) {
    flag.store(true, Ordering::Relaxed);
    let children = {
        let mut links = shared.links();
        links.open = None;
        std::mem::take(&mut links.children)
    };
    for Child { flag, shared } in children {
        if let Some((flag, shared)) = flag.upgrade().zip(shared.upgrade()) {
            raise(&flag, &shared);
        }
    }
}

impl Default for Cancellation {
    fn default() -> Self {
        Self {
            flag: Arc::default(),
            shared: Arc::new(Shared::new(FlagSource::Cancel)),
            parent: None,
        }
    }
}

impl From<Arc<AtomicBool>> for Cancellation {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag, shared: Arc::new(Shared::new(FlagSource::Owner)), parent: None }
    }
}

impl Shared {
    fn new(flag_source: FlagSource) -> Self {
        let (open, raised) = bounded(0);
        let links = Mutex::new(Links { open: Some(open), children: Vec::new() });
        Self { raised, links, flag_source }
    }

    fn links(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Far longer than any of these tests takes: a wait that nothing wakes fails its test by its result, not by a hang.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn clones_share_the_flag() {
        let token = Cancellation::new();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        token.cancel();
        assert!(clone.is_cancelled());
    }

    #[test]
    fn a_child_is_cancelled_with_its_parent_and_not_the_other_way() {
        let parent = Cancellation::new();
        let (one, other) = (parent.child(), parent.child());
        one.cancel();
        assert!(one.is_cancelled() && !other.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(other.is_cancelled() && other.child().is_cancelled());
    }

    #[test]
    fn a_flag_from_elsewhere_cancels() {
        let flag = Arc::new(AtomicBool::new(false));
        let token = Cancellation::from(Arc::clone(&flag));
        flag.store(true, Ordering::Relaxed);
        assert!(token.is_cancelled());
    }

    /// A thread waits with `waiting`; `raise` must end its wait.
    fn check_wakes(waiting: &Cancellation, raise: impl FnOnce()) {
        let (began, has_begun) = bounded(1);
        thread::scope(|scope| {
            let wait = || {
                began.send(()).unwrap();
                waiting.receive(&never::<()>(), Some(Instant::now() + PATIENCE))
            };
            let thread = thread::Builder::new().spawn_scoped(scope, wait).unwrap();
            has_begun.recv().unwrap();
            // So that the thread most likely sleeps; the result must be the same if it does not yet.
            thread::sleep(Duration::from_millis(20));
            raise();
            assert_eq!(thread.join().unwrap(), Err(WaitError::Cancelled));
        });
    }

    #[test]
    fn a_waiting_thread_is_woken() {
        let token = Cancellation::new();
        check_wakes(&token, || token.cancel());
        let parent = Cancellation::new();
        check_wakes(&parent.child(), || parent.cancel());
        let grandparent = Cancellation::new();
        check_wakes(&grandparent.child().child(), || grandparent.cancel());
    }

    #[test]
    fn a_token_that_is_already_raised_ends_a_wait_and_messages_come_first() {
        let token = Cancellation::new();
        token.cancel();
        let (sender, messages) = bounded(1);
        let wait = |token: &Cancellation| token.receive(&messages, None);
        assert_eq!(wait(&token), Err(WaitError::Cancelled));
        assert_eq!(wait(&token.child()), Err(WaitError::Cancelled));
        sender.send(7).unwrap();
        assert_eq!(wait(&token), Ok(7));
    }

    #[test]
    fn a_wait_ends_with_a_message_a_deadline_or_the_sender() {
        let token = Cancellation::new();
        let (sender, messages) = bounded(1);
        sender.send(7).unwrap();
        let past = Some(Instant::now());
        assert_eq!(token.receive(&messages, past), Ok(7));
        assert_eq!(token.receive(&messages, past), Err(WaitError::TimedOut));
        drop(sender);
        assert_eq!(token.receive(&messages, None), Err(WaitError::Disconnected));
    }

    #[test]
    fn a_parent_forgets_children_that_were_dropped() {
        let parent = Cancellation::new();
        for _ in 0..100 {
            let _ended = parent.child();
        }
        assert!(parent.shared.links().children.len() <= 1);
    }

    #[test]
    fn a_flag_from_elsewhere_ends_a_wait() {
        let flag = Arc::new(AtomicBool::new(false));
        let token = Cancellation::from(Arc::clone(&flag)).child();
        check_wakes(&token, || flag.store(true, Ordering::Relaxed));
    }
}
