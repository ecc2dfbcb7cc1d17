//! A figure in the window, drawn from the same scene as its SVG: pan, zoom, tooltips, selection by pointer or arrow
//! keys, items that can be hidden, and an equivalent table for screen readers.

mod card;
mod paint;
mod plot;
mod png;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use egui::{
    CursorIcon, EventFilter, Key, PopupCloseBehavior, Rect, Response, Role, Sense, Stroke,
    StrokeKind, Ui, WidgetInfo, vec2,
};
use lightbench_core::figure::{
    Figure, Hidden, Item, MarkId, Page, Scene, Sign, Spot, View, lay_out, svg,
};

use crate::theme;

pub use png::png;

/// View state of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureView {
    /// The visible range; `None` shows everything.
    seen: Option<View>,
    form: Form,
    /// The mark of the keyboard cursor.
    cursor: Option<MarkId>,
    hidden: Hidden,
    /// The mark whose menu is open.
    asked: Option<MarkId>,
}

/// The form of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Picture,
    Table,
}

/// An export of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Export {
    /// Copy this text to the clipboard.
    Copy(String),
    /// Save this text to a file that the user selects.
    SaveSvg(String),
    /// Save a picture, see [`png`].
    SavePng(Box<Figure>),
}

/// The result of drawing a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// The mark selected by pointer or keys.
    pub chosen: Option<MarkId>,
    /// The mark under the pointer.
    pub hovered: Option<MarkId>,
    /// The requested export.
    pub export: Option<Export>,
}

/// Size of exported figures, in points.
const SAVED: (f64, f64) = (720.0, 440.0);
/// Maximum distance of the pointer to a mark, in points.
const NEAR: f32 = 12.0;
/// Zoom factor of a key.
const STEP: f64 = 1.25;

/// Draws a figure in the given height; a table takes the height it needs. `controls` are placed in the figure's bar.
pub fn show(
    ui: &mut Ui,
    figure: &Figure,
    view: &mut FigureView,
    height: f32,
    controls: impl FnOnce(&mut Ui),
) -> Shown {
    let export = bar(ui, figure, view, controls);
    ui.add_space(theme::GAP);
    match view.form {
        Form::Table => {
            table::show(ui, figure, height);
            Shown { export, ..Shown::default() }
        }
        Form::Picture => {
            let figure = if view.hidden.is_empty() {
                Cow::Borrowed(figure)
            } else {
                Cow::Owned(figure.without(&view.hidden))
            };
            let shown = picture(ui, &figure, view, height);
            Shown { export: export.or(shown.export), ..shown }
        }
    }
}

/// The bar: controls on the left, form and export on the right.
fn bar(
    ui: &mut Ui,
    figure: &Figure,
    view: &mut FigureView,
    controls: impl FnOnce(&mut Ui),
) -> Option<Export> {
    let mut action = None;
    let row = vec2(ui.available_width(), ui.spacing().interact_size.y);
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    ui.allocate_ui_with_layout(row, layout, |ui| {
        ui.menu_button("Export", |ui| action = export(ui, figure));
        if !view.hidden.is_empty() && ui.button("Show hidden").clicked() {
            view.hidden = Hidden::default();
        }
        let is_table = view.form == Form::Table;
        if ui.selectable_label(is_table, "Table").clicked() {
            view.form = if is_table { Form::Picture } else { Form::Table };
        }
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        ui.with_layout(layout, controls);
    });
    action
}

fn export(ui: &mut Ui, figure: &Figure) -> Option<Export> {
    let mut action = None;
    if ui.button("Copy as CSV").clicked() {
        // Writing a table to memory cannot fail.
        action = figure.csv().ok().map(Export::Copy);
    }
    if ui.button("Save SVG…").clicked() {
        action = Some(Export::SaveSvg(svg(figure, SAVED, Page::Alone)));
    }
    if ui.button("Save PNG…").clicked() {
        action = Some(Export::SavePng(Box::new(figure.clone())));
    }
    action
}

/// Draws the picture.
fn picture(ui: &mut Ui, figure: &Figure, view: &mut FigureView, height: f32) -> Shown {
    let fonts = paint::Fonts::new(ui);
    let seen = view.seen.unwrap_or_else(|| figure.fit());
    let width = ui.available_width().max(120.0);
    let size = (f64::from(width), f64::from(height.max(120.0)));
    let scene = lay_out(figure, seen, size, &fonts);
    let place = vec2(width, scene.height as f32);
    let (place, whole) = ui.allocate_exact_size(place, Sense::click());
    let mut chosen = keys(ui, figure, view, &whole);
    let placed = plot::Placed { figure, size, corner: place.min, fonts: &fonts };
    let plot::Moved { scene, seen: moved, response: data } = plot::show(ui, placed, scene, seen);
    if whole.double_clicked() || data.double_clicked() {
        view.seen = None;
    } else if moved != seen {
        view.seen = Some(moved);
    }
    let at = whole.hover_pos().or(data.hover_pos());
    let is_clicked = whole.clicked() || data.clicked();
    let entry = at.and_then(|at| legend(ui, view, &scene, (place, at, is_clicked)));
    let hovered = at.filter(|_| entry.is_none()).and_then(|at| nearest(&scene, place, at));
    if is_clicked {
        whole.request_focus();
        chosen = hovered.map(|spot| spot.id).or(chosen);
        view.cursor = hovered.map(|spot| spot.id).or(view.cursor);
    }
    let cursor = view.cursor.filter(|_| whole.has_focus());
    let under_keys = cursor.and_then(|id| scene.spots.iter().find(|spot| spot.id == id).copied());
    describe(ui, figure, &whole, under_keys);
    if whole.has_focus() {
        let edge = Stroke::new(1.0, theme::tokens(ui).accent.faded(0.6));
        ui.painter().rect_stroke(place.expand(2.0), 2.0, edge, StrokeKind::Outside);
    }
    for spot in hovered.iter().chain(&under_keys) {
        paint::ring(ui, plot::at(spot.place, place.min), fills_row(figure, spot));
    }
    let is_menu_open = data.context_menu_opened() || whole.context_menu_opened();
    if let Some(spot) = hovered.or(under_keys).filter(|_| !data.dragged() && !is_menu_open) {
        card::show(ui, figure, &spot, (plot::at(spot.place, place.min), &whole));
    }
    if data.secondary_clicked() || whole.secondary_clicked() {
        view.asked = hovered.map(|spot| spot.id);
    }
    let mut export = None;
    for response in [&whole, &data] {
        let menu = egui::Popup::context_menu(response);
        menu.close_behavior(PopupCloseBehavior::CloseOnClick).show(|ui| {
            export = menu_entries(ui, figure, view).or(export.take());
        });
    }
    Shown { chosen, hovered: hovered.map(|spot| spot.id), export }
}

