//! Tests of figure panels by label and keyboard, and of their pictures, with times of an H200
//! (`docs/times-on-h200.md`).

use egui::{Key, Ui};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use lightbench_core::device::{DeviceSheet, Pipe};
use lightbench_core::figure::{
    BusyUnit, Emphasis, Origin, OtherRunTime, SampledRun, ScalingPoint, WorkloadTime,
    units_of_bound,
};
use lightbench_core::history::RunNumber;
use lightbench_core::measure::Summary;
use lightbench_core::project::Project;
use lightbench_core::speed_of_light::bound::{CacheState, PhysicalBound};
use lightbench_core::speed_of_light::ceilings::{Basis, Ceiling, Ceilings, Origin as Source};
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::speed_of_light::roofline::{Level, Traffic};
use lightbench_core::units::{Bytes, BytesPerSecond, Fraction, Seconds};

use super::roofline::{RooflineAction, RooflineModel, RooflineRun, RooflineView};
use super::speed_of_light::{SpeedOfLightAction, SpeedOfLightModel, SpeedOfLightView};
use super::timing::{TimingAction, TimingModel, TimingView};
use super::workloads::{SizedAxis, WorkloadsAction, WorkloadsModel, WorkloadsView};
use super::{roofline, speed_of_light, timing, workloads};
use crate::testing;
use crate::theme::ThemeName;
use crate::widgets::figure::Export;
use crate::workbench::absence::Absence;

const WIDE: [f32; 2] = [640.0, 420.0];
const NARROW: [f32; 2] = [300.0, 320.0];

/// A panel with its view state and its actions.
struct State<View, Action> {
    view: View,
    said: Vec<Action>,
}

fn shown<View: Default + 'static, Action: 'static>(
    theme: ThemeName,
    size: [f32; 2],
    panel: impl Fn(&mut Ui, &mut View) -> Option<Action> + 'static,
) -> Harness<'static, State<View, Action>> {
    let state = State { view: View::default(), said: Vec::new() };
    testing::harness(theme, size, state, move |ui, state: &mut State<View, Action>| {
        state.said.extend(panel(ui, &mut state.view));
    })
}

/// Pictures in every theme at two widths.
fn pictures<View: Default + 'static, Action: 'static>(
    name: &str,
    panel: impl Fn(&mut Ui, &mut View) -> Option<Action> + Clone + 'static,
) {
    for theme in ThemeName::ALL {
        let harness = shown(theme, WIDE, panel.clone());
        testing::snapshot(&harness, &format!("panel-{name}"));
    }
    let harness = shown(ThemeName::Dark, NARROW, panel);
    testing::snapshot(&harness, &format!("panel-{name}-narrow"));
}

/// Selects the second mark of a figure by keyboard.
fn choose_second<View, Action>(harness: &mut Harness<'_, State<View, Action>>, figure: &str) {
    harness.get_by_label(figure).focus();
    harness.run();
    for key in [Key::ArrowRight, Key::ArrowRight, Key::Enter] {
        harness.key_press(key);
        harness.run();
    }
}

fn work(project: &str, workload: &str) -> MinimalWork {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects");
    let project = Project::load(&root.join(project)).unwrap();
    let workload = project.workloads.iter().find(|each| each.name == workload).unwrap();
    MinimalWork::new(&project.definition, workload)
}

fn ceilings() -> Ceilings {
    let mut ceilings = Ceilings::new(DeviceSheet::named("h200").unwrap(), None, Basis::Sheet);
    let origin = Source::Measured { date: "2026-11-21".to_owned(), method: "copy".to_owned() };
    ceilings.l2 = Some(Ceiling { value: BytesPerSecond(9.8e12), origin: origin.clone() });
    ceilings.dram = Some(Ceiling { value: BytesPerSecond(4.31e12), origin });
    ceilings
}

