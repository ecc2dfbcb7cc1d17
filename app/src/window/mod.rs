//! The window: egui around the workbench. It maps keys and clicks to commands, and draws the workbench.
//!
//! `logic` handles pending results and events, also while nothing is drawn; `frame` draws and collects commands, which
//! are carried out afterwards. Nothing here blocks.

mod bars;
mod deferred_events;
pub mod headless;
mod keys;
mod layout;
mod new_project;
mod palette;
mod path_field;
pub mod picture;
mod program;
mod recent_runs;
mod settings_page;
mod start;
#[cfg(test)]
mod tests;
mod tiles;
mod toasts;
mod top_bar;

use std::time::Duration;

use egui::{CentralPanel, Context, Frame, Panel as SidePanel, Ui, ViewportCommand};
use lightbench_core::history::RunNumber;

pub use self::program::{StartOptions, run};

use self::layout::{Change, Layouts};
use self::new_project::NewProjectDialog;
use self::palette::Palette;
use self::path_field::PathField;
use self::settings_page::SettingsPage;
use crate::panels::{self, Views};
use crate::theme::{self, ThemeName};
use crate::workbench::background_task::BackgroundTask;
use crate::workbench::command::{Command, MeasureCommand};
use crate::workbench::lesson::LessonCommand;
use crate::workbench::notices::NoticeLevel;
use crate::workbench::panel::{LayoutName, Panel};
use crate::workbench::search::SearchCommand;
use crate::workbench::{UiEffect, Workbench};

/// The window: the workbench and the view state.
pub struct Window {
    /// The selected metric.
    pub(crate) bench: Workbench,
    layouts: Layouts,
    views: Views,
    palette: Option<Palette>,
    path: Option<PathField>,
    new_project: Option<NewProjectDialog>,
    settings: Option<SettingsPage>,
    leaving: QuitState,
    /// The theme and zoom that egui was last given.
    applied: Option<(ThemeName, f32)>,
}

/// Progress of closing the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuitState {
    No,
    Asked,
    Yes,
}

impl std::fmt::Debug for Window {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Window").field("bench", &self.bench).finish_non_exhaustive()
    }
}

impl Window {
    /// A window on a workbench.
    #[must_use]
    pub fn new(bench: Workbench) -> Self {
        Self {
            bench,
            layouts: Layouts::default(),
            views: Views::default(),
            palette: None,
            path: None,
            new_project: None,
            settings: None,
            leaving: QuitState::No,
            applied: None,
        }
    }

    /// Reads stored layouts; returns the problem of an unreadable file, which is left unchanged.
    pub(crate) fn arrange(&mut self, text: &str) -> Result<(), String> {
        self.layouts = Layouts::from_ron(text)?;
        Ok(())
    }

    /// Handles pending results and events, whether or not anything is drawn.
    pub(crate) fn logic(&mut self, context: &Context, now: Duration) {
        self.bench.poll(now);
        let look = (self.bench.settings.theme, self.bench.settings.zoom);
        if self.applied != Some(look) {
            theme::apply(context, look.0);
            context.set_zoom_factor(look.1);
            self.applied = Some(look);
        }
        let closing = context.input(|input| input.viewport().close_requested());
        if closing && self.bench.documents.any_changed() && self.leaving != QuitState::Yes {
            context.send_viewport_cmd(ViewportCommand::CancelClose);
            self.leaving = QuitState::Asked;
        }
        self.wake_when_something_changes(context, now);
    }

    /// Requests a repaint when shown content changes by itself; an idle window is not repainted.
    fn wake_when_something_changes(&self, context: &Context, now: Duration) {
        let busy = self.bench.evaluations.is_busy() || self.bench.searches.is_busy();
        let running = busy.then_some(Duration::from_millis(500));
        let due = [
            running,
            self.bench.notices.next_change(now),
            self.bench.documents.journal_due(now),
            self.bench.check_due(now),
        ];
        if let Some(soonest) = due.into_iter().flatten().min() {
            context.request_repaint_after(soonest + Duration::from_millis(1));
        }
    }

