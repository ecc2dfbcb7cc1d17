//! Evaluations: running requests, and the results for each kernel.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::compile::Build;
use lightbench_core::compile::facts::{Facts, FactsError};
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::engine::{
    AskedBy, CancelReason, CompileFor, Conditions, Ending, Event, Request, RequestId, Work,
};
use lightbench_core::evaluate::{PolicyUse, Run};
use lightbench_core::history::RunNumber;
use lightbench_core::measure::Protocol;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::report::document::RunOutcome;
use lightbench_core::report::document::failure::NotPassedReport;
use lightbench_core::verify::verdict::TimingUse;

use super::background_task::{DetectedMachine, DeviceChoice, Evaluator};
use super::problem::{self, Problem};
use super::profiling::{self, Profiling};
use super::progress::{Progress, Stage};
use super::run_details::RunDetails;
use super::settings::Mode;

/// State of the evaluating machine.
#[derive(Debug, Default)]
pub enum MachineState {
    #[default]
    Detecting,
    Known(DetectedMachine),
    /// The machine cannot evaluate, for this reason.
    Unusable(String),
}

/// Running requests, and the results for each kernel.
#[derive(Debug, Default)]
pub struct Evaluations {
    pub machine: MachineState,
    jobs: BTreeMap<RequestId, Job>,
    known: BTreeMap<String, KernelState>,
}

/// The results for a kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelState {
    /// Facts from compiling the kernel's text at that time.
    pub facts: Option<Arc<Facts>>,
    /// Disassembled machine code.
    pub sass: Sass,
    /// Problems that the compiler alone found.
    pub compile_problems: Vec<Problem>,
    /// The latest verdict.
    pub evaluated: Option<Evaluated>,
    /// Progress of the latest request.
    pub progress: Progress,
    /// The request that is still running.
    pub running: Option<RequestId>,
    /// Number of requests queued before this one.
    pub ahead: usize,
    /// Why there is no verdict, for a reason other than the kernel.
    pub obstacle: Option<String>,
    /// Results of the hardware profiler.
    pub profiling: Profiling,
}

/// Disassemble machine code.
#[derive(Clone, Debug, Default)]
pub enum Sass {
    /// Not requested.
    #[default]
    Unread,
    Reading,
    Read(Arc<Vec<SassFunction>>),
    /// The code could not be disassembled, for this reason.
    Unreadable(String),
}

/// A verdict with the project, kernel and device it applies to.
#[derive(Clone, Debug)]
pub struct Evaluated {
    pub run: Arc<Run>,
    /// What panels show of it.
    pub details: Arc<RunDetails>,
    pub project: Arc<Project>,
    pub kernel: Arc<Kernel>,
    pub device: DeviceChoice,
    /// Its number in the history, once it is stored.
    pub number: Option<RunNumber>,
    /// One sentence for each timed workload that compares it with earlier runs, once they are read.
    pub lines: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Job {
    project: Arc<Project>,
    kernel: Arc<Kernel>,
    device: DeviceChoice,
}

/// A request to evaluate a kernel.
#[derive(Clone, Debug)]
pub struct EvaluationRequest {
    pub project: Arc<Project>,
    pub kernel: Arc<Kernel>,
    pub device: DeviceChoice,
    /// The workload that decides sizes when only compiling.
    pub workload: String,
    /// How far the evaluation goes.
    pub mode: Mode,
    pub protocol: Protocol,
    /// The seed of all inputs.
    pub seed: u64,
}

/// An engine event as the workbench uses it.
#[derive(Clone, Debug)]
pub enum EvaluationEvent {
    Facts(String),
    Verdict(String, Box<Evaluated>),
    /// A profile ended, described in a sentence.
    Profiled(String),
    /// A notice for the user.
    Notice(String),
    /// A defect of Lightbench.
    Defect(String),
}

impl Evaluations {
    /// The results for a kernel.
    #[must_use]
    pub fn kernel(&self, kernel: &str) -> Option<&KernelState> {
        self.known.get(kernel)
    }

    pub fn kernel_mut(&mut self, kernel: &str) -> &mut KernelState {
        self.known.entry(kernel.to_owned()).or_default()
    }