/// Runs of RMSNorm, llama-70b-prefill, from the first version to the fastest, and a prediction of the next.
fn runs() -> Vec<RooflineRun> {
    let run = |number: i64, kernel: &str, time: f64, origin| RooflineRun {
        number: RunNumber(number),
        kernel: kernel.to_owned(),
        time: Seconds(time),
        interval: Some((Seconds(time * 0.985), Seconds(time * 1.02))),
        origin,
        traffic: vec![
            (Level::Dram, Bytes(536_887_296), Traffic::Compulsory),
            (Level::L2, Bytes(805_322_752), Traffic::Counted),
        ],
    };
    vec![
        run(12, "naive", 2.66e-3, Origin::Measured),
        run(17, "shared-tree", 1.65e-4, Origin::Measured),
        run(18, "warp-shuffle", 1.97e-4, Origin::Modelled),
        run(27, "vector16", 1.39e-4, Origin::Measured),
        run(31, "registers", 1.28e-4, Origin::Measured),
    ]
}

fn show_roofline(ui: &mut Ui, view: &mut RooflineView) -> Option<RooflineAction> {
    let (ceilings, work, runs) = (ceilings(), work("rmsnorm", "llama-70b-prefill"), runs());
    let model = RooflineModel {
        ceilings: Some(&ceilings),
        work: &work,
        runs: &runs,
        chosen: Some(RunNumber(31)),
        pinned: Some(RunNumber(27)),
        absence: &absence(),
    };
    roofline::show(ui, &model, view)
}

#[test]
fn a_run_is_chosen_in_the_roofline() {
    let mut harness = shown(ThemeName::Dark, WIDE, show_roofline);
    choose_second(&mut harness, "Roofline of NVIDIA H200 SXM 141 GB");
    let said = &harness.state().said;
    assert!(matches!(said.as_slice(), [RooflineAction::Choose(_)]), "{said:?}");
    testing::snapshot(&harness, "panel-roofline-card");
    pictures("roofline", show_roofline);
}

#[test]
fn roofs_are_chosen_in_a_menu() {
    let mut harness = shown(ThemeName::Dark, WIDE, show_roofline);
    harness.get_by_label("Show").click();
    harness.run();
    harness.get_by_label(&Pipe::TensorBf16.to_string()).click();
    harness.run();
    testing::snapshot(&harness, "panel-roofline-menu");
    harness.get_by_label("Table").click();
    harness.run();
    harness.get_by_label("BF16 tensor ceiling");
    harness.get_by_label("Export").click();
    harness.run();
    harness.get_by_label("Copy as CSV").click();
    harness.run();
    let said = &harness.state().said;
    let [RooflineAction::Export(Export::Copy(csv))] = said.as_slice() else { panic!("{said:?}") };
    assert!(csv.contains("registers #31") && csv.contains("BF16 tensor ceiling"), "{csv}");
}

/// An integer sum has no roofline.
fn show_bandwidth(ui: &mut Ui, view: &mut RooflineView) -> Option<RooflineAction> {
    let (ceilings, runs) = (ceilings(), runs());
    let work = MinimalWork { operations: Vec::new(), ..work("rmsnorm", "llama-70b-prefill") };
    let model = RooflineModel {
        ceilings: Some(&ceilings),
        work: &work,
        runs: &runs,
        chosen: Some(RunNumber(31)),
        pinned: None,
        absence: &absence(),
    };
    roofline::show(ui, &model, view)
}

#[test]
fn what_computes_nothing_has_its_bandwidth() {
    let mut harness = shown(ThemeName::Light, WIDE, show_bandwidth);
    choose_second(&mut harness, "Bytes a second on NVIDIA H200 SXM 141 GB");
    let expected = [RooflineAction::Choose(RunNumber(27))];
    assert_eq!(harness.state().said, expected);
    pictures("bandwidth", show_bandwidth);
}

