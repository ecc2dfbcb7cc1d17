//! Two kernels of a project that are right beside each other: both run in every round.

use std::time::Duration;

use super::build::Scope;
use super::{Bench, EvaluateError, Evaluation, Watcher, build, settled};
use crate::cancellation::Cancellation;
use crate::measure::comparison::Comparison;
use crate::measure::protocol::Protocol;
use crate::measure::timing::{Mode, Timing};
use crate::units::Fraction;
use crate::verify::inputs::Recipe;
use crate::verify::station::{
    MeasureOrder, MeasureReport, ModelledProgram, ModelledTime, Quantity, Samples,
};
use crate::verify::subject::{Subject, Trial};
use crate::verify::verdict::{Step, TimingUse};
use crate::verify::verification::Stop;

/// What a comparison may take beside its samples: making inputs, copying.
const BESIDE: Duration = Duration::from_secs(120);

/// How two kernels compare on one workload.
#[derive(Clone, Debug)]
pub struct ComparedWorkload {
    /// Its name.
    pub workload: String,
    /// How they compare.
    pub outcome: Outcome,
}

/// How two kernels compare on one workload.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Both ran side by side.
    Measured {
        /// The times of A and B.
        timings: Box<[Timing; 2]>,
        /// B against A.
        comparison: Comparison,
    },
    /// Both were modelled.
    Modelled {
        /// The times of A and B.
        timings: Box<[Timing; 2]>,
        /// The bound of B as a part of that of A.
        ratio: Fraction,
    },
    /// There is no ratio.
    Withheld(String),
}

/// Times two kernels side by side on every workload that is for measuring; both passed before.
///
/// # Errors
/// As [`super::evaluate`].
pub fn side_by_side(
    evaluations: [Evaluation<'_>; 2],
    protocol: Protocol,
    bench: &mut Bench,
    cancellation: &Cancellation,
    watcher: Watcher<'_>,
) -> Result<Vec<ComparedWorkload>, EvaluateError> {
    let seed = evaluations[0].seed;
    let both = evaluations.map(|each| Evaluation { timing: TimingUse::Measure(protocol), ..each });
    let pair = settled(Pair::of(&both, bench, cancellation))?.map_err(|failure| {
        // It passed a moment ago.
        EvaluateError::Environment(format!("the second build failed: {}", failure.word()))
    })?;
    let mut workloads = Vec::new();
    for (a, b) in pair.workloads() {
        watcher(Step::Measure, Some(&a.case.workload));
        let outcome = outcome(a, b, (protocol, seed), bench, cancellation)?;
        workloads.push(ComparedWorkload { workload: a.case.workload.clone(), outcome });
    }
    Ok(workloads)
}

/// Both candidates, loaded into one device.
struct Pair {
    subjects: [Subject; 2],
}

impl Pair {
    fn of(
        evaluations: &[Evaluation<'_>; 2],
        bench: &mut Bench,
        cancellation: &Cancellation,
    ) -> Result<Self, Stop> {
        let [a, b] = evaluations;
        let a = build::build(a, Scope::Everything, &mut bench.compiler, cancellation, &mut None)?;
        let mut b =
            build::build(b, Scope::Everything, &mut bench.compiler, cancellation, &mut None)?;
        b.stand_behind(a.candidate.len());
        let modules: Vec<_> = a.candidate.iter().chain(&b.candidate).cloned().collect();
        let steps = a.limits.virtual_steps;
        bench
            .stations
            .open(&modules, &a.reference, a.trusted.as_ref(), steps, cancellation)
            .map_err(|error| Stop::Broken(error.to_string()))?;
        Ok(Self { subjects: [a, b] })
    }

    fn workloads(&self) -> impl Iterator<Item = (&Trial, &Trial)> {
        let [a, b] = &self.subjects;
        a.measured.iter().filter_map(|a| {
            let b = b.measured.iter().find(|b| b.case.workload == a.case.workload)?;
            Some((a, b))
        })
    }
}

fn outcome(
    a: &Trial,
    b: &Trial,
    (protocol, seed): (Protocol, u64),
    bench: &mut Bench,
    cancellation: &Cancellation,
) -> Result<Outcome, EvaluateError> {
    let draw = bench.stations.timed_draw();
    let order = MeasureOrder {
        case: a.case.clone(),
        programs: vec![a.candidate.clone(), b.candidate.clone()],
        recipe: Recipe { seed, draw },
        last: Recipe { seed: !seed, draw },
        mode: Mode::Cold,
        protocol,
        seed,
        abandon_above: None,
        outputs: None,
        cupti: Vec::new(),
        quantity: Quantity::Time,
    };
    let limit = BESIDE.saturating_add(protocol.longest * 4);
    bench.stations.look_for_cupti(&bench.compiler.toolchain().cupti);
    let report = bench
        .stations
        .measure(order, limit, cancellation)
        .map_err(|error| EvaluateError::Environment(error.to_string()))?;
    Ok(match report {
        MeasureReport::Samples(samples) => measured(samples),
        MeasureReport::Modelled(times) => modelled(times),
        MeasureReport::Abandoned(_) | MeasureReport::Energy(_) => {
            Outcome::Withheld("nothing was timed".to_owned())
        }
        MeasureReport::Faulted(faults) => {
            let details = faults.first().map(|fault| fault.details.clone());
            Outcome::Withheld(format!(
                "a kernel faulted while it was timed: {}",
                details.unwrap_or_default()
            ))
        }
    })
}

fn measured(samples: Samples) -> Outcome {
    let Samples { clock, batch, rounds, stopped, readings, .. } = samples;
    let mut rounds = rounds.into_iter();
    let (Some(a), Some(b)) = (rounds.next(), rounds.next()) else {
        return Outcome::Withheld("the clock gave no times".to_owned());
    };
    let comparison = Comparison::of(&a, &b);
    let timing = |rounds| Timing::measured(clock, Mode::Cold, rounds, (batch, stopped), &readings);
    match (timing(a), timing(b), comparison) {
        (Some(a), Some(b), Some(comparison)) => {
            Outcome::Measured { timings: Box::new([a, b]), comparison }
        }
        _ => Outcome::Withheld("too few rounds to compare".to_owned()),
    }
}

fn modelled(programs: Vec<ModelledProgram>) -> Outcome {
    let mut times = programs.into_iter().map(|program| program.time);
    match (times.next(), times.next()) {
        (Some(Ok(a)), Some(Ok(b))) => {
            let ratio = b.bound / a.bound;
            let timing = |time: ModelledTime| {
                Timing::modelled(time.bound, time.band, time.limit, time.assumptions)
            };
            Outcome::Modelled { timings: Box::new([timing(a), timing(b)]), ratio }
        }
        (Some(Err(reason)), _) | (_, Some(Err(reason))) => Outcome::Withheld(reason),
        (None | Some(Ok(_)), None) | (None, Some(Ok(_))) => {
            Outcome::Withheld("nothing was modelled".to_owned())
        }
    }
}
