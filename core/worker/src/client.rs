//! The parent's side of one worker: starts it, exchanges messages within a time limit, and removes it.

use std::io::{Read, Write};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use lightbench_primitives::cancellation::{Cancellation, WaitError};
use serde::de::DeserializeOwned;

use crate::child::{Child, Pipes};
use crate::command::WorkerCommand;
use crate::error::{Death, Stage, WorkerError};
use crate::frame::{Frame, FrameError};
use crate::pause_times::PauseTimes;
use crate::protocol::{
    Call, Configuration, Hello, Protocol, Readiness, Ready, Reply, Setup, VERSION,
};
use crate::scheduling_delay::{remaining_time, run_queue_wait};
use crate::stderr_tail::printable;

/// Interval at which a waiting call samples whether the worker is stopped.
const SAMPLING_INTERVAL: Duration = Duration::from_millis(20);

/// A running worker. Dropping it kills it and every process that it started, reaps it and removes its scratch folder.
#[derive(Debug)]
pub struct Worker<P: Protocol> {
    child: Child,
    /// `None` after the worker has ended.
    pipes: Option<Pipes>,
    ready: Ready<P::Facts>,
    interruption: InterruptionLimits,
}

/// Limits that the parent checks while it waits for a worker.
#[derive(Clone, Copy, Debug)]
struct InterruptionLimits {
    /// Maximum time that the worker may be stopped without interruption.
    stopped: Duration,
    /// As [`crate::protocol::Limits::threads`].
    threads: Option<u32>,
}

impl<P: Protocol> Worker<P> {
    /// Starts a worker and waits until it is ready, at most as long as the configuration permits.
    ///
    /// # Errors
    ///
    /// Every [`WorkerError`] except [`WorkerError::ReplyTooLarge`].
    pub fn start(
        command: &WorkerCommand,
        configuration: &Configuration<P::Options>,
        cancellation: &Cancellation,
    ) -> Result<Self, WorkerError> {
        if cancellation.is_cancelled() {
            return Err(WorkerError::Cancelled);
        }
        let (mut child, mut pipes) = Child::start(command)?;
        let Configuration { options, policy, limits } = configuration;
        let setup = Setup {
            service: P::SERVICE.to_owned(),
            build: P::BUILD.to_owned(),
            policy: policy.clone(),
            limits: limits.clone(),
            scratch: child.scratch().to_owned(),
        };
        let encoded = Frame::new(&setup).and_then(|setup| Ok((setup, Frame::new(options)?)));
        let (setup, options) = encoded.map_err(WorkerError::Request)?;
        let interruption =
            InterruptionLimits { stopped: command.stopped_limit, threads: limits.threads };
        let allowance =
            CallLimits::from_now(Stage::Start, (limits.start, interruption), cancellation);
        let greeting = converse(&mut child, &allowance, || greet(&mut pipes, &setup, &options))?;
        match greeting {
            Greeting::OtherVersion(theirs) => {
                Err(WorkerError::OtherVersion { ours: VERSION, theirs })
            }
            Greeting::Understood(Readiness::OtherBuild { build }) => {
                let theirs = printable(&build);
                Err(WorkerError::OtherBuild { service: P::SERVICE, ours: P::BUILD, theirs })
            }
            Greeting::Understood(Readiness::Failed(failure)) => Err(WorkerError::Setup(failure)),
            Greeting::Understood(Readiness::Ready(ready)) => {
                Ok(Self { child, pipes: Some(pipes), ready, interruption })
            }
        }
    }

    /// The worker's report at the end of its start.
    #[must_use]
    pub fn ready(&self) -> &Ready<P::Facts> {
        &self.ready
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its scratch folder, which is removed with the worker.
    #[must_use]
    pub fn scratch(&self) -> &std::path::Path {
        self.child.scratch()
    }

    /// Whether the worker has ended and takes no more requests.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.pipes.is_none()
    }

    /// How the worker ended; `None` if it runs. This reaps an ended worker.
    pub(super) fn death(&mut self) -> Option<Death> {
        if self.child.is_running() {
            return None;
        }
        self.pipes = None;
        Some(self.child.kill())
    }

    /// The error for a worker that ended between two requests; `None` if it runs. This reaps an ended worker.
    pub fn ended(&mut self) -> Option<WorkerError> {
        let death = self.death()?;
        Some(died(&self.child, Stage::Call, death))
    }