fn units() -> Vec<BusyUnit> {
    let (work, ceilings) = (work("rmsnorm", "llama-70b-prefill"), ceilings());
    let bound = PhysicalBound::new(&work, &ceilings, CacheState::Cold).unwrap();
    let (time, pinned) = (Seconds(1.28e-4), Some(Seconds(1.39e-4)));
    let mut units = units_of_bound(bound.bound(), time, pinned, Origin::Measured);
    let modelled = [("L2", 0.332, 0.328), ("Shared memory", 0.087, 0.087), ("Issue", 0.214, 0.261)];
    units.extend(modelled.into_iter().zip(10..).map(|((name, share, pinned), id)| BusyUnit {
        id,
        name: name.to_owned(),
        share: Fraction(share),
        amount: String::new(),
        pinned: Some(Fraction(pinned)),
        origin: Origin::Modelled,
        emphasis: Emphasis::Normal,
    }));
    units.sort_by(|a, b| b.share.0.total_cmp(&a.share.0));
    units
}

fn show_speed(ui: &mut Ui, view: &mut SpeedOfLightView) -> Option<SpeedOfLightAction> {
    let units = units();
    let model = SpeedOfLightModel { units: &units, pinned: Some("#27"), absence: &absence() };
    speed_of_light::show(ui, &model, view)
}

#[test]
fn a_unit_is_explained() {
    let mut harness = shown(ThemeName::Dark, WIDE, show_speed);
    choose_second(&mut harness, "Speed of light");
    assert_eq!(harness.state().said, [SpeedOfLightAction::Explain(1)]);
    harness.get_by_label_contains("Speed of light");
    pictures("speed-of-light", show_speed);
}

/// Samples with the properties of a GPU clock: ticks, a tail and occasional outliers.
fn sampled(run: i64, name: &str, time: f64, wide: f64) -> SampledRun {
    let rounds: Vec<Vec<Seconds>> = (0..24_u32)
        .map(|round| {
            let sample = |index: u32| {
                let noise =
                    f64::from((round * 7919 + index * 104_729 + run as u32 * 31) % 1000) / 1000.0;
                let tail = if noise > 0.985 { 9.0 } else { noise.powi(3) * 2.0 };
                let ticks = (time * (1.0 + wide * (tail + noise - 0.5)) / 3.2e-8).round();
                Seconds(ticks * 3.2e-8)
            };
            (0..5).map(sample).collect()
        })
        .collect();
    SampledRun {
        run,
        name: name.to_owned(),
        summary: Summary::from_rounds(&rounds).unwrap(),
        samples: rounds.concat(),
        origin: Origin::Measured,
    }
}

fn show_timing(ui: &mut Ui, view: &mut TimingView) -> Option<TimingAction> {
    let runs =
        [sampled(27, "vector16 #27", 1.39e-4, 0.008), sampled(31, "registers #31", 1.28e-4, 0.006)];
    timing::show(ui, &TimingModel { runs: &runs, absence: &absence() }, view)
}

#[test]
fn two_runs_lie_below_each_other() {
    let mut harness = shown(ThemeName::Dark, WIDE, show_timing);
    choose_second(&mut harness, "Distribution of samples");
    assert_eq!(harness.state().said, [TimingAction::Choose(RunNumber(31))]);
    pictures("timing", show_timing);
}

