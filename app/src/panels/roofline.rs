//! Panel of the roofline: runs of a workload below the device's roofs; for a task without arithmetic, the bandwidth
//! instead.

use egui::Ui;
use lightbench_core::device::Pipe;
use lightbench_core::figure::{
    self, BandwidthRun, Emphasis, Figure, NoRoofline, Origin, Roofs, RunPoint, Trail,
};
use lightbench_core::history::RunNumber;
use lightbench_core::lesson::Roofs as LessonRoofs;
use lightbench_core::speed_of_light::ceilings::Ceilings;
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::speed_of_light::roofline::{Level, NoPoint, Traffic};
use lightbench_core::units::{Bytes, Seconds};

use super::placeholder;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// The selected metric.
#[derive(Clone, Copy, Debug)]
pub struct RooflineModel<'a> {
    /// The ceilings of the device, if known.
    pub ceilings: Option<&'a Ceilings>,
    /// The least work of the workload.
    pub work: &'a MinimalWork,
    /// Runs of the workload on the device, the oldest first.
    pub runs: &'a [RooflineRun],
    /// The selected run.
    pub chosen: Option<RunNumber>,
    /// The pinned run.
    pub pinned: Option<RunNumber>,
    /// The placeholder if there are no runs.
    pub absence: &'a Absence,
}

/// A run with a time.
#[derive(Clone, Debug)]
pub struct RooflineRun {
    pub number: RunNumber,
    pub kernel: String,
    pub time: Seconds,
    /// Lower and upper end.
    pub interval: Option<(Seconds, Seconds)>,
    /// The source of the time; a guess is a run, too.
    pub origin: Origin,
    /// Counted traffic, else the least traffic of any correct kernel.
    pub traffic: Vec<(Level, Bytes, Traffic)>,
}

/// View state of the panel.
#[derive(Clone, Debug)]
pub struct RooflineView {
    figure: FigureView,
    which: Which,
    trail: Trail,
    /// Levels of memory with a roof.
    levels: Vec<Level>,
    /// Pipes with a roof; `None` shows those that the task uses.
    pipes: Option<Vec<Pipe>>,
    /// The roofs that a lesson names.
    lesson: Option<LessonRoofs>,
    /// The run under the pointer.
    pub hovered: Option<RunNumber>,
}

/// Which runs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    /// The selected and the pinned run.
    Chosen,
}

/// An action of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum RooflineAction {
    /// A run was selected.
    Choose(RunNumber),
    /// An export was requested.
    Export(Export),
}

impl Default for RooflineView {
    fn default() -> Self {
        Self {
            figure: FigureView::default(),
            which: Which::All,
            trail: Trail::Shown,
            levels: vec![Level::Dram, Level::L2],
            pipes: None,
            lesson: None,
            hovered: None,
        }
    }
}

impl RooflineView {
    /// Restricts the roofs to those of a lesson, or shows all.
    pub fn restrict(&mut self, roofs: Option<&LessonRoofs>) {
        if self.lesson.as_ref() != roofs {
            self.lesson = roofs.cloned();
        }
    }
}

/// Older runs than these are drawn in the background.
const RECENT: usize = 3;
/// Maximum number of runs; more would not be distinguishable.
const MOST: usize = 500;

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    model: &RooflineModel<'_>,
    view: &mut RooflineView,
) -> Option<RooflineAction> {
    let Some(ceilings) = model.ceilings else {
        placeholder::show(
            ui,
            "This device has no ceilings",
            "No sheet describes it; calibrate the device to measure its ceilings",
        );
        return None;
    };
    if model.runs.is_empty() {
        placeholder::absent(ui, model.absence);
        return None;
    }
    let drawn = drawn(model, ceilings, view);
    let figure = match drawn {
        Ok(figure) => figure,
        Err(error) => {
            placeholder::show(ui, "These runs cannot be drawn in a roofline", &error.to_string());
            return None;
        }
    };
    let height = ui.available_height() - ui.spacing().interact_size.y - 16.0;
    let mut looked_at = std::mem::take(&mut view.figure);
    let shown =
        show_figure(ui, &figure, &mut looked_at, height, |ui| controls(ui, model, ceilings, view));
    view.figure = looked_at;
    view.hovered = shown.hovered.map(|id| RunNumber(id.of));
    let chosen = shown.chosen.map(|id| RooflineAction::Choose(RunNumber(id.of)));
    chosen.or(shown.export.map(RooflineAction::Export))
}

