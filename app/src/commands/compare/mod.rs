//! `lightbench compare`: which of two is faster: kernels, runs of the history, or a library beside one of them.

mod json;
mod side;
#[cfg(test)]
mod tests;
mod text;

use lightbench_core::engine::{Conditions, Contest, Ending, Request, Work};
use lightbench_core::evaluate::compare::{Compared, ComparedWorkload, Pair};
use lightbench_core::evaluate::{EvaluateError, Run, Unfit};
use lightbench_core::measure::{Mode, Protocol};
use lightbench_core::project::{Project, Purpose};
use lightbench_core::verify::verdict::TimingUse;
use lightbench_core::verify::verification::library::LibraryTimes;

use self::side::{LIBRARY, Side};
use super::bench::{self, Chosen};
use super::check::target;
use super::desk::Desk;
use super::history::Refused;
use super::run::{self, Asked};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// Compares and reports.
pub fn run(session: &Session, arguments: &args::Compare) -> Outcome {
    compared(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn compared(session: &Session, arguments: &args::Compare) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refused = |refused: Refused| refused.outcome(as_json);
    let lacks = "no definition of what is right";
    let (project, _) = target::project(&arguments.project, lacks, as_json)?;
    let named = |name| Side::named(session, &project, name).map_err(refused);
    let sides = [named(&arguments.a)?, named(&arguments.b)?];
    if let Some(name) = &arguments.workload {
        measured(&project, name).map_err(refused)?;
    }
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => bench::fresh_seed().map_err(|error| report::environment(&error, as_json))?,
    };
    let (mut desk, chosen) = bench::desk(session, arguments.device.as_deref(), as_json)?;
    let mode = arguments.mode.map_or(Mode::Cold, Into::into);
    on_a_gpu(&sides, mode, &chosen).map_err(refused)?;
    let mut asked = Asked::everything(&project, &chosen, seed);
    asked.conditions.timing = TimingUse::Skip;
    let clock = arguments.clock.map_or(Protocol::PAIRED.clock, Into::into);
    let order = Order {
        pair: side::pair(&sides, &asked).map_err(refused)?,
        subject: format!("{} and {}", sides[0].title(), sides[1].title()),
        conditions: asked.conditions.clone(),
        workload: arguments.workload.clone(),
        mode,
        protocol: Protocol { clock, ..Protocol::PAIRED },
    };
    let done = order.done(&mut desk).map_err(|error| run::failed(&error, as_json))?;
    let compiler = desk.compiler.clone();
    let told = Told { project: &project, chosen: &chosen, compiler, mode, sides, done };
    let output = if as_json { document(&json::of(&told)) } else { text::of(&told) };
    let mut notices = chosen.notices();
    notices.extend(desk.notices());
    Ok(Outcome { output, errors: report::notices(&notices), status: told.status() })
}

/// Whether a workload is one of those that are timed.
fn measured(project: &Project, name: &str) -> Result<(), Refused> {
    let workload = project.workload(name).map_err(|error| Refused::Request(error.to_string()))?;
    if workload.purpose == Purpose::Measure {
        return Ok(());
    }
    let measured = project.workloads.iter().filter(|each| each.purpose == Purpose::Measure);
    let names: Vec<&str> = measured.map(|each| each.name.as_str()).collect();
    let names = names.join(", ");
    Err(Refused::Request(format!("`{name}` is not for measuring; these are: {names}")))
}

/// Libraries run on GPUs, and a model knows cold times only.
fn on_a_gpu(sides: &[Side; 2], mode: Mode, chosen: &Chosen) -> Result<(), Refused> {
    let needs = if sides.iter().any(|side| matches!(side, Side::Library(_))) {
        format!("{LIBRARY} runs on GPUs only")
    } else if mode != Mode::Cold {
        format!("{} times are taken on GPUs only", mode.word())
    } else {
        return Ok(());
    };
    match (&chosen.gpu, &chosen.instead) {
        (Some(_), _) => Ok(()),
        (None, Some(reason)) => {
            let reason = reason.split(';').next().unwrap_or_default();
            Err(Refused::Environment(format!("{needs}, and there is none here: {reason}")))
        }
        (None, None) => Err(Refused::Request(format!("{needs}, and {} is none", chosen.title))),
    }
}

