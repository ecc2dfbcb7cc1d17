//! The command palette: filter by typing, select with arrow keys, confirm with Enter.

use egui::{
    Align2, Area, Frame, Id, Key, Modifiers, Order, RichText, ScrollArea, TextEdit, Ui, vec2,
};

use super::settings_page::Setting;
use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::command::{Command, entries};

/// The typed text and the selection.
#[derive(Debug)]
pub(super) struct Palette {
    what: PaletteContent,
    typed: String,
    chosen: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PaletteContent {
    Commands,
    Kernels,
}

/// The result of a frame.
#[derive(Debug)]
pub(super) enum Answer {
    Open,
    Closed,
    Chosen(Command),
}

/// An entry of the palette.
struct Choice {
    title: String,
    detail: String,
    command: Command,
}

impl Palette {
    pub(super) const fn with_commands() -> Self {
        Self { what: PaletteContent::Commands, typed: String::new(), chosen: 0 }
    }

    pub(super) const fn with_kernels() -> Self {
        Self { what: PaletteContent::Kernels, typed: String::new(), chosen: 0 }
    }

    pub(super) fn show(&mut self, ui: &Ui, bench: &Workbench) -> Answer {
        let mut answer = Answer::Open;
        let (up, down, enter, escape) = ui.input_mut(|input| {
            let mut pressed = |key| input.consume_key(Modifiers::NONE, key);
            (
                pressed(Key::ArrowUp),
                pressed(Key::ArrowDown),
                pressed(Key::Enter),
                pressed(Key::Escape),
            )
        });
        let found = self.found(bench);
        if down && !found.is_empty() {
            self.chosen = (self.chosen + 1) % found.len();
        }
        if up && !found.is_empty() {
            self.chosen = (self.chosen + found.len() - 1) % found.len();
        }
        self.chosen = self.chosen.min(found.len().saturating_sub(1));
        let area = Area::new(Id::unique("palette"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_TOP, vec2(0.0, 70.0));
        let shown = area.show(ui.ctx(), |ui| {
            Frame::popup(ui.style()).inner_margin(10.0).show(ui, |ui| {
                ui.set_width(520.0);
                if let Some(command) = self.list(ui, &found) {
                    answer = Answer::Chosen(command);
                }
            });
        });
        if escape || shown.response.clicked_elsewhere() {
            return Answer::Closed;
        }
        if enter {
            let chosen = found.into_iter().nth(self.chosen);
            return chosen.map_or(Answer::Closed, |choice| Answer::Chosen(choice.command));
        }
        answer
    }

    fn list(&mut self, ui: &mut Ui, found: &[Choice]) -> Option<Command> {
        let hint = match self.what {
            PaletteContent::Commands => "Type a command",
            PaletteContent::Kernels => "Type a kernel, a file or a project",
        };
        let field =
            TextEdit::singleline(&mut self.typed).hint_text(hint).desired_width(f32::INFINITY);
        let response = ui.add(field);
        response.request_focus();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, hint));
        if response.changed() {
            self.chosen = 0;
        }
        let tokens = theme::tokens(ui);
        if found.is_empty() {
            ui.weak("No match");
        }
        let mut command = None;
        ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
            for (index, choice) in found.iter().enumerate() {
                let is_chosen = index == self.chosen;
                let button = egui::Button::selectable(is_chosen, &choice.title)
                    .shortcut_text(RichText::new(&choice.detail).color(tokens.text.weak.0))
                    .min_size(vec2(ui.available_width(), 24.0));
                let response = ui.add(button);
                if is_chosen {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    command = Some(choice.command.clone());
                }
            }
        });
        command
    }

    /// Matching entries, the best first.
    fn found(&self, bench: &Workbench) -> Vec<Choice> {
        let choices = match self.what {
            PaletteContent::Commands => command_choices(),
            PaletteContent::Kernels => kernel_choices(bench),
        };
        let mut scored: Vec<(i32, Choice)> = choices
            .into_iter()
            .filter_map(|choice| Some((score(&self.typed, &choice.title)?, choice)))
            .collect();
        // A stable sort: equal scores keep the menu order.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.into_iter().map(|(_, choice)| choice).collect()
    }
}

