//! The bars around the panels: stages, verdict line and device state; and questions to the user.

use std::time::Duration;

use egui::{
    Align, Button, Color32, ComboBox, Frame, Label, Layout, Margin, Panel, RichText, Sense, Stroke,
    TextStyle, TextWrapMode, Ui, WidgetText, vec2,
};

use lightbench_core::device::LocalDevice;
use lightbench_core::measure::energy::Joules;
use lightbench_core::measure::{EnergyUse, ExtraModes};
use lightbench_core::report::document::timing::ReportedEnergy;

use crate::panels::source_icon;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::background_task::DeviceChoice;
use crate::workbench::command::{Command, MeasureCommand, Recovery, Resolution};
use crate::workbench::evaluations::MachineState;
use crate::workbench::progress::{Stage, StageState};
use crate::workbench::settings::{Measuring, Mode, Settings};
use crate::workbench::verdict::Tone;
use crate::workbench::verdict_fields::VerdictField;

pub(super) fn bar(fill: Color32) -> Frame {
    Frame::new().fill(fill).inner_margin(Margin::symmetric(10, 5))
}

/// Gives rows the height of their buttons, so that everything in a row is aligned.
pub(super) fn level(ui: &mut Ui) {
    let padding = 2.0 * ui.spacing().button_padding.y;
    ui.spacing_mut().interact_size.y = ui.text_style_height(&TextStyle::Button).ceil() + padding;
}

pub(super) fn named(name: &str, value: &str) -> egui::WidgetInfo {
    egui::WidgetInfo::labeled(egui::Role::ComboBox, true, format!("{name}: {value}"))
}

/// The strip with run, stop, mode and progress.
pub(super) fn strip(ui: &mut Ui, bench: &Workbench, now: Duration, commands: &mut Vec<Command>) {
    let Some(opened) = &bench.opened else { return };
    let tokens = theme::tokens(ui);
    Panel::top("strip").frame(bar(tokens.surface.window.0)).show_separator_line(false).show(
        ui,
        |ui| {
            level(ui);
            ui.horizontal(|ui| {
                let known = bench.evaluations.kernel(&opened.kernel);
                let busy = bench.evaluations.is_busy();
                if primary(ui, &tokens, Icon::Play, "Run", "F5").clicked() {
                    commands.push(Command::Run);
                }
                ui.add_enabled_ui(busy, |ui| {
                    if Icon::Stop.button(ui, "Stop").clicked() {
                        commands.push(Command::Stop);
                    }
                });
                mode(ui, &bench.settings, commands);
                ui.add_space(2.0 * GAP);
                for stage in Stage::ALL {
                    let (state, took) = match known {
                        Some(known) => {
                            (known.progress.state(stage).clone(), known.progress.took(stage, now))
                        }
                        None => (StageState::Waiting, Duration::ZERO),
                    };
                    show_stage(ui, &tokens, stage, &state, took, now);
                }
                if let Some(ahead) = known.map(|known| known.ahead).filter(|ahead| *ahead > 0) {
                    ui.weak(format!("waits behind {ahead}"));
                }
            });
        },
    );
}

fn mode(ui: &mut Ui, settings: &Settings, commands: &mut Vec<Command>) {
    let current = settings.mode;
    let short = |mode: Mode| match mode {
        Mode::Off => "nothing",
        Mode::Compile => "compile",
        Mode::Verify => "verify",
        Mode::Full => "everything",
    };
    ui.weak("on save");
    ComboBox::from_id_salt("mode")
        .selected_text(short(current))
        .width(92.0)
        .show_ui(ui, |ui| {
            for mode in Mode::ALL {
                if ui.selectable_label(mode == current, mode.words()).clicked() {
                    commands.push(Command::SetMode(mode));
                }
            }
            ui.separator();
            measuring(ui, settings.measuring, commands);
        })
        .response
        .widget_info(|| named("On save", current.words()));
}

