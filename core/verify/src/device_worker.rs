//! A device worker: a process of this machine, or of the host that has the device.

use std::sync::Arc;
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_remote::connection::Connection;
use lightbench_remote::handle::RemoteHandle;
use lightbench_remote::sequence::{PlannedCall, Sequence};
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::{Death, WorkerError};
use lightbench_worker::handle::WorkerHandle;
use lightbench_worker::protocol::{Call, Configuration};

use crate::device_protocol::DeviceProtocol;

/// A process that runs one side of a verification, started when it is needed.
#[derive(Debug)]
pub enum DeviceWorker {
    /// A process of this machine.
    Local(Box<WorkerHandle<DeviceProtocol>>),
    /// A process of another host.
    Remote(RemoteHandle<DeviceProtocol>),
}

/// Where device workers run.
#[derive(Clone, Debug)]
pub enum WorkerPlace<'a> {
    /// On this machine, started by this command.
    Here(&'a WorkerCommand),
    /// On the host at the other end.
    There(&'a Arc<Connection>),
}

impl DeviceWorker {
    /// A worker that starts at its first call.
    #[must_use]
    pub fn new(place: &WorkerPlace<'_>, configuration: Configuration<()>) -> Self {
        match place {
            WorkerPlace::Here(command) => {
                Self::Local(Box::new(WorkerHandle::new((*command).clone(), configuration)))
            }
            WorkerPlace::There(connection) => {
                Self::Remote(RemoteHandle::new(Arc::clone(connection), configuration))
            }
        }
    }

    /// Takes the record of how replaced processes ended.
    pub fn take_replaced(&mut self) -> Vec<Death> {
        match self {
            Self::Local(handle) => handle.take_replaced(),
            Self::Remote(handle) => handle.take_replaced(),
        }
    }

    /// Records the end of a process that will be replaced.
    pub fn note_replaced(&mut self, death: Death) {
        match self {
            Self::Local(handle) => handle.note_replaced(death),
            Self::Remote(handle) => handle.note_replaced(death),
        }
    }

    /// Whether the process that took the last request still runs.
    pub fn is_running(&mut self) -> bool {
        match self {
            Self::Local(handle) => handle.is_running(),
            Self::Remote(handle) => handle.is_running(),
        }
    }

    /// Sends one request and waits for its reply; starts a process if none runs.
    ///
    /// # Errors
    /// As [`WorkerHandle::call`] and [`RemoteHandle::call`].
    pub fn call<C: Call<DeviceProtocol>>(
        &mut self,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        match self {
            Self::Local(handle) => handle.call(request, limit, cancellation),
            Self::Remote(handle) => handle.call(request, limit, cancellation),
        }
    }

    /// As [`DeviceWorker::call`], for a request that depends on earlier ones: a process that has ended is not replaced.
    ///
    /// # Errors
    /// As [`DeviceWorker::call`].
    pub fn call_same<C: Call<DeviceProtocol>>(
        &mut self,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        match self {
            Self::Local(handle) => handle.call_same(request, limit, cancellation),
            Self::Remote(handle) => handle.call_same(request, limit, cancellation),
        }
    }

    /// As [`DeviceWorker::call_same`], where a sequence may have the call.
    ///
    /// # Errors
    /// As [`DeviceWorker::call`].
    pub fn call_in<C: Call<DeviceProtocol>>(
        &mut self,
        sequence: Option<&mut Sequence>,
        request: C,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<C::Reply, WorkerError> {
        match (self, sequence) {
            (Self::Remote(handle), Some(sequence)) => {
                handle.call_in(sequence, request, limit, cancellation)
            }
            (worker @ (Self::Local(_) | Self::Remote(_)), _) => {
                worker.call_same(request, limit, cancellation)
            }
        }
    }

    /// A call for a sequence; none for a process of this machine.
    ///
    /// # Errors
    /// As [`RemoteHandle::plan`].
    pub fn plan<C: Call<DeviceProtocol>>(
        &mut self,
        request: C,
        limit: Duration,
    ) -> Result<Option<PlannedCall>, WorkerError> {
        match self {
            Self::Local(_) => Ok(None),
            Self::Remote(handle) => handle.plan(request, limit).map(Some),
        }
    }

    /// Ends the process, if one runs; the next call starts another.
    pub fn stop(&mut self) {
        match self {
            Self::Local(handle) => handle.stop(),
            Self::Remote(handle) => handle.stop(),
        }
    }
}
