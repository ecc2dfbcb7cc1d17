//! Gives candidates to the devices of an engine: each device evaluates one at a time, and the next ones are compiled
//! meanwhile.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lightbench_core::engine::{
    AskedBy, Conditions, Ending, Engine, Event, Notice, Request, RequestId, Work,
};
use lightbench_core::evaluate::{EvaluateError, PolicyUse, Run};
use lightbench_core::measure::Protocol;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::report::document::eval::CandidateId;
use lightbench_core::verify::verdict::TimingUse;

use crate::commands::evaluation_setup::ChosenDevice;
use crate::commands::run::evaluated_run;

/// A candidate whose project is loaded and whose kernel is parsed.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) line: u64,
    pub(super) id: CandidateId,
    pub(super) project: Arc<Project>,
    pub(super) kernel: Arc<Kernel>,
    pub(super) workload: Option<String>,
    pub(super) seed: u64,
}

/// The end of an evaluation.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) candidate: Prepared,
    /// The index of the device.
    pub(super) device: usize,
    pub(super) result: EvaluationResult,
}

#[derive(Debug)]
pub(super) enum EvaluationResult {
    Run(Box<Run>),
    /// Stopped at the user's limit.
    LimitReached(Duration),
    Impossible(EvaluateError),
}

/// How candidates are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// On devices that measure.
    WhereMeasured,
    None,
}

/// Candidates that wait, and devices that evaluate.
#[derive(Debug)]
pub(super) struct Dispatcher {
    engine: Engine,
    devices: Vec<Device>,
    waiting: VecDeque<Waiting>,
    /// Candidates that the engine refused.
    refused: VecDeque<Finished>,
    times: Times,
    limit: Option<Duration>,
    /// Notices of the engine, without repetitions.
    pub(super) notices: Vec<String>,
}

#[derive(Debug)]
struct Device {
    chosen: ChosenDevice,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    candidate: Prepared,
    request: RequestId,
    began: Instant,
    /// The limit, once it was reached.
    stopped_at: Option<Duration>,
}

#[derive(Debug)]
struct Waiting {
    candidate: Prepared,
    /// The request that compiles it ahead, until its end.
    compiling: Option<RequestId>,
}

impl Dispatcher {
    pub(super) fn new(
        engine: Engine,
        devices: Vec<ChosenDevice>,
        times: Times,
        limit: Option<Duration>,
    ) -> Self {
        let devices = devices.into_iter().map(|chosen| Device { chosen, running: None }).collect();
        let (waiting, refused, notices) = Default::default();
        Self { engine, devices, waiting, refused, times, limit, notices }
    }

    pub(super) fn device(&self, index: usize) -> &ChosenDevice {
        &self.devices[index].chosen
    }

    pub(super) fn devices(&self) -> impl Iterator<Item = &ChosenDevice> {
        self.devices.iter().map(|device| &device.chosen)
    }

