//! Runs the candidates of a search on an engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{
    AbComparison, AskedBy, CancelReason, Client, CompileFor, Conditions, Ending, Request,
    RequestRefused, ScreeningBatch, Work, WorkBatch,
};
use crate::compile::Build;
use crate::compile::facts::LaunchFacts;
use crate::compile::occupancy::Occupancy;
use crate::evaluate::compare::{ComparedWorkload, Pair};
use crate::evaluate::{EvaluateError, Run, Screening, compile_failure};
use crate::measure::{Mode, Protocol};
use crate::project::{Kernel, Project, Purpose, Workload};
use crate::search::entry::FailureRecord;
use crate::search::{CandidateRunner, Control, Interrupted};
use crate::units::Seconds;
use crate::verify::not_judged::NotPassed;
use crate::verify::verdict::TimingUse;

/// Runs the candidates of a search on an engine, with background priority.
#[derive(Debug)]
pub struct EngineRunner {
    client: Client,
    project: Arc<Project>,
    conditions: Conditions,
    control: Control,
    worked: Duration,
    batch: usize,
}

impl EngineRunner {
    /// A runner that evaluates under these conditions and screens up to `batch` candidates in one request.
    #[must_use]
    pub fn new(
        client: Client,
        project: Arc<Project>,
        conditions: Conditions,
        control: Control,
        batch: usize,
    ) -> Self {
        Self { client, project, conditions, control, worked: Duration::ZERO, batch }
    }

    fn work(&self, kernel: &Arc<Kernel>) -> Work {
        Work {
            project: Arc::clone(&self.project),
            kernel: Arc::clone(kernel),
            chosen: BTreeMap::new(),
            asked_by: AskedBy::Background,
        }
    }

    fn timing(&self, protocol: Protocol) -> Conditions {
        Conditions { timing: TimingUse::Measure(protocol), ..self.conditions.clone() }
    }

    /// Sends a request, waits for its end and stores the time that it took.
    fn ending(&mut self, request: Request) -> Result<Ending, Interrupted> {
        if self.control.cancellation.is_cancelled() {
            return Err(Interrupted::Stopped);
        }
        let began = Instant::now();
        let ending = self.asked(request);
        self.worked = began.elapsed();
        ending
    }

    fn asked(&mut self, request: Request) -> Result<Ending, Interrupted> {
        let ending = self.client.wait_for_ending(request, &self.control.cancellation);
        settled(ending.map_err(|refused| match refused {
            RequestRefused::Stopping => Interrupted::Stopped,
            RequestRefused::Full(_)
            | RequestRefused::Unread(_)
            | RequestRefused::NoSuchDevice(_)
            | RequestRefused::UnknownRequest(_) => Interrupted::Impossible(refused.to_string()),
        })?)
    }
}

/// The result of a request, or why the search cannot continue.
fn settled(ending: Ending) -> Result<Ending, Interrupted> {
    match ending {
        Ending::Evaluated(_)
        | Ending::Screened(_)
        | Ending::CompiledAhead { .. }
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_) => Ok(ending),
        Ending::Impossible(EvaluateError::Request(why) | EvaluateError::Environment(why)) => {
            Err(Interrupted::Impossible(why))
        }
        Ending::Panicked { message } => {
            Err(Interrupted::Impossible(format!("a defect of Lightbench: {message}")))
        }
        Ending::Cancelled {
            because:
                CancelReason::Requested | CancelReason::Stopping | CancelReason::SupersededBy(_),
            ..
        }
        | Ending::Stopped => Err(Interrupted::Stopped),
    }
}

fn unexpected() -> Interrupted {
    Interrupted::Impossible(
        "a defect of Lightbench: the engine returned the result of another kind of request"
            .to_owned(),
    )
}

/// A search judges many candidates and decides by comparisons, so that each is timed for less than a verdict of its own.
const JUDGED: Protocol = Protocol { longest: Duration::from_millis(100), ..Protocol::FINAL };
const COMPARED: Protocol = Protocol { longest: Duration::from_millis(300), ..Protocol::PAIRED };

