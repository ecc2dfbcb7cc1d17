//! The runs of one server process, and the calls that wait for them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lightbench_core::cancellation::Cancellation;
use lightbench_mcp::{Answer, Reply, State};
use serde_json::Value;

/// The longest wait of a call: clients give up after 30 seconds and more.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(25);

/// Ended runs whose results are kept.
const MAX_ENDED: usize = 64;

/// Calls that wait at the same time.
const MAX_WAITING_CALLS: usize = 256;

/// What to do with a run that has not ended.
const STILL_RUNNING: &str = "call `wait` with this run";

/// The number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunId(u64);

impl RunId {
    /// Reads a name such as `run-3`.
    pub(super) fn parse(name: &str) -> Option<Self> {
        name.strip_prefix("run-")?.parse().ok().map(Self)
    }

    /// The name that agents use.
    fn name(self) -> String {
        format!("run-{}", self.0)
    }
}

/// The runs, and the calls that wait for them.
#[derive(Debug, Default)]
pub(super) struct Runs {
    newest: u64,
    runs: BTreeMap<RunId, Run>,
    waiting: Vec<WaitingCall>,
}

#[derive(Debug)]
struct Run {
    cancellation: Cancellation,
    /// Added to the document when the run has ended.
    drawn: Option<Value>,
    end: Option<(State, Value)>,
}

#[derive(Debug)]
struct WaitingCall {
    run: RunId,
    until: Instant,
    page: Option<u32>,
    reply: Reply,
}

impl Runs {
    /// A new run. `drawn` describes the workloads that were drawn for it.
    pub(super) fn begin(&mut self, cancellation: Cancellation, drawn: Option<Value>) -> RunId {
        self.newest += 1;
        let id = RunId(self.newest);
        self.runs.insert(id, Run { cancellation, drawn, end: None });
        id
    }

    /// Removes a run that was not queued.
    pub(super) fn withdraw(&mut self, id: RunId) {
        self.runs.remove(&id);
    }

    /// Answers once the run has ended, or at `until`.
    pub(super) fn wait(&mut self, run: RunId, until: Instant, page: Option<u32>, reply: Reply) {
        match self.runs.get(&run) {
            None => reply.send(Answer::refused("there is no such run, or its result was dropped")),
            Some(found) if found.end.is_some() => reply.send(found.answer(run, page)),
            Some(_) if self.waiting.len() >= MAX_WAITING_CALLS => {
                reply.send(Answer::refused("too many calls wait for runs"));
            }
            Some(_) => self.waiting.push(WaitingCall { run, until, page, reply }),
        }
    }

    /// Cancels a run and returns whether there is one.
    pub(super) fn cancel(&mut self, id: RunId) -> bool {
        let run = self.runs.get(&id);
        run.inspect(|run| run.cancellation.cancel()).is_some()
    }

    pub(super) fn cancel_all(&mut self) {
        self.runs.values().for_each(|run| run.cancellation.cancel());
    }

    /// Keeps the result of a run and answers the calls that wait for it.
    pub(super) fn end(&mut self, id: RunId, state: State, mut document: Value) {
        let Some(run) = self.runs.get_mut(&id) else { return };
        if let (Some(drawn), Some(fields)) = (run.drawn.take(), document.as_object_mut()) {
            fields.insert("drawn_workloads".to_owned(), drawn);
        }
        run.end = Some((state, document));
        for call in self.waiting.extract_if(.., |call| call.run == id) {
            call.reply.send(run.answer(id, call.page));
        }
        self.forget_old();
    }

    /// Answers the calls that have waited long enough.
    pub(super) fn answer_due(&mut self, now: Instant) {
        for call in self.waiting.extract_if(.., |call| call.until <= now) {
            if let Some(run) = self.runs.get(&call.run) {
                call.reply.send(run.answer(call.run, call.page));
            }
        }
    }

    /// When the next call has waited long enough.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.waiting.iter().map(|call| call.until).min()
    }

    fn forget_old(&mut self) {
        let ended: Vec<RunId> =
            self.runs.iter().filter(|(_, run)| run.end.is_some()).map(|(id, _)| *id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(MAX_ENDED)) {
            self.runs.remove(id);
        }
    }
}

impl Run {
    fn answer(&self, id: RunId, page: Option<u32>) -> Answer {
        let (state, document, next) = match &self.end {
            None => (State::Running, None, Some(STILL_RUNNING)),
            Some((state, document)) => (*state, Some(document.clone()), None),
        };
        let answer = Answer { state, run: Some(id.name()), next, document, page: 1 };
        answer.at_page(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_are_read_strictly() {
        let check = |name: &str, expected| assert_eq!(RunId::parse(name), expected, "{name}");
        check("run-3", Some(RunId(3)));
        check("3", None);
        check("run-", None);
        check("run-99999999999999999999999", None);
        check("run--1", None);
        check("../run-1", None);
    }

    #[test]
    fn results_of_old_runs_are_dropped() {
        let mut runs = Runs::default();
        for _ in 0..10 * MAX_ENDED {
            let id = runs.begin(Cancellation::new(), None);
            runs.end(id, State::Finished, Value::Null);
        }
        let running = runs.begin(Cancellation::new(), None);
        assert_eq!(runs.runs.len(), MAX_ENDED + 1);
        assert!(runs.cancel(running) && !runs.cancel(RunId(1)));
    }
}
