//! Toasts: recent notices above the window's content, in a corner.

use std::time::Duration;

use egui::{Align2, Area, Frame, Id, Margin, Order, Stroke, Ui, vec2};

use crate::theme;
use crate::widgets::icon::Icon;
use crate::workbench::command::Command;
use crate::workbench::notices::{NoticeLevel, Notices};

/// Maximum number of simultaneous toasts.
const MOST_SHOWN: usize = 4;

pub(super) fn show(ui: &Ui, notices: &Notices, now: Duration, commands: &mut Vec<Command>) {
    let fresh: Vec<_> = notices.fresh(now).take(MOST_SHOWN).collect();
    if fresh.is_empty() {
        return;
    }
    let tokens = theme::tokens(ui);
    let area = Area::new(Id::unique("toasts"))
        .order(Order::Foreground)
        .anchor(Align2::RIGHT_BOTTOM, vec2(-14.0, -84.0));
    area.show(ui.ctx(), |ui| {
        ui.set_width(380.0);
        for notice in fresh {
            let (icon, color) = match notice.weight {
                NoticeLevel::Good => (Icon::Star, tokens.status.good.0),
                NoticeLevel::Note => (Icon::Dot, tokens.status.running.0),
                NoticeLevel::Warning => (Icon::Warning, tokens.status.warning.0),
                NoticeLevel::Error => (Icon::Cross, tokens.status.bad.0),
            };
            let frame = Frame::popup(ui.style())
                .stroke(Stroke::new(1.0, tokens.line.strong.0))
                .inner_margin(Margin::same(10));
            frame.show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    icon.show(ui, color);
                    ui.add(egui::Label::new(&notice.text).wrap());
                    if notice.count > 1 {
                        ui.weak(format!("{} times", notice.count));
                    }
                    if Icon::Cross.button(ui, "Dismiss").clicked() {
                        commands.push(Command::DismissNotices);
                    }
                });
            });
        }
    });
}