/// Resources and occupancy of each launch, a line for each.
fn in_words(launches: &[LaunchFacts], workload: &str) -> String {
    let each = launches.iter().map(|launch| {
        let name = &launch.planned.name_expression;
        let resources = match &launch.kernel.resources {
            Some(used) => format!(
                "{} registers, {} stored and {} loaded by spills, {} of static shared memory",
                used.registers, used.spill_stores, used.spill_loads, used.static_shared
            ),
            None => "resources are unknown without an assembler".to_owned(),
        };
        let resident = match &launch.occupancy {
            Some(Occupancy::Resident(resident)) => {
                format!(
                    "; {} blocks and {} of {} warps fit a multiprocessor",
                    resident.blocks, resident.warps, resident.max_warps
                )
            }
            Some(Occupancy::CannotLaunch(_)) | None => String::new(),
        };
        format!("{name}: {resources}{resident}")
    });
    let lines: Vec<String> = each.collect();
    format!("It compiles. For workload `{workload}`:\n{}", lines.join("\n"))
}

impl CandidateRunner for EngineRunner {
    fn screen(
        &mut self,
        kernels: &[Arc<Kernel>],
        abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted> {
        let works = WorkBatch::from_works(kernels.iter().map(|kernel| self.work(kernel)));
        let Some(works) = works else { return Ok(Vec::new()) };
        let screens = ScreeningBatch { works, abandon: abandon.clone() };
        let request = Request::Screen(screens, self.timing(Protocol::QUICK));
        let Ending::Screened(screenings) = self.ending(request)? else {
            return Err(unexpected());
        };
        Ok(screenings)
    }

    fn compile(
        &mut self,
        kernel: &Arc<Kernel>,
    ) -> Result<Result<String, FailureRecord>, Interrupted> {
        let project = Arc::clone(&self.project);
        // What the compiler says of a held-out workload is not to be known.
        let visible = |workload: &&Workload| workload.purpose != Purpose::HeldOut;
        let Some(workload) = project.workloads.iter().find(visible) else {
            return Ok(Ok("no workload is visible".to_owned()));
        };
        let (sheet, name) = (self.conditions.sheet, workload.name.clone());
        let target = CompileFor { sheet, workload: name, build: Build::Optimised };
        let request = Request::Compile(self.work(kernel), target);
        let Ending::Compiled(compiled) = self.ending(request)? else { return Err(unexpected()) };
        let resources = match compiled.as_ref() {
            Ok(facts) => in_words(&facts.launches, &workload.name),
            Err(error) => error.to_string(),
        };
        let failure = compile_failure(*compiled, workload).map(NotPassed::Failed);
        Ok(match failure {
            Some(failure) => Err(FailureRecord::from_reason(&failure)),
            None => Ok(resources),
        })
    }

    fn evaluate(&mut self, kernel: &Arc<Kernel>) -> Result<Run, Interrupted> {
        // A verdict covers all workloads, also those whose times the search does not minimise.
        let conditions = Conditions { workload: None, ..self.timing(JUDGED) };
        let request = Request::Evaluate(self.work(kernel), conditions);
        let Ending::Evaluated(run) = self.ending(request)? else { return Err(unexpected()) };
        Ok(*run)
    }

    fn compare(
        &mut self,
        old: &Arc<Kernel>,
        new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted> {
        let pair = Pair::Kernels([self.work(old), self.work(new)]);
        let contest = Box::new(AbComparison { pair, mode: Mode::Cold });
        let request = Request::Compare(contest, self.timing(COMPARED));
        let Ending::Compared(compared) = self.ending(request)? else { return Err(unexpected()) };
        Ok(compared.workloads)
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn rest(&mut self) -> Result<(), Interrupted> {
        self.control.rest(std::mem::take(&mut self.worked))
    }

    fn turned_down(&mut self) -> Vec<(usize, String)> {
        self.control.take_turned_down()
    }
}
