//! Times over runs: latest run at the right, shorter times below.

use super::super::{
    Axis, Emphasis, Figure, Hue, Item, Mark, MarkId, Origin, Reading, Sign, Undrawable, Unit,
};
use crate::units::Seconds;

/// A run with a time.
#[derive(Clone, Debug)]
pub struct TimedRun {
    /// The number of the run.
    pub run: i64,
    /// The kernel.
    pub kernel: String,
    /// The time.
    pub time: Seconds,
    /// The interval of the time.
    pub interval: Option<(Seconds, Seconds)>,
    /// The origin of the time.
    pub origin: Origin,
}

/// The times of runs, in any order; each kernel has its own colour.
///
/// # Errors
/// A number cannot be drawn.
pub fn over_runs(runs: &[TimedRun]) -> Result<Figure, Undrawable> {
    let x = Axis::linear("Run", Unit::Count);
    let mut figure = Figure::new("Times over runs", x, Axis::logarithmic("Time", Unit::Seconds));
    let mut kernels: Vec<&str> = Vec::new();
    for run in runs {
        let known = kernels.iter().position(|kernel| *kernel == run.kernel);
        let series = known.unwrap_or_else(|| {
            kernels.push(&run.kernel);
            figure.explain(Sign::Hue(Hue::Series(kernels.len() - 1)), run.kernel.clone());
            kernels.len() - 1
        });
        figure.add(Item::Mark(Mark {
            id: MarkId::only(run.run),
            name: format!("{}, run {}", run.kernel, run.run),
            x: (run.run as f64).into(),
            y: Reading {
                value: run.time.0,
                interval: run.interval.map(|(low, high)| (low.0, high.0)),
            },
            origin: run.origin,
            hue: Hue::Series(series),
            emphasis: Emphasis::Normal,
            label: None,
            details: Vec::new(),
        }))?;
    }
    Ok(figure)
}
