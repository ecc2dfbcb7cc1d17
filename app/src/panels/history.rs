//! Every run, the newest first: filtered by words, sorted, in families where somebody wants that, with the difference to
//! the pinned one. Only lines in view are laid out, so that their number does not matter.

use egui::style::ScrollAnimation;
use egui::{
    ComboBox, EventFilter, Id, Key, Modifiers, Rect, Response, Role, ScrollArea, Sense, TextEdit,
    Ui, WidgetInfo, pos2, vec2,
};
use lightbench_core::history::RunNumber;
use lightbench_core::history::label::MOST_CHARACTERS;

use super::history_line::{self, Columns};
use super::{empty, history_head};
use crate::theme::{self, ROW};
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::groups::{Line, Shown};
use crate::workbench::runs::{Grouping, Row, Sort, View};

/// How the history is looked at.
#[derive(Debug, Default)]
pub(super) struct HistoryView {
    view: View,
    shown: Shown,
    /// Whether runs differ from runs before them.
    has_earlier: bool,
    /// What both were made of.
    made_of: Option<(u64, View)>,
    label: Option<Asked>,
}

/// What a run is to be called, while somebody types it.
#[derive(Debug)]
struct Asked {
    of: RunNumber,
    kernel: String,
    words: String,
    field: Field,
}

/// Whether the field for a label was shown already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    New,
    Shown,
}

/// Points beside the controls, of order and families, and of a filter that can be read.
const MARGIN: f32 = 8.0;
const BESIDE: f32 = 176.0;
const LEAST_FILTER: f32 = 60.0;

/// Where a line is, and the room that it has.
pub(super) struct Place {
    pub(super) rect: Rect,
    pub(super) response: Response,
}

impl HistoryView {
    /// Families stand together from now on, or all runs are one list again.
    pub(super) fn group(&mut self) {
        self.view.grouping = match self.view.grouping {
            Grouping::None => Grouping::Lineage,
            Grouping::Lineage => Grouping::None,
        };
    }

    /// Asks what a run is to be called.
    pub(super) fn ask_for_label(&mut self, row: &Row) {
        self.label = Some(Asked {
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
        empty::show(ui, "No runs yet", "Save a kernel, or press F5: every run is kept here");
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
        empty::show(
            ui,
            "No run fits",
            "The filter looks for words in labels, kernels, devices and verdicts",
        );
        return;
    }
    lines(ui, bench, view, commands);
}

fn lines(ui: &mut Ui, bench: &Workbench, view: &mut HistoryView, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    let HistoryView { view, shown, has_earlier, .. } = view;
    let indent = history_head::indent(view.grouping);
    let mut columns = Columns::of(ui, indent);
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
            let place =
                Place { rect, response: ui.interact(rect, id(shown, *line), Sense::click()) };
            let next = next(ui, &place.response, shown, at);
            match *line {
                Line::Run(row) => {
                    if let Some(row) = bench.runs.rows().get(row as usize) {
                        history_line::show(
                            ui,
                            bench,
                            row,
                            (&tokens, &columns, indent),
                            place,
                            commands,
                        );
                    }
                }
                Line::Head(group) => {
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

/// A line's own name, so that arrow keys find it again wherever it stands.
fn id(shown: &Shown, line: Line) -> Id {
    match line {
        Line::Run(place) => Id::unique(("run of the history", place)),
        Line::Head(at) => {
            let family = shown.groups.get(at as usize).map(|group| group.family);
            Id::unique(("family of the history", family))
        }
    }
}

/// The line that arrow keys go to.
fn next(ui: &Ui, response: &Response, shown: &Shown, at: usize) -> Option<usize> {
    if !response.has_focus() {
        return None;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    // The line that had the key uses it up: the next one looks only in the next frame.
    let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::ArrowDown) {
        Some(at + 1).filter(|next| *next < shown.lines.len())
    } else if pressed(Key::ArrowUp) {
        at.checked_sub(1)
    } else {
        None
    }
}

/// Arrow keys choose the run that they go to.
fn look_at(ui: &Ui, bench: &Workbench, shown: &Shown, at: usize, commands: &mut Vec<Command>) {
    let Some(line) = shown.lines.get(at) else { return };
    ui.memory_mut(|memory| memory.request_focus(id(shown, *line)));
    if let Line::Run(place) = line
        && let Some(row) = bench.runs.rows().get(*place as usize)
    {
        commands.push(Command::SelectRun(row.number));
    }
}

/// The filter with order and families beside it; below it in a narrow panel.
fn controls(ui: &mut Ui, view: &mut View) {
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

fn filter(ui: &mut Ui, view: &mut View, width: f32) {
    let field = TextEdit::singleline(&mut view.filter).hint_text("Filter");
    let field = ui.add(field.desired_width(width.max(0.0)));
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter runs"));
}

fn order(ui: &mut Ui, view: &mut View) {
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
    button.on_hover_text("Runs whose candidates go back to the same one stand together");
    view.grouping = if together { Grouping::Lineage } else { Grouping::None };
}

/// Asks what a run is to be called, as long as somebody types it.
fn label_field(ui: &mut Ui, label: &mut Option<Asked>, commands: &mut Vec<Command>) {
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
            .hint_text("A few words, nothing to remove it")
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