/// The menu of additional measurements, besides cold and warm times.
fn measuring(ui: &mut Ui, measuring: Measuring, commands: &mut Vec<Command>) {
    let modes = [
        (ExtraModes::Graph, "also times of graph replays"),
        (ExtraModes::Server, "also times after idle periods"),
    ];
    for (besides, text) in modes {
        let is_on = measuring.besides == besides;
        if ui.selectable_label(is_on, text).clicked() {
            let wanted = if is_on { ExtraModes::Nothing } else { besides };
            commands.push(Command::Measure(MeasureCommand::Besides(wanted)));
        }
    }
    let is_on = measuring.energy == EnergyUse::Measure;
    if ui.selectable_label(is_on, "energy too").clicked() {
        let energy = if is_on { EnergyUse::Skip } else { EnergyUse::Measure };
        commands.push(Command::Measure(MeasureCommand::Energy(energy)));
    }
}

/// The primary button.
fn primary(ui: &mut Ui, tokens: &Tokens, icon: Icon, text: &str, keys: &str) -> egui::Response {
    let label = RichText::new(format!("     {text}")).color(tokens.text.on_accent.0);
    let response = ui
        .add(Button::new(label).fill(tokens.accent.0).stroke(Stroke::NONE))
        .on_hover_text(format!("{text} ({keys})"));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, text));
    let side = response.rect.height() * 0.42;
    let place = egui::Rect::from_center_size(
        response.rect.left_center() + vec2(14.0, 0.0),
        vec2(side, side),
    );
    icon.paint(ui.painter(), place, tokens.text.on_accent.0);
    response
}

fn show_stage(
    ui: &mut Ui,
    tokens: &Tokens,
    stage: Stage,
    state: &StageState,
    took: Duration,
    now: Duration,
) {
    let (icon, color) = match state {
        StageState::Waiting | StageState::Skipped => (Icon::Ring, tokens.text.weak.0),
        StageState::Running { .. } => (Icon::Dot, tokens.status.running.0),
        StageState::Done => (Icon::Check, tokens.status.good.0),
        StageState::Failed => (Icon::Cross, tokens.status.bad.0),
    };
    let front = match state {
        StageState::Waiting | StageState::Skipped => tokens.text.weak.0,
        StageState::Running { .. } | StageState::Done | StageState::Failed => tokens.text.normal.0,
    };
    let inner = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        icon.show(ui, color);
        ui.colored_label(front, stage.word());
        if took > Duration::ZERO {
            ui.colored_label(front, seconds(took));
        }
        if let StageState::Running { what, expected, since } = state {
            let mut text = what.clone();
            if let Some(expected) = expected {
                text += &format!(
                    ", {} of about {}",
                    seconds(now.saturating_sub(*since)),
                    seconds(*expected)
                );
            }
            ui.weak(text);
        }
    });
    let word = match state {
        StageState::Waiting => "not started",
        StageState::Skipped => "not requested",
        StageState::Running { .. } => "goes on",
        StageState::Done => "done",
        StageState::Failed => "failed",
    };
    inner.response.on_hover_text(format!("{}: {word}", stage.word()));
    ui.add_space(2.0 * GAP);
}

/// A duration with a unit.
pub(crate) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 0.01 {
        format!("{:.0} ms", seconds * 1e3)
    } else if seconds < 9.95 {
        format!("{seconds:.2} s")
    } else {
        format!("{seconds:.0} s")
    }
}

/// The verdict on the shown run: its fields, or the sentence about the state of the kernel.
pub(super) fn verdict(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    let line = bench.verdict_line();
    let (icon, color) = match line.tone {
        Tone::Good => (Icon::Check, tokens.status.good.0),
        Tone::Bad => (Icon::Cross, tokens.status.bad.0),
        Tone::Quiet => (Icon::Ring, tokens.text.weak.0),
        Tone::Running => (Icon::Dot, tokens.status.running.0),
    };
    let fields = bench.verdict_fields().filter(|_| line.tone == Tone::Good);
    let frame = bar(tokens.surface.raised.0).inner_margin(Margin::symmetric(12, 6));
    Panel::bottom("verdict").frame(frame).show_separator_line(false).show(ui, |ui| match fields {
        Some(fields) => {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = GAP;
                icon.show(ui, color);
                for field in &fields {
                    verdict_field(ui, &tokens, field, commands);
                }
            });
        }
        None => {
            ui.horizontal(|ui| {
                icon.show(ui, color);
                let text = RichText::new(&line.text).size(14.0).color(tokens.text.strong.0);
                let label = ui.add(Label::new(text).wrap().sense(Sense::click()));
                if label.clicked() {
                    commands.push(Command::Show(crate::workbench::panel::Panel::Result));
                }
                copy_menu(&label, commands);
            });
        }
    });
}

