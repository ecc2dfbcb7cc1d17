//! Panel of all notices, the newest first.

use std::time::Duration;

use egui::{RichText, ScrollArea, TextEdit, Ui, WidgetInfo};

use super::placeholder;
use crate::theme;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::notices::NoticeLevel;

/// View state of the log.
#[derive(Debug, Default)]
pub(super) struct LogView {
    filter: String,
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut LogView,
    now: Duration,
    commands: &mut Vec<Command>,
) {
    if bench.notices.newest().next().is_none() {
        placeholder::show(ui, "No notices yet", "Notices from background tasks appear here");
        return;
    }
    let tokens = theme::tokens(ui);
    ui.horizontal(|ui| {
        let field =
            ui.add(TextEdit::singleline(&mut view.filter).hint_text("Filter").desired_width(160.0));
        field.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Filter the log"));
        if ui.button("Dismiss notices").clicked() {
            commands.push(Command::DismissNotices);
        }
    });
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let wanted = view.filter.to_lowercase();
        for notice in
            bench.notices.newest().filter(|notice| notice.text.to_lowercase().contains(&wanted))
        {
            let (icon, color) = match notice.weight {
                NoticeLevel::Good => (Icon::Check, tokens.status.good.0),
                NoticeLevel::Note => (Icon::Dot, tokens.text.weak.0),
                NoticeLevel::Warning => (Icon::Warning, tokens.status.warning.0),
                NoticeLevel::Error => (Icon::Cross, tokens.status.bad.0),
            };
            ui.horizontal_top(|ui| {
                icon.show(ui, color);
                let ago = now.saturating_sub(notice.at).as_secs();
                let ago = if ago < 60 { "now".to_owned() } else { format!("{} min ago", ago / 60) };
                ui.label(RichText::new(ago).small().color(tokens.text.weak.0));
                ui.add(egui::Label::new(&notice.text).wrap().selectable(true));
                if notice.count > 1 {
                    ui.weak(format!("{} times", notice.count));
                }
            });
        }
    });
}
