//! A handle that starts a worker at the first call, and a new one after the worker has ended.

use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use serde::de::DeserializeOwned;

use crate::client::Worker;
use crate::command::WorkerCommand;
use crate::error::{Death, WorkerError};
use crate::frame::Frame;
use crate::protocol::{Call, Configuration, Protocol};

/// Starts workers of one service on demand, at most one at a time.
#[derive(Debug)]
pub struct WorkerHandle<P: Protocol> {
    command: WorkerCommand,
    configuration: Configuration<P::Options>,
    worker: Option<Worker<P>>,
    replaced: Vec<Death>,
}

impl<P: Protocol> WorkerHandle<P> {
    /// A handle without a running worker.
    #[must_use]
    pub fn new(command: WorkerCommand, configuration: Configuration<P::Options>) -> Self {
        Self { command, configuration, worker: None, replaced: Vec::new() }
    }

    /// Takes the record of how replaced workers ended.
    pub fn take_replaced(&mut self) -> Vec<Death> {
        std::mem::take(&mut self.replaced)
    }

    /// Records the end of a worker that will be replaced.
    pub fn note_replaced(&mut self, death: Death) {
        self.replaced.push(death);
    }

    /// The running worker. Starts one if none runs.
    ///
    /// # Errors
    ///
    /// As [`Worker::start`].
    pub fn worker(&mut self, cancellation: &Cancellation) -> Result<&mut Worker<P>, WorkerError> {
        let found = self.worker.take().and_then(|mut worker| match worker.death() {
            None => Some(worker),
            Some(death) => {
                self.replaced.push(death);
                None
            }
        });
        let worker = match found {
            Some(worker) => worker,
            None => Worker::start(&self.command, &self.configuration, cancellation)?,
        };
        Ok(self.worker.insert(worker))
    }

    /// Whether the worker that took the last request still runs.
    pub fn is_running(&mut self) -> bool {
        self.worker.as_mut().is_some_and(|worker| worker.death().is_none())
    }

    /// Sends one request and waits for its reply; starts a worker if none runs. The limit counts from the moment the
    /// worker is ready.
    ///
    /// # Errors
    ///
    /// As [`Worker::start`] and [`Worker::call`].
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

    /// As [`WorkerHandle::call`], with the request and its reply as frames.
    ///
    /// # Errors
    ///
    /// As [`WorkerHandle::call`].
    pub fn call_encoded(
        &mut self,
        request: &Frame,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Frame, WorkerError> {
        let result = self.worker(cancellation)?.call_encoded(request, limit, cancellation);
        self.forget_ended();
        result
    }

    fn parsed<Reply: DeserializeOwned>(&mut self, reply: &Frame) -> Result<Reply, WorkerError> {
        let Some(worker) = &mut self.worker else {
            return reply.parse().map_err(WorkerError::Protocol);
        };
        let parsed = worker.parsed(reply);
        self.forget_ended();
        parsed
    }

    fn forget_ended(&mut self) {
        if self.worker.as_ref().is_some_and(Worker::is_gone) {
            self.worker = None;
        }
    }

    /// As [`WorkerHandle::call`], for a request that depends on no earlier one: where the worker ends without a reply, a
    /// new worker gets the request once more.
    ///
    /// # Errors
    ///
    /// As [`WorkerHandle::call`]; [`WorkerError::Died`] after two workers have ended.
    pub fn call_with_retry<C: Call<P> + Clone>(
        &mut self,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        match self.call(request.clone(), limit, cancellation) {
            Err(WorkerError::Died { death, .. }) => {
                self.replaced.push(death);
                self.call(request, limit, cancellation)
            }
            replied => replied,
        }
    }

    /// As [`WorkerHandle::call`], for a request that depends on earlier ones: if the worker has ended since, the call fails
    /// and starts no new worker. After any failure that ended the worker, the caller must repeat the earlier requests.
    ///
    /// # Errors
    ///
    /// As [`WorkerHandle::call`].
    pub fn call_same<C: Call<P>>(
        &mut self,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        let request = Frame::new(&request.into()).map_err(WorkerError::Request)?;
        let reply = self.call_same_encoded(&request, limit, cancellation)?;
        self.parsed(&reply)
    }

    /// As [`WorkerHandle::call_same`], with the request and its reply as frames.
    ///
    /// # Errors
    ///
    /// As [`WorkerHandle::call`].
    pub fn call_same_encoded(
        &mut self,
        request: &Frame,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Frame, WorkerError> {
        // Not through `worker`, which replaces one that ends after this check.
        let Some(worker) = &mut self.worker else {
            return self.call_encoded(request, limit, cancellation);
        };
        let result = match worker.ended() {
            Some(ended) => Err(ended),
            None => worker.call_encoded(request, limit, cancellation),
        };
        self.forget_ended();
        result
    }

    /// Ends the worker, if one runs; the next call starts another.
    pub fn stop(&mut self) {
        self.worker = None;
    }
}
