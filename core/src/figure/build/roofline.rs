//! The roofline of a device with runs below it: operations per second over operations per byte, both logarithmic.

use super::super::{
    Arrow, Axis, Course, Emphasis, Figure, Hue, Item, Mark, MarkId, Meaning, Origin, Reading, Sign,
    Stroke, Undrawable, Unit,
};
use super::{ceiling, hair};
use crate::device::Pipe;
use crate::speed_of_light::ceilings::{Ceilings, Origin as Source};
use crate::speed_of_light::minimal_work::MinimalWork;
use crate::speed_of_light::permitted_pipes;
use crate::speed_of_light::roofline::{Level, NoPoint, Point, Roof, Traffic, point, ridge, roofs};
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond, Intensity, Seconds};

/// The roofs to draw.
#[derive(Clone, Copy, Debug)]
pub struct Roofs<'a> {
    /// The ceilings of the device.
    pub ceilings: &'a Ceilings,
    /// Pipes; others have no roof.
    pub pipes: &'a [Pipe],
    /// Memories; others have no roof, and no marks.
    pub levels: &'a [Level],
}

/// A run on its way into a roofline.
#[derive(Clone, Debug)]
pub struct RunPoint {
    /// The number of the run.
    pub run: i64,
    /// The name of the run.
    pub name: String,
    /// The label.
    pub label: Option<String>,
    /// The time.
    pub time: Seconds,
    /// The interval of the time.
    pub interval: Option<(Seconds, Seconds)>,
    /// The traffic by memory level.
    pub traffic: Vec<(Level, Bytes, Traffic)>,
    /// The origin of the time.
    pub origin: Origin,
    /// The emphasis.
    pub emphasis: Emphasis,
}

/// Whether arrows join the runs, from first to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trail {
    /// Joined.
    Shown,
    /// Not joined.
    Hidden,
}

/// Why there is no roofline.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoRoofline {
    /// A run has no point.
    #[error(transparent)]
    NoPoint(#[from] NoPoint),
    /// A number cannot be drawn.
    #[error(transparent)]
    Undrawable(#[from] Undrawable),
}

/// The default pipes of a task on a device: FP32 lanes, and the pipes that its precision names.
#[must_use]
pub fn pipes_of(work: &MinimalWork, ceilings: &Ceilings) -> Vec<Pipe> {
    let counted = work.operations.iter().filter(|(_, count)| count.0 > 0.0);
    let named =
        counted.filter_map(|(kind, _)| Some(permitted_pipes::named(*kind, work, ceilings)?.0));
    let mut pipes: Vec<Pipe> = std::iter::once(Pipe::Fp32).chain(named).collect();
    pipes.sort();
    pipes.dedup();
    pipes
}

/// The roofline of a device, with runs of one workload, oldest first.
///
/// # Errors
/// A run has no point, or a number cannot be drawn.
pub fn roofline(
    shown: Roofs<'_>,
    work: &MinimalWork,
    runs: &[RunPoint],
    trail: Trail,
) -> Result<Figure, NoRoofline> {
    let points = placed(shown, work, runs)?;
    let intensities = points.iter().flat_map(|(_, point, _)| {
        // Room for labels and for the slope on both sides.
        [point.intensity.0 / 3.0, point.intensity.0 * 3.0]
    });
    let rates = points.iter().map(|(_, point, _)| point.rate.0 / 2.0);
    let (ridge, top) = room(shown);
    let x = Axis::logarithmic("Arithmetic intensity", Unit::Intensity)
        .showing(intensities)
        .showing(ridge);
    let y = Axis::logarithmic("Performance", Unit::FlopsPerSecond).showing(rates).showing(top);
    let title = format!("Roofline of {}", shown.ceilings.device);
    let mut figure = Figure::new(title, x, y);
    add_roofs(&mut figure, shown)?;
    if trail == Trail::Shown {
        add_trail(&mut figure, &points)?;
    }
    for (run, point, interval) in &points {
        figure.add(Item::Mark(mark(run, point, *interval)))?;
    }
    for pair in points.windows(2) {
        let ((one, first, _), (other, second, _)) = (&pair[0], &pair[1]);
        if one.run == other.run {
            let height = |point: &Point| (point.intensity.0, point.rate.0);
            figure.add(hair(Course::Path(vec![height(first), height(second)])))?;
        }
    }
    Ok(figure)
}

/// The margin right of the last ridge and above the highest roof, for their labels.
fn room(shown: Roofs<'_>) -> (Option<f64>, Option<f64>) {
    let rates = shown.pipes.iter().filter_map(|pipe| shown.ceilings.pipe(*pipe));
    let top = rates.map(|rate| rate.value).max_by(|a, b| a.0.total_cmp(&b.0));
    let dram = shown.ceilings.dram.as_ref().map(|rate| rate.value);
    let right = top.zip(dram).map(|(top, dram)| ridge(top, dram).0 * 4.0);
    (right, top.map(|top| top.0 * 2.0))
}

type Placed<'a> = (&'a RunPoint, Point, Option<(f64, f64)>);

