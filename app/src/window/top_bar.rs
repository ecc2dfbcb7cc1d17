//! The top bar: menus, layouts, project, workload and device.
//!
//! In a narrow window the project's name is omitted first, then the layout names become a menu, then the workload and
//! device selectors shrink. Nothing overlaps, and every selector remains.

use egui::{
    Align, Button, ComboBox, Label, Layout, Panel, RichText, Sense, Stroke, TextStyle, Ui,
    WidgetText, vec2,
};
use lightbench_core::project::{Purpose, Workload};

use super::bars::{bar, level, named};
use crate::theme::{self, GAP, Tokens};
use crate::workbench::Workbench;
use crate::workbench::command::{Command, Menu, entries};
use crate::workbench::evaluations::MachineState;
use crate::workbench::open_project::OpenProject;
use crate::workbench::panel::LayoutName;

/// Distance between layouts and their neighbours, in points.
const APART: f32 = 6.0 * GAP;
/// Minimum width of the project's name, in points.
const LEAST_NAME: f32 = 56.0;
/// Width limits of the workload and device selectors, in points.
const WIDEST: f32 = 240.0;
const NARROWEST: f32 = 64.0;

/// The form of the layout selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayoutPicker {
    Names,
    Menu,
}

/// The elements that fit, with widths in points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BarLayout {
    layouts: LayoutPicker,
    /// Width of the project's name; `None` if it does not fit.
    name: Option<f32>,
    workload: f32,
    device: f32,
}

/// Natural widths of all elements, in points.
#[derive(Clone, Copy, Debug)]
struct BarWidths {
    layouts: f32,
    menu: f32,
    name: f32,
    workload: f32,
    device: f32,
    gap: f32,
}

impl BarLayout {
    /// What fits beside the menus.
    fn fit(room: f32, wanted: &BarWidths) -> Self {
        let BarWidths { layouts, menu, name, workload, device, gap } = *wanted;
        let choices = workload + device + gap;
        let beside = |layouts: f32| room - APART - layouts - gap - choices - gap;
        let least = name.min(LEAST_NAME);
        let (layouts, left, taken) = if beside(layouts) >= least {
            (LayoutPicker::Names, beside(layouts), layouts)
        } else {
            (LayoutPicker::Menu, beside(menu), menu)
        };
        let shown = (left >= least).then(|| left.min(name));
        // Without a name its gap is free as well.
        let most = room - APART - taken - 2.0 * gap;
        let part = if shown.is_some() { 1.0 } else { (most / (workload + device)).min(1.0) };
        let narrow = |choice: f32| (choice * part).max(NARROWEST);
        Self { layouts, name: shown, workload: narrow(workload), device: narrow(device) }
    }
}

/// Draws the bar.
pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    layout: LayoutName,
    commands: &mut Vec<Command>,
) {
    let tokens = theme::tokens(ui);
    Panel::top("menu").frame(bar(tokens.surface.window.0)).show_separator_line(false).show(
        ui,
        |ui| {
            level(ui);
            ui.horizontal(|ui| {
                menus(ui, commands);
                let fit = BarLayout::fit(ui.available_width(), &wanted(ui, bench, layout));
                apart(ui, &tokens);
                match fit.layouts {
                    LayoutPicker::Names => layouts(ui, &tokens, layout, commands),
                    LayoutPicker::Menu => menu_of_layouts(ui, layout, commands),
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    subject(ui, bench, fit, commands);
                });
            });
        },
    );
}

/// A separator between menus and selectors.
fn apart(ui: &mut Ui, tokens: &Tokens) {
    let place = vec2(APART - 2.0 * ui.spacing().item_spacing.x, ui.spacing().interact_size.y);
    let (place, _) = ui.allocate_exact_size(place, Sense::hover());
    let stroke = Stroke::new(1.0, tokens.line.strong.0);
    ui.painter().vline(place.center().x, place.shrink(3.0).y_range(), stroke);
}

fn menus(ui: &mut Ui, commands: &mut Vec<Command>) {
    let all = entries();
    // Menus are closer to each other than other elements.
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        for menu in Menu::ALL {
            ui.menu_button(menu.title(), |ui| {
                ui.set_min_width(240.0);
                for entry in all.iter().filter(|entry| entry.menu == menu) {
                    let keys = entry.shortcuts.first().map(|keys| keys.words()).unwrap_or_default();
                    if ui.add(Button::new(&entry.title).shortcut_text(keys)).clicked() {
                        commands.push(entry.command.clone());
                        ui.close();
                    }
                }
            });
        }
    });
}

