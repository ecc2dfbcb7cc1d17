//! Evaluates the candidates of a source and gives a report of each to a sink.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lightbench_core::evaluate::{EvaluateError, Run};
use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};
use lightbench_core::report::document::eval::{CandidateId, EvalEvidence, EvalOutcome, EvalWord};
use lightbench_core::report::document::{EvalReport, RunReport};

use super::candidate_line::CandidateLine;
use super::dispatcher::{Dispatcher, EvaluationResult, Finished, Prepared, Times};
use super::projects::LoadedProjects;
use super::source::{Arrival, CandidateSource};
use super::verdict_file::KnownVerdicts;
use crate::args::Evaluating;
use crate::commands::evaluation_setup::{self, ChosenDevice};
use crate::commands::progress;
use crate::commands::run::record::{HistoryMode, Recorder, RunScope};
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;

/// The longest wait for an event or a line, after which the other one and Ctrl-C are looked at.
const PATIENCE: Duration = Duration::from_millis(20);

/// Receives reports in the order of completion.
pub(super) type Sink<'a> = &'a mut dyn FnMut(&EvalReport) -> io::Result<()>;

/// The result of a stream.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) counts: BTreeMap<EvalWord, u64>,
    /// Candidates with a verdict from before.
    pub(super) skipped: u64,
    pub(super) elapsed: Duration,
    pub(super) notices: Vec<String>,
    /// The names of the devices.
    pub(super) devices: Vec<String>,
    pub(super) status: Status,
}

/// A stream in progress.
struct Stream<'a> {
    session: &'a Session,
    arguments: &'a Evaluating,
    dispatcher: Dispatcher,
    projects: LoadedProjects,
    /// The line of each identifier.
    seen: BTreeMap<CandidateId, u64>,
    known: &'a KnownVerdicts,
    summary: Summary,
    compiler: String,
}

/// Evaluates all candidates of a source; those with a known verdict are skipped.
pub(super) fn evaluate_stream(
    session: &Session,
    arguments: &Evaluating,
    source: &mut dyn CandidateSource,
    known: &KnownVerdicts,
    sink: Sink<'_>,
) -> Result<Summary, Outcome> {
    let (engine, compiler, devices) =
        evaluation_setup::engine_for_devices(session, &arguments.devices)?;
    let times = if arguments.no_times { Times::None } else { Times::WhereMeasured };
    let limit = arguments.limit_secs.map(Duration::from_secs);
    let dispatcher = Dispatcher::new(engine, devices, times, limit);
    let summary = Summary {
        counts: BTreeMap::new(),
        skipped: 0,
        elapsed: Duration::ZERO,
        notices: dispatcher.devices().flat_map(device_notices).collect(),
        devices: dispatcher.devices().map(|device| device.title.clone()).collect(),
        status: Status::Passed,
    };
    let (projects, seen) = Default::default();
    let stream =
        Stream { session, arguments, dispatcher, projects, seen, known, summary, compiler };
    stream.run(source, sink)
}

fn device_notices(chosen: &ChosenDevice) -> Vec<String> {
    let mut notices = chosen.notices();
    let reason = chosen.virtual_reason.as_deref().and_then(|reason| reason.split(';').next());
    notices.extend(reason.map(|reason| format!("evaluated on {}: {reason}", chosen.title)));
    notices
}

