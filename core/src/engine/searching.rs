//! The one thread of a search beside the window: it asks as everybody does, after everybody else.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::outbox::Wake;
use crate::search::entry::End;
use crate::search::operators::{Attention, Waiting};
use crate::search::{
    Audience, Control, Entry, Explorer, Interrupted, Journal, Kept, Laboratory, Order, Story,
};
use crate::suggest::knowledge::Knowledge;

/// A search that runs on a thread of its own. Dropping it stops the search and waits for the little time that takes.
#[derive(Debug)]
pub struct Searching {
    control: Control,
    said: Arc<Said>,
    thread: Option<JoinHandle<()>>,
}

/// What a search says.
#[derive(Debug)]
pub enum Heard {
    /// Something happened; its story is these in their order.
    Entry(Box<Entry>),
    /// An operator waits for an answer from elsewhere.
    Waiting(Waiting),
    /// A kernel went through every check: a run to keep.
    Ran(Box<Kept>),
    /// It ended, and what it learnt.
    Ended {
        /// Why.
        why: End,
        /// What is new about techniques.
        learnt: Box<Knowledge>,
    },
    /// It ended by a defect of ours.
    Panicked,
}

/// How a search begins.
#[derive(Debug)]
pub enum Beginning {
    /// A new one.
    New,
    /// One that was written down goes on.
    Before(Box<Story>),
}

#[derive(Debug)]
struct Said {
    heard: Mutex<VecDeque<Heard>>,
    wake: Option<Wake>,
}

impl Searching {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(
        mut order: Order,
        laboratory: impl Laboratory + Send + 'static,
        (beginning, journal): (Beginning, Option<Journal>),
        control: Control,
        wake: Option<Wake>,
    ) -> io::Result<Self> {
        let said = Arc::new(Said { heard: Mutex::default(), wake });
        let own = Arc::clone(&said);
        let waits = Arc::clone(&said);
        order.attend(&Attention {
            cancellation: control.cancellation.clone(),
            hear: Arc::new(move |waiting| waits.say(Heard::Waiting(waiting.clone()))),
        });
        let thread = Builder::new().name("search".to_owned()).spawn(move || {
            let work = AssertUnwindSafe(|| search(order, laboratory, (beginning, journal), &own));
            if catch_unwind(work).is_err() {
                own.say(Heard::Panicked);
            }
        })?;
        Ok(Self { control, said, thread: Some(thread) })
    }

    /// Holds it back.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The oldest thing that it said and nobody has heard; it does not wait.
    #[must_use]
    pub fn heard(&self) -> Option<Heard> {
        self.said.lock().pop_front()
    }
}

impl Drop for Searching {
    fn drop(&mut self) {
        self.control.stop();
        if let Some(thread) = self.thread.take() {
            // What it panicked about was said.
            let _panicked = thread.join();
        }
    }
}

impl Said {
    fn say(&self, heard: Heard) {
        self.lock().push_back(heard);
        if let Some(Wake(wake)) = &self.wake {
            wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Heard>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn search(
    order: Order,
    laboratory: impl Laboratory,
    (beginning, journal): (Beginning, Option<Journal>),
    said: &Said,
) {
    let audience = Audience {
        listener: Box::new(|entry, _story| said.say(Heard::Entry(Box::new(entry.clone())))),
        keeper: Box::new(|kept| said.say(Heard::Ran(Box::new(kept)))),
    };
    let explorer = match beginning {
        Beginning::New => Explorer::begin(order, laboratory, journal, audience),
        Beginning::Before(story) => {
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
    said.say(Heard::Ended { why, learnt: Box::new(learnt) });
}
