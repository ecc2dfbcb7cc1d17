//! The figure for tasks without floating-point operations: bytes per second as bars, compared with the memory ceiling.

use super::super::{
    Axis, Bar, Course, Emphasis, Figure, Item, MarkId, Meaning, Origin, Row, Sign, Stroke,
    Undrawable, Unit,
};
use super::ceiling;
use crate::speed_of_light::ceilings::Ceilings;
use crate::units::BytesPerSecond;

/// A run that moved bytes.
#[derive(Clone, Debug)]
pub struct BandwidthRun {
    /// The number of the run.
    pub run: i64,
    /// The name of the run.
    pub name: String,
    /// The achieved bandwidth.
    pub rate: BytesPerSecond,
    /// The origin of the time.
    pub origin: Origin,
    /// The emphasis.
    pub emphasis: Emphasis,
}

/// The bandwidths of runs, with the memory ceilings. The ceiling of L2 is drawn if a run exceeds that of device memory.
///
/// # Errors
/// A number cannot be drawn.
pub fn bandwidth(ceilings: &Ceilings, runs: &[BandwidthRun]) -> Result<Figure, Undrawable> {
    let dram = ceilings.dram.as_ref();
    let row = |run: &BandwidthRun| Row {
        name: run.name.clone(),
        value: run.rate.to_string(),
        note: dram.map_or_else(String::new, |dram| format!("{} of DRAM", run.rate / dram.value)),
        change: None,
        emphasis: run.emphasis,
    };
    let title = format!("Bytes a second on {}", ceilings.device);
    let axis = Axis::from_zero("", Unit::BytesPerSecond);
    let mut figure = Figure::of_rows(title, axis, runs.iter().map(row).collect());
    for (row, run) in runs.iter().enumerate() {
        figure.add(Item::Bar(Bar {
            id: MarkId::only(run.run),
            row,
            value: run.rate.0,
            whole: dram.map(|dram| dram.value.0),
            second: None,
            origin: run.origin,
            emphasis: run.emphasis,
            details: Vec::new(),
        }))?;
    }
    let exceeds = dram.is_none_or(|dram| runs.iter().any(|run| run.rate > dram.value));
    let l2 = ceilings.l2.as_ref().filter(|_| exceeds);
    for (name, found) in [("DRAM", dram), ("L2", l2)] {
        let Some(found) = found else { continue };
        let is_measured = found.origin.is_measured();
        let (stroke, word) =
            if is_measured { (Stroke::Solid, "measured") } else { (Stroke::Dashed, "sheet") };
        let (value, unit, origin) = (found.value.0, Unit::BytesPerSecond, found.origin.to_string());
        let meaning = Meaning { name: format!("{name} ceiling"), value, unit, origin };
        let course = Course::Upright { x: value, row: None };
        figure.add(ceiling(course, stroke, None, meaning))?;
        figure.explain(Sign::Stroke(stroke), format!("{name} {} ({word})", found.value));
    }
    Ok(figure)
}
