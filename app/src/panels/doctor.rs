//! Panel of the doctor's report: what is available, what is missing, and the remedy.

use egui::{RichText, ScrollArea, Ui};
use lightbench_core::toolchain::doctor::{Finding, Fix, State};

use super::placeholder;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let Some(report) = &bench.examined else {
        placeholder::show(ui, "The doctor has not run", "It takes a moment");
        ui.vertical_centered(|ui| {
            if ui.button("Examine this machine").clicked() {
                commands.push(Command::RunDoctor);
            }
        });
        return;
    };
    let tokens = theme::tokens(ui);
    ui.horizontal(|ui| {
        ui.weak(&report.system);
        if ui.button("Examine again").clicked() {
            commands.push(Command::RunDoctor);
        }
    });
    ui.add_space(GAP);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for finding in &report.findings {
            one(ui, &tokens, finding);
        }
    });
}

fn one(ui: &mut Ui, tokens: &Tokens, finding: &Finding) {
    let (icon, color) = match finding.state {
        State::Ok => (Icon::Check, tokens.status.good.0),
        State::Info => (Icon::Dot, tokens.text.weak.0),
        State::Missing => (Icon::Warning, tokens.status.warning.0),
        State::Problem => (Icon::Cross, tokens.status.bad.0),
    };
    ui.horizontal_top(|ui| {
        icon.show(ui, color);
        ui.vertical(|ui| {
            ui.label(RichText::new(finding.topic.title()).color(tokens.text.strong.0));
            ui.add(egui::Label::new(&finding.summary).wrap());
            for note in &finding.notes {
                ui.add(egui::Label::new(RichText::new(note).color(tokens.text.weak.0)).wrap());
            }
            match &finding.fix {
                Some(Fix::Command(text)) => drop(ui.monospace(text)),
                Some(Fix::Advice(text)) => drop(ui.add(egui::Label::new(text).wrap())),
                None => {}
            }
        });
    });
    ui.add_space(GAP);
}
