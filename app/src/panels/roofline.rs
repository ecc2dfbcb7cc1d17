//! Where runs of a workload lie under the roofs of a device; a task that computes nothing has its bandwidth instead.

use egui::Ui;
use lightbench_core::device::Pipe;
use lightbench_core::figure::{
    self, Emphasis, Figure, Mover, NoRoofline, Origin, Roofs, RunPoint, Trail,
};
use lightbench_core::history::RunNumber;
use lightbench_core::lesson::Roofs as LessonRoofs;
use lightbench_core::speed_of_light::ceilings::Ceilings;
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::speed_of_light::roofline::{Level, NoPoint, Traffic};
use lightbench_core::units::{Bytes, Seconds};

use super::empty;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct RooflineModel<'a> {
    /// The device; none where nobody knows its ceilings.
    pub ceilings: Option<&'a Ceilings>,
    /// What the workload needs at least.
    pub work: &'a MinimalWork,
    /// Runs of the workload on the device, the oldest first.
    pub runs: &'a [RooflineRun],
    /// What is talked about.
    pub chosen: Option<RunNumber>,
    /// What others are held against.
    pub pinned: Option<RunNumber>,
    /// Why there are no runs, where there are none.
    pub absence: &'a Absence,
}

/// A run with a time.
#[derive(Clone, Debug)]
pub struct RooflineRun {
    /// Its number.
    pub number: RunNumber,
    /// Its kernel.
    pub kernel: String,
    /// How long it took.
    pub time: Seconds,
    /// From, to.
    pub interval: Option<(Seconds, Seconds)>,
    /// Where the time comes from; a guess is a run, too.
    pub origin: Origin,
    /// What it moved, where that was counted; else what any correct kernel moves.
    pub traffic: Vec<(Level, Bytes, Traffic)>,
}

/// How it is looked at.
#[derive(Clone, Debug)]
pub struct RooflineView {
    figure: FigureView,
    which: Which,
    trail: Trail,
    l2: Roof,
    /// Pipes with a roof; those that the task is about, where nobody chose.
    pipes: Option<Vec<Pipe>>,
    /// The roofs that a lesson names.
    lesson: Option<LessonRoofs>,
    /// The run under the pointer.
    pub hovered: Option<RunNumber>,
}

/// Which runs are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    /// What is talked about, and what it is held against.
    Chosen,
}

/// Whether a roof is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Roof {
    Shown,
    Hidden,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum RooflineAction {
    /// This run was chosen.
    Choose(RunNumber),
    /// This leaves the window.
    Export(Export),
}

impl Default for RooflineView {
    fn default() -> Self {
        Self {
            figure: FigureView::default(),
            which: Which::All,
            trail: Trail::Shown,
            l2: Roof::Shown,
            pipes: None,
            lesson: None,
            hovered: None,
        }
    }
}

impl RooflineView {
    /// Shows only the roofs that a lesson names, or all of them again.
    pub fn restrict(&mut self, roofs: Option<&LessonRoofs>) {
        if self.lesson.as_ref() != roofs {
            self.lesson = roofs.cloned();
        }
    }
}

/// Runs before the last few are there as a background.
const RECENT: usize = 3;
/// Older ones would be a cloud in which nobody finds anything.
const MOST: usize = 500;

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    model: &RooflineModel<'_>,
    view: &mut RooflineView,
) -> Option<RooflineAction> {
    let Some(ceilings) = model.ceilings else {
        empty::show(
            ui,
            "This device has no ceilings",
            "No sheet describes it; calibrate the device to measure them",
        );
        return None;
    };
    if model.runs.is_empty() {
        empty::absent(ui, model.absence);
        return None;
    }
    let drawn = drawn(model, ceilings, view);
    let figure = match drawn {
        Ok(figure) => figure,
        Err(error) => {
            empty::show(ui, "These runs have no place in a roofline", &error.to_string());
            return None;
        }
    };
    let height = ui.available_height() - ui.spacing().interact_size.y - 16.0;
    let mut looked_at = view.figure;
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
    let own = view.pipes.clone().or(pipes).unwrap_or_else(|| figure::pipes_of(model.work));
    let levels: &[Level] = match (named.map(|roofs| roofs.levels.as_slice()), view.l2) {
        (Some(levels @ [_, ..]), _) => levels,
        (Some([]) | None, Roof::Shown) => &[Level::Dram, Level::L2],
        (Some([]) | None, Roof::Hidden) => &[Level::Dram],
    };
    let roofs = Roofs { ceilings, pipes: &own, levels };
    match figure::roofline(roofs, model.work, &runs, view.trail) {
        Err(NoRoofline::NoPoint(NoPoint::NoOperations)) => {
            let movers = runs.iter().rev().map(|run| Mover {
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

/// The runs on their way into the picture: what is talked about stands out and has a label.
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

/// What is there: runs, the trail, roofs.
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
        let mut has_l2 = view.l2 == Roof::Shown;
        if ui.checkbox(&mut has_l2, "L2").changed() {
            view.l2 = if has_l2 { Roof::Shown } else { Roof::Hidden };
        }
        ui.separator();
        let pipes = view.pipes.clone().unwrap_or_else(|| figure::pipes_of(model.work));
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
