//! Threads, requests, events and cancellation: what the command line and the window share.
//!
//! ```text
//!  Engine ── ask(Request) ──► queue of a device ──► its thread ──► evaluate ──► workers
//!    ▲                         │ a person's first, the newest only      │
//!    └─── next_event ◄── what was said and not read yet ◄── Event ◄─────┘
//! ```
//!
//! Nothing that a caller does waits for work: [`Engine::ask`] takes a request or says why not, and no thread ever waits
//! for somebody to read. Every request that was taken ends exactly once, whatever happens to the processes that work for
//! it; a panic is such an end.

mod event;
mod expected;
mod inbox;
mod laboratory;
mod lane;
mod outbox;
mod performer;
mod queue;
mod request;
mod searching;
mod settings;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lane::{Hire, Lane, cancelled};
use outbox::{MOST_UNREAD, Outbox};
use performer::{Compiling, Evaluator, Task};
use queue::{Job, MOST_WAITING, Met, NoRoom, Taken};

use crate::device::DeviceName;

pub use event::{Because, Ending, Event, Notice, Role};
pub use laboratory::EngineLaboratory;
pub use outbox::Wake;
pub use request::{
    AskedBy, CompileFor, Conditions, Contest, NotTaken, Request, RequestId, Screens, Work, Works,
};
pub use searching::{Beginning, Heard, Searching};
pub use settings::{DeviceSetting, Settings};

/// The threads that work, one for each device and one that compiles. Dropping it ends everything that runs.
#[derive(Debug)]
pub struct Engine {
    lanes: Arc<Lanes>,
}

/// One more who asks the same threads, and reads alone what is said about what it asked. Of an engine that is gone it
/// hears that everything is cancelled.
#[derive(Debug)]
pub struct Client {
    lanes: Arc<Lanes>,
    outbox: Arc<Outbox>,
}

/// The threads, and what those who ask share.
#[derive(Debug)]
struct Lanes {
    devices: Vec<(String, Lane)>,
    compiling: Lane,
    outbox: Arc<Outbox>,
    /// The number of the newest request; held while one takes its place, so that numbers are in the order of places.
    newest: Mutex<u64>,
    ending: Arc<Ends>,
}

/// What is said when the last thread ends.
#[derive(Debug)]
struct Ends {
    outbox: Arc<Outbox>,
    threads: AtomicUsize,
    /// The request to stop, if there was one.
    asked: Mutex<Option<RequestId>>,
}

/// Held by each thread until it ends.
struct LastWords(Arc<Ends>);

impl Drop for LastWords {
    fn drop(&mut self) {
        if self.0.threads.fetch_sub(1, Ordering::AcqRel) == 1 {
            let asked = *self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(request) = asked {
                self.0.outbox.say(Event::Finished { request, ending: Ending::Stopped });
            }
        }
    }
}

impl Engine {
    /// Starts the threads; no process starts before it is needed.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(mut settings: Settings) -> io::Result<Self> {
        let wake = settings.wake.take();
        let settings = Arc::new(settings);
        let mut performers: Vec<(String, Hire)> = Vec::new();
        for setting in &settings.devices {
            let (name, setting) = (setting.device.to_string(), setting.clone());
            let settings = Arc::clone(&settings);
            let hire = move || -> Box<dyn performer::Performer> {
                Box::new(Evaluator::new(Arc::clone(&settings), setting.clone()))
            };
            performers.push((name, Box::new(hire)));
        }
        let compiling = Box::new(move || -> Box<dyn performer::Performer> {
            Box::new(Compiling::new(&settings))
        });
        Self::with(performers, compiling, wake)
    }

    fn with(
        performers: Vec<(String, Hire)>,
        compiling: Hire,
        wake: Option<Wake>,
    ) -> io::Result<Self> {
        let outbox = Arc::new(Outbox::new(wake));
        let ending = Arc::new(Ends {
            outbox: Arc::clone(&outbox),
            threads: AtomicUsize::new(performers.len() + 1),
            asked: Mutex::new(None),
        });
        let start = |name: &str, hire| {
            Lane::start(name, hire, Arc::clone(&outbox), LastWords(Arc::clone(&ending)))
        };
        let compiling = start("compile", compiling)?;
        let devices = performers.into_iter().map(|(name, hire)| {
            let lane = start(&name, hire)?;
            Ok((name, lane))
        });
        let devices = devices.collect::<io::Result<_>>()?;
        let newest = Mutex::new(0);
        Ok(Self { lanes: Arc::new(Lanes { devices, compiling, outbox, newest, ending }) })
    }

    /// One more who asks.
    #[must_use]
    pub fn client(&self) -> Client {
        Client { lanes: Arc::clone(&self.lanes), outbox: Arc::new(Outbox::new(None)) }
    }

    /// Takes a request, and gives its number; that of the other one where a request is to be cancelled. It does not wait.
    ///
    /// # Errors
    /// The request is not taken, and nothing comes of it.
    pub fn ask(&self, request: Request) -> Result<RequestId, NotTaken> {
        self.lanes.ask(request, None)
    }

    /// The oldest event that nobody has read, waited for at most this long.
    #[must_use]
    pub fn next_event(&self, patience: Duration) -> Option<Event> {
        self.lanes.outbox.next(patience)
    }
}

