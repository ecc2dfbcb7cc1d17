//! What stands in a figure: marks, lines, bands, bars, arrows and clouds of dots.

use super::axis::Unit;

/// Where a number comes from. Each looks different, without colours too.
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

    /// As people read it.
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

/// What a mark stands for, the same in every figure of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarkId {
    /// Whose: a run, a unit, a workload.
    pub of: i64,
    /// Which of its marks.
    pub part: u32,
}

impl MarkId {
    /// The only mark of something.
    #[must_use]
    pub const fn only(of: i64) -> Self {
        Self { of, part: 0 }
    }
}

/// A number, with an interval where one is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The number.
    pub value: f64,
    /// From, to.
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
    /// That of where it comes from.
    Origin(Origin),
    /// One of several things side by side.
    Series(usize),
    /// That of text: ceilings, edges.
    Ink,
    /// That of what is there to be compared with.
    Quiet,
}

/// A sign that is explained beside a figure.
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

/// How much something stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Emphasis {
    /// It is there as a background.
    Faint,
    /// As others.
    #[default]
    Normal,
    /// It is what is talked about.
    Chosen,
}

/// A value in a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What it stands for.
    pub id: MarkId,
    /// What it is called.
    pub name: String,
    /// From left to right.
    pub x: Reading,
    /// From below, or the row that it stands in.
    pub y: Reading,
    /// Where it comes from.
    pub origin: Origin,
    /// Which colour it has.
    pub hue: Hue,
    /// How much it stands out.
    pub emphasis: Emphasis,
    /// What stands beside it.
    pub label: Option<String>,
    /// What else is known: names and values.
    pub details: Vec<(String, String)>,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its course.
    pub course: Course,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Which colour it has.
    pub hue: Hue,
    /// What stands along it.
    pub label: Option<String>,
    /// What it means, for tables.
    pub meaning: Option<Meaning>,
}

/// What a line means.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// What it is called.
    pub name: String,
    /// Its number.
    pub value: f64,
    /// In what.
    pub unit: Unit,
    /// Where the number comes from.
    pub origin: String,
}

/// How a line goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// From point to point.
    Path(Vec<(f64, f64)>),
    /// At one height, from a value to the right edge; from the left edge without one.
    Level {
        /// The height.
        y: f64,
        /// Where it begins.
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
        /// Where it ends.
        until: f64,
    },
}

/// How a line is drawn.
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
    /// From, to.
    pub x: Option<(f64, f64)>,
    /// From, to; in rows, where a row's middle is its number.
    pub y: Option<(f64, f64)>,
    /// Which colour it has.
    pub hue: Hue,
    /// How much of it is seen.
    pub depth: Depth,
}

/// How much of an area is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Hardly.
    Shallow,
    /// Clearly.
    Deep,
}

/// A length in a row, from zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub id: MarkId,
    /// Which row.
    pub row: usize,
    /// How long.
    pub value: f64,
    /// How long the whole would be; drawn behind.
    pub whole: Option<f64>,
    /// What it is compared with.
    pub second: Option<f64>,
    /// Where it comes from.
    pub origin: Origin,
    /// How much it stands out.
    pub emphasis: Emphasis,
    /// What else is known.
    pub details: Vec<(String, String)>,
}

/// A row of a figure without a vertical axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// The number that matters.
    pub value: String,
    /// Beside it, quieter.
    pub note: String,
    /// Against what it is compared with.
    pub change: Option<Change>,
    /// How much it stands out.
    pub emphasis: Emphasis,
}

/// A difference in words, and whether it is good.
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

/// Where something was, and where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Where it was.
    pub from: (f64, f64),
    /// Where it is.
    pub to: (f64, f64),
    /// Which colour it has.
    pub hue: Hue,
}

/// Many values, none of which matters alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    /// Where.
    pub points: Vec<(f64, f64)>,
    /// Which colour they have.
    pub hue: Hue,
    /// Where they come from.
    pub origin: Origin,
}
