//! Icons, drawn rather than typed: fonts render such characters differently.

use egui::{
    Color32, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use crate::theme;

/// An icon by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Check,
    Cross,
    Warning,
    Play,
    Stop,
    /// Best, or pinned.
    Star,
    /// Not pinned.
    StarOutline,
    /// Faster, or more.
    Up,
    /// Slower, or less.
    Down,
    Right,
    /// No measurable difference.
    Equal,
    Dot,
    Ring,
    Diamond,
    Square,
    Plus,
    Search,
    Reload,
    Bell,
}

impl Icon {
    /// Draws the icon centred in a rectangle.
    pub fn paint(self, painter: &Painter, place: Rect, color: Color32) {
        let side = place.width().min(place.height());
        let unit = side / 2.0;
        let center = place.center();
        let at = |x: f32, y: f32| pos2(center.x + x * unit, center.y + y * unit);
        let line = Stroke::new((side / 9.0).max(1.2), color);
        let path = |points: Vec<Pos2>| painter.add(Shape::line(points, line));
        let filled = |points: Vec<Pos2>| {
            painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
        };
        match self {
            Self::Check => drop(path(vec![at(-0.65, 0.05), at(-0.15, 0.55), at(0.7, -0.5)])),
            Self::Cross => {
                path(vec![at(-0.5, -0.5), at(0.5, 0.5)]);
                path(vec![at(0.5, -0.5), at(-0.5, 0.5)]);
            }
            Self::Warning => {
                painter.add(Shape::closed_line(
                    vec![at(0.0, -0.75), at(0.8, 0.65), at(-0.8, 0.65)],
                    line,
                ));
                path(vec![at(0.0, -0.25), at(0.0, 0.2)]);
                painter.circle_filled(at(0.0, 0.42), line.width * 0.6, color);
            }
            Self::Play => filled(vec![at(-0.5, -0.65), at(0.65, 0.0), at(-0.5, 0.65)]),
            Self::Stop => drop(painter.rect_filled(
                Rect::from_two_pos(at(-0.5, -0.5), at(0.5, 0.5)),
                1.0,
                color,
            )),
            Self::Star => star(painter, &at, color, None),
            Self::StarOutline => star(painter, &at, Color32::TRANSPARENT, Some(line)),
            Self::Up => filled(vec![at(0.0, -0.55), at(0.6, 0.45), at(-0.6, 0.45)]),
            Self::Down => filled(vec![at(0.0, 0.55), at(-0.6, -0.45), at(0.6, -0.45)]),
            Self::Right => drop(path(vec![at(-0.25, -0.5), at(0.3, 0.0), at(-0.25, 0.5)])),
            Self::Equal => {
                path(vec![at(-0.55, -0.22), at(0.55, -0.22)]);
                path(vec![at(-0.55, 0.22), at(0.55, 0.22)]);
            }
            Self::Dot => drop(painter.circle_filled(center, unit * 0.55, color)),
            Self::Ring => drop(painter.circle_stroke(center, unit * 0.5, line)),
            Self::Diamond => drop(painter.add(Shape::closed_line(
                vec![at(0.0, -0.6), at(0.6, 0.0), at(0.0, 0.6), at(-0.6, 0.0)],
                line,
            ))),
            Self::Square => {
                painter.rect_filled(Rect::from_center_size(center, vec2(unit, unit)), 0.0, color);
            }
            Self::Plus => {
                path(vec![at(-0.55, 0.0), at(0.55, 0.0)]);
                path(vec![at(0.0, -0.55), at(0.0, 0.55)]);
            }
            Self::Search => {
                painter.circle_stroke(at(-0.15, -0.15), unit * 0.45, line);
                path(vec![at(0.2, 0.2), at(0.65, 0.65)]);
            }
            Self::Reload => {
                path(arc(center, unit * 0.55, -0.2, 4.9));
                filled(vec![at(0.25, -0.75), at(0.25, -0.25), at(0.7, -0.5)]);
            }
            Self::Bell => {
                path(vec![
                    at(-0.6, 0.35),
                    at(-0.4, 0.1),
                    at(-0.4, -0.2),
                    at(0.0, -0.6),
                    at(0.4, -0.2),
                    at(0.4, 0.1),
                    at(0.6, 0.35),
                    at(-0.6, 0.35),
                ]);
                painter.circle_filled(at(0.0, 0.58), line.width, color);
            }
        }
    }

