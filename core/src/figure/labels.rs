//! Labels at marks and along lines, without overlap: positions are tried in order. A label that does not fit is left out;
//! the table has its text.

use super::content::Emphasis;
use super::scene::{Anchor, Ink, Measure, Point, Rect, Scene, Shape, TextSize};

/// The additional distance of a label with a leader line.
const LEAD: f64 = 12.0;
/// The distance between a label and its item.
const GAP: f64 = 4.0;

/// The placed labels and obstacles.
#[derive(Debug)]
pub(super) struct Labels {
    frame: Rect,
    taken: Vec<Rect>,
}

impl Labels {
    pub(super) const fn new(frame: Rect) -> Self {
        Self { frame, taken: Vec::new() }
    }

    /// Blocks an area for labels.
    pub(super) fn keep_free(&mut self, place: Rect) {
        self.taken.push(place);
    }

    /// Blocks a line for labels.
    pub(super) fn keep_line_free(&mut self, from: Point, to: Point) {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        if dx.abs() < 1.0 || dy.abs() < 1.0 {
            let (left, right) = (from.x.min(to.x) - 0.5, from.x.max(to.x) + 0.5);
            let (top, bottom) = (from.y.min(to.y) - 0.5, from.y.max(to.y) + 0.5);
            self.taken.push(Rect { left, right, top, bottom });
            return;
        }
        let steps = (dx.hypot(dy) / 3.0).ceil().clamp(1.0, 2000.0) as u32;
        self.taken.extend((0..=steps).map(|step| {
            let share = f64::from(step) / f64::from(steps);
            let at = Point { x: from.x + share * dx, y: from.y + share * dy };
            Rect::around(at, 2.0, 2.0)
        }));
    }

    /// Places a label beside a point, on a side with enough space.
    pub(super) fn beside(
        &mut self,
        scene: &mut Scene,
        measure: &impl Measure,
        mark: (Point, f64, Emphasis),
        text: &str,
    ) {
        let (at, radius, emphasis) = mark;
        let (size, ink) = match emphasis {
            Emphasis::Chosen => (TextSize::Strong, Ink::Strong),
            Emphasis::Normal => (TextSize::Small, Ink::Text),
            Emphasis::Faint => (TextSize::Small, Ink::Weak),
        };
        let (width, height) = (measure.width(text, size), measure.height(size));
        let far = radius + GAP;
        let (up, out) = (far + height / 2.0, far + width / 2.0);
        let ways = [
            (out, 0.0),
            (-out, 0.0),
            (0.0, -up),
            (0.0, up),
            (out, -up * 0.7),
            (out, up * 0.7),
            (-out, -up * 0.7),
            (-out, up * 0.7),
            (out + LEAD, -up * 1.6),
            (out + LEAD, up * 1.6),
            (-out - LEAD, -up * 1.6),
            (-out - LEAD, up * 1.6),
            (out + LEAD, -up * 2.6),
            (out + LEAD, up * 2.6),
            (-out - LEAD, -up * 2.6),
            (-out - LEAD, up * 2.6),
        ];
        let places =
            ways.map(|(dx, dy)| Rect::around(Point { x: at.x + dx, y: at.y + dy }, width, height));
        if let Some(place) = self.first_free(&places) {
            let y = f64::midpoint(place.top, place.bottom);
            let near = if place.left > at.x { place.left - 2.0 } else { place.right + 2.0 };
            if place.left > at.x + far + 1.0 || place.right < at.x - far - 1.0 {
                let (dx, dy) = (near - at.x, y - at.y);
                let share = radius / dx.hypot(dy);
                let edge = Point { x: at.x + dx * share, y: at.y + dy * share };
                scene.line(vec![edge, Point { x: near, y }], Ink::Weak, 1.0);
            }
            scene.text(Point { x: place.left, y }, Anchor::Start, (size, ink), text);
            self.taken.push(place);
        }
    }

    /// Places a label above or below a horizontal line, as far right as possible; left of its start only if the line is too
    /// short.
    pub(super) fn along_level(
        &mut self,
        scene: &mut Scene,
        measure: &impl Measure,
        ends: (Point, Point),
        (text, ink): (&str, Ink),
    ) {
        let size = TextSize::Small;
        let (width, height) = (measure.width(text, size), measure.height(size));
        let (from, to) = ends;
        let room = (to.x - from.x - width - 2.0 * GAP).max(0.0);
        let away = height / 2.0 + 2.0;
        let places: Vec<Rect> = (0..12)
            .flat_map(|step| {
                let x = to.x - GAP - width / 2.0 - room * f64::from(step) / 11.0;
                [-away, away].map(|dy| Rect::around(Point { x, y: to.y + dy }, width, height))
            })
            .filter(|place| room == 0.0 || place.left >= from.x)
            .collect();
        if let Some(place) = self.first_free(&places) {
            let middle = Point { x: place.right, y: f64::midpoint(place.top, place.bottom) };
            scene.text(middle, Anchor::End, (size, ink), text);
            self.taken.push(place);
        }
    }

    /// Places a rotated label above or below a sloping line.
    pub(super) fn along_slope(
        &mut self,
        scene: &mut Scene,
        measure: &impl Measure,
        ends: (Point, Point),
        (text, ink): (&str, Ink),
    ) {
        let size = TextSize::Small;
        let (width, height) = (measure.width(text, size), measure.height(size));
        let (from, to) = ends;
        let length = (to.x - from.x).hypot(to.y - from.y);
        let room = length - width - 4.0 * GAP;
        if room < 0.0 {
            return;
        }
        let along = ((to.x - from.x) / length, (to.y - from.y) / length);
        for step in [3, 2, 4, 5, 1, 6, 0, 7, 8, 9, 10] {
            let begin = 2.0 * GAP + room * f64::from(step) / 10.0;
            for side in [-1.0, 1.0] {
                let away = side * (height / 2.0 + 3.0);
                let at = |distance: f64| Point {
                    x: from.x + along.0 * distance - along.1 * away,
                    y: from.y + along.1 * distance + along.0 * away,
                };
                let boxes = (width / (0.5 * height)).ceil().max(1.0) as u32;
                let chain: Vec<Rect> = (0..=boxes)
                    .map(|index| begin + width * f64::from(index) / f64::from(boxes))
                    .map(|distance| Rect::around(at(distance), 0.7 * height, 0.7 * height))
                    .collect();
                if chain.iter().all(|place| self.is_free(*place)) {
                    let angle = along.1.atan2(along.0);
                    let text = text.to_owned();
                    let (at, anchor) = (at(begin), Anchor::Start);
                    scene.shapes.push(Shape::Text { at, anchor, size, ink, text, angle });
                    self.taken.extend(chain);
                    return;
                }
            }
        }
    }

    fn first_free(&self, places: &[Rect]) -> Option<Rect> {
        places.iter().copied().find(|place| self.is_free(*place))
    }

    fn is_free(&self, place: Rect) -> bool {
        self.frame.holds(place) && !self.taken.iter().any(|taken| taken.meets(place))
    }
}
