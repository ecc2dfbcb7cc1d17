//! What is being found out about kernels, and what was.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::compile::Build;
use lightbench_core::compile::facts::{Facts, FactsError};
use lightbench_core::compile::sass::SassFunction;
use lightbench_core::engine::{
    AskedBy, Because, CompileFor, Conditions, Ending, Event, Request, RequestId, Work,
};
use lightbench_core::evaluate::{PolicyUse, Run};
use lightbench_core::history::RunNumber;
use lightbench_core::measure::Protocol;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::verdict::{Failure, TimingUse};

use super::errand::{DeviceChoice, Evaluator, Found};
use super::problem::{self, Problem};
use super::profiling::{self, Profiling};
use super::progress::{Progress, Stage};
use super::settings::Mode;

/// The machine that evaluates, as far as it is known.
#[derive(Debug, Default)]
pub enum Machine {
    /// It is being looked at.
    #[default]
    Looking,
    /// It is known.
    Known(Found),
    /// It cannot evaluate anything, for this reason.
    Unable(String),
}

/// What is being found out, and what was, by kernel.
#[derive(Debug, Default)]
pub struct Evaluations {
    /// What evaluates.
    pub machine: Machine,
    jobs: BTreeMap<RequestId, Job>,
    known: BTreeMap<String, Known>,
}

/// What is known of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What compiling told, of the text that it was.
    pub facts: Option<Arc<Facts>>,
    /// Its machine code as text, where somebody wanted to see it.
    pub sass: Sass,
    /// What compiling alone found wrong.
    pub compile_problems: Vec<Problem>,
    /// The newest verdict.
    pub evaluated: Option<Evaluated>,
    /// How far the newest request is, or came.
    pub progress: Progress,
    /// The request that is not over.
    pub running: Option<RequestId>,
    /// How many others come before it.
    pub ahead: usize,
    /// Why there is no verdict, where that is not the kernel's fault.
    pub obstacle: Option<String>,
    /// What a profiler counted.
    pub profiling: Profiling,
}

/// Machine code as text.
#[derive(Clone, Debug, Default)]
pub enum Sass {
    /// Nobody wanted to see it.
    #[default]
    Unread,
    /// It is being made.
    Reading,
    /// Here it is.
    Read(Arc<Vec<SassFunction>>),
    /// It could not be made.
    Unreadable(String),
}

/// A verdict with what it is about.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// What came of it.
    pub run: Arc<Run>,
    /// The project as it was.
    pub project: Arc<Project>,
    /// The kernel as it was.
    pub kernel: Arc<Kernel>,
    /// What it ran on.
    pub device: DeviceChoice,
    /// Its place in the history, once it is there.
    pub number: Option<RunNumber>,
    /// The sentence of each workload that was measured, held against the runs before, once those were read.
    pub lines: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct Job {
    project: Arc<Project>,
    kernel: Arc<Kernel>,
    device: DeviceChoice,
}

/// What is asked about a kernel.
#[derive(Clone, Debug)]
pub struct Question {
    /// The project as it is.
    pub project: Arc<Project>,
    /// The kernel as it is.
    pub kernel: Arc<Kernel>,
    /// Where.
    pub device: DeviceChoice,
    /// Whose sizes decide what is compiled alone.
    pub workload: String,
    /// How far to go.
    pub mode: Mode,
    /// How times are taken.
    pub protocol: Protocol,
    /// What all inputs come from.
    pub seed: u64,
}

/// What the workbench must know of an event.
#[derive(Clone, Debug)]
pub enum Heard {
    /// There are facts of a kernel.
    Facts(String),
    /// There is a verdict on a kernel.
    Verdict(String, Box<Evaluated>),
    /// A profiler came to its end, in a sentence.
    Profiled(String),
    /// Something to be said.
    Notice(String),
    /// A defect of ours.
    Defect(String),
}

impl Evaluations {
    /// What is known of a kernel.
    #[must_use]
    pub fn of(&self, kernel: &str) -> Option<&Known> {
        self.known.get(kernel)
    }

    /// What is known of a kernel, to be changed.
    pub fn of_mut(&mut self, kernel: &str) -> &mut Known {
        self.known.entry(kernel.to_owned()).or_default()
    }

    /// What is known of the kernel that these facts are of, unless it was compiled again meanwhile.
    pub fn of_facts(&mut self, facts: &Arc<Facts>) -> Option<&mut Known> {
        let is_of = |known: &&mut Known| {
            known.facts.as_ref().is_some_and(|known| Arc::ptr_eq(known, facts))
        };
        self.known.values_mut().find(is_of)
    }

    /// Kernels of which something is known.
    pub fn all(&self) -> impl Iterator<Item = (&String, &Known)> {
        self.known.iter()
    }

    /// Whether anything is not over.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Nothing is known any more: another project.
    pub fn clear(&mut self) {
        self.stop_all();
        self.known.clear();
        self.jobs.clear();
    }

    /// The compiler's name and version, as far as they are known.
    #[must_use]
    pub fn compiler(&self) -> &str {
        match &self.machine {
            Machine::Known(found) => &found.compiler,
            Machine::Looking | Machine::Unable(_) => "",
        }
    }

