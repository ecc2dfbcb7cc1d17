//! A scene inside a plot of `egui_plot`, which moves the view: drag, wheel, and a box with Shift.
//!
//! Axes, legend and labels are those of the scene and not of `egui_plot`, so that the window and an exported SVG show the
//! same picture: its axes have no logarithmic scale, its legend no forms of origins, and it writes no SVG.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use egui::{
    Color32, PointerButton, Pos2, Rect, Response, Sense, Shape, Ui, UiBuilder, Vec2b, pos2, vec2,
};
use egui_plot::{Plot, PlotBounds, PlotGeometry, PlotItem, PlotItemBase, PlotTransform};
use lightbench_core::figure::{Figure, Limits, Margin, Scene, Vertical, View, lay_out};

use super::paint::{self, Fonts};

/// Zoom of one point of wheel movement, as exponent of e.
const PER_POINT: f32 = 1.0 / 300.0;

/// A figure laid out in a size, at a position of the window.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) figure: &'a Figure,
    pub(super) size: (f64, f64),
    pub(super) corner: Pos2,
    pub(super) fonts: &'a Fonts,
}

/// The plot after a frame.
pub(super) struct Moved {
    /// The scene as drawn.
    pub(super) scene: Scene,
    /// The visible range.
    pub(super) seen: View,
    /// The response of the frame of the data.
    pub(super) response: Response,
}

/// Draws a scene and moves its view. `scene` is the figure in the view `seen`.
pub(super) fn show(ui: &mut Ui, placed: Placed<'_>, scene: Scene, seen: View) -> Moved {
    let frame = at(scene.frame, placed.corner);
    let axes = movable(placed.figure);
    let is_box = ui.input(|input| input.modifiers.shift) && axes.x && axes.y;
    let (pan, zoom_box) = if is_box {
        (PointerButton::Extra1, PointerButton::Primary)
    } else {
        (PointerButton::Primary, PointerButton::Extra1)
    };
    // The grid is below the data, and known only after the plot has moved the view.
    let below = ui.painter().add(Shape::Noop);
    let drawn = RefCell::new((seen, scene));
    let item =
        Data { placed, drawn: &drawn, base: PlotItemBase::new(placed.figure.title().into()) };
    let mut inside = ui.new_child(UiBuilder::new().max_rect(frame));
    let plot = Plot::new("plot")
        .width(frame.width())
        .height(frame.height())
        .min_size(vec2(1.0, 1.0))
        .show_axes(false)
        .show_grid(false)
        .show_background(false)
        .show_crosshair(false)
        .allow_double_click_reset(false)
        .allow_scroll(false)
        .allow_drag(axes)
        .allow_zoom(axes)
        .allow_boxed_zoom(axes.x && axes.y)
        .pan_pointer_button(pan)
        .boxed_zoom_pointer_button(zoom_box)
        // Focus belongs to the whole picture.
        .sense(Sense::CLICK | Sense::DRAG);
    let shown = plot.show(&mut inside, |plot| {
        plot.set_plot_bounds(bounds(seen));
        if let Some(factor) = wheel(plot.ctx(), plot.response(), axes) {
            plot.zoom_bounds_around_hovered(factor);
        }
        plot.add(item);
    });
    let (seen, scene) = drawn.into_inner();
    ui.painter().set(below, Shape::Vec(paint::shapes(ui, scene.surroundings(), placed.corner)));
    Moved { scene, seen, response: shown.response }
}

/// The zoom by the wheel, which an enclosing scroll area does not see.
fn wheel(context: &egui::Context, response: &Response, axes: Vec2b) -> Option<egui::Vec2> {
    if !response.contains_pointer() || !axes.any() {
        return None;
    }
    let delta = context.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta.y));
    let factor = (delta * PER_POINT).exp();
    let along = |moves: bool| if moves { factor } else { 1.0 };
    (delta != 0.0).then(|| vec2(along(axes.x), along(axes.y)))
}

/// The axes along which a view moves: bars start at zero, and rows stay in place.
pub(super) fn movable(figure: &Figure) -> Vec2b {
    match (figure.y(), figure.x().margin) {
        (Vertical::Axis(_), _) => Vec2b::new(true, true),
        (Vertical::Rows(_), Margin::Both) => Vec2b::new(true, false),
        (Vertical::Rows(_), Margin::Above) => Vec2b::new(false, false),
    }
}

/// A rectangle of a scene in the window.
pub(super) fn at(place: lightbench_core::figure::Rect, corner: Pos2) -> Rect {
    let point = |x: f64, y: f64| pos2(corner.x + x as f32, corner.y + y as f32);
    Rect::from_min_max(point(place.left, place.top), point(place.right, place.bottom))
}

fn bounds(View { x, y }: View) -> PlotBounds {
    PlotBounds::from_min_max([x.low(), y.low()], [x.high(), y.high()])
}

fn view(bounds: &PlotBounds) -> View {
    let limits = |range: RangeInclusive<f64>| Limits::between(*range.start(), *range.end());
    View { x: limits(bounds.range_x()), y: limits(bounds.range_y()) }
}

/// The data of a scene as an item of a plot, laid out again where the plot moved the view.
struct Data<'a> {
    placed: Placed<'a>,
    drawn: &'a RefCell<(View, Scene)>,
    base: PlotItemBase,
}

impl PlotItem for Data<'_> {
    fn shapes(&self, ui: &Ui, transform: &PlotTransform, shapes: &mut Vec<Shape>) {
        let Placed { figure, size, corner, fonts } = self.placed;
        let mut drawn = self.drawn.borrow_mut();
        let seen = view(transform.bounds());
        if drawn.0 != seen {
            *drawn = (seen, lay_out(figure, seen, size, fonts));
        }
        shapes.extend(paint::shapes(ui, drawn.1.data(), corner));
    }

    fn initialize(&mut self, _x_range: RangeInclusive<f64>) {}

    fn color(&self) -> Color32 {
        Color32::TRANSPARENT
    }

    fn geometry(&self) -> PlotGeometry<'_> {
        PlotGeometry::None
    }

    fn bounds(&self) -> PlotBounds {
        bounds(self.drawn.borrow().0)
    }

    fn base(&self) -> &PlotItemBase {
        &self.base
    }

    fn base_mut(&mut self) -> &mut PlotItemBase {
        &mut self.base
    }
}
