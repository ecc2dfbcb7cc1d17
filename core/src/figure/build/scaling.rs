//! Time, or fraction of the bound, over the size of one axis.

use super::super::{
    Axis, Course, Emphasis, Figure, Hue, Item, Line, Mark, MarkId, Meaning, Origin, Reading, Sign,
    Stroke, Undrawable, Unit,
};
use super::ceiling;
use crate::speed_of_light::bound_fraction::BoundFraction;
use crate::units::Seconds;

/// The time at one size.
#[derive(Clone, Debug)]
pub struct ScalingPoint {
    /// The index of the workload.
    pub id: i64,
    /// The name of the workload.
    pub name: String,
    /// The size.
    pub size: u64,
    /// The median.
    pub time: Seconds,
    /// The interval of the time.
    pub interval: Option<(Seconds, Seconds)>,
    /// The origin of the time.
    pub origin: Origin,
    /// The physical bound.
    pub bound: Option<Seconds>,
}

/// The quantity over the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalingQuantity {
    /// The time, with the bound below it.
    Time,
    /// The fraction of the bound.
    BoundFraction,
}

/// The scaling over one axis of a task.
///
/// # Errors
/// A number cannot be drawn.
pub fn scaling(
    axis: &str,
    sizes: &[ScalingPoint],
    what: ScalingQuantity,
) -> Result<Figure, Undrawable> {
    let mut sizes: Vec<&ScalingPoint> = sizes.iter().collect();
    sizes.sort_by_key(|size| size.size);
    let x = Axis::logarithmic(axis, Unit::Count);
    let y = match what {
        ScalingQuantity::Time => Axis::logarithmic("Time", Unit::Seconds),
        ScalingQuantity::BoundFraction => {
            Axis::from_zero("Fraction of the bound", Unit::Fraction).showing([1.0])
        }
    };
    let mut figure = Figure::new(format!("Scaling over {axis}"), x, y);
    if what == ScalingQuantity::BoundFraction {
        let (value, unit) = (1.0, Unit::Fraction);
        let (name, origin) = ("Speed of light".to_owned(), "bound".to_owned());
        let meaning = Meaning { name: name.clone(), value, unit, origin };
        let course = Course::Level { y: 1.0, from: None };
        figure.add(ceiling(course, Stroke::Dashed, Some(name), meaning))?;
    }
    let bounds = sizes.iter().filter_map(|size| Some((size.size as f64, size.bound?.0)));
    let bounds: Vec<(f64, f64)> = bounds.collect();
    if what == ScalingQuantity::Time && bounds.len() > 1 {
        figure.explain(Sign::Stroke(Stroke::Dashed), "bound");
        figure.add(line(bounds, Stroke::Dashed, Hue::Ink))?;
    }
    let values: Vec<(&ScalingPoint, Reading)> =
        sizes.into_iter().filter_map(|size| Some((size, reading(size, what)?))).collect();
    let course = values.iter().map(|(size, reading)| (size.size as f64, reading.value)).collect();
    figure.add(line(course, Stroke::Hair, Hue::Quiet))?;
    for (size, y) in values {
        figure.add(Item::Mark(Mark {
            id: MarkId::only(size.id),
            name: size.name.clone(),
            x: (size.size as f64).into(),
            y,
            origin: size.origin,
            hue: Hue::Origin(size.origin),
            emphasis: Emphasis::Normal,
            label: None,
            details: size
                .bound
                .iter()
                .map(|bound| ("Bound".to_owned(), bound.to_string()))
                .collect(),
        }))?;
    }
    Ok(figure)
}

fn line(points: Vec<(f64, f64)>, stroke: Stroke, hue: Hue) -> Item {
    let course = Course::Path(points);
    Item::Line(Line { course, stroke, hue, label: None, meaning: None })
}

fn reading(size: &ScalingPoint, what: ScalingQuantity) -> Option<Reading> {
    Some(match what {
        ScalingQuantity::Time => Reading {
            value: size.time.0,
            interval: size.interval.map(|(low, high)| (low.0, high.0)),
        },
        ScalingQuantity::BoundFraction => {
            let interval = size.interval.unwrap_or((size.time, size.time));
            let BoundFraction { middle, interval: (low, high) } =
                BoundFraction::new(size.bound?, size.time, interval);
            Reading { value: middle.0, interval: size.interval.map(|_| (low.0, high.0)) }
        }
    })
}
