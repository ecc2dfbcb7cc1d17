//! What would have been said of every kernel of the sample projects on an H200: its times are those that were recorded
//! there, its counts those of the virtual one.
//!
//! `LIGHTBENCH_TOOLCHAIN=… cargo test -p lightbench-core --lib -- --ignored --nocapture said_of_recorded_times` prints a
//! table and says of how many nothing is known.

use std::path::PathBuf;

use lightbench_tensors::inputs::{InputMode, InputSpec};

use super::*;
use crate::compile::Compiler;
use crate::device::Placement;
use crate::measure::timing::{Clock, Mode, Stopped, Timing};
use crate::project::manifest::Distribution;
use crate::speed_of_light::advice::Advice;
use crate::speed_of_light::limiter::Bottleneck;
use crate::toolchain::{HostEnvironment, discover};
use crate::verify::device_session::{
    BufferPlacement, CountsUse, GridPart, RunReport, RunRequest, Scrutiny, Side,
};
use crate::verify::verdict::{Checks, Uncounted};
use crate::verify::verification::extrapolated_profile::extrapolated_profile;

const TIMES: &str = include_str!("../../../../docs/times-on-h200.md");

/// What an empty kernel takes on that card, by its events.
const FLOOR: Seconds = Seconds(1.55e-6);

/// Project, kernel, workload and cold time.
pub(super) fn recorded() -> Vec<(&'static str, &'static str, &'static str, Seconds)> {
    let rows = TIMES.lines().filter(|line| line.starts_with("| "));
    let rows = rows.map(|line| line.split('|').map(str::trim).skip(1).collect::<Vec<_>>());
    rows.filter_map(|cells| Some((cells[0], cells[1], cells[2], time(cells.get(3)?)?))).collect()
}

fn time(text: &str) -> Option<Seconds> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    Some(Seconds(number.parse::<f64>().ok()? * scale))
}

/// Runs the small workloads of a subject where they are counted.
fn counted(subject: &CompiledCandidate) -> Option<Vec<RunReport>> {
    let (side, device) = (Side::Candidate, "virtual:h200".to_owned());
    let modules = subject.candidate.clone();
    let opening = OpenRequest { side, device, max_steps: 1 << 30, modules, harness_kernels: None };
    let mut session = DeviceSession::open(&opening).ok()?;
    let reports = subject.workloads.iter().map(|trial| {
        let order = RunRequest {
            case: trial.case.clone(),
            program: trial.candidate.clone(),
            recipe: InputSpec { seed: 1, draw: InputMode::Distribution(Distribution::AsDeclared) },
            memory: BufferPlacement::Fresh(Placement::Left),
            scrutiny: Scrutiny::Memory,
            counts: CountsUse::Report,
            outputs: None,
            part: GridPart::Whole,
        };
        session.run(&order).unwrap()
    });
    Some(reports.collect())
}

fn timed(
    trial: &CompiledWorkload,
    small: Option<&[(&CompiledWorkload, &RunReport)]>,
    time: Seconds,
) -> WorkloadTiming {
    let clock = Clock::Events { offset: FLOOR, floor: FLOOR, without: None };
    let rounds = vec![vec![time; 5]; 20];
    let timing = Timing::measured(clock, Mode::Cold, rounds, (1, Stopped::Precise), &[]).unwrap();
    let profile =
        small.and_then(|small| extrapolated_profile(("virtual:h200", sheet()), small, trial));
    WorkloadTiming {
        workload: trial.case.workload.clone(),
        timings: vec![timing],
        withheld: None,
        check: SizeCheck::Whole,
        profile: profile.ok_or(Uncounted::NothingSmall),
        energy: None,
        standing: None,
        baselines: Vec::new(),
    }
}

#[test]
#[ignore = "compiles and runs every kernel of every sample project"]
fn what_is_said_of_recorded_times() {
    let explicit = std::env::var_os("LIGHTBENCH_TOOLCHAIN").map(PathBuf::from);
    let surroundings = HostEnvironment { explicit, ..HostEnvironment::default() };
    let toolchain = discover(&surroundings).into_toolchain().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let readings = Readings::new(Seconds(1.0), FLOOR);
    let mut compiler = Compiler::new(toolchain, command(readings), Some(cache.path().to_owned()));
    let device = DeviceName::parse("cuda:0").unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects");
    let rows = recorded();
    let (mut all, mut unknown) = (0, 0);
    let mut kernels: Vec<(&str, &str)> = rows.iter().map(|row| (row.0, row.1)).collect();
    kernels.dedup();
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
        let scope = Scope::Everything;
        let cancellation = Cancellation::new();
        let subject =
            build::build(&evaluation, scope, &mut compiler, &cancellation, &mut None).unwrap();
        let reports = counted(&subject);
        let small: Option<Vec<_>> =
            reports.as_ref().map(|reports| subject.workloads.iter().zip(reports).collect());
        let of_kernel = rows.iter().filter(|row| (row.0, row.1) == (name, kernel));
        let timings = of_kernel.filter_map(|(.., workload, time)| {
            let trial = subject.measured.iter().find(|trial| trial.case.workload == **workload)?;
            Some(timed(trial, small.as_deref(), *time))
        });
        let mut passed = Passed { checks: Checks::default(), timings: timings.collect() };
        performance_analysis::analyse_performance(&evaluation, &subject, &mut passed);
        for timing in &passed.timings {
            let standing = timing.standing.as_ref().unwrap();
            all += 1;
            unknown += usize::from(standing.limiter.bottleneck == Bottleneck::Unknown);
            let advised = match &standing.advice {
                Advice::Try(all) => all[0].technique.id.as_str(),
                Advice::NearEnough { .. } | Advice::NearLeast { .. } => "near enough",
                Advice::Nothing => "nothing",
            };
            let (cold, words) = (timing.cold().unwrap().summary.median, standing.limiter.words());
            println!("| {name} | {kernel} | {} | {cold} | {words} | {advised} |", timing.workload);
            println!("    {}", standing.limiter.evidence.join("; "));
        }
    }
    println!("{all} times; of {unknown} it is not known what limits them");
    assert!(all > 150 && unknown * 10 < all, "{unknown} of {all}");
}
