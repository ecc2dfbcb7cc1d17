//! The page of the user's settings, filtered by typing.

use std::path::PathBuf;

use egui::{
    ComboBox, DragValue, Frame, Key, Margin, Modifiers, Popup, Response, RichText, ScrollArea,
    TextEdit, Ui, WidgetInfo,
};
use lightbench_core::measure::{EnergyUse, ExtraModes};
use lightbench_core::worker::server::WithoutSandbox;

use crate::theme::{self, GAP, ThemeName};
use crate::workbench::command::Command;
use crate::workbench::settings::{AcceptPermission, Heat, Mode, Settings};

/// The open page.
#[derive(Debug)]
pub(super) struct SettingsPage {
    typed: String,
    /// Paths as they are typed; they count when their field is left.
    interpreter: String,
    cutlass: String,
    has_shown: bool,
}

/// A setting of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Theme,
    Zoom,
    FontSize,
    LineMetric,
    AfterSave,
    ExtraTimes,
    Energy,
    Interpreter,
    Unconfined,
    Cutlass,
    AgentAccept,
    AgentEvaluations,
    AgentDevice,
    AgentWall,
    Models,
    Hosts,
    Slurm,
}

impl Setting {
    pub(super) const ALL: [Self; 17] = [
        Self::Theme,
        Self::Zoom,
        Self::FontSize,
        Self::LineMetric,
        Self::AfterSave,
        Self::ExtraTimes,
        Self::Energy,
        Self::Interpreter,
        Self::Unconfined,
        Self::Cutlass,
        Self::AgentAccept,
        Self::AgentEvaluations,
        Self::AgentDevice,
        Self::AgentWall,
        Self::Models,
        Self::Hosts,
        Self::Slurm,
    ];

    /// The group, the name and the effect.
    pub(super) const fn about(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Theme => {
                ("Appearance", "Theme", "Colours; the projector theme has most contrast")
            }
            Self::Zoom => {
                ("Appearance", "Zoom", "The size of everything, also Ctrl+plus and minus")
            }
            Self::FontSize => ("Editor", "Font size", "Of source and assembly, in points"),
            Self::LineMetric => ("Editor", "Line metric", "The column beside the source lines"),
            Self::AfterSave => ("Evaluation", "After a save", "How far an evaluation goes"),
            Self::ExtraTimes => {
                ("Evaluation", "Other times", "What is timed besides a cold and a warm cache")
            }
            Self::Energy => ("Evaluation", "Energy", "Joules per launch, on GPUs that report it"),
            Self::Interpreter => (
                "Programs",
                "Python interpreter",
                "An interpreter or the folder of a virtual environment; empty takes python3 of PATH; from the next start on",
            ),
            Self::Unconfined => (
                "Programs",
                "Python without a sandbox",
                "On machines that cannot confine it, Python code of projects can read and write all files of the user",
            ),
            Self::Cutlass => (
                "Programs",
                "CUTLASS",
                "A checkout or its include folder; empty takes the Python package nvidia-cutlass; from the next start on",
            ),
            Self::AgentAccept => {
                ("Agents", "Kernels of agents", "Whether an agent may add a kernel to a project")
            }
            Self::AgentEvaluations => {
                ("Agents", "Evaluations of agents", "The most that one server carries out")
            }
            Self::AgentDevice => {
                ("Agents", "Device time of agents", "The most that one server uses, in seconds")
            }
            Self::AgentWall => {
                ("Agents", "Duration of agents", "Until a server starts no further run, in seconds")
            }
            Self::Models => (
                "In settings.ron",
                "Models",
                "Language models and agent commands of searches; see `lightbench models --help`",
            ),
            Self::Hosts => {
                ("In settings.ron", "Hosts", "GPUs of other machines; see docs/remote.md")
            }
            Self::Slurm => {
                ("In settings.ron", "Slurm", "Partitions of a cluster; see docs/slurm.md")
            }
        }
    }

    fn matches(self, typed: &str) -> bool {
        let (group, name, words) = self.about();
        let all = format!("{group} {name} {words}").to_lowercase();
        typed.to_lowercase().split_whitespace().all(|word| all.contains(word))
    }
}

