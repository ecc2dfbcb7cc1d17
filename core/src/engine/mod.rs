//! Threads that evaluate and compile, the requests that they take and the events that they send. The command line and the
//! window use the same engine.
//!
//! ```text
//!  Engine ── ask(Request) ──► RequestQueue of a device ──► EngineThread ──► evaluate ──► workers
//!    ▲                        a person's requests first       │
//!    └─── next_event ◄──────────── EventQueue ◄── Event ◄─────┘
//! ```
//!
//! [`Engine::ask`] does not wait for an evaluation: it accepts a request or returns why it is refused. No engine thread
//! waits for a reader of events: while events are unread, progress coalesces and results are kept. Every accepted request
//! ends with exactly one [`Event::Finished`], also where a worker process dies or an engine thread panics.

mod candidate_runner;
mod device_workers;
mod engine_thread;
mod event;
mod event_queue;
mod executor;
mod queue;
mod request;
mod request_queue;
mod search_thread;
mod settings;
mod step_times;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;

use engine_thread::{EngineThread, ExecutorFactory, cancelled};
use event_queue::{EventQueue, MAX_UNREAD_ENDS};
use executor::{CompileExecutor, DeviceExecutor, Task};
use queue::{Accepted, CancelOutcome, Job, MAX_WAITING, QueueRefusal};

use crate::device::DeviceName;

pub use candidate_runner::EngineRunner;
pub use device_workers::device_workers;
pub use event::{CancelReason, Ending, Event, Notice, ProcessRole};
pub use event_queue::Wake;
pub use request::{
    AbComparison, AskedBy, CompileFor, Conditions, Request, RequestId, RequestRefused,
    ScreeningBatch, Work, WorkBatch,
};
pub use search_thread::{SearchOrigin, SearchThread, SearchThreadEvent};
pub use settings::{DeviceSetting, Settings};

/// One thread for each device and one that compiles. Dropping the engine cancels all requests and joins the threads.
#[derive(Debug)]
pub struct Engine {
    lanes: Arc<EngineThreads>,
}

/// A second source of requests to the threads of an engine, which receives the events of its own requests only. When the
/// engine is dropped, all requests of its clients end as cancelled.
#[derive(Debug)]
pub struct Client {
    lanes: Arc<EngineThreads>,
    outbox: Arc<EventQueue>,
}

/// The threads of an engine and what its clients share.
#[derive(Debug)]
struct EngineThreads {
    devices: Vec<(String, EngineThread)>,
    compiling: EngineThread,
    outbox: Arc<EventQueue>,
    /// The number of the newest request. Locked while a request enters its queue, so that numbers follow the order of
    /// arrival.
    newest: Mutex<u64>,
    ending: Arc<ShutdownState>,
}

/// Sends [`Ending::Stopped`] after the last thread has ended.
#[derive(Debug)]
struct ShutdownState {
    outbox: Arc<EventQueue>,
    threads: AtomicUsize,
    /// The request to stop, if one was made.
    asked: Mutex<Option<RequestId>>,
}

/// Each thread owns one until it ends; the last one that is dropped sends the event.
struct ThreadEndGuard(Arc<ShutdownState>);

impl Drop for ThreadEndGuard {
    fn drop(&mut self) {
        if self.0.threads.fetch_sub(1, Ordering::AcqRel) == 1 {
            let asked = *self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(request) = asked {
                self.0.outbox.push(Event::Finished { request, ending: Ending::Stopped });
            }
        }
    }
}

impl Engine {
    /// Starts the threads. Worker processes start with the first request that needs them.
    ///
    /// # Errors
    /// The operating system cannot start another thread.
    pub fn start(mut settings: Settings) -> io::Result<Self> {
        let wake = settings.wake.take();
        let settings = Arc::new(settings);
        let mut performers: Vec<(String, ExecutorFactory)> = Vec::new();
        for setting in &settings.devices {
            let (name, setting) = (setting.device.to_string(), setting.clone());
            let settings = Arc::clone(&settings);
            let hire = move || -> Box<dyn executor::Executor> {
                Box::new(DeviceExecutor::new(Arc::clone(&settings), setting.clone()))
            };
            performers.push((name, Box::new(hire)));
        }
        let compiling = Box::new(move || -> Box<dyn executor::Executor> {
            Box::new(CompileExecutor::new(&settings))
        });
        Self::with(performers, compiling, wake)
    }

    fn with(
        performers: Vec<(String, ExecutorFactory)>,
        compiling: ExecutorFactory,
        wake: Option<Wake>,
    ) -> io::Result<Self> {
        let outbox = Arc::new(EventQueue::new(wake));
        let ending = Arc::new(ShutdownState {
            outbox: Arc::clone(&outbox),
            threads: AtomicUsize::new(performers.len() + 1),
            asked: Mutex::new(None),
        });
        let start = |name: &str, hire| {
            EngineThread::start(
                name,
                hire,
                Arc::clone(&outbox),
                ThreadEndGuard(Arc::clone(&ending)),
            )
        };
        let compiling = start("compile", compiling)?;
        let devices = performers.into_iter().map(|(name, hire)| {
            let lane = start(&name, hire)?;
            Ok((name, lane))
        });
        let devices = devices.collect::<io::Result<_>>()?;
        let newest = Mutex::new(0);
        Ok(Self { lanes: Arc::new(EngineThreads { devices, compiling, outbox, newest, ending }) })
    }

