//! Screens several candidates quickly: they are compiled together, loaded together, and run one after the other.
//!
//! Opening a device takes longer than screening a candidate, so the candidates of a sweep share one opened device. After a
//! fault of one candidate, the device is opened again for the next ones.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::Cancellation;

use super::build::{self, Built, Scope};
use super::{EvaluateError, Evaluation, EvaluationContext, Screening, Watcher, retry, settled};
use crate::units::Seconds;
use crate::verify::compiled_candidate::CompiledCandidate;
use crate::verify::device_session::ModuleImage;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::verdict::{Screened, Step};
use crate::verify::verification::{Stop, Verification, open};

/// A request for screenings; all `evaluations` have the same project, device and workloads.
#[derive(Clone, Copy, Debug)]
pub struct ScreeningRequest<'a> {
    /// The candidates to screen.
    pub evaluations: &'a [Evaluation<'a>],
    /// The time limit of the first execution of each workload: a slower candidate is not timed further.
    pub abandon: &'a BTreeMap<String, Seconds>,
}

/// Screens each candidate: checks it on one set of inputs of each timed workload, and times it approximately. The result
/// can reject a candidate and never verifies it.
///
/// If cancelled, it returns fewer screenings than evaluations, or a last one with a cancelled verdict.
///
/// # Errors
/// As [`super::evaluate`].
pub fn screen(
    glances: ScreeningRequest<'_>,
    context: &mut EvaluationContext,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Vec<Screening>, EvaluateError> {
    let ScreeningRequest { evaluations, .. } = glances;
    let Some(first) = evaluations.first() else { return Ok(Vec::new()) };
    let started = Instant::now();
    watcher(Step::Compile, None);
    let built =
        build::build_all(evaluations, Scope::Screening, &mut context.compiler, cancellation);
    let built = match settled(built)? {
        Ok(built) => built,
        // The request failed as a whole, or was cancelled.
        Err(failure) => return Ok(vec![nothing(first.seed, failure)]),
    };
    let share = started.elapsed() / u32::try_from(built.len()).unwrap_or(u32::MAX);
    let mut batch = Batch::new(built, share);
    let mut screenings = Vec::new();
    for (index, evaluation) in evaluations.iter().enumerate() {
        let started = Instant::now();
        let looked = retry::with_fresh_workers(context, |bench| {
            batch.screen(index, glances, bench, cancellation, watcher)
        });
        let verdict = settled(looked)?;
        let cancelled = verdict.as_ref().is_err_and(NotPassed::is_cancelled);
        let (candidate, seed) = (batch.candidate(index), evaluation.seed);
        let elapsed = share + started.elapsed();
        screenings.push(Screening { candidate, seed, verdict, elapsed });
        if cancelled {
            break;
        }
    }
    Ok(screenings)
}

fn nothing(seed: u64, reason: NotPassed) -> Screening {
    Screening { candidate: None, seed, verdict: Err(reason), elapsed: Duration::ZERO }
}

/// Built candidates, and the state of their modules on the device.
struct Batch {
    built: Vec<Option<Built>>,
    /// The modules of all candidates that can run, in order.
    modules: Vec<ModuleImage>,
    /// The compile time of each candidate.
    compiling: Duration,
    sharing: Sharing,
    names: Vec<Option<crate::project::candidate::CandidateHash>>,
}

/// Whether the candidates share one opened device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// Shared, but not open yet.
    Closed,
    /// Shared and open: all modules are loaded.
    Open,
    /// Separate, because the device refuses the modules of some candidates.
    Apart,
}

impl Batch {
    fn new(built: Vec<Built>, compiling: Duration) -> Self {
        let names = built.iter().map(|(name, _)| *name).collect();
        let mut modules = Vec::new();
        let mut all = Vec::new();
        for (name, mut subject) in built {
            if let Ok(subject) = &mut subject {
                subject.set_preceding_modules(modules.len());
                modules.extend(subject.candidate.iter().cloned());
            }
            all.push(Some((name, subject)));
        }
        Self { built: all, modules, compiling, sharing: Sharing::Closed, names }
    }

    fn candidate(&self, index: usize) -> Option<crate::project::candidate::CandidateHash> {
        self.names.get(index).copied().flatten()
    }

    fn screen(
        &mut self,
        index: usize,
        glances: ScreeningRequest<'_>,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Result<Screened, Stop> {
        let Some((name, subject)) = self.built.get_mut(index).and_then(Option::take) else {
            return Err(Stop::Request("no workload is selected for screening".to_owned()));
        };
        let mut subject = subject?;
        let looked = self.look_at(&mut subject, index, glances, (context, cancellation, watcher));
        if matches!(looked, Err(Stop::WorkerEnded(_))) {
            // Fresh processes screen it again.
            self.built[index] = Some((name, Ok(subject)));
        }
        looked
    }

    fn look_at(
        &mut self,
        subject: &mut CompiledCandidate,
        index: usize,
        glances: ScreeningRequest<'_>,
        (bench, cancellation, watcher): (&mut EvaluationContext, &Cancellation, Watcher<'_>),
    ) -> Result<Screened, Stop> {
        watcher(Step::Load, None);
        self.load(subject, bench, cancellation)?;
        let evaluation = &glances.evaluations[index];
        let (workers, seed) = (&mut bench.workers, evaluation.seed);
        let mut verification = Verification::new(subject, workers, seed, cancellation, watcher);
        verification.checks = subject.checks(self.compiling);
        let looked = verification.screen(evaluation.timing_use(), glances.abandon);
        if looked.is_err() && self.sharing == Sharing::Open {
            // Its process may have ended, and its device state must not affect other candidates.
            self.sharing = Sharing::Closed;
        }
        looked
    }

    /// Loads the modules of all candidates or, if the device refuses them, of this one.
    fn load(
        &mut self,
        subject: &mut CompiledCandidate,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
    ) -> Result<(), Stop> {
        let workers = &mut context.workers;
        match self.sharing {
            Sharing::Open => return Ok(()),
            Sharing::Closed => match open(workers, subject, &self.modules, cancellation) {
                Ok(()) => {
                    self.sharing = Sharing::Open;
                    return Ok(());
                }
                Err(Stop::Failure(_) | Stop::NotJudged(NotJudged::NotSupported { .. }))
                    if self.shares(subject) => {}
                Err(stop @ Stop::WorkerEnded(_)) if self.shares(subject) => {
                    // If a second process ends while loading only these modules, they are the cause.
                    self.sharing = Sharing::Apart;
                    return Err(stop);
                }
                Err(stop) => return Err(stop),
            },
            Sharing::Apart => {}
        }
        self.sharing = Sharing::Apart;
        subject.set_preceding_modules(0);
        open(workers, subject, &subject.candidate, cancellation)
    }

    /// Whether the device may have refused another candidate's module.
    fn shares(&self, subject: &CompiledCandidate) -> bool {
        self.modules.len() > subject.candidate.len()
    }
}
