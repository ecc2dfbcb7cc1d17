//! Panel of the timeline of the current kernel: what the warps of a block do at each time, as modelled.

use std::sync::Arc;

use egui::{ComboBox, Role, Ui, WidgetInfo};
use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::figure::{Figure, Undrawable};
use lightbench_core::timeline;
use lightbench_core::verify::device_session::timelines::LaunchTimeline;
use lightbench_core::virtual_gpu::cost::time::ModelError;

use super::{figures, placeholder};
use crate::widgets::figure::{FigureView, show as show_figure};
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::on_demand::OnDemandState;

/// View state of the panel.
#[derive(Debug, Default)]
pub(super) struct TimelineView {
    /// Index of the launch.
    launch: usize,
    figure: FigureView,
    drawn: Option<Drawn>,
}

/// The figure of a launch, until another one is shown.
#[derive(Debug)]
struct Drawn {
    launches: Arc<Vec<LaunchTimeline>>,
    launch: usize,
    figure: Result<Figure, NoFigure>,
}

/// Why a launch has no figure.
#[derive(Debug, thiserror::Error)]
enum NoFigure {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Drawing(#[from] Undrawable),
}

/// Draws the panel.
pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut TimelineView,
    commands: &mut Vec<Command>,
) {
    let Some(opened) = &bench.opened else {
        placeholder::show(ui, "No project is open", "Open one to see what its warps wait for");
        return;
    };
    let launches = match &opened.timelines.state {
        OnDemandState::Found(launches) => launches,
        OnDemandState::Nothing => {
            model(ui, commands);
            let advice = "Press Model: the virtual GPU records a block of the kernel, and replays it on one multiprocessor";
            placeholder::show(ui, "No timeline yet", advice);
            return;
        }
        OnDemandState::Running => {
            placeholder::show(ui, "Modelling…", "The virtual GPU runs blocks of the kernel");
            return;
        }
        OnDemandState::Failed(why) => {
            model(ui, commands);
            placeholder::show(ui, "The kernel cannot be modelled", why);
            return;
        }
    };
    view.launch = view.launch.min(launches.len().saturating_sub(1));
    let TimelineView { launch, figure: figure_view, drawn } = view;
    let is_drawn = drawn
        .as_ref()
        .is_some_and(|drawn| Arc::ptr_eq(&drawn.launches, launches) && drawn.launch == *launch);
    if !is_drawn {
        *drawn = Some(Drawn::new(launches, *launch));
        *figure_view = FigureView::default();
    }
    let Some(drawn) = drawn else { return };
    match &drawn.figure {
        Ok(figure) => {
            let height = ui.available_height() - ui.spacing().interact_size.y - 16.0;
            let shown = show_figure(ui, figure, figure_view, height, |ui| {
                controls(ui, bench, (launches, launch), commands);
            });
            commands.extend(shown.export.map(|what| figures::export("timeline", what)));
        }
        Err(reason) => {
            controls(ui, bench, (launches, launch), commands);
            placeholder::show(ui, "This launch has no timeline", &reason.to_string());
        }
    }
}

impl Drawn {
    fn new(launches: &Arc<Vec<LaunchTimeline>>, launch: usize) -> Self {
        let figure = launches.get(launch).map_or_else(
            || Err(ModelError::Nothing("the kernel launches nothing").into()),
            |shown| {
                let title = format!("Timeline of {}", with_readable_names(&shown.kernel));
                Ok(timeline::figure(&title, shown.timeline.as_ref().map_err(Clone::clone)?)?)
            },
        );
        Self { launches: Arc::clone(launches), launch, figure }
    }
}

fn model(ui: &mut Ui, commands: &mut Vec<Command>) {
    if ui.button("Model").on_hover_text("Model the current kernel and workload").clicked() {
        commands.push(Command::Timeline);
    }
}

/// The button, what the timeline shows, and the choice of the launch.
fn controls(
    ui: &mut Ui,
    bench: &Workbench,
    (launches, launch): (&[LaunchTimeline], &mut usize),
    commands: &mut Vec<Command>,
) {
    model(ui, commands);
    let Some(wanted) = bench.opened.as_ref().and_then(|opened| opened.timelines.wanted.as_ref())
    else {
        return;
    };
    if launches.len() > 1 {
        let name = |index: usize| {
            let symbol = launches.get(index).map(|launch| with_readable_names(&launch.kernel));
            format!("{}. {}", index + 1, symbol.unwrap_or_default())
        };
        ComboBox::from_id_salt("launch of the timeline")
            .selected_text(name(*launch))
            .show_ui(ui, |ui| {
                for index in 0..launches.len() {
                    ui.selectable_value(launch, index, name(index));
                }
            })
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Launch"));
    }
    ui.label(format!("{}, {}, on {}", wanted.kernel, wanted.workload, wanted.device));
    if bench.timeline_selection().as_ref() != Some(wanted) {
        ui.weak("press Model for the selected kernel, workload and device");
    }
}
