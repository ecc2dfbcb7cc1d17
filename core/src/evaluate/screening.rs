//! A quick look at several candidates: compiled together, loaded together, run one after the other.
//!
//! Opening a device costs more than a look at a candidate, so that a sweep shares one opening among many. What one of
//! them does wrong is its own: after a fault the device is opened anew for those behind it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::Cancellation;

use super::build::{self, Built, Scope};
use super::{EvaluateError, Evaluation, EvaluationContext, Screening, Watcher, retry, settled};
use crate::units::Seconds;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::station::ModuleImage;
use crate::verify::subject::Subject;
use crate::verify::verdict::{Screened, Step};
use crate::verify::verification::{Stop, Verification, open};

/// Several looks: `evaluations` are of one project and device, on the same workloads.
#[derive(Clone, Copy, Debug)]
pub struct ScreeningRequest<'a> {
    /// What is looked at.
    pub evaluations: &'a [Evaluation<'a>],
    /// A first execution of a workload that takes longer than this is slow enough to know.
    pub abandon: &'a BTreeMap<String, Seconds>,
}

/// Looks at each candidate: right on one set of inputs of each workload that is timed, and about how fast. Enough to drop
/// it, never enough to call it right.
///
/// Cancelled, it has fewer screenings than there are evaluations, or one whose verdict says so.
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
        // Nobody is at fault but who asked, or who cancelled.
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

/// Candidates that were built, and what of them is loaded.
struct Batch {
    built: Vec<Option<Built>>,
    /// The modules of all that can run, in their order.
    modules: Vec<ModuleImage>,
    /// What compiling took for each.
    compiling: Duration,
    sharing: Sharing,
    names: Vec<Option<crate::project::candidate::CandidateHash>>,
}

/// Whether candidates share an opening of the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// They will, once it is open.
    Closed,
    /// The modules of all are loaded.
    Open,
    /// Each has its own, because the device does not take the modules of some.
    Apart,
}

impl Batch {
    fn new(built: Vec<Built>, compiling: Duration) -> Self {
        let names = built.iter().map(|(name, _)| *name).collect();
        let mut modules = Vec::new();
        let mut all = Vec::new();
        for (name, mut subject) in built {
            if let Ok(subject) = &mut subject {
                subject.stand_behind(modules.len());
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
            return Err(Stop::Request("nothing is to be looked at".to_owned()));
        };
        let mut subject = subject?;
        let looked = self.look_at(&mut subject, index, glances, (context, cancellation, watcher));
        if matches!(looked, Err(Stop::WorkerEnded(_))) {
            // Fresh processes look at it once more.
            self.built[index] = Some((name, Ok(subject)));
        }
        looked
    }

    fn look_at(
        &mut self,
        subject: &mut Subject,
        index: usize,
        glances: ScreeningRequest<'_>,
        (bench, cancellation, watcher): (&mut EvaluationContext, &Cancellation, Watcher<'_>),
    ) -> Result<Screened, Stop> {
        watcher(Step::Load, None);
        self.load(subject, bench, cancellation)?;
        let evaluation = &glances.evaluations[index];
        let verification = Verification {
            subject,
            stations: &mut bench.stations,
            seed: evaluation.seed,
            cancellation,
            watcher,
            checks: subject.checks(self.compiling),
        };
        let looked = verification.screen(evaluation.timing_use(), glances.abandon);
        if looked.is_err() && self.sharing == Sharing::Open {
            // Its process may have gone with it, and its state is nobody else's business.
            self.sharing = Sharing::Closed;
        }
        looked
    }

    /// Has the device take the modules of all, or, where it refuses those, of this one.
    fn load(
        &mut self,
        subject: &mut Subject,
        context: &mut EvaluationContext,
        cancellation: &Cancellation,
    ) -> Result<(), Stop> {
        let stations = &mut context.stations;
        match self.sharing {
            Sharing::Open => return Ok(()),
            Sharing::Closed => match open(stations, subject, &self.modules, cancellation) {
                Ok(()) => {
                    self.sharing = Sharing::Open;
                    return Ok(());
                }
                Err(Stop::Failure(_) | Stop::NotJudged(NotJudged::NotSupported { .. }))
                    if self.shares(subject) => {}
                Err(stop @ Stop::WorkerEnded(_)) if self.shares(subject) => {
                    // A second process that ends at this one's modules alone ends because of them.
                    self.sharing = Sharing::Apart;
                    return Err(stop);
                }
                Err(stop) => return Err(stop),
            },
            Sharing::Apart => {}
        }
        self.sharing = Sharing::Apart;
        subject.stand_behind(0);
        open(stations, subject, &subject.candidate, cancellation)
    }

    /// Whether it may be another one's module that the device does not take.
    fn shares(&self, subject: &Subject) -> bool {
        self.modules.len() > subject.candidate.len()
    }
}