impl SettingsPage {
    /// The page with the settings whose texts contain the typed words.
    pub(super) fn new(settings: &Settings, typed: &str) -> Self {
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
        };
        Self {
            typed: typed.to_owned(),
            interpreter: path(&settings.python.interpreter),
            cutlass: path(&settings.libraries.cutlass),
            has_shown: false,
        }
    }

    /// Draws the page; `false` once it is to be closed. Escape closes what is above the page first.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        (settings, is_typing): (&Settings, bool),
        commands: &mut Vec<Command>,
    ) -> bool {
        let is_below = is_typing || Popup::is_any_open(ui.ctx());
        let escape =
            |ui: &Ui| ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        let mut is_open = is_below || !escape(ui);
        let mut changed = settings.clone();
        Frame::new().inner_margin(Margin::same(20)).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.heading("Settings");
                let field = TextEdit::singleline(&mut self.typed).hint_text("Filter");
                let field = ui.add(field.desired_width(240.0));
                field.widget_info(|| WidgetInfo::labeled(egui::Role::SearchInput, true, "Filter"));
                if !std::mem::replace(&mut self.has_shown, true) {
                    field.request_focus();
                }
                is_open &= !ui.button("Close").clicked();
            });
            ui.add_space(2.0 * GAP);
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                self.list(ui, &mut changed);
            });
        });
        if changed.editor.heat != settings.editor.heat {
            commands.push(Command::SetHeat(changed.editor.heat));
        }
        if changed != *settings {
            commands.push(Command::ChangeSettings(Box::new(changed)));
        }
        is_open
    }

    fn list(&mut self, ui: &mut Ui, settings: &mut Settings) {
        let tokens = theme::tokens(ui);
        let found = Setting::ALL.into_iter().filter(|setting| setting.matches(&self.typed));
        let found: Vec<Setting> = found.collect();
        if found.is_empty() {
            ui.weak("No setting has these words");
        }
        let mut last = "";
        for setting in found {
            let (group, name, words) = setting.about();
            if group != last {
                ui.add_space(2.0 * GAP);
                ui.label(RichText::new(group).small().color(tokens.text.weak.0));
                last = group;
            }
            let width = ui.available_width();
            ui.horizontal(|ui| {
                let name = ui.vertical(|ui| {
                    ui.set_width((0.55 * width).min(520.0));
                    let name = ui.label(RichText::new(name).color(tokens.text.strong.0));
                    let words = RichText::new(words).small().color(tokens.text.weak.0);
                    ui.add(egui::Label::new(words).wrap());
                    name.id
                });
                let name = name.inner;
                self.control(ui, setting, settings).labelled_by(name);
            });
            ui.add_space(GAP);
        }
    }

    fn control(&mut self, ui: &mut Ui, setting: Setting, settings: &mut Settings) -> Response {
        let (_, name, _) = setting.about();
        let agents = &mut settings.agents;
        match setting {
            Setting::Theme => {
                choice(ui, name, &mut settings.theme, &ThemeName::ALL, |theme| theme.to_string())
            }
            Setting::Zoom => {
                let mut percent = (settings.zoom * 100.0).round() as u32;
                let sizes = [75, 90, 100, 110, 125, 150, 175, 200];
                let words = |percent| format!("{percent} %");
                let shown = choice(ui, name, &mut percent, &sizes, words);
                if (settings.zoom * 100.0).round() as u32 != percent {
                    settings.set_zoom(percent as f32 / 100.0);
                }
                shown
            }
            Setting::FontSize => {
                let size = &mut settings.editor.font_size;
                ui.add(DragValue::new(size).range(8.0..=32.0).suffix(" pt"))
            }
            Setting::LineMetric => {
                let heat = &mut settings.editor.heat;
                choice(ui, name, heat, &Heat::ALL, |heat| heat.words().to_owned())
            }
            Setting::AfterSave => {
                choice(ui, name, &mut settings.mode, &Mode::ALL, |mode| mode.words().to_owned())
            }
            Setting::ExtraTimes => {
                let all = [ExtraModes::Nothing, ExtraModes::Graph, ExtraModes::Server];
                choice(ui, name, &mut settings.measuring.besides, &all, |modes| match modes {
                    ExtraModes::Nothing => "nothing".to_owned(),
                    ExtraModes::Graph => "graph replays".to_owned(),
                    ExtraModes::Server => "launches after idle periods".to_owned(),
                })
            }
            Setting::Energy => {
                let mut measures = settings.measuring.energy == EnergyUse::Measure;
                let shown = ui.checkbox(&mut measures, "measure");
                let energy = if measures { EnergyUse::Measure } else { EnergyUse::Skip };
                settings.measuring.energy = energy;
                shown
            }
            Setting::Interpreter => {
                path(ui, &mut self.interpreter, &mut settings.python.interpreter)
            }
            Setting::Unconfined => {
                let all = [WithoutSandbox::Refused, WithoutSandbox::Permitted];
                choice(
                    ui,
                    name,
                    &mut settings.python.without_sandbox,
                    &all,
                    |without| match without {
                        WithoutSandbox::Refused => "refused".to_owned(),
                        WithoutSandbox::Permitted => "permitted".to_owned(),
                    },
                )
            }
            Setting::Cutlass => path(ui, &mut self.cutlass, &mut settings.libraries.cutlass),
            Setting::AgentAccept => {
                let all = [AcceptPermission::Never, AcceptPermission::Ask, AcceptPermission::Allow];
                choice(ui, name, &mut agents.accept, &all, |accept| match accept {
                    AcceptPermission::Never => "never".to_owned(),
                    AcceptPermission::Ask => "after `lightbench accept`".to_owned(),
                    AcceptPermission::Allow => "if they pass".to_owned(),
                })
            }
            Setting::AgentEvaluations => ui.add(DragValue::new(&mut agents.evaluations)),
            Setting::AgentDevice => ui.add(DragValue::new(&mut agents.device_seconds).suffix(" s")),
            Setting::AgentWall => ui.add(DragValue::new(&mut agents.wall_seconds).suffix(" s")),
            Setting::Models => {
                let models = &settings.models;
                names(ui, models.servers.keys().chain(models.agents.keys()))
            }
            Setting::Hosts => names(ui, settings.hosts.keys()),
            Setting::Slurm => names(ui, settings.slurm.keys()),
        }
    }
}

/// A list of values, of which one is chosen.
fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    chosen: &mut T,
    all: &[T],
    words: impl Fn(T) -> String,
) -> Response {
    let shown = ComboBox::from_id_salt(name).width(240.0).selected_text(words(*chosen));
    let shown = shown.show_ui(ui, |ui| {
        for each in all {
            ui.selectable_value(chosen, *each, words(*each));
        }
    });
    shown.response
}

/// The field of a path; an empty one is none.
fn path(ui: &mut Ui, typed: &mut String, path: &mut Option<PathBuf>) -> Response {
    let field = ui.add(TextEdit::singleline(typed).desired_width(240.0));
    if field.lost_focus() {
        let stated = Some(typed.trim()).filter(|typed| !typed.is_empty());
        *path = stated.map(PathBuf::from);
    }
    field
}

/// Entries that only the file has.
fn names<'a>(ui: &mut Ui, names: impl Iterator<Item = &'a String>) -> Response {
    let names: Vec<&str> = names.map(String::as_str).collect();
    ui.label(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}