fn drawn(
    model: &RooflineModel<'_>,
    ceilings: &Ceilings,
    view: &RooflineView,
) -> Result<Figure, NoRoofline> {
    let runs = runs(model, view);
    let named = view.lesson.as_ref();
    let pipes = named.map(|roofs| roofs.pipes.clone()).filter(|pipes| !pipes.is_empty());
    let own =
        view.pipes.clone().or(pipes).unwrap_or_else(|| figure::pipes_of(model.work, ceilings));
    let levels = match named.map(|roofs| roofs.levels.as_slice()) {
        Some(levels @ [_, ..]) => levels,
        Some([]) | None => view.levels.as_slice(),
    };
    let roofs = Roofs { ceilings, pipes: &own, levels };
    match figure::roofline(roofs, model.work, &runs, view.trail) {
        Err(NoRoofline::NoPoint(NoPoint::NoOperations)) => {
            let movers = runs.iter().rev().map(|run| BandwidthRun {
                run: run.run,
                name: run.name.clone(),
                rate: model.work.moved() / run.time,
                origin: run.origin,
                emphasis: run.emphasis,
            });
            Ok(figure::bandwidth(ceilings, &movers.collect::<Vec<_>>())?)
        }
        other => other,
    }
}

/// The runs with their styles; the selected one is highlighted and labelled.
fn runs(model: &RooflineModel<'_>, view: &RooflineView) -> Vec<RunPoint> {
    let last = model.runs.len();
    let is_chosen = |run: &RooflineRun| Some(run.number) == model.chosen;
    let is_pinned = |run: &RooflineRun| Some(run.number) == model.pinned;
    let seen = model.runs.iter().enumerate().filter(|(index, run)| match view.which {
        Which::All => index + MOST >= last || is_chosen(run) || is_pinned(run),
        Which::Chosen => is_chosen(run) || is_pinned(run),
    });
    seen.map(|(index, run)| {
        let emphasis = if is_chosen(run) || run.origin == Origin::Predicted {
            Emphasis::Chosen
        } else if is_pinned(run) || index + RECENT >= last {
            Emphasis::Normal
        } else {
            Emphasis::Faint
        };
        let is_guess = run.origin == Origin::Predicted;
        let label = match (is_chosen(run), is_pinned(run)) {
            _ if is_guess => Some("predicted".to_owned()),
            (_, true) => Some(format!("#{} pinned", run.number)),
            (true, false) => Some(format!("#{}", run.number)),
            (false, false) => None,
        };
        let compulsory = (Level::Dram, model.work.moved(), Traffic::Compulsory);
        RunPoint {
            run: run.number.0,
            name: if run.number.0 > 0 {
                format!("{} #{}", run.kernel, run.number)
            } else {
                run.kernel.clone()
            },
            label,
            time: run.time,
            interval: run.interval,
            traffic: if run.traffic.is_empty() { vec![compulsory] } else { run.traffic.clone() },
            origin: run.origin,
            emphasis,
        }
    })
    .collect()
}

/// The selectors of runs, trail and roofs.
fn controls(ui: &mut Ui, model: &RooflineModel<'_>, ceilings: &Ceilings, view: &mut RooflineView) {
    ui.menu_button("Show", |ui| {
        let all = if model.runs.len() > MOST {
            format!("Newest {MOST} runs")
        } else {
            "All runs".to_owned()
        };
        ui.radio_value(&mut view.which, Which::All, all);
        ui.radio_value(&mut view.which, Which::Chosen, "Chosen and pinned");
        ui.separator();
        let mut has_trail = view.trail == Trail::Shown;
        if ui.checkbox(&mut has_trail, "Trail").changed() {
            view.trail = if has_trail { Trail::Shown } else { Trail::Hidden };
        }
        for (level, name) in [(Level::L2, "L2"), (Level::L1, "L1 and shared memory")] {
            let mut is_shown = view.levels.contains(&level);
            if ui.checkbox(&mut is_shown, name).changed() {
                view.levels.retain(|shown| *shown != level);
                view.levels.extend(is_shown.then_some(level));
            }
        }
        ui.separator();
        let pipes = view.pipes.clone().unwrap_or_else(|| figure::pipes_of(model.work, ceilings));
        for pipe in ceilings.pipes.keys() {
            let mut is_shown = pipes.contains(pipe);
            if ui.checkbox(&mut is_shown, pipe.to_string()).changed() {
                let mut chosen: Vec<Pipe> =
                    pipes.iter().copied().filter(|other| other != pipe).collect();
                chosen.extend(is_shown.then_some(*pipe));
                view.pipes = Some(chosen);
            }
        }
    });
}
