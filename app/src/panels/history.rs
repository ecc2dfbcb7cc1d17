//! Panel of the history: every run with filter, order, grouping and the difference to the pinned run. Only visible
//! lines are laid out, so the number of runs does not matter.

use egui::style::ScrollAnimation;
use egui::{
    ComboBox, EventFilter, Id, Key, Modifiers, Rect, Response, Role, ScrollArea, Sense, TextEdit,
    Ui, WidgetInfo, pos2, vec2,
};
use lightbench_core::history::RunNumber;
use lightbench_core::history::label::MOST_CHARACTERS;

use super::history_row::{self, Columns};
use super::{history_head, placeholder};
use crate::theme::{self, ROW};
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::groups::{GroupedRuns, HistoryLine};
use crate::workbench::runs::{Grouping, RunFilter, RunRow, Sort};

/// View state of the history.
#[derive(Debug, Default)]
pub(super) struct HistoryView {
    view: RunFilter,
    shown: GroupedRuns,
    /// Whether any run can be compared with an earlier one.
    has_earlier: bool,
    /// The inputs of both.
    made_of: Option<(u64, RunFilter)>,
    label: Option<LabelField>,
}

/// The field for a run's label.
#[derive(Debug)]
struct LabelField {
    of: RunNumber,
    kernel: String,
    words: String,
    field: Field,
}

/// Whether the label field was already drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    New,
    Shown,
}

/// Widths of the margin, the selectors and a legible filter field, in points.
const MARGIN: f32 = 8.0;
const BESIDE: f32 = 176.0;
const LEAST_FILTER: f32 = 60.0;

/// The position of a line.
pub(super) struct RowPlacement {
    pub(super) rect: Rect,
    pub(super) response: Response,
}

impl HistoryView {
    /// Toggles the grouping of runs.
    pub(super) fn group(&mut self) {
        self.view.grouping = match self.view.grouping {
            Grouping::None => Grouping::Lineage,
            Grouping::Lineage => Grouping::None,
        };
    }

    /// Opens the label field for a run.
    pub(super) fn ask_for_label(&mut self, row: &RunRow) {
        self.label = Some(LabelField {
            of: row.number,
            kernel: row.kernel.to_string(),
            words: row.label.as_deref().unwrap_or_default().to_owned(),
            field: Field::New,
        });
    }
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut HistoryView,
    commands: &mut Vec<Command>,
) {
    if bench.runs.rows().is_empty() {
        placeholder::show(
            ui,
            "No runs yet",
            "Save a kernel, or press F5: the history lists every run",
        );
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.add_space(6.0);
    controls(ui, &mut view.view);
    ui.add_space(6.0);
    label_field(ui, &mut view.label, commands);
    let made_of = (bench.runs.version(), view.view.clone());
    if view.made_of.as_ref() != Some(&made_of) {
        view.shown = bench.runs.lines(&view.view);
        view.has_earlier = bench.runs.has_earlier();
        view.made_of = Some(made_of);
    }
    if view.shown.lines.is_empty() {
        placeholder::show(
            ui,
            "No run matches",
            "The filter searches labels, kernels, devices and verdicts",
        );
        return;
    }
    lines(ui, bench, view, commands);
}

fn lines(ui: &mut Ui, bench: &Workbench, view: &mut HistoryView, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    let HistoryView { view, shown, has_earlier, .. } = view;
    let indent = history_head::indent(view.grouping);
    let mut columns = Columns::new(ui, indent);
    if !*has_earlier && bench.pinned().is_none() {
        columns.leave_out_differences();
    }
    let mut toggled = None;
    ScrollArea::vertical().auto_shrink(false).show_rows(ui, ROW, shown.lines.len(), |ui, range| {
        let top = ui.cursor().top();
        let first = range.start;
        for at in range {
            let Some(line) = shown.lines.get(at) else { continue };
            let width = ui.available_width();
            let (rect, _) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
            let place = RowPlacement {
                rect,
                response: ui.interact(rect, id(shown, *line), Sense::click()),
            };
            let next = next(ui, &place.response, shown, at);
            match *line {
                HistoryLine::Run(row) => {
                    if let Some(row) = bench.runs.rows().get(row as usize) {
                        history_row::show(
                            ui,
                            bench,
                            row,
                            (&tokens, &columns, indent),
                            place,
                            commands,
                        );
                    }
                }
                HistoryLine::Head(group) => {
                    if let Some(group) = shown.groups.get(group as usize)
                        && history_head::show(ui, bench, group, (&tokens, &columns), place)
                            .is_some()
                    {
                        toggled = Some(group.family);
                    }
                }
            }
            if let Some(next) = next {
                let down = (next as f32 - first as f32) * ROW;
                let seen = Rect::from_min_size(pos2(rect.left(), top + down), rect.size());
                ui.scroll_to_rect_animation(seen, None, ScrollAnimation::none());
                look_at(ui, bench, shown, next, commands);
            }
        }
    });
    if let Some(family) = toggled
        && !view.folded.remove(&family)
    {
        view.folded.insert(family);
    }
}

/// A stable id of a line, so that arrow keys find it at any position.
fn id(shown: &GroupedRuns, line: HistoryLine) -> Id {
    match line {
        HistoryLine::Run(place) => Id::unique(("run of the history", place)),
        HistoryLine::Head(at) => {
            let family = shown.groups.get(at as usize).map(|group| group.family);
            Id::unique(("family of the history", family))
        }
    }
}

/// The line that an arrow key selects.
fn next(ui: &Ui, response: &Response, shown: &GroupedRuns, at: usize) -> Option<usize> {
    if !response.has_focus() {
        return None;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    // Consumes the key: the selected line must not handle it in the same frame.
    let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::ArrowDown) {
        Some(at + 1).filter(|next| *next < shown.lines.len())
    } else if pressed(Key::ArrowUp) {
        at.checked_sub(1)
    } else {
        None
    }
}

/// Selects the run that arrow keys move to.
fn look_at(
    ui: &Ui,
    bench: &Workbench,
    shown: &GroupedRuns,
    at: usize,
    commands: &mut Vec<Command>,
) {
    let Some(line) = shown.lines.get(at) else { return };
    ui.memory_mut(|memory| memory.request_focus(id(shown, *line)));
    if let HistoryLine::Run(place) = line
        && let Some(row) = bench.runs.rows().get(*place as usize)
    {
        commands.push(Command::SelectRun(row.number));
    }
}

/// The filter, with order and grouping beside it; below it in a narrow panel.
fn controls(ui: &mut Ui, view: &mut RunFilter) {
    let room = ui.available_width() - 2.0 * MARGIN;
    if room >= BESIDE + LEAST_FILTER {
        ui.horizontal(|ui| {
            ui.add_space(MARGIN);
            filter(ui, view, room - BESIDE);
            order(ui, view);
        });
        return;
    }
    ui.horizontal(|ui| {
        ui.add_space(MARGIN);
        filter(ui, view, room - 2.0 * ui.spacing().button_padding.x);
    });
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        ui.add_space(MARGIN);
        order(ui, view);
    });
}

