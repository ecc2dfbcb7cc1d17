//! Asking an engine one thing at a time, with its progress on a terminal, until it ends or Ctrl-C ends it.

use std::time::Duration;

use super::progress;
use crate::session::Session;
use lightbench_core::engine::{Ending, Engine, Event, Notice, Request, RequestId};
use lightbench_core::evaluate::EvaluateError;

/// How often Ctrl-C is looked for.
const PATIENCE: Duration = Duration::from_millis(20);

/// An engine, and what it noticed.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    session: &'a Session,
    engine: Engine,
    notices: Vec<String>,
    /// The compiler's name and version.
    pub(super) compiler: String,
}

impl<'a> Desk<'a> {
    pub(super) fn new(session: &'a Session, engine: Engine, compiler: String) -> Self {
        Self { session, engine, notices: Vec::new(), compiler }
    }

    /// Asks, and waits for the end; `subject` is what progress is said to be about.
    pub(super) fn ending(&mut self, subject: &str, request: Request) -> Ending {
        let asked = match self.engine.ask(request) {
            Ok(asked) => asked,
            Err(refused) => {
                return Ending::Impossible(EvaluateError::Environment(refused.to_string()));
            }
        };
        let mut told = Told::Nothing;
        loop {
            if self.session.cancellation.is_cancelled() && told == Told::Nothing {
                told = Told::ToEnd;
                // Refused only where it has ended meanwhile, which is what is waited for.
                let _ended = self.engine.ask(Request::Cancel(asked));
            }
            let Some(event) = self.engine.next_event(PATIENCE) else { continue };
            if let Some(ending) = self.heard(subject, asked, event) {
                progress::clear();
                return ending;
            }
        }
    }

    /// What did not stop the work, each once.
    pub(super) fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    fn heard(&mut self, subject: &str, asked: RequestId, event: Event) -> Option<Ending> {
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
            // The verdict says these.
            Event::Noticed(Notice::Lost { .. } | Notice::Killed { .. }) => {}
            Event::Finished { .. } | Event::Queued { .. } => {}
        }
        None
    }
}

/// Whether the engine knows that nobody wants the end any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    ToEnd,
}
