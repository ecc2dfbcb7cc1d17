//! Panels of figures: builds their models from the workbench and carries out their actions. The panels of the same
//! names draw them.

use egui::Ui;
use lightbench_core::figure::{
    BusyUnit, Emphasis, Origin, OtherRunTime, SampledRun, ScalingPoint, WorkloadTime,
    share_of_bound, units_of_bound, units_of_counts,
};
use lightbench_core::history::RunNumber;
use lightbench_core::lesson::recorded::RecordedKind;
use lightbench_core::measure::Mode;
use lightbench_core::project::Workload;
use lightbench_core::speed_of_light::bound::{CacheState, NoBound, PhysicalBound};
use lightbench_core::speed_of_light::ceilings::{Basis, Ceilings};
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::units::Seconds;

use super::roofline::{RooflineAction, RooflineModel, RooflineRun, RooflineView};
use super::speed_of_light::{SpeedOfLightAction, SpeedOfLightModel, SpeedOfLightView};
use super::timing::{TimingAction, TimingModel, TimingView};
use super::workloads::{SizedAxis, WorkloadsAction, WorkloadsModel, WorkloadsView};
use super::{measurements, placeholder, roofline, speed_of_light, timing, workloads};
use crate::theme::GAP;
use crate::widgets::figure::Export;
use crate::workbench::Workbench;
use crate::workbench::absence::Absence;
use crate::workbench::command::Command;
use crate::workbench::lesson::{OpenLesson, PanelSet};
use crate::workbench::measurements::TimeOfMode;
use crate::workbench::open_project::OpenProject;
use crate::workbench::runs::{RowTime, RunRow, TimeSource};

/// Maximum number of runs in a roofline; more would not be distinguishable.
const MOST_MARKS: usize = 400;

/// View state of the figures.
#[derive(Debug)]
pub(super) struct FiguresView {
    roofline: RooflineView,
    speed_of_light: SpeedOfLightView,
    timing: TimingView,
    /// The cache condition of the shown samples.
    mode: Mode,
    workloads: WorkloadsView,
    task: Option<RooflineTask>,
}

/// The work of the selected workload and the ceilings of the device; constant until the selection changes.
#[derive(Debug)]
struct RooflineTask {
    made_of: (String, String, u64, usize, Vec<u64>),
    ceilings: Ceilings,
    work: MinimalWork,
    bound: Result<PhysicalBound, NoBound>,
    runs: Vec<RooflineRun>,
}

impl Default for FiguresView {
    fn default() -> Self {
        Self {
            roofline: RooflineView::default(),
            speed_of_light: SpeedOfLightView::default(),
            timing: TimingView::default(),
            mode: Mode::Cold,
            workloads: WorkloadsView::default(),
            task: None,
        }
    }
}

impl FiguresView {
    /// The roofline model for the selected workload and device.
    fn task(&mut self, bench: &Workbench) -> Option<&RooflineTask> {
        let (opened, device) = (bench.opened.as_ref()?, bench.device()?);
        // A changed project has a new address, because the old one lives until the new one is stored.
        let project = std::sync::Arc::as_ptr(&opened.project).addr();
        let workload = &opened.workload;
        let guess =
            bench.open_lesson().and_then(OpenLesson::guess).map(|(_, guess)| guess.to_bits());
        let recorded = bench.open_lesson().map(|taught| taught.lesson.recorded.len() as u64);
        let lesson = guess.into_iter().chain(recorded).collect();
        let (name, version) = (device.name.to_string(), bench.runs.version());
        let made_of = (workload.clone(), name, version, project, lesson);
        if self.task.as_ref().is_none_or(|task| task.made_of != made_of) {
            let workload = opened.project.workload(&opened.workload).ok()?;
            let work = MinimalWork::new(&opened.project.definition, workload);
            let calibration = device.calibration.as_deref();
            let basis = if calibration.is_some() { Basis::Measured } else { Basis::Sheet };
            let mut ceilings = Ceilings::new(device.sheet, calibration, basis);
            if device.name.local.is_virtual() {
                ceilings = ceilings.on_virtual_device();
            }
            let bound = PhysicalBound::new(&work, &ceilings, CacheState::Cold);
            let mut runs = lesson_runs(bench, &work);
            runs.extend(marks(bench, &opened.workload, &made_of.1));
            self.task = Some(RooflineTask { made_of, ceilings, work, bound, runs });
        }
        self.task.as_ref()
    }
}

