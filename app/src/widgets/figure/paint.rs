//! A scene in the theme's colours and fonts.

use std::sync::Arc;

use egui::emath::GuiRounding as _;
use egui::epaint::{CircleShape, RectShape, TextShape};
use egui::{
    Align2, Color32, FontFamily, FontId, Galley, Painter, Pos2, Rect, Shape, Stroke, StrokeKind,
    TextStyle, Ui, pos2, vec2,
};
use lightbench_core::figure::{
    Anchor, Dash, Direction, Emphasis, Hue, Ink, Measure, Origin, Point, Shape as Placed, TextSize,
};

use crate::theme::{self, Tokens};

/// The window's fonts, to measure text.
#[derive(Clone)]
pub(super) struct Fonts {
    painter: Painter,
    small: FontId,
    body: FontId,
    strong: FontId,
}

impl Fonts {
    pub(super) fn new(ui: &Ui) -> Self {
        let body = TextStyle::Body.resolve(ui.style());
        let strong = FontId::new(body.size, FontFamily::Name(theme::STRONG.into()));
        let small = TextStyle::Small.resolve(ui.style());
        Self { painter: ui.painter().clone(), small, body, strong }
    }

    fn galley(&self, text: &str, size: TextSize) -> Arc<Galley> {
        let font = match size {
            TextSize::Small => &self.small,
            TextSize::Body => &self.body,
            TextSize::Strong => &self.strong,
        };
        self.painter.layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER)
    }
}

impl Measure for Fonts {
    fn width(&self, text: &str, size: TextSize) -> f64 {
        f64::from(self.galley(text, size).size().x)
    }

    fn height(&self, size: TextSize) -> f64 {
        let font = match size {
            TextSize::Small => &self.small,
            TextSize::Body => &self.body,
            TextSize::Strong => &self.strong,
        };
        f64::from(font.size) * 1.3
    }
}

/// The shapes in the theme's colours and fonts, with the scene's corner at a position.
pub(super) fn shapes(ui: &Ui, placed: &[Placed], corner: Pos2) -> Vec<Shape> {
    let (fonts, tokens) = (Fonts::new(ui), theme::tokens(ui));
    let pixels_per_point = ui.pixels_per_point();
    let mut brush = Brush { fonts, tokens, corner, pixels_per_point, shapes: Vec::new() };
    for shape in placed {
        brush.draw(shape);
    }
    brush.shapes
}

/// Marks the mark under the pointer or the keyboard cursor.
pub(super) fn ring(ui: &Ui, around: Rect, is_bar: bool) {
    let tokens = theme::tokens(ui);
    let edge = Stroke::new(1.5, tokens.accent.0);
    if is_bar {
        ui.painter().rect_stroke(around.shrink(1.0), 2.0, edge, StrokeKind::Inside);
    } else {
        ui.painter().circle_stroke(around.center(), around.width() / 2.0 + 2.5, edge);
    }
}

/// Where and how a scene is drawn, and its shapes so far.
struct Brush {
    fonts: Fonts,
    tokens: Arc<Tokens>,
    corner: Pos2,
    pixels_per_point: f32,
    shapes: Vec<Shape>,
}

impl Brush {
    fn at(&self, point: Point) -> Pos2 {
        pos2(self.corner.x + point.x as f32, self.corner.y + point.y as f32)
    }

    fn draw(&mut self, shape: &Placed) {
        match shape {
            Placed::Line { points, ink, width, dash } => {
                let points: Vec<Pos2> = points.iter().map(|point| self.at(*point)).collect();
                self.line(&points, Stroke::new(*width as f32, self.color(*ink)), *dash);
            }
            Placed::Area { corners, ink, opacity } => {
                let corners = corners.iter().map(|point| self.at(*point)).collect();
                let fill = self.color(*ink).gamma_multiply(*opacity as f32);
                self.shapes.push(Shape::convex_polygon(corners, fill, Stroke::NONE));
            }
            Placed::Box { place, ink, opacity, edge } => {
                let corner = |x, y| self.at(Point { x, y });
                let place = Rect::from_min_max(
                    corner(place.left, place.top),
                    corner(place.right, place.bottom),
                );
                let color = self.color(*ink);
                let fill = color.gamma_multiply(*opacity as f32);
                self.shapes.push(Shape::rect_filled(place, 0.0, fill));
                if let Some(dash) = edge {
                    self.edge(place.shrink(0.5), Stroke::new(1.25, color), *dash);
                }
            }
            Placed::Symbol { at, origin, ink, radius, emphasis } => {
                self.symbol(self.at(*at), *origin, self.color(*ink), (*radius as f32, *emphasis));
            }
            Placed::Pointer { at, direction, ink } => {
                self.pointer(self.at(*at), *direction, self.color(*ink));
            }
            Placed::Text { at, anchor, size, ink, text, angle } => {
                let galley = self.fonts.galley(text, *size);
                let (width, height) = (galley.size().x, galley.size().y);
                let (anchor, before) = match anchor {
                    Anchor::Start => (Align2::LEFT_CENTER, 0.0),
                    Anchor::Middle => (Align2::CENTER_CENTER, width / 2.0),
                    Anchor::End => (Align2::RIGHT_CENTER, width),
                };
                let corner = self.at(*at) - vec2(before, height / 2.0);
                let shape = TextShape::new(corner, galley, self.color(*ink));
                // Unrotated text is aligned to whole pixels, so that it is sharp.
                let shape = if *angle == 0.0 {
                    TextShape { pos: shape.pos.round_to_pixels(self.pixels_per_point), ..shape }
                } else {
                    shape.with_angle_and_anchor(*angle as f32, anchor)
                };
                self.shapes.push(shape.into());
            }
        }
    }

