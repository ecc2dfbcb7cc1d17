//! A figure that has been placed: lines, areas, symbols and texts in a rectangle. Whoever draws it only chooses colours.
//!
//! Nothing reaches out of the frame: what is not seen is cut off when it is placed, so that no coordinate is ever large.

use super::content::{Direction, Emphasis, Hue, MarkId, Origin};

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
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its right edge.
    pub right: f64,
    /// Its lower edge.
    pub bottom: f64,
}

impl Rect {
    /// How wide it is.
    #[must_use]
    pub fn width(self) -> f64 {
        self.right - self.left
    }

    /// How high it is.
    #[must_use]
    pub fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// Whether it shares some area with another.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether another lies in it.
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
    /// How wide.
    pub width: f64,
    /// How high; rows may need more than was offered.
    pub height: f64,
    /// Where the data are.
    pub frame: Rect,
    /// What is drawn, in order.
    pub shapes: Vec<Shape>,
    /// Where the values that can be chosen are.
    pub spots: Vec<Spot>,
}

/// Where a value that can be chosen is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// What it stands for.
    pub id: MarkId,
    /// Which item of the figure.
    pub item: usize,
    /// What belongs to it.
    pub place: Rect,
}

/// Something that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line from point to point.
    Line {
        /// The points.
        points: Vec<Point>,
        /// Its colour.
        ink: Ink,
        /// How thick.
        width: f64,
        /// Its gaps.
        dash: Dash,
    },
    /// A filled convex area.
    Area {
        /// Its corners.
        corners: Vec<Point>,
        /// Its colour.
        ink: Ink,
        /// How much of it is seen, from 0 to 1.
        opacity: f64,
    },
    /// A rectangle, filled, with or without an edge.
    Box {
        /// Where.
        place: Rect,
        /// Its colour.
        ink: Ink,
        /// How much of the filling is seen.
        opacity: f64,
        /// How its edge is drawn.
        edge: Option<Dash>,
    },
    /// A value, drawn as its origin wants it.
    Symbol {
        /// Its middle.
        at: Point,
        /// Where it comes from.
        origin: Origin,
        /// Its colour.
        ink: Ink,
        /// How far it reaches.
        radius: f64,
        /// How much it stands out.
        emphasis: Emphasis,
    },
    /// A triangle that says which way.
    Pointer {
        /// Its middle.
        at: Point,
        /// Which way.
        direction: Direction,
        /// Its colour.
        ink: Ink,
    },
    /// Words.
    Text {
        /// Where: the middle of their height, at the anchor.
        at: Point,
        /// Which end of the words is there.
        anchor: Anchor,
        /// How large.
        size: TextSize,
        /// Their colour.
        ink: Ink,
        /// The words.
        text: String,
        /// Turned by this angle, in radians, clockwise, around the place.
        angle: f64,
    },
}

/// What colours are for.
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
    /// What is read first.
    Strong,
    /// What is read.
    Text,
    /// What is there when it is needed.
    Weak,
    /// It became better.
    Good,
    /// It became worse.
    Bad,
    /// What has been chosen.
    Accent,
}

/// Gaps of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// None.
    Solid,
    /// Long strokes.
    Dashed,
    /// Short strokes.
    Dotted,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The first letter.
    Start,
    /// The middle.
    Middle,
    /// The last letter.
    End,
}

/// How large text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSize {
    /// Ticks, labels, notes.
    Small,
    /// Names.
    Body,
    /// Numbers that matter.
    Strong,
}

/// Whoever knows how wide words are where they are drawn.
pub trait Measure {
    /// The width of words.
    fn width(&self, text: &str, size: TextSize) -> f64;

    /// The height of a line of them.
    fn height(&self, size: TextSize) -> f64;
}

impl Scene {
    pub(super) fn line(&mut self, points: Vec<Point>, ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points, ink, width, dash: Dash::Solid });
    }

    pub(super) fn text(&mut self, at: Point, anchor: Anchor, look: (TextSize, Ink), text: &str) {
        let (text, (size, ink)) = (text.to_owned(), look);
        self.shapes.push(Shape::Text { at, anchor, size, ink, text, angle: 0.0 });
    }
}