    /// The results of the kernel with these facts; `None` if it was compiled again meanwhile.
    pub fn kernel_with_facts(&mut self, facts: &Arc<Facts>) -> Option<&mut KernelState> {
        let is_of = |known: &&mut KernelState| {
            known.facts.as_ref().is_some_and(|known| Arc::ptr_eq(known, facts))
        };
        self.known.values_mut().find(is_of)
    }

    /// All kernels with results.
    pub fn all(&self) -> impl Iterator<Item = (&String, &KernelState)> {
        self.known.iter()
    }

    /// Whether a request is running.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Forgets all results, because another project opens.
    pub fn clear(&mut self) {
        self.stop_all();
        self.known.clear();
        self.jobs.clear();
    }

    /// The compiler's name and version, if known.
    #[must_use]
    pub fn compiler(&self) -> &str {
        match &self.machine {
            MachineState::Known(found) => &found.compiler,
            MachineState::Detecting | MachineState::Unusable(_) => "",
        }
    }

    fn evaluator(&self) -> Option<&dyn Evaluator> {
        match &self.machine {
            MachineState::Known(found) => Some(found.evaluator.as_ref()),
            MachineState::Detecting | MachineState::Unusable(_) => None,
        }
    }

    /// Submits an evaluation.
    ///
    /// # Errors
    /// Why the request was refused.
    pub fn ask(&mut self, question: &EvaluationRequest) -> Result<(), String> {
        let last = match question.mode {
            Mode::Off => return Ok(()),
            Mode::Compile => Stage::Compile,
            Mode::Verify => Stage::Verify,
            Mode::Full => Stage::Time,
        };
        let work = question.work();
        let sheet = question.device.sheet;
        let compile =
            CompileFor { sheet, workload: question.workload.clone(), build: Build::Optimised };
        let facts = self.asked(Request::Compile(work.clone(), compile), question)?;
        let running = if last == Stage::Compile {
            facts
        } else {
            let conditions = question.conditions(match last {
                Stage::Time => TimingUse::Measure(question.protocol),
                Stage::Compile | Stage::Verify => TimingUse::Skip,
            });
            self.asked(Request::Evaluate(work, conditions), question)?
        };
        let known = self.kernel_mut(&question.kernel.name);
        known.running = Some(running);
        known.progress = Progress::until(last);
        known.obstacle = None;
        Ok(())
    }

    pub(super) fn asked(
        &mut self,
        request: Request,
        question: &EvaluationRequest,
    ) -> Result<RequestId, String> {
        let Some(evaluator) = self.evaluator() else {
            return Err("wait until the devices are detected, then try again".to_owned());
        };
        let id = evaluator.ask(request).map_err(|refused| refused.to_string())?;
        let (project, kernel) = (Arc::clone(&question.project), Arc::clone(&question.kernel));
        self.jobs.insert(id, Job { project, kernel, device: question.device.clone() });
        Ok(id)
    }

    /// Cancels all requests.
    pub fn stop_all(&self) {
        let Some(evaluator) = self.evaluator() else { return };
        for id in self.jobs.keys() {
            // Refused only if the request has ended meanwhile, which is the intended state.
            drop(evaluator.ask(Request::Cancel(*id)));
        }
    }

    /// Handles all pending engine events.
    pub fn poll(&mut self, now: Duration) -> Vec<EvaluationEvent> {
        let mut heard = Vec::new();
        while let Some(event) = self.evaluator().and_then(Evaluator::next_event) {
            heard.extend(self.handle_event(event, now));
        }
        heard
    }

    fn handle_event(&mut self, event: Event, now: Duration) -> Option<EvaluationEvent> {
        match event {
            Event::Queued { request, ahead } => {
                if let Some(known) = self.running(request) {
                    known.ahead = ahead;
                }
                None
            }
            Event::Began { request, step, workload, expected } => {
                if let Some(known) = self.running(request) {
                    known.ahead = 0;
                    known.progress.begin(step, workload.as_deref(), expected, now);
                }
                None
            }
            Event::Finished { request, ending } => self.finished(request, ending, now),
            Event::Noticed(notice) => Some(EvaluationEvent::Notice(notice.to_string())),
        }
    }

    /// The kernel whose latest request this is.
    fn running(&mut self, request: RequestId) -> Option<&mut KernelState> {
        self.known.values_mut().find(|known| known.running == Some(request))
    }

