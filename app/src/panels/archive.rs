//! Panel of the search archive: the best variant per kind, by memory and compute use, for each combination of
//! synchronisation and tensor-core use.

use std::collections::BTreeMap;

use egui::{Align2, FontId, Id, Rect, RichText, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui};
use egui::{WidgetInfo, pos2, vec2};
use lightbench_core::search::SearchState;
use lightbench_core::search::entry::Basis;
use lightbench_core::suggest::descriptor::Descriptor;

use super::{placeholder, sentence};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::search::{SearchCommand, failed};

/// Levels of each dimension.
const LEVELS: u8 = 4;
/// Maximum size of a cell, in points.
const MOST: f32 = 40.0;

/// The best variant of each kind and its speedup over the first variant.
type Kinds = BTreeMap<[u8; 4], (usize, f64)>;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let story = bench.searches.story();
    let kinds = story.map(kinds).unwrap_or_default();
    let Some(story) = story.filter(|_| !kinds.is_empty()) else {
        placeholder::show(
            ui,
            "No kinds yet",
            "A search sorts its variants by what their code does; the best of each kind appears here",
        );
        return;
    };
    let tokens = theme::tokens(ui);
    let chosen = bench.searches.shown().map(|(number, _)| number);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        told(ui, story, chosen);
        ui.add_space(2.0 * GAP);
        for tensor in 0..LEVELS {
            if !kinds.keys().any(|cell| cell[3] == tensor) {
                continue;
            }
            ui.label(RichText::new(sentence(Descriptor::level_name(3, tensor))).small().weak());
            blocks(ui, &tokens, story, (&kinds, tensor, chosen), commands);
            ui.add_space(2.0 * GAP);
        }
        ui.label(
            RichText::new(
                "Left to right: more memory optimisation; bottom to top: more computation per load",
            )
            .small()
            .weak(),
        );
    });
}

/// The best correct variant of each kind.
fn kinds(story: &SearchState) -> Kinds {
    let mut kinds = Kinds::new();
    for (number, variant) in story.variants.iter().enumerate() {
        let descriptor = variant.descriptor.as_ref().filter(|_| failed(variant).is_none());
        let (Some(descriptor), Some(factor)) = (descriptor, story.speedup(number)) else {
            continue;
        };
        let best = kinds.entry(descriptor.cell).or_insert((number, factor));
        if factor > best.1 {
            *best = (number, factor);
        }
    }
    kinds
}

fn words(cell: [u8; 4]) -> String {
    let each = cell.iter().enumerate().map(|(at, level)| Descriptor::level_name(at, *level));
    each.collect::<Vec<_>>().join(", ")
}

/// The kind of the selected variant.
fn told(ui: &mut Ui, story: &SearchState, chosen: Option<usize>) {
    let variant = chosen.and_then(|number| Some((number, story.variants.get(number)?)));
    let kind = variant.and_then(|(number, variant)| Some((number, variant.descriptor.as_ref()?)));
    match kind {
        Some((number, descriptor)) => {
            ui.label(format!("Variant {number}: {}", words(descriptor.cell)));
        }
        None => {
            ui.weak("The selected variant has no kind: it did not compile");
        }
    }
}

/// Four grids of four by four cells, one per way of synchronisation.
fn blocks(
    ui: &mut Ui,
    tokens: &Tokens,
    story: &SearchState,
    (kinds, tensor, chosen): (&Kinds, u8, Option<usize>),
    commands: &mut Vec<Command>,
) {
    let levels = f32::from(LEVELS);
    let room = (ui.available_width() - 3.0 * 4.0 * GAP) / levels;
    let cell = (room / levels).clamp(14.0, MOST);
    let side = cell * levels;
    let (place, _) =
        ui.allocate_exact_size(vec2(levels * side + 3.0 * 4.0 * GAP, side + 18.0), Sense::hover());
    for meet in 0..LEVELS {
        let left = place.left() + f32::from(meet) * (side + 4.0 * GAP);
        let title = sentence(Descriptor::level_name(2, meet));
        let font = FontId::proportional(11.0);
        let head = pos2(left, place.top() + 7.0);
        ui.painter().text(head, Align2::LEFT_CENTER, title, font, tokens.text.weak.0);
        for memory in 0..LEVELS {
            for compute in 0..LEVELS {
                let corner = pos2(
                    left + cell * f32::from(memory),
                    place.top() + 16.0 + cell * f32::from(LEVELS - 1 - compute),
                );
                let rect = Rect::from_min_size(corner, vec2(cell - 2.0, cell - 2.0));
                let kind = [memory, compute, meet, tensor];
                match kinds.get(&kind) {
                    None => {
                        let edge = Stroke::new(1.0, tokens.line.normal.0);
                        ui.painter().rect_stroke(rect, 2.0, edge, StrokeKind::Inside);
                    }
                    Some(best) => {
                        one(ui, tokens, story, (rect, kind, *best, chosen), commands);
                    }
                }
            }
        }
    }
}

fn one(
    ui: &Ui,
    tokens: &Tokens,
    story: &SearchState,
    (rect, kind, (number, factor), chosen): (Rect, [u8; 4], (usize, f64), Option<usize>),
    commands: &mut Vec<Command>,
) {
    let response = ui.interact(rect, Id::unique(("kind", kind)), Sense::click());
    let is_chosen = chosen == Some(number);
    let (basis, icon, color) = match story.basis(number) {
        Some(Basis::Measured) => ("measured", Icon::Dot, tokens.origin.measured),
        Some(Basis::Modelled) | None => ("modelled", Icon::Ring, tokens.origin.modelled),
    };
    let name = format!("Variant {number}, {factor:.2} times as fast, {basis}: {}", words(kind));
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, &name));
    let strength = ((factor - 0.5) / 3.0).clamp(0.08, 0.4) as f32;
    ui.painter().rect_filled(rect, 2.0, color.faded(strength));
    let edge = if is_chosen || response.hovered() || response.has_focus() {
        Stroke::new(2.0, tokens.text.strong.0)
    } else {
        Stroke::new(1.0, color.0)
    };
    ui.painter().rect_stroke(rect, 2.0, edge, StrokeKind::Inside);
    let is_wide = rect.width() > 28.0;
    let font = FontId::proportional(if is_wide { 11.5 } else { 9.0 });
    let text = if is_wide { format!("{factor:.2}") } else { format!("{factor:.1}") };
    let middle = rect.center() + vec2(0.0, if is_wide { 4.0 } else { 0.0 });
    ui.painter().text(middle, Align2::CENTER_CENTER, text, font, tokens.text.strong.0);
    if is_wide {
        let corner = |x: f32| Rect::from_center_size(pos2(x, rect.top() + 8.0), vec2(8.0, 8.0));
        icon.paint(ui.painter(), corner(rect.right() - 8.0), color.0);
        if story.best == Some(number) {
            Icon::Star.paint(ui.painter(), corner(rect.left() + 8.0), tokens.status.good.0);
        }
    }
    if response.clicked() {
        commands.push(Command::Search(SearchCommand::Select(number)));
    }
    response.on_hover_text(name);
}