/// What is to be compared, and how.
struct Order {
    pair: Pair<Work>,
    /// What both are called.
    subject: String,
    /// Of the verdicts.
    conditions: Conditions,
    workload: Option<String>,
    mode: Mode,
    protocol: Protocol,
}

/// What came of a comparison.
struct Done {
    found: [Found; 2],
    /// None where nobody wanted the times any more; nothing where one of both is not right.
    workloads: Option<Vec<ComparedWorkload>>,
}

/// What came of one side.
enum Found {
    /// A verdict.
    Kernel(Box<Run>),
    /// A library, once it was asked.
    Library(Option<Result<LibraryTimes, Unfit>>),
}

impl Order {
    /// The verdicts of both, and where both are right their times beside each other.
    fn done(self, desk: &mut Desk<'_>) -> Result<Done, EvaluateError> {
        let found = match &self.pair {
            Pair::Kernels([a, b]) => [self.verdict(desk, a)?, self.verdict(desk, b)?],
            Pair::KernelAndLibrary(kernel, _) => {
                [self.verdict(desk, kernel)?, Found::Library(None)]
            }
            Pair::LibraryAndKernel(_, kernel) => {
                [Found::Library(None), self.verdict(desk, kernel)?]
            }
        };
        if found.iter().any(|found| found.status() != Status::Passed) {
            return Ok(Done { found, workloads: Some(Vec::new()) });
        }
        self.timed(desk, found)
    }

    fn verdict(&self, desk: &mut Desk<'_>, work: &Work) -> Result<Found, EvaluateError> {
        let request = Request::Evaluate(work.clone(), self.conditions.clone());
        let ending = desk.ending(&work.kernel.name, request);
        let run = run::evaluated_run(ending, self.conditions.seed)?;
        Ok(Found::Kernel(Box::new(run)))
    }

    fn timed(self, desk: &mut Desk<'_>, mut found: [Found; 2]) -> Result<Done, EvaluateError> {
        let Self { pair, subject, conditions, workload, mode, protocol } = self;
        let timing = TimingUse::Measure(protocol);
        let conditions = Conditions { timing, workload, ..conditions };
        let contest = Box::new(Contest { pair, mode });
        match desk.ending(&subject, Request::Compare(contest, conditions)) {
            Ending::Compared(Compared { library, workloads }) => {
                for each in &mut found {
                    if let Found::Library(asked) = each {
                        asked.clone_from(&library);
                    }
                }
                Ok(Done { found, workloads: Some(workloads) })
            }
            Ending::Cancelled { .. } => Ok(Done { found, workloads: None }),
            other @ (Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::Examined(_)
            | Ending::Profiled(_)
            | Ending::Compiled(_)
            | Ending::Impossible(_)
            | Ending::Panicked { .. }
            | Ending::Stopped) => Err(run::no_verdict(other)),
        }
    }
}

impl Found {
    fn status(&self) -> Status {
        match self {
            Self::Kernel(run) => run::status(&run.verdict),
            Self::Library(None | Some(Ok(_))) => Status::Passed,
            Self::Library(Some(Err(Unfit::Unusable(_)))) => Status::Environment,
            Self::Library(Some(Err(Unfit::Wrong(_)))) => Status::KernelFailed,
        }
    }
}

/// What is told.
struct Told<'a> {
    project: &'a Project,
    chosen: &'a Chosen,
    compiler: String,
    mode: Mode,
    sides: [Side; 2],
    done: Done,
}

impl Told<'_> {
    fn status(&self) -> Status {
        let all = self.done.found.iter().map(Found::status);
        let cancelled = self.done.workloads.is_none().then_some(Status::Interrupted);
        all.chain(cancelled).max().unwrap_or(Status::Passed)
    }

    /// What is not as it was when the run of a side was made.
    fn since(&self, side: usize) -> Vec<String> {
        match &self.done.found[side] {
            Found::Kernel(run) => {
                let now = (&**run, self.chosen, self.compiler.as_str());
                self.sides[side].since(self.project, now)
            }
            Found::Library(_) => Vec::new(),
        }
    }
}