/// The context menu of the picture.
fn menu_entries(ui: &mut Ui, figure: &Figure, view: &mut FigureView) -> Option<Export> {
    let asked = view.asked.and_then(|id| figure.items().iter().find_map(|item| named(item, id)));
    if let Some((name, id)) = asked {
        if ui.button(format!("Hide {name}")).clicked() {
            view.hidden.hide(id.of);
        }
        ui.separator();
    }
    if plot::movable(figure).any() && ui.button("Show everything").clicked() {
        view.seen = None;
        view.hidden = Hidden::default();
    }
    export(ui, figure)
}

/// The name of a mark that can be hidden. Rows keep their place, so their bars cannot.
fn named(item: &Item, id: MarkId) -> Option<(&str, MarkId)> {
    let mark = item.mark().filter(|mark| mark.id == id)?;
    Some((mark.name.as_str(), id))
}

/// The entry of the legend under the pointer; a click hides its items, or shows them again.
fn legend(
    ui: &Ui,
    view: &mut FigureView,
    scene: &Scene,
    (place, at, is_clicked): (Rect, egui::Pos2, bool),
) -> Option<Sign> {
    let mut entries = scene.key.iter();
    let (sign, _) = entries.find(|(_, entry)| plot::at(*entry, place.min).contains(at))?;
    ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    if is_clicked {
        view.hidden.toggle(*sign);
    }
    Some(*sign)
}

/// The description for screen readers.
fn describe(ui: &Ui, figure: &Figure, response: &Response, spot: Option<Spot>) {
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Figure, ui.is_enabled(), figure.title());
        let item = spot.and_then(|spot| figure.items().get(spot.item));
        info.current_text_value = item.map(|item| card::words(figure, item));
        info
    });
}

fn fills_row(figure: &Figure, spot: &Spot) -> bool {
    matches!(figure.items().get(spot.item), Some(Item::Bar(_) | Item::Span(_)))
}

/// The mark nearest to the pointer, within the maximum distance.
fn nearest(scene: &Scene, place: Rect, at: egui::Pos2) -> Option<Spot> {
    let around = |spot: &Spot| plot::at(spot.place, place.min);
    let far = |spot: &Spot| around(spot).distance_to_pos(at);
    let center = |spot: &Spot| around(spot).center().distance(at);
    // Of several marks the one with the nearest centre; later ones are drawn above.
    let near = scene.spots.iter().rev().filter(|spot| far(spot) <= NEAR);
    near.min_by(|a, b| {
        (far(a), center(a)).partial_cmp(&(far(b), center(b))).unwrap_or(std::cmp::Ordering::Equal)
    })
    .copied()
}

/// Arrow keys move between marks, Enter selects, plus and minus zoom, 0 resets the view.
fn keys(ui: &Ui, figure: &Figure, view: &mut FigureView, response: &Response) -> Option<MarkId> {
    if !response.has_focus() {
        return None;
    }
    let filter =
        EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key: Key| ui.input(|input| input.key_pressed(key));
    let order = figure.chosen_order();
    let now = view.cursor.and_then(|id| order.iter().position(|other| *other == id));
    let last = order.len().saturating_sub(1);
    let next = if pressed(Key::ArrowRight) || pressed(Key::ArrowDown) {
        Some(now.map_or(0, |now| (now + 1).min(last)))
    } else if pressed(Key::ArrowLeft) || pressed(Key::ArrowUp) {
        Some(now.map_or(last, |now| now.saturating_sub(1)))
    } else if pressed(Key::Home) {
        Some(0)
    } else if pressed(Key::End) {
        Some(last)
    } else {
        None
    };
    if let Some(next) = next {
        view.cursor = order.get(next).copied();
    }
    let seen = view.seen.unwrap_or_else(|| figure.fit());
    if pressed(Key::Plus) || pressed(Key::Equals) {
        view.seen = Some(zoomed(figure, seen, 1.0 / STEP));
    }
    if pressed(Key::Minus) {
        view.seen = Some(zoomed(figure, seen, STEP));
    }
    if pressed(Key::Num0) {
        view.seen = None;
    }
    view.cursor.filter(|_| pressed(Key::Enter) || pressed(Key::Space))
}

/// The view scaled around its centre, along the axes that move.
fn zoomed(figure: &Figure, seen: View, factor: f64) -> View {
    let axes = plot::movable(figure);
    let x = if axes.x { seen.x.zoomed(factor, 0.5) } else { seen.x };
    let y = if axes.y { seen.y.zoomed(factor, 0.5) } else { seen.y };
    View { x, y }
}
