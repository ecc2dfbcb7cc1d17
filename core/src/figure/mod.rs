//! Figures as values: axes, marks, lines and bars, independent of size and renderer.
//!
//! [`Figure`] is the content; [`lay_out`] places it in a rectangle; the window paints the result and [`svg()`] writes it, so
//! that both show the same picture. [`Table`] is the same figure as text.

mod axis;
mod build;
mod content;
mod draw;
mod hidden;
mod key;
mod labels;
mod layout;
mod places;
mod scene;
mod svg;
mod table;
#[cfg(test)]
mod tests;
mod ticks;

pub use axis::{Axis, Limits, Margin, Scale, Unit, View};
pub use build::bandwidth::{BandwidthRun, bandwidth};
pub use build::best_so_far::{CandidateOutcome, SearchedCandidate, best_so_far};
pub use build::distribution::{SampledRun, distribution};
pub use build::over_runs::{TimedRun, over_runs};
pub use build::roofline::{NoRoofline, Roofs, RunPoint, Trail, pipes_of, roofline};
pub use build::scaling::{ScalingPoint, ScalingQuantity, scaling};
pub use build::speed_of_light::{
    BusyUnit, share_of_bound, speed_of_light, units_of_bound, units_of_counts,
};
pub use build::timeline::{Lane, LaneSpan, lanes};
pub use build::workloads::{OtherRunTime, WorkloadTime, workloads};
pub use content::{
    Arrow, Band, Bar, Change, Cloud, Course, Depth, Direction, Emphasis, Hue, Line, Mark, MarkId,
    Meaning, Origin, Reading, Row, Sign, Span, Stroke,
};
pub use hidden::Hidden;
pub use layout::lay_out;
pub use scene::{Anchor, Dash, Ink, Measure, Point, Rect, Scene, Shape, Spot, TextSize};
pub use svg::{Page, Typical, svg};
pub use table::{Card, Cell, Table};

/// A figure. Every item can be drawn: numbers that are not finite are refused when an item is added.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    title: String,
    x: Axis,
    y: Vertical,
    items: Vec<Item>,
    key: Vec<(Sign, String)>,
    /// Signs of the legend whose items the user hid.
    hidden: Vec<Sign>,
}

/// The vertical arrangement.
#[derive(Clone, Debug, PartialEq)]
pub enum Vertical {
    /// Larger values.
    Axis(Axis),
    /// Rows, the first on top; a place is the row's number, counted from 0 downwards.
    Rows(Vec<Row>),
}

/// An item of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A value.
    Mark(Mark),
    /// A line.
    Line(Line),
    /// An area.
    Band(Band),
    /// A part of a row.
    Span(Span),
    /// A length.
    Bar(Bar),
    /// A way.
    Arrow(Arrow),
    /// Many values.
    Cloud(Cloud),
}

impl Item {
    /// The mark, if it is one.
    #[must_use]
    pub const fn mark(&self) -> Option<&Mark> {
        match self {
            Self::Mark(mark) => Some(mark),
            Self::Line(_)
            | Self::Band(_)
            | Self::Span(_)
            | Self::Bar(_)
            | Self::Arrow(_)
            | Self::Cloud(_) => None,
        }
    }
}

/// The reason why a figure cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Undrawable {
    /// NaN, infinite, or not positive on a logarithmic axis.
    #[error("{value} cannot be drawn on the axis `{axis}`")]
    NoPlace {
        /// The number.
        value: f64,
        /// Which axis.
        axis: String,
    },
    /// An interval that does not hold its value.
    #[error("{value} does not lie between {low} and {high}")]
    Outside {
        /// The number.
        value: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// A row that does not exist.
    #[error("there is no row {0}")]
    NoRow(f64),
}