fn wanted(ui: &Ui, bench: &Workbench, layout: LayoutName) -> BarWidths {
    let width = |text: WidgetText| {
        let galley = text.into_galley(ui, None, f32::INFINITY, TextStyle::Button);
        galley.size().x.ceil() + 1.0
    };
    let (padding, gap) = (2.0 * ui.spacing().button_padding.x, ui.spacing().item_spacing.x);
    let names = LayoutName::ALL.map(|name| width(name.to_string().into()) + padding);
    let name = bench.opened.as_ref().map(|opened| width(name_of(opened).into()));
    let between = (names.len() - 1) as f32 * GAP;
    let opens = ui.spacing().icon_width + ui.spacing().icon_spacing;
    let choice = |chosen: &str| (width(chosen.into()) + padding + opens).min(WIDEST);
    let workload = bench.opened.as_ref().map(|opened| choice(&opened.workload));
    BarWidths {
        layouts: names.iter().sum::<f32>() + between,
        menu: width(layout.to_string().into()) + padding + opens,
        name: name.unwrap_or_default(),
        workload: workload.unwrap_or_default(),
        device: bench.device().map(|device| choice(&device.title)).unwrap_or_default(),
        gap,
    }
}

fn layouts(ui: &mut Ui, tokens: &Tokens, layout: LayoutName, commands: &mut Vec<Command>) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        for name in LayoutName::ALL {
            let chosen = name == layout;
            let color = if chosen { tokens.text.strong.0 } else { tokens.text.weak.0 };
            let text = RichText::new(name.to_string()).color(color);
            if ui.add(Button::selectable(chosen, text)).clicked() {
                commands.push(Command::Layout(name));
            }
        }
    });
}

fn menu_of_layouts(ui: &mut Ui, layout: LayoutName, commands: &mut Vec<Command>) {
    ComboBox::from_id_salt("layout")
        .selected_text(layout.to_string())
        .width(0.0)
        .show_ui(ui, |ui| {
            for name in LayoutName::ALL {
                if ui.selectable_label(name == layout, name.to_string()).clicked() {
                    commands.push(Command::Layout(name));
                }
            }
        })
        .response
        .on_hover_text("Layout")
        .widget_info(|| named("Layout", &layout.to_string()));
}

/// The project, workload and device, from right to left.
fn subject(ui: &mut Ui, bench: &Workbench, fit: BarLayout, commands: &mut Vec<Command>) {
    let Some(opened) = &bench.opened else { return };
    if let MachineState::Known(found) = &bench.evaluations.machine {
        let current = bench.device().map(|device| device.title.as_str()).unwrap_or_default();
        choice(ui, ("Device", current), fit.device, |ui| {
            for device in &found.devices {
                if ui.selectable_label(device.title == current, &device.title).clicked() {
                    commands.push(Command::ChooseDevice(device.name.to_string()));
                }
            }
        });
    }
    let is_held_out = |each: &&Workload| each.purpose == Purpose::HeldOut;
    choice(ui, ("Workload", &opened.workload), fit.workload, |ui| {
        for workload in opened.project.workloads.iter().filter(|each| !is_held_out(each)) {
            if ui.selectable_label(workload.name == opened.workload, &workload.name).clicked() {
                commands.push(Command::ChooseWorkload(workload.name.clone()));
            }
        }
    });
    if fit.name.is_some() {
        let folder = opened.project.root.display().to_string();
        ui.add(Label::new(name_of(opened)).truncate()).on_hover_text(folder);
    }
}

/// A selector with a fixed width, whatever the length of its value.
fn choice(ui: &mut Ui, (what, chosen): (&str, &str), width: f32, list: impl FnOnce(&mut Ui)) {
    let place = vec2(width, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(place, Layout::right_to_left(Align::Center), |ui| {
        ComboBox::from_id_salt(what)
            .selected_text(chosen)
            .width(width)
            .truncate()
            .show_ui(ui, list)
            .response
            .on_hover_text(format!("{what}: {chosen}"))
            .widget_info(|| named(what, chosen));
    });
}

fn name_of(opened: &OpenProject) -> RichText {
    let name = &opened.project.definition.name;
    RichText::new(name).family(egui::FontFamily::Name(theme::STRONG.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_gives_way_first_then_layouts_then_choices() {
        const DEVICE: f32 = 158.0;
        let (workload, device) = (138.0, DEVICE);
        let wanted =
            BarWidths { layouts: 220.0, menu: 90.0, name: 120.0, workload, device, gap: 8.0 };
        let check = |room: f32, layouts: LayoutPicker, name: Option<f32>, device: f32| {
            let fit = BarLayout::fit(room, &wanted);
            assert_eq!((fit.layouts, fit.name, fit.device), (layouts, name, device), "{room}");
            let parts = [Some(APART), fit.name, Some(fit.workload), Some(fit.device)];
            let taken: f32 = parts.into_iter().flatten().sum();
            let gaps = if fit.name.is_some() { 24.0 } else { 16.0 };
            let layouts = if layouts == LayoutPicker::Names { 220.0 } else { 90.0 };
            assert!(taken + gaps + layouts <= room + 0.01, "{room}: {fit:?}");
        };
        check(900.0, LayoutPicker::Names, Some(120.0), DEVICE);
        check(684.0, LayoutPicker::Names, Some(120.0), DEVICE);
        check(620.0, LayoutPicker::Names, Some(56.0), DEVICE);
        check(619.0, LayoutPicker::Menu, Some(120.0), DEVICE);
        check(492.0, LayoutPicker::Menu, Some(58.0), DEVICE);
        check(426.0, LayoutPicker::Menu, None, DEVICE);
        check(278.0, LayoutPicker::Menu, None, DEVICE / 2.0);
    }
}