impl Stream<'_> {
    fn run(mut self, source: &mut dyn CandidateSource, sink: Sink<'_>) -> Result<Summary, Outcome> {
        let began = Instant::now();
        let written = self.until_end(source, sink);
        progress::clear();
        self.summary.elapsed = began.elapsed();
        self.summary.notices.append(&mut self.dispatcher.notices);
        match written {
            Ok(()) => Ok(self.summary),
            // The reader of verdicts has closed its end.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(self.summary),
            Err(error) => {
                let message = format!("the verdict cannot be written: {error}");
                Err(report::environment(&message, false))
            }
        }
    }

    fn until_end(&mut self, source: &mut dyn CandidateSource, sink: Sink<'_>) -> io::Result<()> {
        let mut has_ended = false;
        loop {
            if self.session.cancellation.is_cancelled() {
                // What runs is finished; a second Ctrl-C ends the program.
                self.dispatcher.drop_waiting();
                self.summary.status = Status::Interrupted;
                has_ended = true;
            }
            if !has_ended && self.dispatcher.has_room() {
                let patience = if self.dispatcher.is_idle() { PATIENCE } else { Duration::ZERO };
                match source.next(patience) {
                    Arrival::Candidate(number, line) => {
                        self.report_if_wrong(number, line, sink)?;
                        continue;
                    }
                    Arrival::Wrong(number, id, error) => {
                        self.wrong(number, id, EvalOutcome::Error { error }, sink)?;
                        continue;
                    }
                    Arrival::Pending => {}
                    Arrival::End => has_ended = true,
                }
            }
            if self.dispatcher.is_idle() {
                if has_ended {
                    return Ok(());
                }
                continue;
            }
            if let Some(finished) = self.dispatcher.next_finished(PATIENCE) {
                let report = self.report(finished);
                self.write(&report, sink)?;
            }
            self.show_progress();
        }
    }

    /// Gives a candidate to the dispatcher, or reports why not.
    fn report_if_wrong(
        &mut self,
        number: u64,
        line: CandidateLine,
        sink: Sink<'_>,
    ) -> io::Result<()> {
        if self.known.has(&line.id) {
            self.summary.skipped += 1;
            return Ok(());
        }
        let id = line.id.clone();
        match self.prepare(number, line) {
            Ok(prepared) => {
                self.dispatcher.offer(prepared);
                Ok(())
            }
            Err(outcome) => self.wrong(number, Some(id), *outcome, sink),
        }
    }

    fn prepare(&mut self, number: u64, line: CandidateLine) -> Result<Prepared, Box<EvalOutcome>> {
        let request = |message| {
            let error = ErrorDetails::new(ErrorKind::Request, message);
            Box::new(EvalOutcome::Error { error })
        };
        if let Some(first) = self.seen.get(&line.id) {
            let id = &line.id;
            let message = format!(
                "line {number}: a second candidate `{id}`; the first is in line {first}; identifiers must differ"
            );
            return Err(request(message));
        }
        self.seen.insert(line.id.clone(), number);
        let project = self.projects.get(&line.project);
        let project = project.map_err(|error| Box::new(EvalOutcome::Error { error }))?;
        if let Some(name) = &line.workload {
            project.workload(name).map_err(|error| request(error.to_string()))?;
        }
        let name = line.kernel_name();
        let kernel = match line.language {
            Some(language) => project.draft_in(language, &name, line.kernel),
            None => project.draft(&name, line.kernel),
        };
        let kernel = kernel.map_err(|problems| {
            let first = problems.first().map_or_else(String::new, ToString::to_string);
            let message = format!("the kernel cannot be read: {first}");
            let error = ErrorDetails::from_problems(message, &problems);
            Box::new(EvalOutcome::Failed(EvalEvidence::Error { error }))
        })?;
        let seed = match self.arguments.seed {
            Some(seed) => seed,
            None => evaluation_setup::fresh_seed().map_err(|error| {
                let error = ErrorDetails::new(ErrorKind::Environment, error.to_string());
                Box::new(EvalOutcome::Error { error })
            })?,
        };
        let (id, workload, kernel) = (line.id, line.workload, Arc::new(kernel));
        Ok(Prepared { line: number, id, project, kernel, workload, seed })
    }

    /// The report of an evaluation; the run is kept if the user wants that.
    fn report(&mut self, finished: Finished) -> EvalReport {
        let Finished { candidate, device, result } = finished;
        let (line, id) = (candidate.line, candidate.id.clone());
        let without_run = |outcome| EvalReport::without_run(line, Some(id.clone()), outcome);
        match result {
            EvaluationResult::Run(mut run) => {
                if self.arguments.keep {
                    self.keep(&candidate, device, &mut run);
                }
                let chosen = self.dispatcher.device(device);
                let project = &candidate.project.definition.name;
                let names = (project.as_str(), candidate.kernel.name.as_str());
                let run = RunReport::new(names, chosen.reported(), chosen.ceilings(), &run);
                EvalReport::judged(line, id, run)
            }
            EvaluationResult::LimitReached(limit) => {
                let message = format!("not judged within {} s", limit.as_secs());
                let error = ErrorDetails::new(ErrorKind::TimedOut, message);
                without_run(EvalOutcome::NotJudged(EvalEvidence::Error { error }))
            }
            EvaluationResult::Impossible(error) => {
                let kind = match &error {
                    EvaluateError::Request(_) => ErrorKind::Request,
                    EvaluateError::Environment(_) => ErrorKind::Environment,
                };
                let error = ErrorDetails::new(kind, error.to_string());
                without_run(EvalOutcome::Error { error })
            }
        }
    }

    fn keep(&mut self, candidate: &Prepared, device: usize, run: &mut Run) {
        let scope = RunScope {
            parameters: &[],
            workload: candidate.workload.as_deref(),
            history: HistoryMode::Append,
        };
        let chosen = self.dispatcher.device(device);
        let compiler = self.compiler.clone();
        let mut recorder = Recorder::new(self.session, &candidate.project, chosen, scope, compiler);
        recorder.append(&candidate.kernel, run);
        for notice in recorder.notices {
            if !self.summary.notices.contains(&notice) {
                self.summary.notices.push(notice);
            }
        }
    }

    fn wrong(
        &mut self,
        number: u64,
        id: Option<CandidateId>,
        outcome: EvalOutcome,
        sink: Sink<'_>,
    ) -> io::Result<()> {
        if id.is_none() && self.known.has_error_of_line(number) {
            return Ok(());
        }
        self.write(&EvalReport::without_run(number, id, outcome), sink)
    }

    fn write(&mut self, report: &EvalReport, sink: Sink<'_>) -> io::Result<()> {
        *self.summary.counts.entry(report.outcome.word()).or_default() += 1;
        self.summary.status = self.summary.status.max(status(&report.outcome));
        progress::clear();
        sink(report)
    }

    fn show_progress(&self) {
        let judged: u64 = self.summary.counts.values().sum();
        let running = self.dispatcher.running();
        progress::show(&format!("{judged} judged, {running} running …"));
    }
}

/// The exit status of an outcome.
fn status(outcome: &EvalOutcome) -> Status {
    match outcome {
        EvalOutcome::Passed { .. } => Status::Passed,
        EvalOutcome::Failed(_) => Status::KernelFailed,
        EvalOutcome::NotJudged(_) => Status::Environment,
        EvalOutcome::Error { error } if error.kind == ErrorKind::Environment => Status::Environment,
        EvalOutcome::Error { .. } => Status::BadRequest,
    }
}