/// The points of runs, ordered by level.
fn placed<'a>(
    shown: Roofs<'_>,
    work: &MinimalWork,
    runs: &'a [RunPoint],
) -> Result<Vec<Placed<'a>>, NoPoint> {
    let mut all = Vec::new();
    for run in runs {
        let seen = run.traffic.iter().filter(|(level, _, _)| shown.levels.contains(level));
        for (level, bytes, traffic) in seen {
            // Points for all memory levels of every run would clutter the figure.
            if *level != Level::Dram && run.emphasis != Emphasis::Chosen {
                continue;
            }
            let at = |time| point(work, time, *level, (*bytes, *traffic));
            let interval = match run.interval {
                // The longest time is the lowest rate.
                Some((low, high)) => Some((at(high)?.rate.0, at(low)?.rate.0)),
                None => None,
            };
            all.push((run, at(run.time)?, interval));
        }
    }
    Ok(all)
}

fn mark(run: &RunPoint, point: &Point, interval: Option<(f64, f64)>) -> Mark {
    let (part, hue, emphasis) = match point.level {
        Level::Dram => (0, Hue::Origin(run.origin), run.emphasis),
        Level::L2 => (1, Hue::Quiet, Emphasis::Normal),
        Level::L1 => (2, Hue::Quiet, Emphasis::Normal),
    };
    let label = match point.level {
        Level::Dram => run.label.clone(),
        Level::L2 | Level::L1 => None,
    };
    let traffic = match point.traffic {
        Traffic::Compulsory => "minimum of any correct kernel",
        Traffic::Counted => "counted by the virtual GPU",
        Traffic::Modelled => "modelled by the virtual GPU",
        Traffic::Measured => "counters of the device",
    };
    let details = vec![
        ("Time".to_owned(), run.time.to_string()),
        (format!("{} rate", name_of(point.level)), point.bandwidth.to_string()),
        ("Bytes".to_owned(), traffic.to_owned()),
    ];
    Mark {
        id: MarkId { of: run.run, part },
        name: run.name.clone(),
        x: point.intensity.0.into(),
        y: Reading { value: point.rate.0, interval },
        origin: run.origin,
        hue,
        emphasis,
        label,
        details,
    }
}

/// Whether a run is one of the user's: predictions and recorded runs are not joined.
const fn is_own(origin: Origin) -> bool {
    match origin {
        Origin::Measured | Origin::Modelled => true,
        Origin::Predicted | Origin::Recorded => false,
    }
}

fn add_trail(figure: &mut Figure, points: &[Placed<'_>]) -> Result<(), Undrawable> {
    let way: Vec<(f64, f64)> = points
        .iter()
        .filter(|(run, point, _)| point.level == Level::Dram && is_own(run.origin))
        .map(|(_, point, _)| (point.intensity.0, point.rate.0))
        .collect();
    let Some((last, before)) = way.split_last() else { return Ok(()) };
    let Some(previous) = before.last() else { return Ok(()) };
    if before.len() > 1 {
        figure.add(hair(Course::Path(before.to_vec())))?;
    }
    figure.add(Item::Arrow(Arrow { from: *previous, to: *last, hue: Hue::Quiet }))
}

const fn name_of(level: Level) -> &'static str {
    match level {
        Level::Dram => "DRAM",
        Level::L2 => "L2",
        Level::L1 => "L1, shared",
    }
}

/// A horizontal roof of pipes with equal rates.
struct Flat {
    names: Vec<String>,
    rate: FlopsPerSecond,
    source: Source,
}

