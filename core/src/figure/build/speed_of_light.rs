//! The fraction of the bound and the busy fraction of each unit as bars, with the values of another run.

use super::super::{
    Axis, Bar, Change, Direction, Emphasis, Figure, Item, MarkId, Origin, Row, Sign, Undrawable,
    Unit,
};
use crate::speed_of_light::bound::{Amount, Bound, Limit};
use crate::speed_of_light::bound_fraction::BoundFraction;
use crate::units::{Fraction, Seconds};
use crate::virtual_gpu::cost::time::LimitingResource as Counted;

/// A unit.
#[derive(Clone, Debug)]
pub struct BusyUnit {
    /// The index of the unit.
    pub id: i64,
    /// The name of the unit.
    pub name: String,
    /// The fraction of the time, or of the peak.
    pub share: Fraction,
    /// `3.41 of 4.80 TB/s`.
    pub amount: String,
    /// The fraction in another run.
    pub pinned: Option<Fraction>,
    /// The origin of the fraction.
    pub origin: Origin,
    /// Whether the unit is the limiter.
    pub emphasis: Emphasis,
}

/// The index of the fraction of the bound, before all units.
const BOUND: i64 = -1;

/// The fraction of the bound of a run, and of the run that it is compared with.
#[must_use]
pub fn share_of_bound(
    share: &BoundFraction,
    (bound, time): (Seconds, Seconds),
    pinned: Option<Fraction>,
    origin: Origin,
) -> BusyUnit {
    let amount = part_of_whole(&bound, &time);
    let range = (origin == Origin::Modelled).then(|| format!(", {}", share.range()));
    BusyUnit {
        id: BOUND,
        name: "Speed of light".to_owned(),
        share: share.middle,
        amount: amount + &range.unwrap_or_default(),
        pinned,
        origin,
        emphasis: Emphasis::Normal,
    }
}

/// The least busy fraction of each unit: the part of the bound divided by the time, for a run and the run that it is
/// compared with. Counters may show that a kernel keeps the unit busy for longer.
#[must_use]
pub fn units_of_bound(
    bound: &Bound,
    time: Seconds,
    pinned: Option<Seconds>,
    origin: Origin,
) -> Vec<BusyUnit> {
    let units = bound.parts.iter().zip(0..).map(|(part, id)| BusyUnit {
        id,
        name: match part.limit {
            Limit::Launch => "Launch, at least".to_owned(),
            Limit::Special => "Special functions, at least".to_owned(),
            Limit::Dram | Limit::L2 | Limit::Pipe(_) => format!("{}, at least", part.limit),
        },
        share: part.time / time,
        amount: match &part.amount {
            Amount::Launch => part_of_whole(&part.time, &time),
            Amount::Moved(bytes, ceiling) => part_of_whole(&(*bytes / time), &ceiling.value),
            Amount::Computed(operations, ceiling) => {
                part_of_whole(&(*operations / time), &ceiling.value)
            }
        },
        pinned: pinned.map(|pinned| part.time / pinned),
        origin,
        emphasis: if part.limit == bound.limit { Emphasis::Chosen } else { Emphasis::Normal },
    });
    units.collect()
}

/// The modelled busy fraction of each unit, busiest first, for a run and the run that it is compared with: the busy times
/// of units and the time of the run.
#[must_use]
pub fn units_of_counts(
    (units, time): (&[(Counted, Seconds)], Seconds),
    pinned: Option<(&[(Counted, Seconds)], Seconds)>,
) -> Vec<BusyUnit> {
    let other = |unit: Counted| {
        let (units, time) = pinned?;
        let (_, busy) = units.iter().find(|(other, _)| *other == unit)?;
        Some(*busy / time)
    };
    let mut units: Vec<(Counted, Seconds)> = units.to_vec();
    units.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let busiest = units.first().map(|(unit, _)| *unit);
    let shares = units.iter().zip(0..).map(|((unit, busy), id)| BusyUnit {
        id,
        name: unit.to_string(),
        share: *busy / time,
        amount: part_of_whole(busy, &time),
        pinned: other(*unit),
        origin: Origin::Modelled,
        emphasis: if Some(*unit) == busiest { Emphasis::Chosen } else { Emphasis::Normal },
    });
    shares.collect()
}

/// `3.41 of 4.80 TB/s`: a common unit appears once.
fn part_of_whole(part: &impl ToString, whole: &impl ToString) -> String {
    let (part, whole) = (part.to_string(), whole.to_string());
    match (part.split_once(' '), whole.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} of {whole}"),
        (Some(_) | None, _) => format!("{part} of {whole}"),
    }
}

/// The units of a device, with the name of the run that is compared.
///
/// # Errors
/// A number cannot be drawn.
pub fn speed_of_light(units: &[BusyUnit], pinned: Option<&str>) -> Result<Figure, Undrawable> {
    let rows = units.iter().map(|unit| Row {
        name: unit.name.clone(),
        value: unit.share.to_string(),
        note: unit.amount.clone(),
        change: unit.pinned.map(|pinned| change(unit.share, pinned)),
        emphasis: unit.emphasis,
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

/// The change in percentage points.
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