    /// Draws the window and carries out the user's commands.
    pub(crate) fn frame(&mut self, ui: &mut Ui, now: Duration) {
        let typing = self.palette.is_some() || self.path.is_some() || self.new_project.is_some();
        let mut commands = keys::pressed(ui, typing);
        top_bar::show(ui, &self.bench, self.layouts.current(), &mut commands);
        bars::strip(ui, &self.bench, now, &mut commands);
        bars::status(ui, &self.bench, &mut commands);
        bars::verdict(ui, &self.bench, &mut commands);
        bars::questions(ui, &self.bench, &mut commands);
        let tokens = theme::tokens(ui);
        let ground = Frame::new().fill(tokens.surface.window.0);
        CentralPanel::default().frame(ground).show(ui, |ui| {
            if let Some(page) = &mut self.settings {
                if !page.show(ui, (&self.bench.settings, typing), &mut commands) {
                    self.settings = None;
                }
            } else if self.bench.opened.is_some() {
                self.tiles(ui, now, &mut commands);
            } else if self.bench.broken.is_some() {
                self.repair(ui, now, &mut commands);
            } else {
                start::show(ui, &self.bench, &mut commands);
            }
        });
        if let Some(palette) = &mut self.palette {
            match palette.show(ui, &self.bench) {
                palette::Answer::Open => {}
                palette::Answer::Closed => self.palette = None,
                palette::Answer::Chosen(command) => {
                    self.palette = None;
                    commands.push(command);
                }
            }
        }
        self.path(ui, &mut commands);
        self.new_project(ui, &mut commands);
        toasts::show(ui, &self.bench.notices, now, &mut commands);
        self.ask_before_leaving(ui, &mut commands);
        for command in commands {
            self.carry_out(command, now);
        }
        self.apply_effect(ui.ctx());
    }

    /// The path field, while it is open.
    fn path(&mut self, ui: &Ui, commands: &mut Vec<Command>) {
        let Some(browsing) = &self.bench.selection.browsing else {
            self.path = None;
            return;
        };
        let path = self.path.get_or_insert_with(|| PathField::new(&self.bench));
        path.show(ui, browsing, commands);
    }

    /// The dialog that creates a project, while it is open.
    fn new_project(&mut self, ui: &Ui, commands: &mut Vec<Command>) {
        let Some(asked) = &self.bench.selection.new_project else {
            self.new_project = None;
            return;
        };
        let dialog = self.new_project.get_or_insert_with(|| NewProjectDialog::new(asked));
        dialog.show(ui, asked, commands);
    }

