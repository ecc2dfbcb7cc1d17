//! Executors of requests: one evaluates on a device, the other compiles.

use std::sync::Arc;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::host_name::HostName;

use super::device_workers::device_workers;
use super::event::{CancelReason, Ending, Notice, ProcessRole};
use super::request::{AbComparison, CompileFor, Conditions, ScreeningBatch, Work};
use super::settings::{DeviceSetting, Settings};
use crate::compile::Compiler;
use crate::compile::error::CompileError;
use crate::compile::facts::{FactsError, Setting, facts};
use crate::evaluate::compare::side_by_side;
use crate::evaluate::profiled::profiled;
use crate::evaluate::{
    EvaluateError, Evaluation, EvaluationContext, Run, Screening, ScreeningRequest, Watcher,
    compile_ahead, evaluate, screen,
};
use crate::measure::Protocol;
use crate::nsight::Profiler;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::verdict::{Failure, Step, TimingUse};

/// How often a request is tried whose allocations are lost.
const MOST_ATTEMPTS: usize = 3;

/// The part of a request that an executor carries out.
#[derive(Clone, Debug)]
pub(super) enum Task {
    Evaluate(Work, Conditions),
    Screen(ScreeningBatch, Conditions),
    Compare(Box<AbComparison>, Conditions),
    Profile(Work, Conditions, Box<Profiler>),
    Compile(Work, CompileFor),
    CompileAhead(Work, Conditions),
}

impl Task {
    pub(super) fn work(&self) -> &Work {
        match self {
            Self::Evaluate(work, _)
            | Self::Profile(work, ..)
            | Self::Compile(work, _)
            | Self::CompileAhead(work, _) => work,
            Self::Screen(screens, _) => &screens.works.first,
            Self::Compare(contest, _) => contest.pair.kernel(),
        }
    }
}

/// Executes the requests of one engine thread, one after another, on that thread.
pub(super) trait Executor {
    /// Executes a task to its end; returns [`Ending::Cancelled`] once `cancellation` is raised.
    fn execute(&mut self, task: &Task, cancellation: &Cancellation, watcher: Watcher<'_>)
    -> Ending;

    /// Incidents since the last call.
    fn notices(&mut self) -> Vec<Notice>;
}

/// Evaluates candidates on one device.
pub(super) struct DeviceExecutor {
    settings: Arc<Settings>,
    setting: DeviceSetting,
    /// Made by the first request.
    bench: Option<EvaluationContext>,
    notices: Vec<Notice>,
}

impl DeviceExecutor {
    pub(super) fn new(settings: Arc<Settings>, setting: DeviceSetting) -> Self {
        Self { settings, setting, bench: None, notices: Vec::new() }
    }

    fn bench(
        &mut self,
        cancellation: &Cancellation,
    ) -> Result<&mut EvaluationContext, EvaluateError> {
        // After a lost connection, the next request connects again.
        let bench = match self.bench.take().filter(|bench| !bench.workers.is_disconnected()) {
            Some(bench) => bench,
            None => {
                let DeviceSetting { device, checker, libraries } = &self.setting;
                let Settings { hosts, command, .. } = &*self.settings;
                let workers =
                    device_workers(hosts, command, device, checker.as_ref(), cancellation)
                        .map_err(EvaluateError::Environment)?;
                EvaluationContext::new(self.settings.compiler(), workers, libraries.clone())
            }
        };
        Ok(self.bench.insert(bench))
    }

