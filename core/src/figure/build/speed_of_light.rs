//! How busy each unit of a device is: lengths up to the whole, and what another run had.

use super::super::{
    Axis, Bar, Change, Direction, Emphasis, Figure, Item, MarkId, Origin, Row, Sign, Undrawable,
    Unit,
};
use crate::units::Fraction;

/// A unit.
#[derive(Clone, Debug)]
pub struct Busy {
    /// Its place among units.
    pub id: i64,
    /// What it is called.
    pub name: String,
    /// The share of the time, or of the peak.
    pub share: Fraction,
    /// `3.41 of 4.80 TB/s`.
    pub amount: String,
    /// The same in another run.
    pub pinned: Option<Fraction>,
    /// Where the share comes from.
    pub origin: Origin,
    /// Whether it is what limits.
    pub emphasis: Emphasis,
}

/// The units of a device, and what the run is called that others are held against.
///
/// # Errors
/// A number has no place.
pub fn speed_of_light(units: &[Busy], pinned: Option<&str>) -> Result<Figure, Undrawable> {
    let rows = units.iter().map(|unit| Row {
        name: unit.name.clone(),
        value: unit.share.to_string(),
        note: unit.amount.clone(),
        change: unit.pinned.map(|pinned| change(unit.share, pinned)),
    });
    let axis = Axis::from_zero("", Unit::Fraction).showing([1.0]);
    let mut figure = Figure::of_rows("Speed of light", axis, rows.collect());
    if let Some(name) = pinned.filter(|_| units.iter().any(|unit| unit.pinned.is_some())) {
        figure.explain(Sign::Second, name);
    }
    for (row, unit) in units.iter().enumerate() {
        let amount = Some(&unit.amount).filter(|amount| !amount.is_empty());
        figure.add(Item::Bar(Bar {
            id: MarkId::only(unit.id),
            row,
            value: unit.share.0,
            whole: Some(1.0),
            second: unit.pinned.map(|pinned| pinned.0),
            origin: unit.origin,
            emphasis: unit.emphasis,
            details: amount
                .map(|amount| ("Amount".to_owned(), amount.clone()))
                .into_iter()
                .collect(),
        }))?;
    }
    Ok(figure)
}

/// In points of percent.
fn change(share: Fraction, pinned: Fraction) -> Change {
    let points = (share.0 - pinned.0) * 100.0;
    let direction = if points >= 0.05 {
        Direction::Up
    } else if points <= -0.05 {
        Direction::Down
    } else {
        Direction::Same
    };
    Change { text: format!("{:.1}", points.abs()), direction }
}