fn copy_menu(response: &egui::Response, commands: &mut Vec<Command>) {
    response.context_menu(|ui| {
        if ui.button("Copy verdict").clicked() {
            commands.push(Command::CopyVerdict);
            ui.close();
        }
    });
}

/// A field: its label, and its value as a button that shows the evidence.
fn verdict_field(ui: &mut Ui, tokens: &Tokens, field: &VerdictField, commands: &mut Vec<Command>) {
    let words = format!("{}: {}", field.label, field.value);
    let value = RichText::new(&field.value).color(tokens.text.strong.0);
    let width = |text: RichText| {
        let text = WidgetText::from(text);
        let mode = Some(TextWrapMode::Extend);
        text.into_galley(ui, mode, f32::INFINITY, TextStyle::Body).size().x
    };
    let room = width(RichText::new(&field.label)) + width(value.clone()) + 9.0 * GAP;
    // A label and its value stay in one row.
    if ui.available_size_before_wrap().x < room {
        ui.end_row();
    }
    if let Some(source) = field.source {
        let (icon, color) = source_icon(tokens, source);
        icon.show(ui, color);
    }
    ui.add_space(GAP);
    let label = ui.weak(&field.label).on_hover_text(&field.explanation);
    let button = ui.add(Button::new(value).frame_when_inactive(false));
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &words));
    let response = button.on_hover_text(&field.explanation);
    copy_menu(&response.union(label), commands);
    if response.clicked() {
        commands.push(field.evidence.clone());
    }
}

/// The device state, and the unread notices.
pub(super) fn status(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    Panel::bottom("status").frame(bar(tokens.surface.window.0)).show_separator_line(false).show(
        ui,
        |ui| {
            ui.horizontal(|ui| {
                match &bench.evaluations.machine {
                    MachineState::Detecting => drop(ui.weak("Detecting devices and compiler…")),
                    MachineState::Known(found) => {
                        ui.weak(&found.compiler);
                        if let Some(device) = bench.device() {
                            ui.weak(format!("{} ({})", device.title, device.name));
                            meanwhile(ui, bench, device);
                        }
                        if let Some(why) = &found.without_gpu {
                            ui.weak("no GPU on this machine").on_hover_text(why);
                        }
                    }
                    MachineState::Unusable(_) => {
                        ui.colored_label(tokens.status.bad.0, "No compiler was found");
                        if ui.button("Fetch it with pip").clicked() {
                            commands.push(Command::FetchCompiler);
                        }
                        if ui.button("Examine this machine").clicked() {
                            commands.push(Command::RunDoctor);
                        }
                    }
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let unread = bench.notices.unread();
                    if unread > 0 {
                        ui.weak(unread.to_string());
                    }
                    if Icon::Bell.button(ui, "Notices").clicked() {
                        commands.push(Command::Show(crate::workbench::panel::Panel::Log));
                        commands.push(Command::DismissNotices);
                    }
                    let runs = bench.runs.rows().len();
                    ui.weak(if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") });
                });
            });
        },
    );
}

/// Width below which optional numbers are omitted, in points.
const LEAST_ROOM: f32 = 300.0;

