//! Asking an engine one thing at a time, with its progress on a terminal, until it ends or Ctrl-C ends it.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use lightbench_core::engine::{Ending, Engine, Event, Notice, Request, RequestId};
use lightbench_core::evaluate::EvaluateError;
use lightbench_core::verify::verdict::Step;

use crate::session::Session;

/// How often Ctrl-C is looked for.
const PATIENCE: Duration = Duration::from_millis(20);

/// An engine, and what it noticed.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    session: &'a Session,
    engine: Engine,
    notices: Vec<String>,
    progress: Progress,
    /// The compiler's name and version.
    pub(super) compiler: String,
}

impl<'a> Desk<'a> {
    pub(super) fn new(session: &'a Session, engine: Engine, compiler: String) -> Self {
        let progress = Progress::on_terminals();
        Self { session, engine, notices: Vec::new(), progress, compiler }
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
                self.progress.clear();
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
                self.progress.show(subject, step, workload.as_deref());
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

/// One line on a terminal that is written over.
#[derive(Clone, Copy, Debug)]
enum Progress {
    Shown,
    Silent,
}

impl Progress {
    fn on_terminals() -> Self {
        if std::io::stderr().is_terminal() { Self::Shown } else { Self::Silent }
    }

    fn show(self, subject: &str, step: Step, workload: Option<&str>) {
        let place = workload.map(|name| format!(", {name}")).unwrap_or_default();
        self.write(&format!("{subject}: {step}{place} …"));
    }

    fn clear(self) {
        self.write("");
    }

    fn write(self, line: &str) {
        match self {
            // A terminal that is gone does not stop the work.
            Self::Shown => write!(anstream::stderr(), "\r\x1b[K{line}").unwrap_or_default(),
            Self::Silent => {}
        }
    }
}