const fn origin(source: TimeSource) -> Origin {
    match source {
        TimeSource::Measured => Origin::Measured,
        TimeSource::Modelled => Origin::Modelled,
        TimeSource::Recorded => Origin::Recorded,
    }
}

/// The latest runs on a device with a time for a workload, the oldest first.
fn marks(bench: &Workbench, workload: &str, device: &str) -> Vec<RooflineRun> {
    let timed = |row: &&RunRow| *row.device == *device && row.time(workload).is_some();
    let mark = |row: &RunRow| {
        let time = row.time(workload)?;
        Some(RooflineRun {
            number: row.number,
            kernel: row.kernel.to_string(),
            time: time.median,
            interval: time.interval,
            origin: origin(time.source),
            traffic: Vec::new(),
        })
    };
    let newest = bench.runs.rows().iter().rev().filter(timed).take(MOST_MARKS);
    let mut marks: Vec<RooflineRun> = newest.filter_map(mark).collect();
    marks.reverse();
    marks
}

/// Additional marks of a lesson: the guess and the recorded runs. They are not in the history and have no number there.
fn lesson_runs(bench: &Workbench, work: &MinimalWork) -> Vec<RooflineRun> {
    let (Some(taught), Some(opened)) = (bench.open_lesson(), &bench.opened) else {
        return Vec::new();
    };
    let run = |kernel: String, time: Seconds, origin: Origin| RooflineRun {
        number: RunNumber(0),
        kernel,
        time,
        interval: None,
        origin,
        traffic: Vec::new(),
    };
    let here = taught.lesson.recorded.iter().filter(|run| run.workload == opened.workload);
    let recorded = here.map(|known| {
        let origin = match known.kind {
            RecordedKind::Device => Origin::Recorded,
            RecordedKind::Model => Origin::Modelled,
        };
        run(format!("{}, {}", known.kernel, known.label()), known.time, origin)
    });
    let guess = taught.guess().filter(|(prediction, _)| prediction.workload == opened.workload);
    let time = guess.and_then(|(prediction, guess)| prediction.time(guess, work));
    let guess = time.map(|time| run("your guess".to_owned(), time, Origin::Predicted));
    let mut all: Vec<RooflineRun> = recorded.chain(guess).collect();
    for (run, number) in all.iter_mut().zip(1..) {
        run.number = RunNumber(-number);
    }
    all
}

pub(super) fn export(name: &str, export: Export) -> Command {
    match export {
        Export::Copy(text) => Command::Copy(text),
        Export::SaveSvg(text) => Command::Export(format!("{name}.svg"), text.into_bytes()),
        Export::SavePng(figure) => Command::ExportPicture(format!("{name}.png"), figure),
    }
}

pub(super) fn roofline(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut FiguresView,
    commands: &mut Vec<Command>,
) {
    if bench.opened.is_none() || view.task(bench).is_none() {
        placeholder::show(
            ui,
            "No project is open",
            "Open one to see its kernels on the device's roofline",
        );
        return;
    }
    let FiguresView { roofline: view, task: Some(task), .. } = view else { return };
    let taught = bench.open_lesson().filter(|taught| taught.panels == PanelSet::OfLesson);
    view.restrict(taught.map(|taught| &taught.lesson.roofs));
    let model = RooflineModel {
        ceilings: Some(&task.ceilings),
        work: &task.work,
        runs: &task.runs,
        chosen: bench.shown_run().map(|row| row.number),
        pinned: bench.pinned(),
        absence: &bench.without_time().unwrap_or_else(|| other_task_absence(bench)),
    };
    match roofline::show(ui, &model, view) {
        // A guess is not a run that could be selected.
        Some(RooflineAction::Choose(RunNumber(..=0))) => {}
        Some(RooflineAction::Choose(number)) => commands.push(Command::SelectRun(number)),
        Some(RooflineAction::Export(what)) => commands.push(export("roofline", what)),
        None => {}
    }
}

/// The placeholder if no run has a time for this workload on this device.
fn other_task_absence(bench: &Workbench) -> Absence {
    let workload = bench.opened.as_ref().map(|opened| opened.workload.as_str()).unwrap_or_default();
    let device = bench.device().map(|device| device.title.as_str()).unwrap_or_default();
    let what = format!("No run of {workload} on {device} yet");
    Absence::new(what, "Press F5, or select another workload or device at the top")
}