/// The state of the device while the shown run was timed; for a virtual device, properties from its sheet.
fn meanwhile(ui: &mut Ui, bench: &Workbench, device: &DeviceChoice) {
    let memory = device.sheet.memory_size().filter(|_| ui.available_width() > LEAST_ROOM);
    if let (LocalDevice::Virtual(_), Some(memory)) = (device.name.local, memory) {
        let hover = "Memory of the device from its sheet; the virtual GPU uses this machine's";
        ui.weak(format!("{memory} memory (sheet)")).on_hover_text(hover);
    }
    let Some(measured) = bench.measurements() else { return };
    let mut words: Vec<String> = Vec::new();
    if let Some(conditions) = &measured.conditions {
        words.extend(conditions.sm_clock.map(|(_, high)| high.to_string()));
        words.extend(conditions.power.map(|power| power.to_string()));
        words.extend(conditions.celsius.map(|celsius| format!("{celsius} °C")));
        words.extend(conditions.memory.map(|memory| memory.to_string()));
    }
    if let Some(ReportedEnergy::Measured { joules, .. }) = &measured.energy {
        words.push(format!("{} an execution", Joules(*joules)));
    }
    if !words.is_empty() {
        let hover = "Highest clock, power and temperature while the shown run was timed, and the least free memory";
        ui.weak(words.join(" · ")).on_hover_text(hover);
    }
    if let Some(what) = measured.unrecorded.filter(|_| ui.available_width() > LEAST_ROOM) {
        let hover = format!("The history has no {what} for the shown run");
        ui.weak("others not recorded").on_hover_text(hover);
    }
}

/// Questions to the user: texts in conflict, and texts that were unsaved when the program ended.
pub(super) fn questions(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    let conflicts = bench.documents.all().filter(|document| document.theirs.is_some());
    let conflicts: Vec<_> = conflicts.map(|document| document.file.clone()).collect();
    let lost: Vec<_> = bench.selection.lost.iter().map(|(file, _)| file.clone()).collect();
    if conflicts.is_empty() && lost.is_empty() {
        return;
    }
    Panel::top("questions").frame(bar(tokens.surface.selected.0)).show_separator_line(false).show(
        ui,
        |ui| {
            for file in conflicts {
                ui.horizontal_wrapped(|ui| {
                    Icon::Warning.show(ui, tokens.status.warning.0);
                    ui.label(format!(
                        "{} was changed both in the editor and on disk",
                        file.display()
                    ));
                    for (title, resolution) in [
                        ("Keep mine", Resolution::KeepMine),
                        ("Take the file's", Resolution::TakeTheirs),
                        ("Compare both", Resolution::Compare),
                    ] {
                        if ui.button(title).clicked() {
                            commands.push(Command::Resolve(file.clone(), resolution));
                        }
                    }
                });
            }
            for file in lost {
                ui.horizontal_wrapped(|ui| {
                    Icon::Warning.show(ui, tokens.status.warning.0);
                    ui.label(format!("{} has unsaved text from the last session", file.display()));
                    for (title, recovery) in
                        [("Restore it", Recovery::Restore), ("Forget it", Recovery::Forget)]
                    {
                        if ui.button(title).clicked() {
                            commands.push(Command::Recover(file.clone(), recovery));
                        }
                    }
                });
            }
        },
    );
}

/// The answer to the question before closing.
pub(super) enum Answer {
    Wait,
    Stay,
    Discard,
    Save,
}

/// Asks before unsaved texts are discarded.
pub(super) fn before_leaving(ui: &Ui, bench: &Workbench) -> Answer {
    let mut answer = Answer::Wait;
    let modal = egui::Modal::new(egui::Id::unique("leaving")).show(ui.ctx(), |ui| {
        ui.heading("Some texts are not saved");
        ui.add_space(GAP);
        for document in bench.documents.all().filter(|document| document.is_changed()) {
            ui.monospace(document.file.display().to_string());
        }
        ui.add_space(2.0 * GAP);
        ui.horizontal(|ui| {
            for (title, meaning) in [
                ("Save all", Answer::Save),
                ("Discard and quit", Answer::Discard),
                ("Stay", Answer::Stay),
            ] {
                if ui.button(title).clicked() {
                    answer = meaning;
                }
            }
        });
    });
    if modal.should_close() {
        answer = Answer::Stay;
    }
    answer
}
