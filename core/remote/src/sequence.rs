//! Calls that the host carries out in a row, so that this machine need not wait for each reply before the next request.
//!
//! A sequence assumes replies. Where a reply is another one, the host stops, this machine decides, and the host goes on
//! from the next call of the sequence that this machine requests.

use std::sync::Arc;

use crossbeam_channel::Receiver;
use lightbench_primitives::cancellation::{Cancellation, WaitError};
use lightbench_worker::error::WorkerError;
use lightbench_worker::frame::{Frame, FrameError};
use lightbench_worker::protocol::Protocol;

use crate::connection::{Answered, Connection};
use crate::message::{SequenceCall, ToHost};

/// Most calls of a sequence. A project of many workloads has about a thousand.
pub(crate) const MOST_CALLS: usize = 1 << 14;

/// A service whose requests may be sent in a sequence.
pub trait Sequenced: Protocol {
    /// Whether the reply is one after which the rest of a sequence is requested.
    ///
    /// # Errors
    ///
    /// The frames do not hold a request and its reply.
    fn continues(request: &Frame, reply: &Frame) -> Result<bool, FrameError>;
}

/// A call of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCall {
    pub(crate) call: SequenceCall,
    pub(crate) request: Frame,
}

/// A sequence of calls on one host. Dropping it ends it after the call that the host carries out.
#[derive(Debug)]
pub struct Sequence {
    connection: Arc<Connection>,
    number: u32,
    calls: Vec<PlannedCall>,
    /// The call whose answer is received next.
    next: usize,
    under_way: Option<UnderWay>,
}

/// What the host carries out.
#[derive(Debug)]
struct UnderWay {
    id: u64,
    answers: Receiver<Answered>,
}

impl Sequence {
    /// Sends the calls, as many as the host accepts. The host carries them out once the first is requested.
    ///
    /// # Errors
    ///
    /// [`WorkerError::ConnectionLost`].
    pub fn new(
        connection: Arc<Connection>,
        mut calls: Vec<PlannedCall>,
    ) -> Result<Self, WorkerError> {
        calls.truncate(MOST_CALLS);
        let number = connection.number();
        let requests: Vec<Frame> = calls.iter().map(|planned| planned.request.clone()).collect();
        let message = ToHost::DefineSequence {
            sequence: number,
            calls: calls.iter().map(|planned| planned.call).collect(),
        };
        connection.tell(&message, &requests)?;
        Ok(Self { connection, number, calls, next: 0, under_way: None })
    }

    /// The answer to a call if the rest of the sequence has it; the host carries out the calls after it.
    pub(crate) fn answer(
        &mut self,
        call: &PlannedCall,
        cancellation: &Cancellation,
    ) -> Result<Option<Answered>, WorkerError> {
        let mut rest = self.calls.iter().skip(self.next);
        let Some(distance) = rest.position(|planned| planned == call) else {
            self.require_end(cancellation)?;
            return Ok(None);
        };
        if distance > 0 {
            self.require_end(cancellation)?;
        }
        self.next += distance;
        if let Some(answered) = self.receive(cancellation)? {
            return Ok(Some(answered));
        }
        let count = self.calls.len() - self.next;
        let (id, answers) = self.connection.carry_out(self.number, self.next, count)?;
        self.under_way = Some(UnderWay { id, answers });
        match self.receive(cancellation)? {
            Some(answered) => Ok(Some(answered)),
            None => Err(self.connection.unexpected()),
        }
    }

    /// The next answer; none if the host carries out nothing.
    fn receive(&mut self, cancellation: &Cancellation) -> Result<Option<Answered>, WorkerError> {
        let Some(UnderWay { id, answers }) = &self.under_way else { return Ok(None) };
        match cancellation.receive(answers, None) {
            Ok(answered) => {
                self.next += 1;
                Ok(Some(answered))
            }
            Err(WaitError::Cancelled) => {
                // A lost connection cancels everything by itself.
                let _lost = self.connection.tell(&ToHost::Cancel { id: *id }, &[]);
                self.under_way = None;
                Err(WorkerError::Cancelled)
            }
            Err(WaitError::Disconnected | WaitError::TimedOut) if self.connection.is_lost() => {
                Err(self.connection.lost())
            }
            Err(WaitError::Disconnected | WaitError::TimedOut) => {
                self.under_way = None;
                Ok(None)
            }
        }
    }

    /// Requires that the host stopped after the last reply: the request that follows is not the next of the sequence, and a
    /// further call would have changed the state of a worker.
    fn require_end(&mut self, cancellation: &Cancellation) -> Result<(), WorkerError> {
        match self.receive(cancellation)? {
            None => Ok(()),
            Some(_) => Err(WorkerError::OnHost {
                host: self.connection.host().to_owned(),
                reason: "it carried out a call that this machine did not request".to_owned(),
            }),
        }
    }
}

impl Drop for Sequence {
    fn drop(&mut self) {
        // A lost connection has ended it.
        if let Some(UnderWay { id, .. }) = self.under_way {
            let _lost = self.connection.tell(&ToHost::EndSequence { id }, &[]);
        }
        let _lost = self.connection.tell(&ToHost::RemoveSequence { sequence: self.number }, &[]);
    }
}