impl Client {
    /// As [`Engine::ask`].
    ///
    /// # Errors
    /// As there.
    pub fn ask(&self, request: Request) -> Result<RequestId, NotTaken> {
        self.lanes.ask(request, Some(&self.outbox))
    }

    /// The oldest event about its own requests that it has not read, waited for at most this long.
    #[must_use]
    pub fn next_event(&self, patience: Duration) -> Option<Event> {
        self.outbox.next(patience)
    }
}

impl Lanes {
    fn ask(&self, request: Request, reader: Option<&Arc<Outbox>>) -> Result<RequestId, NotTaken> {
        let unread = reader.unwrap_or(&self.outbox).unread();
        let (lane, task) = match request {
            Request::Cancel(id) => return self.cancel(id),
            Request::Stop => return self.stop(),
            Request::Evaluate(work, conditions) => {
                let lane = self.device(&conditions.device)?;
                (lane, Task::Evaluate(work, conditions))
            }
            Request::Screen(screens, conditions) => {
                let lane = self.device(&conditions.device)?;
                (lane, Task::Screen(screens, conditions))
            }
            Request::Examine(works, conditions) => {
                let lane = self.device(&conditions.device)?;
                (lane, Task::Examine(works, conditions))
            }
            Request::Compare(contest, conditions) => {
                let lane = self.device(&conditions.device)?;
                (lane, Task::Compare(contest, conditions))
            }
            Request::Profile(work, conditions, profiler) => {
                let lane = self.device(&conditions.device)?;
                (lane, Task::Profile(work, conditions, profiler))
            }
            Request::Compile(work, for_what) => (&self.compiling, Task::Compile(work, for_what)),
        };
        if unread >= MOST_UNREAD {
            return Err(NotTaken::Unread(unread));
        }
        self.push(lane, task, reader)
    }

    fn device(&self, name: &DeviceName) -> Result<&Lane, NotTaken> {
        let name = name.to_string();
        let lane = self.devices.iter().find(|(known, _)| *known == name);
        lane.map(|(_, lane)| lane).ok_or(NotTaken::NoSuchDevice(name))
    }

    fn push(
        &self,
        lane: &Lane,
        task: Task,
        reader: Option<&Arc<Outbox>>,
    ) -> Result<RequestId, NotTaken> {
        let mut newest = self.newest();
        *newest += 1;
        let id = RequestId(*newest);
        if let Some(reader) = reader {
            self.outbox.set_apart(id, Arc::clone(reader));
        }
        let topic = task.work().topic();
        let say = |taken: Taken| {
            for (older, because) in taken.ended {
                self.outbox.say(cancelled(older, because));
            }
            self.outbox.say(Event::Queued { request: id, ahead: taken.ahead });
        };
        let taken = lane.inbox.push(Job { id, topic, task }, say);
        if taken.is_err() {
            self.outbox.forget(id);
        }
        match taken {
            Ok(()) => Ok(id),
            Err(NoRoom::Full) => Err(NotTaken::Full(MOST_WAITING)),
            Err(NoRoom::Stopping) => Err(NotTaken::Stopping),
        }
    }

    fn cancel(&self, id: RequestId) -> Result<RequestId, NotTaken> {
        for lane in self.each() {
            match lane.inbox.cancel(id) {
                Met::Waiting => {
                    self.outbox.say(cancelled(id, Because::Asked));
                    return Ok(id);
                }
                Met::Running => return Ok(id),
                Met::Nothing => {}
            }
        }
        Err(NotTaken::NotThere(id))
    }

    fn stop(&self) -> Result<RequestId, NotTaken> {
        let id = {
            let mut newest = self.newest();
            *newest += 1;
            RequestId(*newest)
        };
        {
            let mut asked = self.ending.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.is_some() {
                return Err(NotTaken::Stopping);
            }
            *asked = Some(id);
        }
        self.each().for_each(Lane::stop);
        Ok(id)
    }

    fn newest(&self) -> MutexGuard<'_, u64> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self) -> impl Iterator<Item = &Lane> {
        self.devices.iter().map(|(_, lane)| lane).chain([&self.compiling])
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // All of them before any is waited for.
        self.lanes.each().for_each(Lane::stop);
    }
}