    /// A client with an event queue of its own.
    #[must_use]
    pub fn client(&self) -> Client {
        Client { lanes: Arc::clone(&self.lanes), outbox: Arc::new(EventQueue::new(None)) }
    }

    /// Queues a request and returns its number; for [`Request::Cancel`], the number of the request to cancel. It does not
    /// wait.
    ///
    /// # Errors
    /// The request is refused. No event follows.
    pub fn ask(&self, request: Request) -> Result<RequestId, RequestRefused> {
        self.lanes.ask(request, None)
    }

    /// The oldest unread event; waits for one at most `patience`.
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
    pub fn ask(&self, request: Request) -> Result<RequestId, RequestRefused> {
        self.lanes.ask(request, Some(&self.outbox))
    }

    /// The oldest unread event of its own requests; waits for one at most `patience`.
    #[must_use]
    pub fn next_event(&self, patience: Duration) -> Option<Event> {
        self.outbox.next(patience)
    }

    /// Makes a request and waits for its end; discards all other events of this client. Once `cancellation` is raised, the
    /// request is cancelled, and its end follows as soon as it has stopped.
    ///
    /// # Errors
    /// The request is refused.
    pub fn wait_for_ending(
        &self,
        request: Request,
        cancellation: &Cancellation,
    ) -> Result<Ending, RequestRefused> {
        let asked = self.ask(request)?;
        let mut is_wanted = true;
        loop {
            let event = if is_wanted {
                self.outbox.next_unless(cancellation)
            } else {
                self.outbox.next(Duration::MAX)
            };
            match event {
                Some(Event::Finished { request, ending }) if request == asked => return Ok(ending),
                Some(
                    Event::Finished { .. }
                    | Event::Queued { .. }
                    | Event::Began { .. }
                    | Event::Noticed(_),
                ) => {}
                None => {
                    is_wanted = false;
                    // Refused only if the request has ended meanwhile; its end is then unread.
                    let _ended = self.ask(Request::Cancel(asked));
                }
            }
        }
    }
}

impl EngineThreads {
    fn ask(
        &self,
        request: Request,
        reader: Option<&Arc<EventQueue>>,
    ) -> Result<RequestId, RequestRefused> {
        let unread = reader.unwrap_or(&self.outbox).unread_ends();
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
            Request::Compare(contest, conditions) => {
                let lane = self.device(&conditions.device)?;
                (lane, Task::Compare(contest, conditions))
            }
            Request::Profile(work, conditions, profiler) => {
                let lane = self.device(&conditions.device)?;
                (lane, Task::Profile(work, conditions, profiler))
            }
            Request::Compile(work, for_what) => (&self.compiling, Task::Compile(work, for_what)),
            Request::CompileAhead(work, conditions) => {
                (&self.compiling, Task::CompileAhead(work, conditions))
            }
        };
        if unread >= MAX_UNREAD_ENDS {
            return Err(RequestRefused::Unread(unread));
        }
        self.push(lane, task, reader)
    }

    fn device(&self, name: &DeviceName) -> Result<&EngineThread, RequestRefused> {
        let name = name.to_string();
        let lane = self.devices.iter().find(|(known, _)| *known == name);
        lane.map(|(_, lane)| lane).ok_or(RequestRefused::NoSuchDevice(name))
    }

    fn push(
        &self,
        lane: &EngineThread,
        task: Task,
        reader: Option<&Arc<EventQueue>>,
    ) -> Result<RequestId, RequestRefused> {
        let mut newest = self.newest();
        *newest += 1;
        let id = RequestId(*newest);
        if let Some(reader) = reader {
            self.outbox.redirect(id, Arc::clone(reader));
        }
        let topic = task.work().topic();
        let say = |taken: Accepted| {
            for (older, because) in taken.ended {
                self.outbox.push(cancelled(older, because));
            }
            self.outbox.push(Event::Queued { request: id, ahead: taken.ahead });
        };
        let taken = lane.inbox.push(Job { id, topic, task }, say);
        if taken.is_err() {
            self.outbox.cancel_redirect(id);
        }
        match taken {
            Ok(()) => Ok(id),
            Err(QueueRefusal::Full) => Err(RequestRefused::Full(MAX_WAITING)),
            Err(QueueRefusal::Stopping) => Err(RequestRefused::Stopping),
        }
    }

    fn cancel(&self, id: RequestId) -> Result<RequestId, RequestRefused> {
        for lane in self.each() {
            match lane.inbox.cancel(id) {
                CancelOutcome::Waiting => {
                    self.outbox.push(cancelled(id, CancelReason::Requested));
                    return Ok(id);
                }
                CancelOutcome::Running => return Ok(id),
                CancelOutcome::Nothing => {}
            }
        }
        Err(RequestRefused::UnknownRequest(id))
    }

    fn stop(&self) -> Result<RequestId, RequestRefused> {
        let id = {
            let mut newest = self.newest();
            *newest += 1;
            RequestId(*newest)
        };
        {
            let mut asked = self.ending.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.is_some() {
                return Err(RequestRefused::Stopping);
            }
            *asked = Some(id);
        }
        self.each().for_each(EngineThread::stop);
        Ok(id)
    }

    fn newest(&self) -> MutexGuard<'_, u64> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self) -> impl Iterator<Item = &EngineThread> {
        self.devices.iter().map(|(_, lane)| lane).chain([&self.compiling])
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // All threads are told to stop before the first one is joined.
        self.lanes.each().for_each(EngineThread::stop);
    }
}
