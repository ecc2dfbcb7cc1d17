//! Spans of time in lanes.

use super::super::{Axis, Figure, Hue, Item, MarkId, Origin, Row, Sign, Span, Undrawable, Unit};
use crate::units::Seconds;

/// A lane.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The name.
    pub name: String,
    /// A note with less emphasis.
    pub note: String,
    /// What happens in it, in the order of time.
    pub spans: Vec<LaneSpan>,
}

/// A span of a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneSpan {
    /// The start.
    pub start: Seconds,
    /// The end.
    pub end: Seconds,
    /// The index of what happens, among the kinds of the figure.
    pub kind: usize,
}

/// Lanes from the top, whose spans are of these kinds.
///
/// # Errors
/// A time is not a number.
pub fn lanes(title: &str, lanes: &[Lane], kinds: &[&str]) -> Result<Figure, Undrawable> {
    let spans = || lanes.iter().flat_map(|lane| &lane.spans);
    let row =
        |lane: &Lane| Row { name: lane.name.clone(), note: lane.note.clone(), ..Row::default() };
    let x = Axis::from_zero("Time since the block began", Unit::Seconds);
    let x = x.showing(spans().map(|span| span.end.0));
    let mut figure = Figure::of_rows(title, x, lanes.iter().map(row).collect());
    for (kind, name) in kinds.iter().enumerate() {
        if spans().any(|span| span.kind == kind) {
            figure.explain(Sign::Hue(Hue::Series(kind)), *name);
        }
    }
    for (row, lane) in lanes.iter().enumerate() {
        for (part, span) in (0..).zip(&lane.spans) {
            figure.add(Item::Span(Span {
                id: MarkId { of: row as i64, part },
                row,
                x: (span.start.0, span.end.0),
                name: kinds.get(span.kind).copied().unwrap_or_default().to_owned(),
                origin: Origin::Modelled,
                hue: Hue::Series(span.kind),
            }))?;
        }
    }
    Ok(figure)
}
