//! Sequences of calls on the host that carries them out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Sender, bounded};
use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::frame::Frame;

use super::{Output, Replied, SupervisorError, Task};
use crate::message::{Recipient, SequenceCall};
use crate::sequence::{MOST_CALLS, Sequenced};

/// Most sequences of a connection: one for each verification.
const MOST_SEQUENCES: usize = 64;

/// The sequences of a connection.
#[derive(Default)]
pub(super) struct Sequences {
    defined: BTreeMap<u32, Arc<Calls>>,
    /// Set for a run that ends after its current call.
    ending: BTreeMap<u64, Arc<AtomicBool>>,
}

type Calls = Vec<(SequenceCall, Frame)>;

/// Calls of one sequence that are carried out.
pub(super) struct Run {
    id: u64,
    calls: Arc<Calls>,
    from: usize,
    workers: BTreeMap<u32, Sender<Task>>,
    ending: Arc<AtomicBool>,
}

impl Sequences {
    pub(super) fn define(
        &mut self,
        number: u32,
        calls: Vec<SequenceCall>,
        requests: Vec<Frame>,
    ) -> Result<(), SupervisorError> {
        if self.defined.len() >= MOST_SEQUENCES || calls.len() > MOST_CALLS {
            return Err(SupervisorError::Message("too many calls in sequence"));
        }
        self.defined.insert(number, Arc::new(calls.into_iter().zip(requests).collect()));
        Ok(())
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.defined.remove(&number);
    }

    pub(super) fn end(&mut self, id: u64) {
        if let Some(ending) = self.ending.get(&id) {
            ending.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn start(
        &mut self,
        id: u64,
        number: u32,
        from: usize,
        workers: &BTreeMap<u32, Sender<Task>>,
    ) -> Result<Run, SupervisorError> {
        let calls = self.defined.get(&number);
        let calls = Arc::clone(calls.ok_or(SupervisorError::Message("no such sequence"))?);
        // Runs that are over hold no copy.
        self.ending.retain(|_, ending| Arc::strong_count(ending) > 1);
        let ending = Arc::new(AtomicBool::new(false));
        self.ending.insert(id, Arc::clone(&ending));
        Ok(Run { id, calls, from, workers: workers.clone(), ending })
    }
}

impl Run {
    /// Carries out the calls until one gives another reply than the sequence assumes, or none.
    pub(super) fn carry_out<P: Sequenced>(self, output: &Output, cancellation: &Cancellation) {
        for (call, request) in self.calls.iter().skip(self.from) {
            if self.ending.load(Ordering::Relaxed) {
                break;
            }
            let Some(replied) = self.reply(*call, request, cancellation) else { break };
            let continues = match &replied.1 {
                // What is no reply of the service ends the sequence; the other side reports it.
                Ok(reply) => P::continues(request, reply).unwrap_or(false),
                Err(_) => false,
            };
            if output.replied(self.id, replied).is_err() {
                return;
            }
            if !continues {
                break;
            }
        }
        // A connection that fails ends everything.
        let _failed = output.sequence_ended(self.id);
    }

    /// The reply of a worker; none if it was removed.
    fn reply(
        &self,
        SequenceCall { worker, limit }: SequenceCall,
        request: &Frame,
        cancellation: &Cancellation,
    ) -> Option<Replied> {
        let (sender, replied) = bounded(1);
        let task = Task::Call {
            to: Recipient::Same,
            limit,
            request: request.clone(),
            cancellation: cancellation.clone(),
            // The receiver waits for it.
            answer: Box::new(move |replied| sender.send(replied).is_ok()),
        };
        self.workers.get(&worker)?.send(task).ok()?;
        replied.recv().ok()
    }
}
