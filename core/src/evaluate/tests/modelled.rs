//! What the model says of every time that an H200 took, without running any of it to its end.
//!
//! `LIGHTBENCH_TOOLCHAIN=… cargo test -p lightbench-core --lib -- --ignored --nocapture modelled_and_measured` prints each
//! row of `docs/times-on-h200.md` with its modelled time, and how good the model is. `LIGHTBENCH_ONLY` names one project.

use std::path::PathBuf;

use lightbench_tensors::inputs::{InputMode, InputSpec};

use super::recorded::recorded;
use super::*;
use crate::compile::Compiler;
use crate::measure::timing::Mode;
use crate::toolchain::{HostEnvironment, discover};
use crate::verify::device_session::{MeasureReport, MeasureRequest, Quantity, Side};

/// A row, and what the model says of it.
struct Judged {
    project: &'static str,
    measured: Seconds,
    /// The middle, and the ends of the band.
    modelled: Result<(Seconds, (Seconds, Seconds), Seconds), String>,
}

#[test]
#[ignore = "compiles every kernel of every sample project and models it"]
fn modelled_and_measured() {
    let explicit = std::env::var_os("LIGHTBENCH_TOOLCHAIN").map(PathBuf::from);
    let only = std::env::var("LIGHTBENCH_ONLY").ok();
    let surroundings = HostEnvironment { explicit, ..HostEnvironment::default() };
    let toolchain = discover(&surroundings).into_toolchain().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let readings = Readings::new(Seconds(1.0), Seconds(1.55e-6));
    let mut compiler = Compiler::new(toolchain, command(readings), Some(cache.path().to_owned()));
    let device = DeviceName::parse("virtual:h200").unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects");
    let rows = recorded();
    let mut kernels: Vec<(&str, &str)> = rows.iter().map(|row| (row.0, row.1)).collect();
    kernels.dedup();
    kernels.retain(|(project, _)| only.as_deref().is_none_or(|only| only == *project));
    let mut judged = Vec::new();
    for (name, kernel) in kernels {
        let project = Project::load(&samples.join(name)).unwrap();
        let evaluation = Evaluation {
            project: &project,
            kernel: project.kernel(kernel).unwrap(),
            chosen: &BTreeMap::new(),
            device: &device,
            sheet: sheet(),
            calibration: None,
            workload: None,
            seed: 1,
            policy: PolicyUse::Show,
            timing: TimingUse::Measure(Protocol::QUICK),
        };
        let cancellation = Cancellation::new();
        let scope = Scope::Everything;
        let subject =
            build::build(&evaluation, scope, &mut compiler, &cancellation, &mut None).unwrap();
        for row in rows.iter().filter(|row| (row.0, row.1) == (name, kernel)) {
            let trial = subject.measured.iter().find(|trial| trial.case.workload == *row.2);
            let (project, measured) = (row.0, row.3);
            let modelled =
                trial.map_or(Err("no such workload".to_owned()), |trial| modelled(&subject, trial));
            let words = match &modelled {
                Ok((middle, _, bound)) => {
                    let ratio = middle.0 / measured.0;
                    format!("{middle:>9} {ratio:>6.2} bound {bound}")
                }
                Err(reason) => reason.clone(),
            };
            println!("{:<14} {:<22} {:<22} {measured:>9} {words}", row.0, row.1, row.2);
            judged.push(Judged { project, measured, modelled });
        }
    }
    report(&judged);
}

/// The middle of the band, the band and the bound.
fn modelled(
    subject: &CompiledCandidate,
    trial: &CompiledWorkload,
) -> Result<(Seconds, (Seconds, Seconds), Seconds), String> {
    let device = "virtual:h200".to_owned();
    let (side, modules) = (Side::Candidate, subject.candidate.clone());
    let opening = OpenRequest { side, device, max_steps: 1 << 30, modules, harness_kernels: None };
    let mut session =
        DeviceSession::open(&opening).map_err(|_error| "the station does not open")?;
    let recipe = InputSpec { seed: 1, draw: InputMode::Repeating };
    let order = MeasureRequest {
        case: trial.case.clone(),
        programs: vec![trial.candidate.clone()],
        recipe,
        last: None,
        mode: Mode::Cold,
        protocol: Protocol::QUICK,
        seed: 1,
        abandon_above: None,
        outputs: None,
        cupti: Vec::new(),
        quantity: Quantity::Time,
    };
    let report = session.measure(&order).map_err(|failure| format!("{failure:?}"))?;
    let MeasureReport::Modelled(programs) = report else { return Err("measured".to_owned()) };
    let time = programs.into_iter().next().ok_or("nothing was modelled")?.time?;
    let band = (time.bound * time.band.0, time.bound * time.band.1);
    Ok((time.bound * (time.band.0 * time.band.1).sqrt(), band, time.bound))
}

/// How good the model is.
fn report(judged: &[Judged]) {
    let known: Vec<_> = judged
        .iter()
        .filter_map(|row| Some((row, row.modelled.as_ref().ok()?)))
        .map(|(row, (middle, band, bound))| (row.project, row.measured.0, middle.0, band, bound.0))
        .collect();
    let mut errors: Vec<f64> = known.iter().map(|row| (row.2 / row.1 - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let within = known.iter().filter(|row| (row.3.0.0..=row.3.1.0).contains(&row.1)).count();
    let above = known.iter().filter(|row| row.4 > row.1).count();
    let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
    println!(
        "{} of {} modelled, off by {:.0} % in the median, {within} in the band, {above} bounds above",
        known.len(),
        judged.len(),
        100.0 * median
    );
    let mut projects: Vec<&str> = known.iter().map(|row| row.0).collect();
    projects.dedup();
    for project in projects {
        let own: Vec<_> = known.iter().filter(|row| row.0 == project).collect();
        let ranks = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let below = |n: usize| (0..own.len()).filter(|other| of(*other) < of(n)).count();
            let same = |n: usize| (0..own.len()).filter(|other| of(*other) == of(n)).count();
            (0..own.len()).map(|n| below(n) as f64 + (same(n) as f64 - 1.0) / 2.0).collect()
        };
        let (measured, modelled) = (ranks(&|n| own[n].1), ranks(&|n| own[n].2));
        println!("{project}: {} pairs, {:.2}", own.len(), correlation(&measured, &modelled));
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let both: f64 = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    let square = |of: &[f64], mean: f64| of.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
    both / (square(a, mean_a) * square(b, mean_b)).sqrt()
}
