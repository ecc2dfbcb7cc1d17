//! Numbers beside those of the pinned run: a sign and how much, and in words for whoever asks. Fewer instructions or more
//! registers are neither good nor bad by themselves, so that no colour says so.

use egui::{Align, Layout, RichText, Role, Ui, Vec2, WidgetInfo, vec2};

use super::counters::number;
use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::pinned::{Beside, Pinned};

/// Points of a column of differences.
const WIDTH: f32 = 96.0;

fn place(ui: &Ui) -> Vec2 {
    vec2(WIDTH, ui.spacing().interact_size.y)
}

/// What a column of differences is headed with.
pub(super) fn head(ui: &mut Ui, bench: &Workbench, pinned: &Pinned) {
    let kernel = bench.runs.get(pinned.number).map(|row| row.kernel.to_string());
    let text = format!("against #{}", pinned.number);
    ui.allocate_ui_with_layout(place(ui), Layout::right_to_left(Align::Center), |ui| {
        ui.weak(text).on_hover_text(format!("{}, the pinned run", kernel.unwrap_or_default()));
    });
}

/// A difference; `amount` says a number of its kind.
pub(super) fn cell(
    ui: &mut Ui,
    (name, pinned): (&str, &Pinned),
    beside: Beside,
    amount: impl Fn(f64) -> String,
) {
    let tokens = theme::tokens(ui);
    let (text, color) = match beside {
        Beside::Same => ("same".to_owned(), tokens.text.weak.0),
        Beside::Differs { .. } => (beside.words(&amount), tokens.text.normal.0),
        Beside::NotRecorded | Beside::Elsewhere => (beside.words(&amount), tokens.text.weak.0),
    };
    let number = pinned.number;
    let words = match beside {
        Beside::Same => format!("the same as of #{number}"),
        Beside::Differs { by, other } if by < 0.0 => {
            format!("{} less than #{number}, which has {}", amount(-by), amount(other))
        }
        Beside::Differs { by, other } => {
            format!("{} more than #{number}, which has {}", amount(by), amount(other))
        }
        Beside::NotRecorded => format!("not on record of #{number}"),
        Beside::Elsewhere => {
            format!("#{number} was counted in another place, so that the two are not compared")
        }
    };
    ui.allocate_ui_with_layout(place(ui), Layout::right_to_left(Align::Center), |ui| {
        let label = ui.label(RichText::new(text).color(color));
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name}: {words}")));
        label.on_hover_text(super::sentence(&words));
    });
}

/// A count as a part of that of the pinned run, where that is not nothing.
pub(super) fn counter(beside: Beside) -> impl Fn(f64) -> String {
    move |amount| match beside {
        Beside::Differs { by, other } if amount == by.abs() && other != 0.0 => {
            format!("{:.1} %", amount / other.abs() * 100.0)
        }
        Beside::Same | Beside::Differs { .. } | Beside::NotRecorded | Beside::Elsewhere => {
            number(amount)
        }
    }
}
