//! The catch matrix of the open project.

use std::fmt::Display;

use egui::{Grid, Label, RichText, Ui, vec2};
use lightbench_core::audit::{Cell, Matrix, Outcome};
use lightbench_core::compile::signature::with_readable_names;

use super::sentence;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::audit::AuditState;
use crate::workbench::command::Command;

/// Whether an audit was requested.
pub(super) fn is_known(bench: &Workbench) -> bool {
    bench.opened.as_ref().is_some_and(|opened| match opened.audit {
        AuditState::Unknown => false,
        AuditState::Running(_) | AuditState::Done(_) | AuditState::Failed(_) => true,
    })
}

/// Draws the matrix, or the button that requests it.
pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let Some(opened) = &bench.opened else { return };
    let tokens = theme::tokens(ui);
    match &opened.audit {
        AuditState::Unknown => ask(ui, "Audit the checker", commands),
        AuditState::Running(_) => {
            ui.horizontal(|ui| {
                Icon::Dot.show(ui, tokens.status.running.0);
                ui.label("Evaluating every cheat…");
                if ui.button("Stop trying").clicked() {
                    commands.push(Command::StopAudit);
                }
            });
        }
        AuditState::Failed(why) => {
            ui.horizontal_wrapped(|ui| {
                Icon::Warning.show(ui, tokens.status.warning.0);
                ui.label(sentence(why));
            });
            ask(ui, "Try again", commands);
        }
        AuditState::Done(matrix) => {
            known(ui, &tokens, matrix);
            ask(ui, "Try again", commands);
        }
    }
}

fn ask(ui: &mut Ui, title: &str, commands: &mut Vec<Command>) {
    let button = ui.button(title);
    let hover = "Cheating kernels are generated from this task: each must be caught, and correct kernels must pass";
    if button.on_hover_text(hover).clicked() {
        commands.push(Command::AuditChecker);
    }
}

fn known(ui: &mut Ui, tokens: &Tokens, matrix: &Matrix) {
    let of = |outcome: Outcome| matrix.cheats.iter().filter(|cell| cell.outcome == outcome).count();
    let (caught, right, holes) = (of(Outcome::Good), of(Outcome::NotApplicable), matrix.holes());
    ui.horizontal_wrapped(|ui| {
        let (icon, color, text) = match holes {
            0 => (Icon::Check, tokens.status.good.0, "The checker has no hole here".to_owned()),
            1 => (Icon::Cross, tokens.status.bad.0, "The checker has 1 hole here".to_owned()),
            count => {
                (Icon::Cross, tokens.status.bad.0, format!("The checker has {count} holes here"))
            }
        };
        icon.show(ui, color);
        ui.label(RichText::new(text).family(egui::FontFamily::Name(theme::STRONG.into())));
        let cheats = if caught == 1 { "cheat" } else { "cheats" };
        let give = if right == 1 { "gives" } else { "give" };
        ui.weak(match &matrix.not_generated {
            Some(_) => "no cheat was tried".to_owned(),
            None => {
                format!("{caught} {cheats} caught, {right} {give} the correct result bit for bit")
            }
        });
    });
    if let Some(reason) = &matrix.not_generated {
        ui.weak(format!("Cheats: {reason}"));
    }
    ui.add_space(GAP);
    Grid::new("catches").num_columns(3).spacing(vec2(2.0 * GAP, 2.0)).show(ui, |ui| {
        section(ui, tokens, "cheats (each must be caught)", &matrix.cheats);
        section(ui, tokens, "wrong kernels (each must fail as declared)", &matrix.wrong);
        section(ui, tokens, "correct kernels (each must pass)", &matrix.honest);
    });
    for gap in &matrix.gaps {
        ui.horizontal_wrapped(|ui| {
            Icon::Warning.show(ui, tokens.status.warning.0);
            ui.label(sentence(&gap.sentence)).on_hover_text(format!("Write {}", gap.write));
        });
    }
    for each in &matrix.sensitivity {
        let found = each.exponent.map_or_else(
            || "no relative error of all elements is".to_owned(),
            |exponent| format!("a relative error of 2^-{exponent} of all elements is still"),
        );
        ui.weak(format!("Of {}, {found} caught", each.output));
    }
    ui.add_space(GAP);
}

fn section<Name: Display>(ui: &mut Ui, tokens: &Tokens, title: &str, cells: &[Cell<Name>]) {
    if cells.is_empty() {
        return;
    }
    ui.label("");
    ui.label(RichText::new(title).small().color(tokens.text.weak.0));
    ui.end_row();
    for cell in cells {
        let (icon, color) = match cell.outcome {
            Outcome::Good => (Icon::Check, tokens.status.good.0),
            Outcome::Hole => (Icon::Cross, tokens.status.bad.0),
            Outcome::NotJudged => (Icon::Warning, tokens.status.warning.0),
            Outcome::NotApplicable => (Icon::Equal, tokens.text.weak.0),
        };
        icon.show(ui, color);
        ui.label(cell.name.to_string());
        let said = match cell.outcome {
            Outcome::NotApplicable => "Same as the correct results".into(),
            Outcome::Good | Outcome::Hole | Outcome::NotJudged => {
                with_readable_names(&cell.sentence)
            }
        };
        let label = Label::new(RichText::new(&*said).color(tokens.text.weak.0)).truncate();
        ui.add(label).on_hover_text(&*said);
        ui.end_row();
    }
}
