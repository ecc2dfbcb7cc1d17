//! A worker on another host.

use std::sync::Arc;
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::error::{Death, WorkerError};
use lightbench_worker::frame::Frame;
use lightbench_worker::protocol::{Call, Configuration, Protocol};

use crate::connection::{Answered, Connection};
use crate::message::{Answer, Recipient, SequenceCall, ToHost, WorkerState};
use crate::sequence::{PlannedCall, Sequence};

/// As [`lightbench_worker::handle::WorkerHandle`], on the other host. After the connection is lost, every call fails: a new
/// connection needs new handles.
#[derive(Debug)]
pub struct RemoteHandle<P: Protocol> {
    connection: Arc<Connection>,
    configuration: Configuration<P::Options>,
    number: u32,
    state: Definition,
    replaced: Vec<Death>,
}

/// What the host knows about the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Definition {
    Unknown,
    Defined { is_running: bool },
}

impl<P: Protocol> RemoteHandle<P> {
    /// A handle without a running worker.
    #[must_use]
    pub fn new(connection: Arc<Connection>, configuration: Configuration<P::Options>) -> Self {
        let number = connection.number();
        let (state, replaced) = (Definition::Unknown, Vec::new());
        Self { connection, configuration, number, state, replaced }
    }

    /// As [`lightbench_worker::handle::WorkerHandle::take_replaced`].
    pub fn take_replaced(&mut self) -> Vec<Death> {
        std::mem::take(&mut self.replaced)
    }

    /// As [`lightbench_worker::handle::WorkerHandle::note_replaced`].
    pub fn note_replaced(&mut self, death: Death) {
        self.replaced.push(death);
    }

    /// Whether the worker ran when it replied to the last request.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == (Definition::Defined { is_running: true }) && !self.connection.is_lost()
    }

    /// As [`lightbench_worker::handle::WorkerHandle::call`].
    ///
    /// # Errors
    ///
    /// As there, [`WorkerError::ConnectionLost`] and [`WorkerError::OnHost`].
    pub fn call<C: Call<P>>(
        &mut self,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        self.send(request, Recipient::Any, limit, cancellation)
    }

    /// As [`lightbench_worker::handle::WorkerHandle::call_same`].
    ///
    /// # Errors
    ///
    /// As [`RemoteHandle::call`].
    pub fn call_same<C: Call<P>>(
        &mut self,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        self.send(request, Recipient::Same, limit, cancellation)
    }

    /// Ends the worker, if one runs; the next call starts another.
    pub fn stop(&mut self) {
        if let Definition::Defined { .. } = self.state {
            self.state = Definition::Defined { is_running: false };
            // A lost connection has ended it.
            let _lost = self.connection.tell(&ToHost::Stop { worker: self.number }, &[]);
        }
    }

    fn send<C: Call<P>>(
        &mut self,
        request: C,
        to: Recipient,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        let request = Frame::new(&request.into()).map_err(WorkerError::Request)?;
        self.define()?;
        let answered = self.ask(request, to, limit, cancellation);
        self.received::<C>(answered)
    }

    /// A call of a sequence. The host knows the worker from then on.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Request`], [`WorkerError::OtherBuild`] and [`WorkerError::ConnectionLost`].
    pub fn plan<C: Call<P>>(
        &mut self,
        request: C,
        limit: Duration,
    ) -> Result<PlannedCall, WorkerError> {
        self.define()?;
        let request = Frame::new(&request.into()).map_err(WorkerError::Request)?;
        Ok(PlannedCall { call: SequenceCall { worker: self.number, limit }, request })
    }

    /// As [`RemoteHandle::call_same`], where the host may already carry out this call of a sequence.
    ///
    /// # Errors
    ///
    /// As [`RemoteHandle::call`].
    pub fn call_in<C: Call<P>>(
        &mut self,
        sequence: &mut Sequence,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        let request = Frame::new(&request.into()).map_err(WorkerError::Request)?;
        let planned = PlannedCall { call: SequenceCall { worker: self.number, limit }, request };
        let answered = match sequence.answer(&planned, cancellation).transpose() {
            Some(answered) => answered,
            None => self.ask(planned.request, Recipient::Same, limit, cancellation),
        };
        self.received::<C>(answered)
    }

    fn ask(
        &self,
        request: Frame,
        to: Recipient,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Answered, WorkerError> {
        let worker = self.number;
        let message = |id| ToHost::Call { id, worker, to, limit };
        self.connection.ask(message, &[request], cancellation)
    }

    fn received<C: Call<P>>(
        &mut self,
        answered: Result<Answered, WorkerError>,
    ) -> Result<C::Reply, WorkerError> {
        let answered = answered.inspect_err(|_| {
            self.state = Definition::Defined { is_running: false };
        });
        match answered? {
            (Answer::Reply(state), Some(reply)) => {
                self.note(state);
                reply.parse().map_err(WorkerError::Protocol)
            }
            (Answer::Failed(state, failure), _) => {
                self.note(state);
                Err(failure.into_error(self.connection.host()))
            }
            (Answer::Reply(_) | Answer::Folder(_) | Answer::Stored | Answer::NotStored(_), _) => {
                Err(self.connection.unexpected())
            }
        }
    }

    /// Tells the host about the worker before the first call.
    fn define(&mut self) -> Result<(), WorkerError> {
        if self.state != Definition::Unknown {
            return Ok(());
        }
        if self.connection.build() != P::BUILD {
            let theirs = lightbench_worker::printable(self.connection.build());
            return Err(WorkerError::OtherBuild { service: P::SERVICE, ours: P::BUILD, theirs });
        }
        let Configuration { options, policy, limits } = &self.configuration;
        let (worker, policy, limits) = (self.number, policy.clone(), limits.clone());
        let options = Frame::new(options).map_err(WorkerError::Request)?;
        self.connection.tell(&ToHost::Define { worker, policy, limits }, &[options])?;
        self.state = Definition::Defined { is_running: false };
        Ok(())
    }

    fn note(&mut self, WorkerState { replaced, is_running }: WorkerState) {
        self.replaced.extend(replaced);
        self.state = Definition::Defined { is_running };
    }
}

impl<P: Protocol> Drop for RemoteHandle<P> {
    fn drop(&mut self) {
        if let Definition::Defined { .. } = self.state {
            // A lost connection has ended it.
            let _lost = self.connection.tell(&ToHost::Remove { worker: self.number }, &[]);
        }
    }
}
