//! The path field, for desktops without a file dialog: completes folders, and shows why a path cannot be opened.

use egui::{
    Align2, Area, Button, Frame, Id, Key, Modifiers, Order, RichText, Role, ScrollArea, TextEdit,
    Ui, WidgetInfo, vec2,
};

use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::path_browser::{Entry, Kind, PathBrowser, split};

/// The completed text.
#[derive(Debug)]
pub(super) struct PathField {
    typed: String,
    /// The completion selected with arrow keys.
    chosen: Option<usize>,
    /// The folder that was listed last.
    asked: Option<String>,
    caret: Caret,
}

/// The arrow key pressed in this frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    None,
    Down,
    Up,
}

/// Where the caret goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caret {
    /// Unchanged.
    Free,
    /// To the end of the completed text.
    End,
}

impl PathField {
    /// Starts at the parent of the open project, or of the most recent one.
    pub(super) fn new(bench: &Workbench) -> Self {
        let root = bench.opened.as_ref().map(|opened| &opened.project.root);
        let known = root.or(bench.settings.recent.first()).and_then(|root| root.parent());
        let typed = known.map_or_else(
            || "~/".to_owned(),
            |folder| format!("{}/", folder.display().to_string().trim_end_matches('/')),
        );
        Self { typed, chosen: None, asked: None, caret: Caret::End }
    }

    /// Draws the field; `browsing` holds the latest listing.
    pub(super) fn show(&mut self, ui: &Ui, browsing: &PathBrowser, commands: &mut Vec<Command>) {
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let (up, down) = (pressed(Key::ArrowUp), pressed(Key::ArrowDown));
        let (enter, tab, escape) = (pressed(Key::Enter), pressed(Key::Tab), pressed(Key::Escape));
        let fitting: Vec<Entry> = browsing.fitting(&self.typed).cloned().collect();
        let step = match (down, up) {
            (true, _) => Step::Down,
            (false, true) => Step::Up,
            (false, false) => Step::None,
        };
        self.step(step, fitting.len());
        let entry = self.chosen.and_then(|at| fitting.get(at));
        match (tab, enter, entry) {
            (true, _, entry) => {
                if let Some(entry) = entry.or(fitting.first()) {
                    self.complete(&entry.name);
                }
            }
            (false, true, Some(Entry { name, kind: Kind::Folder })) => self.complete(name),
            (false, true, Some(Entry { name, kind: Kind::Project })) => {
                self.complete(name);
                commands.push(Command::OpenPath(self.typed.clone()));
            }
            (false, true, None) => commands.push(Command::OpenPath(self.typed.clone())),
            (false, false, _) => {}
        }
        let area = Area::new(Id::unique("path"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_TOP, vec2(0.0, 70.0));
        let shown = area.show(ui.ctx(), |ui| {
            Frame::popup(ui.style()).inner_margin(10.0).show(ui, |ui| {
                ui.set_width(560.0);
                self.field(ui);
                self.answer(ui, browsing);
                self.folders(ui, (&fitting, step), commands);
            });
        });
        let folder = split(&self.typed).0;
        if self.asked.as_deref() != Some(folder) {
            self.asked = Some(folder.to_owned());
            commands.push(Command::ListFolders(folder.to_owned()));
        }
        if escape || shown.response.clicked_elsewhere() {
            commands.push(Command::LeavePath);
        }
    }

    fn step(&mut self, step: Step, count: usize) {
        self.chosen = match (step, self.chosen) {
            _ if count == 0 => None,
            (Step::Down, None) => Some(0),
            (Step::Down, Some(at)) => Some((at + 1) % count),
            (Step::Up, None | Some(0)) => Some(count - 1),
            (Step::Up, Some(at)) => Some(at - 1),
            (Step::None, at) => at.filter(|at| *at < count),
        };
    }

    fn complete(&mut self, name: &str) {
        self.typed = format!("{}{name}/", split(&self.typed).0);
        self.chosen = None;
        self.caret = Caret::End;
    }

    fn field(&mut self, ui: &mut Ui) {
        let hint = "Path of a project folder or of a kernel";
        let field = TextEdit::singleline(&mut self.typed)
            .hint_text(hint)
            .lock_focus(true)
            .desired_width(f32::INFINITY);
        let mut shown = field.show(ui);
        shown.response.request_focus();
        shown.response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, hint));
        if shown.response.changed() {
            self.chosen = None;
        }
        if self.caret == Caret::End {
            let end = egui::text::CCursor::new(self.typed.chars().count());
            let range = egui::text::CCursorRange::one(end);
            shown.state.cursor.set_char_range(Some(range));
            shown.state.store(ui.ctx(), shown.response.id);
            self.caret = Caret::Free;
        }
    }

    fn answer(&self, ui: &mut Ui, browsing: &PathBrowser) {
        let tokens = theme::tokens(ui);
        ui.add_space(4.0);
        match browsing.wrong(&self.typed) {
            Some(why) => ui.colored_label(tokens.status.bad.0, why),
            None => ui.weak("Tab completes, arrows choose, Enter opens"),
        };
        ui.add_space(4.0);
    }

    fn folders(
        &mut self,
        ui: &mut Ui,
        (fitting, step): (&[Entry], Step),
        commands: &mut Vec<Command>,
    ) {
        let tokens = theme::tokens(ui);
        let mut clicked = None;
        ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for (entry, at) in fitting.iter().zip(0..) {
                let is_chosen = self.chosen == Some(at);
                let detail = match entry.kind {
                    Kind::Project => "project",
                    Kind::Folder => "",
                };
                let button = Button::selectable(is_chosen, &entry.name)
                    .shortcut_text(RichText::new(detail).color(tokens.accent.0))
                    .min_size(vec2(ui.available_width(), 24.0));
                let response = ui.add(button);
                if is_chosen && step != Step::None {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    clicked = Some(entry.clone());
                }
            }
        });
        if let Some(entry) = clicked {
            self.complete(&entry.name);
            match entry.kind {
                Kind::Project => commands.push(Command::OpenPath(self.typed.clone())),
                Kind::Folder => {}
            }
        }
    }
}