    /// Sends one request and waits for its reply until the limit or a cancellation. In both cases the worker is killed.
    ///
    /// # Errors
    ///
    /// [`WorkerError::TimedOut`], [`WorkerError::Cancelled`], [`WorkerError::Died`] and [`WorkerError::Protocol`]: the worker
    /// is gone, unless it was cancelled before it began. [`WorkerError::Request`] and [`WorkerError::ReplyTooLarge`]: it
    /// takes further requests.
    pub fn call<C: Call<P>>(
        &mut self,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        let request = Frame::new(&request.into()).map_err(WorkerError::Request)?;
        let reply = self.call_encoded(&request, limit, cancellation)?;
        self.parsed(&reply)
    }

    /// As [`Worker::call`], with the request and its reply as frames.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn call_encoded(
        &mut self,
        request: &Frame,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Frame, WorkerError> {
        let reply =
            self.converse((Stage::Call, limit), cancellation, |to_worker, from_worker| {
                exchange(to_worker, from_worker, request)
            })?;
        reply.map_err(|size| WorkerError::ReplyTooLarge { size })
    }

    /// Decodes a reply; a worker that sent something else is killed.
    pub(super) fn parsed<Message: DeserializeOwned>(
        &mut self,
        reply: &Frame,
    ) -> Result<Message, WorkerError> {
        reply.parse().map_err(|error| {
            self.pipes = None;
            self.child.kill();
            WorkerError::Protocol(error)
        })
    }

    /// Exchanges messages of another encoding with a worker that executed a program
    /// ([`crate::server::Offer::for_program`]), until the limit or a cancellation. In both cases the worker is killed.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`], without the errors of its messages. `exchange` reports the end of the stream as
    /// [`FrameError::Closed`] or [`FrameError::Truncated`]; any other error of it kills the worker.
    pub fn converse<Value: Send>(
        &mut self,
        (during, limit): (Stage, Duration),
        cancellation: &Cancellation,
        exchange: impl FnOnce(&mut dyn Write, &mut dyn Read) -> Result<Value, FrameError> + Send,
    ) -> Result<Value, WorkerError> {
        if cancellation.is_cancelled() {
            return Err(WorkerError::Cancelled);
        }
        let Some(mut pipes) = self.pipes.take() else {
            let death = self.child.kill();
            return Err(died(&self.child, during, death));
        };
        let allowance = CallLimits::from_now(during, (limit, self.interruption), cancellation);
        let value = converse(&mut self.child, &allowance, || {
            exchange(&mut pipes.to_worker, &mut pipes.from_worker)
        })?;
        self.pipes = Some(pipes);
        Ok(value)
    }
}

/// The outcome of the first exchange.
enum Greeting<Facts> {
    OtherVersion(u32),
    Understood(Readiness<Facts>),
}

fn greet<Facts: DeserializeOwned>(
    pipes: &mut Pipes,
    setup: &Frame,
    options: &Frame,
) -> Result<Greeting<Facts>, FrameError> {
    let Hello { version } = Frame::read_from(&mut pipes.from_worker)?.parse()?;
    if version != VERSION {
        return Ok(Greeting::OtherVersion(version));
    }
    setup.write_to(&mut pipes.to_worker)?;
    options.write_to(&mut pipes.to_worker)?;
    Frame::read_from(&mut pipes.from_worker)?.parse().map(Greeting::Understood)
}

/// The reply, or its size in bytes if it exceeds a frame.
fn exchange(
    mut to_worker: &mut dyn Write,
    mut from_worker: &mut dyn Read,
    request: &Frame,
) -> Result<Result<Frame, u64>, FrameError> {
    request.write_to(&mut to_worker)?;
    match Frame::read_from(&mut from_worker)?.parse()? {
        Reply::Done => Frame::read_from(&mut from_worker).map(Ok),
        Reply::TooLarge { size } => Ok(Err(size)),
    }
}

/// Time limits of one exchange with a worker.
struct CallLimits<'token> {
    during: Stage,
    limit: Duration,
    interruption: InterruptionLimits,
    began: Instant,
    cancellation: &'token Cancellation,
}

