//! `lightbench compare`: compares two kernels, recorded runs, or a library with one of them.

mod json;
mod side;
#[cfg(test)]
mod tests;
mod text;

use lightbench_core::engine::{AbComparison, Conditions, Ending, Request, Work};
use lightbench_core::evaluate::compare::{Compared, ComparedWorkload, Pair};
use lightbench_core::evaluate::{EvaluateError, LibraryUnusable, Run};
use lightbench_core::measure::{Mode, Protocol};
use lightbench_core::project::{Project, Purpose};
use lightbench_core::verify::verdict::TimingUse;
use lightbench_core::verify::verification::library::LibraryTimes;

use self::side::{LIBRARY, Side};
use super::check::target;
use super::engine_client::EngineClient;
use super::evaluation_setup::{self, ChosenDevice};
use super::history::HistoryCommandError;
use super::run::{self, EvaluationInput};
use crate::args;
use crate::outcome::{Outcome, Status, report_document};
use crate::report;
use crate::session::Session;

/// Compares and reports.
pub fn run(session: &Session, arguments: &args::Compare) -> Outcome {
    compared(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn compared(session: &Session, arguments: &args::Compare) -> Result<Outcome, Outcome> {
    let lacks = "no reference to verify against";
    let (project, _) = target::project(&arguments.project, lacks, arguments.json)?;
    compared_in(session, arguments, &project)
}

/// Compares two sides of a loaded project.
pub(super) fn compared_in(
    session: &Session,
    arguments: &args::Compare,
    project: &Project,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refused = |refused: HistoryCommandError| refused.outcome(as_json);
    let named = |name| Side::parse(session, project, name).map_err(refused);
    let sides = [named(&arguments.a)?, named(&arguments.b)?];
    if let Some(name) = &arguments.workload {
        measured(project, name).map_err(refused)?;
    }
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => {
            evaluation_setup::fresh_seed().map_err(|error| report::environment(&error, as_json))?
        }
    };
    let (mut desk, chosen) =
        evaluation_setup::engine_client(session, arguments.device.as_deref(), as_json)?;
    let mode = arguments.mode.map_or(Mode::Cold, Into::into);
    on_a_gpu(&sides, mode, &chosen).map_err(refused)?;
    let mut asked = EvaluationInput::evaluate_all_workloads(project, &chosen, seed);
    asked.conditions.timing = TimingUse::Skip;
    let clock = arguments.clock.map_or(Protocol::PAIRED.clock, Into::into);
    let order = CompareRequest {
        pair: side::pair(&sides, &asked).map_err(refused)?,
        subject: format!("{} and {}", sides[0].title(), sides[1].title()),
        conditions: asked.conditions.clone(),
        workload: arguments.workload.clone(),
        mode,
        protocol: Protocol { clock, ..Protocol::PAIRED },
    };
    let done = order.run(&mut desk).map_err(|error| run::failed(&error, as_json))?;
    let compiler = desk.compiler.clone();
    let told = ComparisonReport { project, chosen: &chosen, compiler, mode, sides, done };
    let output =
        if as_json { report_document(&json::report(&told)) } else { text::report_text(&told) };
    let mut notices = chosen.notices();
    notices.extend(desk.notices());
    Ok(Outcome { output, errors: report::notices(&notices), status: told.status() })
}

/// Refuses a workload that is not timed.
fn measured(project: &Project, name: &str) -> Result<(), HistoryCommandError> {
    let workload =
        project.workload(name).map_err(|error| HistoryCommandError::Request(error.to_string()))?;
    if workload.purpose == Purpose::Measure {
        return Ok(());
    }
    let measured = project.workloads.iter().filter(|each| each.purpose == Purpose::Measure);
    let names: Vec<&str> = measured.map(|each| each.name.as_str()).collect();
    let names = names.join(", ");
    Err(HistoryCommandError::Request(format!(
        "workload `{name}` is not timed; timed workloads: {names}"
    )))
}

/// Refuses a library without a GPU, and modelled times with a warm cache.
fn on_a_gpu(
    sides: &[Side; 2],
    mode: Mode,
    chosen: &ChosenDevice,
) -> Result<(), HistoryCommandError> {
    let needs = if sides.iter().any(|side| matches!(side, Side::Library(_))) {
        format!("{LIBRARY} runs on GPUs only")
    } else if mode != Mode::Cold {
        format!("{} times are taken on GPUs only", mode.word())
    } else {
        return Ok(());
    };
    match (&chosen.gpu, &chosen.virtual_reason) {
        (Some(_), _) => Ok(()),
        (None, Some(reason)) => {
            let reason = reason.split(';').next().unwrap_or_default();
            Err(HistoryCommandError::Environment(format!(
                "{needs}, but this machine has none: {reason}"
            )))
        }
        (None, None) => Err(HistoryCommandError::Request(format!(
            "{needs}, but {} is a virtual device",
            chosen.title
        ))),
    }
}

/// The comparison to carry out.
struct CompareRequest {
    pair: Pair<Work>,
    /// Both names.
    subject: String,
    /// The conditions of both verdicts.
    conditions: Conditions,
    workload: Option<String>,
    mode: Mode,
    protocol: Protocol,
}

/// The result of a comparison.
struct CompareResult {
    found: [SideResult; 2],
    /// `None` if the user cancelled before the times; empty if one of the kernels failed.
    workloads: Option<Vec<ComparedWorkload>>,
}

/// The result of one side.
enum SideResult {
    Kernel(Box<Run>),
    /// A library's times, once it was run.
    Library(Option<Result<LibraryTimes, LibraryUnusable>>),
}

impl CompareRequest {
    /// Evaluates both sides and, if both pass, measures them in alternation.
    fn run(self, desk: &mut EngineClient<'_>) -> Result<CompareResult, EvaluateError> {
        let found = match &self.pair {
            Pair::Kernels([a, b]) => [self.verdict(desk, a)?, self.verdict(desk, b)?],
            Pair::KernelAndLibrary(kernel, _) => {
                [self.verdict(desk, kernel)?, SideResult::Library(None)]
            }
            Pair::LibraryAndKernel(_, kernel) => {
                [SideResult::Library(None), self.verdict(desk, kernel)?]
            }
        };
        if found.iter().any(|found| found.status() != Status::Passed) {
            return Ok(CompareResult { found, workloads: Some(Vec::new()) });
        }
        self.timed(desk, found)
    }

    fn verdict(
        &self,
        desk: &mut EngineClient<'_>,
        work: &Work,
    ) -> Result<SideResult, EvaluateError> {
        let request = Request::Evaluate(work.clone(), self.conditions.clone());
        let ending = desk.wait_for_ending(&work.kernel.name, request);
        let run = run::evaluated_run(ending, self.conditions.seed)?;
        Ok(SideResult::Kernel(Box::new(run)))
    }

    fn timed(
        self,
        desk: &mut EngineClient<'_>,
        mut found: [SideResult; 2],
    ) -> Result<CompareResult, EvaluateError> {
        let Self { pair, subject, conditions, workload, mode, protocol } = self;
        let timing = TimingUse::Measure(protocol);
        let conditions = Conditions { timing, workload, ..conditions };
        let contest = Box::new(AbComparison { pair, mode });
        match desk.wait_for_ending(&subject, Request::Compare(contest, conditions)) {
            Ending::Compared(Compared { library, workloads }) => {
                for each in &mut found {
                    if let SideResult::Library(asked) = each {
                        asked.clone_from(&library);
                    }
                }
                Ok(CompareResult { found, workloads: Some(workloads) })
            }
            Ending::Cancelled { .. } => Ok(CompareResult { found, workloads: None }),
            other @ (Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::CompiledAhead { .. }
            | Ending::Profiled(_)
            | Ending::Compiled(_)
            | Ending::Impossible(_)
            | Ending::Panicked { .. }
            | Ending::Stopped) => Err(run::no_verdict(other)),
        }
    }
}

impl SideResult {
    fn status(&self) -> Status {
        match self {
            Self::Kernel(run) => run::status(&run.verdict),
            Self::Library(None | Some(Ok(_))) => Status::Passed,
            Self::Library(Some(Err(LibraryUnusable::Unusable(_)))) => Status::Environment,
            Self::Library(Some(Err(LibraryUnusable::Wrong(_)))) => Status::KernelFailed,
        }
    }
}

/// The inputs of the report.
struct ComparisonReport<'a> {
    project: &'a Project,
    chosen: &'a ChosenDevice,
    compiler: String,
    mode: Mode,
    sides: [Side; 2],
    done: CompareResult,
}

impl ComparisonReport<'_> {
    fn status(&self) -> Status {
        let all = self.done.found.iter().map(SideResult::status);
        let cancelled = self.done.workloads.is_none().then_some(Status::Interrupted);
        all.chain(cancelled).max().unwrap_or(Status::Passed)
    }

    /// Differences between now and the recorded run of a side.
    fn since(&self, side: usize) -> Vec<String> {
        match &self.done.found[side] {
            SideResult::Kernel(run) => {
                let now = (&**run, self.chosen, self.compiler.as_str());
                self.sides[side].differences_since_run(self.project, now)
            }
            SideResult::Library(_) => Vec::new(),
        }
    }
}