/// The shown run with its time of the workload, if it has one.
fn shown<'a>(bench: &'a Workbench, opened: &OpenProject) -> Option<(&'a RunRow, &'a RowTime)> {
    let row = bench.shown_run()?;
    Some((row, row.time(&opened.workload).or_else(|| row.times.first())?))
}

pub(super) fn speed_of_light(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut FiguresView,
    commands: &mut Vec<Command>,
) {
    let pinned = bench.pinned().and_then(|number| bench.runs.get(number));
    let units = units(bench, view, pinned);
    let name = pinned.map(|row| format!("#{} {}", row.number, row.kernel));
    let absence = bench.without_time().unwrap_or_else(|| without_bound(bench, view));
    let model = SpeedOfLightModel { units: &units, pinned: name.as_deref(), absence: &absence };
    match speed_of_light::show(ui, &model, &mut view.speed_of_light) {
        Some(SpeedOfLightAction::Export(what)) => commands.push(export("speed-of-light", what)),
        Some(SpeedOfLightAction::Explain(_)) => {
            commands.push(Command::Show(crate::workbench::panel::Panel::Counters));
        }
        None => {}
    }
}

/// The placeholder for a time without a bound.
fn without_bound(bench: &Workbench, view: &mut FiguresView) -> Absence {
    match view.task(bench).map(|task| &task.bound) {
        Some(Err(why)) => {
            Absence::new("This workload has no bound on this device", why.to_string())
        }
        Some(Ok(_)) | None => other_task_absence(bench),
    }
}

/// The fraction of the bound of the shown run, and the utilisation of units.
fn units(bench: &Workbench, view: &mut FiguresView, pinned: Option<&RunRow>) -> Vec<BusyUnit> {
    let Some(opened) = &bench.opened else { return Vec::new() };
    let Some((_, time)) = shown(bench, opened) else { return Vec::new() };
    let other = pinned.and_then(|pinned| pinned.time(&time.workload));
    let share = time.share.zip(time.bound).map(|(share, bound)| {
        let pinned = other.and_then(|other| Some(other.share?.middle));
        share_of_bound(&share, (bound, time.median), pinned, origin(time.source))
    });
    let units = busy_units(bench, view, time, other);
    share.into_iter().chain(units).collect()
}

/// Utilisation of units: from counters of the shown run, else from its bound.
fn busy_units(
    bench: &Workbench,
    view: &mut FiguresView,
    time: &RowTime,
    pinned: Option<&RowTime>,
) -> Vec<BusyUnit> {
    let workload = &*time.workload;
    let own = bench.shown_details().and_then(|details| details.units(workload));
    let other = bench.comparison_base().and_then(|base| base.details()?.units(workload));
    if let Some(units) = own {
        return units_of_counts((units, time.median), other.zip(pinned.map(|time| time.median)));
    }
    let other = pinned.map(|time| time.median);
    let bound = view.task(bench).and_then(|task| task.bound.as_ref().ok());
    bound
        .map(|bound| units_of_bound(bound.bound(), time.median, other, origin(time.source)))
        .unwrap_or_default()
}

pub(super) fn timing(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut FiguresView,
    commands: &mut Vec<Command>,
) {
    if let Some(measured) = bench.measurements() {
        measurements::times(ui, &measured, &mut view.mode);
        ui.add_space(2.0 * GAP);
    }
    let runs: Vec<SampledRun> = sampled(bench, view.mode).into_iter().collect();
    let absence = bench.without_time().unwrap_or_else(|| without_samples(bench));
    match timing::show(ui, &TimingModel { runs: &runs, absence: &absence }, &mut view.timing) {
        Some(TimingAction::Choose(number)) => commands.push(Command::SelectRun(number)),
        Some(TimingAction::Export(what)) => commands.push(export("timing", what)),
        None => {}
    }
}

/// The placeholder for a time without samples.
fn without_samples(bench: &Workbench) -> Absence {
    let is_modelled = |time: &TimeOfMode| time.source == TimeSource::Modelled;
    match bench.measurements() {
        Some(measured) if measured.times.iter().all(is_modelled) => Absence::new(
            "A model has no samples",
            "Select a GPU at the top, if there is one, to see every sample of its clock",
        ),
        Some(_) | None => Absence::new(
            "The samples of this run were not recorded",
            "The history stores the median and its interval; press F5 to measure again",
        ),
    }
}

