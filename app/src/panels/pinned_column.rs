//! Differences to the pinned run: sign and amount, and words in a tooltip. Fewer instructions or more registers are
//! neither good nor bad by themselves, so differences have no colour.

use egui::{Align, Layout, RichText, Role, Ui, Vec2, WidgetInfo, vec2};

use super::counters::number;
use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::pinned::{Pinned, PinnedDifference};

/// Width of the column of differences, in points.
const WIDTH: f32 = 96.0;

fn place(ui: &Ui) -> Vec2 {
    vec2(WIDTH, ui.spacing().interact_size.y)
}

/// The title of the column of differences.
pub(super) fn head(ui: &mut Ui, bench: &Workbench, pinned: &Pinned) {
    let kernel = bench.runs.get(pinned.number).map(|row| row.kernel.to_string());
    let text = format!("against #{}", pinned.number);
    ui.allocate_ui_with_layout(place(ui), Layout::right_to_left(Align::Center), |ui| {
        ui.weak(text).on_hover_text(format!("{}, the pinned run", kernel.unwrap_or_default()));
    });
}

/// A difference; `amount` formats a number of its kind.
pub(super) fn cell(
    ui: &mut Ui,
    (name, pinned): (&str, &Pinned),
    beside: PinnedDifference,
    amount: impl Fn(f64) -> String,
) {
    let tokens = theme::tokens(ui);
    let (text, color) = match beside {
        PinnedDifference::Same => ("same".to_owned(), tokens.text.weak.0),
        PinnedDifference::Differs { .. } => (beside.to_text(&amount), tokens.text.normal.0),
        PinnedDifference::NotRecorded | PinnedDifference::OtherContext => {
            (beside.to_text(&amount), tokens.text.weak.0)
        }
    };
    let number = pinned.number;
    let words = match beside {
        PinnedDifference::Same => format!("the same as of #{number}"),
        PinnedDifference::Differs { by, other } if by < 0.0 => {
            format!("{} less than #{number}, which has {}", amount(-by), amount(other))
        }
        PinnedDifference::Differs { by, other } => {
            format!("{} more than #{number}, which has {}", amount(by), amount(other))
        }
        PinnedDifference::NotRecorded => format!("not recorded for #{number}"),
        PinnedDifference::OtherContext => {
            format!(
                "#{number} was counted on another workload or device, so the two are not compared"
            )
        }
    };
    ui.allocate_ui_with_layout(place(ui), Layout::right_to_left(Align::Center), |ui| {
        let label = ui.label(RichText::new(text).color(color));
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name}: {words}")));
        label.on_hover_text(super::sentence(&words));
    });
}

/// Formats a count relative to the pinned run's, if that is not zero.
pub(super) fn counter(beside: PinnedDifference) -> impl Fn(f64) -> String {
    move |amount| match beside {
        PinnedDifference::Differs { by, other } if amount == by.abs() && other != 0.0 => {
            format!("{:.1} %", amount / other.abs() * 100.0)
        }
        PinnedDifference::Same
        | PinnedDifference::Differs { .. }
        | PinnedDifference::NotRecorded
        | PinnedDifference::OtherContext => number(amount),
    }
}
