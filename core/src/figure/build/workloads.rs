//! The time of every workload on a shared logarithmic axis, with its bound and the time of another run.

use super::super::{
    Axis, Course, Emphasis, Figure, Hue, Item, Line, Mark, MarkId, Origin, Reading, Row, Sign,
    Stroke, Undrawable, Unit,
};
use super::{change_of_time, hair};
use crate::speed_of_light::bound_fraction::BoundFraction;
use crate::units::Seconds;

/// The time of a workload.
#[derive(Clone, Debug)]
pub struct WorkloadTime {
    /// The index of the workload.
    pub id: i64,
    /// The name of the workload.
    pub name: String,
    /// The median.
    pub time: Seconds,
    /// The interval of the time.
    pub interval: Option<(Seconds, Seconds)>,
    /// The origin of the time.
    pub origin: Origin,
    /// The physical bound.
    pub bound: Option<Seconds>,
    /// The time of another run.
    pub other_run: Option<OtherRunTime>,
    /// The emphasis.
    pub emphasis: Emphasis,
}

/// The same workload in another run.
#[derive(Clone, Debug)]
pub struct OtherRunTime {
    /// The name of the run.
    pub name: String,
    /// The median.
    pub time: Seconds,
    /// The origin of the time.
    pub origin: Origin,
}

impl WorkloadTime {
    /// The fraction of the bound.
    #[must_use]
    pub fn bound_fraction(&self) -> Option<BoundFraction> {
        let interval = self.interval.unwrap_or((self.time, self.time));
        Some(BoundFraction::new(self.bound?, self.time, interval))
    }
}

/// The times of workloads.
///
/// # Errors
/// A number cannot be drawn.
pub fn workloads(times: &[WorkloadTime]) -> Result<Figure, Undrawable> {
    let rows = times.iter().map(|time| Row {
        name: time.name.clone(),
        value: time.time.to_string(),
        note: time
            .bound_fraction()
            .map_or_else(String::new, |share| format!("{} of bound", share.middle)),
        change: time.other_run.as_ref().and_then(|than| change_of_time(time.time.0, than.time.0)),
        emphasis: time.emphasis,
    });
    let axis = Axis::logarithmic("", Unit::Seconds);
    let mut figure = Figure::of_rows("Times of workloads", axis, rows.collect());
    if times.iter().any(|time| time.bound.is_some()) {
        figure.explain(Sign::Second, "bound");
    }
    if let Some(than) = times.iter().find_map(|time| time.other_run.as_ref()) {
        figure.explain(Sign::Hue(Hue::Quiet), than.name.clone());
    }
    for (row, time) in times.iter().enumerate() {
        add(&mut figure, row, time)?;
    }
    Ok(figure)
}

fn add(figure: &mut Figure, row: usize, time: &WorkloadTime) -> Result<(), Undrawable> {
    let at = row as f64;
    if let Some(bound) = time.bound {
        let (from, to) = (bound.0.min(time.time.0), bound.0.max(time.time.0));
        figure.add(hair(Course::Path(vec![(from, at), (to, at)])))?;
        figure.add(Item::Line(Line {
            course: Course::Upright { x: bound.0, row: Some(row) },
            stroke: Stroke::Solid,
            hue: Hue::Ink,
            label: None,
            meaning: None,
        }))?;
    }
    if let Some(than) = &time.other_run {
        figure.add(Item::Mark(Mark {
            id: MarkId { of: time.id, part: 1 },
            name: format!("{}, {}", time.name, than.name),
            x: than.time.0.into(),
            y: at.into(),
            origin: than.origin,
            hue: Hue::Quiet,
            emphasis: Emphasis::Faint,
            label: None,
            details: Vec::new(),
        }))?;
    }
    let bound = time.bound.map(|bound| ("Bound".to_owned(), bound.to_string()));
    let interval = time.interval.map(|(low, high)| (low.0, high.0));
    figure.add(Item::Mark(Mark {
        id: MarkId { of: time.id, part: 0 },
        name: time.name.clone(),
        x: Reading { value: time.time.0, interval },
        y: at.into(),
        origin: time.origin,
        hue: Hue::Origin(time.origin),
        emphasis: time.emphasis,
        label: None,
        details: bound.into_iter().collect(),
    }))
}
