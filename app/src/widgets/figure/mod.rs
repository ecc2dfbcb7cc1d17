//! A figure in the window, drawn from the same scene as its SVG: pan, zoom, tooltips, selection by pointer or arrow
//! keys, and an equivalent table for screen readers.

mod card;
mod paint;
mod png;
mod table;
#[cfg(test)]
mod tests;

use egui::{
    EventFilter, Key, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use lightbench_core::figure::{
    Figure, Item, Margin, MarkId, Page, Scene, Spot, Vertical, View, lay_out, svg,
};

use crate::theme;

pub use png::png;

/// View state of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FigureView {
    /// The visible range; `None` shows everything.
    seen: Option<View>,
    form: Form,
    /// The mark of the keyboard cursor.
    cursor: Option<MarkId>,
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
    let (chosen, hovered) = match view.form {
        Form::Table => {
            table::show(ui, figure, height);
            (None, None)
        }
        Form::Picture => picture(ui, figure, view, height),
    };
    Shown { chosen, hovered, export }
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
    if action.is_some() {
        ui.close();
    }
    action
}

/// Draws the picture; returns the selected mark and the one under the pointer.
fn picture(
    ui: &mut Ui,
    figure: &Figure,
    view: &mut FigureView,
    height: f32,
) -> (Option<MarkId>, Option<MarkId>) {
    let measure = paint::Fonts::new(ui);
    let seen = view.seen.unwrap_or_else(|| figure.fit());
    let width = ui.available_width().max(120.0);
    let size = (f64::from(width), f64::from(height.max(120.0)));
    let scene = lay_out(figure, seen, size, &measure);
    let place = vec2(width, scene.height as f32);
    let (place, response) = ui.allocate_exact_size(place, Sense::click_and_drag());
    let mut chosen = keys(ui, figure, view, &response);
    move_view(ui, figure, view, (seen, &scene), (place, &response));
    paint::paint(ui, &scene, place.min);
    let hovered = response.hover_pos().and_then(|at| nearest(&scene, place, at));
    if response.clicked() {
        response.request_focus();
        chosen = hovered.map(|spot| spot.id).or(chosen);
        view.cursor = hovered.map(|spot| spot.id).or(view.cursor);
    }
    let cursor = view.cursor.filter(|_| response.has_focus());
    let under_keys = cursor.and_then(|id| scene.spots.iter().find(|spot| spot.id == id).copied());
    describe(ui, figure, &response, under_keys);
    if response.has_focus() {
        let edge = Stroke::new(1.0, theme::tokens(ui).accent.faded(0.6));
        ui.painter().rect_stroke(place.expand(2.0), 2.0, edge, StrokeKind::Outside);
    }
    for spot in hovered.iter().chain(&under_keys) {
        paint::ring(ui, around(spot, place), is_bar(figure, spot));
    }
    if let Some(spot) = hovered.or(under_keys).filter(|_| !response.dragged()) {
        card::show(ui, figure, &spot, (around(&spot, place), &response));
    }
    (chosen, hovered.map(|spot| spot.id))
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

fn is_bar(figure: &Figure, spot: &Spot) -> bool {
    matches!(figure.items().get(spot.item), Some(Item::Bar(_)))
}

fn around(spot: &Spot, place: Rect) -> Rect {
    let corner = |x: f64, y: f64| pos2(place.left() + x as f32, place.top() + y as f32);
    Rect::from_min_max(
        corner(spot.place.left, spot.place.top),
        corner(spot.place.right, spot.place.bottom),
    )
}

/// The mark nearest to the pointer, within the maximum distance.
fn nearest(scene: &Scene, place: Rect, at: egui::Pos2) -> Option<Spot> {
    let far = |spot: &Spot| around(spot, place).distance_to_pos(at);
    let center = |spot: &Spot| around(spot, place).center().distance(at);
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
        view.seen = Some(zoomed(figure, seen, 1.0 / STEP, (0.5, 0.5)));
    }
    if pressed(Key::Minus) {
        view.seen = Some(zoomed(figure, seen, STEP, (0.5, 0.5)));
    }
    if pressed(Key::Num0) {
        view.seen = None;
    }
    view.cursor.filter(|_| pressed(Key::Enter) || pressed(Key::Space))
}

/// Dragging pans, pinching and Ctrl with the wheel zoom, a double click resets the view.
fn move_view(
    ui: &Ui,
    figure: &Figure,
    view: &mut FigureView,
    (seen, scene): (View, &Scene),
    (place, response): (Rect, &Response),
) {
    if response.double_clicked() {
        view.seen = None;
        return;
    }
    let (wide, high) = (scene.frame.width().max(1.0), scene.frame.height().max(1.0));
    let moved = response.drag_delta();
    if response.dragged() && moved != egui::Vec2::ZERO && can_move(figure) {
        let x = seen.x.moved(-f64::from(moved.x) / wide);
        let y = match figure.y() {
            Vertical::Axis(_) => seen.y.moved(f64::from(moved.y) / high),
            Vertical::Rows(_) => seen.y,
        };
        view.seen = Some(View { x, y });
    }
    let zoom = ui.input(egui::InputState::zoom_delta);
    if let Some(at) = response.hover_pos().filter(|_| zoom != 1.0) {
        let (x, y) = (f64::from(at.x - place.left()), f64::from(at.y - place.top()));
        let around = ((x - scene.frame.left) / wide, (scene.frame.bottom - y) / high);
        view.seen = Some(zoomed(figure, seen, 1.0 / f64::from(zoom), around));
    }
}

/// Bars start at zero, so their figures do not pan.
fn can_move(figure: &Figure) -> bool {
    match (figure.y(), figure.x().margin) {
        (Vertical::Axis(_), _) | (Vertical::Rows(_), Margin::Both) => true,
        (Vertical::Rows(_), Margin::Above) => false,
    }
}

fn zoomed(figure: &Figure, seen: View, factor: f64, (x, y): (f64, f64)) -> View {
    if !can_move(figure) {
        return seen;
    }
    let across = seen.x.zoomed(factor, x);
    match figure.y() {
        Vertical::Axis(_) => View { x: across, y: seen.y.zoomed(factor, y) },
        Vertical::Rows(_) => View { x: across, y: seen.y },
    }
}