impl<'token> CallLimits<'token> {
    fn from_now(
        during: Stage,
        (limit, interruption): (Duration, InterruptionLimits),
        cancellation: &'token Cancellation,
    ) -> Self {
        Self { during, limit, interruption, began: Instant::now(), cancellation }
    }

    /// Waits for the result of the exchange; a cancellation ends the wait at once. Time in which the process waits for a processor or a disk extends the limit by
    /// a bounded amount; time in which it is stopped or held by a debugger does not count.
    fn wait<Value>(&self, process: u32, receiver: &Receiver<Value>) -> Result<Value, Stop> {
        let before = run_queue_wait(process);
        let mut waited = Duration::ZERO;
        let mut pauses = PauseTimes::new();
        loop {
            let own =
                |pauses: &PauseTimes| self.began.elapsed().saturating_sub(pauses.not_counted());
            let extension = waited + pauses.uninterruptible();
            let mut remaining = remaining_time(self.limit, own(&pauses), extension);
            if remaining <= SAMPLING_INTERVAL {
                waited = run_queue_wait(process).saturating_sub(before);
                remaining =
                    remaining_time(self.limit, own(&pauses), waited + pauses.uninterruptible());
            }
            let slice = remaining.min(SAMPLING_INTERVAL);
            match self.cancellation.receive(receiver, Some(Instant::now() + slice)) {
                Ok(value) => return Ok(value),
                Err(WaitError::Disconnected) => return Err(Stop::Disconnected),
                Err(WaitError::Cancelled) => return Err(Stop::Cancelled),
                Err(WaitError::TimedOut) if remaining <= slice => return Err(Stop::LimitReached),
                Err(WaitError::TimedOut) => self.check(pauses.sample(process))?,
            }
            if pauses.stopped() >= self.interruption.stopped {
                return Err(Stop::Killed(Death::Stopped { after: self.interruption.stopped }));
            }
        }
    }

    /// Compares the number of threads with its limit.
    fn check(&self, threads: Option<u32>) -> Result<(), Stop> {
        match threads.zip(self.interruption.threads) {
            Some((found, limit)) if found > limit => {
                Err(Stop::Killed(Death::TooManyThreads { found, limit }))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Why the parent stopped waiting for an exchange.
enum Stop {
    Cancelled,
    LimitReached,
    /// The worker broke a limit that the parent checks.
    Killed(Death),
    Disconnected,
}

/// The error for a worker that ended without a reply.
fn died(child: &Child, during: Stage, death: Death) -> WorkerError {
    let oom_kills = child.oom_kills();
    WorkerError::Died { during, death, stderr_tail: child.stderr_tail(), oom_kills }
}

/// Runs one exchange on a separate thread, because only the end of the other process interrupts a blocked read or write of
/// a pipe. On every error the worker is killed, which also ends the exchange, so that the thread never outlives this
/// function.
fn converse<Value: Send>(
    child: &mut Child,
    allowance: &CallLimits<'_>,
    exchange: impl FnOnce() -> Result<Value, FrameError> + Send,
) -> Result<Value, WorkerError> {
    let process = child.id();
    let (sender, receiver) = bounded(1);
    let result = std::thread::scope(|scope| {
        let thread = Builder::new().name("worker-exchange".to_owned());
        let spawned = thread.spawn_scoped(scope, move || {
            // The receiver no longer exists if the limit was reached.
            let _late = sender.send(exchange());
        });
        if let Err(error) = spawned {
            child.kill();
            return Ok(Err(FrameError::Io(error)));
        }
        allowance.wait(process, &receiver).inspect_err(|_stop| {
            child.kill();
        })
    });
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(FrameError::Io(error))) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            child.kill();
            Err(WorkerError::Protocol(FrameError::Io(error)))
        }
        Ok(Err(FrameError::Closed | FrameError::Truncated { .. } | FrameError::Io(_)))
        | Err(Stop::Disconnected) => {
            let death = child.death();
            Err(died(child, allowance.during, death))
        }
        Ok(Err(error)) => {
            child.kill();
            Err(WorkerError::Protocol(error))
        }
        Err(Stop::Killed(death)) => Err(died(child, allowance.during, death)),
        Err(Stop::Cancelled) => Err(WorkerError::Cancelled),
        Err(Stop::LimitReached) => {
            Err(WorkerError::TimedOut { during: allowance.during, limit: allowance.limit })
        }
    }
}