impl Figure {
    /// A figure with two axes.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self::empty(title.into(), x, Vertical::Axis(y))
    }

    /// A figure with rows.
    #[must_use]
    pub fn of_rows(title: impl Into<String>, x: Axis, rows: Vec<Row>) -> Self {
        Self::empty(title.into(), x, Vertical::Rows(rows))
    }

    const fn empty(title: String, x: Axis, y: Vertical) -> Self {
        Self { title, x, y, items: Vec::new(), key: Vec::new(), hidden: Vec::new() }
    }

    /// The title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The horizontal axis.
    #[must_use]
    pub const fn x(&self) -> &Axis {
        &self.x
    }

    /// The vertical arrangement.
    #[must_use]
    pub const fn y(&self) -> &Vertical {
        &self.y
    }

    /// The items in drawing order.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The legend: explained signs, and origins if not all values are measured.
    #[must_use]
    pub fn key(&self) -> Vec<(Sign, String)> {
        let has = |origin: &Origin| {
            self.items.iter().any(|item| match item {
                Item::Mark(mark) => mark.origin == *origin,
                Item::Bar(bar) => bar.origin == *origin,
                Item::Span(span) => span.origin == *origin,
                Item::Line(_) | Item::Band(_) | Item::Arrow(_) | Item::Cloud(_) => false,
            })
        };
        let there: Vec<Origin> = Origin::ALL.into_iter().filter(has).collect();
        let told = if there == [Origin::Measured] { Vec::new() } else { there };
        let told = told.into_iter().map(|origin| (Sign::Origin(origin), origin.word().to_owned()));
        let told = told.filter(|entry| !self.key.contains(entry));
        self.key.iter().cloned().chain(told).collect()
    }

    /// Adds the explanation of a sign to the legend.
    pub fn explain(&mut self, sign: Sign, name: impl Into<String>) {
        self.key.push((sign, name.into()));
    }

    /// All selectable values, in keyboard order: left to right, or row by row.
    #[must_use]
    pub fn chosen_order(&self) -> Vec<MarkId> {
        let mut order: Vec<((f64, f64), MarkId)> = self
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Mark(mark) => Some(((mark.x.value, mark.y.value), mark.id)),
                Item::Bar(bar) => Some(((bar.value, bar.row as f64), bar.id)),
                Item::Span(span) => Some(((span.x.0, span.row as f64), span.id)),
                Item::Line(_) | Item::Band(_) | Item::Arrow(_) | Item::Cloud(_) => None,
            })
            .map(|((x, y), id)| match self.y {
                Vertical::Axis(_) => ((x, y), id),
                Vertical::Rows(_) => ((y, x), id),
            })
            .collect();
        let by = |a: f64, b: f64| a.total_cmp(&b);
        order.sort_by(|(a, _), (b, _)| by(a.0, b.0).then(by(a.1, b.1)));
        order.into_iter().map(|(_, id)| id).collect()
    }

    /// Adds something.
    ///
    /// # Errors
    /// A number in it has no place.
    pub fn add(&mut self, item: Item) -> Result<(), Undrawable> {
        match &item {
            Item::Mark(mark) => {
                self.check_reading(mark.x, Self::check_x)?;
                self.check_reading(mark.y, Self::check_y)?;
            }
            Item::Line(line) => self.check_course(&line.course)?,
            Item::Band(band) => {
                if let Some((low, high)) = band.x {
                    self.check_x(low)?;
                    self.check_x(high)?;
                }
                if let Some((low, high)) = band.y {
                    self.check_y(low)?;
                    self.check_y(high)?;
                }
            }
            Item::Span(span) => {
                self.check_row(span.row as f64)?;
                self.check_x(span.x.0)?;
                self.check_x(span.x.1)?;
            }
            Item::Bar(bar) => {
                self.check_row(bar.row as f64)?;
                for value in [Some(bar.value), bar.whole, bar.second].into_iter().flatten() {
                    self.check_x(value)?;
                }
            }
            Item::Arrow(arrow) => {
                for (x, y) in [arrow.from, arrow.to] {
                    self.check_x(x)?;
                    self.check_y(y)?;
                }
            }
            Item::Cloud(cloud) => {
                for (x, y) in &cloud.points {
                    self.check_x(*x)?;
                    self.check_y(*y)?;
                }
            }
        }
        self.items.push(item);
        Ok(())
    }

    fn check_course(&self, course: &Course) -> Result<(), Undrawable> {
        match course {
            Course::Path(points) => points.iter().try_for_each(|(x, y)| {
                self.check_x(*x)?;
                self.check_y(*y)
            }),
            Course::Level { y, from } => {
                from.map_or(Ok(()), |from| self.check_x(from))?;
                self.check_y(*y)
            }
            Course::Upright { x, row } => {
                row.map_or(Ok(()), |row| self.check_row(row as f64))?;
                self.check_x(*x)
            }
            Course::Proportional { rate, until } => {
                self.check_x(*until)?;
                self.check_y(rate * until)
            }
        }
    }

    fn check_reading(
        &self,
        reading: Reading,
        check: impl Fn(&Self, f64) -> Result<(), Undrawable>,
    ) -> Result<(), Undrawable> {
        let Reading { value, interval } = reading;
        check(self, value)?;
        let Some((low, high)) = interval else { return Ok(()) };
        check(self, low)?;
        check(self, high)?;
        let holds = (low..=high).contains(&value);
        holds.then_some(()).ok_or(Undrawable::Outside { value, low, high })
    }

    fn check_x(&self, value: f64) -> Result<(), Undrawable> {
        has_place(&self.x, value)
    }

    fn check_y(&self, value: f64) -> Result<(), Undrawable> {
        match &self.y {
            Vertical::Axis(axis) => has_place(axis, value),
            Vertical::Rows(_) => self.check_row(value),
        }
    }

    fn check_row(&self, row: f64) -> Result<(), Undrawable> {
        let is_there = match &self.y {
            Vertical::Rows(rows) => row >= -0.5 && row <= rows.len() as f64 - 0.5,
            Vertical::Axis(_) => false,
        };
        is_there.then_some(()).ok_or(Undrawable::NoRow(row))
    }

    /// The view in which everything is seen.
    #[must_use]
    pub fn fit(&self) -> View {
        let mut at = (Vec::new(), Vec::new());
        for item in &self.items {
            extent(item, &mut at);
        }
        let place = |scale: Scale| move |value: f64| scale.place(value);
        let x = self.x.fit(at.0.into_iter().filter_map(place(self.x.scale)));
        let y = match &self.y {
            Vertical::Axis(axis) => axis.fit(at.1.into_iter().filter_map(place(axis.scale))),
            // Downwards: the first row is on top.
            Vertical::Rows(rows) => Limits::between(0.5 - rows.len() as f64, 0.5),
        };
        View { x, y }
    }

    /// The positions of values on the axes; rows go downwards.
    pub(super) fn places(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let y = match &self.y {
            Vertical::Axis(axis) => axis.scale.place(y)?,
            Vertical::Rows(_) => -y,
        };
        Some((self.x.scale.place(x)?, y))
    }
}