    /// An icon as a label.
    pub fn show(self, ui: &mut Ui, color: Color32) -> Response {
        let side = ui.text_style_height(&egui::TextStyle::Body) * 0.8;
        let (place, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
        self.paint(ui.painter(), place, color);
        response
    }

    /// An icon button; its name is for keyboard navigation, tests and screen readers.
    pub fn button(self, ui: &mut Ui, name: &str) -> Response {
        let side = ui.spacing().interact_size.y;
        let (place, response) = ui.allocate_exact_size(vec2(side, side), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, ui.is_enabled(), name));
        let tokens = theme::tokens(ui);
        let marked = response.hovered() || response.has_focus();
        if marked && ui.is_enabled() {
            let ground = if response.is_pointer_button_down_on() {
                tokens.surface.pressed
            } else {
                tokens.surface.hovered
            };
            ui.painter().rect_filled(place, f32::from(theme::RADIUS), ground.0);
        }
        if response.has_focus() {
            let edge = Stroke::new(1.0, tokens.accent.0);
            ui.painter().rect_stroke(
                place,
                f32::from(theme::RADIUS),
                edge,
                egui::StrokeKind::Inside,
            );
        }
        let color = match (ui.is_enabled(), marked) {
            (false, _) => tokens.text.weak.faded(0.5),
            (true, true) => tokens.text.strong.0,
            (true, false) => tokens.text.normal.0,
        };
        self.paint(ui.painter(), place.shrink(side * 0.22), color);
        response.on_hover_text(name)
    }
}

/// A five-pointed star.
fn star(painter: &Painter, at: &impl Fn(f32, f32) -> Pos2, fill: Color32, line: Option<Stroke>) {
    let corner = |index: usize| {
        let angle = std::f32::consts::PI * (index as f32 / 5.0 - 0.5);
        let far = if index.is_multiple_of(2) { 0.9 } else { 0.38 };
        at(far * angle.cos(), far * angle.sin())
    };
    // Not convex: five triangles around a pentagon.
    let corners: Vec<Pos2> = (0..10).map(corner).collect();
    if let Some(line) = line {
        painter.add(Shape::closed_line(corners, line));
        return;
    }
    let inner: Vec<Pos2> = corners.iter().skip(1).step_by(2).copied().collect();
    painter.add(Shape::convex_polygon(inner, fill, Stroke::NONE));
    for tip in (0..10).step_by(2) {
        let ray = vec![corners[(tip + 9) % 10], corners[tip], corners[(tip + 1) % 10]];
        painter.add(Shape::convex_polygon(ray, fill, Stroke::NONE));
    }
}

/// An arc, clockwise from an angle.
fn arc(center: Pos2, radius: f32, from: f32, length: f32) -> Vec<Pos2> {
    let steps = 16;
    let point = |step: i32| {
        let angle = from + length * step as f32 / steps as f32;
        center + vec2(angle.cos(), angle.sin()) * radius
    };
    (0..=steps).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use crate::theme::ThemeName;

    const ALL: [Icon; 18] = [
        Icon::Check,
        Icon::Cross,
        Icon::Warning,
        Icon::Play,
        Icon::Stop,
        Icon::Star,
        Icon::StarOutline,
        Icon::Up,
        Icon::Down,
        Icon::Right,
        Icon::Equal,
        Icon::Dot,
        Icon::Ring,
        Icon::Square,
        Icon::Plus,
        Icon::Search,
        Icon::Reload,
        Icon::Bell,
    ];

    #[test]
    fn buttons_have_names() {
        let harness = testing::harness(ThemeName::Dark, [560.0, 60.0], (), |ui, ()| {
            ui.horizontal(|ui| {
                for icon in ALL {
                    icon.button(ui, &format!("{icon:?}"));
                }
            });
        });
        testing::snapshot(&harness, "icons");
    }

    #[test]
    fn every_icon_is_drawn_in_its_own_way() {
        for theme in ThemeName::ALL {
            let drawn = |icon: Option<Icon>| {
                let mut harness = testing::harness(theme, [60.0, 60.0], (), move |ui, ()| {
                    icon.map(|icon| icon.button(ui, "Icon"));
                });
                harness.render().unwrap()
            };
            let icons = [None].into_iter().chain(ALL.map(Some));
            let icons: Vec<_> = icons.map(|icon| (icon, drawn(icon))).collect();
            for (index, (icon, picture)) in icons.iter().enumerate() {
                for (other, other_picture) in &icons[..index] {
                    assert!(
                        testing::differ(picture, other_picture),
                        "{icon:?} looks like {other:?} in the theme {theme}"
                    );
                }
            }
        }
    }
}