    /// Whether another candidate can be compiled ahead or evaluated.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < self.devices.len() + 1
    }

    /// Whether nothing waits or runs.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.refused.is_empty() && self.running() == 0
    }

    /// The number of candidates that are being evaluated.
    pub(super) fn running(&self) -> usize {
        self.devices.iter().filter(|device| device.running.is_some()).count()
    }

    /// Drops the candidates that wait.
    pub(super) fn drop_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Takes a candidate, which is compiled ahead unless a device is free.
    pub(super) fn offer(&mut self, candidate: Prepared) {
        let is_free = self.waiting.is_empty() && self.running() < self.devices.len();
        let compiling = if is_free { None } else { self.compile_ahead(&candidate) };
        self.waiting.push_back(Waiting { candidate, compiling });
        self.start_ready();
    }

    /// The next end of an evaluation, if there is one within `patience`.
    pub(super) fn next_finished(&mut self, patience: Duration) -> Option<Finished> {
        if let Some(refused) = self.refused.pop_front() {
            return Some(refused);
        }
        self.stop_at_limit();
        let event = self.engine.next_event(patience)?;
        let finished = self.handle_event(event);
        self.start_ready();
        finished
    }

    fn compile_ahead(&self, candidate: &Prepared) -> Option<RequestId> {
        let device = self.devices.first()?;
        let conditions = self.conditions(&device.chosen, candidate);
        // A refusal only means that the evaluation itself compiles.
        self.engine.ask(Request::CompileAhead(work(candidate), conditions)).ok()
    }

    /// Starts waiting candidates on free devices, in order; one that is being compiled waits for that.
    fn start_ready(&mut self) {
        for index in 0..self.devices.len() {
            if self.devices[index].running.is_some() {
                continue;
            }
            let ready = self.waiting.iter().position(|each| each.compiling.is_none());
            let Some(waiting) = ready.and_then(|place| self.waiting.remove(place)) else { return };
            self.start(index, waiting.candidate);
        }
    }

    fn start(&mut self, index: usize, candidate: Prepared) {
        let conditions = self.conditions(&self.devices[index].chosen, &candidate);
        match self.engine.ask(Request::Evaluate(work(&candidate), conditions)) {
            Ok(request) => {
                let began = Instant::now();
                self.devices[index].running =
                    Some(Running { candidate, request, began, stopped_at: None });
            }
            Err(refused) => {
                let error = EvaluateError::Environment(refused.to_string());
                let result = EvaluationResult::Impossible(error);
                self.refused.push_back(Finished { candidate, device: index, result });
            }
        }
    }

    fn conditions(&self, chosen: &ChosenDevice, candidate: &Prepared) -> Conditions {
        let timing = match (self.times, &chosen.gpu) {
            (Times::WhereMeasured, Some(_)) => TimingUse::Measure(Protocol::FINAL),
            (Times::WhereMeasured, None) | (Times::None, _) => TimingUse::Skip,
        };
        Conditions {
            device: chosen.device.clone(),
            sheet: chosen.sheet,
            calibration: chosen.calibration().cloned(),
            workload: candidate.workload.clone(),
            seed: candidate.seed,
            policy: PolicyUse::Refuse,
            timing,
        }
    }

    fn stop_at_limit(&mut self) {
        let Some(limit) = self.limit else { return };
        for running in self.devices.iter_mut().filter_map(|device| device.running.as_mut()) {
            if running.stopped_at.is_none() && running.began.elapsed() >= limit {
                running.stopped_at = Some(limit);
                // Refused only if the request has ended meanwhile; its end follows in any case.
                let _ended = self.engine.ask(Request::Cancel(running.request));
            }
        }
    }

    fn handle_event(&mut self, event: Event) -> Option<Finished> {
        match event {
            Event::Finished { request, ending } => self.finish(request, ending),
            Event::Noticed(notice @ (Notice::Compiler(_) | Notice::Replaced { .. })) => {
                let text = notice.to_string();
                if !self.notices.contains(&text) {
                    self.notices.push(text);
                }
                None
            }
            // The verdict contains these.
            Event::Noticed(Notice::Lost { .. } | Notice::Killed { .. }) => None,
            Event::Began { .. } | Event::Queued { .. } => None,
        }
    }

    fn finish(&mut self, request: RequestId, ending: Ending) -> Option<Finished> {
        for waiting in &mut self.waiting {
            if waiting.compiling == Some(request) {
                // Whatever its end, the evaluation reports what it finds.
                waiting.compiling = None;
                return None;
            }
        }
        let is_it = |running: &mut Running| running.request == request;
        let mut devices = self.devices.iter_mut().enumerate();
        let (device, running) =
            devices.find_map(|(index, device)| Some((index, device.running.take_if(is_it)?)))?;
        let was_cancelled = matches!(ending, Ending::Cancelled { .. });
        let result = match (running.stopped_at, evaluated_run(ending, running.candidate.seed)) {
            (Some(limit), _) if was_cancelled => EvaluationResult::LimitReached(limit),
            (_, Ok(run)) => EvaluationResult::Run(Box::new(run)),
            (_, Err(error)) => EvaluationResult::Impossible(error),
        };
        Some(Finished { candidate: running.candidate, device, result })
    }
}

fn work(candidate: &Prepared) -> Work {
    Work {
        project: Arc::clone(&candidate.project),
        kernel: Arc::clone(&candidate.kernel),
        chosen: BTreeMap::new(),
        asked_by: AskedBy::Background,
    }
}