    /// Draws one panel in the whole window and carries out the user's commands.
    pub(crate) fn only(&mut self, panel: Panel, ui: &mut Ui, now: Duration) {
        let mut commands = Vec::new();
        let tokens = theme::tokens(ui);
        let inset = panels::inset(panel);
        let frame = Frame::new().fill(tokens.surface.panel.0).inner_margin(inset);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            panels::show(panel, ui, &mut self.bench, &mut self.views, now, &mut commands);
        });
        for command in commands {
            self.carry_out(command, now);
        }
        self.apply_effect(ui.ctx());
    }

    fn tiles(&mut self, ui: &mut Ui, now: Duration, commands: &mut Vec<Command>) {
        let mut tree = self.layouts.take();
        if self.layouts.current() == LayoutName::Teach {
            layout::reveal(&mut tree, layout::panels_of_lesson(&self.bench).as_deref());
        }
        let before = tree.clone();
        let mut behavior = tiles::Behavior::new(&mut self.bench, &mut self.views, commands, now);
        tree.ui(&mut behavior, ui);
        let edited = behavior.is_edited();
        self.layouts.put_back(tree, edited.then_some(before));
        if edited {
            self.keep_layouts();
        }
    }

    /// The texts and the problems of a project that cannot be read.
    fn repair(&mut self, ui: &mut Ui, now: Duration, commands: &mut Vec<Command>) {
        let tokens = theme::tokens(ui);
        let frame = Frame::new().fill(tokens.surface.panel.0).inner_margin(10);
        let Self { bench, views, .. } = self;
        SidePanel::bottom("repair")
            .default_size(220.0)
            .resizable(true)
            .frame(frame)
            .show(ui, |ui| panels::show(Panel::Problems, ui, bench, views, now, commands));
        CentralPanel::default().frame(Frame::new().fill(tokens.surface.panel.0)).show(ui, |ui| {
            panels::show(Panel::Editor, ui, bench, views, now, commands);
        });
    }

    fn keep_layouts(&self) {
        if let Ok(text) = self.layouts.to_ron() {
            self.bench.submit(BackgroundTask::SaveLayouts(text));
        }
    }

    /// Carries out commands of the window itself; passes others to the workbench.
    pub(crate) fn carry_out(&mut self, command: Command, now: Duration) {
        if let Command::ShowSettings(words) = &command {
            self.settings = Some(SettingsPage::new(&self.bench.settings, words));
        } else if let Command::Show(panel) = &command {
            self.show_panel(*panel, now);
        } else if let Command::Layout(name) = &command {
            self.choose_layout(*name);
        } else if command == Command::ResetLayout {
            self.layouts.reset();
            self.keep_layouts();
        } else if command == Command::UndoLayout {
            if self.layouts.undo() == Change::Made {
                self.keep_layouts();
            }
        } else if command == Command::Palette {
            self.palette = Some(Palette::with_commands());
        } else if command == Command::QuickOpen {
            self.palette = Some(Palette::with_kernels());
        } else if let Command::Edit(edit) = &command {
            self.views.editor.ask(*edit);
        } else if command == Command::GroupRuns {
            self.show_panel(Panel::History, now);
            self.views.group_runs();
        } else if let Command::AskForLabel(number) = &command {
            self.ask_for_label(*number, now);
        } else if matches!(command, Command::CompareSelected | Command::CompareWith(_)) {
            self.choose_layout(LayoutName::Compare);
        } else if command == Command::Search(SearchCommand::Start) {
            self.choose_layout(LayoutName::Search);
        } else if command == Command::Search(SearchCommand::Suggest) {
            self.show_panel(Panel::Variant, now);
        } else if command == Command::Timeline {
            self.show_panel(Panel::Timeline, now);
        } else if command == Command::Measure(MeasureCommand::Profile) {
            self.show_panel(Panel::Counters, now);
        } else if command == Command::AuditChecker {
            self.show_panel(Panel::Result, now);
        } else if command == Command::RunDoctor {
            self.show_panel(Panel::Doctor, now);
        }
        self.bench.carry_out(command, now);
    }

    /// Shows a panel, or a layout, in place of the settings.
    /// Shows a panel; a lesson that hides it shows everything.
    fn show_panel(&mut self, panel: Panel, now: Duration) {
        if layout::panels_of_lesson(&self.bench).is_some_and(|shown| !shown.contains(&panel)) {
            self.bench.carry_out(Command::Lesson(LessonCommand::Everything), now);
        }
        self.settings = None;
        self.layouts.show(panel);
        self.keep_layouts();
    }

    fn choose_layout(&mut self, name: LayoutName) {
        self.settings = None;
        self.layouts.choose(name);
        self.keep_layouts();
    }

    /// Shows the field for the label of a run, or of the shown run.
    fn ask_for_label(&mut self, number: Option<RunNumber>, now: Duration) {
        let number = number.or_else(|| self.bench.shown_run().map(|row| row.number));
        match number.and_then(|number| self.bench.runs.get(number)) {
            Some(row) => {
                self.layouts.show(Panel::History);
                self.views.ask_for_label(row);
            }
            None => {
                let text = "there is no run to label; run a kernel first";
                self.bench.notices.add(NoticeLevel::Note, text, now);
            }
        }
    }

    /// Carries out the workbench's pending effects.
    fn apply_effect(&mut self, context: &Context) {
        for wish in self.bench.take_effects() {
            match wish {
                UiEffect::Copy(text) => context.copy_text(text),
                UiEffect::GoTo(line, column) => {
                    self.settings = None;
                    self.layouts.show(Panel::Editor);
                    self.views.editor.go_to(line, column);
                }
                UiEffect::Replace(text) => self.views.editor.replace(text),
                UiEffect::TakeSourceFile(path) => {
                    if let Some(dialog) = &mut self.new_project {
                        dialog.take_path(&path);
                    }
                }
                UiEffect::EnterLessonLayout => {
                    self.layouts.enter_lesson();
                    self.keep_layouts();
                }
                UiEffect::RestoreLayout => {
                    if self.layouts.leave_lesson() == layout::Change::Made {
                        self.keep_layouts();
                    }
                }
                UiEffect::Quit => {
                    self.leaving = QuitState::Yes;
                    context.send_viewport_cmd(ViewportCommand::Close);
                }
                UiEffect::ConfirmQuit => self.leaving = QuitState::Asked,
            }
        }
    }

    fn ask_before_leaving(&mut self, ui: &Ui, commands: &mut Vec<Command>) {
        if self.leaving != QuitState::Asked {
            return;
        }
        let answer = bars::before_leaving(ui, &self.bench);
        match answer {
            bars::Answer::Wait => {}
            bars::Answer::Stay => self.leaving = QuitState::No,
            bars::Answer::Discard => commands.push(Command::QuitAnyway),
            bars::Answer::Save => {
                self.leaving = QuitState::No;
                commands.push(Command::SaveAll);
            }
        }
    }
}
