//! The content of a figure: marks, lines, bands, bars, arrows and clouds of dots.

use super::axis::Unit;

/// The origin of a number. The symbols differ in shape, not only in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A clock of a device: a disc.
    Measured,
    /// A model of a device: a ring.
    Modelled,
    /// A guess: a dashed diamond.
    Predicted,
    /// Another machine: a hollow square.
    Recorded,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Measured, Self::Modelled, Self::Predicted, Self::Recorded];

    /// The name for display.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Modelled => "modelled",
            Self::Predicted => "predicted",
            Self::Recorded => "recorded",
        }
    }
}

/// The identity of a mark, the same in every figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarkId {
    /// Whose: a run, a unit, a workload.
    pub of: i64,
    /// The index among marks of the same object.
    pub part: u32,
}

impl MarkId {
    /// The identity of an object's only mark.
    #[must_use]
    pub const fn only(of: i64) -> Self {
        Self { of, part: 0 }
    }
}

/// A number with its interval, if known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The number.
    pub value: f64,
    /// The interval.
    pub interval: Option<(f64, f64)>,
}

impl From<f64> for Reading {
    fn from(value: f64) -> Self {
        Self { value, interval: None }
    }
}

impl Reading {
    /// A number with its interval.
    #[must_use]
    pub const fn within(value: f64, interval: (f64, f64)) -> Self {
        Self { value, interval: Some(interval) }
    }
}

/// Which colour something has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// The colour of its origin.
    Origin(Origin),
    /// The colour of a series.
    Series(usize),
    /// The colour of text, for ceilings and edges.
    Ink,
    /// The colour of values for comparison.
    Quiet,
}

/// A sign that the legend explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A colour.
    Hue(Hue),
    /// A form.
    Origin(Origin),
    /// A kind of line.
    Stroke(Stroke),
    /// The second marker of a bar.
    Second,
}

/// The emphasis of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Emphasis {
    /// Background.
    Faint,
    /// As others.
    #[default]
    Normal,
    /// Foreground.
    Chosen,
}

/// A value in a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The identity.
    pub id: MarkId,
    /// The name.
    pub name: String,
    /// From left to right.
    pub x: Reading,
    /// The vertical value, or the row.
    pub y: Reading,
    /// The origin.
    pub origin: Origin,
    /// Which colour it has.
    pub hue: Hue,
    /// The emphasis.
    pub emphasis: Emphasis,
    /// The label.
    pub label: Option<String>,
    /// Further details as names and values.
    pub details: Vec<(String, String)>,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The course of the line.
    pub course: Course,
    /// The stroke.
    pub stroke: Stroke,
    /// Which colour it has.
    pub hue: Hue,
    /// The label along the line.
    pub label: Option<String>,
    /// The meaning, for tables.
    pub meaning: Option<Meaning>,
}

/// The meaning of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// The name.
    pub name: String,
    /// The value.
    pub value: f64,
    /// In what.
    pub unit: Unit,
    /// The origin of the value.
    pub origin: String,
}

/// The course of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// From point to point.
    Path(Vec<(f64, f64)>),
    /// At one height, from a value to the right edge; from the left edge without one.
    Level {
        /// The height.
        y: f64,
        /// The start.
        from: Option<f64>,
    },
    /// At one value, over the whole height, or in one row only.
    Upright {
        /// The value.
        x: f64,
        /// The row.
        row: Option<usize>,
    },
    /// `y = rate · x`, from the left edge to a value.
    Proportional {
        /// The rate.
        rate: f64,
        /// The end.
        until: f64,
    },
}

/// The stroke of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Without gaps.
    Solid,
    /// With gaps: from a document, not from a clock.
    Dashed,
    /// Thin, to lead the eye.
    Hair,
}

/// An area: whole height or width where an end is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The interval.
    pub x: Option<(f64, f64)>,
    /// The vertical range; in figures with rows, the middle of a row is its index.
    pub y: Option<(f64, f64)>,
    /// Which colour it has.
    pub hue: Hue,
    /// The opacity.
    pub depth: Depth,
}

/// The opacity of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Hardly.
    Shallow,
    /// Clearly.
    Deep,
}

/// A part of a row, between two values.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The identity.
    pub id: MarkId,
    /// The index of its row.
    pub row: usize,
    /// The interval.
    pub x: (f64, f64),
    /// What happens in it.
    pub name: String,
    /// The origin.
    pub origin: Origin,
    /// Which colour it has.
    pub hue: Hue,
}

/// A length in a row, from zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The identity.
    pub id: MarkId,
    /// Which row.
    pub row: usize,
    /// The length.
    pub value: f64,
    /// The length of the whole, drawn behind.
    pub whole: Option<f64>,
    /// The value for comparison.
    pub second: Option<f64>,
    /// The origin.
    pub origin: Origin,
    /// The emphasis.
    pub emphasis: Emphasis,
    /// Further details.
    pub details: Vec<(String, String)>,
}

/// A row of a figure without a vertical axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The name.
    pub name: String,
    /// The number that matters.
    pub value: String,
    /// A note with less emphasis.
    pub note: String,
    /// The change relative to the value for comparison.
    pub change: Option<Change>,
    /// The emphasis.
    pub emphasis: Emphasis,
}

/// A difference as text, with its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `+4.2`.
    pub text: String,
    /// Which way.
    pub direction: Direction,
}

/// Which way something went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More.
    Up,
    /// Less.
    Down,
    /// Neither.
    Same,
}

/// An arrow from an old to a new position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// The old position.
    pub from: (f64, f64),
    /// The new position.
    pub to: (f64, f64),
    /// Which colour it has.
    pub hue: Hue,
}

/// A cloud of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    /// Where.
    pub points: Vec<(f64, f64)>,
    /// Which colour they have.
    pub hue: Hue,
    /// The origin.
    pub origin: Origin,
}