    fn finished(
        &mut self,
        request: RequestId,
        ending: Ending,
        now: Duration,
    ) -> Option<EvaluationEvent> {
        let job = self.jobs.remove(&request)?;
        let name = job.kernel.name.clone();
        let known = self.known.entry(name.clone()).or_default();
        if known.profiling.state == profiling::ProfilingState::Running(request) {
            return known.profiled(ending, &job.kernel, &job.device.title);
        }
        let is_newest = known.running == Some(request);
        if is_newest {
            known.running = None;
        }
        match ending {
            Ending::Compiled(compiled) => Some(known.compiled(*compiled, is_newest, &job, now)),
            Ending::Evaluated(run) => {
                if is_newest {
                    match &run.verdict {
                        Ok(_) => known.progress.pass(now),
                        Err(_) => known.progress.fail(now),
                    }
                }
                let Job { project, kernel, device } = job;
                let evaluated = Evaluated {
                    details: Arc::new(RunDetails::new(&kernel.name, &run)),
                    run: Arc::from(run),
                    project,
                    kernel,
                    device,
                    number: None,
                    lines: BTreeMap::new(),
                };
                known.evaluated = Some(evaluated.clone());
                Some(EvaluationEvent::Verdict(name, Box::new(evaluated)))
            }
            Ending::Impossible(error) => {
                if is_newest {
                    known.progress.fail(now);
                }
                known.obstacle = Some(error.to_string());
                Some(EvaluationEvent::Notice(format!("{name}: {error}")))
            }
            Ending::Cancelled { because, .. } => {
                if is_newest {
                    known.progress.stop(now);
                }
                match because {
                    CancelReason::Requested
                    | CancelReason::SupersededBy(_)
                    | CancelReason::Stopping => None,
                }
            }
            Ending::Panicked { message } => {
                known.progress.fail(now);
                Some(EvaluationEvent::Defect(format!("{name}: a defect of Lightbench: {message}")))
            }
            Ending::Screened(_)
            | Ending::CompiledAhead { .. }
            | Ending::Compared(_)
            | Ending::Profiled(_)
            | Ending::Stopped => None,
        }
    }
}

impl EvaluationRequest {
    /// The work of this request, at interactive priority.
    pub(super) fn work(&self) -> Work {
        Work {
            project: Arc::clone(&self.project),
            kernel: Arc::clone(&self.kernel),
            chosen: BTreeMap::new(),
            asked_by: AskedBy::Person,
        }
    }

    /// Conditions on this device, for all workloads.
    pub(super) fn conditions(&self, timing: TimingUse) -> Conditions {
        Conditions {
            device: self.device.name.clone(),
            sheet: self.device.sheet,
            calibration: self.device.calibration.clone(),
            workload: None,
            seed: self.seed,
            policy: PolicyUse::Refuse,
            timing,
        }
    }
}

impl KernelState {
    fn compiled(
        &mut self,
        compiled: Result<Facts, FactsError>,
        is_newest: bool,
        job: &Job,
        now: Duration,
    ) -> EvaluationEvent {
        match compiled {
            Ok(facts) => {
                let diagnostics = facts.artifact.diagnostics.iter();
                self.compile_problems =
                    diagnostics.map(|each| problem::from_diagnostic(&each.into())).collect();
                self.facts = Some(Arc::new(facts));
                self.sass = Sass::Unread;
                if is_newest {
                    self.progress.pass(now);
                }
            }
            Err(error) => {
                self.compile_problems = problem::from_build_failure(&(&error).into());
                if is_newest {
                    self.progress.fail(now);
                }
            }
        }
        EvaluationEvent::Facts(job.kernel.name.clone())
    }

    /// All known problems: from the verdict and from compiler warnings.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.compile_problems.clone();
        let Some(evaluated) = self.evaluated.as_ref().filter(|_| self.running.is_none()) else {
            return problems;
        };
        match &evaluated.details.evidence.outcome {
            RunOutcome::NotPassed(NotPassedReport::Compile { .. }) if !problems.is_empty() => {}
            RunOutcome::NotPassed(reason) => problems.extend(problem::from_verdict(
                reason,
                &evaluated.details.evidence.sentence,
                &evaluated.project,
            )),
            RunOutcome::Passed { .. } => {}
        }
        problems
    }
}