fn filter(ui: &mut Ui, view: &mut RunFilter, width: f32) {
    let field = TextEdit::singleline(&mut view.filter).hint_text("Filter");
    let field = ui.add(field.desired_width(width.max(0.0)));
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter runs"));
}

fn order(ui: &mut Ui, view: &mut RunFilter) {
    let word = |sort: Sort| match sort {
        Sort::Newest => "newest",
        Sort::Fastest => "fastest",
        Sort::Kernel => "kernel",
    };
    let chosen = word(view.sort);
    ComboBox::from_id_salt("sort")
        .selected_text(chosen)
        .width(80.0)
        .show_ui(ui, |ui| {
            for sort in [Sort::Newest, Sort::Fastest, Sort::Kernel] {
                ui.selectable_value(&mut view.sort, sort, word(sort));
            }
        })
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, format!("Sort: {chosen}")));
    let mut together = view.grouping == Grouping::Lineage;
    let button = ui.toggle_value(&mut together, "Families");
    button.on_hover_text("Group runs whose candidates derive from the same ancestor");
    view.grouping = if together { Grouping::Lineage } else { Grouping::None };
}

/// The label field, while it is open.
fn label_field(ui: &mut Ui, label: &mut Option<LabelField>, commands: &mut Vec<Command>) {
    let Some(asked) = label else { return };
    let mut done = false;
    ui.horizontal(|ui| {
        ui.add_space(8.0);
        ui.weak(format!("Label of #{} {}", asked.of, asked.kernel));
    });
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        ui.add_space(8.0);
        let width = (ui.available_width() - 70.0).max(80.0);
        let field = TextEdit::singleline(&mut asked.words)
            .hint_text("A few words; leave empty to remove the label")
            .char_limit(MOST_CHARACTERS)
            .desired_width(width);
        let field = ui.add(field);
        field.widget_info(|| {
            WidgetInfo::labeled(Role::TextInput, true, format!("Label of run {}", asked.of))
        });
        if asked.field == Field::New {
            field.request_focus();
            asked.field = Field::Shown;
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if ui.button("Keep").clicked() || entered {
            commands.push(Command::Label(asked.of, asked.words.clone()));
            done = true;
        }
        done |= field.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape));
    });
    ui.add_space(6.0);
    if done {
        *label = None;
    }
}