fn command_choices() -> Vec<Choice> {
    let choice = |entry: &crate::workbench::command::Entry| Choice {
        detail: entry.shortcuts.first().map(|keys| keys.words()).unwrap_or_default(),
        title: entry.title.clone(),
        command: entry.command.clone(),
    };
    let setting = |setting: Setting| {
        let (group, name, _) = setting.about();
        Choice {
            title: format!("Setting: {name}"),
            detail: group.to_owned(),
            command: Command::ShowSettings(name.to_owned()),
        }
    };
    entries().iter().map(choice).chain(Setting::ALL.map(setting)).collect()
}

fn kernel_choices(bench: &Workbench) -> Vec<Choice> {
    let Some(opened) = &bench.opened else { return project_choices(bench) };
    let project = &opened.project;
    let kernel = |kernel: &lightbench_core::project::Kernel| Choice {
        title: kernel.name.clone(),
        detail: kernel.file.display().to_string(),
        command: Command::ChooseKernel(kernel.name.clone()),
    };
    let file = |path: &std::path::Path| Choice {
        title: path.display().to_string(),
        detail: String::new(),
        command: Command::GoTo(path.to_owned(), 1, 1),
    };
    let mut choices: Vec<Choice> = project.kernels.iter().map(kernel).collect();
    choices.extend([file(std::path::Path::new("project.ron")), file(project.reference.file())]);
    choices.extend(project.includes.iter().map(|include| file(&include.file)));
    choices.extend(project.wrong.iter().map(|kernel| file(&kernel.file)));
    let texts = project.broken.iter().filter(|broken| broken.source.is_some());
    choices.extend(texts.map(|broken| file(&broken.file)));
    choices
}

/// Recently opened projects, and the sample projects.
fn project_choices(bench: &Workbench) -> Vec<Choice> {
    let mut paths: Vec<&std::path::PathBuf> =
        bench.settings.recent.iter().chain(&bench.samples.projects).collect();
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(*path));
    let choice = |path: &std::path::PathBuf| Choice {
        title: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        detail: path.parent().unwrap_or(path).display().to_string(),
        command: Command::Open(path.clone()),
    };
    let lesson =
        |(path, heading): &(std::path::PathBuf, lightbench_core::lesson::Heading)| Choice {
            title: format!("Lesson {}, {}", heading.order, heading.title),
            detail: heading.summary.clone(),
            command: Command::OpenLesson(path.clone()),
        };
    let lessons = bench.samples.lessons.iter().map(lesson);
    paths.into_iter().map(choice).chain(lessons).collect()
}

/// The match of typed letters with a title; `None` unless they occur in this order. Consecutive letters and word starts
/// score higher.
fn score(typed: &str, title: &str) -> Option<i32> {
    let mut wanted = typed
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .flat_map(char::to_lowercase)
        .peekable();
    let (mut score, mut before, mut follows) = (0, ' ', 0);
    for letter in title.chars().flat_map(char::to_lowercase) {
        if wanted.peek() == Some(&letter) {
            wanted.next();
            follows += 1;
            score += follows * 2 + if before.is_alphanumeric() { 0 } else { 6 };
        } else {
            follows = 0;
        }
        before = letter;
    }
    wanted.peek().is_none().then(|| score - i32::try_from(title.len() / 8).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_find_and_beginnings_count() {
        let check = |typed: &str, expected: &str| {
            let titles = [
                "Save",
                "Save all",
                "Show roofline",
                "Show result",
                "Run",
                "Reset layout",
                "Compare",
            ];
            let best = titles
                .iter()
                .filter_map(|title| Some((score(typed, title)?, title)))
                .max_by_key(|(score, title)| (*score, std::cmp::Reverse(title.len())));
            assert_eq!(
                best.map(|(_, title)| *title),
                Some(expected).filter(|title| !title.is_empty()),
                "{typed}"
            );
        };
        check("save", "Save");
        check("sa al", "Save all");
        check("roof", "Show roofline");
        check("sr", "Show result");
        check("rl", "Reset layout");
        check("COMP", "Compare");
        check("xyz", "");
    }
}