    fn line(&mut self, points: &[Pos2], stroke: Stroke, dash: Dash) {
        match (dash, points) {
            (Dash::Solid, [from, to]) => {
                self.shapes.push(Shape::line_segment([*from, *to], stroke));
            }
            (Dash::Solid, _) => {
                self.shapes.push(Shape::line(points.to_vec(), stroke));
            }
            (Dash::Dashed, _) => {
                self.shapes.extend(Shape::dashed_line(points, stroke, 6.0, 4.0));
            }
            (Dash::Dotted, _) => {
                self.shapes.extend(Shape::dashed_line(points, stroke, 1.5, 3.0));
            }
        }
    }

    fn edge(&mut self, place: Rect, stroke: Stroke, dash: Dash) {
        match dash {
            Dash::Solid => {
                self.shapes.push(Shape::rect_stroke(place, 0.0, stroke, StrokeKind::Middle));
            }
            Dash::Dashed | Dash::Dotted => {
                let corners = [
                    place.left_top(),
                    place.right_top(),
                    place.right_bottom(),
                    place.left_bottom(),
                    place.left_top(),
                ];
                self.line(&corners, stroke, dash);
            }
        }
    }

    fn symbol(&mut self, at: Pos2, origin: Origin, color: Color32, form: (f32, Emphasis)) {
        let (radius, emphasis) = form;
        if emphasis == Emphasis::Chosen {
            let accent = Stroke::new(1.25, self.tokens.accent.0);
            self.shapes.push(Shape::circle_stroke(at, radius + 3.0, accent));
        }
        let edge = Stroke::new(if radius < 2.5 { 1.0 } else { 1.75 }, color);
        let ground = self.tokens.surface.panel.0;
        match origin {
            Origin::Measured => {
                self.shapes.push(Shape::circle_filled(at, radius, color));
            }
            Origin::Modelled => {
                self.shapes.push(
                    CircleShape { center: at, radius: radius - 0.5, fill: ground, stroke: edge }
                        .into(),
                );
            }
            Origin::Predicted => {
                let reach = radius * 1.2;
                let corners = [
                    vec2(0.0, -reach),
                    vec2(reach, 0.0),
                    vec2(0.0, reach),
                    vec2(-reach, 0.0),
                    vec2(0.0, -reach),
                ];
                let corners = corners.map(|offset| at + offset);
                self.shapes.push(Shape::convex_polygon(
                    corners[..4].to_vec(),
                    ground,
                    Stroke::NONE,
                ));
                self.shapes.extend(Shape::dashed_line(&corners, edge, 2.2, 2.4));
            }
            Origin::Recorded => {
                let place = Rect::from_center_size(at, egui::Vec2::splat(1.7 * radius));
                self.shapes
                    .push(RectShape::new(place, 0.0, ground, edge, StrokeKind::Middle).into());
            }
        }
    }

    fn pointer(&mut self, at: Pos2, direction: Direction, color: Color32) {
        let corners = match direction {
            Direction::Up => [vec2(-4.0, 3.0), vec2(4.0, 3.0), vec2(0.0, -4.0)],
            Direction::Down => [vec2(-4.0, -3.0), vec2(4.0, -3.0), vec2(0.0, 4.0)],
            Direction::Same => {
                for y in [-1.75, 1.75] {
                    let ends = [at + vec2(-4.0, y), at + vec2(4.0, y)];
                    self.shapes.push(Shape::line_segment(ends, Stroke::new(1.25, color)));
                }
                return;
            }
        };
        let corners = corners.map(|offset| at + offset).to_vec();
        self.shapes.push(Shape::convex_polygon(corners, color, Stroke::NONE));
    }

    fn color(&self, ink: Ink) -> Color32 {
        let Tokens { surface, line, text, status, origin, series, accent, .. } = &*self.tokens;
        match ink {
            Ink::Hue(Hue::Origin(Origin::Measured)) => origin.measured.0,
            Ink::Hue(Hue::Origin(Origin::Modelled)) => origin.modelled.0,
            Ink::Hue(Hue::Origin(Origin::Predicted)) => origin.predicted.0,
            Ink::Hue(Hue::Origin(Origin::Recorded)) => origin.recorded.0,
            Ink::Hue(Hue::Series(index)) => {
                series.get(index % series.len().max(1)).map_or(text.normal.0, |color| color.0)
            }
            Ink::Hue(Hue::Ink) | Ink::Text => text.normal.0,
            Ink::Hue(Hue::Quiet) | Ink::Weak => text.weak.0,
            Ink::Ground => surface.panel.0,
            Ink::Grid => line.faint.0,
            Ink::Axis => line.strong.0,
            Ink::Strong => text.strong.0,
            Ink::Good => status.good.0,
            Ink::Bad => status.bad.0,
            Ink::Accent => accent.0,
        }
    }
}