fn has_place(axis: &Axis, value: f64) -> Result<(), Undrawable> {
    let place = axis.scale.place(value).filter(|place| place.abs() <= 1e300);
    let no_place = || Undrawable::NoPlace { value, axis: axis.title.clone() };
    place.map(|_| ()).ok_or_else(no_place)
}

/// The values that must be seen for something to be seen. Lines that go to an edge are seen as far as they go.
fn extent(item: &Item, (xs, ys): &mut (Vec<f64>, Vec<f64>)) {
    let reading = |reading: Reading, to: &mut Vec<f64>| {
        to.push(reading.value);
        to.extend(reading.interval.into_iter().flat_map(|(low, high)| [low, high]));
    };
    match item {
        Item::Mark(mark) => {
            reading(mark.x, xs);
            reading(mark.y, ys);
        }
        Item::Line(line) => match &line.course {
            Course::Path(points) => points.iter().for_each(|(x, y)| {
                xs.push(*x);
                ys.push(*y);
            }),
            Course::Level { y, from } => {
                ys.push(*y);
                xs.extend(*from);
            }
            Course::Upright { x, .. } => xs.push(*x),
            Course::Proportional { until, .. } => xs.push(*until),
        },
        Item::Band(band) => {
            xs.extend(band.x.into_iter().flat_map(|(low, high)| [low, high]));
            ys.extend(band.y.into_iter().flat_map(|(low, high)| [low, high]));
        }
        Item::Span(span) => xs.extend([span.x.0, span.x.1]),
        Item::Bar(bar) => xs.extend([Some(bar.value), bar.whole, bar.second].into_iter().flatten()),
        Item::Arrow(arrow) => {
            xs.extend([arrow.from.0, arrow.to.0]);
            ys.extend([arrow.from.1, arrow.to.1]);
        }
        Item::Cloud(cloud) => cloud.points.iter().for_each(|(x, y)| {
            xs.push(*x);
            ys.push(*y);
        }),
    }
}
