//! The table of a figure; only visible rows are laid out.

use egui::{
    Align, Label, Layout, Rect, RichText, ScrollArea, TextStyle, Ui, UiBuilder, pos2, vec2,
};
use lightbench_core::figure::{Figure, Measure as _, Table, TextSize};

use super::paint::Fonts;
use crate::theme;

/// Number of rows that determine column widths.
const LOOKED_AT: usize = 200;
const BETWEEN: f32 = 18.0;

pub(super) fn show(ui: &mut Ui, figure: &Figure, height: f32) {
    let table = figure.table();
    let columns = columns(&Fonts::new(ui), &table);
    let wide = columns.iter().map(|(_, width)| width + BETWEEN).sum::<f32>();
    let tokens = theme::tokens(ui);
    ScrollArea::horizontal().id_salt("columns").show(ui, |ui| {
        ui.set_min_width(wide);
        row(ui, &columns, &table.headings, |words| {
            RichText::new(words).text_style(TextStyle::Small).color(tokens.text.weak.0)
        });
        let area = ScrollArea::vertical().id_salt("rows").max_height(height - theme::ROW);
        area.show_rows(ui, theme::ROW, table.rows.len(), |ui, seen| {
            for cells in table.rows.get(seen).unwrap_or_default() {
                let words: Vec<String> = cells.iter().map(|cell| cell.shown.clone()).collect();
                row(ui, &columns, &words, RichText::new);
            }
        });
    });
}

/// Position and width of each column.
fn columns(fonts: &Fonts, table: &Table) -> Vec<(f32, f32)> {
    let mut left = 0.0;
    let widths = table.headings.iter().enumerate().map(|(column, heading)| {
        let cells = table.rows.iter().take(LOOKED_AT).filter_map(|row| row.get(column));
        let widest = cells.map(|cell| fonts.width(&cell.shown, TextSize::Body)).fold(0.0, f64::max);
        widest.max(fonts.width(heading, TextSize::Small)) as f32
    });
    widths
        .map(|width| {
            let begin = left;
            left += width + BETWEEN;
            (begin, width)
        })
        .collect()
}

/// Names are left-aligned, numbers right-aligned.
fn row(ui: &mut Ui, columns: &[(f32, f32)], words: &[String], look: impl Fn(String) -> RichText) {
    let wide = columns.last().map_or(0.0, |(begin, width)| begin + width);
    let (_, place) = ui.allocate_space(vec2(wide, theme::ROW));
    for (column, ((begin, width), words)) in columns.iter().zip(words).enumerate() {
        let corner = pos2(place.left() + begin, place.top());
        let cell = Rect::from_min_size(corner, vec2(width + 1.0, theme::ROW));
        let is_text = column == 0 || column + 1 == columns.len();
        let layout = if is_text {
            Layout::left_to_right(Align::Center)
        } else {
            Layout::right_to_left(Align::Center)
        };
        let label = Label::new(look(words.clone())).extend();
        ui.scope_builder(UiBuilder::new().max_rect(cell).layout(layout), |ui| ui.add(label));
    }
    let tokens = theme::tokens(ui);
    let line = egui::Stroke::new(1.0, tokens.line.faint.0);
    ui.painter().hline(place.x_range(), place.bottom(), line);
}
