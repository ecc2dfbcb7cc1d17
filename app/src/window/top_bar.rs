//! The bar at the top: menus, layouts, and what is worked on.
//!
//! In a narrow window the project's name gives way first, then the names of layouts become a menu, then the choices of
//! workload and device become narrow. Nothing lies over anything else, and nothing that can be chosen goes away.

use egui::{
    Align, Button, ComboBox, Label, Layout, Panel, RichText, Sense, Stroke, TextStyle, Ui,
    WidgetText, vec2,
};
use lightbench_core::project::{Purpose, Workload};

use super::bars::{bar, level, named};
use crate::theme::{self, GAP, Tokens};
use crate::workbench::Workbench;
use crate::workbench::command::{Command, Menu, entries};
use crate::workbench::evaluations::Machine;
use crate::workbench::opened::Opened;
use crate::workbench::panel::LayoutName;

/// Points between layouts and what stands beside them.
const APART: f32 = 6.0 * GAP;
/// Points of a name that is still worth reading.
const LEAST_NAME: f32 = 56.0;
/// Points of the choices of workload and device: as many as the words need, but not more than this, and not fewer.
const WIDEST: f32 = 240.0;
const NARROWEST: f32 = 64.0;

/// How layouts are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    Names,
    Menu,
}

/// What there is room for, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fit {
    layouts: Offer,
    /// Of the project's name; none where there is no room for it.
    name: Option<f32>,
    workload: f32,
    device: f32,
}

/// What everything would take, in points.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// The names of layouts side by side.
    layouts: f32,
    /// The menu of layouts.
    menu: f32,
    /// The project's name.
    name: f32,
    /// The choices of workload and device.
    workload: f32,
    device: f32,
    /// Between two of them.
    gap: f32,
}

impl Fit {
    /// What fits beside the menus.
    fn of(room: f32, wanted: &Wanted) -> Self {
        let Wanted { layouts, menu, name, workload, device, gap } = *wanted;
        let choices = workload + device + gap;
        let beside = |layouts: f32| room - APART - layouts - gap - choices - gap;
        let least = name.min(LEAST_NAME);
        let (layouts, left, taken) = if beside(layouts) >= least {
            (Offer::Names, beside(layouts), layouts)
        } else {
            (Offer::Menu, beside(menu), menu)
        };
        let shown = (left >= least).then(|| left.min(name));
        // Without a name its gap is free as well.
        let most = room - APART - taken - 2.0 * gap;
        let part = if shown.is_some() { 1.0 } else { (most / (workload + device)).min(1.0) };
        let narrow = |choice: f32| (choice * part).max(NARROWEST);
        Self { layouts, name: shown, workload: narrow(workload), device: narrow(device) }
    }
}

/// Menus, layouts, and what is worked on.
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
                let fit = Fit::of(ui.available_width(), &wanted(ui, bench, layout));
                apart(ui, &tokens);
                match fit.layouts {
                    Offer::Names => layouts(ui, &tokens, layout, commands),
                    Offer::Menu => menu_of_layouts(ui, layout, commands),
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    subject(ui, bench, fit, commands);
                });
            });
        },
    );
}

/// What is chosen here is not what is done there: a line between both.
fn apart(ui: &mut Ui, tokens: &Tokens) {
    let place = vec2(APART - 2.0 * ui.spacing().item_spacing.x, ui.spacing().interact_size.y);
    let (place, _) = ui.allocate_exact_size(place, Sense::hover());
    let stroke = Stroke::new(1.0, tokens.line.strong.0);
    ui.painter().vline(place.center().x, place.shrink(3.0).y_range(), stroke);
}

fn menus(ui: &mut Ui, commands: &mut Vec<Command>) {
    let all = entries();
    // Menus stand closer to each other than what is not one of them.
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

fn wanted(ui: &Ui, bench: &Workbench, layout: LayoutName) -> Wanted {
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
    Wanted {
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

/// The project, the workload and the device: from right to left.
fn subject(ui: &mut Ui, bench: &Workbench, fit: Fit, commands: &mut Vec<Command>) {
    let Some(opened) = &bench.opened else { return };
    if let Machine::Known(found) = &bench.evaluations.machine {
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

/// A choice that is never wider than that, however long what was chosen is called.
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

fn name_of(opened: &Opened) -> RichText {
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
        let wanted = Wanted { layouts: 220.0, menu: 90.0, name: 120.0, workload, device, gap: 8.0 };
        let check = |room: f32, layouts: Offer, name: Option<f32>, device: f32| {
            let fit = Fit::of(room, &wanted);
            assert_eq!((fit.layouts, fit.name, fit.device), (layouts, name, device), "{room}");
            let parts = [Some(APART), fit.name, Some(fit.workload), Some(fit.device)];
            let taken: f32 = parts.into_iter().flatten().sum();
            let gaps = if fit.name.is_some() { 24.0 } else { 16.0 };
            let layouts = if layouts == Offer::Names { 220.0 } else { 90.0 };
            assert!(taken + gaps + layouts <= room + 0.01, "{room}: {fit:?}");
        };
        check(900.0, Offer::Names, Some(120.0), DEVICE);
        check(684.0, Offer::Names, Some(120.0), DEVICE);
        check(620.0, Offer::Names, Some(56.0), DEVICE);
        check(619.0, Offer::Menu, Some(120.0), DEVICE);
        check(492.0, Offer::Menu, Some(58.0), DEVICE);
        check(426.0, Offer::Menu, None, DEVICE);
        check(278.0, Offer::Menu, None, DEVICE / 2.0);
    }
}
