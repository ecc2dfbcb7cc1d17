//! A blocking client of the engine: submits one request, shows its progress, and returns its end.

use std::time::Duration;

use super::progress;
use crate::session::Session;
use lightbench_core::compile::CompileError;
use lightbench_core::compile::facts::{Facts, FactsError};
use lightbench_core::engine::{
    CompileFor, Ending, Engine, Event, Notice, Request, RequestId, Work,
};
use lightbench_core::evaluate::EvaluateError;

/// Interval at which Ctrl-C is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// An engine, and its notices.
#[derive(Debug)]
pub(super) struct EngineClient<'a> {
    session: &'a Session,
    engine: Engine,
    notices: Vec<String>,
    pub(super) compiler: String,
}

impl<'a> EngineClient<'a> {
    pub(super) fn new(session: &'a Session, engine: Engine, compiler: String) -> Self {
        Self { session, engine, notices: Vec::new(), compiler }
    }

    /// Submits a request and waits for its end; `subject` labels the progress line.
    pub(super) fn wait_for_ending(&mut self, subject: &str, request: Request) -> Ending {
        let asked = match self.engine.ask(request) {
            Ok(asked) => asked,
            Err(refused) => {
                return Ending::Impossible(EvaluateError::Environment(refused.to_string()));
            }
        };
        let mut told = CancelState::NotRequested;
        loop {
            if self.session.cancellation.is_cancelled() && told == CancelState::NotRequested {
                told = CancelState::Requested;
                // Refused only if the request has ended meanwhile; its end follows in any case.
                let _ended = self.engine.ask(Request::Cancel(asked));
            }
            let Some(event) = self.engine.next_event(POLL_INTERVAL) else { continue };
            if let Some(ending) = self.handle_event(subject, asked, event) {
                progress::clear();
                return ending;
            }
        }
    }

    /// The facts of a compiled kernel, or why it does not compile; a cancelled compilation is such a reason. Otherwise
    /// the end without a result.
    pub(super) fn compiled(
        &mut self,
        work: Work,
        target: CompileFor,
    ) -> Result<Result<Facts, FactsError>, Ending> {
        let name = work.kernel.name.clone();
        match self.wait_for_ending(&name, Request::Compile(work, target)) {
            Ending::Compiled(result) => Ok(*result),
            Ending::Cancelled { .. } => Ok(Err(FactsError::Compile(CompileError::Cancelled))),
            other @ (Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::CompiledAhead { .. }
            | Ending::Compared(_)
            | Ending::Profiled(_)
            | Ending::Impossible(_)
            | Ending::Panicked { .. }
            | Ending::Stopped) => Err(other),
        }
    }

    /// Notices of the engine, without repetitions.
    pub(super) fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    fn handle_event(&mut self, subject: &str, asked: RequestId, event: Event) -> Option<Ending> {
        match event {
            Event::Finished { request, ending } if request == asked => return Some(ending),
            Event::Began { step, workload, .. } => {
                let place = workload.as_deref().map(|name| format!(", {name}")).unwrap_or_default();
                progress::show(&format!("{subject}: {step}{place} …"));
            }
            Event::Noticed(notice @ (Notice::Compiler(_) | Notice::Replaced { .. })) => {
                let text = notice.to_string();
                if !self.notices.contains(&text) {
                    self.notices.push(text);
                }
            }
            // The verdict contains these.
            Event::Noticed(Notice::Lost { .. } | Notice::Killed { .. }) => {}
            Event::Finished { .. } | Event::Queued { .. } => {}
        }
        None
    }
}

/// Whether the cancellation was requested from the engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CancelState {
    NotRequested,
    Requested,
}