fn show_workloads(ui: &mut Ui, view: &mut WorkloadsView) -> Option<WorkloadsAction> {
    let found = [
        ("llama-70b-prefill", 16384, 1.28e-4, 1.39e-4, 9.88e-5, Origin::Measured),
        ("gpt-oss-prefill", 12345, 3.29e-5, 4.01e-5, 1.648e-5, Origin::Measured),
        ("llama-8b-decode", 64, 2.38e-6, 3.18e-6, 1.09e-7, Origin::Measured),
        ("long-context", 131_072, 1.58e-3, 1.58e-3, 7.92e-4, Origin::Modelled),
    ];
    let times =
        found.iter().zip(0..).map(|((name, _, time, than, bound, origin), id)| WorkloadTime {
            id,
            name: (*name).to_owned(),
            time: Seconds(*time),
            interval: Some((Seconds(time * 0.98), Seconds(time * 1.03))),
            origin: *origin,
            bound: Some(Seconds(*bound)),
            other_run: Some(OtherRunTime {
                name: "#27".to_owned(),
                time: Seconds(*than),
                origin: *origin,
            }),
            emphasis: Emphasis::Normal,
        });
    let sizes =
        found.iter().zip(0..).map(|((name, rows, time, _, bound, origin), id)| ScalingPoint {
            id,
            name: (*name).to_owned(),
            size: *rows,
            time: Seconds(*time),
            interval: Some((Seconds(time * 0.98), Seconds(time * 1.03))),
            origin: *origin,
            bound: Some(Seconds(*bound)),
        });
    let times: Vec<WorkloadTime> = times.collect();
    let axes = [SizedAxis { name: "rows".to_owned(), sizes: sizes.collect() }];
    workloads::show(ui, &WorkloadsModel { times: &times, axes: &axes, absence: &absence() }, view)
}

#[test]
fn workloads_and_their_scaling_are_shown() {
    let mut harness = shown(ThemeName::Dark, WIDE, show_workloads);
    for (menu, entry, figure) in [
        ("Workloads", "Time over rows", "scaling-time"),
        ("Time over rows", "Fraction of the bound over rows", "scaling-share"),
    ] {
        harness.get_by_label(menu).click();
        harness.run();
        let mut entries: Vec<_> = harness.get_all_by_label(entry).collect();
        entries.pop().unwrap().click();
        harness.run();
        harness.key_press(Key::Escape);
        harness.run();
        testing::snapshot(&harness, &format!("panel-{figure}"));
    }
    choose_second(&mut harness, "Scaling over rows");
    assert_eq!(harness.state().said, [WorkloadsAction::Choose(1)]);
    pictures("workloads", show_workloads);
}

/// The placeholder of empty panels.
fn absence() -> Absence {
    Absence::new("Run #12 failed", "Only what passed is measured")
}

fn nothing<'a>(work: &'a MinimalWork, absence: &'a Absence) -> RooflineModel<'a> {
    RooflineModel { ceilings: None, work, runs: &[], chosen: None, pinned: None, absence }
}

#[test]
fn empty_panels_say_why() {
    let check = |name: &str, panel: fn(&mut Ui), words: &str| {
        let panel = move |ui: &mut Ui, (): &mut ()| -> Option<()> {
            panel(ui);
            None
        };
        let harness = shown(ThemeName::Dark, NARROW, panel);
        assert!(harness.query_by_label_contains(words).is_some(), "{name}");
    };
    const WHY: &str = "Run #12 failed";
    check(
        "roofline without times",
        |ui| {
            let (ceilings, work, absence) = (ceilings(), work("rmsnorm", "one-row"), absence());
            let model = RooflineModel { ceilings: Some(&ceilings), ..nothing(&work, &absence) };
            roofline::show(ui, &model, &mut RooflineView::default());
        },
        WHY,
    );
    check(
        "roofline without a sheet",
        |ui| {
            let (work, absence) = (work("rmsnorm", "one-row"), absence());
            roofline::show(ui, &nothing(&work, &absence), &mut RooflineView::default());
        },
        "calibrate",
    );
    check(
        "speed of light",
        |ui| {
            let model = SpeedOfLightModel { units: &[], pinned: None, absence: &absence() };
            speed_of_light::show(ui, &model, &mut SpeedOfLightView::default());
        },
        WHY,
    );
    check(
        "timing",
        |ui| {
            let model = TimingModel { runs: &[], absence: &absence() };
            timing::show(ui, &model, &mut TimingView::default());
        },
        WHY,
    );
    check(
        "workloads",
        |ui| {
            let model = WorkloadsModel { times: &[], axes: &[], absence: &absence() };
            workloads::show(ui, &model, &mut WorkloadsView::default());
        },
        WHY,
    );
}