    fn evaluator(&self) -> Option<&dyn Evaluator> {
        match &self.machine {
            Machine::Known(found) => Some(found.evaluator.as_ref()),
            Machine::Looking | Machine::Unable(_) => None,
        }
    }

    /// Asks about a kernel.
    ///
    /// # Errors
    /// Why nothing will come of it.
    pub fn ask(&mut self, question: &Question) -> Result<(), String> {
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
        let known = self.of_mut(&question.kernel.name);
        known.running = Some(running);
        known.progress = Progress::until(last);
        known.obstacle = None;
        Ok(())
    }

    pub(super) fn asked(
        &mut self,
        request: Request,
        question: &Question,
    ) -> Result<RequestId, String> {
        let Some(evaluator) = self.evaluator() else {
            return Err("nothing can run before the machine is known".to_owned());
        };
        let id = evaluator.ask(request).map_err(|refused| refused.to_string())?;
        let (project, kernel) = (Arc::clone(&question.project), Arc::clone(&question.kernel));
        self.jobs.insert(id, Job { project, kernel, device: question.device.clone() });
        Ok(id)
    }

    /// Nothing that was asked for is wanted any more.
    pub fn stop_all(&self) {
        let Some(evaluator) = self.evaluator() else { return };
        for id in self.jobs.keys() {
            // Refused only where it has ended meanwhile, which is what is wanted.
            drop(evaluator.ask(Request::Cancel(*id)));
        }
    }

    /// Hears everything that was said since the last time.
    pub fn hear(&mut self, now: Duration) -> Vec<Heard> {
        let mut heard = Vec::new();
        while let Some(event) = self.evaluator().and_then(Evaluator::next_event) {
            heard.extend(self.heard(event, now));
        }
        heard
    }

    fn heard(&mut self, event: Event, now: Duration) -> Option<Heard> {
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
            Event::Noticed(notice) => Some(Heard::Notice(notice.to_string())),
        }
    }

    /// What is known of the kernel whose newest request this is.
    fn running(&mut self, request: RequestId) -> Option<&mut Known> {
        self.known.values_mut().find(|known| known.running == Some(request))
    }

    fn finished(&mut self, request: RequestId, ending: Ending, now: Duration) -> Option<Heard> {
        let job = self.jobs.remove(&request)?;
        let name = job.kernel.name.clone();
        let known = self.known.entry(name.clone()).or_default();
        if known.profiling.state == profiling::State::Running(request) {
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
                    run: Arc::from(run),
                    project,
                    kernel,
                    device,
                    number: None,
                    lines: Vec::new(),
                };
                known.evaluated = Some(evaluated.clone());
                Some(Heard::Verdict(name, Box::new(evaluated)))
            }
            Ending::Impossible(error) => {
                if is_newest {
                    known.progress.fail(now);
                }
                known.obstacle = Some(error.to_string());
                Some(Heard::Notice(format!("{name}: {error}")))
            }
            Ending::Cancelled { because, .. } => {
                if is_newest {
                    known.progress.stop(now);
                }
                match because {
                    Because::Asked | Because::SupersededBy(_) | Because::Stopping => None,
                }
            }
            Ending::Panicked { message } => {
                known.progress.fail(now);
                Some(Heard::Defect(format!("{name}: a defect of Lightbench: {message}")))
            }
            Ending::Screened(_)
            | Ending::Examined(_)
            | Ending::Compared(_)
            | Ending::Profiled(_)
            | Ending::Stopped => None,
        }
    }
}

impl Question {
    /// What is worked on, for the person who asks.
    pub(super) fn work(&self) -> Work {
        Work {
            project: Arc::clone(&self.project),
            kernel: Arc::clone(&self.kernel),
            chosen: BTreeMap::new(),
            asked_by: AskedBy::Person,
        }
    }

    /// Where it runs, on all workloads.
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

impl Known {
    fn compiled(
        &mut self,
        compiled: Result<Facts, FactsError>,
        is_newest: bool,
        job: &Job,
        now: Duration,
    ) -> Heard {
        match compiled {
            Ok(facts) => {
                self.compile_problems = problem::of_compiler(&facts.artifact.diagnostics);
                self.facts = Some(Arc::new(facts));
                self.sass = Sass::Unread;
                if is_newest {
                    self.progress.pass(now);
                }
            }
            Err(error) => {
                self.compile_problems = problem::of_facts(&error);
                if is_newest {
                    self.progress.fail(now);
                }
            }
        }
        Heard::Facts(job.kernel.name.clone())
    }

    /// Everything that is known to be wrong: what the verdict says, and what the compiler warns of.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.compile_problems.clone();
        let evaluated = self.evaluated.as_ref().filter(|_| self.running.is_none());
        if let Some((evaluated, Err(NotPassed::Failed(failure)))) =
            evaluated.map(|each| (each, &each.run.verdict))
        {
            let found = problem::of_failure(failure, &evaluated.kernel, &evaluated.project);
            if !matches!(failure, Failure::Compile(_)) || problems.is_empty() {
                problems.extend(found);
            }
        }
        problems
    }
}
