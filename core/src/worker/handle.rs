//! A worker whenever one is needed: started at the first call, and again after it was killed or died.

use std::path::PathBuf;
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;

use super::client::Worker;
use super::command::WorkerCommand;
use super::error::{Death, WorkerError};
use super::protocol::{
    AssembleReply, AssembleRequest, CompileReply, CompileRequest, Configuration,
    DisassembleRequest, Reply, Request,
};
use crate::device::Description;
use crate::verify::station::{
    JudgeOrder, JudgeReport, MeasureOrder, MeasureReport, Opening, RunOrder, RunReport,
};

/// A way to have a worker, with one method for each request.
#[derive(Debug)]
pub struct WorkerHandle {
    command: WorkerCommand,
    configuration: Configuration,
    worker: Option<Worker>,
    replaced: Vec<Death>,
}

impl WorkerHandle {
    /// A handle that has started nothing yet.
    #[must_use]
    pub fn new(command: WorkerCommand, configuration: Configuration) -> Self {
        Self { command, configuration, worker: None, replaced: Vec::new() }
    }

    /// How workers ended that were found dead when they were needed, since the last time this was asked.
    pub fn take_replaced(&mut self) -> Vec<Death> {
        std::mem::take(&mut self.replaced)
    }

    /// The running worker, started if there is none, or if it died while nobody needed it.
    ///
    /// # Errors
    ///
    /// As [`Worker::start`].
    pub fn worker(&mut self, cancellation: &Cancellation) -> Result<&mut Worker, WorkerError> {
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

    /// Whether the worker that took the last request is still there.
    pub fn is_running(&mut self) -> bool {
        self.worker.as_mut().is_some_and(|worker| worker.death().is_none())
    }

    /// Compiles; the limit counts from the moment the worker is ready.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn compile(
        &mut self,
        request: CompileRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<CompileReply, WorkerError> {
        let reply = self.call_afresh(Request::Compile(request), limit, cancellation)?;
        if let Reply::Compiled(reply) = reply {
            Ok(reply)
        } else {
            self.unexpected("compiled", &reply)
        }
    }

    /// Disassembles to the disassembler's own listing.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn disassemble(
        &mut self,
        request: DisassembleRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, WorkerError> {
        let reply = self.call_afresh(Request::Disassemble(request), limit, cancellation)?;
        if let Reply::Disassembled(json) = reply {
            Ok(json)
        } else {
            self.unexpected("disassembled", &reply)
        }
    }

    /// Assembles PTX.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn assemble(
        &mut self,
        request: AssembleRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<AssembleReply, WorkerError> {
        let reply = self.call_afresh(Request::Assemble(request), limit, cancellation)?;
        if let Reply::Assembled(reply) = reply {
            Ok(reply)
        } else {
            self.unexpected("assembled", &reply)
        }
    }

    /// Extracts the compiler's headers into an existing folder that the policy lets it write.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn extract_headers(
        &mut self,
        into: PathBuf,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<(), WorkerError> {
        let reply = self.call_afresh(Request::ExtractHeaders { into }, limit, cancellation)?;
        if reply == Reply::HeadersExtracted {
            Ok(())
        } else {
            self.unexpected("headers extracted", &reply)
        }
    }

    /// Opens a device for one side of a verification.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn open(
        &mut self,
        opening: Opening,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Description, WorkerError> {
        let reply = self.call(Request::Open(opening), limit, cancellation)?;
        if let Reply::Opened(device) = reply {
            Ok(*device)
        } else {
            self.unexpected("opened", &reply)
        }
    }

    /// Runs a candidate on the device that is open.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn run(
        &mut self,
        order: RunOrder,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<RunReport, WorkerError> {
        let reply = self.call_opened(Request::Run(Box::new(order)), limit, cancellation)?;
        if let Reply::Ran(report) = reply { Ok(*report) } else { self.unexpected("ran", &reply) }
    }

    /// Times candidates on the device that is open.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn measure(
        &mut self,
        order: MeasureOrder,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<MeasureReport, WorkerError> {
        let reply = self.call_opened(Request::Measure(Box::new(order)), limit, cancellation)?;
        if let Reply::Measured(report) = reply {
            Ok(*report)
        } else {
            self.unexpected("measured", &reply)
        }
    }

    /// Judges what a candidate left.
    ///
    /// # Errors
    ///
    /// As [`Worker::call`].
    pub fn judge(
        &mut self,
        order: JudgeOrder,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<JudgeReport, WorkerError> {
        let reply = self.call_opened(Request::Judge(Box::new(order)), limit, cancellation)?;
        if let Reply::Judged(report) = reply {
            Ok(*report)
        } else {
            self.unexpected("judged", &reply)
        }
    }

    /// As [`WorkerHandle::call`], for a request that depends on nothing before it: where the worker ends without a reply, a
    /// fresh one gets the request once more.
    ///
    /// # Errors
    ///
    /// As [`Worker::start`] and [`Worker::call`]; [`WorkerError::Died`] after two workers have ended.
    fn call_afresh(
        &mut self,
        request: Request,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Reply, WorkerError> {
        match self.call(request.clone(), limit, cancellation) {
            Err(WorkerError::Died { death, .. }) => {
                self.replaced.push(death);
                self.call(request, limit, cancellation)
            }
            replied => replied,
        }
    }

    /// As [`WorkerHandle::call`], for a request to the device that the worker has open: one that died meanwhile is not
    /// replaced by a worker that has opened none.
    fn call_opened(
        &mut self,
        request: Request,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Reply, WorkerError> {
        if let Some(error) = self.worker.as_mut().and_then(Worker::ended) {
            self.worker = None;
            return Err(error);
        }
        self.call(request, limit, cancellation)
    }

    /// Records that a worker which ended is to be replaced.
    pub(crate) fn note_replaced(&mut self, death: Death) {
        self.replaced.push(death);
    }

    /// Sends one request and waits for its reply; restarts the worker first if it is gone.
    ///
    /// # Errors
    ///
    /// As [`Worker::start`] and [`Worker::call`].
    pub fn call(
        &mut self,
        request: Request,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Reply, WorkerError> {
        let result = self.worker(cancellation)?.call(request, limit, cancellation);
        if self.worker.as_ref().is_some_and(Worker::is_gone) {
            self.worker = None;
        }
        result
    }

    /// Ends the worker, if there is one; the next call starts another.
    pub fn stop(&mut self) {
        self.worker = None;
    }

    fn unexpected<Value>(
        &mut self,
        expected: &'static str,
        reply: &Reply,
    ) -> Result<Value, WorkerError> {
        self.stop();
        Err(WorkerError::UnexpectedReply { expected, found: kind(reply) })
    }
}

fn kind(reply: &Reply) -> &'static str {
    match reply {
        Reply::Opened(_) => "opened",
        Reply::Ran(_) => "ran",
        Reply::Measured(_) => "measured",
        Reply::Judged(_) => "judged",
        Reply::Compiled(_) => "compiled",
        Reply::Disassembled(_) => "disassembled",
        Reply::Assembled(_) => "assembled",
        Reply::HeadersExtracted => "headers extracted",
        Reply::Failed(_) => "failed",
    }
}
