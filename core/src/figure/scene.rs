//! A figure after layout: lines, areas, symbols and texts in a rectangle. The renderer only chooses colours.
//!
//! Everything is clipped to the frame during layout, so coordinates stay small.

use super::content::{Direction, Emphasis, Hue, MarkId, Origin, Sign};

/// A place, in points from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// The right edge.
    pub right: f64,
    /// The lower edge.
    pub bottom: f64,
}

impl Rect {
    /// The width.
    #[must_use]
    pub fn width(self) -> f64 {
        self.right - self.left
    }

    /// The height.
    #[must_use]
    pub fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// Whether it overlaps another rectangle.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether it contains another rectangle.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.left <= other.left
            && self.right >= other.right
            && self.top <= other.top
            && self.bottom >= other.bottom
    }

    /// Around a point.
    #[must_use]
    pub fn around(center: Point, width: f64, height: f64) -> Self {
        Self {
            left: center.x - width / 2.0,
            right: center.x + width / 2.0,
            top: center.y - height / 2.0,
            bottom: center.y + height / 2.0,
        }
    }
}

/// A placed figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The width.
    pub width: f64,
    /// The height; rows may need more than requested.
    pub height: f64,
    /// The frame of the data.
    pub frame: Rect,
    /// The shapes in drawing order: first what surrounds the data, then the data.
    pub shapes: Vec<Shape>,
    /// How many of the shapes surround the data: legend, axes and the text of rows.
    pub(super) surrounding: usize,
    /// The positions of selectable values.
    pub spots: Vec<Spot>,
    /// The positions of the entries of the legend.
    pub key: Vec<(Sign, Rect)>,
}

/// The position of a selectable value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// The identity.
    pub id: MarkId,
    /// The index of the item.
    pub item: usize,
    /// The area that belongs to it.
    pub place: Rect,
}

/// A shape of a scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line from point to point.
    Line {
        /// The points.
        points: Vec<Point>,
        /// The colour.
        ink: Ink,
        /// The line width.
        width: f64,
        /// The dashes.
        dash: Dash,
    },
    /// A filled convex area.
    Area {
        /// The corners.
        corners: Vec<Point>,
        /// The colour.
        ink: Ink,
        /// The opacity, from 0 to 1.
        opacity: f64,
    },
    /// A rectangle, filled, with or without an edge.
    Box {
        /// Where.
        place: Rect,
        /// The colour.
        ink: Ink,
        /// The opacity of the filling.
        opacity: f64,
        /// The edge.
        edge: Option<Dash>,
    },
    /// A value with the symbol of its origin.
    Symbol {
        /// The centre.
        at: Point,
        /// The origin.
        origin: Origin,
        /// The colour.
        ink: Ink,
        /// The radius.
        radius: f64,
        /// The emphasis.
        emphasis: Emphasis,
    },
    /// A triangle that shows a direction.
    Pointer {
        /// The centre.
        at: Point,
        /// Which way.
        direction: Direction,
        /// The colour.
        ink: Ink,
    },
    /// Words.
    Text {
        /// The anchor point, at half the text height.
        at: Point,
        /// The end of the text at the anchor point.
        anchor: Anchor,
        /// The text size.
        size: TextSize,
        /// Their colour.
        ink: Ink,
        /// The words.
        text: String,
        /// Turned by this angle, in radians, clockwise, around the place.
        angle: f64,
    },
}

/// The purpose of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// What a value is.
    Hue(Hue),
    /// Behind everything.
    Ground,
    /// Lines that help to read.
    Grid,
    /// Axes.
    Axis,
    /// Primary text.
    Strong,
    /// Normal text.
    Text,
    /// Secondary text.
    Weak,
    /// An improvement.
    Good,
    /// A deterioration.
    Bad,
    /// The selection.
    Accent,
}

/// The dashes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Solid.
    Solid,
    /// Long strokes.
    Dashed,
    /// Short strokes.
    Dotted,
}

/// The end of a text at its anchor point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The first letter.
    Start,
    /// The middle.
    Middle,
    /// The last letter.
    End,
}

/// The size of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSize {
    /// Ticks, labels, notes.
    Small,
    /// Names.
    Body,
    /// Numbers that matter.
    Strong,
}

/// Measures text for a renderer.
pub trait Measure {
    /// The width of a text.
    fn width(&self, text: &str, size: TextSize) -> f64;

    /// The height of a text line.
    fn height(&self, size: TextSize) -> f64;
}

impl Scene {
    /// Legend, axes and the text of rows.
    #[must_use]
    pub fn surroundings(&self) -> &[Shape] {
        self.shapes.split_at(self.surrounding).0
    }

    /// The data, which are inside the frame.
    #[must_use]
    pub fn data(&self) -> &[Shape] {
        self.shapes.split_at(self.surrounding).1
    }

    pub(super) fn line(&mut self, points: Vec<Point>, ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points, ink, width, dash: Dash::Solid });
    }

    pub(super) fn text(&mut self, at: Point, anchor: Anchor, look: (TextSize, Ink), text: &str) {
        let (text, (size, ink)) = (text.to_owned(), look);
        self.shapes.push(Shape::Text { at, anchor, size, ink, text, angle: 0.0 });
    }
}
