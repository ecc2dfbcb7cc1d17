//! The distribution of samples: a dot for each sample in ascending order, the quartiles behind them, the median with its
//! interval.

use super::super::{
    Axis, Band, Cloud, Course, Depth, Emphasis, Figure, Hue, Item, Line, Mark, MarkId, Origin,
    Reading, Row, Stroke, Undrawable, Unit,
};
use super::change_of_time;
use crate::measure::Summary;
use crate::units::Seconds;

/// Outliers, which are farther from the median than this multiple of the interquartile range, are counted and not drawn, so
/// that they do not compress all other samples.
const FAR: f64 = 10.0;

/// A run with its samples.
#[derive(Clone, Debug)]
pub struct SampledRun {
    /// The number of the run.
    pub run: i64,
    /// The name of the run.
    pub name: String,
    /// The summary of the samples.
    pub summary: Summary,
    /// The samples, in any order.
    pub samples: Vec<Seconds>,
    /// The origin of the samples.
    pub origin: Origin,
}

/// The samples of one or several runs; changes are relative to the first run.
///
/// # Errors
/// A number cannot be drawn.
pub fn distribution(runs: &[SampledRun]) -> Result<Figure, Undrawable> {
    let first = runs.first().map(|run| run.summary.median.0);
    let rows = runs.iter().enumerate().map(|(index, run)| {
        let other = first.filter(|_| index > 0);
        Row {
            name: run.name.clone(),
            value: median(run).0,
            note: note(run),
            change: other.and_then(|other| change_of_time(run.summary.median.0, other)),
            emphasis: Emphasis::Normal,
        }
    });
    let axis = Axis::linear("", Unit::Seconds);
    let mut figure = Figure::of_rows("Distribution of samples", axis, rows.collect());
    for (row, run) in runs.iter().enumerate() {
        add(&mut figure, row, run)?;
    }
    Ok(figure)
}

fn note(run: &SampledRun) -> String {
    let (low, high) = run.summary.interval;
    let (_, error) = median(run);
    match (run.summary.samples, run.samples.len() - near(run).len()) {
        (0, _) => format!("{low} to {high}"),
        (count, 0) => format!("± {error}, {count} samples"),
        (count, 1) => format!("± {error}, {count} samples, 1 outlier not drawn"),
        (count, far) => format!("± {error}, {count} samples, {far} outliers not drawn"),
    }
}

/// The median with the digits that its interval justifies, and half of the interval: `139.42 µs` and `0.11 µs`.
fn median(run: &SampledRun) -> (String, String) {
    let (median, (low, high)) = (run.summary.median.0, run.summary.interval);
    let error = (high.0 - low.0) / 2.0;
    let steps = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let fits = |step: &&(f64, &str)| median >= step.0;
    let (step, unit) = steps.iter().find(fits).copied().unwrap_or((1e-9, "ns"));
    // Four decimals are finer than any clock.
    let digits = (2.0 - (error / step).max(1e-4).log10().ceil()).clamp(0.0, 3.0) as usize;
    let told = |value: f64| format!("{:.digits$} {unit}", value / step);
    (told(median), told(error))
}

/// The drawn samples, ascending.
fn near(run: &SampledRun) -> Vec<f64> {
    let (low, high) = run.summary.quartiles;
    let reach = FAR * (high.0 - low.0).max(run.summary.median.0 * 1e-3);
    let mut near: Vec<f64> = run
        .samples
        .iter()
        .map(|sample| sample.0)
        .filter(|sample| (sample - run.summary.median.0).abs() <= reach)
        .collect();
    near.sort_by(f64::total_cmp);
    near
}

fn add(figure: &mut Figure, row: usize, run: &SampledRun) -> Result<(), Undrawable> {
    let Summary { median, interval, quartiles, minimum, samples } = run.summary;
    let middle = row as f64;
    let hue = Hue::Series(row);
    let range = |(low, high): (Seconds, Seconds)| Some((low.0, high.0));
    let whole = Some((middle - 0.42, middle + 0.42));
    let shallow = Depth::Shallow;
    figure.add(Item::Band(Band { x: range(quartiles), y: whole, hue, depth: shallow }))?;
    figure.add(Item::Line(Line {
        course: Course::Upright { x: median.0, row: Some(row) },
        stroke: Stroke::Solid,
        hue,
        label: None,
        meaning: None,
    }))?;
    let near = near(run);
    let last = near.len().saturating_sub(1).max(1) as f64;
    // Ascending samples go upwards.
    let points = near
        .iter()
        .enumerate()
        .map(|(rank, sample)| (*sample, middle + 0.36 - 0.72 * rank as f64 / last));
    figure.add(Item::Cloud(Cloud { points: points.collect(), hue, origin: run.origin }))?;
    let details = vec![
        ("Quartiles".to_owned(), format!("{} to {}", quartiles.0, quartiles.1)),
        ("Minimum".to_owned(), minimum.to_string()),
        ("Samples".to_owned(), samples.to_string()),
    ];
    figure.add(Item::Mark(Mark {
        id: MarkId::only(run.run),
        name: run.name.clone(),
        x: Reading::within(median.0, (interval.0.0, interval.1.0)),
        y: middle.into(),
        origin: run.origin,
        hue,
        emphasis: Emphasis::Normal,
        label: None,
        details,
    }))
}