fn add_roofs(figure: &mut Figure, shown: Roofs<'_>) -> Result<(), Undrawable> {
    let mut flat: Vec<Flat> = Vec::new();
    let mut rising: Vec<(Level, BytesPerSecond, Source)> = Vec::new();
    for roof in roofs(shown.ceilings) {
        match roof {
            Roof::Memory { level, rate, origin } if shown.levels.contains(&level) => {
                rising.push((level, rate, origin));
            }
            Roof::Compute { pipe, rate, origin } if shown.pipes.contains(&pipe) => {
                let alike = flat.iter_mut().find(|known| {
                    (known.rate.0 / rate.0 - 1.0).abs() < 1e-3
                        && known.source.is_measured() == origin.is_measured()
                });
                match alike {
                    Some(known) => known.names.push(pipe.to_string()),
                    None => flat.push(Flat { names: vec![pipe.to_string()], rate, source: origin }),
                }
            }
            Roof::Memory { .. } | Roof::Compute { .. } => {}
        }
    }
    let fastest = |a: &f64, b: &f64| a.total_cmp(b);
    let steepest = rising.iter().map(|(_, rate, _)| rate.0).max_by(fastest);
    let highest = flat.iter().map(|flat| flat.rate.0).max_by(fastest);
    for (level, rate, source) in &rising {
        // Without a pipe, the roof rises up to the edge.
        let until = highest.map_or(Intensity(1e3), |top| ridge(FlopsPerSecond(top), *rate));
        let course = Course::Proportional { rate: rate.0, until: until.0 };
        let label = format!("{} {rate}", name_of(*level));
        let name = format!("{} ceiling", name_of(*level));
        let (value, unit, origin) = (rate.0, Unit::BytesPerSecond, source.to_string());
        let meaning = Meaning { name, value, unit, origin };
        figure.add(ceiling(course, stroke(source), Some(label), meaning))?;
    }
    for Flat { names, rate, source } in &flat {
        let from = steepest.map(|steepest| ridge(*rate, BytesPerSecond(steepest)).0);
        let names = names.join(", ");
        let label = Some(format!("{names} {rate}"));
        let (value, unit, origin) = (rate.0, Unit::FlopsPerSecond, source.to_string());
        let meaning = Meaning { name: format!("{names} ceiling"), value, unit, origin };
        figure.add(ceiling(Course::Level { y: rate.0, from }, stroke(source), label, meaning))?;
    }
    add_ridges(figure, &rising, &flat)?;
    let all: Vec<bool> = rising
        .iter()
        .map(|(_, _, source)| source)
        .chain(flat.iter().map(|flat| &flat.source))
        .map(Source::is_measured)
        .collect();
    if all.contains(&true) {
        figure.explain(Sign::Stroke(Stroke::Solid), "measured ceiling");
    }
    if all.contains(&false) {
        figure.explain(Sign::Stroke(Stroke::Dashed), "sheet");
    }
    Ok(())
}

/// Marks the ridges of device memory: the intensity from which each pipe can be the limit.
fn add_ridges(
    figure: &mut Figure,
    rising: &[(Level, BytesPerSecond, Source)],
    flat: &[Flat],
) -> Result<(), Undrawable> {
    let dram = rising.iter().find(|(level, _, _)| *level == Level::Dram);
    let Some((_, dram, of_dram)) = dram else { return Ok(()) };
    for Flat { names, rate, source } in flat {
        let at = ridge(*rate, *dram);
        // Below the roof, because its label is above it.
        let tick = vec![(at.0, rate.0), (at.0, rate.0 / 1.25)];
        let worse = if source.is_measured() { of_dram } else { source };
        let name = format!("Ridge of DRAM and {}", names.join(", "));
        let (value, unit) = (at.0, Unit::Intensity);
        let meaning = Meaning { name, value, unit, origin: "the ceilings above".to_owned() };
        let label = Some(format!("ridge {at}"));
        figure.add(ceiling(Course::Path(tick), stroke(worse), label, meaning))?;
    }
    Ok(())
}

/// Measured ceilings are solid lines.
const fn stroke(source: &Source) -> Stroke {
    if source.is_measured() { Stroke::Solid } else { Stroke::Dashed }
}