    fn evaluated(
        &mut self,
        (work, conditions): (&Work, &Conditions),
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<Ending, EvaluateError> {
        let evaluation = evaluation(work, conditions);
        let run = evaluate(&evaluation, self.bench(cancellation)?, cancellation, watcher)?;
        self.notice(run.verdict.as_ref().err());
        Ok(match run.verdict {
            Err(ref reason) if reason.is_cancelled() => cancelled(Some(Box::new(run))),
            Ok(_) | Err(_) => Ending::Evaluated(Box::new(run)),
        })
    }

    fn screened(
        &mut self,
        (screens, conditions): (&ScreeningBatch, &Conditions),
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<Ending, EvaluateError> {
        let evaluations: Vec<_> =
            screens.works.iter().map(|work| evaluation(work, conditions)).collect();
        let glances = ScreeningRequest { evaluations: &evaluations, abandon: &screens.abandon };
        let screenings = screen(glances, self.bench(cancellation)?, cancellation, watcher)?;
        for screening in &screenings {
            self.notice(screening.verdict.as_ref().err());
        }
        let cancelled_in =
            |screening: &Screening| screening.verdict.as_ref().is_err_and(NotPassed::is_cancelled);
        Ok(match screenings.iter().any(cancelled_in) {
            true => cancelled(None),
            false => Ending::Screened(screenings),
        })
    }

    fn compared(
        &mut self,
        (contest, conditions): (&AbComparison, &Conditions),
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<Ending, EvaluateError> {
        let pair = contest.pair.map(|work| evaluation(work, conditions));
        let protocol = match conditions.timing {
            TimingUse::Measure(protocol) => protocol,
            TimingUse::Skip => Protocol::PAIRED,
        };
        let condition = (contest.mode, protocol);
        let compared =
            side_by_side(&pair, condition, self.bench(cancellation)?, cancellation, watcher);
        Ok(match (compared, cancellation.is_cancelled()) {
            (_, true) => cancelled(None),
            (compared, false) => Ending::Compared(compared?),
        })
    }

    fn profiled(
        &mut self,
        (work, conditions): (&Work, &Conditions),
        profiler: &Profiler,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<Ending, EvaluateError> {
        let evaluation = evaluation(work, conditions);
        let profiled =
            profiled(&evaluation, profiler, self.bench(cancellation)?, cancellation, watcher)?;
        self.notice(profiled.run.verdict.as_ref().err());
        Ok(match profiled.run.verdict {
            Err(ref reason) if reason.is_cancelled() => cancelled(None),
            Ok(_) | Err(_) => Ending::Profiled(Box::new(profiled)),
        })
    }

    /// Notices of processes that the verdict names. Other incidents are omitted: they may stem from a held-out workload.
    fn notice(&mut self, reason: Option<&NotPassed>) {
        let step_and_notice = match reason {
            Some(NotPassed::NotJudged(
                NotJudged::DeviceLost { step, .. } | NotJudged::CrashesWorker { step, .. },
            )) => Some(Notice::Lost { step: *step }),
            Some(NotPassed::Failed(Failure::TimedOut { step, limit, .. })) => {
                Some(Notice::Killed { step: *step, limit: *limit })
            }
            Some(
                NotPassed::Failed(
                    Failure::Compile(_)
                    | Failure::Refused(_)
                    | Failure::Fault(_)
                    | Failure::Wrong(_),
                )
                | NotPassed::NotJudged(NotJudged::NotSupported { .. } | NotJudged::Cancelled),
            )
            | None => None,
        };
        self.notices.extend(step_and_notice);
    }
}

impl DeviceExecutor {
    fn attempt(
        &mut self,
        task: &Task,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Ending {
        let ending = match task {
            Task::Evaluate(work, conditions) => {
                self.evaluated((work, conditions), cancellation, watcher)
            }
            Task::Screen(screens, conditions) => {
                self.screened((screens, conditions), cancellation, watcher)
            }
            Task::Compare(contest, conditions) => {
                self.compared((contest, conditions), cancellation, watcher)
            }
            Task::Profile(work, conditions, profiler) => {
                self.profiled((work, conditions), profiler, cancellation, watcher)
            }
            Task::Compile(work, for_what) => match self.bench(cancellation) {
                Ok(bench) => {
                    Ok(compiled(&mut bench.compiler, (work, for_what), cancellation, watcher))
                }
                Err(error) => Err(error),
            },
            Task::CompileAhead(work, conditions) => self.bench(cancellation).and_then(|bench| {
                compiled_ahead(&mut bench.compiler, (work, conditions), cancellation, watcher)
            }),
        };
        ending.unwrap_or_else(Ending::Impossible)
    }

    /// Whether the device was an allocation that Slurm took back, or whose node failed: another one may do the same.
    fn has_lost_its_allocation(&self, ending: &Ending) -> bool {
        let allocates = matches!(self.setting.device.host, Some(HostName::Slurm { .. }));
        let is_lost = self.bench.as_ref().is_some_and(|bench| bench.workers.is_disconnected());
        let lost = |reason: Option<&NotPassed>| {
            matches!(reason, Some(NotPassed::NotJudged(NotJudged::DeviceLost { .. })))
        };
        let without_result = match ending {
            Ending::Evaluated(run) => lost(run.verdict.as_ref().err()),
            Ending::Screened(screenings) => {
                screenings.iter().any(|screening| lost(screening.verdict.as_ref().err()))
            }
            Ending::Profiled(profiled) => lost(profiled.run.verdict.as_ref().err()),
            Ending::Impossible(EvaluateError::Environment(_)) => true,
            Ending::Impossible(EvaluateError::Request(_))
            | Ending::CompiledAhead { .. }
            | Ending::Compared(_)
            | Ending::Compiled(_)
            | Ending::Cancelled { .. }
            | Ending::Panicked { .. }
            | Ending::Stopped => false,
        };
        allocates && is_lost && without_result
    }
}

impl Executor for DeviceExecutor {
    fn execute(
        &mut self,
        task: &Task,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Ending {
        let mut ending = self.attempt(task, cancellation, watcher);
        for _ in 1..MOST_ATTEMPTS {
            if cancellation.is_cancelled() || !self.has_lost_its_allocation(&ending) {
                break;
            }
            ending = self.attempt(task, cancellation, watcher);
        }
        ending
    }

    fn notices(&mut self) -> Vec<Notice> {
        let mut notices = std::mem::take(&mut self.notices);
        if let Some(EvaluationContext { compiler, workers, .. }) = &mut self.bench {
            let replaced = workers.take_replaced().into_iter();
            let role = ProcessRole::DeviceWorker;
            notices.extend(replaced.map(|death| Notice::Replaced { role, death }));
            notices.extend(of_compiler(compiler));
        }
        notices
    }
}

/// Compiles while the other threads use the devices.
pub(super) struct CompileExecutor {
    compiler: Compiler,
}

impl CompileExecutor {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { compiler: settings.compiler() }
    }
}

impl Executor for CompileExecutor {
    fn execute(
        &mut self,
        task: &Task,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Ending {
        match task {
            Task::Compile(work, for_what) => {
                compiled(&mut self.compiler, (work, for_what), cancellation, watcher)
            }
            Task::CompileAhead(work, conditions) => {
                compiled_ahead(&mut self.compiler, (work, conditions), cancellation, watcher)
                    .unwrap_or_else(Ending::Impossible)
            }
            Task::Evaluate(..) | Task::Screen(..) | Task::Compare(..) | Task::Profile(..) => {
                let message =
                    "the compile thread has no device; send this request to a device".to_owned();
                Ending::Impossible(EvaluateError::Request(message))
            }
        }
    }

    fn notices(&mut self) -> Vec<Notice> {
        of_compiler(&mut self.compiler)
    }
}

fn of_compiler(compiler: &mut Compiler) -> Vec<Notice> {
    let replaced = compiler.take_replaced().into_iter();
    let role = ProcessRole::Compiler;
    let replaced = replaced.map(|death| Notice::Replaced { role, death });
    replaced.chain(compiler.take_notices().into_iter().map(Notice::Compiler)).collect()
}

fn compiled(
    compiler: &mut Compiler,
    (work, for_what): (&Work, &CompileFor),
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Ending {
    let CompileFor { sheet, workload, build } = for_what;
    let workload = match work.project.workload(workload) {
        Ok(workload) => workload,
        Err(error) => return Ending::Impossible(EvaluateError::Request(error.to_string())),
    };
    watcher(Step::Compile, Some(&workload.name));
    let (project, chosen) = (&*work.project, &work.chosen);
    let (multiprocessors, build) = (None, *build);
    let setting = Setting { project, workload, chosen, sheet, multiprocessors, build };
    match facts(compiler, &work.kernel, &setting, cancellation) {
        Err(FactsError::Compile(CompileError::Cancelled)) => cancelled(None),
        outcome => Ending::Compiled(Box::new(outcome)),
    }
}

fn compiled_ahead(
    compiler: &mut Compiler,
    (work, conditions): (&Work, &Conditions),
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Ending, EvaluateError> {
    watcher(Step::Compile, None);
    let complete = compile_ahead(evaluation(work, conditions), compiler, cancellation)?;
    Ok(complete.map_or_else(|| cancelled(None), |complete| Ending::CompiledAhead { complete }))
}

fn evaluation<'a>(work: &'a Work, conditions: &'a Conditions) -> Evaluation<'a> {
    Evaluation {
        project: &work.project,
        kernel: &work.kernel,
        chosen: &work.chosen,
        device: &conditions.device,
        sheet: conditions.sheet,
        calibration: conditions.calibration.as_deref(),
        workload: conditions.workload.as_deref(),
        seed: conditions.seed,
        policy: conditions.policy,
        timing: conditions.timing,
    }
}

/// A cancelled end; the queue replaces the reason by the one that it recorded.
fn cancelled(so_far: Option<Box<Run>>) -> Ending {
    Ending::Cancelled { because: CancelReason::Requested, so_far }
}