/// The samples of the shown run, if it has any; with a cold cache if the selected condition has none.
fn sampled(bench: &Workbench, mode: Mode) -> Option<SampledRun> {
    let (details, timed) = (bench.shown_details()?, bench.shown_times()?);
    let samples = details
        .samples(&timed.workload, mode)
        .or_else(|| details.samples(&timed.workload, Mode::Cold))?;
    let timing = timed.timings.iter().find(|timing| timing.mode == samples.mode)?;
    let (number, kernel) = match bench.shown_verdict() {
        Some(evaluated) => (evaluated.number.unwrap_or(RunNumber(0)), &*evaluated.kernel.name),
        None => bench.shown_run().map(|row| (row.number, &*row.kernel))?,
    };
    Some(SampledRun {
        run: number.0,
        name: format!("#{number} {kernel}, {}", samples.mode.word()),
        summary: timing.summary(),
        samples: samples.seconds.clone(),
        origin: origin(TimeSource::new(&timing.clock, details.provenance)),
    })
}

pub(super) fn workloads(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut FiguresView,
    commands: &mut Vec<Command>,
) {
    let times = times(bench);
    let axes = axes(bench);
    let absence = bench.without_time().unwrap_or_else(|| other_task_absence(bench));
    let model = WorkloadsModel { times: &times, axes: &axes, absence: &absence };
    match workloads::show(ui, &model, &mut view.workloads) {
        Some(WorkloadsAction::Choose(id)) => {
            if let Some(time) = times.iter().find(|time| time.id == id) {
                commands.push(Command::ChooseWorkload(time.name.clone()));
            }
        }
        Some(WorkloadsAction::Export(what)) => commands.push(export("workloads", what)),
        None => {}
    }
}

/// The times of the shown run, in the project's order.
fn times(bench: &Workbench) -> Vec<WorkloadTime> {
    let (Some(opened), Some(row)) = (&bench.opened, bench.shown_run()) else { return Vec::new() };
    let pinned = bench.pinned().and_then(|number| bench.runs.get(number));
    let time = |(workload, id): (&Workload, i64)| {
        let time = row.time(&workload.name)?;
        let other = pinned.filter(|pinned| row.against(pinned, &workload.name).is_some());
        let than = other.and_then(|other| {
            let time = other.time(&workload.name)?.median;
            let origin = origin(other.time(&workload.name)?.source);
            Some(OtherRunTime { name: format!("#{} {}", other.number, other.kernel), time, origin })
        });
        Some(WorkloadTime {
            id,
            name: workload.name.clone(),
            time: time.median,
            interval: time.interval,
            origin: origin(time.source),
            bound: time.bound,
            other_run: than,
            emphasis: if workload.name == opened.workload {
                Emphasis::Chosen
            } else {
                Emphasis::Normal
            },
        })
    };
    opened.project.workloads.iter().zip(0..).filter_map(time).collect()
}

/// Axes along which the shown run has times for at least two sizes, with all other sizes equal.
fn axes(bench: &Workbench) -> Vec<SizedAxis> {
    let (Some(opened), Some(row)) = (&bench.opened, bench.shown_run()) else { return Vec::new() };
    let project = &opened.project;
    let measured: Vec<(&Workload, &RowTime)> = project
        .workloads
        .iter()
        .filter_map(|workload| Some((workload, row.time(&workload.name)?)))
        .collect();
    let along = |(place, axis): (usize, &lightbench_core::project::scalar::Axis)| {
        let mut sizes: Vec<ScalingPoint> = measured
            .iter()
            .zip(0..)
            .filter_map(|((workload, time), id)| {
                Some(ScalingPoint {
                    id,
                    name: workload.name.clone(),
                    size: *workload.axes.get(place)?,
                    time: time.median,
                    interval: time.interval,
                    origin: origin(time.source),
                    bound: time.bound,
                })
            })
            .collect();
        sizes.sort_by_key(|size| size.size);
        sizes.dedup_by_key(|size| size.size);
        (sizes.len() > 1).then(|| SizedAxis { name: axis.name.clone(), sizes })
    };
    project.definition.axes.iter().enumerate().filter_map(along).collect()
}
